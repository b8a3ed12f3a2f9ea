"""Python code against installed packages: imports, attributes, calls and their arguments.

This room knows which expressions leave no doubt of what they mean. It does not know packages.
"""

from __future__ import annotations

import ast
from dataclasses import replace

from docstow.languages.python.check import scopes as guards
from docstow.languages.python.check.class_bodies import fields, made_by_attrs, made_by_dataclass
from docstow.languages.python.check.parse import parse
from docstow.languages.python.check.scopes import head, scopes
from docstow.languages.python.check.terms import Made, Own, Term
from docstow.languages.python.check.types import TUPLES, OwnClasses, Values, given
from docstow.languages.python.names import CLASS_NAMES
from docstow.languages.python.source.signature import dotted, parameters
from docstow.languages.python.surface import PythonSurface
from docstow.languages.shared.arguments import mismatch_of_all
from docstow.languages.shared.findings import Finding, Verdict, in_order
from docstow.languages.shared.lookup import Answer, Names, Resolver, absent
from docstow.languages.shared.suggestions import likeness
from docstow.languages.shared.surface import Openness, Parameter
from docstow.text import python_ast as python_tree

# How classes are called that the code itself defines.


_ATTRS = frozenset(
    {
        *("attrs.define", "attrs.frozen", "attrs.mutable"),
        *("attr.define", "attr.frozen", "attr.mutable"),
    }
)


def constructor(own: Own, values: Values) -> tuple[Parameter, ...] | None:
    """How a class of the code is called; None where that is not certain.

    Args:
        own: the class.
        values: what expressions of the code are.
    """
    body, bases = values.own.body(own.node), values.own.bases(own)
    if bases is None or own.node.keywords:
        return None
    if "__new__" in body or values.own.is_enum(own):
        return None
    if "__init__" in body:
        (first, *more) = body["__init__"]
        if more or not isinstance(first, ast.FunctionDef) or first.decorator_list:
            return None
        return parameters(first.args)[1:]
    makers = [
        (each, dotted(each.func if isinstance(each, ast.Call) else each))
        for each in own.node.decorator_list
    ]
    paths = {_path(name, own, values) for _, name in makers}
    named = any(values.dotted(each, own.scope) in TUPLES for each in own.node.bases)
    if named and len(own.node.bases) == 1 and not makers:
        return fields(own.node, "")
    if paths == {"dataclasses.dataclass"} and not bases and not own.node.bases:
        return made_by_dataclass(makers[0][0], own.node)
    if len(makers) == 1 and paths <= _ATTRS and not bases and not own.node.bases:
        return made_by_attrs(makers[0][0], own.node)
    return None


def _path(name: str, own: Own, values: Values) -> str | None:
    node = python_tree.expression(name) if name else None
    return values.dotted(node, own.scope) if node is not None else None


# Whether a member of a value is missing for certain, and what comes near it.


#: How like a known name one must be that is only read; one that is called, where names may be set.
_READ = {Openness.CLOSED: 75.0, Openness.DATA: 85.0, Openness.FEW: 95.0}


_CALLED = {
    Openness.CLOSED: 0.0,
    Openness.DATA: 0.0,
    Openness.ITEMS: 0.0,
    Openness.FEW: 80.0,
}


#: How like a name of its class one must be that a method asks of what it receives.
_RECEIVED = 85.0


class Judge:
    """Answers for members of values.

    Args:
        names: where names are looked up.
        own: the classes of the code.
    """

    def __init__(self, names: Names, own: OwnClasses) -> None:
        self._names = names
        self._own = own

    def member(self, owner: Term, name: str, *, called: bool) -> tuple[str, Answer] | None:
        """What is known of a member: its path and the answer; None where nobody is to be told."""
        if isinstance(owner, Own):
            return self._of_own(owner, name, called=called)
        whole = f"{owner.path}.{name}"
        if owner.package.symbol(whole) is not None:
            return whole, self._names.look_up(whole)
        near = self._names.suggest(owner.package, owner.path, name, called=called)
        sure = self._lacks(owner, name) and _enough(self._level(owner), name, near, called=called)
        if not sure or _heirs_may_have(owner, name):
            return whole, Answer("not_checked", package=owner.package)
        message = absent(owner.package, "class", owner.path, name, near)
        return whole, Answer(
            "unknown",
            message=message,
            suggestions=near,
            looked_in=owner.path,
            package=owner.package,
        )

    def _lacks(self, owner: Made, name: str) -> bool:
        if name.startswith("_") or owner.vague:
            return False
        paths = [f"{each}.{name}" for each in _paths(owner)]
        package = owner.package
        return all(
            package.surface.symbol(each) is None and package.lacks(each) is not False
            for each in paths
        )

    def _level(self, owner: Made) -> Openness:
        surface = owner.package.surface
        return max(surface.openness(each) for each in _paths(owner))

    def _of_own(self, owner: Own, name: str, *, called: bool) -> tuple[str, Answer] | None:
        base = self._own.package_member(owner, name)
        if base is not None:
            whole = f"{base.path}.{name}"
            return whole, self._names.look_up(whole)
        if name.startswith("_") or self._own.has(owner, name):
            return None
        if owner.itself and (name in CLASS_NAMES or name == "register"):
            return None
        level, title = self._own.openness(owner), owner.node.name
        near = self._names.suggest_own(title, name, lambda: self._own.names(owner))
        if owner.received:
            # Others may derive from it, or mix it in, and have the name.
            sure = level <= Openness.DATA and not self._own.has_heirs(owner)
            if not sure or _best(name, near) < _RECEIVED:
                return None
        elif not _enough(level, name, near, called=called) and not self._own.is_closed_enum(owner):
            return None
        message = f"class {title} of this code has no {name}"
        message += f"; did you mean {near[0]}?" if near else "."
        above = next((e for e in self._own.bases(owner) or () if isinstance(e, Made)), None)
        package = above.package if above is not None else None
        answer = Answer(
            "unknown", message=message, suggestions=near, looked_in=title, package=package
        )
        return f"{title}.{name}", answer


