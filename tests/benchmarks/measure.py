"""Clocks, and tables of what they said."""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

# Runs a program in a process of its own and prints what that took, the interpreter's own start
# and end left out.
_PROGRAM = """
import json, time
begun, cpu = time.perf_counter(), time.process_time()
{program}
taken = [time.perf_counter() - begun, time.process_time() - cpu]
peak = 0
try:  # Linux; elsewhere the peak is not told, and a parent's may be inherited
    with open("/proc/self/status") as status:
        peak = next(int(line.split()[1]) * 1024 for line in status if line.startswith("VmHWM"))
except OSError:
    pass
print(json.dumps([*taken, peak]))
"""


@dataclass(frozen=True, slots=True)
class Taken:
    """What a piece of work took: seconds on the wall and of all cores, and the peak of memory."""

    wall_s: float
    cpu_s: float
    peak_bytes: int = 0


def timed(work: Callable[[], object], *, repeat: int = 3) -> Taken:
    """The median of several runs."""
    runs = []
    for _ in range(repeat):
        begun, cpu = time.perf_counter(), time.process_time()
        work()
        runs.append(Taken(time.perf_counter() - begun, time.process_time() - cpu))
    return _median(runs)


def compiled(folder: Path) -> dict[str, str]:
    """Variables by which a process keeps bytecode in a folder, and the next ones find it there.

    A function's package and an installed program have theirs. Elsewhere (a checkout's libraries,
    where ``PYTHONDONTWRITEBYTECODE`` is set) each process would compile what it imports.
    """
    return {"PYTHONDONTWRITEBYTECODE": "", "PYTHONPYCACHEPREFIX": str(folder / "bytecode")}


def fresh(program: str, environment: Mapping[str, str], *, repeat: int = 5) -> Taken:
    """The median of several runs, each in a new process; one before them makes the bytecode."""
    code = _PROGRAM.replace("{program}", program)
    runs = []
    with TemporaryDirectory(prefix="docstow-bench-") as folder:
        for _ in range(repeat + 1):
            done = subprocess.run(
                [sys.executable, "-c", code],
                env={**environment, **compiled(Path(folder))},
                capture_output=True,
                text=True,
                check=True,
            )
            wall, cpu, peak = json.loads(done.stdout.splitlines()[-1])
            runs.append(Taken(wall, cpu, peak))
    return _median(runs[1:])


def each(works: Sequence[Callable[[], object]]) -> list[float]:
    """Seconds on the wall that each piece of work took."""
    seconds = []
    for work in works:
        begun = time.perf_counter()
        work()
        seconds.append(time.perf_counter() - begun)
    return seconds


def quantile(seconds: Sequence[float], share: float) -> float:
    """The value that this share of all values does not exceed."""
    ordered = sorted(seconds)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def ms(seconds: float) -> str:
    """Seconds as milliseconds."""
    value = seconds * 1000
    return f"{value:.0f} ms" if value >= 100 else f"{value:.3g} ms"


def mib(size: int) -> str:
    """Bytes as MiB."""
    return f"{size / 2**20:.0f} MiB"


def table(title: str, heads: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """Print a Markdown table below a heading, each row as soon as it is there."""
    print(f"\n## {title}\n")
    print(f"| {' | '.join(heads)} |")
    print(f"| {' | '.join('---' for _ in heads)} |", flush=True)
    for row in rows:
        print(f"| {' | '.join(row)} |", flush=True)


def _median(runs: Sequence[Taken]) -> Taken:
    return Taken(
        statistics.median(run.wall_s for run in runs),
        statistics.median(run.cpu_s for run in runs),
        max(run.peak_bytes for run in runs),
    )
