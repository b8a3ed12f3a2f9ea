"""``make bench-gate BASE=REF``: fails where this checkout takes more than another one.

More is 15 % more CPU for a stage of the work, or one more request to the store. Both checkouts do
each stage in turns, many times a minute, in a process each (:mod:`benchmarks.probe`), so that what
else the machine does falls on both. A stage counts as slower only if it is slower in
three series, one after the other; one that is not is measured no more.

A commit that has to be slower says so in its message, with a line for each stage, as in
``Slower: search``.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from benchmarks.measure import compiled, ms, table
from paths import REPOSITORY, SHARED

#: What a stage may take of what it took, and how often it must take more.
MOST, SERIES = 1.15, 3

#: CPU seconds that each turn is filled up to, and how many turns either side has in a series.
TURN_S, TURNS, TURNS_SHORT = 0.1, 12, 6

#: Stages that are processes of their own, or begin anew: few of these fit.
COARSE = ("ingest", "cold ", "first ")

PROBE = Path(__file__).with_name("probe.py")
TOKIO = SHARED / "corpus" / "tokio" / "1.53.2" / "rustdoc.json.zst"
SAMPLE = REPOSITORY / "tests" / "fixtures" / "crates" / "api_new" / "rustdoc.json.zst"


@dataclass(frozen=True, slots=True)
class Compared:
    """What a stage takes of either side: medians of CPU seconds, and requests."""

    stage: str
    base_s: float
    head_s: float
    base_requests: int
    head_requests: int

    @property
    def requests(self) -> tuple[int, int]:
        """Of the base, and of this checkout."""
        return self.base_requests, self.head_requests

    @property
    def ratio(self) -> float:
        """How much of the base's CPU it takes."""
        return self.head_s / self.base_s

    @property
    def slower(self) -> bool:
        """Whether it takes more CPU than it may."""
        return self.ratio > MOST

    @property
    def asks_more(self) -> bool:
        """Whether it asks the store more often."""
        return self.head_requests > self.base_requests


class Side:
    """The process that does the stages of one checkout.

    Args:
        root: of the checkout.
        crate: rustdoc JSON to stow.
        version: of the crate.
    """

    def __init__(self, root: Path, crate: Path, version: str) -> None:
        # Both sides find their bytecode, wherever they lie.
        self._bytecode = TemporaryDirectory(prefix="docstow-gate-")
        bytecode = compiled(Path(self._bytecode.name))
        self._process = subprocess.Popen(
            [sys.executable, str(PROBE), str(crate), version],
            env={**os.environ, **bytecode, "PYTHONPATH": str(root / "lib")},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self.stages = [str(each) for each in self._answer()]

    def run(self, stage: str, times: int) -> tuple[list[float], list[int]]:
        """Have a stage's work done so many times; CPU seconds and requests of each."""
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps([stage, times]) + "\n")
        self._process.stdin.flush()
        seconds, requests = self._answer()
        return seconds, requests

    def _answer(self) -> Sequence[Any]:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise ChildProcessError("the probe has ended; what it said is above")
        answer: Sequence[Any] = json.loads(line)
        return answer

    def close(self) -> None:
        """End the process."""
        # Its input ends here, and so does it.
        self._process.communicate()
        self._bytecode.cleanup()


@contextmanager
def checkout(ref: str) -> Iterator[Path]:
    """Check a commit out beside this one, for as long as a block runs."""
    with TemporaryDirectory(prefix="docstow-base-") as folder:
        place = Path(folder, "base")
        _git("worktree", "add", "--quiet", "--detach", str(place), ref)
        try:
            yield place
        finally:
            _git("worktree", "remove", "--force", str(place))


def compare(base: Side, head: Side, stage: str, turns: int) -> Compared:
    """Take turns, the one that begins changing each time."""
    coarse = stage.startswith(COARSE)
    first = {side: side.run(stage, 1 if coarse else 2) for side in (base, head)}
    least = min(min(seconds) for seconds, _ in first.values())
    times = 1 if coarse else max(1, min(50, round(TURN_S / max(least, 1e-4))))
    # The first time of either side, in which bytecode is made, does not count.
    seconds: dict[Side, list[float]] = {base: [], head: []}
    for turn in range(turns // 2 if coarse else turns):
        for side in (base, head) if turn % 2 else (head, base):
            seconds[side] += side.run(stage, times)[0]
    return Compared(
        stage,
        statistics.median(seconds[base]),
        statistics.median(seconds[head]),
        # The last one: the first of a process may fill what is kept.
        first[base][1][-1],
        first[head][1][-1],
    )


def judge(base: Side, head: Side, turns: int) -> list[Compared]:
    """Compare all stages that both sides have; what is slower is compared again."""
    found = []
    for stage in [each for each in head.stages if each in base.stages]:
        tries = [compare(base, head, stage, turns)]
        while tries[-1].slower and len(tries) < SERIES:
            tries.append(compare(base, head, stage, turns))
        found.append(min(tries, key=lambda each: each.ratio))
    return found


def excused(message: str) -> set[str]:
    """Return the stages that a commit's message says are slower."""
    lines = (line.partition(":") for line in message.splitlines())
    return {stage.strip() for word, _, stage in lines if word == "Slower"}


def faults(compared: Sequence[Compared], message: str = "") -> list[str]:
    """Return what is worse than it may be, in words."""
    known = excused(message)
    found = []
    for each in compared:
        if each.stage in known:
            continue
        if each.slower:
            found.append(f"{each.stage}: {each.ratio:.2f} times the CPU")
        if each.asks_more:
            found.append(f"{each.stage}: {each.head_requests} requests, not {each.base_requests}")
    return found


def main(words: Sequence[str] | None = None) -> int:
    """Compare, print the table, and return 1 where something is worse."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("base", help="a commit")
    parser.add_argument("--short", action="store_true", help="fewer turns, a small crate")
    chosen = parser.parse_args(words)
    if not _is_there(f"{chosen.base}^{{commit}}"):
        print(f"bench-gate: there is no {chosen.base} in this checkout; nothing is compared")
        return 0
    if not _is_there(f"{chosen.base}:tests/benchmarks/probe.py"):
        print(f"bench-gate: {chosen.base} has no tests/benchmarks/probe.py; nothing is compared")
        return 0
    crate = (SAMPLE, "0.1.0") if chosen.short or not TOKIO.is_file() else (TOKIO, "1.53.2")
    turns = TURNS_SHORT if chosen.short else TURNS
    with checkout(chosen.base) as place, ExitStack() as stack:
        base, head = (Side(root, *crate) for root in (place, REPOSITORY))
        stack.callback(base.close)
        stack.callback(head.close)
        compared = judge(base, head, turns)
    rows = [
        [c.stage, ms(c.base_s), ms(c.head_s), f"{c.ratio:.2f}", *map(str, c.requests)]
        for c in compared
    ]
    heads = ["stage", "base", "here", "ratio", "base asks", "here asks"]
    table(f"CPU and requests against {chosen.base}", heads, rows)
    found = faults(compared, _git("log", "--format=%B", f"{chosen.base}..HEAD"))
    for fault in found:
        print(f"bench-gate: {fault}")
    return 1 if found else 0


def _is_there(name: str) -> bool:
    asked = ["git", "cat-file", "-e", name]
    return (
        subprocess.run(asked, cwd=REPOSITORY, stderr=subprocess.DEVNULL, check=False).returncode
        == 0
    )


def _git(*words: str) -> str:
    done = subprocess.run(
        ["git", *words], cwd=REPOSITORY, check=True, capture_output=True, text=True
    )
    return done.stdout


if __name__ == "__main__":
    sys.exit(main())
