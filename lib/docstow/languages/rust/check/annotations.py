"""The types that annotations and paths in Rust code name."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from docstow.languages.rust.check.crate_items import TYPES
from docstow.languages.rust.check.documented import Documented, behind_pointer
from docstow.languages.rust.check.own_items import OwnItems
from docstow.languages.rust.check.paths import Paths
from docstow.languages.rust.check.resolver import Resolver
from docstow.languages.rust.check.scope import Segments, segments, text_of
from docstow.languages.rust.check.std import ARRAY, PRIMITIVES, SLICE
from docstow.languages.rust.check.types import (
    ITERATOR,
    OWN,
    Type,
    iterator,
    standard_type,
    tuple_of,
    wrapper,
)

if TYPE_CHECKING:
    from tree_sitter import Node

#: Pointers whose methods are mostly those of what they point to.
_POINTERS: Mapping[Segments, str] = {
    ("std", "sync", "Arc"): "std::sync::Arc",
    ("std", "rc", "Rc"): "std::rc::Rc",
    ("std", "boxed", "Box"): "std::boxed::Box",
    ("std", "sync", "LazyLock"): "std::sync::LazyLock",
}
_IO_RESULT, _IO_ERROR = ("std", "io", "Result"), "std::io::Error"
_DEEPEST_TYPE = 40
#: Nodes of types of the language itself.
_BUILT_IN = frozenset(
    {"primitive_type", "reference_type", "tuple_type", "array_type", "abstract_type"}
)
#: Traits that bring no methods.
_MARKERS = frozenset({"Send", "Sync", "Sized", "Unpin", "Copy", "?Sized"})


class Annotations:
    """The types that one piece of code names.

    Args:
        resolver: resolves its names.
        paths: looks up its paths.
        own: the items that it declares.
        documented: reads the types of declarations.
    """

    def __init__(
        self, resolver: Resolver, paths: Paths, own: OwnItems, documented: Documented
    ) -> None:
        self._resolver = resolver
        self._paths = paths
        self._own = own
        self._documented = documented
        #: What the code's aliases mean, by their nodes; None, too, while one is being read.
        self._aliases: dict[int, Type | None] = {}

    def of(self, node: Node, depth: int = 0, self_type: Type | None = None) -> Type | None:
        """Return the type that an annotation in the code names."""
        if depth > _DEEPEST_TYPE:
            return None

        def inside(each: Node) -> Type | None:
            return self.of(each, depth + 1, self_type)

        if node.type in _BUILT_IN:
            return self._built_in(node, inside)
        path = segments(node)
        if path is None:
            return None
        given = [inside(each) for each in _arguments(node)]
        if path == ("Self",):
            return self_type
        if path in {("Option",), ("Result",)} and not self._resolver.is_defined(path[0]):
            return wrapper(path[0], *given[:2]) if given else wrapper(path[0], None)
        if pointer := self.pointer(path):
            return pointed(given[0] if len(given) == 1 else None, pointer)
        if len(path) == 1:
            if self._own.is_type(path[0]) and not self._resolver.imports(path[0]):
                return Type(f"{OWN}{path[0]}", None, tuple(given))
            if (bounds := self._own.bound(node)) is not None:
                return self._bound(bounds, inside)
            if (alias := self._own.alias(path[0])) is not None:
                return self._aliased(alias, given, inside)
        return self._documented_at(node, given)

    def _documented_at(self, node: Node, given: Sequence[Type | None]) -> Type | None:
        """Return the type of a crate's, or of the library's, that a path names."""
        absolute = self._resolver.resolve_node(node)
        if absolute == _IO_RESULT:
            return wrapper("Result", given[0] if given else None, standard_type(_IO_ERROR))
        kind = self.type_at(absolute, tuple(given))
        return self._documented.with_defaults(kind) if kind is not None else None

    def _aliased(
        self,
        alias: Node,
        given: Sequence[Type | None],
        inside: Callable[[Node], Type | None],
    ) -> Type | None:
        """Return what one of the code's aliases means, with type arguments put in."""
        body = alias.child_by_field_name("type")
        if alias.id not in self._aliases:
            self._aliases[alias.id] = None
            self._aliases[alias.id] = inside(body) if body is not None else None
        kind = self._aliases[alias.id]
        params = alias.child_by_field_name("type_parameters")
        names = [text_of(each) for each in params.named_children] if params is not None else []
        bound = dict(zip(names, given, strict=False))
        written = [text_of(each) for each in _arguments(body)] if body is not None else []
        if kind is None or len(written) > len(kind.args):
            return kind
        args = [bound.get(each, held) for each, held in zip(written, kind.args, strict=False)]
        return Type(kind.name, kind.crate, (*args, *kind.args[len(args) :]), kind.through)

    def _built_in(self, node: Node, inside: Callable[[Node], Type | None]) -> Type | None:
        """Return the type that a primitive, reference, tuple, array or ``impl Trait`` names."""
        if node.type == "primitive_type":
            return standard_type(text_of(node)) if text_of(node) in PRIMITIVES else None
        if node.type == "reference_type":
            target = node.child_by_field_name("type")
            return inside(target) if target is not None else None
        if node.type == "tuple_type":
            return tuple_of(*map(inside, node.named_children))
        if node.type == "array_type":
            held = node.child_by_field_name("element")
            kind = ARRAY if node.child_by_field_name("length") is not None else SLICE
            return standard_type(kind, inside(held) if held is not None else None)
        if node.type == "abstract_type":
            return self._bound(node.child_by_field_name("trait"), inside)
        return None

    def _bound(self, bound: Node | None, inside: Callable[[Node], Type | None]) -> Type | None:
        """Return the type of what is known by one trait alone."""
        if bound is None:
            return None
        if bound.type in {"trait_bounds", "bounded_type"}:
            real = [
                each
                for each in bound.named_children
                if each.type != "lifetime" and text_of(each) not in _MARKERS
            ]
            return self._bound(real[0], inside) if len(real) == 1 else None
        path = self._resolver.resolve_node(bound)
        if path is None and segments(bound) in {("Iterator",), ("DoubleEndedIterator",)}:
            path = ("std", "iter", "Iterator")
        found = self._paths.look_up(path).found if path is not None else ()
        if len(found) != 1 or found[0].kind != "trait":
            return None
        if found[0].path == ITERATOR:
            return iterator(_binding(bound, inside))
        return Type(found[0].path, found[0].names)

    def pointer(self, path: Segments) -> str:
        """Return the path of the pointer that a path means; empty for other types."""
        if path == ("Box",):
            return "" if self._resolver.is_defined("Box") else "std::boxed::Box"
        return _POINTERS.get(self._resolver.through_imports(path), "")

    def type_at(self, absolute: Segments | None, args: tuple[Type | None, ...] = ()) -> Type | None:
        """Return the type that a path means."""
        items = self._paths.look_up(absolute).found if absolute is not None else ()
        if (target := self._paths.alias_target(items)) is not None:
            items, args = self._paths.look_up(tuple(target.split("::"))).found, ()
        for found in items:
            if found.kind in TYPES and found.path not in _POINTERS.values():
                return behind_pointer(Type(found.path, found.names, args))
            if found.kind in {"re-export", "type_alias"} and len(items) == 1:
                return self._documented.at(found.path, found.names, args)
        return None

    def given(self, node: Node) -> tuple[Type | None, ...]:
        """Return the type arguments that a call writes out."""
        function = node.child_by_field_name("function")
        if function is None or function.type != "generic_function":
            return ()
        return tuple(self.of(each) for each in _arguments(function))

    def makes_pointer(self, path: Segments) -> str:
        """Return the path of the pointer that a call makes; empty for other calls."""
        made = len(path) > 1 and path[-1] in {"new", "clone"}
        return self.pointer(path[:-1]) if made else ""


def _binding(bound: Node, inside: Callable[[Node], Type | None]) -> Type | None:
    """Return what ``Iterator<Item = T>`` gives."""
    arguments = bound.child_by_field_name("type_arguments")
    for each in arguments.named_children if arguments is not None else ():
        kind = each.child_by_field_name("type")
        if each.type == "type_binding" and kind is not None:
            return inside(kind)
    return None


def _arguments(node: Node) -> list[Node]:
    """Return the type arguments of a generic type, lifetimes left out."""
    arguments = node.child_by_field_name("type_arguments")
    if arguments is None:
        return []
    return [each for each in arguments.named_children if each.type != "lifetime"]


def function_of(node: Node) -> Node | None:
    """Return what a call calls, type arguments left out."""
    function = node.child_by_field_name("function")
    if function is not None and function.type == "generic_function":
        return function.child_by_field_name("function") or function
    return function


def pointed(inner: Type | None, pointer: str) -> Type | None:
    """Return a type behind a pointer, whose methods are mostly those of the type."""
    if inner is None or inner.crate is None or inner.name == ITERATOR:
        return None
    return Type(inner.name, inner.crate, inner.args, pointer)
