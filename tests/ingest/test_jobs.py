from __future__ import annotations

import gzip
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from docstow.core.errors import InvalidParameter, JobNotFound
from docstow.ingest.jobs import (
    ABANDONED,
    COUNTS,
    ERRORS_KEPT,
    FAILED,
    FINISHED,
    FULL,
    KEPT,
    MOST_RESUMED,
    QUEUED,
    RUNNING,
    SUCCESS,
    Job,
    JobError,
    Jobs,
    Progress,
    lease_key,
    with_error,
    without_secrets,
)
from docstow.store.inventory import store_time
from docstow.store.leases import Leases
from docstow.store.objects import DirectoryStore, ObjectStore, Stored, open_store
from schedules import Memory
from servers.s3 import STORES, Bucket

SOURCE = "0123456789abcdef" * 4
OTHER = "f" * 64


class Clock:
    """A clock that a test moves, by seconds."""

    def __init__(self) -> None:
        self.now = datetime(2026, 11, 21, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.now

    def pass_s(self, seconds: float) -> None:
        self.now += timedelta(seconds=seconds)


@pytest.fixture(params=STORES)
def store(request: pytest.FixtureRequest, tmp_path: Path) -> ObjectStore:
    if request.param == "directory":
        return DirectoryStore(tmp_path)
    there: Bucket = request.getfixturevalue("buckets")(request.param)
    return open_store(there.at(tmp_path.name), endpoint=there.endpoint, region="us-east-1")


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def held() -> set[str]:
    """The leases that someone holds."""
    return set()


@pytest.fixture
def jobs(tmp_path: Path, clock: Clock, held: set[str]) -> Jobs:
    return Jobs(DirectoryStore(tmp_path), clock, lease_s=15, held=held.__contains__)


def test_a_job_from_its_start_to_its_end(store: ObjectStore, clock: Clock) -> None:
    jobs = Jobs(store, clock)
    job, new = jobs.start(SOURCE, FULL)
    assert (job.id, job.source_id, job.mode, job.state, new) == (
        "0123456789abcdef-000001",
        SOURCE,
        FULL,
        QUEUED,
        True,
    )
    assert job.counts == dict.fromkeys(COUNTS, 0)
    clock.pass_s(3)
    running = jobs.change(
        job, state=RUNNING, started_at=clock.now, progress=Progress(4, None, "a.md")
    )
    assert (running.heartbeat, running.finished_at) == (clock.now, None)
    clock.pass_s(3)
    ended = jobs.change(
        running, state=SUCCESS, skipped={"noindex": 2}, errors=(JobError("a", "b", "c"),)
    )
    assert ended.finished_at == clock.now
    assert Jobs(store, clock).get(job.id) == ended == jobs.latest(SOURCE)
    assert list(jobs.of(SOURCE)) == jobs.all() == [ended]
    assert jobs.latest(OTHER) is None


def test_the_newest_jobs_of_several_sources_take_one_list(
    tmp_path: Path, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    store, asked = DirectoryStore(tmp_path), list[str]()
    jobs = Jobs(store, clock)
    jobs.change(jobs.start(SOURCE)[0], state=FAILED)
    ended = jobs.change(jobs.start(SOURCE)[0], state=SUCCESS)
    queued = jobs.start(OTHER)[0]

    def ask(name: str, method: Callable[[str], object], key: str) -> object:
        asked.append(f"{name} {key}")
        return method(key)

    for name in ("list", "get"):
        monkeypatch.setattr(store, name, partial(ask, name, getattr(store, name)))
    wanted = [SOURCE, OTHER, "0" * 64]
    assert jobs.latest_of(wanted) == {SOURCE: ended, OTHER: queued}
    assert sorted(asked) == ["get jobs/" + each.id + ".json" for each in (ended, queued)] + [
        "list jobs/"
    ]
    asked.clear()
    running = jobs.change(queued, state=RUNNING)
    asked.clear()
    # What has ended never changes; what has not is read again.
    assert jobs.latest_of(wanted) == {SOURCE: ended, OTHER: running}
    assert sorted(asked) == [f"get jobs/{queued.id}.json", "list jobs/"]
    # Another job in its place is told from it.
    store.delete(f"jobs/{ended.id}.json")
    store.delete("jobs/0123456789abcdef-000001.json")
    anew = jobs.start(SOURCE)[0]
    assert jobs.latest_of(wanted)[SOURCE] == anew


def test_an_active_job_is_joined_and_an_ended_one_is_not(jobs: Jobs) -> None:
    first, _ = jobs.start(SOURCE)
    assert jobs.start(SOURCE, FULL) == (first, False)
    running = jobs.change(first, state=RUNNING)
    assert jobs.start(SOURCE) == (running, False)
    assert jobs.start(OTHER)[1]
    jobs.change(running, state=FAILED)
    second, new = jobs.start(SOURCE)
    assert (second.id, new) == ("0123456789abcdef-000002", True)
    assert list(jobs.of(SOURCE)) == [second, jobs.get(first.id)]


def test_one_may_be_queued_behind_one_that_runs(jobs: Jobs) -> None:
    first, _ = jobs.start(SOURCE)
    assert jobs.start(SOURCE, join_running=False) == (first, False)
    jobs.change(first, state=RUNNING)
    second, new = jobs.start(SOURCE, join_running=False)
    assert new
    assert jobs.start(SOURCE, join_running=False) == (second, False)


def test_of_many_starters_one_makes_the_job(store: ObjectStore, clock: Clock) -> None:
    start = threading.Barrier(8)

    def begin(_: int) -> tuple[Job, bool]:
        jobs = Jobs(store, clock)
        start.wait()
        return jobs.start(SOURCE)

    with ThreadPoolExecutor(8) as pool:
        started = list(pool.map(begin, range(8)))
    assert len({job.id for job, _ in started}) == 1
    assert sum(new for _, new in started) == 1


def test_an_ended_job_never_changes(jobs: Jobs) -> None:
    job, _ = jobs.start(SOURCE)
    ended = jobs.change(job, state=SUCCESS, snapshot_id="5")
    assert jobs.change(job, state=FAILED) == ended
    assert jobs.change(job, progress=Progress(1, 1, "late")) == ended
    assert jobs.get(job.id) == ended


def test_changes_from_several_threads_all_last(jobs: Jobs) -> None:
    job, _ = jobs.start(SOURCE)
    fields = [{"version": "abc"}, {"options": "def"}, {"snapshot_id": "5"}, {"error_count": 4}]
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda each: jobs.change(job, **each), fields))
    found = jobs.get(job.id)
    assert (found.version, found.options, found.snapshot_id, found.error_count) == (
        "abc",
        "def",
        "5",
        4,
    )


