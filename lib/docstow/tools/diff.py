"""The tool ``diff_versions``: what changed between two versions of a crate."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from docstow.core.errors import InvalidParameter, ItemNotFound
from docstow.tools import Answer, Tool
from docstow.tools.answers import (
    COUNT,
    TEXT,
    caveats,
    list_schema,
    paged,
    provenance,
    result_schema,
    shortened,
)
from docstow.tools.crate_arguments import (
    CRATE,
    CURSOR,
    LANGUAGE_BRIEF,
    LOCKFILE,
    find_stowed,
    language_of,
)
from docstow.tools.parameters import Parameter

if TYPE_CHECKING:
    from docstow.index.loaded import Index
    from docstow.languages.rust.diff import Bump, Change, Difference, Side
    from docstow.languages.shared.language import Language
    from docstow.library import Library, ResolvedVersion


PER_PAGE = 50


#: Longest text of what was and what is, in characters; the items' pages have the whole.
TEXT_LENGTH = 240


def tool(library: Library) -> Tool:
    """Make the tool, bound to a library."""
    result = result_schema(
        {"path": TEXT, "kind": TEXT, "class": TEXT, "rule": TEXT},
        before=TEXT,
        after=TEXT,
        new_path=TEXT,
    )
    members = {"type": "object"}
    return Tool(
        name="diff_versions",
        toolset="rust",
        title="Version differences",
        description=(
            "What changed between two versions of a crate, breaking first; paths: only what "
            "you use. Use it before an upgrade. Not for the versions (list_versions). "
            'Example: {"crate": "http", "from_version": "0.2", "to_version": "1"}.'
        ),
        parameters=(
            CRATE,
            LANGUAGE_BRIEF,
            Parameter("from_version", "string", "", default="", max_length=100),
            Parameter("to_version", "string", "", default="", max_length=100),
            Parameter("paths", "array", "", max_length=100),
            LOCKFILE,
            CURSOR,
        ),
        run=partial(_diff, library),
        output_schema=list_schema(result, verdict=members, counts=members, total=COUNT),
    )


def _diff(library: Library, arguments: Mapping[str, Any]) -> Answer:
    from docstow.languages.rust.diff import CLASSES

    if not arguments["from_version"].strip() and not arguments["lockfile"]:
        raise InvalidParameter("from_version", "is required, unless a lockfile names the version")
    language = language_of(arguments)
    asked = {"version": arguments["from_version"], "lockfile": arguments["lockfile"]}
    asked |= {"language": language.name}
    old = find_stowed(library, arguments["crate"], asked)
    asked |= {"version": arguments["to_version"].strip(), "lockfile": ""}
    new = find_stowed(library, arguments["crate"], asked)
    was, now = library.indexes([old.snapshot, new.snapshot])
    found = _compare(library, language, (old, was), (new, now))
    changes = found.changes
    if arguments["paths"]:
        chosen = {path for each in arguments["paths"] for path in _resolve_paths(each, was, now)}
        changes = [each for each in changes if _concerns(each, chosen, language)]
    counts = Counter(each.verdict for each in changes)
    scope = "/".join([old.snapshot.id, new.snapshot.id, *sorted(arguments["paths"] or ())])
    page = paged(changes, arguments["cursor"], scope, PER_PAGE)
    origin = provenance(old)
    notices = [*found.notices, *caveats(old), *caveats(new)]
    return Answer(
        provenance(new)
        | {"from": {name: origin[name] for name in ("asked", "answered", "snapshot", "url")}}
        | {"substituted": old.substituted or new.substituted}
        | {"verdict": _verdict(found.bump, old.version, new.version)}
        | {"counts": {name: counts[name] for name in CLASSES}, "total": len(changes)}
        | page
        | {"results": [_result(each) for each in page["results"]]}
        | ({"notice": "; ".join(notices)} if notices else {})
    )


def _compare(
    library: Library,
    language: Language,
    old: tuple[ResolvedVersion, Index],
    new: tuple[ResolvedVersion, Index],
) -> Difference:
    from docstow.languages.projects.diff import compare_packages
    from docstow.languages.rust.diff import compare

    if language.comparing is None:
        return compare(_side(*old), _side(*new))
    sides = [library.installed.locate(each.snapshot) for each, _ in (old, new)]
    roots = [each.package.files_root for each in sides if each is not None]
    known = [each for each in roots if each is not None]
    return compare_packages(language.comparing(), _side(*old), _side(*new), known)


def _side(found: ResolvedVersion, index: Index) -> Side:
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


def _result(change: Change) -> dict[str, str]:
    result = {
        "path": change.path,
        "kind": change.kind,
        "class": change.verdict,
        "rule": change.rule,
        "before": shortened(change.before, TEXT_LENGTH),
        "after": shortened(change.after, TEXT_LENGTH),
        "new_path": change.now,
    }
    return {name: value for name, value in result.items() if value}


def _verdict(bump: Bump, old: str, new: str) -> dict[str, Any]:
    """Describe the bump, with a sentence; it is of the whole crate, whatever paths were given.

    ``fits`` is null where there is no upgrade to judge: on the way back, and of a version against
    itself.
    """
    return {
        "declared": bump.declared,
        "allows": "breaking" if bump.breaking_allowed else "compatible",
        "needed": bump.needed,
        "fits": bump.fits,
        "summary": _summary(bump, old, new),
    }


def _summary(bump: Bump, old: str, new: str) -> str:
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
