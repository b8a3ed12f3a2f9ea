from __future__ import annotations

import contextlib
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from docstow.core.calls import EMBEDDING
from docstow.core.errors import SourceNotFound, UpstreamError
from docstow.core.model import CRATE, File, Known, Registration, Revision, Snapshot
from docstow.core.settings import load
from docstow.embedding import bundled
from docstow.index import profiles, tables
from docstow.index.catalog import Catalog
from docstow.index.loaded import Index
from docstow.index.tables import unpack_vectors
from docstow.ingest.crates import CrateTask
from docstow.ingest.jobs import (
    COUNTS,
    FAILED,
    QUEUED,
    RUNNING,
    SUCCESS,
    SYNC,
    Job,
    Jobs,
    Progress,
    lease_key,
)
from docstow.ingest.publish import Publisher
from docstow.ingest.queue import Busy, Enqueuer, Message
from docstow.ingest.sync import REPORT_S, SyncTask
from docstow.ingest.worker import Worker
from docstow.library.prose import Prose
from docstow.library.requests import SyncRequests
from docstow.runtime import Runtime
from docstow.sources import MORE_PAGES, Event, Failed, Found, Preview, Same, Skipped
from docstow.sources.registry import Registry
from docstow.store.leases import Leases
from docstow.store.objects import ObjectStore, open_store
from docstow.store.snapshots import BlobCache, Snapshots
from servers.forge import Forge, Repository, commit
from servers.s3 import STORES, Bucket
from servers.site import Site

ROOT = "https://docs.example"


def found(name: str, text: str = "", *, links: Sequence[str] = (), validator: str = "") -> Found:
    """A Markdown page of the site."""
    body = f"# Page {name}\n\n{text or f'All about {name}.'}\n".encode()
    url = f"{ROOT}/{name}"
    file = File(url, url, "text/markdown", body)
    return Found(file, validator or name, tuple(f"{ROOT}/{link}" for link in links))


class Replay:
    """An origin that says what a test has it say, and keeps what it was asked."""

    def __init__(self) -> None:
        self.version = ""
        self.events: list[Event | Exception] = []
        self.known: Mapping[str, Known] | None = None
        self.meanwhile: Callable[[], object] = lambda: None

    def of(self, registration: Registration) -> Replay:
        self.registration = registration
        return self

    def resolve(self) -> Revision:
        return self.registration.revision(self.version)

    def files(self, known: Mapping[str, Known]) -> Iterator[Event]:
        self.known = known
        for event in self.events:
            if isinstance(event, Exception):
                raise event
            yield event
        self.meanwhile()


class Clock:
    """A clock that a test moves, by seconds; each look may move it too."""

    def __init__(self) -> None:
        self.now = datetime(2026, 11, 21, tzinfo=UTC)
        self.step = 0.0

    def __call__(self) -> datetime:
        self.now += timedelta(seconds=self.step)
        return self.now


class Crates(CrateTask):
    """Crates of an index that cannot be asked; keeps what was wanted."""

    def __init__(self) -> None:
        self.wanted: list[tuple[str, str, bool]] = []

    def ensure(self, name: str, requirement: str = "", *, patient: bool = True) -> Snapshot:
        self.wanted.append((name, requirement, False))
        raise UpstreamError("There is no index here.")

    def ingest(self, name: str, requirement: str = "", *, target: str = "") -> Snapshot:
        self.wanted.append((name, requirement, True))
        raise UpstreamError("There is no index here.")


