"""What calls of packages' functions give, by what their signatures say.

This room knows overloads, type variables of functions, coroutines and managers. It does not know
whose members functions are (:mod:`docstow.languages.python.check.members`).
"""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from docstow.languages.python.check.annotations import Annotations
from docstow.languages.python.check.annotations__verify_python_heads import Head, functions
from docstow.languages.python.check.terms import Made, Place, Term, joined, known
from docstow.languages.python.source.signature__readers_python_signature import parameters
from docstow.languages.shared.arguments import Given, mismatch
from docstow.languages.shared.lookup import Installed

if TYPE_CHECKING:
    from docstow.languages.shared.surface import Symbol

_MANAGERS = {"contextmanager": "", "asynccontextmanager": "Async"}
#: Classes of which an argument either is or is not.
_PLAIN = frozenset({"builtins.str", "builtins.bytes", "builtins.int", "builtins.dict"})


@dataclass(frozen=True, slots=True)
class Passed:
    """The arguments of a call.

    Attributes:
        given: their number and names.
        positional: what those without a name are.
        named: what the others are.
    """

    given: Given
    positional: Sequence[Term | None] = ()
    named: Mapping[str, Term | None] = field(default_factory=dict)


NOTHING_PASSED = Passed(Given(0))


class Returns:
    """What functions give.

    Args:
        annotations: what annotations mean.
    """

    def __init__(self, annotations: Annotations) -> None:
        self._annotations = annotations

    def place(self, symbol: Symbol, package: Installed, me: Term | None) -> Place:
        """Where a member is written, with what its class's type variables stand for."""
        target = symbol.target or symbol.path
        bound: Mapping[str, Term | None] = {}
        if isinstance(me, Made):
            bound = self._annotations.bindings(me, target.rpartition(".")[0]) or {}
        return self._annotations.place(target, package, me, bound, symbol.module)

    def returned(
        self,
        symbol: Symbol,
        package: Installed,
        me: Made | None,
        passed: Passed,
        *,
        unbound: bool = False,
        heads: Sequence[Head] = (),
    ) -> Term | None:
        """What a function's own annotations say that it gives: of the first overload that fits."""
        if symbol.parameters is None and not symbol.overloads and symbol.kind != "property":
            return None
        written = functions(symbol.signature)
        if len(written) > 1 and not symbol.overloads:
            # What stands behind the overloads is not what callers see.
            written = written[:-1]
        receives = symbol.kind != "function" and not unbound
        every = fitting(written, passed.given, receives=receives, unbound=unbound)
        place = self.place(symbol, package, me)
        if len(every) > 1:
            suited = [each for each in every if self._suits(each, place, passed, receives=receives)]
            every = suited or every
            # The first that takes a call is meant, where no argument tells it from the others.
            one = not unbound and _is_one(every, passed.given, receives=receives)
            every = every[:1] if one else every
        return known(joined(self._given_by(each, place, passed) for each in heads or every))

    def _suits(self, head: Head, place: Place, passed: Passed, *, receives: bool) -> bool:
        """Whether no argument is plainly of another class than an overload's parameter."""
        plain = [*head.args.posonlyargs, *head.args.args][receives:]
        for each, term in zip(plain, passed.positional, strict=False):
            if not isinstance(term, Made) or each.annotation is None:
                continue
            wanted = self._annotations.read(each.annotation, place)
            if isinstance(wanted, Made) and wanted.path in _PLAIN and term.path != wanted.path:
                return False
        return True

    def _given_by(self, head: Head, place: Place, passed: Passed) -> Term | None:
        decorators = {ast.unparse(each).partition("(")[0] for each in head.decorator_list}
        names = {each.rpartition(".")[2] for each in decorators}
        receives = place.me is not None and "staticmethod" not in names
        bound = self.solved(head, place, passed, receiver=receives)
        term = self._annotations.read(head.returns, replace(place, bound={**place.bound, **bound}))
        return self.wrapped(known(term), head, names)

    def wrapped(self, term: Term | None, head: Head, decorators: set[str]) -> Term | None:
        """What a call gives whose body gives a term: coroutines, managers."""
        for name, word in _MANAGERS.items():
            if name in decorators:
                inner = term.given[0] if isinstance(term, Made) and term.given else None
                kind = f"contextlib.Abstract{word}ContextManager"
                return self._annotations.standard(kind, inner, None)
        if isinstance(head, ast.AsyncFunctionDef):
            made = term.path if isinstance(term, Made) else ""
            if made.rpartition(".")[2] in {"AsyncIterator", "AsyncGenerator", "AsyncIterable"}:
                return term
            return self._annotations.standard("typing.Coroutine", None, None, term)
        return term

    def solved(
        self, head: Head, place: Place, passed: Passed, *, receiver: bool
    ) -> dict[str, Term | None]:
        """What the arguments of a call say of the type variables in a function's header."""
        bound: dict[str, Term | None] = {}
        plain = [*head.args.posonlyargs, *head.args.args]
        if receiver and plain:
            first = plain.pop(0)
            if first.annotation is not None:
                self._annotations.unify(first.annotation, place.me, place, bound)
        for each, term in zip(plain, passed.positional, strict=False):
            if each.annotation is not None:
                self._annotations.unify(each.annotation, term, place, bound)
        for each in (*plain, *head.args.kwonlyargs):
            if each.arg in passed.named and each.annotation is not None:
                self._annotations.unify(each.annotation, passed.named[each.arg], place, bound)
        return bound


def _is_one(heads: Sequence[Head], given: Given, *, receives: bool) -> bool:
    """Whether overloads say the same of all that a call passes."""
    if given.open_positional or given.open_keywords:
        return False
    told = set()
    for head in heads:
        plain = [*head.args.posonlyargs, *head.args.args][receives:]
        words = {each.arg: each for each in (*plain, *head.args.kwonlyargs)}
        taken = [*plain[: given.positional], *(words.get(each) for each in given.keywords)]
        notes = [each.annotation if each is not None else None for each in taken]
        told.add(tuple(ast.unparse(each) if each is not None else "" for each in notes))
    return len(told) == 1


def fitting(
    heads: Sequence[Head], given: Given, *, receives: bool, unbound: bool = False
) -> Sequence[Head]:
    """The overloads that take a call; all of them where none seems to."""
    if len(heads) < 2:
        return heads
    fit = []
    for head in heads:
        takes = parameters(head.args)
        static = any(ast.unparse(each) == "staticmethod" for each in head.decorator_list)
        takes = takes[1:] if receives and not static else takes
        if mismatch(takes, given, unbound=unbound) is None:
            fit.append(head)
    return fit or heads
