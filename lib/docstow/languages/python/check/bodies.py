"""What functions return and attributes hold that have no annotations, by the code of packages."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Protocol

from docstow.languages.python.check.annotations import (
    NONE,
    Annotations,
    Inferred,
    PackageType,
    Resolved,
    ValueType,
    join,
    without_none,
)
from docstow.languages.python.check.passed import NOTHING_PASSED, Passed, call_shape
from docstow.languages.python.source.syntax import (
    Function,
    decorator_name,
    defaults,
    dotted,
    positional,
)
from docstow.languages.python.surface import PythonSurface
from docstow.languages.shared.lookup import Installed
from docstow.languages.shared.surface import Symbol

#: Functions and attributes that are followed one from another.
_DEEPEST = 5
#: Expressions that are followed one from another in a body.
_DEEPEST_EXPRESSION = 8
_CONSTANTS = frozenset({"str", "bytes", "int", "float", "bool"})


class _Members(Protocol):
    """The members of packages' classes, as :class:`Members` finds them."""

    annotations: Annotations

    def attribute(self, owner: PackageType, name: str) -> ValueType | None: ...

    def call_method(self, owner: PackageType, name: str, passed: Passed) -> ValueType | None: ...

    def call_value(self, value: ValueType, passed: Passed) -> ValueType | None: ...

    def call_found(self, found: Resolved, passed: Passed) -> ValueType | None: ...

    def await_result(self, value: ValueType | None) -> ValueType | None: ...


@dataclass(frozen=True, slots=True)
class _Body:
    """A function of a package whose statements are followed.

    Attributes:
        node: the function.
        module: in which it is written.
        package: whose it is.
        receiver: what its first parameter is, and the name of that; None for a plain function.
        variables: what its statements bind, each with all values; None among these for others.
    """

    node: Function
    module: str
    package: Installed
    receiver: tuple[str, PackageType] | None
    variables: dict[str, list[ast.expr | None]]


