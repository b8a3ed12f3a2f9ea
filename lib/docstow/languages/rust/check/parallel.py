"""Rayon's iterators, whose docs name what they give by associated types alone."""

from __future__ import annotations

from collections.abc import Sequence

from docstow.languages.rust.check import chains
from docstow.languages.rust.check.chains import Evaluated
from docstow.languages.rust.check.crate_items import CrateNames
from docstow.languages.rust.check.std import SLICE
from docstow.languages.rust.check.types import ITERATOR, Type, iterator, standard_type

#: Paths of the traits that all of them have.
_TRAITS = frozenset(f"rayon::iter::{each}ParallelIterator" for each in ("", "Indexed"))
_FOLDING = frozenset({"fold", "try_fold"})
#: Methods that begin with what any collection has, and those that begin with what lists have.
_OF_ANY = frozenset({"par_iter", "par_iter_mut", "into_par_iter", "par_bridge"})
_OF_LISTS = frozenset(
    {"par_chunks", "par_chunks_mut", "par_chunks_exact", "par_windows", "par_rchunks"}
)
BEGINNING = _OF_ANY | _OF_LISTS


def is_parallel(owner: Type) -> bool:
    """Tell whether a value is one of Rayon's iterators."""
    return owner.name in _TRAITS and not owner.through


def begun(owner: Type, name: str, item: Type | None, rayon: CrateNames) -> Type:
    """Return what a method of :data:`BEGINNING` makes of a value that holds such items."""
    is_indexed = owner.name in chains.LISTS or name in _OF_LISTS
    held = standard_type(SLICE, item) if name in _OF_LISTS else item
    return Type(f"rayon::iter::{'Indexed' if is_indexed else ''}ParallelIterator", rayon, (held,))


def returned(
    owner: Type, name: str, closure: Evaluated, argument: Evaluated, first: Evaluated
) -> tuple[Type | None, bool]:
    """Return what a method gives, and whether it is here, as :func:`chains.returned` does.

    Args:
        owner: the type of the value.
        name: of the method.
        closure: returns what the call's closure gives.
        argument: returns the type of the call's only argument.
        first: returns what a fold begins with.
    """
    if name == "reduce":
        return owner.inner, True
    if name in _FOLDING:
        return Type(owner.name, owner.crate, (first(),)), True
    given, known = chains.returned(iterator(owner.inner), name, closure, argument)
    if given is not None and given.name == ITERATOR:
        return Type(owner.name, owner.crate, given.args), True
    return given, known


def closure_inputs(owner: Type, name: str, first: Evaluated) -> Sequence[Type | None]:
    """Return what a method gives to its last closure."""
    return (first() if name in _FOLDING else owner.inner, owner.inner)
