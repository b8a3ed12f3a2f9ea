"""The commands ``export-bundle`` and ``import-bundle``."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from docstow.core.errors import InvalidParameter
from docstow.core.settings import MIB
from docstow.ingest.jobs import INCREMENTAL, SUCCESS

if TYPE_CHECKING:
    from docstow.runtime import Runtime


def export_bundle(runtime: Runtime, options: argparse.Namespace) -> int:
    """Write a bundle and print what is in it."""
    from docstow.ops.bundle.write import BundleExport

    if bool(options.sources) == options.all:
        raise InvalidParameter("SOURCE", "name the sources to export, or give --all instead")
    export = BundleExport(
        runtime.store,
        runtime.snapshots,
        runtime.registry,
        target=runtime.settings.target,
        history=options.history,
    )
    entries = export.list_all() if options.all else [export.find(w) for w in options.sources]
    done = export.write(entries, options.file, force=options.force)
    for entry in done.manifest.entries:
        print(f"{entry.title}: {_short(entry.snapshot)}")
    print(f"{options.file}: {len(done.manifest.files)} files, {done.manifest.size / MIB:.1f} MiB")
    print(f"docstow import-bundle {options.file} --sha256 {done.sha256}")
    return 0


def import_bundle(runtime: Runtime, options: argparse.Namespace) -> int:
    """Import a bundle and print the outcome of each source."""
    from docstow.ops.bundle.read import BundleImport

    def sync(source_id: str) -> str:
        job = runtime.sync.start(source_id, INCREMENTAL)
        while (job := runtime.sync.wait(job.id, 1.0)).active:
            pass
        return "" if job.state == SUCCESS else job.errors[0].message if job.errors else job.state

    bundles = BundleImport(
        runtime.store,
        runtime.snapshots,
        runtime.registry,
        lambda: runtime.catalog,
        sync,
        limit=runtime.settings.store_limit,
        force=options.force,
    )
    failures = 0
    for done in bundles.run(options.file, sha256=options.sha256):
        failures += done.failed
        state = f"skipped: {done.skipped}" if done.skipped else _short(done.entry.snapshot)
        print("; ".join((f"{done.entry.title}: {state}", *done.notes)), flush=True)
    return 1 if failures else 0


def _short(snapshot: str) -> str:
    return f"snapshot {snapshot[:12]}" if snapshot else "never synced"
