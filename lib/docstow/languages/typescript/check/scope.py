"""What the names of a TypeScript or JavaScript file stand for, where they are written.

A name that one scope declares twice stands for nothing certain.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from docstow.languages.typescript.check.syntax import (
    Tree,
    call_arguments,
    child,
    parameters,
    text_of,
    unquoted,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tree_sitter import Node


#: Names of functions that test or assert what something is.
_ASSERTS = re.compile(
    r"(?:assert|invariant|ensure|expect|must|check|verify|require|is|has)\w*$", re.IGNORECASE
)
_CONDITIONS = frozenset(
    {
        *("if_statement", "while_statement", "do_statement", "for_statement"),
        *("ternary_expression", "binary_expression", "switch_case"),
    }
)
#: Patterns within each other that are followed.
_MAX_PATTERN_DEPTH = 20
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
_MEMBERS = frozenset({"property_signature", "method_signature"})
#: Keys and positions that lead to a part of a value.
Path = tuple[str | int, ...]


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


def read_imports(node: Node) -> Iterator[tuple[str, Name, Node]]:
    """Iterate over an import's local names, what they stand for, and where that is written.

    An import that names nothing gives an empty local name.
    """
    source = unquoted(child(node, "source"))
    if node.has_error:
        return
    named = False
    for clause in node.named_children:
        if clause.type == "import_require_clause":
            named = True
            module = unquoted(child(clause, "source"))
            yield text_of(clause.named_children[0]), Name(module), clause
        if clause.type != "import_clause" or not source:
            continue
        named = True
        for each in clause.named_children:
            if each.type == "identifier":
                yield text_of(each), Name(source, ("default",)), each
            elif each.type == "namespace_import":
                yield text_of(each.named_children[0]), Name(source), each
            elif each.type == "named_imports":
                yield from _named(each, source)
    if not named and source:
        yield "", Name(source), node


def _named(node: Node, source: str) -> Iterator[tuple[str, Name, Node]]:
    for each in node.named_children:
        if each.type != "import_specifier":
            continue
        name, alias = child(each, "name"), child(each, "alias")
        if name is not None:
            yield text_of(alias or name), Name(source, (unquoted(name),)), name


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
    """Return the members that the code itself assigns."""
    found = set()
    for node in tree.nodes:
        if node.type.endswith(("assignment_expression", "update_expression")):
            target = child(node, "left") or child(node, "argument")
            if target is not None and target.type == "member_expression":
                found.add(text_of(child(target, "property")))
    return found


def narrowed_names(tree: Tree) -> set[str]:
    """Return the names that ``isThis(x)``, ``x instanceof This`` or ``"this" in x`` may narrow."""
    tested = (each for node in tree.nodes for each in _tested(tree, node))
    return {text_of(each) for each in tested if each.type == "identifier"}


def _tested(tree: Tree, node: Node) -> Iterable[Node]:
    if node.type == "call_expression":
        given = [each for each in call_arguments(node) or () if each.type == "identifier"]
        return given if given and _is_condition(tree, node) else ()
    operator = text_of(child(node, "operator")) if node.type == "binary_expression" else ""
    return node.named_children if operator in {"instanceof", "in"} else ()


def _is_condition(tree: Tree, call: Node) -> bool:
    """Whether what follows may depend on a call; a lone one may assert it, or be kept."""
    outer = tree.parent(call)
    while outer is not None and outer.type in ("parenthesized_expression", "unary_expression"):
        outer = tree.parent(outer)
    if outer is not None and outer.type in ("expression_statement", "variable_declarator"):
        called = child(call, "function")
        if called is not None and called.type == "member_expression":
            called = child(called, "property")
        return bool(_ASSERTS.match(text_of(called)))
    return outer is not None and outer.type in _CONDITIONS


def bound_names(
    pattern: Node | None, path: Path, *, known: bool
) -> Iterator[tuple[Node, Path | None]]:
    """Iterate over the names that a pattern binds, each with the path that leads to it.

    Args:
        pattern: an identifier, or what is taken apart.
        path: the path to the pattern.
        known: whether that is certain; otherwise no path is.
    """
    waiting: list[tuple[Node | None, Path, bool]] = [(pattern, path, known)]
    while waiting:
        node, way, sure = waiting.pop()
        if node is None or len(way) > _MAX_PATTERN_DEPTH:
            continue
        if node.type in ("identifier", "shorthand_property_identifier_pattern"):
            if node.type != "identifier":
                way = (*way, text_of(node))
            yield node, way if sure else None
        elif node.type == "pair_pattern":
            key = child(node, "key")
            plain = key is not None and key.type in ("property_identifier", "string")
            waiting.append((child(node, "value"), (*way, unquoted(key)), sure and plain))
        elif node.type in ("assignment_pattern", "object_assignment_pattern"):
            waiting.append((child(node, "left"), way, False))
        elif node.type == "array_pattern":
            # Positions that are left out have no node of their own.
            plain = sure and b",," not in (node.text or b"").replace(b" ", b"")[:200]
            plain = plain and not (node.text or b"").replace(b" ", b"").startswith(b"[,")
            for index, each in enumerate(node.named_children):
                waiting.append((each, (*way, index), plain))
        elif node.type == "object_pattern":
            waiting += [(each, way, sure) for each in node.named_children]
        elif node.type in ("rest_pattern", "required_parameter", "optional_parameter"):
            waiting += [(each, way, False) for each in node.named_children[:1]]


@dataclass(frozen=True, slots=True)
class Binding:
    """A declaration of a name.

    Attributes:
        at: the name where it is declared.
        imported: what an import means.
        value: of a constant its initial value.
        annotation: its declared type.
        function: of a parameter the function, and of a function itself.
        index: which parameter; -1 where it is none.
        path: how the name is taken out of the value: keys and places; None where that is not
            certain.
        each: it is one of the value, by turns.
        sort: whether the name is one of a type or of a value; empty where it is both.
    """

    at: Node
    imported: Name | None = None
    value: Node | None = None
    annotation: Node | None = None
    function: Node | None = None
    index: int = -1
    path: tuple[str | int, ...] | None = ()
    each: bool = False
    sort: str = "value"


@dataclass(slots=True)
class _Block:
    """A scope, and the one around it."""

    node: Node
    outer: _Block | None
    bound: dict[str, list[Binding]] = field(default_factory=dict)


class Scope:
    """The names of a file.

    Args:
        tree: the file.

    Attributes:
        places: every import with the node that names it.
        patched: members that the code itself assigns.
        augmented: modules that the code adds to.
        narrowed: names whose types the code may narrow.
        names: every name that is declared anywhere.
        added: members that its own declarations have, if it adds to those of others.
    """

    def __init__(self, tree: Tree) -> None:
        self.tree = tree
        self.places: list[tuple[Name, Node]] = []
        self.augmented: set[str] = set()
        self.names: set[str] = set()
        self.added: set[str] = set()
        self._blocks: dict[int, _Block] = {}
        self._top = _Block(tree.root, None)
        self._found: dict[int, Binding | None] = {}
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
        self.patched, self.narrowed = assigned_members(tree), narrowed_names(tree)
        if any(each.type == "ambient_declaration" for each in tree.nodes):
            fields = [each for each in tree.nodes if each.type in _MEMBERS]
            self.added = {text_of(child(each, "name")) for each in fields}

    def binding(self, use: Node) -> Binding | None:
        """Return what an identifier means; None where it is global or not certain."""
        if use.id not in self._found:
            self._found[use.id] = self._binding(use)
        return self._found[use.id]

    def _binding(self, use: Node) -> Binding | None:
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

    def _bind(self, block: _Block, name: str, binding: Binding) -> None:
        block.bound.setdefault(name, []).append(binding)
        self.names.add(name)

    def _take(self, node: Node) -> None:
        block = self._blocks[node.id]
        kind = node.type
        if kind == "import_statement":
            for local, name, place in read_imports(node):
                if local:
                    self._bind(self._top, local, Binding(place, imported=name, sort=""))
                self.places.append((name, place))
        elif kind == "variable_declarator":
            self._variable(node, block)
        elif kind in FUNCTIONS:
            self._function(node, block)
        elif kind == "type_parameter":
            self._alone(child(node, "name"), block, "type")
        elif kind == "catch_clause":
            self._pattern(child(node, "parameter"), block, (), Binding(node), known=False)
        elif kind == "for_in_statement":
            self._loop(node, block)
        elif kind in ("module", "internal_module"):
            self._namespace(node, block)
        if kind in _DECLARING:
            self._declared(node, block)

    def _declared(self, node: Node, block: _Block) -> None:
        """Bind a function, class or type in the scope around it."""
        outer = block.outer if node.type in _SCOPES and block.outer is not None else block
        first = node.named_children[0] if node.named_children else None
        own = child(node, "name") or first
        if own is not None:
            sort = _SORTS.get(node.type, "")
            self._bind(outer, text_of(own), Binding(own, function=node, sort=sort))

    def _alone(self, name: Node | None, block: _Block, sort: str = "") -> None:
        if name is not None:
            self._bind(block, text_of(name), Binding(name, sort=sort))

    def _function(self, node: Node, block: _Block) -> None:
        for index, each in enumerate(parameters(node)):
            pattern = child(each, "pattern") or each
            type_ = child(each, "type")
            annotation = type_.named_children[0] if type_ and type_.named_children else None
            whole = Binding(pattern, annotation=annotation, function=node, index=index)
            known = child(each, "value") is None
            self._pattern(pattern, block, (), whole, known=known)
        own = child(node, "name")
        if node.type == "function_expression" and own is not None:
            self._bind(block, text_of(own), Binding(own, function=node))

    def _loop(self, node: Node, block: _Block) -> None:
        if child(node, "kind") is None:
            return
        of = text_of(child(node, "operator")) == "of"
        whole = Binding(node, value=child(node, "right"), each=True)
        self._pattern(child(node, "left"), block, (), whole, known=of)

    def _variable(self, node: Node, block: _Block) -> None:
        name, value, type_ = child(node, "name"), child(node, "value"), child(node, "type")
        if name is None:
            return
        source = required_module(value) if value is not None and type_ is None else None
        if source is not None and self._loaded(name, source, block):
            return
        around = self.tree.parent(node)
        keyword = text_of(child(around, "kind")) if around is not None else ""
        annotation = type_.named_children[0] if type_ and type_.named_children else None
        while keyword not in ("const", "let") and block.outer is not None:
            if block.node.type in FUNCTIONS:
                break
            block = block.outer
        kept = value if keyword == "const" else None
        whole = Binding(name, value=kept, annotation=annotation)
        self._pattern(name, block, (), whole, known=True)

    def _loaded(self, name: Node, source: str, block: _Block) -> bool:
        """Bind what ``require()`` and ``await import()`` give; whether that is possible."""
        if name.type == "identifier":
            self._bind(block, text_of(name), Binding(name, imported=Name(source), sort=""))
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
                self._bind(block, text_of(value), Binding(value, imported=found, sort=""))
                self.places.append((found, key))
            else:
                self._pattern(each, block, (), Binding(each), known=False)
        return True

    def _pattern(
        self,
        pattern: Node | None,
        block: _Block,
        path: tuple[str | int, ...],
        whole: Binding,
        *,
        known: bool,
    ) -> None:
        """Bind every name of a pattern; see :func:`bound_names`."""
        for node, way in bound_names(pattern, path, known=known):
            self._bind(block, text_of(node), replace(whole, at=node, imported=None, path=way))

    def _namespace(self, node: Node, block: _Block) -> None:
        name = child(node, "name")
        if name is not None and name.type == "string":
            self.augmented.add(unquoted(name))
        elif text_of(name) != "global":
            self._alone(name, block)
