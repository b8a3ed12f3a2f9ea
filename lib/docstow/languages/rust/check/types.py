"""The types of expressions in Rust code, where they are certain.

This room knows syntax. It does not note findings.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, MutableMapping
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from docstow.languages.rust.check.crate_names import TYPES, Found
from docstow.languages.rust.check.paths import ByTrait, Meant, Paths
from docstow.languages.rust.check.scope import Segments, segments
from docstow.languages.rust.check.std import (
    ARRAY,
    OPTION,
    PLAIN_TYPES,
    PRELUDE_TYPES,
    PRIMITIVES,
    RESULT,
    SLICE,
    is_standard,
    standard_types,
    universal_names,
)
from docstow.languages.rust.check.syntax import parser, text_of

if TYPE_CHECKING:
    from tree_sitter import Node

    from docstow.languages.rust.check.crate_names import CrateNames, Found


# What a Rust value's type is, where its declaration leaves no doubt.


FUTURE = "Future"


_HEAD = re.compile(r"pub (?:struct|enum|union) (\w+)")


#: By the name that signatures write; what they hold is known too.
WRAPPERS = {"Option": OPTION, "Result": RESULT}


@dataclass(frozen=True, slots=True)
class Type:
    """A type that is known for certain.

    Attributes:
        name: the canonical path; ``Future`` for what must be awaited.
        crate: where it is found; None of a future.
        inner: what an option, a result or a future holds, if that is known.
        through: the path of the pointer that leads to it, which has members of its own.
    """

    name: str
    crate: CrateNames | None = None
    inner: Type | None = None
    through: str = ""


@dataclass(frozen=True, slots=True)
class Signature:
    """What a function's declaration says.

    Attributes:
        arity: parameters, ``self`` left out; None where they cannot be counted.
        takes_self: whether it is a method.
        is_async: whether a call of it must be awaited.
        output: the type it gives back, as a syntax node; None for none.
        generics: names that stand for any type.
        lends: whether it takes ``&self`` and gives a reference that cannot be written through.
    """

    arity: int | None
    takes_self: bool
    is_async: bool
    output: Node | None
    generics: frozenset[str]
    lends: bool = False


@lru_cache(maxsize=4096)
def signature(declaration: str) -> Signature | None:
    """Read a function's declaration; None where it is none."""
    tree = parser().parse(f"trait T {{ {declaration.removeprefix('pub ')} ; }}".encode())
    found = _first(tree.root_node, {"function_signature_item", "function_item"})
    if found is None or tree.root_node.has_error:
        return None
    parameters = found.child_by_field_name("parameters")
    if parameters is None:
        return None
    named = [each for each in parameters.named_children if "comment" not in each.type]
    own = [each for each in named if not _is_self(each)]
    counted = all(each.type == "parameter" for each in own)
    generics = found.child_by_field_name("type_parameters")
    names = frozenset(
        text_of(each) for each in _all(generics, "type_identifier") if generics is not None
    )
    head = text_of(found).split("fn ", 1)[0]
    output = found.child_by_field_name("return_type")
    return Signature(
        arity=len(own) if counted else None,
        takes_self=len(own) < len(named),
        is_async="async" in head.split(),
        output=output,
        generics=names,
        lends=_is_shared(named[0] if named else None) and _is_shared(output),
    )


def _is_shared(node: Node | None) -> bool:
    text = text_of(node) if node is not None else ""
    return text.startswith("&") and "mut " not in text


def _is_self(node: Node) -> bool:
    if node.type == "self_parameter":
        return True
    pattern = node.child_by_field_name("pattern") if node.type == "parameter" else None
    return pattern is not None and text_of(pattern) in {"self", "mut self"}


def _first(node: Node, types: set[str]) -> Node | None:
    if node.type in types:
        return node
    for child in node.named_children:
        if (found := _first(child, types)) is not None:
            return found
    return None


def _all(node: Node | None, kind: str) -> list[Node]:
    if node is None:
        return []
    found = [node] if node.type == kind else []
    return found + [each for child in node.named_children for each in _all(child, kind)]


