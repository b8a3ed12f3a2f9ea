"""Which call receives the keywords that a Python function has no parameter for."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from docstow.languages.python.source.facts import Forward
from docstow.languages.python.source.syntax import Function, dotted, positional, string_value

#: Methods of a dictionary that take one key.
_KEY_METHODS = frozenset({"get", "pop", "setdefault"})
#: Builtins that can read any local variable.
_INTROSPECTION = frozenset({"locals", "vars", "eval", "exec"})


def find_forward(node: Function) -> Forward | None:
    """Return the call that certainly receives all further keywords of a function; None if unclear.

    Every use of the dictionary must be seen: it is unpacked into calls, or read by a written key.
    Each such key counts as a parameter.
    """
    rest = node.args.kwarg.arg if node.args.kwarg is not None else ""
    if not rest:
        return None
    uses = sum(isinstance(each, ast.Name) and each.id == rest for each in body_nodes(node))
    keys = list(_read_keys(node, rest))
    calls = [
        each
        for each in body_nodes(node)
        if isinstance(each, ast.Call) and passes_keywords(each, rest)
    ]
    if len(keys) + len(calls) != uses or not calls or _is_shadowed(node, rest):
        return None
    certain = next((each for each in _certain_calls(node.body) if each in calls), None)
    if certain is None:
        return None
    target, maker = _target(node, certain.func)
    return Forward(target, frozenset(keys), maker) if target else None


def body_nodes(node: Function) -> Iterator[ast.AST]:
    """Yield all nodes of a function's body."""
    for statement in node.body:
        yield from ast.walk(statement)


def passes_keywords(call: ast.Call, rest: str) -> bool:
    """Return whether a call is ``called(**rest)``."""
    return any(each.arg is None and dotted(each.value) == rest for each in call.keywords)


def _read_keys(node: Function, rest: str) -> Iterator[str]:
    """Yield each written key by which the dictionary is read."""
    for each in body_nodes(node):
        match each:
            case ast.Call(
                func=ast.Attribute(value=ast.Name(id=name), attr=method), args=[key, *_]
            ) if method in _KEY_METHODS:
                pass
            case ast.Subscript(value=ast.Name(id=name), slice=key):
                pass
            case ast.Compare(
                left=key, ops=[ast.In() | ast.NotIn()], comparators=[ast.Name(id=name)]
            ):
                pass
            case _:
                continue
        if name == rest and string_value(key):
            yield string_value(key)


def _is_shadowed(node: Function, rest: str) -> bool:
    """Return whether the name may be another's, or the dictionary is read in another way."""
    for each in body_nodes(node):
        match each:
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.Lambda() | ast.ClassDef():
                if any(dotted(inner) == rest for inner in ast.walk(each)):
                    return True
            case ast.Name(id=name) if name in _INTROSPECTION:
                return True
    return False


def _certain_calls(body: Sequence[ast.stmt]) -> Iterator[ast.Call]:
    """Yield the calls that statements certainly make, as long as nothing is raised."""
    for node in body:
        match node:
            case ast.With(items=items) | ast.AsyncWith(items=items):
                for item in items:
                    yield from _calls(item.context_expr)
                yield from _certain_calls(node.body)
            case ast.Try():
                yield from _certain_calls(node.body)
            case ast.Return(value=value) | ast.Expr(value=value) | ast.Assign(value=value):
                yield from _calls(value)
            case ast.AnnAssign(value=value):
                yield from _calls(value)
        if any(isinstance(each, ast.Return) for each in ast.walk(node)):
            return


def _calls(node: ast.expr | None) -> Iterator[ast.Call]:
    """Yield the calls that an expression makes in any case."""
    match node:
        case ast.Call():
            yield node
            for each in node.args:
                yield from _calls(each)
            yield from _calls(node.func)
        case ast.Await(value=value) | ast.Attribute(value=value):
            yield from _calls(value)


def _target(node: Function, function: ast.expr) -> tuple[str, str]:
    """Return what is called, dotted, and the class that makes the local value it begins with."""
    match function:
        case ast.Attribute(value=ast.Call(func=ast.Name(id="super"), args=[]), attr=name):
            return f"super().{name}", ""
    path = dotted(function)
    first, _, name = path.partition(".")
    plain = positional(node)
    if first in {each.arg for each in plain[:1]} & {"self", "cls"}:
        return path, ""
    makers = [maker for bound, maker in _local_variables(node) if bound == first]
    is_parameter = first in {each.arg for each in (*plain, *node.args.kwonlyargs)}
    if is_parameter or (makers and (len(makers) > 1 or not makers[0] or "." in name)):
        return "", ""
    return path, makers[0] if makers else ""


def _local_variables(node: Function) -> Iterator[tuple[str, str]]:
    """Yield local names, each with the class or function whose call it is; empty for others."""
    seen: set[int] = set()
    for each in body_nodes(node):
        match each:
            case ast.Assign(targets=[ast.Name() as target], value=ast.Call(func=function)):
                seen.add(id(target))
                yield target.id, dotted(function)
            case ast.withitem(context_expr=ast.Call(func=function), optional_vars=ast.Name() as t):
                seen.add(id(t))
                yield t.id, dotted(function)
            case ast.Import() | ast.ImportFrom():
                for alias in each.names:
                    yield (alias.asname or alias.name).partition(".")[0], ""
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                yield name, ""
            case ast.ClassDef(name=name) | ast.ExceptHandler(name=str(name)):
                yield name, ""
            case ast.Name(ctx=ast.Store()) if id(each) not in seen:
                yield each.id, ""
