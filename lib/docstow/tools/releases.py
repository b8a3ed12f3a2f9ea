"""The tools about releases: a crate's versions, what one needs, and what changed between two."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from docstow.core.errors import CrateNotFound, InvalidParameter, ItemNotFound
from docstow.core.model import STANDARD
from docstow.core.versions import Version, choose
from docstow.languages.rust.cargo_lock import Lock, parse
from docstow.tools import (
    COUNT,
    TEXT,
    Answer,
    Tool,
    caveats,
    list_schema,
    paged,
    provenance,
    result_schema,
    shortened,
)
from docstow.tools.package_releases import (
    describe_node,
    list_package_dependencies,
    list_package_versions,
)
from docstow.tools.parameters import (
    CURSOR,
    LANGUAGE_BRIEF,
    LOCKFILE,
    PACKAGE,
    TARGET,
    VERSION,
    Parameter,
    find_locked,
    find_stowed,
    language_of,
)

if TYPE_CHECKING:
    from docstow.index.families import Family
    from docstow.index.loaded import Index
    from docstow.languages.rust.diff import Bump, Change, Difference, Side
    from docstow.languages.shared.language import Language
    from docstow.library import Library, ResolvedVersion
    from docstow.sources.crates.dependencies import ResolvedDependency

#: Kinds of dependencies: those that are listed, and those that the tree follows.
_KINDS = ("normal", "build", "dev")
_TREE_KINDS = ("normal", "build")
#: Changes on a page.
_PER_PAGE = 50
#: Longest text of what was and what is, in characters; the items' pages have the whole.
_LONGEST_TEXT = 240


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
            LANGUAGE_BRIEF,
            Parameter("requirement", "string", default=""),
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


def get_dependencies(library: Library) -> Tool:
    """Make the tool, bound to a library."""
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
            "tree. Not for its own features (get_crate_summary). "
            'Example: {"package": "axum", "version": "0.8", "depth": 2}.'
        ),
        parameters=(
            PACKAGE,
            LANGUAGE_BRIEF,
            VERSION,
            LOCKFILE,
            Parameter("depth", "integer", default=1, minimum=1, maximum=6),
            Parameter("kinds", "array", choices=_KINDS),
            Parameter("graph", "boolean", "Draws the tree in Mermaid", default=False),
            CURSOR,
        ),
        run=partial(_list_dependencies, library),
        output_schema=list_schema(
            need, tree={"type": "array", "items": {"type": "object"}}, mermaid=TEXT
        ),
    )


def _list_dependencies(library: Library, arguments: Mapping[str, Any]) -> Answer:
    from docstow.sources.crates.dependencies import MOST_NODES, Tree, mermaid

    if (language := language_of(arguments)).packaged:
        return list_package_dependencies(library, language, arguments)
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


def diff_versions(library: Library) -> Tool:
    """Make the tool, bound to a library."""
    result = result_schema(
        {"path": TEXT, "kind": TEXT, "class": TEXT, "rule": TEXT},
        before=TEXT,
        after=TEXT,
        new_path=TEXT,
        grouped=COUNT,
        sizes=TEXT,
    )
    members = {"type": "object"}
    return Tool(
        name="diff_versions",
        toolset="rust",
        title="Version differences",
        description=(
            "What changed between two versions of a crate, breaking first; paths: only what "
            "you use. Use it before an upgrade. Not for the versions (list_versions). "
            'Example: {"package": "http", "from_version": "0.2", "to_version": "1"}.'
        ),
        parameters=(
            PACKAGE,
            LANGUAGE_BRIEF,
            Parameter("from_version", "string", default="", max_length=100),
            Parameter("to_version", "string", default="", max_length=100),
            Parameter("paths", "array", max_length=100),
            LOCKFILE,
            TARGET,
            CURSOR,
        ),
        run=partial(_compare_versions, library),
        output_schema=list_schema(result, verdict=members, counts=members, total=COUNT),
    )


def _compare_versions(library: Library, arguments: Mapping[str, Any]) -> Answer:
    from docstow.languages.rust.diff import CLASSES

    if not arguments["from_version"].strip() and not arguments["lockfile"]:
        raise InvalidParameter("from_version", "is required, unless a lockfile names the version")
    language = language_of(arguments)
    asked = {"version": arguments["from_version"], "lockfile": arguments["lockfile"]}
    asked |= {"language": language.name, "target": arguments["target"]}
    old = find_stowed(library, arguments["package"], asked)
    asked |= {"version": arguments["to_version"].strip(), "lockfile": ""}
    new = find_stowed(library, arguments["package"], asked)
    was, now = library.indexes([old.snapshot, new.snapshot])
    found = _find_changes(library, language, (old, was), (new, now))
    changes = found.changes
    if arguments["paths"]:
        chosen = {path for each in arguments["paths"] for path in _resolve_paths(each, was, now)}
        changes = [each for each in changes if _concerns(each, chosen, language)]
    counts = Counter(each.verdict for each in changes)
    scope = "/".join([old.snapshot.id, new.snapshot.id, *sorted(arguments["paths"] or ())])
    page = paged(_group_changes(changes), arguments["cursor"], scope, _PER_PAGE)
    origin = provenance(old)
    notices = [*found.notices, *caveats(old), *caveats(new)]
    return Answer(
        provenance(new)
        | {"from": {name: origin[name] for name in ("asked", "answered", "snapshot", "url")}}
        | {"substituted": old.substituted or new.substituted}
        | {"verdict": _describe_bump(found.bump, old.version, new.version)}
        | {"counts": {name: counts[name] for name in CLASSES}, "total": len(changes)}
        | page
        | {"results": [_describe_family(each) for each in page["results"]]}
        | ({"notice": "; ".join(notices)} if notices else {})
    )


def _find_changes(
    library: Library,
    language: Language,
    old: tuple[ResolvedVersion, Index],
    new: tuple[ResolvedVersion, Index],
) -> Difference:
    from docstow.languages.projects.diff import compare_packages
    from docstow.languages.rust.diff import compare

    if language.comparing is None:
        return compare(_load_side(*old), _load_side(*new))
    sides = [library.installed.locate(each.snapshot) for each, _ in (old, new)]
    roots = [each.package.files_root for each in sides if each is not None]
    known = [each for each in roots if each is not None]
    return compare_packages(language.comparing(), _load_side(*old), _load_side(*new), known)


def _load_side(found: ResolvedVersion, index: Index) -> Side:
    from docstow.core.model import Relation
    from docstow.languages.rust.diff import Side

    table = index.relations
    names = ("subject", "predicate", "object", "detail")
    rows = zip(*(table[name].tolist() for name in names), strict=True)
    documents = index.documents()
    return Side(found.version, documents, [Relation(*row) for row in rows], found.snapshot.facts)


def _resolve_paths(path: str, *indexes: Index) -> set[str]:
    """Return the canonical paths that a caller's path means in either version."""
    from docstow.index.lookup import find_items

    found: set[str] = set()
    missed: list[ItemNotFound] = []
    for index in indexes:
        try:
            rows = find_items(index, path)
        except ItemNotFound as error:
            missed.append(error)
        else:
            found |= {str(index.columns["path"][row]) for row in rows}
    if len(missed) == len(indexes):
        raise missed[0]
    return found


