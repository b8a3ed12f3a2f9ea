"""What was made of a project's scan is kept with it, for the next piece of code or question."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Protocol, TypeVar

from docstow.languages.shared.project import Scan


class Reusable(Protocol):
    """What may be used for another piece of code, or another question."""

    def again(self) -> bool:
        """Make ready for that; return whether what was read is still so, and not too much."""
        ...


T = TypeVar("T", bound=Reusable)


@contextmanager
def kept(scan: Scan, make: Callable[[Scan], T]) -> Iterator[T]:
    """Lend what was made of a scan, or a new one while another call uses it.

    Args:
        scan: what is installed.
        make: makes it; there is one kept for each.
    """
    known = scan.idle.pop(make, None)
    lent: T = known if known is not None and known.again() else make(scan)
    # One that fails midway is not kept.
    yield lent
    scan.idle.setdefault(make, lent)
