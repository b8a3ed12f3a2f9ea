"""The commands ``docstow store``, and ``export-bundle`` and ``import-bundle``."""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import asdict
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from docstow.core.errors import InvalidParameter
from docstow.core.settings import MIB
from docstow.ingest.jobs import INCREMENTAL, SUCCESS

if TYPE_CHECKING:
    from docstow.ops.audit import Fault
    from docstow.ops.evict import StoredSource
    from docstow.runtime import Runtime

#: The columns of a table of sources that are numbers.
_NUMBERS = (2, 3)
_UNITS = ("B", "KiB", "MiB", "GiB")


def list_sources(runtime: Runtime, options: argparse.Namespace) -> int:
    """Print a table of what is stowed, the last used first."""
    lines = sorted(
        runtime.upkeep().list_sources(), key=lambda e: (e.used, e.source.key), reverse=True
    )
    header = ("source", "snapshot", "documents", "bytes", "last used", "pinned")
    rows = [
        (
            line.source.key,
            line.snapshot[:12] or "-",
            str(line.documents),
            str(line.bytes),
            line.used,
            line.pinned or "-",
        )
        for line in lines
    ]
    widths = [max(map(len, column)) for column in zip(header, *rows, strict=True)]
    plain = (
        "  ".join(
            text.rjust(width) if number in _NUMBERS else text.ljust(width)
            for number, (text, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in (header, *rows)
    )
    options.out.table(map(_fields, lines), header, rows, plain, numbers=_NUMBERS)
    return 0


def size(runtime: Runtime, options: argparse.Namespace) -> int:
    """Print the size of the store by kind of source, against its limit."""
    lines = runtime.upkeep().list_sources()
    kinds: dict[str, dict[str, int]] = {}
    for line in lines:
        kind = kinds.setdefault(line.source.kind, {"sources": 0, "bytes": 0})
        kind["sources"] += 1
        kind["bytes"] += line.bytes
    total, limit = sum(line.bytes for line in lines), runtime.settings.store_limit
    if options.out.as_json:
        return _json({"bytes": total, "limit": limit, "sources": len(lines), "kinds": kinds})
    for name, kind in sorted(kinds.items()):
        print(f"{name}: {kind['sources']} sources, {_human(kind['bytes'])}")
    print(f"{len(lines)} sources, {_human(total)} of {_human(limit)}")
    return 0


def evict(runtime: Runtime, options: argparse.Namespace) -> int:
    """Evict the sources that were not used for longest, and print them."""
    evicted = runtime.upkeep().evict()
    if options.out.as_json:
        return _json([_fields(line) for line in evicted])
    for line in evicted:
        print(f"{line.source.key}: {_human(line.bytes)}, last used {line.used}")
    print(f"{len(evicted)} sources evicted, {_human(sum(line.bytes for line in evicted))}")
    return 0


def sweep(runtime: Runtime, options: argparse.Namespace) -> int:
    """Delete what no head names any more, and print how much."""
    try:
        grace = timedelta(hours=float(options.grace_hours))
    except (ValueError, OverflowError):
        grace = timedelta(-1)
    if grace < timedelta(0):
        raise InvalidParameter(
            "--grace-hours", f"must be a number of hours, not {options.grace_hours}"
        )
    swept = runtime.upkeep(grace).sweep()
    if options.out.as_json:
        return _json(asdict(swept))
    print(
        f"{swept.deleted} objects deleted, {_human(swept.bytes)}; {swept.dead} wait until readers"
        f" are done with them"
    )
    if swept.unowned:
        print(f"{swept.unowned} blobs belong to no source and are left alone")
    return 0


def upkeep(runtime: Runtime, options: argparse.Namespace) -> int:
    """Do a round of upkeep, syncs that are due included; 1 if a step failed."""
    done = runtime.upkeep().run()
    if not runtime.settings.queue_url:
        for job in (*done.sent.synced, *done.sent.again):
            runtime.sync.wait(job, float("inf"))
    if options.out.as_json:
        body = {**asdict(done), "evicted": [_fields(line) for line in done.evicted]}
        _json(body)
        return 1 if done.failed else 0
    print(
        f"{len(done.evicted)} sources evicted, {done.swept.deleted} objects deleted, "
        f"{len(done.sent.synced)} sources refreshed; {_human(done.bytes)} of "
        f"{_human(runtime.settings.store_limit)}"
    )
    if done.left:
        print(
            f"docstow: {done.left} heads and records are left to be read; until a later round has"
            " read them nothing is evicted or swept",
            file=sys.stderr,
        )
    for step, reason in done.failed.items():
        print(f"docstow: {step}: {reason}", file=sys.stderr)
    return 1 if done.failed else 0


def verify(runtime: Runtime, options: argparse.Namespace) -> int:
    """Check every object of the store; 1 if a fault remains."""
    upkeep = runtime.upkeep()
    verified = upkeep.verify()
    found, done = verified.faults, list[str]()
    if options.repair and verified.faults:
        done = upkeep.repair(verified)
        verified = upkeep.verify()
    if options.repair and not verified.faults:
        from docstow.index.catalog_upkeep import CatalogUpkeep
        from docstow.sources import kinds

        # What the catalogue derives from is whole now.
        CatalogUpkeep(runtime.catalog, runtime.snapshots).rebuild(kinds())
    if options.out.as_json:
        body = {
            **{name: value for name, value in asdict(verified).items() if name != "faults"},
            "faults": [_fault(each) for each in found],
            "repaired": done,
            "left": [_fault(each) for each in verified.faults],
        }
        _json(body)
        return 1 if verified.faults else 0
    for fault in found:
        how = fault.repair or "this is for a person to decide"
        advice = how if options.repair or not fault.repair else f"with --repair {how}"
        print(f"{fault.key}: {fault.reason} ({advice})", file=sys.stderr)
    for line in done:
        print(line)
    print(
        f"{verified.heads} heads, {verified.snapshots} snapshots, {verified.blobs} blobs,"
        f" {_human(verified.bytes)}, {verified.requests} requests:"
        f" {len(verified.faults) or 'no'} fault{'' if len(verified.faults) == 1 else 's'}"
    )
    return 1 if verified.faults else 0


def export_bundle(runtime: Runtime, options: argparse.Namespace) -> int:
    """Write a bundle and print what is in it."""
    from docstow.ops.bundle.write import BundleExport

    if bool(options.sources) == options.all:
        raise InvalidParameter("SOURCE", "name the sources to export, or give --all instead")
    export = BundleExport(
        runtime.store,
        runtime.snapshots,
        runtime.registry,
        runtime.resolver,
        history=options.history,
    )
    entries = export.list_all() if options.all else [export.find(w) for w in options.sources]
    done = export.write(entries, options.file, force=options.force)
    if options.out.as_json:
        body = {"file": str(options.file), "sha256": done.sha256, "bytes": done.manifest.size}
        return _json(body | {"sources": [entry.title for entry in done.manifest.entries]})
    for entry in done.manifest.entries:
        print(f"{entry.title}: {_short(entry.snapshot)}")
    print(f"{options.file}: {len(done.manifest.files)} files, {done.manifest.size / MIB:.1f} MiB")
    print(f"docstow import-bundle {options.file} --sha256 {done.sha256}")
    return 0


def import_bundle(runtime: Runtime, options: argparse.Namespace) -> int:
    """Import a bundle and print the outcome of each source."""
    from docstow.ops.bundle.read import BundleImport

    def sync(source_id: str) -> str:
        job = runtime.sync.wait(runtime.sync.start(source_id, INCREMENTAL).id, float("inf"))
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
        body = {
            "source": done.entry.title,
            "snapshot": done.entry.snapshot,
            "skipped": done.skipped,
            "failed": done.failed,
            "notes": list(done.notes),
        }
        options.out.tell(body, "; ".join((f"{done.entry.title}: {state}", *done.notes)))
    return 1 if failures else 0


def _json(body: Any) -> int:
    print(json.dumps(body, ensure_ascii=False))
    return 0


def _fields(line: StoredSource) -> dict[str, Any]:
    return {**asdict(line), "source": line.source.key}


def _fault(fault: Fault) -> dict[str, Any]:
    return {**asdict(fault), "source": fault.source and fault.source.key}


def _human(count: int) -> str:
    number, unit = float(count), _UNITS[0]
    for unit in _UNITS:
        if number < 1024 or unit == _UNITS[-1]:
            break
        number /= 1024
    return f"{number:.0f} {unit}" if unit == "B" else f"{number:.1f} {unit}"


def _short(snapshot: str) -> str:
    return f"snapshot {snapshot[:12]}" if snapshot else "never synced"
