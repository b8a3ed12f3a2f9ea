"""The tool ``get_module_tree``: a crate's modules with what is in them."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from docstow.tools import Answer, Tool
from docstow.tools.answers import COUNT, TEXT, list_schema, paged, provenance, result_schema
from docstow.tools.crate_arguments import (
    CRATE,
    CURSOR,
    LANGUAGE_BRIEF,
    LOCKFILE,
    VERSION,
    find_stowed,
)
from docstow.tools.parameters import Parameter

if TYPE_CHECKING:
    from docstow.library import Library

PER_PAGE = 100


def tool(library: Library) -> Tool:
    """Make the tool, bound to a library."""
    counts = {"type": "object", "additionalProperties": COUNT}
    node = result_schema({"path": TEXT, "depth": COUNT, "summary": TEXT, "items": counts})
    return Tool(
        name="get_module_tree",
        toolset="rust",
        title="Module tree",
        description=(
            "A crate's modules, each with its first sentence and item counts: where things "
            "are. Not for finding an item (search_items). "
            'Example: {"crate": "tokio", "module": "tokio::sync"}.'
        ),
        parameters=(
            CRATE,
            LANGUAGE_BRIEF,
            VERSION,
            LOCKFILE,
            Parameter("module", "string", "", default=""),
            Parameter("depth", "integer", "", default=3, minimum=1, maximum=20),
            CURSOR,
        ),
        run=partial(_run, library),
        output_schema=list_schema(node, total=COUNT),
    )


def _run(library: Library, arguments: Mapping[str, Any]) -> Answer:
    from docstow.index.modules import module_tree

    found = find_stowed(library, arguments["crate"], arguments)
    index = library.index(found.snapshot)
    nodes = module_tree(index, arguments["module"], arguments["depth"])
    page = paged(nodes, arguments["cursor"], found.snapshot.id, PER_PAGE)
    return Answer(provenance(found) | {"total": len(nodes)} | page)
