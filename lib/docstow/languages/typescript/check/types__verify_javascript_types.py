"""What values are where only signatures are kept, as of stowed packages.

This room knows return types that are one name. It does not walk code.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from docstow.languages.shared.surface__packages_values import Outcome, Passed, Value
from docstow.languages.typescript.check.syntax import parse, text_of

if TYPE_CHECKING:
    from tree_sitter import Node

    from docstow.languages.shared.lookup import Installed, Names
    from docstow.languages.shared.surface import Symbol


@dataclass(frozen=True, slots=True)
class Output:
    """The name of a returned type; ``this`` for the receiver.

    Attributes:
        name: its last part.
        promised: it comes by a promise.
        qualified: as written, where that is more than the name: ``core.Express``.
    """

    name: str
    promised: bool = False
    qualified: str = ""


@dataclass(frozen=True, slots=True)
class _Overload:
    """One line of a declaration: what it gives, and how many arguments it takes."""

    output: Output | None
    fewest: int
    most: float


@lru_cache(maxsize=4096)
def output(signature: str, *, bare: bool, count: int | None = None) -> Output | None:
    """Read a declaration with its overloads, one a line.

    Args:
        signature: as a surface gives it.
        bare: the call has no arguments of either sort, so that the first overload is the one.
        count: of the arguments; None where it is not certain.

    Returns:
        None where that is no single name, or depends on the overload.
    """
    overloads = [_overload(line.strip()) for line in signature.strip().split("\n")]
    known = [each for each in overloads if each is not None]
    if len(known) != len(overloads):
        return None
    if count is not None:
        known = [each for each in known if each.fewest <= count <= each.most]
    if bare and known and not known[0].fewest:
        return known[0].output
    return known[0].output if known and len({each.output for each in known}) == 1 else None


def _overload(line: str) -> _Overload | None:
    """What a line declares, if that is a function."""
    text = line.rstrip(";").removeprefix("export ").removeprefix("declare ")
    for wrapped in (f"declare {text};", f"interface I {{ {text} }}"):
        root = parse(wrapped)
        if root.has_error:
            continue
        heads = [
            each
            for each in walk(root)
            if each.type in {"function_signature", "method_signature"} or _is_of_constant(each)
        ]
        if not heads:
            continue
        annotation = heads[0].child_by_field_name("return_type")
        generics = {
            text_of(each.child_by_field_name("name"))
            for each in walk(heads[0])
            if each.type == "type_parameter"
        }
        given = annotation
        if annotation is not None and annotation.type == "type_annotation":
            given = annotation.named_children[0]
        read = _read(given, generics) if given is not None else None
        return _Overload(read, *_arguments(heads[0].child_by_field_name("parameters")))
    return None


def walk(node: Node) -> Iterator[Node]:
    """A node and all below it."""
    pending = [node]
    while pending:
        each = pending.pop()
        yield each
        pending += reversed(each.named_children)


def _is_of_constant(node: Node) -> bool:
    """Whether it is all of a constant's type: ``const f: () => A``."""
    of = node.parent.parent if node.type == "function_type" and node.parent is not None else None
    return of is not None and of.type in {"variable_declarator", "property_signature"}


def _arguments(parameters: Node | None) -> tuple[int, float]:
    """The fewest and the most arguments that are taken."""
    fewest, most = 0, 0.0
    for each in parameters.named_children if parameters is not None else ():
        pattern = each.child_by_field_name("pattern")
        if each.type == "comment" or text_of(pattern) == "this":
            continue
        if pattern is not None and pattern.type == "rest_pattern":
            return fewest, math.inf
        most += 1
        if each.type == "required_parameter" and each.child_by_field_name("value") is None:
            fewest = int(most)
    return fewest, most


def _read(node: Node, generics: set[str]) -> Output | None:
    if node.type == "this_type" or text_of(node) == "this":
        return Output("this")
    if node.type == "generic_type":
        name = node.child_by_field_name("name")
        arguments = node.child_by_field_name("type_arguments")
        if text_of(name) == "Promise":
            only = arguments.named_children if arguments is not None else []
            inner = _read(only[0], generics) if len(only) == 1 else None
            if inner is None or inner.name == "this" or inner.promised:
                return None
            return Output(inner.name, promised=True, qualified=inner.qualified)
        return _read(name, generics) if name is not None else None
    if node.type == "nested_type_identifier":
        return Output(text_of(node.named_children[-1]), qualified=text_of(node))
    if node.type == "type_identifier" and text_of(node) not in generics:
        return Output(text_of(node))
    return None


@dataclass(frozen=True, slots=True)
class ToldValues:
    """What the names of a package are, as far as signatures tell it.

    Args:
        package: it.
        specifier: the module that is imported.
        names: for looking names up.
    """

    package: Installed
    specifier: str
    names: Names

    def value(self, path: str) -> ToldValue | None:
        """What an exported path is as a value."""
        return ToldValue(self, path)

    def typed(self, path: str, _: Sequence[Value | None]) -> ToldValue | None:
        """What has an exported type: a class's or an interface's."""
        symbol = self.symbol(path)
        kinds = ("class", "interface")
        return ToldValue(self, path, made=True) if symbol and symbol.kind in kinds else None

    def global_value(self, name: str) -> None:
        """None: the language is not stowed."""

    def global_type(self, name: str, types: Sequence[Value | None]) -> None:
        """None: the language is not stowed."""

    def symbol(self, path: str) -> Symbol | None:
        """What a whole path means."""
        answer = self.names.look_up(path, self.specifier)
        return answer.symbol if answer.whole else None


@dataclass(frozen=True, slots=True)
class ToldValue:
    """A named value, or (``made``) an instance of what a path names; ``promised`` to come."""

    values: ToldValues
    path: str
    made: bool = False
    promised: bool = False

    @property
    def name(self) -> str:
        """Its path."""
        return self.path

    @property
    def shared(self) -> bool:
        """Signatures do not tell it."""
        return False

    def member(self, name: str) -> ToldValue | None:
        """What is named below it."""
        return None if self.promised else ToldValue(self.values, f"{self.path}.{name}")

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
        """Signatures do not tell it."""
        return False

    def names(self) -> tuple[str, ...]:
        """Names of members."""
        return tuple(self.values.package.surface.members(self.path) or ())

    def item(self, _: int | None) -> None:
        """Signatures do not tell it."""

    def awaited(self) -> ToldValue | None:
        """What was promised."""
        return ToldValue(self.values, self.path, made=True) if self.promised else None

    def parameter(self, index: int, count: int) -> None:
        """Signatures do not tell it."""

    def call(
        self, passed: Sequence[Passed] | None, types: Sequence[Value | None], *, new: bool
    ) -> Outcome | None:
        """What the signature of a function says that it gives."""
        symbol = self.values.symbol(self.path)
        if symbol is None or self.promised:
            return None
        if new:
            made = symbol.kind == "class" and not self.made
            return Outcome(ToldValue(self.values, self.path, made=True), ()) if made else None
        count = len(passed) if passed is not None else None
        given = output(symbol.signature, bare=not count and not types, count=count)
        if given is None:
            return None
        if given.name == "this":
            owner = ToldValue(self.values, self.path.rpartition(".")[0], made=True)
            return Outcome(owner, ())
        path = f"{self.values.specifier}.{given.name}"
        own = self.values.symbol(path)
        if own is None or own.kind not in ("class", "interface"):
            return None
        if given.qualified and f"extends {given.qualified}" not in own.signature:
            return None
        return Outcome(ToldValue(self.values, path, made=True, promised=given.promised), ())
