"""What registries say of packages of Python and Node: their versions, and what one asks for."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from docstow.core.errors import (
    DocstowError,
    InvalidParameter,
    PackageNotFound,
    UpstreamError,
    UpstreamTimeout,
)
from docstow.core.threads import in_parallel
from docstow.sources.crates.dependencies import MOST_NODES, Node, mermaid
from docstow.tools import Answer, paged
from docstow.tools.package_status import count_advisories
from docstow.tools.parameters import find_locked

if TYPE_CHECKING:
    from docstow.core.model import Revision
    from docstow.languages.shared.language import Language
    from docstow.library import Library
    from docstow.library.packages import Availability
    from docstow.sources.advisories import Advisories
    from docstow.sources.packages import Dependency, Listing, PackageRegistry, Release

_LOCAL = "only versions that are installed in a project here or stowed are known"


def list_package_versions(
    library: Library, language: Language, arguments: Mapping[str, Any]
) -> Answer:
    """List the versions of a package: those of its registry, and those that are at hand.

    Raises:
        PackageNotFound: neither the registry, nor a project here, nor the store has the package,
            or none of its versions is asked for.
        InvalidParameter: the requirement is none in the language's terms, or the lock file has no
            such package.
    """
    name, requirement = arguments["package"], arguments["requirement"].strip()
    locked = find_locked(arguments["lockfile"], name, language)
    listing, notice, failed = None, "", False
    try:
        listing = library.installed.listing(language, name)
    except (UpstreamError, UpstreamTimeout) as error:
        notice, failed = f"{error.message.rstrip('.')}; ", True
    known: dict[str, Availability] = {}
    found = listing.name if listing is not None else name
    try:
        at_hand, known = library.installed.versions(language, name)
        found = found if listing is not None else at_hand
    except PackageNotFound:
        if listing is None:
            raise
    if listing is None:
        notice += _LOCAL
    rows = _version_rows(language, listing, known, requirement)
    answered = (
        locked.version
        if locked is not None
        else _answered(library, language, name, requirement, known, listing)
    )
    if locked is not None:
        rows = [
            row | ({"locked": True} if row["version"] in (answered, *locked.others) else {})
            for row in rows
        ]
        notice = "; ".join(filter(None, (notice, locked.notice(found))))
    answer: dict[str, Any] = {
        "crate": found,
        "package": found,
        "asked": f"lockfile: {answered}" if locked else requirement or "installed or newest",
        "answered": answered,
        "substituted": failed,
        "total": len(rows),
        **({"notice": notice} if notice else {}),
    }
    return Answer(answer | paged(rows, arguments["cursor"], found))


def _answered(
    library: Library,
    language: Language,
    name: str,
    requirement: str,
    known: Mapping[str, Availability],
    listing: Listing | None,
) -> str:
    """Return the version that a requirement means: an installed one first."""
    choose = language.versions().choose
    here = [version for version, where in known.items() if where.installed]
    if (best := choose(requirement, here)) is not None:
        return best
    if listing is not None:
        return library.installed.registry(language).resolve(name, requirement).version
    if (best := choose(requirement, known)) is not None:
        return best
    raise PackageNotFound(f"{name} {requirement} is not at hand; these are: {', '.join(known)}.")


def _version_rows(
    language: Language,
    listing: Listing | None,
    known: Mapping[str, Availability],
    requirement: str,
) -> list[dict[str, Any]]:
    versions = language.versions()
    releases = {each.version: each for each in listing.releases} if listing is not None else {}
    tags: dict[str, list[str]] = {}
    for tag, version in (listing.tags if listing is not None else {}).items():
        tags.setdefault(version, []).append(tag)
    offered = [each.version for each in releases.values() if not each.yanked]
    tagged = listing.tags.get("latest", "") if listing is not None else ""
    latest = tagged or versions.choose("", offered) or ""
    rows = []
    for version in sorted({*releases, *known}, key=versions.order, reverse=True):
        release, where = releases.get(version), known.get(version)
        row: dict[str, Any] = {
            "version": version,
            "yanked": release is not None and release.yanked,
            "stowed": where is not None and where.stowed,
        }
        if release is not None:
            row |= _stated(release)
        further = {
            "installed": where is not None and where.installed,
            "latest": version == latest,
            "tags": tags.get(version),
        }
        row |= {key: value for key, value in further.items() if value}
        if requirement:
            row["matches"] = versions.choose(requirement, [version]) is not None
        rows.append(row)
    return rows


def _stated(release: Release) -> dict[str, str]:
    stated = {
        "published": release.published[: len("2026-01-01")],
        "requires": release.requires,
        "yanked_because" if release.yanked else "deprecated": release.withdrawn,
    }
    return {name: value for name, value in stated.items() if value}


def list_package_dependencies(
    library: Library,
    language: Language,
    advisories: Advisories | None,
    arguments: Mapping[str, Any],
) -> Answer:
    """List what a version of a package asks for, and what that resolves to.

    Raises:
        PackageNotFound: the registry has no such package or version, or there is none.
        InvalidParameter: the version is no request in the language's terms.
        UpstreamError, UpstreamTimeout: the registry does not answer.
    """
    registry = library.installed.registry(language)
    name, requirement = arguments["package"], arguments["version"].strip()
    if requirement and arguments["lockfile"]:
        raise InvalidParameter("lockfile", "give either version or lockfile, not both")
    locked = find_locked(arguments["lockfile"], name, language)
    revision = registry.resolve(name, locked.version if locked else requirement)
    chosen = _locked_versions(arguments["lockfile"], language)
    found, version = revision.source.name, revision.version
    kinds = set(arguments["kinds"] or ()) & {"normal"}
    if arguments["kinds"] and not kinds:
        raise InvalidParameter("kinds", "is for crates; of packages those of kind normal are known")
    stated = registry.dependencies(revision)
    needs = stated[:MOST_NODES]
    resolved = _resolve_all(registry, needs, chosen)
    rows = [_dependency_row(each, known) for each, known in zip(needs, resolved, strict=True)]
    nodes = _tree(registry, revision, arguments["depth"], chosen)
    notices = [locked.notice(found)] if locked and locked.others else []
    notices += [f"the tree is cut at {MOST_NODES} releases"] if len(nodes) >= MOST_NODES else []
    if len(stated) > len(needs):
        notices.append(f"the first {MOST_NODES} of {len(stated)} dependencies are listed")
    releases = [(each.name, each.version) for each in nodes.values() if each.version]
    notices += count_advisories(advisories, language, releases)
    answer: dict[str, Any] = {
        "crate": found,
        "package": found,
        "asked": f"lockfile: {version}" if locked else requirement or "newest",
        "answered": version,
        "substituted": False,
        "url": "",
        **({"notice": "; ".join(notices)} if notices else {}),
        "tree": [describe_node(each) for each in nodes.values()],
        **({"mermaid": mermaid(nodes)} if arguments["graph"] else {}),
    }
    return Answer(answer | paged(rows, arguments["cursor"], f"{found} {version}"))


def _locked_versions(lockfile: str, language: Language) -> Callable[[Dependency], str]:
    """Return what tells the version of a dependency: the locked one where there is one."""
    key = language.spelling.package_key
    from docstow.languages.projects.lock_text import parse_lock

    locked = parse_lock(lockfile, language).versions() if lockfile else {}
    return lambda need: locked.get(key(need.name), "") or need.requirement


def _resolve_all(
    registry: PackageRegistry, needs: Sequence[Dependency], chosen: Callable[[Dependency], str]
) -> list[Revision | DocstowError]:
    def resolve(need: Dependency) -> Revision | DocstowError:
        try:
            return registry.resolve(need.name, chosen(need))
        except DocstowError as error:
            return error

    return in_parallel(resolve, needs)


def _dependency_row(need: Dependency, found: Revision | DocstowError) -> dict[str, Any]:
    row: dict[str, Any] = {
        "crate": need.name,
        "resolved": "" if isinstance(found, DocstowError) else found.version,
        "active": need.kind == "normal",
        "kind": need.kind,
        "requirement": need.requirement,
    }
    details = {
        "extra": need.extra,
        "marker": need.marker,
        "features": list(need.features),
        "renamed": need.alias,
        "unresolved": found.message if isinstance(found, DocstowError) else "",
    }
    return row | {name: value for name, value in details.items() if value}


def _tree(
    registry: PackageRegistry, root: Revision, depth: int, chosen: Callable[[Dependency], str]
) -> dict[str, Node]:
    """Return the releases below one, by ``name version``, as deep as is asked for."""
    first = Node(root.source.name, root.version, 0)
    nodes = {first.key: first}
    level = [(first, root)]
    for deep in range(1, depth + 1):
        asked = in_parallel(lambda pair: _needs(registry, pair[1]), level)
        wanted = [
            (node, need) for (node, _), some in zip(level, asked, strict=True) for need in some
        ]
        for node, _ in wanted[MOST_NODES:]:
            node.cut = True
        wanted = wanted[:MOST_NODES]
        found = _resolve_all(registry, [need for _, need in wanted], chosen)
        level = []
        for (node, need), revision in zip(wanted, found, strict=True):
            if isinstance(revision, DocstowError):
                child = Node(need.name, "", deep)
            else:
                child = Node(revision.source.name, revision.version, deep)
            if child.key not in nodes:
                if len(nodes) >= MOST_NODES:
                    node.cut = True
                    continue
                nodes[child.key] = child
                if not isinstance(revision, DocstowError):
                    level.append((child, revision))
            node.children.setdefault(child.key, need.kind)
    rest = in_parallel(lambda pair: _needs(registry, pair[1]), level)
    for (node, _), needs in zip(level, rest, strict=True):
        node.cut = bool(needs)
    return nodes


def _needs(registry: PackageRegistry, revision: Revision) -> list[Dependency]:
    """Return what a release needs always; nothing where that cannot be had."""
    try:
        return [each for each in registry.dependencies(revision) if each.kind == "normal"]
    except DocstowError:
        return []


def describe_node(node: Node) -> dict[str, Any]:
    """Describe a release of a tree."""
    shown: dict[str, Any] = {"release": node.key, "depth": node.depth}
    if node.children:
        shown["needs"] = list(node.children)
    if node.cut:
        shown["cut"] = True
    return shown
