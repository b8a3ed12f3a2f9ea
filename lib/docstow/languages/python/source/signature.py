"""What a Python function does with keywords that it has no parameter for.

This room knows the forms of ``**kwargs`` that are passed on. It does not know what the names of
called functions mean.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from docstow.languages.python.source.facts import Forward, Keeps
from docstow.languages.python.source.signature__readers_python_signature import (
    Function,
    dotted,
    literal,
)

#: Methods of a dictionary that ask for one key.
_ASKS = frozenset({"get", "pop", "setdefault"})
_LOOKS_AT_ALL = frozenset({"locals", "vars", "eval", "exec"})


def forward(node: Function) -> Forward | None:
    """The call that certainly gets all further keywords of a function; None where it is unclear.

    Every use of the dictionary must be seen: it is unpacked into calls, or asked for a written
    key. Whatever it is asked for counts as a parameter.
    """
    rest = node.args.kwarg.arg if node.args.kwarg is not None else ""
    if not rest:
        return None
    uses = sum(isinstance(each, ast.Name) and each.id == rest for each in _inside(node))
    taken, seen = _taken(node, rest)
    calls = [each for each in _inside(node) if isinstance(each, ast.Call) and _passes(each, rest)]
    if seen + len(calls) != uses or not calls or _is_shadowed(node, rest):
        return None
    sure = next((each for each in _unconditional(node.body) if each in calls), None)
    if sure is None:
        return None
    target, maker = _target(node, sure.func)
    return Forward(target, frozenset(taken), maker) if target else None


def keeps_arguments(node: Function, *, called: bool = False) -> Keeps:
    """Whether a decorator gives back what takes the very arguments of what it decorates.

    ``@wraps(function) def inner(*args, **kwargs)``, which calls ``function(*args, **kwargs)``;
    ``called`` where the decorator is what a call of the function gives.
    """
    inner = {each.name: each for each in node.body if isinstance(each, Function)}
    last = node.body[-1]
    given = inner.get(dotted(last.value)) if isinstance(last, ast.Return) else None
    if given is None:
        return ""
    if not given.decorator_list:
        return keeps_arguments(given, called=True) if not called else ""
    if not _is_wrapper(given, {each.arg for each in (*node.args.posonlyargs, *node.args.args)}):
        return ""
    return "called" if called else "bare"


def makes_itself(node: Function) -> bool:
    """Whether a ``__new__`` gives what ``object`` or its base makes of the very class."""
    first = next((each.arg for each in (*node.args.posonlyargs, *node.args.args)), "")
    held = [
        each.targets[0].id
        for each in _inside(node)
        if isinstance(each, ast.Assign) and isinstance(each.targets[0], ast.Name)
        if _is_made(each.value, first)
    ]
    stored = [
        each.id
        for each in _inside(node)
        if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store)
    ]
    given = [each.value for each in _inside(node) if isinstance(each, ast.Return)]
    return bool(given) and all(
        _is_made(each, first) or (dotted(each) in held and stored.count(dotted(each)) == 1)
        for each in given
    )


def _is_made(node: ast.AST | None, kind: str) -> bool:
    """``object.__new__(cls)`` or ``super().__new__(cls)``."""
    match node:
        case ast.Call(
            func=ast.Attribute(value=owner, attr="__new__"), args=[ast.Name(id=given), *_]
        ):
            above = isinstance(owner, ast.Call) and dotted(owner.func) == "super"
            return (above or dotted(owner) == "object") and given == kind
    return False


def _is_wrapper(given: Function, names: set[str]) -> bool:
    if len(given.decorator_list) != 1:
        return False
    wraps = given.decorator_list[0]
    if not isinstance(wraps, ast.Call) or dotted(wraps.func).rpartition(".")[2] != "wraps":
        return False
    rest, plain = given.args.kwarg, [*given.args.posonlyargs, *given.args.args]
    wrapped = [dotted(each) for each in wraps.args]
    if rest is None or given.args.vararg is None or given.args.kwonlyargs or len(plain) > 1:
        return False
    calls = [
        each
        for each in _inside(given)
        if isinstance(each, ast.Call) and _passes(each, rest.arg) and dotted(each.func) in names
    ]
    uses = sum(isinstance(each, ast.Name) and each.id == rest.arg for each in _inside(given))
    named = all(each.arg is None for call in calls for each in call.keywords)
    return len(calls) == uses > 0 and named and {dotted(each.func) for each in calls} == {*wrapped}


def _inside(node: Function) -> Iterator[ast.AST]:
    for statement in node.body:
        yield from ast.walk(statement)


def _passes(call: ast.Call, rest: str) -> bool:
    """``called(**rest)``."""
    return any(each.arg is None and dotted(each.value) == rest for each in call.keywords)


def _taken(node: Function, rest: str) -> tuple[set[str], int]:
    """The keys that the dictionary is asked for, and in how many places."""
    taken: set[str] = set()
    places = 0
    for each in _inside(node):
        key = ""
        match each:
            case ast.Call(
                func=ast.Attribute(value=ast.Name(id=name), attr=method), args=[first, *_]
            ):
                key = literal(first) if name == rest and method in _ASKS else ""
            case ast.Subscript(value=ast.Name(id=name), slice=index):
                key = literal(index) if name == rest else ""
            case ast.Compare(left=left, ops=[ast.In() | ast.NotIn()], comparators=[other]):
                key = literal(left) if dotted(other) == rest else ""
        if key:
            taken.add(key)
            places += 1
    return taken, places


def _is_shadowed(node: Function, rest: str) -> bool:
    """Whether the name may be another's, or what it holds is got at in another way."""
    for each in _inside(node):
        match each:
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.Lambda() | ast.ClassDef():
                if any(dotted(inner) == rest for inner in ast.walk(each)):
                    return True
            case ast.Name(id=name) if name in _LOOKS_AT_ALL:
                return True
    return False


