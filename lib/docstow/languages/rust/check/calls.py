"""Calls and literals of Rust code: methods of values whose type is certain, arguments, fields.

This room knows what a type must have for a call to be right. It does not walk code.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from docstow.languages.rust.check.crate_names import Found
from docstow.languages.rust.check.notes import Notes
from docstow.languages.rust.check.paths import Answer, Meant, Paths, View
from docstow.languages.rust.check.scope import segments
from docstow.languages.rust.check.std import is_standard
from docstow.languages.rust.check.syntax import text_of
from docstow.languages.rust.check.types import (
    FUNCTIONS,
    FUTURE,
    Known,
    Type,
    Values,
    item_of,
    signature,
)
from docstow.languages.shared.suggestions import nearest

if TYPE_CHECKING:
    from tree_sitter import Node


class Calls:
    """What is called and made in one piece of code.

    Args:
        meant: what its names mean.
        values: its expressions.
        view: the traits that it has in view.
        paths: where its paths are looked up.
        notes: where findings go.
    """

    def __init__(
        self, meant: Meant, values: Values, view: View, paths: Paths, notes: Notes
    ) -> None:
        self._meant = meant
        self._values = values
        self._view = view
        self._paths = paths
        self._notes = notes

    def call(self, node: Node, known: Known) -> None:
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
            self._method(function, given, known)
            return
        path = segments(function)
        if path is None:
            return
        absolute = self._meant.absolute(function) if len(path) > 1 else self._meant.named(path)
        if absolute is None:
            return
        found = self._paths.look_up(absolute).found
        if len(found) == 1 and found[0].kind in FUNCTIONS:
            self._arity(found[0], given, function, by_path=True)

    def _arity(self, found: Found, given: int, node: Node, *, by_path: bool) -> None:
        read = signature(found.signature)
        if read is None or read.arity is None or not (by_path or read.takes_self):
            return
        wanted = read.arity + (1 if by_path and read.takes_self else 0)
        if given == wanted or self._paths.members.ambiguous(found):
            return
        name = found.path.rpartition("::")[2]
        if not by_path and self._view.by_trait(name):
            return  # a trait in view may have one of the same name
        said = f"{found.path} takes {wanted} argument{'s' * (wanted != 1)}, not {given}"
        if not is_standard(found.path):  # of the standard library's the names are not known
            said += f": {' '.join(found.signature.split())}"
        answer = Answer("wrong_argument", (found,), said, names=found.names)
        self._notes.add(node, found.path, answer)

    def _method(self, function: Node, given: int, known: Known) -> None:
        value, field = function.child_by_field_name("value"), function.child_by_field_name("field")
        if value is None or field is None or field.type != "field_identifier":
            return
        owner, name = self._values.type_of(value, known), text_of(field)
        item = item_of(owner) if owner is not None and owner.name != FUTURE else None
        if owner is None or item is None:
            return
        whole = f"{owner.name}::{name}"
        found = self._values.method(owner, name)
        if found is not None:
            answer = self._paths.look_up(tuple(found.path.split("::")))
            self._notes.add(field, whole, answer)
            if not owner.through:
                self._arity(found, given, field, by_path=False)
        else:
            answer = Answer("not_checked", names=item.names)
            if self._absent(owner, item, name):
                unknown = self._unknown(item, name, whole)
                # Statements alone may lack the import of a trait that extends a common type.
                doubt = is_standard(item.path) and not self._view.complete
                answer = answer if doubt and not unknown.suggestions else unknown
            self._notes.add(field, whole, answer)

    def _absent(self, owner: Type, item: Found, name: str) -> bool:
        """Whether it is certain that a value has no method of a name."""
        if self._view.by_trait(name) or not self._paths.members.lacks(item, name):
            return False
        pointer = self._paths.look_up(tuple(owner.through.split("::"))).found
        return not any(each.names.find(f"{each.path}::{name}") for each in pointer)

    def _unknown(self, item: Found, name: str, whole: str) -> Answer:
        suggestions = self._paths.members.nearest(item, name) if self._paths.may_explain() else ()
        suggestions = tuple(each for each in suggestions if self._is_method(each))
        message = self._paths.explain(item, name, whole, suggestions)
        return Answer("unknown", (), message, suggestions, item.names, item.path)

    def _is_method(self, path: str) -> bool:
        found = self._paths.look_up(tuple(path.split("::"))).found
        reads = [signature(each.signature) for each in found if each.kind == "method"]
        return any(read is None or read.takes_self for read in reads)

    def literal(self, node: Node) -> None:
        """The fields of ``Type { field: value }``, where all of the type's are public."""
        name, body = node.child_by_field_name("name"), node.child_by_field_name("body")
        path = segments(name) if name is not None else None
        if path is None or name is None or body is None or node.has_error:
            return
        absolute = self._meant.absolute(name) if len(path) > 1 else self._meant.named(path)
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
            if whole in known or owner.names.gaps.hides(owner.path, field):
                continue
            suggestions = nearest(field, fields) if self._paths.may_explain() else ()
            message = self._paths.explain(owner, f"field {field}", whole, suggestions)
            answer = Answer("unknown", (), message, suggestions, owner.names, owner.path)
            self._notes.add(label, whole, answer)
