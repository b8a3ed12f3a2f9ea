"""What the names of a TypeScript or JavaScript file stand for, where they are written.

This room knows scopes, declarations and patterns. It does not know packages. A name that one scope
declares twice stands for nothing certain.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from docstow.verify.javascript_imports import Name, imports, loaded
from docstow.verify.javascript_tree import Tree, child, parameters, passed, text_of, unquoted

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
        self.patched: set[str] = set()
        self.augmented: set[str] = set()
        self.narrowed: set[str] = set()
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
        else:
            self._done(node)
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
        """Every name that a pattern binds.

        Args:
            pattern: an identifier, or what is taken apart.
            block: the scope.
            path: the way to it.
            whole: what is taken apart.
            known: whether the way is certain.
        """
        waiting: list[tuple[Node | None, tuple[str | int, ...], bool]] = [(pattern, path, known)]
        while waiting:
            node, way, sure = waiting.pop()
            if node is None or len(way) > 20:
                continue
            if node.type in ("identifier", "shorthand_property_identifier_pattern"):
                if node.type != "identifier":
                    way = (*way, text_of(node))
                bound = Binding(
                    node,
                    None,
                    whole.value,
                    whole.annotation,
                    whole.function,
                    whole.index,
                    way if sure else None,
                    whole.each,
                )
                self._bind(block, text_of(node), bound)
            elif node.type == "pair_pattern":
                key = child(node, "key")
                plain = key is not None and key.type in ("property_identifier", "string")
                waiting.append((child(node, "value"), (*way, unquoted(key)), sure and plain))
            elif node.type in ("assignment_pattern", "object_assignment_pattern"):
                waiting.append((child(node, "left"), way, False))
            elif node.type == "array_pattern":
                # Places that are left out have no node of their own.
                plain = sure and b",," not in (node.text or b"").replace(b" ", b"")[:200]
                plain = plain and not (node.text or b"").replace(b" ", b"").startswith(b"[,")
                for index, each in enumerate(node.named_children):
                    waiting.append((each, (*way, index), plain))
            elif node.type == "object_pattern":
                waiting += [(each, way, sure) for each in node.named_children]
            elif node.type in ("rest_pattern", "required_parameter", "optional_parameter"):
                waiting += [(each, way, False) for each in node.named_children[:1]]

    def _namespace(self, node: Node, block: _Block) -> None:
        name = child(node, "name")
        if name is not None and name.type == "string":
            self.augmented.add(unquoted(name))
        elif text_of(name) != "global":
            self._alone(name, block)

    # -- what the code does to names ---------------------------------------------------------

    def _done(self, node: Node) -> None:
        """What the code does to names, beside declaring them."""
        if node.type.endswith(("assignment_expression", "update_expression")):
            self._assigned(node)
        elif node.type in ("call_expression", "binary_expression"):
            self._narrowed(node)

    def _assigned(self, node: Node) -> None:
        target = child(node, "left") or child(node, "argument")
        if target is not None and target.type == "member_expression":
            self.patched.add(text_of(child(target, "property")))

    def _narrowed(self, node: Node) -> None:
        """Take in what ``isThis(x)``, ``x instanceof This`` and ``"this" in x`` may tell."""
        if node.type == "call_expression":
            asked = [each for each in passed(node) or () if each.type == "identifier"]
            if not asked or not self._is_condition(node):
                return
        elif text_of(child(node, "operator")) in {"instanceof", "in"}:
            asked = node.named_children
        else:
            return
        self.narrowed.update(text_of(each) for each in asked if each.type == "identifier")

    def _is_condition(self, call: Node) -> bool:
        """Whether what follows may depend on a call; a lone one may assert it, or be kept."""
        outer = self.tree.parent(call)
        while outer is not None and outer.type in ("parenthesized_expression", "unary_expression"):
            outer = self.tree.parent(outer)
        if outer is not None and outer.type in ("expression_statement", "variable_declarator"):
            called = child(call, "function")
            if called is not None and called.type == "member_expression":
                called = child(called, "property")
            return bool(_ASSERTS.match(text_of(called)))
        return outer is not None and outer.type in {
            *("if_statement", "while_statement", "do_statement", "for_statement"),
            *("ternary_expression", "binary_expression", "switch_case"),
        }


#: Functions that ask or assert what something is, by how they are named.
_ASSERTS = re.compile(
    r"(?:assert|invariant|ensure|expect|must|check|verify|require|is|has)\w*$", re.IGNORECASE
)
