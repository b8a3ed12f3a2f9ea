"""The commands that stow, list, search and delete sources, and those about jobs."""

from __future__ import annotations

import argparse
import contextlib
import json
import logging
import shlex
import sys
import textwrap
import time
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from docstow.cli.out import Out
from docstow.cli.progress import State, shown
from docstow.core import calls
from docstow.core.errors import (
    CrateNotFound,
    DocstowError,
    InvalidParameter,
    PackageNotFound,
)
from docstow.ingest import job_logs, preload
from docstow.ingest.jobs import FAILED, FULL, INCREMENTAL, SUCCESS, Coverage, Job
from docstow.languages import parse_package
from docstow.sources import kind_of, kinds, limit_notice
from docstow.tools.sources import describe, describe_state

if TYPE_CHECKING:
    from docstow.core.model import Snapshot, Source
    from docstow.ingest.packages import InstalledPackage
    from docstow.languages import Language
    from docstow.runtime import Runtime

_T = TypeVar("_T")

#: How often a sync says how far it is, in seconds.
PROGRESS_S = 1.0
#: So many pages that lost text are named after a sync.
PAGES_PRINTED = 10
#: Characters of why a job failed in a list of jobs.
_LONGEST_REASON = 120


def ingest_crates(runtime: Runtime, options: argparse.Namespace) -> int:
    """Ingest crates of docs.rs here, or send them to the queue where one is set."""

    def stow(word: str) -> Snapshot:
        name, _, requirement = word.partition("@")
        return runtime.crates.ingest(name, requirement)

    crates = [*options.crates, *(preload.read_list(options.file) if options.file else [])]
    if not crates:
        raise InvalidParameter("NAME", "name a crate, or give a list of crates with --file")
    if not runtime.settings.queue_url:
        return _ingest_each(crates, stow, options, _again("ingest", "crate"))

    def resolve(word: str) -> tuple[Source, bool]:
        name, _, requirement = word.partition("@")
        revision, snapshot = runtime.resolver.resolve(name, requirement)
        return revision.source, snapshot is not None

    return _send(runtime, crates, resolve, options.out)


def ingest_packages(runtime: Runtime, options: argparse.Namespace) -> int:
    """Ingest packages of registries here, or send them to the queue where one is set."""

    def stow(word: str) -> Snapshot:
        language, name, requirement = _package(word)
        if not language.packaged:
            return runtime.crates.ingest(name, requirement)
        return runtime.packages.ingest(language.kind, name, requirement)

    if not runtime.settings.queue_url:
        again = _again("ingest", "package")
        return _ingest_each(options.packages, stow, options, again)

    def resolve(word: str) -> tuple[Source, bool]:
        language, name, requirement = _package(word)
        if not language.packaged:
            source = runtime.resolver.resolve(name, requirement)[0].source
        else:
            source = runtime.installed.registry(language).resolve(name, requirement).source
        return source, runtime.snapshots.answering(source) is not None

    return _send(runtime, options.packages, resolve, options.out)


def ingest_descriptions(runtime: Runtime, options: argparse.Namespace) -> int:
    """Fetch what registries say of packages, for finding them by purpose."""
    from docstow.ingest.descriptions import DescriptionTask

    options.interrupts.advice = lambda: "what is known is kept; run this again to go on"
    wanted: dict[Language, list[str]] = {}
    for word in preload.select_packages(options.words):
        language, name, _ = _package(word)
        if not language.packaged:
            raise InvalidParameter("PACKAGE", "the index of crates has no descriptions")
        wanted.setdefault(language, []).append(name)
    failures = 0
    for language, names in wanted.items():
        registry = runtime.installed.registry(language)
        pause = partial(time.sleep, max(options.pause, 0))
        task = DescriptionTask(runtime.descriptions, registry, language, pause)
        number = 0
        performed = task.perform(names, renew=options.renew)
        with shown(language.name, "descriptions") as show, contextlib.closing(performed):
            for number, (name, found) in enumerate(performed, 1):
                if isinstance(found, DocstowError):
                    failures += 1
                    print_error(found, f"{name}: ")
                show(State(number, len(names), estimated=True, failed=failures))
        known = len(names) - number
        told = f"{language.name}: {number} packages asked for, {known} known already"
        options.out.tell({"language": language.name, "asked": number, "known": known}, told)
    return 1 if failures else 0


