"""``make simulate``: the real functions on a store that is far away and a queue that is careless.

The handlers of ``functions/ingest`` and ``functions/mcp`` run under the real runtime client, each
in a process of its own, on a bucket behind :class:`servers.weather.Weather`. Messages come twice
and out of order, processes are killed at their work and started again. Everything that goes wrong
is drawn from a seed. What is printed are figures; that nothing is lost, mixed or done for nothing
is asserted here.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import logging
import os
import random
import resource
import shutil
import statistics
import threading
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from benchmarks.measure import ms, table
from docstow.core.model import STANDARD
from docstow.core.settings import load
from docstow.ingest.jobs import SUCCESS, Job
from docstow.ops.audit import Verified
from docstow.runtime import SAMPLE, Runtime
from paths import REPOSITORY as ROOT
from paths import SHARED
from servers.docs_rs import DocsRs
from servers.gateway import body_of, event
from servers.lambda_runtime import FunctionError, LambdaRuntime
from servers.s3 import NAMED, Bucket, bucket
from servers.sqs import Queues, record
from servers.weather import FAR, KINDS, STORM, Climate, Weather

#: Larger packed files are left out, so that a run takes minutes.
LARGEST = 120_000

#: Nothing waits for so many seconds: pauses of messages and leases are shorter.
STUCK_S = 90.0

#: A crate and its version.
Crate = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Mishaps:
    """How the queue and the platform fail.

    Attributes:
        twice: share of messages that are delivered to a second worker as well.
        killed: share of invocations during which the process is killed.
        within_s: how far into its work, at most.
        spared: nobody is killed at a message that was received so often: one whose workers are
            killed every time belongs with the dead letters.
    """

    twice: float = 0.0
    killed: float = 0.0
    within_s: float = 1.5
    spared: int = 3


TROUBLE = Mishaps(twice=0.15, killed=0.1)


@dataclass
class Tally:
    """What workers met; times are those of invocations that ended well."""

    lock: threading.Lock = field(default_factory=threading.Lock)
    delivered: int = 0
    twice: int = 0
    killed: int = 0
    failed: int = 0
    broken: list[Exception] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    moved_at: float = field(default_factory=time.perf_counter)


@dataclass(frozen=True, slots=True)
class Drained:
    """What it took to stow a list of crates."""

    workers: int
    crates: int
    wall_s: float
    cpu_s: float
    fetches: int
    tally: Tally
    counted: Counter[str]
    dead: int


class Cloud:
    """A store, a queue, an upstream, and functions between them.

    Args:
        bucket: with the queues' server.
        weather: before them.
        upstream: docs.rs.
        name: of the part of the bucket and of the queue.
        folder: of caches.
        seed: of the mishaps.
        lease_s: how long what a killed worker was at is left alone.
    """

    def __init__(
        self,
        bucket: Bucket,
        weather: Weather,
        upstream: DocsRs,
        name: str,
        folder: Path,
        *,
        seed: int,
        lease_s: float,
    ) -> None:
        self.weather = weather
        self.upstream = upstream
        self.folder = folder / name
        self.queues_endpoint = bucket.queues
        self.queues = Queues.create(bucket.queues, name)
        self._seed = seed
        near = {
            "store": bucket.at(name),
            "docs_rs_url": upstream.url,
            "crates_index_url": upstream.index_url,
            "upstream_interval_s": "0",
            "lease_s": f"{lease_s}",
            "wait_s": "0",
            "freshness_s": "0",
            "auth": "open",
            "log_level": "error",
        }
        self.runtime = Runtime(
            load(
                {
                    **near,
                    "s3_endpoint": bucket.endpoint,
                    "queue_url": self.queues.url,
                    "dead_letter_url": self.queues.dead,
                    "cache": str(self.folder / "cache"),
                },
                {},
            )
        )
        far = {
            **near,
            "s3_endpoint": weather.url,
            "queue_url": self.queues.url.replace(bucket.queues, weather.url),
            "dead_letter_url": self.queues.dead.replace(bucket.queues, weather.url),
        }
        self._environment = {f"DOCSTOW_{key.upper()}": value for key, value in far.items()}

    def close(self) -> None:
        """Drop the connections."""
        self.runtime.close()

    def function(self, name: str, place: str, **settings: str) -> LambdaRuntime:
        """A function in a fresh process with a cache of its own."""
        more = {f"DOCSTOW_{key.upper()}": value for key, value in settings.items()}
        environment = {**self.environment(place), **more}
        return LambdaRuntime(f"functions/{name}/handler.handler", ROOT, environment)

    def environment(self, place: str) -> dict[str, str]:
        """The variables of a function that has a cache of its own."""
        return {**self._environment, "DOCSTOW_CACHE": str(self.folder / place)}

    def drain(self, crates: Sequence[Crate], workers: int, mishaps: Mishaps) -> Drained:
        """Send a job for every crate, and have so many workers do them all."""
        tally, used_s, fetched = Tally(), cpu_s(), self.fetches(crates)
        words = [f"{name}@={version}" for name, version in crates]
        begun = time.perf_counter()
        with self.weather.meter.during() as counted:
            started = list(self.runtime.enqueuer.crates(words, self.resolve))
            jobs = [job.id for _, job in started if isinstance(job, Job)]
            assert len(jobs) == len(crates), [e for e in started if not isinstance(e[1], Job)]
            done = threading.Event()
            progress = threading.Condition()
            threads = [
                threading.Thread(
                    target=Worker(self, n, mishaps, tally, progress).run, args=(done,), daemon=True
                )
                for n in range(workers)
            ]
            for thread in threads:
                thread.start()
            with progress:
                active = jobs
                while active := [job for job in active if self.runtime.jobs.stored(job).active]:
                    progress.wait(1)
                    stuck = time.perf_counter() - tally.moved_at > STUCK_S
                    if tally.broken or stuck:
                        done.set()
                        raise AssertionError(self.told(active)) from next(iter(tally.broken), None)
            wall_s = time.perf_counter() - begun
            done.set()
            for thread in threads:
                thread.join()
        states = Counter(self.runtime.jobs.stored(job).state for job in jobs)
        assert set(states) == {SUCCESS}, states
        used_s, fetches = cpu_s() - used_s, self.fetches(crates) - fetched
        dead = self.queues.counts(self.queues.dead)[0]
        return Drained(workers, len(crates), wall_s, used_s, fetches, tally, counted, dead)

    def verified(self) -> Verified:
        """What ``docstow store verify`` finds."""
        return self.runtime.upkeep().verify()

    def snapshots(self) -> int:
        """How many snapshot records there are, named by a head or not."""
        return sum(1 for _ in self.runtime.store.list("snapshots/"))

    def ask_all(self, crates: Sequence[Crate]) -> list[float]:
        """Ask the function for every crate; the seconds that each answer took.

        Raises:
            AssertionError: some crate does not answer, or not in its version.
        """
        seconds = []
        with self.function("mcp", "asked") as mcp:
            for name, version in crates:
                begun = time.perf_counter()
                answer = mcp.invoke(
                    call("search_items", crate=name, version=version, query="create a new value")
                )
                seconds.append(time.perf_counter() - begun)
                body = body_of(answer)
                assert answer["statusCode"] == 200, body
                assert (body["answered"], body["substituted"]) == (version, False), body
        return seconds

    def told(self, active: Sequence[str]) -> str:
        """What is not done, and where its messages are."""
        jobs = [self.runtime.jobs.stored(job) for job in active]
        lines = [f"{job.lease}: {job.state} {[e.message for e in job.errors]}" for job in jobs]
        waiting, dead = (self.queues.counts(url) for url in (self.queues.url, self.queues.dead))
        return "\n".join([f"queued (seen, hidden): {waiting}, dead: {dead}", *lines])

    def resolve(self, word: str) -> Any:
        """The crate that a word means, and whether it is stowed."""
        name, _, requirement = word.partition("@")
        revision, snapshot = self.runtime.resolver.resolve(name, requirement)
        return revision.source, snapshot is not None

    def fetches(self, crates: Sequence[Crate]) -> int:
        """How often some of these were fetched."""
        places = {f"/crate/{name}/{version}/json" for name, version in crates}
        return sum(path in places for path in self.upstream.paths("/crate/"))


class Worker:
    """What stands between a queue and one instance of the function."""

    def __init__(
        self,
        cloud: Cloud,
        number: int,
        mishaps: Mishaps,
        tally: Tally,
        progress: threading.Condition,
    ) -> None:
        self._cloud = cloud
        self._place = f"worker-{number}"
        self._mishaps = mishaps
        self._tally = tally
        self._progress = progress
        self._random = random.Random(f"{cloud._seed} {number}")
        self._again: list[Mapping[str, Any]] = []
        self._stack = contextlib.ExitStack()
        self._function = self._start()

    def run(self, done: threading.Event) -> None:
        """Take messages until everything is done."""
        with self._stack:
            while not done.is_set():
                try:
                    for message in self._messages():
                        self._deliver(message)
                        self._tally.moved_at = time.perf_counter()
                except Exception as error:  # noqa: BLE001 - whoever waits for the end raises it
                    self._tally.broken.append(error)
                    done.set()
                with self._progress:
                    self._progress.notify()

    def _messages(self) -> list[Mapping[str, Any]]:
        """One message, maybe once more, and in no order that its sender knows."""
        answer = self._cloud.queues.client.receive_message(
            QueueUrl=self._cloud.queues.url,
            MaxNumberOfMessages=1,
            AttributeNames=["All"],
            WaitTimeSeconds=1,
        )
        got = list(answer.get("Messages", ()))
        late, self._again = self._again, []
        for message in got:
            if self._random.random() < self._mishaps.twice:
                self._again.append(message)
                self._count("twice")
        return [*got, *late] if got else late

    def _deliver(self, message: Mapping[str, Any]) -> None:
        self._count("delivered")
        begun, answer = time.perf_counter(), None
        with self._doomed(message) as killed:
            try:
                answer = self._function.invoke({"Records": [record(message)]})
            except FunctionError:
                if not killed.is_set():
                    raise  # it ended by itself
        if killed.is_set():
            self._count("killed")
            self._stack.pop_all().close()
            self._function = self._start()
        if answer is None:
            # The platform would wait for the whole visibility timeout.
            self._about(message, "change_message_visibility", VisibilityTimeout=1)
        elif answer["batchItemFailures"]:
            self._count("failed")
        else:
            self._about(message, "delete_message")
            with self._tally.lock:
                self._tally.seconds.append(time.perf_counter() - begun)

    @contextlib.contextmanager
    def _doomed(self, message: Mapping[str, Any]) -> Iterator[threading.Event]:
        """Kill the function within the block, if fate wills it; never after the block's end."""
        killed, function = threading.Event(), self._function

        def kill() -> None:
            killed.set()
            function.kill()

        after_s = self._random.uniform(0, self._mishaps.within_s)
        doomed = self._random.random() < self._mishaps.killed
        received = int(message["Attributes"]["ApproximateReceiveCount"])
        if not doomed or received >= self._mishaps.spared:
            yield killed
            return
        killer = threading.Timer(after_s, kill)
        killer.start()
        try:
            yield killed
        finally:
            killer.cancel()
            killer.join()

    def _about(self, message: Mapping[str, Any], action: str, **arguments: Any) -> None:
        """Tell the queue about a message, which others may have deleted meanwhile."""
        queues, handle = self._cloud.queues, message["ReceiptHandle"]
        with contextlib.suppress(queues.client.exceptions.ReceiptHandleIsInvalid):
            getattr(queues.client, action)(QueueUrl=queues.url, ReceiptHandle=handle, **arguments)

    def _start(self) -> LambdaRuntime:
        return self._stack.enter_context(self._cloud.function("ingest", self._place))

    def _count(self, name: str) -> None:
        with self._tally.lock:
            setattr(self._tally, name, getattr(self._tally, name) + 1)


