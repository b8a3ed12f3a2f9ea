"""The statements of a TypeScript or JavaScript file: what it declares, imports and exports.

Namespaces are read with the file; the insides of declarations are not. Nothing is run: CommonJS
exports in a form that neither people nor compilers usually write make the others uncertain.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from docstow.languages.typescript.source.grammar import (
    GLOBAL,
    NAMELESS,
    child_of,
    dotted_path,
    has_token,
    parse,
    span_of,
    text,
)
from docstow.languages.typescript.source.model import (
    DEFAULT,
    Declaration,
    DeclarationKind,
    Reference,
    Scope,
    Source,
)

if TYPE_CHECKING:
    from tree_sitter import Node

_KINDS: dict[str, DeclarationKind] = {
    "class_declaration": "class",
    "abstract_class_declaration": "class",
    "interface_declaration": "interface",
    "function_declaration": "function",
    "generator_function_declaration": "function",
    "function_signature": "function",
    "type_alias_declaration": "type",
    "enum_declaration": "enum",
}
_VARIABLES = ("lexical_declaration", "variable_declaration")
_NAMESPACES = ("internal_module", "module")
_SCRIPTS = (".js", ".mjs", ".cjs", ".jsx")
_BLOCKS = ("program", "if_statement", "else_clause", "statement_block", "expression_statement",
           "parenthesized_expression", "binary_expression", "sequence_expression")  # fmt: skip
_EXPORTS = ("exports", "module.exports")
_STARS = ("__exportStar", "__export", "tslib_1.__exportStar", "tslib.__exportStar", "__reExport")
#: Helpers of compilers around ``require``.
_INTEROP = ("__importStar", "__importDefault", "__toESM")
#: Bytes of a file beyond which it is a bundle, whose exports are not followed.
_MAX_SIZE = 1_000_000


def read_file(path: str, body: bytes) -> Source:
    """Read the statements of a file.

    Args:
        path: its name, which tells TypeScript from JavaScript and declarations from sources.
        body: its bytes.
    """
    script = path.endswith(_SCRIPTS)
    declarations = path.endswith((".d.ts", ".d.mts", ".d.cts"))
    source = Source(body, script, Scope())
    try:
        _read(source, declarations=declarations)
    except RecursionError:
        # Nothing is known of a file that is nested too deep.
        source = Source(body, script, Scope(explicit=True, dynamic=True))
    return source


def _read(source: Source, *, declarations: bool) -> None:
    root = parse(source.body, script=source.script)
    _Reader(source, ambient=declarations).statements(root, source.scope)
    if source.script:
        _read_commonjs_exports(root, source)
        if (whole := source.scope.exports.get("module.exports")) is not None:
            # What an ES module is to those who require it.
            source.scope.equals.append(whole)


class _Reader:
    def __init__(self, source: Source, *, ambient: bool) -> None:
        self.source = source
        self.ambient = ambient

    def statements(self, block: Node, scope: Scope, *, ambient: bool | None = None) -> None:
        if ambient is None:
            ambient = self.ambient
        if not ambient:
            scope.explicit = True
        doc = ""
        for node in block.named_children:
            if node.type == "comment":
                written = self.source.body[node.start_byte : node.end_byte]
                if written.startswith(b"/**"):
                    doc = written.decode(errors="replace")
                continue
            if node.has_error:
                # What could not be read may have been more than one statement.
                scope.dynamic = True
            if node.type == "import_statement":
                self._top(scope)
                _read_import(node, scope, self.source.body)
            elif node.type == "export_statement":
                self._top(scope)
                self._export(node, scope, doc)
            else:
                self._declaration(node, node, scope, doc)
            doc = ""

    def _top(self, scope: Scope) -> None:
        if scope is self.source.scope:
            self.source.module = True

    def _declaration(self, node: Node, whole: Node, scope: Scope, doc: str) -> list[str]:
        """Add what a statement declares to a scope; the names."""
        if node.type in ("ambient_declaration", "expression_statement"):
            names = []
            for child in node.named_children:
                if child.type == "statement_block":
                    self.statements(child, self.source.ambient_globals, ambient=True)
                elif child.type in _NAMESPACES or node.type == "ambient_declaration":
                    names += self._declaration(child, whole, scope, doc)
            return names
        if node.type in _VARIABLES:
            return _declare_variables(node, whole, scope, doc)
        if node.type in _NAMESPACES:
            return self._namespace(node, whole, scope, doc)
        if node.type == "import_alias":
            return _read_alias(node, scope)
        kind = _KINDS.get(node.type)
        if kind is None:
            return []
        name_node = child_of(node, "name")
        name = text(name_node) if name_node else DEFAULT
        if name.startswith(NAMELESS) and self.ambient:
            name = DEFAULT
        scope.declare(Declaration(name, kind, span_of(whole), doc))
        return [name]

    def _namespace(self, node: Node, whole: Node, scope: Scope, doc: str) -> list[str]:
        name, block = child_of(node, "name"), child_of(node, "body")
        if name is None:
            return []
        if name.type == "string":
            inner = self.source.ambient.setdefault(_unquote(name), Scope())
            if block is None:
                inner.dynamic = True
            else:
                self._block(block, inner, ambient=True)
            return []
        first, *rest = text(name).replace(" ", "").split(".")
        if first == GLOBAL:
            if block is not None:
                self.statements(block, self.source.ambient_globals, ambient=True)
            return []
        inner = _namespace_scope(scope, first, whole, doc)
        for part in rest:
            inner.exports[part] = Reference("", (part,))
            inner = _namespace_scope(inner, part, whole, doc)
        if block is not None:
            # A namespace of a source file shows what it exports; of declarations, all.
            ambient = self.ambient or whole.type == "ambient_declaration"
            ambient = ambient or has_token(whole, "declare")
            self._block(block, inner, ambient=ambient)
        return [first]

    def _block(self, block: Node, scope: Scope, *, ambient: bool) -> None:
        """Read one of the blocks of a scope: each says by itself whether all of it is exported."""
        before, explicit = list(scope.names), scope.explicit
        scope.explicit = False
        self.statements(block, scope, ambient=ambient)
        if explicit != scope.explicit:
            shown = before if scope.explicit else [n for n in scope.names if n not in set(before)]
            for name in shown:
                scope.exports.setdefault(name, Reference("", (name,)))
        scope.explicit = scope.explicit or explicit

    def _export(self, node: Node, scope: Scope, doc: str) -> None:
        source = child_of(node, "source")
        module = _unquote(source) if source else ""
        declared = child_of(node, "declaration")
        if declared is not None:
            names = self._declaration(declared, node, scope, doc)
            default = has_token(node, "default") or names == [DEFAULT]
            if default:
                scope.unexported.update(names)
            for name in names:
                scope.exports["default" if default else name] = Reference("", (name,))
            return
        if has_token(node, "namespace") and has_token(node, "as"):
            return
        scope.explicit = True
        if has_token(node, "="):
            value = next((child for child in node.named_children if child.type != "comment"), None)
            path = dotted_path(value) if value else ()
            scope.equals.append(Reference("", path) if path else Reference("", (DEFAULT,)))
            if not path:
                scope.declare(Declaration(DEFAULT, "value", span_of(node), doc))
        elif has_token(node, "default"):
            self._default(node, scope, doc)
        else:
            _read_export_clause(node, scope, module)

    def _default(self, node: Node, scope: Scope, doc: str) -> None:
        value = child_of(node, "value")
        path = dotted_path(value) if value else ()
        if path:
            scope.exports["default"] = Reference("", path)
            return
        kind: DeclarationKind = "value"
        if value is not None and value.type in ("function_expression", "arrow_function"):
            kind = "function"
        elif value is not None and value.type == "class":
            kind = "class"
        scope.declare(Declaration(DEFAULT, kind, span_of(node), doc))
        scope.exports["default"] = Reference("", (DEFAULT,))


def _declare_variables(node: Node, whole: Node, scope: Scope, doc: str) -> list[str]:
    names = []
    for each in node.named_children:
        if each.type == "comment" and text(each).startswith("/**"):
            # One of several declarators may have a comment of its own.
            doc = text(each)
        target = child_of(each, "name") if each.type == "variable_declarator" else None
        if target is None:
            continue
        bound = [text(target)] if target.type == "identifier" else _bound_names(target)
        for name in bound:
            scope.declare(Declaration(name, "constant", span_of(whole), doc))
        names += bound
    return names


def _bound_names(pattern: Node) -> list[str]:
    """List the names that a destructuring pattern binds."""
    found = []
    for child in pattern.named_children:
        if child.type in ("identifier", "shorthand_property_identifier_pattern"):
            found.append(text(child))
        elif child.type == "pair_pattern":
            value = child_of(child, "value")
            if value is not None:
                found += [text(value)] if value.type == "identifier" else _bound_names(value)
        elif child.type.endswith("pattern"):
            found += _bound_names(child)
    return found


def _namespace_scope(scope: Scope, name: str, whole: Node, doc: str) -> Scope:
    """Return the scope of a namespace, which its parts share."""
    for known in scope.names.get(name, ()):
        if known.scope is not None:
            scope.declare(replace(known, span=span_of(whole), doc=doc))
            return known.scope
    inner = Scope()
    scope.declare(Declaration(name, "namespace", span_of(whole), doc, inner))
    return inner


def _read_export_clause(node: Node, scope: Scope, module: str) -> None:
    """Read ``export {a}`` or ``export *``, of another module or of the file."""
    clause = next(
        (c for c in node.children if c.type in ("export_clause", "namespace_export")), None
    )
    if clause is None:
        if has_token(node, "*") and module:
            scope.stars.append(module)
    elif clause.type == "namespace_export":
        scope.exports[_name_of(clause.named_children[-1])] = Reference(module)
    else:
        for each in clause.named_children:
            name, alias = child_of(each, "name"), child_of(each, "alias")
            if each.type == "export_specifier" and name is not None:
                scope.exports[_name_of(alias or name)] = Reference(module, (_name_of(name),))
            elif each.type == "ERROR":
                scope.dynamic = True


def _read_import(node: Node, scope: Scope, body: bytes) -> None:
    source = child_of(node, "source")
    module = _unquote(source) if source else ""
    for clause in node.named_children:
        if clause.type == "import_require_clause":
            target = child_of(clause, "source")
            if target is not None:
                name = text(clause.named_children[0])
                scope.imports[name] = Reference(_unquote(target), (), whole=True)
                if body[: node.start_byte][-32:].rstrip().endswith(b"export"):
                    scope.exports[name] = Reference("", (name,))
        elif clause.type == "import_clause":
            for each in clause.named_children:
                if each.type == "identifier":
                    scope.imports[text(each)] = Reference(module, ("default",))
                elif each.type == "namespace_import":
                    scope.imports[text(each.named_children[-1])] = Reference(module)
                elif each.type == "named_imports":
                    _read_named_imports(each, scope, module)


def _read_named_imports(node: Node, scope: Scope, module: str) -> None:
    for each in node.named_children:
        name, alias = child_of(each, "name"), child_of(each, "alias")
        if name is not None:
            scope.imports[_name_of(alias or name)] = Reference(module, (_name_of(name),))


def _read_alias(node: Node, scope: Scope) -> list[str]:
    """Read ``import X = A.B``; return the name."""
    name, *rest = node.named_children
    path = dotted_path(rest[-1]) if rest else ()
    if not path:
        scope.dynamic = True
        return []
    scope.imports[text(name)] = Reference("", path)
    return [text(name)]


def _name_of(node: Node) -> str:
    """Return a name, which may be written as a string."""
    return _unquote(node) if node.type == "string" else text(node)


def _unquote(node: Node) -> str:
    return text(node)[1:-1]


def _read_commonjs_exports(root: Node, source: Source) -> None:
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
    reader = _CommonJsExports(scope)
    reader.block(root)
    _read_requires(root, scope)
    # Each mention is either understood or may add anything.
    scope.dynamic = scope.dynamic or _count_mentions(root) > reader.understood


class _CommonJsExports:
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
