"""Python code against installed packages: imports, attributes, calls and their arguments.

This room knows which expressions leave no doubt of what they mean. It does not know packages.
"""

from __future__ import annotations

import ast
import re

from docstow.verify.arguments import Given, mismatch
from docstow.verify.findings import Finding, Verdict, in_order
from docstow.verify.nearest import likeness
from docstow.verify.python_parse import parse
from docstow.verify.python_scopes import Annotated, Import, Scope, Value, head, scopes
from docstow.verify.python_types import Instances, Made
from docstow.verify.surfaces import Answer, Names, Resolver, absent

#: A condition that speaks of these asks what there is; what it guards may not be there.
_ASKS = re.compile(
    r"hasattr|getattr|version|VERSION|\bPY|platform|find_spec|_AVAILABLE|HAS_|HAVE_|has_|IS_"
)
#: What is caught or expected where a name may well be missing.
_CAUGHT = re.compile(
    r"Import|ModuleNotFound|Attribute|TypeError|(?<![\w.])(?:Base)?Exception\b|Warning|Errors\b"
)

#: What takes code that is meant to fail.
_EXPECTS = re.compile(r"raises|Raises|warns|Warns|suppress|patch")
#: What classes have through their metaclass.
_OF_CLASSES = frozenset({"register", "mro", "cache_clear", "cache_info"})
#: An attribute may be set from afar; one that is only read is wrong where it is near another.
_NEAR = 75.0


def verify(code: str, resolver: Resolver) -> Verdict:
    """Check a piece of Python: a file, an example with prompts, a buffer that is half written.

    Args:
        code: the code.
        resolver: where packages are found.
    """
    parsed = parse(code)
    checker = _Checker(code, parsed.tree, parsed.lost, parsed.column, Names(resolver))
    checker.visit(parsed.tree)
    return checker.verdict()


