"""What a type of TypeScript shows: members, calls, and names of other types.

This room knows the words. It reads nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from docstow.languages.typescript.source.model import Span


@dataclass(frozen=True, slots=True)
class Argument:
    """A parameter of a call."""

    name: str
    required: bool
    rest: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Opaque:
    """A type of which nothing is certain: ``any``, mapped, conditional, a type parameter."""


@dataclass(frozen=True, slots=True, eq=False)
class Named:
    """A type by name.

    Attributes:
        path: the names that lead to it; may be empty for a whole module.
        module: of ``import("x")``; empty for a name of the file.
        value: ``typeof``: the type of that value; None where a class is extended, which is both.
    """

    path: tuple[str, ...]
    module: str = ""
    value: bool | None = False


@dataclass(frozen=True, slots=True, eq=False)
class Member:
    """A member of a class, interface or object type; overloads are members of the same name.

    Attributes:
        name: as it is written after a dot.
        kind: ``method``, ``property``, or ``constant`` of an enumeration.
        span: where it is declared.
        doc: its documentation comment.
        signature: as written, without a body.
        type: of a property; None where nothing says it.
        call: of a method.
        hidden: private: not to be used, yet there.
        static: of the class itself.
    """

    name: str
    kind: Literal["method", "property", "constant"]
    span: Span
    doc: str
    signature: str
    type: Type | None = None
    call: tuple[Argument, ...] | None = None
    hidden: bool = False
    static: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Shape:
    """Members and calls.

    Attributes:
        members: in the order written.
        calls: what it takes when it is called, one for each overload.
        constructs: the same of ``new``.
        bases: types whose members it has as well.
        certain: whether these are all members.
    """

    members: tuple[Member, ...] = ()
    calls: tuple[tuple[Argument, ...], ...] = ()
    constructs: tuple[tuple[Argument, ...], ...] = ()
    bases: tuple[Type, ...] = ()
    certain: bool = True


@dataclass(frozen=True, slots=True, eq=False)
class Parts:
    """An intersection or (``either``) a union of types."""

    parts: tuple[Type, ...]
    either: bool


Type = Opaque | Named | Shape | Parts
OPAQUE = Opaque()
NOTHING = Shape()
