"""What a TypeScript function gives back, as its declaration says it.

This room knows return types that are one name. It does not walk code.
"""

from __future__ import annotations

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


@lru_cache(maxsize=4096)
def output(signature: str, *, bare: bool) -> Output | None:
    """Read a declaration with its overloads, one a line.

    Args:
        signature: as a surface gives it.
        bare: the call has no arguments of either sort, so that the first overload is the one.

    Returns:
        None where that is no single name, or depends on the overload.
    """
    found: list[Output | None] = []
    for line in signature.strip().split("\n"):
        read = _output(line.strip())
        if read is None or not read[0]:
            return None
        found.append(read[1])
        if bare and not found[1:] and read[2]:
            return found[0]
    return found[0] if found and all(each == found[0] for each in found) else None


def _output(line: str) -> tuple[bool, Output | None, bool] | None:
    """Whether a line declares a function, what it gives, and whether it needs no arguments."""
    text = line.rstrip(";").removeprefix("export ").removeprefix("declare ")
    for wrapped in (f"declare {text};", f"interface I {{ {text} }}"):
        root = parse(wrapped).root_node
        if root.has_error:
            continue
        heads = [
            each for each in walk(root) if each.type in {"function_signature", "method_signature"}
        ]
        if not heads:
            continue
        annotation = heads[0].child_by_field_name("return_type")
        generics = {
            text_of(each.child_by_field_name("name"))
            for each in walk(heads[0])
            if each.type == "type_parameter"
        }
        parameters = heads[0].child_by_field_name("parameters")
        needs = parameters is not None and any(
            each.type == "required_parameter" and each.child_by_field_name("value") is None
            for each in parameters.named_children
        )
        given = annotation.named_children[0] if annotation and annotation.named_children else None
        return True, _read(given, generics) if given is not None else None, not needs
    return None


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