def _concerns(change: Change, chosen: set[str], language: Language) -> bool:
    """Return whether a change is of a chosen item, its members, or, docs aside, of an owner."""
    paths = [path for path in (change.path, change.now) if path]
    if any(language.spelling.contains(each, path) for path in paths for each in chosen):
        return True
    owners = any(language.spelling.contains(path, each) for path in paths for each in chosen)
    return owners and change.verdict != "docs-only"


def _group_changes(changes: Sequence[Change]) -> list[Family[Change]]:
    """Group changes of implementations that macros write for each length or size."""
    from docstow.index.families import group_families, shape_of

    return group_families(
        changes,
        lambda each: (each.before or each.after) if each.rule.startswith("impl-") else "",
        lambda each: (each.rule, each.kind, shape_of(each.before)[0], shape_of(each.after)[0]),
    )


def _describe_family(family: Family[Change]) -> dict[str, Any]:
    """Describe the first of a family, with the number of all and their sizes."""
    shown: dict[str, Any] = _describe_change(family.rows[0])
    if len(family.rows) > 1:
        shown |= {"grouped": len(family.rows), "sizes": family.sizes}
    return shown


def _describe_change(change: Change) -> dict[str, str]:
    result = {
        "path": change.path,
        "kind": change.kind,
        "class": change.verdict,
        "rule": change.rule,
        "before": shortened(change.before, _LONGEST_TEXT),
        "after": shortened(change.after, _LONGEST_TEXT),
        "new_path": change.now,
    }
    return {name: value for name, value in result.items() if value}


def _describe_bump(bump: Bump, old: str, new: str) -> dict[str, Any]:
    """Describe the bump, with a sentence; it is of the whole crate, whatever paths were given.

    ``fits`` is null where there is no upgrade to judge: on the way back, and of a version against
    itself.
    """
    return {
        "declared": bump.declared,
        "allows": "breaking" if bump.breaking_allowed else "compatible",
        "needed": bump.needed,
        "fits": bump.fits,
        "summary": _summarise_bump(bump, old, new),
    }


def _summarise_bump(bump: Bump, old: str, new: str) -> str:
    if bump.declared == "none":
        return f"{old} on both sides is the same version; nothing to compare"
    gravest = f"the gravest is {bump.needed}" if bump.needed != "none" else "there are none"
    if bump.declared == "downgrade":
        return (
            f"{old} to {new} is a downgrade; the changes are those of going back ({gravest}), "
            "and whether a version announces them is not asked"
        )
    step = f"{old} to {new} is a {bump.declared} step; "
    if bump.needed == "none":
        return f"{step}no change was found"
    judged = "allows" if bump.fits else "does not announce"
    return f"{step}its gravest change is {bump.needed}, which the version {judged}"
