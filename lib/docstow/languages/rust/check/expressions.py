"""The types of expressions and variables in Rust code, where they are certain."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from docstow.languages.rust.check.crate_items import FUNCTIONS, TYPES, Found
from docstow.languages.rust.check.paths import Paths
from docstow.languages.rust.check.resolver import Resolver
from docstow.languages.rust.check.scope import Segments, segments, text_of
from docstow.languages.rust.check.std import (
    ARRAY,
    OPTION,
    PRELUDE_TYPES,
    PRIMITIVES,
    RESULT,
    SLICE,
    members_of_any_value,
)
from docstow.languages.rust.check.types import (
    FUTURE,
    Type,
    Variables,
    returned,
    standard_type,
    wrapper,
)

if TYPE_CHECKING:
    from tree_sitter import Node

#: Methods of Option and Result that return what they hold, and those that return the same again.
_OPENED = frozenset({"unwrap", "expect", "unwrap_or_default", "unwrap_or_else", "unwrap_or"})
_SAME = frozenset(
    {
        *("map_err", "context", "with_context", "or_else", "inspect_err", "or", "as_ref"),
        *("as_mut", "cloned", "copied", "take", "filter", "inspect"),
    }
)
#: Pointers whose methods are mostly those of what they point to.
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
_STANDARD_MACROS = {"format": "std::string::String", "vec": "std::vec::Vec"}
#: The types that macros of widely used crates expand to; their docs say it in words alone.
_MACROS: Mapping[Segments, Segments] = {
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
#: Functions that traits bring to types and that return the type itself, with their traits.
_CONSTRUCTORS = {"default": "Default", "from": "From", "from_iter": "FromIterator"}
_DEEPEST_TYPE = 40
#: Nodes that begin a scope: names that are bound inside are gone after it.
SCOPES = frozenset(
    {
        *("block", "function_item", "closure_expression", "match_arm", "impl_item", "mod_item"),
        *("for_expression", "if_expression", "while_expression", "match_block"),
    }
)
#: Nodes whose constants and statics are in scope wherever they stand in it.
_ITEMS = frozenset({"source_file", "declaration_list", "block"})
_CONDITIONAL = frozenset({"if_expression", "while_expression", "let_chain"})


class Expressions:
    """The types of the expressions of one piece of code.

    Args:
        resolver: resolves its names.
        paths: looks up its paths.
    """

    def __init__(self, resolver: Resolver, paths: Paths) -> None:
        self._resolver = resolver
        self._paths = paths
        self._types: dict[int, Type | None] = {}

    def annotated(self, node: Node, depth: int = 0) -> Type | None:
        """Return the type that an annotation in the code names."""
        if depth > _DEEPEST_TYPE:
            return None
        if node.type == "reference_type":
            target = node.child_by_field_name("type")
            return self.annotated(target, depth + 1) if target is not None else None
        if (builtin := _builtin(node)) is not None:
            return builtin
        path = segments(node)
        if path is None:
            return None
        held = _arguments(node)
        if path in {("Option",), ("Result",)} and not self._resolver.imports(path[0]):
            return wrapper(path[0], self.annotated(held[0], depth + 1) if held else None)
        if pointer := self._pointer(path):
            inner = self.annotated(held[0], depth + 1) if len(held) == 1 else None
            return _pointed(inner, pointer)
        return self.type_at(self._resolver.resolve_node(node))

    def _pointer(self, path: Segments) -> str:
        """Return the path of the pointer that a path means; empty for other types."""
        if path == ("Box",):
            return "" if self._resolver.is_defined("Box") else "std::boxed::Box"
        return _POINTERS.get(self._resolver.through_imports(path), "")

    def type_at(self, absolute: Segments | None) -> Type | None:
        """Return the type that a path means."""
        items = self._paths.look_up(absolute).found if absolute is not None else ()
        if (target := self._paths.alias_target(items)) is not None:
            items = self._paths.look_up(tuple(target.split("::"))).found
        for found in items:
            if found.kind in TYPES and found.path not in _POINTERS.values():
                return Type(found.path, found.names)
        return None

    def type_of(self, node: Node, variables: Variables) -> Type | None:
        """Return the type of an expression, where it is certain."""
        chain: list[Node] = []
        here: Node | None = node
        while here is not None and here.id not in self._types:
            chain.append(here)
            here = self._inside(here)
        inner = self._types[here.id] if here is not None else None
        for each in reversed(chain):
            inner = self._types[each.id] = self._step(each, inner, variables)
        return inner

    def _inside(self, node: Node) -> Node | None:
        """Return the part of an expression whose type decides upon that of the whole."""
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
                    arguments = node.child_by_field_name("arguments")
                    held = arguments.named_children if arguments is not None else []
                    return held[0] if len(held) == 1 else None
        return None

    def _makes_pointer(self, path: Segments) -> str:
        made = len(path) > 1 and path[-1] in {"new", "clone"}
        return self._pointer(path[:-1]) if made else ""

    def _step(self, node: Node, inner: Type | None, variables: Variables) -> Type | None:
        """Return the type of an expression; ``inner`` is that of the part which decides."""
        match node.type:
            case "identifier":
                return variables.get(text_of(node))
            case "reference_expression" | "parenthesized_expression":
                return inner
            case "try_expression":
                return inner.inner if inner and inner.name in {OPTION, RESULT} else None
            case "await_expression":
                return inner.inner if inner and inner.name == FUTURE else None
            case "struct_expression":
                name = node.child_by_field_name("name")
                return self.annotated(name) if name is not None else None
            case "type_cast_expression":
                kind = node.child_by_field_name("type")
                return self.annotated(kind) if kind is not None else None
            case "macro_invocation":
                return self._expanded(node)
            case "call_expression":
                return self._called(node, inner)
        return self._literal(node)

    def _literal(self, node: Node) -> Type | None:
        first = text_of(node)[:1] if node.type in _LITERALS else ""
        if first in {"b", "c"} and "string" in node.type:
            return standard_type(ARRAY) if first == "b" else None
        return standard_type(_LITERALS[node.type]) if first else None

    def _expanded(self, node: Node) -> Type | None:
        name = node.child_by_field_name("macro")
        path = segments(name) if name is not None else None
        if path is None or name is None:
            return None
        if path[0] in _STANDARD_MACROS and not self._resolver.is_defined(path[0]):
            return standard_type(_STANDARD_MACROS[path[0]])
        return self.type_at(_MACROS.get(self._resolver.resolve_node(name) or ()))

    def _called(self, node: Node, inner: Type | None) -> Type | None:
        """Return the type of a call."""
        function = _function(node)
        if function is None:
            return None
        if function.type == "field_expression":
            field = function.child_by_field_name("field")
            return self._by_method(inner, text_of(field)) if inner and field is not None else None
        path = segments(function)
        if path is None:
            return None
        if path in {("Some",), ("Ok",)}:
            return wrapper("Option" if path == ("Some",) else "Result", inner)
        if pointer := self._makes_pointer(path):
            return _pointed(inner, pointer)
        absolute = self._resolver.resolve_node(function)
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
        if name in members_of_any_value() and name != "to_owned":
            return None
        if name == "to_string":
            return standard_type(PRELUDE_TYPES["String"]) if self._has(owner, "ToString") else None
        if name == "to_owned":
            return standard_type(PRELUDE_TYPES["String"]) if owner.name == "str" else None
        method = self.method(owner, name)
        return returned(method) if method is not None else None

    def _has(self, owner: Type, trait: str) -> bool:
        return owner.crate is not None and any(
            each.endswith(f"::{trait}") for each in owner.crate.traits(owner.name)
        )

    def method(self, owner: Type, name: str) -> Found | None:
        """Return the method that a call of that name means, where no trait may have another."""
        item = item_of(owner)
        found = self._paths.members.method(item, name) if item is not None else None
        own = found is None or found.parent == owner.name
        return found if own or not self._resolver.may_bring(name) else None


def _builtin(node: Node) -> Type | None:
    """Return the type of a primitive, a slice or an array."""
    if node.type == "primitive_type":
        return standard_type(text_of(node)) if text_of(node) in PRIMITIVES else None
    if node.type == "array_type":
        return standard_type(ARRAY if node.child_by_field_name("length") is not None else SLICE)
    return None


def _arguments(node: Node) -> list[Node]:
    """Return the type arguments of a generic type, lifetimes left out."""
    arguments = node.child_by_field_name("type_arguments")
    if arguments is None:
        return []
    return [each for each in arguments.named_children if each.type != "lifetime"]


def _function(node: Node) -> Node | None:
    function = node.child_by_field_name("function")
    if function is not None and function.type == "generic_function":
        return function.child_by_field_name("function") or function
    return function


def _pointed(inner: Type | None, pointer: str) -> Type | None:
    if inner is None or inner.name == FUTURE:
        return None
    return Type(inner.name, inner.crate, inner.inner, pointer)


def item_of(owner: Type) -> Found | None:
    """Return a type as an item of its crate; None where namespaces leave a doubt."""
    if owner.crate is None:
        return None
    found = [each for each in owner.crate.find(owner.name) if each.kind in TYPES]
    return found[0] if len(found) == 1 else None


def bind(node: Node, variables: Variables, expressions: Expressions) -> None:
    """Bind the names that a node brings into scope before its parts are looked at."""
    if node.type == "mod_item":
        variables.update(dict.fromkeys(variables))  # what stands around a module is not seen inside
    elif node.type in _ITEMS and not _is_associated(node):
        _bind_items(node, variables, expressions)
    elif node.type in {"function_item", "closure_expression"}:
        parameters = node.child_by_field_name("parameters")
        for each in parameters.named_children if parameters is not None else ():
            _bind_parameter(each, variables, expressions)
    elif node.type in {"match_arm", "for_expression", "let_condition"}:
        _hide(node.child_by_field_name("pattern"), variables)
    elif node.type in _CONDITIONAL:
        for each in _conditions(node):
            _hide(each.child_by_field_name("pattern"), variables)


def bind_let(node: Node, variables: Variables, expressions: Expressions) -> None:
    """Bind the names of a ``let``, once its value is looked at."""
    pattern, value = node.child_by_field_name("pattern"), node.child_by_field_name("value")
    annotation = node.child_by_field_name("type")
    if pattern is None:
        return
    bound = None
    if pattern.type == "identifier" and not node.has_error:
        if annotation is not None:
            bound = expressions.annotated(annotation)
        elif value is not None:
            bound = expressions.type_of(value, variables)
    _hide(pattern, variables)
    if bound is not None:
        variables[text_of(pattern)] = bound


def _is_associated(node: Node) -> bool:
    """Tell whether constants in a node are reached through their type alone."""
    return node.parent is not None and node.parent.type in {"impl_item", "trait_item"}


def _bind_items(node: Node, variables: Variables, expressions: Expressions) -> None:
    """Bind constants and statics; of two, which conditions tell apart, nothing is certain."""
    seen: set[str] = set()
    for each in node.named_children:
        name, kind = each.child_by_field_name("name"), each.child_by_field_name("type")
        if each.type not in {"static_item", "const_item"} or name is None or kind is None:
            continue
        title = text_of(name)
        certain = title not in seen and not each.has_error
        variables[title] = expressions.annotated(kind) if certain else None
        seen.add(title)


def _bind_parameter(node: Node, variables: Variables, expressions: Expressions) -> None:
    pattern, annotation = node.child_by_field_name("pattern"), node.child_by_field_name("type")
    if node.type != "parameter":
        _hide(node, variables)
    elif pattern is not None:
        _hide(pattern, variables)
        if pattern.type == "identifier" and annotation is not None:
            variables[text_of(pattern)] = expressions.annotated(annotation)


def _hide(pattern: Node | None, variables: Variables) -> None:
    """Hide variables outside that have the name of one that a pattern may bind."""
    pending = [pattern] if pattern is not None else []
    while pending:
        each = pending.pop()
        if each.type in {"identifier", "shorthand_field_identifier"}:
            variables[text_of(each)] = None
        pending += each.named_children


def _conditions(node: Node) -> Iterator[Node]:
    condition = node.child_by_field_name("condition") if node.type != "let_chain" else node
    if condition is None:
        return
    if condition.type == "let_condition":
        yield condition
    elif condition.type in {"let_chain", "binary_expression"}:
        yield from (each for each in condition.named_children if each.type == "let_condition")
