"""The tool ``get_item_doc``: the whole documentation of an item."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from docstow.core.errors import InvalidParameter
from docstow.tools import Answer, Tool
from docstow.tools.answers import provenance_line
from docstow.tools.crate_arguments import LANGUAGE, LOCKFILE, VERSION, find_stowed, language_of
from docstow.tools.parameters import Parameter

if TYPE_CHECKING:
    from docstow.library import Library


def tool(library: Library) -> Tool:
    """Make the tool, bound to a library."""
    return Tool(
        name="get_item_doc",
        toolset="rust",
        title="Item documentation",
        description=(
            "One item's whole documentation, with signature and members. Any public path works. "
            "Not for finding a path (search_items). "
            'Example: {"item_path": "tokio::sync::Mutex::lock"}.'
        ),
        parameters=(
            Parameter("item_path", "string", "", required=True, max_length=500),
            Parameter("crate", "string", "", default=""),
            LANGUAGE,
            VERSION,
            LOCKFILE,
            Parameter("max_tokens", "integer", "", default=8000, minimum=100, maximum=25000),
        ),
        run=partial(_run, library),
    )


def _run(library: Library, arguments: Mapping[str, Any]) -> Answer:
    from docstow.index.lookup import find_items
    from docstow.index.render import cut, item_page

    language = language_of(arguments)
    path = language.spelling.normalise(arguments["item_path"])
    if not path:
        raise InvalidParameter("item_path", "must be a path such as tokio::sync::Mutex")
    stowed = find_stowed(library, arguments["crate"] or language.spelling.root(path), arguments)
    index = library.index(stowed.snapshot)
    texts = [
        item_page(index, row, lambda document: provenance_line(stowed, document.url))
        for row in find_items(index, path)
    ]
    return Answer(text=cut("\n---\n\n".join(texts), arguments["max_tokens"]))