class Bench:
    """Everything that a sync needs, over one store, with an origin that replays events."""

    def __init__(self, store: ObjectStore, cache: Path) -> None:
        self.clock = Clock()
        self.store = store
        self.registry = Registry(store)
        self.leases = Leases(store, "bench", clock=self.clock)
        self.jobs = Jobs(store, self.clock, lease_s=15, held=lambda key: self.leases.held(key))
        self.snapshots = Snapshots(store, BlobCache(cache, 1 << 30), freshness_s=0)
        self.origin = Replay()
        self.sent: list[str] = []
        self.crates = Crates()
        self.sync = SyncRequests(self.registry, self.jobs, Enqueuer(self.jobs, self, self.clock))
        task = SyncTask(
            self.registry,
            self.jobs,
            self.snapshots,
            Publisher(self.snapshots, Catalog(store, self.snapshots), bundled),
            lambda registration: contextlib.nullcontext(self.origin.of(registration)),
            self.crates,
            self.clock,
        )
        self.work = Worker(
            self.jobs, self.leases, {SYNC: task}, self.store, lease_s=15, clock=self.clock
        )
        self.site, _ = self.registry.create("site", ROOT)

    joins = True

    def send(self, message: Message) -> None:
        """Keep what would be sent to a worker."""
        self.sent.append(message.job_id)

    def send_all(self, messages: Sequence[Message]) -> None:
        self.sent += [message.job_id for message in messages]

    def close(self) -> None:
        """Nothing is under way here."""

    def do(self, job_id: str) -> Job:
        """Do a job as a worker would at its last try; the job as it ended."""
        with contextlib.suppress(Exception):
            self.work.handle(Message(SYNC, job_id))
        return self.jobs.get(job_id)

    def run(self, *events: Event | Exception, mode: str = "incremental", version: str = "") -> Job:
        self.origin.events, self.origin.version = list(events), version
        return self.do(self.sync.start(self.site.id, mode).id)

    @property
    def snapshot(self) -> Snapshot:
        head = self.snapshots.head(self.site.source)
        assert head is not None
        snapshot = self.snapshots.load(head)
        assert snapshot is not None
        return snapshot

    @property
    def index(self) -> Index:
        snapshot = self.snapshot
        return Index(snapshot, lambda name: self.snapshots.fetch(snapshot, [name])[name])

    @property
    def pages(self) -> dict[str, str]:
        """Last segment of each page's address to the last line of its text."""
        documents = self.index.documents()
        return {each.path.rpartition("/")[2]: each.text.split("\n")[-1] for each in documents}


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(open_store(str(tmp_path / "store")), tmp_path / "cache")


@pytest.fixture(params=STORES)
def either(request: pytest.FixtureRequest, tmp_path: Path) -> Bench:
    place, endpoint = str(tmp_path / "store"), ""
    if request.param != "directory":
        there: Bucket = request.getfixturevalue("buckets")(request.param)
        place, endpoint = there.at(tmp_path.name), there.endpoint
    store = open_store(place, endpoint=endpoint, region="us-east-1")
    return Bench(store, tmp_path / "cache")


def counts(job: Job) -> dict[str, int]:
    """What a job counted, without what is zero."""
    assert set(job.counts) == set(COUNTS)
    return {name: number for name, number in job.counts.items() if number}


ABC = [found("a", links=["b"]), found("b", links=["c"]), found("c")]


def test_a_site_over_several_syncs(either: Bench) -> None:
    job = either.run(*ABC, Skipped(f"{ROOT}/logo.png", "not a page"))
    assert (job.state, job.errors) == (SUCCESS, ())
    assert counts(job) == {
        "fetched": 3,
        "new": 3,
        "skipped": 1,
        "documents": 3,
        "chunks": 3,
        "embedded": 3,
    }
    assert job.skipped == {"not a page": 1}
    assert job.snapshot_id == either.snapshot.id
    assert either.origin.known == {}
    first = job.snapshot_id
    job = either.run(Same(f"{ROOT}/a"), found("b", "Now of boats.", links=["d"]), found("d"))
    assert counts(job) == {
        "fetched": 2,
        "unchanged": 1,
        "new": 1,
        "changed": 1,
        "gone": 1,
        "documents": 3,
        "chunks": 3,
        "embedded": 2,
        "reused": 1,
    }
    assert either.pages == {"a": "All about a.", "b": "Now of boats.", "d": "All about d."}
    assert either.origin.known == {
        f"{ROOT}/{name}": Known(
            f"{ROOT}/{name}", f"{ROOT}/{name}", name, tuple(f"{ROOT}/{each}" for each in links)
        )
        for name, links in (("a", "b"), ("b", "c"), ("c", ""))
    }
    head = either.snapshots.head(either.site.source)
    assert head is not None
    assert (head.earlier, head.generation) == ((first,), 2)
    relations = either.snapshots.fetch(either.snapshot, ["relations"])
    assert relations["relations"].stat().st_size


