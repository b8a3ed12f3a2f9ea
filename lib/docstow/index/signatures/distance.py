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

from docstow.index.signatures.functions import WILDCARD, Function, Tree, Type, Variable

#: Distances beyond this are no match.
LIMIT = 1.7

#: An argument that was not asked for.
_EXTRA = 0.8
#: An argument that was asked for and is not there.
MISSING = 1.2
#: A type of the function for ``T`` of the query.
_CONCRETE = 0.5
#: Two variables of the function for one of the query.
_SHARED = 0.2
#: One variable of the function for two of the query.
_MERGED = 0.5
#: An argument of the function that may be anything, for a type.
_ARBITRARY = 0.45
#: An output of the function that may be anything and that no argument decides, for a type.
_UNDETERMINED = 0.8
MOST_EXTRA = 2

_SELF = "Self"

#: The place of the query's output; inputs are numbered from 0.
OUTPUT = -1

# Prices of differences, in units of distance.
#: ``T`` for ``&T``, ``&T`` for ``&mut T``.
_REFERENCE = 0.4
#: ``String`` for ``str``, ``Vec<T>`` for ``[T]``.
_OWNED = 0.5
#: ``Box<T>`` for ``T``.
_POINTER = 0.6
#: ``Option<T>`` for ``T``.
_WRAPPED = 1.0
#: ``impl Into<String>`` for ``String``, ``impl Iterator`` for ``Iterator``.
_CONVERTED = 0.15
#: A bound that was asked for and is not there.
_GENERIC = 0.3
#: ``T`` of the function for a type, in another type even if bounded: ``Vec<T>`` for ``Vec<u8>``.
_INSTANCE = 0.15
#: ``T::Output`` of the function for a type.
_PROJECTED = 0.6
#: ``T: Trait`` of the function for a type that the bound does not mention.
_BOUNDED = 0.8
#: ``T: AsRef<Path>`` of the function for a type that is known for no such conversion.
_FOREIGN = 1.2
#: Arguments left out (``Result<T>``, allocators), ``FnMut`` for ``Fn``.
_SLIGHT = 0.05

CALLED = frozenset(("fn", "Fn", "FnMut", "FnOnce", "AsyncFn", "AsyncFnMut", "AsyncFnOnce"))
_REFERENCES = frozenset(("&", "&mut"))
POINTERS = frozenset(("Box", "Rc", "Arc", "Cow", "Pin"))
WRAPPERS = frozenset(("Option", "Result", "Poll"))
#: Types of one kind: what owns and what is borrowed of it.
OWNERS = {
    "String": "str",
    "PathBuf": "Path",
    "OsString": "OsStr",
    "CString": "CStr",
    "Vec": "[]",
    "[;]": "[]",
}
#: Traits of the standard library that stand for types which their bounds do not mention.
_TAKES: Mapping[str, frozenset[str]] = {
    "SliceIndex": frozenset(("usize", "Range", "RangeFrom", "RangeTo", "RangeFull")),
    "Pattern": frozenset(("str", "String", "char")),
    "RangeBounds": frozenset(("Range", "RangeFrom", "RangeTo", "RangeFull", "RangeInclusive")),
    "ToSocketAddrs": frozenset(("SocketAddr", "str", "String")),
    "FromIterator": frozenset(
        (
            *("Vec", "VecDeque", "LinkedList", "BinaryHeap", "String", "[]"),
            *("HashMap", "HashSet", "BTreeMap", "BTreeSet"),
        )
    ),
}
#: Traits that nearly all types have: a bound by these says nothing.
_COMMON = frozenset(
    (
        *("Sized", "Send", "Sync", "Unpin", "Copy", "Clone", "Debug", "Default"),
        *("PartialEq", "Eq", "PartialOrd", "Ord", "Hash"),
    )
)
#: Traits whose argument says what is meant; a type is handed over for its sake.
_CONVERSIONS = frozenset(("AsRef", "AsMut", "Into", "TryInto"))
#: What converts into types of the standard library, both as they are borrowed.
_CONVERTS: Mapping[str, frozenset[str]] = {
    "Path": frozenset(("str", "OsStr", "Path", "Component", "Components")),
    "OsStr": frozenset(("str", "OsStr", "Path", "Component", "Components")),
    "str": frozenset(("str", "char")),
    "[]": frozenset(("str", "CStr")),
}
#: Traits that whatever has the other trait has as well.
_FROM_OTHERS: Mapping[str, str] = {"IntoIterator": "Iterator", "IntoFuture": "Future"}


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
            total = cost + price + _EXTRA * len(free) + self._undecided(bound, arbitrary)
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
        return _ARBITRARY * anything + _UNDETERMINED * (bool(output) and not decided[output])

    def _worth(self, cost: float) -> bool:
        return cost <= LIMIT if self.best is None else cost < self.best


