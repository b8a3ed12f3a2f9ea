"""The catalogue of a crate: its functions with receivers and aliases made plain.

This room knows how owners, traits and type aliases turn up in signatures. It does not know where
the rows come from.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from docstow.index.signatures.catalogue import Catalogue
from docstow.index.signatures.parser__shapes_lexer import BadSignature
from docstow.index.signatures.parser__shapes_parser import alias, declarations, owner_type
from docstow.index.signatures.tree import Function, Tree, Type, Variable, replaced
from docstow.index.signatures.unify import POINTERS, WRAPPERS

#: What awaiting a future gives.
YIELDED = Variable("Future::Output")

_OWNERS = frozenset(("struct", "enum", "union", "trait"))
_FUNCTIONS = frozenset(("function", "method"))
#: What methods on a primitive's page are methods of, where its name does not say so.
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
class Row:
    """What a documents table says of an item; ``signature`` as a user would write it."""

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


class Shapes:
    """A crate's functions by shape.

    Args:
        rows: the documents, in the order of their row numbers.
        futures: the paths of types that implement ``Future``; what they yield is not known.
    """

    def __init__(self, rows: Sequence[Row], futures: Collection[str] = ()) -> None:
        # A box of a future is one, but most boxes hold none.
        self._futures = {row.title for row in rows if row.path in futures} - POINTERS
        self._aliases = _aliases(rows)
        owners = {row.path: owner for row in rows if (owner := _owner(row)) is not None}
        names = [row.title for row in rows if row.kind in _OWNERS]
        names += [name for name, _ in self._aliases]
        self.catalogue = Catalogue(self._functions(rows, owners), names)

    def plain(self, function: Function, path: str) -> Function:
        """The function with the crate's type aliases replaced by what they mean.

        Args:
            function: as it is written.
            path: where; an alias of a module that is above it is meant before another.
        """
        if not self._aliases:
            return function

        def plain(tree: Tree) -> Tree:
            if isinstance(tree, Variable):
                return tree
            args = tuple(plain(each) for each in tree.args)
            meant = self._meant(tree.name, len(args), path)
            if meant is None:
                return Type(tree.name, args)
            return replaced(meant.target, dict(zip(meant.parameters, args, strict=True)))

        output = None if function.output is None else plain(function.output)
        bounds = {
            name: tuple(Type(b.name, tuple(plain(each) for each in b.args)) for b in found)
            for name, found in function.bounds.items()
        }
        return Function(tuple(map(plain, function.inputs)), output, bounds, function.name)

    def _meant(self, name: str, arguments: int, path: str) -> _Alias | None:
        """The alias that is in scope, or the only one, unless it could be the prelude's type."""
        found = self._aliases.get((name, arguments), [])
        above = [each for each in found if path.startswith(f"{each.module}::")]
        if above:
            return max(above, key=lambda each: len(each.module))
        return found[0] if len(found) == 1 and name not in WRAPPERS else None

    def _functions(
        self, rows: Sequence[Row], owners: Mapping[str, _Owner]
    ) -> Iterator[tuple[int, Function]]:
        for number, row in enumerate(rows):
            if row.kind not in _FUNCTIONS:
                continue
            owner = owners.get(row.parent) if row.kind == "method" else None
            try:
                for found in _declared(row.signature, owner):
                    shape = self.plain(found, row.path)
                    yield number, shape
                    if isinstance(shape.output, Type) and shape.output.name in self._futures:
                        yield number, Function(shape.inputs, YIELDED, shape.bounds)
            except BadSignature:
                # Text that a macro of the crate has left unexpanded: no Rust, no shape.
                continue


def _owner(row: Row) -> _Owner | None:
    if row.kind == "primitive":
        return _Owner(_PRIMITIVES.get(row.title, Type(row.title)))
    if row.kind not in _OWNERS:
        return None
    try:
        found, parameters = owner_type(row.signature)
    except BadSignature:
        found, parameters = Type(row.title), ()
    if row.kind == "trait":
        return _Owner(Variable("Self"), parameters, found)
    return _Owner(found, parameters)


def _declared(signature: str, owner: _Owner | None) -> list[Function]:
    if owner is None:
        return declarations(signature)
    found = declarations(signature, owner.parameters, owner.type)
    return [_of_trait(each, owner.trait) for each in found] if owner.trait is not None else found


def _of_trait(function: Function, trait: Type) -> Function:
    """A trait's method: whatever ``Self`` is, it has the trait."""
    bounds = {**function.bounds, "Self": (*function.bounds.get("Self", ()), trait)}
    return Function(function.inputs, function.output, bounds, function.name)


def _aliases(rows: Sequence[Row]) -> dict[tuple[str, int], list[_Alias]]:
    """Type aliases by name and number of arguments."""
    found: defaultdict[tuple[str, int], list[_Alias]] = defaultdict(list)
    for row in rows:
        if row.kind != "type_alias":
            continue
        try:
            name, parameters, target = alias(row.signature)
        except BadSignature:
            # Rustdoc prints aliases made by macros with the macro's own ``$names``.
            continue
        defaults = {each: tree for each, tree in parameters.items() if tree is not None}
        for count in range(len(parameters) - len(defaults), len(parameters) + 1):
            names = tuple(parameters)[:count]
            left = {each: tree for each, tree in defaults.items() if each not in names}
            meant = _Alias(row.parent, names, replaced(target, left))
            found[name, count].append(meant)
    return found
