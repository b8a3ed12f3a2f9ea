"""Jobs through the queue: once each, whoever sends, repeats, delays or kills."""

from __future__ import annotations

import contextlib
import json
import random
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from docstow.core.errors import (
    CrateNotFound,
    DocstowError,
    Ingesting,
    StoreError,
    UnreadableInput,
    from_record,
)
from docstow.core.model import Source
from docstow.core.settings import Settings, load
from docstow.ingest.jobs import (
    ABANDONED,
    FAILED,
    FULL,
    INCREMENTAL,
    QUEUED,
    RUNNING,
    STOW,
    SUCCESS,
    SYNC,
    Job,
    Jobs,
    subject,
)
from docstow.ingest.queue import Busy, Enqueuer, Message, SqsQueue
from docstow.ingest.worker import LEAST_S, OUT_OF_TIME, SqsEvents, Worker
from docstow.runtime import SAMPLE, Runtime
from docstow.store.leases import SKEW_S, Leases
from docstow.store.objects import DirectoryStore
from paths import REPOSITORY
from servers import loopback
from servers.docs_rs import DocsRs
from servers.s3 import Bucket
from servers.sqs import Queues

JSON = "/crate/stowage/0.1.0/json"
SOURCE = Source("crate", "stowage", "0.1.0")
PLENTY_S = 900.0


@pytest.fixture
def upstream(tmp_path: Path) -> Iterator[DocsRs]:
    place = tmp_path / "crates" / "stowage" / "0.1.0"
    place.mkdir(parents=True)
    shutil.copy(SAMPLE, place / "rustdoc.json.zst")
    with DocsRs(tmp_path / "crates") as server:
        yield server


class Cloud:
    """A bucket and a queue, and processes on them.

    Args:
        bucket: with the queues' server.
        folder: for caches; its name is the bucket's prefix and the queue's name.
        upstream: docs.rs.
    """

    def __init__(self, bucket: Bucket, folder: Path, upstream: DocsRs) -> None:
        self.queues = Queues.create(bucket.queues, folder.name.replace("[", "").replace("]", ""))
        self.flags: dict[str, Any] = {
            "store": bucket.at(folder.name),
            "s3_endpoint": bucket.endpoint,
            "queue_url": self.queues.url,
            "dead_letter_url": self.queues.dead,
            "docs_rs_url": upstream.url,
            "crates_index_url": upstream.index_url,
            "upstream_interval_s": 0,
            "retries": 0,
            "cache": str(folder / "cache"),
            "freshness_s": 0,
            "lease_s": 1,
            "wait_s": 0,
        }
        self._closing = contextlib.ExitStack()
        self.runtime = self.open()

    def open(self, **flags: Any) -> Runtime:
        """Another process, as far as anybody can see."""
        made = Runtime(load({**self.flags, **flags}, {}))
        return self._closing.enter_context(contextlib.closing(made))

    def close(self) -> None:
        self._closing.close()

    def work(self, runtime: Runtime | None = None) -> tuple[int, int]:
        """Do what the queue has now."""
        sqs_events = (runtime or self.runtime).sqs_events()
        return self.queues.poll(lambda event: sqs_events.handle(event, lambda: PLENTY_S))


@pytest.fixture
def cloud(bucket: Bucket, tmp_path: Path, upstream: DocsRs) -> Iterator[Cloud]:
    with contextlib.closing(Cloud(bucket, tmp_path, upstream)) as made:
        yield made


def job_of(runtime: Runtime) -> Job:
    """A new job that stows the crate, unsent."""
    return runtime.jobs.start(subject(STOW, SOURCE), kind=STOW, source=SOURCE)[0]


def test_sixteen_that_ask_at_once_are_one_ingest(cloud: Cloud, upstream: DocsRs) -> None:
    def ask(_: int) -> str:
        with pytest.raises(Ingesting) as caught:
            cloud.runtime.library.crate("stowage")
        return str(caught.value.details["job_id"])

    with ThreadPoolExecutor(16) as pool:
        assert len(set(pool.map(ask, range(16)))) == 1
    assert cloud.queues.counts(cloud.queues.url) == (1, 0)
    assert cloud.work() == (1, 0)
    assert cloud.runtime.library.crate("stowage").version == "0.1.0"
    assert len(upstream.paths(JSON)) == 1


def test_a_caller_waits_for_a_worker_elsewhere(cloud: Cloud, upstream: DocsRs) -> None:
    patient = cloud.open(wait_s=60)
    with ThreadPoolExecutor(1) as pool:
        found = pool.submit(patient.library.crate, "stowage")
        while cloud.work() == (0, 0):
            pass  # until the message is there
        assert found.result(60).version == "0.1.0"
    assert len(upstream.paths(JSON)) == 1


