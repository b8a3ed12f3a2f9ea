"""The commands of registered sources: ingest, list, delete and search."""

from __future__ import annotations

import argparse
import json
import logging
import sys
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from docstow.core.errors import InvalidParameter
from docstow.ingest.jobs import FULL, INCREMENTAL, SUCCESS
from docstow.sources import kinds

if TYPE_CHECKING:
    from docstow.runtime import Runtime

#: How often a sync says how far it is, in seconds.
PROGRESS_S = 1.0


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
    for name in ("docstow.ingest.worker", "docstow.ingest.queue"):
        logging.getLogger(name).setLevel(logging.ERROR)
    begun = time.monotonic()
    job = runtime.sync.start(created["source_id"], FULL if options.full else INCREMENTAL)
    shown = None
    while (job := runtime.sync.wait(job.id, PROGRESS_S)).active:
        if (now := job.progress) != shown and now.done:
            shown = now
            of = f" of {now.total}" if now.total else ""
            print(f"{now.done}{of} {now.current}", file=sys.stderr, flush=True)
    if job.skipped:
        reasons = (f"{number} {reason}" for reason, number in job.skipped.items())
        print(f"docstow: left out: {', '.join(reasons)}", file=sys.stderr)
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
    counts = job.counts
    print(
        f"{created['kind']} {created['uri']}: {counts['documents']} documents, "
        f"{counts['chunks']} chunks ({counts['new']} new, {counts['changed']} changed, "
        f"{counts['unchanged']} unchanged, {counts['gone']} gone, {job.error_count} failed; "
        f"{counts['embedded']} vectors made, {counts['reused']} reused), "
        f"snapshot {job.snapshot_id[:12]}, {time.monotonic() - begun:.1f} s"
    )
    return 0


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
    del options
    cursor: str | None = ""
    while cursor is not None:
        page = runtime.toolbox.call("list_sources", {"cursor": cursor}).structured or {}
        for each in page["results"]:
            state = each["job"]["state"] if "job" in each else "never synced"
            holds = f"{each['documents']} documents" if "documents" in each else "nothing"
            print(f"{each['source_id'][:12]}  {each['kind']}  {each['uri']}  {holds}, {state}")
        cursor = page["cursor"]
    return 0


def delete_source(runtime: Runtime, options: argparse.Namespace) -> int:
    """Delete a source and its pages."""
    deleted = runtime.registry.delete(options.source)
    print(f"{deleted.kind} {deleted.uri}: deleted")
    return 0


def search(runtime: Runtime, options: argparse.Namespace) -> int:
    """Print the best chunks."""
    arguments = {"query": options.query, "sources": options.source, "top_k": options.top_k}
    found = (
        runtime.toolbox.call("search_docs", {**arguments, "mode": options.mode}).structured or {}
    )
    if "notice" in found:
        print(f"docstow: {found['notice']}", file=sys.stderr)
    for number, hit in enumerate(found["results"], 1):
        print(f"{number}. {hit['heading_path'] or hit['title']} ({hit['source']})")
        print(f"   {hit['url'] or hit['doc_id']}")
        print(f"   {' '.join(hit['snippet'].split())}\n")
    return 0
