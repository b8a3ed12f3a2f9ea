"""The code's own types and functions: what their fields hold and their calls return."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from docstow.languages.rust.check.scope import Segments, text_of

if TYPE_CHECKING:
    from tree_sitter import Node

_ATTRIBUTE = re.compile(r"#\[\s*(\w+)\s*(.*)\]", re.DOTALL)
_PATHS = re.compile(r"\w+(?:::\w+)*")
#: Attributes that add nothing to a type: the language's, and those that derive macros read.
_PLAIN_ATTRIBUTES = frozenset(
    {
        *("allow", "expect", "warn", "deny", "repr", "non_exhaustive", "must_use", "doc", "cfg"),
        *("serde", "clap", "command", "group", "structopt"),
    }
)


class OwnItems:
    """The items that one piece of code declares; those of one name twice are left out.

    Args:
        root: the parsed code.
    """

    def __init__(self, root: Node) -> None:
        #: Nodes of types by names, after their owner's: of fields, and of what functions return.
        self._types: dict[tuple[str, ...], Node | None] = {}
        self._kept: set[str] = set()
        #: What types have in their own blocks, variants among it, and the traits they are said to
        #: have, by the types' names.
        self._members: dict[str, set[str]] = {}
        self._traits: dict[str, list[Node]] = {}
        #: Whether the code is a whole program: no part of a type is in another file.
        self.is_whole = False
        apart = False
        pending = [root]
        while pending:
            node = pending.pop()
            match node.type:
                case "struct_item" | "enum_item" | "union_item":
                    self._add_type(node)
                case "function_item":
                    self._add_function(node)
                case "type_item":
                    self._add_alias(node)
                case "impl_item":
                    self._add_block(node)
                case "mod_item":
                    apart = apart or node.child_by_field_name("body") is None
                case "macro_invocation" | "macro_definition":
                    apart = apart or _is_item(node)  # it may implement anything
            pending += node.named_children
        self.is_whole = ("fn", "main") in self._types and not apart and not root.has_error

    def members(self, owner: str) -> frozenset[str]:
        """Return the names of a type's variants, and of what its own blocks define."""
        return frozenset(self._members.get(owner, ()))

    def traits(self, owner: str) -> Sequence[Node]:
        """Return the nodes of the traits that blocks implement for a type."""
        return self._traits.get(owner, ())

    def derives(self, owner: str) -> tuple[Segments, ...] | None:
        """Return the paths of what a type derives; None where other attributes may add to it."""
        node = self._types.get(("type", owner))
        before = node.prev_named_sibling if node is not None else None
        found: list[Segments] = []
        while before is not None and (before.type == "attribute_item" or "comment" in before.type):
            match = _ATTRIBUTE.match(text_of(before))
            if match is not None and match[1] == "derive":
                each = (tuple(one.split("::")) for one in _PATHS.findall(match[2]))
                found += each
            elif match is not None and match[1] not in _PLAIN_ATTRIBUTES:
                return None
            before = before.prev_named_sibling
        return tuple(found)

    def is_type(self, name: str) -> bool:
        """Tell whether the code declares one type of a name."""
        return name in self._kept and ("type", name) in self._types

    def alias(self, name: str) -> Node | None:
        """Return the alias of a name that the code declares."""
        return self._types.get(("alias", name))

    def field(self, owner: str, name: str) -> Node | None:
        """Return the type that a field of a struct, or of ``Enum::Variant``, is declared with."""
        return self._types.get(("field", owner, name))

    def returned(self, *path: str) -> Node | None:
        """Return the type that a function, or a method after its type's name, is said to return."""
        return self._types.get(("fn", *path))

    def bound(self, node: Node) -> Node | None:
        """Return the one bound of the type parameter that a node names, where it is in scope."""
        name = text_of(node)
        above = node.parent
        while above is not None:
            params = above.child_by_field_name("type_parameters")
            for each in params.named_children if params is not None else ():
                label = each.child_by_field_name("name")
                if label is not None and text_of(label) == name:
                    where = any(child.type == "where_clause" for child in above.children)
                    return None if where else each.child_by_field_name("bounds")
            above = above.parent
        return None

    def _put(self, key: tuple[str, ...], node: Node | None) -> None:
        self._types[key] = None if key in self._types else node

    def _add_type(self, node: Node) -> None:
        name, body = node.child_by_field_name("name"), node.child_by_field_name("body")
        if name is None:
            return
        owner = text_of(name)
        if ("type", owner) in self._types:
            self._kept.discard(owner)
        else:
            self._kept.add(owner)
        self._types["type", owner] = node
        if node.type == "enum_item":
            for each in body.named_children if body is not None else ():
                label = each.child_by_field_name("name")
                if each.type == "enum_variant" and label is not None:
                    self._members.setdefault(owner, set()).add(text_of(label))
                    self._add_fields(f"{owner}::{text_of(label)}", each.child_by_field_name("body"))
            return
        self._add_fields(owner, body)

    def _add_fields(self, owner: str, body: Node | None) -> None:
        """Keep the types of the fields of a struct, or of a variant after its enum's name."""
        if body is None:
            return
        if body.type == "ordered_field_declaration_list":
            for at, held in enumerate(body.children_by_field_name("type")):
                self._put(("field", owner, str(at)), held)
        for each in body.named_children:
            label, kind = each.child_by_field_name("name"), each.child_by_field_name("type")
            if each.type == "field_declaration" and label is not None and kind is not None:
                self._put(("field", owner, text_of(label)), kind)

    def _add_alias(self, node: Node) -> None:
        name = node.child_by_field_name("name")
        above = node.parent.parent if node.parent is not None else None
        within = above is not None and above.type in {"impl_item", "trait_item", "mod_item"}
        if name is not None and not within:
            self._put(("alias", text_of(name)), node)

    def _add_block(self, node: Node) -> None:
        kind, trait = node.child_by_field_name("type"), node.child_by_field_name("trait")
        body = node.child_by_field_name("body")
        if kind is not None and kind.type == "generic_type":
            kind = kind.child_by_field_name("type")
        if kind is None or body is None:
            return
        owner = text_of(kind)
        if trait is not None:
            self._traits.setdefault(owner, []).append(trait)
        labels = (each.child_by_field_name("name") for each in body.named_children)
        named = {text_of(each) for each in labels if each is not None}
        self._members.setdefault(owner, set()).update(named)

    def _add_function(self, node: Node) -> None:
        name, output = node.child_by_field_name("name"), node.child_by_field_name("return_type")
        if name is None:
            return
        above = node.parent.parent if node.parent is not None else None
        owner: tuple[str, ...] = ()
        if above is not None and above.type in {"impl_item", "trait_item"}:
            kind = above.child_by_field_name("type") or above.child_by_field_name("name")
            if kind is None:
                return
            if kind.type == "generic_type":
                kind = kind.child_by_field_name("type") or kind
            owner = (text_of(kind),)
        elif above is not None and above.type == "mod_item":
            owner = ("",)  # a function of a module is called by its path
        self._put(("fn", *owner, text_of(name)), output)


def _is_item(node: Node) -> bool:
    """Tell whether a macro stands among the items of a file."""
    above = node.parent
    if above is not None and above.type == "expression_statement":
        above = above.parent
    return above is not None and above.type == "source_file"


def is_async(output: Node) -> bool:
    """Tell whether the function that a node is the output of must be awaited."""
    function = output.parent
    return function is not None and any(
        each.type == "function_modifiers" and "async" in text_of(each).split()
        for each in function.children
    )
