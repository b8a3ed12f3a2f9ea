"""What functions return and attributes hold that have no annotations, by the code of packages."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
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
from docstow.languages.python.check.filled import Addition, additions, with_items
from docstow.languages.python.check.literals import OPERATORS, known_items, literal_class
from docstow.languages.python.check.parse import (
    Annotated,
    Assigned,
    Binding,
    Caught,
    Import,
    LoopItem,
    PlainParameter,
    Scope,
    Unpacked,
    collect_scopes,
)
from docstow.languages.python.check.passed import NOTHING_PASSED, Passed, call_shape
from docstow.languages.python.check.variables import Variables
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


class _Members(Protocol):
    """The members of packages' classes, as :class:`Members` finds them."""

    annotations: Annotations

    def attribute(self, owner: PackageType, name: str) -> ValueType | None: ...

    def call_method(self, owner: PackageType, name: str, passed: Passed) -> ValueType | None: ...

    def call_value(self, value: ValueType, passed: Passed) -> ValueType | None: ...

    def call_found(self, found: Resolved, passed: Passed) -> ValueType | None: ...

    def await_result(self, value: ValueType | None) -> ValueType | None: ...

    def operate(
        self, owner: PackageType, name: str, other: ValueType | None
    ) -> ValueType | None: ...

    def subscript(self, value: PackageType, index: ast.expr) -> ValueType | None: ...

    def enter(self, manager: PackageType, *, awaited: bool) -> ValueType | None: ...

    def loop_item(self, value: PackageType, *, awaited: bool) -> ValueType | None: ...

    def unpack(self, value: ValueType, index: int) -> ValueType | None: ...


@dataclass(frozen=True, slots=True)
class _Read:
    """What a function binds.

    Attributes:
        scopes: its own, and those inside.
        given: names whose values it gives attributes, with those; an empty one may be any.
        added: what it puts into collections.
    """

    scopes: Mapping[ast.AST, Scope]
    given: Mapping[str, set[str]]
    added: Sequence[Addition]


@dataclass(frozen=True, slots=True)
class _Body:
    """A function of a package whose statements are followed.

    Attributes:
        node: the function.
        module: in which it is written.
        package: whose it is.
        receiver: what its first parameter is, and the name of that; None for a plain function.
        read: its scopes, and what it gives attributes.
        scope: where an expression stands.
        variables: what is known of them.
    """

    node: Function
    module: str
    package: Installed
    receiver: tuple[str, PackageType] | None
    read: _Read
    scope: Scope
    variables: Variables = field(default_factory=Variables)


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
        self._read: dict[Function, _Read] = {}

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
        yielded = yielded_values(node) if None in values else []
        body = self._body(node, symbol, package, receiver)
        self._open.append(symbol.path)
        try:
            if yielded:
                return self._generator(node, yielded, body)
            return without_none(join(self._infer(each, body) if each else None for each in values))
        finally:
            self._open.pop()

    def _generator(
        self, node: Function, yielded: Sequence[ast.expr | None], body: _Body
    ) -> ValueType | None:
        if node.decorator_list:
            return None
        item = without_none(join(self._infer(each, body) if each else None for each in yielded))
        kind = "AsyncGenerator" if isinstance(node, ast.AsyncFunctionDef) else "Generator"
        return self._members.annotations.standard_type(f"typing.{kind}", item)

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
        if node not in self._read:
            scopes = collect_scopes(ast.Module([node], []))
            self._read[node] = _Read(scopes, _given(node), [*additions(own_nodes(node))])
        read = self._read[node]
        return _Body(node, module, package, own, read, read.scopes[node])

    # -- expressions ---------------------------------------------------------------------------

    def _infer(  # noqa: C901 - one case a form
        self, node: ast.expr, body: _Body, depth: int = 0
    ) -> Inferred:
        if depth > _DEEPEST_EXPRESSION:
            return None
        match node:
            case ast.Constant(value=None):
                return NONE
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
            case ast.NamedExpr(value=value):
                return self._infer(value, body, depth + 1)
            case ast.Await(value=value):
                return self._members.await_result(self._infer_known(value, body, depth))
            case ast.BinOp(left=left, op=op, right=right):
                before, after = (self._infer_known(each, body, depth) for each in (left, right))
                if before is None or before.is_class:
                    return None
                return self._members.operate(before, OPERATORS[type(op)], after)
            case ast.Subscript(value=value, slice=index):
                many = self._infer_known(value, body, depth)
                is_value = many is not None and not many.is_class
                return self._members.subscript(many, index) if many and is_value else None
        return self._literal(node, body, depth)

    def _literal(self, node: ast.expr, body: _Body, depth: int) -> PackageType | None:
        name = literal_class(node)
        if not name:
            return None
        inner = replace(body, scope=body.read.scopes.get(node, body.scope))
        items = [without_none(self._infer(each, inner, depth + 1)) for each in known_items(node)]
        return self._members.annotations.standard_type(f"builtins.{name}", *items)

    def _infer_known(self, node: ast.expr, body: _Body, depth: int) -> PackageType | None:
        found = without_none(self._infer(node, body, depth + 1))
        return found if isinstance(found, PackageType) else None

    def _name(self, name: str, body: _Body, depth: int) -> Inferred:
        owner, bindings = self._local(name, body)
        if owner is None:
            found = self._found(ast.Name(name), body)
            return _class_of(found) if found is not None else None
        if body.receiver is not None and name == body.receiver[0] and owner.node is body.node:
            return body.receiver[1] if len(bindings) == 1 else None
        inner = replace(body, scope=owner)
        kind = body.variables.agree(
            (id(owner), name), lambda: [self._bound(each, inner, depth + 1) for each in bindings]
        )
        added = [each for each in body.read.added if each.collection == name]
        kind = with_items(kind, added, lambda each: self._infer(each.value, inner, depth + 1))
        given = body.read.given.get(name, ())
        if isinstance(kind, PackageType):
            # Its class may not have what it is given.
            symbol, known = kind.package.symbol, kind.path
            return kind if all(e and symbol(f"{known}.{e}") is not None for e in given) else None
        return None if given else kind

    @staticmethod
    def _local(name: str, body: _Body) -> tuple[Scope | None, Sequence[Binding]]:
        """Return the scope in the function that a name belongs to, with what it binds it to."""
        found = body.scope.find(name)
        if found is None or isinstance(found[0].node, ast.Module):
            return None, ()
        return found

    def _bound(self, binding: Binding, body: _Body, depth: int) -> Inferred:
        match binding:
            case Assigned(expression, entered, awaited):
                if not entered:
                    return self._infer(expression, body, depth)
                manager = self._infer_known(expression, body, depth)
                return self._members.enter(manager, awaited=awaited) if manager else None
            case Annotated(annotation):
                context = self._members.annotations.context("", body.package, module=body.module)
                return self._members.annotations.read(annotation, context)
            case LoopItem(expression, awaited):
                many = self._infer_known(expression, body, depth)
                return self._members.loop_item(many, awaited=awaited) if many else None
            case Unpacked(inner, index):
                whole = without_none(self._bound(inner, body, depth))
                return self._members.unpack(whole, index) if whole is not None else None
            case Caught(expression):
                kind = self._infer_known(expression, body, depth)
                return replace(kind, is_class=False) if kind and kind.is_class else None
            case PlainParameter(name):
                # One that nothing is passed for mostly has what is put in its place.
                return None if _is_required(body.node, name) else NONE
            case Import(path):
                found = self._members.annotations.resolve(path, body.module, body.package)
                return _class_of(found) if found is not None else None
        return None

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
        first, dot, rest = path.partition(".")
        match self._local(first, body):
            case None, _:
                pass
            case _, [Import(imported)]:
                path = f"{imported}{dot}{rest}"
            case _:
                return None
        return self._members.annotations.resolve(path, body.module, body.package) if path else None


