"""The tool ``list_versions``: which versions a crate has, and which one a project means."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from docstow.core.errors import InvalidParameter, PackageNotFound
from docstow.core.versions import Version, choose
from docstow.languages.shared.version_requests import choose_version
from docstow.tools import Answer, Tool
from docstow.tools.answers import COUNT, TEXT, list_schema, paged, result_schema
from docstow.tools.crate_arguments import (
    CRATE,
    CURSOR,
    LANGUAGE_BRIEF,
    LOCKFILE,
    find_locked,
    language_of,
)
from docstow.tools.parameters import Parameter

if TYPE_CHECKING:
    from docstow.languages.shared.language import Language
    from docstow.library import Library

PER_PAGE = 100


def tool(library: Library) -> Tool:
    """Make the tool, bound to a library."""
    flag = {"type": "boolean"}
    version = result_schema(
        {"version": TEXT, "yanked": flag, "stowed": flag},
        rust_version=TEXT,
        published=TEXT,
        latest=flag,
        matches=flag,
        installed=flag,
    )
    return Tool(
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


def _run(library: Library, arguments: Mapping[str, Any]) -> Answer:
    requirement, lockfile = arguments["requirement"].strip(), arguments["lockfile"]
    if (language := language_of(arguments)).packaged:
        if lockfile:
            raise InvalidParameter("lockfile", "is for crates; give the requirement")
        cursor = arguments["cursor"]
        return _package_versions(library, language, arguments["crate"], requirement, cursor)
    if requirement and lockfile:
        raise InvalidParameter("lockfile", "give either requirement or lockfile, not both")
    locked = find_locked(lockfile, arguments["crate"])
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


def _package_versions(
    library: Library, language: Language, name: str, requirement: str, cursor: str
) -> Answer:
    """List the versions of a package that are at hand.

    Raises:
        PackageNotFound: neither a project here nor the store has the package, or none of its
            versions is asked for.
    """
    found, known = library.installed.versions(language, name)
    here = [version for version, where in known.items() if where.installed]
    best = choose_version(requirement, here) or choose_version(requirement, known)
    if best is None:
        there = ", ".join(known)
        raise PackageNotFound(f"{found} {requirement} is not at hand; these are: {there}.")
    rows = [
        {"version": version, "yanked": False, "stowed": where.stowed}
        | ({"installed": True} if where.installed else {})
        | ({"matches": choose_version(requirement, [version]) is not None} if requirement else {})
        for version, where in known.items()
    ]
    answer = {
        "crate": found,
        "asked": requirement or "installed or newest stowed",
        "answered": best,
        "substituted": False,
        "notice": "only versions that are installed in a project here or stowed are known",
        "total": len(rows),
    }
    return Answer(answer | paged(rows, cursor, found, PER_PAGE))