def _heirs_may_have(owner: Made, name: str) -> bool:
    """Whether a value may well be of a class derived from its own that has the name."""
    surface = owner.package.surface
    if not isinstance(surface, PythonSurface):
        return False
    return any(surface.heirs_may_have(each, name) for each in _paths(owner))


def _paths(owner: Made) -> tuple[str, ...]:
    return (owner.path, *owner.others, *owner.union)


def _best(name: str, near: tuple[str, ...]) -> float:
    return max((likeness(name, each.rpartition(".")[2]) for each in near), default=0.0)


def _enough(level: Openness, name: str, near: tuple[str, ...], *, called: bool) -> bool:
    """Whether enough is seen of a class to call a name wrong that it is not seen to have."""
    least = (_CALLED if called else _READ).get(level)
    return least is not None and (least == 0.0 or _best(name, near) >= least)


#: What classes have through their metaclass.
_OF_CLASSES = frozenset({"register", "mro", "cache_clear", "cache_info"})


#: Of the names of Python itself nobody names a variable so; ``id`` or ``input`` are names, too.
_BUILTIN_TYPES = frozenset(
    {
        *("str", "bytes", "bytearray", "int", "float", "complex", "bool"),
        *("list", "tuple", "dict", "set", "frozenset"),
    }
)


def verify(code: str, resolver: Resolver) -> Verdict:
    """Check a piece of Python: a file, an example with prompts, a buffer that is half written.

    Args:
        code: the code.
        resolver: where packages are found.
    """
    parsed = parse(code)
    checker = _Checker(code, parsed.tree, parsed.lost, parsed.column, Names(resolver))
    unread, body = list(parsed.unread), parsed.tree.body
    for number, statement in enumerate(body):
        try:
            checker.visit(statement)
        except RecursionError:
            # Classes stand on one another, or values come of one another, deeper than anybody
            # writes them: what was looked at until then is told, and where that ended.
            unread += [each.lineno for each in body[number:]]
            break
    return replace(checker.verdict(), unread=tuple(sorted(set(unread))))


