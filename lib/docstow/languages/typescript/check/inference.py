"""What expressions of TypeScript and JavaScript certainly are, as packages declare it.

Each expression is evaluated once; of a chain the inner links come first, so that none is too long.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from docstow.languages.shared.surface import Form, Outcome, Passed
from docstow.languages.typescript.check.scope import Binding, Name, Scope
from docstow.languages.typescript.check.syntax import (
    call_arguments,
    child,
    is_tagged,
    parameters,
    text_of,
    unquoted,
)
from docstow.languages.typescript.check.values_of_signatures import SignatureValues

if TYPE_CHECKING:
    from tree_sitter import Node

    from docstow.languages.shared.lookup import Answer, Installed, Names
    from docstow.languages.shared.surface import Value, Values

#: Expressions within each other that are evaluated.
_MAX_DEPTH = 30
#: Names below an imported one that are followed.
_MAX_NAMES = 12
#: The package that declares the language itself.
COMPILER = "typescript"
MEMBERS = frozenset({"member_expression", "nested_identifier", "nested_type_identifier"})
_THROUGH = frozenset({"parenthesized_expression", "non_null_expression", "satisfies_expression"})
_FORMS: dict[str, Form] = {
    "string": "string",
    "template_string": "string",
    "number": "number",
    "true": "boolean",
    "false": "boolean",
    "arrow_function": "function",
    "function_expression": "function",
    "object": "object",
    "array": "array",
    "undefined": "nothing",
}


@dataclass(frozen=True, slots=True)
class Known:
    """What an expression is, and the package that says so.

    Attributes:
        handed: a function gets it, or it was a part of what one gets.
    """

    value: Value
    package: Installed
    handed: bool = False


class Expressions:
    """The expressions of a file.

    Args:
        scope: its names.
        names: the packages.
        look_up: what is known of an imported name; None of what is no package's.
    """

    def __init__(
        self, scope: Scope, names: Names, look_up: Callable[[Name], Answer | None]
    ) -> None:
        self.scope = scope
        self._tree = scope.tree
        self._names = names
        self._look_up = look_up
        self._known: dict[int, Known | None] = {}
        self._named: dict[int, Name | None] = {}
        self._outcomes: dict[int, tuple[Outcome, Installed] | None] = {}
        self._expected: dict[int, Known | None] = {}
        self._imported: dict[Name, Known | None] = {}
        self._depth = 0

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
            binding = self.scope.binding(node)
            found = binding.imported if binding is not None else None
            if found is not None and found.names == ("default",):
                answer = self._look_up(found)
                whole = answer is not None and answer.status == "ok" and answer.whole
                return found if whole else None
            return found
        if _is_chain(node):
            owner = self._named[node.named_children[0].id]
            if owner is not None and len(owner.names) < _MAX_NAMES:
                return owner.below(text_of(node.named_children[-1]))
        return None

    def _of_import(self, name: Name) -> Known | None:
        if name not in self._imported:
            self._imported[name] = self._surface(name, lambda values, path: values.value(path))
        return self._imported[name]

    def _surface(self, name: Name, ask: Callable[[Values, str], Value | None]) -> Known | None:
        """Ask the package of a name."""
        answer = self._look_up(name)
        package = answer.package if answer is not None else None
        if package is None:
            return None
        values = self._values(package, package.own_path(name.specifier))
        found = ask(values, package.own_path(name.path))
        return Known(found, package) if found is not None else None

    def _values(self, package: Installed, specifier: str) -> Values:
        """Return the values of a package, by its declarations or by what is kept of them."""
        if hasattr(package.surface, "typed"):
            return cast("Values", package.surface)
        return SignatureValues(package, specifier, self._names)

    def of(self, node: Node) -> Known | None:
        """Return what an expression certainly is."""
        links = []
        inner: Node | None = node
        while inner is not None and inner.id not in self._known:
            links.append(inner)
            inner = _operand(inner)
        if not links:
            return self._known[node.id]
        if self._depth >= _MAX_DEPTH:
            return None
        self._depth += 1
        for each in links:
            self._known[each.id] = None
        for each in reversed(links):
            self._known[each.id] = self._one(each)
        self._depth -= 1
        return self._known[node.id]

    def _one(self, node: Node) -> Known | None:
        kind = node.type
        if kind == "identifier":
            return self._identifier(node)
        if kind == "member_expression":
            return self._member(node)
        if kind in ("call_expression", "new_expression"):
            found = self.outcome(node)
            value = found[0].value if found else None
            if value is not None and _is_awaited(node):
                value = value.awaited()
            return Known(value, found[1]) if found and value is not None else None
        if kind in _THROUGH or kind == "await_expression":
            inner = node.named_children[0] if node.named_children else None
            known = self._known.get(inner.id) if inner is not None else None
            if kind != "await_expression" or known is None:
                return known
            return _with(known, known.value.awaited())
        if kind == "as_expression":
            return self.typed(node.named_children[-1])
        if kind == "subscript_expression":
            return self._subscript(node)
        if kind in ("string", "template_string", "number", "regex", "array"):
            return None if is_tagged(node) else self._literal(kind)
        return None

    def _identifier(self, node: Node) -> Known | None:
        name = text_of(node)
        if name in self.scope.narrowed:
            return None
        binding = self.scope.binding(node)
        if binding is None:
            return None if name in self.scope.names else self._global(name)
        if binding.imported is not None:
            named = self.name(node)
            return self._of_import(named) if named is not None else None
        return self.bound(binding)

    def bound(self, binding: Binding) -> Known | None:
        """Return what a declared name is."""
        if binding.path is None:
            return None
        known: Known | None = None
        if binding.annotation is not None:
            known = self.typed(binding.annotation)
        elif binding.value is not None:
            known = self.of(binding.value)
            if known is not None and binding.each:
                known = _with(known, known.value.item(None))
        elif binding.function is not None and binding.index >= 0:
            known = self._parameter(binding.function, binding.index)
        for step in binding.path:
            if known is None:
                return None
            value = known.value
            known = _with(known, value.item(step) if isinstance(step, int) else value.member(step))
        return known

    def _member(self, node: Node) -> Known | None:
        owner, last = node.named_children[0], node.named_children[-1]
        named = self.name(owner)
        if named is not None and not named.names:
            return self._of_import(named.below(text_of(last)))
        known = self._known.get(owner.id)
        return _with(known, known.value.member(text_of(last))) if known is not None else None

    def _subscript(self, node: Node) -> Known | None:
        index, known = child(node, "index"), self._known.get(node.named_children[0].id)
        if known is None or index is None:
            return None
        if index.type == "number" and text_of(index).isdigit():
            return _with(known, known.value.item(int(text_of(index))))
        return _with(known, known.value.member(unquoted(index))) if index.type == "string" else None

    def _literal(self, kind: str) -> Known | None:
        name = {"template_string": "String", "regex": "RegExp"}.get(kind, kind.capitalize())
        return self._language(lambda values: values.global_type(name, (None,) * (kind == "array")))

    def _global(self, name: str) -> Known | None:
        return self._language(lambda values: values.global_value(name))

    def _language(self, ask: Callable[[Values], Value | None]) -> Known | None:
        """Ask for what the language itself declares."""
        package = self._names.resolver.package_for(COMPILER)
        if package is None or not hasattr(package.surface, "typed"):
            return None
        found = ask(cast("Values", package.surface))
        return Known(found, package) if found is not None else None

    def typed(self, node: Node) -> Known | None:
        """Return what has a type that the code writes."""
        args: Sequence[Node] = ()
        if node.type == "generic_type":
            given = child(node, "type_arguments")
            args = given.named_children if given is not None else ()
            node = child(node, "name") or node
        if node.type == "array_type" and node.named_children:
            return self._global_type("Array", [self.typed(node.named_children[0])])
        if node.type not in ("type_identifier", "nested_type_identifier"):
            return None
        inner = [self.typed(each) for each in args]
        named = self.name(node)
        if named is not None:
            types = [each.value if each is not None else None for each in inner]
            return self._surface(named, lambda values, path: values.typed(path, types))
        name = text_of(node)
        if node.type != "type_identifier" or name in self.scope.names:
            return None
        return self._global_type(name, inner)

    def _global_type(self, name: str, inner: Sequence[Known | None]) -> Known | None:
        """Return a global type, by the package of a type argument if there is one."""
        values = [each.value if each is not None else None for each in inner]
        about = next((each for each in inner if each is not None), None)
        if about is None:
            return self._language(lambda each: each.global_type(name, values))
        if not hasattr(about.package.surface, "typed"):
            return None
        found = cast("Values", about.package.surface).global_type(name, values)
        return Known(found, about.package) if found is not None else None

    def outcome(self, node: Node) -> tuple[Outcome, Installed] | None:
        """Return what a call gives and expects."""
        if node.id not in self._outcomes:
            self._outcomes[node.id] = None
            self._outcomes[node.id] = self._outcome(node)
        return self._outcomes[node.id]

    def _outcome(self, node: Node) -> tuple[Outcome, Installed] | None:
        called = child(node, "function") or child(node, "constructor")
        given = call_arguments(node)
        if called is None or given is None:
            return None
        called = _without_await(called)
        known = self.of(called)
        if known is None:
            return None
        types = child(node, "type_arguments")
        arguments = [self.typed(each) for each in types.named_children] if types is not None else []
        spread = any(each.type == "spread_element" for each in given)
        found = known.value.call(
            None if spread else [self._passed(each) for each in given],
            [each.value if each is not None else None for each in arguments],
            new=node.type == "new_expression",
        )
        return (found, known.package) if found is not None else None

    def _passed(self, node: Node) -> Passed:
        while node.type in _THROUGH and node.named_children:
            node = node.named_children[0]
        form = _FORMS.get(node.type, "other")
        if form == "function":
            return Passed(form, count=len(parameters(node)))
        if form == "object":
            return Passed(form, keys=tuple(key for key, _ in object_keys(node)))
        if form == "other":
            known = self.of(node)
            return Passed(form, value=known.value if known is not None else None)
        text = unquoted(node) if form in ("string", "number", "boolean") else None
        return Passed(form, text)

    def _parameter(self, function: Node, index: int) -> Known | None:
        """Return what a function gets that is written where its type is known."""
        known = self.expected(function)
        if known is None:
            return None
        found = known.value.parameter(index, len(parameters(function)))
        return Known(found, known.package, handed=True) if found is not None else None

    def expected(self, node: Node) -> Known | None:
        """Return what is expected where an expression is written."""
        links: list[Node] = []
        inner: Node | None = node
        while inner is not None and inner.id not in self._expected and len(links) < _MAX_DEPTH:
            links.append(inner)
            inner = self._around(inner)
        for each in reversed(links):
            self._expected.setdefault(each.id, None)
            self._expected[each.id] = self._one_expected(each)
        return self._expected.get(node.id)

    def _around(self, node: Node) -> Node | None:
        """Return the literal or the parentheses that an expression is a part of."""
        outer = self._tree.parent(node)
        if outer is not None and outer.type == "pair":
            outer = self._tree.parent(outer)
        if outer is not None and outer.type in ("object", "array", "parenthesized_expression"):
            return outer
        return None

    def _one_expected(self, node: Node) -> Known | None:
        outer = self._tree.parent(node)
        if outer is None:
            return None
        if outer.type == "pair" or (outer.type == "object" and node.type == "method_definition"):
            whole = outer if outer.type == "object" else self._tree.parent(outer)
            known = self._expected.get(whole.id) if whole is not None else None
            if known is None and whole is not None:
                known = self.expected(whole)
            key = _key(outer if outer.type == "pair" else node)
            return _with(known, known.value.member(key)) if known is not None and key else None
        if outer.type == "parenthesized_expression":
            return self._expected.get(outer.id)
        if outer.type == "array":
            known = self._expected.get(outer.id)
            at = [each.id for each in outer.named_children].index(node.id) if known else 0
            return _with(known, known.value.item(at)) if known is not None else None
        if outer.type == "variable_declarator":
            type_ = child(outer, "type")
            return self.typed(type_.named_children[0]) if type_ is not None else None
        if outer.type == "arguments":
            call = self._tree.parent(outer)
            given = call_arguments(call) if call is not None else None
            found = self.outcome(call) if call is not None else None
            if found is None or given is None:
                return None
            at = [each.id for each in given].index(node.id)
            value = found[0].expects[at] if at < len(found[0].expects) else None
            return Known(value, found[1]) if value is not None else None
        return None


def object_keys(node: Node) -> list[tuple[str, Node]]:
    """Return the keys of an object literal, with where they are written."""
    found = []
    for each in node.named_children:
        key = each if each.type == "shorthand_property_identifier" else child(each, "key")
        key = child(each, "name") if each.type == "method_definition" else key
        if key is not None and key.type in (
            *("property_identifier", "string", "shorthand_property_identifier"),
        ):
            found.append((unquoted(key), key))
    return found


def _key(node: Node) -> str:
    key = child(node, "key") or child(node, "name")
    plain = key is not None and key.type in ("property_identifier", "string")
    return unquoted(key) if plain else ""


def _with(known: Known, value: Value | None) -> Known | None:
    return Known(value, known.package, known.handed) if value is not None else None


def _is_awaited(call: Node) -> bool:
    """Whether it is ``await f<T>()``, which the grammar reads as a call of ``await f``."""
    called = child(call, "function")
    return called is not None and called.type == "await_expression"


def _without_await(called: Node) -> Node:
    return called.named_children[0] if called.type == "await_expression" else called


def _is_chain(node: Node) -> bool:
    return node.type in MEMBERS and len(node.named_children) >= 2


def _operand(node: Node) -> Node | None:
    """Return the expression that is evaluated before this one."""
    if node.type in ("call_expression", "new_expression"):
        return child(node, "function") or child(node, "constructor")
    if node.type in ("member_expression", "subscript_expression", "await_expression") or (
        node.type in _THROUGH
    ):
        return node.named_children[0] if node.named_children else None
    return None
