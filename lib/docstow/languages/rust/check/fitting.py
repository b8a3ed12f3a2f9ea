"""What an item must be like to stand where a name does: how it is called, and what for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from docstow.index.signatures.syntax import UNIT, Kind
from docstow.index.signatures.syntax import Node as TypeNode
from docstow.languages.rust.check.crate_items import FUNCTIONS, Found
from docstow.languages.rust.check.std import PRIMITIVES
from docstow.languages.rust.check.types import Signature, parse_signature
from docstow.languages.shared.likeness import words

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tree_sitter import Node

#: What it counts where an item takes more arguments or fewer, which the compiler refuses.
_OTHERWISE = -2.0
#: What it counts where it takes as many, but others, or gives something else; where nothing tells;
#: and where its name has a word of what it is given.
_UNLIKE, _ALIKE, _NAMED = -0.5, 0.7, 0.3
_WRAPPERS = frozenset({"Option", "Result"})
_TRUTHS = frozenset({"&&", "||"})
_TEXTS = frozenset({"string_literal", "raw_string_literal"})
_NUMBERS = frozenset({"integer_literal", "float_literal", "boolean_literal"})
_LITERALS = _TEXTS | _NUMBERS | {"char_literal", "array_expression", "closure_expression"}
_NAMING = frozenset({"identifier", "reference_expression", "field_expression"})
_CALLABLE = frozenset({"Fn", "FnMut", "FnOnce", "AsyncFn", "AsyncFnMut", "AsyncFnOnce"})
_PLAIN = PRIMITIVES - {"str"}
#: Patterns of what may be nothing, or have failed.
_OF_WRAPPERS = ("Some", "None", "Ok", "Err")


@dataclass(frozen=True, slots=True)
class Call:
    """How something is called.

    Attributes:
        given: how many arguments.
        by_path: by its path, so that the receiver is among the arguments.
        node: the call; None where it is not at hand.
    """

    given: int
    by_path: bool = False
    node: Node | None = None

    def fits(self, found: Found) -> float:
        """Return how an item fits the call, more than 0 where it does; 0 where nobody knows."""
        signature = parse_signature(found.signature) if found.kind in FUNCTIONS else None
        if signature is None or signature.arity is None:
            return 0.0
        wanted = signature.arity + (self.by_path and signature.takes_self)
        if wanted != self.given or not (self.by_path or signature.takes_self):
            return _OTHERWISE
        if self.node is None:
            return 1.0
        arguments = _arguments(self.node)
        if self.by_path and signature.takes_self:
            if arguments and arguments[0].type in _LITERALS:
                return _OTHERWISE
            arguments = arguments[1:]
        pairs = zip(signature.inputs, arguments, strict=False)
        if not all(_may_take(wanted, given, signature) for wanted, given in pairs):
            return _UNLIKE
        gives = _gives(signature, self.node)
        named = _NAMED * _is_named(found, arguments)
        return named + (_ALIKE if gives is None else 1.0 if gives else _UNLIKE)


def called_at(node: Node) -> Call | None:
    """Return how a path is called; None where it is not."""
    call = node.parent
    if call is not None and call.type == "generic_function":
        node, call = call, call.parent
    if call is None or call.type != "call_expression" or call.has_error:
        return None
    arguments = call.child_by_field_name("arguments")
    is_called = call.child_by_field_name("function") == node
    if not is_called or arguments is None:
        return None
    return Call(count_arguments(arguments), by_path=True, node=call)


def count_arguments(arguments: Node) -> int:
    """Return how many arguments stand between the parentheses of a call."""
    return sum(
        "comment" not in each.type and each.type != "attribute_item"
        for each in arguments.named_children
    )


def _arguments(call: Node) -> Sequence[Node]:
    arguments = call.child_by_field_name("arguments")
    held = arguments.named_children if arguments is not None else []
    return [each for each in held if "comment" not in each.type and each.type != "attribute_item"]


def _may_take(wanted: TypeNode, given: Node, signature: Signature) -> bool:
    """Return whether a parameter may be given an expression, as far as a literal tells."""
    while given.type in {"reference_expression", "parenthesized_expression"}:
        given = given.named_children[-1]
    while wanted.kind == Kind.REFERENCE:
        wanted = wanted.args[0]
    bounds = wanted.args if wanted.kind == Kind.IMPL else signature.bounds.get(wanted.name, ())
    is_function = any(
        e.kind == Kind.CALL and e.name.rpartition("::")[2] in _CALLABLE for e in bounds
    )
    if given.type == "closure_expression":
        is_open = wanted.name in signature.generics and not bounds
        return is_function or is_open
    if is_function:
        return given.type not in _LITERALS
    if wanted.kind != Kind.PATH or wanted.name in signature.generics:
        return wanted.kind not in {Kind.TUPLE, Kind.SLICE} or given.type not in _TEXTS | _NUMBERS
    if given.type in _TEXTS:
        return wanted.name == "str"
    return given.type not in _NUMBERS or wanted.name in _PLAIN


def _is_named(found: Found, arguments: Sequence[Node]) -> bool:
    """Return whether an item's name has a word of a variable that it is given."""
    named = words(found.path.rpartition("::")[2])
    texts = ((e.text or b"").decode("utf-8", "replace") for e in arguments if e.type in _NAMING)
    return any(not set(words(text)).isdisjoint(named) for text in texts)


def _gives(signature: Signature, call: Node) -> bool | None:
    """Return whether a function gives what a call is used for; None where nothing tells."""
    outer = call.parent
    while outer is not None and outer.type == "parenthesized_expression":
        outer = outer.parent
    if outer is None:
        return None
    output = signature.output
    head = output.name.rpartition("::")[2] if output.kind == Kind.PATH else ""
    if head in signature.params:
        return None
    match outer.type:
        case "try_expression":
            return head in _WRAPPERS or head.endswith("Result")
        case "await_expression":
            return signature.is_async or output.kind == Kind.IMPL or "Fut" in head
        case "if_expression" | "while_expression":
            return head == "bool" if outer.child_by_field_name("condition") == call else None
        case "unary_expression":
            is_negated = (outer.text or b"").startswith(b"!")
            return head in PRIMITIVES or head == "Self" if is_negated else None
        case "binary_expression":
            operator = outer.child_by_field_name("operator")
            is_truth = operator is not None and (operator.text or b"").decode() in _TRUTHS
            return head == "bool" if is_truth else output != UNIT
        case "let_condition" | "match_expression":
            return _is_matched(outer, head)
        case "expression_statement":
            return True if output == UNIT else None
        case "for_expression" | "field_expression" | "let_declaration" | "arguments":
            return None if output != UNIT else False
    return None


def _is_matched(outer: Node, head: str) -> bool | None:
    """Return whether patterns of an option or a result fit what is given."""
    text = (outer.text or b"").decode("utf-8", "replace")
    pattern = outer.child_by_field_name("pattern")
    body = outer.child_by_field_name("body")
    first = pattern or (body.named_children[0] if body and body.named_children else None)
    told = (first.text or b"").decode("utf-8", "replace") if first is not None else text
    if not told.startswith(_OF_WRAPPERS):
        return None
    is_option = told.startswith(("Some", "None"))
    return head == "Option" if is_option else head.endswith("Result")