def test_the_same_content_only_touches_the_head(bench: Bench) -> None:
    first = bench.run(*ABC)
    bench.clock.step = 1
    again = bench.run(*ABC, mode="full")
    assert again.snapshot_id == first.snapshot_id
    assert counts(again) == {"fetched": 3, "unchanged": 3, "documents": 3, "chunks": 3}
    head = bench.snapshots.head(bench.site.source)
    assert head is not None
    assert (head.generation, head.earlier) == (1, ())
    assert head.checked_at > bench.snapshot.created_at


def test_going_back_to_an_earlier_state_is_a_normal_move(bench: Bench) -> None:
    first = bench.run(*ABC).snapshot_id
    second = bench.run(*ABC[:2]).snapshot_id
    job = bench.run(*ABC)
    assert job.snapshot_id == first
    assert counts(job)["new"] == 1
    assert counts(job).get("embedded", 0) == 0
    head = bench.snapshots.head(bench.site.source)
    assert head is not None
    assert (head.snapshot_id, head.earlier, head.generation) == (first, (second,), 3)


def test_no_more_snapshots_are_named_than_are_to_be_kept(bench: Bench) -> None:
    bench.registry.create("site", ROOT, keep=2)
    ids = [bench.run(found("a", f"State {number}.")).snapshot_id for number in range(4)]
    head = bench.snapshots.head(bench.site.source)
    assert head is not None
    assert (head.snapshot_id, head.earlier) == (ids[3], (ids[2],))


def test_a_commit_that_is_known_is_not_fetched_again(bench: Bench) -> None:
    first = bench.run(*ABC, version="c0ffee")
    bench.origin.known = None
    job = bench.run(UpstreamError("must not be asked"), version="c0ffee")
    assert (job.state, job.snapshot_id, job.version) == (SUCCESS, first.snapshot_id, "c0ffee")
    assert counts(job) == {"unchanged": 3, "documents": 3, "chunks": 3}
    assert bench.origin.known is None
    # A commit without a change of the pages is known from then on too.
    bench.run(*(Same(each.file.path) for each in ABC), version="beef")
    job = bench.run(UpstreamError("must not be asked"), version="beef")
    assert (job.state, job.version) == (SUCCESS, "beef")


def test_a_commit_of_which_something_failed_is_tried_again(bench: Bench) -> None:
    bench.run(*ABC, version="1")
    bench.run(*ABC[:2], Failed(f"{ROOT}/c", "upstream_timeout", "slow"), version="2")
    assert counts(bench.run(*ABC, version="2"))["fetched"] == 3


@pytest.mark.parametrize("change", [{"options": {"max_depth": 1}}, {"mode": "full"}])
def test_other_options_and_a_full_sync_take_nothing_for_unchanged(
    bench: Bench, change: dict[str, Any]
) -> None:
    bench.run(*ABC, version="c0ffee")
    if "options" in change:
        bench.registry.create("site", ROOT, options=change["options"])
    job = bench.run(*ABC, mode=change.get("mode", "incremental"), version="c0ffee")
    assert bench.origin.known == {}
    assert counts(job)["fetched"] == 3
    bench.run(*ABC)
    assert set(bench.origin.known) == set(bench.index.visits())