class _Checker:
    def __init__(
        self, code: str, tree: ast.Module, lost: frozenset[str], column: int, names: Names
    ) -> None:
        self._names = names
        self._column = column
        self._scopes = scopes(tree)
        self._scope = self._scopes[tree]
        self._findings: list[Finding] = []
        self._missing: dict[str, None] = {}
        self._ignored = guards.ignored(code)
        self._patched = guards.patched(tree)
        self._called = {id(each.func) for each in ast.walk(tree) if isinstance(each, ast.Call)}
        self._uncertain = 0
        #: What stands in heads and was looked at there; it hangs below other nodes, too.
        self._heads: set[int] = set()
        narrowed = guards.narrowed(tree)
        self._values = Values(names, self._scopes, lost, narrowed, self._patched)
        self._judge = Judge(names, self._values.own)

    def verdict(self) -> Verdict:
        return Verdict(in_order(self._findings), tuple(self._missing))

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
                if id(child) not in self._heads:
                    self.visit(child)
                self._uncertain += not isinstance(node, ast.Module) and guards.leaves(child)
        self._uncertain = uncertain

    def _inside(self, node: ast.AST) -> None:
        """A node with a scope of its own; what stands in its head belongs to the one around it."""
        before, heads = self._scope, head(node)
        for each in heads:
            self.visit(each)
        self._scope = self._scopes[node]
        self._uncertain += guards.is_skipped(node)
        self._heads.update(map(id, heads))
        for child in ast.iter_child_nodes(node):
            if id(child) not in self._heads:
                self.visit(child)
                self._uncertain += guards.leaves(child)
        self._scope = before

    def _look_at(self, node: ast.AST) -> bool:
        """Check one node; True where nothing is left to look at below it."""
        match node:
            case ast.If(test=test) | ast.IfExp(test=test) | ast.While(test=test):
                never = isinstance(test, ast.Constant) and not test.value
                self._uncertain += never or guards.asks(test)
            case ast.BoolOp():
                self._uncertain += guards.asks(node)
            case ast.With(items=items) | ast.AsyncWith(items=items):
                for each in items:
                    self.visit(each)
                self._uncertain += any(guards.expects(each.context_expr) for each in items)
                for child in node.body:
                    self.visit(child)
                return True
            case ast.Import() | ast.ImportFrom():
                self._import(node)
            case ast.Call():
                self._call(node)
                self._uncertain += guards.expects(node.func)
            case ast.Attribute(ctx=ast.Load()):
                return self._attribute(node)
        return False

    def _try(self, node: ast.Try | ast.TryStar) -> None:
        uncertain = self._uncertain
        self._uncertain += guards.catches(node)
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
        if column is not None:
            # A member stands where its name is, which may be lines below what it is a member of.
            line = getattr(node, "end_lineno", None) or line
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
        if self._names.resolver.package_for(path) is None:
            if not self._names.resolver.is_standard(path):
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
        path = self._values.dotted(node, self._scope)
        if path is not None and _is_unbound(path):
            return True
        called = id(node) in self._called
        if path is not None:
            self._path(node, path, called=called)
            return True
        owner = self._values.term(node.value, self._scope)
        if owner is not None and node.attr not in self._patched:
            judged = self._judge.member(owner, node.attr, called=called)
            if judged is not None:
                self._note(node, *judged, (node.end_col_offset or 0) - len(node.attr))
        return False

    def _path(self, node: ast.Attribute, path: str, *, called: bool) -> None:
        """Check a chain that an import begins, part by part where a part is an instance."""
        answer = self._look_up(path)
        if answer is None or self._is_patched(path) or node.attr in _OF_CLASSES:
            return
        if answer.status == "not_checked" and not answer.whole:
            owner = self._values.members.value(path.rpartition(".")[0])
            if owner is not None:
                judged = self._judge.member(owner, node.attr, called=called)
                if judged is not None:
                    self._note(node, *judged, (node.end_col_offset or 0) - len(node.attr))
                    return
        self._note(node, path, answer)

    def _is_patched(self, path: str) -> bool:
        return any(part in self._patched for part in path.split(".")[1:])

    # -- calls -------------------------------------------------------------------------------

    def _call(self, node: ast.Call) -> None:
        if _is_sketch(node):
            return
        path, unbound = self._values.dotted(node.func, self._scope), False
        if path is None:
            called = self._values.term(node.func, self._scope)
            if isinstance(called, Own) and called.itself:
                self._own_call(node, called)
                return
            path = self._member_path(node.func)
        elif not self._is_patched(path):
            symbol = self._names.look_up(path).symbol
            unbound = symbol is not None and symbol.kind == "method"
            if behind := self._values.members.behind(path):
                path = behind
            elif not self._names.look_up(path).whole and isinstance(node.func, ast.Attribute):
                path = self._behind(path)
        else:
            return
        if path:
            self._arguments(node, path, unbound=unbound)

    def _behind(self, path: str) -> str:
        """The method of an instance that a path of a package leads to."""
        owner, _, name = path.rpartition(".")
        value = self._values.members.value(owner)
        return f"{value.path}.{name}" if value is not None and not isinstance(value, Own) else ""

    def _member_path(self, function: ast.expr) -> str:
        """The path of the package's method that a value is asked for; empty for others."""
        if not isinstance(function, ast.Attribute) or function.attr in self._patched:
            return ""
        owner = self._values.term(function.value, self._scope)
        if isinstance(owner, Own):
            base = self._values.own.package_member(owner, function.attr)
            return f"{base.path}.{function.attr}" if base is not None else ""
        if owner is None or owner.others or owner.vague or owner.union:
            return ""
        return f"{owner.path}.{function.attr}"

    def _own_call(self, node: ast.Call, called: Own) -> None:
        """A call of a class of the code itself."""
        takes = constructor(called, self._values)
        wrong = mismatch_of_all([takes], given(node)) if takes is not None else None
        if wrong is not None:
            title = called.node.name
            message = f"{title} {wrong.reason}"
            answer = Answer("wrong_argument", message=message, suggestions=wrong.suggestions)
            self._note(node, f"{title}({wrong.keyword}=)" if wrong.keyword else title, answer)

    def _arguments(self, node: ast.Call, path: str, *, unbound: bool) -> None:
        answer = self._names.look_up(path)
        symbol = answer.symbol
        if symbol is None or not answer.whole:
            return
        # Enumerations are made by a call of other arguments.
        if symbol.kind not in {"function", "method", "class"} or path.startswith("enum."):
            return
        ways = symbol.overloads if symbol.parameters is None else (symbol.parameters,)
        wrong = mismatch_of_all(ways, given(node), unbound=unbound)
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


def _is_unbound(path: str) -> bool:
    """Whether a name may be one of the code around a fragment: ``input.shape``."""
    first, name, *_ = f"{path}.".split(".")
    return first == "builtins" and name not in _BUILTIN_TYPES


def _is_sketch(node: ast.Call) -> bool:
    """``f(...)``: the arguments are left to the reader."""
    return any(isinstance(each, ast.Constant) and each.value is ... for each in node.args)
