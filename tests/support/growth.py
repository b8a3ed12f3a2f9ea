"""How the cost of a piece of work grows with its input: a ratio, so that no machine is too slow."""

from __future__ import annotations

import time
from collections.abc import Callable

#: Of the larger input, in seconds of CPU: what takes less shows nothing but noise.
_LEAST = 0.03


def growth(work: Callable[[int], object], times: int = 4) -> float:
    """Return the CPU time of ``work(times)`` as a multiple of ``work(1)``, per unit of size.

    1 is linear, ``times`` is quadratic; assert ``< 2``. Each is the least of up to three runs. Work
    that costs next to nothing at the larger size counts as linear.

    Args:
        work: does something with an input of the given size, in units of the caller.
        times: the larger size.
    """
    ratio = 0.0
    small = large = float("inf")
    for _ in range(3):
        small = min(small, _cost(work, 1))
        large = min(large, _cost(work, times))
        ratio = large / small / times
        if large < _LEAST or ratio < 2:
            return min(ratio, 1.0)
    return ratio


def _cost(work: Callable[[int], object], size: int) -> float:
    begin = time.thread_time()
    work(size)
    return max(time.thread_time() - begin, 1e-6)
