"""The members of types and traits: which there are, and which there are certainly not."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache

from docstow.index.signatures.parser import parse_declaration
from docstow.index.signatures.syntax import BadSignature, Kind
from docstow.languages.rust.check.crate_items import TYPES, CrateNames, Crates, Found, standard
from docstow.languages.rust.check.fitting import Call
from docstow.languages.rust.check.std import (
    ARRAY,
    PRELUDE,
    SLICE,
    is_standard,
    members_of_any_value,
    std_traits,
)
from docstow.languages.shared.findings import MOST, nearest

_MOST_DEREFS = 8
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
        "into_buffer",
    }
)
#: Inherent methods of ``dyn Any`` and ``dyn Error``.
_OF_OBJECTS = frozenset({"is", "downcast", "downcast_ref", "downcast_mut", "sources"})


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

    def by_traits(self, owner: Found, name: str, *, standard: bool = False) -> Found | None:
        """Return the method that one trait of a type has, whichever are in scope.

        Args:
            owner: the type.
            name: of the method.
            standard: whether the library's traits count that are not in its prelude.
        """
        found: dict[str, Found] = {}
        for trait in owner.names.traits(owner.path):
            first = trait.partition("::")[0]
            if is_standard(trait):
                found |= {e.path: e for e in (_of_standard(trait, name) if standard else ())}
                continue
            there = owner.names if first == owner.names.root else self._crates.crate(first)
            for each in there.find(f"{trait}::{name}") if there is not None else ():
                if each.kind == "method":
                    found.setdefault(each.path, each)
        return next(iter(found.values())) if len(found) == 1 else None

    def has_unknown_traits(self, owner: Found) -> bool:
        """Tell whether a type has traits of crates of which nobody has the docs."""
        firsts = {e.partition("::")[0] for e in owner.names.traits(owner.path)}
        return any(not is_standard(e) and self._crates.crate(e) is None for e in firsts)

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

    def trait_method(self, trait: Found, name: str) -> Found | None:
        """Return the method of a trait, or of one that it demands."""
        pending, seen = [trait], {trait.path}
        while pending:
            each = pending.pop()
            found = [
                member
                for member in each.names.find(f"{each.path}::{name}")
                if member.kind == "method"
            ]
            if found:
                return found[0] if len(found) == 1 else None
            for above in self._demanded(each):
                pending += [above] if above.path not in seen else []
                seen.add(above.path)
        return None

    def trait_members(self, trait: Found) -> list[Found]:
        """Return the functions of a trait, and of the crate's traits that it demands."""
        found, pending, seen = list[Found](), [trait], {trait.path}
        while pending:
            each = pending.pop()
            found += [one for one in each.names.members(each.path) if one.kind == "method"]
            pending += [above for above in self._demanded(each) if above.path not in seen]
            seen |= {above.path for above in pending}
        return found

    def _demanded(self, trait: Found) -> Iterator[Found]:
        """Yield the traits of its crate that a trait demands."""
        for above in supertraits(trait.signature):
            paths = trait.names.types_by_title.get(above.rpartition("::")[2], ())
            found = trait.names.find(paths[0]) if len(paths) == 1 else ()
            if len(found) == 1 and found[0].kind == "trait":
                yield found[0]

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

    def suggest(
        self,
        owner: Found,
        name: str,
        *,
        most: int = MOST,
        call: Call | None = None,
        brought: Sequence[Found] = (),
    ) -> tuple[str, ...]:
        """Return paths of the members of a type that come near a name.

        Args:
            owner: the type.
            name: that it has not.
            most: how many at most.
            call: how it is called, if it is.
            brought: methods of traits that the code imports.
        """
        brought = [each for each in brought if _may_have(owner, each.parent)]
        own = [each.path for each in brought]
        others: list[str] = []
        told = {each.path: each.summary for each in brought}
        there = {each.path: each for each in brought}
        for each in self._deref_chain(owner):
            if each is not None:
                members = each.names.members(each.path)
                own += [member.path for member in members if member.recommended]
                told |= {member.path: member.summary for member in members}
                there |= {member.path: member for member in members}
                own += each.names.aliases_below(each.path)
                for trait in each.names.traits(each.path):
                    brought = self._members_of(trait, each.names)
                    own += [member.path for member in brought if member.recommended]
                    told |= {member.path: member.summary for member in brought}
                    there |= {member.path: member for member in brought}
                traits = {path.rpartition("::")[2] for path in each.names.traits(each.path)}
                if "Iterator" in traits:
                    members = standard().members("std::iter::Iterator")
                    others += [member.path for member in members if member.recommended]
        # What is not imported may bring any name to a type of Rust's own.
        few = not is_standard(owner.path)

        def fits(path: str) -> float:
            return call.fits(there[path]) if call is not None and path in there else 0.0

        return nearest(
            name,
            [*own, *others],
            summaries=told,
            most=most,
            filled=few,
            owner=owner.path,
            fits=fits,
        )

    def _members_of(self, trait: str, names: CrateNames) -> list[Found]:
        """Return the methods of a crate's trait, which somebody may import."""
        first = trait.partition("::")[0]
        there = names if first == names.root else None
        if there is None and not is_standard(trait) and first in _COMMON_TRAITS:
            there = self._crates.crate(first)
        found = there.find(trait) if there is not None and there.root != "std" else ()
        return there.members(found[0].path) if there is not None and len(found) == 1 else []

    def _deref_chain(self, owner: Found) -> Iterator[Found | None]:
        """Yield a type and what it dereferences to; None ends it where that is not known.

        What it leads to by its arguments, as a matrix does by its size, comes one after another.
        """
        seen = {owner.path}
        pending: list[tuple[Found | None, int]] = [(owner, 0)]
        while pending:
            here, depth = pending.pop(0)
            yield here
            targets = here.names.derefs(here.path) if here is not None else []
            if here is None:
                return
            if not targets and _leads_elsewhere(here):
                yield None
                return
            for each in targets:
                target = self._type(each, here) if depth < _MOST_DEREFS else None
                if target is None or target.path not in seen:
                    pending.append((target, depth + 1))
                    seen.add(target.path if target is not None else "")

    def _type(self, path: str, owner: Found) -> Found | None:
        """Return the type that another one dereferences to."""
        if path.startswith("["):
            path = ARRAY if ";" in path else SLICE
        first = path.partition("::")[0]
        names: CrateNames | None = standard() if is_standard(path) else owner.names
        if names is not None and first != names.root and "::" in path and not is_standard(path):
            names = self._crates.behind(owner.names, first)
        found = [each for each in names.find(path) if each.kind in TYPES] if names else []
        return found[0] if len(found) == 1 else None