class _Checker:
    def __init__(
        self, code: str, tree: ast.Module, lost: frozenset[str], column: int, names: Names
    ) -> None:
        self._names = names
        self._column = column
        self._scopes = scopes(tree)
        self._scope = self._scopes[tree]
        self._lost = lost
        self._findings: list[Finding] = []
        self._missing: dict[str, None] = {}
        self._ignored = {
            number
            for number, line in enumerate(code.split("\n"), 1)
            if "type: ignore" in line or "pylint: disable" in line
        }
        self._patched = _patched(tree)
        self._narrowed = _narrowed(tree)
        self._called = {id(each.func) for each in ast.walk(tree) if isinstance(each, ast.Call)}
        self._uncertain = 0
        self._instances = Instances(names, self.dotted)
        self._variables: dict[tuple[int, str], Made | None] = {}

    def verdict(self) -> Verdict:
        return Verdict(in_order(self._findings), tuple(self._missing))

    # -- what an expression means ------------------------------------------------------------

    def dotted(self, node: ast.expr, scope: Scope) -> str | None:
        """The absolute dotted path of a name or chain of attributes that an import begins."""
        if isinstance(node, ast.Attribute):
            owner = self.dotted(node.value, scope)
            return f"{owner}.{node.attr}" if owner is not None else None
        if not isinstance(node, ast.Name) or node.id in self._lost:
            return None
        found = scope.find(node.id)
        if found is None:
            return None
        paths = {each.path if isinstance(each, Import) else None for each in found[1]}
        return paths.pop() if len(paths) == 1 else None

    def _made(self, node: ast.expr, depth: int = 0) -> Made | None:
        return self._type(node, self._scope, depth)

    def _type(self, node: ast.expr, scope: Scope, depth: int = 0) -> Made | None:
        """The class that a value is certainly an instance of."""
        if depth > 12:
            return None
        match node:
            case ast.Name(id=name):
                return self._variable(name, scope, depth)
            case ast.Await(value=value):
                given = self._type(value, scope, depth + 1)
                return given.awaited() if given is not None else None
            case ast.Call(func=function):
                path = self.dotted(function, scope)
                if path is not None:
                    return self._instances.called(path)
                if isinstance(function, ast.Attribute):
                    owner = self._type(function.value, scope, depth + 1)
                    if owner is not None and owner.ready:
                        return self._instances.method(owner, function.attr)
        return None

    def _variable(self, name: str, scope: Scope, depth: int) -> Made | None:
        if name in self._lost or name in self._narrowed:
            return None
        found = scope.find(name)
        if found is None:
            return None
        owner, bindings = found
        place = (id(owner), name)
        if place not in self._variables:
            # A name that is made of itself is nothing certain. Each is worked out once: of many
            # that are made of one another there are more ways than can be walked.
            self._variables[place] = None
            made = {self._bound(each, owner, depth + 1) for each in bindings}
            self._variables[place] = made.pop() if len(made) == 1 else None
        return self._variables[place]

    def _bound(self, binding: object, scope: Scope, depth: int) -> Made | None:
        match binding:
            case Value(expression, entered, awaited):
                given = self._type(expression, scope, depth)
                if entered and given is not None:
                    return self._instances.entered(given, awaited=awaited)
                return given
            case Annotated(annotation):
                return self._instances.annotated(annotation, scope)
        return None

    # -- the walk ----------------------------------------------------------------------------

    def visit(self, node: ast.AST) -> None:
        """Check a node and what is below it, in the scope it belongs to."""
        uncertain = self._uncertain
        if node in self._scopes and not isinstance(node, ast.Module):
            self._inside(node)
        elif isinstance(node, ast.Try | ast.TryStar):
            self._try(node)
        elif not self._look_at(node):
            for child in ast.iter_child_nodes(node):
                self.visit(child)
        self._uncertain = uncertain

    def _inside(self, node: ast.AST) -> None:
        """A node with a scope of its own; what stands in its head belongs to the one around it."""
        before, heads = self._scope, head(node)
        for each in heads:
            self.visit(each)
        self._scope = self._scopes[node]
        done = set(map(id, heads))
        for child in ast.iter_child_nodes(node):
            if id(child) not in done:
                self.visit(child)
        self._scope = before

    def _look_at(self, node: ast.AST) -> bool:
        """Check one node; True where nothing is left to look at below it."""
        match node:
            case ast.If(test=test) | ast.IfExp(test=test) | ast.While(test=test):
                never = isinstance(test, ast.Constant) and not test.value
                self._uncertain += never or bool(_ASKS.search(ast.unparse(test)))
            case ast.BoolOp():
                self._uncertain += bool(_ASKS.search(ast.unparse(node)))
            case ast.With(items=items) | ast.AsyncWith(items=items):
                expected = " ".join(ast.unparse(each.context_expr) for each in items)
                self._uncertain += bool(_EXPECTS.search(expected))
            case ast.Import() | ast.ImportFrom():
                self._import(node)
            case ast.Call():
                self._uncertain += bool(_EXPECTS.search(ast.unparse(node.func)))
                self._call(node)
            case ast.Attribute(ctx=ast.Load()):
                return self._attribute(node)
        return False

    def _try(self, node: ast.Try | ast.TryStar) -> None:
        caught = " ".join(
            ast.unparse(each.type) if each.type is not None else "Exception"
            for each in node.handlers
        )
        uncertain = self._uncertain
        self._uncertain += bool(_CAUGHT.search(caught))
        for child in node.body:
            self.visit(child)
        # What is done where an import has failed belongs to other versions.
        for handler in node.handlers:
            self.visit(handler)
        self._uncertain = uncertain
        for child in (*node.orelse, *node.finalbody):
            self.visit(child)

    def _note(self, node: ast.AST, name: str, answer: Answer, column: int | None = None) -> None:
        line, offset = getattr(node, "lineno", 1), getattr(node, "col_offset", 0)
        if self._uncertain or line in self._ignored:
            answer = Answer("not_checked", answer.symbol, package=answer.package)
        package, symbol = answer.package, answer.symbol
        self._findings.append(
            Finding(
                line=line,
                column=(column if column is not None else offset) + 1 + self._column,
                name=name,
                status=answer.status,
                message=answer.message,
                suggestions=answer.suggestions,
                path=answer.looked_in or (symbol.path if symbol is not None else ""),
                package=package.name if package is not None else "",
                version=package.version if package is not None else "",
            )
        )

    def _look_up(self, path: str) -> Answer | None:
        """Ask for a path, noting packages that are not at hand."""
        if self._names.resolver.is_standard(path):
            return None
        if self._names.resolver.package_for(path) is None:
            self._missing.setdefault(path.partition(".")[0])
            return None
        return self._names.look_up(path)

    def _import(self, node: ast.Import | ast.ImportFrom) -> None:
        if isinstance(node, ast.ImportFrom):
            if node.level or not node.module:
                return
            named = [(each, f"{node.module}.{each.name}") for each in node.names]
            paths = [(each, node.module if each.name == "*" else path) for each, path in named]
        else:
            paths = [(each, each.name) for each in node.names]
        for each, path in paths:
            answer = self._look_up(path)
            if answer is not None:
                # A comment at the statement speaks of all its lines.
                ignored = node.lineno in self._ignored
                self._note(node if ignored or each.lineno == node.lineno else each, path, answer)

    def _attribute(self, node: ast.Attribute) -> bool:
        """Check a chain of attributes; True where nothing is left to look at below it."""
        path = self.dotted(node, self._scope)
        if path is not None:
            answer = self._look_up(path)
            if answer is not None and not self._is_patched(path) and node.attr not in _OF_CLASSES:
                self._note(node, path, answer)
            return True
        owner = self._made(node.value)
        if owner is not None and owner.ready and node.attr not in self._patched:
            self._member(node, owner)
        return False

    def _is_patched(self, path: str) -> bool:
        return any(part in self._patched for part in path.split(".")[1:])

    def _member(self, node: ast.Attribute, owner: Made) -> None:
        whole = f"{owner.path}.{node.attr}"
        surface = owner.package.surface
        symbol = surface.symbol(whole)
        column = (node.end_col_offset or 0) - len(node.attr)
        if symbol is not None:
            answer = self._names.look_up(whole)
        elif (
            node.attr.startswith("_")
            or not surface.certain(owner.path)
            or (not (near := self._near(node, owner)) and id(node) not in self._called)
        ):
            answer = Answer("not_checked", package=owner.package)
        else:
            message = absent(owner.package, "class", owner.path, node.attr, near)
            answer = Answer(
                "unknown",
                message=message,
                suggestions=near,
                looked_in=owner.path,
                package=owner.package,
            )
        self._note(node, whole, answer, column)

    def _near(self, node: ast.Attribute, owner: Made) -> tuple[str, ...]:
        """Members like the one that is missing; of one that is only read, those very like it."""
        called = id(node) in self._called
        found = self._names.suggest(owner.package, owner.path, node.attr, called=called)
        if called:
            return found
        alike = (each for each in found if likeness(node.attr, each.rpartition(".")[2]) >= _NEAR)
        return tuple(alike)

    # -- calls -------------------------------------------------------------------------------

    def _call(self, node: ast.Call) -> None:
        path, unbound = self.dotted(node.func, self._scope), False
        if path is not None:
            if self._names.resolver.is_standard(path) or self._is_patched(path):
                return
            answer = self._names.look_up(path)
            unbound = answer.symbol is not None and answer.symbol.kind == "method"
        elif isinstance(node.func, ast.Attribute):
            owner = self._made(node.func.value)
            if owner is None or not owner.ready or node.func.attr in self._patched:
                return
            path = f"{owner.path}.{node.func.attr}"
            answer = self._names.look_up(path)
        else:
            return
        symbol = answer.symbol
        if symbol is None or not answer.whole or symbol.parameters is None or _is_sketch(node):
            return
        if symbol.kind not in {"function", "method", "class"}:
            return
        wrong = mismatch(symbol.parameters, _given(node), unbound=unbound)
        if wrong is not None:
            message = f"{path} {wrong.reason}: {' '.join(symbol.signature.split())[:300]}"
            said = Answer(
                "wrong_argument",
                symbol,
                whole=True,
                message=message,
                suggestions=wrong.suggestions,
                package=answer.package,
            )
            name = f"{path}({wrong.keyword}=)" if wrong.keyword else f"{path}()"
            self._note(node, name, said)


