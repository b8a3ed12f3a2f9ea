"""One input in a process with limits: what it costs, and whether it is read or refused."""

from __future__ import annotations

import base64
import os
import re
import time
import traceback
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from docstow.core.errors import DocstowError
from docstow.core.processes import Budget, Handler, ProcessPool
from fuzz.seeds import LONGEST
from paths import REPOSITORY, TESTS

#: What an input of the longest length may take, as a multiple of a fixed piece of work beside it,
#: so that no machine is too slow.
MOST = 60.0
#: A price below this is not compared, in seconds of CPU.
_CHEAP_S = 0.5
#: A price that is too high is asked for so often; the least counts.
_TRIES = 3
MOST_BYTES = 512 * 1024 * 1024
_BUDGET = Budget(cpu_s=20, wall_s=300.0, memory_bytes=MOST_BYTES)


class Failure(AssertionError):
    """An input that is neither read nor refused, or at too high a price."""


def open_pool() -> ProcessPool:
    """Open a pool whose processes find the tests; each ends with the input that is too much."""
    places = [REPOSITORY / "lib", TESTS, TESTS / "support"]
    os.environ["PYTHONPATH"] = os.pathsep.join(map(str, places))
    return ProcessPool("fuzz.attempts:make_handler", {}, most=1, budget=_BUDGET)


def attempt(pool: ProcessPool, reader: str, body: bytes) -> str:
    """Have an input read; return the code of the error that refuses it, or nothing.

    Raises:
        Failure: it took too much, or the reader failed.
    """
    request = {"reader": reader, "body": base64.b64encode(body).decode()}
    found = _ask(pool, request, reader)
    prices = [found["price"]]
    # What else runs on the machine makes a price higher, never lower.
    while min(prices) > _most(body) and len(prices) < _TRIES:
        prices.append(_ask(pool, request, reader)["price"])
    judge(reader, body, min(prices))
    return str(found["refused"])


def _ask(pool: ProcessPool, request: Mapping[str, Any], reader: str) -> Mapping[str, Any]:
    """Return what the process says of an input; raise :class:`Failure` where it fails."""
    try:
        found = pool.call(request, reader)
    except DocstowError as error:
        raise Failure(f"{reader}: the process was ended: {error}") from None
    if found["failed"]:
        raise Failure(f"{reader}: {found['failed']}")
    return found


def judge(reader: str, body: bytes, price: float) -> None:
    """Refuse a price above what the length of an input allows."""
    if price > _most(body):
        told = f"{reader}: {len(body)} bytes cost {price:.0f} times the fixed piece of work"
        raise Failure(f"{told}; {_most(body):.0f} are allowed")


def _most(body: bytes) -> float:
    """Return the price that an input of this length may have."""
    return MOST * max(1.0, len(body) / LONGEST)


# In the process


def make_handler(setup: Mapping[str, Any], send: Callable[[Mapping[str, Any]], object]) -> Handler:
    """Return what reads inputs; called in the process."""
    del setup, send
    from fuzz.readers import READERS

    warm: set[str] = set()

    def handle(request: Mapping[str, Any]) -> Mapping[str, Any]:
        name, body = request["reader"], base64.b64decode(request["body"])
        reader = READERS[name]
        if name not in warm:
            # What is imported and loaded once is not the price of an input.
            warm.add(name)
            try_one(reader.read, reader.seeds()[0])
        refused, failed, price = try_priced(reader.read, body)
        return {"refused": refused, "failed": failed, "price": price}

    return handle


def try_priced(read: Callable[[bytes], object], body: bytes) -> tuple[str, str, float]:
    """Read an input as :func:`try_one` does; return its price, too."""
    begun = time.process_time()
    refused, failed = try_one(read, body)
    cpu_s = time.process_time() - begun
    return refused, failed, cpu_s / _measure_fixed_work() if cpu_s > _CHEAP_S else 0.0


def _measure_fixed_work() -> float:
    """Return what a fixed piece of work takes now, in seconds of CPU: about 45 ms."""
    text = "Seven words that are counted, {number}. " * 2500
    begun = time.process_time()
    for _ in range(8):
        Counter(word.lower() for word in re.findall(r"\w+", text))
    return time.process_time() - begun


def try_one(read: Callable[[bytes], object], body: bytes) -> tuple[str, str]:
    """Read an input; return the code of the error that refused it, and how the reader failed."""
    try:
        read(body)
    except DocstowError as error:
        return error.code, ""
    except MemoryError:
        raise
    except Exception as error:  # noqa: BLE001 - whatever a reader raises is what is looked for
        places = traceback.extract_tb(error.__traceback__)[-4:]
        told = " < ".join(f"{Path(e.filename).name}:{e.lineno}" for e in reversed(places))
        return "", f"{type(error).__name__}: {str(error)[:300]} ({told})"
    return "", ""
