"""Declarations of TypeScript in a normal form, and the calls that they allow.

This room knows what makes no difference in a declaration: layout, quotes, names of parameters and
type parameters, the order of a union and of an object's properties, ``undefined`` as a type of what
may be left out. It does not know what a change means.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from docstow.languages.typescript.source.grammar import child_of, has_token, parse, text

if TYPE_CHECKING:
    from tree_sitter import Node

_MODIFIERS = re.compile(
    r"(?:(?:public|private|protected|static|abstract|override|declare|async|accessor)\s+)+"
)
_CALLABLE = ("function_signature", "method_signature", "function_type", "call_signature")
_FIELDS = ("property_signature", "public_field_definition")
_PARAMETERS = ("required_parameter", "optional_parameter")
_CLOSERS = frozenset({")", "]", "}", ">"})
_SEPARATORS = frozenset({",", ";"})


@dataclass(frozen=True, slots=True)
class Given:
    """A parameter of a call: its type as the members of a union, and how it may be given."""

    type: frozenset[str]
    optional: bool
    rest: bool


@dataclass(frozen=True, slots=True)
class Generic:
    """A type parameter with its constraint; ``optional`` if it has a default."""

    words: str
    optional: bool


@dataclass(frozen=True, slots=True)
class Call:
    """One overload; the result as the members of a union, empty where none is said."""

    generics: tuple[Generic, ...]
    parameters: tuple[Given, ...]
    result: frozenset[str]


@dataclass(frozen=True, slots=True)
class Declared:
    """A declaration.

    Attributes:
        words: its normal form: equal where two declarations mean the same.
        calls: the overloads of what can be called; empty for anything else.
        generics: the type parameters of a class, interface or type.
        above: what a class or interface extends and implements.
        union: the members of a type that is one.
        properties: of an object's type; the words of each, by whether it may be left out.
    """

    words: str
    calls: tuple[Call, ...] = ()
    generics: tuple[Generic, ...] = ()
    above: frozenset[str] = frozenset()
    union: frozenset[str] = frozenset()
    properties: frozenset[tuple[str, bool]] = frozenset()


@lru_cache(maxsize=4096)
def declared(signature: str) -> Declared:
    """Read a declaration as documents have it: one of each overload a line.

    What the grammar cannot read has its words alone.
    """
    read = [_line(each) for each in signature.split("\n") if each.strip()]
    words = "\n".join(each.words for each in read)
    if len(read) == 1:
        return read[0]
    return Declared(words, tuple(call for each in read for call in each.calls))


def _line(line: str) -> Declared:
    node = _parsed(line)
    if node is not None and (names := [*_type_parameters(node)]):
        for number, name in enumerate(dict.fromkeys(names)):
            line = re.sub(rf"(?<![\w$.\"']){re.escape(name)}(?![\w$\"'])", f"T${number}", line)
        node = _parsed(line)
    if node is None:
        return Declared(" ".join(line.split()))
    modifiers = _MODIFIERS.match(line)
    words = f"{modifiers[0] if modifiers else ''}{_normal(node)}"
    callable_ = _callable(node)
    generics = _generics(child_of(node, "type_parameters"))
    if callable_ is not None:
        return Declared(words, (_call(callable_),), generics)
    value = _value(node)
    if value is not None and value.type == "object_type":
        inner = (each for each in value.named_children if each.type != "comment")
        properties = frozenset((_normal(each), has_token(each, "?")) for each in inner)
        return Declared(words, (), generics, properties=properties)
    union = frozenset(_members(value)) if value is not None else frozenset()
    return Declared(words, (), generics, frozenset(_above(node)), union)


def _value(node: Node) -> Node | None:
    """The type that a declaration gives a name to, or that a property or constant has."""
    if node.type == "lexical_declaration":
        node = next((each for each in node.named_children), node)
    there = child_of(node, "value" if node.type == "type_alias_declaration" else "type")
    if there is not None and there.type == "type_annotation":
        there = there.named_children[0] if there.named_children else None
    return there


def _type_parameters(node: Node) -> Iterator[str]:
    """The names of all type parameters in a declaration, as they come."""
    if node.type == "type_parameter" and (name := child_of(node, "name")) is not None:
        yield text(name)
    for each in node.named_children:
        yield from _type_parameters(each)


def _parsed(line: str) -> Node | None:
    """The declaration's node; None where the grammar cannot read it."""
    bare = _MODIFIERS.sub("", line, count=1)
    tries = [f"interface _ {{ {bare} }}"]
    if re.match(r"(?:class|interface|enum|namespace)\b", bare):
        tries = [f"declare {bare} {{}}"]
    elif re.match(r"(?:function|const|let|var|type)\b(?!\s*[?:(])", bare):
        tries = [f"declare {bare}"]
    for each in tries:
        root = parse(each.encode())
        if root.has_error or not root.named_children:
            continue
        node = root.named_children[0]
        if node.type == "ambient_declaration":
            return node.named_children[0]
        if node.type == "interface_declaration" and each is tries[0] and "_" in each[:11]:
            body = child_of(node, "body")
            found = body.named_children if body is not None else []
            return found[0] if len(found) == 1 else None
        return node
    return None


