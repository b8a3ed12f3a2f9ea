"""Check calls and struct literals of Rust code: methods, counts of arguments, fields."""

from __future__ import annotations

from typing import TYPE_CHECKING

from docstow.languages.rust.check.crate_names import FUNCTIONS, Found
from docstow.languages.rust.check.expressions import Expressions, item_of
from docstow.languages.rust.check.paths import Answer, Paths
from docstow.languages.rust.check.report import Report
from docstow.languages.rust.check.resolver import Resolver
from docstow.languages.rust.check.scope import segments
from docstow.languages.rust.check.signatures import parse_signature
from docstow.languages.rust.check.std import is_standard
from docstow.languages.rust.check.syntax import text_of
from docstow.languages.rust.check.traits import TraitsInScope
from docstow.languages.rust.check.types import FUTURE, Type, Variables
from docstow.languages.shared.findings import nearest

if TYPE_CHECKING:
    from tree_sitter import Node


class Calls:
    """Checks what is called and built in one piece of code.

    Args:
        resolver: resolves its names.
        expressions: the types of its expressions.
        traits: the traits that it has in scope.
        paths: looks up its paths.
        report: where findings go.
    """

    def __init__(
        self,
        resolver: Resolver,
        expressions: Expressions,
        traits: TraitsInScope,
        paths: Paths,
        report: Report,
    ) -> None:
        self._resolver = resolver
        self._expressions = expressions
        self._traits = traits
        self._paths = paths
        self._report = report

    def call(self, node: Node, variables: Variables) -> None:
        """Check a method, or the count of arguments of a function."""
        function = node.child_by_field_name("function")
        arguments = node.child_by_field_name("arguments")
        if function is None or arguments is None or node.has_error:
            return
        given = sum(
            "comment" not in each.type and each.type != "attribute_item"
            for each in arguments.named_children
        )
        if function.type == "generic_function":
            function = function.child_by_field_name("function") or function
        if function.type == "field_expression":
            self._method(function, given, variables)
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
        if not by_path and self._traits.may_bring(name):
            return  # a trait in scope may have one of the same name
        message = f"{found.path} takes {wanted} argument{'s' * (wanted != 1)}, not {given}"
        if not is_standard(found.path):  # signatures of the standard library have no names
            message += f": {' '.join(found.signature.split())}"
        answer = Answer("wrong_argument", (found,), message, names=found.names)
        self._report.add(node, found.path, answer)

    def _method(self, function: Node, given: int, variables: Variables) -> None:
        value, field = function.child_by_field_name("value"), function.child_by_field_name("field")
        if value is None or field is None or field.type != "field_identifier":
            return
        owner, name = self._expressions.type_of(value, variables), text_of(field)
        item = item_of(owner) if owner is not None and owner.name != FUTURE else None
        if owner is None or item is None:
            return
        whole = f"{owner.name}::{name}"
        found = self._expressions.method(owner, name)
        if found is not None:
            answer = self._paths.look_up(tuple(found.path.split("::")))
            self._report.add(field, whole, answer)
            if not owner.through:
                self._arity(found, given, field, by_path=False)
        else:
            answer = Answer("not_checked", names=item.names)
            if self._absent(owner, item, name):
                unknown = self._unknown(item, name, whole)
                # Statements alone may lack the import of a trait that extends a common type.
                doubt = is_standard(item.path) and not self._traits.complete
                answer = answer if doubt and not unknown.suggestions else unknown
            self._report.add(field, whole, answer)

    def _absent(self, owner: Type, item: Found, name: str) -> bool:
        """Tell whether it is certain that a value has no method of a name."""
        if self._traits.may_bring(name) or not self._paths.members.lacks(item, name):
            return False
        pointer = self._paths.look_up(tuple(owner.through.split("::"))).found
        return not any(each.names.find(f"{each.path}::{name}") for each in pointer)

    def _unknown(self, item: Found, name: str, whole: str) -> Answer:
        suggestions = self._paths.members.suggest(item, name) if self._paths.may_explain() else ()
        suggestions = tuple(each for each in suggestions if self._is_method(each))
        message = self._paths.explain(item, name, whole, suggestions)
        return Answer("unknown", (), message, suggestions, item.names, item.path)

    def _is_method(self, path: str) -> bool:
        found = self._paths.look_up(tuple(path.split("::"))).found
        parsed = [parse_signature(each.signature) for each in found if each.kind == "method"]
        return any(each is None or each.takes_self for each in parsed)

    def literal(self, node: Node) -> None:
        """Check the fields of ``Type { field: value }``, where all of the type's are public."""
        name, body = node.child_by_field_name("name"), node.child_by_field_name("body")
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
            if label is None or label.type not in {"field_identifier", "identifier"}:
                continue
            field = text_of(label)
            whole = f"{owner.path}::{field}"
            if whole in known or owner.names.undocumented.may_have(owner.path, field):
                continue
            suggestions = nearest(field, fields) if self._paths.may_explain() else ()
            message = self._paths.explain(owner, f"field {field}", whole, suggestions)
            answer = Answer("unknown", (), message, suggestions, owner.names, owner.path)
            self._report.add(label, whole, answer)
