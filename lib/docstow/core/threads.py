"""Threads: concurrent waits, periodic work, the pools of native libraries, and lazy properties."""

from __future__ import annotations

import logging
import os
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar, copy_context
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar

from docstow.core.errors import DocstowError

log = logging.getLogger(__name__)

#: The default number of concurrent waits.
PARALLEL = 8

#: Threads of the bundled model, which looks up rows and is bound by memory: a second one costs
#: start-up time and gains little.
ONNX_THREADS = 1

#: Threads of the process's one DuckDB, which reads and writes a snapshot's tables.
DUCKDB_THREADS = 2

#: Megabytes of a function's memory that come with one core.
_LAMBDA_CORE = 1769

# What the BLAS libraries that numpy is built with read when they are loaded.
_BLAS_VARIABLES = (
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
    "BLIS_NUM_THREADS",
)

_T = TypeVar("_T")
_R = TypeVar("_R")


def in_parallel(work: Callable[[_T], _R], items: Sequence[_T], most: int = 0) -> list[_R]:
    """Call a function for each item in threads; return the results in the order of the items.

    Each call runs in a copy of the current context, so for the same caller.

    Args:
        work: is called with each item; waits for stores or upstreams.
        items: any number.
        most: the number of threads; 0 for :data:`PARALLEL`.
    """
    if len(items) < 2:
        return [work(item) for item in items]
    contexts = [copy_context() for _ in items]
    with ThreadPoolExecutor(min(most or PARALLEL, len(items))) as pool:
        return list(pool.map(lambda run, item: run(work, item), [c.run for c in contexts], items))


def cores() -> int:
    """Return how many threads may compute at the same time: of this machine, and of this process.

    A function of AWS Lambda sees two cores, whatever share of them its memory gives it.
    """
    memory = os.environ.get("AWS_LAMBDA_FUNCTION_MEMORY_SIZE", "")
    share = int(memory) // _LAMBDA_CORE if memory.isdecimal() else 0
    allowed = getattr(os, "sched_getaffinity", lambda _: range(os.cpu_count() or 1))(0)
    return max(1, min(len(allowed), share) if memory else len(allowed))


def limit_blas() -> None:
    """Have BLAS compute on the calling thread, unless the environment says how many it may use.

    A search multiplies a matrix with one vector: further threads do not make that faster, and burn
    CPU while they wait for the next one. To be called by programs of our own, before numpy is
    loaded; in the process of somebody else the number is theirs.
    """
    for variable in _BLAS_VARIABLES:
        os.environ.setdefault(variable, "1")


_wait: ContextVar[Callable[[], AbstractContextManager[object]]] = ContextVar(
    "wait", default=nullcontext
)


def waiting() -> AbstractContextManager[object]:
    """Return what is entered while the current call waits for work that is done elsewhere.

    A server has then room for another call.
    """
    return _wait.get()()


@contextmanager
def waiting_as(wait: Callable[[], AbstractContextManager[object]]) -> Iterator[None]:
    """Set what :func:`waiting` returns within; threads with a copy of the context have it, too."""
    token = _wait.set(wait)
    try:
        yield
    finally:
        _wait.reset(token)


#: What is done soon begins so long after, in seconds: a program that ends now does not wait for it.
_SOON_S = 0.05


class Background:
    """Threads that act beside a server: periodically until its process ends, or once."""

    def __init__(self) -> None:
        self._closed = threading.Event()
        self._soon: list[threading.Thread] = []

    def soon(self, name: str, act: Callable[[], object]) -> None:
        """Act once, a moment from now, unless :meth:`close` is called before.

        Args:
            name: of the thread.
            act: does the work, which is short.
        """

        def run() -> None:
            if not self._closed.wait(_SOON_S):
                act()

        thread = threading.Thread(target=run, name=name, daemon=True)
        self._soon.append(thread)
        thread.start()

    def repeat(
        self, name: str, pauses: Iterable[float], act: Callable[[], object], failure: str
    ) -> None:
        """Begin to act after each of some pauses; what fails is logged, and acted on again.

        Args:
            name: of the thread.
            pauses: in seconds.
            act: does the work; may raise DocstowError.
            failure: what the log says of an error.
        """

        def run() -> None:
            for pause_s in pauses:
                if self._closed.wait(pause_s):
                    return
                try:
                    act()
                except DocstowError as error:
                    log.warning("%s: %s", failure, error.message)

        threading.Thread(target=run, name=name, daemon=True).start()

    def close(self) -> None:
        """Begin nothing any more; what repeats and is under way ends with the process."""
        self._closed.set()
        for each in self._soon:
            each.join()


if TYPE_CHECKING:
    lazy = cached_property
else:

    class lazy(cached_property):  # noqa: N801 - used as a decorator
        """A cached property that is computed once, by the first of several threads.

        Each property of an object has a lock of its own, so that a slow one keeps no other waiting.
        Properties that need each other must not do so in a circle.
        """

        def __get__(self, instance: Any, owner: Any = None) -> Any:
            if instance is None:
                return self
            locks = instance.__dict__.setdefault("__locks__", {})
            with locks.setdefault(self.attrname, threading.RLock()):
                return super().__get__(instance, owner)
