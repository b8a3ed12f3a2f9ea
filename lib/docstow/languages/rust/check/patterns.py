"""Bind the names that patterns, parameters and closures bring into scope to their types."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from docstow.languages.rust.check.expressions import Expressions
from docstow.languages.rust.check.scope import text_of
from docstow.languages.rust.check.std import OPTION, RESULT
from docstow.languages.rust.check.types import TUPLE, Type, Variables, VariableScopes

if TYPE_CHECKING:
    from tree_sitter import Node

#: Nodes whose constants and statics are in scope wherever they stand in it.
_ITEMS = frozenset({"source_file", "declaration_list", "block"})
_CONDITIONAL = frozenset({"if_expression", "while_expression", "let_chain"})
_TRANSPARENT = frozenset({"mut_pattern", "ref_pattern", "reference_pattern", "match_pattern"})
_DEEPEST = 30


def bind(node: Node, variables: Variables, expressions: Expressions) -> None:
    """Bind the names that a node brings into scope before its parts are looked at."""
    if node.type == "mod_item":
        variables.update(dict.fromkeys(variables))  # what stands around a module is not seen inside
    elif node.type in _ITEMS and not _is_associated(node):
        _bind_items(node, variables, expressions)
    elif node.type in {"impl_item", "trait_item"}:
        kind = node.child_by_field_name("type")
        variables["self"] = expressions.annotations.of(kind) if kind is not None else None
    elif node.type == "function_item":
        for each in _parameters(node):
            _bind_parameter(each, variables, expressions)
    elif node.type == "closure_expression":
        bind_closure(node, variables, expressions)
    elif node.type == "match_arm":
        _bind_arm(node, variables, expressions)
    elif node.type in {"for_expression", "let_condition"}:
        _bind_value(node, variables, expressions)
    elif node.type in _CONDITIONAL:
        for each in _conditions(node):
            _bind_value(each, variables, expressions)


def bind_let(node: Node, variables: Variables, expressions: Expressions) -> None:
    """Bind the names of a ``let``, once its value is looked at."""
    pattern, value = node.child_by_field_name("pattern"), node.child_by_field_name("value")
    annotation = node.child_by_field_name("type")
    if pattern is None:
        return
    bound = None
    if not node.has_error:
        if annotation is not None:
            kind = expressions.annotations.of(annotation)
            bound = expressions.collected(kind, value, variables)
        elif value is not None:
            bound = expressions.type_of(value, variables)
    bind_pattern(pattern, bound, variables, expressions)


def bind_filled(node: Node, variables: VariableScopes, expressions: Expressions) -> None:
    """Bind a variable again whose value holds what nothing told before: ``Vec::new()``."""
    if node.type == "assignment_expression":
        target = node.child_by_field_name("left")
    else:
        function = node.child_by_field_name("function")
        target = function.child_by_field_name("value") if function is not None else None
    name = text_of(target) if target is not None and target.type == "identifier" else ""
    kind = variables.get(name)
    is_whole = kind is not None and bool(kind.args) and all(kind.args)
    if kind is None or is_whole or node.has_error:
        return
    if (known := expressions.filled(node, kind, variables)) is not None:
        next(scope for scope in variables.maps if name in scope)[name] = known


def bind_closure(node: Node, variables: Variables, expressions: Expressions) -> None:
    """Bind the parameters of a closure, by their annotations or by what it is given to."""
    given = expressions.closure_inputs(node, variables)
    for at, each in enumerate(_parameters(node)):
        if each.type == "parameter":
            _bind_parameter(each, variables, expressions)
        else:
            kind = given[at] if at < len(given) else None
            bind_pattern(each, kind, variables, expressions)


def bind_pattern(
    pattern: Node, bound: Type | None, variables: Variables, expressions: Expressions
) -> None:
    """Bind the names of a pattern to the parts of the type of its value."""
    _hide(pattern, variables)
    pending: list[tuple[Node, Type | None, int]] = [(pattern, bound, 0)]
    while pending:
        node, kind, depth = pending.pop()
        if kind is None and depth <= _DEEPEST:
            kind = _named_type(node, expressions)
        if kind is None or depth > _DEEPEST or node.has_error:
            continue
        if node.type in {"identifier", "shorthand_field_identifier"}:
            if not text_of(node)[:1].isupper():
                variables[text_of(node)] = kind
        elif node.type in _TRANSPARENT:
            inner = [each for each in node.named_children if each.type != "mutable_specifier"]
            inner = _of_arm(node) if node.type == "match_pattern" else inner[-1:]
            pending += [(each, kind, depth + 1) for each in inner]
        elif node.type == "captured_pattern":
            pending += [(each, kind, depth + 1) for each in node.named_children]
        else:
            parts = _parts(node, kind, expressions)
            pending += [(each, part, depth + 1) for each, part in parts]


def _parts(node: Node, kind: Type, expressions: Expressions) -> Iterator[tuple[Node, Type | None]]:
    """Yield the patterns within a pattern, each with the type of what it is matched with."""
    match node.type:
        case "or_pattern":
            yield from ((each, kind) for each in node.named_children)
        case "tuple_pattern":
            yield from _of_tuple(node, kind)
        case "tuple_struct_pattern":
            yield from _of_call(node, kind, expressions)
        case "struct_pattern":
            yield from _of_fields(node, kind, expressions)


def _named_type(node: Node, expressions: Expressions) -> Type | None:
    """Return the type that a pattern of a struct or a variant names by itself."""
    if node.type not in {"tuple_struct_pattern", "struct_pattern"} or node.has_error:
        return None
    head = node.child_by_field_name("type")
    return expressions.matched(head) if head is not None else None


def _places(node: Node) -> list[Node]:
    """Return the patterns between commas, wildcards among them."""
    return [each for each in node.children if each.type not in {"(", ")", ",", "line_comment"}]


def _of_tuple(node: Node, kind: Type) -> Iterator[tuple[Node, Type | None]]:
    places = _places(node)
    plain = not any(each.type == "remaining_field_pattern" for each in places)
    if kind.name == TUPLE and plain and len(places) == len(kind.args):
        yield from zip(places, kind.args, strict=True)


def _of_call(
    node: Node, kind: Type, expressions: Expressions
) -> Iterator[tuple[Node, Type | None]]:
    head = node.child_by_field_name("type")
    if head is None:
        return
    name, places = text_of(head), [each for each in _places(node) if each != head]
    if name in {"Some", "Ok", "Err"}:
        at = int(name == "Err")
        if kind.name in {OPTION, RESULT} and len(places) == 1:
            yield places[0], kind.args[at] if at < len(kind.args) else None
        return
    for at, each in enumerate(places):
        if each.type == "remaining_field_pattern":
            return
        yield each, expressions.part(head, str(at), kind)


def _of_fields(
    node: Node, kind: Type, expressions: Expressions
) -> Iterator[tuple[Node, Type | None]]:
    head = node.child_by_field_name("type")
    for each in node.named_children if head is not None else ():
        name = each.child_by_field_name("name")
        if each.type != "field_pattern" or name is None or head is None:
            continue
        held = expressions.part(head, text_of(name), kind)
        yield each.child_by_field_name("pattern") or name, held


def _bind_arm(node: Node, variables: Variables, expressions: Expressions) -> None:
    pattern = node.child_by_field_name("pattern")
    above = node.parent.parent if node.parent is not None else None
    value = above.child_by_field_name("value") if above is not None else None
    kind = expressions.type_of(value, variables) if value is not None else None
    if pattern is not None:
        bind_pattern(pattern, kind, variables, expressions)


def _bind_value(node: Node, variables: Variables, expressions: Expressions) -> None:
    pattern, value = node.child_by_field_name("pattern"), node.child_by_field_name("value")
    if pattern is None:
        return
    kind = expressions.type_of(value, variables) if value is not None else None
    if node.type == "for_expression" and kind is not None:
        kind = expressions.element(kind)
    bind_pattern(pattern, kind, variables, expressions)


def _parameters(node: Node) -> list[Node]:
    parameters = node.child_by_field_name("parameters")
    if parameters is None:
        return []
    unnamed = {"(", ")", ",", "|"}
    return [each for each in parameters.children if each.type not in unnamed]


def _is_associated(node: Node) -> bool:
    """Tell whether constants in a node are reached through their type alone."""
    return node.parent is not None and node.parent.type in {"impl_item", "trait_item"}


def _bind_items(node: Node, variables: Variables, expressions: Expressions) -> None:
    """Bind constants and statics; of two, which conditions tell apart, nothing is certain."""
    seen: set[str] = set()
    for each in node.named_children:
        name, kind = each.child_by_field_name("name"), each.child_by_field_name("type")
        if each.type not in {"static_item", "const_item"} or name is None or kind is None:
            continue
        title = text_of(name)
        certain = title not in seen and not each.has_error
        variables[title] = expressions.annotations.of(kind) if certain else None
        seen.add(title)


def _bind_parameter(node: Node, variables: Variables, expressions: Expressions) -> None:
    pattern, annotation = node.child_by_field_name("pattern"), node.child_by_field_name("type")
    if node.type == "self_parameter":
        return
    if node.type != "parameter":
        _hide(node, variables)
    elif pattern is not None:
        kind = expressions.annotations.of(annotation) if annotation is not None else None
        bind_pattern(pattern, kind, variables, expressions)


def _hide(pattern: Node | None, variables: Variables) -> None:
    """Hide variables outside that have the name of one that a pattern may bind."""
    pending = [pattern] if pattern is not None else []
    while pending:
        each = pending.pop()
        if each.type in {"identifier", "shorthand_field_identifier"}:
            variables[text_of(each)] = None
        # The condition of an arm binds nothing unless it has a pattern itself.
        pending += _of_arm(each) if each.type == "match_pattern" else each.named_children


def _of_arm(node: Node) -> list[Node]:
    """Return the pattern of an arm without its condition; nothing for ``_``."""
    condition = node.child_by_field_name("condition")
    return [each for each in node.named_children if each != condition][:1]


def _conditions(node: Node) -> Iterator[Node]:
    condition = node.child_by_field_name("condition") if node.type != "let_chain" else node
    if condition is None:
        return
    if condition.type == "let_condition":
        yield condition
    elif condition.type in {"let_chain", "binary_expression"}:
        yield from (each for each in condition.named_children if each.type == "let_condition")
