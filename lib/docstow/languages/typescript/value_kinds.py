"""What a value of a Node package's types is: the words in which types are worked out.

This room knows the words. It works nothing out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from docstow.languages.typescript.names import Space
from docstow.languages.typescript.source.types import Member, Signature, Type


@dataclass(frozen=True, slots=True, eq=False)
class Setting:
    """Where a term is written.

    Attributes:
        space: whose names it speaks of.
        generics: what type parameters stand for.
        this: the receiver.
    """

    space: Space
    generics: Mapping[str, Held] = field(default_factory=dict)
    this: Held | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Held:
    """A term in its setting; or kinds that are worked out already."""

    term: Type | None
    setting: Setting | None
    kinds: tuple[Kind, ...] = ()


@dataclass(slots=True, eq=False)
class Kind:
    """One of the types that a value may have.

    Attributes:
        name: of the type; empty where it has none.
        home: the package that declares it.
        fields: members by name, overloads as several.
        spaces: modules and namespaces whose exports it has as well.
        constants: of an enumeration.
        calls: ways to call it.
        news: ways to make one by ``new``, with the type that is made, if it is a class.
        certain: whether these are all members.
        shared: whether any package may add members, since it is global.
        basic: of ``string``, ``number`` ..., which.
        literal: the one value that it has.
        items: of an array the type of its members; of a tuple the types, one by one.
        fixed: it is a tuple.
        promised: what awaiting it gives.
        everything: whether it has all that is global.
    """

    name: str = ""
    home: str = ""
    fields: dict[str, list[tuple[Member, Setting]]] = field(default_factory=dict)
    spaces: list[Space] = field(default_factory=list)
    constants: frozenset[str] = frozenset()
    calls: list[tuple[Signature, Setting]] = field(default_factory=list)
    news: list[tuple[Signature, Setting, Held | None]] = field(default_factory=list)
    certain: bool = True
    shared: bool = False
    basic: str = ""
    literal: str | None = None
    items: tuple[Held, ...] | None = None
    fixed: bool = False
    promised: Held | None = None
    everything: bool = False

    def joined(self, other: Kind) -> Kind:
        """Both at once: an intersection, merged declarations, or what is inherited."""
        fields = dict(other.fields)
        for name, found in self.fields.items():
            known = {id(each) for each, _ in found}
            more = [each for each in fields.get(name, ()) if id(each[0]) not in known]
            fields[name] = found + more
        return Kind(
            self.name or other.name,
            self.home or other.home,
            fields,
            self.spaces + other.spaces,
            self.constants | other.constants,
            self.calls + other.calls,
            self.news + other.news,
            self.certain and other.certain,
            self.shared or other.shared,
            self.basic or other.basic,
            self.literal if self.literal is not None else other.literal,
            self.items if self.items is not None else other.items,
            self.fixed or other.fixed,
            self.promised or other.promised,
            self.everything or other.everything,
        )


Kinds = tuple[Kind, ...]
UNKNOWN: Kinds = (Kind(certain=False),)


def is_unknown(kinds: Sequence[Kind]) -> bool:
    """Whether nothing at all is known."""
    return all(
        not each.certain and not each.fields and not each.calls and not each.spaces
        for each in kinds
    )