def _arbitrary(wanted: Tree, given: BoundedType) -> str:
    """The function's variable, as good as unbounded, that a type, references aside, stands for."""
    one, other = _referred(wanted), _referred(given.tree)
    if isinstance(one, Variable) or isinstance(other, Type):
        return ""
    bounds = given.bounds.get(other.name, ())
    free = "::" not in other.name and all(bound.name in _COMMON for bound in bounds)
    return other.name if free else ""


def _referred(tree: Tree) -> Tree:
    while isinstance(tree, Type) and tree.name in _REFERENCES:
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
        cost += (_SHARED if of_query else _MERGED) * (len(different) - 1)
        if of_query and name != _SELF and (of_query, name) in types:
            cost += _CONCRETE
    return cost


class Unification:
    """Two types side by side. ``pairs`` are the bindings of variables that were met."""

    def __init__(
        self, asked: Mapping[str, tuple[Type, ...]], given: Mapping[str, tuple[Type, ...]]
    ) -> None:
        self.asked, self.given = asked, given
        self.pairs: list[tuple[Tree, Tree]] = []
        self._met: set[tuple[str, str]] = set()
        self._inside = 0

    def unify(self, q: Tree, i: Tree) -> float | None:
        """What must be bent between a type of the query and one of the function."""
        if q == WILDCARD or i == WILDCARD:
            return 0.0
        if isinstance(q, Variable):
            self.pairs.append((q, i))
            return self._variables(q, i) if isinstance(i, Variable) else self._concrete(q, i)
        if isinstance(i, Variable):
            self.pairs.append((q, i))
            return self._generic(q, i)
        if q.name in _REFERENCES or q.name != i.name:
            return self._arguments(q, i) if q.name == i.name else self._bent(q, i)
        self._inside += 1
        bent = self._arguments(q, i)
        self._inside -= 1
        return bent

    def _arguments(self, q: Type, i: Type) -> float | None:
        """The arguments of one constructor; trailing ones may be left out on either side."""
        if q.name == "()" and len(q.args) != len(i.args):
            return None
        cost = 0.0
        named = {each.name: each for each in i.args if _named(each)}
        places = [each for each in i.args if not _named(each)]
        used = 0
        for each in q.args:
            other: Tree | None
            if isinstance(each, Type) and _named(each):
                other = named.pop(each.name, None)
            else:
                other = places[used] if used < len(places) else None
                used += 1
            bent = _SLIGHT if other is None else self.unify(each, other)
            if bent is None:
                return None
            cost += bent
        return cost + _SLIGHT * (len(named) + max(0, len(places) - used))

    def _bent(self, q: Type, i: Type) -> float | None:
        """Constructors that differ: the first rule that applies."""
        if q.name in _REFERENCES and i.name in _REFERENCES:
            return self._plus(_REFERENCE, q.args[0], i.args[0])
        if q.name in _REFERENCES:
            return self._plus(_REFERENCE, q.args[0], i)
        if i.name in _REFERENCES:
            return self._plus(_REFERENCE, q, i.args[0])
        if OWNERS.get(q.name, q.name) == OWNERS.get(i.name, i.name):
            if not q.args or not i.args:
                return _OWNED
            return self._plus(_OWNED, q.args[0], i.args[0])
        if q.name in CALLED and i.name in CALLED:
            bent = self._arguments(q, i)
            return None if bent is None else bent + _SLIGHT
        if "dyn" in {q.name, i.name}:
            return self._dyn(q, i)
        for names, price in ((POINTERS, _POINTER), (WRAPPERS, _WRAPPED)):
            if q.name in names and q.args:
                return self._plus(price, q.args[0], i)
            if i.name in names and i.args:
                return self._plus(price, q, i.args[0])
        return None

    def _plus(self, price: float, q: Tree, i: Tree) -> float | None:
        bent = self.unify(q, i)
        return None if bent is None else price + bent

    def _dyn(self, q: Type, i: Type) -> float | None:
        inner, other = (q, i) if q.name == "dyn" else (i, q)
        named = any(isinstance(each, Type) and each.name == other.name for each in inner.args)
        return _CONVERTED if named else None

    def _variables(self, q: Variable, i: Variable) -> float | None:
        """Bounds that were asked for should be there; a closure stands for nothing else."""
        if (q.name, i.name) in self._met:  # bounds may name their own variable: T: Ord<T>
            return 0.0
        self._met.add((q.name, i.name))
        asked, given = self.asked.get(q.name, ()), self.given.get(i.name, ())
        cost = 0.0
        for bound in asked:
            bent = self._best_bound(bound, given)
            if bent is None and bound.name in CALLED:
                return None
            cost += _GENERIC if bent is None else bent
        if _called(given) is not None and _called(asked) is None:
            cost += _BOUNDED
        if not asked and any(isinstance(peeled(each), Type) for each in _converted(given)):
            cost += _BOUNDED
        return cost

    def _concrete(self, q: Variable, i: Type) -> float | None:
        """A type for a variable of the query; its price is that of the binding."""
        asked = self.asked.get(q.name, ())
        call = _called(asked)
        if call is not None:
            return self.unify(call, i) if i.name in CALLED else None
        return _GENERIC * len(asked)

    def _generic(self, q: Type, i: Variable) -> float | None:
        """A variable of the function for a type: its bounds may say that this type is meant."""
        bounds = self.given.get(i.name, ())
        bent = self._best_bound(q, bounds)
        if bent is not None:
            return bent + _CONVERTED
        if _called(bounds) is not None or q.name in CALLED:
            return None
        if not bounds and "::" in i.name:
            return _PROJECTED
        if self._inside or all(bound.name in _COMMON for bound in bounds):
            return _INSTANCE
        head = peeled(q)
        if not isinstance(head, Type):
            return _BOUNDED
        targets = [each for each in map(peeled, _converted(bounds)) if isinstance(each, Type)]
        if targets:
            return min(self._conversion(head, each) for each in targets)
        mentioned = [each for bound in bounds for each in bound.args]
        if any(_like(head, peeled(each)) for each in mentioned):
            return _CONVERTED
        if any(head.name in _TAKES.get(bound.name, ()) for bound in bounds):
            return _CONVERTED
        return _BOUNDED

    def _conversion(self, head: Type, target: Type) -> float:
        """A type for what may be anything that converts into the target."""
        one, other = (OWNERS.get(each.name, each.name) for each in (head, target))
        if one == other:
            mark = len(self.pairs)
            bent = self._arguments(head, target) if head.args and target.args else 0.0
            if bent is not None:
                return _CONVERTED + bent
            del self.pairs[mark:]
        elif one in _CONVERTS.get(other, ()):
            return _CONVERTED
        elif other not in _CONVERTS:
            return _BOUNDED
        return _FOREIGN

    def _best_bound(self, wanted: Type, bounds: Sequence[Type]) -> float | None:
        """The price of the bound that is most like a trait; None if there is none."""
        best: float | None = None
        kept: list[tuple[Tree, Tree]] = []
        mark = len(self.pairs)
        for bound in bounds:
            alike = wanted.name in {bound.name, _FROM_OTHERS.get(bound.name)}
            if alike or (bound.name in CALLED and wanted.name in CALLED):
                bent = self._arguments(wanted, bound)
                if bent is not None:
                    bent += 0.0 if bound.name == wanted.name else _SLIGHT
                if bent is not None and (best is None or bent < best):
                    best, kept = bent, self.pairs[mark:]
                del self.pairs[mark:]
        self.pairs += kept
        return best


def peeled(tree: Tree) -> Tree:
    """A type without references, pointers and wrappers around it."""
    while (
        isinstance(tree, Type)
        and tree.args
        and (tree.name in _REFERENCES or tree.name in POINTERS or tree.name in WRAPPERS)
    ):
        tree = tree.args[0]
    return tree


def _like(one: Type, other: Tree) -> bool:
    name = OWNERS.get(one.name, one.name)
    return isinstance(other, Type) and name == OWNERS.get(other.name, other.name)


def _converted(bounds: Sequence[Type]) -> list[Tree]:
    """What the bounds say that a type is converted into."""
    return [each for bound in bounds if bound.name in _CONVERSIONS for each in bound.args]


def _named(tree: Tree) -> bool:
    return isinstance(tree, Type) and tree.name[0] == "=" and len(tree.name) > 1


def _called(bounds: Sequence[Type]) -> Type | None:
    return next((bound for bound in bounds if bound.name in CALLED), None)
