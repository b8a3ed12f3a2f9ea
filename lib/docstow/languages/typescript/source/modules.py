"""What a JavaScript file puts into ``module.exports``, and whether all of it can be seen.

This room knows the forms in which people and compilers write exports. It runs nothing: whatever
is written in another form makes the exports uncertain.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from docstow.languages.typescript.source.grammar import field, has_token, text
from docstow.languages.typescript.source.model import Declaration, Reference, Scope, Source, Span

if TYPE_CHECKING:
    from tree_sitter import Node


# ``import`` and ``export`` clauses of TypeScript and JavaScript → a scope's imports and exports.


def exported(node: Node, scope: Scope, module: str) -> None:
    """Take in what ``export {a}`` and ``export *`` say, of another module or of the file."""
    clause = next(
        (c for c in node.children if c.type in ("export_clause", "namespace_export")), None
    )
    if clause is None:
        if has_token(node, "*") and module:
            scope.stars.append(module)
    elif clause.type == "namespace_export":
        scope.exports[name_of(clause.named_children[-1])] = Reference(module)
    else:
        for each in clause.named_children:
            name, alias = field(each, "name"), field(each, "alias")
            if each.type == "export_specifier" and name is not None:
                scope.exports[name_of(alias or name)] = Reference(module, (name_of(name),))
            elif each.type == "ERROR":
                scope.dynamic = True


def imported(node: Node, scope: Scope, body: bytes) -> None:
    """Take in what an import statement says."""
    source = field(node, "source")
    module = quoted(source) if source else ""
    for clause in node.named_children:
        if clause.type == "import_require_clause":
            target = field(clause, "source")
            if target is not None:
                name = text(clause.named_children[0])
                scope.imports[name] = Reference(quoted(target), (), whole=True)
                if body[: node.start_byte][-32:].rstrip().endswith(b"export"):
                    scope.exports[name] = Reference("", (name,))
        elif clause.type == "import_clause":
            for each in clause.named_children:
                if each.type == "identifier":
                    scope.imports[text(each)] = Reference(module, ("default",))
                elif each.type == "namespace_import":
                    scope.imports[text(each.named_children[-1])] = Reference(module)
                elif each.type == "named_imports":
                    _named_imports(each, scope, module)


def _named_imports(node: Node, scope: Scope, module: str) -> None:
    for each in node.named_children:
        name, alias = field(each, "name"), field(each, "alias")
        if name is not None:
            scope.imports[name_of(alias or name)] = Reference(module, (name_of(name),))


def renamed(node: Node, scope: Scope) -> list[str]:
    """``import X = A.B`` within a file."""
    name, *rest = node.named_children
    path = path_of(rest[-1]) if rest else ()
    if not path:
        scope.dynamic = True
        return []
    scope.imports[text(name)] = Reference("", path)
    return [text(name)]


def path_of(node: Node) -> tuple[str, ...]:
    """The names of ``a.b.c``; empty for any other expression."""
    if node.type in ("identifier", "property_identifier", "type_identifier"):
        return (text(node),)
    if node.type in ("member_expression", "nested_identifier"):
        inner, last = field(node, "object"), field(node, "property")
        before = path_of(inner) if inner else ()
        return (*before, text(last)) if before and last is not None else ()
    return ()


def name_of(node: Node) -> str:
    """A name, which may be written as a string."""
    return quoted(node) if node.type == "string" else text(node)


def quoted(node: Node) -> str:
    """What a string literal says."""
    return text(node)[1:-1]


_BLOCKS = ("program", "if_statement", "else_clause", "statement_block", "expression_statement",
           "parenthesized_expression", "binary_expression", "sequence_expression")  # fmt: skip


_EXPORTS = ("exports", "module.exports")


_STARS = ("__exportStar", "__export", "tslib_1.__exportStar", "tslib.__exportStar", "__reExport")


#: Bytes of a file beyond which nobody wrote it: a bundle, whose exports are not followed.
_BUNDLE = 1_000_000


def read(root: Node, source: Source) -> None:
    """Add a file's CommonJS exports to its scope.

    Args:
        root: of its syntax tree.
        source: what the module syntax has given already.
    """
    scope = source.scope
    if source.module:
        return
    mentions = source.body.count(b"exports")
    if not mentions:
        scope.dynamic = b"define(" in source.body or b"this" in source.body
        return
    if len(source.body) > _BUNDLE:
        scope.dynamic = True
        return
    reader = _Exports(scope)
    reader.block(root)
    _requires(root, scope)
    # Each mention is either understood or may add anything.
    scope.dynamic = scope.dynamic or _mentions(root) > reader.understood


class _Exports:
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
                    value = field(each, "value")
                    if value is not None and value.type == "assignment_expression":
                        self._assignment(value)

    def _assignment(self, node: Node) -> None:
        left, right = field(node, "left"), field(node, "right")
        if left is None or right is None:
            return
        target = text(left)
        if target in _EXPORTS:
            self.understood += 1
            self._whole(right)
        elif left.type == "member_expression":
            owner, name = field(left, "object"), field(left, "property")
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
        name = field(node, "key" if node.type == "pair" else "name")
        if name is None or name.type not in ("property_identifier", "string"):
            self.scope.dynamic = True
            return
        self._export(text(name).strip("'\""), node, field(node, "value") or node)

    def _export(self, name: str, whole: Node, value: Node) -> None:
        if name == "__esModule":
            self.scope.explicit = True
            return
        if value.type == "identifier":
            self.scope.exports[name] = Reference("", (text(value),))
        elif (module := _required(value)) is not None:
            self.scope.exports[name] = Reference(module, (), whole=True)
        elif name not in self.scope.exports or value.type != "unary_expression":
            local = f"exports.{name}"
            self.scope.names[local] = [Declaration(local, "value", _span(whole))]
            self.scope.exports[name] = Reference("", (local,))

    def _call(self, node: Node) -> None:
        function, arguments = field(node, "function"), field(node, "arguments")
        if function is None or arguments is None:
            return
        given = arguments.named_children
        if text(function) == "Object.defineProperty" and len(given) > 2:
            if text(given[0]) in _EXPORTS and given[1].type == "string":
                self.understood += 1
                self._defined(text(given[1])[1:-1], node)
        elif text(function) in _STARS and given:
            module = next(filter(None, map(_required, given)), None)
            if module is not None:
                self.understood += sum(text(each) in _EXPORTS for each in given)
                self.scope.stars.append(module)

    def _defined(self, name: str, node: Node) -> None:
        if name != "__esModule":
            local = f"exports.{name}"
            self.scope.names[local] = [Declaration(local, "value", _span(node))]
            self.scope.exports[name] = Reference("", (local,))


def _requires(root: Node, scope: Scope) -> None:
    """What ``const x = require()`` and ``const {a, b: c} = require()`` stand for."""
    for statement in root.named_children:
        if statement.type not in ("variable_declaration", "lexical_declaration"):
            continue
        for each in statement.named_children:
            value, target = field(each, "value"), field(each, "name")
            module = _required(value) if value else None
            if module is None or target is None or target.type != "identifier":
                continue
            scope.names.pop(text(target), None)
            scope.imports[text(target)] = Reference(module, (), whole=True)


def _required(node: Node) -> str | None:
    function, arguments = field(node, "function"), field(node, "arguments")
    if node.type != "call_expression" or function is None or arguments is None:
        return None
    given = arguments.named_children
    if text(function) == "require" and len(given) == 1 and given[0].type == "string":
        return text(given[0])[1:-1]
    # A compiler's helper around require.
    if text(function) in ("__importStar", "__importDefault", "__toESM") and given:
        return _required(given[0])
    return None


def _mentions(root: Node) -> int:
    """How often a file speaks of its exports, comments and strings left out."""
    count = 0
    cursor = root.walk()
    while True:
        node = cursor.node
        if node is not None and not node.child_count and node.type.endswith("identifier"):
            name = node.text
            if name == b"exports":
                count += 1
        if cursor.goto_first_child() or cursor.goto_next_sibling():
            continue
        while cursor.goto_parent():
            if cursor.goto_next_sibling():
                break
        else:
            return count


def _span(node: Node) -> Span:
    return Span(node.start_byte, node.end_byte, node.start_point[0] + 1, node.end_point[0] + 1)