def _leads_elsewhere(owner: Found) -> bool:
    """Tell whether a crate's type dereferences to what the tables do not tell."""
    traits = () if is_standard(owner.path) else owner.names.traits(owner.path)
    return any(each.endswith("ops::Deref") for each in traits)


def _of_standard(trait: str, name: str) -> list[Found]:
    """Return the method of a trait of the library that is not in the prelude, if it is certain."""
    last = trait.rpartition("::")[2]
    if last in PRELUDE or name not in std_traits().get(last, ()):
        return []
    paths = standard().types_by_title.get(last, ())
    found = standard().find(f"{paths[0]}::{name}") if len(paths) == 1 else ()
    return [each for each in found if each.kind == "method"]


def _may_have(owner: Found, trait: str) -> bool:
    """Return whether a type may have a trait: ``StreamExt`` only where it is a ``Stream``."""
    has = set(owner.names.traits(owner.path))
    if trait in has or is_standard(owner.path):
        return True
    # A crate that brings some of its traits to the type brings all of those that it has.
    if trait.partition("::")[0] in {each.partition("::")[0] for each in has}:
        return False
    last = trait.rpartition("::")[2]
    base = last.removesuffix("Ext")
    names = {each.rpartition("::")[2] for each in has}
    return base == last or not names.isdisjoint({base, base.removeprefix("Try")})


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