class Bodies:
    """The code of packages, followed where it has no annotations.

    Args:
        members: of packages' classes.
    """

    def __init__(self, members: _Members) -> None:
        self._members = members
        #: What is being followed.
        self._open: list[str] = []
        self._attributes: dict[tuple[str, str], Inferred] = {}

    def returned(
        self, symbol: Symbol, package: Installed, receiver: PackageType | None
    ) -> ValueType | None:
        """Return what a function returns that has no annotation.

        Args:
            symbol: the function.
            package: whose it is.
            receiver: of a method.
        """
        surface = package.surface
        if not isinstance(surface, PythonSurface) or not self._may_follow(symbol.path):
            return None
        node = surface.function(symbol.path)
        if node is None:
            return None
        values = list(returned_values(node))
        if not values or None in values:
            return None
        body = self._body(node, symbol, package, receiver)
        self._open.append(symbol.path)
        try:
            return without_none(join(self._infer(each, body) for each in values if each))
        finally:
            self._open.pop()

    def read_through(self, symbol: Symbol, package: Installed) -> ValueType | None:
        """Return what is read of an attribute that is the property which a function makes.

        The function returns ``property(lambda self: …)``.
        """
        surface = package.surface
        node = surface.function(symbol.path) if isinstance(surface, PythonSurface) else None
        made = [*returned_values(node)] if node is not None else []
        match made:
            case [ast.Call(func=ast.Name(id="property"), args=[ast.Lambda(body=value), *_])] if (
                node
            ):
                return without_none(self._infer(value, self._body(node, symbol, package, None)))
        return None

    def attribute(self, symbol: Symbol, package: Installed, owner: PackageType) -> Inferred:
        """Return what the methods of a class keep in an attribute of its instances.

        Args:
            symbol: the attribute.
            package: whose it is.
            owner: the instance.
        """
        home, _, name = (symbol.target or symbol.path).rpartition(".")
        key = (home, name)
        if key not in self._attributes and self._may_follow(symbol.path):
            self._open.append(symbol.path)
            try:
                self._attributes[key] = self._kept(symbol, package, owner)
            finally:
                self._open.pop()
        return self._attributes.get(key)

    def _kept(self, symbol: Symbol, package: Installed, owner: PackageType) -> Inferred:
        home, _, name = (symbol.target or symbol.path).rpartition(".")
        surface = package.surface
        node = surface.class_node(home) if isinstance(surface, PythonSurface) else None
        types: list[Inferred] = []
        for method in node.body if node is not None else ():
            if not isinstance(method, Function):
                continue
            body = self._body(method, symbol, package, owner)
            types += [
                self._infer(value, body) if value is not None else None
                for value in _assigned(method, name)
            ]
        return join(types) if types else None

    def _may_follow(self, path: str) -> bool:
        return len(self._open) < _DEEPEST and path not in self._open

    def _body(
        self, node: Function, symbol: Symbol, package: Installed, receiver: PackageType | None
    ) -> _Body:
        home = symbol.target or symbol.path
        module = symbol.module or self._members.annotations.module_of(home, package)
        decorators = {decorator_name(each) for each in node.decorator_list}
        first = next((each.arg for each in positional(node)), "")
        own = None
        if receiver is not None and first and "staticmethod" not in decorators:
            own = first, replace(receiver, is_class="classmethod" in decorators)
        return _Body(node, module, package, own, _bindings(node))

    # -- expressions ---------------------------------------------------------------------------

    def _infer(self, node: ast.expr, body: _Body, depth: int = 0) -> Inferred:
        if depth > _DEEPEST_EXPRESSION:
            return None
        match node:
            case ast.Constant(value=None):
                return NONE
            case ast.Constant(value=value) if type(value).__name__ in _CONSTANTS:
                path = f"builtins.{type(value).__name__}"
                return self._members.annotations.standard_type(path)
            case ast.Name():
                return self._name(node.id, body, depth)
            case ast.Attribute():
                owner = self._infer_known(node.value, body, depth)
                if owner is not None:
                    return self._members.attribute(owner, node.attr)
                found = self._found(node, body)
                return _class_of(found) if found is not None else None
            case ast.Call():
                return self._call(node, body, depth)
            case ast.BoolOp(op=ast.Or(), values=values):
                return join(self._infer(each, body, depth + 1) for each in values)
            case ast.IfExp(body=first, orelse=other):
                return join(self._infer(each, body, depth + 1) for each in (first, other))
            case ast.Await(value=value):
                return self._members.await_result(self._infer_known(value, body, depth))
        return None

    def _infer_known(self, node: ast.expr, body: _Body, depth: int) -> PackageType | None:
        found = without_none(self._infer(node, body, depth + 1))
        return found if isinstance(found, PackageType) else None

    def _name(self, name: str, body: _Body, depth: int) -> Inferred:
        values = body.variables.get(name, [])
        if body.receiver is not None and name == body.receiver[0]:
            return body.receiver[1] if not values else None
        if values:
            # A parameter that nothing is passed for mostly has what is put in its place.
            is_known = None not in values and not _is_required(body.node, name)
            every = (self._infer(each, body, depth + 1) for each in values if each is not None)
            return join(every) if is_known else None
        taken = next((e for e in _parameters(body.node) if e.arg == name), None)
        if taken is not None:
            context = self._members.annotations.context("", body.package, module=body.module)
            return self._members.annotations.read(taken.annotation, context)
        found = self._found(ast.Name(name), body)
        return _class_of(found) if found is not None else None

    def _call(self, node: ast.Call, body: _Body, depth: int) -> Inferred:
        passed = Passed(call_shape(node))
        found = self._found(node.func, body)
        if found is not None:
            return self._members.call_found(found, passed)
        if isinstance(node.func, ast.Attribute):
            owner = self._infer_known(node.func.value, body, depth)
            if owner is None or owner.is_class:
                return None
            return self._members.call_method(owner, node.func.attr, passed)
        value = self._infer_known(node.func, body, depth)
        return self._members.call_value(value, NOTHING_PASSED) if value is not None else None

    def _found(self, node: ast.expr, body: _Body) -> Resolved | None:
        """Return what a dotted name of the module means; None where it begins with a local one."""
        path = dotted(node)
        first = path.partition(".")[0]
        if not path or first in body.variables or _is_parameter(body.node, first):
            return None
        return self._members.annotations.resolve(path, body.module, body.package)


def _class_of(found: Resolved) -> PackageType | None:
    is_class = found.symbol.kind in {"class", "enum"}
    return PackageType(found.path, found.package, is_class=True) if is_class else None


