"""JSON with comments, as editors keep their settings: read, and changed in one place.

What is not changed keeps its bytes: comments, indentation, commas at the end of lists.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from docstow.core.errors import UnreadableInput
from docstow.languages.typescript.source import grammar

if TYPE_CHECKING:
    from tree_sitter import Node

#: An object at the beginning of a program would be a block, hence the parentheses.
_BEFORE, _BEHIND = b"(", b"\n)"
_WORDS = {"true": True, "false": False, "null": None}


def loads(text: str) -> dict[str, Any]:
    """Read an object; a text of blanks and comments is an empty one.

    Raises:
        UnreadableInput: it is none.
    """
    document = _Document(text)
    return {} if document.root is None else dict(_value(document.root))


def put(text: str, path: Sequence[str], value: Mapping[str, Any]) -> str:
    """Return the text with a value at a path of keys; objects on the way are made.

    Raises:
        UnreadableInput: the text is no object, or something else stands on the way.
    """
    document = _Document(text)
    node = document.root
    if node is None:
        return f"{text}{document.dump(_nested(path, value), '')}\n"
    known = 0
    while known < len(path) and (pair := _pair(node, path[known])) is not None:
        node = _value_of(pair)
        known += 1
        if known < len(path) and node.type != "object":
            raise UnreadableInput(f"{'.'.join(path[:known])} is no object here.")
    indent = document.indent(node)
    if known == len(path):
        return document.spliced(node.start_byte, node.end_byte, document.dump(value, indent))
    inner = indent + document.unit
    nested = document.dump(_nested(path[known + 1 :], value), inner)
    entry = f"\n{inner}{json.dumps(path[known])}: {nested}"
    pairs = [child for child in node.named_children if child.type == "pair"]
    if not pairs:
        # Comments may stand between the braces; what is new goes behind them.
        end = node.end_byte - 1
        return document.spliced(len(document.source[:end].rstrip()), end, f"{entry}\n{indent}")
    place = node.children.index(pairs[-1]) + 1
    if node.children[place].type == ",":
        end = node.children[place].end_byte
        return document.spliced(end, end, f"{entry},")
    end = pairs[-1].end_byte
    return document.spliced(end, end, f",{entry}")


def remove(text: str, path: Sequence[str]) -> str:
    """Return the text without what stands at a path of keys, nor objects that are empty then.

    Raises:
        UnreadableInput: the text is no object.
    """
    document = _Document(text)
    node = document.root
    pairs: list[Node] = []
    for key in path:
        if node is None or (pair := _pair(node, key)) is None:
            return text
        pairs.append(pair)
        node = _value_of(pair)
    while len(pairs) > 1 and len(_value_of(pairs[-2]).named_children) == 1:
        pairs.pop()
    pair = pairs[-1]
    around = pair.parent.children if pair.parent is not None else []
    place = around.index(pair)
    begin, end = pair.start_byte, pair.end_byte
    if around[place + 1].type == ",":
        end = around[place + 1].end_byte
    elif around[place - 1].type == ",":
        begin = around[place - 1].start_byte
    return document.spliced(len(document.source[:begin].rstrip()), end, "")


class _Document:
    """A text and its tree.

    Attributes:
        source: the bytes that offsets of nodes count in.
        root: the object; None where there is nothing but blanks and comments.
        unit: what one level is indented by.
    """

    def __init__(self, text: str) -> None:
        self.source = _BEFORE + text.encode() + _BEHIND
        indented = re.search(r"^[ \t]+(?=\")", text, re.MULTILINE)
        self.unit = indented[0] if indented else "  "
        self.root: Node | None = None
        if not re.sub(r"//[^\n]*|/\*.*?\*/", "", text, flags=re.DOTALL).strip():
            return
        node = grammar.parse(self.source, script=True)
        if node.has_error:
            raise UnreadableInput("This is no JSON, with or without comments.")
        while node.type != "object":
            inside = [each for each in node.named_children if each.type != "comment"]
            if len(inside) != 1:
                raise UnreadableInput("This is no JSON object.")
            node = inside[0]
        self.root = node
        _value(node)  # what JavaScript has and JSON has not is refused

    def indent(self, node: Node) -> str:
        """Return the blanks at the beginning of the line that a node begins in."""
        begin = self.source.rfind(b"\n", 0, node.start_byte) + 1 or len(_BEFORE)
        found = re.match(rb"[ \t]*", self.source[begin : node.start_byte])
        return found[0].decode() if found else ""

    def dump(self, value: Mapping[str, Any], indent: str) -> str:
        """Return JSON that stands in a line with this indentation."""
        text = json.dumps(value, indent=self.unit, ensure_ascii=False)
        return text.replace("\n", f"\n{indent}")

    def spliced(self, begin: int, end: int, new: str) -> str:
        """Return the text with other bytes in the place of some."""
        changed = self.source[:begin] + new.encode() + self.source[end:]
        return changed[len(_BEFORE) : -len(_BEHIND)].decode()


def _nested(path: Sequence[str], value: Mapping[str, Any]) -> Mapping[str, Any]:
    for key in reversed(path):
        value = {key: value}
    return value


def _pair(node: Node, key: str) -> Node | None:
    """Return the last pair of an object that has this key, which is the one that holds."""
    found = None
    for child in node.named_children if node.type == "object" else ():
        if child.type == "pair" and _key(child) == key:
            found = child
    return found


def _key(pair: Node) -> str:
    key = pair.child_by_field_name("key")
    if key is None or key.type != "string" or key.text is None:
        raise UnreadableInput("A key is no string in double quotes.")
    return str(_loads(key.text))


def _value_of(pair: Node) -> Node:
    value = pair.child_by_field_name("value")
    if value is None:
        raise UnreadableInput("A key has no value.")
    return value


def _value(node: Node) -> Any:
    """Return what a node stands for."""
    inside = [each for each in node.named_children if each.type != "comment"]
    text = node.text or b""
    if node.type == "object":
        if any(each.type != "pair" for each in inside):
            raise UnreadableInput("An object has something else than keys with values.")
        return {_key(each): _value(_value_of(each)) for each in inside}
    if node.type == "array":
        return [_value(each) for each in inside]
    if node.type in {"string", "number", "unary_expression"}:
        return _loads(text)
    if node.type in _WORDS:
        return _WORDS[node.type]
    raise UnreadableInput(f"{text[:40].decode(errors='replace')!r} is no JSON.")


def _loads(text: bytes) -> Any:
    try:
        return json.loads(text)
    except ValueError as error:
        raise UnreadableInput(f"{text[:40].decode(errors='replace')!r} is no JSON.") from error
