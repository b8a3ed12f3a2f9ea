"""The tool ``get_module_tree``: what stands where in a crate.

This room knows its parameters and the shape of its answer. It does not know how a tree is made.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from docstow.tools._tools_registry import Answer, Tool
from docstow.tools.answers import COUNT, TEXT, list_schema, paged, provenance, result_schema
from docstow.tools.crate_arguments import CRATE, CURSOR, LOCKFILE, SPOKEN, VERSION, stowed
from docstow.tools.parameters import Parameter

if TYPE_CHECKING:
    from docstow.library import Library

PER_PAGE = 100


def tools(library: Library) -> list[Tool]:
    """The tool, bound to a library."""
    counts = {"type": "object", "additionalProperties": COUNT}
    node = result_schema({"path": TEXT, "depth": COUNT, "summary": TEXT, "items": counts})
    return [
        Tool(
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
                SPOKEN,
                VERSION,
                LOCKFILE,
                Parameter("module", "string", "", default=""),
                Parameter("depth", "integer", "", default=3, minimum=1, maximum=20),
                CURSOR,
            ),
            run=partial(_tree, library),
            output_schema=list_schema(node, total=COUNT),
        )
    ]


def _tree(library: Library, arguments: Mapping[str, Any]) -> Answer:
    from docstow.index import modules as outline

    found = stowed(library, arguments["crate"], arguments)
    index = library.index(found.snapshot)
    nodes = outline.tree(index, arguments["module"], arguments["depth"])
    page = paged(nodes, arguments["cursor"], found.snapshot.id, PER_PAGE)
    return Answer(provenance(found) | {"total": len(nodes)} | page)
