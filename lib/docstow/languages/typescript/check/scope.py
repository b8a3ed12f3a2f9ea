"""What the names of a TypeScript or JavaScript file stand for, where they are written.

A name that one scope declares twice stands for nothing certain.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from docstow.languages.typescript.check.syntax import (
    Tree,
    child,
    parameters,
    text_of,
    unquoted,
)

if TYPE_CHECKING:
    from tree_sitter import Node


#: Scopes within each other in which a name is looked up.
_MAX_DEPTH = 1000
FUNCTIONS = frozenset(
    {
        *("arrow_function", "function_declaration", "function_expression", "method_definition"),
        *("generator_function_declaration", "generator_function", "function_signature"),
        *("method_signature", "abstract_method_signature", "function_type", "constructor_type"),
        *("call_signature", "construct_signature"),
    }
)
_SCOPES = FUNCTIONS | {
    *("program", "statement_block", "for_statement", "for_in_statement", "catch_clause"),
    *("switch_body", "class_declaration", "abstract_class_declaration", "class"),
    *("interface_declaration", "type_alias_declaration", "mapped_type_clause", "infer_type"),
    "conditional_type",
}
_DECLARING = frozenset(
    {
        *("function_declaration", "generator_function_declaration", "class_declaration"),
        *("abstract_class_declaration", "enum_declaration", "interface_declaration"),
        *("type_alias_declaration", "function_signature", "import_alias"),
    }
)
_SORTS = {
    "interface_declaration": "type",
    "type_alias_declaration": "type",
    "function_declaration": "value",
    "generator_function_declaration": "value",
    "function_signature": "value",
}
#: Names within names: ``a.b``, as a value and as a type.
MEMBERS = frozenset({"member_expression", "nested_identifier", "nested_type_identifier"})
#: What is a part of the expression that it begins with.
_WITHIN = frozenset(
    {"await_expression", "parenthesized_expression", "non_null_expression", "as_expression"}
)
#: Names below an imported one that are followed.
_MAX_NAMES = 12
#: What a pattern is made of.
_PATTERNS = frozenset({"array_pattern", "object_pattern"})
_DEFAULTS = frozenset({"assignment_pattern", "object_assignment_pattern"})
_FIRST = frozenset({"rest_pattern", "required_parameter", "optional_parameter"})


@dataclass(frozen=True, slots=True)
class Name:
    """An exported name of a module: ``specifier`` and the names below it."""

    specifier: str
    names: tuple[str, ...] = ()

    @property
    def path(self) -> str:
        """The path by which surfaces know it."""
        return ".".join((self.specifier, *self.names))

    def below(self, name: str) -> Name:
        """Return a member of it."""
        return Name(self.specifier, (*self.names, name))


def read_imports(node: Node) -> Iterator[tuple[Node | None, Name, Node]]:
    """Iterate over an import's local names, what they stand for, and where that is written.

    An import that names nothing gives no local name.
    """
    source = unquoted(child(node, "source"))
    if node.has_error:
        return
    named = False
    for clause in node.named_children:
        if clause.type == "import_require_clause":
            named = True
            module = unquoted(child(clause, "source"))
            yield clause.named_children[0], Name(module), clause
        if clause.type != "import_clause" or not source:
            continue
        named = True
        for each in clause.named_children:
            if each.type == "identifier":
                yield each, Name(source, ("default",)), each
            elif each.type == "namespace_import":
                yield each.named_children[0], Name(source), each
            elif each.type == "named_imports":
                yield from _named(each, source)
    if not named and source:
        yield None, Name(source), node


def _named(node: Node, source: str) -> Iterator[tuple[Node, Name, Node]]:
    for each in node.named_children:
        if each.type != "import_specifier":
            continue
        name, alias = child(each, "name"), child(each, "alias")
        if name is not None:
            yield alias or name, Name(source, (unquoted(name),)), name


def required_module(value: Node) -> str | None:
    """Return the module of ``require("m")`` or ``await import("m")``."""
    if value.type == "await_expression" and value.named_children:
        value = value.named_children[0]
        called = "import"
    else:
        called = "require"
    function = child(value, "function")
    if value.type != "call_expression" or function is None or function.type == "call_expression":
        return None
    if function.end_byte - function.start_byte > len(called) or text_of(function) != called:
        return None
    arguments = child(value, "arguments")
    if arguments is None or len(arguments.named_children) != 1:
        return None
    only = arguments.named_children[0]
    return unquoted(only) if only.type == "string" else None


def assigned_members(tree: Tree) -> set[str]:
    """Return the members that the code itself assigns, or reads of a prototype."""
    found = set()
    for node in tree.nodes:
        target: Node | None = None
        if node.type.endswith(("assignment_expression", "update_expression")):
            target = child(node, "left") or child(node, "argument")
        elif text_of(child(child(node, "object"), "property")) == "prototype":
            target = node
        if target is not None and target.type == "member_expression":
            found.add(text_of(child(target, "property")))
    return found


def bound_names(pattern: Node | None) -> Iterator[Node]:
    """Iterate over the names that a pattern binds: an identifier, or what is taken apart."""
    waiting = [pattern]
    while waiting:
        node = waiting.pop()
        if node is None:
            continue
        if node.type in ("identifier", "shorthand_property_identifier_pattern"):
            yield node
        elif node.type == "pair_pattern":
            waiting.append(child(node, "value"))
        elif node.type in _DEFAULTS:
            waiting.append(child(node, "left"))
        elif node.type in _PATTERNS:
            waiting += node.named_children
        elif node.type in _FIRST:
            waiting += node.named_children[:1]


@dataclass(frozen=True, slots=True)
class Binding:
    """A declaration of a name.

    Attributes:
        imported: what an import means; None of any other.
        sort: whether the name is one of a type or of a value; empty where it is both.
        is_parameter: a function gets it.
        value: of a variable what it begins as.
    """

    imported: Name | None = None
    sort: str = "value"
    is_parameter: bool = False
    value: Node | None = None


VALUE, _PARAMETER = Binding(), Binding(is_parameter=True)


@dataclass(slots=True)
class _Block:
    """A scope, and the one around it."""

    node: Node
    outer: _Block | None
    bound: dict[str, list[Binding]] = field(default_factory=dict)


#: The type of a parameter in a comment, and those that say nothing.
_PARAMETER_TYPE = re.compile(r"@param\s+\{([^}\n]+)\}\s+\[?([\w$]+)")
_NAME = re.compile(r"[\w$]+")
_ANY_TYPE = frozenset({"*", "?", "any", "object", "Object", "Function", "unknown"})
#: Functions that may be given to others.
_EXPRESSIONS = frozenset({"arrow_function", "function_expression", "method_definition"})
#: What functions are given in, beside other things.
_OBJECTS = frozenset({"pair", "object", "array"})
#: What callbacks get to which others add what they like.
_EXTENDED = frozenset(
    {
        *("req", "request", "res", "response", "reply", "ctx", "context", "c", "app", "server"),
        *(
            "socket",
            "event",
            "evt",
            "e",
            "session",
            "state",
            "next",
            "self",
            "done",
            "err",
            "error",
        ),
    }
)


class Scope:
    """The names of a file.

    Args:
        tree: the file.

    Attributes:
        places: every import with the node that names it.
        patched: members that the code itself assigns, or reads of a prototype.
        assigned: variables that get another value than their first.
        augmented: modules that the code adds to.
    """

    def __init__(self, tree: Tree) -> None:
        self.tree = tree
        self.places: list[tuple[Name, Node]] = []
        self.patched = assigned_members(tree)
        self.assigned = {
            text_of(child(each, "left"))
            for each in tree.nodes
            if each.type == "assignment_expression"
        }
        self.augmented: set[str] = set()
        self._blocks: dict[int, _Block] = {}
        self._top = _Block(tree.root, None)
        self._named: dict[int, Name | None] = {}
        for node in tree.nodes:
            around = tree.parent(node)
            outer = self._blocks[around.id] if around is not None else None
            if outer is None:
                self._blocks[node.id] = self._top
            elif node.type in _SCOPES:
                self._blocks[node.id] = _Block(node, outer)
            else:
                self._blocks[node.id] = outer
        for node in tree.nodes:
            self._take(node)

    def name(self, node: Node) -> Name | None:
        """Return the exported name that a chain of members stands for, from an import on."""
        links = []
        inner: Node | None = node
        while inner is not None and inner.id not in self._named:
            links.append(inner)
            inner = inner.named_children[0] if _is_chain(inner) else None
        for each in reversed(links):
            self._named[each.id] = self._one_name(each)
        return self._named[node.id]

    def _one_name(self, node: Node) -> Name | None:
        if node.type in {"identifier", "type_identifier"}:
            return self._imported(node)
        if _is_chain(node):
            owner = self._named[node.named_children[0].id]
            if owner is not None and len(owner.names) < _MAX_NAMES:
                return owner.below(text_of(node.named_children[-1]))
        return None

    def _imported(self, use: Node) -> Name | None:
        """Return what an identifier means by an import; None where that is not certain."""
        binding = self._binding(use)
        if binding is None or text_of(use) in self.assigned:
            return None
        return binding.imported

    def is_replaced(self, node: Node | None) -> bool:
        """Whether an expression begins with a module that gives way to another value somewhere."""
        root = _root(node)
        binding = self._binding(root) if root is not None else None
        is_module = binding is not None and binding.imported is not None
        return is_module and root is not None and text_of(root) in self.assigned

    def values(self, node: Node) -> list[Node]:
        """Return what a variable is given, or what a pattern takes a name out of."""
        outer = self.tree.parent(node)
        while outer is not None and outer.type.endswith("_pattern"):
            outer = self.tree.parent(outer)
        if outer is not None and outer.type == "variable_declarator":
            value = child(outer, "value")
            return [value] if value is not None else []
        return self._given.get(text_of(node), []) if node.type == "identifier" else []

    @cached_property
    def _given(self) -> Mapping[str, list[Node]]:
        """The values that variables get, at first or later, by their names."""
        found: dict[str, list[Node]] = {}
        for each in self.tree.nodes:
            name, value = child(each, "name"), child(each, "value")
            if each.type == "assignment_expression":
                name, value = child(each, "left"), child(each, "right")
            elif each.type != "variable_declarator":
                continue
            if value is not None:
                for bound in bound_names(name):
                    found.setdefault(text_of(bound), []).append(value)
        return found

    def is_handed(self, node: Node | None, *, is_added_to: bool = True) -> bool:
        """Whether an expression is, or is a part of, what a function gets and nothing tells of.

        Args:
            node: the expression.
            is_added_to: others add what they like to some of what callbacks get.
        """
        found = self._origin(node)
        if found is None or not found[1].is_parameter:
            return False
        is_told = text_of(found[0]) in self._documented
        return not is_told and not _is_of_callback(found[0], is_added_to=is_added_to)

    def _origin(self, node: Node | None) -> tuple[Node, Binding] | None:
        """Return the name that an expression goes back to: a parameter, or what is imported.

        None is returned where it goes back to neither.
        """
        for _ in range(_MAX_NAMES):
            root = _root(node)
            binding = self._binding(root) if root is not None else None
            if root is None or binding is None:
                return None
            if binding.is_parameter or binding.imported is not None:
                return root, binding
            node = binding.value
        return None

    def is_made(self, node: Node | None) -> bool:
        """Whether an expression is what modules give, and no function gets."""
        found = self._origin(node)
        return found is not None and found[1].imported is not None

    def is_new(self, node: Node | None) -> bool:
        """Whether an expression is a name that a constructor's instance alone is given to."""
        values = self.values(node) if node is not None else []
        return bool(values) and all(each.type == "new_expression" for each in values)

    def is_local(self, node: Node | None) -> bool:
        """Whether an expression begins with a name that a function or a block has for itself."""
        root = _root(node)
        block = self._blocks.get(root.id, self._top) if root is not None else self._top
        while root is not None and block.outer is not None:
            if text_of(root) in block.bound:
                return True
            block = block.outer
        return False

    @cached_property
    def _documented(self) -> frozenset[str]:
        """The parameters whose types comments tell."""
        comments = (text_of(each) for each in self.tree.nodes if each.type == "comment")
        found = (match for text in comments for match in _PARAMETER_TYPE.finditer(text))
        return frozenset(match[2] for match in found if match[1] not in _ANY_TYPE)

    def _binding(self, use: Node) -> Binding | None:
        """Return what an identifier means; None where it is global or not certain."""
        name = text_of(use)
        block: _Block | None = self._blocks.get(use.id, self._top)
        for _ in range(_MAX_DEPTH):
            if block is None:
                return None
            other = "value" if use.type == "type_identifier" else "type"
            found = [each for each in block.bound.get(name, ()) if each.sort != other]
            if found:
                return found[0] if len(found) == 1 else None
            block = block.outer
        return None

    def _bind(self, block: _Block, name: Node | None, binding: Binding = VALUE) -> None:
        if name is not None:
            block.bound.setdefault(text_of(name), []).append(binding)

    def _pattern(self, pattern: Node | None, block: _Block, binding: Binding = VALUE) -> None:
        """Bind every name of a pattern."""
        for node in bound_names(pattern):
            self._bind(block, node, binding)

    def _take(self, node: Node) -> None:
        block = self._blocks[node.id]
        kind = node.type
        if kind == "import_statement":
            for local, name, place in read_imports(node):
                if local is not None:
                    self._bind(self._top, local, Binding(name, ""))
                self.places.append((name, place))
        elif kind == "variable_declarator":
            self._variable(node, block)
        elif kind in FUNCTIONS:
            self._function(node, block)
        elif kind == "type_parameter":
            self._bind(block, child(node, "name"), Binding(sort="type"))
        elif kind == "catch_clause":
            self._pattern(child(node, "parameter"), block)
        elif kind == "for_in_statement" and child(node, "kind") is not None:
            self._pattern(child(node, "left"), block, Binding(value=child(node, "right")))
        elif kind in ("module", "internal_module"):
            self._namespace(node, block)
        if kind in _DECLARING:
            self._declared(node, block)

    def _declared(self, node: Node, block: _Block) -> None:
        """Bind a function, class or type in the scope around it."""
        outer = block.outer if node.type in _SCOPES and block.outer is not None else block
        first = node.named_children[0] if node.named_children else None
        sort = _SORTS.get(node.type, "")
        self._bind(outer, child(node, "name") or first, Binding(sort=sort))

    def _function(self, node: Node, block: _Block) -> None:
        for each in parameters(node):
            self._pattern(child(each, "pattern") or each, block, _PARAMETER)
        if node.type == "function_expression":
            self._bind(block, child(node, "name"))

    def _variable(self, node: Node, block: _Block) -> None:
        name, value = child(node, "name"), child(node, "value")
        if name is None:
            return
        is_plain = value is not None and child(node, "type") is None
        source = required_module(value) if value is not None and is_plain else None
        if source is not None and self._loaded(name, source, block):
            return
        around = self.tree.parent(node)
        keyword = text_of(child(around, "kind")) if around is not None else ""
        while keyword not in ("const", "let") and block.outer is not None:
            if block.node.type in FUNCTIONS:
                break
            block = block.outer
        self._pattern(name, block, Binding(value=value))

    def _loaded(self, name: Node, source: str, block: _Block) -> bool:
        """Bind what ``require()`` and ``await import()`` give; whether that is possible."""
        if name.type == "identifier":
            self._bind(block, name, Binding(Name(source), ""))
            self.places.append((Name(source), name))
            return True
        if name.type != "object_pattern":
            return False
        for each in name.named_children:
            key = child(each, "key") or each
            value = child(each, "value") or each
            plain = each.type in ("shorthand_property_identifier_pattern", "pair_pattern")
            if plain and value.type in ("identifier", each.type):
                found = Name(source, (unquoted(key),))
                self._bind(block, value, Binding(found, ""))
                self.places.append((found, key))
            else:
                self._pattern(each, block)
        return True

    def _namespace(self, node: Node, block: _Block) -> None:
        name = child(node, "name")
        if name is not None and name.type == "string":
            self.augmented.add(unquoted(name))
        elif text_of(name) != "global":
            self._bind(block, name, Binding(sort=""))