def _package(word: str) -> tuple[Language, str, str]:
    """Parse ``python:flask@3.0`` or ``npm:@scope/name@^1`` as language, name and requirement.

    Raises:
        InvalidParameter: it is not so written, or there is no such language.
    """
    found = parse_package(word, "PACKAGE")
    if found.language is None:
        raise InvalidParameter(
            "PACKAGE", f"must be python:NAME[@VERSION], npm:NAME[@VERSION] or rust:…, not {word!r}"
        )
    return found.language, found.name, found.requirement


def ingest_files(runtime: Runtime, options: argparse.Namespace) -> int:
    """Ingest rustdoc JSON files."""
    files = runtime.rustdoc_files(options.files, version=options.version)
    again = _again("ingest", "rustdoc")
    return _ingest_each(options.files, files.ingest, options, again)


def ingest_std(runtime: Runtime, options: argparse.Namespace) -> int:
    """Ingest the standard library of a toolchain."""
    from docstow.sources.crates.origin import standard_library

    files = standard_library(options.toolchain)
    again = _again("ingest", "rustdoc")
    return _ingest_each(files, runtime.rustdoc_files(files).ingest, options, again)


def ingest_project(runtime: Runtime, options: argparse.Namespace) -> int:
    """Ingest the installed packages of a project."""
    installed = runtime.project(options.folder)
    found = installed.of_project(wanted=options.package, direct=not options.all)

    def again(left: Sequence[InstalledPackage]) -> str:
        named = [word for each in left for word in ("--package", each.package.name)]
        return shlex.join(["docstow", "ingest", "project", str(options.folder), *named])

    return _ingest_each(found, installed.ingest, options, again)


def _ingest_each(
    things: Sequence[_T],
    stow: Callable[[_T], Snapshot],
    options: argparse.Namespace,
    command: Callable[[Sequence[_T]], str],
) -> int:
    """Ingest one after the other; one that fails is reported and does not stop the rest.

    Args:
        things: what to ingest.
        stow: ingests one.
        options: how to print, and what is told how to go on.
        command: returns the command that ingests the rest.
    """
    failures = number = 0
    options.interrupts.advice = lambda: (
        f"{number} of {len(things)} are done; go on with: {command(things[number:])}"
    )
    with shown("ingest", "done") as show:
        for number, thing in enumerate(things):
            show(State(number, len(things), failed=failures, doing=str(thing)))
            begun = time.monotonic()

            def hear(done: float, total: float | None, what: str, about: str = str(thing)) -> None:
                doing = f"{about}: {what}"
                show(State(int(done), int(total or 0), doing=doing, unit="passages"))

            try:
                with calls.heard_by(calls.Listener(progress=hear)):
                    snapshot = stow(thing)
            except DocstowError as error:
                failures += 1
                if isinstance(error, CrateNotFound | PackageNotFound) and not error.suggestions:
                    near = preload.near_popular(_bare(str(thing)))
                    error.suggestions = tuple({"name": each} for each in near)
                print_error(error, f"{thing}: ")
                continue
            counts = snapshot.counts
            took_s, key = time.monotonic() - begun, snapshot.revision.source.key
            options.out.tell(
                {"source": key, "snapshot": snapshot.id, "counts": counts, "seconds": took_s},
                f"{key}: {counts['documents']} documents, {counts['examples']} examples, "
                f"snapshot {snapshot.id[:12]}, {took_s:.1f} s",
            )
    return 1 if failures else 0


