"""How two versions of a Node package are compared: whether code that was right before still is.

Where that cannot be decided from two declarations alone, the change counts as breaking. They are
compared in a normal form: layout, quotes, the names of parameters and type parameters, the order of
a union and of properties, and ``undefined`` as a type of what may be left out make no difference.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING

from docstow.core.model import Document
from docstow.languages.shared.diff import BREAKING, COMPATIBLE, PackageChange
from docstow.languages.shared.language import Comparing
from docstow.languages.typescript.source.grammar import child_of, has_token, parse, text

if TYPE_CHECKING:
    from tree_sitter import Node

#: Types that take anything, and results that are not used.
_ANYTHING = frozenset({"any", "unknown"})
_UNUSED = _ANYTHING | {"void"}
_MODIFIERS = re.compile(
    r"(?:(?:public|private|protected|static|abstract|override|declare|async|accessor)\s+)+"
)
_CALLABLE = ("function_signature", "method_signature", "function_type", "call_signature")
_FIELDS = ("property_signature", "public_field_definition")
_PARAMETERS = ("required_parameter", "optional_parameter")
_CLOSING = frozenset({")", "]", "}", ">"})
_SEPARATORS = frozenset({",", ";"})


def same(old: str, new: str) -> bool:
    """Whether two declarations differ in nothing but how they are written."""
    return old == new or normalize(old).text == normalize(new).text


def takes_as_much(old: str, new: str) -> bool:
    """Whether what was right by the older declaration is right by the newer one.

    That is so for further overloads, further parameters that may be left out, parameters that
    take more types or need not be given any more, results of fewer types, further type parameters
    with defaults, objects with further properties that may be left out, and classes that extend
    more.
    """
    was, now = normalize(old), normalize(new)
    if was.overloads and now.overloads:
        calls = (each for overload in was.overloads for each in _truncations(overload))
        return all(_is_accepted(each, now.overloads) for each in calls)
    if was.properties and now.properties:
        added = all(optional for _, optional in now.properties - was.properties)
        kept = was.properties <= now.properties and was.type_parameters == now.type_parameters
        return kept and added
    if was.overloads or now.overloads or was.union or now.union:
        return False
    return bool(now.bases or now.type_parameters) and _extends_more(was, now)


def _extends_more(was: NormalForm, now: NormalForm) -> bool:
    """Whether a class or interface has the same bases or more."""
    keywords = ("class ", "interface ", "abstract class ")
    if not (was.text.startswith(keywords) and now.text.startswith(keywords)):
        return False
    kept = all(any(_is_same_base(each, base) for base in now.bases) for each in was.bases)
    return kept and _are_kept(was.type_parameters, now.type_parameters)


def _is_same_base(base: str, now: str) -> bool:
    """Whether a base is the same, but for further type arguments."""
    return base == now or (base.endswith(" >") and now.startswith(f"{base.removesuffix(' >')} ,"))


def _truncations(overload: Overload) -> Iterator[Overload]:
    """Iterate over an overload with each number of arguments that it can be given."""
    given = overload.parameters
    least = next((at for at, each in enumerate(given) if each.optional or each.rest), len(given))
    for count in range(least, len(given) + 1):
        taken = tuple(replace(each, optional=False) for each in given[:count])
        yield replace(overload, parameters=taken)


def _is_accepted(call: Overload, overloads: Sequence[Overload]) -> bool:
    return any(
        _returns(call.result, each.result)
        and (not call.type_parameters or _are_kept(call.type_parameters, each.type_parameters))
        and _takes(call.parameters, each.parameters)
        for each in overloads
    )


def _takes(given: Sequence[Parameter], parameters: Sequence[Parameter]) -> bool:
    last = parameters[-1] if parameters else None
    for at, each in enumerate(given):
        parameter = parameters[at] if at < len(parameters) else last
        if parameter is None or (at >= len(parameters) and not parameter.rest):
            return False
        if each.rest != parameter.rest or not (
            each.type <= parameter.type or parameter.type & _ANYTHING
        ):
            return False
    return all(each.optional or each.rest for each in parameters[len(given) :])


def _returns(was: frozenset[str], now: frozenset[str]) -> bool:
    return now <= was or bool(was & _UNUSED)


def _are_kept(was: Sequence[TypeParameter], now: Sequence[TypeParameter]) -> bool:
    kept = [each.text for each in now[: len(was)]] == [each.text for each in was]
    still = all(a.optional <= b.optional for a, b in zip(was, now, strict=False))
    return kept and still and all(each.optional for each in now[len(was) :])


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter of a call: its type as the members of a union, and how it may be given."""

    type: frozenset[str]
    optional: bool
    rest: bool


