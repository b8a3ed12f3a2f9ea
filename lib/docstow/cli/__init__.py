"""The command line: calls one thing for one command, prints what came of it.

This room knows what people read and exit statuses. It does not know how anything is done.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import logging
import os
import re
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from docstow import __version__
from docstow.cli import bundle as cli_bundle
from docstow.cli import jobs as cli_jobs
from docstow.cli import sources as cli_prose
from docstow.cli import store as cli_store
from docstow.core import auth as access
from docstow.core.errors import DocstowError, InvalidParameter, SnapshotNotFound, SourceNotFound
from docstow.core.settings import FIELDS, load
from docstow.embedding import select as choice
from docstow.ingest import preload as preingest
from docstow.server import commands as commands
from docstow.sources import kind_of

if TYPE_CHECKING:
    from docstow.core.model import Snapshot
    from docstow.ops.export import Export
    from docstow.ops.export.prose import PageExport
    from docstow.runtime import Runtime


T = TypeVar("T")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command.

    Args:
        arguments: the words after the program's name; those of the process when left out.

    Returns:
        0, or 1 when something was refused or failed (argparse itself leaves with 2).
    """
    for stream in (sys.stdin, sys.stdout, sys.stderr):
        # Windows gives pipes and files its own code page; JSON and docs are UTF-8.
        if isinstance(stream, io.TextIOWrapper) and stream.encoding.lower() != "utf-8":
            stream.reconfigure(encoding="utf-8", errors=stream.errors)
    options = commands.parser().parse_args(arguments)
    flags = {name: value for name, value in vars(options).items() if name in FIELDS}
    try:
        settings = load(flags, os.environ, options.config)
        logging.basicConfig(
            level=settings.log_level.upper(),
            stream=sys.stderr,
            format="%(asctime)s %(levelname)s %(name)s: %(message)s",
        )
        logging.getLogger("httpx").setLevel(logging.WARNING)
        from docstow.runtime import Runtime

        # Over HTTP others' questions come too: they get the projects that were named, and no more.
        alone = options.command != "serve" or options.stdio
        folder = Path.cwd() if alone else None
        with contextlib.closing(Runtime(settings, folder)) as runtime:
            return COMMANDS[options.command](runtime, options)
    except DocstowError as error:
        _tell(error)
        return 1
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        # Whoever read the output has had enough; what is left of it must not fail at exit too.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1


def _tell(error: DocstowError, about: str = "") -> None:
    """An error in a line, and what may be meant in another."""
    print(f"docstow: {about}{error.code}: {error.message}", file=sys.stderr)
    names = ("name", "ref", "uri", "item_path", "path", "version")
    near = (
        next((each[name] for name in names if each.get(name)), "") for each in error.suggestions
    )
    if known := [str(each) for each in near if each]:
        print(f"docstow: did you mean: {', '.join(known)}", file=sys.stderr)


def _serve(runtime: Runtime, options: argparse.Namespace) -> int:
    crates = preingest.chosen(options.pre_ingest) if options.pre_ingest else []
    runtime.stow_sample()
    runtime.workers.requeue()
    if options.stdio:
        from docstow.server.stdio import run as run_stdio

        if crates:
            runtime.pre_ingest(crates)
        run_stdio(runtime.protocol)
        return 0
    from docstow.server import listen, run

    settings = runtime.settings
    listener = listen(settings.host, settings.port)
    host, port = listener.getsockname()[:2]
    url = f"http://[{host}]:{port}/mcp" if ":" in host else f"http://{host}:{port}/mcp"
    print(f"docstow {__version__} serves MCP at {url}")
    print(f"Store: {runtime.location}")
    if runtime.policy == access.CLOSED:
        print("Closed: others can reach it, and DOCSTOW_AUTH says of nobody that they may call.")
    print("Add it to a client:")
    print(f"  claude mcp add --transport http docstow {url}")
    print(f'  {{"mcpServers": {{"docstow": {{"type": "http", "url": "{url}"}}}}}}', flush=True)
    if crates:
        runtime.pre_ingest(crates)
    runtime.keep_up()
    run(runtime.app, listener, settings.log_level)
    return 0


def _ingest_crates(runtime: Runtime, options: argparse.Namespace) -> int:
    def stow(word: str) -> Snapshot:
        name, _, requirement = word.partition("@")
        return runtime.library.stow(name, requirement)

    crates = [*options.crates, *(preingest.read_list(options.file) if options.file else [])]
    if not crates:
        raise InvalidParameter("NAME", "name a crate, or give a list of crates with --file")
    if runtime.settings.queue_url:
        return cli_jobs.send_crates(runtime, crates)
    return _each(crates, stow)


def _ingest_files(runtime: Runtime, options: argparse.Namespace) -> int:
    return _each(options.files, runtime.together(options.files, version=options.version).stow)


def _ingest_std(runtime: Runtime, options: argparse.Namespace) -> int:
    from docstow.sources.crates.toolchain import standard_library

    files = standard_library(options.toolchain)
    return _each(files, runtime.together(files).stow)


