"""How many arguments a call has, and which items take that many."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from docstow.languages.rust.check.crate_items import FUNCTIONS, Found
from docstow.languages.rust.check.types import parse_signature

if TYPE_CHECKING:
    from tree_sitter import Node


@dataclass(frozen=True, slots=True)
class Call:
    """How something is called.

    Attributes:
        given: how many arguments.
        by_path: by its path, so that the receiver is among the arguments.
    """

    given: int
    by_path: bool = False

    def fits(self, found: Found) -> float:
        """Return 1 where an item takes that many arguments, -1 where it does not; 0 if unknown."""
        signature = parse_signature(found.signature) if found.kind in FUNCTIONS else None
        if signature is None or signature.arity is None:
            return 0.0
        wanted = signature.arity + (self.by_path and signature.takes_self)
        is_right = wanted == self.given and (self.by_path or signature.takes_self)
        return 1.0 if is_right else -1.0


def given_to(node: Node) -> int | None:
    """Return how many arguments a path is called with; None where it is not called."""
    call = node.parent
    if call is not None and call.type == "generic_function":
        node, call = call, call.parent
    if call is None or call.type != "call_expression" or call.has_error:
        return None
    arguments = call.child_by_field_name("arguments")
    is_called = call.child_by_field_name("function") == node
    return count_arguments(arguments) if is_called and arguments is not None else None


def count_arguments(arguments: Node) -> int:
    """Return how many arguments stand between the parentheses of a call."""
    return sum(
        "comment" not in each.type and each.type != "attribute_item"
        for each in arguments.named_children
    )
