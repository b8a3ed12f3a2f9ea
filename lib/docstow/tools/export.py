"""The tool ``export_snapshot``: what is stowed of a crate or a source, as a whole."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from docstow.core.errors import InvalidParameter, SnapshotNotFound
from docstow.sources import kind_of
from docstow.tools import Answer, Tool, docs, provenance, provenance_line
from docstow.tools.docs import SNAPSHOT, SOURCE, describe_snapshot
from docstow.tools.parameters import (
    ANY_PACKAGE,
    CURSOR,
    LANGUAGE,
    LOCKFILE,
    TARGET,
    VERSION,
    Parameter,
    find_stowed,
)

if TYPE_CHECKING:
    from docstow.library import Library
    from docstow.library.prose import Prose
    from docstow.sources.registry import Registry

#: The forms of :mod:`docstow.ops.export`, which is not imported before it is needed.
_CRATE_FORMS = ("jsonl", "markdown", "llms", "llms-full")
_FORMS = (*_CRATE_FORMS, "openwebui", "openwebui-markdown")


def tool(library: Library, prose: Prose, registry: Registry) -> Tool:
    """Make the tool, bound to what is stowed."""
    return Tool(
        name="export_snapshot",
        toolset="sources",
        slow=True,
        title="Export a snapshot",
        description=(
            "The whole documentation of a crate or a source, page by page and in order: JSON Lines "
            "with all fields, Markdown files, an llms.txt, its llms-full.txt, or, of a source, "
            "Open WebUI's knowledge. The first line of a page says what it is from and gives the "
            "cursor of the next; the rest, joined, is the export. Not for a question "
            "(search_items, search_docs). "
            'Example: {"package": "tokio", "version": "1.40", "format": "llms"}.'
        ),
        parameters=(
            ANY_PACKAGE,
            LANGUAGE,
            VERSION,
            LOCKFILE,
            TARGET,
            replace(SOURCE, description="Instead of package: id, URI or title"),
            SNAPSHOT,
            Parameter("format", "string", "What it is written as", default="jsonl", choices=_FORMS),
            CURSOR,
            Parameter(
                "max_tokens", "integer", "Tokens a page", default=8000, minimum=100, maximum=25000
            ),
        ),
        run=partial(_export, library, prose, registry),
    )


def _export(
    library: Library, prose: Prose, registry: Registry, arguments: Mapping[str, Any]
) -> Answer:
    from docstow.ops.export.pieces import fill_page
    from docstow.text.paging import CHARACTERS_PER_TOKEN

    form = arguments["format"]
    if bool(arguments["package"]) == bool(arguments["source_id"].strip()):
        raise InvalidParameter("package", "give exactly one of package and source_id")
    of = (
        _find_crate(library, arguments)
        if arguments["package"]
        else _find_source(prose, registry, arguments)
    )
    scope = f"{of.snapshot} {form}"
    begin = _read_cursor(arguments["cursor"], scope)
    page = fill_page(of.texts(begin[0]), begin, arguments["max_tokens"] * CHARACTERS_PER_TOKEN)
    cursor = _make_cursor(page.following, scope) if page.following else None
    if form in ("jsonl", "openwebui"):
        first = json.dumps({"record": "page", **of.provenance, "cursor": cursor})
    else:
        first = f"{of.line} · next cursor: `{cursor}`" if cursor else f"{of.line} · last page"
    return Answer(text=f"{first}\n{page.text}")


@dataclass(frozen=True, slots=True)
class _Whole:
    """What is exported.

    Attributes:
        snapshot: its id.
        provenance: what the first line says of it as JSON.
        line: the same as Markdown.
        texts: the export from a piece on.
    """

    snapshot: str
    provenance: Mapping[str, Any]
    line: str
    texts: Callable[[int], Iterator[str]]


def _find_crate(library: Library, arguments: Mapping[str, Any]) -> _Whole:
    from docstow.ops.export import Export

    if arguments["format"] not in _CRATE_FORMS:
        raise InvalidParameter("format", f"of a crate must be one of {', '.join(_CRATE_FORMS)}")
    if arguments["snapshot_id"]:
        raise InvalidParameter("snapshot_id", "belongs to source_id; a crate has its version")
    found = find_stowed(library, arguments["package"], arguments)
    return _Whole(
        found.snapshot.id,
        provenance(found),
        provenance_line(found, found.snapshot.facts.get("url", "")),
        lambda begin: Export(library.index(found.snapshot)).texts(arguments["format"], begin),
    )


def _find_source(prose: Prose, registry: Registry, arguments: Mapping[str, Any]) -> _Whole:
    from docstow.ops.export import Export

    for name in ("version", "lockfile", "target"):
        if arguments[name]:
            raise InvalidParameter(name, "belongs to package; a source has snapshot_id")
    registration = registry.get(arguments["source_id"].strip())
    if not kind_of(registration.kind).has_pages:
        raise InvalidParameter("source_id", f"{registration.title} is a crate; give it as package")
    wanted = arguments["snapshot_id"]
    kept = prose.snapshots(registration.id) if wanted else [prose.newest(registration)]
    snapshot = next((each for each in kept if each and wanted in ("", each.id)), None)
    if snapshot is None:
        raise SnapshotNotFound(
            f"{registration.title} has no snapshot {wanted or 'yet'}; list_snapshots shows those "
            "that are kept, and start_sync makes one."
        )
    return _Whole(
        snapshot.id,
        describe_snapshot(registration, snapshot),
        docs.provenance_line(registration, snapshot, snapshot.revision.url),
        lambda begin: Export(prose.index(snapshot), registration.title).texts(
            arguments["format"], begin
        ),
    )


def _make_cursor(place: tuple[int, int], scope: str) -> str:
    return base64.urlsafe_b64encode(json.dumps([*place, scope]).encode()).decode()


def _read_cursor(cursor: str, scope: str) -> tuple[int, int]:
    """Return the number of the piece, and of the character in it, that a cursor points to."""
    if not cursor:
        return 0, 0
    try:
        number, character, of = json.loads(base64.urlsafe_b64decode(cursor))
    except (ValueError, TypeError):
        number = character = of = None
    if type(number) is not int or type(character) is not int or of != scope:
        raise InvalidParameter(
            "cursor", "is not a cursor of this export, or the docs have changed; start without it"
        )
    if number < 0 or character < 0:
        raise InvalidParameter("cursor", "must be as an earlier page gave it")
    return number, character
