"""What the names of a Python file are bound to, scope by scope.

This room knows Python's binding forms and where a name is looked up. It does not know packages.
A name that is bound twice, or in a way that says nothing, stands for nothing certain.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass, field

# What Python code does itself about names that may not be there.


#: A condition that speaks of these asks what there is; what it guards may not be there.
_ASKS = re.compile(
    r"hasattr|getattr|version|VERSION|\bPY|platform|find_spec|_AVAILABLE|HAS_|HAVE_|has_|IS_"
)


#: What is caught or expected where a name may well be missing.
_CAUGHT = re.compile(
    r"Import|ModuleNotFound|Attribute|TypeError|(?<![\w.])(?:Base)?Exception\b|Warning|Errors\b"
)


#: What takes code that is meant to fail.
_EXPECTS = re.compile(r"raises|Raises|warns|Warns|suppress|\bpatch\b")


_ASKING = frozenset({"isinstance", "issubclass", "hasattr", "setattr", "type", "vars"})


def asks(node: ast.expr) -> bool:
    """Whether a condition asks what there is."""
    return bool(_ASKS.search(ast.unparse(node)))


def leaves(node: ast.AST) -> bool:
    """Whether a branch that asks what there is ends what it is in: what follows is otherwise."""
    if not isinstance(node, ast.If) or not asks(node.test):
        return False
    return isinstance(node.body[-1], ast.Return | ast.Raise | ast.Continue | ast.Break)


def expects(node: ast.expr) -> bool:
    """Whether what is called or entered takes code that is meant to fail."""
    return bool(_EXPECTS.search(ast.unparse(node)))


def is_skipped(node: ast.AST) -> bool:
    """Whether a test or its class is left out under some condition: ``@pytest.mark.skipif``."""
    marks = getattr(node, "decorator_list", ())
    return any("skip" in ast.unparse(each) for each in marks)


def catches(node: ast.Try | ast.TryStar) -> bool:
    """Whether a handler stands ready for names that are missing."""
    caught = (
        ast.unparse(each.type) if each.type is not None else "Exception" for each in node.handlers
    )
    return bool(_CAUGHT.search(" ".join(caught)))


def ignored(code: str) -> frozenset[int]:
    """The lines that checkers are told to leave alone."""
    return frozenset(
        number
        for number, line in enumerate(code.split("\n"), 1)
        if "type: ignore" in line or "pylint: disable" in line
    )


def patched(tree: ast.Module) -> frozenset[str]:
    """Attributes that the code itself gives to something, or replaces by name."""
    found: set[str] = set()
    own = _receivers(tree)
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and not isinstance(node.ctx, ast.Load):
            # What a method gives to its own class is looked up there.
            if id(node) not in own:
                found.add(node.attr)
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name | ast.Attribute):
            called = node.func.id if isinstance(node.func, ast.Name) else node.func.attr
            if called in {"setattr", "delattr", "patch", "object", "register"}:
                texts = [each.value for each in node.args if isinstance(each, ast.Constant)]
                found |= {each.rpartition(".")[2] for each in texts if isinstance(each, str)}
    return frozenset(found)


def _receivers(tree: ast.Module) -> set[int]:
    """The ``self.name`` that methods assign to."""
    found: set[int] = set()
    for node in ast.walk(tree):
        for method in node.body if isinstance(node, ast.ClassDef) else ():
            if isinstance(method, ast.FunctionDef | ast.AsyncFunctionDef):
                found |= {
                    id(each)
                    for each in ast.walk(method)
                    if isinstance(each, ast.Attribute)
                    and isinstance(each.value, ast.Name)
                    and each.value.id == "self"
                }
    return found


def narrowed(tree: ast.Module) -> frozenset[str]:
    """Variables of which the code asks what they are."""
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.args:
            if node.func.id in _ASKING:
                found |= {each.id for each in ast.walk(node.args[0]) if isinstance(each, ast.Name)}
        elif isinstance(node, ast.Match):
            found |= {each.id for each in ast.walk(node.subject) if isinstance(each, ast.Name)}
    return frozenset(found)


_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)


_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


Scoped = (
    ast.Module
    | ast.FunctionDef
    | ast.AsyncFunctionDef
    | ast.Lambda
    | ast.ClassDef
    | ast.ListComp
    | ast.SetComp
    | ast.DictComp
    | ast.GeneratorExp
)


@dataclass(frozen=True, slots=True)
class Import:
    """A name that an import binds: the dotted path it stands for."""

    path: str


@dataclass(frozen=True, slots=True)
class Value:
    """A name that an expression is assigned to: ``entered`` by ``with``, ``awaited`` if async."""

    expression: ast.expr
    entered: bool = False
    awaited: bool = False


@dataclass(frozen=True, slots=True)
class Annotated:
    """A name that is declared with a type."""

    annotation: ast.expr


@dataclass(frozen=True, slots=True)
class Item:
    """A name that a loop gives the items of an expression to."""

    expression: ast.expr
    awaited: bool = False


@dataclass(frozen=True, slots=True)
class Part:
    """A name among several that a value is unpacked to, with its place."""

    whole: Value | Item
    index: int


@dataclass(frozen=True, slots=True)
class Caught:
    """A name that an exception of a class is given to."""

    kind: ast.expr


@dataclass(frozen=True, slots=True)
class Defined:
    """A name that a function or class of the code has."""

    node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


@dataclass(frozen=True, slots=True)
class Receiver:
    """The first parameter of a method: an instance of its class, or the class ``itself``."""

    node: ast.ClassDef
    itself: bool


@dataclass(frozen=True, slots=True)
class Argument:
    """A parameter without an annotation."""

    name: str
    function: ast.AST


#: Bound, but to what nobody knows.
UNKNOWN = None


Binding = Import | Value | Annotated | Item | Part | Caught | Defined | Receiver | Argument | None


@dataclass(slots=True)
class Scope:
    """One scope and its names.

    Attributes:
        node: whose scope it is.
        parent: the scope around it.
        bindings: every way in which a name is bound.
        passed_up: names that are declared global or nonlocal here.
    """

    node: ast.AST
    parent: Scope | None
    bindings: dict[str, list[Binding]] = field(default_factory=dict)
    passed_up: set[str] = field(default_factory=set)

    def add(self, name: str, binding: Binding) -> None:
        """Note one more way in which a name is bound."""
        self.bindings.setdefault(name, []).append(binding)

    def find(self, name: str) -> tuple[Scope, list[Binding]] | None:
        """The scope that a name belongs to, with all that it is bound to there."""
        scope: Scope | None = self
        first = True
        while scope is not None:
            hidden = isinstance(scope.node, ast.ClassDef) and not first
            if name in scope.bindings and name not in scope.passed_up and not hidden:
                return scope, scope.bindings[name]
            scope, first = scope.parent, False
        return None


def scopes(tree: ast.Module) -> dict[ast.AST, Scope]:
    """The scope of every node that has one of its own; of the module too."""
    found: dict[ast.AST, Scope] = {}
    _fill(tree, None, found)
    top = found[tree]
    for scope in found.values():
        for name in scope.passed_up:
            owner = top if name in top.bindings else scope
            owner.add(name, UNKNOWN)
            scope.bindings.pop(name, None) if owner is not scope else None
    return found


def _fill(node: Scoped, parent: Scope | None, found: dict[ast.AST, Scope]) -> None:
    scope = Scope(node, parent)
    found[node] = scope
    if isinstance(node, _FUNCTIONS):
        _parameters(node, scope)
    for child in _own_nodes(node):
        _bind(child, scope)
        if isinstance(child, (*_FUNCTIONS, ast.ClassDef, *_COMPREHENSIONS)):
            _fill(child, scope, found)


def _own_nodes(node: ast.AST) -> Iterator[ast.AST]:
    """All nodes of a scope, and the heads of the scopes within."""
    # Heads hang below nodes of their own, too; seen twice they would be four times further in.
    outside = set(map(id, head(node)))
    pending = list(_body(node))
    while pending:
        child = pending.pop()
        if id(child) in outside:
            continue
        yield child
        if isinstance(child, (*_FUNCTIONS, ast.ClassDef, *_COMPREHENSIONS)):
            pending += head(child)
        else:
            pending += ast.iter_child_nodes(child)


def _body(node: ast.AST) -> Iterator[ast.AST]:
    outside = set(map(id, head(node)))
    return (child for child in ast.iter_child_nodes(node) if id(child) not in outside)


def head(node: ast.AST) -> list[ast.AST]:
    """The parts of a definition that belong to the scope around it."""
    match node:
        case ast.FunctionDef() | ast.AsyncFunctionDef():
            arguments = node.args
            every = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
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


def _parameters(node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda, scope: Scope) -> None:
    arguments = node.args
    every = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
    receiver = _receiver(node, scope) if every else None
    for number, each in enumerate(every):
        if each.annotation is not None:
            scope.add(each.arg, Annotated(each.annotation))
        elif number == 0 and receiver is not None:
            scope.add(each.arg, receiver)
        else:
            scope.add(each.arg, Argument(each.arg, node))
    for several in (arguments.vararg, arguments.kwarg):
        if several is not None:
            scope.add(several.arg, UNKNOWN)


def _receiver(node: ast.AST, scope: Scope) -> Receiver | None:
    """What the first parameter of a function is, if the function is a method."""
    owner = scope.parent.node if scope.parent is not None else None
    if not isinstance(owner, ast.ClassDef) or isinstance(node, ast.Lambda):
        return None
    if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        return None
    names = {ast.unparse(each).rpartition(".")[2] for each in node.decorator_list}
    if "staticmethod" in names:
        return None
    first = next(iter([*node.args.posonlyargs, *node.args.args]), None)
    if first is None or first.arg not in {"self", "cls"}:
        # Validators and hybrids are methods in form alone.
        return None
    itself = first.arg == "cls"
    return Receiver(owner, itself)


def _bind(node: ast.AST, scope: Scope) -> None:  # noqa: C901 - one case a form
    match node:
        case ast.Import(names=names):
            for each in names:
                whole = each.name if each.asname else each.name.partition(".")[0]
                scope.add(each.asname or whole, Import(whole))
        case ast.ImportFrom(module=module, names=names, level=level):
            for each in names:
                known = level == 0 and module and each.name != "*"
                path = Import(f"{module}.{each.name}") if known else UNKNOWN
                scope.add(each.asname or each.name, path)
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
            scope.add(name, Defined(node))
        case ast.Assign(targets=targets, value=value):
            for target in targets:
                _unpacked(target, Value(value), scope)
        case ast.AnnAssign(target=ast.Name(id=name), annotation=annotation):
            scope.add(name, Annotated(annotation))
        case ast.NamedExpr(target=ast.Name(id=name), value=value):
            _outside_comprehensions(scope).add(name, Value(value))
        case ast.With(items=items) | ast.AsyncWith(items=items):
            for item in items:
                awaited = isinstance(node, ast.AsyncWith)
                entered = Value(item.context_expr, entered=True, awaited=awaited)
                if isinstance(item.optional_vars, ast.Name):
                    scope.add(item.optional_vars.id, entered)
                elif item.optional_vars is not None:
                    _targets([item.optional_vars], scope)
        case ast.For(target=target, iter=many) | ast.AsyncFor(target=target, iter=many):
            _unpacked(target, Item(many, awaited=isinstance(node, ast.AsyncFor)), scope)
        case ast.comprehension(target=target, iter=many):
            _unpacked(target, Item(many, awaited=bool(node.is_async)), scope)
        case ast.AugAssign(target=target):
            _targets([target], scope)
        case ast.Delete(targets=targets):
            _targets(targets, scope)
        case ast.ExceptHandler(name=str(name), type=kind):
            scope.add(name, Caught(kind) if kind is not None else UNKNOWN)
        case ast.Global(names=listed) | ast.Nonlocal(names=listed):
            scope.passed_up |= set(listed)
        case ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)):
            scope.add(name, UNKNOWN)
        case ast.MatchMapping(rest=str(name)):
            scope.add(name, UNKNOWN)


def _outside_comprehensions(scope: Scope) -> Scope:
    while isinstance(scope.node, _COMPREHENSIONS) and scope.parent is not None:
        scope = scope.parent
    return scope


def _unpacked(target: ast.expr, whole: Value | Item, scope: Scope) -> None:
    """A target of an assignment or loop; of several names in a row each gets its part."""
    match target:
        case ast.Name(id=name):
            scope.add(name, whole)
        case ast.Tuple(elts=parts) if all(isinstance(each, ast.Name) for each in parts):
            for index, part in enumerate(parts):
                scope.add(part.id, Part(whole, index))  # type: ignore[attr-defined]
        case _:
            _targets([target], scope)


def _targets(targets: list[ast.expr], scope: Scope) -> None:
    for target in targets:
        for each in ast.walk(target):
            if isinstance(each, ast.Name) and not isinstance(each.ctx, ast.Load):
                scope.add(each.id, UNKNOWN)
