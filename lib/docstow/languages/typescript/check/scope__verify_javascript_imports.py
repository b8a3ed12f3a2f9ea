"""What ``import`` and ``require`` bring into a TypeScript or JavaScript file.

This room knows the forms of imports. It does not know packages.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from docstow.languages.typescript.check.syntax import child, text_of, unquoted

if TYPE_CHECKING:
    from tree_sitter import Node


@dataclass(frozen=True, slots=True)
class Name:
    """An exported name of a module: ``specifier`` and the names below it."""

    specifier: str
    names: tuple[str, ...] = ()

    @property
    def path(self) -> str:
        """As surfaces write it."""
        return ".".join((self.specifier, *self.names))

    def below(self, name: str) -> Name:
        """A member of it."""
        return Name(self.specifier, (*self.names, name))


def imports(node: Node) -> Iterator[tuple[str, Name, Node]]:
    """The local names of an import statement, what they stand for, and where that is written.

    An import that names nothing gives an empty local name.
    """
    source = unquoted(child(node, "source"))
    if node.has_error:
        return
    named = False
    for clause in node.named_children:
        if clause.type == "import_require_clause":
            named = True
            module = unquoted(child(clause, "source"))
            yield text_of(clause.named_children[0]), Name(module), clause
        if clause.type != "import_clause" or not source:
            continue
        named = True
        for each in clause.named_children:
            if each.type == "identifier":
                yield text_of(each), Name(source, ("default",)), each
            elif each.type == "namespace_import":
                yield text_of(each.named_children[0]), Name(source), each
            elif each.type == "named_imports":
                yield from _named(each, source)
    if not named and source:
        yield "", Name(source), node


def _named(node: Node, source: str) -> Iterator[tuple[str, Name, Node]]:
    for each in node.named_children:
        if each.type != "import_specifier":
            continue
        name, alias = child(each, "name"), child(each, "alias")
        if name is not None:
            yield text_of(alias or name), Name(source, (unquoted(name),)), name


def loaded(value: Node) -> str | None:
    """The module of ``require("m")`` or ``await import("m")``."""
    if value.type == "await_expression" and value.named_children:
        value = value.named_children[0]
        called = "import"
    else:
        called = "require"
    function = child(value, "function")
    if value.type != "call_expression" or function is None or function.type == "call_expression":
        return None
    if function.end_byte - function.start_byte > len(called) or text_of(function) != called:
        return None
    arguments = child(value, "arguments")
    if arguments is None or len(arguments.named_children) != 1:
        return None
    only = arguments.named_children[0]
    return unquoted(only) if only.type == "string" else None
