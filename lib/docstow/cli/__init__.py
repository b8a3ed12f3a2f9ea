"""The command line: one function for each command prints what it did and returns a status."""

from __future__ import annotations

import argparse
import atexit
import contextlib
import io
import json
import os
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from docstow import __version__
from docstow.cli import add, completion, connect, doctor, engines, ingest, look, store
from docstow.cli.interrupt import STATUS, Interrupts
from docstow.cli.out import Out
from docstow.core import auth
from docstow.core.errors import DocstowError, InvalidParameter, SnapshotNotFound, SourceNotFound
from docstow.core.garbage import collect_seldom
from docstow.core.logs import configure
from docstow.core.settings import FIELDS, load, origins
from docstow.core.threads import limit_blas
from docstow.core.visibility import SEPARATOR
from docstow.embedding import parse_choice
from docstow.ingest import preload
from docstow.languages import parse_package
from docstow.server import command_line
from docstow.sources import kind_of

if TYPE_CHECKING:
    from docstow.index.loaded import Index
    from docstow.ops.export import Export
    from docstow.runtime import Runtime
    from docstow.server.mcp import Protocol

#: How long one request of a push may take, in seconds; servers embed a file in one.
_PUSH_S = 600.0


def run() -> None:
    """Run the command of this process, and end the process with its status.

    The interpreter is not taken apart: that takes time, and native libraries tell the terminal what
    of theirs is still there then.
    """
    try:
        status = main()
    except SystemExit as left:  # what argparse refuses
        status = left.code if isinstance(left.code, int) else 1
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError):
            stream.flush()
    atexit._run_exitfuncs()  # noqa: SLF001 - nothing else runs them
    os._exit(status)


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
    options = command_line.parse(sys.argv[1:] if arguments is None else arguments)
    limit_blas()
    collect_seldom()
    options.out = Out(as_json=options.as_json)
    flags = {name: value for name, value in vars(options).items() if name in FIELDS}
    try:
        settings = load(flags, os.environ, options.config)
        options.origins = origins(flags, os.environ, options.config)
        unasked = options.origins["log_level"] == "default"
        configure(settings, quiet=unasked and options.command != "serve")
        from docstow.runtime import Runtime

        # Over HTTP others may ask: they get the projects that the settings name, and no more.
        local = options.command != "serve" or options.stdio
        folder = Path.cwd() if local else None
        with contextlib.closing(Runtime(settings, folder)) as runtime:
            if options.command == "serve":
                return _serve(runtime, options)  # it ends what is under way by itself
            options.interrupts = Interrupts(runtime.stop)
            with options.interrupts.handled():
                return COMMANDS[options.command](runtime, options)
    except DocstowError as error:
        ingest.print_error(error)
        return 1
    except KeyboardInterrupt:
        return STATUS
    except BrokenPipeError:
        # The reader of the output is gone; flushing the rest at exit must not fail too.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1


def _serve(runtime: Runtime, options: argparse.Namespace) -> int:
    wanted = options.pre_ingest
    packages = preload.select_packages(wanted or ["50"]) if wanted is not None else []
    if runtime.settings.compat:
        _ = runtime.compat  # refuses what is not known before anything begins
    if not options.stdio:
        runtime.run_apart()  # before the tools are made
    if options.toolsets:
        runtime.toolbox.offer([name.strip() for name in options.toolsets.split(",")])
    runtime.check_store()
    runtime.ingest_sample_apart()
    runtime.requeue()
    if options.stdio:
        from docstow.server.stdio import run as run_stdio

        if packages:
            runtime.preload_packages(packages)
        run_stdio(_protocol(runtime, options))
        return 0
    from docstow.server.http import listen, listen_near, run

    settings = runtime.settings
    given = options.origins["port"] != "default"
    listener = (listen if given else listen_near)(settings.host, settings.port)
    host, port = listener.getsockname()[:2]
    if not given and port != settings.port:
        told = f"docstow: port {settings.port} is taken, so {port} is used; --port chooses another"
        print(told, file=sys.stderr)
    url = f"http://[{host}]:{port}/mcp" if ":" in host else f"http://{host}:{port}/mcp"
    if options.out.as_json:
        closed = runtime.policy == auth.CLOSED
        body = {"version": __version__, "url": url, "store": runtime.location, "closed": closed}
        options.out.tell(body, "")
    else:
        _print_address(runtime, url)
    if packages:
        runtime.preload_packages(packages)
    runtime.keep_up()
    run(runtime.served_app, listener, settings.log_level)
    return 0


