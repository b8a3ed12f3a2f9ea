"""One declaration of a file, read in full: its type, and how it is written.

This room knows the inside of declarations. It reads the bytes of one statement and no others, so
that a large file costs what is asked of it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from docstow.languages.typescript.source.grammar import field, parse, text
from docstow.languages.typescript.source.model import DEFAULT, Declaration, Source
from docstow.languages.typescript.source.types__readers_typescript_shapes import (
    NOTHING,
    OPAQUE,
    Member,
    Named,
    Shape,
    Type,
)
from docstow.languages.typescript.source.types__readers_typescript_types import TypeReader

if TYPE_CHECKING:
    from tree_sitter import Node

_FUNCTIONS = ("function_declaration", "generator_function_declaration", "function_signature",
              "function_expression", "arrow_function")  # fmt: skip
_CLASSES = ("class_declaration", "abstract_class_declaration", "class")
_WRAPPERS = ("export_statement", "ambient_declaration", "expression_statement",
             "lexical_declaration", "variable_declaration", "program", "as_expression",
             "satisfies_expression",
             "parenthesized_expression", "assignment_expression", "pair", "ERROR")  # fmt: skip
_DECLARED = re.compile(r"^(?:export\s+|declare\s+|default\s+)+")
_LONGEST = 1000


@dataclass(frozen=True, slots=True, eq=False)
class Detail:
    """A declaration in full.

    Attributes:
        type: what is known of it; None where only running it tells.
        signature: as written, without bodies and words of export.
    """

    type: Type | None
    signature: str


def detail(source: Source, declaration: Declaration) -> Detail:
    """Read a declaration in full.

    Args:
        source: its file.
        declaration: one of the file's.
    """
    if declaration.kind == "namespace":
        return Detail(NOTHING, f"namespace {declaration.name}")
    try:
        return _detail(source, declaration)
    except RecursionError:
        # Nobody nests as deep as this: what it says is not known.
        return Detail(None, "")


def _detail(source: Source, declaration: Declaration) -> Detail:
    span = declaration.span
    body = source.body[span.start : span.end]
    reader = TypeReader(body, span, script=source.script)
    node = find(parse(body, script=source.script), declaration.name)
    if node is None:
        return Detail(None, "")
    read = _type(node, reader)
    signature = reader.header(node)
    if node.type == "variable_declarator":
        signature = f"{_keyword(body)} {_until_value(node, reader)}"
    signature = _DECLARED.sub("", signature)
    if len(signature) > _LONGEST:
        signature = signature[: _LONGEST - 1].rstrip() + "…"
    return Detail(read, signature)


def find(root: Node, name: str) -> Node | None:
    """The node of a declaration within its statement."""
    for node in _unwrapped(root):
        if node.type == "variable_declarator":
            target = field(node, "name")
            if target is not None and (text(target) == name or target.type != "identifier"):
                return node
        elif field(node, "name") is not None and name != DEFAULT:
            target = field(node, "name")
            if target is not None and (text(target) == name or name.startswith("exports.")):
                return node
        elif node.type != "comment" and (name == DEFAULT or name.startswith("exports.")):
            return node
    if name == DEFAULT:
        return next(
            (each for each in _unwrapped(root) if field(each, "body") or field(each, "parameters")),
            None,
        )
    return None


def _unwrapped(node: Node) -> Iterator[Node]:
    for child in node.named_children:
        if child.type in _WRAPPERS:
            right = field(child, "right") or field(child, "value")
            if right is not None and child.type in ("assignment_expression", "pair"):
                yield from ([right] if right.type not in _WRAPPERS else _unwrapped(child))
            else:
                yield from _unwrapped(child)
        else:
            yield child


def _type(node: Node, reader: TypeReader) -> Type | None:
    reader.erase(node)
    if node.type in _CLASSES:
        return _class(node, reader)
    if node.type == "interface_declaration":
        return _interface(node, reader)
    if node.type in _FUNCTIONS:
        if reader.script:
            return Shape()
        return Shape(calls=(reader.arguments(field(node, "parameters")),))
    if node.type == "enum_declaration":
        return _enum(node, reader)
    if node.type == "type_alias_declaration":
        return reader.type_of(field(node, "value"))
    if node.type == "variable_declarator":
        annotation, value = field(node, "type"), field(node, "value")
        if annotation is not None:
            return reader.type_of(annotation)
        target = field(node, "name")
        if value is None or target is None or target.type != "identifier":
            return OPAQUE
        return _value(value, reader)
    return _value(node, reader)


def _class(node: Node, reader: TypeReader) -> Shape:
    body = field(node, "body")
    shape = reader.shape(body) if body is not None else NOTHING
    heritage = next(
        (child for child in node.named_children if child.type == "class_heritage"), None
    )
    bases = tuple(_extended(heritage, reader)) if heritage is not None else ()
    constructs = shape.constructs
    if not constructs and not bases and not reader.script:
        constructs = ((),)
    if reader.script:
        constructs = ()
    return Shape(shape.members, (), constructs, bases, shape.certain and not node.has_error)


def _extended(heritage: Node, reader: TypeReader) -> Iterator[Type]:
    for clause in heritage.named_children:
        if clause.type in ("implements_clause", "comment"):
            continue
        value = field(clause, "value") if clause.type == "extends_clause" else clause
        if value is not None and value.type == "null":
            continue
        path = reader.path(value) if value is not None else ()
        yield reader.reference(path, value, value=None) if path and value is not None else OPAQUE


def _interface(node: Node, reader: TypeReader) -> Shape:
    body = field(node, "body")
    shape = reader.shape(body) if body is not None else NOTHING
    bases = []
    for clause in node.named_children:
        if clause.type in ("extends_type_clause", "extends_clause"):
            bases += [
                reader.type_of(each) for each in clause.named_children if each.type != "comment"
            ]
    certain = shape.certain and not node.has_error
    return Shape(shape.members, shape.calls, shape.constructs, tuple(bases), certain)


def _enum(node: Node, reader: TypeReader) -> Shape:
    body = field(node, "body")
    members, doc = [], ""
    for each in body.named_children if body is not None else ():
        if each.type == "comment":
            doc = reader.written(each)
            continue
        name = field(each, "name") if each.type == "enum_assignment" else each
        if name is not None:
            shown, place = reader.header(each), reader.place(each)
            members.append(Member(text(name).strip("'\""), "constant", place, doc, shown))
        doc = ""
    return Shape(tuple(members), certain=not node.has_error)


def _value(node: Node, reader: TypeReader) -> Type | None:
    """What an expression's form tells of its type."""
    if node.type in _FUNCTIONS or node.type == "method_definition":
        call = reader.arguments(field(node, "parameters"))
        return Shape() if reader.script else Shape(calls=(call,))
    if node.type in _CLASSES:
        return _class(node, reader)
    if node.type in ("as_expression", "satisfies_expression"):
        return OPAQUE
    path = reader.path(node)
    if path:
        return Named(path, "", value=True)
    if node.type == "object":
        return _object(node, reader)
    return OPAQUE


def _object(node: Node, reader: TypeReader) -> Shape:
    members, certain, doc = [], not (reader.script or node.has_error), ""
    for each in node.named_children:
        if each.type == "comment":
            doc = reader.written(each)
            continue
        name = field(each, "key") or field(each, "name")
        if each.type == "shorthand_property_identifier":
            name = each
        if name is None or name.type == "computed_property_name":
            certain = False
        else:
            shown, place = reader.header(each), reader.place(each)
            kind = "method" if each.type == "method_definition" else "property"
            label = text(name).strip("'\"")
            members.append(
                Member(label, "property" if kind == "property" else "method", place, doc, shown)
            )
        doc = ""
    return Shape(tuple(members), certain=certain)


def _until_value(node: Node, reader: TypeReader) -> str:
    value = field(node, "value")
    if value is None:
        return reader.header(node)
    if value.type in _FUNCTIONS:
        return reader.header(node)[: _LONGEST // 2]
    if field(node, "type") is None and len(text(value)) <= 80:
        return reader.header(node)
    before = reader.written(node, value.start_byte)
    return " ".join(before.rstrip(" =\n").split())


def _keyword(body: bytes) -> str:
    found = re.search(rb"\b(const|let|var)\b", body)
    return found[1].decode() if found else "const"
