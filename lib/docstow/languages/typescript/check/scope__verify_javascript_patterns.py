"""The names that a pattern binds, and how each is taken out of the whole.

This room knows patterns: ``{ a: [b] }``. It does not know scopes.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from docstow.languages.typescript.check.syntax import child, text_of, unquoted

if TYPE_CHECKING:
    from tree_sitter import Node

#: How deep patterns are followed.
_DEEPEST = 20
Way = tuple[str | int, ...]


def bound(pattern: Node | None, path: Way, *, known: bool) -> Iterator[tuple[Node, Way | None]]:
    """Every name that a pattern binds, with the keys and places that lead to it.

    Args:
        pattern: an identifier, or what is taken apart.
        path: the way to it.
        known: whether the way is certain; without that no name's is.
    """
    waiting: list[tuple[Node | None, Way, bool]] = [(pattern, path, known)]
    while waiting:
        node, way, sure = waiting.pop()
        if node is None or len(way) > _DEEPEST:
            continue
        if node.type in ("identifier", "shorthand_property_identifier_pattern"):
            if node.type != "identifier":
                way = (*way, text_of(node))
            yield node, way if sure else None
        elif node.type == "pair_pattern":
            key = child(node, "key")
            plain = key is not None and key.type in ("property_identifier", "string")
            waiting.append((child(node, "value"), (*way, unquoted(key)), sure and plain))
        elif node.type in ("assignment_pattern", "object_assignment_pattern"):
            waiting.append((child(node, "left"), way, False))
        elif node.type == "array_pattern":
            # Places that are left out have no node of their own.
            plain = sure and b",," not in (node.text or b"").replace(b" ", b"")[:200]
            plain = plain and not (node.text or b"").replace(b" ", b"").startswith(b"[,")
            for index, each in enumerate(node.named_children):
                waiting.append((each, (*way, index), plain))
        elif node.type == "object_pattern":
            waiting += [(each, way, sure) for each in node.named_children]
        elif node.type in ("rest_pattern", "required_parameter", "optional_parameter"):
            waiting += [(each, way, False) for each in node.named_children[:1]]