def _parameters(node: Function) -> Iterator[ast.arg]:
    yield from (*positional(node), *node.args.kwonlyargs)
    yield from (each for each in (node.args.vararg, node.args.kwarg) if each is not None)


def _is_parameter(node: Function, name: str) -> bool:
    return any(each.arg == name for each in _parameters(node))


def _is_required(node: Function, name: str) -> bool:
    """Return whether a name is that of a parameter that is not ``None`` where it is left out."""
    default = defaults(node).get(name)
    is_none = isinstance(default, ast.Constant) and default.value is None
    return _is_parameter(node, name) and not is_none


def own_nodes(node: Function | ast.ClassDef | ast.Module) -> Iterator[ast.AST]:
    """Yield the nodes of a block's statements, but for those of functions inside of it."""
    waiting: list[ast.AST] = list(node.body)
    while waiting:
        each = waiting.pop()
        yield each
        if not isinstance(each, Function | ast.ClassDef | ast.Lambda):
            waiting += ast.iter_child_nodes(each)


def returned_values(node: Function) -> Iterator[ast.expr | None]:
    """Yield what a function returns; None for a generator."""
    for each in own_nodes(node):
        if isinstance(each, ast.Yield | ast.YieldFrom):
            yield None
        elif isinstance(each, ast.Return) and each.value is not None:
            yield each.value


def yielded_values(node: Function) -> list[ast.expr | None]:
    """Return what a generator yields; None for what is no value."""
    return [
        each.value if isinstance(each, ast.Yield) else None
        for each in own_nodes(node)
        if isinstance(each, ast.Yield | ast.YieldFrom)
    ]


def _bindings(node: Function) -> dict[str, list[ast.expr | None]]:
    """Return what the statements of a function bind to each name; None for what is no value."""
    found: dict[str, list[ast.expr | None]] = {}
    seen: set[int] = set()
    kept = _kept_as_data(node)
    for each in own_nodes(node):
        match each:
            case ast.Assign(targets=targets, value=value):
                for target in targets:
                    if isinstance(target, ast.Name):
                        seen.add(id(target))
                        found.setdefault(target.id, []).append(value)
            case ast.Import() | ast.ImportFrom():
                for alias in each.names:
                    found.setdefault((alias.asname or alias.name).partition(".")[0], []).append(
                        None
                    )
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                found.setdefault(name, []).append(None)
            case ast.ClassDef(name=name) | ast.ExceptHandler(name=str(name)):
                found.setdefault(name, []).append(None)
    for each in own_nodes(node):
        match each:
            case ast.Name(id=name, ctx=ast.Store() | ast.Del()) if id(each) not in seen:
                found.setdefault(name, []).append(None)
            case _ if id(each) not in kept and (name := _given_attributes(each)) in found:
                found[name].append(None)
    return found


def _kept_as_data(node: Function) -> set[int]:
    """Return the attributes that a function gives what is passed to it: the package knows them."""
    assigned = (each for each in own_nodes(node) if isinstance(each, ast.Assign))
    return {
        id(target)
        for each in assigned
        if isinstance(each.value, ast.Name) and _is_parameter(node, each.value.id)
        for target in each.targets
    }


def _given_attributes(node: ast.AST) -> str:
    """Return the name of what a function gives attributes that its class may not have."""
    match node:
        case ast.Attribute(value=ast.Name(id=name), ctx=ast.Store()):
            return name
        case ast.Attribute(value=ast.Name(id=name), attr="__dict__"):
            return name
        case ast.Call(func=ast.Name(id="setattr" | "vars"), args=[ast.Name(id=name), *_]):
            return name
    return ""


def _assigned(method: Function, name: str) -> Iterator[ast.expr | None]:
    """Yield what a method assigns to an attribute of its receiver; None for what is no value."""
    receiver = next((each.arg for each in positional(method)), "")
    seen: set[int] = set()
    path = f"{receiver}.{name}"
    for each in ast.walk(method):
        match each:
            case ast.Assign(targets=targets, value=value):
                for target in targets:
                    if dotted(target) == path:
                        seen.add(id(target))
                        yield value
            case ast.AnnAssign(target=target, value=value) if dotted(target) == path:
                seen.add(id(target))
                yield value
    for each in ast.walk(method):
        is_set = isinstance(each, ast.Attribute) and isinstance(each.ctx, ast.Store)
        if is_set and id(each) not in seen and dotted(each) == path:
            yield None