def _is_chain(node: Node) -> bool:
    return node.type in MEMBERS and len(node.named_children) >= 2


def _is_of_callback(use: Node, *, is_added_to: bool) -> bool:
    """Whether a name is what a function gets whose type a call or a comment tells.

    To some of what callbacks get others add what they like, if they do.
    """
    name, around = text_of(use), use.parent
    while around is not None:
        if around.type in _EXPRESSIONS:
            places = (around.child_by_field_name(each) for each in ("parameter", "parameters"))
            words = (text_of(each) for each in places if each is not None)
            names = {word for text in words for word in _NAME.findall(text)}
            if name in names:
                is_told = _is_given(around) or _has_type_comment(around)
                return is_told and not (is_added_to and name in _EXTENDED)
        around = around.parent
    return False


def _is_given(function: Node) -> bool:
    """Whether a function is given to another one, in an object too, or is made a member."""
    node, outer = function, function.parent
    while outer is not None and outer.type in _OBJECTS:
        node, outer = outer, outer.parent
    if outer is not None and outer.type == "assignment_expression":
        target = outer.child_by_field_name("left")
        return node == function and target is not None and target.type == "member_expression"
    return outer is not None and outer.type == "arguments"


def _has_type_comment(function: Node) -> bool:
    declared = function.parent.parent if function.parent is not None else None
    before = declared.prev_named_sibling if declared is not None else None
    return before is not None and before.type == "comment" and "@type {" in text_of(before)


def _root(node: Node | None) -> Node | None:
    """Return the identifier that a chain of members and calls begins with."""
    while node is not None and node.type not in ("identifier", "shorthand_property_identifier"):
        within = node.named_children if node.type in _WITHIN else ()
        called = child(node, "function") or child(node, "constructor")
        node = called or child(node, "object") or (within[0] if within else None)
    return node
