"""What the names of a Python file are bound to, scope by scope."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field

from docstow.languages.python.source.syntax import Function, positional

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
Scoped = (
    ast.Module
    | Function
    | ast.Lambda
    | ast.ClassDef
    | ast.ListComp
    | ast.SetComp
    | ast.DictComp
    | ast.GeneratorExp
)


@dataclass(frozen=True, slots=True)
class Import:
    """A name that an import binds, with the dotted path that it stands for."""

    path: str


@dataclass(frozen=True, slots=True)
class Assigned:
    """A name that an expression is assigned to: ``entered`` by ``with``, ``awaited`` if async."""

    expression: ast.expr
    entered: bool = False
    awaited: bool = False


@dataclass(frozen=True, slots=True)
class Annotated:
    """A name that is declared with a type."""

    annotation: ast.expr


@dataclass(frozen=True, slots=True)
class LoopItem:
    """A name that a loop binds to the items of an expression."""

    expression: ast.expr
    awaited: bool = False


@dataclass(frozen=True, slots=True)
class Unpacked:
    """A name among several that a value is unpacked to, with its position."""

    whole: Assigned | LoopItem
    index: int


@dataclass(frozen=True, slots=True)
class Caught:
    """A name that a handler binds to an exception of a class."""

    kind: ast.expr


@dataclass(frozen=True, slots=True)
class Defined:
    """The name of a function or class of the code."""

    node: Function | ast.ClassDef


@dataclass(frozen=True, slots=True)
class Receiver:
    """The first parameter of a method: an instance of its class, or the class."""

    node: ast.ClassDef
    is_class: bool


@dataclass(frozen=True, slots=True)
class PlainParameter:
    """A parameter without an annotation."""

    name: str
    function: ast.AST


#: What a name is bound to where nothing is known of it.
UNKNOWN = None
Binding = (
    Import
    | Assigned
    | Annotated
    | LoopItem
    | Unpacked
    | Caught
    | Defined
    | Receiver
    | PlainParameter
    | None
)


@dataclass(slots=True)
class Scope:
    """One scope and its names.

    Attributes:
        node: whose scope it is.
        parent: the scope around it.
        bindings: every binding of each name.
        outer_names: names that are declared global or nonlocal here.
    """

    node: ast.AST
    parent: Scope | None
    bindings: dict[str, list[Binding]] = field(default_factory=dict)
    outer_names: set[str] = field(default_factory=set)

    def add(self, name: str, binding: Binding) -> None:
        """Add a binding of a name."""
        self.bindings.setdefault(name, []).append(binding)

    def find(self, name: str) -> tuple[Scope, list[Binding]] | None:
        """Return the scope that a name belongs to, with all its bindings there."""
        scope: Scope | None = self
        first = True
        while scope is not None:
            hidden = isinstance(scope.node, ast.ClassDef) and not first
            if name in scope.bindings and name not in scope.outer_names and not hidden:
                return scope, scope.bindings[name]
            scope, first = scope.parent, False
        return None


def collect_scopes(tree: ast.Module) -> dict[ast.AST, Scope]:
    """Return the scope of every node that has its own, the module included."""
    found: dict[ast.AST, Scope] = {}
    _collect(tree, None, found)
    top = found[tree]
    for scope in found.values():
        for name in scope.outer_names:
            owner = top if name in top.bindings else scope
            owner.add(name, UNKNOWN)
            scope.bindings.pop(name, None) if owner is not scope else None
    return found


def _collect(node: Scoped, parent: Scope | None, found: dict[ast.AST, Scope]) -> None:
    scope = Scope(node, parent)
    found[node] = scope
    if isinstance(node, _FUNCTIONS):
        _bind_parameters(node, scope)
    for child in _scope_nodes(node):
        _bind(child, scope)
        if isinstance(child, (*_FUNCTIONS, ast.ClassDef, *_COMPREHENSIONS)):
            _collect(child, scope, found)


def _scope_nodes(node: ast.AST) -> Iterator[ast.AST]:
    """Yield all nodes of a scope, with the outer nodes of the scopes within."""
    # Outer nodes are children of inner ones, too; each is yielded once.
    outside = set(map(id, outer_nodes(node)))
    pending = list(_inner_nodes(node))
    while pending:
        child = pending.pop()
        if id(child) in outside:
            continue
        yield child
        if isinstance(child, (*_FUNCTIONS, ast.ClassDef, *_COMPREHENSIONS)):
            pending += outer_nodes(child)
        else:
            pending += ast.iter_child_nodes(child)


def _inner_nodes(node: ast.AST) -> Iterator[ast.AST]:
    outside = set(map(id, outer_nodes(node)))
    return (child for child in ast.iter_child_nodes(node) if id(child) not in outside)


def outer_nodes(node: ast.AST) -> list[ast.AST]:
    """Return the nodes of a definition that belong to the scope around it."""
    match node:
        case ast.FunctionDef() | ast.AsyncFunctionDef():
            arguments = node.args
            every = [*positional(node), *arguments.kwonlyargs]
            every += [each for each in (arguments.vararg, arguments.kwarg) if each is not None]
            annotations = [each.annotation for each in every if each.annotation is not None]
            defaults = [each for each in (*arguments.defaults, *arguments.kw_defaults) if each]
            returns = [node.returns] if node.returns is not None else []
            return [*node.decorator_list, *annotations, *defaults, *returns]
        case ast.Lambda():
            return [each for each in (*node.args.defaults, *node.args.kw_defaults) if each]
        case ast.ClassDef():
            return [*node.decorator_list, *node.bases, *(each.value for each in node.keywords)]
        case ast.ListComp() | ast.SetComp() | ast.DictComp() | ast.GeneratorExp():
            return [node.generators[0].iter]
    return []


def _bind_parameters(node: Function | ast.Lambda, scope: Scope) -> None:
    arguments = node.args
    every = [*positional(node), *arguments.kwonlyargs]
    receiver = _receiver(node, scope) if every else None
    for number, each in enumerate(every):
        if each.annotation is not None:
            scope.add(each.arg, Annotated(each.annotation))
        elif number == 0 and receiver is not None:
            scope.add(each.arg, receiver)
        else:
            scope.add(each.arg, PlainParameter(each.arg, node))
    for several in (arguments.vararg, arguments.kwarg):
        if several is not None:
            scope.add(several.arg, UNKNOWN)


def _receiver(node: ast.AST, scope: Scope) -> Receiver | None:
    """Return what the first parameter of a function is, if the function is a method."""
    owner = scope.parent.node if scope.parent is not None else None
    if not isinstance(owner, ast.ClassDef) or not isinstance(node, Function):
        return None
    names = {ast.unparse(each).rpartition(".")[2] for each in node.decorator_list}
    if "staticmethod" in names:
        return None
    first = next(iter(positional(node)), None)
    if first is None or first.arg not in {"self", "cls"}:
        # Validators and hybrid properties only look like methods.
        return None
    return Receiver(owner, is_class=first.arg == "cls")


def _bind(node: ast.AST, scope: Scope) -> None:  # noqa: C901 - one case a form
    match node:
        case ast.Import(names=names):
            for each in names:
                whole = each.name if each.asname else each.name.partition(".")[0]
                scope.add(each.asname or whole, Import(whole))
        case ast.ImportFrom(module=module, names=names, level=level):
            for each in names:
                without_none = level == 0 and module and each.name != "*"
                path = Import(f"{module}.{each.name}") if without_none else UNKNOWN
                scope.add(each.asname or each.name, path)
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
            scope.add(name, Defined(node))
        case ast.Assign(targets=targets, value=value):
            for target in targets:
                _add_target(target, Assigned(value), scope)
        case ast.AnnAssign(target=ast.Name(id=name), annotation=annotation):
            scope.add(name, Annotated(annotation))
        case ast.NamedExpr(target=ast.Name(id=name), value=value):
            _enclosing_block(scope).add(name, Assigned(value))
        case ast.With(items=items) | ast.AsyncWith(items=items):
            for item in items:
                awaited = isinstance(node, ast.AsyncWith)
                entered = Assigned(item.context_expr, entered=True, awaited=awaited)
                if isinstance(item.optional_vars, ast.Name):
                    scope.add(item.optional_vars.id, entered)
                elif item.optional_vars is not None:
                    _add_unknown([item.optional_vars], scope)
        case ast.For(target=target, iter=many) | ast.AsyncFor(target=target, iter=many):
            _add_target(target, LoopItem(many, awaited=isinstance(node, ast.AsyncFor)), scope)
        case ast.comprehension(target=target, iter=many):
            _add_target(target, LoopItem(many, awaited=bool(node.is_async)), scope)
        case ast.AugAssign(target=target):
            _add_unknown([target], scope)
        case ast.Delete(targets=targets):
            _add_unknown(targets, scope)
        case ast.ExceptHandler(name=str(name), type=kind):
            scope.add(name, Caught(kind) if kind is not None else UNKNOWN)
        case ast.Global(names=listed) | ast.Nonlocal(names=listed):
            scope.outer_names |= set(listed)
        case ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)):
            scope.add(name, UNKNOWN)
        case ast.MatchMapping(rest=str(name)):
            scope.add(name, UNKNOWN)


def _enclosing_block(scope: Scope) -> Scope:
    while isinstance(scope.node, _COMPREHENSIONS) and scope.parent is not None:
        scope = scope.parent
    return scope


def _add_target(target: ast.expr, whole: Assigned | LoopItem, scope: Scope) -> None:
    """Bind a target of an assignment or loop; each name of a tuple to its part."""
    match target:
        case ast.Name(id=name):
            scope.add(name, whole)
        case ast.Tuple(elts=parts) if all(isinstance(each, ast.Name) for each in parts):
            for index, part in enumerate(parts):
                scope.add(part.id, Unpacked(whole, index))  # type: ignore[attr-defined]
        case _:
            _add_unknown([target], scope)


def _add_unknown(targets: list[ast.expr], scope: Scope) -> None:
    for target in targets:
        for each in ast.walk(target):
            if isinstance(each, ast.Name) and not isinstance(each.ctx, ast.Load):
                scope.add(each.id, UNKNOWN)