def _bare(word: str) -> str:
    """Return the name of a package without its language and version."""
    return parse_package(word.partition(":")[2] or word).name


def _again(*words: str) -> Callable[[Sequence[object]], str]:
    """Return what spells a command with the things that are left of it."""
    return lambda left: shlex.join(["docstow", *words, *map(str, left)])


def ingest_prose(runtime: Runtime, options: argparse.Namespace) -> int:
    """Register a source, sync it and print the outcome."""
    command = kinds()[options.kind].command
    assert command is not None
    uri = command.uri(options.uri)
    named = "preset" if command.takes_preset and "/" not in uri else "uri"
    given = _pairs(options.option)
    for name in command.flags:
        if value := getattr(options, name):
            given[name] = _value(value)
    arguments = {
        named: uri,
        "title": options.title,
        **({"kind": options.kind} if named == "uri" else {}),
        **({"options": given} if given else {}),
        **({"headers": _headers(options.header)} if options.header else {}),
        **({"refresh_hours": options.refresh_hours} if options.refresh_hours else {}),
    }
    created = runtime.toolbox.call("create_source", arguments).structured or {}
    # What goes wrong is printed here; the log of a server would tell it twice more.
    for handler in logging.getLogger().handlers:
        handler.addFilter(_is_left_to_the_log)
    begun = time.monotonic()
    options.interrupts.advice = lambda: (
        "what was stowed before goes on answering; run this again to go on"
    )
    job = runtime.sync.start(created["source_id"], FULL if options.full else INCREMENTAL)
    with shown(f"{created['kind']} {created['uri']}", "pages") as show:
        while (job := runtime.sync.wait(job.id, PROGRESS_S)).active:
            show(_state(job))
    _print_left_out(job)
    for error in job.errors:
        about = f"{error.ref}: " if error.ref else ""
        print(f"docstow: {about}{error.kind}: {error.message}", file=sys.stderr)
    if job.error_count > len(job.errors):
        print(f"docstow: and {job.error_count - len(job.errors)} more", file=sys.stderr)
    if job.state != SUCCESS:
        if runtime.prose.newest(runtime.registry.get(created["source_id"])) is None:
            short = created["source_id"][:12]
            print(
                f"docstow: {created['uri']} is registered, but nothing is stowed of it yet: run"
                f" this again, or forget it with: docstow sources delete {short}",
                file=sys.stderr,
            )
        return 1
    _print_coverage(job.coverage)
    counts, took_s = job.counts, time.monotonic() - begun
    options.out.tell(
        {**created, "job": job.body(), "seconds": took_s},
        f"{created['kind']} {created['uri']}: {counts['documents']} documents, "
        f"{counts['chunks']} chunks ({counts['new']} new, {counts['changed']} changed, "
        f"{counts['unchanged']} unchanged, {counts['gone']} gone, {job.error_count} failed; "
        f"{counts['embedded']} vectors made, {counts['reused']} reused), "
        f"snapshot {job.snapshot_id[:12]}, {took_s:.1f} s",
    )
    return 0


def _is_left_to_the_log(record: logging.LogRecord) -> bool:
    """Return whether a line of the log tells what nothing else here does."""
    return record.levelno >= logging.ERROR or not record.name.startswith("docstow.ingest.")


def _state(job: Job) -> State:
    """Return how far a sync is."""
    now = job.progress
    fetching = not job.counts["documents"]  # they are read when all of them are there
    embedding = now.current == calls.EMBEDDING
    return State(
        now.done,
        now.total or 0,
        estimated=fetching and not embedding,
        skipped=job.counts["skipped"],
        failed=job.counts["failed"],
        doing=calls.EMBEDDING if embedding else "fetching" if fetching else "reading",
        unit="passages" if embedding else "",
    )


