"""Types and functions as small trees, which search compares ten thousand times a query."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TypeAlias


@dataclass(frozen=True, slots=True)
class Type:
    """A constructor with its arguments.

    Attributes:
        name: a path's last segment; ``&``, ``&mut``, ``*const``, ``*mut``, ``[]`` (slice), ``[;]``
            (array: element, length), ``()`` (tuple; unit has no arguments), ``!``, ``dyn``;
            ``=Item`` for ``Item = T`` among a trait's arguments. ``fn(A) -> B`` and ``Fn(A) -> B``
            have two arguments, the tuple of inputs and the output.
        args: arguments in order; lifetimes are left out.
    """

    name: str
    args: tuple[Tree, ...] = ()


@dataclass(frozen=True, slots=True)
class Variable:
    """What may stand for any type: ``T``, ``T::Item``, ``impl Trait``; ``_`` is never bound."""

    name: str


Tree: TypeAlias = Type | Variable
WILDCARD = Variable("_")
UNIT = Type("()")
NO_BOUNDS: Mapping[str, tuple[Type, ...]] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Function:
    """The types of a function.

    Attributes:
        inputs: argument types, the receiver among them.
        output: None if a query leaves it open.
        bounds: variable to the traits that it is bound by.
        name: the function's name; empty if none was given.
    """

    inputs: tuple[Tree, ...]
    output: Tree | None
    bounds: Mapping[str, tuple[Type, ...]] = field(default_factory=lambda: NO_BOUNDS)
    name: str = ""


def nodes(tree: Tree) -> Iterator[Tree]:
    """Yield the tree and everything in it, outermost first."""
    yield tree
    if isinstance(tree, Type):
        for each in tree.args:
            yield from nodes(each)


def replaced(tree: Tree, by: Mapping[str, Tree]) -> Tree:
    """Return the tree with variables replaced by name."""
    if isinstance(tree, Variable):
        return by.get(tree.name, tree)
    if not tree.args:
        return tree
    return Type(tree.name, tuple(replaced(each, by) for each in tree.args))


def canonical(function: Function) -> Function:
    """Return the function with variables numbered as they occur, and without its name.

    The numbers of projections (``T::Item``) end in ``::``.
    """
    names: dict[str, Tree] = {"_": WILDCARD}
    kept: dict[str, tuple[Type, ...]] = {}
    # The output first: functions with one output then share its numbered form.
    trees = [*([function.output] if function.output is not None else []), *function.inputs]
    for tree in trees:
        _number(tree, function.bounds, names)

    def renamed(tree: Tree) -> Tree:
        return replaced(tree, names)

    for name, number in list(names.items()):
        if function.bounds.get(name) and isinstance(number, Variable):
            bounds = (replaced(each, names) for each in function.bounds[name])
            kept[number.name] = tuple(each for each in bounds if isinstance(each, Type))
    output = None if function.output is None else renamed(function.output)
    return Function(tuple(renamed(each) for each in function.inputs), output, kept)


def _number(tree: Tree, bounds: Mapping[str, tuple[Type, ...]], names: dict[str, Tree]) -> None:
    for node in nodes(tree):
        if isinstance(node, Variable) and node.name not in names:
            mark = "::" if "::" in node.name else ""
            names[node.name] = Variable(f"${len(names)}{mark}")
            for bound in bounds.get(node.name, ()):
                _number(bound, bounds, names)