def test_messages_that_come_often_and_in_any_order_are_done_once(
    cloud: Cloud, upstream: DocsRs
) -> None:
    site, _ = cloud.runtime.collections.create("notes")
    job = job_of(cloud.runtime)
    sync = cloud.runtime.jobs.start(site.id)[0]
    messages = [Message(STOW, job.id).encode(), Message("sync", sync.id).encode()] * 4
    random.Random(7).shuffle(messages)
    for message in messages:
        cloud.queues.send(message)
    workers = [cloud.open(), cloud.open()]
    with ThreadPoolExecutor(2) as pool:
        handed = [sum(each) for each in pool.map(cloud.work, workers)]
    assert sum(handed) == 8
    assert len(upstream.paths(JSON)) == 1
    states = [cloud.runtime.jobs.get(each.id).state for each in (job, sync)]
    assert states == [SUCCESS, SUCCESS]


# Runs a worker and kills its process in the middle of the ingest.
PROGRAM = """
import json, os, signal, sys
from docstow.runtime import Runtime
from docstow.core.settings import load

flags, event = json.loads(sys.argv[1]), json.loads(sys.argv[2])
sqs_events = Runtime(load(flags, {})).sqs_events()

def watch(frame, event, argument):
    if event == "call" and frame.f_code.co_name == "tabulate":
        os.kill(os.getpid(), getattr(signal, "SIGKILL", signal.SIGTERM))

sys.setprofile(watch)
sqs_events.handle(event, lambda: 900.0)
"""


@pytest.mark.slow
@pytest.mark.parametrize("asked", [False, True])
def test_a_killed_workers_message_is_done_when_it_comes_again(
    cloud: Cloud, upstream: DocsRs, asked: bool
) -> None:
    job = job_of(cloud.runtime)
    body = Message(STOW, job.id).encode()
    record = {
        "messageId": "1",
        "receiptHandle": "none",
        "body": body,
        "attributes": {"ApproximateReceiveCount": "1"},
    }
    command = [sys.executable, "-c", PROGRAM, json.dumps(cloud.flags)]
    killed = subprocess.run(
        [*command, json.dumps({"Records": [record]})], capture_output=True, timeout=60
    )
    assert killed.returncode not in (0, 1), killed.stderr
    assert cloud.runtime.jobs.stored(job.id).state == RUNNING
    # As if some seconds had passed: the lease has run out.
    cloud.runtime.store.delete("leases/crate/stowage/0.1.0.json")
    if asked:
        with contextlib.suppress(DocstowError):
            cloud.runtime.jobs.change(job, state=FAILED, errors=(_abandoned(),))
    cloud.queues.send(body)
    assert cloud.work() == (1, 0)
    last = cloud.runtime.jobs.latest(subject(STOW, SOURCE))
    assert last is not None
    assert (last.state, last.id == job.id) == (SUCCESS, not asked)
    assert cloud.runtime.library.crate("stowage").version == "0.1.0"
    assert len(upstream.paths(JSON)) == 2


def _abandoned() -> Any:
    from docstow.ingest.jobs import JobError

    return JobError(ABANDONED, "", "Whoever ran this job stopped.")


def test_what_answers_already_is_done_at_once_though_another_holds_the_lease(
    cloud: Cloud, upstream: DocsRs
) -> None:
    cloud.runtime.crates.ingest("stowage")
    assert Leases(cloud.runtime.store, "another").acquire(SOURCE.key, 60) is not None
    job = job_of(cloud.runtime)
    cloud.queues.send(Message(STOW, job.id).encode())
    assert cloud.work() == (1, 0)
    assert cloud.runtime.jobs.get(job.id).state == SUCCESS
    assert len(upstream.paths(JSON)) == 1


def test_being_busy_is_no_try(cloud: Cloud) -> None:
    """A message that finds another at work is sent anew in place of itself."""
    assert Leases(cloud.runtime.store, "another").acquire(SOURCE.key, 60) is not None
    job = job_of(cloud.runtime)
    cloud.queues.send(Message(STOW, job.id).encode())
    assert cloud.work() == (1, 0)
    assert cloud.runtime.jobs.get(job.id).state == QUEUED
    assert cloud.queues.counts(cloud.queues.dead) == (0, 0)
    assert cloud.queues.delayed() == 1


