"""Properties that are computed once, by whichever thread comes first."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from docstow.core.threads import lazy


class Machine:
    """Parts that need each other."""

    def __init__(self) -> None:
        self.made: list[str] = []
        self.gate = threading.Event()

    @lazy
    def slow(self) -> str:
        assert self.gate.wait(30)
        self.made.append("slow")
        return "slow"

    @lazy
    def quick(self) -> str:
        self.made.append("quick")
        return "quick"

    @lazy
    def both(self) -> str:
        return f"{self.quick} {self.slow}"


def test_each_is_computed_once_and_a_slow_one_keeps_no_other_waiting() -> None:
    machine, other = Machine(), Machine()
    with ThreadPoolExecutor(4) as pool:
        waiting = [pool.submit(lambda: machine.both) for _ in range(4)]
        assert machine.quick == "quick"
        machine.gate.set()
        assert [each.result(30) for each in waiting] == ["quick slow"] * 4
    assert sorted(machine.made) == ["quick", "slow"]
    assert other.made == []


def test_a_failure_is_not_kept() -> None:
    class Failing:
        tries = 0

        @lazy
        def part(self) -> int:
            self.tries += 1
            if self.tries == 1:
                raise ValueError("not yet")
            return self.tries

    failing = Failing()
    with pytest.raises(ValueError, match="not yet"):
        _ = failing.part
    assert (failing.part, failing.part) == (2, 2)