def returned(found: Found) -> Type | None:
    """What a call of a documented function gives, if that is certain."""
    if found.kind not in {"function", "method"}:
        return None
    read = signature(found.signature)
    if read is None or read.output is None:
        return None
    is_type = any(
        each.kind in {"struct", "enum", "union"} for each in found.names.find(found.parent)
    )
    owner = found.parent if is_type else ""
    given = _resolved(read.output, found.names, owner, read)
    return Type(FUTURE, None, given) if read.is_async else given


def wrapper(name: str, inner: Type | None) -> Type:
    """An option or a result."""
    from docstow.languages.rust.check.crate_names import standard

    return Type(WRAPPERS[name], standard(), inner)


def plain(path: str) -> Type:
    """A type of the standard library."""
    from docstow.languages.rust.check.crate_names import standard

    return Type(path, standard())


def builtin(node: Node) -> Type | None:
    """A primitive, a slice or an array."""
    if node.type == "primitive_type":
        return plain(text_of(node)) if text_of(node) in PRIMITIVES else None
    if node.type == "array_type":
        return plain(ARRAY if node.child_by_field_name("length") is not None else SLICE)
    return None


def arguments(node: Node) -> list[Node]:
    """The type arguments of a generic type, lifetimes left out."""
    given = node.child_by_field_name("type_arguments")
    return [each for each in given.named_children if each.type != "lifetime"] if given else []


def _resolved(node: Node, names: CrateNames, owner: str, read: Signature) -> Type | None:
    if node.type == "reference_type":
        target = node.child_by_field_name("type")
        return _resolved(target, names, owner, read) if target is not None else None
    base = node.child_by_field_name("type") if node.type == "generic_type" else node
    if base is None:
        return None
    name = text_of(base)
    if base.type == "scoped_type_identifier":
        known = is_standard(name) and names.root == "std" and names.find(name)
        return Type(name, names) if known else None
    if base.type != "type_identifier":
        return builtin(base)
    if name in WRAPPERS:
        held = arguments(node)
        return wrapper(name, _resolved(held[0], names, owner, read) if held else None)
    if name == "Self":
        return Type(owner, names) if owner else None
    if name in read.generics:
        return None
    return _by_name(name, names, owner, read)


def _by_name(name: str, names: CrateNames, owner: str, read: Signature) -> Type | None:
    """The type that a bare name means.

    Signatures leave out where a name comes from. So it is only taken for one of the crate's own
    where no other can be meant: a constructor's own type, or a name that is neither the standard
    library's nor twice in the crate.
    """
    if owner and name in {owner.rpartition("::")[2], _declared(owner, names)}:
        if not read.takes_self:
            return Type(owner, names)
        if read.lends:  # what it wraps may bear the same name
            return None
    paths = names.types_by_title.get(name, [])
    if not paths and name in PLAIN_TYPES:
        return plain(PLAIN_TYPES[name])
    if name in standard_types() or name in COMMON_TYPES:
        return None
    if len(paths) != 1:
        here = owner.rpartition("::")[0]
        beside = [path for path in paths if here and path.rpartition("::")[0] == here]
        if len(beside) != 1:
            return None
        paths = beside
    kinds = {each.kind for each in names.find(paths[0])}
    return Type(paths[0], names) if kinds & {"struct", "enum", "union"} else None


def _declared(path: str, names: CrateNames) -> str:
    """The name that a type's own declaration has: it may be shown by another one."""
    heads = [_HEAD.match(each.signature) for each in names.find(path)]
    return next((head[1] for head in heads if head is not None), "")


#: Names that many crates use, so that a signature may mean another crate's.
COMMON_TYPES = frozenset(
    {
        *("Error", "Request", "Response", "Body", "Uri", "Url", "Method", "StatusCode", "Bytes"),
        *("Value", "Map", "Stream", "Sink", "Either", "Span", "Id", "Version", "HeaderMap"),
    }
)


FUNCTIONS = frozenset({"function", "method"})


Known = MutableMapping[str, Type | None]


#: Methods of Option and Result that give what they hold, and those that give the same again.
_OPENED = frozenset({"unwrap", "expect", "unwrap_or_default", "unwrap_or_else", "unwrap_or"})


_SAME = frozenset(
    {
        *("map_err", "context", "with_context", "or_else", "inspect_err", "or", "as_ref"),
        *("as_mut", "cloned", "copied", "take", "filter", "inspect"),
    }
)


