"""What jobs log: the last lines of each, beside its record, as far as each caller may know them."""

from __future__ import annotations

import json
import logging
import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from docstow.core import auth
from docstow.core.auth import ADMIN, Caller
from docstow.core.errors import StoreError, UpstreamError
from docstow.core.visibility import Visibility
from docstow.ingest import job_logs
from docstow.ingest.job_logs import LINES_KEPT, LONGEST, conceal
from docstow.ingest.jobs import FAILED, KEPT, QUEUED, RUNNING, SUCCESS, SYNC, Job, Jobs, log_key
from docstow.ingest.queue import Busy, Message
from docstow.ingest.worker import Worker
from docstow.ops.upkeep import JOBS_KEPT, clean_up
from docstow.store.leases import Leases
from docstow.store.objects import DirectoryStore

SOURCE = "a" * 64
LOG = logging.getLogger("docstow.ingest.test_job_logs")


def now() -> datetime:
    return datetime.now(UTC)


class Counted(DirectoryStore):
    """Counts the writes of logs, and fails those that are to fail."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.writes = 0
        self.failing = False
        self.lost = False

    def create(self, key: str, body: bytes) -> str:
        return self._write(key, lambda: super(Counted, self).create(key, body))

    def swap(self, key: str, body: bytes, etag: str) -> str:
        return self._write(key, lambda: super(Counted, self).swap(key, body, etag))

    def _write(self, key: str, write: Callable[[], str]) -> str:
        if not key.startswith("logs/"):
            return write()
        self.writes += 1
        if self.failing:
            raise StoreError("The bucket s3://private/place cannot be used.")
        etag = write()
        if self.lost:
            raise StoreError("The answer was lost.")
        return etag


class Bench:
    """A worker whose one task is what a test says."""

    def __init__(self, folder: Path) -> None:
        self.store = Counted(folder)
        self.jobs = Jobs(self.store, now)
        self.leases = Leases(self.store, "bench")
        self.work: Callable[[], object] = lambda: None
        self.worker = Worker(
            self.jobs, self.leases, {SYNC: self}, self.store, lease_s=15, clock=now
        )

    def finished(self, job: Job) -> Mapping[str, Any] | None:
        del job
        return None

    def perform(self, job: Job) -> Mapping[str, Any]:
        del job
        self.work()
        return {"state": SUCCESS}

    def run(self, work: Callable[[], object]) -> Job:
        """Do a new job."""
        self.work = work
        job, _ = self.jobs.start(SOURCE)
        return self.again(job)

    def again(self, job: Job, *, last: bool = True) -> Job:
        done = self.worker.handle(Message(SYNC, job.id), last=last)
        assert done is not None
        return done

    def messages(self, job: Job) -> list[str]:
        return [line.message for line in job_logs.read(self.store, job)]


@pytest.fixture
def bench(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> Bench:
    caplog.set_level(logging.INFO, "docstow")
    return Bench(tmp_path)


def test_the_last_lines_are_kept_by_one_write(bench: Bench) -> None:
    def work() -> None:
        for number in range(500):
            LOG.info("page %d", number)
        LOG.info("%s the end", "x" * 5000)

    job = bench.run(work)
    assert job.state == SUCCESS
    assert bench.store.writes == 1
    *pages, long, done = bench.messages(job)
    assert len(pages) + 2 == LINES_KEPT
    assert pages[0] == f"page {500 - len(pages)}"
    assert pages[-1] == "page 499"
    assert len(long) <= LONGEST + 3
    assert long.endswith("the end")
    assert done == f"the job {job.id} is done"


def test_each_job_has_its_own_and_what_no_job_logs_is_in_none(bench: Bench) -> None:
    first = bench.run(lambda: LOG.info("one"))
    LOG.info("between")
    second = bench.run(lambda: LOG.info("two"))
    assert [bench.messages(each)[1:-1] for each in (first, second)] == [["one"], ["two"]]


def test_a_later_try_goes_on_with_the_lines_of_the_first(bench: Bench) -> None:
    def work() -> None:
        raise UpstreamError("docs.example does not answer.")

    bench.work = work
    job, _ = bench.jobs.start(SOURCE)
    with pytest.raises(UpstreamError):
        bench.again(job, last=False)
    assert bench.jobs.get(job.id).state == QUEUED
    with pytest.raises(UpstreamError):
        bench.again(job)
    assert bench.jobs.get(job.id).state == FAILED
    told = f"the job {job.id} {{}}: docs.example does not answer."
    begins = f"the job {job.id} begins: sync sync/{SOURCE}"
    assert bench.messages(job) == [
        begins,
        told.format("is tried again"),
        begins,
        told.format("failed"),
    ]
    assert bench.store.writes == 2


def test_a_job_that_waits_for_its_turn_writes_nothing(bench: Bench) -> None:
    def work() -> None:
        raise Busy("crawl/host/docs.example")

    bench.work = work
    job, _ = bench.jobs.start(SOURCE)
    for _ in range(3):
        with pytest.raises(Busy):
            bench.again(job)
    assert (bench.store.writes, bench.messages(job)) == (0, [])


def test_a_store_that_loses_or_refuses_the_lines_costs_lines_alone(bench: Bench) -> None:
    bench.store.failing = True
    assert bench.run(lambda: LOG.info("one")).state == SUCCESS
    bench.store.failing, bench.store.lost = False, True

    def work() -> None:
        LOG.info("two")
        next(iter(bench.worker.stop()))  # writes, and is told that it did not
        bench.store.lost = False

    job = bench.run(work)
    assert job.abandoned
    assert bench.messages(job)[1:-1] == ["two"]


def test_secrets_are_in_no_line(bench: Bench) -> None:
    def work() -> None:
        conceal(["Bearer s3cret-token", "k3y"])
        LOG.info("sent Bearer s3cret-token to https://me:passw0rd@docs.example/ with k3y")
        LOG.info("the token s3cret-token is wrong")
        try:
            int("k3y")
        except ValueError:
            LOG.exception("a page could not be read")

    job = bench.run(work)
    stored = bench.store.get(log_key(job.id))
    assert stored is not None
    assert b"a page could not be read" in stored.body
    assert b"Traceback" in stored.body
    for secret in (b"s3cret", b"passw0rd", b"k3y"):
        assert secret not in stored.body


def test_who_may_not_know_everything_gets_no_line_that_names_places(bench: Bench) -> None:
    def work() -> None:
        LOG.info("12 pages")
        logging.getLogger("docstow.audit").info("caller='another'")
        logging.getLogger("docstow.store.objects.s3").warning("s3://private/place is slow")
        for error in (StoreError("s3://private/place"), UpstreamError("docs.example is down")):
            try:
                raise error
            except (StoreError, UpstreamError) as met:
                LOG.warning("anew: %s", met.message)
        try:
            Path("/private/place/file").read_text("utf-8")
        except OSError:
            LOG.exception("a file")

    job = bench.run(work)
    whole = bench.messages(job)
    assert not [each for each in whole if "another" in each]
    assert len([each for each in whole if "private" in each]) == 3
    tenant = Caller("tenant", ADMIN, Visibility(("site:*",)))
    for who in (tenant, Caller("reader", auth.READ)):
        with auth.calling(who):
            assert bench.messages(job)[1:-1] == ["12 pages", "anew: docs.example is down"]


def test_logs_go_with_their_jobs(bench: Bench) -> None:
    jobs = [bench.run(lambda: None) for _ in range(KEPT + 1)]
    left = {log_key(each.id) for each in jobs[1:]}
    assert {entry.key for entry in bench.store.list("logs/")} == left
    other, _ = bench.jobs.start("b" * 64)
    bench.again(other)
    later = now() + JOBS_KEPT + timedelta(days=1)
    assert clean_up(bench.store, later)["logs"] == KEPT - 1
    assert [e.key for e in bench.store.list("logs/")] == [log_key(jobs[-1].id), log_key(other.id)]


@pytest.mark.parametrize("body", [b"damaged", b'{"schema": 2}', b'{"schema": 1, "lines": [{}]}'])
def test_a_damaged_log_has_no_lines_and_is_made_anew(bench: Bench, body: bytes) -> None:
    job, _ = bench.jobs.start(SOURCE)
    bench.store.create(log_key(job.id), body)
    assert bench.messages(job) == []
    assert len(bench.messages(bench.again(job))) == 2


#: Runs a job that says when its first lines are stored, and never ends by itself.
PROGRAM = """
import logging, sys, threading, time
from datetime import UTC, datetime
from pathlib import Path
from docstow.ingest import job_logs
from docstow.ingest.jobs import SYNC, Jobs, log_key
from docstow.ingest.queue import Message
from docstow.ingest.worker import Worker
from docstow.store.leases import Leases
from docstow.store.objects import DirectoryStore

