"""The statements of a TypeScript or JavaScript file: what it declares, imports and exports.

Namespaces are read with the file; the insides of declarations are not.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from docstow.core.errors import UnreadableInput
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
from docstow.languages.typescript.source.scripts import read_script

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
    except (RecursionError, UnreadableInput):
        # Nothing is known of a file that is nested too deep.
        source = Source(body, script, Scope(explicit=True, dynamic=True))
    return source


def _read(source: Source, *, declarations: bool) -> None:
    root = parse(source.body, script=source.script)
    _Reader(source, ambient=declarations).statements(root, source.scope)
    if source.script:
        read_script(root, source)
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