_POINTERS: Mapping[Segments, str] = {
    ("std", "sync", "Arc"): "std::sync::Arc",
    ("std", "rc", "Rc"): "std::rc::Rc",
    ("std", "boxed", "Box"): "std::boxed::Box",
    ("std", "sync", "LazyLock"): "std::sync::LazyLock",
}


_LITERALS = {
    "string_literal": "str",
    "raw_string_literal": "str",
    "char_literal": "char",
    "boolean_literal": "bool",
    "array_expression": ARRAY,
}


_MACROS = {"format": "std::string::String", "vec": "std::vec::Vec"}


#: What macros of widely used crates give, as their docs say it in words alone.
_GIVEN_BY_MACROS: Mapping[Segments, Segments] = {
    ("anyhow", "anyhow"): ("anyhow", "Error"),
    ("eyre", "eyre"): ("eyre", "Report"),
    ("quote", "quote"): ("proc_macro2", "TokenStream"),
    ("serde_json", "json"): ("serde_json", "Value"),
    ("uuid", "uuid"): ("uuid", "Uuid"),
    **{
        ("tracing", name): ("tracing", "Span")
        for name in ("span", "error_span", "warn_span", "info_span", "debug_span", "trace_span")
    },
}


#: Functions that traits bring to types, which give the type itself.
_CONSTRUCTORS = {"default": "Default", "from": "From", "from_iter": "FromIterator"}


_DEEPEST_TYPE = 40