@pytest.mark.parametrize(
    ("part", "read_anew", "embedded_anew"),
    [
        ("reader", True, False),
        ("layout", True, True),
        ("chunker", False, False),
        ("words", False, False),
        ("model", False, True),
    ],
)
def test_another_recipe_makes_the_same_pages_anew(
    bench: Bench,
    monkeypatch: pytest.MonkeyPatch,
    part: str,
    read_anew: bool,
    embedded_anew: bool,
) -> None:
    old = bench.run(*ABC, version="c0ffee")
    visits = bench.index.visits()
    if part == "model":
        monkeypatch.setattr(bundled(), "id", "another/9")
    elif part == "reader":
        monkeypatch.setattr("docstow.formats.PROSE_READER", "another/9")
    else:
        changed = replace(profiles.PAGES, **{part: "another/9"})  # type: ignore[arg-type]
        monkeypatch.setattr(profiles, "PAGES", changed)
    catalog = Catalog(bench.store, bench.snapshots)
    prose = Prose(bench.snapshots, bench.registry, lambda: catalog, bundled, 1 << 28)
    hits, ((_, answered),) = prose.search("all about b")
    assert (answered.id, hits[0].title) == (old.snapshot_id, "Page b")

    events = ABC if read_anew else [Same(each.file.path) for each in ABC]
    job = bench.run(*events, version="c0ffee")
    assert bench.origin.known == ({} if read_anew else visits)
    assert job.snapshot_id != old.snapshot_id
    assert getattr(bench.snapshot.recipe, part) == "another/9"
    assert counts(job)["unchanged"] == 3
    assert ("reused" in counts(job), "embedded" in counts(job)) == (
        not embedded_anew,
        embedded_anew,
    )
    bench.run(UpstreamError("must not be asked"), version="c0ffee")
    assert bench.snapshot.id == job.snapshot_id


def test_what_fails_keeps_its_former_page_and_what_only_it_leads_to(bench: Bench) -> None:
    bench.run(*ABC, found("e"))
    before = bench.pages
    job = bench.run(found("a", links=["b"]), Failed(f"{ROOT}/b", "upstream_timeout", "slow"))
    assert bench.pages == {name: before[name] for name in "abc"}
    assert (job.state, job.error_count) == (SUCCESS, 1)
    assert [(each.kind, each.ref) for each in job.errors] == [("upstream_timeout", f"{ROOT}/b")]
    assert {name: counts(job).get(name, 0) for name in ("unchanged", "gone", "failed")} == {
        "unchanged": 1,
        "gone": 1,
        "failed": 1,
    }
    assert set(bench.index.visits()) == {f"{ROOT}/{name}" for name in "abc"}


def test_a_page_that_a_limit_cut_off_stays_until_a_full_sync(bench: Bench) -> None:
    bench.run(*ABC, found("e"))
    cut: list[Event] = [found("a"), Skipped(f"{ROOT}/b", MORE_PAGES)]
    job = bench.run(*cut)
    assert set(bench.pages) == {"a", "b", "c"}
    assert counts(job)["gone"] == 1
    job = bench.run(*cut, mode="full")
    assert set(bench.pages) == {"a"}
    assert counts(job)["gone"] == 2


def test_what_is_left_out_on_purpose_goes(bench: Bench) -> None:
    bench.run(*ABC)
    job = bench.run(ABC[0], Failed(f"{ROOT}/b", "x", "y"), Skipped(f"{ROOT}/c", "not found"))
    assert set(bench.pages) == {"a", "b"}
    assert counts(job)["gone"] == 1


def test_a_page_that_cannot_be_read_is_an_error_of_its_own(bench: Bench) -> None:
    bench.run(*ABC)
    broken = Found(File(f"{ROOT}/b", f"{ROOT}/b", "application/pdf", b"no pdf"))
    job = bench.run(ABC[0], broken, ABC[2])
    assert job.state == SUCCESS
    assert set(bench.pages) == {"a", "b", "c"}
    assert [each.ref for each in job.errors] == [f"{ROOT}/b"]


def test_a_page_without_text_and_one_that_comes_twice_are_left_out(bench: Bench) -> None:
    empty = Found(File(f"{ROOT}/e", f"{ROOT}/e", "text/markdown", b" \n"))
    job = bench.run(found("a"), found("a", "Another."), empty)
    assert bench.pages == {"a": "All about a."}
    assert job.skipped == {"duplicate": 1, "empty": 1}
    assert counts(job)["skipped"] == 2


