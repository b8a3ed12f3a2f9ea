"""The tools about releases: a package's versions, and what one of them needs."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from docstow.core.errors import CrateNotFound, InvalidParameter
from docstow.core.model import STANDARD
from docstow.core.versions import Version, choose
from docstow.languages.rust.cargo_lock import Lock, parse
from docstow.tools import (
    COUNT,
    TEXT,
    Answer,
    Tool,
    list_schema,
    paged,
    result_schema,
)
from docstow.tools.package_releases import (
    describe_node,
    list_package_dependencies,
    list_package_versions,
)
from docstow.tools.package_status import count_advisories
from docstow.tools.parameters import (
    CURSOR,
    LANGUAGE,
    LOCKFILE,
    PACKAGE,
    VERSION,
    Parameter,
    find_locked,
    language_of,
)

if TYPE_CHECKING:
    from docstow.library import Library
    from docstow.sources.advisories import Advisories
    from docstow.sources.crates.dependencies import ResolvedDependency

#: Kinds of dependencies: those that are listed, and those that the tree follows.
_KINDS = ("normal", "build", "dev")
_TREE_KINDS = ("normal", "build")


def list_versions(library: Library) -> Tool:
    """Make the tool, bound to a library."""
    flag = {"type": "boolean"}
    version = result_schema(
        {"version": TEXT, "yanked": flag, "stowed": flag},
        rust_version=TEXT,
        published=TEXT,
        latest=flag,
        matches=flag,
        installed=flag,
        requires=TEXT,
        deprecated=TEXT,
    )
    return Tool(
        name="list_versions",
        toolset="rust",
        title="Crate versions",
        description=(
            "A crate's versions, newest first, with date, MSRV, yanked; what a requirement "
            "resolves to. Packages by language. Not for changes (diff_versions). "
            'Example: {"package": "serde", "requirement": "^1"}.'
        ),
        parameters=(
            PACKAGE,
            LANGUAGE,
            Parameter("requirement", "string", "Such as ^1.2", default=""),
            LOCKFILE,
            CURSOR,
        ),
        run=partial(_list_versions, library),
        output_schema=list_schema(version, total=COUNT),
    )


def _list_versions(library: Library, arguments: Mapping[str, Any]) -> Answer:
    requirement, lockfile = arguments["requirement"].strip(), arguments["lockfile"]
    if requirement and lockfile:
        raise InvalidParameter("lockfile", "give either requirement or lockfile, not both")
    if (language := language_of(arguments)).packaged:
        return list_package_versions(library, language, arguments)
    locked = find_locked(lockfile, arguments["package"])
    listing = library.versions(arguments["package"], requirement)
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
        "package": listing.name,
        "asked": f"lockfile: {locked.version}" if locked else requirement or "latest",
        "answered": locked.version if locked else listing.resolved,
        "substituted": False,
        "total": len(rows),
    }
    if locked is not None and (notice := locked.notice(listing.name)):
        answer["notice"] = notice
    return Answer(answer | paged(rows, arguments["cursor"], listing.name))


def get_dependencies(library: Library, advisories: Advisories | None = None) -> Tool:
    """Make the tool.

    Args:
        library: asks registries and indexes.
        advisories: those that the operator has, if any.
    """
    need = result_schema(
        {"crate": TEXT, "resolved": TEXT, "active": {"type": "boolean"}},
        kind=TEXT,
        requirement=TEXT,
    )
    return Tool(
        name="get_dependencies",
        toolset="rust",
        title="Dependencies",
        description=(
            "What a crate depends on, with features and resolved versions, and the whole "
            "tree. Not for its own features (get_package_summary). "
            'Example: {"package": "axum", "version": "0.8", "depth": 2}.'
        ),
        parameters=(
            PACKAGE,
            LANGUAGE,
            VERSION,
            LOCKFILE,
            Parameter("depth", "integer", "Levels", default=1, minimum=1, maximum=6),
            Parameter("kinds", "array", "All if left out", choices=_KINDS),
            Parameter("graph", "boolean", "Draws the tree in Mermaid", default=False, rare=True),
            CURSOR,
        ),
        run=partial(_list_dependencies, library, advisories),
        output_schema=list_schema(
            need, tree={"type": "array", "items": {"type": "object"}}, mermaid=TEXT
        ),
    )


def _list_dependencies(
    library: Library, advisories: Advisories | None, arguments: Mapping[str, Any]
) -> Answer:
    from docstow.sources.crates.dependencies import MOST_NODES, Tree, mermaid

    language = language_of(arguments)
    if language.packaged:
        return list_package_dependencies(library, language, advisories, arguments)
    name, version, asked, lock, notices = _resolve_release(library, arguments)
    kinds = arguments["kinds"] or ()
    tree = Tree(
        library.releases,
        kinds=kinds or _TREE_KINDS,
        listed=kinds or _KINDS,
        depth=arguments["depth"],
        lock=lock,
    )
    needs = tree.build(name, version)
    if not tree.known:
        if lock is None or not lock.named(name):
            raise CrateNotFound(f"The index has no {name} {version}.")
        notices.append(f"{name} is not in the index: the lock file alone answers")
    if len(tree.nodes) >= MOST_NODES:
        notices.append(f"the tree is cut at {MOST_NODES} releases")
    found = [(each.name, each.version) for each in tree.nodes.values() if each.version]
    notices += count_advisories(advisories, language, found)
    answer: dict[str, Any] = {
        "crate": name,
        "package": name,
        "asked": asked,
        "answered": version,
        "substituted": False,
        "url": f"https://crates.io/crates/{name}/{version}/dependencies" if tree.known else "",
    }
    if notices:
        answer["notice"] = "; ".join(notices)
    return Answer(
        answer
        | {"tree": [describe_node(each) for each in tree.nodes.values()]}
        | ({"mermaid": mermaid(tree.nodes)} if arguments["graph"] else {})
        | paged(
            [_describe_dependency(each) for each in needs], arguments["cursor"], f"{name} {version}"
        )
    )


def _resolve_release(
    library: Library, arguments: Mapping[str, Any]
) -> tuple[str, str, str, Lock | None, list[str]]:
    """Return name, version, what was asked for, the lock file, and notices."""
    name, requirement = arguments["package"], arguments["version"].strip()
    if name.replace("-", "_") in STANDARD:
        raise CrateNotFound(
            f"{name} comes with Rust: the index has no entry of it, and it has no dependencies "
            "that a project could choose."
        )
    if not arguments["lockfile"]:
        found, version = library.release(name, requirement)
        return found, version, requirement or "latest", None, []
    if requirement:
        raise InvalidParameter("lockfile", "give either version or lockfile, not both")
    lock = parse(arguments["lockfile"])
    locked = lock.locked(name)
    spelling = lock.named(name)[0].name
    notice = locked.notice(spelling)
    asked = f"lockfile: {locked.version}"
    return spelling, locked.version, asked, lock, [notice] if notice else []


def _describe_dependency(need: ResolvedDependency) -> dict[str, Any]:
    row: dict[str, Any] = {"crate": need.name, "resolved": need.version, "active": need.active}
    each = need.dependency
    if each is None:
        return row
    row |= {
        "kind": each.kind,
        "requirement": each.requirement,
        "optional": each.optional,
        "features": list(each.features),
        "default_features": each.default_features,
    }
    details = {
        "target": each.target,
        "renamed": each.alias,
        "enabled_by": list(need.enabled_by[:10]),
    }
    return row | {name: value for name, value in details.items() if value}
