"""The types of expressions in Rust code, where they are certain.

This room knows syntax. It does not note findings.
"""

from __future__ import annotations

from collections.abc import Mapping, MutableMapping
from typing import TYPE_CHECKING

from docstow.languages.rust.check.crate_names__verify_rust_names import TYPES, Found
from docstow.languages.rust.check.paths import ByTrait, Paths
from docstow.languages.rust.check.paths__verify_rust_meant import Meant
from docstow.languages.rust.check.scope import Segments, segments
from docstow.languages.rust.check.std__verify_std_names import (
    ARRAY,
    OPTION,
    PRELUDE_TYPES,
    RESULT,
    universal_names,
)
from docstow.languages.rust.check.types__verify_rust_types import (
    FUTURE,
    Type,
    arguments,
    builtin,
    plain,
    returned,
    text_of,
    wrapper,
)

if TYPE_CHECKING:
    from tree_sitter import Node

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