def _ingest_project(runtime: Runtime, options: argparse.Namespace) -> int:
    installed = runtime.project(options.folder)
    found = installed.of_project(wanted=options.package, direct=not options.all)
    return _each(found, installed.stow)


def _each(things: Sequence[T], stow: Callable[[T], Snapshot]) -> int:
    """Stow one after the other; one that fails is reported in a line and does not stop the rest."""
    failures = 0
    for thing in things:
        begun = time.monotonic()
        try:
            snapshot = stow(thing)
        except DocstowError as error:
            failures += 1
            _tell(error, f"{thing}: ")
            continue
        counts = snapshot.counts
        print(
            f"{snapshot.revision.source.key}: {counts['documents']} documents, "
            f"{counts['examples']} examples, snapshot {snapshot.id[:12]}, "
            f"{time.monotonic() - begun:.1f} s",
            flush=True,
        )
    return 1 if failures else 0


def _export(runtime: Runtime, options: argparse.Namespace) -> int:
    from docstow.ops import files as outfiles

    runtime.stow_sample()
    export = _exported(runtime, options.source, options.format)
    forms = ("llms", "llms-full") if options.format == "llms" else (options.format,)
    if options.into == Path("-"):
        sys.stdout.writelines(export.texts(forms[-1]))
        return 0
    stem = re.sub(r"[^\w.-]+", "-", export.title).strip("-") or "export"
    if options.format in ("jsonl", "openwebui"):
        into = options.into or Path(f"{stem}.jsonl")
        into = into / f"{stem}.jsonl" if into.is_dir() else into
        outfiles.write_file(into, export.texts(options.format), force=options.force)
    else:
        into = options.into or Path(stem)
        parts = ((piece.file, piece.text) for form in forms for piece in export.pieces(form))
        outfiles.write_folder(into, parts, force=options.force)
    print(f"{export.title} as {options.format}: {into}")
    return 0


def _exported(runtime: Runtime, word: str, form: str) -> Export | PageExport:
    """A registered source of pages if one is called that, else a crate."""
    from docstow.ops.export import FORMS, Export
    from docstow.ops.export.prose import PageExport

    try:
        registration = runtime.registry.get(word)
    except SourceNotFound:
        if form not in FORMS or "/" in word:
            raise
    else:
        if kind_of(registration.kind).has_pages:
            snapshot = runtime.prose.newest(registration)
            if snapshot is None:
                raise SnapshotNotFound(f"{registration.title} was never synced; ingest it first.")
            documents = runtime.prose.index(snapshot).documents()
            return PageExport(snapshot, documents, registration.title)
        word = registration.uri
    name, _, requirement = word.partition("@")
    return Export(runtime.library.index(runtime.library.ensure(name, requirement)))


def _fetch_model(runtime: Runtime, options: argparse.Namespace) -> int:
    chosen = choice.parse(options.id, runtime.settings.model_precision)
    if chosen.kind != "hub":
        raise InvalidParameter("ID", f"{options.id} is no model of the hub; give OWNER/NAME")
    print(runtime.fetch_model(chosen, options.into))
    return 0


def _call(runtime: Runtime, options: argparse.Namespace) -> int:
    runtime.stow_sample()
    text = sys.stdin.read() if options.json == "-" else options.json
    try:
        arguments = json.loads(text)
    except ValueError as error:
        raise InvalidParameter("JSON", f"the arguments are not JSON ({error})") from error
    if not isinstance(arguments, dict):
        raise InvalidParameter("JSON", 'the arguments must be an object such as {"crate": "x"}')
    try:
        print(runtime.toolbox.call(options.tool, arguments).render())
    except DocstowError as error:
        print(json.dumps(error.body(), ensure_ascii=False))
        return 1
    return 0


def _new_token(runtime: Runtime, options: argparse.Namespace) -> int:
    del runtime
    token = access.new_token()
    entry = f"{options.name}:{options.scope}:{access.token_digest(token)}"
    access.parse([entry], exposed=True)  # a name that could not be read back is told now
    print(token)
    print(f"{entry}  # for DOCSTOW_AUTH; the token above is shown this once", file=sys.stderr)
    return 0


COMMANDS: Mapping[str, Callable[[Runtime, argparse.Namespace], int]] = {
    "serve": _serve,
    "ingest_crates": _ingest_crates,
    "ingest_files": _ingest_files,
    "ingest_std": _ingest_std,
    "ingest_project": _ingest_project,
    "ingest_prose": cli_prose.ingest_prose,
    "list_sources": cli_prose.list_sources,
    "delete_source": cli_prose.delete_source,
    "search": cli_prose.search,
    "export": _export,
    "export_bundle": cli_bundle.export_bundle,
    "import_bundle": cli_bundle.import_bundle,
    "store_list": cli_store.listed,
    "store_size": cli_store.size,
    "store_evict": cli_store.evict,
    "store_sweep": cli_store.sweep,
    "store_verify": cli_store.verify,
    "store_upkeep": cli_store.upkeep,
    "fetch_model": _fetch_model,
    "new_token": _new_token,
    "list_jobs": cli_jobs.list_jobs,
    "show_job": cli_jobs.show_job,
    "redrive_jobs": cli_jobs.redrive_jobs,
    "call": _call,
}
