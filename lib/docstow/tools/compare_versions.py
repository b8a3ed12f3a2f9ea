"""What ``diff_versions`` does: what changed between two versions, and what its maintainers say."""

from __future__ import annotations

import contextlib
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from docstow.core.errors import DocstowError, InvalidParameter, ItemNotFound
from docstow.languages.shared.history import (
    MOST_NOTES,
    History,
    Successor,
    deprecation_note,
    is_outdated,
    parameter_names,
)
from docstow.tools import (
    Answer,
    caveats,
    paged,
    provenance,
    shortened,
)
from docstow.tools.parameters import (
    find_stowed,
    language_of,
)

if TYPE_CHECKING:
    from docstow.core.model import Document
    from docstow.index.families import Family
    from docstow.index.loaded import Index
    from docstow.languages.rust.diff import Bump, Change, Difference, Side
    from docstow.languages.shared.language import Language
    from docstow.library import Library, ResolvedVersion
    from docstow.text.changelog import Note

#: Changes on a page.
_PER_PAGE = 50
#: Longest text of what was and what is, in characters; the items' pages have the whole.
_LONGEST_TEXT = 240
#: Characters of lines that are not said again.
_LONG_LINES = 60
#: Breaking lines of the changelog that stand beside no change.
_MOST_LINES = 20
#: Rules of what goes, or is about to: somebody may say what takes its place. A class that loses a
#: base stays.
_GOING = re.compile(
    r"(?<!^base)-(?:removed|renamed|moved|lost)$|^(?:item-)?deprecated$|^kind-changed$"
)
#: Rules whose text names the parameters that they are about, before a colon.
_OF_PARAMETERS = frozenset({"parameter-removed", "parameter-renamed"})
_PARAMETERS = re.compile(r"[\w*, ]+(?: to \w+)?(?=: )")


def compare(library: Library, arguments: Mapping[str, Any]) -> Answer:
    """Run ``diff_versions``; its parameters are those of :mod:`docstow.tools.diff_versions`."""
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
    sides = _load_side(old, was), _load_side(new, now)
    found = _find_changes(library, language, (old, new), sides)
    changes = found.changes
    chosen: set[str] = set()
    missing: dict[str, ItemNotFound] = {}
    if arguments["paths"]:
        chosen, missing = _resolve_all(arguments["paths"], was, now)
        changes = [each for each in changes if _concerns(each, chosen, language)]
    counts = Counter(each.verdict for each in changes)
    scope = "/".join([old.snapshot.id, new.snapshot.id, *sorted(arguments["paths"] or ())])
    maintainers = _Maintainers(new.snapshot.revision.source.name, *sides)
    changes = sorted(changes, key=maintainers.order)
    page = paged(_group_changes(changes), arguments["cursor"], scope, _PER_PAGE)
    lines = [] if arguments["cursor"] else maintainers.breaking_lines(changes, chosen)
    unlisted = maintainers.describe_unlisted({*chosen, *missing}, changes)
    told = {each["path"] for each in unlisted}
    if unknown := [error for path, error in missing.items() if path not in told]:
        raise unknown[0]
    origin = provenance(old)
    notices = [*found.notices, *caveats(old), *caveats(new)]
    if len(lines) > _MOST_LINES:
        notices.append(
            f"{len(lines) - _MOST_LINES} further breaking lines of the changelog name no change "
            "listed here; read the changelog itself"
        )
    return Answer(
        provenance(new)
        | {"from": {name: origin[name] for name in ("asked", "answered", "snapshot", "url")}}
        | {"substituted": old.substituted or new.substituted}
        | {"verdict": _describe_bump(found.bump, old.version, new.version)}
        | {"counts": {name: counts[name] for name in CLASSES}, "total": len(changes)}
        | page
        | {"results": list(_describe_page(page["results"], maintainers))}
        | ({"only_in_changelog": unlisted} if unlisted and not arguments["cursor"] else {})
        | ({"breaking_lines": lines[:_MOST_LINES]} if lines else {})
        | ({"notice": "; ".join(notices)} if notices else {})
    )


Rows = list[dict[str, Any]]