def _is_sketch(node: ast.Call) -> bool:
    """``f(...)``: the arguments are left to the reader."""
    return any(isinstance(each, ast.Constant) and each.value is ... for each in node.args)


def _given(node: ast.Call) -> Given:
    return Given(
        positional=sum(not isinstance(each, ast.Starred) for each in node.args),
        keywords=tuple(each.arg for each in node.keywords if each.arg is not None),
        open_positional=any(isinstance(each, ast.Starred) for each in node.args),
        open_keywords=any(each.arg is None for each in node.keywords),
    )


def _patched(tree: ast.Module) -> frozenset[str]:
    """Attributes that the code itself gives to something, or replaces by name."""
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and not isinstance(node.ctx, ast.Load):
            found.add(node.attr)
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name | ast.Attribute):
            called = node.func.id if isinstance(node.func, ast.Name) else node.func.attr
            if called in {"setattr", "delattr", "patch", "object"}:
                texts = [each.value for each in node.args if isinstance(each, ast.Constant)]
                found |= {each.rpartition(".")[2] for each in texts if isinstance(each, str)}
    return frozenset(found)


def _narrowed(tree: ast.Module) -> frozenset[str]:
    """Variables of which the code asks what they are."""
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.args:
            if node.func.id in {"isinstance", "issubclass", "hasattr", "setattr", "type", "vars"}:
                found |= {each.id for each in ast.walk(node.args[0]) if isinstance(each, ast.Name)}
        elif isinstance(node, ast.Match):
            found |= {each.id for each in ast.walk(node.subject) if isinstance(each, ast.Name)}
    return frozenset(found)
