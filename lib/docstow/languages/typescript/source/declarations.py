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
from docstow.languages.typescript.source.types import (
    NOTHING,
    OPAQUE,
    UNCLEAR,
    Body,
    Generic,
    Member,
    Named,
    Reader,
    Record,
    Ref,
    Shape,
    Term,
    Type,
    TypeReader,
)

if TYPE_CHECKING:
    from tree_sitter import Node

    from docstow.languages.typescript.source.model import Declaration, Source


# Documentation comments → Markdown, with what they say of deprecation and their examples.


_LINE = re.compile(r"^[ \t]*\*? ?", re.MULTILINE)


_TAG = re.compile(r"^@(\w+)[ \t]*(.*)$")


_LINK = re.compile(r"\{@link(?:code|plain)?\s+([^}|\s]+)\s*\|?\s*([^}]*)\}")


_PARAM = re.compile(r"^(?:\{[^}]*\}\s*)?(\[[^\]]*\]|[\w$.]+)\s*-?\s*(.*)$", re.DOTALL)


_TITLES = {
    "returns": "Returns",
    "return": "Returns",
    "throws": "Throws",
    "see": "See",
    "since": "Since",
    "remarks": "",
}


@dataclass(frozen=True, slots=True)
class Doc:
    """A documentation comment.

    Attributes:
        text: as Markdown, examples included as fenced blocks.
        deprecated: why; ``deprecated`` where no reason is given; empty otherwise.
        internal: whether it says that it is nobody else's.
    """

    text: str = ""
    deprecated: str = ""
    internal: bool = False


def read(comment: str) -> Doc:
    """Read a comment as it is written, with its signs."""
    if not comment.startswith("/**"):
        return Doc()
    inner = comment.removeprefix("/**").removesuffix("*/")
    lines = _LINE.sub("", inner).strip().splitlines()
    sections: list[tuple[str, list[str]]] = [("", [])]
    fenced = False
    for line in lines:
        found = None if fenced else _TAG.match(line.strip())
        if line.lstrip().startswith("```"):
            fenced = not fenced
        if found:
            sections.append((found[1], [found[2]] if found[2] else []))
        else:
            sections[-1][1].append(line.rstrip())
    deprecated = ""
    parts, internal = [], False
    for tag, content in sections:
        text = _LINK.sub(_linked, "\n".join(content)).strip()
        if tag == "deprecated":
            deprecated = " ".join(text.split()) or "deprecated"
        internal = internal or tag in ("internal", "private")
        parts.append(_section(tag, text))
    return Doc("\n\n".join(filter(None, _joined(parts))), deprecated, internal)


def _section(tag: str, text: str) -> str:
    if not tag or tag in ("description", "summary", "remarks"):
        return text
    if tag == "example" and text:
        return _example(text)
    if tag == "deprecated":
        return f"**Deprecated** {text}".rstrip()
    if tag in ("param", "arg", "argument"):
        found = _PARAM.match(text)
        return f"- `{found[1]}`: {' '.join(found[2].split())}".rstrip(" :") if found else ""
    title = _TITLES.get(tag)
    return f"{title}: {text}" if title and text else ""


def _example(text: str) -> str:
    caption = re.match(r"<caption>(.*?)</caption>\s*", text)
    head = f"Example: {caption[1]}" if caption else "Example:"
    code = text[caption.end() :] if caption else text
    return f"{head}\n\n{code}" if "```" in code else f"{head}\n\n```ts\n{code}\n```"


def _joined(parts: list[str]) -> list[str]:
    """Parameters that follow each other make one list."""
    joined: list[str] = []
    for part in parts:
        if joined and part.startswith("- `") and joined[-1].startswith("- `"):
            joined[-1] += "\n" + part
        elif part:
            joined.append(part)
    return joined


def _linked(found: re.Match[str]) -> str:
    target, label = found[1], found[2].strip()
    if target.startswith(("http:", "https:")):
        return f"[{label or target}]({target})"
    return f"`{label or target}`"


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


# One declaration of a file with its type parameters kept


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
        bases = tuple(_declared_extended(heritage, reader)) if heritage is not None else ()
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


def _declared_extended(heritage: Node, reader: Reader) -> Iterator[Term]:
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
