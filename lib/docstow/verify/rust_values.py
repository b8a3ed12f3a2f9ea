"""The paths that names in Rust code mean, and the types of its expressions where they are certain.

This room knows scopes and syntax. It does not note findings.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from docstow.verify.rust_names import STANDARD, TYPES, Crates, Found
from docstow.verify.rust_paths import look_up
from docstow.verify.rust_scope import LOCAL_ROOTS, Scope, Segments, segments
from docstow.verify.rust_types import WRAPPERS, Type, returned, text_of

if TYPE_CHECKING:
    from tree_sitter import Node

FUNCTIONS = frozenset({"function", "method"})
_PRIMITIVES = frozenset(
    {
        *("bool", "char", "str", "u8", "u16", "u32", "u64", "u128", "usize"),
        *("i8", "i16", "i32", "i64", "i128", "isize", "f32", "f64"),
    }
)
#: Methods of Option and Result that give what they hold, and those that give the same again.
_OPENED = frozenset({"unwrap", "expect", "unwrap_or_default", "unwrap_or_else", "unwrap_or"})
_SAME = frozenset({"map_err", "context", "with_context", "or_else", "inspect_err", "or"})
_POINTERS = frozenset({("std", "sync", "Arc"), ("std", "rc", "Rc"), ("std", "boxed", "Box")})


class Values:
    """What the names and expressions of one piece of code are.

    Args:
        names: its scope.
        crates: the crates it may use.
    """

    def __init__(self, names: Scope, crates: Crates) -> None:
        self._scope = names
        self._crates = crates

    def _absolute(self, node: Node) -> Segments | None:
        """The path that a node means, the crate's name first; None where it is not certain."""
        if node.has_error:
            return None
        path = segments(node)
        if path is None or not path:
            return None
        first = path[0]
        if first in LOCAL_ROOTS:
            return None
        if first in self._scope.imports:
            return self._rooted(self._scope.expand(path))
        if first in self._scope.declared or (first in _PRIMITIVES):
            return None
        if first == "":
            return self._rooted(path[1:])
        if len(path) > 1 and (first[0].islower() or first[0] == "_"):
            return self._rooted(path) if not self._scope.globs or self._is_crate(first) else None
        return self._through_globs(path)

    def _is_crate(self, name: str) -> bool:
        return self._crates.crate(name) is not None

    def _rooted(self, path: Segments | None) -> Segments | None:
        return path if path and path[0] not in LOCAL_ROOTS else None

    def _through_globs(self, path: Segments) -> Segments | None:
        """A name that one glob, and no other, brings in."""
        fitting: set[Segments] = set()
        for base in self._scope.globs:
            absolute = self._scope.expand(base) if base and base[0] not in LOCAL_ROOTS else None
            if absolute is None or absolute[0] in STANDARD or not self._is_crate(absolute[0]):
                return None
            if look_up((*absolute, path[0]), self._crates).found:
                fitting.add((*absolute, *path))
        return fitting.pop() if len(fitting) == 1 else None

    def _named(self, path: Segments) -> Segments | None:
        """A single name, only where an import says what it is."""
        if path[0] in self._scope.imports:
            return self._rooted(self._scope.expand(path))
        if path[0] in self._scope.declared:
            return None
        return self._through_globs(path) if path[0][:1].isupper() else None

    def _annotated(self, node: Node) -> Type | None:
        """The type that an annotation in the code names."""
        if node.type == "reference_type":
            target = node.child_by_field_name("type")
            return self._annotated(target) if target is not None else None
        path = segments(node)
        if path is None:
            return None
        if path in {("Option",), ("Result",)} and path[0] not in self._scope.imports:
            arguments = node.child_by_field_name("type_arguments")
            first = arguments.named_children[0] if arguments and arguments.named_children else None
            return Type(path[0], None, self._annotated(first) if first is not None else None)
        if self._holds(path):
            arguments = node.child_by_field_name("type_arguments")
            held = arguments.named_children if arguments is not None else []
            return self._annotated(held[0]) if len(held) == 1 else None
        absolute = self._absolute(node) if len(path) > 1 else self._named(path)
        return self._type_at(absolute)

    def _holds(self, path: Segments) -> bool:
        """Whether a path means a pointer, whose methods are those of what it points to."""
        if path == ("Box",):
            return "Box" not in self._scope.imports and "Box" not in self._scope.declared
        return (self._scope.expand(path) or ()) in _POINTERS

    def _type_at(self, absolute: Segments | None) -> Type | None:
        if absolute is None or absolute[0] in STANDARD:
            return None
        for found in look_up(absolute, self._crates).found:
            if found.kind in TYPES:
                return Type(found.path, found.names)
        return None

    def _type(self, node: Node, known: dict[str, Type | None]) -> Type | None:
        """The type of an expression, where it is certain."""
        match node.type:
            case "identifier":
                return known.get(text_of(node))
            case "reference_expression" | "parenthesized_expression" | "try_expression":
                inner = node.child_by_field_name("value") or node.named_children[-1]
                given = self._type(inner, known)
                if node.type != "try_expression":
                    return given
                return given.inner if given and given.name in {"Option", "Result"} else None
            case "await_expression":
                given = self._type(node.named_children[0], known)
                return given.inner if given and given.name == "Future" else None
            case "struct_expression":
                name = node.child_by_field_name("name")
                return self._annotated(name) if name is not None else None
            case "call_expression":
                return self._given(node, known)
        return None

    def _given(self, node: Node, known: dict[str, Type | None]) -> Type | None:
        """What a call gives back."""
        function = node.child_by_field_name("function")
        if function is None:
            return None
        if function.type == "generic_function":
            function = function.child_by_field_name("function") or function
        if function.type == "field_expression":
            return self._given_by_method(function, known)
        path = segments(function)
        if path is None:
            return None
        if path in {("Some",), ("Ok",)}:
            arguments = node.child_by_field_name("arguments")
            held = arguments.named_children if arguments is not None else []
            inner = self._type(held[0], known) if len(held) == 1 else None
            return Type("Option" if path == ("Some",) else "Result", None, inner)
        if path[-1] == "new" and len(path) > 1 and self._holds(path[:-1]):
            arguments = node.child_by_field_name("arguments")
            held = arguments.named_children if arguments is not None else []
            return self._type(held[0], known) if len(held) == 1 else None
        absolute = self._absolute(function) if len(path) > 1 else self._named(path)
        if absolute is None or absolute[0] in STANDARD:
            return None
        found = [each for each in look_up(absolute, self._crates).found if each.kind in FUNCTIONS]
        if not found and absolute[-1] == "default":
            owner = self._type_at(absolute[:-1])
            return owner if owner is not None and self._has(owner, "Default") else None
        return returned(found[0]) if len(found) == 1 else None

    def _given_by_method(self, function: Node, known: dict[str, Type | None]) -> Type | None:
        value, field = function.child_by_field_name("value"), function.child_by_field_name("field")
        if value is None or field is None:
            return None
        owner, name = self._type(value, known), text_of(field)
        if owner is None:
            return None
        if owner.name in WRAPPERS:
            if owner.name == "Future":
                return None
            if name in _SAME:
                return owner
            if name == "ok":
                return Type("Option", None, owner.inner)
            if name in {"ok_or", "ok_or_else"}:
                return Type("Result", None, owner.inner)
            return owner.inner if name in _OPENED else None
        method = self._inherent(owner, name)
        if method is not None:
            return returned(method)
        return owner if name == "clone" and self._has(owner, "Clone") else None

    def _has(self, owner: Type, trait: str) -> bool:
        return owner.crate is not None and any(
            each.endswith(f"::{trait}") for each in owner.crate.traits(owner.name)
        )

    def _inherent(self, owner: Type, name: str) -> Found | None:
        if owner.crate is None:
            return None
        found = [
            each
            for each in owner.crate.find(f"{owner.name}::{name}")
            if each.kind == "method" and each.parent == owner.name
        ]
        return found[0] if len(found) == 1 else None
