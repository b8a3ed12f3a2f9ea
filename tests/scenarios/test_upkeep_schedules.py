"""However publishers, evictors and sweepers interleave, what a head names is there.

The schedules are found by hypothesis: who makes the next request, and how many. What is not
scheduled any more has stalled for ever, between any two of its requests.
"""

from __future__ import annotations

import contextlib
import hashlib
import tempfile
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from docstow.core import threads
from docstow.core.errors import SnapshotGone
from docstow.core.model import Recipe, Revision, Source
from docstow.ops.audit import verify
from docstow.ops.evict import evict, list_sources
from docstow.ops.sweep import sweep
from docstow.store import inventory
from docstow.store.heads import decode_head, decode_snapshot, list_blobs, snapshot_key
from docstow.store.objects import DirectoryStore, ObjectStore
from docstow.store.snapshots import BlobCache, Fenced, Snapshots
from schedules import Actor, Memory

SOURCE = Source("crate", "tokio", "1.24.2")
OTHER = Source("crate", "mio", "1.0.0")
RECIPE = Recipe("r", "c", "w", "m")
NOW = datetime(2026, 11, 21, tzinfo=UTC)
TABLES = ("documents", "passages")
#: What all sources have in common, as empty tables are.
COMMON = b"the same bytes"
FILES = tempfile.TemporaryDirectory()


@pytest.fixture(autouse=True)
def one_at_a_time() -> Iterator[None]:
    """The order of requests is the schedule's alone."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(threads, "PARALLEL", 1)
        patch.setattr(inventory, "PARALLEL", 1)
        patch.setattr("random.uniform", lambda *_: 0.0)
        yield


@cache
def tables_of(text: str) -> dict[str, Path]:
    """The files of a text's tables, written once for all schedules."""
    files = {name: Path(FILES.name, f"{name}-{text}") for name in TABLES}
    for name, path in files.items():
        path.write_bytes(f"{name} of {text}".encode())
    files["relations"] = Path(FILES.name, "common")
    files["relations"].write_bytes(COMMON)
    return files


class World:
    """A store, actors on it, and what must hold after each request."""

    def __init__(self, store: ObjectStore, folder: Path) -> None:
        self.store = store
        self.folder = folder
        self._count = 0

    def publisher(
        self, text: str, *, source: Source = SOURCE, skew: int = 0, keep: int = 1
    ) -> Callable[[ObjectStore], object]:
        """Publishes a text, which may be stowed already; its clock is ``skew`` days off."""
        files = tables_of(text)
        digests = [hashlib.sha256(text.encode()).hexdigest()]
        now = NOW + timedelta(days=skew)

        def publish(store: ObjectStore) -> None:
            mine = self.opened(store)
            revision = Revision(source, source.version, origin="docs.rs")
            _, known = mine.find(revision, digests, RECIPE)
            if known is not None:
                with contextlib.suppress(Fenced):
                    mine.republish(known, now, keep=keep)
                    return
            mine.publish(revision, RECIPE, files, digests, {}, {}, now, keep=keep)

        return publish

    def evictor(self, store: ObjectStore) -> None:
        """Evicts all that may be evicted."""
        found = inventory.list_store(store)
        evict(store, found, list_sources(store, found, {}), 0)

    def sweeper(self, store: ObjectStore) -> None:
        """Sweeps without any grace: the readers' day must not be what saves the heads."""
        sweep(store, grace=timedelta(0))

    def keeper(self, store: ObjectStore) -> None:
        """Evicts and sweeps as upkeep does: by what former rounds have read."""
        former = inventory.read_inventory(store)
        found = inventory.list_store(store, former)
        inventory.write_inventory(store, former, found)
        evict(store, found, list_sources(store, found, {}), 1)
        sweep(store, grace=timedelta(0), listing=found)

    def reader(self, store: ObjectStore) -> None:
        """Reads what answers; all its tables are of one text."""
        mine = self.opened(store)
        head = mine.head(SOURCE)
        snapshot = mine.load(head) if head else None
        if snapshot is None:
            return
        try:
            files = mine.fetch(snapshot)
        except SnapshotGone:
            return  # given up, and swept without a grace: it is told so
        texts = {files[name].read_text().removeprefix(f"{name} of ") for name in TABLES}
        assert len(texts) == 1

    def opened(self, store: ObjectStore) -> Snapshots:
        self._count += 1
        return Snapshots(store, BlobCache(self.folder / f"cache{self._count}", 10**6))

    def step(self, actor: Actor) -> bool:
        """One request more, and what must hold after it."""
        before = len(actor.log)
        if not actor.step():
            return False
        if any(each.startswith(("swap", "delete")) for each in actor.log[before:]):
            self.check()
        return True

    def finish(self, actor: Actor) -> None:
        """All requests that are left."""
        while self.step(actor):
            pass
        actor.kill()

    def check(self) -> None:
        """Whatever a head names is there, whole."""
        for entry in list(self.store.list("heads/")):
            stored = self.store.get(entry.key)
            assert stored is not None
            for identity in decode_head(stored.body, entry.key).named:
                record = self.store.get(snapshot_key(identity))
                assert record is not None, f"{entry.key} names a record that is gone"
                for key, size in list_blobs(decode_snapshot(record.body, identity)):
                    blob = self.store.get(key)
                    assert blob is not None, f"{entry.key} names a blob that is gone: {key}"
                    assert len(blob.body) == size


