"""The members of Rust types, those of what they dereference to included."""

from __future__ import annotations

from collections.abc import Iterator

from docstow.languages.rust.check.crate_names import TYPES, Crates, Found, standard
from docstow.languages.rust.check.std import PRELUDE, is_standard, std_traits, universal_names
from docstow.languages.shared.findings import nearest

_MOST_DEREFS = 4
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
        if owner.kind not in TYPES or name in universal_names():
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

    def suggest(self, owner: Found, name: str) -> tuple[str, ...]:
        """Return paths of the members of a type that come near a name."""
        own: list[str] = []
        others: list[str] = []
        for each in self._deref_chain(owner):
            if each is not None:
                members = each.names.members(each.path)
                own += [member.path for member in members if member.recommended]
                own += each.names.aliases_below(each.path)
                traits = {path.rpartition("::")[2] for path in each.names.traits(each.path)}
                if "Iterator" in traits:
                    members = standard().members("std::iter::Iterator")
                    others += [member.path for member in members if member.recommended]
        return nearest(name, [*own, *others])

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
        names = standard() if is_standard(path) else owner.names
        found = [each for each in names.find(path) if each.kind in TYPES]
        return found[0] if len(found) == 1 else None


def _object_may_have(path: str, name: str) -> bool:
    """Tell whether ``dyn Trait + Other`` may have a method."""
    known = [std_traits().get(each) for each in path.removeprefix("dyn ").split(" + ")]
    return name in _OF_OBJECTS or any(members is None or name in members for members in known)
