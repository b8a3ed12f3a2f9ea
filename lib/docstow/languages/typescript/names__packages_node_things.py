"""What names of Node packages mean: the values that are looked up, told and merged.

This room knows the words. It looks nothing up.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from docstow.languages.typescript.files import Unit
from docstow.languages.typescript.source.model import Declaration, Scope
from docstow.languages.typescript.source.types__readers_typescript_shapes import Member

_TYPES = ("class", "interface", "type", "enum")
_VALUES = ("class", "function", "constant", "value", "enum", "namespace")


@dataclass(frozen=True, slots=True)
class Space:
    """A module or a namespace: where names are looked up.

    Attributes:
        unit: its file.
        scopes: from the file's own to the innermost.
        host: of a block that adds to a module, that module: its names are seen too.
    """

    unit: Unit
    scopes: tuple[Scope, ...]
    host: Space | None = None

    @property
    def scope(self) -> Scope:
        """Its own scope."""
        return self.scopes[-1]

    def inner(self, scope: Scope) -> Space:
        """A namespace in it."""
        return replace(self, scopes=(*self.scopes, scope))


@dataclass(frozen=True, slots=True, eq=False)
class Thing:
    """What a path means.

    Attributes:
        declared: declarations, merged by name.
        members: declarations within a class, interface or object; overloads are several.
        spaces: the modules that it is.
        unknown: whether it is there, but nothing more can be known.
    """

    declared: tuple[tuple[Space, Declaration], ...] = ()
    members: tuple[tuple[Space, Member], ...] = ()
    spaces: tuple[Space, ...] = ()
    unknown: bool = False

    def only(self, *, types: bool) -> Thing:
        """The same name in a type's place, or in a value's."""
        kinds = _TYPES if types else _VALUES
        kept = tuple(each for each in self.declared if each[1].kind in kinds)
        return replace(self, declared=kept) if kept else self

    def merged(self, other: Thing | None) -> Thing:
        """Both as one: declarations of the same name."""
        if other is None:
            return self
        known = {id(declaration) for _, declaration in self.declared}
        return Thing(
            self.declared + tuple(each for each in other.declared if id(each[1]) not in known),
            self.members + other.members,
            self.spaces + other.spaces,
            self.unknown and other.unknown,
        )


UNKNOWN = Thing(unknown=True)