def test_a_job_whose_runner_died_has_failed(jobs: Jobs, clock: Clock, held: set[str]) -> None:
    job = jobs.change(jobs.start(SOURCE)[0], state=RUNNING)
    held.add(lease_key(SOURCE))
    clock.pass_s(60)
    assert jobs.get(job.id).state == RUNNING  # slow, but at work
    held.clear()
    clock.now = job.heartbeat + timedelta(seconds=20)
    assert jobs.get(job.id).state == RUNNING  # it may have begun just before its lease
    clock.pass_s(1)
    dead = jobs.get(job.id)
    assert (dead.state, dead.errors[0].kind, dead.finished_at) == (FAILED, ABANDONED, clock.now)
    # Whoever was only asleep cannot make a success of it.
    assert jobs.change(job, state=SUCCESS) == dead
    assert jobs.start(SOURCE)[1]


def test_a_job_whose_runner_died_is_queued_again_where_messages_die_with_it(
    tmp_path: Path, clock: Clock, held: set[str]
) -> None:
    jobs = Jobs(DirectoryStore(tmp_path), clock, lease_s=15, held=held.__contains__, resumes=True)
    job = jobs.start(SOURCE)[0]
    for number in range(1, MOST_RESUMED + 1):
        running = jobs.change(job, state=RUNNING)
        held.add(lease_key(SOURCE))
        clock.pass_s(60)
        assert jobs.get(job.id) == running
        held.clear()
        queued = jobs.get(job.id)
        assert (queued.state, queued.resumed, queued.errors) == (QUEUED, number, ())
        assert queued.heartbeat == running.heartbeat  # so that its message counts as lost
        assert jobs.start(SOURCE) == (queued, False)
    jobs.change(job, state=RUNNING)
    clock.pass_s(60)
    dead = jobs.get(job.id)  # it may be what they die of
    assert (dead.state, dead.errors[0].kind, dead.resumed) == (FAILED, ABANDONED, MOST_RESUMED)


def test_a_job_whose_runner_has_a_clock_that_is_behind_goes_on(tmp_path: Path) -> None:
    def behind() -> datetime:
        return datetime.now(UTC) - timedelta(seconds=20, microseconds=1)

    store = DirectoryStore(tmp_path)
    runner = Jobs(store, behind, lease_s=15)
    job, _ = runner.start(SOURCE)
    running = runner.change(job, state=RUNNING, started_at=behind())
    assert Leases(store, "runner", clock=behind).acquire(job.lease, 15) is not None
    leases = Leases(store, "reader", store_now=lambda: store_time(store))
    reader = Jobs(store, lambda: datetime.now(UTC), lease_s=15, held=leases.held)
    assert reader.get(job.id) == running


def test_one_who_wakes_up_meanwhile_goes_on(tmp_path: Path, clock: Clock) -> None:
    class Sleeper(DirectoryStore):
        """Lets somebody else go on between a look at a record and its change."""

        wake: Callable[[], object] = staticmethod(lambda: None)

        def get(self, key: str) -> Stored | None:
            found = super().get(key)
            wake, self.wake = self.wake, lambda: None
            wake()
            return found

    store, other = Sleeper(tmp_path), Jobs(DirectoryStore(tmp_path), clock)
    jobs = Jobs(store, clock, lease_s=15)
    job = jobs.change(jobs.start(SOURCE)[0], state=RUNNING)
    clock.pass_s(60)
    store.wake = lambda: other.change(job, progress=Progress(5))
    assert (jobs.get(job.id).state, jobs.get(job.id).progress.done) == (RUNNING, 5)