def _class_of(found: Resolved) -> PackageType | None:
    is_class = found.symbol.kind in {"class", "enum"}
    return PackageType(found.path, found.package, is_class=True) if is_class else None


def _is_parameter(node: Function, name: str) -> bool:
    several = (each for each in (node.args.vararg, node.args.kwarg) if each is not None)
    every = (*positional(node), *node.args.kwonlyargs, *several)
    return any(each.arg == name for each in every)


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
    """Yield what a function returns; None for a generator.

    ``NotImplemented`` is nobody's result: the other operand's method is called in its place.
    """
    for each in own_nodes(node):
        match each:
            case ast.Yield() | ast.YieldFrom():
                yield None
            case ast.Return(value=ast.Name(id="NotImplemented")):
                pass
            case ast.Return(value=ast.expr() as value):
                yield value


def keeps_argument(node: Function, *, called: bool = False) -> bool:
    """Return whether a decorator returns what it decorates, and gives it no attributes.

    Args:
        node: the function.
        called: it is called first, so that it returns the decorator.
    """
    values = [each for each in returned_values(node) if each is not None]
    if called:
        made = {each.id for each in values if isinstance(each, ast.Name)}
        inner = [e for e in own_nodes(node) if isinstance(e, Function) and e.name in made]
        return len(inner) == len(values) == 1 and keeps_argument(inner[0])
    first = next((each.arg for each in positional(node) if each.arg not in {"self", "cls"}), "")
    is_first = all(isinstance(each, ast.Name) and each.id == first for each in values)
    return bool(first and values) and is_first and first not in _given(node)


def yielded_values(node: Function) -> list[ast.expr | None]:
    """Return what a generator yields; None for what is no value."""
    return [
        each.value if isinstance(each, ast.Yield) else None
        for each in own_nodes(node)
        if isinstance(each, ast.Yield | ast.YieldFrom)
    ]


def _given(node: Function) -> dict[str, set[str]]:
    """Return the attributes that a function gives values of its names; an empty one for any."""
    found: dict[str, set[str]] = {}
    kept = _kept_as_data(node)
    for each in own_nodes(node):
        match each:
            case ast.Attribute(value=ast.Name(id=name), attr=attribute, ctx=ast.Store()):
                if id(each) not in kept:
                    found.setdefault(name, set()).add(attribute)
            case (
                ast.Attribute(value=ast.Name(id=name), attr="__dict__")
                | ast.Call(func=ast.Name(id="setattr" | "vars"), args=[ast.Name(id=name), *_])
            ):
                found.setdefault(name, set()).add("")
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
