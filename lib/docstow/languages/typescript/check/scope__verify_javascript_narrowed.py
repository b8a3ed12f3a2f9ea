"""What code does to names beside declaring them: members that it assigns, what it asks of values.

This room knows assignments and conditions. A name of which code asks whether it is something more
may have more than its declaration says.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from docstow.languages.typescript.check.syntax import Tree, child, passed, text_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tree_sitter import Node

#: Functions that ask or assert what something is, by how they are named.
_ASSERTS = re.compile(
    r"(?:assert|invariant|ensure|expect|must|check|verify|require|is|has)\w*$", re.IGNORECASE
)
_CONDITIONS = frozenset(
    {
        *("if_statement", "while_statement", "do_statement", "for_statement"),
        *("ternary_expression", "binary_expression", "switch_case"),
    }
)


def assigned(tree: Tree) -> set[str]:
    """Members that the code itself assigns."""
    found = set()
    for node in tree.nodes:
        if node.type.endswith(("assignment_expression", "update_expression")):
            target = child(node, "left") or child(node, "argument")
            if target is not None and target.type == "member_expression":
                found.add(text_of(child(target, "property")))
    return found


def narrowed(tree: Tree) -> set[str]:
    """Names of which ``isThis(x)``, ``x instanceof This`` and ``"this" in x`` may tell more."""
    asked = (each for node in tree.nodes for each in _asked(tree, node))
    return {text_of(each) for each in asked if each.type == "identifier"}


def _asked(tree: Tree, node: Node) -> Iterable[Node]:
    if node.type == "call_expression":
        given = [each for each in passed(node) or () if each.type == "identifier"]
        return given if given and _is_condition(tree, node) else ()
    operator = text_of(child(node, "operator")) if node.type == "binary_expression" else ""
    return node.named_children if operator in {"instanceof", "in"} else ()


def _is_condition(tree: Tree, call: Node) -> bool:
    """Whether what follows may depend on a call; a lone one may assert it, or be kept."""
    outer = tree.parent(call)
    while outer is not None and outer.type in ("parenthesized_expression", "unary_expression"):
        outer = tree.parent(outer)
    if outer is not None and outer.type in ("expression_statement", "variable_declarator"):
        called = child(call, "function")
        if called is not None and called.type == "member_expression":
            called = child(called, "property")
        return bool(_ASSERTS.match(text_of(called)))
    return outer is not None and outer.type in _CONDITIONS
