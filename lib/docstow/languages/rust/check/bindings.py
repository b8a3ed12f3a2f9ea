"""The variables of Rust code whose types are certain, scope by scope."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from docstow.languages.rust.check.syntax import text_of
from docstow.languages.rust.check.types import Variables

if TYPE_CHECKING:
    from tree_sitter import Node

    from docstow.languages.rust.check.expressions import Expressions

#: Nodes that begin a scope: names that are bound inside are gone after it.
SCOPES = frozenset(
    {
        *("block", "function_item", "closure_expression", "match_arm", "impl_item", "mod_item"),
        *("for_expression", "if_expression", "while_expression", "match_block"),
    }
)
#: Nodes whose constants and statics are in scope wherever they stand in it.
_ITEMS = frozenset({"source_file", "declaration_list", "block"})
_CONDITIONAL = frozenset({"if_expression", "while_expression", "let_chain"})


def bind(node: Node, variables: Variables, expressions: Expressions) -> None:
    """Bind the names that a node brings into scope before its parts are looked at."""
    if node.type == "mod_item":
        variables.update(dict.fromkeys(variables))  # what stands around a module is not seen inside
    elif node.type in _ITEMS and not _is_associated(node):
        _bind_items(node, variables, expressions)
    elif node.type in {"function_item", "closure_expression"}:
        parameters = node.child_by_field_name("parameters")
        for each in parameters.named_children if parameters is not None else ():
            _bind_parameter(each, variables, expressions)
    elif node.type in {"match_arm", "for_expression", "let_condition"}:
        _hide(node.child_by_field_name("pattern"), variables)
    elif node.type in _CONDITIONAL:
        for each in _conditions(node):
            _hide(each.child_by_field_name("pattern"), variables)


def bind_let(node: Node, variables: Variables, expressions: Expressions) -> None:
    """Bind the names of a ``let``, once its value is looked at."""
    pattern, value = node.child_by_field_name("pattern"), node.child_by_field_name("value")
    annotation = node.child_by_field_name("type")
    if pattern is None:
        return
    bound = None
    if pattern.type == "identifier" and not node.has_error:
        if annotation is not None:
            bound = expressions.annotated(annotation)
        elif value is not None:
            bound = expressions.type_of(value, variables)
    _hide(pattern, variables)
    if bound is not None:
        variables[text_of(pattern)] = bound


def _is_associated(node: Node) -> bool:
    """Tell whether constants in a node are reached through their type alone."""
    return node.parent is not None and node.parent.type in {"impl_item", "trait_item"}


def _bind_items(node: Node, variables: Variables, expressions: Expressions) -> None:
    """Bind constants and statics; of two, which conditions tell apart, nothing is certain."""
    seen: set[str] = set()
    for each in node.named_children:
        name, kind = each.child_by_field_name("name"), each.child_by_field_name("type")
        if each.type not in {"static_item", "const_item"} or name is None or kind is None:
            continue
        title = text_of(name)
        certain = title not in seen and not each.has_error
        variables[title] = expressions.annotated(kind) if certain else None
        seen.add(title)


def _bind_parameter(node: Node, variables: Variables, expressions: Expressions) -> None:
    pattern, annotation = node.child_by_field_name("pattern"), node.child_by_field_name("type")
    if node.type != "parameter":
        _hide(node, variables)
    elif pattern is not None:
        _hide(pattern, variables)
        if pattern.type == "identifier" and annotation is not None:
            variables[text_of(pattern)] = expressions.annotated(annotation)


def _hide(pattern: Node | None, variables: Variables) -> None:
    """Hide variables outside that have the name of one that a pattern may bind."""
    pending = [pattern] if pattern is not None else []
    while pending:
        each = pending.pop()
        if each.type in {"identifier", "shorthand_field_identifier"}:
            variables[text_of(each)] = None
        pending += each.named_children


def _conditions(node: Node) -> Iterator[Node]:
    condition = node.child_by_field_name("condition") if node.type != "let_chain" else node
    if condition is None:
        return
    if condition.type == "let_condition":
        yield condition
    elif condition.type in {"let_chain", "binary_expression"}:
        yield from (each for each in condition.named_children if each.type == "let_condition")