def test_what_was_never_begun_is_no_try(cloud: Cloud, upstream: DocsRs) -> None:
    """Others of its batch used up the time."""
    job = job_of(cloud.runtime)
    cloud.queues.send(Message(STOW, job.id).encode())
    sqs_events = cloud.runtime.sqs_events()
    for _ in range(2 * Settings().max_receive_count):
        late = cloud.queues.poll(lambda event: sqs_events.handle(event, lambda: LEAST_S - 1))
        assert late == (1, 0)
    assert (upstream.paths(JSON), cloud.queues.counts(cloud.queues.dead)) == ([], (0, 0))
    (received,) = cloud.queues.receive()
    assert received["Attributes"]["ApproximateReceiveCount"] == "1"
    cloud.queues.show(received)
    assert cloud.work() == (1, 0)
    assert cloud.runtime.jobs.get(job.id).state == SUCCESS


def test_what_cannot_be_sent_anew_comes_when_its_time_is_up(cloud: Cloud) -> None:
    job = job_of(cloud.runtime)
    cloud.queues.send(Message(STOW, job.id).encode())
    absent = SqsQueue(f"{cloud.queues.url}-absent")
    sqs_events = SqsEvents(cloud.runtime.worker, absent, 5)
    assert cloud.queues.poll(lambda event: sqs_events.handle(event, lambda: LEAST_S - 1)) == (0, 1)
    assert cloud.queues.counts(cloud.queues.url) == (0, 1)


@pytest.mark.parametrize(("last", "state"), [(False, QUEUED), (True, FAILED)])
def test_a_job_that_is_cut_off_is_tried_again_if_it_may_be(
    cloud: Cloud, last: bool, state: str
) -> None:
    job = job_of(cloud.runtime)
    cloud.runtime.worker.out_of_time(Message(STOW, job.id), last=last)
    found = cloud.runtime.jobs.get(job.id)
    assert (found.state, found.errors[0].kind) == (state, OUT_OF_TIME)


def test_what_the_platform_is_about_to_cut_off_comes_again_soon(
    cloud: Cloud, upstream: DocsRs
) -> None:
    go = threading.Event()

    def hold(handler: loopback.Handler) -> None:
        go.wait(60)
        handler.server.loopback.answer(handler)

    upstream.plan(JSON, hold)
    job = job_of(cloud.runtime)
    cloud.queues.send(Message(STOW, job.id).encode())
    queue = cloud.runtime.queue
    assert isinstance(queue, SqsQueue)
    # The reserve begins a moment after the job does.
    hasty = SqsEvents(cloud.runtime.worker, queue, 5, reserve_s=PLENTY_S - 0.1)
    with ThreadPoolExecutor(1) as pool:
        taken = pool.submit(cloud.queues.poll, lambda event: hasty.handle(event, lambda: PLENTY_S))
        while not (errors := cloud.runtime.jobs.stored(job.id).errors):
            assert not taken.done()
        go.set()
        assert taken.result(60) == (1, 0)  # this time it was done in the last moment
    assert errors[0].kind == OUT_OF_TIME
    assert cloud.runtime.jobs.get(job.id).state == SUCCESS


def test_one_who_stalls_past_its_lease_and_then_publishes_does_no_harm(
    cloud: Cloud, upstream: DocsRs
) -> None:
    """Another takes its work over and ends it; what the first then does changes nothing."""
    begun, go = threading.Event(), threading.Event()

    def hold(handler: loopback.Handler) -> None:
        begun.set()
        go.wait(60)
        handler.server.loopback.answer(handler)

    job = job_of(cloud.runtime)
    message = Message(STOW, job.id)
    upstream.plan(JSON, hold)
    with ThreadPoolExecutor(1) as pool:
        stalled = pool.submit(cloud.open().worker.handle, message)
        assert begun.wait(60)
        # As if it had slept: nobody has renewed its lease.
        cloud.runtime.store.delete("leases/crate/stowage/0.1.0.json")
        ended = cloud.runtime.worker.handle(message)
        assert ended is not None
        assert ended.state == SUCCESS
        go.set()
        assert stalled.result(60) == ended
    assert cloud.runtime.jobs.stored(job.id) == ended
    head = cloud.runtime.snapshots.head(SOURCE, fresh=True)
    assert head is not None
    assert (head.snapshot_id, head.generation) == (ended.snapshot_id, 1)
    assert cloud.runtime.upkeep().verify().faults == ()
    assert cloud.runtime.library.crate("stowage").version == "0.1.0"


