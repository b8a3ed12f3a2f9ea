"""The reader of type expressions, signatures and members of TypeScript."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from docstow.languages.typescript.source.grammar import (
    ABSTRACT,
    child_of,
    dotted_path,
    has_token,
    imported,
    parse_statement,
    text,
)
from docstow.languages.typescript.source.model import (
    OPAQUE,
    ArrayType,
    Conditional,
    IndexedAccess,
    Intersection,
    KeyOf,
    LiteralType,
    MappedType,
    Member,
    MemberKind,
    MemberText,
    ObjectType,
    Opaque,
    Parameter,
    Primitive,
    Signature,
    Span,
    Type,
    TypeParameter,
    TypeReference,
    Union,
    WrittenType,
)

if TYPE_CHECKING:
    from tree_sitter import Node

#: Type expressions within each other beyond which a type is opaque.
_MAX_DEPTH = 40
_METHODS = ("method_signature", "method_definition", "abstract_method_signature")
_PARAMETERS = ("required_parameter", "optional_parameter")
_FIELDS = ("property_signature", "public_field_definition", "field_definition")
#: Nodes around one type that add nothing to it.
_WRAPPERS = ("type_annotation", "parenthesized_type", "readonly_type", "constraint",
             "default_type", "optional_type")  # fmt: skip
_PREDICATES = ("type_predicate_annotation", "asserts_annotation", "type_predicate", "asserts")


class _Place(NamedTuple):
    """Where a node is in its statement: to keep it would keep its whole tree."""

    start: int
    end: int
    type: str

    @classmethod
    def of(cls, node: Node) -> _Place:
        return cls(node.start_byte, node.end_byte, node.type)


class TypeReader:
    """Reads the types of one statement.

    Args:
        body: the statement as written.
        span: where it stands in its file.
        script: whether it is JavaScript, where members come by assignment as well.
    """

    def __init__(self, body: bytes, span: Span, *, script: bool = False) -> None:
        self.body = body
        self.script = script
        self._start = span
        self._parameters: frozenset[str] = frozenset()
        self._unbounded: frozenset[str] = frozenset()

    def enter(self, declaration: Node) -> tuple[TypeParameter, ...]:
        """Read the type parameters of the declaration that the statement makes; they are in scope.

        Call it before the declaration is read.
        """
        parameters = self.type_parameters(declaration)
        self._parameters = frozenset(each.name for each in parameters)
        self._unbounded = _unbounded(parameters)
        return parameters

    def type_of(self, node: Node | None, depth: int = 0) -> Type:
        """Read a type expression."""
        if node is None or depth > _MAX_DEPTH or node.type == "ERROR":
            return OPAQUE
        inner = [child for child in node.named_children if child.type != "comment"]
        if node.type in _WRAPPERS:
            return self.type_of(inner[-1] if inner else None, depth + 1)
        if node.type in _PREDICATES:
            return Primitive("boolean")
        return self._composed(node, inner, depth) or self._simple(node, inner, depth)

    def _composed(self, node: Node, inner: list[Node], depth: int) -> Type | None:
        """Read a type that is made of others; None for any other."""
        match node.type:
            case "union_type":
                return Union(tuple(self.type_of(each, depth + 1) for each in inner))
            case "intersection_type":
                return Intersection(tuple(self.type_of(each, depth + 1) for each in inner))
            case "conditional_type":
                parts = ("consequence", "alternative")
                return Conditional(*(self.type_of(child_of(node, p), depth + 1) for p in parts))
            case "array_type":
                return ArrayType((self.type_of(inner[0] if inner else None, depth + 1),))
            case "tuple_type":
                return self._tuple(inner, depth)
            case "object_type":
                clause = _mapping(inner)
                return self.object_type(node) if clause is None else self._mapped(clause, depth)
            case "function_type":
                return ObjectType(calls=[self.signature(node, own=False)])
            case "constructor_type":
                return ObjectType(constructors=[self.signature(node, own=False)])
            case "index_type_query":
                return KeyOf(self.type_of(inner[-1] if inner else None, depth + 1))
            case "lookup_type":
                key = self.type_of(inner[-1], depth + 1)
                if isinstance(key, LiteralType) and key.primitive == "string":
                    return IndexedAccess(self.type_of(inner[0], depth + 1), key.value)
                return OPAQUE
        return None

    def _simple(self, node: Node, inner: list[Node], depth: int) -> Type:
        """Read a keyword, a literal or a name."""
        match node.type:
            case "predefined_type":
                name = text(node)
                return OPAQUE if name in ("any", "unknown") else Primitive(name)
            case "literal_type":
                return _literal(inner[0] if inner else None, node)
            case "template_literal_type":
                return Primitive("string")
            case "this_type":
                return OPAQUE
            case "type_query":
                target = inner[-1] if inner else node
                if target.type == "instantiation_expression":
                    target = target.named_children[0]
                return self.reference(target, value=True)
            case "generic_type":
                target = child_of(node, "name") or node
                given = child_of(node, "type_arguments")
                read = self.reference(target, self.arguments(given, depth + 1), value=False)
                if isinstance(read, TypeReference):
                    read = replace(read, span=self.span_of(node), texts=self._texts(given))
                return read
        return self.reference(node, value=False)

    def arguments(self, node: Node | None, depth: int = 0) -> tuple[Type, ...]:
        """Read type arguments."""
        given = node.named_children if node is not None else ()
        return tuple(self.type_of(each, depth) for each in given if each.type != "comment")

    def _mapped(self, clause: Node, depth: int) -> Type:
        keys, name = child_of(clause, "type"), child_of(clause, "name")
        around = clause.parent
        value = child_of(around, "type") if around is not None else None
        if keys is None or name is None or around is None or child_of(clause, "alias") is not None:
            # Names that are changed one by one are not followed.
            return MappedType(None, None, homomorphic=False)
        written, of = None, None
        if value is not None:
            inner = [each for each in value.named_children if each.type != "comment"]
            last = inner[-1] if inner else value
            if last.type == "lookup_type" and text(last.named_children[-1]) == text(name):
                of = self.type_of(last.named_children[0], depth + 1)
            before, _, shown = " ".join(self.written(value).split()).partition(":")
            optional = "?" * ("?" in before and "-" not in before)
            written = WrittenType(self.type_of(value, depth + 1), f"{optional}: {shown.strip()}")
        span = self.span_of(around)
        if keys.type != "index_type_query":
            named = self.type_of(keys, depth + 1)
            return MappedType(None, named, homomorphic=False, of=of, value=written, span=span)
        target = keys.named_children[-1]
        same = value is not None and text(value).lstrip(": ") == f"{text(target)}[{text(name)}]"
        source = self.type_of(target, depth + 1)
        return MappedType(source, None, homomorphic=same, of=of, value=written, span=span)

    def _texts(self, node: Node | None) -> tuple[str, ...]:
        """Return type arguments as they are written."""
        given = node.named_children if node is not None else ()
        written = (self.written(each) for each in given if each.type != "comment")
        return tuple(" ".join(each.split()) for each in written)

    def _tuple(self, inner: list[Node], depth: int) -> Type:
        items = []
        for each in inner:
            if each.type in _PARAMETERS:
                each = child_of(each, "type") or each
            if each.type == "rest_type":
                return OPAQUE
            items.append(self.type_of(each, depth + 1))
        return ArrayType(tuple(items))

    def reference(
        self, node: Node, arguments: tuple[Type, ...] = (), *, value: bool | None
    ) -> TypeReference | Opaque:
        """Read a name, which may be that of an ``import("x")``.

        Args:
            node: ``a.b.c``; anything else is opaque.
            arguments: type arguments.
            value: see :class:`TypeReference`.
        """
        path = dotted_path(node)
        if not path:
            return OPAQUE
        if path[0].startswith("$_") or path[0] == "$":
            module = imported(self.body, node.start_byte)
            if module is not None:
                return TypeReference(path[1:], arguments, module, bool(value) or len(path) == 1)
        parameter = value is False and path[0] in self._parameters
        return TypeReference(path, arguments, "", value, parameter)

    def type_parameters(self, node: Node) -> tuple[TypeParameter, ...]:
        """Read the type parameters of a declaration or a signature."""
        found = child_of(node, "type_parameters")
        parameters = []
        for each in found.named_children if found is not None else ():
            name = child_of(each, "name")
            if name is not None:
                bounds = (child_of(each, "constraint"), child_of(each, "value"))
                types = (None if bound is None else self.type_of(bound) for bound in bounds)
                parameters.append(TypeParameter(text(name), *types))
        return tuple(parameters)

    def signature(self, node: Node, *, own: bool = True) -> Signature:
        """Read a signature.

        Args:
            node: a function, a method or a function type.
            own: whether its own unbounded type parameters make parameters omittable.
        """
        free = self._unbounded
        if own:
            free |= _unbounded(self.type_parameters(node))
        listed = child_of(node, "parameters")
        parameters: list[Parameter] = []
        for each in listed.named_children if listed is not None else ():
            pattern = child_of(each, "pattern") or child_of(each, "left") or each
            if each.type != "comment" and pattern.type != "this":
                name = f"argument{len(parameters)}"
                parameters.append(self._parameter(each, pattern, name, free))
        return Signature(tuple(parameters))

    def _parameter(self, node: Node, pattern: Node, name: str, free: frozenset[str]) -> Parameter:
        annotation = child_of(node, "type")
        rest = pattern.type == "rest_pattern"
        optional = node.type in ("optional_parameter", "assignment_pattern")
        optional = optional or child_of(node, "value") is not None or self.script
        if pattern.type in ("identifier", "rest_pattern"):
            name = text(pattern).lstrip(".") or name
        return Parameter(
            name,
            self.type_of(annotation),
            not (rest or optional),
            rest,
            _may_be_void(annotation, free),
        )

    def object_type(self, node: Node | None) -> ObjectType:
        """Read the members between the braces of an object type, an interface or a class."""
        read = ObjectType()
        if node is None:
            return read
        read.open = node.has_error or self.script
        comment: Node | None = None
        for each in node.named_children:
            if each.type == "comment":
                # A comment behind a member on its line is not the next one's.
                comment = each if self.written(each).startswith("/**") else comment
                continue
            if each.type == "call_signature":
                read.calls.append(self.signature(each))
            elif each.type == "construct_signature":
                read.constructors.append(self.signature(each))
            elif each.type in ("index_signature", "spread_element"):
                read.open = True
            elif each.type in _METHODS or each.type in _FIELDS:
                self._add(read, each, comment)
            comment = None
        return read

    def _add(self, read: ObjectType, node: Node, comment: Node | None) -> None:
        name_node = child_of(node, "name") or child_of(node, "property")
        if name_node is None or name_node.type == "private_property_identifier":
            return
        name = text(name_node)
        if name == ABSTRACT:
            name = "abstract"
        if name_node.type == "string":
            name = name[1:-1]
        elif name_node.type == "computed_property_name":
            inner = name_node.named_children[0] if name_node.named_children else name_node
            if inner.type != "string":
                read.open = read.open or inner.type == "identifier"
                return
            name = text(inner)[1:-1]
        method = node.type in _METHODS
        if name == "constructor" and method:
            read.constructors.append(self.signature(node))
            self._promote(read, node)
            return
        accessor = has_token(node, "get", "set") and child_of(node, "parameters") is not None
        kind: MemberKind = "method" if method and not accessor else "property"
        typed = not (has_token(node, "set") or (kind == "method" and self.script))
        read.add(self.member(name, kind, node, comment, typed=typed))

    def member(
        self,
        name: str,
        kind: MemberKind,
        node: Node,
        comment: Node | None = None,
        *,
        typed: bool = False,
    ) -> Member:
        """Return a member that is read on demand.

        Args:
            name: its name.
            kind: its kind.
            node: its declaration.
            comment: the comment before it.
            typed: whether its type is declared.
        """
        modifiers = (each for each in node.children if each.type == "accessibility_modifier")
        return Member(
            name,
            kind,
            has_token(node, "static"),
            any(text(each) == "private" for each in modifiers),
            partial(
                self._member_text, _Place.of(node), None if comment is None else _Place.of(comment)
            ),
            partial(self._member_type, _Place.of(node), kind) if typed else None,
        )

    def _node(self, place: _Place) -> Node:
        """Return the node at a place of the statement."""
        root = parse_statement(self.body, script=self.script)
        node = root.descendant_for_byte_range(place.start, place.end)
        while node is not None and node.type != place.type:
            node = node.parent
        return node if node is not None else root

    def _member_text(self, place: _Place, comment: _Place | None) -> MemberText:
        node = self._node(place)
        doc = self._between(comment.start, comment.end) if comment is not None else ""
        promoted = node.type in _PARAMETERS
        span = self.span_of(node)
        return MemberText(span, doc, text(node) if promoted else self.header(node))

    def _member_type(self, place: _Place, kind: MemberKind) -> Type:
        node = self._node(place)
        if kind == "method":
            return ObjectType(calls=[self.signature(node)])
        return self.type_of(child_of(node, "return_type") or child_of(node, "type"))

    def _promote(self, read: ObjectType, constructor: Node) -> None:
        """Add the parameters of a constructor that are members too."""
        parameters = child_of(constructor, "parameters")
        for each in parameters.named_children if parameters is not None else ():
            pattern = child_of(each, "pattern")
            if pattern is not None and has_token(each, "accessibility_modifier", "readonly"):
                read.add(self.member(text(pattern), "property", each, typed=True))

    def span_of(self, node: Node) -> Span:
        """Return where a node stands in the file."""
        start, line = self._start.start, self._start.line
        return Span(
            start + node.start_byte,
            start + node.end_byte,
            line + node.start_point[0],
            line + node.end_point[0],
        )

    def written(self, node: Node, end: int | None = None) -> str:
        """Return what a node covers, as the file has it."""
        return self._between(node.start_byte, node.end_byte if end is None else end)

    def _between(self, start: int, end: int) -> str:
        return self.body[start:end].decode(errors="replace")

    def header(self, node: Node) -> str:
        """Return a declaration on one line, without its body and comments."""
        body = child_of(node, "body")
        end = node.end_byte if body is None else body.start_byte
        whole = self.body[node.start_byte : end]
        if b"/*" in whole or b"//" in whole:
            whole = b" ".join(self._without_comments(node, end))
        return " ".join(whole.decode(errors="replace").rstrip(" ;,\n").split())

    def _without_comments(self, node: Node, end: int) -> Iterator[bytes]:
        """Yield the parts of a node before a place that are no comments."""
        start, waiting = node.start_byte, [node]
        while waiting:
            each = waiting.pop()
            if each.type == "comment":
                yield self.body[start : each.start_byte]
                start = each.end_byte
            elif each.start_byte < end:
                waiting += [inner for inner in reversed(each.children) if inner.start_byte < end]
        yield self.body[start:end]


def _literal(inner: Node | None, node: Node) -> Type:
    if inner is None or inner.type in ("null", "undefined"):
        return Primitive(text(node))
    kind = {"true": "boolean", "false": "boolean", "string": "string"}.get(inner.type, "number")
    return LiteralType(kind, text(inner).strip("'\""))


def _mapping(inner: list[Node]) -> Node | None:
    """Return the clause of a mapped type, if that is all an object type has."""
    alone = inner[0] if len(inner) == 1 and inner[0].type == "index_signature" else None
    for each in alone.named_children if alone is not None else ():
        if each.type == "mapped_type_clause":
            return each
    return None


def _unbounded(parameters: tuple[TypeParameter, ...]) -> frozenset[str]:
    return frozenset(each.name for each in parameters if each.constraint is None)


def _may_be_void(annotation: Node | None, free: frozenset[str]) -> bool:
    """Whether a type includes ``void`` or one of some type parameters, which may stand for it."""
    waiting = list(annotation.named_children) if annotation is not None else []
    while waiting:
        node = waiting.pop()
        if node.type in ("union_type", "parenthesized_type"):
            waiting += node.named_children
        elif text(node) == "void" or text(node) in free:
            return True
    return False