@dataclass(frozen=True, slots=True)
class TypeParameter:
    """A type parameter with its constraint; ``optional`` if it has a default."""

    text: str
    optional: bool


@dataclass(frozen=True, slots=True)
class Overload:
    """One overload; the result as the members of a union, empty where it is not declared."""

    type_parameters: tuple[TypeParameter, ...]
    parameters: tuple[Parameter, ...]
    result: frozenset[str]


@dataclass(frozen=True, slots=True)
class NormalForm:
    """A declaration.

    Attributes:
        text: equal where two declarations mean the same.
        overloads: of what can be called; empty for anything else.
        type_parameters: of a class, interface or type.
        bases: what a class or interface extends and implements.
        union: the members of a union type.
        properties: of an object type; the text of each, and whether it may be left out.
    """

    text: str
    overloads: tuple[Overload, ...] = ()
    type_parameters: tuple[TypeParameter, ...] = ()
    bases: frozenset[str] = frozenset()
    union: frozenset[str] = frozenset()
    properties: frozenset[tuple[str, bool]] = frozenset()


@lru_cache(maxsize=4096)
def normalize(signature: str) -> NormalForm:
    """Normalize a declaration with its overloads, one a line.

    What the grammar cannot read has its text alone.
    """
    read = [_normalize_line(each) for each in signature.split("\n") if each.strip()]
    if len(read) == 1:
        return read[0]
    whole = "\n".join(each.text for each in read)
    return NormalForm(whole, tuple(overload for each in read for overload in each.overloads))


def _normalize_line(line: str) -> NormalForm:
    node = _parse_line(line)
    if node is not None and (names := [*_type_parameter_names(node)]):
        for number, name in enumerate(dict.fromkeys(names)):
            line = re.sub(rf"(?<![\w$.\"']){re.escape(name)}(?![\w$\"'])", f"T${number}", line)
        node = _parse_line(line)
    if node is None:
        return NormalForm(" ".join(line.split()))
    modifiers = _MODIFIERS.match(line)
    whole = f"{modifiers[0] if modifiers else ''}{_normalize(node)}"
    callable_ = _find_callable(node)
    type_parameters = _read_type_parameters(child_of(node, "type_parameters"))
    if callable_ is not None:
        return NormalForm(whole, (_read_overload(callable_),), type_parameters)
    value = _declared_type(node)
    if value is not None and value.type == "object_type":
        inner = (each for each in value.named_children if each.type != "comment")
        properties = frozenset((_normalize(each), has_token(each, "?")) for each in inner)
        return NormalForm(whole, (), type_parameters, properties=properties)
    union = frozenset(_union_members(value)) if value is not None else frozenset()
    return NormalForm(whole, (), type_parameters, frozenset(_read_bases(node)), union)


def _declared_type(node: Node) -> Node | None:
    """Return the type that a declaration gives a name to, or that a property or constant has."""
    if node.type == "lexical_declaration":
        node = next((each for each in node.named_children), node)
    type_ = child_of(node, "value" if node.type == "type_alias_declaration" else "type")
    if type_ is not None and type_.type == "type_annotation":
        type_ = type_.named_children[0] if type_.named_children else None
    return type_


def _type_parameter_names(node: Node) -> Iterator[str]:
    """Iterate over the names of all type parameters in a declaration."""
    if node.type == "type_parameter" and (name := child_of(node, "name")) is not None:
        yield text(name)
    for each in node.named_children:
        yield from _type_parameter_names(each)


def _parse_line(line: str) -> Node | None:
    """Parse a declaration; None where the grammar cannot read it."""
    bare = _MODIFIERS.sub("", line, count=1)
    wrapped = f"interface _ {{ {bare} }}"
    if re.match(r"(?:class|interface|enum|namespace)\b", bare):
        wrapped = f"declare {bare} {{}}"
    elif re.match(r"(?:function|const|let|var|type)\b(?!\s*[?:(])", bare):
        wrapped = f"declare {bare}"
    root = parse(wrapped.encode())
    if root.has_error or not root.named_children:
        return None
    node = root.named_children[0]
    if node.type == "ambient_declaration":
        return node.named_children[0]
    if node.type == "interface_declaration":
        body = child_of(node, "body")
        found = body.named_children if body is not None else []
        return found[0] if len(found) == 1 else None
    return node


def _find_callable(node: Node) -> Node | None:
    """Find what is called: the declaration, or the function type of a value or an alias."""
    if node.type in _CALLABLE:
        return node
    type_ = _declared_type(node)
    while type_ is not None and type_.type == "parenthesized_type":
        type_ = type_.named_children[0]
    return type_ if type_ is not None and type_.type == "function_type" else None