def _print_address(runtime: Runtime, url: str) -> None:
    """Print where a server listens, and what clients need."""
    print(f"docstow {__version__} serves MCP at {url}")
    print(f"Pages for people: {url.removesuffix('mcp')}")
    for system, _ in runtime.compat if runtime.settings.compat else []:
        print(f"As {system.name}: {url.removesuffix('/mcp')}{system.root}")
    print(f"Store: {runtime.location}")
    if runtime.policy == auth.CLOSED:
        print("Closed: others can reach it, and DOCSTOW_AUTH says of nobody that they may call.")
    print("Add it to a client:")
    print(f"  claude mcp add --transport http docstow {url}")
    print(f'  {{"mcpServers": {{"docstow": {{"type": "http", "url": "{url}"}}}}}}', flush=True)


def _protocol(runtime: Runtime, options: argparse.Namespace) -> Protocol:
    """Return what is spoken over standard streams: with ``--compat`` that earlier system's."""
    if options.compat is None:
        return runtime.protocol
    if len(runtime.compat) != 1:
        raise InvalidParameter("--compat", "over standard streams one system is served; name one")
    return runtime.compat[0][1]


def _export(runtime: Runtime, options: argparse.Namespace) -> int:
    from docstow.ops import files as outfiles

    runtime.ingest_sample()
    if options.push:
        return _push(runtime, options)
    if options.knowledge or options.dry_run:
        raise InvalidParameter("--push", "is missing: --knowledge and --dry-run belong to it")
    if options.format == "site":
        return _export_site(runtime, options)
    export = _exported(runtime, options.source, options.format)
    forms = ("llms", "llms-full") if options.format == "llms" else (options.format,)
    if options.into == Path("-"):
        sys.stdout.writelines(export.texts(forms[-1]))
        return 0
    stem = _stem(export.title)
    if options.format in ("jsonl", "openwebui"):
        into = options.into or Path(f"{stem}.jsonl")
        into = into / f"{stem}.jsonl" if into.is_dir() else into
        outfiles.write_file(into, export.texts(options.format), force=options.force)
    else:
        into = options.into or Path(stem)
        parts = ((piece.file, piece.text) for form in forms for piece in export.pieces(form))
        outfiles.write_folder(into, parts, force=options.force)
    body = {"title": export.title, "format": options.format, "into": str(into)}
    options.out.tell(body, f"{export.title} as {options.format}: {into}")
    return 0


def _export_site(runtime: Runtime, options: argparse.Namespace) -> int:
    """Write a snapshot as pages for a browser, which need no server."""
    from docstow.ops import files as outfiles
    from docstow.server.web.static_site import write_pages

    if options.into == Path("-"):
        raise InvalidParameter("--into", "a site is a folder; name it")
    index, title = _find_index(runtime, options.source, options.format)
    into = options.into or Path(_stem(title))
    outfiles.write_folder(
        into, write_pages(runtime.page_services, index, title), force=options.force
    )
    body = {"title": title, "format": options.format, "into": str(into)}
    options.out.tell(body, f"{title} as {options.format}: {into}")
    return 0


def _stem(title: str) -> str:
    """Return what an export is called on disk."""
    return re.sub(r"[^\w.-]+", "-", title).strip("-") or "export"


def _push(runtime: Runtime, options: argparse.Namespace) -> int:
    """Push an export into Open WebUI; print what changed there, and to stderr what failed."""
    from docstow.ops.export.open_webui import OpenWebUi

    if options.into is not None:
        raise InvalidParameter("--into", "is for files; --push writes none")
    export = _exported(runtime, options.source, "markdown")
    token = runtime.settings.open_webui_token.reveal()
    server = OpenWebUi(
        runtime.upstreams.upstream(options.push, total_s=_PUSH_S), options.push, token
    )
    done = server.push(
        export.files(),
        source=export.source,
        title=export.title,
        about=f"Documentation of {export.title}, kept up to date by docstow. Third-party text.",
        knowledge=options.knowledge,
        dry_run=options.dry_run,
    )
    counts = {"added": done.added, "replaced": done.replaced, "removed": done.removed}
    if options.dry_run and not options.out.as_json:
        for what, paths in counts.items():
            print("".join(f"would be {what}: {path}\n" for path in paths), end="")
    told = ", ".join(f"{len(paths)} {what}" for what, paths in counts.items())
    named = options.knowledge or export.title
    into = f"{named} ({done.knowledge or 'not made yet'})"
    body = {**counts, "unchanged": done.unchanged, "failed": done.failed, "knowledge": into}
    told += f", {done.unchanged} unchanged{' (dry run)' * options.dry_run}"
    options.out.tell(body, f"{into}: {told}")
    for path, reason in done.failed.items():
        print(f"docstow: {path}: {reason}", file=sys.stderr)
    return 1 if done.failed else 0


