"""What the values of a type have: the results of evaluating types."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from docstow.languages.typescript.names import Namespace
from docstow.languages.typescript.source.model import Member, Signature, Type


@dataclass(frozen=True, slots=True, eq=False)
class Context:
    """Where a type is written.

    Attributes:
        namespace: where its names are looked up.
        bindings: what type parameters stand for.
        this: the receiver.
    """

    namespace: Namespace
    bindings: Mapping[str, Deferred] = field(default_factory=dict)
    this: Deferred | None = None


@dataclass(slots=True, eq=False)
class Deferred:
    """A type in its context, evaluated on demand; or, without these, shapes."""

    type: Type | None = None
    context: Context | None = None
    shapes: tuple[Shape, ...] = ()


@dataclass(slots=True, eq=False)
class Shape:
    """One of the shapes that a value may have.

    Attributes:
        name: of the type; empty where it has none.
        home: the package that declares it.
        fields: members by name, overloads as several.
        namespaces: modules and namespaces whose exports it has as well.
        constants: names of members of which nothing else is known, as of an enumeration.
        calls: ways to call it.
        constructors: ways to call it by ``new``, with the instance if it is a class.
        certain: whether these are all members.
        shared: whether any package may add members, since it is global.
        basic: of ``string``, ``number`` ..., which.
        literal: the one value that it has.
        items: of an array the type of its members; of a tuple the types, one by one.
        fixed: whether it is a tuple.
        promised: what awaiting it gives.
        everything: whether it has all that is global.
    """

    name: str = ""
    home: str = ""
    fields: dict[str, list[tuple[Member, Context]]] = field(default_factory=dict)
    namespaces: list[Namespace] = field(default_factory=list)
    constants: frozenset[str] = frozenset()
    calls: list[tuple[Signature, Context]] = field(default_factory=list)
    constructors: list[tuple[Signature, Context, Deferred | None]] = field(default_factory=list)
    certain: bool = True
    shared: bool = False
    basic: str = ""
    literal: str | None = None
    items: tuple[Deferred, ...] | None = None
    fixed: bool = False
    promised: Deferred | None = None
    everything: bool = False

    def merge(self, other: Shape) -> Shape:
        """Return both at once: an intersection, merged declarations, or what is inherited."""
        fields = dict(other.fields)
        for name, found in self.fields.items():
            seen = {id(each) for each, _ in found}
            more = [each for each in fields.get(name, ()) if id(each[0]) not in seen]
            fields[name] = found + more
        return Shape(
            self.name or other.name,
            self.home or other.home,
            fields,
            self.namespaces + other.namespaces,
            self.constants | other.constants,
            self.calls + other.calls,
            self.constructors + other.constructors,
            self.certain and other.certain,
            self.shared or other.shared,
            self.basic or other.basic,
            self.literal if self.literal is not None else other.literal,
            self.items if self.items is not None else other.items,
            self.fixed or other.fixed,
            self.promised or other.promised,
            self.everything or other.everything,
        )


#: The shapes that a value may have; none of ``void``, ``undefined`` and ``null``.
Shapes = tuple[Shape, ...]
UNKNOWN: Shapes = (Shape(certain=False),)


def is_unknown(shapes: Shapes) -> bool:
    """Whether nothing at all is known."""
    return all(
        not each.certain and not each.fields and not each.calls and not each.namespaces
        for each in shapes
    )