class Values:
    """What the expressions of one piece of code are.

    Args:
        meant: what its names mean.
        paths: where its paths are looked up.
        by_trait: whether a trait in view may bring a name.
    """

    def __init__(self, meant: Meant, paths: Paths, by_trait: ByTrait) -> None:
        self._meant = meant
        self._paths = paths
        self._by_trait = by_trait
        self._types: dict[int, Type | None] = {}

    def annotated(self, node: Node, depth: int = 0) -> Type | None:
        """The type that an annotation in the code names."""
        if depth > _DEEPEST_TYPE:
            return None
        if node.type == "reference_type":
            target = node.child_by_field_name("type")
            return self.annotated(target, depth + 1) if target is not None else None
        if (known := builtin(node)) is not None:
            return known
        path = segments(node)
        if path is None:
            return None
        held = arguments(node)
        if path in {("Option",), ("Result",)} and not self._meant.imports(path[0]):
            return wrapper(path[0], self.annotated(held[0], depth + 1) if held else None)
        if pointer := self._holds(path):
            inner = self.annotated(held[0], depth + 1) if len(held) == 1 else None
            return _pointed(inner, pointer)
        absolute = self._meant.absolute(node) if len(path) > 1 else self._meant.named(path)
        return self.type_at(absolute)

    def _holds(self, path: Segments) -> str:
        """The pointer that a path means, whose methods are mostly those of what it points to."""
        if path == ("Box",):
            return "" if self._meant.own("Box") else "std::boxed::Box"
        return _POINTERS.get(self._meant.expanded(path), "")

    def type_at(self, absolute: Segments | None) -> Type | None:
        """The type that a path means."""
        given = self._paths.look_up(absolute).found if absolute is not None else ()
        if (meant := self._paths.aliased(given)) is not None:
            given = self._paths.look_up(tuple(meant.split("::"))).found
        for found in given:
            if found.kind in TYPES and found.path not in _POINTERS.values():
                return Type(found.path, found.names)
        return None

    def type_of(self, node: Node, known: Known) -> Type | None:
        """The type of an expression, where it is certain."""
        chain: list[Node] = []
        here: Node | None = node
        while here is not None and here.id not in self._types:
            chain.append(here)
            here = self._inside(here)
        given = self._types[here.id] if here is not None else None
        for each in reversed(chain):
            given = self._types[each.id] = self._step(each, given, known)
        return given

    def _inside(self, node: Node) -> Node | None:
        """The part of an expression whose type decides upon that of the whole."""
        match node.type:
            case "reference_expression" | "parenthesized_expression" | "try_expression":
                return node.child_by_field_name("value") or node.named_children[-1]
            case "await_expression":
                return node.named_children[0]
            case "call_expression":
                function = _function(node)
                if function is not None and function.type == "field_expression":
                    return function.child_by_field_name("value")
                path = segments(function) if function is not None else None
                if path in {("Some",), ("Ok",)} or (path and self._makes_pointer(path)):
                    given = node.child_by_field_name("arguments")
                    held = given.named_children if given is not None else []
                    return held[0] if len(held) == 1 else None
        return None

    def _makes_pointer(self, path: Segments) -> str:
        made = len(path) > 1 and path[-1] in {"new", "clone"}
        return self._holds(path[:-1]) if made else ""

    def _step(self, node: Node, given: Type | None, known: Known) -> Type | None:
        """The type of an expression; ``given`` is that of the part which decides."""
        match node.type:
            case "identifier":
                return known.get(text_of(node))
            case "reference_expression" | "parenthesized_expression":
                return given
            case "try_expression":
                return given.inner if given and given.name in {OPTION, RESULT} else None
            case "await_expression":
                return given.inner if given and given.name == FUTURE else None
            case "struct_expression":
                name = node.child_by_field_name("name")
                return self.annotated(name) if name is not None else None
            case "type_cast_expression":
                kind = node.child_by_field_name("type")
                return self.annotated(kind) if kind is not None else None
            case "macro_invocation":
                return self._expanded(node)
            case "call_expression":
                return self._called(node, given)
        return self._literal(node)

    def _literal(self, node: Node) -> Type | None:
        first = text_of(node)[:1] if node.type in _LITERALS else ""
        if first in {"b", "c"} and "string" in node.type:
            return plain(ARRAY) if first == "b" else None
        return plain(_LITERALS[node.type]) if first else None

    def _expanded(self, node: Node) -> Type | None:
        name = node.child_by_field_name("macro")
        path = segments(name) if name is not None else None
        if path is None or name is None:
            return None
        if path[0] in _MACROS and not self._meant.own(path[0]):
            return plain(_MACROS[path[0]])
        absolute = self._meant.absolute(name) if len(path) > 1 else self._meant.named(path)
        given = _GIVEN_BY_MACROS.get(absolute or ())
        return self.type_at(given) if given is not None else None

    def _called(self, node: Node, given: Type | None) -> Type | None:
        """What a call gives back."""
        function = _function(node)
        if function is None:
            return None
        if function.type == "field_expression":
            field = function.child_by_field_name("field")
            return self._by_method(given, text_of(field)) if given and field is not None else None
        path = segments(function)
        if path is None:
            return None
        if path in {("Some",), ("Ok",)}:
            return wrapper("Option" if path == ("Some",) else "Result", given)
        if pointer := self._makes_pointer(path):
            return _pointed(given, pointer)
        absolute = self._meant.absolute(function) if len(path) > 1 else self._meant.named(path)
        if absolute is None:
            return None
        found = [each for each in self._paths.look_up(absolute).found if each.kind in FUNCTIONS]
        if not found and absolute[-1] in _CONSTRUCTORS and len(absolute) > 1:
            owner = self.type_at(absolute[:-1])
            has = owner is not None and self._has(owner, _CONSTRUCTORS[absolute[-1]])
            return owner if has else None
        return returned(found[0]) if len(found) == 1 else None

    def _by_method(self, owner: Type, name: str) -> Type | None:
        if owner.name == FUTURE:
            return None
        if owner.name in {OPTION, RESULT}:
            if name in _OPENED:
                return owner.inner
            if name in _SAME:
                return owner
            if name in {"ok", "ok_or", "ok_or_else"}:
                return wrapper("Option" if name == "ok" else "Result", owner.inner)
        if name == "clone":
            return owner if owner.through or self._has(owner, "Clone") else None
        if name in universal_names() and name != "to_owned":
            return None
        if name == "to_string":
            return plain(PRELUDE_TYPES["String"]) if self._has(owner, "ToString") else None
        if name == "to_owned":
            return plain(PRELUDE_TYPES["String"]) if owner.name == "str" else None
        method = self.method(owner, name)
        return returned(method) if method is not None else None

    def _has(self, owner: Type, trait: str) -> bool:
        return owner.crate is not None and any(
            each.endswith(f"::{trait}") for each in owner.crate.traits(owner.name)
        )

    def method(self, owner: Type, name: str) -> Found | None:
        """The method that a call of that name means, where no trait may have another."""
        item = item_of(owner)
        found = self._paths.members.method(item, name) if item is not None else None
        own = found is None or found.parent == owner.name
        return found if own or not self._by_trait(name) else None


