"""The signatures of one crate's functions, and which of them match a query."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from docstow.core.model import DERIVED, WRITTEN
from docstow.index.signatures.distance import (
    CALLED,
    LIMIT,
    MISSING,
    MOST_EXTRA,
    OUTPUT,
    OWNERS,
    POINTERS,
    WRAPPERS,
    BoundedType,
    Measure,
    peeled,
)
from docstow.index.signatures.functions import (
    UNIT,
    Function,
    Tree,
    Type,
    Variable,
    nodes,
    number_variables,
    read_alias,
    read_declared_type,
    read_functions,
    substitute,
)
from docstow.index.signatures.syntax import BadSignature

#: A query has no more arguments: assignments grow with their factorial.
MOST_ARGUMENTS = 10


#: Names that every crate may use: primitives and what the rules of unification name.
KNOWN = frozenset(
    (
        *("bool", "char", "str", "f32", "f64", "dyn"),
        *("u8", "u16", "u32", "u64", "u128", "usize"),
        *("i8", "i16", "i32", "i64", "i128", "isize"),
        *(*CALLED, *OWNERS, *OWNERS.values(), *POINTERS, *WRAPPERS),
    )
)


# Keys of postings besides names of types: a variable, and something that can be called.
_ANY = "*"
_CALL = "fn"


class SignatureIndex:
    """Distinct signatures with the rows that have them.

    Args:
        functions: (row, signature) pairs; a row may have several.
        names: types that exist besides those in signatures: the crate's own.
    """

    def __init__(self, functions: Iterable[tuple[int, Function]], names: Iterable[str]) -> None:
        numbers: dict[object, int] = {}
        distinct: list[Function] = []
        self._rows: list[list[int]] = []
        for row, function in functions:
            found = number_variables(function)
            key = found.inputs, found.output, tuple(found.bounds.items())
            number = numbers.setdefault(key, len(distinct))
            if number == len(distinct):
                distinct.append(found)
                self._rows.append([])
            self._rows[number].append(row)
        self._given: dict[tuple[Tree, tuple[tuple[str, tuple[Type, ...]], ...]], int] = {}
        self._inputs = [[self._number(each, found) for each in found.inputs] for found in distinct]
        self._outputs = np.array(
            [self._number(found.output or UNIT, found) for found in distinct], np.int32
        )
        self._types = [BoundedType(tree, dict(bounds)) for tree, bounds in self._given]
        self._arity = np.array([len(found.inputs) for found in distinct], np.int16)
        self._by_input = _postings([_input_keys(found) for found in distinct])
        self._by_output = _postings([_output_keys(found) for found in distinct])
        self.names = {*KNOWN, *names, *(name for found in distinct for name in _names(found))}

    def __len__(self) -> int:
        return len(self._rows)

    def unknown_names(self, query: Function) -> list[str]:
        """Return the names of a query that no type or trait here has, in alphabetical order."""
        return sorted(name for name in set(_names(query)) if name not in self.names)

    def distances(self, query: Function) -> dict[int, float]:
        """Return the rows that match, each with its smallest distance."""
        query = _with_variables(query, self.unknown_names(query))
        measure = Measure(query, self._types)
        found: dict[int, float] = {}
        for number in self._within(measure, self._candidates(query)):
            far = measure.distance(self._inputs[number], int(self._outputs[number]))
            if far is not None:
                for row in self._rows[number]:
                    found[row] = min(far, found.get(row, far))
        return found

    def _within(self, measure: Measure, candidates: NDArray[np.int64]) -> list[int]:
        """Return the candidates whose lower bound, without assigning arguments, is near enough."""
        if measure.query.output is not None:
            outputs, places = np.unique(self._outputs[candidates], return_inverse=True)
            costs = np.array([_output_cost(measure, OUTPUT, each) for each in outputs.tolist()])
            candidates = candidates[costs[places] <= LIMIT] if len(costs) else candidates
        kept = []
        asked = range(len(measure.query.inputs))
        for number in candidates.tolist():
            bent = measure.bent(OUTPUT, int(self._outputs[number]))
            least = bent.cost if bent is not None else 0.0
            inputs, missing = self._inputs[number], 0
            for place in asked:
                costs_here = [b.cost for i in inputs if (b := measure.bent(place, i)) is not None]
                least += min(costs_here, default=MISSING)
                missing += not costs_here
            if missing <= 1 and least <= LIMIT:
                kept.append(number)
        return kept

    def _number(self, tree: Tree, function: Function) -> int:
        """Return the number of a type together with the bounds of its variables."""
        bounds: dict[str, tuple[Type, ...]] = {}
        trees = [tree]
        while trees:
            for node in nodes(trees.pop()):
                if not isinstance(node, Variable) or node.name in bounds:
                    continue
                if found := function.bounds.get(node.name):
                    bounds[node.name] = found
                    trees += found
        return self._given.setdefault((tree, tuple(bounds.items())), len(self._given))

    def _candidates(self, query: Function) -> NDArray[np.int64]:
        """Return the signatures whose arity and outermost types allow a match."""
        asked = len(query.inputs)
        allowed = (self._arity >= asked - 1) & (self._arity <= asked + MOST_EXTRA)
        if query.output is not None and (key := _required_key(query.output, query)) is not None:
            allowed &= self._having(self._by_output, key)
        keys = [key for each in query.inputs if (key := _required_key(each, query)) is not None]
        if keys:
            hits = np.zeros(len(self), np.int16)
            for key in keys:
                hits += self._having(self._by_input, key)
            # One argument may be missing, but not the only one.
            allowed &= hits >= max(1 if asked == 1 else 0, len(keys) - 1)
        return np.flatnonzero(allowed)

    def _having(self, postings: Mapping[str, NDArray[np.int32]], key: str) -> NDArray[np.bool_]:
        """Return which signatures have that key, or a variable that could be it."""
        mask = np.zeros(len(self), np.bool_)
        for each in (key,) if key == _CALL else (key, _ANY):
            if each in postings:
                mask[postings[each]] = True
        return mask


def _with_variables(function: Function, names: Sequence[str]) -> Function:
    """Return the function with these names read as variables."""
    if not names:
        return function
    chosen = frozenset(names)

    def read(tree: Tree) -> Tree:
        if isinstance(tree, Variable):
            return tree
        if tree.name in chosen:
            return Variable(tree.name)
        return Type(tree.name, tuple(read(each) for each in tree.args))

    return function.map(read)


def _postings(keys: Sequence[frozenset[str]]) -> Mapping[str, NDArray[np.int32]]:
    found: defaultdict[str, list[int]] = defaultdict(list)
    for number, each in enumerate(keys):
        for key in each:
            found[key].append(number)
    return {key: np.array(numbers, np.int32) for key, numbers in found.items()}


def _input_keys(function: Function) -> frozenset[str]:
    return frozenset(key for each in function.inputs for key in _keys(each, function))


def _output_keys(function: Function) -> frozenset[str]:
    return frozenset(_keys(function.output, function)) if function.output else frozenset()


def _keys(tree: Tree, function: Function) -> Iterator[str]:
    """Yield the keys under which a type of a signature is found."""
    head = peeled(tree)
    if isinstance(head, Variable):
        bounds = function.bounds.get(head.name, ())
        if any(bound.name in CALLED for bound in bounds):
            yield _CALL
        else:
            yield _ANY
        return
    yield _key(head)
    if head.name == "dyn":
        yield from (_key(each) for each in head.args if isinstance(each, Type))


def _required_key(tree: Tree, query: Function) -> str | None:
    """Return the key that a type of a query needs; None if anything may do."""
    head = peeled(tree)
    if isinstance(head, Variable):
        return _CALL if any(b.name in CALLED for b in query.bounds.get(head.name, ())) else None
    return None if head.name == "dyn" else _key(head)


def _key(head: Type) -> str:
    return _CALL if head.name in CALLED else OWNERS.get(head.name, head.name)


def _names(function: Function) -> Iterator[str]:
    """Yield the names of all types and traits of a signature."""
    trees: list[Tree] = [*function.inputs, *(b for of in function.bounds.values() for b in of)]
    trees += [function.output] if function.output is not None else []
    for tree in trees:
        for node in nodes(tree):
            if isinstance(node, Type) and node.name.isidentifier():
                yield node.name


def _output_cost(measure: Measure, place: int, number: int) -> float:
    bent = measure.bent(place, number)
    return np.inf if bent is None else bent.alone


#: What awaiting a future gives; its type is not known.
_YIELDED = Variable("Future::Output")


_OWNERS = frozenset(("struct", "enum", "union", "trait"))


_FUNCTIONS = frozenset(("function", "method"))


#: The types of primitives whose names do not say so.
_PRIMITIVES: Mapping[str, Tree] = {
    "slice": Type("[]", (Variable("T"),)),
    "array": Type("[;]", (Variable("T"), Variable("N"))),
    "pointer": Type("*const", (Variable("T"),)),
    "reference": Type("&", (Variable("T"),)),
    "unit": Type("()"),
    "never": Type("!"),
    "tuple": Variable("Self"),
    "fn": Variable("Self"),
}


@dataclass(frozen=True, slots=True)
class DeclaredItem:
    """A row of the documents table; ``signature`` as a user would write it."""

    path: str
    kind: str
    title: str
    signature: str
    parent: str


@dataclass(frozen=True, slots=True)
class _Owner:
    type: Tree
    parameters: tuple[str, ...] = ()
    trait: Type | None = None


@dataclass(frozen=True, slots=True)
class _Alias:
    module: str
    parameters: tuple[str, ...]
    target: Tree


class CrateSignatures:
    """The signatures of one crate's functions.

    Args:
        rows: the documents, in the order of their row numbers.
        futures: the paths of types that implement ``Future``; what they yield is not known.

    Attributes:
        index: finds the rows whose signatures match.
    """

    def __init__(self, rows: Sequence[DeclaredItem], futures: Collection[str] = ()) -> None:
        # A box of a future is one, but most boxes hold none.
        self._futures = {row.title for row in rows if row.path in futures} - POINTERS
        self._aliases = _read_aliases(rows)
        owners = {row.path: owner for row in rows if (owner := _read_owner(row)) is not None}
        names = [row.title for row in rows if row.kind in _OWNERS]
        names += [name for name, _ in self._aliases]
        self.index = SignatureIndex(self._functions(rows, owners), names)

    @classmethod
    def from_tables(
        cls, columns: Mapping[str, NDArray[Any]], relations: Mapping[str, NDArray[Any]]
    ) -> CrateSignatures:
        """Make them from the columns of the documents and relations tables."""
        names = ("path", "kind", "title", "signature", "parent")
        rows = [
            DeclaredItem(*each)
            for each in zip(*(columns[name].tolist() for name in names), strict=True)
        ]
        for number, text in enumerate(columns["attributes"]):
            if '"impl":' in text:
                block = json.loads(text)["impl"]
                signature = f"{block} {{\n{rows[number].signature}\n}}"
                rows[number] = replace(rows[number], signature=signature)
        futures = relations["subject"][
            np.isin(relations["predicate"], (WRITTEN, DERIVED))
            & np.array([str(each).endswith("::Future") for each in relations["object"]], bool)
        ]
        return cls(rows, frozenset(futures.tolist()))

    def expand_aliases(self, function: Function, path: str) -> Function:
        """Return the function with the crate's type aliases replaced by what they mean.

        Args:
            function: as it is written.
            path: where; an alias of a module that is above it is meant before another.
        """
        if not self._aliases:
            return function

        def expand(tree: Tree) -> Tree:
            if isinstance(tree, Variable):
                return tree
            args = tuple(expand(each) for each in tree.args)
            alias = self._resolve_alias(tree.name, len(args), path)
            if alias is None:
                return Type(tree.name, args)
            return substitute(alias.target, dict(zip(alias.parameters, args, strict=True)))

        output = None if function.output is None else expand(function.output)
        bounds = {
            name: tuple(Type(b.name, tuple(expand(each) for each in b.args)) for b in found)
            for name, found in function.bounds.items()
        }
        return Function(tuple(map(expand, function.inputs)), output, bounds, function.name)

    def _resolve_alias(self, name: str, arguments: int, path: str) -> _Alias | None:
        """Return the alias in scope, or the only one, unless it could be the prelude's type."""
        found = self._aliases.get((name, arguments), [])
        above = [each for each in found if path.startswith(f"{each.module}::")]
        if above:
            return max(above, key=lambda each: len(each.module))
        return found[0] if len(found) == 1 and name not in WRAPPERS else None

    def _functions(
        self, rows: Sequence[DeclaredItem], owners: Mapping[str, _Owner]
    ) -> Iterator[tuple[int, Function]]:
        for number, row in enumerate(rows):
            if row.kind not in _FUNCTIONS:
                continue
            owner = owners.get(row.parent) if row.kind == "method" else None
            try:
                for found in _read_functions(row.signature, owner):
                    function = self.expand_aliases(found, row.path)
                    yield number, function
                    output = function.output
                    if isinstance(output, Type) and output.name in self._futures:
                        yield number, Function(function.inputs, _YIELDED, function.bounds)
            except BadSignature:
                # Text that a macro of the crate has left unexpanded is no Rust.
                continue


