"""The syntax of Rust signatures as trees, nothing left out: lifetimes, modules, modifiers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple


class Kind:
    """The kinds of nodes; what ``name`` and ``args`` of such a node hold."""

    #: ``a::b::C<args>``; the name is the whole path.
    PATH: Final = "path"
    #: ``Fn(A) -> B``: the name, the tuple of inputs and the output.
    CALL: Final = "call"
    #: ``Vec<T>::Item<args>``: the last name, the type before it and the arguments.
    MEMBER: Final = "member"
    #: ``<T as Trait>::Name<args>``: the whole without the last arguments and without spaces; T,
    #: Trait (``!`` where there is none) and the last arguments.
    QUALIFIED: Final = "qualified"
    #: ``&'a T``: ``&`` or ``&mut``, T and the lifetimes.
    REFERENCE: Final = "reference"
    #: ``*const T``: ``*const`` or ``*mut``, and T.
    POINTER: Final = "pointer"
    SLICE: Final = "slice"
    #: ``[T; N]``: T and an expression.
    ARRAY: Final = "array"
    TUPLE: Final = "tuple"
    NEVER: Final = "never"
    #: ``_``, or ``…`` where a type was cut.
    WILDCARD: Final = "wildcard"
    #: ``impl A + B`` and ``dyn A + B``: the bounds.
    IMPL: Final = "impl"
    DYN: Final = "dyn"
    #: ``unsafe fn(A) -> B``: the qualifiers, the tuple of inputs and the output.
    FUNCTION: Final = "function"
    #: ``for<'a> T``: the lifetimes as text, and T.
    FOR: Final = "for"
    #: ``?Trait``, ``[const] Trait``, ``async Trait``: the modifier with its space, and Trait.
    MODIFIED: Final = "modified"
    LIFETIME: Final = "lifetime"
    #: ``use<'a, T>``: lifetimes and paths.
    USE: Final = "use"
    #: ``Item = T`` and ``Item: A + B`` among a trait's arguments.
    EQUALITY: Final = "equality"
    CONSTRAINT: Final = "constraint"
    #: Tokens that are no type: the name has them joined, the arguments one by one.
    EXPRESSION: Final = "expression"
    #: ``pattern: T`` and ``...`` among inputs.
    ARGUMENT: Final = "argument"
    VARIADIC: Final = "variadic"
    #: ``self``, ``mut self``, ``&'a mut self``: the name is ``""``, ``&`` or ``&mut``; lifetimes.
    RECEIVER: Final = "receiver"


class Node(NamedTuple):
    """A type or a part of one; :class:`Kind` says what its members hold."""

    kind: str
    name: str = ""
    args: tuple[Node, ...] = ()


UNIT = Node(Kind.TUPLE)


class Param(NamedTuple):
    """A generic parameter.

    Attributes:
        name: with the quote of a lifetime.
        bounds: None where no colon follows the name.
        default: of a type or a constant.
        type: of a constant; None for lifetimes and types.
    """

    name: str
    bounds: tuple[Node, ...] | None = None
    default: Node | None = None
    type: Node | None = None


class Predicate(NamedTuple):
    """``Type: Bounds`` of a where clause."""

    subject: Node
    bounds: tuple[Node, ...]


class Declaration(NamedTuple):
    """A declaration without its body.

    Attributes:
        keyword: ``fn``, ``struct``, ``enum``, ``union``, ``trait``, ``type``, ``const``,
            ``static`` or ``impl``.
        name: empty for ``impl`` and unnamed functions; may have a path before it.
        qualifiers: ``const``, ``unsafe``, ``async``, ``auto``, ``mut``, ``extern "C"`` and so on.
        generics: parameters in order.
        inputs: of a function.
        output: of a function, ``()`` where none is written; the type of a constant or alias; the
            target of an ``impl``.
        trait: what an ``impl`` implements.
        bounds: supertraits, or bounds of an associated type.
        where: predicates in order.
        members: functions of an ``impl`` block.
    """

    keyword: str
    name: str = ""
    qualifiers: tuple[str, ...] = ()
    generics: tuple[Param, ...] = ()
    inputs: tuple[Node, ...] = ()
    output: Node | None = None
    trait: Node | None = None
    bounds: tuple[Node, ...] = ()
    where: tuple[Predicate, ...] = ()
    members: tuple[Declaration, ...] = ()


def walk(node: Node) -> Iterator[Node]:
    """Yield the node and all nodes in it, outermost first, in the order of the text."""
    yield node
    for each in node.args:
        yield from walk(each)
