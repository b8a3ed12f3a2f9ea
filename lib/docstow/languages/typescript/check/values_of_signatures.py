"""Values of packages of which only signatures are kept, as of stowed ones."""

from __future__ import annotations

import math
from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from docstow.languages.shared.surface import Outcome
from docstow.languages.typescript.check.syntax import child, parse, text_of
from docstow.languages.typescript.source.model import Span, ThisType, Type, TypeReference
from docstow.languages.typescript.source.type_reader import TypeReader

if TYPE_CHECKING:
    from tree_sitter import Node

    from docstow.languages.shared.lookup import Installed, Names
    from docstow.languages.shared.surface import Passed, Symbol, Value

#: Where a signature stands that is parsed by itself.
_NOWHERE = Span(0, 0, 1, 1)


@dataclass(frozen=True, slots=True)
class Result:
    """The name of a returned type; ``this`` for the receiver.

    Attributes:
        name: its last part.
        promised: whether a promise of it is returned.
        qualified: as written, where that is more than the name: ``core.Express``.
    """

    name: str
    promised: bool = False
    qualified: str = ""


@dataclass(frozen=True, slots=True)
class _Overload:
    """One line of a declaration: what it returns, and how many arguments it takes."""

    result: Result | None
    fewest: int
    most: float


@lru_cache(maxsize=4096)
def parse_result(signature: str, *, bare: bool, count: int | None = None) -> Result | None:
    """Parse what a declaration returns.

    Args:
        signature: as a surface gives it, its overloads one a line.
        bare: whether the call has no arguments of either sort, so that it is the first overload's.
        count: of the arguments; None where it is not certain.

    Returns:
        None where that is no single name, or depends on the overload.
    """
    overloads = [_parse_overload(line.strip()) for line in signature.strip().split("\n")]
    known = [each for each in overloads if each is not None]
    if len(known) != len(overloads):
        return None
    if count is not None:
        known = [each for each in known if each.fewest <= count <= each.most]
    if bare and known and not known[0].fewest:
        return known[0].result
    return known[0].result if known and len({each.result for each in known}) == 1 else None


def _parse_overload(line: str) -> _Overload | None:
    """Parse one line of a declaration; None where that is no function."""
    text = line.rstrip(";").removeprefix("export ").removeprefix("declare ")
    for wrapped in (f"declare {text};", f"interface I {{ {text} }}"):
        root = parse(wrapped)
        head = None if root.has_error else next(filter(_is_signature, _walk(root)), None)
        if head is None:
            continue
        signature = TypeReader(wrapped.encode(), _NOWHERE).signature(head)
        generics = {text_of(child(e, "name")) for e in _walk(head) if e.type == "type_parameter"}
        required = (at for at, each in enumerate(signature.parameters, 1) if each.required)
        rest = any(each.rest for each in signature.parameters)
        return _Overload(
            _named_result(signature.result, generics),
            max(required, default=0),
            math.inf if rest else len(signature.parameters),
        )
    return None


def _named_result(type_: Type, generics: Container[str]) -> Result | None:
    if isinstance(type_, ThisType):
        return Result("this")
    if not isinstance(type_, TypeReference) or type_.value or type_.module:
        return None
    *before, name = type_.path
    if before:
        return Result(name, qualified=".".join(type_.path))
    if name == "Promise" and type_.arguments:
        inner = _named_result(type_.arguments[0], generics)
        if len(type_.arguments) > 1 or inner is None or inner.name == "this" or inner.promised:
            return None
        return Result(inner.name, promised=True, qualified=inner.qualified)
    return Result(name) if name not in generics else None


def _walk(node: Node) -> Iterator[Node]:
    """Iterate over a node and all below it."""
    pending = [node]
    while pending:
        each = pending.pop()
        yield each
        pending += reversed(each.named_children)


