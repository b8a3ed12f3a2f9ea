"""The toolset ``rust``: what an agent asks about a crate or package."""

from __future__ import annotations

from typing import TYPE_CHECKING

from docstow.tools import (
    crate_summary,
    dependencies,
    diff,
    examples,
    implementations,
    item_doc,
    module_tree,
    search_items,
    versions,
)

if TYPE_CHECKING:
    from docstow.library import Library
    from docstow.tools import Tool

#: In the order in which they are listed.
_MODULES = (
    crate_summary,
    search_items,
    item_doc,
    versions,
    module_tree,
    examples,
    dependencies,
    implementations,
    diff,
)


def tools(library: Library) -> list[Tool]:
    """Make the tools, bound to a library."""
    return [module.tool(library) for module in _MODULES]
