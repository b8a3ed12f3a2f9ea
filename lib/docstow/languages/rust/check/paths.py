"""Look up absolute Rust paths and members of types, and explain those that do not exist."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from docstow.core.versions import Version
from docstow.index.signatures.parser import parse_declaration
from docstow.index.signatures.syntax import BadSignature, Kind
from docstow.languages.rust.check.crate_items import (
    OPAQUE,
    TYPES,
    CrateNames,
    Crates,
    Found,
    standard,
)
from docstow.languages.rust.check.scope import Segments
from docstow.languages.rust.check.std import (
    ARRAY,
    PRELUDE,
    SLICE,
    STANDARD,
    is_standard,
    members_of_any_value,
    standard_types,
    std_traits,
)
from docstow.languages.shared.findings import MOST, Status, advice, nearest
from docstow.languages.shared.likeness import name_similarity

ByTrait = Callable[[str], bool]
_MOST_HOPS = 4
#: So many absent names of one piece of code are searched for elsewhere; nobody reads more.
MOST_EXPLAINED = 100
_ALIAS = re.compile(r"pub type \w+(?:<.*?>)? = (\w+)(<.*>)?;")
_PARAMETERS = re.compile(r"pub (?:struct|enum|union) \w+<([^>]*)>")
_MOST_DEREFS = 4
#: Crates whose traits bring methods to the types of others.
_COMMON_TRAITS = frozenset({"rand_core", "bytes", "digest", "futures_core", "http_body", "tokio"})
_ITERATOR = "std::iter::Iterator"
#: Traits that iterators of the library may have too, and methods that some of them have.
_ITERATING = ("Iterator", "DoubleEndedIterator", "ExactSizeIterator", "Read", "BufRead")
_OF_ITERATORS = frozenset(
    {
        *("as_slice", "as_mut_slice", "as_str", "peek", "peek_mut", "next_if", "next_if_eq"),
        *("remainder", "into_inner", "offset", "keep_rest", "is_empty", "contains", "start", "end"),
        *("as_path", "into_slice", "next_if_map", "into_remainder", "as_mut_str", "extend", "push"),
    }
)
#: Inherent methods of ``dyn Any`` and ``dyn Error``.
_OF_OBJECTS = frozenset({"is", "downcast", "downcast_ref", "downcast_mut", "sources"})


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
    """

    status: Status
    found: tuple[Found, ...] = ()
    message: str = ""
    suggestions: tuple[str, ...] = ()
    names: CrateNames | None = None
    looked_in: str = ""


NOT_CHECKED = Answer("not_checked")


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
            return NOT_CHECKED
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
            if (
                by_trait is None
                or by_trait(name)
                or not self.members.lacks(owner, name, by_path=True)
            ):
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
            return None
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


