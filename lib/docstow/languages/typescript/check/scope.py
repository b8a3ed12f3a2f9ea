"""What the names of a TypeScript or JavaScript file stand for, where they are written.

This room knows scopes, declarations and patterns. It does not know packages. A name that one scope
declares twice stands for nothing certain.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from docstow.languages.typescript.check.scope__verify_javascript_imports import (
    Name,
    imports,
    loaded,
)
from docstow.languages.typescript.check.scope__verify_javascript_narrowed import assigned, narrowed
from docstow.languages.typescript.check.scope__verify_javascript_patterns import bound
from docstow.languages.typescript.check.syntax import Tree, child, parameters, text_of, unquoted

if TYPE_CHECKING:
    from tree_sitter import Node

#: Scopes that are looked through for a name; nobody nests as deep.
_DEEPEST = 1000
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
        narrowed: names that the code asks whether they are something more.
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
        self.patched, self.narrowed = assigned(tree), narrowed(tree)
        if any(each.type == "ambient_declaration" for each in tree.nodes):
            fields = [each for each in tree.nodes if each.type in _MEMBERS]
            self.added = {text_of(child(each, "name")) for each in fields}

    def binding(self, use: Node) -> Binding | None:
        """What an identifier certainly means; None where it is global or not certain."""
        if use.id not in self._found:
            self._found[use.id] = self._binding(use)
        return self._found[use.id]

    def _binding(self, use: Node) -> Binding | None:
        name = text_of(use)
        block: _Block | None = self._blocks.get(use.id, self._top)
        for _ in range(_DEEPEST):
            if block is None:
                return None
            other = "value" if use.type == "type_identifier" else "type"
            found = [each for each in block.bound.get(name, ()) if each.sort != other]
            if found:
                return found[0] if len(found) == 1 else None
            block = block.outer
        return None

    # -- declarations ------------------------------------------------------------------------

    def _bind(self, block: _Block, name: str, binding: Binding) -> None:
        block.bound.setdefault(name, []).append(binding)
        self.names.add(name)

    def _take(self, node: Node) -> None:
        block = self._blocks[node.id]
        kind = node.type
        if kind == "import_statement":
            for local, name, place in imports(node):
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
        """A function, class or type, whose name is known around it."""
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
        source = loaded(value) if value is not None and type_ is None else None
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
        """What ``require()`` and ``await import()`` give."""
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
        """Bind every name of a pattern; see :func:`bound`."""
        for node, way in bound(pattern, path, known=known):
            self._bind(block, text_of(node), replace(whole, at=node, imported=None, path=way))

    def _namespace(self, node: Node, block: _Block) -> None:
        name = child(node, "name")
        if name is not None and name.type == "string":
            self.augmented.add(unquoted(name))
        elif text_of(name) != "global":
            self._alone(name, block)
