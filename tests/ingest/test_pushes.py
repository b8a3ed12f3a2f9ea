from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from docstow.core.errors import DocumentNotFound, InvalidParameter, SourceNotFound, TooLarge
from docstow.core.model import CRATE, document_id
from docstow.core.settings import load
from docstow.ingest.jobs import QUEUED, SUCCESS, Job
from docstow.ingest.pushed_texts import DEFAULT, Pushed
from docstow.ingest.sync import SyncTask
from docstow.runtime import Runtime
from docstow.sources import collection as pushed
from servers.s3 import STORES, Bucket

TEXT = "# Tides\n\nHigh water is at noon.\n"


@pytest.fixture(params=STORES)
def open_runtime(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Callable[[], Runtime]]:
    flags = {"cache": str(tmp_path / "cache"), "store": str(tmp_path / "store")}
    if request.param != "directory":
        there: Bucket = request.getfixturevalue("buckets")(request.param)
        flags["store"], flags["s3_endpoint"] = there.at(tmp_path.name), there.endpoint
    with contextlib.ExitStack() as stack:
        yield lambda: stack.enter_context(contextlib.closing(Runtime(load(flags, {}))))


@pytest.fixture
def flags(tmp_path: Path) -> dict[str, str]:
    return {"store": str(tmp_path / "store"), "cache": str(tmp_path / "cache")}


@pytest.fixture
def runtime(flags: dict[str, str]) -> Iterator[Runtime]:
    with contextlib.closing(Runtime(load(flags, {}))) as made:
        yield made


def titles(runtime: Runtime, query: str = "water") -> list[str]:
    return [hit.title for hit in runtime.prose.search(query, limit=50)[0]]


def texts(runtime: Runtime, name: str = DEFAULT) -> dict[str, str]:
    """Everything that searches can find of a collection: path to text."""
    source = runtime.registry.get(name).source
    head = runtime.snapshots.head(source, fresh=True)
    snapshot = runtime.snapshots.load(head) if head else None
    if snapshot is None:
        return {}
    return {each.path: each.text for each in runtime.prose.index(snapshot).documents()}


def test_a_push_is_found_when_it_returns(open_runtime: Callable[[], Runtime]) -> None:
    runtime = open_runtime()
    done = runtime.collections.push("", TEXT, uri="note:1", metadata={"port": "Hull", "year": 3})
    assert done == Pushed(
        document_id(runtime.registry.get(DEFAULT).id, "note:1"),
        runtime.registry.get(DEFAULT).id,
        replaced=False,
        snapshot_id=done.snapshot_id,
        job_id=done.job_id,
    )
    assert done.snapshot_id
    assert titles(runtime) == titles(open_runtime()) == ["Tides"]
    opened = runtime.prose.document(done.document_id)
    assert opened.document.attributes["metadata"] == {"port": "Hull", "year": 3}
    assert opened.snapshot.id == done.snapshot_id


def test_a_push_to_the_same_uri_replaces(open_runtime: Callable[[], Runtime]) -> None:
    runtime = open_runtime()
    first = runtime.collections.push("", TEXT, uri="note:1")
    second = runtime.collections.push("", "# Ebb\n\nLow water.\n", uri="note:1", title="Low")
    assert (second.replaced, second.document_id) == (True, first.document_id)
    assert titles(runtime) == ["Low"]
    job = runtime.jobs.get(second.job_id)
    assert {name: number for name, number in job.counts.items() if number} == {
        "fetched": 1,
        "changed": 1,
        "documents": 1,
        "chunks": 1,
        "embedded": 1,
    }


def test_a_text_without_uri_is_named_by_itself(runtime: Runtime) -> None:
    first = runtime.collections.push("", TEXT)
    again = runtime.collections.push("", TEXT)
    assert (again.document_id, again.replaced, again.job_id) == (first.document_id, True, "")
    assert again.snapshot_id == first.snapshot_id
    assert runtime.collections.push("", TEXT, title="Other").document_id != first.document_id
    assert len(texts(runtime)) == 2


def test_a_push_leaves_the_others_alone(runtime: Runtime) -> None:
    for number in range(3):
        runtime.collections.push("", f"# {number}\n\nWater.\n", uri=str(number))
    job = runtime.jobs.latest(runtime.registry.get(DEFAULT).id)
    assert job is not None
    assert {name: number for name, number in job.counts.items() if number} == {
        "fetched": 1,
        "unchanged": 2,
        "new": 1,
        "documents": 3,
        "chunks": 3,
        "embedded": 1,
        "reused": 2,
    }