def _exported(runtime: Runtime, word: str, form: str) -> Export:
    """Resolve a name to a registered source of pages, else to a crate."""
    from docstow.ops.export import Export

    return Export(*_find_index(runtime, word, form))


def _find_index(runtime: Runtime, word: str, form: str) -> tuple[Index, str]:
    """Return the tables of a source of pages, a crate or a package, and what it is called."""
    from docstow.ops.export import ITEM_FORMATS

    try:
        registration = runtime.registry.get(word)
    except SourceNotFound:
        path = "/" in word and not re.match(r"\w+:(?!/)", word)
        if form not in (*ITEM_FORMATS, "site") or path:
            raise
    else:
        if kind_of(registration.kind).has_pages:
            snapshot = runtime.prose.newest(registration)
            if snapshot is None:
                raise SnapshotNotFound(f"{registration.title} was never synced; ingest it first.")
            return runtime.prose.index(snapshot), registration.title
        word = registration.uri
    named = parse_package(word, "SOURCE")
    if named.language is not None and named.language.packaged:
        snapshot = runtime.library.package(named.language, named.name, named.requirement).snapshot
    else:
        snapshot = runtime.crates.ensure(named.name, named.requirement)
    title = f"{snapshot.revision.source.name} {snapshot.revision.version}"
    return runtime.library.index(snapshot), title


def _fetch_model(runtime: Runtime, options: argparse.Namespace) -> int:
    chosen = parse_choice(options.id, runtime.settings.model_precision)
    if chosen.kind != "hub":
        raise InvalidParameter("ID", f"{options.id} is no model of the hub; give OWNER/NAME")
    folder = str(runtime.models.fetch(chosen, options.into))
    options.out.tell({"folder": folder}, folder)
    return 0


def _call(runtime: Runtime, options: argparse.Namespace) -> int:
    runtime.ingest_sample()
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
    from docstow.runtime import visible_kinds

    del runtime
    token = auth.new_token()
    entry = f"{options.name}:{options.scope}:{auth.token_digest(token)}"
    if options.sources:
        entry += f":{SEPARATOR.join(options.sources)}"
    # Refuses what could not be read back.
    auth.parse(re.split(r"[\s,]", entry), exposed=True, kinds=visible_kinds)
    if options.out.as_json:
        options.out.tell({"token": token, "entry": entry}, "")
        return 0
    print(token)
    print(f"{entry}  # for DOCSTOW_AUTH; the token above is shown this once", file=sys.stderr)
    return 0


def _add(runtime: Runtime, options: argparse.Namespace) -> int:
    def perform(words: Sequence[str]) -> int:
        chosen = command_line.parse(words)
        chosen.interrupts, chosen.out = options.interrupts, options.out
        try:
            return COMMANDS[chosen.command](runtime, chosen)
        except DocstowError as error:
            ingest.print_error(error)
            return 1

    return add.add(runtime, options, perform)


COMMANDS: Mapping[str, Callable[[Runtime, argparse.Namespace], int]] = {
    "add": _add,
    "doctor": doctor.doctor,
    "show_config": doctor.show_config,
    "scan": look.scan,
    "completion": completion.print_script,
    "complete": completion.complete,
    "connect": connect.connect,
    "disconnect": connect.disconnect,
    "ingest_descriptions": ingest.ingest_descriptions,
    "ingest_crates": ingest.ingest_crates,
    "ingest_files": ingest.ingest_files,
    "ingest_std": ingest.ingest_std,
    "ingest_packages": ingest.ingest_packages,
    "ingest_project": ingest.ingest_project,
    "ingest_prose": ingest.ingest_prose,
    "list_sources": ingest.list_sources,
    "delete_source": ingest.delete_source,
    "search": look.search,
    "show": look.show,
    "diff": look.diff,
    "verify": look.verify,
    "export": _export,
    "export_bundle": store.export_bundle,
    "import_bundle": store.import_bundle,
    "store_list": store.list_sources,
    "store_size": store.size,
    "store_evict": store.evict,
    "store_sweep": store.sweep,
    "store_verify": store.verify,
    "store_upkeep": store.upkeep,
    "list_engines": engines.list_engines,
    "install_engines": engines.install,
    "fetch_model": _fetch_model,
    "new_token": _new_token,
    "list_jobs": ingest.list_jobs,
    "show_job": ingest.show_job,
    "show_source": ingest.show_source,
    "redrive_jobs": ingest.redrive_jobs,
    "call": _call,
}
