"""The syntax tree of a TypeScript or JavaScript file, walked once.

What is around a node is found without a walk from the root, so that long chains and deep nesting
cost no square of their length.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import TYPE_CHECKING

from docstow.languages.shared import trees

if TYPE_CHECKING:
    from tree_sitter import Language, Node


@lru_cache(maxsize=2)
def _grammar(dialect: str) -> Language:
    import tree_sitter_typescript as typescript
    from tree_sitter import Language

    return Language(
        typescript.language_tsx() if dialect == "tsx" else typescript.language_typescript()
    )


def parse(code: str) -> Node:
    """Parse code with JSX, or without it where that alone gives no errors.

    Raises:
        UnreadableInput: it takes too long.
    """
    body = _unfenced(code).encode(errors="replace")
    root = trees.parse(_grammar("tsx"), body).root_node
    # The dialects differ in what `<` begins.
    if root.has_error and b"<" in body:
        other = trees.parse(_grammar("ts"), body).root_node
        if not other.has_error:
            return other
    return root


def _unfenced(code: str) -> str:
    lines = code.split("\n")
    if not any(line.lstrip().startswith("```") for line in lines):
        return code
    inside, kept = False, []
    for line in lines:
        fence = line.lstrip().startswith("```")
        inside = inside != fence
        kept.append(line if inside and not fence else "")
    return "\n".join(kept)


class Tree:
    """A file.

    Args:
        code: its text; of Markdown the fenced code.

    Attributes:
        nodes: all named ones, each before those below it.
    """

    def __init__(self, code: str) -> None:
        self.root = parse(code)
        self.nodes: list[Node] = []
        self._parents: dict[int, Node] = {}
        waiting = [self.root]
        while waiting:
            node = waiting.pop()
            self.nodes.append(node)
            inner = node.named_children
            for each in inner:
                self._parents[each.id] = node
            waiting += reversed(inner)

    def parent(self, node: Node) -> Node | None:
        """Return the node around one; None for the root."""
        return self._parents.get(node.id)

    def above(self, node: Node) -> Iterator[Node]:
        """Iterate over the nodes around one, the nearest first."""
        outer = self._parents.get(node.id)
        while outer is not None:
            yield outer
            outer = self._parents.get(outer.id)


def text_of(node: Node | None) -> str:
    """Return the source of a node."""
    return (node.text or b"").decode(errors="replace") if node is not None else ""


def unquoted(node: Node | None) -> str:
    """Return the value of a string literal."""
    return text_of(node).strip("'\"`")


def child(node: Node | None, name: str) -> Node | None:
    """Return the child of a node by the grammar's name for it."""
    return node.child_by_field_name(name) if node is not None else None


def call_arguments(call: Node) -> list[Node] | None:
    """Return the arguments of a call; None for any other node, as a tagged template."""
    arguments = child(call, "arguments")
    if arguments is None:
        return [] if call.type == "new_expression" else None
    if arguments.type != "arguments":
        return None
    return [each for each in arguments.named_children if each.type != "comment"]


#: Nodes of a chain of members and calls.
_CHAIN = frozenset(
    {"member_expression", "call_expression", "subscript_expression", "non_null_expression"}
)


def is_tagged(template: Node) -> bool:
    """Whether a template may belong to a tag with type arguments, ``sql<number>`...```.

    The grammar reads that as two comparisons, of which the second begins with the template.
    """
    node = template
    while (above := node.parent) is not None and above.type in _CHAIN and above.children[0] == node:
        node = above
    left = child(above, "left")
    compared = above is not None and above.type == "binary_expression" and left != node
    return compared and left is not None and left.type == "binary_expression"


def parameters(function: Node) -> list[Node]:
    """Return the parameters of a function, as patterns or with their types."""
    alone = child(function, "parameter")
    if alone is not None:
        return [alone]
    listed = child(function, "parameters")
    found = listed.named_children if listed is not None else []
    return [
        each
        for each in found
        if each.type not in ("comment", "decorator") and text_of(child(each, "pattern")) != "this"
    ]
