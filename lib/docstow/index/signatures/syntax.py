"""Rust signatures as tokens and as trees, nothing left out: lifetimes, modules, modifiers.

An error carries the offset at which the text stops to make sense.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Final, NamedTuple, TypeVar

_TOKEN = re.compile(
    r"\s+|//[^\n]*|/\*.*?\*/|(->|::|==|\.\.\.?|'\w+(?!')|'(?:\\.|[^'])'"
    r'|"[^"]*"|(?:r\#)?[^\W\d]\w*|\d\w*|…|[&*\[\]()<>,;:+=!?#{}|.\-/%^~])',
    re.DOTALL,
)
OPEN, CLOSE = frozenset("(<[{"), frozenset(")>]}")

#: The token after the last one, and how many follow, so that looking ahead needs no check.
END = ""
_PADDING = 4

_Parsed = TypeVar("_Parsed")


class BadSignature(ValueError):
    """The text is no signature.

    Attributes:
        message: what is wrong.
        offset: where, in characters from 0.
    """

    def __init__(self, message: str, offset: int) -> None:
        super().__init__(f"{message} at character {offset + 1}")
        self.message = message
        self.offset = offset


class Cursor:
    """A position in the tokens of a text."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._tokens, self._offsets = _tokens(text)
        self._at = 0

    def at(self, ahead: int = 0) -> str:
        """Return the token here or further on; END beyond the last."""
        return self._tokens[self._at + ahead]

    def next(self) -> str:
        """Take the token that is here."""
        token = self.at()
        if token == END:
            raise self.error("it ends too early")
        self._at += 1
        return token

    def skip(self, *tokens: str) -> bool:
        """Take the token that is here if it is one of these; END is none of them."""
        if self._tokens[self._at] in tokens:
            self._at += 1
            return True
        return False

    def expect(self, token: str) -> None:
        """Take this token.

        Raises:
            BadSignature: another token is here.
        """
        if self.at() != token:
            wanted = f"expected {token!r}" if token else "expected the end"
            raise self.error(f"{wanted}, found {self.at() or 'the end'!r}")
        if token != END:
            self._at += 1

    def name(self) -> str:
        """Take an identifier and return it without ``r#``.

        Raises:
            BadSignature: no identifier is here.
        """
        if not is_name(self.at()):
            raise self.error(f"expected a name, found {self.at() or 'the end'!r}")
        return self.next().removeprefix("r#")

    def error(self, message: str) -> BadSignature:
        """Return the error that something is wrong here."""
        offsets = self._offsets
        return BadSignature(
            message, offsets[self._at] if self._at < len(offsets) else len(self._text)
        )

    def items(self, item: Callable[[], _Parsed], end: str) -> list[_Parsed]:
        """Take items between commas, up to and with the closing token."""
        found = []
        while self.at() != end:
            found.append(item())
            if not self.skip(","):
                break
        self.expect(end)
        return found

    def take_until(self, *ends: str) -> list[str]:
        """Take and return the tokens before the first of the ends outside of any bracket."""
        begin, depth = self._at, 0
        while self.at() != END and (depth or self.at() not in ends):
            depth += (self.at() in OPEN) - (self.at() in CLOSE)
            self._at += 1
        return self._tokens[begin : self._at]

    def after_brackets(self) -> str:
        """Return the token after the bracket that opens here is closed."""
        depth = 0
        for ahead in range(len(self._offsets) - self._at):
            token = self.at(ahead)
            depth += (token in {"(", "["}) - (token in {")", "]"})
            if depth == 0:
                return self.at(ahead + 1)
        return END


def _tokens(text: str) -> tuple[list[str], list[int]]:
    tokens, offsets, end = [], [], 0
    for found in _TOKEN.finditer(text):
        if found.start() != end:
            break
        end = found.end()
        if token := found[1]:
            tokens.append(token)
            offsets.append(found.start())
    if end != len(text):
        raise BadSignature(f"{text[end]!r} has no meaning here", end)
    return tokens + [END] * _PADDING, offsets


def is_name(word: str) -> bool:
    """Tell whether a token is an identifier."""
    return word.removeprefix("r#").isidentifier() and word != "_"


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
