"""Write the syntax of signatures in a canonical form."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence

from docstow.index.signatures.parser import Parser
from docstow.index.signatures.syntax import END, UNIT, BadSignature, Kind, Node, Param

#: Last arguments that may be left out; ``Result<T>`` has the ``Error`` of most crates.
_DEFAULTS = ("Global", "RandomState", "Error")
#: Arguments that are mere parameters: ``Owner<T, K1>`` is the same as ``Self``.
_PARAMETER = re.compile(r"[A-Z][A-Z0-9]?")
#: What ``U: From<T>`` means for T.
CONVERSIONS = {"From": "Into", "TryFrom": "TryInto"}


def canonical_type(text: str, owner: str = "") -> str:
    """Return a type, or a variant, in the form of headers, lifetimes left out."""
    try:
        parser = Parser(text)
        node = parser.type()
        parser.expect(END)
    except BadSignature:
        return " ".join(text.split())
    return Writer(owner).text(node)


class Writer:
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
        if trait.name.rpartition("::")[2] in CONVERSIONS and len(trait.args) == 1:
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
