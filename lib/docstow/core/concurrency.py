"""Waiting for several things at once.

This room knows threads. It does not know what is waited for.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import ContextVar, copy_context
from typing import TypeVar

# Whether what is remembered will do, or the store is to be asked now.


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


#: So many things are waited for at once, unless said otherwise.
PARALLEL = 8


_T = TypeVar("_T")


_R = TypeVar("_R")


def in_parallel(work: Callable[[_T], _R], items: Sequence[_T], most: int = 0) -> list[_R]:
    """The results of waiting for stores or upstreams, in the order of the items.

    Each runs for the same caller as this call.

    Args:
        work: what is done for each item.
        items: nothing, one or many.
        most: how many at once; 0 for :data:`PARALLEL`.
    """
    if len(items) < 2:
        return [work(item) for item in items]
    contexts = [copy_context() for _ in items]
    with ThreadPoolExecutor(min(most or PARALLEL, len(items))) as pool:
        return list(pool.map(lambda run, item: run(work, item), [c.run for c in contexts], items))