def _callable(node: Node) -> Node | None:
    """What is called: the declaration, or the type of a value or alias that is a function."""
    if node.type in _CALLABLE:
        return node
    there = _value(node)
    while there is not None and there.type == "parenthesized_type":
        there = there.named_children[0]
    return there if there is not None and there.type == "function_type" else None


def _call(node: Node) -> Call:
    given = child_of(node, "parameters")
    found = [each for each in given.named_children if each.type in _PARAMETERS] if given else []
    result = child_of(node, "return_type")
    if result is not None and result.type == "type_annotation":
        result = result.named_children[0] if result.named_children else None
    return Call(
        _generics(child_of(node, "type_parameters")),
        tuple(_given(each) for each in found if not _is_this(each)),
        frozenset(_members(result)) if result is not None else frozenset(),
    )


def _given(node: Node) -> Given:
    annotation = child_of(node, "type")
    types = set(_members(annotation.named_children[0])) if annotation is not None else {"any"}
    pattern = child_of(node, "pattern")
    optional = node.type == "optional_parameter" or has_token(node, "=")
    if optional:
        types.discard("undefined")
    rest = pattern is not None and pattern.type == "rest_pattern"
    return Given(frozenset(types), optional, rest)


def _generics(node: Node | None) -> tuple[Generic, ...]:
    found = [each for each in node.named_children if each.type == "type_parameter"] if node else []
    made = []
    for each in found:
        default = child_of(each, "value")
        parts = [_normal(part) for part in each.named_children if part != default]
        made.append(Generic(" ".join(parts), default is not None))
    return tuple(made)


def _above(node: Node) -> Iterator[str]:
    for each in node.named_children:
        if each.type == "class_heritage":
            yield from _above(each)
        elif each.type == "extends_clause":
            # A class extends a value, whose type arguments stand beside it.
            yield " ".join(map(_normal, each.named_children))
        elif each.type in {"extends_type_clause", "implements_clause"}:
            yield from map(_normal, each.named_children)


def _members(node: Node) -> Iterator[str]:
    """The members of a union, or the type alone."""
    if node.type == "parenthesized_type" and node.named_children[0].type == "union_type":
        node = node.named_children[0]
    if node.type != "union_type":
        yield _normal(node)
        return
    for each in node.named_children:
        if each.type != "comment":
            yield from _members(each)


def _is_this(node: Node) -> bool:
    pattern = child_of(node, "pattern")
    return pattern is not None and text(pattern) == "this"


def _property(node: Node) -> str:
    name, annotation = child_of(node, "name"), child_of(node, "type")
    types = set(_members(annotation.named_children[0])) if annotation else set()
    optional = has_token(node, "?")
    if optional:
        types.discard("undefined")
    marks = "readonly " * has_token(node, "readonly")
    shown = text(name) if name is not None else ""
    return f"{marks}{shown}{'?' * optional}: {' | '.join(sorted(types))}"


def _normal(node: Node) -> str:
    """The words of a node, without what makes no difference."""
    if node.type == "union_type":
        return " | ".join(sorted(set(_members(node))))
    if node.type == "string":
        return f'"{text(node)[1:-1]}"'
    if node.type in _PARAMETERS:
        given = _given(node)
        marks = "..." * given.rest + "?" * given.optional
        return f"{marks} {' | '.join(sorted(given.type))}".strip()
    if node.type in _FIELDS and child_of(node, "type") is not None:
        return _property(node)
    if not node.children or node.type == "template_literal_type":
        return " ".join(text(node).split())
    if node.type == "type_predicate":
        return f"is {_normal(node.named_children[-1])}"
    children = [each for each in node.children if each.type != "comment" and not _is_this(each)]
    if node.type == "object_type":
        inner = [_normal(each) for each in children if each.is_named]
        if all(each.type == "property_signature" for each in children if each.is_named):
            inner.sort()
        return f"{{ {' ; '.join(inner)} }}"
    words: list[str] = []
    for at, each in enumerate(children):
        after = children[at + 1].type if at + 1 < len(children) else ""
        if each.type in _SEPARATORS and (not after or after in _CLOSERS or not words):
            continue
        if each.type == "," and words and words[-1] == "(":
            continue
        words.append(_normal(each))
    return " ".join(word for word in words if word)
