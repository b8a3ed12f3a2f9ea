"""One declaration of a file, read in full: its type and how it is written.

Only the bytes of its statement are parsed, so that a large file costs what is asked of it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from docstow.core.errors import UnreadableInput
from docstow.languages.typescript.source.grammar import child_of, dotted_path, parse_statement, text
from docstow.languages.typescript.source.jsdoc_types import read_typedefs
from docstow.languages.typescript.source.model import (
    DEFAULT,
    OPAQUE,
    AssignedMember,
    Declaration,
    MemberKind,
    ObjectType,
    Opaque,
    Signature,
    Source,
    Span,
    Type,
    TypeParameter,
    TypeReference,
)
from docstow.languages.typescript.source.type_reader import TypeReader

if TYPE_CHECKING:
    from tree_sitter import Node

_FUNCTIONS = ("function_declaration", "generator_function_declaration", "function_signature",
              "function_expression", "arrow_function")  # fmt: skip
_CLASSES = ("class_declaration", "abstract_class_declaration", "class")
_WRAPPERS = ("export_statement", "ambient_declaration", "expression_statement",
             "lexical_declaration", "variable_declaration", "program", "as_expression",
             "satisfies_expression",
             "parenthesized_expression", "assignment_expression", "pair", "ERROR")  # fmt: skip
_EXPORT_WORDS = re.compile(r"^(?:export\s+|declare\s+|default\s+)+")
_UNNAMED = re.compile(r"^(async )?function ?(\*? ?)\(")
_VARIABLE_WORD = re.compile(rb"\b(const|let|var)\b")
#: Characters of a signature that are kept.
_MAX_SIGNATURE = 1000
#: Characters of a constant's value that are shown.
_MAX_VALUE = 80


@dataclass(frozen=True, slots=True, eq=False)
class Detail:
    """A declaration in full.

    Attributes:
        type: what is declared; opaque where only running it tells.
        signature: as written, without bodies and words of export.
        type_parameters: of a class, interface or type alias.
        broken: whether a part of it cannot be parsed.
    """

    type: Type
    signature: str
    type_parameters: tuple[TypeParameter, ...] = ()
    broken: bool = False


_UNREADABLE = Detail(OPAQUE, "", broken=True)


def read_declaration(source: Source, declaration: Declaration) -> Detail:
    """Read a declaration of a file in full."""
    if declaration.kind == "namespace":
        return Detail(ObjectType(), f"namespace {declaration.name}")
    try:
        return _read(source, declaration)
    except (RecursionError, UnreadableInput):
        return _UNREADABLE


def _read(source: Source, declaration: Declaration) -> Detail:
    span = declaration.span
    body = source.body[span.start : span.end]
    reader = TypeReader(body, span, script=source.script)
    if source.script and body.startswith(b"/**"):
        return _read_typedef(declaration)
    node = _find(parse_statement(body, script=source.script), declaration.name)
    if node is None:
        return _UNREADABLE
    type_parameters = reader.enter(node)
    signature = reader.header(node)
    if node.type == "variable_declarator":
        keyword = _VARIABLE_WORD.search(body)
        written = _variable_signature(node, reader)
        signature = f"{keyword[1].decode() if keyword else 'const'} {written}"
    signature = _EXPORT_WORDS.sub("", signature)
    if declaration.name.startswith("exports.") and node.type in _FUNCTIONS:
        # A function without a name is called by that of its export.
        name = declaration.name.removeprefix("exports.")
        signature = _UNNAMED.sub(rf"\1function \2{name}(", signature, count=1)
    if len(signature) > _MAX_SIGNATURE:
        signature = signature[: _MAX_SIGNATURE - 1].rstrip() + "…"
    return Detail(_read_type(node, reader), signature, type_parameters, node.has_error)


def _read_typedef(declaration: Declaration) -> Detail:
    """Read a type that a comment defines."""
    found = next((e for e in read_typedefs(declaration.doc) if e.name == declaration.name), None)
    if found is None:
        return _UNREADABLE
    read = ObjectType(open=True)
    start = declaration.span
    for each in found.members if not found.callback else ():
        line = start.line + each.line
        span = Span(start.start, start.end, line, line)
        signature = f"{each.name}{'?' * each.optional}: {each.type or 'any'}"
        doc = f"/** {each.text} */" if each.text else ""
        member = AssignedMember(
            each.name, "property", static=False, span=span, doc=doc, signature=signature
        )
        read.add(member.as_member())
    return Detail(read, found.signature)


def _find(root: Node, name: str) -> Node | None:
    """Find the node that declares a name within a statement."""
    for node in _unwrapped(root):
        target = child_of(node, "name")
        if node.type == "variable_declarator":
            if target is not None and (text(target) == name or target.type != "identifier"):
                return node
        elif target is not None and name != DEFAULT:
            if text(target) == name or name.startswith("exports."):
                return node
        elif node.type != "comment" and (name == DEFAULT or name.startswith("exports.")):
            return node
    return None


def _unwrapped(node: Node) -> Iterator[Node]:
    """Iterate over what a statement declares or assigns."""
    for child in node.named_children:
        if child.type in _WRAPPERS:
            right = child_of(child, "right") or child_of(child, "value")
            if right is not None and child.type in ("assignment_expression", "pair"):
                while right.type == "assignment_expression":
                    right = child_of(right, "right") or right.named_children[-1]
                yield from ([right] if right.type not in _WRAPPERS else _unwrapped(right))
            else:
                yield from _unwrapped(child)
        else:
            yield child


def _read_type(node: Node, reader: TypeReader) -> Type:
    match node.type:
        case "interface_declaration":
            return _read_interface(node, reader)
        case "enum_declaration":
            return _read_enum(node, reader)
        case "type_alias_declaration":
            return reader.type_of(child_of(node, "value"))
        case "variable_declarator":
            annotation, value = child_of(node, "type"), child_of(node, "value")
            if annotation is not None:
                return reader.type_of(annotation)
            target = child_of(node, "name")
            if value is None or target is None or target.type != "identifier":
                return OPAQUE
            return _read_value(value, reader)
    return _read_value(node, reader)


def _read_value(node: Node, reader: TypeReader) -> Type:
    """Read the type of a function, a class or an expression from its form."""
    if node.type in _FUNCTIONS or node.type == "method_definition":
        return ObjectType(calls=[] if reader.script else [reader.signature(node, own=False)])
    if node.type in _CLASSES:
        return _read_class(node, reader)
    if node.type == "object":
        return _read_object(node, reader)
    path = dotted_path(node)
    return TypeReference(path, value=True) if path else OPAQUE


def _read_class(node: Node, reader: TypeReader) -> ObjectType:
    read = reader.object_type(child_of(node, "body"))
    read.open = read.open or node.has_error
    heritage = next((each for each in node.named_children if each.type == "class_heritage"), None)
    if heritage is not None:
        read.bases += _read_bases(heritage, reader)
        for clause in heritage.named_children:
            if clause.type == "implements_clause":
                named = (each for each in clause.named_children if each.type != "comment")
                read.implements += [reader.type_of(each) for each in named]
    if reader.script:
        read.constructors.clear()
    elif not read.constructors and not read.bases:
        # A class that inherits no constructor and has none is made of nothing.
        read.constructors.append(Signature(()))
    return read


def _read_bases(heritage: Node, reader: TypeReader) -> Iterator[TypeReference | Opaque]:
    for clause in heritage.named_children:
        if clause.type in ("implements_clause", "comment"):
            continue
        value = child_of(clause, "value") if clause.type == "extends_clause" else clause
        if value is not None and value.type != "null":
            arguments = reader.arguments(child_of(clause, "type_arguments"))
            yield reader.reference(value, arguments, value=None)


def _read_interface(node: Node, reader: TypeReader) -> ObjectType:
    read = reader.object_type(child_of(node, "body"))
    read.open = read.open or node.has_error
    for clause in node.named_children:
        if clause.type in ("extends_type_clause", "extends_clause"):
            inner = (each for each in clause.named_children if each.type != "comment")
            read.bases += [reader.type_of(each) for each in inner]
    return read


def _read_enum(node: Node, reader: TypeReader) -> ObjectType:
    body = child_of(node, "body")
    read = ObjectType(open=node.has_error)
    comment: Node | None = None
    for each in body.named_children if body is not None else ():
        if each.type == "comment":
            comment = each
            continue
        name = child_of(each, "name") if each.type == "enum_assignment" else each
        if name is not None:
            label = text(name).strip("'\"")
            read.add(reader.member(label, "constant", each, comment))
        comment = None
    return read


def _read_object(node: Node, reader: TypeReader) -> ObjectType:
    """Read an object literal, whose keys are known and whose types are not."""
    read = ObjectType(open=reader.script or node.has_error)
    comment: Node | None = None
    for each in node.named_children:
        if each.type == "comment":
            comment = each
            continue
        name = child_of(each, "key") or child_of(each, "name")
        if each.type == "shorthand_property_identifier":
            name = each
        if name is None or name.type == "computed_property_name":
            read.open = True
        else:
            kind: MemberKind = "method" if each.type == "method_definition" else "property"
            read.add(reader.member(text(name).strip("'\""), kind, each, comment))
        comment = None
    return read


def _variable_signature(node: Node, reader: TypeReader) -> str:
    """Return a variable as written, with its value only where that is short or a function."""
    value = child_of(node, "value")
    if value is None:
        return reader.header(node)
    if value.type in _FUNCTIONS:
        return reader.header(node)[: _MAX_SIGNATURE // 2]
    if child_of(node, "type") is None and len(text(value)) <= _MAX_VALUE:
        return reader.header(node)
    before = reader.written(node, value.start_byte)
    return " ".join(before.rstrip(" =\n").split())
