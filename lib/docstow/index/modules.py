"""The modules of a crate: each with its first sentence and the number of its items."""

from __future__ import annotations

from collections import Counter
from typing import Any

from docstow.core.errors import InvalidParameter
from docstow.index.loaded import Index
from docstow.index.lookup import find_items


def list_modules(
    index: Index, module: str, depth: int
) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Return a module's own facts, and the modules below it, in the order of paths.

    Args:
        index: the crate.
        module: path of the module to start at; the crate's root when empty.
        depth: how many levels below it are listed, from 1.

    Raises:
        ItemNotFound: there is no such item.
        InvalidParameter: the path is not a module.
    """
    paths = index.columns["path"]
    own = [_find_module(index, module)]
    found: list[dict[str, Any]] = []
    level = own
    for _ in range(depth):
        level = [
            child
            for row in level
            for child in index.rows_by_parent.get(str(paths[row]), ())
            if index.columns["kind"][child] == "module"
        ]
        found += [_entry(index, row) for row in level]
    facts = {
        "summary": str(index.columns["summary"][own[0]]),
        "url": str(index.columns["url"][own[0]]),
    }
    return facts, sorted(found, key=lambda entry: str(entry["path"]))


def module_tree(index: Index, module: str, depth: int) -> list[dict[str, Any]]:
    """Return a module and those below it, in the order of paths, with counts by kind of item.

    Args:
        index: the crate.
        module: path of the module to start at; the crate's root when empty.
        depth: how many levels below it are shown.

    Raises:
        ItemNotFound: there is no such item.
        InvalidParameter: the path is not a module.
    """
    nodes: list[dict[str, Any]] = []

    def visit(row: int, level: int) -> None:
        path = str(index.columns["path"][row])
        children = index.rows_by_parent.get(path, [])
        kinds = Counter(str(index.columns["kind"][child]) for child in children)
        nodes.append(
            {
                "path": path,
                "depth": level,
                "summary": str(index.columns["summary"][row]),
                "items": dict(sorted(kinds.items())),
            }
        )
        for child in children if level < depth else ():
            if index.columns["kind"][child] == "module":
                visit(child, level + 1)

    visit(_find_module(index, module), 0)
    return nodes


def _find_module(index: Index, path: str) -> int:
    """Return the row of a module; of the crate's root when the path is empty."""
    start = find_items(index, path) if path else index.rows_by_parent[""]
    for row in start:
        if index.columns["kind"][row] == "module":
            return row
    raise InvalidParameter("module", f"{path} is not a module; read it with get_item_doc")


def _entry(index: Index, row: int) -> dict[str, Any]:
    path = str(index.columns["path"][row])
    return {
        "path": path,
        "summary": str(index.columns["summary"][row]),
        "items": len(index.rows_by_parent.get(path, ())),
    }
