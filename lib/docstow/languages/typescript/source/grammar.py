"""Syntax trees of TypeScript and JavaScript.

This room knows the grammars and where they fall short of the language: such text is replaced by
other text of the same length and meaning before it is parsed, so that places remain true. It does
not know what a declaration is.
"""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tree_sitter import Node, Parser

#: What stands for the default export, if only its beginning fits in, and for ``global``.
NAMELESS = "$defaul"
GLOBAL = "$"
_IMPORT = re.compile(
    rb"\bimport\(\s*(?:\"([^\"\n]*)\"|'([^'\n]*)')\s*(?:,\s*\{[^)]*\}\s*)?\)", re.ASCII
)
_TYPE_STAR = re.compile(rb"(\bexport\s+)type(?=\s*\*)")
_VARIANCE = re.compile(
    rb"([<,]\s*(?:/\*(?:[^*]|\*(?!/))*\*/\s*)?(?:const\s+)?)((?:in\s+)?out\s+|in\s+)"
    rb"(?=[A-Za-z_$][\w$]*\s*(?:extends\b|[,>=]))"
)
_REQUIRED = re.compile(rb"\bexport(?=\s+import\s+[\w$]+\s*=\s*require\()")
_KEYS = re.compile(rb"(\bkeyof\s+)readonly\b")
_OPTIONAL = re.compile(rb"\](\s*)\?(\s+):")
_NAMELESS = re.compile(rb"\bexport default (async )?(function\s*)\(")
_GLOBAL = re.compile(rb"(?m)^([ \t]*)[ \t]{2}global(?=\s*\{)")


def parse(body: bytes, *, script: bool = False) -> Node:
    """The root of a file's syntax tree.

    Args:
        body: the file, or whole statements of it.
        script: whether it is JavaScript.
    """
    return (
        _parser("javascript" if script else "typescript")
        .parse(body if script else patched(body))
        .root_node
    )


def patched(body: bytes) -> bytes:
    """The same declarations in words that the grammar knows, each at its place."""
    if b"import(" in body:
        body = _IMPORT.sub(lambda found: b"$".ljust(len(found[0]), b"_"), body)
    if b"type" in body:
        body = _TYPE_STAR.sub(rb"\1    ", body)
    body = _VARIANCE.sub(lambda found: found[1] + b" " * len(found[2]), body)
    if b"export default " in body:
        body = _NAMELESS.sub(_named, body)
    if b"require(" in body:
        body = _REQUIRED.sub(b" " * len("export"), body)
    if b"keyof" in body:
        body = _OPTIONAL.sub(rb"]\1\2?:", body)
        body = _KEYS.sub(rb"\1        ", body)
    if b"global" in body:
        body = _GLOBAL.sub(rb"\1module $", body)
    return body


def imported(body: bytes, start: int) -> str | None:
    """The specifier of the ``import("x")`` that is written at a place, if one is."""
    found = _IMPORT.match(body, start)
    return (found[1] or found[2] or b"").decode(errors="replace") if found else None


def text(node: Node) -> str:
    """What a node covers, as the patched source has it."""
    return (node.text or b"").decode(errors="replace")


def field(node: Node, name: str) -> Node | None:
    """A node's child by the grammar's name for it."""
    return node.child_by_field_name(name)


def has_token(node: Node, *kinds: str) -> bool:
    """Whether one of a node's own children is such a keyword or sign."""
    return any(child.type in kinds for child in node.children)


def _named(found: re.Match[bytes]) -> bytes:
    head = b"export " + (found[1] or b"") + b"function "
    return head + b"$default".ljust(len(found[0]), b"_")[: len(found[0]) - len(head) - 1] + b"("


@cache
def _parser(language: str) -> Parser:
    import tree_sitter

    if language == "javascript":
        import tree_sitter_javascript

        return tree_sitter.Parser(tree_sitter.Language(tree_sitter_javascript.language()))
    import tree_sitter_typescript

    return tree_sitter.Parser(tree_sitter.Language(tree_sitter_typescript.language_typescript()))