def call(tool: str, **arguments: Any) -> dict[str, Any]:
    """An event that calls a tool."""
    return event("POST", f"/mcp/tools/{tool}", arguments)


def cpu_s() -> float:
    """CPU seconds of all child processes that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def samples(folder: Path, count: int) -> list[Crate]:
    """The sample crate under several names, as a folder for the upstream."""
    crates = [(f"hold-{number}", "0.1.0") for number in range(count)]
    for name, version in crates:
        place = folder / name / version
        place.mkdir(parents=True)
        shutil.copy(SAMPLE, place / "rustdoc.json.zst")
    return crates


def corpus(folder: Path, count: int, seed: int) -> list[Crate]:
    """Some of the small and middling crates of the corpus beside the checkout."""
    files = sorted(folder.glob("*/*/rustdoc.json.zst"))
    small = [
        file.parent
        for file in files
        if file.stat().st_size <= LARGEST and file.parent.parent.name not in STANDARD
    ]
    newest = {place.parent.name: (place.parent.name, place.name) for place in small}
    drawn = random.Random(seed).sample(sorted(newest.values()), min(len(newest), count))
    return sorted(drawn)


@contextlib.contextmanager
def clouds(
    folder: Path, crates: Path, *, seed: int, climate: Climate, endpoint: str = NAMED
) -> Iterator[Any]:
    """A function that makes clouds, each with a part of one bucket and a queue of its own."""
    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    with (
        contextlib.ExitStack() as stack,
        bucket(endpoint) as there,
        DocsRs(crates) as upstream,
        Weather(there, seed=seed, climate=climate) as weather,
    ):

        def make(name: str, lease_s: float = 1.0) -> Cloud:
            made = Cloud(there, weather, upstream, name, folder, seed=seed, lease_s=lease_s)
            stack.callback(made.close)
            return made

        yield make


def check(cloud: Cloud, crates: Sequence[Crate], asked: Sequence[Crate] | None = None) -> None:
    """Hold a store to what it promises, whatever has happened to it.

    Args:
        cloud: that has the store.
        crates: all that it holds.
        asked: those that a function is asked for; all of them by default.

    Raises:
        AssertionError: something is broken, is there twice, or does not answer.
    """
    verified = cloud.verified()
    assert not verified.faults, verified.faults
    assert cloud.snapshots() == len(crates), (cloud.snapshots(), len(crates))
    cloud.ask_all(crates if asked is None else asked)


def requests(counted: Mapping[str, float], per: int) -> list[str]:
    """Requests and KiB by kind, each for one of ``per``."""
    cells = [f"{counted[kind] / per:.1f}" for kind in KINDS]
    return [*cells, *(f"{counted[name] / per / 1024:.1f}" for name in ("bytes in", "bytes out"))]


def searches(cloud: Cloud, crates: Sequence[Crate], times: int) -> dict[str, dict[str, Any]]:
    """What S3 is asked for by fresh and warm functions, and how long they take."""
    (name, version), query = crates[0], "create a new value"
    asked = {
        "metadata, cold": [call("get_item_doc", crate=name, version=version, item_path=name)],
        "search, cold": [call("search_items", crate=name, version=version, query=query)],
        "search, warm": [
            call("search_items", crate=name, version=version, query=text)
            for text in (query, "read a line", "turn into bytes")
        ],
        "catalogue, cold": [call("search_items", query=query)],
        "catalogue, warm": [call("search_items", query=query)],
    }
    found = {}
    for what, events in asked.items():
        counted, seconds = Counter[str](), list[float]()
        for number in range(times):
            place = f"{what.replace(', ', '-')}-{number}"
            with cloud.function("mcp", place, freshness_s="5") as mcp:
                if "warm" in what:
                    _answered(mcp.invoke(events[0]))
                for each in events:
                    with cloud.weather.meter.during() as some:
                        begun = time.perf_counter()
                        _answered(mcp.invoke(each))
                        seconds.append(time.perf_counter() - begun)
                    counted.update(some)
        figures = {key: counted[key] / len(seconds) for key in (*KINDS, "bytes in", "bytes out")}
        found[what] = {**figures, "seconds": statistics.median(seconds)}
    return found


def upkeep(cloud: Cloud) -> dict[str, float]:
    """What S3 is asked for by a round of upkeep over what is stowed."""
    with cloud.function("upkeep", "upkeep") as function:
        function.invoke({})  # it starts anew what a new store lacks
        with cloud.weather.meter.during() as counted:
            begun = time.perf_counter()
            function.invoke({})
            seconds = time.perf_counter() - begun
    figures = {key: float(counted[key]) for key in (*KINDS, "bytes in", "bytes out")}
    return {**figures, "seconds": seconds, "sources": float(cloud.snapshots())}


def _answered(answer: Mapping[str, Any]) -> None:
    assert answer["statusCode"] == 200, answer


def simulate(folder: Path, count: int, seed: int, workers: Sequence[int]) -> dict[str, Any]:
    """Run everything, print it, and give the figures that costs are reckoned from."""
    crates_folder = SHARED / "corpus"
    crates = corpus(crates_folder, count, seed) if crates_folder.is_dir() else []
    if not crates:
        crates_folder = folder / "crates"
        crates = samples(crates_folder, count)
    print(f"# {len(crates)} crates, seed {seed}, {os.cpu_count()} cores")
    rows, ingest = [], Counter[str]()
    with clouds(folder, crates_folder, seed=seed, climate=FAR) as make:
        calm = make("calm", 15.0)
        ingest_calm = calm.drain(crates, 1, Mishaps())
        check(calm, crates)
        ingest = ingest_calm.counted
        found = searches(calm, crates, 5)
        found["upkeep, a round"] = upkeep(calm)
        size = sum(entry.size for entry in calm.runtime.store.list("blobs/"))
        for number in workers:
            cloud = make(f"storm-{number}")
            cloud.weather.climate = STORM
            drained = cloud.drain(crates, number, TROUBLE)
            cloud.weather.climate = FAR
            check(cloud, crates)
            rows.append(_row(drained))
            print(f"{number} workers: verified, every crate answers", flush=True)
    rows.insert(0, ["1, calm", *_row(ingest_calm)[1:]])
    heads = ["workers", "crates/min", "CPU s/crate", "fetched/needed", "delivered", "twice"]
    heads += ["killed", "failed", "503", "lost", "cut", "dead letters"]
    table("Ingest, with everything going wrong", heads, rows)
    per = len(crates)
    lines = [
        ["an ingest", *requests(ingest, per), ms(statistics.median(ingest_calm.tally.seconds))]
    ]
    lines += [
        [what, *requests(figures, 1), ms(figures["seconds"])] for what, figures in found.items()
    ]
    table("S3, in calm weather", ["", *KINDS, "KiB in", "KiB out", "median"], lines)
    figures = {key: ingest[key] / per for key in (*KINDS, "bytes in", "bytes out")}
    seconds = statistics.mean(ingest_calm.tally.seconds)
    return {"ingest": {**figures, "seconds": seconds, "stored bytes": size / per}, **found}


def _row(drained: Drained) -> list[str]:
    tally, counted = drained.tally, drained.counted
    return [
        f"{drained.workers}",
        f"{drained.crates / drained.wall_s * 60:.1f}",
        f"{drained.cpu_s / drained.crates:.2f}",
        f"{drained.fetches / drained.crates:.2f}",
        *(f"{n}" for n in (tally.delivered, tally.twice, tally.killed, tally.failed)),
        *(f"{counted[name]}" for name in ("slow down", "lost", "cut")),
        f"{drained.dead}",
    ]


def main() -> None:
    """Read the arguments and run."""
    parser = argparse.ArgumentParser(prog="make simulate", description=__doc__)
    parser.add_argument("--crates", type=int, default=40)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--workers", type=int, nargs="*", default=[1, 2, 4, 8])
    parser.add_argument("--json", type=Path, help="where figures are written")
    options = parser.parse_args()
    with TemporaryDirectory(prefix="docstow-cloud-") as scratch:
        figures = simulate(Path(scratch), options.crates, options.seed, options.workers)
    if options.json:
        options.json.write_text(json.dumps(figures, indent=2) + "\n", "utf-8")


if __name__ == "__main__":
    main()
