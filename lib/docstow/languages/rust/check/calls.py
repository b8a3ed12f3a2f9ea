"""Check what Rust code calls and builds: methods, counts of arguments, fields and literals."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from docstow.languages.rust.check.crate_items import FUNCTIONS, Found, standard
from docstow.languages.rust.check.expressions import Expressions, item_of
from docstow.languages.rust.check.fitting import Call, count_arguments
from docstow.languages.rust.check.paths import MISSPELT, Answer, Paths
from docstow.languages.rust.check.report import Report
from docstow.languages.rust.check.resolver import Resolver
from docstow.languages.rust.check.scope import name_of, segments
from docstow.languages.rust.check.std import (
    PRELUDE,
    is_standard,
    members_of_any_value,
    std_traits,
)
from docstow.languages.rust.check.types import FUTURE, OWN, Type, Variables, parse_signature
from docstow.languages.shared.findings import MOST, nearest
from docstow.languages.shared.likeness import name_similarity

if TYPE_CHECKING:
    from tree_sitter import Node

#: What names a field.
_LABELS = frozenset({"field_identifier", "shorthand_field_identifier", "identifier"})
#: What a trait's implementation defines.
_IMPLEMENTED = frozenset({"function_item", "type_item", "const_item"})
#: Names that come near one, among which are methods.
_MOST_LOOKED = 9


class Calls:
    """Checks what is called and built in one piece of code.

    Args:
        resolver: resolves its names.
        expressions: the types of its expressions.
        paths: looks up its paths.
        report: where findings go.
    """

    def __init__(
        self,
        resolver: Resolver,
        expressions: Expressions,
        paths: Paths,
        report: Report,
    ) -> None:
        self._resolver = resolver
        self._expressions = expressions
        self._paths = paths
        self._report = report

    def call(self, node: Node, variables: Variables) -> None:
        """Check a method, or the count of arguments of a function."""
        function = node.child_by_field_name("function")
        arguments = node.child_by_field_name("arguments")
        if function is None or arguments is None or node.has_error:
            return
        given = count_arguments(arguments)
        if function.type == "generic_function":
            function = function.child_by_field_name("function") or function
        if function.type == "field_expression":
            self._method(function, Call(given, node=node), variables)
            return
        absolute = self._resolver.resolve_node(function)
        if absolute is None:
            return
        found = self._paths.look_up(absolute).found
        if len(found) == 1 and found[0].kind in FUNCTIONS:
            self._arity(found[0], given, function, by_path=True)

    def _arity(self, found: Found, given: int, node: Node, *, by_path: bool) -> None:
        signature = parse_signature(found.signature)
        if signature is None or signature.arity is None:
            return
        if not (by_path or signature.takes_self):
            return
        wanted = signature.arity + (by_path and signature.takes_self)
        if given == wanted or self._paths.members.ambiguous(found):
            return
        name = found.path.rpartition("::")[2]
        if not by_path and self._resolver.may_bring(name) and found != self._resolver.brought(name):
            return  # a trait in scope may have one of the same name
        message = f"{found.path} takes {wanted} argument{'s' * (wanted != 1)}, not {given}"
        if not is_standard(found.path):  # signatures of the standard library have no names
            message += f": {' '.join(found.signature.split())}"
        answer = Answer("wrong_argument", (found,), message, names=found.names)
        self._report.add(node, found.path, answer)

    def _method(self, function: Node, call: Call, variables: Variables) -> None:
        value, field = function.child_by_field_name("value"), function.child_by_field_name("field")
        if value is None or field is None or field.type != "field_identifier":
            return
        owner, name = self._expressions.type_of(value, variables), name_of(field)
        item = item_of(owner) if owner is not None and owner.name != FUTURE else None
        if owner is not None and owner.name.startswith(OWN) and not owner.through:
            self.own_member(owner.name.removeprefix(OWN), name, field)
        elif owner is not None and item is None:
            self._by_bound(owner, name, field, call)
        if owner is None or item is None:
            return
        whole = f"{owner.name}::{name}"
        found = self._expressions.method(owner, name)
        if found is not None:
            answer = self._paths.look_up(tuple(found.path.split("::")))
            self._report.add(field, whole, answer)
            if not owner.through:
                self._arity(found, call.given, field, by_path=False)
        else:
            answer = Answer("not_checked", names=item.names)
            if self._absent(owner, item, name):
                unknown = self._unknown(item, name, whole, call)
                near = unknown.suggestions[0].rpartition("::")[2] if unknown.suggestions else ""
                # Statements alone may lack the import of a trait that extends a common type.
                doubt = is_standard(item.path) and not self._resolver.complete and not near
                # What a trait brings of which nothing is known is no other spelling of a method.
                is_brought = self._resolver.may_bring(name)
                doubt = doubt or (is_brought and name_similarity(name, near) < MISSPELT)
                answer = answer if doubt else unknown
            self._report.add(field, whole, answer)

    def _by_bound(self, owner: Type, name: str, field: Node, call: Call) -> None:
        """Check a method of a value of which a trait is known."""
        if owner.name == FUTURE:
            self._of_future(owner, name, field)
            return
        item = self._paths.members.trait_of(owner.name, owner.crate)
        if item is None or owner.through:
            return
        whole = f"{item.path}::{name}"
        found = [each for each in item.names.find(whole) if each.kind == "method"]
        if found:
            self._report.add(field, whole, self._paths.look_up(tuple(whole.split("::"))))
            self._arity(found[0], call.given, field, by_path=False)
        elif not self._resolver.may_bring(name) and self._paths.members.trait_lacks(item, name):
            unknown = self._unknown(item, name, whole, call)
            near = unknown.suggestions[0].rpartition("::")[2] if unknown.suggestions else ""
            # Code without any import may lack that of a trait that extends iterators.
            if self._resolver.imports_some or name_similarity(name, near) >= MISSPELT:
                self._report.add(field, whole, unknown)

    def own_member(self, owner: str, name: str, node: Node) -> None:
        """Check a member of one of the code's types, which derives traits of crates."""
        if not self._expressions.own.lacks(owner, name):
            return
        traits = self._expressions.own.derived_traits(owner) or []
        brought = [e for trait in traits for e in self._paths.members.trait_members(trait)]
        told = {each.path: each.summary for each in brought}
        near = nearest(name, told, summaries=told, filled=True)
        item = traits[0]
        message = self._paths.explain(item, name, f"{item.path}::{name}", near)
        whole = f"{owner}::{name}"
        self._report.add(node, whole, Answer("unknown", (), message, near, item.names, item.path))

    def _of_future(self, owner: Type, name: str, field: Node) -> None:
        """Check a method of what must be awaited first: all but a few are those of its output."""
        (item,) = standard().find("std::future::Future")
        members = self._paths.members
        its_own = std_traits()["Future"] | std_traits()["IntoFuture"] | members_of_any_value()
        is_open = self._resolver.may_bring(name) or not self._resolver.imports_some
        if is_open or name in its_own:
            return
        whole = f"{item.path}::{name}"
        given = owner.inner
        kept = item_of(given) if given is not None else None
        is_later = kept is not None and members.method(kept, name) is not None
        brought = [each.path for each in self._resolver.brought_methods()]
        near = nearest(name, brought) if self._paths.may_explain() and not is_later else ()
        message = self._paths.explain(item, name, whole, near)
        if is_later:
            message = f"a future has no {name}; await it first: `.await.{name}`"
        self._report.add(field, whole, Answer("unknown", (), message, near, item.names, item.path))

    def field(self, node: Node, variables: Variables) -> None:
        """Check a field that is read or written."""
        value, field = node.child_by_field_name("value"), node.child_by_field_name("field")
        called = node.parent is not None and node.parent.type in {
            "call_expression",
            "generic_function",
        }
        if value is None or field is None or field.type != "field_identifier" or node.has_error:
            return
        if (
            called
            and node.parent is not None
            and node.parent.child_by_field_name("function") == node
        ):
            return
        owner, name = self._expressions.type_of(value, variables), name_of(field)
        item = item_of(owner) if owner is not None and owner.name != FUTURE else None
        if owner is None or item is None or item.kind != "struct":
            return
        whole = f"{item.path}::{name}"
        if (found := self._expressions.member(owner, name)) is not None:
            self._report.add(field, whole, Answer("ok", (found,), names=found.names))
        elif self._paths.members.lacks_field(item, name) and not owner.through:
            fields = [each.path for each in item.names.members(item.path) if each.kind == "field"]
            self._report.add(field, whole, self._no_field(item, name, whole, fields))

    def _no_field(self, item: Found, name: str, whole: str, fields: Sequence[str]) -> Answer:
        suggestions = nearest(name, fields, filled=True) if self._paths.may_explain() else ()
        message = self._paths.explain(item, f"field {name}", whole, suggestions)
        return Answer("unknown", (), message, suggestions, item.names, item.path)

    def _absent(self, owner: Type, item: Found, name: str) -> bool:
        """Tell whether it is certain that a value has no method of a name."""
        may_bring = self._resolver.may_bring(name) and not self._resolver.is_unknown_trait(name)
        members = self._paths.members
        if may_bring or not members.lacks(item, name):
            return False
        # Statements alone may lack the import of a trait that nobody knows.
        if not self._resolver.complete and members.has_unknown_traits(item):
            return False
        pointer = self._paths.look_up(tuple(owner.through.split("::"))).found
        return not any(each.names.find(f"{each.path}::{name}") for each in pointer)

    def _unknown(self, item: Found, name: str, whole: str, call: Call) -> Answer:
        may = self._paths.may_explain()
        near: tuple[str, ...] = ()
        if may:
            brought = self._resolver.brought_methods()
            near = self._paths.members.suggest(
                item, name, most=_MOST_LOOKED, call=call, brought=brought
            )
        suggestions = tuple(each for each in near if self._is_method(each))[:MOST]
        message = self._paths.explain(item, name, whole, suggestions)
        return Answer("unknown", (), message, suggestions, item.names, item.path)

    def _is_method(self, path: str) -> bool:
        found = self._paths.look_up(tuple(path.split("::"))).found
        parsed = [parse_signature(each.signature) for each in found if each.kind == "method"]
        return any(each is None or each.takes_self for each in parsed)

    def implemented(self, node: Node) -> None:
        """Check what ``impl Trait for Type`` defines: nothing but what the trait has."""
        trait, body = node.child_by_field_name("trait"), node.child_by_field_name("body")
        if trait is None or body is None or node.has_error:
            return
        absolute, name = self._resolver.resolve_node(trait), name_of(trait)
        if absolute is None and name in PRELUDE and not self._resolver.is_defined(name):
            paths = standard().types_by_title.get(name, ())
            absolute = tuple(paths[0].split("::")) if len(paths) == 1 else None
        found = self._paths.look_up(absolute).found if absolute is not None else ()
        if len(found) != 1 or found[0].kind != "trait":
            return
        item = found[0]
        known = item.names.titles_below(item.path)
        members = [each.path for each in item.names.members(item.path)]
        for each in body.named_children:
            label = each.child_by_field_name("name")
            if each.type not in _IMPLEMENTED or label is None or not known:
                continue
            name = name_of(label)
            hidden = name.startswith("_") or item.names.undocumented.may_have(item.path, name)
            if name in known or hidden:
                continue
            whole = f"{item.path}::{name}"
            near = nearest(name, members, filled=True) if self._paths.may_explain() else ()
            message = self._paths.explain(item, name, whole, near)
            self._report.add(
                label, whole, Answer("unknown", (), message, near, item.names, item.path)
            )

    def fields(self, node: Node) -> None:
        """Check the fields of ``Type { field: value }``, where all of the type's are public.

        Args:
            node: a literal, or a pattern.
        """
        name = node.child_by_field_name("name") or node.child_by_field_name("type")
        body = node if node.type == "struct_pattern" else node.child_by_field_name("body")
        if name is None or segments(name) is None or body is None or node.has_error:
            return
        absolute = self._resolver.resolve_node(name)
        found = self._paths.look_up(absolute).found if absolute is not None else ()
        if len(found) != 1 or found[0].kind not in {"struct", "variant"}:
            return
        owner = found[0]
        fields = [each.path for each in owner.names.members(owner.path) if each.kind == "field"]
        if not fields or "private" in owner.signature or "/*" in owner.signature:
            return
        known = frozenset(fields)
        for each in body.named_children:
            label = each.child_by_field_name("field") or each.child_by_field_name("name")
            if each.type == "shorthand_field_initializer":
                label = each.named_children[-1]
            if label is None or label.type not in _LABELS or label == name:
                continue
            field = name_of(label)
            whole = f"{owner.path}::{field}"
            if whole in known or owner.names.undocumented.may_have(owner.path, field):
                continue
            self._report.add(label, whole, self._no_field(owner, field, whole, fields))
