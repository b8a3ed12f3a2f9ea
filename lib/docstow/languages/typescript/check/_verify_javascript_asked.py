"""Members that code only asks for: ``if (x.y)``, ``typeof x.y``, ``x.y && x.y()``.

This room knows how code finds out what is there. What it asks for may be missing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from docstow.languages.typescript.check.syntax import Tree, child, text_of

if TYPE_CHECKING:
    from tree_sitter import Node

_BRANCHES = frozenset({"if_statement", "while_statement", "do_statement", "ternary_expression"})
_EITHER = frozenset({"&&", "||", "??"})
_THROUGH = frozenset(
    {"parenthesized_expression", "unary_expression", "non_null_expression", "member_expression"}
)


def asked(tree: Tree) -> tuple[frozenset[int], frozenset[int]]:
    """Nodes of members that are only asked for, by their ids.

    Returns:
        those of which ``typeof`` or ``delete`` is asked; and those, wherever they are, whose name
        decides something in the file.
    """
    words: set[int] = set()
    tested: set[str] = set()
    members = [node for node in tree.nodes if node.type == "member_expression"]
    how_of = _asks(tree)
    for node in members:
        how = how_of.get(node.id)
        if how == "word":
            words.add(node.id)
        if how:
            tested.add(text_of(node.named_children[-1]))
    named = {node.id for node in members if text_of(node.named_children[-1]) in tested}
    return frozenset(words), frozenset(named)


def _asks(tree: Tree) -> dict[int, str]:
    """By what members are asked for: ``word`` is ``typeof`` or ``delete``, ``test`` a condition.

    Of each node the ones around it are known before, so that none is climbed twice.
    """
    found: dict[int, str] = {}
    for node in tree.nodes:
        outer = tree.parent(node)
        how = ""
        if outer is None:
            continue
        if outer.type == "unary_expression" and _operator(outer) in ("typeof", "delete"):
            how = "word"
        elif outer.type in _BRANCHES:
            how = "test" if child(outer, "condition") == node else ""
        elif outer.type == "binary_expression" and _operator(outer) in _EITHER:
            how = "test" if child(outer, "left") == node else found.get(outer.id, "")
        elif outer.type in _THROUGH or outer.type == "binary_expression":
            how = found.get(outer.id, "")
        if how:
            found[node.id] = how
    return found


def _operator(node: Node) -> str:
    return text_of(child(node, "operator"))
