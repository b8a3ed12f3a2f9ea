"""Type expressions of TypeScript → what is known of the values that have them.

This room knows how types are written: members, calls, and the names that they refer to. It does
not know what a name means. Generics are erased: whatever depends on a type parameter is
:data:`~docstow.languages.typescript.source.types.OPAQUE`, of which nothing is certain.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from docstow.languages.typescript.source.grammar import field, has_token, imported, text
from docstow.languages.typescript.source.model import Span
from docstow.languages.typescript.source.types__readers_typescript_shapes import (
    NOTHING,
    OPAQUE,
    Argument,
    Member,
    Named,
    Parts,
    Shape,
    Type,
)

if TYPE_CHECKING:
    from tree_sitter import Node

_MAPPED_WHOLE = ("Partial", "Required", "Readonly", "NonNullable")
_NOTHING = ("void", "undefined", "null", "never")
_METHODS = ("method_signature", "method_definition", "abstract_method_signature")
_FIELDS = ("property_signature", "public_field_definition", "field_definition")
_DEEPEST = 40


class TypeReader:
    """Reads the types of one statement.

    Args:
        body: the statement as written.
        span: where it stands in its file.
        script: whether it is JavaScript, in which members come by assignment as well.
    """

    def __init__(self, body: bytes, span: Span, *, script: bool) -> None:
        self.body = body
        self.base = span
        self.script = script
        self.erased: set[str] = set()
        self.free: set[str] = set()

    def type_of(self, node: Node | None, depth: int = 0) -> Type:
        """What a type expression says."""
        if node is None or depth > _DEEPEST or node.type == "ERROR":
            return OPAQUE
        if node.type in ("type_annotation", "parenthesized_type", "readonly_type"):
            inner = [child for child in node.named_children if child.type != "comment"]
            return self.type_of(inner[-1] if inner else None, depth + 1)
        if node.type in ("intersection_type", "union_type"):
            parts = [child for child in node.named_children if child.type != "comment"]
            read = tuple(self.type_of(child, depth + 1) for child in parts)
            return Parts(read, node.type == "union_type")
        if node.type in ("predefined_type", "literal_type"):
            return NOTHING if text(node) in _NOTHING else OPAQUE
        if node.type == "object_type":
            return self.shape(node)
        if node.type in ("function_type", "constructor_type"):
            call = self.arguments(field(node, "parameters"))
            new = node.type == "constructor_type"
            return Shape(constructs=(call,)) if new else Shape(calls=(call,))
        if node.type == "type_query":
            return self._query(node)
        return self._named(node, depth)

    def _query(self, node: Node) -> Type:
        target = node.named_children[-1]
        if target.type == "instantiation_expression":
            target = target.named_children[0]
        path = self.path(target)
        return self.reference(path, target, value=True) if path else OPAQUE

    def _named(self, node: Node, depth: int) -> Type:
        target = field(node, "name") if node.type == "generic_type" else node
        if target is None:
            return OPAQUE
        if node.type == "generic_type" and text(target) in _MAPPED_WHOLE:
            given = node.named_children[-1].named_children
            return self.type_of(given[0], depth + 1) if len(given) == 1 else OPAQUE
        path = self.path(target)
        return self.reference(path, target, value=False) if path else OPAQUE

    def reference(self, path: tuple[str, ...], node: Node, *, value: bool | None) -> Type:
        """A name that is written at a node; an ``import("x")`` is one as well."""
        if path[0].startswith("$_") or path[0] == "$":
            module = imported(self.body, node.start_byte)
            if module is not None:
                return Named(path[1:], module, value or len(path) == 1)
        if value is False and path[0] in self.erased:
            return OPAQUE
        return Named(path, "", value)

    def path(self, node: Node) -> tuple[str, ...]:
        """The names of ``a.b.c``; empty for anything else."""
        if node.type in ("identifier", "type_identifier", "property_identifier"):
            return (text(node),)
        first = field(node, "module") or field(node, "object")
        last = field(node, "name") or field(node, "property")
        if node.type.startswith(("nested_", "member_")) and first is not None and last is not None:
            before = self.path(first)
            return (*before, text(last)) if before else ()
        return ()

    def arguments(self, node: Node | None) -> tuple[Argument, ...]:
        """The parameters of a call, without ``this``."""
        found: list[Argument] = []
        for each in node.named_children if node is not None else ():
            if each.type == "comment":
                continue
            pattern = field(each, "pattern") or field(each, "left") or each
            if pattern.type == "this":
                continue
            rest = pattern.type == "rest_pattern"
            optional = each.type in ("optional_parameter", "assignment_pattern")
            optional = optional or field(each, "value") is not None or self.script
            annotation = field(each, "type")
            loose = self._may_be_void(annotation)
            name = (
                text(pattern).lstrip(".") if pattern.type in ("identifier", "rest_pattern") else ""
            )
            found.append(
                Argument(name or f"argument{len(found)}", not (rest or optional or loose), rest)
            )
        return tuple(found)

    def _may_be_void(self, annotation: Node | None) -> bool:
        """Whether an argument may be left out: of ``void``, which an unbounded parameter may be."""
        waiting = list(annotation.named_children) if annotation is not None else []
        while waiting:
            node = waiting.pop()
            if node.type in ("union_type", "parenthesized_type"):
                waiting += node.named_children
            elif text(node) == "void" or text(node) in self.free:
                return True
        return False

    def shape(self, node: Node) -> Shape:
        """The members of an object type, an interface's or a class's body."""
        members: list[Member] = []
        calls: list[tuple[Argument, ...]] = []
        news: list[tuple[Argument, ...]] = []
        certain = not (node.has_error or self.script)
        doc = ""
        for each in node.named_children:
            if each.type == "comment":
                # A comment behind a member on its line is not the next one's.
                written = self.written(each)
                doc = written if written.startswith("/**") else doc
                continue
            certain = certain and not _is_named_elsewhere(each)
            if each.type in ("index_signature", "spread_element"):
                certain = False
            elif each.type == "call_signature":
                calls.append(self.call(each))
            elif each.type == "construct_signature":
                news.append(self.call(each))
            else:
                self._member(each, doc, members, news)
            doc = ""
        return Shape(tuple(members), tuple(calls), tuple(news), (), certain)

    def _member(
        self, node: Node, doc: str, members: list[Member], news: list[tuple[Argument, ...]]
    ) -> None:
        name_node = field(node, "name") or field(node, "property")
        if name_node is None or name_node.type == "private_property_identifier":
            return
        name = text(name_node)
        if name_node.type == "string":
            name = name[1:-1]
        elif name_node.type == "computed_property_name":
            inner = name_node.named_children[0] if name_node.named_children else name_node
            if inner.type != "string":
                return
            name = text(inner)[1:-1]
        if name == "constructor" and node.type in _METHODS:
            news.append(self.call(node))
            members += self._promoted(node)
            return
        accessor = has_token(node, "get", "set") and field(node, "parameters") is not None
        shown = self.header(node)
        hidden = any(
            c.type == "accessibility_modifier" and text(c) == "private" for c in node.children
        )
        static = has_token(node, "static")
        if node.type in _METHODS and not accessor:
            call = None if self.script else self.call(node)
            place = self.place(node)
            members.append(Member(name, "method", place, doc, shown, None, call, hidden, static))
        elif node.type in _METHODS or node.type in _FIELDS:
            annotation = field(node, "return_type" if accessor else "type")
            kind = self.type_of(annotation) if annotation is not None else None
            span = self.place(node)
            members.append(Member(name, "property", span, doc, shown, kind, None, hidden, static))

    def _promoted(self, node: Node) -> list[Member]:
        """Parameters of a constructor that are members too."""
        found = []
        parameters = field(node, "parameters")
        for each in parameters.named_children if parameters is not None else ():
            pattern = field(each, "pattern")
            if pattern is None or not has_token(each, "accessibility_modifier", "readonly"):
                continue
            hidden = "private" in text(each).split(text(pattern))[0]
            kind = self.type_of(field(each, "type")) if field(each, "type") else None
            shown, place = text(each), self.place(each)
            found.append(Member(text(pattern), "property", place, "", shown, kind, None, hidden))
        return found

    def call(self, node: Node) -> tuple[Argument, ...]:
        """The parameters of a signature, whose own type parameters are erased."""
        erased, free = set(self.erased), set(self.free)
        self.erase(node)
        found = self.arguments(field(node, "parameters"))
        self.erased, self.free = erased, free
        return found

    def erase(self, node: Node) -> None:
        """Take in a declaration's type parameters; the unbounded ones may be anything."""
        found = field(node, "type_parameters")
        for each in found.named_children if found is not None else ():
            name = field(each, "name")
            if name is not None:
                self.erased.add(text(name))
                if field(each, "constraint") is None:
                    self.free.add(text(name))

    def place(self, node: Node) -> Span:
        """Where a node stands in the file."""
        start, line = self.base.start, self.base.line
        return Span(
            start + node.start_byte,
            start + node.end_byte,
            line + node.start_point[0],
            line + node.end_point[0],
        )

    def written(self, node: Node, end: int | None = None) -> str:
        """What a node covers, as the file has it."""
        stop = node.end_byte if end is None else end
        return self.body[node.start_byte : stop].decode(errors="replace")

    def header(self, node: Node) -> str:
        """A declaration on one line, without its body."""
        body = field(node, "body")
        whole = self.written(node, body.start_byte if body is not None else None)
        return " ".join(whole.rstrip(" ;,\n").split())


def _is_named_elsewhere(node: Node) -> bool:
    """Whether a variable gives a member its name; a symbol's is none that could be written."""
    name = field(node, "name")
    if name is None or name.type != "computed_property_name":
        return False
    return all(each.type == "identifier" for each in name.named_children)