@pytest.mark.parametrize("days", [1, -1])
def test_one_who_dies_with_a_clock_that_is_a_day_off_holds_nobody_up(
    cloud: Cloud, days: int
) -> None:
    def clock() -> datetime:
        return datetime.now(UTC) + days * timedelta(days=1, minutes=1)

    store, job = cloud.runtime.store, job_of(cloud.runtime)
    # It was taken so long ago that by the store's clock it has run out.
    assert Leases(store, "dead", clock=clock).acquire(SOURCE.key, -SKEW_S) is not None
    Jobs(store, clock).change(job, state=RUNNING)
    cloud.queues.send(Message(STOW, job.id).encode())
    assert cloud.work() == (1, 0)
    assert cloud.runtime.jobs.get(job.id).state == SUCCESS
    assert cloud.runtime.upkeep().run().failed == {}
    assert cloud.runtime.upkeep().verify().faults == ()
    assert cloud.runtime.library.crate("stowage").version == "0.1.0"


@pytest.mark.parametrize(("mode", "again"), [(INCREMENTAL, False), (FULL, True)])
def test_what_was_done_since_is_not_done_when_a_dead_workers_message_comes(
    tmp_path: Path, mode: str, again: bool
) -> None:
    """Its job was taken for dead, whoever asked again was served; 90 minutes later it comes."""
    store, done = DirectoryStore(tmp_path), list[str]()

    class Visit:
        def finished(self, job: Job) -> None:
            return None

        def perform(self, job: Job) -> dict[str, Any]:
            done.append(job.id)
            return {"state": SUCCESS}

    jobs = Jobs(store, lambda: datetime.now(UTC))
    leases = Leases(store, "w")
    work = Worker(jobs, leases, {SYNC: Visit()}, store, lease_s=5, clock=lambda: datetime.now(UTC))
    dead, _ = jobs.start("a" * 64, mode)
    jobs.change(dead, state=FAILED, errors=(_abandoned(),))
    second, _ = jobs.start("a" * 64)
    for job in (second, dead):
        ended = work.handle(Message(SYNC, job.id))
        assert ended is not None
        assert ended.state == SUCCESS
    assert [each[-1] for each in done] == (["2", "3"] if again else ["2"])


