"""Type expressions of TypeScript → terms, type parameters kept.

This room knows how types are written. It does not know what a name means: whoever has the file
puts that in. Members are read when they are asked for, so that a large interface costs what is
used of it.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from docstow.languages.typescript.source.grammar import field as child_of
from docstow.languages.typescript.source.grammar import has_token, imported, text
from docstow.languages.typescript.source.types__readers_typescript_terms import (
    UNCLEAR,
    Basic,
    Body,
    Both,
    Call,
    Choice,
    Either,
    Field,
    Generic,
    Literal,
    Lookup,
    Mapped,
    Record,
    Ref,
    Row,
    Taken,
    Term,
    This,
)

if TYPE_CHECKING:
    from tree_sitter import Node

_DEEPEST = 40
_METHODS = ("method_signature", "method_definition", "abstract_method_signature")
_FIELDS = ("property_signature", "public_field_definition")
#: Indices that lead to nothing with a name.
_PLACES = ("number", "symbol")
#: What stands around one type and adds nothing to it.
_WRAPPERS = ("type_annotation", "parenthesized_type", "readonly_type", "constraint",
             "default_type", "optional_type")  # fmt: skip
_PREDICATES = ("type_predicate_annotation", "asserts_annotation", "type_predicate", "asserts")


class Reader:
    """Reads the types of one statement.

    Args:
        body: the statement as it is written.
    """

    def __init__(self, body: bytes) -> None:
        self.body = body

    def term(self, node: Node | None, depth: int = 0) -> Term:
        """What a type expression says."""
        if node is None or depth > _DEEPEST or node.type == "ERROR":
            return UNCLEAR
        inner = [child for child in node.named_children if child.type != "comment"]
        if node.type in _WRAPPERS:
            return self.term(inner[-1] if inner else None, depth + 1)
        if node.type in _PREDICATES:
            return Basic("boolean")
        return self._composed(node, inner, depth) or self._simple(node, inner, depth)

    def _composed(self, node: Node, inner: list[Node], depth: int) -> Term | None:
        """What is made of other types."""
        match node.type:
            case "union_type":
                return Either(tuple(self.term(each, depth + 1) for each in inner))
            case "intersection_type":
                return Both(tuple(self.term(each, depth + 1) for each in inner))
            case "conditional_type":
                ends = ("left", "right", "consequence", "alternative")
                return Choice(*(self.term(child_of(node, each), depth + 1) for each in ends))
            case "array_type":
                return Row((self.term(inner[0] if inner else None, depth + 1),))
            case "tuple_type":
                return self._tuple(inner, depth)
            case "object_type":
                clause = _mapping(inner)
                return Record(self.read(node)) if clause is None else self._mapped(clause, depth)
            case "function_type":
                return Record(Body(calls=[self.call(node)]))
            case "constructor_type":
                return Record(Body(news=[self.call(node)]))
            case "lookup_type":
                key = self.term(inner[-1], depth + 1)
                if isinstance(key, Literal) and key.of == "string":
                    return Lookup(self.term(inner[0], depth + 1), key.value)
                return UNCLEAR
        return None

    def _simple(self, node: Node, inner: list[Node], depth: int) -> Term:
        """What is a word, or a name."""
        match node.type:
            case "predefined_type":
                name = text(node)
                return UNCLEAR if name in ("any", "unknown") else Basic(name)
            case "literal_type":
                return self._literal(inner[0] if inner else None, node)
            case "template_literal_type":
                return Basic("string")
            case "this_type":
                return This()
            case "type_query":
                return self._query(inner[-1] if inner else node)
        return self._named(node, depth)

    def _literal(self, inner: Node | None, node: Node) -> Term:
        if inner is None or inner.type in ("null", "undefined"):
            return Basic(text(node))
        kind = {"true": "boolean", "false": "boolean", "string": "string"}.get(inner.type, "number")
        return Literal(kind, text(inner).strip("'\""))

    def _mapped(self, clause: Node, depth: int) -> Term:
        """A mapped type; one that renames its keys is not known."""
        keys, name = child_of(clause, "type"), child_of(clause, "name")
        around = clause.parent
        value = child_of(around, "type") if around is not None else None
        if keys is None or child_of(clause, "alias") is not None:
            return UNCLEAR
        if keys.type != "index_type_query":
            return Mapped(None, self.term(keys, depth + 1), same=False)
        target = keys.named_children[-1]
        kept = f"{text(target)}[{text(name)}]" if name is not None else ""
        same = value is not None and text(value).lstrip(": ") == kept
        return Mapped(self.term(target, depth + 1), None, same)

    def _tuple(self, inner: list[Node], depth: int) -> Term:
        items = []
        for each in inner:
            if each.type in ("required_parameter", "optional_parameter"):
                each = child_of(each, "type") or each
            if each.type == "rest_type":
                return UNCLEAR
            items.append(self.term(each, depth + 1))
        return Row(tuple(items), fixed=True)

    def _query(self, target: Node) -> Term:
        if target.type == "instantiation_expression":
            target = target.named_children[0]
        return self.reference(target, (), value=True)

    def _named(self, node: Node, depth: int) -> Term:
        target: Node = node
        args: tuple[Term, ...] = ()
        if node.type == "generic_type":
            target = child_of(node, "name") or node
            given = child_of(node, "type_arguments")
            inner = given.named_children if given is not None else []
            args = tuple(self.term(each, depth + 1) for each in inner if each.type != "comment")
        return self.reference(target, args, value=False)

    def reference(self, node: Node, args: tuple[Term, ...], *, value: bool) -> Term:
        """A name that is written at a node; an ``import("x")`` is one as well."""
        path = names_of(node)
        if not path:
            return UNCLEAR
        if path[0].startswith("$_") or path[0] == "$":
            module = imported(self.body, node.start_byte)
            if module is not None:
                return Ref(path[1:], args, module, value or len(path) == 1)
        return Ref(path, args, "", value)

    def generics(self, node: Node) -> tuple[Generic, ...]:
        """The type parameters of a declaration or a signature."""
        found = child_of(node, "type_parameters")
        made = []
        for each in found.named_children if found is not None else ():
            name = child_of(each, "name")
            if name is not None:
                bound, default = child_of(each, "constraint"), child_of(each, "value")
                made.append(
                    Generic(
                        text(name),
                        self.term(bound) if bound is not None else None,
                        self.term(default) if default is not None else None,
                    )
                )
        return tuple(made)

    def call(self, node: Node) -> Call:
        """A signature."""
        parameters = child_of(node, "parameters")
        gives = child_of(node, "return_type") or child_of(node, "type")
        takes = []
        for each in parameters.named_children if parameters is not None else ():
            pattern = child_of(each, "pattern") or child_of(each, "left") or each
            if each.type == "comment" or pattern.type == "this":
                continue
            annotation = child_of(each, "type")
            named = frozenset(_mentioned(annotation) if annotation is not None else ())
            rest = pattern.type == "rest_pattern"
            if rest and isinstance(term := self.term(annotation), Row) and term.fixed:
                needed = annotation is not None and "?" not in text(annotation)
                takes += [Taken("", one, needed, rest=False, named=named) for one in term.items]
                continue
            optional = each.type == "optional_parameter" or child_of(each, "value") is not None
            term = self.term(annotation)
            takes.append(
                Taken(text(pattern).lstrip("."), term, not (rest or optional), rest, named)
            )
        return Call(self.generics(node), tuple(takes), self.term(gives))

    def read(self, node: Node | None) -> Body:
        """The members between braces."""
        body = Body()
        if node is None:
            return body
        body.open = node.has_error
        for each in node.named_children:
            if each.type == "call_signature":
                body.calls.append(self.call(each))
            elif each.type == "construct_signature":
                body.news.append(self.call(each))
            elif each.type in ("index_signature", "spread_element"):
                # What numbers and symbols lead to has no name.
                body.open = body.open or text(child_of(each, "index_type") or each) not in _PLACES
            elif each.type in _METHODS or each.type in _FIELDS:
                self._add(body, each)
        return body

    def _add(self, body: Body, node: Node) -> None:
        name_node = child_of(node, "name")
        if name_node is None or name_node.type == "private_property_identifier":
            return
        name = text(name_node)
        if name_node.type == "string":
            name = name[1:-1]
        elif name_node.type == "computed_property_name":
            inner = name_node.named_children[0] if name_node.named_children else name_node
            if inner.type == "identifier":
                body.keyed.append(text(inner))
            if inner.type != "string":
                return
            name = text(inner)[1:-1]
        if name == "constructor" and node.type in _METHODS:
            body.news.append(self.call(node))
            self._promoted(body, node)
            return
        made = Field(partial(self.member, node), has_token(node, "static"))
        body.fields.setdefault(name, []).append(made)

    def _promoted(self, body: Body, node: Node) -> None:
        """Parameters of a constructor that are members too."""
        parameters = child_of(node, "parameters")
        for each in parameters.named_children if parameters is not None else ():
            pattern = child_of(each, "pattern")
            if pattern is not None and has_token(each, "accessibility_modifier", "readonly"):
                made = Field(partial(self.member, each), static=False)
                body.fields.setdefault(text(pattern), []).append(made)

    def member(self, node: Node) -> Term:
        """The type of a member."""
        if node.type in _METHODS and not has_token(node, "get", "set"):
            return Record(Body(calls=[self.call(node)]))
        annotation = child_of(node, "return_type") or child_of(node, "type")
        if has_token(node, "set") or annotation is None:
            return UNCLEAR
        return self.term(annotation)


def _mapping(inner: list[Node]) -> Node | None:
    """The clause of a mapped type."""
    alone = inner[0] if len(inner) == 1 and inner[0].type == "index_signature" else None
    for each in alone.named_children if alone is not None else ():
        if each.type == "mapped_type_clause":
            return each
    return None


def names_of(node: Node) -> tuple[str, ...]:
    """The names of ``a.b.c``; empty for anything else."""
    if node.type in ("identifier", "type_identifier", "property_identifier"):
        return (text(node),)
    first = child_of(node, "module") or child_of(node, "object")
    last = child_of(node, "name") or child_of(node, "property")
    if node.type.startswith(("nested_", "member_")) and first is not None and last is not None:
        before = names_of(first)
        return (*before, text(last)) if before else ()
    return ()


def _mentioned(node: Node) -> set[str]:
    """Every name of a type below a node."""
    found, waiting = set(), [node]
    while waiting:
        each = waiting.pop()
        if each.type in ("type_identifier", "identifier"):
            found.add(text(each))
        waiting += each.named_children
    return found