@pytest.mark.parametrize(
    "events",
    [
        [UpstreamError("It is down.")],
        [found("a", "Half."), UpstreamError("It went down.")],
        [],
        [Skipped(f"{ROOT}/a", "noindex")],
        [ValueError("a slip of ours")],
    ],
)
def test_a_sync_that_fails_leaves_what_answers(bench: Bench, events: list[Any]) -> None:
    first = bench.run(*ABC)
    job = bench.run(*events)
    assert job.state == FAILED
    assert (len(job.errors), job.error_count) == (1, 1)
    assert job.errors[0].message
    assert "slip" not in job.errors[0].message
    assert bench.snapshot.id == first.snapshot_id
    head = bench.snapshots.head(bench.site.source)
    assert head is not None
    assert head.generation == 1
    assert bench.run(*ABC).state == SUCCESS


def test_secrets_are_not_told(bench: Bench) -> None:
    bench.registry.create("site", ROOT, headers={"Authorization": "Bearer hush"})
    message = "https://me:word@docs.example refused Bearer hush"
    for event in (Failed(f"{ROOT}/b", "forbidden", message), UpstreamError(message)):
        job = bench.run(found("a"), event)
        assert job.errors[0].message == "https://docs.example refused ***"
    kept = [bench.store.get(entry.key) for entry in bench.store.list("jobs/")]
    assert all(each is not None and b"hush" not in each.body for each in kept)


def test_one_who_publishes_meanwhile_is_not_overwritten(bench: Bench) -> None:
    """The visit is made again from the new head."""
    bench.run(*ABC)
    rounds: list[int] = []

    def interfere() -> None:
        rounds.append(len(rounds))
        if len(rounds) == 1:
            bench.snapshots.withdraw(bench.site.source, bench.clock(), keep=5)

    bench.origin.meanwhile = interfere
    job = bench.run(found("a", "Changed."))
    assert (job.state, len(rounds)) == (SUCCESS, 2)
    head = bench.snapshots.head(bench.site.source)
    assert head is not None
    assert (head.snapshot_id, head.generation) == (job.snapshot_id, 3)


def test_one_that_is_overtaken_every_time_fails(bench: Bench) -> None:
    bench.run(*ABC)
    withdraw = bench.snapshots.withdraw
    bench.origin.meanwhile = lambda: withdraw(bench.site.source, bench.clock(), keep=5)
    job = bench.run(found("a", "Changed."))
    assert (job.state, job.errors[0].kind) == (FAILED, "conflict")


def test_a_source_that_is_deleted_meanwhile_stays_deleted(bench: Bench) -> None:
    def delete() -> None:
        with contextlib.suppress(SourceNotFound):
            bench.registry.delete(bench.site.id)

    bench.origin.meanwhile = delete
    job = bench.run(*ABC)
    assert (job.state, job.errors[0].kind) == (FAILED, "source_not_found")
    head = bench.snapshots.head(bench.site.source)
    assert head is not None
    assert head.snapshot_id == ""


def test_a_damaged_snapshot_is_stowed_anew(bench: Bench, tmp_path: Path) -> None:
    first = bench.run(*ABC)
    digest = bench.snapshot.tables["documents"]
    next((tmp_path / "store" / "blobs").glob(f"{digest}.*")).unlink()
    job = bench.run(*ABC)
    assert (job.state, job.snapshot_id) == (SUCCESS, first.snapshot_id)
    assert bench.origin.known == {}
    assert set(bench.pages) == {"a", "b", "c"}


def test_progress_is_written_every_few_seconds_only(bench: Bench) -> None:
    seen: list[tuple[int, str, int]] = []

    def events() -> Iterator[Event]:
        for number in range(10):
            bench.clock.now += timedelta(seconds=0.5)
            yield found(f"p{number}")
            job = bench.jobs.latest(bench.site.id)
            assert job is not None
            seen.append((job.progress.done, job.progress.current, job.counts["fetched"]))

    bench.origin.files = lambda known: events()  # type: ignore[method-assign]
    bench.do(bench.sync.start(bench.site.id).id)
    assert seen[:3] == [(0, "", 0)] * 3
    assert seen[3:7] == [(4, f"{ROOT}/p3", 4)] * 4
    assert seen[7:] == [(8, f"{ROOT}/p7", 8)] * 3


