"""The CommonJS exports of a JavaScript file, and whether all of them are seen.

Nothing is run: exports in a form that neither people nor compilers usually write make the others
uncertain.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from docstow.languages.typescript.source.grammar import child_of, span_of, text
from docstow.languages.typescript.source.model import Declaration, Reference, Scope, Source

if TYPE_CHECKING:
    from tree_sitter import Node

_BLOCKS = ("program", "if_statement", "else_clause", "statement_block", "expression_statement",
           "parenthesized_expression", "binary_expression", "sequence_expression")  # fmt: skip
_EXPORTS = ("exports", "module.exports")
_STARS = ("__exportStar", "__export", "tslib_1.__exportStar", "tslib.__exportStar", "__reExport")
#: Helpers of compilers around ``require``.
_INTEROP = ("__importStar", "__importDefault", "__toESM")
#: Bytes of a file beyond which it is a bundle, whose exports are not followed.
_MAX_SIZE = 1_000_000


def read_exports(root: Node, source: Source) -> None:
    """Add the CommonJS exports of a file to its scope, if it has no ES module syntax.

    Args:
        root: of its syntax tree.
        source: the file, its statements read.
    """
    scope = source.scope
    if source.module:
        return
    if b"exports" not in source.body:
        scope.dynamic = b"define(" in source.body or b"this" in source.body
        return
    if len(source.body) > _MAX_SIZE:
        scope.dynamic = True
        return
    reader = _Exports(scope)
    reader.block(root)
    _read_requires(root, scope)
    # Each mention is either understood or may add anything.
    scope.dynamic = scope.dynamic or _count_mentions(root) > reader.understood


class _Exports:
    """The exports of one file, and how many mentions of ``exports`` they account for."""

    def __init__(self, scope: Scope) -> None:
        self.scope = scope
        self.understood = 0

    def block(self, node: Node) -> None:
        for child in node.named_children:
            if child.type in _BLOCKS:
                self.block(child)
            elif child.type == "assignment_expression":
                self._assignment(child)
            elif child.type == "call_expression":
                self._call(child)
            elif child.type in ("variable_declaration", "lexical_declaration"):
                for each in child.named_children:
                    value = child_of(each, "value")
                    if value is not None and value.type == "assignment_expression":
                        self._assignment(value)

    def _assignment(self, node: Node) -> None:
        left, right = child_of(node, "left"), child_of(node, "right")
        if left is None or right is None:
            return
        target = text(left)
        if target in _EXPORTS:
            self.understood += 1
            self._whole(right)
        elif left.type == "member_expression":
            owner, name = child_of(left, "object"), child_of(left, "property")
            if owner is not None and name is not None and text(owner) in _EXPORTS:
                self.understood += 1
                self._export(text(name), node, right)
        if right.type == "assignment_expression":
            self._assignment(right)

    def _whole(self, value: Node) -> None:
        if value.type == "object":
            for each in value.named_children:
                self._property(each)
        elif (module := _required(value)) is not None:
            self.scope.equals.append(Reference(module, (), whole=True))
        elif value.type == "identifier":
            self.scope.equals.append(Reference("", (text(value),)))
        elif value.type == "assignment_expression" or text(value) in _EXPORTS:
            self.understood += text(value) in _EXPORTS
        else:
            self.scope.dynamic = True

    def _property(self, node: Node) -> None:
        if node.type == "shorthand_property_identifier":
            self.scope.exports.setdefault(text(node), Reference("", (text(node),)))
            return
        if node.type == "comment":
            return
        name = child_of(node, "key" if node.type == "pair" else "name")
        if name is None or name.type not in ("property_identifier", "string"):
            self.scope.dynamic = True
            return
        self._export(text(name).strip("'\""), node, child_of(node, "value") or node)

    def _export(self, name: str, whole: Node, value: Node) -> None:
        if name == "__esModule":
            self.scope.explicit = True
            return
        if value.type == "identifier":
            self.scope.exports[name] = Reference("", (text(value),))
        elif (module := _required(value)) is not None:
            self.scope.exports[name] = Reference(module, (), whole=True)
        elif name not in self.scope.exports or value.type != "unary_expression":
            self._define(name, whole)

    def _call(self, node: Node) -> None:
        function, arguments = child_of(node, "function"), child_of(node, "arguments")
        if function is None or arguments is None:
            return
        given = arguments.named_children
        if text(function) == "Object.defineProperty" and len(given) > 2:
            if text(given[0]) in _EXPORTS and given[1].type == "string":
                self.understood += 1
                name = text(given[1])[1:-1]
                if name != "__esModule":
                    self._define(name, node)
        elif text(function) in _STARS and given:
            module = next(filter(None, map(_required, given)), None)
            if module is not None:
                self.understood += sum(text(each) in _EXPORTS for each in given)
                self.scope.stars.append(module)

    def _define(self, name: str, node: Node) -> None:
        """Export a value that has no name of its own."""
        local = f"exports.{name}"
        self.scope.names[local] = [Declaration(local, "value", span_of(node))]
        self.scope.exports[name] = Reference("", (local,))


def _read_requires(root: Node, scope: Scope) -> None:
    """Read ``const x = require()`` as an import."""
    for statement in root.named_children:
        if statement.type not in ("variable_declaration", "lexical_declaration"):
            continue
        for each in statement.named_children:
            value, target = child_of(each, "value"), child_of(each, "name")
            module = _required(value) if value else None
            if module is None or target is None or target.type != "identifier":
                continue
            scope.names.pop(text(target), None)
            scope.imports[text(target)] = Reference(module, (), whole=True)


def _required(node: Node) -> str | None:
    """Return the specifier of ``require("x")``; None for any other expression."""
    function, arguments = child_of(node, "function"), child_of(node, "arguments")
    if node.type != "call_expression" or function is None or arguments is None:
        return None
    given = arguments.named_children
    if text(function) == "require" and len(given) == 1 and given[0].type == "string":
        return text(given[0])[1:-1]
    if text(function) in _INTEROP and given:
        return _required(given[0])
    return None


def _count_mentions(root: Node) -> int:
    """Count how often a file names its exports, comments and strings left out."""
    count = 0
    cursor = root.walk()
    while True:
        node = cursor.node
        if node is not None and not node.child_count and node.type.endswith("identifier"):
            count += node.text == b"exports"
        if cursor.goto_first_child() or cursor.goto_next_sibling():
            continue
        while cursor.goto_parent():
            if cursor.goto_next_sibling():
                break
        else:
            return count
