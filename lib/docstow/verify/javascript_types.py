"""What a TypeScript function gives back, as its declaration says it.

This room knows return types that are one name. It does not walk code.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from docstow.verify.javascript_scope import parse, text_of, walk

if TYPE_CHECKING:
    from tree_sitter import Node


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
        root = parse(wrapped).root_node
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
