"""The tool ``diff_versions``: what changed between two versions of a crate.

This room knows its parameters and the shape of its answer. It does not know how versions are
compared.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from docstow.core.errors import DocstowError, InvalidParameter, ItemNotFound
from docstow.core.language_names import PYTHON, RUST, Language
from docstow.tools import Answer, Tool
from docstow.tools.answers import (
    COUNT,
    TEXT,
    caveats,
    list_schema,
    paged,
    provenance,
    result_schema,
)
from docstow.tools.crate_arguments import CRATE, CURSOR, LOCKFILE, SPOKEN, spoken_in, stowed
from docstow.tools.parameters import Parameter

if TYPE_CHECKING:
    from docstow.core.model import Document
    from docstow.index.loaded import Index
    from docstow.languages.projects.diff import PackageChange
    from docstow.languages.python.griffe_diff import Breakage
    from docstow.languages.rust.diff import Bump, Change, Difference, Side
    from docstow.library import Library, Stowed


# What changed between two versions of a package, for the tool ``diff_versions``.


_TYPED = (
    "declarations of TypeScript are compared without resolving what their types mean: one that "
    "does not plainly take all that it took counts as breaking"
)


_TOLD_BETTER = ("class-removed-base", "object-changed-kind")


#: How griffe shows a parameter: ``[positional-only] name: type``.
_PARAMETER = re.compile(r"\[[^\]]*\] (\w+)")


_DOCUMENTS = (
    "only the documents of both versions were at hand; where both are installed in projects of "
    "this server, their sources are compared as well"
)


def compare_packages(
    library: Library, before: Stowed, after: Stowed, old: Side, new: Side
) -> Difference:
    """Compare two versions by their documents, and of Python by their sources where they are here.

    Args:
        library: knows where packages are installed.
        before: the older version.
        after: the newer one.
        old: what the older one is made of.
        new: the same of the newer.
    """
    from docstow.languages.projects.diff import compare
    from docstow.languages.rust.diff import CLASSES, Difference
    from docstow.languages.rust.diff.crate import bump

    changes: list[Change] = list(compare(old.documents, new.documents))
    notices = [_TYPED]
    if before.snapshot.revision.source.kind == PYTHON.kind:
        breakages = _by_source(library, before, after)
        notices = [_DOCUMENTS] if breakages is None else []
        known = {each.path for each in changes if each.verdict == CLASSES[0]}
        further = _public(breakages or (), old.documents, new.documents)
        changes += [each for each in further if each.path not in known]
        changes.sort(key=lambda each: (CLASSES.index(each.verdict), each))
    step = bump(_numbers(before.version), _numbers(after.version), changes)
    return Difference(changes, step, notices)


def _by_source(library: Library, before: Stowed, after: Stowed) -> list[Breakage] | None:
    """What griffe finds; None where one of the versions is not installed here."""
    from docstow.languages.python.griffe_diff import breaking_changes

    if library.installed is None:
        return None
    sides = [library.installed.at(each.snapshot) for each in (before, after)]
    roots = [each.package.files_root for each in sides if each is not None]
    found: list[Breakage] = []
    for name in before.snapshot.facts.get("import_names", ()):
        if len(roots) < len(sides) or roots[0] is None or roots[1] is None:
            return None
        try:
            found += breaking_changes(str(name), roots[0], roots[1])
        except DocstowError:
            return None
    return found


def _public(
    breakages: Iterable[Breakage], old: Sequence[Document], new: Sequence[Document]
) -> list[PackageChange]:
    """Those of public items, under the paths that users write; one of each rule for an item.

    What documents tell better is left out: kinds, bases, names that are there by another way.
    """
    from docstow.languages.projects.diff import PackageChange, is_there

    was, now = ({each.path: each for each in side} for side in (old, new))
    known = {**now, **was}
    targets = {str(each.attributes.get("target")): each for each in known.values()}
    found: dict[tuple[str, str], list[Breakage]] = {}
    for each in breakages:
        path = each.path.partition("(")[0].removesuffix(".__init__")
        document = known.get(path) or targets.get(path)
        rule = each.kind.lower().replace("_", "-")
        if document is None or rule in _TOLD_BETTER:
            continue
        if rule == "object-removed" and is_there(document.path, now):
            continue
        named = _PARAMETER.match(each.after or each.before)
        if named is not None and _is_hidden(named[1], was.get(document.path)):
            continue
        found.setdefault((document.path, rule), []).append(each)
    return [
        PackageChange(
            path, known[path].kind, rule, _joined(e.before for e in several),
            _joined(e.after for e in several), found="breaking",
        )
        for (path, rule), several in found.items()
    ]  # fmt: skip


def _is_hidden(parameter: str, old: Document | None) -> bool:
    """Whether nobody names a parameter: the object itself, or one that had two underscores."""
    was = "" if old is None else f"{old.signature} {old.attributes.get('constructor', '')}"
    return parameter.lstrip("_") in {"self", "cls"} or f"__{parameter.lstrip('_')}:" in was


def _joined(told: Iterable[str]) -> str:
    return "; ".join(dict.fromkeys(filter(None, told)))


def _numbers(version: str) -> str:
    """The first three numbers, as which the size of a step is judged."""
    numbers = [str(int(each)) for each in re.findall(r"\d+", version)[:3]]
    return ".".join([*numbers, *["0"] * (3 - len(numbers))])


PER_PAGE = 50


#: Longest text of what was and what is, in characters; the items' pages have the whole.
TEXT_LENGTH = 240


def tools(library: Library) -> list[Tool]:
    """The tool, bound to a library."""
    result = result_schema(
        {"path": TEXT, "kind": TEXT, "class": TEXT, "rule": TEXT},
        before=TEXT,
        after=TEXT,
        new_path=TEXT,
    )
    members = {"type": "object"}
    return [
        Tool(
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
                SPOKEN,
                Parameter("from_version", "string", "", default="", max_length=100),
                Parameter("to_version", "string", "", default="", max_length=100),
                Parameter("paths", "array", "", max_length=100),
                LOCKFILE,
                CURSOR,
            ),
            run=partial(_diff, library),
            output_schema=list_schema(result, verdict=members, counts=members, total=COUNT),
        )
    ]


def _diff(library: Library, arguments: Mapping[str, Any]) -> Answer:
    from docstow.languages.rust.diff import CLASSES, compare

    if not arguments["from_version"].strip() and not arguments["lockfile"]:
        raise InvalidParameter("from_version", "is required, unless a lockfile names the version")
    language = spoken_in(arguments)
    asked = {"version": arguments["from_version"], "lockfile": arguments["lockfile"]}
    asked |= {"language": language.name}
    old = stowed(library, arguments["crate"], asked)
    asked |= {"version": arguments["to_version"].strip(), "lockfile": ""}
    new = stowed(library, arguments["crate"], asked)
    was, now = library.indexes([old.snapshot, new.snapshot])
    judge = compare if language is RUST else partial(compare_packages, library, old, new)
    found = judge(_side(old, was), _side(new, now))
    changes = found.changes
    if arguments["paths"]:
        chosen = {path for each in arguments["paths"] for path in _meant(each, was, now)}
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


def _side(found: Stowed, index: Index) -> Side:
    from docstow.core.model import Relation
    from docstow.languages.rust.diff import Side

    table = index.relations
    names = ("subject", "predicate", "object", "detail")
    rows = zip(*(table[name].tolist() for name in names), strict=True)
    documents = index.documents(range(len(index)))
    return Side(found.version, documents, [Relation(*row) for row in rows], found.snapshot.facts)


def _meant(path: str, *indexes: Index) -> set[str]:
    """The canonical paths that a caller's path means in either version."""
    from docstow.index import lookup as lookup

    found: set[str] = set()
    missed: list[ItemNotFound] = []
    for index in indexes:
        try:
            rows = lookup.find(index, path)
        except ItemNotFound as error:
            missed.append(error)
        else:
            found |= {str(index.columns["path"][row]) for row in rows}
    if len(missed) == len(indexes):
        raise missed[0]
    return found


def _concerns(change: Change, chosen: set[str], language: Language) -> bool:
    """Whether a change is of a chosen item, its members, or, docs aside, of an owner."""
    paths = [path for path in (change.path, change.now) if path]
    if any(language.holds(each, path) for path in paths for each in chosen):
        return True
    owners = any(language.holds(path, each) for path in paths for each in chosen)
    return owners and change.verdict != "docs-only"


def _result(change: Change) -> dict[str, str]:
    result = {
        "path": change.path,
        "kind": change.kind,
        "class": change.verdict,
        "rule": change.rule,
        "before": _short(change.before),
        "after": _short(change.after),
        "new_path": change.now,
    }
    return {name: value for name, value in result.items() if value}


def _short(text: str) -> str:
    return text if len(text) <= TEXT_LENGTH else text[: TEXT_LENGTH - 2] + " …"


def _verdict(bump: Bump, old: str, new: str) -> dict[str, Any]:
    """The bump, with a sentence; it is of the whole crate, whatever paths were given.

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
