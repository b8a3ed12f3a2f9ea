"""The variables of Rust code whose types are certain, where they are in view.

This room knows what binds a name. It does not note findings.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from docstow.languages.rust.check.types import Known, Values
from docstow.languages.rust.check.types__verify_rust_types import text_of

if TYPE_CHECKING:
    from tree_sitter import Node

#: What begins a view of its own: names that are bound inside are gone after it.
SCOPES = frozenset(
    {
        *("block", "function_item", "closure_expression", "match_arm", "impl_item", "mod_item"),
        *("for_expression", "if_expression", "while_expression", "match_block"),
    }
)
#: What holds items that are in view wherever they stand in it.
_ITEMS = frozenset({"source_file", "declaration_list", "block"})
_CONDITIONAL = frozenset({"if_expression", "while_expression", "let_chain"})


def bind(node: Node, known: Known, values: Values) -> None:
    """Names that a node brings into view before its parts are looked at."""
    if node.type == "mod_item":
        known.update(dict.fromkeys(known))  # what stands around a module is not seen inside
    elif node.type in _ITEMS and not _is_associated(node):
        _bind_items(node, known, values)
    elif node.type in {"function_item", "closure_expression"}:
        parameters = node.child_by_field_name("parameters")
        for each in parameters.named_children if parameters is not None else ():
            _bind_parameter(each, known, values)
    elif node.type in {"match_arm", "for_expression", "let_condition"}:
        _forget(node.child_by_field_name("pattern"), known)
    elif node.type in _CONDITIONAL:
        for each in _conditions(node):
            _forget(each.child_by_field_name("pattern"), known)


def bind_let(node: Node, known: Known, values: Values) -> None:
    """The names of a ``let``, once its value is looked at."""
    pattern, value = node.child_by_field_name("pattern"), node.child_by_field_name("value")
    annotation = node.child_by_field_name("type")
    if pattern is None:
        return
    given = None
    if pattern.type == "identifier" and not node.has_error:
        if annotation is not None:
            given = values.annotated(annotation)
        elif value is not None:
            given = values.type_of(value, known)
    _forget(pattern, known)
    if given is not None:
        known[text_of(pattern)] = given


def _is_associated(node: Node) -> bool:
    """Whether constants in a node are reached through their type alone."""
    return node.parent is not None and node.parent.type in {"impl_item", "trait_item"}


def _bind_items(node: Node, known: Known, values: Values) -> None:
    """Constants and statics; of two, which conditions tell apart, nothing is certain."""
    seen: set[str] = set()
    for each in node.named_children:
        name, kind = each.child_by_field_name("name"), each.child_by_field_name("type")
        if each.type not in {"static_item", "const_item"} or name is None or kind is None:
            continue
        title = text_of(name)
        certain = title not in seen and not each.has_error
        known[title] = values.annotated(kind) if certain else None
        seen.add(title)


def _bind_parameter(node: Node, known: Known, values: Values) -> None:
    pattern, annotation = node.child_by_field_name("pattern"), node.child_by_field_name("type")
    if node.type != "parameter":
        _forget(node, known)
    elif pattern is not None:
        _forget(pattern, known)
        if pattern.type == "identifier" and annotation is not None:
            known[text_of(pattern)] = values.annotated(annotation)


def _forget(pattern: Node | None, known: Known) -> None:
    """Names that a pattern may bind hide those of the same name outside."""
    pending = [pattern] if pattern is not None else []
    while pending:
        each = pending.pop()
        if each.type in {"identifier", "shorthand_field_identifier"}:
            known[text_of(each)] = None
        pending += each.named_children


def _conditions(node: Node) -> Iterator[Node]:
    condition = node.child_by_field_name("condition") if node.type != "let_chain" else node
    if condition is None:
        return
    if condition.type == "let_condition":
        yield condition
    elif condition.type in {"let_chain", "binary_expression"}:
        yield from (each for each in condition.named_children if each.type == "let_condition")
