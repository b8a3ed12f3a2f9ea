"""The syntax tree of a TypeScript or JavaScript file, walked once.

What is around a node is found without a walk from the root, so that long chains and deep nesting
cost no square of their length.
"""

from __future__ import annotations

import json
import re
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


_FENCE = re.compile(r"^[ \t]*```", re.MULTILINE)
_COMMENT = re.compile(r"^[ \t]*/\*", re.MULTILINE)
#: What calls a function or a constructor.
CALLS = frozenset({"call_expression", "new_expression"})


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
    first = _FENCE.search(code)
    if first is None or _is_in_comment(code, first.start()):
        return code
    lines = code.split("\n")
    inside, kept = False, []
    for line in lines:
        fence = line.lstrip().startswith("```")
        inside = inside != fence
        kept.append(line if inside and not fence else "")
    return "\n".join(kept)


def _is_in_comment(code: str, place: int) -> bool:
    """Return whether a place lies in a comment that begins with its line, as those of docs do."""
    opened = max((each.start() for each in _COMMENT.finditer(code, 0, place)), default=-1)
    return opened > code.rfind("*/", 0, place)


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


def last_word(node: Node) -> Node:
    """Return the word that names what an expression gives: of a call that of the function."""
    while True:
        if node.type in {"call_expression", "new_expression"}:
            inner = child(node, "function") or child(node, "constructor")
        elif node.type in {"member_expression", "subscript_expression"}:
            inner = child(node, "property") or child(node, "object")
        elif node.type in {"non_null_expression", "parenthesized_expression", "await_expression"}:
            inner = node.named_children[0] if node.named_children else None
        else:
            return node
        if inner is None:
            return node
        node = inner


def function_around(node: Node | None, tree: Tree) -> Node | None:
    """Return the word that names the function whose arguments a node is in."""
    for each in tree.above(node) if node is not None else ():
        if each.type in CALLS:
            return last_word(each)
    return None


def call_at(node: Node | None, tree: Tree) -> Node | None:
    """Return the call that a node is, or is a part of."""
    around = (node, *tree.above(node)) if node is not None else ()
    return next((each for each in around if each.type in CALLS), None)


def called_at(node: Node, tree: Tree) -> Node | None:
    """Return the call of a member; None where it is not called."""
    outer = tree.parent(node)
    call = tree.parent(outer) if outer is not None else None
    if call is None or call.type not in CALLS:
        return None
    is_called = outer in (child(call, "function"), child(call, "constructor"))
    return call if is_called else None


def called_text(node: Node | None, tree: Tree) -> str:
    """Return the text of the function that is called around a place."""
    call = call_at(node, tree)
    called = child(call, "function") or child(call, "constructor")
    return text_of(called)[-80:]


def keys_beside(node: Node | None, tree: Tree) -> set[str]:
    """Return the keys of the object that a key is in."""
    for each in tree.above(node) if node is not None else ():
        if each.type == "object":
            return {key for key, _ in object_keys(each)}
    return set()


def object_keys(node: Node, *, below: bool = False) -> Iterator[tuple[str, Node]]:
    """Yield the keys of an object as it is written, and where they stand.

    Args:
        node: the object.
        below: yield those of the objects in it as well.
    """
    for each in node.named_children:
        key = child(each, "key") or child(each, "name") or each
        if key.type in {"property_identifier", "string", "shorthand_property_identifier"}:
            yield text_of(key).strip("'\""), key
        value = child(each, "value") if below else None
        if value is not None and value.type == "object":
            yield from object_keys(value, below=True)


def has_spread(node: Node) -> bool:
    """Return whether an object as it is written takes over what another one has."""
    return any(each.type == "spread_element" for each in node.named_children)


def without_key(body: bytes, key: Node) -> bytes:
    """Return code with blanks in place of a key, its value and the comma behind it."""
    pair = key.parent if key.parent is not None and key.parent.type != "object" else key
    after = pair.next_sibling
    comma = after if after is not None and after.type == "," else None
    code = without(body, pair)
    return without(code, comma) if comma is not None else code


def with_key(body: bytes, key: Node, name: str) -> bytes:
    """Return code with another name in the place of a key, whose value stays."""
    is_short = key.type == "shorthand_property_identifier"
    value = b": " + (key.text or b"") if is_short else b""
    return body[: key.start_byte] + json.dumps(name).encode() + value + body[key.end_byte :]


def without(body: bytes, node: Node) -> bytes:
    """Return code with blanks in place of a node."""
    blank = re.sub(rb"[^\n]", b" ", body[node.start_byte : node.end_byte])
    return body[: node.start_byte] + blank + body[node.end_byte :]
