"""Look up absolute Rust paths, and explain those that do not exist."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from docstow.core.versions import Version
from docstow.languages.rust.check.crate_items import (
    OPAQUE,
    TYPES,
    CrateNames,
    Crates,
    Found,
    standard,
)
from docstow.languages.rust.check.fitting import Call
from docstow.languages.rust.check.members import Members
from docstow.languages.rust.check.scope import Segments
from docstow.languages.rust.check.std import ALIASED, STANDARD, is_standard, standard_types
from docstow.languages.shared.findings import HIDDEN, NOT_AT_HAND, Status, advice
from docstow.languages.shared.likeness import name_similarity, shape

ByTrait = Callable[[str], bool]
_MOST_HOPS = 4
#: So many absent names of one piece of code are searched for elsewhere; nobody reads more.
MOST_EXPLAINED = 100
#: Names that are as alike as this are the same one, misspelt.
MISSPELT = 85.0
_ALIAS = re.compile(r"pub type \w+(?:<.*?>)? = (\w+)(<.*>)?;")
_PARAMETERS = re.compile(r"pub (?:struct|enum|union) \w+<([^>]*)>")


@dataclass(frozen=True, slots=True)
class Answer:
    """The result of looking up a path.

    Attributes:
        status: as in a finding.
        found: the items that it means; several where namespaces share a name.
        message: what is wrong.
        suggestions: nearest valid paths.
        names: the crate that was searched.
        looked_in: the owner that has no such member.
        reason: as in a finding.
    """

    status: Status
    found: tuple[Found, ...] = ()
    message: str = ""
    suggestions: tuple[str, ...] = ()
    names: CrateNames | None = None
    looked_in: str = ""
    reason: str = ""


NOT_CHECKED = Answer("not_checked", reason=HIDDEN)
_NOT_AT_HAND = Answer("not_checked", reason=NOT_AT_HAND)


class Paths:
    """Looks up absolute paths for one piece of code, each once.

    Args:
        crates: finds crates.
    """

    def __init__(self, crates: Crates) -> None:
        self.crates = crates
        self.members = Members(crates)
        self._answers: dict[tuple[Segments, ByTrait | None], Answer] = {}
        self._others: dict[str, Sequence[CrateNames]] = {}
        self._explained = 0

    def crate(self, name: str) -> CrateNames | None:
        """Return a crate, or the standard library, by the first name of a path."""
        return standard() if is_standard(name) else self.crates.crate(name)

    def look_up(
        self, path: Segments, by_trait: ByTrait | None = None, hops: int = _MOST_HOPS
    ) -> Answer:
        """Look up an absolute path.

        Args:
            path: the crate's name first.
            by_trait: tells whether a trait in scope may bring a name to types that do not have
                it; any trait may if nothing is given.
            hops: how many re-exports may still be followed.
        """
        key = (path, by_trait)
        if key not in self._answers or hops < _MOST_HOPS:
            self._answers[key] = self._look_up(path, by_trait, hops)
        return self._answers[key]

    def _look_up(self, path: Segments, by_trait: ByTrait | None, hops: int) -> Answer:
        names = self.crate(path[0])
        if names is None or hops == 0:
            return _NOT_AT_HAND if names is None else NOT_CHECKED
        if len(path) == 1:
            return Answer(
                "ok", names.find(path[0] if names.root == "std" else names.root), names=names
            )
        whole = names.whole(path)
        if found := names.find(whole):
            return _answer(whole, found, names)
        return self._missing(path, names, by_trait, hops)

    def _missing(
        self, path: Segments, names: CrateNames, by_trait: ByTrait | None, hops: int
    ) -> Answer:
        """Explain a path that is not found by the longest part of it that is."""
        for end in range(len(path) - 1, 0, -1):
            found = names.find(names.whole(path[:end]))
            if not found:
                continue
            found = _with_members(found)
            if (target := self.alias_target(found)) is not None:
                return self.look_up((*target.split("::"), *path[end:]), by_trait, hops - 1)
            if any(each.kind in OPAQUE for each in found):
                return self._behind_reexport(found, path[end:], names, by_trait, hops)
            return self._absent(found, path, end, by_trait)
        return NOT_CHECKED

    def _behind_reexport(
        self,
        found: Sequence[Found],
        rest: Segments,
        names: CrateNames,
        by_trait: ByTrait | None,
        hops: int,
    ) -> Answer:
        """Look up a path below a re-export in the other crate.

        That a name is there is believed of any version; that it is not, only of the version which
        the crate's own docs were made with, or a later one that is compatible.
        """
        for each in found:
            target = names.re_exports.get(each.path)
            if each.kind == "re-export" and target and target.split("::")[0] not in STANDARD:
                self.crates.behind(names, target.split("::")[0])
                answer = self.look_up((*target.split("::"), *rest), by_trait, hops - 1)
                if answer.status == "ok":
                    return answer
                if (
                    answer.status == "unknown"
                    and len(found) == 1
                    and _is_version_used(target, names, answer)
                ):
                    return _as_reexported(answer, target, each.path)
        return NOT_CHECKED

    def _absent(
        self, found: Sequence[Found], path: Segments, end: int, by_trait: ByTrait | None
    ) -> Answer:
        names, name = found[0].names, path[end]
        for owner in found:
            if names.undocumented.may_have(owner.path, name):
                return NOT_CHECKED
            if owner.kind == "module":
                continue
            # No trait brings a variant.
            is_variant = owner.kind == "enum" and shape(name) == "type"
            may_be_brought = by_trait is None or (by_trait(name) and not is_variant)
            if may_be_brought or not self.members.lacks(owner, name, by_path=True):
                return NOT_CHECKED
        if names.undocumented.is_in_examples("::".join(path[: end + 1])):
            return NOT_CHECKED
        owner = next((each for each in found if each.kind in {"module", *TYPES}), found[0])
        if owner.kind not in {"module", "trait", *TYPES}:
            return NOT_CHECKED
        suggestions = self._suggest(owner, path, end)
        whole = "::".join((owner.path, *path[end:]))
        message = self.explain(owner, name, whole, suggestions)
        return Answer("unknown", (), message, suggestions, names, owner.path)

    def suited(self, answer: Answer, path: Segments, call: Call) -> Answer:
        """Return an answer of an absent member of a type, with what can be called so first."""
        names, name = answer.names, path[-1]
        found = names.find(answer.looked_in) if names is not None else ()
        types = [each for each in found if each.kind in TYPES]
        if not types or self.look_up(path[:-1]).status != "ok":
            return answer
        near = self.members.suggest(types[0], name, call=call)
        if near == answer.suggestions:
            return answer
        message = self.explain(types[0], name, f"{types[0].path}::{name}", near)
        return replace(answer, suggestions=near, message=message)

    def _suggest(self, owner: Found, path: Segments, end: int) -> tuple[str, ...]:
        """Return suggestions for a path of which only a part is there."""
        if not self.may_explain():
            return ()
        names, name = owner.names, path[end]
        if owner.kind != "module":
            return self.members.suggest(owner, name)
        suggestions = names.suggest(owner.path, name)
        if end == len(path) - 1:
            return suggestions
        # The module is missing: what was wanted of it may be elsewhere.
        wanted = names.suggest(owner.path, path[-1])
        intended = "::".join((owner.path, *path[end:]))
        exact = [each for each in wanted if each.rpartition("::")[2] == path[-1]]
        exact.sort(key=lambda each: -name_similarity(intended, each))
        if exact:
            return tuple(dict.fromkeys((*exact, *suggestions)))[:3]
        whole_there = "::".join((*suggestions[:1], *path[end + 1 :]))
        return (whole_there, *suggestions[:2]) if names.find(whole_there) else suggestions

    def alias_target(self, found: Sequence[Found]) -> str | None:
        """Return the path of the type that ``pub type Name = Other;`` means, where that is certain.

        It is the crate's own, or that of a crate which this one shows as a whole: signatures have
        last names alone, so what it takes must fit too.
        """
        if len(found) != 1 or found[0].kind != "type_alias":
            return None
        names, read = found[0].names, _ALIAS.fullmatch(found[0].signature.strip())
        if read is None:
            return next((each for each in ALIASED if found[0].path.startswith(each)), None)
        name, given = read[1], [each.strip() for each in (read[2] or "<>")[1:-1].split(",")]
        paths = [path for path in names.types_by_title.get(name, ()) if path != found[0].path]
        if not read[2] and name not in standard_types():
            return paths[0] if len(paths) == 1 else None
        if names.tells_mentions and len(paths) == 1 and name not in standard_types():
            # Whatever some arguments have of it, the type itself has.
            return paths[0] if name not in names.mentions(found[0].path) else None
        own = any(each in names.types_by_title for each in given)
        if paths or not own:
            return None
        shown = [self.crate(each) for each in names.re_exports.values() if "::" not in each]
        there = [path for each in shown if each for path in each.types_by_title.get(name, ())]
        fitting = len(there) == 1 and self._takes(there[0], len(given))
        return there[0] if fitting else None

    def _takes(self, path: str, count: int) -> bool:
        """Tell whether a type has as many parameters."""
        found = self.look_up(tuple(path.split("::"))).found
        reads = [_PARAMETERS.match(each.signature) for each in found if each.kind in TYPES]
        return any(read is not None and read[1].count(",") + 1 == count for read in reads)

    def may_explain(self) -> bool:
        """Count one more absent name; tell whether it may still be searched for elsewhere."""
        self._explained += 1
        return self._explained <= MOST_EXPLAINED

    def explain(self, owner: Found, name: str, whole: str, suggestions: Sequence[str]) -> str:
        """Return the message for a name that is not there."""
        names = owner.names
        message = f"{owner.kind} {owner.path} of {names.package} {names.version} has no {name}"
        for other in self._other_versions(names):
            if other.find(whole):
                word = "removed since" if _older(other, names) else "new in"
                message += f"; {word} {other.version}"
                break
        first = suggestions[0] if suggestions else ""
        above, _, last = first.rpartition("::")
        in_module = any(each.kind == "module" for each in names.find(above))
        if first and in_module and last == whole.rpartition("::")[2]:
            return f"{message}; moved to {first}."
        intended = whole.rpartition("::")[2]
        wanted = intended if last == intended else name.removeprefix("field ")
        return f"{message}{advice(wanted, suggestions)}"

    def _other_versions(self, names: CrateNames) -> Sequence[CrateNames]:
        if names.root not in self._others:
            self._others[names.root] = self.crates.other_versions(names.root)
        return self._others[names.root]


def _answer(whole: str, found: tuple[Found, ...], names: CrateNames) -> Answer:
    notes = [each.attributes.get("deprecated") for each in found]
    if not all(notes):
        return Answer("ok", found, names=names)
    note = notes[0]
    reason = str(note.get("note") or "") if isinstance(note, dict) else ""
    since = str(note.get("since") or "") if isinstance(note, dict) else ""
    message = f"{whole} is deprecated{f' since {since}' if since else ''}"
    return Answer("deprecated", found, f"{message}{f': {reason}' if reason else '.'}", names=names)


def _with_members(found: tuple[Found, ...]) -> tuple[Found, ...]:
    """Return those of the items that share a name which can have members."""
    some = tuple(each for each in found if each.kind not in {"function", "constant", "macro"})
    return some or found


def _is_version_used(target: str, names: CrateNames, answer: Answer) -> bool:
    """Tell whether the crate that answered is the one that a re-export was documented with."""
    external = names.index.snapshot.facts.get("externals", {}).get(target.split("::")[0], {})
    version, asked = external.get("version", ""), answer.names
    if not version or asked is None or asked.root != target.split("::")[0]:
        return False
    wanted, given = Version.parse(version), Version.parse(asked.version)
    return given >= wanted and version.split(".")[0] == asked.version.split(".")[0] != "0"


def _as_reexported(answer: Answer, target: str, here: str) -> Answer:
    """Rewrite the answer of another crate with the paths of the crate that re-exports it."""
    message, shown = answer.message, []
    for path in answer.suggestions:
        below = f"{path}::".startswith(f"{target}::")
        other = f"{here}{path[len(target) :]}" if below else path
        shown.append(other)
        message = message.replace(f" {path}.", f" {other}.").replace(f" {path}?", f" {other}?")
    return replace(answer, suggestions=tuple(shown), message=message)


def _older(one: CrateNames, other: CrateNames) -> bool:
    return Version.parse(one.version) < Version.parse(other.version)