def _read_overload(node: Node) -> Overload:
    given = child_of(node, "parameters")
    found = [each for each in given.named_children if each.type in _PARAMETERS] if given else []
    result = child_of(node, "return_type")
    if result is not None and result.type == "type_annotation":
        result = result.named_children[0] if result.named_children else None
    return Overload(
        _read_type_parameters(child_of(node, "type_parameters")),
        tuple(_read_parameter(each) for each in found if not _is_this(each)),
        frozenset(_union_members(result)) if result is not None else frozenset(),
    )


def _read_parameter(node: Node) -> Parameter:
    annotation = child_of(node, "type")
    types = set(_union_members(annotation.named_children[0])) if annotation is not None else {"any"}
    pattern = child_of(node, "pattern")
    optional = node.type == "optional_parameter" or has_token(node, "=")
    if optional:
        types.discard("undefined")
    rest = pattern is not None and pattern.type == "rest_pattern"
    return Parameter(frozenset(types), optional, rest)


def _read_type_parameters(node: Node | None) -> tuple[TypeParameter, ...]:
    found = [each for each in node.named_children if each.type == "type_parameter"] if node else []
    made = []
    for each in found:
        default = child_of(each, "value")
        parts = [_normalize(part) for part in each.named_children if part != default]
        made.append(TypeParameter(" ".join(parts), default is not None))
    return tuple(made)


def _read_bases(node: Node) -> Iterator[str]:
    for each in node.named_children:
        if each.type == "class_heritage":
            yield from _read_bases(each)
        elif each.type == "extends_clause":
            # A class extends a value, whose type arguments stand beside it.
            yield " ".join(map(_normalize, each.named_children))
        elif each.type in {"extends_type_clause", "implements_clause"}:
            yield from map(_normalize, each.named_children)


def _union_members(node: Node) -> Iterator[str]:
    """Iterate over the members of a union, or over the type alone."""
    if node.type == "parenthesized_type" and node.named_children[0].type == "union_type":
        node = node.named_children[0]
    if node.type != "union_type":
        yield _normalize(node)
        return
    for each in node.named_children:
        if each.type != "comment":
            yield from _union_members(each)


def _is_this(node: Node) -> bool:
    pattern = child_of(node, "pattern")
    return pattern is not None and text(pattern) == "this"


def _normalize_property(node: Node) -> str:
    name, annotation = child_of(node, "name"), child_of(node, "type")
    types = set(_union_members(annotation.named_children[0])) if annotation else set()
    optional = has_token(node, "?")
    if optional:
        types.discard("undefined")
    marks = "readonly " * has_token(node, "readonly")
    shown = text(name) if name is not None else ""
    return f"{marks}{shown}{'?' * optional}: {' | '.join(sorted(types))}"


def _normalize(node: Node) -> str:
    """Return the words of a node, without what makes no difference."""
    if node.type == "union_type":
        return " | ".join(sorted(set(_union_members(node))))
    if node.type == "string":
        return f'"{text(node)[1:-1]}"'
    if node.type in _PARAMETERS:
        given = _read_parameter(node)
        marks = "..." * given.rest + "?" * given.optional
        return f"{marks} {' | '.join(sorted(given.type))}".strip()
    if node.type in _FIELDS and child_of(node, "type") is not None:
        return _normalize_property(node)
    if not node.children or node.type == "template_literal_type":
        return " ".join(text(node).split())
    if node.type == "type_predicate":
        return f"is {_normalize(node.named_children[-1])}"
    children = [each for each in node.children if each.type != "comment" and not _is_this(each)]
    if node.type == "object_type":
        inner = [_normalize(each) for each in children if each.is_named]
        if all(each.type == "property_signature" for each in children if each.is_named):
            inner.sort()
        return f"{{ {' ; '.join(inner)} }}"
    words: list[str] = []
    for at, each in enumerate(children):
        after = children[at + 1].type if at + 1 < len(children) else ""
        if each.type in _SEPARATORS and (not after or after in _CLOSING or not words):
            continue
        if each.type == "," and words and words[-1] == "(":
            continue
        words.append(_normalize(each))
    return " ".join(word for word in words if word)


def signature_changes(
    old: Document, new_kind: str, before: str, after: str
) -> Iterator[PackageChange]:
    """Yield what a changed declaration means."""
    # Of what may be called in either form the two say too little.
    takes = old.kind != new_kind or takes_as_much(before, after)
    found = COMPATIBLE if takes else BREAKING
    yield PackageChange(old.path, old.kind, "signature-changed", before, after, found=found)


COMPARING = Comparing(
    same=same,
    changes=signature_changes,
    alike=(frozenset({"property", "method"}), frozenset({"constant", "function"})),
    notice=(
        "declarations of TypeScript are compared without resolving what their types mean: one that "
        "does not plainly take all that it took counts as breaking"
    ),
)