def _print_left_out(job: Job) -> None:
    """Say what a sync left out on purpose, on the error output."""
    if job.skipped:
        reasons = (f"{number} {reason}" for reason, number in job.skipped.items())
        print(f"docstow: left out: {', '.join(reasons)}", file=sys.stderr)
    if notice := limit_notice(job.skipped):
        print(f"docstow: {notice}", file=sys.stderr)
    if dropped := job.counts.get("invisible", 0):
        print(f"docstow: {dropped} invisible characters were dropped", file=sys.stderr)


def _print_coverage(coverage: Coverage | None) -> None:
    """Say which pages lost text, on the error output."""
    if coverage is None or not coverage.below:
        return
    share = f"{coverage.kept / coverage.words:.1%} of {coverage.words} words are kept"
    print(f"docstow: {share}; pages that keep less than 90 %: {coverage.below}", file=sys.stderr)
    for path, kept in list(coverage.pages.items())[:PAGES_PRINTED]:
        print(f"docstow: {kept:.0%} of {path}", file=sys.stderr)
    if coverage.below > PAGES_PRINTED:
        print("docstow: `docstow sources show` lists more of them", file=sys.stderr)


def _pairs(words: Sequence[str]) -> dict[str, Any]:
    """Parse ``KEY=VALUE`` words; a key that comes more than once has a list."""
    found: dict[str, list[Any]] = {}
    for word in words:
        key, equals, text = word.partition("=")
        if not equals or not key:
            raise InvalidParameter("option", f"{word[:80]!r} is not KEY=VALUE")
        found.setdefault(key, []).append(_value(text))
    return {key: values[0] if len(values) == 1 else values for key, values in found.items()}


def _value(text: str) -> Any:
    """Parse JSON, or keep the text itself."""
    try:
        return json.loads(text)
    except ValueError:
        return text


def _headers(words: Sequence[str]) -> dict[str, str]:
    headers = {}
    for word in words:
        name, colon, value = word.partition(":")
        if not colon or not name.strip():
            # What it says is a secret, so that the message does not repeat it.
            raise InvalidParameter("header", "must be written as 'Name: value'")
        headers[name.strip()] = value.strip()
    return headers


def list_sources(runtime: Runtime, options: argparse.Namespace) -> int:
    """Print one line for each registered source."""
    found: list[dict[str, Any]] = []
    cursor: str | None = ""
    while cursor is not None:
        page = runtime.toolbox.call("list_sources", {"cursor": cursor}).structured or {}
        found += page["results"]
        cursor = page["cursor"]
    rows = [
        (
            each["source_id"][:12],
            each["kind"],
            each["uri"],
            f"{each['documents']} documents" if "documents" in each else "nothing",
            each["job"]["state"] if "job" in each else "never synced",
        )
        for each in found
    ]
    plain = (f"{'  '.join(row[:4])}, {row[4]}" for row in rows)
    options.out.table(found, ("id", "kind", "uri", "holds", "last sync"), rows, plain)
    return 0


def show_source(runtime: Runtime, options: argparse.Namespace) -> int:
    """Print a source, what is stowed of it, and the pages that lost text, as JSON."""
    registration = runtime.registry.get(options.source)
    shown = describe(registration) | describe_state(runtime.prose, runtime.jobs, registration)
    if kind_of(registration.kind).has_pages and (newest := runtime.prose.newest(registration)):
        shown["coverage"] = newest.facts.get("coverage")
    print(json.dumps(shown, indent=1, ensure_ascii=False))
    return 0


def delete_source(runtime: Runtime, options: argparse.Namespace) -> int:
    """Delete a source and its pages."""
    deleted = runtime.registry.delete(options.source)
    body = {"deleted": deleted.id, "kind": deleted.kind, "uri": deleted.uri}
    options.out.tell(body, f"{deleted.kind} {deleted.uri}: deleted")
    return 0


def list_jobs(runtime: Runtime, options: argparse.Namespace) -> int:
    """Print one line for each job, the newest first."""
    jobs = [job for job in runtime.jobs.all() if options.state in (None, job.state)]
    titles = {each.id: each.title or each.uri for each in runtime.registry.all()}
    rows = (_row(job, titles) for job in jobs)
    header = ("id", "begun (UTC)", "state", "of")
    bodies = (job.body() for job in jobs)
    options.out.table(bodies, header, rows, map(_line, jobs), whole=(0, 1, 2))
    return 0


