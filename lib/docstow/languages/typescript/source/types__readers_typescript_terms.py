"""What type expressions of TypeScript say: the terms in which types are worked out.

This room knows the words, of which type parameters are some. It reads nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

#: Words for nothing at all, which a member is never asked of.
NOTHING = frozenset({"void", "undefined", "null", "never"})


@dataclass(frozen=True, slots=True, eq=False)
class Unclear:
    """A type of which nothing is known: ``any``, mapped, an operator."""


@dataclass(frozen=True, slots=True, eq=False)
class Basic:
    """A type of the language itself: ``string``, ``void``, ``object``."""

    name: str


@dataclass(frozen=True, slots=True, eq=False)
class Literal:
    """One value: of ``string``, ``number`` or ``boolean``, as it is written."""

    of: str
    value: str


@dataclass(frozen=True, slots=True, eq=False)
class Ref:
    """A type by name.

    Attributes:
        path: the names that lead to it; empty for a whole module.
        args: type arguments.
        module: of ``import("x")``.
        value: ``typeof``: the type of that value.
    """

    path: tuple[str, ...]
    args: tuple[Term, ...] = ()
    module: str = ""
    value: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Either:
    """One of several: a union."""

    parts: tuple[Term, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Choice:
    """``what extends wanted ? yes : no``."""

    what: Term
    wanted: Term
    yes: Term
    no: Term


@dataclass(frozen=True, slots=True, eq=False)
class Both:
    """All of several: an intersection."""

    parts: tuple[Term, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Mapped:
    """``{ [K in keyof T]: … }``: it has the names that another type has.

    Attributes:
        of: the other type; None where the keys are written one by one.
        keys: they.
        same: whether the members keep their types.
    """

    of: Term | None
    keys: Term | None
    same: bool


@dataclass(frozen=True, slots=True, eq=False)
class Row:
    """An array of one type or, ``fixed``, a tuple."""

    items: tuple[Term, ...]
    fixed: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Lookup:
    """``T["key"]``."""

    of: Term
    key: str


@dataclass(frozen=True, slots=True, eq=False)
class This:
    """The receiver."""


@dataclass(frozen=True, slots=True, eq=False)
class Generic:
    """A type parameter."""

    name: str
    bound: Term | None
    default: Term | None


@dataclass(frozen=True, slots=True, eq=False)
class Taken:
    """A parameter of a call; ``named`` are the types that it speaks of."""

    name: str
    term: Term
    required: bool
    rest: bool
    named: frozenset[str]


@dataclass(frozen=True, slots=True, eq=False)
class Call:
    """One way to call something.

    Attributes:
        generics: its own type parameters.
        takes: parameters without ``this``.
        gives: the returned type.
    """

    generics: tuple[Generic, ...]
    takes: tuple[Taken, ...]
    gives: Term


@dataclass(slots=True, eq=False)
class Field:
    """A member; ``term`` reads its type when it is asked for."""

    term: Callable[[], Term]
    static: bool


@dataclass(slots=True, eq=False)
class Body:
    """What stands between the braces of an object type, an interface or a class.

    Attributes:
        fields: members by name, overloads as several.
        calls: ways to call it.
        news: ways to make one by ``new``.
        open: there may be members that are not seen.
        keyed: constants that name members; those that are symbols name none.
    """

    fields: dict[str, list[Field]] = field(default_factory=dict)
    calls: list[Call] = field(default_factory=list)
    news: list[Call] = field(default_factory=list)
    open: bool = False
    keyed: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True, eq=False)
class Record:
    """An object or function type."""

    body: Body


Term = (
    Unclear | Basic | Literal | Ref | Either | Both | Choice | Mapped | Row | Lookup | This | Record
)
UNCLEAR = Unclear()