def test_a_deleted_text_is_found_no_more(open_runtime: Callable[[], Runtime]) -> None:
    runtime = open_runtime()
    one = runtime.collections.push("", TEXT, uri="note:1")
    two = runtime.collections.push("", "# Ebb\n\nLow water.\n", uri="note:2")
    gone = runtime.collections.delete("", "note:1")
    assert gone.document_id == one.document_id
    assert titles(runtime) == ["Ebb"]
    assert runtime.collections.delete(DEFAULT, two.document_id).snapshot_id == ""
    assert texts(runtime) == {}
    with pytest.raises(DocumentNotFound):
        runtime.collections.delete("", "note:1")
    runtime.collections.push("", TEXT, uri="note:1")
    assert titles(runtime) == ["Tides"]


def test_collections_are_apart(runtime: Runtime) -> None:
    assert runtime.collections.all() == []
    made, new = runtime.collections.create("logs", "Ships' logs")
    assert new
    assert runtime.collections.create("logs")[1] is False
    runtime.collections.push("ships' logs", TEXT, uri="a")
    runtime.collections.push("", TEXT, uri="a")
    assert [each.title for each in runtime.collections.all()] == ["default", "Ships' logs"]
    assert list(texts(runtime, "logs")) == list(texts(runtime)) == ["a"]
    runtime.collections.delete(made.id, "a")
    assert list(texts(runtime)) == ["a"]
    with pytest.raises(SourceNotFound, match="create_collection"):
        runtime.collections.push("journals", TEXT)
    runtime.registry.create(CRATE, "serde@1.0.200")
    with pytest.raises(InvalidParameter, match="collection"):
        runtime.collections.push("serde@1.0.200", TEXT)


def test_a_collection_that_was_deleted_begins_empty(runtime: Runtime) -> None:
    runtime.collections.push("", TEXT, uri="a")
    runtime.registry.delete(DEFAULT)
    assert titles(runtime) == []
    runtime.collections.push("", "# Ebb\n\nLow water.\n", uri="b")
    assert list(texts(runtime)) == ["b"]


def test_a_collection_is_meant_before_anything_else_of_its_name(runtime: Runtime) -> None:
    runtime.registry.create("github", "acme/garden")
    made, _ = runtime.collections.create("acme/garden")
    assert runtime.collections.push("acme/garden", TEXT).collection == made.id


@pytest.mark.parametrize(
    ("field", "given"),
    [
        ("text", {"text": " \n"}),
        ("text", {"text": "\ud800"}),
        ("text", {"text": "a\0b" * 400}),
        ("title", {"title": "t" * 201}),
        ("uri", {"uri": "a\nb"}),
        ("uri", {"uri": "u" * 2001}),
        ("metadata", {"metadata": {str(number): 1 for number in range(51)}}),
        ("metadata", {"metadata": {"a": None}}),
        ("metadata", {"metadata": {"a": [1]}}),
        ("metadata", {"metadata": {"a": float("nan")}}),
        ("metadata", {"metadata": {"": 1}}),
        ("metadata", {"metadata": {"a": "v" * 1001}}),
    ],
)
def test_bad_input_is_refused_and_stores_nothing(
    runtime: Runtime, field: str, given: dict[str, Any]
) -> None:
    with pytest.raises(InvalidParameter) as error:
        runtime.collections.push("", **{"text": TEXT, **given})
    assert error.value.details["field"] == field
    assert list(runtime.store.list(pushed.PREFIX)) == []


def test_the_longest_text_and_one_that_is_longer(flags: dict[str, str]) -> None:
    with contextlib.closing(Runtime(load({**flags, "max_push": "40"}, {}))) as runtime:
        runtime.collections.push("", "é" * 20)
        with pytest.raises(TooLarge) as error:
            runtime.collections.push("", "é" * 20 + "!")
        assert error.value.details["limit"] == 40
        assert len(texts(runtime)) == 1


def test_a_push_that_may_not_wait_names_the_job(flags: dict[str, str]) -> None:
    with contextlib.closing(Runtime(load({**flags, "wait_s": "0"}, {}))) as runtime:
        done = runtime.collections.push("", TEXT, uri="a")
        assert done.snapshot_id == ""
        assert runtime.sync.wait(done.job_id, 30).state == SUCCESS
        assert list(texts(runtime)) == ["a"]