def test_a_queued_job_waits_as_long_as_it_takes(jobs: Jobs, clock: Clock) -> None:
    job, _ = jobs.start(SOURCE)
    clock.pass_s(86400)
    assert jobs.get(job.id).state == QUEUED


def test_old_jobs_make_room(jobs: Jobs) -> None:
    for _ in range(KEPT + 2):
        job, _ = jobs.start(SOURCE)
        jobs.change(job, state=SUCCESS)
    assert len(list(jobs.of(SOURCE))) == KEPT
    with pytest.raises(JobNotFound):
        jobs.get("0123456789abcdef-000002")
    assert jobs.get("0123456789abcdef-000003").state == SUCCESS


def test_errors_are_counted_beyond_those_that_are_kept(jobs: Jobs) -> None:
    job, _ = jobs.start(SOURCE)
    for number in range(ERRORS_KEPT + 5):
        job = jobs.change(job, **with_error(job, "k", str(number), "m"))
    assert (len(job.errors), job.error_count) == (ERRORS_KEPT, ERRORS_KEPT + 5)
    assert job.errors[0].ref == str(ERRORS_KEPT + 4)


@pytest.mark.parametrize("ref", ["", "x", "../jobs", "0123456789abcdef-000009", "0" * 200])
def test_a_job_that_is_not_there(jobs: Jobs, ref: str) -> None:
    with pytest.raises(JobNotFound):
        jobs.get(ref)


def test_a_mode_that_is_none(jobs: Jobs) -> None:
    with pytest.raises(InvalidParameter, match="incremental or full"):
        jobs.start(SOURCE, "quick")


SECRET = st.text("abcXYZ019-._~!$&'()*+,;=:%", min_size=1, max_size=12)


@given(SECRET, st.text("abc .,", max_size=20))
def test_no_user_of_a_url_is_told(secret: str, around: str) -> None:
    text = f"{around}https://{secret}@docs.example/a?b=c@d {around}"
    assert without_secrets(text) == f"{around}https://docs.example/a?b=c@d {around}"


def test_given_secrets_are_not_told() -> None:
    assert without_secrets("refused: Bearer hush", ["Bearer hush", ""]) == "refused: ***"
    assert without_secrets("mail a@b.example, http://a/x@y") == "mail a@b.example, http://a/x@y"


class Counted(Memory):
    """Counts which records of jobs are read."""

    def __init__(self) -> None:
        super().__init__()
        self.read: list[str] = []

    def get(self, key: str) -> Stored | None:
        if key.startswith("jobs/"):
            self.read.append(key)
        return super().get(key)


def test_what_has_ended_is_read_once_by_anybody() -> None:
    store = Counted()

    def opened() -> Jobs:
        return Jobs(store, lambda: store.now)

    jobs = [opened().start(f"{n:064}"[::-1])[0] for n in range(1, 7)]
    for job in jobs[:4]:
        opened().change(job, state=SUCCESS)

    def looked(look: Callable[[Jobs], object]) -> tuple[object, int]:
        store.read.clear()
        return look(opened()), len(store.read)

    def waiting(jobs: Jobs) -> list[str]:
        return sorted(job.id for job in jobs.active())

    left = sorted(job.id for job in jobs[4:])
    assert looked(waiting) == (left, 6)
    assert looked(waiting) == (left, 2)
    assert looked(Jobs.states) == ({SUCCESS: 4, QUEUED: 2}, 2)
    opened().change(jobs[4], state=FAILED)
    store.delete(f"jobs/{jobs[0].id}.json")
    assert looked(Jobs.states) == ({SUCCESS: 3, FAILED: 1, QUEUED: 1}, 2)
    assert looked(waiting) == ([jobs[5].id], 2)
    assert looked(waiting)[1] == 1
    # A record of the same name is another one if it was written anew.
    again = store.objects[f"jobs/{jobs[5].id}.json"][0].replace(
        jobs[5].id.encode(), jobs[1].id.encode()
    )
    store.delete(f"jobs/{jobs[1].id}.json")
    store.create(f"jobs/{jobs[1].id}.json", again)
    assert looked(waiting)[0] == sorted(job.id for job in (jobs[1], jobs[5]))
    for damaged in (b"", b"{", gzip.compress(b"[]"), gzip.compress(b'{"schema": 9, "ended": {}}')):
        store.objects[FINISHED] = (damaged, store.now)
        assert looked(Jobs.states) == ({SUCCESS: 2, FAILED: 1, QUEUED: 2}, 5)
        assert looked(waiting)[1] == 5
        assert looked(waiting)[1] == 2
