"""Many workers in few processes: thousands of crates into a real S3 server that throttles.

The processes of :mod:`benchmarks.fleet_process` are killed at their work and started again. What
kills and duplicates cost is counted; that nothing is lost is asserted.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import math
import os
import random
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from benchmarks.cloud import STUCK_S, Cloud, Crate, check, clouds, cpu_s
from benchmarks.measure import table
from docstow.core.threads import in_parallel
from docstow.ingest.jobs import SUCCESS, Job
from docstow.ingest.queue import BATCH
from docstow.runtime import SAMPLE
from paths import REPOSITORY as ROOT
from paths import SHARED, TESTS
from servers.seaweed import seaweedfs
from servers.weather import KINDS, Climate

#: A store next door that refuses some requests and loses some answers.
THROTTLED = Climate(slow_down=0.03, lost=0.005, cut=0.005)

#: Real crates of a dozen items, which are stowed under thousands of names.
SMALL = (("itoa", "1.0.14"), ("itoa", "1.0.18"), ("ryu", "1.0.19"), ("lazy_static", "1.5.0"))


#: How far it is, is told so often.
TOLD_S = 30.0

#: So many jobs wait for each worker.
AHEAD = 2

_PROGRAM = ("-X", "faulthandler", "-m", "benchmarks.fleet_process")


@dataclass(frozen=True, slots=True)
class Fleet:
    """How many workers there are, and what happens to them.

    Attributes:
        processes: how many there are.
        threads: workers of each.
        kills: how often one of the processes is killed, with all that its workers are at.
        twice: share of messages that are delivered to two workers.
    """

    processes: int = 4
    threads: int = 16
    kills: int = 10
    twice: float = 0.02

    @property
    def workers(self) -> int:
        """How many work at the same time."""
        return self.processes * self.threads


@dataclass(frozen=True, slots=True)
class Stowed:
    """What it took.

    Attributes:
        crates: how many were stowed.
        fetches: how many were fetched from upstream, those again included.
        counts: of processes killed, of jobs that these were at, and of what the processes say.
        requests: what the store was asked for, and what it refused or lost.
        dead: dead letters.
        wall_s: seconds.
        cpu_s: seconds of all workers' processes.
    """

    crates: int
    fetches: int
    counts: Counter[str]
    requests: Counter[str]
    dead: int
    wall_s: float
    cpu_s: float

    @property
    def again(self) -> int:
        """How many crates were fetched more than once, each time counted."""
        return self.fetches - self.crates


class _Process:
    """One of the processes, and which messages it holds."""

    def __init__(self, fleet: _Running, number: int) -> None:
        self._fleet = fleet
        self._folder = fleet.cloud.folder
        self._place = f"process-{number}"
        self._held: dict[str, str] = {}
        self._killed = False
        self._folder.mkdir(parents=True, exist_ok=True)
        self._log = (self._folder / f"{self._place}.log").open("ab")
        queues, options = fleet.cloud.queues, fleet.options
        words = [
            fleet.cloud.queues_endpoint,
            queues.url,
            queues.dead,
            options.threads,
            options.twice,
        ]
        self._process = subprocess.Popen(
            [
                sys.executable,
                "-X",
                "faulthandler",
                "-m",
                "benchmarks.fleet_process",
                *map(str, words),
                str(number),
            ],
            cwd=ROOT,
            env={
                **os.environ,
                **fleet.cloud.environment(self._place),
                "PYTHONPATH": os.pathsep.join(
                    map(str, (ROOT, ROOT / "lib", TESTS, TESTS / "support"))
                ),
            },
            stdout=subprocess.PIPE,
            stderr=self._log,
            text=True,
        )
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def kill(self) -> list[str]:
        """End it at its work, which comes again as when its time is up; return these jobs."""
        self._killed = True
        self._process.kill()
        self._process.wait()
        self._reader.join()
        assert self._process.stdout is not None
        self._process.stdout.close()
        self._log.close()
        queues = self._fleet.cloud.queues
        for receipt in self._held:
            # It may have deleted the message before it could say so.
            with contextlib.suppress(queues.client.exceptions.ClientError):
                queues.show({"ReceiptHandle": receipt})
        return list(self._held.values())

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            if not line.endswith("\n"):
                break  # it was killed within it
            said = json.loads(line)
            if said["event"] == "took":
                self._held[said["receipt"]] = said["job"]
            elif said["event"] != "twice":
                del self._held[said["receipt"]]
            self._fleet.hear(said)
        if not self._killed:
            log = (self._folder / f"{self._place}.log").read_text("utf-8", "replace")
            told = f"{self._place} ended with {self._process.wait()}:\n{log}"
            self._fleet.hear({"event": "broken", "error": told})


class _Running:
    """A fleet at work.

    Args:
        cloud: what it works on.
        options: how many there are.
        seed: of who is killed when.
    """

    def __init__(self, cloud: Cloud, options: Fleet, seed: int) -> None:
        self.cloud = cloud
        self.options = options
        self.counts: Counter[str] = Counter()
        self._random = random.Random(seed)
        self._started = 0
        self._sent: list[str] = []
        self._sending = True
        self._changed = threading.Condition()
        self._news: list[str] = []
        self._broken: list[str] = []
        self._over = False
        self._processes = [self._start() for _ in range(options.processes)]

    def close(self) -> None:
        """End all of it."""
        for each in self._processes:
            each.kill()

    def hear(self, said: dict[str, Any]) -> None:
        """Take note of what a process says."""
        with self._changed:
            self.counts[said["event"]] += 1
            if said["event"] == "broken":
                self._broken.append(said["error"])
            if said["event"] == "handled":
                self._news.append(said["job"])
            self._changed.notify_all()

    def stow(self, words: Sequence[str], longest_s: float) -> int:
        """Send a job for every word, and wait until all of them have ended well.

        Args:
            words: of crates.
            longest_s: what has not been sent after so many seconds is not sent.

        Returns:
            How many were sent.

        Raises:
            AssertionError: some job failed, or nothing goes on.
        """
        until = time.perf_counter() + longest_s
        sender = threading.Thread(target=self._send, args=(words, until), daemon=True)
        sender.start()
        try:
            self._await(len(words))
        finally:
            with self._changed:
                self._over = True
                self._changed.notify_all()
            sender.join()
        return len(self._sent)

    def _await(self, count: int) -> None:
        below = range(count // 20, count - count // 20)
        kills = sorted(self._random.sample(below, self.options.kills))
        done, told = set[str](), time.perf_counter()
        while not self._finished(done):
            heard = self._wait(done)
            jobs = in_parallel(self.cloud.runtime.jobs.stored, sorted(heard - done))
            ended = [job for job in jobs if not job.active]
            assert {job.state for job in ended} <= {SUCCESS}, [each.reason() for each in ended]
            done.update(job.id for job in ended)
            while kills and len(done) >= kills[0]:
                kills.pop(0)
                self._kill_one()
            if time.perf_counter() - told > TOLD_S:
                told = time.perf_counter()
                print(f"{len(done)} of {count} crates {dict(self.counts)}", flush=True)

    def _send(self, words: Sequence[str], until: float) -> None:
        """Send a job for each word, so many at a time: moto looks through all that wait."""
        most = AHEAD * self.options.workers
        try:
            started = self.cloud.runtime.enqueuer.crates(words, self.cloud.resolve)
            for sent, (word, job) in enumerate(started):
                assert isinstance(job, Job), (word, job)
                self._sent.append(job.id)
                with self._changed:
                    while sent - self.counts["handled"] >= most and not self._over:
                        self._changed.wait()
                late = time.perf_counter() > until and not len(self._sent) % BATCH
                if self._over or late:
                    return
        except Exception as error:  # noqa: BLE001 - whoever waits for the end raises it
            self.hear({"event": "broken", "error": repr(error)})
        finally:
            with self._changed:
                self._sending = False
                self._changed.notify_all()

    def _finished(self, done: Collection[str]) -> bool:
        return not self._sending and len(done) == len(self._sent)

    def _wait(self, done: Collection[str]) -> set[str]:
        """Return the jobs whose messages were handled since, once there are some."""
        with self._changed:
            heard = self._changed.wait_for(
                lambda: self._news or self._broken or self._finished(done), STUCK_S
            )
            assert not self._broken, self._broken[0]
            left = [] if heard else [each for each in self._sent if each not in done]
            assert heard, f"nothing ends any more: {self.counts}\n{self.cloud.told(left)}"
            news, self._news = set(self._news), []
        return news

    def _kill_one(self) -> None:
        number = self._random.randrange(len(self._processes))
        interrupted = self._processes[number].kill()
        with self._changed:
            self.counts["killed"] += 1
            self.counts["interrupted"] += len(interrupted)
            # It may have ended one and deleted its message before it could say so.
            self._news += interrupted
        self._processes[number] = self._start()

    def _start(self) -> _Process:
        self._started += 1
        return _Process(self, self._started)


def stow(
    cloud: Cloud,
    crates: Sequence[Crate],
    options: Fleet,
    seed: int,
    *,
    longest_s: float = math.inf,
) -> Stowed:
    """Have a fleet stow crates, and kill some of it; those that it comes to within some seconds."""
    before, begun, fetched = cpu_s(), time.perf_counter(), cloud.fetches(crates)
    with cloud.weather.meter.during() as counted:
        running = _Running(cloud, options, seed)
        with contextlib.closing(running):
            count = running.stow([f"{name}@={version}" for name, version in crates], longest_s)
    wall_s = time.perf_counter() - begun
    dead = cloud.queues.counts(cloud.queues.dead)[0]
    return Stowed(
        count,
        cloud.fetches(crates) - fetched,
        running.counts,
        counted,
        dead,
        wall_s,
        cpu_s() - before,
    )


def uncatalogued(cloud: Cloud, crates: Sequence[Crate]) -> int:
    """How many crates a search over everything cannot find."""
    found = {entry.source.name for entry in cloud.runtime.catalog.card_set(fresh=True).entries()}
    return len({name for name, _ in crates} - found)


def renamed(folder: Path, count: int) -> list[Crate]:
    """Small real crates, or the sample, under many names, as a folder for the upstream."""
    places = [SHARED / "corpus" / name / version for name, version in SMALL]
    files = [place / "rustdoc.json.zst" for place in places if place.is_dir()] or [SAMPLE]
    crates = [(f"hold-{number}", "0.1.0") for number in range(count)]
    for number, (name, version) in enumerate(crates):
        place = folder / name / version
        place.mkdir(parents=True)
        (place / "rustdoc.json.zst").write_bytes(files[number % len(files)].read_bytes())
    return crates


def main() -> None:
    """Read the arguments, run and print figures."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.fleet", description=__doc__)
    parser.add_argument("--crates", type=int, default=5000)
    parser.add_argument("--asked", type=int, default=250)
    parser.add_argument("--minutes", type=float, default=math.inf, help="send no more after these")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    fleet = Fleet(kills=max(1, options.crates // 500))
    with (
        TemporaryDirectory(prefix="docstow-fleet-") as scratch,
        seaweedfs() as endpoint,
    ):
        folder = Path(scratch)
        crates = renamed(folder / "crates", options.crates)
        print(f"# {len(crates)} crates, {fleet.workers} workers, {os.cpu_count()} cores")
        with clouds(
            folder, folder / "crates", seed=options.seed, climate=THROTTLED, endpoint=endpoint
        ) as make:
            cloud = make("fleet", 15.0)
            longest_s = options.minutes * 60
            stowed = stow(cloud, crates, fleet, options.seed, longest_s=longest_s)
            crates = crates[: stowed.crates]
            show(stowed)
            cloud.weather.climate = Climate()
            lacking = uncatalogued(cloud, crates)
            cloud.runtime.upkeep().run()
            left = uncatalogued(cloud, crates)
            print(f"the catalogue lacked {lacking} of them, and {left} after upkeep", flush=True)
            assert not left
            many = min(options.asked, len(crates))
            asked = random.Random(options.seed).sample(crates, many)
            check(cloud, crates, asked)
            print(f"verified; {len(asked)} of them were asked for and answer")


def show(stowed: Stowed) -> None:
    """Print what it took."""
    counts, requests = stowed.counts, stowed.requests
    table(
        "A fleet",
        ["what", "number"],
        [
            ["crates", f"{stowed.crates}"],
            ["fetched again", f"{stowed.again} ({stowed.again / stowed.crates:.1%})"],
            ["processes killed", f"{counts['killed']}"],
            ["jobs that these were at", f"{counts['interrupted']}"],
            ["messages taken", f"{counts['took']}"],
            ["delivered twice", f"{counts['twice']}"],
            ["failed tries", f"{counts['failed']}"],
            ["dead letters", f"{stowed.dead}"],
            ["requests", f"{sum(requests[kind] for kind in KINDS)}"],
            ["refused with 503", f"{requests['slow down']}"],
            ["answers lost", f"{requests['lost']}"],
            ["answers cut off", f"{requests['cut']}"],
            ["CPU seconds of the workers", f"{stowed.cpu_s:.0f}"],
            ["seconds", f"{stowed.wall_s:.0f}"],
        ],
    )


if __name__ == "__main__":
    main()
