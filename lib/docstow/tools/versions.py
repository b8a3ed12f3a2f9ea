"""The tool ``list_versions``: which versions a crate has, and which one a project means.

This room knows the answer's shape. It does not know where versions come from.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from docstow.core.errors import InvalidParameter
from docstow.core.versions import Version, choose
from docstow.tools import Answer, Tool
from docstow.tools import package_summary as packages_about
from docstow.tools.answers import COUNT, TEXT, list_schema, paged, result_schema
from docstow.tools.crate_arguments import CRATE, CURSOR, LANGUAGE_BRIEF, LOCKFILE, language_of
from docstow.tools.crate_arguments import locked as locked_in
from docstow.tools.parameters import Parameter

if TYPE_CHECKING:
    from docstow.library import Library

PER_PAGE = 100


def tools(library: Library) -> list[Tool]:
    """The tool, bound to a library."""
    flag = {"type": "boolean"}
    version = result_schema(
        {"version": TEXT, "yanked": flag, "stowed": flag},
        rust_version=TEXT,
        published=TEXT,
        latest=flag,
        matches=flag,
        installed=flag,
    )
    return [
        Tool(
            name="list_versions",
            toolset="rust",
            title="Crate versions",
            description=(
                "A crate's versions, newest first, with date, MSRV, yanked; what a requirement "
                "resolves to. Of a package: those at hand. Not for changes (diff_versions). "
                'Example: {"crate": "serde", "requirement": "^1"}.'
            ),
            parameters=(
                CRATE,
                LANGUAGE_BRIEF,
                Parameter("requirement", "string", "", default=""),
                LOCKFILE,
                CURSOR,
            ),
            run=partial(_run, library),
            output_schema=list_schema(version, total=COUNT),
        )
    ]


def _run(library: Library, arguments: Mapping[str, Any]) -> Answer:
    requirement, lockfile = arguments["requirement"].strip(), arguments["lockfile"]
    if (language := language_of(arguments)).packaged:
        if lockfile:
            raise InvalidParameter("lockfile", "is for crates; give the requirement")
        name, told, rows = packages_about.versions(
            library, language, arguments["crate"], requirement
        )
        return Answer(told | paged(rows, arguments["cursor"], name, PER_PAGE))
    if requirement and lockfile:
        raise InvalidParameter("lockfile", "give either requirement or lockfile, not both")
    locked = locked_in(lockfile, arguments["crate"])
    listing = library.versions(arguments["crate"], requirement)
    rows = [dict(row) for row in listing.versions]
    latest = choose("", [row["version"] for row in rows if not row["yanked"]])
    versions = {locked.version, *locked.others} if locked else set()
    for row in rows:
        flags = {
            "latest": row["version"] == latest,
            "prerelease": bool(Version.parse(row["version"]).prerelease),
            "locked": row["version"] in versions,
        }
        row |= {name: True for name, value in flags.items() if value}
        if requirement:
            row["matches"] = choose(requirement, [row["version"]]) is not None
    answer: dict[str, Any] = {
        "crate": listing.name,
        "asked": f"lockfile: {locked.version}" if locked else requirement or "latest",
        "answered": locked.version if locked else listing.resolved,
        "substituted": False,
        "total": len(rows),
    }
    if locked is not None and (notice := locked.notice(listing.name)):
        answer["notice"] = notice
    return Answer(answer | paged(rows, arguments["cursor"], listing.name, PER_PAGE))
