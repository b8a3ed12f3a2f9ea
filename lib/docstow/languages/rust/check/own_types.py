"""The types of the code's own functions, fields and variants, and what its types derive."""

from __future__ import annotations

from typing import TYPE_CHECKING

from docstow.languages.rust.check.annotations import Annotations
from docstow.languages.rust.check.crate_items import Found
from docstow.languages.rust.check.documented import Documented
from docstow.languages.rust.check.own_items import OwnItems, is_async
from docstow.languages.rust.check.paths import Paths
from docstow.languages.rust.check.resolver import Resolver
from docstow.languages.rust.check.scope import Segments, segments
from docstow.languages.rust.check.std import (
    DERIVES,
    PRELUDE,
    members_of_any_value,
    std_traits,
)
from docstow.languages.rust.check.types import FUTURE, OWN, Type

if TYPE_CHECKING:
    from tree_sitter import Node


class OwnTypes:
    """What the items of one piece of code are, hold and return.

    Args:
        resolver: resolves its names.
        paths: looks up its paths.
        own: the items that it declares.
        documented: reads the types of declarations.
        annotations: reads those that the code names.
    """

    def __init__(
        self,
        resolver: Resolver,
        paths: Paths,
        own: OwnItems,
        documented: Documented,
        annotations: Annotations,
    ) -> None:
        self._resolver = resolver
        self._paths = paths
        self._own = own
        self._documented = documented
        self._annotations = annotations

    def field(self, owner: Type, name: str) -> Type | None:
        """Return the type of a field of one of the code's structs."""
        kind = self._own.field(owner.name.removeprefix(OWN), name)
        return self._annotations.of(kind, 0, owner) if kind is not None else None

    def part(self, head: Node, name: str, kind: Type) -> Type | None:
        """Return the type of a field that a pattern of one of the code's types names."""
        own = self.head(head, kind)
        held = self._own.field(own, name) if own is not None else None
        return self._annotations.of(held, 0, kind) if held is not None else None

    def called(self, path: Segments, within: Type | None) -> Type | None:
        """Return the type of a call of one of the code's own functions.

        Args:
            path: as it is called.
            within: the type that ``Self`` means.
        """
        if path[0] == "Self" and within is not None and within.name.startswith(OWN):
            path = (within.name.removeprefix(OWN), *path[1:])
        if self._resolver.imports(path[0]) or len(path) > 2:
            return None
        output = self._own.returned(*path)
        owner = Type(f"{OWN}{path[0]}") if len(path) == 2 else None
        if output is None:
            derived = self.derived(path[0], path[1]) if owner is not None else None
            return self._documented.returned(derived, owner) if derived is not None else None
        kind = self._annotations.of(output, 0, owner)
        return Type(FUTURE, None, (kind,)) if is_async(output) else kind

    def returned(self, owner: Type, name: str) -> Type | None:
        """Return the type of a call of a method of one of the code's types."""
        output = self._own.returned(owner.name.removeprefix(OWN), name)
        if output is None:
            derived = self.derived(owner.name.removeprefix(OWN), name)
            return self._documented.returned(derived, owner) if derived is not None else None
        kind = self._annotations.of(output, 0, owner)
        return Type(FUTURE, None, (kind,)) if is_async(output) else kind

    def head(self, head: Node, kind: Type | None = None) -> str | None:
        """Return the type of the code, and its variant if any, that a pattern names.

        Args:
            head: what the pattern begins with.
            kind: what ``Self`` means.
        """
        path = segments(head)
        if path is None or len(path) > 2:
            return None
        if path[0] == "Self" and kind is not None:
            path = (kind.name.removeprefix(OWN), *path[1:])
        is_own = self._own.is_type(path[0]) and not self._resolver.imports(path[0])
        return "::".join(path) if is_own else None

    def derived_traits(self, owner: str) -> list[Found] | None:
        """Return the crates' traits that one of the code's types derives; None where in doubt."""
        paths = self._own.derives(owner) if self._own.is_type(owner) else None
        traits: list[Found] = []
        for path in paths or ():
            if len(path) == 1 and path[0] in DERIVES and not self._resolver.imports(path[0]):
                continue
            absolute = self._resolver.resolve(path)
            found = self._paths.look_up(absolute).found if absolute is not None else ()
            named = [each for each in found if each.kind == "trait"]
            if len(named) != 1:
                return None
            traits += named
        return traits if paths is not None else None

    def derived(self, owner: str, name: str) -> Found | None:
        """Return the function or method that one of the code's types derives."""
        traits = self.derived_traits(owner) or []
        found = [self._paths.members.trait_method(each, name) for each in traits]
        some = [each for each in found if each is not None]
        return some[0] if some and all(each == some[0] for each in some) else None

    def lacks(self, owner: str, name: str) -> bool:
        """Tell whether it is certain that one of the code's types has no member of a name.

        Only of a type that derives traits of crates: for what else it has no docs are asked.
        """
        traits = self.derived_traits(owner)
        if not traits or not self._own.is_whole or name in self._own.members(owner):
            return False
        if self._resolver.may_bring(name) or name in members_of_any_value():
            return False
        known = {each[0] for each in self._own.derives(owner) or ()}
        for node in self._own.traits(owner):
            absolute = self._resolver.resolve_node(node)
            found = self._paths.look_up(absolute).found if absolute is not None else ()
            traits += [each for each in found if each.kind == "trait"]
            last = (segments(node) or ("",))[-1]
            known.add(last)
            if last.startswith("Deref") or not (found or last in PRELUDE):
                return False
        if any(name in std_traits().get(each, ()) for each in known):
            return False
        return all(self._paths.members.trait_lacks(each, name) for each in traits)