def test_many_pushes_at_once_share_syncs_and_none_is_lost(
    open_runtime: Callable[[], Runtime], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Sixteen push at once, three times; a sync reads nothing before all of them asked for one."""
    runtime = open_runtime()
    all_asked = threading.Event()
    begun, asked = threading.Barrier(16, all_asked.clear), threading.Barrier(16, all_asked.set)
    start, perform = runtime.sync.start, SyncTask.perform

    def start_with_the_others(ref: str, *, join_running: bool = True) -> Job:
        job = start(ref, join_running=join_running)
        asked.wait(60)
        return job

    def perform_when_all_asked(self: SyncTask, job: Job) -> Mapping[str, Any]:
        assert all_asked.wait(60)
        return perform(self, job)

    monkeypatch.setattr(runtime.sync, "start", start_with_the_others)
    monkeypatch.setattr(SyncTask, "perform", perform_when_all_asked)

    def push(number: int) -> list[Pushed]:
        done = []
        for turn in range(3):
            begun.wait(60)
            text = f"# {number} {turn}\n\nWater.\n"
            done.append(runtime.collections.push("", text, uri=f"{number}/{turn}"))
        return done

    with ThreadPoolExecutor(16) as pool:
        done = [each for some in pool.map(push, range(16)) for each in some]
    assert all(each.snapshot_id for each in done)
    assert set(texts(runtime)) == {f"{number}/{turn}" for number in range(16) for turn in range(3)}
    # Each time, the one that runs and the one that is to read what was stored after it began.
    assert len({each.job_id for each in done}) <= 6


def _push_all(flags: dict[str, str], name: str, count: int) -> None:
    with contextlib.closing(Runtime(load(flags, {}))) as runtime:
        for number in range(count):
            done = runtime.collections.push("", TEXT, uri=f"{name}/{number}")
            assert done.snapshot_id


@pytest.mark.slow
def test_two_processes_push_to_one_store(flags: dict[str, str], runtime: Runtime) -> None:
    spawn = multiprocessing.get_context("spawn")
    workers = [spawn.Process(target=_push_all, args=(flags, name, 5)) for name in "ab"]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(60)
    assert [worker.exitcode for worker in workers] == [0, 0]
    assert set(texts(runtime)) == {f"{name}/{number}" for name in "ab" for number in range(5)}


def _push_and_die(flags: dict[str, str]) -> None:
    """Die when the text is stored and its sync is about to begin."""

    def watch(frame: Any, event: str, argument: object) -> None:
        if event == "call" and frame.f_code.co_name == "_sync_pages":
            os.kill(os.getpid(), getattr(signal, "SIGKILL", signal.SIGTERM))

    runtime = Runtime(load(flags, {}))
    threading.setprofile(watch)
    sys.setprofile(watch)
    runtime.collections.push("", TEXT, uri="lost?")


def test_a_push_whose_process_is_killed_before_the_sync_is_found_after_the_next(
    flags: dict[str, str],
) -> None:
    flags = {**flags, "lease_s": "1"}
    worker = multiprocessing.get_context("spawn").Process(target=_push_and_die, args=(flags,))
    worker.start()
    worker.join(60)
    assert worker.exitcode not in (0, 1)
    with contextlib.closing(Runtime(load(flags, {}))) as runtime:
        assert len(list(runtime.store.list(pushed.PREFIX))) == 1
        assert texts(runtime) == {}
        # It need not wait for the dead one's lease, only for what it does itself.
        (lease,) = (entry.key for entry in runtime.store.list("leases/sync/"))
        runtime.store.delete(lease)
        done = runtime.collections.push("", "# Ebb\n\nLow water.\n", uri="next")
        assert done.snapshot_id
        assert set(texts(runtime)) == {"lost?", "next"}


def test_a_queued_job_of_a_process_that_died_is_sent_again(runtime: Runtime) -> None:
    made, _ = runtime.collections.create(DEFAULT)
    queued, _ = runtime.jobs.start(made.id)
    assert runtime.jobs.get(queued.id).state == QUEUED
    done = runtime.collections.push("", TEXT)
    assert done.job_id == queued.id
    assert done.snapshot_id
