"""The toolset ``sources``: what is stowed, as a whole.

This room knows the tools' parameters and the shape of their answers. It does not know how
snapshots are kept or written out.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from docstow.errors import InvalidParameter
from docstow.tools.answers import provenance, provenance_line
from docstow.tools.parameters import Parameter
from docstow.tools.registry import Answer, Tool
from docstow.tools.rust_common import CRATE, CURSOR, LOCKFILE, VERSION, stowed

if TYPE_CHECKING:
    from docstow.library import Library

#: The forms of :data:`docstow.export.FORMS`, which is not imported before it is needed.
FORMS = ("jsonl", "markdown", "llms", "llms-full")


def tools(library: Library) -> list[Tool]:
    """The tools, bound to a library."""
    return [_export_snapshot(library)]


def _export_snapshot(library: Library) -> Tool:
    return Tool(
        name="export_snapshot",
        toolset="sources",
        title="Export a snapshot",
        description=(
            "The whole documentation of a crate, page by page and in order: JSON Lines with all "
            "fields and relations, Markdown files with relative links, an llms.txt, or its "
            "llms-full.txt. The first line of a page says what it is from and gives the cursor of "
            "the next; the rest, joined, is the export. Not for a question (search_items) nor for "
            "one item (get_item_doc). "
            'Example: {"crate": "tokio", "version": "1.40", "format": "llms"}.'
        ),
        parameters=(
            CRATE,
            VERSION,
            LOCKFILE,
            Parameter("format", "string", "What it is written as", default="jsonl", choices=FORMS),
            CURSOR,
            Parameter(
                "max_tokens", "integer", "Tokens a page", default=8000, minimum=100, maximum=25000
            ),
        ),
        run=partial(_export, library),
    )


def _export(library: Library, arguments: Mapping[str, Any]) -> Answer:
    from docstow.export import Export, paged
    from docstow.pages import CHARACTERS_PER_TOKEN

    found = stowed(library, arguments["crate"], arguments)
    form = arguments["format"]
    scope = f"{found.snapshot.id} {form}"
    begin = _place(arguments["cursor"], scope)
    texts = Export(library.index(found.snapshot)).texts(form, begin[0])
    page = paged(texts, begin, arguments["max_tokens"] * CHARACTERS_PER_TOKEN)
    cursor = _cursor(page.following, scope) if page.following else None
    if form == "jsonl":
        first = json.dumps({"record": "page", **provenance(found), "cursor": cursor})
    else:
        line = provenance_line(found, found.snapshot.facts.get("url", ""))
        first = f"{line} · next cursor: `{cursor}`" if cursor else f"{line} · last page"
    return Answer(text=f"{first}\n{page.text}")


def _cursor(place: tuple[int, int], scope: str) -> str:
    return base64.urlsafe_b64encode(json.dumps([*place, scope]).encode()).decode()


def _place(cursor: str, scope: str) -> tuple[int, int]:
    """The number of the piece, and of the character in it, that a cursor points to."""
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