def _read_owner(row: DeclaredItem) -> _Owner | None:
    if row.kind == "primitive":
        return _Owner(_PRIMITIVES.get(row.title, Type(row.title)))
    if row.kind not in _OWNERS:
        return None
    try:
        found, parameters = read_declared_type(row.signature)
    except BadSignature:
        found, parameters = Type(row.title), ()
    if row.kind == "trait":
        return _Owner(Variable("Self"), parameters, found)
    return _Owner(found, parameters)


def _read_functions(signature: str, owner: _Owner | None) -> list[Function]:
    if owner is None:
        return read_functions(signature)
    found = read_functions(signature, owner.parameters, owner.type)
    return [_bind_self(each, owner.trait) for each in found] if owner.trait is not None else found


def _bind_self(function: Function, trait: Type) -> Function:
    """Return a trait's method with ``Self`` bound to the trait."""
    bounds = {**function.bounds, "Self": (*function.bounds.get("Self", ()), trait)}
    return replace(function, bounds=bounds)


def _read_aliases(rows: Sequence[DeclaredItem]) -> dict[tuple[str, int], list[_Alias]]:
    """Return the type aliases by name and number of arguments."""
    found: defaultdict[tuple[str, int], list[_Alias]] = defaultdict(list)
    for row in rows:
        if row.kind != "type_alias":
            continue
        try:
            name, parameters, target = read_alias(row.signature)
        except BadSignature:
            # Rustdoc prints aliases made by macros with the macro's own ``$names``.
            continue
        defaults = {each: tree for each, tree in parameters.items() if tree is not None}
        for count in range(len(parameters) - len(defaults), len(parameters) + 1):
            names = tuple(parameters)[:count]
            left = {each: tree for each, tree in defaults.items() if each not in names}
            found[name, count].append(_Alias(row.parent, names, substitute(target, left)))
    return found
