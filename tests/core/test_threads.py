"""Properties that are computed once, what is done soon, and the threads of BLAS."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from docstow.core.threads import Background, lazy


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


@pytest.mark.skipif(sys.platform != "linux", reason="counts the threads of Linux")
@pytest.mark.parametrize(("chosen", "threads"), [({}, 1), ({"OPENBLAS_NUM_THREADS": "2"}, 2)])
def test_a_command_multiplies_on_its_own_thread_unless_the_environment_says_otherwise(
    chosen: dict[str, str], threads: int
) -> None:
    code = """
import os
from docstow.cli import main
assert main(["token", "new", "somebody"]) == 0
import numpy as np
matrix = np.ones((2000, 500), np.float32)
matrix @ matrix.T
print(len(os.listdir("/proc/self/task")))
"""
    inherited = {k: v for k, v in os.environ.items() if not k.endswith("_NUM_THREADS")}
    done = subprocess.run(
        [sys.executable, "-c", code], env=inherited | chosen, capture_output=True, text=True
    )
    assert done.stdout.splitlines()[-1:] == [str(min(threads, os.cpu_count() or 1))], done.stderr


def test_what_is_done_soon_is_waited_for_once_it_has_begun() -> None:
    background, begun, gate, done = Background(), threading.Event(), threading.Event(), []

    def act() -> None:
        begun.set()
        assert gate.wait(30)
        done.append(1)

    background.soon("act", act)
    assert begun.wait(30)
    closing = threading.Thread(target=background.close)
    closing.start()
    gate.set()
    closing.join(30)
    assert done == [1]
    background.soon("act", act)
    background.close()
    assert done == [1]
