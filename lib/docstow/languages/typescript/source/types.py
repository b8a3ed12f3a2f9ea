"""Type expressions of TypeScript → terms, type parameters kept.

This room knows how types are written. It does not know what a name means: whoever has the file
puts that in. Members are read when they are asked for, so that a large interface costs what is
used of it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING
from typing import Literal as _Literal

from docstow.languages.typescript.source.grammar import field as child_of
from docstow.languages.typescript.source.grammar import field as field_module
from docstow.languages.typescript.source.grammar import has_token, imported, text
from docstow.languages.typescript.source.model import Span

if TYPE_CHECKING:
    from tree_sitter import Node


# What a type of TypeScript shows


@dataclass(frozen=True, slots=True)
class Argument:
    """A parameter of a call."""

    name: str
    required: bool
    rest: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Opaque:
    """A type of which nothing is certain: ``any``, mapped, conditional, a type parameter."""


@dataclass(frozen=True, slots=True, eq=False)
class Named:
    """A type by name.

    Attributes:
        path: the names that lead to it; may be empty for a whole module.
        module: of ``import("x")``; empty for a name of the file.
        value: ``typeof``: the type of that value; None where a class is extended, which is both.
    """

    path: tuple[str, ...]
    module: str = ""
    value: bool | None = False


@dataclass(frozen=True, slots=True, eq=False)
class Member:
    """A member of a class, interface or object type; overloads are members of the same name.

    Attributes:
        name: as it is written after a dot.
        kind: ``method``, ``property``, or ``constant`` of an enumeration.
        span: where it is declared.
        doc: its documentation comment.
        signature: as written, without a body.
        type: of a property; None where nothing says it.
        call: of a method.
        hidden: private: not to be used, yet there.
        static: of the class itself.
    """

    name: str
    kind: _Literal["method", "property", "constant"]
    span: Span
    doc: str
    signature: str
    type: Type | None = None
    call: tuple[Argument, ...] | None = None
    hidden: bool = False
    static: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Shape:
    """Members and calls.

    Attributes:
        members: in the order written.
        calls: what it takes when it is called, one for each overload.
        constructs: the same of ``new``.
        bases: types whose members it has as well.
        certain: whether these are all members.
    """

    members: tuple[Member, ...] = ()
    calls: tuple[tuple[Argument, ...], ...] = ()
    constructs: tuple[tuple[Argument, ...], ...] = ()
    bases: tuple[Type, ...] = ()
    certain: bool = True


@dataclass(frozen=True, slots=True, eq=False)
class Parts:
    """An intersection or (``either``) a union of types."""

    parts: tuple[Type, ...]
    either: bool


Type = Opaque | Named | Shape | Parts


OPAQUE = Opaque()


NOTHING = Shape()


# What type expressions of TypeScript say


#: Words for nothing at all, which a member is never asked of.
TERMS_NOTHING = frozenset({"void", "undefined", "null", "never"})


@dataclass(frozen=True, slots=True, eq=False)
class Unclear:
    """A type of which nothing is known: ``any``, mapped, an operator."""


@dataclass(frozen=True, slots=True, eq=False)
class Basic:
    """A type of the language itself: ``string``, ``void``, ``object``."""

    name: str


@dataclass(frozen=True, slots=True, eq=False)
class Literal:
    """One value: of ``string``, ``number`` or ``boolean``, as it is written."""

    of: str
    value: str


@dataclass(frozen=True, slots=True, eq=False)
class Ref:
    """A type by name.

    Attributes:
        path: the names that lead to it; empty for a whole module.
        args: type arguments.
        module: of ``import("x")``.
        value: ``typeof``: the type of that value.
    """

    path: tuple[str, ...]
    args: tuple[Term, ...] = ()
    module: str = ""
    value: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Either:
    """One of several: a union."""

    parts: tuple[Term, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Choice:
    """``what extends wanted ? yes : no``."""

    what: Term
    wanted: Term
    yes: Term
    no: Term


@dataclass(frozen=True, slots=True, eq=False)
class Both:
    """All of several: an intersection."""

    parts: tuple[Term, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Mapped:
    """``{ [K in keyof T]: … }``: it has the names that another type has.

    Attributes:
        of: the other type; None where the keys are written one by one.
        keys: they.
        same: whether the members keep their types.
    """

    of: Term | None
    keys: Term | None
    same: bool


@dataclass(frozen=True, slots=True, eq=False)
class Row:
    """An array of one type or, ``fixed``, a tuple."""

    items: tuple[Term, ...]
    fixed: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Lookup:
    """``T["key"]``."""

    of: Term
    key: str


@dataclass(frozen=True, slots=True, eq=False)
class This:
    """The receiver."""


@dataclass(frozen=True, slots=True, eq=False)
class Generic:
    """A type parameter."""

    name: str
    bound: Term | None
    default: Term | None


@dataclass(frozen=True, slots=True, eq=False)
class Taken:
    """A parameter of a call; ``named`` are the types that it speaks of."""

    name: str
    term: Term
    required: bool
    rest: bool
    named: frozenset[str]


@dataclass(frozen=True, slots=True, eq=False)
class Call:
    """One way to call something.

    Attributes:
        generics: its own type parameters.
        takes: parameters without ``this``.
        gives: the returned type.
    """

    generics: tuple[Generic, ...]
    takes: tuple[Taken, ...]
    gives: Term


@dataclass(slots=True, eq=False)
class Field:
    """A member; ``term`` reads its type when it is asked for."""

    term: Callable[[], Term]
    static: bool


@dataclass(slots=True, eq=False)
class Body:
    """What stands between the braces of an object type, an interface or a class.

    Attributes:
        fields: members by name, overloads as several.
        calls: ways to call it.
        news: ways to make one by ``new``.
        open: there may be members that are not seen.
        keyed: constants that name members; those that are symbols name none.
    """

    fields: dict[str, list[Field]] = field(default_factory=dict)
    calls: list[Call] = field(default_factory=list)
    news: list[Call] = field(default_factory=list)
    open: bool = False
    keyed: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True, eq=False)
class Record:
    """An object or function type."""

    body: Body


Term = (
    Unclear | Basic | Literal | Ref | Either | Both | Choice | Mapped | Row | Lookup | This | Record
)


UNCLEAR = Unclear()


# Type expressions of TypeScript → what is known of the values that have them.


_MAPPED_WHOLE = ("Partial", "Required", "Readonly", "NonNullable")


_NOTHING = ("void", "undefined", "null", "never")


_TYPES_FIELDS = ("property_signature", "public_field_definition", "field_definition")


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
            call = self.arguments(field_module(node, "parameters"))
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
        target = field_module(node, "name") if node.type == "generic_type" else node
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
        first = field_module(node, "module") or field_module(node, "object")
        last = field_module(node, "name") or field_module(node, "property")
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
            pattern = field_module(each, "pattern") or field_module(each, "left") or each
            if pattern.type == "this":
                continue
            rest = pattern.type == "rest_pattern"
            optional = each.type in ("optional_parameter", "assignment_pattern")
            optional = optional or field_module(each, "value") is not None or self.script
            annotation = field_module(each, "type")
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
        name_node = field_module(node, "name") or field_module(node, "property")
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
        accessor = has_token(node, "get", "set") and field_module(node, "parameters") is not None
        shown = self.header(node)
        hidden = any(
            c.type == "accessibility_modifier" and text(c) == "private" for c in node.children
        )
        static = has_token(node, "static")
        if node.type in _METHODS and not accessor:
            call = None if self.script else self.call(node)
            place = self.place(node)
            members.append(Member(name, "method", place, doc, shown, None, call, hidden, static))
        elif node.type in _METHODS or node.type in _TYPES_FIELDS:
            annotation = field_module(node, "return_type" if accessor else "type")
            kind = self.type_of(annotation) if annotation is not None else None
            span = self.place(node)
            members.append(Member(name, "property", span, doc, shown, kind, None, hidden, static))

    def _promoted(self, node: Node) -> list[Member]:
        """Parameters of a constructor that are members too."""
        found = []
        parameters = field_module(node, "parameters")
        for each in parameters.named_children if parameters is not None else ():
            pattern = field_module(each, "pattern")
            if pattern is None or not has_token(each, "accessibility_modifier", "readonly"):
                continue
            hidden = "private" in text(each).split(text(pattern))[0]
            kind = self.type_of(field_module(each, "type")) if field_module(each, "type") else None
            shown, place = text(each), self.place(each)
            found.append(Member(text(pattern), "property", place, "", shown, kind, None, hidden))
        return found

    def call(self, node: Node) -> tuple[Argument, ...]:
        """The parameters of a signature, whose own type parameters are erased."""
        erased, free = set(self.erased), set(self.free)
        self.erase(node)
        found = self.arguments(field_module(node, "parameters"))
        self.erased, self.free = erased, free
        return found

    def erase(self, node: Node) -> None:
        """Take in a declaration's type parameters; the unbounded ones may be anything."""
        found = field_module(node, "type_parameters")
        for each in found.named_children if found is not None else ():
            name = field_module(each, "name")
            if name is not None:
                self.erased.add(text(name))
                if field_module(each, "constraint") is None:
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
        body = field_module(node, "body")
        whole = self.written(node, body.start_byte if body is not None else None)
        return " ".join(whole.rstrip(" ;,\n").split())


def _is_named_elsewhere(node: Node) -> bool:
    """Whether a variable gives a member its name; a symbol's is none that could be written."""
    name = field_module(node, "name")
    if name is None or name.type != "computed_property_name":
        return False
    return all(each.type == "identifier" for each in name.named_children)


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