class _Maintainers:
    """What the maintainers wrote of the versions between two, beside the changes.

    Args:
        package: its name.
        old: the older version.
        new: the newer one, whose changelog has the lines.
    """

    def __init__(self, package: str, old: Side, new: Side) -> None:
        self._described: dict[Change, dict[str, Any]] = {}
        self._old = _by_path(old.documents)
        self._new = _by_path(new.documents)
        self._history = History(
            package,
            [*new.documents, *old.documents],
            self._new,
            after=old.version,
            upto=new.version,
            former=self._old,
        )

    def breaking_lines(self, changes: Iterable[Change], chosen: Collection[str]) -> list[str]:
        """Return the breaking lines that stand beside no change.

        Args:
            changes: that are listed.
            chosen: paths that the caller asks for; empty for all.
        """
        notes = self._history.breaking_notes({each.path for each in changes})
        if chosen:
            others = self._history.breaking_notes(chosen)
            notes = [each for each in notes if each not in others]
        return [_describe_note(each) for each in notes]

    def describe_unlisted(self, paths: Iterable[str], changes: Iterable[Change]) -> Rows:
        """Return what is said of names that the caller asks for and that no change is of."""
        changed = {each.path for each in changes} | {each.now for each in changes}
        found = []
        for path in sorted(set(paths) - changed):
            if lines := [_describe_note(each) for each in self._history.notes(path)]:
                successor = self._successor(path)
                found.append(
                    {"path": path}
                    | ({"successor": _join(successor)} if successor is not None else {})
                    | {"changelog": lines}
                )
        return found[:_MOST_LINES]

    def describe(self, change: Change) -> dict[str, Any]:
        """Return the changelog's lines and the successor of one change."""
        if change not in self._described:
            self._described[change] = self._describe(change)
        return self._described[change]

    def _describe(self, change: Change) -> dict[str, Any]:
        found: dict[str, Any] = {}
        parameters = _name_parameters(change)
        if parameters:
            notes = [note for each in parameters for note in self._history.notes(change.path, each)]
        else:
            notes = self._history.notes(change.path)
        successors = list(self._successors(change, parameters))
        if successors:
            found["successor"] = "; ".join(
                dict.fromkeys(
                    f"{name}: {_join(each)}" if name else _join(each) for name, each in successors
                )
            )
            found["successor_from"] = successors[0][1].origin
            said = [_describe_note(each) for _, each in successors if _is_new(each, change)]
        else:
            said = []
        if lines := list(dict.fromkeys([*said, *map(_describe_note, notes)])):
            found["changelog"] = lines[:MOST_NOTES]
        return found

    def order(self, change: Change) -> tuple[int, int]:
        """Return what changes are sorted by beside their order: the gravest come first.

        Of breaking ones those come first of which a reader can do something at once: what has a
        successor, then what the changelog names.
        """
        from docstow.languages.rust.diff import CLASSES

        grave = CLASSES.index(change.verdict)
        if grave:
            return grave, 0
        told = self.describe(change)
        return grave, 0 if "successor" in told or change.now else 1 if told else 2

    def _successors(
        self, change: Change, parameters: Sequence[str]
    ) -> Iterator[tuple[str, Successor]]:
        new = self._new.get(change.path)
        parameter_told = False
        taken = parameter_names(new) if new is not None else frozenset()
        for each in parameters:
            found = self._history.successor_of_parameter(change.path, each, taken=taken)
            if found is not None:
                yield each, found
                parameter_told = True
        going = _GOING.search(change.rule) is not None and not change.rule.startswith("parameter-")
        if parameter_told or change.now or not (going or (new is not None and is_outdated(new))):
            return
        if (found := self._successor(change.path, stays=not going)) is not None:
            yield "", found

    def _successor(self, path: str, *, stays: bool = False) -> Successor | None:
        old, new = self._old.get(path), self._new.get(path)
        sides = [each for each in (old, new) if each is not None]
        notes = [note for each in sides if (note := deprecation_note(each.attributes))]
        texts = [each.text for each in sides]
        return self._history.successor(path, notes, texts, stays=stays)


def _by_path(documents: Iterable[Document]) -> dict[str, Document]:
    return {each.path: each for each in documents if each.kind != "page"}


def _name_parameters(change: Change) -> list[str]:
    """Return the parameters that a change is about and that are gone."""
    if change.rule not in _OF_PARAMETERS:
        return []
    named = _PARAMETERS.match(change.before)
    names = named[0].split(",") if named is not None else ()
    return [each.strip(" *").partition(" ")[0] for each in names if each.strip(" *")]


def _join(successor: Successor) -> str:
    return " or ".join(successor.names)


def _is_new(successor: Successor, change: Change) -> bool:
    """Return whether what is said of a successor stands nowhere else in the change."""
    return successor.text not in (change.before, change.after)


def _describe_note(note: Note | Successor) -> str:
    text = shortened(note.text, _LONGEST_TEXT)
    return f"{note.version}: {text}" if note.version else text


def _find_changes(
    library: Library,
    language: Language,
    found: Sequence[ResolvedVersion],
    sides: tuple[Side, Side],
) -> Difference:
    from docstow.languages.projects.diff import compare_packages
    from docstow.languages.rust.diff import compare

    if language.comparing is None:
        return compare(*sides)
    comparing = language.comparing()
    with contextlib.ExitStack() as opened:
        roots = []
        try:
            for each in found if comparing.sources is not None else ():
                located = opened.enter_context(library.installed.files(each.snapshot))
                roots.append(located.package.files_root)
        except DocstowError:
            # Their documents say most; the answer says that their sources were not at hand.
            roots = []
        return compare_packages(comparing, *sides, [each for each in roots if each is not None])


def _load_side(found: ResolvedVersion, index: Index) -> Side:
    from docstow.core.model import Relation
    from docstow.languages.rust.diff import Side

    table = index.relations
    names = ("subject", "predicate", "object", "detail")
    rows = zip(*(table[name].tolist() for name in names), strict=True)
    documents = index.documents()
    return Side(found.version, documents, [Relation(*row) for row in rows], found.snapshot.facts)


def _resolve_all(paths: Sequence[str], *indexes: Index) -> tuple[set[str], dict[str, ItemNotFound]]:
    """Return the canonical paths of what a caller asks for, and the errors for what is no item."""
    found: set[str] = set()
    missing: dict[str, ItemNotFound] = {}
    for each in paths:
        try:
            found |= _resolve_paths(each, *indexes)
        except ItemNotFound as error:
            missing[each] = error
    return found, missing


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


def _describe_page(
    families: Iterable[Family[Change]], maintainers: _Maintainers
) -> Iterator[dict[str, Any]]:
    """Yield the results of a page; lines that several items share stand in the first of them."""
    first: dict[tuple[str, ...], str] = {}
    for each in families:
        shown = _describe_family(each, maintainers)
        lines = tuple(shown.get("changelog", ()))
        if lines in first:
            shown["changelog"] = [f"as for {first[lines]}"]
        elif sum(map(len, lines)) > _LONG_LINES:
            first[lines] = shown["path"]
        yield shown


def _describe_family(family: Family[Change], maintainers: _Maintainers) -> dict[str, Any]:
    """Describe the first of a family, with the number of all and their sizes."""
    shown: dict[str, Any] = _describe_change(family.rows[0])
    shown |= maintainers.describe(family.rows[0])
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