class Members:
    """The members of types.

    Args:
        crates: where crates are found.
    """

    def __init__(self, crates: Crates) -> None:
        self._crates = crates

    def method(self, owner: Found, name: str) -> Found | None:
        """Return a method of a type, of what it dereferences to, or of a trait in the prelude."""
        for each in self._deref_chain(owner):
            if each is None:
                return None
            found = [
                member
                for member in each.names.find(f"{each.path}::{name}")
                if member.kind == "method" and member.parent == each.path
            ]
            if found:
                return found[0] if len(found) == 1 else None
            if (brought := self._brought(each, name)) is not None:
                return brought
        return None

    def has_no_own(self, owner: Found, name: str) -> bool:
        """Tell whether it is certain that only a trait can bring a method to a type."""
        return all(
            each is not None
            and not each.names.undocumented.may_have(each.path, name)
            and not each.names.find(f"{each.path}::{name}")
            for each in self._deref_chain(owner)
        )

    def _brought(self, owner: Found, name: str) -> Found | None:
        """Return a method that a trait of the prelude brings to a type of the standard library."""
        if not is_standard(owner.path):
            return None
        for trait in owner.names.traits(owner.path):
            last = trait.rpartition("::")[2]
            if last in PRELUDE and name in std_traits()[last]:
                found = standard().find(f"std::iter::{last}::{name}")
                return found[0] if found else None
        return None

    def ambiguous(self, found: Found) -> bool:
        """Tell whether a path has several meanings: a trait brings a member of that name too."""
        return len(found.names.find(found.path)) > 1

    def lacks(self, owner: Found, name: str, *, by_path: bool = False) -> bool:
        """Tell whether it is certain that a type has no member of a name, traits in scope aside.

        Traits that it has count whether or not code has them in scope: imports may be missing.
        What it dereferences to has no part in ``Type::name``, ``by_path``.
        """
        if owner.kind not in TYPES or name in members_of_any_value():
            return False  # supertraits, and what is implemented for whatever has a trait
        objects = [each for each in owner.names.derefs(owner.path) if each.startswith("dyn ")]
        if objects and not by_path:
            if any(_object_may_have(each, name) for each in objects):
                return False
            by_path = True
        for each in [owner] if by_path else self._deref_chain(owner):
            if each is None or each.names.undocumented.may_have(each.path, name):
                return False
            if each.names.find(f"{each.path}::{name}"):
                return False
            traits = each.names.traits(each.path)
            if not traits and any(name in std_traits()[trait] for trait in PRELUDE):
                return False
            if any(each.names.trait_has(trait, name, self._crates) for trait in traits):
                return False
        return True

    def lacks_field(self, owner: Found, name: str) -> bool:
        """Tell whether it is certain that a struct has no field of a name that others may use."""
        for each in self._deref_chain(owner):
            if each is None or each.names.undocumented.may_have(each.path, name):
                return False
            if each.names.find(f"{each.path}::{name}") or is_standard(each.path):
                return False
        return True

    def trait_of(self, path: str, names: CrateNames | None) -> Found | None:
        """Return the trait at a path."""
        found = names.find(path) if names is not None else ()
        return found[0] if len(found) == 1 and found[0].kind == "trait" else None

    def trait_lacks(self, trait: Found, name: str) -> bool:
        """Tell whether it is certain that no value has a member by a trait or what it demands."""
        if name in members_of_any_value() or name == "to_string":
            return False
        if trait.path == _ITERATOR:
            return not any(name in std_traits()[each] for each in _ITERATING) and (
                name not in _OF_ITERATORS
            )
        pending, seen = [trait], {trait.path}
        while pending:
            each = pending.pop()
            if each.names.undocumented.may_have(each.path, name):
                return False
            if name in each.names.titles_below(each.path):
                return False
            for above in supertraits(each.signature):
                last = above.rpartition("::")[2]
                paths = each.names.types_by_title.get(last, ())
                found = each.names.find(paths[0]) if len(paths) == 1 else ()
                if len(found) == 1 and found[0].kind == "trait":
                    pending += found if found[0].path not in seen else ()
                    seen.add(found[0].path)
                elif last not in std_traits() or paths or name in std_traits()[last]:
                    return False
        return True

    def suggest(self, owner: Found, name: str, *, most: int = MOST) -> tuple[str, ...]:
        """Return paths of the members of a type that come near a name."""
        own: list[str] = []
        others: list[str] = []
        told: dict[str, str] = {}
        for each in self._deref_chain(owner):
            if each is not None:
                members = each.names.members(each.path)
                own += [member.path for member in members if member.recommended]
                told |= {member.path: member.summary for member in members}
                own += each.names.aliases_below(each.path)
                for trait in each.names.traits(each.path):
                    brought = self._members_of(trait, each.names)
                    own += [member.path for member in brought if member.recommended]
                    told |= {member.path: member.summary for member in brought}
                traits = {path.rpartition("::")[2] for path in each.names.traits(each.path)}
                if "Iterator" in traits:
                    members = standard().members("std::iter::Iterator")
                    others += [member.path for member in members if member.recommended]
        # What is not imported may bring any name to a type of Rust's own.
        few = not is_standard(owner.path)
        return nearest(name, [*own, *others], summaries=told, most=most, filled=few)

    def _members_of(self, trait: str, names: CrateNames) -> list[Found]:
        """Return the methods of a crate's trait, which somebody may import."""
        first = trait.partition("::")[0]
        there = names if first == names.root else None
        if there is None and not is_standard(trait) and first in _COMMON_TRAITS:
            there = self._crates.crate(first)
        found = there.find(trait) if there is not None and there.root != "std" else ()
        return there.members(found[0].path) if there is not None and len(found) == 1 else []

    def _deref_chain(self, owner: Found) -> Iterator[Found | None]:
        """Yield a type and what it dereferences to; None ends it where that is not known."""
        seen = {owner.path}
        here: Found | None = owner
        for _ in range(_MOST_DEREFS):
            yield here
            targets = here.names.derefs(here.path) if here is not None else []
            if here is None or not targets:
                return
            here = self._type(targets[0], here) if len(targets) == 1 else None
            if here is not None and here.path in seen:
                return
            seen.add(here.path if here is not None else "")
        yield None

    def _type(self, path: str, owner: Found) -> Found | None:
        """Return the type that another one dereferences to."""
        if path.startswith("["):
            path = ARRAY if ";" in path else SLICE
        names = standard() if is_standard(path) else owner.names
        found = [each for each in names.find(path) if each.kind in TYPES]
        return found[0] if len(found) == 1 else None


@lru_cache(maxsize=1024)
def supertraits(signature: str) -> tuple[str, ...]:
    """Return the names of what a trait demands; one that nothing has where it cannot be read."""
    try:
        declared = parse_declaration(signature)
    except BadSignature:
        return ("?",)
    bounds = [each for each in declared.bounds if each.kind != Kind.LIFETIME]
    demanded = [
        part for each in declared.where if each.subject.name == "Self" for part in each.bounds
    ]
    return tuple(
        each.name if each.kind == Kind.PATH else "?"
        for each in (*bounds, *demanded)
        if each.kind not in {Kind.LIFETIME, Kind.MODIFIED}
    )


def _object_may_have(path: str, name: str) -> bool:
    """Tell whether ``dyn Trait + Other`` may have a method."""
    known = [std_traits().get(each) for each in path.removeprefix("dyn ").split(" + ")]
    return name in _OF_OBJECTS or any(members is None or name in members for members in known)
