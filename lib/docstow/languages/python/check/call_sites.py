"""What the calls of a piece of code give to its own functions.

From these follows what a parameter without an annotation is. A parameter is left out if one of its
values may be unseen: its function is passed on, decorated, or called with unpacked arguments.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from docstow.languages.python.check.parse import (
    Assigned,
    Defined,
    Import,
    PlainParameter,
    Receiver,
    Scope,
    scope_nodes,
)
from docstow.languages.python.source.syntax import Function, decorator_name, defaults, positional

#: Decorators that hand on what a function is called with.
_TRANSPARENT = frozenset(
    {"staticmethod", "classmethod", "contextmanager", "asynccontextmanager", "cache", "lru_cache"}
)
#: What calls the function that it is given at a place with all that is given behind it.
_CALLING = {"submit": 0, "to_thread": 0, "run_in_executor": 1, "run_sync": 0, "start_soon": 0}


@dataclass(frozen=True, slots=True)
class Given:
    """A parameter without an annotation, with all that the code gives to it but None.

    Attributes:
        parameter: it.
        values: each with its scope.
        by_name: these are not given to it, whose function is not called, but to others of its name.
    """

    parameter: ast.arg
    values: tuple[tuple[ast.expr, Scope], ...]
    by_name: bool = False


@dataclass(frozen=True, slots=True)
class Handed:
    """A function of the code as an argument.

    Attributes:
        call: of what gets it.
        place: by position, or the keyword.
        scope: of the call.
    """

    call: ast.Call
    place: int | str
    scope: Scope


@dataclass(slots=True)
class Uses:
    """The uses of one function.

    Attributes:
        calls: what may be a call of it, with its scope.
        is_called: one of them certainly is.
        handed: the calls that it is an argument of.
        is_kept: it is used otherwise.
    """

    calls: list[tuple[ast.Call, Scope]] = field(default_factory=list)
    is_called: bool = False
    handed: list[Handed] = field(default_factory=list)
    is_kept: bool = False

    @property
    def is_passed_on(self) -> bool:
        """Whether others may call it, with what is not seen."""
        return self.is_kept or bool(self.handed)


def uses_of_functions(scopes: Mapping[ast.AST, Scope]) -> dict[Function, Uses]:
    """Return how the functions are used of which a parameter has no annotation.

    Args:
        scopes: of the code.
    """
    functions = {
        node: inner
        for node, inner in scopes.items()
        if isinstance(node, Function) and any(plain_parameters(node, inner))
    }
    return _uses(scopes, functions) if functions else {}


def given_parameters(
    scopes: Mapping[ast.AST, Scope], uses: Mapping[Function, Uses]
) -> dict[tuple[ast.AST, str], Given]:
    """Return the parameters of whose values all are seen, by their functions and names.

    Args:
        scopes: of the code.
        uses: of its functions.
    """
    if not uses:
        return {}
    found: dict[tuple[ast.AST, str], Given] = {}
    uncalled: list[tuple[Function, ast.arg]] = []
    for node, used in uses.items():
        inner = scopes[node]
        for parameter in plain_parameters(node, inner):
            if not used.is_called:
                uncalled.append((node, parameter))
            elif not used.is_passed_on and (values := _values(node, inner, parameter, used.calls)):
                found[node, parameter.arg] = Given(parameter, tuple(values))
    top = next(each for each in scopes.values() if each.parent is None)
    same = _by_name(found, top)
    return found | {
        (node, each.arg): Given(each, tuple(same[each.arg]), by_name=True)
        for node, each in uncalled
        if each.arg in same
    }


def _by_name(
    found: Mapping[tuple[ast.AST, str], Given], top: Scope
) -> dict[str, list[tuple[ast.expr, Scope]]]:
    """Return what parameters and global variables of a name are given."""
    same: dict[str, list[tuple[ast.expr, Scope]]] = {}
    for (_, name), each in found.items():
        same.setdefault(name, []).extend(each.values)
    for name, bindings in top.bindings.items():
        assigned = [each for each in bindings if isinstance(each, Assigned)]
        if assigned and len(assigned) == len(bindings):
            plain = [(each.expression, top) for each in assigned if not each.entered]
            same.setdefault(name, []).extend(plain)
    return {name: values for name, values in same.items() if values}


def plain_parameters(node: Function, inner: Scope) -> Iterator[ast.arg]:
    """Yield the parameters without an annotation that nothing else is bound to."""
    if {decorator_name(each) for each in node.decorator_list} - _TRANSPARENT:
        return
    for each in (*positional(node), *node.args.kwonlyargs):
        if inner.bindings.get(each.arg) == [PlainParameter(each.arg, node)]:
            yield each


@dataclass(slots=True)
class _Seen:
    """What stands in the code: names that are read, calls by what they call, and harmless names."""

    read: list[tuple[ast.Name | ast.Attribute, Scope]] = field(default_factory=list)
    called: dict[int, ast.Call] = field(default_factory=dict)
    given: dict[int, tuple[ast.Call, int | str]] = field(default_factory=dict)
    harmless: set[int] = field(default_factory=set)
    derived: set[str] = field(default_factory=set)

    def add(self, node: ast.AST, scope: Scope) -> None:
        self.harmless.update(map(id, _harmless(node)))
        if isinstance(node, ast.Call):
            self.called[id(node.func)] = node
            self.given |= {id(each): (node, number) for number, each in enumerate(node.args)}
            self.given |= {id(each.value): (node, each.arg) for each in node.keywords if each.arg}
        elif isinstance(node, ast.ClassDef):
            self.derived.update(each.id for each in node.bases if isinstance(each, ast.Name))
        elif isinstance(node, ast.Name | ast.Attribute) and isinstance(node.ctx, ast.Load):
            self.read.append((node, scope))


def _uses(
    scopes: Mapping[ast.AST, Scope], functions: Mapping[Function, Scope]
) -> dict[Function, Uses]:
    """Return how functions are used: by their names, methods by the name alone."""
    found = {node: Uses() for node in functions}
    methods: dict[str, list[Function]] = {}
    for node, inner in functions.items():
        if inner.parent is not None and isinstance(inner.parent.node, ast.ClassDef):
            methods.setdefault(node.name, []).append(node)
    seen = _Seen()
    for scope in scopes.values():
        for each in scope_nodes(scope.node):
            seen.add(each, scope)
    for name, scope in seen.read:
        target = _target(name, scope, methods)
        if target is None or target not in functions:
            continue
        use, call = found[target], seen.called.get(id(name))
        call = _call_elsewhere(name, seen.given.get(id(name))) if call is None else call
        if call is not None:
            use.calls.append((call, scope))
            use.is_called = use.is_called or _is_certain(name, scope, functions[target])
        # A class with subclasses is made by these, too.
        is_base = isinstance(name, ast.Name) and name.id in seen.derived
        is_unbound = call is not None and _is_unbound(name, scope, functions[target])
        if is_base or is_unbound or (call is None and id(name) not in seen.harmless):
            handed = seen.given.get(id(name))
            use.handed += [Handed(*handed, scope)] if handed is not None else []
            use.is_kept = use.is_kept or handed is None
    return found


def _call_elsewhere(name: ast.expr, given: tuple[ast.Call, int | str] | None) -> ast.Call | None:
    """Return the call of a function that another one makes: ``pool.submit(work, first)``."""
    call, place = given if given is not None else (None, -1)
    if call is None or not isinstance(call.func, ast.Name | ast.Attribute):
        return None
    if not isinstance(place, int) or _CALLING.get(decorator_name(call.func)) != place:
        return None
    return ast.copy_location(ast.Call(name, call.args[place + 1 :], call.keywords), call)


def _target(
    node: ast.Name | ast.Attribute, scope: Scope, methods: Mapping[str, list[Function]]
) -> Function | None:
    """Return the function that a name stands for; of several methods of a name none is meant."""
    if isinstance(node, ast.Name):
        return _named(node, scope)
    named = methods.get(node.attr, []) if node.attr != "__init__" else []
    return named[0] if len(named) == 1 and not _is_imported(node, scope) else None


def _is_certain(node: ast.Name | ast.Attribute, scope: Scope, inner: Scope) -> bool:
    """Return whether a name is that of a function, and not of a method of another class.

    Args:
        node: the name.
        scope: in which it stands.
        inner: of the function.
    """
    owner = inner.parent.node if inner.parent is not None else None
    return isinstance(node, ast.Name) or _instance_of(node.value, scope) is owner


def _is_unbound(node: ast.expr, scope: Scope, inner: Scope) -> bool:
    """Return whether a method is called of its class, with its receiver among the arguments."""
    owner = node.value if isinstance(node, ast.Attribute) else None
    if not isinstance(owner, ast.Name) or _class_named(owner.id, scope) is None:
        return False
    receivers = (each for one in inner.bindings.values() for each in one)
    return any(isinstance(each, Receiver) and not each.is_class for each in receivers)


def _instance_of(node: ast.expr, scope: Scope) -> ast.AST | None:
    """Return the class of the code that an expression is an instance of, or is itself."""
    match node:
        case ast.Call(func=ast.Name(id=name)):
            return _class_named(name, scope)
        case ast.Name(id=name):
            found = scope.find(name)
            match found[1] if found is not None else []:
                case [Receiver(node=owner)]:
                    return owner
                case [Assigned(expression=ast.Call(func=ast.Name(id=made)))] if found is not None:
                    return _class_named(made, found[0])
            return _class_named(name, scope)
    return None


def _class_named(name: str, scope: Scope) -> ast.AST | None:
    found = scope.find(name)
    match found[1] if found is not None else []:
        case [Defined(node=ast.ClassDef() as owner)]:
            return owner
    return None


def _is_imported(node: ast.expr, scope: Scope) -> bool:
    """Return whether a member is one of what is imported."""
    while isinstance(node, ast.Attribute):
        node = node.value
    bound = scope.find(node.id) if isinstance(node, ast.Name) else None
    return bound is not None and any(isinstance(e, Import) or e is None for e in bound[1])


def _harmless(node: ast.AST) -> Iterator[ast.AST]:
    """Yield the names below a node that are neither called nor passed on there."""
    match node:
        case ast.Attribute(value=value):
            yield value
        case ast.Call(func=ast.Name(id="isinstance" | "issubclass"), args=[_, kinds]):
            yield from ast.walk(kinds)
        case ast.FunctionDef() | ast.AsyncFunctionDef():
            every = [*positional(node), *node.args.kwonlyargs]
            for each in (node.returns, *(each.annotation for each in every)):
                yield from ast.walk(each) if each is not None else ()
        case ast.AnnAssign(annotation=annotation):
            yield from ast.walk(annotation)
        case ast.ExceptHandler(type=ast.expr() as kind):
            yield from ast.walk(kind)


def _named(node: ast.Name, scope: Scope) -> Function | None:
    """Return the function of a name, or the constructor of a class of one."""
    bound = scope.find(node.id)
    match bound[1] if bound is not None else []:
        case [Defined(node=ast.ClassDef(decorator_list=[], body=body))]:
            makers = [e for e in body if isinstance(e, Function) and e.name == "__init__"]
            return makers[0] if len(makers) == 1 else None
        case [Defined(node=ast.FunctionDef() | ast.AsyncFunctionDef() as function)]:
            return function
    return None


def _values(
    node: Function, inner: Scope, parameter: ast.arg, calls: list[tuple[ast.Call, Scope]]
) -> list[tuple[ast.expr, Scope]]:
    """Return what calls give to a parameter, and its default; nothing where one is not seen."""
    names = [each.arg for each in positional(node)]
    index = names.index(parameter.arg) if parameter.arg in names else None
    first = inner.bindings.get(names[0]) if names else None
    if index is not None and first and isinstance(first[0], Receiver):
        index -= 1
    default = defaults(node).get(parameter.arg)
    values = [(default, inner.parent or inner)] if default is not None else []
    for call, scope in calls:
        is_open = any(isinstance(each, ast.Starred) for each in call.args)
        if is_open or any(each.arg is None for each in call.keywords):
            return []
        named = [each.value for each in call.keywords if each.arg == parameter.arg]
        if not named and index is not None and index < len(call.args):
            named = [call.args[index]]
        values += [(each, scope) for each in named]
    return [e for e in values if not (isinstance(e[0], ast.Constant) and e[0].value is None)]
