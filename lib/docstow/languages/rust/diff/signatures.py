"""Signatures in a canonical form, in which two are equal exactly if users see no change.

Layout, modules, names of arguments and generic parameters, where bounds are written, and ``impl
Trait`` against a generic parameter make no difference. Old formats of rustdoc JSON write out the
default arguments of the standard library's types, so these are left out as well.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from docstow.index.signatures.parser import Parser, parse_declaration
from docstow.index.signatures.syntax import (
    END,
    UNIT,
    BadSignature,
    Declaration,
    Kind,
    Node,
    Param,
    walk,
)

_OPEN, _CLOSE = "<([{", ">)]}"
_WITH_BODY = re.compile(r"pub .*?(?:struct|enum|union|trait) ")
_CONSTANT = re.compile(r"(?:pub )?(?:unsafe )?(?:const|static) (?:mut )?\w+:")
_MODULES = re.compile(r"(?<![\w:>])(?:[a-z_]\w*::)+(?=[A-Za-z_])")
#: Bounds beside which ``?Sized`` says nothing.
_SIZED = frozenset({"Sized", "Default", "Clone", "Copy"})
Bounds = tuple[tuple[str, frozenset[str]], ...]
#: Last arguments that may be left out; ``Result<T>`` has the ``Error`` of most crates.
_DEFAULTS = ("Global", "RandomState", "Error")
#: Arguments that are mere parameters: ``Owner<T, K1>`` is the same as ``Self``.
_PARAMETER = re.compile(r"[A-Z][A-Z0-9]?")
#: What ``U: From<T>`` means for T.
_CONVERSIONS = {"From": "Into", "TryFrom": "TryInto"}


@dataclass(frozen=True, slots=True)
class Parameter:
    """A generic parameter; ``kind`` is ``lifetime``, ``type`` or ``const`` with its type."""

    kind: str
    default: str = ""


@dataclass(frozen=True, slots=True)
class Header:
    """A declaration; generic parameters are numbered as they first appear: ``$0``.

    Attributes:
        keyword: ``fn``, ``struct``, ``impl`` and so on; empty if the text could not be parsed.
        words: qualifiers such as ``const``, ``unsafe``, ``extern "C"``, ``mut``.
        params: as declared, without those that stand for ``impl Trait``.
        bounds: every bounded type with its bounds, wherever they were written.
        inputs: types of the arguments, receivers in their short form.
        output: of a function; else what is declared: a type, or a trait with its type.
        value: of a constant.
        supers: supertraits, or bounds of an associated type.
        implicit: how many arguments are ``impl Trait``.
    """

    keyword: str
    words: frozenset[str] = frozenset()
    params: tuple[Parameter, ...] = ()
    bounds: Bounds = ()
    inputs: tuple[str, ...] = ()
    output: str = ""
    value: str = ""
    supers: frozenset[str] = frozenset()
    implicit: int = 0


@dataclass(frozen=True, slots=True)
class Block:
    """The header of an inherent ``impl`` block, its parameters under their own names."""

    params: frozenset[str]
    arguments: tuple[str, ...]
    bounds: Bounds


def parse_header(signature: str, owner: str = "", *, lifetimes: bool = False) -> Header:
    """Parse one declaration.

    Args:
        signature: as the reader writes it.
        owner: name of the type that it is a member of, which is the same as ``Self``.
        lifetimes: keep lifetimes; else they are left out, except ``'static``.
    """
    text, value = brief(signature), ""
    if _CONSTANT.match(text) and (at := find(text, " = ")) >= 0:
        text, value = text[:at], _MODULES.sub("", text[at + 3 :].rstrip(";"))
    try:
        declared = parse_declaration(text)
    except BadSignature:
        return Header("", output=text)
    if declared.keyword == "impl" and declared.trait is None:
        return Header("", output=text)
    return _header(declared, _Writer(owner, lifetimes=lifetimes), "" if value == "_" else value)


def parse_block(header: str, owner: str = "") -> Block:
    """Parse the header of an inherent ``impl`` block.

    Args:
        header: ``impl<T: Bound> Owner<T>``.
        owner: name of the type.
    """
    try:
        declared = parse_declaration(" ".join(header.split()))
    except BadSignature:
        return Block(frozenset(), (header,), ())
    target = declared.output or UNIT
    return Block(
        frozenset(each.name for each in declared.generics),
        tuple(_Writer("").texts(target.args)) if target.kind == Kind.PATH else (),
        _bounds(declared, (), _Writer(owner)),
    )


def brief(signature: str) -> str:
    """Return a signature on one line, without the body that lists members."""
    text = " ".join(signature.split())
    body = find(text, " {") if _WITH_BODY.match(text) else -1
    return text[:body] if body >= 0 else text


def shape(signature: str) -> tuple[str, bool]:
    """Return how a struct is built and whether it has private parts.

    It is built as ``unit``, ``tuple`` or ``braces``.
    """
    opening = find(signature, "{")
    if opening >= 0:
        body = signature[opening:]
        return "braces", "fields are private" in body or "/* private fields */" in body
    opening = find(signature, "(")
    if opening < 0:
        return "unit", False
    inside = signature[opening + 1 : _closing(signature, opening)]
    # Old formats show nothing where all is private.
    return "tuple", not inside or "private" in inside or "_" in split(inside)


def split(text: str, separator: str = ",") -> list[str]:
    """Split a list at separators outside all brackets."""
    parts, begin = [], 0
    for at in _outside(text):
        if text.startswith(separator, at):
            parts.append(text[begin:at].strip())
            begin = at + len(separator)
    parts.append(text[begin:].strip())
    return [part for part in parts if part]


def find(text: str, wanted: str) -> int:
    """Return where a text stands outside all brackets; -1 if nowhere."""
    return next((at for at in _outside(text) if text.startswith(wanted, at)), -1)


def _closing(text: str, opening: int) -> int:
    """Return where the bracket that opens there is closed."""
    depth = 0
    for at in range(opening, len(text)):
        if text[at] in _OPEN:
            depth += 1
        elif text[at] in _CLOSE and not (text[at] == ">" and text[at - 1] in "-="):
            depth -= 1
            if depth == 0:
                return at
    return len(text)


def _outside(text: str) -> Iterator[int]:
    """Yield the positions outside all brackets, those of opening brackets included."""
    depth = 0
    for at, each in enumerate(text):
        if each in _CLOSE and not (each == ">" and at and text[at - 1] in "-="):
            depth -= 1
        elif depth == 0:
            yield at
        if each in _OPEN:
            depth += 1


def _header(declared: Declaration, writer: _Writer, value: str) -> Header:
    inputs, opaque = _named_opaque(declared.inputs)
    output = declared.output
    if declared.keyword == "fn" and "async" in declared.qualifiers and output is not None:
        future = Node(Kind.PATH, "Future", (Node(Kind.EQUALITY, "Output", (output,)),))
        output = Node(Kind.IMPL, "impl", (future,))
    trait = declared.trait
    if trait is not None and output is not None:
        trait, output = _implemented(trait, output)
    params = [each for each in declared.generics if writer.keeps(each)]
    order: list[Node] = []
    if declared.keyword in {"fn", "impl"}:
        order = [each for each in (*inputs, trait, output) if each is not None]
    writer.names = _numbered(order, [*params, *opaque])
    target = writer.sorted_bounds(output) if output is not None else ""
    return Header(
        declared.keyword,
        frozenset(declared.qualifiers),
        tuple(_parameter(each, writer) for each in params),
        _bounds(declared, opaque, writer),
        tuple(writer.input(each) for each in inputs),
        f"{writer.text(trait)} for {target}" if trait is not None else target,
        value,
        frozenset(writer.texts(declared.bounds)),
        len(opaque),
    )


def _implemented(trait: Node, target: Node) -> tuple[Node, Node]:
    """Return trait and target in one form.

    The argument of ``PartialEq``, ``Add`` and their like is the target unless it is given;
    ``Into`` is ``From`` for the other type.
    """
    if trait.kind != Kind.PATH or len(trait.args) != 1:
        return trait, target
    writer = _Writer("")
    if writer.text(trait.args[0]) == writer.text(target):
        return trait._replace(args=()), target
    if trait.name.rpartition("::")[2] == "Into":
        return Node(Kind.PATH, "From", (target,)), trait.args[0]
    return trait, target


def _parameter(param: Param, writer: _Writer) -> Parameter:
    default = writer.text(param.default) if param.default is not None else ""
    if param.type is not None:
        return Parameter(f"const {writer.text(param.type)}", default)
    return Parameter("lifetime" if param.name.startswith("'") else "type", default)


def _named_opaque(inputs: Iterable[Node]) -> tuple[list[Node], list[Param]]:
    """Give each ``impl Trait`` among the inputs a name and the bounds that it states."""
    named: list[Param] = []

    def replace(node: Node) -> Node:
        if node.kind == Kind.IMPL:
            named.append(Param(f"§{len(named)}", node.args))
            return Node(Kind.PATH, named[-1].name)
        return node._replace(args=tuple(map(replace, node.args))) if node.args else node

    return [replace(each) for each in inputs], named


def _numbered(order: Iterable[Node], params: Iterable[Param]) -> dict[str, str]:
    """Number generic parameters: as they first appear in ``order``, then as declared."""
    names = [each.name for each in params]
    seen = (node.name.partition("::")[0] for each in order for node in walk(each))
    ordered = dict.fromkeys([*(name for name in seen if name in names), *names])
    return {name: f"${number}" for number, name in enumerate(ordered)}


def _bounds(declared: Declaration, opaque: Iterable[Param], writer: _Writer) -> Bounds:
    stated = [
        (Node(Kind.LIFETIME if each.name.startswith("'") else Kind.PATH, each.name), each.bounds)
        for each in (*declared.generics, *opaque)
        if each.bounds
    ]
    merged: dict[str, frozenset[str]] = {}
    for subject, bounds in (*stated, *declared.where):
        for about, bound in _conversions(subject, writer.kept(bounds or ())):
            key = writer.text(about)
            merged[key] = merged.get(key, frozenset()) | {writer.text(bound)}
    for key, found in merged.items():
        if found & _SIZED:
            merged[key] = found - {"?Sized"}
    return tuple((key, merged[key]) for key in sorted(merged) if merged[key])


def _conversions(subject: Node, bounds: Iterable[Node]) -> Iterator[tuple[Node, Node]]:
    """Yield each bound with its subject; ``U: From<T>`` as ``T: Into<U>``, which it implies."""
    for about, bound in (pair for each in bounds for pair in _flattened(subject, each)):
        into = _CONVERSIONS.get(bound.name.rpartition("::")[2])
        if bound.kind == Kind.PATH and into and len(bound.args) == 1:
            yield bound.args[0], Node(Kind.PATH, into, (about,))
        else:
            yield about, bound


def _flattened(subject: Node, bound: Node) -> Iterator[tuple[Node, Node]]:
    """Yield ``I: Iterator<Item: Send>`` as ``I: Iterator`` and ``I::Item: Send``."""
    if bound.kind in {Kind.MODIFIED, Kind.FOR}:
        for about, inner in _flattened(subject, bound.args[0]):
            yield about, bound._replace(args=(inner,)) if about is subject else inner
        return
    if bound.kind != Kind.PATH:
        yield subject, bound
        return
    constraints = [each for each in bound.args if each.kind == Kind.CONSTRAINT]
    for each in constraints:
        item = Node(Kind.MEMBER, each.name, (subject,))
        for inner in each.args:
            yield from _flattened(item, inner)
    kept = tuple(each for each in bound.args if each.kind != Kind.CONSTRAINT)
    yield subject, bound._replace(args=kept)


def canonical_type(text: str, owner: str = "") -> str:
    """Return a type, or a variant, in the form of headers, lifetimes left out."""
    try:
        parser = Parser(text)
        node = parser.type()
        parser.expect(END)
    except BadSignature:
        return " ".join(text.split())
    return _Writer(owner).text(node)


class _Writer:
    """Writes nodes in their canonical form.

    Args:
        owner: the type that is the same as ``Self``; may be empty.
        lifetimes: whether lifetimes other than ``'static`` are kept.
    """

    def __init__(self, owner: str, *, lifetimes: bool = False) -> None:
        self._owner = owner
        self._lifetimes = lifetimes
        #: What generic parameters are called instead.
        self.names: Mapping[str, str] = {}
        self._by_kind: Mapping[str, Callable[[Node], str]] = {
            Kind.PATH: self._path,
            Kind.CALL: lambda each: self._path(each._replace(args=())) + self._call(each),
            Kind.MEMBER: self._member,
            Kind.QUALIFIED: self._qualified,
            Kind.REFERENCE: self._reference,
            Kind.RECEIVER: self._reference,
            Kind.POINTER: lambda each: f"{each.name} {self.text(each.args[0])}",
            Kind.SLICE: lambda each: f"[{self._list(each.args)}]",
            Kind.ARRAY: lambda each: f"[{self._list(each.args, '; ')}]",
            Kind.TUPLE: self._tuple,
            Kind.IMPL: lambda each: f"impl {self._list(each.args)}",
            Kind.DYN: self._dyn,
            Kind.FUNCTION: lambda each: f"{each.name} fn".lstrip() + self._call(each),
            Kind.FOR: self._for,
            Kind.MODIFIED: lambda each: each.name + self.text(each.args[0]),
            Kind.USE: lambda each: "use" + self._args(each.args),
            Kind.EQUALITY: lambda each: f"{each.name} = {self._list(each.args)}",
            Kind.CONSTRAINT: lambda each: f"{each.name}: {self._list(each.args)}",
            Kind.ARGUMENT: lambda each: f"{each.name}: {self._list(each.args)}",
            Kind.EXPRESSION: self._expression,
        }

    def keeps(self, param: Param) -> bool:
        """Tell whether a parameter is kept."""
        return (
            self._lifetimes
            or not param.name.startswith("'")
            or any(each.name == "'static" for each in param.bounds or ())
        )

    def kept(self, nodes: Iterable[Node]) -> list[Node]:
        """Return arguments or bounds without the lifetimes that are left out."""
        return [
            each
            for each in nodes
            if each.kind != Kind.LIFETIME or self._lifetimes or each.name == "'static"
        ]

    def texts(self, nodes: Iterable[Node]) -> list[str]:
        """Write arguments or bounds."""
        return [self.text(each) for each in self.kept(nodes)]

    def input(self, node: Node) -> str:
        """Write the type of an argument, or a receiver as it stands."""
        if node.kind == Kind.ARGUMENT and not node.name.endswith("self"):
            return self.text(node.args[0])
        return self.text(node)

    def sorted_bounds(self, node: Node) -> str:
        """Write a type; the bounds of an opaque or dynamic one in one order."""
        if node.kind in {Kind.IMPL, Kind.DYN}:
            return f"{node.name} {' + '.join(sorted(self.texts(node.args)))}"
        return self.text(node)

    def text(self, node: Node) -> str:
        """Write a node."""
        write = self._by_kind.get(node.kind)
        return write(node) if write is not None else self.names.get(node.name, node.name)

    def _list(self, nodes: Iterable[Node], separator: str = " + ") -> str:
        return separator.join(self.texts(nodes))

    def _tuple(self, node: Node) -> str:
        return f"({self._list(node.args, ', ')}{',' * (len(node.args) == 1)})"

    def _member(self, node: Node) -> str:
        return f"{self.text(node.args[0])}::{node.name}" + self._args(node.args[1:])

    def _for(self, node: Node) -> str:
        inner = self.text(node.args[0])
        return f"for<{node.name}> {inner}" if self._lifetimes else inner

    def _expression(self, node: Node) -> str:
        return "".join(self.names.get(each.name, each.name) for each in node.args)

    def _path(self, node: Node) -> str:
        segments = node.name.split("::")
        while len(segments) > 1 and (segments[0][0].islower() or segments[0][0] == "_"):
            del segments[0]
        args = self._shown(node.args)
        first = self.names.get(segments[0], segments[0])
        if segments[0] == self._owner:
            first = "Self"
            if len(segments) == 1 and all(map(_is_parameter, args)):
                args = []
        return "::".join([first, *segments[1:]]) + self._bracketed(args)

    def _args(self, args: Sequence[Node]) -> str:
        return self._bracketed(self._shown(args))

    def _bracketed(self, args: Iterable[Node]) -> str:
        shown = ", ".join(self.text(each) for each in args)
        return f"<{shown}>" if shown else ""

    def _shown(self, args: Sequence[Node]) -> list[Node]:
        """Return arguments without defaults and without lifetimes that are left out."""
        for default in _DEFAULTS:
            if len(args) > 1 and args[-1].kind == Kind.PATH and not args[-1].args:
                name = args[-1].name
                left_out = name.rpartition("::")[2] == default and name not in self.names
                args = args[:-1] if left_out else args
        return [each for each in self.kept(args) if each.name != "'_"]

    def _call(self, node: Node) -> str:
        inputs, output = node.args
        shown = ", ".join(self.texts(inputs.args))
        return f"({shown})" + (f" -> {self.text(output)}" if output != UNIT else "")

    def _qualified(self, node: Node) -> str:
        """Write ``<T as Trait>::Name`` as ``T::Name``; both are written, by format and taste."""
        owner, trait, *args = node.args
        if trait.name.rpartition("::")[2] in _CONVERSIONS and len(trait.args) == 1:
            owner = trait.args[0]
        return f"{self.text(owner)}::{node.name.rpartition('>::')[2]}" + self._args(args)

    def _reference(self, node: Node) -> str:
        receiver = node.kind == Kind.RECEIVER
        target = "self" if receiver else self.text(node.args[0])
        lifetimes = self.kept(node.args if receiver else node.args[1:])
        shown = "".join(f"{self.text(each)} " for each in lifetimes if each.name != "'_")
        return f"{node.name[:1]}{shown}{'mut ' * (node.name == '&mut')}{target}"

    def _dyn(self, node: Node) -> str:
        """Write a trait object; simple bounds in one order, without the implied lifetime."""
        bounds = self.texts(node.args)
        if not any(each.args for each in node.args):
            bounds = sorted({*bounds} - {"'static"})
        return f"dyn {' + '.join(bounds)}"


def _is_parameter(node: Node) -> bool:
    return node.kind == Kind.PATH and not node.args and bool(_PARAMETER.fullmatch(node.name))
