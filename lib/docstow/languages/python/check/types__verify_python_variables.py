"""What variables of Python code certainly are, by all that the code binds them to.

This room knows bindings: values, loops, handlers, definitions, fixtures. It does not know what an
expression is (:mod:`docstow.languages.python.check.types__verify_python_values`).
"""

from __future__ import annotations

import ast
from dataclasses import replace
from typing import TYPE_CHECKING

from docstow.languages.python.check.members__verify_python_returns import Passed
from docstow.languages.python.check.scopes import (
    Annotated,
    Argument,
    Binding,
    Caught,
    Defined,
    Item,
    Part,
    Receiver,
    Scope,
    Value,
)
from docstow.languages.python.check.terms import NOTHING, Made, Own, Read, Term, joined, known
from docstow.languages.python.check.types__verify_python_fixtures import FIXTURES, is_fixture_user
from docstow.languages.shared.arguments import Given

if TYPE_CHECKING:
    from docstow.languages.python.check.types__verify_python_values import Values
    from docstow.languages.shared.lookup import Names


class Variables:
    """The variables of one piece of code.

    Args:
        values: what expressions are.
        names: where names are looked up.
        unknown: names of which nobody knows, or the code itself asks, what they are.
    """

    def __init__(self, values: Values, names: Names, unknown: frozenset[str]) -> None:
        self._values = values
        self._names = names
        self._unknown = unknown
        self._variables: dict[tuple[int, str], Read] = {}
        self._open: dict[tuple[int, str], bool] = {}

    def read(self, name: str, scope: Scope, depth: int) -> Read:
        """What a variable is, by all that it is bound to."""
        if name in self._unknown:
            return None
        found = scope.find(name)
        if found is None:
            return None
        owner, bindings = found
        place = (id(owner), name)
        if place in self._open:
            # It is made of itself: of what else it is made decides.
            self._open[place] = True
            return NOTHING
        if place not in self._variables:
            self._variables[place] = self._settled(place, bindings, owner, depth)
        return self._variables[place]

    def _settled(
        self, place: tuple[int, str], bindings: list[Binding], scope: Scope, depth: int
    ) -> Read:
        """What all bindings of a variable agree on; those made of itself are asked twice."""
        self._open[place] = False
        first = [self._bound(each, scope, depth) for each in bindings]
        looped = self._open.pop(place)
        if not looped:
            return joined(first)
        guess = joined(each for each in first if each is not None)
        if known(guess) is None:
            return None
        self._variables[place] = guess
        again = joined(self._bound(each, scope, depth) for each in bindings)
        del self._variables[place]
        return again

    def _bound(self, binding: Binding, scope: Scope, depth: int) -> Read:
        match binding:
            case Value(expression, entered, awaited):
                value = self._values._read(expression, scope, depth)  # noqa: SLF001
                if entered:
                    return self._entered(known(value), depth, awaited=awaited)
                return value
            case Annotated(annotation):
                return self._values.annotated(annotation, scope)
            case Item(expression, awaited):
                many = self._values.term(expression, scope, depth)
                return (
                    self._values.members.item(many, awaited=awaited)
                    if isinstance(many, Made)
                    else None
                )
            case Part(inner, index):
                whole = known(self._bound(inner, scope, depth))
                return self._values.members.part(whole, index) if isinstance(whole, Made) else None
            case Caught(expression):
                kind = self._values.term(expression, scope, depth)
                return replace(kind, itself=False) if kind is not None and kind.itself else None
            case Defined(node):
                return self._defined(node, scope, depth)
            case Receiver(node, itself):
                outer = scope.parent.parent if scope.parent is not None else None
                return Own(node, outer or scope, itself=itself, received=True)
            case Argument(name, function):
                return self._fixture(name, function, scope)
        return None

    def _entered(self, value: Term | None, depth: int, *, awaited: bool) -> Term | None:
        if isinstance(value, Own):
            return self._values.own.entered(value, depth, awaited=awaited)
        return self._values.members.entered(value, awaited=awaited) if value is not None else None

    def _fixture(self, name: str, function: ast.AST, scope: Scope) -> Term | None:
        path = FIXTURES.get(name)
        outer = scope.parent.find(name) if scope.parent is not None else None
        if path is None or outer is not None or not is_fixture_user(function):
            return None
        package = self._names.resolver.package_for(path)
        if package is None or package.surface.symbol(path) is None:
            return None
        return Made(path, package)

    def _defined(self, node: ast.AST, scope: Scope, depth: int) -> Read:
        """What a name is that a function or class of the code has."""
        if isinstance(node, ast.ClassDef):
            harmless = self._values.own.is_plain(node)
            return Own(node, scope, itself=True) if harmless else None
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            return None
        made: Term | None = self._values.members.annotations.standard(
            "typing.Callable", self._values.returned(node, scope, None)
        )
        for each in reversed(node.decorator_list):
            name = ast.unparse(each).partition("(")[0].rpartition(".")[2]
            if name in {"contextmanager", "asynccontextmanager"}:
                continue
            made = self._decorated(each, made, scope, depth)
        return made

    def _decorated(
        self, decorator: ast.expr, made: Term | None, scope: Scope, depth: int
    ) -> Term | None:
        function = self._values.term(decorator, scope, depth)
        passed = Passed(Given(1), [made])
        path = self._values.dotted(decorator, scope)
        maker = (
            self._values.dotted(decorator.func, scope) if isinstance(decorator, ast.Call) else None
        )
        if maker is not None and self._values.members.makes_keepers(maker):
            return made
        if path is not None:
            return self._values.members.called(path, passed)
        return self._values.members.result(function, passed) if function is not None else None
