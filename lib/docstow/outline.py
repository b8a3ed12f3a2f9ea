"""A crate's modules as a tree, flattened: each with its first sentence and what it holds.

This room knows the shape of a crate. It does not rank and does not fetch.
"""

from __future__ import annotations

from typing import Any

from docstow import lookup
from docstow.errors import InvalidParameter
from docstow.index import Index


def modules(index: Index, module: str, depth: int) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """The module's own facts, and the modules below it down to ``depth``, in the order of paths.

    Args:
        index: the crate.
        module: path of the module to start at; the crate's root when empty.
        depth: how many levels below it are listed, from 1.

    Raises:
        ItemNotFound: there is no such item.
        InvalidParameter: the path is not a module.
    """
    kinds, paths = index.columns["kind"], index.columns["path"]
    start = lookup.find(index, module) if module else index.rows_by_parent[""]
    own = [row for row in start if kinds[row] == "module"]
    if not own:
        raise InvalidParameter("module", f"{module} is not a module; read it with get_item_doc")
    found: list[dict[str, Any]] = []
    level = own[:1]
    for _ in range(depth):
        level = [
            child
            for row in level
            for child in index.rows_by_parent.get(str(paths[row]), ())
            if kinds[child] == "module"
        ]
        found += [_entry(index, row) for row in level]
    facts = {
        "summary": str(index.columns["summary"][own[0]]),
        "url": str(index.columns["url"][own[0]]),
    }
    return facts, sorted(found, key=lambda entry: str(entry["path"]))


def _entry(index: Index, row: int) -> dict[str, Any]:
    path = str(index.columns["path"][row])
    return {
        "path": path,
        "summary": str(index.columns["summary"][row]),
        "items": len(index.rows_by_parent.get(path, ())),
    }
