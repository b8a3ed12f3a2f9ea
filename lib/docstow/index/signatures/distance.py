"""The distance of a function's signature from the one that was asked for.

Both sides may hold variables. A variable of the function may stand for any one type of the query
(it is more general than asked for, which is cheap where its bounds or another argument say
which, and dear where it may be anything at all); a variable of the query that stands for a
concrete type costs more. The order of arguments plays no part: of all assignments the cheapest
counts, so that neither permuting arguments nor renaming variables changes a distance.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from docstow.index.signatures.tree import Function, Tree, Type, Variable
from docstow.index.signatures.unify import COMMON, REFERENCES, Unification

#: Distances beyond this are no match.
LIMIT = 1.7

EXTRA = 0.8
"""An argument that was not asked for."""
MISSING = 1.2
"""An argument that was asked for and is not there."""
CONCRETE = 0.5
"""A type of the function for ``T`` of the query."""
SHARED = 0.2
"""Two variables of the function for one of the query."""
MERGED = 0.5
"""One variable of the function for two of the query."""
ARBITRARY = 0.45
"""An argument of the function that may be anything, for a type."""
UNDETERMINED = 0.8
"""An output of the function that may be anything and that no argument decides, for a type."""
MOST_EXTRA = 2

_SELF = "Self"


@dataclass(frozen=True, slots=True)
class BoundedType:
    """A type of a function, with the bounds of the variables in it."""

    tree: Tree
    bounds: Mapping[str, tuple[Type, ...]]


@dataclass(frozen=True, slots=True)
class Alignment:
    """How a type of the query and one of a function come together.

    Attributes:
        cost: what is bent.
        alone: the same with the price of the bindings.
        bindings: the variables that are bound.
        arbitrary: the function's unbounded variable that a type stands for as a whole, or empty.
    """

    cost: float
    alone: float
    bindings: tuple[_Binding, ...]
    arbitrary: str = ""


@dataclass(frozen=True, slots=True)
class _Binding:
    """A variable of one side and what it stands for, numbered so that comparing is cheap."""

    of_query: bool
    name: str
    value: int
    is_type: bool


OUTPUT = -1
"""The place of the query's output; inputs are numbered from 0."""


class Measure:
    """Distances from one query. What is bent between two types is worked out once.

    Args:
        query: what is asked for.
        given: the distinct types of all functions; functions name them by their numbers.
    """

    def __init__(self, query: Function, given: Sequence[BoundedType]) -> None:
        self.query = query
        self._given = given
        self._known: dict[tuple[int, int], Alignment | None] = {}
        self._values: dict[Tree, int] = {}

    def distance(self, inputs: Sequence[int], output: int) -> float | None:
        """What must be bent to use a function as asked; 0 for nothing, None if it is no match.

        Args:
            inputs: the numbers of the types of its inputs.
            output: the number of its output's type.
        """
        whole = Alignment(0.0, 0.0, ())
        if self.query.output is not None:
            bent = self.bent(OUTPUT, output)
            if bent is None:
                return None
            whole = bent
        assignment = _Assignment(self, whole)
        assignment.assign(0, inputs, whole.cost, (), (), missing=False)
        return assignment.best

    def bent(self, place: int, number: int) -> Alignment | None:
        """How the type at a place of the query and one of a function come together."""
        key = place, number
        if key not in self._known:
            self._known[key] = self._compare(place, number)
        return self._known[key]

    def _compare(self, place: int, number: int) -> Alignment | None:
        wanted = self.query.output if place == OUTPUT else self.query.inputs[place]
        if wanted is None:
            return Alignment(0.0, 0.0, ())
        given = self._given[number]
        pair = Unification(self.query.bounds, given.bounds)
        cost = pair.unify(wanted, given.tree)
        if cost is None:
            return None
        bound = tuple(self._numbered(pair.pairs))
        price = _price(bound)
        if price is None:
            return None
        return Alignment(cost, cost + price, bound, _arbitrary(wanted, given))

    def _numbered(self, pairs: Sequence[tuple[Tree, Tree]]) -> Iterator[_Binding]:
        values = self._values
        for q, i in pairs:
            for of_query, one, other in ((True, q, i), (False, i, q)):
                if isinstance(one, Variable):
                    value = values.setdefault(other, len(values))
                    yield _Binding(of_query, one.name, value, isinstance(other, Type))


class _Assignment:
    """The cheapest way to hand a query's arguments to a function."""

    def __init__(self, measure: Measure, output: Alignment) -> None:
        self.measure = measure
        self.output = output
        self.best: float | None = None

    def assign(
        self,
        place: int,
        free: Sequence[int],
        cost: float,
        bound: tuple[_Binding, ...],
        arbitrary: tuple[str, ...],
        *,
        missing: bool,
    ) -> None:
        """Assign the query's inputs from ``place`` on to what is free.

        ``bound`` and ``arbitrary`` are those of the inputs so far.
        """
        price = _price((*self.output.bindings, *bound))
        if price is None or not self._worth(cost + price):
            return
        asked = len(self.measure.query.inputs)
        if place == asked:
            total = cost + price + EXTRA * len(free) + self._undecided(bound, arbitrary)
            if len(free) <= MOST_EXTRA and self._worth(total):
                self.best = total
            return
        for at, number in enumerate(free):
            if number in free[:at]:
                continue
            bent = self.measure.bent(place, number)
            if bent is not None:
                rest = [*free[:at], *free[at + 1 :]]
                further = bound + bent.bindings
                anything = (*arbitrary, bent.arbitrary) if bent.arbitrary else arbitrary
                self.assign(place + 1, rest, cost + bent.cost, further, anything, missing=missing)
        if not missing and asked > 1:
            self.assign(place + 1, free, cost + MISSING, bound, arbitrary, missing=True)

    def _undecided(self, bound: Sequence[_Binding], arbitrary: Sequence[str]) -> float:
        """The price of what may be anything and is decided by no argument that holds it."""
        decided = Counter(each.name for each in bound if not each.of_query)
        anything = sum(decided[name] == arbitrary.count(name) for name in set(arbitrary))
        output = self.output.arbitrary
        return ARBITRARY * anything + UNDETERMINED * (bool(output) and not decided[output])

    def _worth(self, cost: float) -> bool:
        return cost <= LIMIT if self.best is None else cost < self.best


def _arbitrary(wanted: Tree, given: BoundedType) -> str:
    """The function's variable, as good as unbounded, that a type, references aside, stands for."""
    one, other = _referred(wanted), _referred(given.tree)
    if isinstance(one, Variable) or isinstance(other, Type):
        return ""
    bounds = given.bounds.get(other.name, ())
    free = "::" not in other.name and all(bound.name in COMMON for bound in bounds)
    return other.name if free else ""


def _referred(tree: Tree) -> Tree:
    while isinstance(tree, Type) and tree.name in REFERENCES:
        tree = tree.args[0]
    return tree


def _price(bound: Sequence[_Binding]) -> float | None:
    """What the bindings of variables cost together; None if they contradict each other.

    The price depends on the set of bindings alone, not on their order.
    """
    values: dict[tuple[bool, str], set[int]] = {}
    types: dict[tuple[bool, str], int] = {}
    for each in bound:
        variable = each.of_query, each.name
        values.setdefault(variable, set()).add(each.value)
        if each.is_type and types.setdefault(variable, each.value) != each.value:
            return None
    cost = 0.0
    for (of_query, name), different in values.items():
        cost += (SHARED if of_query else MERGED) * (len(different) - 1)
        if of_query and name != _SELF and (of_query, name) in types:
            cost += CONCRETE
    return cost