def item_of(owner: Type) -> Found | None:
    """A type as an item of its crate; None where namespaces or versions leave a doubt."""
    if owner.crate is None:
        return None
    found = [each for each in owner.crate.find(owner.name) if each.kind in TYPES]
    return found[0] if len(found) == 1 else None


def _function(node: Node) -> Node | None:
    function = node.child_by_field_name("function")
    if function is not None and function.type == "generic_function":
        return function.child_by_field_name("function") or function
    return function


def _pointed(inner: Type | None, pointer: str) -> Type | None:
    if inner is None or inner.name == FUTURE:
        return None
    return Type(inner.name, inner.crate, inner.inner, pointer)


# The variables of Rust code whose types are certain, where they are in view.


#: What begins a view of its own: names that are bound inside are gone after it.
SCOPES = frozenset(
    {
        *("block", "function_item", "closure_expression", "match_arm", "impl_item", "mod_item"),
        *("for_expression", "if_expression", "while_expression", "match_block"),
    }
)


#: What holds items that are in view wherever they stand in it.
_ITEMS = frozenset({"source_file", "declaration_list", "block"})


_CONDITIONAL = frozenset({"if_expression", "while_expression", "let_chain"})


def bind(node: Node, known: Known, values: Values) -> None:
    """Names that a node brings into view before its parts are looked at."""
    if node.type == "mod_item":
        known.update(dict.fromkeys(known))  # what stands around a module is not seen inside
    elif node.type in _ITEMS and not _is_associated(node):
        _bind_items(node, known, values)
    elif node.type in {"function_item", "closure_expression"}:
        parameters = node.child_by_field_name("parameters")
        for each in parameters.named_children if parameters is not None else ():
            _bind_parameter(each, known, values)
    elif node.type in {"match_arm", "for_expression", "let_condition"}:
        _forget(node.child_by_field_name("pattern"), known)
    elif node.type in _CONDITIONAL:
        for each in _conditions(node):
            _forget(each.child_by_field_name("pattern"), known)


def bind_let(node: Node, known: Known, values: Values) -> None:
    """The names of a ``let``, once its value is looked at."""
    pattern, value = node.child_by_field_name("pattern"), node.child_by_field_name("value")
    annotation = node.child_by_field_name("type")
    if pattern is None:
        return
    given = None
    if pattern.type == "identifier" and not node.has_error:
        if annotation is not None:
            given = values.annotated(annotation)
        elif value is not None:
            given = values.type_of(value, known)
    _forget(pattern, known)
    if given is not None:
        known[text_of(pattern)] = given


def _is_associated(node: Node) -> bool:
    """Whether constants in a node are reached through their type alone."""
    return node.parent is not None and node.parent.type in {"impl_item", "trait_item"}


def _bind_items(node: Node, known: Known, values: Values) -> None:
    """Constants and statics; of two, which conditions tell apart, nothing is certain."""
    seen: set[str] = set()
    for each in node.named_children:
        name, kind = each.child_by_field_name("name"), each.child_by_field_name("type")
        if each.type not in {"static_item", "const_item"} or name is None or kind is None:
            continue
        title = text_of(name)
        certain = title not in seen and not each.has_error
        known[title] = values.annotated(kind) if certain else None
        seen.add(title)


def _bind_parameter(node: Node, known: Known, values: Values) -> None:
    pattern, annotation = node.child_by_field_name("pattern"), node.child_by_field_name("type")
    if node.type != "parameter":
        _forget(node, known)
    elif pattern is not None:
        _forget(pattern, known)
        if pattern.type == "identifier" and annotation is not None:
            known[text_of(pattern)] = values.annotated(annotation)


def _forget(pattern: Node | None, known: Known) -> None:
    """Names that a pattern may bind hide those of the same name outside."""
    pending = [pattern] if pattern is not None else []
    while pending:
        each = pending.pop()
        if each.type in {"identifier", "shorthand_field_identifier"}:
            known[text_of(each)] = None
        pending += each.named_children


def _conditions(node: Node) -> Iterator[Node]:
    condition = node.child_by_field_name("condition") if node.type != "let_chain" else node
    if condition is None:
        return
    if condition.type == "let_condition":
        yield condition
    elif condition.type in {"let_chain", "binary_expression"}:
        yield from (each for each in condition.named_children if each.type == "let_condition")