def _row(job: Job, titles: Mapping[str, str]) -> tuple[str, ...]:
    """Return a job as a terminal has it; ``jobs show`` has the whole reason."""
    about = job.source.key if job.source else titles.get(job.source_id, job.source_id[:12])
    reason = textwrap.shorten(_reason(job), _LONGEST_REASON, placeholder=" …")
    begun = job.created_at.astimezone(UTC).strftime("%Y-%m-%d %H:%M")
    return job.id, begun, job.state, "\n".join(filter(None, [f"{job.kind} {about}", reason]))


def _cells(job: Job) -> tuple[str, ...]:
    about = job.source.key if job.source else job.source_id[:12]
    return job.id, job.created_at.isoformat(timespec="seconds"), job.kind, about, job.state


def _reason(job: Job) -> str:
    return job.errors[0].message if job.state == FAILED and job.errors else ""


def _line(job: Job) -> str:
    reason = _reason(job)
    return "  ".join(_cells(job)) + (f": {reason}" if reason else "")


def show_job(runtime: Runtime, options: argparse.Namespace) -> int:
    """Print a job and what it has logged, as JSON."""
    job = runtime.jobs.get(options.job)
    notice = limit_notice(job.skipped)
    shown = job.body() | ({"notice": notice} if notice else {})
    shown["log"] = [str(line) for line in job_logs.read(runtime.store, job)]
    print(json.dumps(shown, indent=1, ensure_ascii=False))
    return 0


def redrive_jobs(runtime: Runtime, options: argparse.Namespace) -> int:
    """Enqueue again the jobs that are named, or everything that failed for good."""
    failures = 0
    begun: list[Job] = []
    for ref in options.jobs:
        job = runtime.jobs.get(ref)
        if job.state != FAILED:
            raise InvalidParameter("ID", f"{ref} is {job.state}; only what failed is done anew")
        begun.append(runtime.enqueuer.repeat(job))
    for redriven in [] if options.jobs else runtime.enqueuer.redrive():
        if redriven.job is None:
            failures += 1
            print(f"docstow: {redriven.text[:200]!r}: {redriven.reason}", file=sys.stderr)
        else:
            begun.append(redriven.job)
    for job in begun:
        # The workers of this process end with it, so that they are waited for.
        while not runtime.settings.queue_url and (job := runtime.sync.wait(job.id, 60)).active:
            print(_line(job), file=sys.stderr, flush=True)
        failures += job.state == FAILED
        options.out.tell(job.body(), _line(job))
    return 1 if failures else 0


def _send(
    runtime: Runtime,
    words: Sequence[str],
    resolve: Callable[[str], tuple[Source, bool]],
    out: Out,
) -> int:
    """Send crates or packages to the queue, whose workers ingest them."""
    failures = 0
    for word, outcome in runtime.enqueuer.crates(words, resolve):
        if isinstance(outcome, DocstowError):
            failures += 1
            print(f"docstow: {word}: {outcome.code}: {outcome.message}", file=sys.stderr)
        else:
            told = _line(outcome) if outcome else f"{word}: is stowed already"
            out.tell({"asked": word, "job": outcome.body() if outcome else None}, told)
    return 1 if failures else 0


def print_error(error: DocstowError, about: str = "") -> None:
    """Print an error as one line, and its suggestions as another."""
    print(f"docstow: {about}{error.code}: {error.message}", file=sys.stderr)
    names = ("name", "ref", "uri", "item_path", "path", "version")
    near = (
        next((each[name] for name in names if each.get(name)), "") for each in error.suggestions
    )
    if known := [str(each) for each in near if each]:
        print(f"docstow: did you mean: {', '.join(known)}", file=sys.stderr)
