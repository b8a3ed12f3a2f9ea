"""Whether what is remembered will do, or the store is to be asked now.

This room knows one wish of the moment's caller. It does not know what is remembered, nor for how
long.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from contextvars import ContextVar

_consistent: ContextVar[bool] = ContextVar("consistent", default=False)


@contextlib.contextmanager
def consistently() -> Iterator[None]:
    """Have everything within see what was published before it began, by any process."""
    token = _consistent.set(True)
    try:
        yield
    finally:
        _consistent.reset(token)


def wanted() -> bool:
    """Whether the caller of the moment wants the store to be asked now."""
    return _consistent.get()