def test_start_is_idempotent_and_sends_again_what_is_queued(bench: Bench) -> None:
    job = bench.sync.start(ROOT)
    assert bench.sync.start(bench.site.id, "full") == job
    assert bench.sent == [job.id, job.id]
    bench.jobs.change(job, state=SUCCESS)
    assert bench.sync.start(ROOT).id != job.id
    assert len(bench.sent) == 3
    with pytest.raises(SourceNotFound):
        bench.sync.start("https://other.example")


def test_a_job_that_has_ended_is_not_done_again(bench: Bench) -> None:
    job = bench.run(*ABC)
    bench.origin.events = [UpstreamError("must not be asked")]
    assert bench.do(job.id) == job


def test_of_two_runners_the_second_is_told_that_the_first_is_at_it(bench: Bench) -> None:
    entered, leave = threading.Event(), threading.Event()

    def hold() -> None:
        entered.set()
        assert leave.wait(30)

    bench.origin.meanwhile = hold
    bench.origin.events = list(ABC)
    job = bench.sync.start(ROOT)
    ended: list[Job] = []
    first = threading.Thread(target=lambda: ended.append(bench.do(job.id)))
    first.start()
    assert entered.wait(30)
    with pytest.raises(Busy):
        bench.work.handle(Message(SYNC, job.id))
    leave.set()
    first.join(30)
    assert [each.state for each in ended] == [SUCCESS]
    assert bench.work.handle(Message(SYNC, job.id)) == ended[0]


def test_waiting_ends_when_the_time_is_up(bench: Bench) -> None:
    job = bench.sync.start(ROOT)
    assert bench.sync.wait(job.id, 0).state == QUEUED


def test_a_crate_is_stowed_as_crates_are(bench: Bench) -> None:
    made, _ = bench.registry.create(CRATE, "serde@1.0.200")
    job = bench.do(bench.sync.start(made.id, "full").id)
    assert bench.crates.wanted == [("serde", "1.0.200", True)]
    assert (job.state, job.errors[0].kind) == (FAILED, "upstream_error")


# Runs one sync of a folder, and kills its own process when one of the functions of the write path
# is called, or returns, for the n-th time.
PROGRAM = """
import os, signal, sys
from docstow.ingest.queue import Message
from docstow.runtime import Runtime
from docstow.core.settings import load

root, ref, step, moment, number = sys.argv[1:6]
seen = 0

def watch(frame, event, argument):
    global seen
    name = frame.f_globals.get("__name__", "") + ":" + frame.f_code.co_name
    if event == moment and name == step:
        seen += 1
        if seen == int(number):
            os.kill(os.getpid(), getattr(signal, "SIGKILL", signal.SIGTERM))

runtime = Runtime(load({"store": root + "/store", "cache": root + "/cache", "lease_s": 1}, {}))
job, _ = runtime.jobs.start(runtime.registry.get(ref).id)
work = runtime.worker
sys.setprofile(watch)
work.handle(Message(job.kind, job.id))
"""

STEPS = [
    ("docstow.ingest.changes:add", "return", 1),
    ("docstow.index.tables:write_table", "return", 3),
    ("docstow.store.snapshots:publish", "call", 1),
    ("docstow.store.snapshots:_record", "return", 1),
    ("docstow.store.snapshots:republish", "return", 1),
]


