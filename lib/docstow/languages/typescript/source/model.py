"""What is read from TypeScript and JavaScript: the names of a file, and types.

Places are bytes of the file, so that a declaration is read in detail only on demand.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal, NamedTuple

from docstow.core.errors import UnreadableInput

DeclarationKind = Literal[
    "class", "interface", "function", "constant", "type", "enum", "namespace", "value"
]
#: The local name of what ``export default`` gives no name.
DEFAULT = "*default*"
#: Types without members.
EMPTY_TYPES = frozenset({"void", "undefined", "null", "never"})


@dataclass(frozen=True, slots=True)
class Span:
    """Bytes ``start`` to ``end`` of a file, and their lines, from 1."""

    start: int
    end: int
    line: int
    end_line: int


@dataclass(frozen=True, slots=True, eq=False)
class Declaration:
    """One declaration of a name; a name may have several, which are merged.

    Attributes:
        name: local; :data:`DEFAULT` where there is none.
        kind: ``value`` is an expression, exported as it is.
        span: the whole statement.
        doc: the documentation comment before it, as written; empty without one.
        scope: what a namespace holds.
    """

    name: str
    kind: DeclarationKind
    span: Span
    doc: str = ""
    scope: Scope | None = None


@dataclass(frozen=True, slots=True)
class Reference:
    """A name that stands for another one.

    Attributes:
        module: the specifier of the other module; empty for a name of this file.
        path: the names that lead to it; empty for the module itself.
        whole: ``import x = require()`` or ``module.exports = require()``: what the module *is*,
            where ``export =`` makes that something else than its namespace.
    """

    module: str
    path: tuple[str, ...] = ()
    whole: bool = False


@dataclass(slots=True, eq=False)
class Scope:
    """The names of a file, a namespace or an ambient module.

    Attributes:
        names: declarations by local name.
        imports: what imported and aliased names stand for.
        exports: what exported names stand for.
        stars: specifiers of ``export * from``.
        equals: what the module is as a whole: ``export =``, ``module.exports =``; in JavaScript
            there may be several, one of which is assigned when it runs.
        unexported: names of what is exported as the default alone.
        explicit: whether only what is exported by name is visible from outside.
        dynamic: whether there may be exports that are not seen: broken syntax, computed names.
    """

    names: dict[str, list[Declaration]] = field(default_factory=dict)
    imports: dict[str, Reference] = field(default_factory=dict)
    exports: dict[str, Reference] = field(default_factory=dict)
    stars: list[str] = field(default_factory=list)
    equals: list[Reference] = field(default_factory=list)
    unexported: set[str] = field(default_factory=set)
    explicit: bool = False
    dynamic: bool = False

    def declare(self, declaration: Declaration) -> None:
        """Add a declaration to those of its name."""
        self.names.setdefault(declaration.name, []).append(declaration)


@dataclass(slots=True, eq=False)
class Source:
    """One file.

    Attributes:
        body: its bytes.
        script: whether it is JavaScript, whose types nothing declares.
        scope: the names of the file itself.
        ambient: what ``declare module "x"`` holds, by specifier; one that is declared without a
            body may hold anything.
        ambient_globals: what ``declare global`` holds.
        module: whether it imports or exports anything; the others declare globals.
        assigned: in JavaScript, members that are assigned to a local name, by that and their own.
        bundle: whether it is JavaScript that is too large for its assignments to be followed.
    """

    body: bytes
    script: bool
    scope: Scope
    ambient: dict[str, Scope] = field(default_factory=dict)
    ambient_globals: Scope = field(default_factory=Scope)
    module: bool = False
    assigned: dict[str, dict[str, AssignedMember]] = field(default_factory=dict)
    bundle: bool = False


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
class KeyOf:
    """``keyof T``: the names of the members of a type."""

    target: Type


@dataclass(frozen=True, slots=True, eq=False)
class TypeReference:
    """A type by name.

    Attributes:
        path: the names that lead to it; empty for a whole module.
        arguments: type arguments.
        module: the specifier of ``import("x")``; empty for a name of the file.
        value: ``typeof``: the type of that value; None where a class is extended, which is both.
        parameter: whether it is a type parameter of the declaration.
        span: where it is written, if it has type arguments.
        texts: the type arguments as they are written.
    """

    path: tuple[str, ...]
    arguments: tuple[Type, ...] = ()
    module: str = ""
    value: bool | None = False
    parameter: bool = False
    span: Span | None = None
    texts: tuple[str, ...] = ()


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
    """``A extends B ? then : otherwise``."""

    then: Type
    otherwise: Type


@dataclass(frozen=True, slots=True, eq=False)
class MappedType:
    """``{ [K in keyof T]: … }``: an object with the names that another type has.

    Attributes:
        source: the other type; None where the keys are written one by one.
        keys: the type of the keys in that case.
        homomorphic: whether the members keep their types.
        of: the type whose members' types they have: ``T`` of ``{ [P in K]: T[P] }``.
        value: the type of each member, where it is written.
        span: where it is written.
    """

    source: Type | None
    keys: Type | None
    homomorphic: bool
    of: Type | None = None
    value: WrittenType | None = None
    span: Span | None = None


@dataclass(frozen=True, slots=True, eq=False)
class WrittenType:
    """A type, and how it is written behind a name: ``?: string``."""

    type: Type
    text: str


@dataclass(frozen=True, slots=True, eq=False)
class ArrayType:
    """An array of one type, or a tuple."""

    items: tuple[Type, ...]


@dataclass(frozen=True, slots=True, eq=False)
class IndexedAccess:
    """``T["key"]``."""

    target: Type
    key: str


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
        omittable: whether it may be left out by its type, which includes ``void`` or an unbounded
            type parameter.
    """

    name: str
    type: Type
    required: bool
    rest: bool
    omittable: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Signature:
    """One way to call something; overloads are several.

    Attributes:
        parameters: as written, without ``this``.
    """

    parameters: tuple[Parameter, ...]


