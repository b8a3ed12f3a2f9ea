"""Decorators of Python definitions, and which of them keep the arguments of a function."""

from __future__ import annotations

import ast

from docstow.languages.python.source.declarations import parse_declaration
from docstow.languages.python.source.facts import Decorator, Definition, Keeps
from docstow.languages.python.source.forwarding import body_nodes, passes_keywords
from docstow.languages.python.source.syntax import (
    Function,
    SourceText,
    callee,
    dotted,
    positional,
)
from docstow.text.python_ast import try_parse_expression


def decorators(node: Function | ast.ClassDef, source: SourceText) -> tuple[Decorator, ...]:
    """Return the decorators of a definition, the outermost first."""
    found = []
    for each in node.decorator_list:
        call = each if isinstance(each, ast.Call) else None
        keywords = (
            {word.arg or "**": source.quote(word.value) for word in call.keywords} if call else {}
        )
        found.append(Decorator(dotted(callee(each)), keywords, called=call is not None))
    return tuple(found)


def keeps_arguments(node: Function, *, called: bool = False) -> Keeps:
    """Return how a decorator is used that returns what takes the very arguments of its function.

    That is ``@wraps(function) def inner(*args, **kwargs)``, which calls
    ``function(*args, **kwargs)``.

    Args:
        node: a function.
        called: whether the decorator is the result of a call of an outer function.
    """
    inner = {each.name: each for each in node.body if isinstance(each, Function)}
    last = node.body[-1]
    returned = inner.get(dotted(last.value)) if isinstance(last, ast.Return) else None
    if returned is None:
        return ""
    if not returned.decorator_list:
        return "" if called else keeps_arguments(returned, called=True)
    if not _is_wrapper(returned, {each.arg for each in positional(node)}):
        return ""
    return "called" if called else "bare"


def _is_wrapper(node: Function, names: set[str]) -> bool:
    """Return whether a function wraps another and only calls it, with all its own arguments."""
    if len(node.decorator_list) != 1:
        return False
    wraps = node.decorator_list[0]
    if not isinstance(wraps, ast.Call) or dotted(wraps.func).rpartition(".")[2] != "wraps":
        return False
    rest = node.args.kwarg
    if (
        rest is None
        or node.args.vararg is None
        or node.args.kwonlyargs
        or len(positional(node)) > 1
    ):
        return False
    calls = [
        each
        for each in body_nodes(node)
        if isinstance(each, ast.Call)
        and passes_keywords(each, rest.arg)
        and dotted(each.func) in names
    ]
    uses = sum(isinstance(each, ast.Name) and each.id == rest.arg for each in body_nodes(node))
    adds_no_keyword = all(each.arg is None for call in calls for each in call.keywords)
    wrapped = {dotted(each) for each in wraps.args}
    return len(calls) == uses > 0 and adds_no_keyword and {dotted(e.func) for e in calls} == wrapped


def kept_type(decorator: Definition, *, called: bool) -> ast.expr | None:
    """Return the type that a decorator takes and returns by its annotations; None if they differ.

    That is ``F`` of ``def mark(f: F) -> F`` and of ``def doc(text: str) -> Callable[[F], F]``.

    Args:
        decorator: a function.
        called: whether the decorator is the result of its call.
    """
    if "\n@" in decorator.signature or decorator.signature.count("def ") != 1:
        return None
    header = parse_declaration(decorator.signature)
    if not isinstance(header, ast.FunctionDef) or header.returns is None or decorator.decorators:
        return None
    taken, returned = None, _unquoted(header.returns)
    if called:
        match returned:
            case ast.Subscript(slice=ast.Tuple(elts=[ast.List(elts=[first]), last])):
                taken, returned = _unquoted(first), _unquoted(last)
    elif (plain := positional(header)) and plain[0].annotation is not None:
        taken = _unquoted(plain[0].annotation)
    return taken if taken and ast.unparse(taken) == ast.unparse(returned) else None


def _unquoted(node: ast.expr) -> ast.expr:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return try_parse_expression(node.value) or node
    return node
