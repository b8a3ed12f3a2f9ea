"""The tool ``diff_versions``: its record; what runs is imported by its first call."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from docstow.tools import COUNT, TEXT, Answer, Tool, list_schema, result_schema
from docstow.tools.parameters import (
    CURSOR,
    LANGUAGE,
    LOCKFILE,
    PACKAGE,
    TARGET,
    Parameter,
)

if TYPE_CHECKING:
    from docstow.library import Library


def tool(library: Library) -> Tool:
    """Make the tool, bound to a library."""
    result = result_schema(
        {"path": TEXT, "kind": TEXT, "class": TEXT, "rule": TEXT},
        before=TEXT,
        after=TEXT,
        new_path=TEXT,
        successor=TEXT,
        successor_from=TEXT,
        changelog={"type": "array", "items": TEXT},
        grouped=COUNT,
        sizes=TEXT,
    )
    members = {"type": "object"}
    return Tool(
        name="diff_versions",
        toolset="rust",
        slow=True,
        foreign=True,
        title="Version differences",
        description=(
            "What changed between two versions of a crate, breaking first, with the changelog's "
            "lines and successors; paths: only what you use. Use it before an upgrade. Not for "
            "the versions (list_versions). "
            'Example: {"package": "http", "from_version": "0.2", "to_version": "1"}.'
        ),
        parameters=(
            PACKAGE,
            LANGUAGE,
            Parameter("from_version", "string", "Older", default="", max_length=100),
            Parameter("to_version", "string", "Newer; else the newest", default="", max_length=100),
            Parameter("paths", "array", "Items wanted", max_length=100),
            LOCKFILE,
            TARGET,
            CURSOR,
        ),
        run=partial(_compare_versions, library),
        output_schema=list_schema(
            result,
            verdict=members,
            counts=members,
            total=COUNT,
            breaking_lines={"type": "array", "items": TEXT},
            only_in_changelog={"type": "array", "items": members},
        ),
    )


def _compare_versions(library: Library, arguments: Mapping[str, Any]) -> Answer:
    from docstow.tools.compare_versions import compare

    return compare(library, arguments)