@dataclass(slots=True, eq=False)
class ObjectType:
    """An object or function type, a class, an interface, an enumeration or an object literal.

    Attributes:
        members: by name, overloads as several.
        calls: ways to call it.
        constructors: ways to call it by ``new``.
        bases: types whose members it has as well.
        implements: interfaces that a class implements, whose documentation it inherits.
        open: whether there may be members that are not seen: broken syntax, index signatures,
            computed names.
    """

    members: dict[str, list[Member]] = field(default_factory=dict)
    calls: list[Signature] = field(default_factory=list)
    constructors: list[Signature] = field(default_factory=list)
    bases: list[Type] = field(default_factory=list)
    implements: list[Type] = field(default_factory=list)
    open: bool = False

    def add(self, member: Member) -> None:
        """Add a member to those of its name."""
        self.members.setdefault(member.name, []).append(member)


Type = (
    Opaque
    | Primitive
    | LiteralType
    | KeyOf
    | TypeReference
    | Union
    | Intersection
    | Conditional
    | MappedType
    | ArrayType
    | IndexedAccess
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
        except (RecursionError, UnreadableInput):
            return OPAQUE


@dataclass(frozen=True, slots=True, eq=False)
class AssignedMember:
    """A member that JavaScript assigns: ``Client.prototype.send = function () {}``.

    Attributes:
        name: as it is written after a dot.
        kind: of member.
        static: whether it belongs to the class or function itself.
        span: the assignment.
        doc: the documentation comment before it; empty without one.
        signature: as it is called.
    """

    name: str
    kind: MemberKind
    static: bool
    span: Span
    doc: str
    signature: str

    def as_member(self) -> Member:
        """Return it as a member of a class."""
        text = MemberText(self.span, self.doc, self.signature)
        return Member(
            self.name, self.kind, self.static, hidden=False, read_text=lambda: text, read_type=None
        )
