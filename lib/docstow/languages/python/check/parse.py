"""Python as it is pasted: parsed with prompts, fences or only half of a file, and its scopes.

What does not parse is left out, and the names in it are lost.
"""

from __future__ import annotations

import ast
import re
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass, field

from docstow.languages.python.source.syntax import Function, decorator_name, positional
from docstow.text import python_ast

_FENCE = re.compile(r"^\s*(```|~~~)")
_PROMPT = re.compile(r"^\s*(>>>|\.\.\.|In \[\d+\]:)(?: |$)")
_NAME = re.compile(r"\b[A-Za-z_]\w*")
#: Lines that may be left out before the text is taken to be no Python.
_MOST_LEFT_OUT = 40
#: Levels of the syntax tree.
_DEEPEST = 100
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
class Parsed:
    """A tree whose line numbers are those of the text.

    Attributes:
        tree: what could be read.
        lost: names on the lines that could not be read, whose bindings are not known.
        column: columns that were cut off at the left.
        text: what the tree was read from, line by line: without that indentation, and with
            nothing in place of the lines that could not be read.
        unread: numbers of the lines that could not be read, sorted.
    """

    tree: ast.Module
    lost: frozenset[str]
    column: int
    text: str
    unread: tuple[int, ...] = ()


def parse(code: str) -> Parsed:
    """Parse a piece of Python, leaving out the lines that are none."""
    lines = _unwrap(code.replace("\t", "    ").replace("\r\n", "\n").split("\n"))
    text = "\n".join(lines)
    column = _common_indentation(lines)
    text = textwrap.dedent(text)
    lost: set[str] = set()
    unread: set[int] = set()
    left = text.split("\n")
    for _ in range(_MOST_LEFT_OUT):
        try:
            tree = python_ast.parse_module(kept := "\n".join(left))
            names = frozenset(lost | _cut_deep_nodes(tree))
            return Parsed(tree, names, column, kept, tuple(sorted(unread)))
        except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
            line = (getattr(error, "lineno", None) or 1) - 1
            line = min(max(line, 0), len(left) - 1)
            line = _last_nonblank(left, line)
            lost |= set(_NAME.findall(left[line]))
            unread.add(line + 1)
            stripped = left[line].lstrip()
            keep = left[line][: len(left[line]) - len(stripped)]
            left[line] = f"{keep}pass" if stripped not in {"", "pass"} else ""
    everything = frozenset(_NAME.findall(text))
    return Parsed(_parse_imports(text), everything, column, "", tuple(sorted(unread)))


def _cut_deep_nodes(tree: ast.Module) -> set[str]:
    """Cut off what nests too deep to be walked recursively, and return the names in it."""
    lost: set[str] = set()
    level: list[ast.AST] = [tree]
    for _ in range(_DEEPEST):
        level = [child for node in level for child in ast.iter_child_nodes(node)]
    for node in level:
        for part, value in ast.iter_fields(node):
            if isinstance(value, ast.expr):
                setattr(node, part, ast.copy_location(ast.Constant(None), value))
            elif isinstance(node, ast.comprehension) or part == "generators":
                continue
            elif isinstance(value, list) and any(isinstance(each, ast.AST) for each in value):
                keep = [ast.copy_location(ast.Pass(), each) for each in value[:1]]
                setattr(node, part, keep if isinstance(value[0], ast.stmt) else [])
            else:
                continue
            below = value if isinstance(value, list) else [value]
            lost.update(*(_identifiers(each) for each in below if isinstance(each, ast.AST)))
    return lost


def _identifiers(node: ast.AST) -> Iterator[str]:
    """Yield all identifiers below a node."""
    for each in ast.walk(node):
        for part in ("id", "arg", "name", "asname", "attr"):
            if isinstance(name := getattr(each, part, None), str):
                yield name.partition(".")[0]


def _last_nonblank(lines: list[str], line: int) -> int:
    while line > 0 and not lines[line].strip():
        line -= 1
    return line


def _parse_imports(text: str) -> ast.Module:
    """Return the imports of a text that stand on lines of their own."""
    body: list[ast.stmt] = []
    for number, line in enumerate(text.split("\n"), 1):
        if not line.lstrip().startswith(("import ", "from ")):
            continue
        try:
            (statement,) = python_ast.parse_module(line.strip()).body
        except (SyntaxError, ValueError):
            continue
        ast.increment_lineno(statement, number - 1)
        body.append(statement)
    return ast.Module(body=body, type_ignores=[])


def _common_indentation(lines: list[str]) -> int:
    written = [len(line) - len(line.lstrip()) for line in lines if line.strip()]
    return min(written, default=0)


def _unwrap(lines: list[str]) -> list[str]:
    """Return lines without Markdown fences and prompts; every line keeps its number."""
    if any(_FENCE.match(line) for line in lines):
        inside, kept = False, []
        for line in lines:
            if _FENCE.match(line):
                inside = not inside
                kept.append("")
            else:
                kept.append(line if inside else "")
        lines = kept
    has_prompts = any(line.lstrip().startswith(">>>") for line in lines)
    # What can be read as it is has prompts in texts alone.
    if has_prompts and python_ast.try_parse_module("\n".join(lines)) is None:
        lines = [_PROMPT.sub("", line, count=1) if _PROMPT.match(line) else "" for line in lines]
    return lines


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
    """A name among several that a value, or a part of one, is unpacked to, with its position."""

    whole: Assigned | LoopItem | Unpacked
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
            is_class = isinstance(scope.node, ast.ClassDef)
            is_there = name in scope.bindings and name not in scope.outer_names
            if is_there and is_class and first and scope.parent is not None:
                # Before the class binds it, the name is that of what is around.
                around = scope.parent.find(name)
                return scope, [*scope.bindings[name], *([UNKNOWN] if around is not None else [])]
            if is_there and not is_class:
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
    for child in scope_nodes(node):
        _bind(child, scope)
        if isinstance(child, (*_FUNCTIONS, ast.ClassDef, *_COMPREHENSIONS)):
            _collect(child, scope, found)


def scope_nodes(node: ast.AST) -> Iterator[ast.AST]:
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
    names = {decorator_name(each) for each in node.decorator_list}
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


def _add_target(target: ast.expr, whole: Assigned | LoopItem | Unpacked, scope: Scope) -> None:
    """Bind a target of an assignment or loop; each name of a tuple to its part."""
    match target:
        case ast.Name(id=name):
            scope.add(name, whole)
        case ast.Tuple(elts=parts) | ast.List(elts=parts) if all(
            isinstance(each, ast.Name | ast.Tuple | ast.List) for each in parts
        ):
            for index, part in enumerate(parts):
                _add_target(part, Unpacked(whole, index), scope)
        case _:
            _add_unknown([target], scope)


def _add_unknown(targets: list[ast.expr], scope: Scope) -> None:
    for target in targets:
        for each in ast.walk(target):
            if isinstance(each, ast.Name) and not isinstance(each.ctx, ast.Load):
                scope.add(each.id, UNKNOWN)