KINDS = (
    "same",
    "same again",
    "other",
    "third",
    "neighbour",
    "evict",
    "sweep",
    "sweep too",
    "keep",
    "keep too",
    "read",
)


def made(world: World, kind: str) -> Callable[[ObjectStore], object]:
    return {
        "same": world.publisher("one", skew=1),
        "same again": world.publisher("one", skew=-1),
        "other": world.publisher("two", keep=2),
        "third": world.publisher("three"),
        "neighbour": world.publisher("one", source=OTHER),
        "evict": world.evictor,
        "sweep": world.sweeper,
        "sweep too": world.sweeper,
        "keep": world.keeper,
        "keep too": world.keeper,
        "read": world.reader,
    }[kind]


casts = st.lists(st.sampled_from(KINDS), min_size=2, max_size=6)
#: Who goes on, and for how many requests.
bursts = st.lists(st.tuples(st.integers(0, 5), st.integers(1, 25)), max_size=40)


def play(store: ObjectStore, cast: list[str], schedule: list[tuple[int, int]]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        world = World(store, Path(folder))
        world.publisher("one")(store)
        world.publisher("zero", source=OTHER)(store)
        actors = [Actor(store, made(world, kind)) for kind in cast]
        try:
            for number, requests in schedule:
                actor = actors[number % len(actors)]
                for _ in range(requests):
                    if not world.step(actor):
                        break
        finally:
            for actor in actors:
                actor.kill()
        assert [actor.failure for actor in actors if actor.failure is not None] == []
        # Those who come later find a store that works, and that becomes clean.
        world.sweeper(store)
        world.check()
        world.publisher("last")(store)
        for _ in range(2):
            world.sweeper(store)
        assert verify(store).faults == ()
        assert_only_what_is_named(store)
        newest = world.opened(store)
        head = newest.head(SOURCE)
        assert head is not None
        snapshot = newest.load(head)
        assert snapshot is not None
        assert newest.fetch(snapshot)["documents"].read_text() == "documents of last"


def assert_only_what_is_named(store: ObjectStore) -> None:
    found = inventory.list_store(store)
    assert set(found.blobs) == set(found.weight(held.head for held in found.heads.values()))
    assert set(found.listed) == {e for held in found.heads.values() for e in held.head.named}


@settings(max_examples=400, deadline=None)
@given(cast=casts, schedule=bursts)
@example(cast=["sweep", "same", "evict", "sweep too"], schedule=[(2, 25), (0, 9), (1, 4), (3, 25)])
def test_what_a_head_names_is_there_in_every_schedule(
    cast: list[str], schedule: list[tuple[int, int]]
) -> None:
    play(Memory(), cast, schedule)


@settings(max_examples=20, deadline=None)
@given(cast=casts, schedule=bursts)
def test_the_same_in_a_directory(cast: list[str], schedule: list[tuple[int, int]]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        play(DirectoryStore(Path(folder)), cast, schedule)


@pytest.mark.parametrize("first", ["same", "other"])
def test_every_way_in_which_a_sweep_is_cut_in_two(first: str) -> None:
    """Another comes so far, a sweep so far, the other goes on to its end, and then the sweep."""
    schedules = 0
    for begun in range(1, 40):
        over = False
        for swept in range(1, 60):
            with tempfile.TemporaryDirectory() as folder:
                store = Memory()
                world = World(store, Path(folder))
                world.publisher("one")(store)
                if first == "same":
                    world.evictor(store)
                actors = [Actor(store, made(world, kind)) for kind in (first, "sweep")]
                over = not all(actors[0].step() for _ in range(begun))
                ended = not all(actors[1].step() for _ in range(swept))
                for actor in actors:
                    world.finish(actor)
                assert [actor.failure for actor in actors] == [None, None]
                schedules += 1
            if ended:
                break
        if over:
            break
    assert schedules >= 50


@pytest.mark.parametrize("victim", ["same", "other", "sweep", "evict"])
def test_one_who_stalls_at_any_request_while_the_others_go_on(victim: str) -> None:
    """Each request of a publisher, and of a sweeper, comes late: after all that others can do."""
    requests = 0
    while True:
        with tempfile.TemporaryDirectory() as folder:
            store = Memory()
            world = World(store, Path(folder))
            world.publisher("one")(store)
            world.evictor(store)
            late = Actor(store, made(world, victim))
            over = not all(late.step() for _ in range(requests))
            for _ in range(2):
                world.evictor(store)
                world.sweeper(store)
                world.check()
                world.publisher("one")(store)
                world.check()
            world.finish(late)
            assert late.failure is None
            world.sweeper(store)
            assert verify(store).faults == ()
        if over:
            break
        requests += 1
    assert requests >= 7