def _unconditional(body: Sequence[ast.stmt]) -> Iterator[ast.Call]:
    """Calls that are certainly made, as long as nothing is raised."""
    for node in body:
        match node:
            case ast.With(items=items) | ast.AsyncWith(items=items):
                for item in items:
                    yield from _always(item.context_expr)
                yield from _unconditional(node.body)
            case ast.Try():
                yield from _unconditional(node.body)
            case ast.Return(value=value) | ast.Expr(value=value) | ast.Assign(value=value):
                yield from _always(value)
            case ast.AnnAssign(value=value):
                yield from _always(value)
        if any(isinstance(each, ast.Return) for each in ast.walk(node)):
            return


def _always(node: ast.expr | None) -> Iterator[ast.Call]:
    """The calls that an expression makes in any case."""
    match node:
        case ast.Call():
            yield node
            for each in node.args:
                yield from _always(each)
            yield from _always(node.func)
        case ast.Await(value=value) | ast.Attribute(value=value):
            yield from _always(value)


def _target(node: Function, function: ast.expr) -> tuple[str, str]:
    """What is called, dotted, and the class that makes the local value it is asked of."""
    match function:
        case ast.Attribute(value=ast.Call(func=ast.Name(id="super"), args=[]), attr=name):
            return f"super().{name}", ""
    path = dotted(function)
    first, _, name = path.partition(".")
    every = [*node.args.posonlyargs, *node.args.args]
    if first in {each.arg for each in every[:1]} & {"self", "cls"}:
        return path, ""
    words = {each.arg for each in (*every, *node.args.kwonlyargs)}
    makers = [maker for bound, maker in _bound(node) if bound == first]
    if first in words or (makers and (len(makers) > 1 or not makers[0] or "." in name)):
        return "", ""
    return path, makers[0] if makers else ""


def _bound(node: Function) -> Iterator[tuple[str, str]]:
    """Local names, and the class or function whose call each is given by; empty for others."""
    told: set[int] = set()
    for each in _inside(node):
        match each:
            case ast.Assign(targets=[ast.Name() as target], value=ast.Call(func=function)):
                told.add(id(target))
                yield target.id, dotted(function)
            case ast.withitem(context_expr=ast.Call(func=function), optional_vars=ast.Name() as t):
                told.add(id(t))
                yield t.id, dotted(function)
            case ast.Import() | ast.ImportFrom():
                for alias in each.names:
                    yield (alias.asname or alias.name).partition(".")[0], ""
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                yield name, ""
            case ast.ClassDef(name=name) | ast.ExceptHandler(name=str(name)):
                yield name, ""
            case ast.Name(ctx=ast.Store()) if id(each) not in told:
                yield each.id, ""