def _is_signature(node: Node) -> bool:
    """Whether it is a function, a method, or the whole type of a constant."""
    if node.type != "function_type":
        return node.type in {"function_signature", "method_signature"}
    of = node.parent.parent if node.parent is not None else None
    return of is not None and of.type in {"variable_declarator", "property_signature"}


@dataclass(frozen=True, slots=True)
class SignatureValues:
    """The values of a package, as far as signatures tell.

    Args:
        package: it.
        specifier: the module that is imported.
        names: for looking names up.
    """

    package: Installed
    specifier: str
    names: Names

    def value(self, path: str) -> SignatureValue | None:
        """Return what an exported path is as a value."""
        return SignatureValue(self, path)

    def typed(self, path: str, _: Sequence[Value | None]) -> SignatureValue | None:
        """Return what has an exported type: a class's or an interface's."""
        symbol = self.symbol(path)
        kinds = ("class", "interface")
        return SignatureValue(self, path, made=True) if symbol and symbol.kind in kinds else None

    def global_value(self, name: str) -> None:
        """Return None: the language itself is not stowed."""

    def global_type(self, name: str, types: Sequence[Value | None]) -> None:
        """Return None: the language itself is not stowed."""

    def symbol(self, path: str) -> Symbol | None:
        """Return what a path means, if all of it is found."""
        answer = self.names.look_up(path, self.specifier)
        return answer.symbol if answer.whole else None


@dataclass(frozen=True, slots=True)
class SignatureValue:
    """A named value, or (``made``) an instance of what a path names, or a promise of one."""

    values: SignatureValues
    path: str
    made: bool = False
    promised: bool = False

    @property
    def name(self) -> str:
        """Its path."""
        return self.path

    @property
    def shared(self) -> bool:
        """Return False: signatures do not tell it."""
        return False

    def member(self, name: str) -> SignatureValue | None:
        """Return what is named below it."""
        return None if self.promised else SignatureValue(self.values, f"{self.path}.{name}")

    def lacks(self, name: str) -> bool:
        """Whether an instance has no such member."""
        surface = self.values.package.surface
        if not self.made or self.promised or not surface.certain(self.path):
            return False
        return surface.symbol(f"{self.path}.{name}") is None

    def has(self, name: str) -> bool:
        """Whether a member is declared."""
        symbol = self.values.package.surface.symbol(f"{self.path}.{name}")
        return not self.promised and symbol is not None

    def refuses(self, _: str) -> bool:
        """Return False: signatures do not tell it."""
        return False

    def names(self) -> tuple[str, ...]:
        """Return the names of members."""
        return tuple(self.values.package.surface.members(self.path) or ())

    def item(self, _: int | None) -> None:
        """Return None: signatures do not tell it."""

    def awaited(self) -> SignatureValue | None:
        """Return what was promised."""
        return SignatureValue(self.values, self.path, made=True) if self.promised else None

    def parameter(self, index: int, count: int) -> None:
        """Return None: signatures do not tell it."""

    def call(
        self, passed: Sequence[Passed] | None, types: Sequence[Value | None], *, new: bool
    ) -> Outcome | None:
        """Return what the signature of a function says that it returns."""
        symbol = self.values.symbol(self.path)
        if symbol is None or self.promised:
            return None
        if new:
            made = symbol.kind == "class" and not self.made
            return Outcome(SignatureValue(self.values, self.path, made=True), ()) if made else None
        count = len(passed) if passed is not None else None
        given = parse_result(symbol.signature, bare=not count and not types, count=count)
        if given is None:
            return None
        if given.name == "this":
            owner = SignatureValue(self.values, self.path.rpartition(".")[0], made=True)
            return Outcome(owner, ())
        path = f"{self.values.specifier}.{given.name}"
        own = self.values.symbol(path)
        if own is None or own.kind not in ("class", "interface"):
            return None
        if given.qualified and f"extends {given.qualified}" not in own.signature:
            return None
        return Outcome(SignatureValue(self.values, path, made=True, promised=given.promised), ())
