"""The types of TypeScript as they are written: one data model, type parameters kept.

What a name refers to is left to whoever has the file. Members are read on demand, so that a large
interface costs what is used of it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal, NamedTuple

from docstow.languages.typescript.source.model import Span

#: Types without members.
EMPTY_TYPES = frozenset({"void", "undefined", "null", "never"})


@dataclass(frozen=True, slots=True, eq=False)
class Opaque:
    """A type of which nothing is known: ``any``, or an operator that is not evaluated."""


@dataclass(frozen=True, slots=True, eq=False)
class Primitive:
    """A type of the language itself: ``string``, ``void``, ``object``."""

    name: str


@dataclass(frozen=True, slots=True, eq=False)
class LiteralType:
    """One value of ``string``, ``number`` or ``boolean``, as it is written."""

    primitive: str
    value: str


@dataclass(frozen=True, slots=True, eq=False)
class TypeReference:
    """A type by name.

    Attributes:
        path: the names that lead to it; empty for a whole module.
        arguments: type arguments.
        module: the specifier of ``import("x")``; empty for a name of the file.
        value: ``typeof``: the type of that value; None where a class is extended, which is both.
        parameter: whether it is a type parameter of the declaration.
    """

    path: tuple[str, ...]
    arguments: tuple[Type, ...] = ()
    module: str = ""
    value: bool | None = False
    parameter: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Union:
    """``A | B``."""

    parts: tuple[Type, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Intersection:
    """``A & B``."""

    parts: tuple[Type, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Conditional:
    """``checked extends bound ? then : otherwise``."""

    checked: Type
    bound: Type
    then: Type
    otherwise: Type


@dataclass(frozen=True, slots=True, eq=False)
class MappedType:
    """``{ [K in keyof T]: … }``: an object with the names that another type has.

    Attributes:
        source: the other type; None where the keys are written one by one.
        keys: the type of the keys in that case.
        homomorphic: whether the members keep their types.
    """

    source: Type | None
    keys: Type | None
    homomorphic: bool


@dataclass(frozen=True, slots=True, eq=False)
class ArrayType:
    """An array of one type or, ``fixed``, a tuple."""

    items: tuple[Type, ...]
    fixed: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class IndexedAccess:
    """``T["key"]``."""

    target: Type
    key: str


@dataclass(frozen=True, slots=True, eq=False)
class ThisType:
    """The receiver."""


@dataclass(frozen=True, slots=True, eq=False)
class TypeParameter:
    """``T extends constraint = default``."""

    name: str
    constraint: Type | None
    default: Type | None


@dataclass(frozen=True, slots=True, eq=False)
class Parameter:
    """A parameter of a signature.

    Attributes:
        name: as written; ``argument0`` where it is a pattern.
        type: its annotation.
        required: whether it is written as required.
        rest: whether it takes all further arguments.
        mentions: the names in its type.
        omittable: whether it may be left out by its type, which includes ``void`` or an unbounded
            type parameter.
    """

    name: str
    type: Type
    required: bool
    rest: bool
    mentions: frozenset[str]
    omittable: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Signature:
    """One way to call something; overloads are several.

    Attributes:
        type_parameters: its own.
        parameters: as written, without ``this``.
        result: the returned type.
        positions: the parameters, with a rest parameter of a tuple type replaced by its items.
    """

    type_parameters: tuple[TypeParameter, ...]
    parameters: tuple[Parameter, ...]
    result: Type
    positions: tuple[Parameter, ...]


@dataclass(slots=True, eq=False)
class ObjectType:
    """An object or function type, a class, an interface, an enumeration or an object literal.

    Attributes:
        form: how it is written; ``literal`` is an expression, whose member types are not declared.
        members: by name, overloads as several.
        calls: ways to call it.
        constructors: ways to call it by ``new``.
        bases: types whose members it has as well.
        open: whether there may be members that are not seen.
        index_keys: types of the keys of its index signatures, as written.
        computed: constants that name members; those that are symbols name none.
    """

    form: Literal["type", "class", "interface", "enum", "literal"] = "type"
    members: dict[str, list[Member]] = field(default_factory=dict)
    calls: list[Signature] = field(default_factory=list)
    constructors: list[Signature] = field(default_factory=list)
    bases: list[Type] = field(default_factory=list)
    open: bool = False
    index_keys: list[str] = field(default_factory=list)
    computed: list[str] = field(default_factory=list)

    def add(self, member: Member) -> None:
        """Add a member to those of its name."""
        self.members.setdefault(member.name, []).append(member)


Type = (
    Opaque
    | Primitive
    | LiteralType
    | TypeReference
    | Union
    | Intersection
    | Conditional
    | MappedType
    | ArrayType
    | IndexedAccess
    | ThisType
    | ObjectType
)
OPAQUE = Opaque()
MemberKind = Literal["method", "property", "constant"]


class MemberText(NamedTuple):
    """How a member is written.

    Attributes:
        span: its declaration.
        doc: the documentation comment before it; empty without one.
        signature: the declaration on one line, without a body.
    """

    span: Span
    doc: str
    signature: str


@dataclass(eq=False)
class Member:
    """A member of an object type.

    Attributes:
        name: as it is written after a dot.
        kind: ``constant`` is one of an enumeration.
        static: whether it belongs to the class itself.
        hidden: whether it is private: not to be used, yet there.
        read_text: reads how it is written.
        read_type: reads its type; None where that is not declared.
    """

    name: str
    kind: MemberKind
    static: bool
    hidden: bool
    read_text: Callable[[], MemberText]
    read_type: Callable[[], Type] | None

    @cached_property
    def text(self) -> MemberText:
        """How it is written."""
        return self.read_text()

    @cached_property
    def type(self) -> Type:
        """Its type; of a method a function's."""
        try:
            return OPAQUE if self.read_type is None else self.read_type()
        except RecursionError:
            return OPAQUE