@pytest.mark.slow
def test_killed_at_each_step(tmp_path: Path) -> None:
    folder = tmp_path / "docs"
    folder.mkdir()
    (folder / "a.md").write_text("# A\n\nThe anchor holds.\n")
    (folder / "b.md").write_text("# B\n\nBuoys float.\n")
    flags = {"store": str(tmp_path / "store"), "cache": str(tmp_path / "cache"), "lease_s": "1"}
    with contextlib.closing(Runtime(load(flags, {}))) as runtime:
        made, _ = runtime.registry.create("folder", str(folder))
        assert runtime.sync.wait(runtime.sync.start(made.id).id, 60).state == SUCCESS
        (folder / "a.md").write_text("# A\n\nThe anchor drags.\n")

        for step, moment, number in STEPS:
            command = [sys.executable, "-c", PROGRAM, str(tmp_path), made.id]
            command += [step, moment, str(number)]
            killed = subprocess.run(command, capture_output=True, timeout=60)
            assert killed.returncode not in (0, 1), f"{step} was not reached: {killed.stderr!r}"
            done = (step, moment) == STEPS[-1][:2]
            with contextlib.closing(Runtime(load(flags, {}))) as other:
                opened = other.prose.document("a.md", source=made.id)
            assert ("drags" in opened.document.text) == done, f"killed at the {moment} of {step}"
            job = runtime.jobs.latest(made.id)
            assert job is not None
            assert job.state == RUNNING
            # As if some seconds had passed: the lease has run out, and the job with it.
            (lease,) = (entry.key for entry in runtime.store.list("leases/sync/"))
            runtime.store.delete(lease)
            runtime.jobs.change(job, state=FAILED)
        job = runtime.sync.wait(runtime.sync.start(made.id).id, 60)
        assert (job.state, job.counts["documents"]) == (SUCCESS, 2)


def test_a_job_whose_runner_died_is_followed_by_the_next_one(bench: Bench) -> None:
    job = bench.sync.start(ROOT)
    bench.jobs.change(job, state=RUNNING)
    bench.leases.acquire(lease_key(bench.site.id), 15)
    bench.clock.now += timedelta(seconds=21)
    assert bench.run(*ABC).state == SUCCESS
    assert bench.jobs.get(job.id).state == FAILED


def test_a_folder_is_read_for_users_of_this_machine_only(tmp_path: Path) -> None:
    folder = tmp_path / "docs"
    folder.mkdir()
    (folder / "a.md").write_text("# A\n\nThe anchor holds.\n")
    flags = {"store": str(tmp_path / "store"), "cache": str(tmp_path / "cache")}
    for host, state in (("0.0.0.0", FAILED), ("127.0.0.1", SUCCESS)):
        with contextlib.closing(Runtime(load({**flags, "host": host}, {}))) as runtime:
            made: Registration = runtime.registry.create("folder", str(folder))[0]
            job = runtime.sync.wait(runtime.sync.start(made.id).id, 30)
            assert job.state == state


def test_a_real_site_over_http(tmp_path: Path) -> None:
    flags = {"store": str(tmp_path / "store"), "cache": str(tmp_path / "cache")}
    with Site() as site, contextlib.closing(Runtime(load(flags, {}))) as runtime:
        site.page("/docs/", "Ships", "A ship has a hull.", "/docs/sails", "/docs/gone")
        site.page("/docs/sails", "Sails", "Sails catch the wind.")
        made, _ = runtime.registry.create(
            "site", f"{site.url}/docs/", options={"delay_s": 0, "llms": "off", "sitemap": False}
        )

        def sync() -> Job:
            return runtime.sync.wait(runtime.sync.start(made.id).id, 30)

        job = sync()
        assert (job.state, job.errors) == (SUCCESS, ())
        assert counts(job)["documents"] == 2
        (hit, *_), _ = runtime.prose.search("what catches wind")
        assert hit.url == f"{site.url}/docs/sails"
        again = counts(sync())
        assert (again["unchanged"], again.get("embedded", 0)) == (2, 0)
        site.page("/docs/sails", "Sails", "Sails catch a gale.")
        changed = counts(sync())
        assert (changed["unchanged"], changed["changed"], changed["embedded"]) == (1, 1, 1)
        head = runtime.snapshots.head(made.source)
        assert head is not None
        snapshot = runtime.snapshots.load(head, job.snapshot_id)
        assert snapshot is not None
        assert snapshot.counts["relations"] == 1


