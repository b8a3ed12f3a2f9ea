"""TypeScript and JavaScript files → what they declare, import and export.

This room knows the statements of a file. It does not know other files, nor what is inside a
declaration; a namespace's statements are read with the file's.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from docstow.languages.typescript.source import modules as commonjs
from docstow.languages.typescript.source.grammar import (
    GLOBAL,
    NAMELESS,
    field,
    has_token,
    parse,
    text,
)
from docstow.languages.typescript.source.model import (
    DEFAULT,
    Declaration,
    DeclarationKind,
    Reference,
    Scope,
    Source,
    Span,
)
from docstow.languages.typescript.source.modules import exported, imported, path_of, quoted, renamed

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


def read(path: str, body: bytes) -> Source:
    """Read a file's statements.

    Args:
        path: its name; tells TypeScript from JavaScript and declarations from sources.
        body: its bytes.
    """
    script = path.endswith(_SCRIPTS)
    declarations = path.endswith((".d.ts", ".d.mts", ".d.cts"))
    source = Source(body, script, Scope())
    try:
        _read(source, declarations=declarations)
    except RecursionError:
        # Nobody nests as deep as this: what it says is not known.
        source = Source(body, script, Scope(explicit=True, dynamic=True))
    return source


def _read(source: Source, *, declarations: bool) -> None:
    root = parse(source.body, script=source.script)
    _Reader(source, ambient=declarations).statements(root, source.scope)
    if source.script:
        commonjs.read(root, source)
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
                imported(node, scope, self.source.body)
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
            return _variables(node, whole, scope, doc)
        if node.type in _NAMESPACES:
            return self._namespace(node, whole, scope, doc)
        if node.type == "import_alias":
            return renamed(node, scope)
        kind = _KINDS.get(node.type)
        if kind is None:
            return []
        name_node = field(node, "name")
        name = text(name_node) if name_node else DEFAULT
        if name.startswith(NAMELESS) and self.ambient:
            name = DEFAULT
        scope.declare(Declaration(name, kind, _span(whole), doc))
        return [name]

    def _namespace(self, node: Node, whole: Node, scope: Scope, doc: str) -> list[str]:
        name, block = field(node, "name"), field(node, "body")
        if name is None:
            return []
        if name.type == "string":
            inner = self.source.ambient.setdefault(quoted(name), Scope())
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
        inner = _space(scope, first, whole, doc)
        for part in rest:
            inner.exports[part] = Reference("", (part,))
            inner = _space(inner, part, whole, doc)
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
        source = field(node, "source")
        module = quoted(source) if source else ""
        declared = field(node, "declaration")
        if declared is not None:
            names = self._declaration(declared, node, scope, doc)
            default = has_token(node, "default") or names == [DEFAULT]
            for name in names:
                scope.exports["default" if default else name] = Reference("", (name,))
            return
        if has_token(node, "namespace") and has_token(node, "as"):
            return
        scope.explicit = True
        if has_token(node, "="):
            value = next((child for child in node.named_children if child.type != "comment"), None)
            path = path_of(value) if value else ()
            scope.equals.append(Reference("", path) if path else Reference("", (DEFAULT,)))
            if not path:
                scope.declare(Declaration(DEFAULT, "value", _span(node), doc))
        elif has_token(node, "default"):
            self._default(node, scope, doc)
        else:
            exported(node, scope, module)

    def _default(self, node: Node, scope: Scope, doc: str) -> None:
        value = field(node, "value")
        path = path_of(value) if value else ()
        if path:
            scope.exports["default"] = Reference("", path)
            return
        kind: DeclarationKind = "value"
        if value is not None and value.type in ("function_expression", "arrow_function"):
            kind = "function"
        elif value is not None and value.type == "class":
            kind = "class"
        scope.declare(Declaration(DEFAULT, kind, _span(node), doc))
        scope.exports["default"] = Reference("", (DEFAULT,))


def _variables(node: Node, whole: Node, scope: Scope, doc: str) -> list[str]:
    names = []
    for each in node.named_children:
        target = field(each, "name") if each.type == "variable_declarator" else None
        if target is None:
            continue
        if target.type == "identifier":
            names.append(text(target))
        else:
            names += _bound(target)
    for name in names:
        scope.declare(Declaration(name, "constant", _span(whole), doc))
    return names


def _bound(pattern: Node) -> list[str]:
    """The names that a destructuring pattern binds."""
    found = []
    for child in pattern.named_children:
        if child.type in ("identifier", "shorthand_property_identifier_pattern"):
            found.append(text(child))
        elif child.type == "pair_pattern":
            value = field(child, "value")
            found += [] if value is None else _bound_value(value)
        elif child.type.endswith("pattern"):
            found += _bound(child)
    return found


def _bound_value(value: Node) -> list[str]:
    return [text(value)] if value.type == "identifier" else _bound(value)


def _space(scope: Scope, name: str, whole: Node, doc: str) -> Scope:
    """The scope of a namespace: the parts of one share it."""
    for known in scope.names.get(name, ()):
        if known.scope is not None:
            scope.declare(replace(known, span=_span(whole), doc=doc))
            return known.scope
    inner = Scope()
    scope.declare(Declaration(name, "namespace", _span(whole), doc, inner))
    return inner


def _span(node: Node) -> Span:
    return Span(node.start_byte, node.end_byte, node.start_point[0] + 1, node.end_point[0] + 1)
