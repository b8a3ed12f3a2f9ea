"""``import`` and ``export`` clauses of TypeScript and JavaScript → a scope's imports and exports.

This room knows the forms of clauses. It does not know declarations.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from docstow.languages.typescript.source.grammar import field, has_token, text
from docstow.languages.typescript.source.model import Reference, Scope

if TYPE_CHECKING:
    from tree_sitter import Node


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
