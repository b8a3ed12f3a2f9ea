"""Families of implementations that macros write: for arrays and tuples of each size."""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

T = TypeVar("T")

#: So many implementations of one shape are shown as one.
_LEAST = 3

_LENGTH = re.compile(r";\s*(\d+)\]")
_WHERE = re.compile(r"\swhere\s")


@dataclass(frozen=True, slots=True)
class Family(Generic[T]):
    """Rows that differ only in the length of arrays or the size of tuples, the smallest first.

    Attributes:
        rows: one, or :data:`_LEAST` and more.
        sizes: of the arrays or tuples as ranges: ``0-32, 64``; empty for one row.
    """

    rows: tuple[T, ...]
    sizes: str = ""


def group_families(
    rows: Sequence[T], header: Callable[[T], str], alike: Callable[[T], Hashable]
) -> list[Family[T]]:
    """Return rows in families, each in the place of its first row.

    Args:
        rows: implementations.
        header: gives the header of a row's impl block.
        alike: what else members of a family have in common.
    """
    shapes = [(alike(row), *shape_of(header(row))) for row in rows]
    members: dict[Hashable, list[tuple[tuple[int, ...], int]]] = {}
    for place, (common, shape, sizes) in enumerate(shapes):
        if sizes:
            members.setdefault((common, shape), []).append((sizes, place))
    found = []
    for place, (common, shape, sizes) in enumerate(shapes):
        family = sorted(members.get((common, shape), [])) if sizes else []
        if len(family) < _LEAST or len({each for each, _ in family}) == 1:
            found.append(Family((rows[place],)))
        elif place == min(each for _, each in family):
            ranges = _ranges([max(each) for each, _ in family])
            found.append(Family(tuple(rows[each] for _, each in family), ranges))
    return found


def shape_of(header: str) -> tuple[str, tuple[int, ...]]:
    """Return the trait and type of a header without lengths and sizes; and these.

    Bounds are left out: they grow with a tuple. Tuples are those of type parameters alone, as
    ``(T1, T2)`` and the arguments of ``fn(A, B)``.
    """
    generics, rest = _split_generics(_WHERE.split(header, maxsplit=1)[0])
    sizes: list[int] = []

    def length(match: re.Match[str]) -> str:
        sizes.append(int(match[1]))
        return "; #]"

    def size(match: re.Match[str]) -> str:
        sizes.append(len(re.findall(r"\w+|\(\)", match[0][1:-1])))
        return "(…)"

    shape = _LENGTH.sub(length, rest)
    if generics:
        names = "|".join(map(re.escape, generics))
        element = rf"(?:{names}|\(\))"
        shape = re.sub(rf"\((?:{element}(?:, ?{element})*,?)?\)", size, shape)
    return shape, tuple(sizes)


def _split_generics(header: str) -> tuple[list[str], str]:
    """Return the names of an impl block's type parameters, and what follows the list."""
    begin = header.find("impl<")
    if begin < 0:
        return [], header
    depth, parts, start = 0, [], begin + 5
    for place in range(begin + 4, len(header)):
        sign = header[place]
        if sign in "<([":
            depth += 1
        elif sign in ")]" or (sign == ">" and header[place - 1] not in "-="):
            depth -= 1
        if (sign == "," and depth == 1) or depth == 0:
            parts.append(header[start:place].strip())
            start = place + 1
        if depth == 0:
            names = [part.split(":")[0].strip() for part in parts]
            return [each for each in names if each.isidentifier()], header[start:].strip()
    return [], header


def _ranges(sizes: Sequence[int]) -> str:
    """Return numbers as ranges: ``0-32, 64``."""
    return ", ".join(
        f"{first}-{last}" if last > first else str(first) for first, last in _runs(sizes)
    )


def _runs(sizes: Sequence[int]) -> Iterator[tuple[int, int]]:
    ordered = sorted(set(sizes))
    first = ordered[0]
    for before, each in zip(ordered, [*ordered[1:], None], strict=True):
        if each is None or each != before + 1:
            yield first, before
            first = each if each is not None else before
