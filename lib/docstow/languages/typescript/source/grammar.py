"""Syntax trees of TypeScript and JavaScript.

Where a grammar falls short of the language, the text is replaced before it is parsed by other text
of the same length and meaning, so that places remain true.
"""

from __future__ import annotations

import re
from functools import cache, lru_cache
from typing import TYPE_CHECKING

from docstow.languages.shared import trees
from docstow.languages.typescript.source.model import Span

if TYPE_CHECKING:
    from tree_sitter import Language, Node

#: What the name of a default export without one begins with in patched text.
NAMELESS = "$defaul"
#: What stands for ``abstract`` in patched text where that is the name of a member.
ABSTRACT = "$bstract"
#: What stands for ``global`` in patched text.
GLOBAL = "$"
# What is looked for in an import or a comment has a limit: one that never ends is read to its end
# from each place that begins like it.
_IMPORT = re.compile(
    rb"\bimport\(\s*(?:\"([^\"\n]*)\"|'([^'\n]*)')\s*(?:,\s*\{[^)]{0,500}\}\s*)?\)", re.ASCII
)
_TYPE_STAR = re.compile(rb"(\bexport\s+)type(?=\s*\*)")
_VARIANCE = re.compile(
    rb"([<,]\s*(?:/\*(?:[^*]|\*(?!/)){0,500}\*/\s*)?(?:const\s+)?)((?:in\s+)?out\s+|in\s+)"
    rb"(?=[A-Za-z_$][\w$]*\s*(?:extends\b|[,>=]))"
)
_EXPORTED_REQUIRE = re.compile(rb"\bexport(?=\s+import\s+[\w$]+\s*=\s*require\()")
_KEYOF_READONLY = re.compile(rb"(\bkeyof\s+)readonly\b")
_OPTIONAL_MAPPED = re.compile(rb"\](\s*)\?(\s+):")
_UNNAMED_FUNCTION = re.compile(rb"\bexport default (async )?(function\s*)\(")
_ABSTRACT_NAME = re.compile(rb"\babstract(?=\s*\??:)")
_GLOBAL_BLOCK = re.compile(rb"(?m)^([ \t]*)[ \t]{2}global(?=\s*\{)")
#: Statements whose trees are kept.
_MOST_STATEMENTS = 16


def parse(body: bytes, *, script: bool = False) -> Node:
    """Return the root of a file's syntax tree.

    Args:
        body: the file, or whole statements of it.
        script: whether it is JavaScript.

    Raises:
        UnreadableInput: it takes too long.
    """
    if script:
        return trees.parse(_grammar("javascript"), body).root_node
    return trees.parse(_grammar("typescript"), patched(body)).root_node


@lru_cache(maxsize=_MOST_STATEMENTS)
def parse_statement(body: bytes, *, script: bool) -> Node:
    """Return the root of a statement's syntax tree, of which the last ones are kept.

    What is read of a statement on demand has it parsed again: the trees of all of them would take
    ten times the bytes of their text.

    Raises:
        UnreadableInput: it takes too long.
    """
    return parse(body, script=script)


def patched(body: bytes) -> bytes:
    """Return the same declarations in words that the grammar knows, each at its place."""
    if b"import(" in body:
        body = _IMPORT.sub(lambda found: b"$".ljust(len(found[0]), b"_"), body)
    if b"type" in body:
        body = _TYPE_STAR.sub(rb"\1    ", body)
    body = _VARIANCE.sub(lambda found: found[1] + b" " * len(found[2]), body)
    if b"export default " in body:
        body = _UNNAMED_FUNCTION.sub(_name_function, body)
    if b"require(" in body:
        body = _EXPORTED_REQUIRE.sub(b" " * len("export"), body)
    if b"keyof" in body:
        body = _OPTIONAL_MAPPED.sub(rb"]\1\2?:", body)
        body = _KEYOF_READONLY.sub(rb"\1        ", body)
    if b"abstract" in body:
        body = _ABSTRACT_NAME.sub(ABSTRACT.encode(), body)
    if b"global" in body:
        body = _GLOBAL_BLOCK.sub(rb"\1module $", body)
    return body


def imported(body: bytes, start: int) -> str | None:
    """Return the specifier of the ``import("x")`` that is written at a place, if one is."""
    found = _IMPORT.match(body, start)
    return (found[1] or found[2] or b"").decode(errors="replace") if found else None


def text(node: Node) -> str:
    """Return what a node covers, as the patched source has it."""
    return (node.text or b"").decode(errors="replace")


def child_of(node: Node, name: str) -> Node | None:
    """Return the child of a node by the grammar's name for it."""
    return node.child_by_field_name(name)


def has_token(node: Node, *kinds: str) -> bool:
    """Whether one of a node's own children is one of some keywords or signs."""
    return any(child.type in kinds for child in node.children)


def dotted_path(node: Node) -> tuple[str, ...]:
    """Return the names of ``a.b.c``; nothing for any other node."""
    names: list[str] = []
    while node.type.startswith(("nested_", "member_")):
        before = child_of(node, "module") or child_of(node, "object")
        last = child_of(node, "name") or child_of(node, "property")
        if before is None or last is None:
            return ()
        names.append(text(last))
        node = before
    if node.type not in ("identifier", "type_identifier", "property_identifier"):
        return ()
    return (text(node), *reversed(names))


def span_of(node: Node) -> Span:
    """Return where a node of a whole file stands."""
    return Span(node.start_byte, node.end_byte, node.start_point[0] + 1, node.end_point[0] + 1)


def _name_function(found: re.Match[bytes]) -> bytes:
    head = b"export " + (found[1] or b"") + b"function "
    return head + b"$default".ljust(len(found[0]), b"_")[: len(found[0]) - len(head) - 1] + b"("


@cache
def _grammar(language: str) -> Language:
    from tree_sitter import Language

    if language == "javascript":
        import tree_sitter_javascript

        return Language(tree_sitter_javascript.language())
    import tree_sitter_typescript

    return Language(tree_sitter_typescript.language_typescript())