def test_a_record_that_cannot_be_read_costs_the_others_nothing(
    cloud: Cloud, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = job_of(cloud.runtime)
    bodies = [Message(STOW, job.id).encode(), '{"v": 9, "job": "0123456789abcdef-000001"}']
    for body in bodies:
        cloud.queues.send(body)

    def fails(*_: object) -> None:
        raise StoreError("the store is away")

    monkeypatch.setattr(cloud.runtime.worker, "fail", fails)
    assert cloud.work() == (1, 1)
    assert cloud.runtime.jobs.get(job.id).state == SUCCESS


def test_a_job_that_was_removed_and_a_task_that_is_none(cloud: Cloud) -> None:
    assert cloud.runtime.worker.handle(Message(STOW, "0123456789abcdef-000001")) is None
    with pytest.raises(UnreadableInput, match="no task 'dance'"):
        cloud.runtime.worker.handle(Message("dance", "0123456789abcdef-000001"))
    for text in (Message("dance", "x").encode(), "{"):
        cloud.queues.send(text)
    assert cloud.work() == (0, 2)


@pytest.fixture
def local(tmp_path: Path, upstream: DocsRs) -> Iterator[Callable[..., Runtime]]:
    """Opens runtimes without a queue of their own on one store."""
    with contextlib.ExitStack() as closing:

        def make(**flags: Any) -> Runtime:
            settings: Settings = load(
                {
                    "store": str(tmp_path / "store"),
                    "cache": str(tmp_path / "cache"),
                    "docs_rs_url": upstream.url,
                    "crates_index_url": upstream.index_url,
                    "upstream_interval_s": 0,
                    "retries": 0,
                    "lease_s": 1,
                    **flags,
                },
                {},
            )
            return closing.enter_context(contextlib.closing(Runtime(settings)))

        yield make


def test_a_local_ingest_is_a_job_with_its_reason(
    local: Callable[..., Runtime], upstream: DocsRs
) -> None:
    upstream.always(JSON, loopback.content(b"{}"))
    runtime = local(wait_s=60)
    with pytest.raises(DocstowError) as caught:
        runtime.library.crate("stowage")
    (job,) = runtime.jobs.all()
    assert (job.kind, job.state, job.source) == (STOW, FAILED, SOURCE)
    assert job.reason().body() == caught.value.body()
    fetched = len(upstream.paths(JSON))
    with pytest.raises(type(caught.value)):
        runtime.library.crate("stowage")
    assert len(upstream.paths(JSON)) == fetched  # told from the job, for a little while


def test_a_queued_job_of_a_dead_process_goes_on_in_the_next(local: Callable[..., Runtime]) -> None:
    first = local()
    dead = job_of(first)
    second = local()
    assert second.enqueuer.requeue(3600) == []
    assert [job.id for job in second.enqueuer.requeue(0)] == [dead.id]
    assert second.jobs.get(dead.id).heartbeat > dead.heartbeat
    assert second.sync.wait(dead.id, 60).state == SUCCESS
    revision, snapshot = second.resolver.resolve("stowage")
    assert (revision.source, snapshot is not None) == (SOURCE, True)


def test_what_failed_is_redriven_in_this_process(
    local: Callable[..., Runtime], upstream: DocsRs
) -> None:
    upstream.always(JSON, loopback.status(503))
    runtime = local(wait_s=60)
    with pytest.raises(DocstowError):
        runtime.library.crate("stowage")
    upstream.always(JSON, None)
    (redriven,) = runtime.enqueuer.redrive()
    assert redriven.job is not None
    assert runtime.sync.wait(redriven.job.id, 60).state == SUCCESS
    assert list(runtime.enqueuer.redrive()) == []


class Forgetful:
    """A queue that counts, and delivers nothing."""

    joins = False

    def __init__(self) -> None:
        self.sent: list[Message] = []

    def send(self, message: Message) -> None:
        self.sent.append(message)

    def send_all(self, messages: Sequence[Message]) -> None:
        self.sent += messages

    def close(self) -> None:
        """Nothing is under way."""


def test_a_job_that_waits_for_long_is_sent_once_more(tmp_path: Path) -> None:
    now = datetime(2026, 11, 21, tzinfo=UTC)

    def clock() -> datetime:
        return now

    queue = Forgetful()
    dispatch = Enqueuer(Jobs(DirectoryStore(tmp_path), clock), queue, clock)
    for passed, sent in ((0, 1), (60, 1), (601, 2), (60, 2)):
        now += timedelta(seconds=passed)
        job, _ = dispatch.start(subject(STOW, SOURCE), kind=STOW, source=SOURCE)
        assert [message.job_id for message in queue.sent] == [job.id] * sent


def test_an_error_that_was_written_down_is_the_same_error() -> None:
    error = CrateNotFound("none", suggestions=[{"name": "near", "score": 0.5}])
    body = error.body()
    again = from_record(body.pop("error"), body.pop("message"), body)
    assert (type(again), again.body()) == (CrateNotFound, error.body())
    assert from_record("of_a_later_release", "m", {}).body()["error"] == "internal_error"


def test_an_unforeseen_error_is_tried_again_and_told_without_its_inside(tmp_path: Path) -> None:
    class Slip:
        def finished(self, job: Job) -> None:
            return None

        def perform(self, job: Job) -> dict[str, Any]:
            raise ValueError("the secret inside")

    store = DirectoryStore(tmp_path)
    jobs = Jobs(store, lambda: datetime.now(UTC))
    leases = Leases(store, "w")
    work = Worker(jobs, leases, {STOW: Slip()}, store, lease_s=5, clock=lambda: datetime.now(UTC))
    job, _ = jobs.start(subject(STOW, SOURCE), kind=STOW, source=SOURCE)
    for last, state in ((False, QUEUED), (True, FAILED)):
        with pytest.raises(ValueError, match="secret"):
            work.handle(Message(STOW, job.id), last=last)
        found = jobs.get(job.id)
        assert (found.state, found.errors[0].kind) == (state, "internal_error")
        assert "secret" not in found.errors[0].message
    assert work.handle(Message(STOW, job.id)) == jobs.get(job.id)


def test_busy_is_raised_while_another_holds_the_lease(cloud: Cloud) -> None:
    assert Leases(cloud.runtime.store, "another").acquire(SOURCE.key, 60) is not None
    with pytest.raises(Busy):
        cloud.runtime.worker.handle(Message(STOW, job_of(cloud.runtime).id))


def test_the_queue_tells_that_it_cannot_be_used(bucket: Bucket) -> None:
    queue = SqsQueue(f"{bucket.queues}/123456789012/absent")
    with pytest.raises(DocstowError, match="cannot be used"):
        queue.send(Message(STOW, "a"))


def test_the_template_and_the_setting_agree_on_the_number_of_tries() -> None:
    template = (REPOSITORY / "template.yaml").read_text("utf-8")
    assert f"maxReceiveCount: {Settings().max_receive_count}\n" in template
