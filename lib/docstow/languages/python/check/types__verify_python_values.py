"""What expressions of Python code certainly are.

This room knows bindings, calls and attributes of the code. It does not know what is wrong.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Mapping
from dataclasses import replace

from docstow.languages.python.check.annotations import Annotations
from docstow.languages.python.check.members import Members
from docstow.languages.python.check.members__verify_python_returns import Passed
from docstow.languages.python.check.scopes import Import, Scope
from docstow.languages.python.check.terms import (
    NOTHING,
    Found,
    Made,
    Nothing,
    Own,
    Place,
    Read,
    Term,
    joined,
    known,
)
from docstow.languages.python.check.types import OwnClasses
from docstow.languages.python.check.types__verify_python_variables import Variables
from docstow.languages.shared.arguments import Given
from docstow.languages.shared.lookup import Names

_BUILTINS = frozenset(dir(builtins))
_LITERALS: Mapping[type[ast.expr], str] = {
    ast.JoinedStr: "str",
    ast.List: "list",
    ast.ListComp: "list",
    ast.Dict: "dict",
    ast.DictComp: "dict",
    ast.Set: "set",
    ast.SetComp: "set",
    ast.Tuple: "tuple",
}
_PLAIN_LITERALS = frozenset({"str", "bytes", "int", "float", "complex", "bool"})
_DEEPEST = 30


class Values:
    """Values of one piece of code.

    Args:
        names: where names are looked up.
        scopes: of the code.
        lost: names of which nobody knows what they are bound to.
        narrowed: variables of which the code asks what they are.
        patched: attributes that the code sets itself.
    """

    def __init__(
        self,
        names: Names,
        scopes: Mapping[ast.AST, Scope],
        lost: frozenset[str],
        narrowed: frozenset[str],
        patched: frozenset[str],
    ) -> None:
        self._names = names
        self._scopes = scopes
        self._lost = lost
        self._patched = patched
        self._annotations = Annotations(names)
        self.members = Members(self._annotations)
        self.own = OwnClasses(self, scopes)
        self._variables = Variables(self, names, lost | narrowed)

    def dotted(self, node: ast.expr, scope: Scope) -> str | None:
        """The absolute dotted path of a name or chain of attributes that an import begins."""
        if isinstance(node, ast.Attribute):
            owner = self.dotted(node.value, scope)
            return f"{owner}.{node.attr}" if owner is not None else None
        if not isinstance(node, ast.Name) or node.id in self._lost:
            return None
        found = scope.find(node.id)
        if found is None:
            is_known = node.id in _BUILTINS and scope.find("*") is None
            return f"builtins.{node.id}" if is_known else None
        first, *_ = found[1]
        # Most names are bound by no import; those that are may be bound many times.
        if not isinstance(first, Import) or any(each != first for each in found[1]):
            return None
        return first.path

    def place(self, scope: Scope, me: Term | None = None) -> Place:
        """Annotations that are written in a scope."""

        def find(node: ast.expr) -> Found | Own | None:
            return self._meant(node, scope)

        return Place(find, me)

    def _meant(self, node: ast.expr, scope: Scope) -> Found | Own | None:
        path = self.dotted(node, scope)
        if path is None:
            term = self.term(node, scope) if isinstance(node, ast.Name) else None
            return replace(term, itself=False) if isinstance(term, Own) and term.itself else None
        answer = self._names.look_up(path)
        if answer.symbol is None or answer.package is None or not answer.whole:
            return None
        symbol, package = answer.symbol, answer.package
        if symbol.kind == "re-export" and symbol.target:
            return self._annotations.find(symbol.target, path.rpartition(".")[0], package)
        return Found(symbol.path, symbol.target or symbol.path, symbol, package)

    def annotated(self, node: ast.expr | None, scope: Scope, me: Term | None = None) -> Term | None:
        """What an annotation of the code says."""
        return known(self._annotations.read(node, self.place(scope, me)))

    # -- expressions ---------------------------------------------------------------------------

    def term(self, node: ast.expr, scope: Scope, depth: int = 0) -> Term | None:
        """What an expression certainly is."""
        return known(self._read(node, scope, depth))

    def _read(self, node: ast.expr, scope: Scope, depth: int) -> Read:  # noqa: C901 - a case a form
        if depth > _DEEPEST:
            return None
        match node:
            case ast.Name(id=name):
                path = self.dotted(node, scope)
                if path is not None:
                    return self.members.value(path)
                return self._variables.read(name, scope, depth + 1)
            case ast.Constant(value=None):
                return NOTHING
            case ast.Await(value=value):
                given = self.term(value, scope, depth + 1)
                return self.members.awaited(given) if isinstance(given, Made) else None
            case ast.Call():
                return self.call(node, scope, depth + 1)
            case ast.Attribute(value=value, attr=name):
                return self._attribute(node, value, name, scope, depth + 1)
            case ast.Subscript(value=value, slice=index):
                owner = self.term(value, scope, depth + 1)
                if isinstance(owner, Own | Made) and owner.itself:
                    return self._parametrized(owner, node, scope)
                return self.members.under(owner, index) if isinstance(owner, Made) else None
            case ast.BoolOp(op=ast.Or(), values=values):
                return joined(self._read(each, scope, depth + 1) for each in values)
            case ast.IfExp(body=body, orelse=orelse):
                return joined(self._read(each, scope, depth + 1) for each in (body, orelse))
            case ast.NamedExpr(value=value):
                return self._read(value, scope, depth + 1)
        return self._literal(node, scope, depth)

    def _literal(self, node: ast.expr, scope: Scope, depth: int) -> Read:
        """What is written out: a constant, a list, a comprehension."""
        given: list[Term | None] = []
        match node:
            case ast.Constant():
                named = type(node.value).__name__
                plain = named in _PLAIN_LITERALS
                return self._annotations.standard(f"builtins.{named}") if plain else None
            case ast.List(elts=[first, *_]):
                given = [self.term(first, scope, depth + 1)]
            case ast.Tuple(elts=parts):
                given = [self.term(each, scope, depth + 1) for each in parts]
            case ast.ListComp(elt=element) | ast.SetComp(elt=element):
                given = [self.term(element, self._scopes.get(node, scope), depth + 1)]
        named = _LITERALS.get(type(node), "")
        return self._annotations.standard(f"builtins.{named}", *given) if named else None

    def _parametrized(self, owner: Term, node: ast.Subscript, scope: Scope) -> Term | None:
        """``Page[Item]``: the class, with what it is subscripted with."""
        if isinstance(owner, Own):
            return owner
        read = self.annotated(node, scope)
        return replace(owner, given=read.given) if isinstance(read, Made) else owner

    def _attribute(
        self, node: ast.Attribute, value: ast.expr, name: str, scope: Scope, depth: int
    ) -> Read:
        path = self.dotted(node, scope)
        if path is not None:
            return self.members.value(path)
        owner = self.term(value, scope, depth)
        if isinstance(owner, Own):
            return self.own.attribute(owner, name, depth)
        if isinstance(owner, Made) and name not in self._patched:
            return self.members.attribute(owner, name)
        return None

    def passed(self, node: ast.Call, scope: Scope, depth: int) -> Passed:
        """The arguments of a call."""
        positional: list[Term | None] = []
        for each in node.args:
            if isinstance(each, ast.Starred):
                break
            positional.append(self.term(each, scope, depth))
        named = {each.arg: each.value for each in node.keywords if each.arg is not None}
        terms = {name: self.term(value, scope, depth) for name, value in named.items()}
        return Passed(given(node), positional, terms)

    def call(self, node: ast.Call, scope: Scope, depth: int = 0) -> Read:
        """What a call gives."""
        function = node.func
        passed = self.passed(node, scope, depth + 1)
        path = self.dotted(function, scope)
        if path is not None:
            return self.members.called(path, passed)
        if isinstance(function, ast.Attribute):
            whole = self._read(function.value, scope, depth)
            if isinstance(whole, Nothing):
                return NOTHING
            owner = whole
            if isinstance(owner, Own):
                return self.own.called(owner, function.attr, passed, depth)
            if isinstance(owner, Made) and function.attr not in self._patched:
                # What raises gives nothing: a variable is what else it is made of.
                lost = self.members.lacks(owner, function.attr)
                return NOTHING if lost else self.members.method(owner, function.attr, passed)
            return None
        value = self.term(function, scope, depth)
        if isinstance(value, Own):
            return replace(value, itself=False) if value.itself else None
        return self.members.result(value, passed) if value is not None else None

    def returned(
        self, node: ast.FunctionDef | ast.AsyncFunctionDef, scope: Scope, me: Term | None
    ) -> Term | None:
        """What a call of a function of the code gives, by its own annotation."""
        term = self.annotated(node.returns, scope, me)
        decorators = {
            ast.unparse(each).partition("(")[0].rpartition(".")[2] for each in node.decorator_list
        }
        return self.members.wrapped(term, node, decorators)


def given(node: ast.Call) -> Given:
    """Number and names of the arguments of a call."""
    return Given(
        positional=sum(not isinstance(each, ast.Starred) for each in node.args),
        keywords=tuple(each.arg for each in node.keywords if each.arg is not None),
        open_positional=any(isinstance(each, ast.Starred) for each in node.args),
        open_keywords=any(each.arg is None for each in node.keywords),
    )