def test_a_real_repository_over_http(tmp_path: Path) -> None:
    files = {"README.md": b"# Garden\n\nWater the moss.\n", "docs/b.md": b"# B\n\nBeds.\n"}
    repository = Repository(dict(files), branches={"main": commit("one")})
    with Forge({"acme/garden": repository}) as forge:
        flags = {"store": str(tmp_path / "store"), "cache": str(tmp_path / "cache")}
        settings = load({**flags, "github_url": forge.api_url}, {})
        with contextlib.closing(Runtime(settings)) as runtime:
            made, _ = runtime.registry.create("github", "acme/garden@main")

            def sync() -> Job:
                return runtime.sync.wait(runtime.sync.start(made.id).id, 30)

            job = sync()
            assert (job.state, job.errors, job.version) == (SUCCESS, (), commit("one"))
            assert counts(job)["documents"] == 2
            fetched = len(forge.archives.requests)
            job = sync()
            assert (job.state, counts(job)["unchanged"]) == (SUCCESS, 2)
            assert len(forge.archives.requests) == fetched
            repository.files["README.md"] = b"# Garden\n\nWater the fern.\n"
            repository.branches["main"] = commit("two")
            job = sync()
            assert job.version == commit("two")
            assert (counts(job)["changed"], counts(job)["unchanged"]) == (1, 1)
            assert "fern" in runtime.prose.document("README.md", source=made.id).document.text


def preview(*names: str) -> Preview:
    """Texts that a site has of itself."""
    return Preview(tuple(found(name).file for name in names))


def test_what_a_site_says_of_itself_answers_until_its_pages_are_read(bench: Bench) -> None:
    seen: list[dict[str, str]] = []
    bench.origin.meanwhile = lambda: seen.append(bench.pages)
    job = bench.run(preview("llms.txt"), *ABC)
    assert seen == [{"llms.txt": "All about llms.txt."}]
    assert (job.state, counts(job)["new"], sorted(bench.pages)) == (SUCCESS, 3, ["a", "b", "c"])
    # A later sync has pages that answer.
    job = bench.run(preview("llms.txt"), *ABC)
    assert seen[1:] == [{name: f"All about {name}." for name in "abc"}]
    assert counts(job)["unchanged"] == 3


def test_what_a_site_says_of_itself_stays_where_it_has_no_pages(bench: Bench) -> None:
    job = bench.run(preview("llms.txt"), UpstreamError("There are no pages."))
    assert job.state == FAILED
    assert list(bench.pages) == ["llms.txt"]
    job = bench.run(preview("llms.txt"), found("a"))
    assert (job.state, list(bench.pages)) == (SUCCESS, ["a"])


def test_a_preview_of_nothing_is_none(bench: Bench) -> None:
    assert bench.run(preview(), *ABC).state == SUCCESS
    assert sorted(bench.pages) == ["a", "b", "c"]


def test_a_sync_tells_how_much_is_embedded(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tables, "_TEXTS_AT_ONCE", 4)
    told: list[Progress] = []
    change = bench.jobs.change

    def noted(job: Job, **fields: Any) -> Job:
        if fields.get("progress") and fields["progress"].current == EMBEDDING:
            told.append(fields["progress"])
        return change(job, **fields)

    monkeypatch.setattr(bench.jobs, "change", noted)
    bench.clock.step = REPORT_S
    job = bench.run(*(found(str(number)) for number in range(6)))
    first, *rest = told
    assert first == Progress(0, None, EMBEDDING)
    passages = job.counts["chunks"]
    assert {each.total for each in rest} == {passages}
    assert [each.done for each in rest] == sorted(each.done for each in rest)
    assert len(rest) > 2
    assert rest[-1].done == passages
    assert job.progress == Progress(6, 6)


def test_texts_that_are_embedded_bit_by_bit_have_the_same_vectors(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = []
    for at_once in (2048, 4):
        monkeypatch.setattr(tables, "_TEXTS_AT_ONCE", at_once)
        bench = Bench(open_store(str(tmp_path / f"{at_once}")), tmp_path / "cache")
        bench.run(*(found(str(number), f"Rope {number} of {number**3}.") for number in range(9)))
        made.append(dict(bench.index.vectors_by_digest()))
    assert len(made[0]) == 9
    assert made[0].keys() == made[1].keys()
    whole, parts = (unpack_vectors([each[name] for name in made[0]]) for each in made)
    assert np.allclose(whole, parts, atol=1e-3)