logging.basicConfig(level=logging.INFO)
job_logs.WRITE_S = 0.02
store = DirectoryStore(Path(sys.argv[1]))
now = lambda: datetime.now(UTC)
jobs = Jobs(store, now)

class Hang:
    def finished(self, job):
        return None

    def perform(self, job):
        logging.getLogger("docstow.ingest").info("three of nine pages")
        while not (stored := store.get(log_key(job.id))) or b"three of nine" not in stored.body:
            time.sleep(0.01)
        print(job.id, flush=True)
        threading.Event().wait(600)

job, _ = jobs.start("a" * 64)
Worker(jobs, Leases(store, "w"), {SYNC: Hang()}, store, lease_s=1, clock=now).handle(
    Message(SYNC, job.id))
"""


def test_a_process_that_is_killed_leaves_what_it_had_logged(tmp_path: Path) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", PROGRAM, str(tmp_path)],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    ) as child:
        assert child.stdout is not None
        job_id = child.stdout.readline().strip()
        child.kill()
    store = DirectoryStore(tmp_path)
    job = Jobs(store, now).stored(job_id)
    assert job.state == RUNNING
    first, second = (line.message for line in job_logs.read(store, job))
    assert (first, second) == (f"the job {job_id} begins: sync {job.lease}", "three of nine pages")


def test_jobs_show_prints_the_lines(tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "a.md").write_text("# Mast\n\nIt is made of spruce.\n", "utf-8")
    environment = {
        **os.environ,
        "DOCSTOW_STORE": str(tmp_path / "store"),
        "DOCSTOW_CACHE": str(tmp_path / "cache"),
    }

    def run(*words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "docstow", *words],
            env=environment,
            capture_output=True,
            text=True,
            check=True,
        )

    told = run("ingest", "folder", str(tmp_path / "docs"), "--json")
    job_id = json.loads(told.stdout)["job"]["id"]
    assert "the job" not in told.stderr  # the command tells it by itself
    lines = json.loads(run("jobs", "show", job_id).stdout)["log"]
    assert f"INFO docstow.ingest.worker: the job {job_id} begins" in lines[0]
    assert lines[-1].endswith(f"the job {job_id} is done")
