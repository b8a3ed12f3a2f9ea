"""One declaration of a file with its type parameters kept: what it extends, has and gives.

This room knows the forms of declarations. It reads the bytes of one statement and no others.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from docstow.languages.typescript.source.declarations import find
from docstow.languages.typescript.source.grammar import field, parse
from docstow.languages.typescript.source.types import Reader
from docstow.languages.typescript.source.types__readers_typescript_terms import (
    UNCLEAR,
    Body,
    Generic,
    Record,
    Ref,
    Term,
)

if TYPE_CHECKING:
    from tree_sitter import Node

    from docstow.languages.typescript.source.model import Declaration, Source

_FUNCTIONS = ("function_declaration", "generator_function_declaration", "function_signature",
              "function_expression", "arrow_function")  # fmt: skip
_CLASSES = ("class_declaration", "abstract_class_declaration", "class")


@dataclass(frozen=True, slots=True, eq=False)
class Declared:
    """A declaration.

    Attributes:
        generics: its type parameters.
        bases: what it extends.
        body: of a class or interface its members.
        term: of everything else its type.
        members: names of an enumeration's constants; None where it is none.
    """

    generics: tuple[Generic, ...] = ()
    bases: tuple[Term, ...] = ()
    body: Body | None = None
    term: Term = UNCLEAR
    members: tuple[str, ...] | None = None


def declared(source: Source, declaration: Declaration) -> Declared:
    """Read a declaration.

    Args:
        source: its file.
        declaration: one of the file's; none of a namespace.
    """
    if source.script or declaration.kind == "namespace":
        return Declared()
    try:
        return _declared(source, declaration)
    except RecursionError:
        # Nobody nests as deep as this: what it says is not known.
        return Declared()


def _declared(source: Source, declaration: Declaration) -> Declared:
    body = source.body[declaration.span.start : declaration.span.end]
    reader = Reader(body)
    node = find(parse(body), declaration.name)
    if node is None or node.has_error:
        return Declared()
    generics = reader.generics(node)
    if node.type in _CLASSES:
        heritage = next(
            (each for each in node.named_children if each.type == "class_heritage"), None
        )
        bases = tuple(_extended(heritage, reader)) if heritage is not None else ()
        return Declared(generics, bases, reader.read(field(node, "body")))
    if node.type == "interface_declaration":
        clauses = [each for each in node.named_children if each.type.startswith("extends")]
        above = [each for clause in clauses for each in clause.named_children]
        bases = tuple(reader.term(each) for each in above if each.type != "comment")
        return Declared(generics, bases, reader.read(field(node, "body")))
    if node.type == "enum_declaration":
        return Declared(members=tuple(_constants(field(node, "body"))))
    if node.type == "type_alias_declaration":
        return Declared(generics, term=reader.term(field(node, "value")))
    if node.type in _FUNCTIONS:
        return Declared(term=Record(Body(calls=[reader.call(node)])))
    if node.type == "variable_declarator" and field(node, "type") is not None:
        return Declared(term=reader.term(field(node, "type")))
    value = field(node, "value") if node.type == "variable_declarator" else node
    if value is not None and value.type in _FUNCTIONS:
        return Declared(term=Record(Body(calls=[reader.call(value)])))
    if value is not None and value.type in ("identifier", "member_expression"):
        return Declared(term=reader.reference(value, (), value=True))
    return Declared()


def _extended(heritage: Node, reader: Reader) -> Iterator[Term]:
    for clause in heritage.named_children:
        if clause.type != "extends_clause":
            continue
        value, given = field(clause, "value"), field(clause, "type_arguments")
        inner = given.named_children if given is not None else []
        args = tuple(reader.term(each) for each in inner if each.type != "comment")
        found = reader.reference(value, args, value=False) if value is not None else UNCLEAR
        yield found if isinstance(found, Ref) else UNCLEAR


def _constants(body: Node | None) -> Iterator[str]:
    for each in body.named_children if body is not None else ():
        name = field(each, "name") if each.type == "enum_assignment" else each
        if name is not None and each.type != "comment":
            yield (name.text or b"").decode(errors="replace").strip("'\"")
