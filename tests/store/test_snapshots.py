from __future__ import annotations

import errno
import hashlib
import itertools
import json
import os
import threading
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from docstow.core.errors import StoreError
from docstow.core.model import Head, Recipe, Revision, Snapshot, Source
from docstow.store.heads import NAMES_KEPT
from docstow.store.objects import Conflict, DirectoryStore, Entry, ObjectStore, Stored, Unchanged
from docstow.store.snapshots import BlobCache, Snapshots

NOW = datetime(2026, 11, 21, 12, 0, 0, 250, tzinfo=UTC)
LATER = NOW + timedelta(hours=1)
SOURCE = Source("crate", "tokio-util", "1.24.2")
RECIPE = Recipe("rustdoc/1", "chunk/1", "words/1", "model/abc")


class Elsewhere:
    """A store whose objects are not files of this machine, and which counts what is asked of it."""

    def __init__(self, root: Path) -> None:
        self._store = DirectoryStore(root)
        self.calls: list[tuple[str, str]] = []
        self.before_write: Callable[[str], None] = lambda key: None

    def get(self, key: str) -> Stored | None:
        self.calls.append(("get", key))
        return self._store.get(key)

    def get_changed(self, key: str, etag: str) -> Stored | Unchanged | None:
        self.calls.append(("get_changed", key))
        return self._store.get_changed(key, etag)

    def get_range(self, key: str, start: int, size: int) -> bytes | None:
        self.calls.append(("get_range", key))
        return self._store.get_range(key, start, size)

    def create(self, key: str, body: bytes) -> str:
        self.calls.append(("create", key))
        self.before_write(key)
        return self._store.create(key, body)

    def swap(self, key: str, body: bytes, etag: str) -> str:
        self.calls.append(("swap", key))
        self.before_write(key)
        return self._store.swap(key, body, etag)

    def list(self, prefix: str) -> Iterator[Entry]:
        self.calls.append(("list", prefix))
        return self._store.list(prefix)

    def delete(self, key: str) -> None:
        self._store.delete(key)


class Clock:
    """A clock that a test moves."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def store(tmp_path: Path) -> Elsewhere:
    return Elsewhere(tmp_path / "store")


@pytest.fixture
def cache(tmp_path: Path) -> BlobCache:
    return BlobCache(tmp_path / "cache", 10_000_000)


@pytest.fixture
def snapshots(store: Elsewhere, cache: BlobCache) -> Snapshots:
    return Snapshots(store, cache)


def tables(folder: Path, text: str) -> dict[str, Path]:
    """Return two table files with any bytes in them."""
    folder.mkdir(exist_ok=True)
    files = {name: folder / f"{name}.parquet" for name in ("documents", "passages")}
    for name, path in files.items():
        path.write_bytes(f"{name} of {text}".encode() * 100)
    return files


def blob_key(snapshot: Snapshot, table: str) -> str:
    """Where a table's bytes are in a store whose objects are files."""
    return f"blobs/{snapshot.tables[table]}.{snapshot.place}.parquet"


def pack_key(snapshot: Snapshot) -> str:
    """Where the bytes of all tables are in any other store."""
    return f"blobs/{snapshot.pack}.{snapshot.place}.pack"


def publish(
    snapshots: Snapshots,
    folder: Path,
    text: str = "one",
    *,
    source: Source = SOURCE,
    now: datetime = NOW,
    origin: str = "docs.rs",
    expected_generation: int | None = None,
) -> Snapshot:
    return snapshots.publish(
        Revision(source, source.version, "etag", origin, "https://docs.rs/x"),
        RECIPE,
        tables(folder, text),
        [hashlib.sha256(text.encode()).hexdigest()],
        {"documents": 3, "kind:function": 2},
        {"description": "Ünï", "features": {"full": ["rt"]}, "yanked": False},
        now,
        expected_generation=expected_generation,
    )


def contents(files: Mapping[str, Path]) -> dict[str, bytes]:
    return {name: path.read_bytes() for name, path in files.items()}


# -- publishing --------------------------------------------------------------------------------


def test_a_published_snapshot_is_read_back_whole(
    snapshots: Snapshots, store: Elsewhere, cache: BlobCache, tmp_path: Path
) -> None:
    published = publish(snapshots, tmp_path / "new")
    other = Snapshots(store, cache)
    head = other.head(SOURCE)
    assert head == Head(SOURCE, published.id, 1, NOW, "docs.rs")
    assert other.load(head) == published
    assert contents(other.fetch(published)) == contents(tables(tmp_path / "new", "one"))
    assert list(other.fetch(published, ["passages"])) == ["passages"]


def test_the_layout_and_the_order_of_writes(
    snapshots: Snapshots, store: Elsewhere, tmp_path: Path
) -> None:
    snapshot = publish(snapshots, tmp_path / "new")
    writes = [call for call in store.calls if call[0] in ("create", "swap")]
    head_key = "heads/crate/tokio-util/1.24.2.json"
    assert writes == [
        ("create", head_key),
        ("create", pack_key(snapshot)),
        ("create", f"snapshots/{snapshot.id}.json"),
        ("swap", head_key),
    ]
    pack = store.get(pack_key(snapshot))
    assert pack is not None
    assert pack.body == b"".join(contents(tables(tmp_path / "new", "one")).values())
    assert hashlib.sha256(pack.body).hexdigest() == snapshot.pack
    head = store.get("heads/crate/tokio-util/1.24.2.json")
    record = store.get(f"snapshots/{snapshot.id}.json")
    assert head is not None
    assert record is not None
    assert json.loads(head.body) == {
        "schema": 1,
        "source": {"kind": "crate", "name": "tokio-util", "version": "1.24.2", "target": ""},
        "snapshot": snapshot.id,
        "generation": 1,
        "checked_at": "2026-11-21T12:00:00.000250+00:00",
        "origin": "docs.rs",
        "records": {snapshot.id: hashlib.sha256(record.body).hexdigest()},
        "record": record.body.decode(),
    }
    fields = json.loads(record.body)
    assert (fields["schema"], fields["pack"]) == (3, snapshot.pack)
    assert fields["tables"] == {
        name: {"blob": digest, "bytes": snapshot.sizes[name]}
        for name, digest in snapshot.tables.items()
    }


def test_publishing_again_only_renews_checked_at(snapshots: Snapshots, tmp_path: Path) -> None:
    first = publish(snapshots, tmp_path / "new")
    again = publish(snapshots, tmp_path / "new", now=LATER)
    assert again == first
    assert snapshots.head(SOURCE) == Head(SOURCE, first.id, 1, LATER, "docs.rs")
    publish(snapshots, tmp_path / "new", now=NOW)
    assert snapshots.head(SOURCE) == Head(SOURCE, first.id, 1, LATER, "docs.rs")


def test_other_content_raises_the_generation(snapshots: Snapshots, tmp_path: Path) -> None:
    ids = [publish(snapshots, tmp_path / text, text).id for text in ("one", "two", "one")]
    assert ids[0] == ids[2] != ids[1]
    assert snapshots.head(SOURCE) == Head(SOURCE, ids[0], 3, NOW, "docs.rs")


def test_a_fence_keeps_slow_work_from_replacing_newer_work(
    snapshots: Snapshots, tmp_path: Path
) -> None:
    publish(snapshots, tmp_path / "old", "old")
    new = publish(snapshots, tmp_path / "new", "new", expected_generation=1)
    with pytest.raises(Conflict):
        publish(snapshots, tmp_path / "slow", "slow", expected_generation=1)
    assert snapshots.head(SOURCE) == Head(SOURCE, new.id, 2, NOW, "docs.rs")
    assert publish(snapshots, tmp_path / "new", "new", expected_generation=1) == new
    other = replace(SOURCE, version="2.0.0")
    publish(snapshots, tmp_path / "new", "new", source=other, expected_generation=0)
    with pytest.raises(Conflict):
        publish(snapshots, tmp_path / "old", "old", source=other, expected_generation=0)


def test_a_rival_between_read_and_swap_is_noticed(
    snapshots: Snapshots, store: Elsewhere, cache: BlobCache, tmp_path: Path
) -> None:
    publish(snapshots, tmp_path / "one", "one")
    rival = Snapshots(store, cache)

    def interfere(key: str) -> None:
        if key.startswith("heads/"):
            store.before_write = lambda key: None
            publish(rival, tmp_path / "two", "two", now=LATER)

    store.before_write = interfere
    third = publish(snapshots, tmp_path / "three", "three")
    assert snapshots.head(SOURCE, fresh=True) == Head(SOURCE, third.id, 3, LATER, "docs.rs")


def test_eight_publishers_at_once_each_raise_the_generation(
    store: Elsewhere, cache: BlobCache, tmp_path: Path
) -> None:
    start = threading.Barrier(8)

    def work(number: int) -> str:
        mine = Snapshots(store, cache)
        start.wait()
        return publish(mine, tmp_path / str(number), str(number)).id

    with ThreadPoolExecutor(8) as pool:
        ids = set(pool.map(work, range(8)))
    head = Snapshots(store, cache).head(SOURCE)
    assert head is not None
    assert len(ids) == 8
    assert head.generation == 8
    assert head.snapshot_id in ids


steps = st.lists(
    st.tuples(st.sampled_from(["one", "two", "touch"]), st.sampled_from(["", "one", "two"])),
    max_size=5,
)


@hypothesis_settings(max_examples=25, deadline=None)
@given(steps)
def test_the_generation_rises_with_every_change_however_publishers_interleave(
    tmp_path_factory: pytest.TempPathFactory, steps: list[tuple[str, str]]
) -> None:
    folder = tmp_path_factory.mktemp("interleaved")
    store = Elsewhere(folder / "store")
    cache = BlobCache(folder / "cache", 1000)
    mine, rival, reader = (Snapshots(store, cache, freshness_s=0) for _ in range(3))
    seen: list[Head] = []

    def look() -> None:
        if (head := reader.head(SOURCE)) is not None:
            seen.append(head)

    for step, interference in steps:

        def interfere(key: str, text: str = interference) -> None:
            store.before_write = lambda key: None
            if text and key.startswith("heads/"):
                publish(rival, folder / text, text)
                look()

        store.before_write = interfere
        if step == "touch":
            mine.touch(SOURCE, LATER)
        else:
            publish(mine, folder / step, step)
        look()
    for before, after in itertools.pairwise(seen):
        changed = before.snapshot_id != after.snapshot_id
        assert after.generation - before.generation >= changed
        assert changed or after.generation - before.generation in (0, 2)
        assert after.checked_at >= before.checked_at


# -- records that are damaged or lost ----------------------------------------------------------


def test_what_is_stowed_is_known_without_reading_it(
    snapshots: Snapshots, store: Elsewhere, tmp_path: Path
) -> None:
    snapshot = publish(snapshots, tmp_path / "new")
    assert snapshots.stored(SOURCE, snapshot.id) == snapshot
    assert snapshots.stored(SOURCE, "0" * 64) is None
    store.delete(pack_key(snapshot))
    assert snapshots.stored(SOURCE, snapshot.id) is None
    assert publish(snapshots, tmp_path / "new") == snapshot
    assert snapshots.stored(SOURCE, snapshot.id) == snapshot


def test_a_snapshot_whose_blobs_are_lost_is_replaced_by_one_of_the_next_epoch(
    snapshots: Snapshots, store: Elsewhere, tmp_path: Path
) -> None:
    first = publish(snapshots, tmp_path / "new")
    store.delete(pack_key(first))
    files = tables(tmp_path / "new", "one")
    files["passages"].write_bytes(b"the same passages, computed on another machine")
    again = snapshots.publish(
        first.revision, RECIPE, files, [hashlib.sha256(b"one").hexdigest()], {}, {}, NOW
    )
    assert (again.content, again.epoch) == (first.content, 1)
    assert again.id != first.id
    assert contents(snapshots.fetch(again)) == contents(files)
    head = snapshots.head(SOURCE)
    assert head is not None
    assert snapshots.load(head) == again
    assert snapshots.load(head, first.id) is None
    assert (head.snapshot_id, head.generation, head.epoch) == (again.id, 2, 1)


def test_absent_and_malformed_ids_have_no_record(snapshots: Snapshots) -> None:
    for identity in ("0" * 64, "", "../heads", "A" * 64):
        assert snapshots.load(Head(SOURCE, identity, 1, NOW)) is None


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b'{"schema": 1}', b'{"schema": 2}', b"\xff"])
def test_damaged_records_are_named(store: Elsewhere, cache: BlobCache, body: bytes) -> None:
    snapshots = Snapshots(store, cache)
    store.create("heads/crate/tokio-util/1.24.2.json", body)
    store.create(f"snapshots/{'0' * 64}.json", body)
    with pytest.raises(StoreError, match=r"heads/crate/tokio-util/1\.24\.2\.json"):
        snapshots.head(SOURCE)
    with pytest.raises(StoreError, match=r"snapshots/0{64}\.json"):
        snapshots.load(Head(SOURCE, "0" * 64, 1, NOW))


# -- heads -------------------------------------------------------------------------------------


def test_a_head_is_asked_for_again_when_it_is_no_longer_fresh(
    store: Elsewhere, cache: BlobCache, tmp_path: Path
) -> None:
    clock = Clock()
    reader = Snapshots(store, cache, freshness_s=5, clock=clock)
    writer = Snapshots(store, cache)
    key = "heads/crate/tokio-util/1.24.2.json"
    assert reader.head(SOURCE) is None
    first = Head(SOURCE, publish(writer, tmp_path / "one", "one").id, 1, NOW, "docs.rs")
    store.calls.clear()
    assert [reader.head(SOURCE) for _ in range(3)] == [first] * 3
    assert store.calls == [("get", key)]
    clock.now += 6
    assert [reader.head(SOURCE) for _ in range(3)] == [first] * 3
    assert store.calls == [("get", key), ("get_changed", key)]
    second = Head(SOURCE, publish(writer, tmp_path / "two", "two").id, 2, NOW, "docs.rs")
    assert reader.head(SOURCE) == first
    assert reader.head(SOURCE, fresh=True) == second
    store.delete(key)
    clock.now += 6
    assert reader.head(SOURCE) is None


def test_a_slow_answer_does_not_replace_a_newer_one(
    store: Elsewhere, cache: BlobCache, tmp_path: Path
) -> None:
    clock = Clock()
    snapshots = Snapshots(store, cache, clock=clock)
    publish(snapshots, tmp_path / "one", "one")
    slow = store.get_changed
    published: list[Snapshot] = []

    def answer_slowly(key: str, etag: str) -> Stored | Unchanged | None:
        answer = slow(key, etag)
        store.get_changed = slow  # type: ignore[method-assign]
        clock.now += 1
        published.append(publish(snapshots, tmp_path / "two", "two"))
        return answer

    store.get_changed = answer_slowly  # type: ignore[method-assign]
    assert snapshots.head(SOURCE, fresh=True) == Head(SOURCE, published[0].id, 2, NOW, "docs.rs")
    assert snapshots.head(SOURCE) == Head(SOURCE, published[0].id, 2, NOW, "docs.rs")


def test_touch_renews_checked_at_alone(snapshots: Snapshots, tmp_path: Path) -> None:
    assert snapshots.touch(SOURCE, NOW) is None
    snapshot = publish(snapshots, tmp_path / "new")
    touched = Head(SOURCE, snapshot.id, 1, LATER, "docs.rs")
    assert snapshots.touch(SOURCE, LATER) == touched
    assert snapshots.touch(SOURCE, NOW) == touched
    assert snapshots.head(SOURCE, fresh=True) == touched


def test_heads_of_a_name(snapshots: Snapshots, tmp_path: Path) -> None:
    sources = [
        Source("crate", "a", "1.0.0"),
        Source("crate", "a", "1.0.0+Build.5"),
        Source("crate", "a", "1.0.0", "wasm32-unknown-unknown"),
        Source("crate", "a"),
        Source("crate", "ab", "1.0.0"),
        Source("crate", "A", "1.0.0"),
        Source("site", "https://a.b/C/?q=1#x", "2026-11-21"),
    ]
    for source in sources:
        publish(snapshots, tmp_path / "new", source=source)
    heads = snapshots.heads("crate", "a")
    assert {head.source for head in heads} == set(sources[:4])
    assert [head.source for head in snapshots.heads("site", "https://a.b/C/?q=1#x")] == sources[6:]
    assert snapshots.heads("crate", "b") == []
    assert [snapshots.head(source) for source in sources[:4]] == [
        next(head for head in heads if head.source == source) for source in sources[:4]
    ]


# -- the cache ---------------------------------------------------------------------------------


def test_a_blob_is_downloaded_once(snapshots: Snapshots, store: Elsewhere, tmp_path: Path) -> None:
    snapshot = publish(snapshots, tmp_path / "new")
    store.calls.clear()
    for _ in range(3):
        snapshots.fetch(snapshot)
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(snapshots.fetch, [snapshot] * 8))
    assert store.calls == [("get_range", pack_key(snapshot))]


@pytest.mark.parametrize("damage", [b"", b"short", b"flipped"])
def test_damaged_cache_files_are_fetched_again(
    store: Elsewhere, cache: BlobCache, tmp_path: Path, damage: bytes
) -> None:
    snapshot = publish(Snapshots(store, cache), tmp_path / "new")
    expected = contents(tables(tmp_path / "new", "one"))
    path = Snapshots(store, cache).fetch(snapshot)["passages"]
    assert path.name == snapshot.tables["passages"]
    body = path.read_bytes()
    path.write_bytes(bytes([body[0] ^ 1]) + body[1:] if damage == b"flipped" else damage)
    another_process = BlobCache(cache.directory, 10_000_000)
    assert contents(Snapshots(store, another_process).fetch(snapshot)) == expected


def test_a_cache_file_that_is_truncated_or_removed_later_is_fetched_again(
    snapshots: Snapshots, tmp_path: Path
) -> None:
    snapshot = publish(snapshots, tmp_path / "new")
    expected = contents(snapshots.fetch(snapshot))
    snapshots.fetch(snapshot)["passages"].write_bytes(b"")
    assert contents(snapshots.fetch(snapshot)) == expected
    snapshots.fetch(snapshot)["documents"].unlink()
    assert contents(snapshots.fetch(snapshot)) == expected


def test_blobs_that_are_damaged_or_lost_in_the_store_are_named(
    snapshots: Snapshots, store: Elsewhere, tmp_path: Path
) -> None:
    snapshot = publish(snapshots, tmp_path / "new")
    key = pack_key(snapshot)
    pack = store.get(key)
    assert pack is not None
    store.delete(key)
    with pytest.raises(StoreError, match=f"{key} is not in the store"):
        snapshots.fetch(snapshot)
    for body, damaged in ((b"other bytes", "documents"), (pack.body[:-1] + b"x", "passages")):
        store.create(key, body)
        digest = snapshot.tables[damaged]
        with pytest.raises(StoreError, match=f"{digest} in the store is damaged"):
            snapshots.fetch(snapshot)
        store.delete(key)
    with pytest.raises(StoreError, match="has no table examples; it has documents, passages"):
        snapshots.fetch(snapshot, ["examples"])


def test_files_of_a_store_on_this_machine_are_read_in_place(tmp_path: Path) -> None:
    store = DirectoryStore(tmp_path / "store")
    cache = BlobCache(tmp_path / "cache", 10_000)
    snapshots = Snapshots(store, cache)
    snapshot = publish(snapshots, tmp_path / "new")
    assert snapshots.fetch(snapshot) == {
        name: tmp_path / "store" / blob_key(snapshot, name) for name in snapshot.tables
    }
    assert not cache.directory.exists()
    path = snapshots.fetch(snapshot)["passages"]
    path.write_bytes(b"x" * path.stat().st_size)
    fresh = Snapshots(store, BlobCache(tmp_path / "cache", 10_000))
    with pytest.raises(StoreError, match=f"{snapshot.tables['passages']} in the store is damaged"):
        fresh.fetch(snapshot)
    path.parent.rename(tmp_path / "moved")
    path.parent.write_bytes(b"no folder any more")
    with pytest.raises(StoreError, match="A file stands where a directory is needed"):
        fresh.fetch(snapshot)


def add(cache: BlobCache, body: bytes) -> Path:
    digest = hashlib.sha256(body).hexdigest()
    return cache.obtain({digest: len(body)}, lambda _: [body])[digest]


def names(cache: BlobCache) -> set[str]:
    return {path.name for path in cache.directory.iterdir()}


def weight(cache: BlobCache) -> int:
    return sum(path.stat().st_size for path in cache.directory.iterdir())


def test_the_least_recently_used_file_goes_first(tmp_path: Path) -> None:
    clock = Clock()
    cache = BlobCache(tmp_path / "cache", 300, hold_s=0, clock=clock)
    paths = []
    for letter in (b"a", b"b", b"c"):
        clock.now += 1
        paths.append(add(cache, letter * 100))
    clock.now += 1
    add(cache, b"a" * 100)
    clock.now += 1
    newest = add(cache, b"d" * 100)
    assert names(cache) == {paths[0].name, paths[2].name, newest.name}


def test_a_file_just_handed_out_is_not_removed_under_its_reader(tmp_path: Path) -> None:
    clock = Clock()
    cache = BlobCache(tmp_path / "cache", 250, hold_s=30, clock=clock)
    held = [add(cache, letter * 100) for letter in (b"a", b"b", b"c")]
    assert names(cache) == {path.name for path in held}
    clock.now += 31
    newest = add(cache, b"d" * 100)
    assert len(names(cache)) == 2
    assert newest.name in names(cache)


def test_leftovers_of_killed_processes_are_removed(tmp_path: Path) -> None:
    clock = Clock()
    cache = BlobCache(tmp_path / "cache", 10_000, clock=clock)
    kept = add(cache, b"a")
    leftover = cache.directory / "0123.unfinished"
    leftover.write_bytes(b"torn")
    os.utime(leftover, (clock.now, clock.now))
    kept = add(cache, b"b")
    assert leftover.exists()
    clock.now += 2 * 3600
    newest = add(cache, b"c")
    assert not leftover.exists()
    assert kept.exists()
    assert newest.exists()


@hypothesis_settings(max_examples=40, deadline=None)
@given(
    st.integers(100, 400),
    st.lists(st.tuples(st.integers(0, 15), st.integers(0, 3)), max_size=25),
)
def test_the_cache_never_exceeds_its_limit(
    tmp_path_factory: pytest.TempPathFactory, limit: int, uses: list[tuple[int, int]]
) -> None:
    clock = Clock()
    directory = tmp_path_factory.mktemp("cache")
    processes = [BlobCache(directory, limit, hold_s=0, clock=clock) for _ in range(2)]
    for number, step in uses:
        clock.now += step
        body = bytes([number]) * (7 * number)  # up to 105 bytes: one may exceed the least limit
        path = add(processes[number % 2], body)
        assert path.read_bytes() == body
        assert weight(processes[0]) <= max(limit, len(body))


def test_a_cache_that_cannot_be_written_says_what_to_do(store: ObjectStore, tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    cache = BlobCache(tmp_path / "file" / "cache", 1000)
    with pytest.raises(StoreError, match="Free some space, lower the cache's limit"):
        add(cache, b"a")


def test_a_cache_that_may_only_be_read_serves_what_it_has(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = add(BlobCache(tmp_path / "cache", 1000), b"a")

    def refuse(*_: object) -> None:
        raise OSError(errno.EROFS, "Read-only file system")

    monkeypatch.setattr(os, "utime", refuse)
    another_process = BlobCache(path.parent, 1000)
    assert another_process.find(path.name, 1) == path
    assert another_process.find("0" * 64, 1) is None


def test_a_list_of_heads_is_asked_for_once_while_it_is_fresh(tmp_path: Path) -> None:
    listings: list[str] = []

    class Counted(DirectoryStore):
        def list(self, prefix: str) -> Iterator[Entry]:
            listings.append(prefix)
            return super().list(prefix)

    now = [0.0]
    store = Counted(tmp_path / "store")
    cache = BlobCache(tmp_path / "cache", 10**6)
    snapshots = Snapshots(store, cache, freshness_s=5, clock=lambda: now[0])
    assert snapshots.heads("crate", "tokio") == snapshots.heads("crate", "tokio") == []
    assert len(listings) == 1
    now[0] = 5.0
    assert snapshots.heads("crate", "tokio") == []
    assert len(listings) == 2


def test_names_that_nobody_can_stow_have_no_heads_and_are_not_remembered_for_good(
    snapshots: Snapshots, tmp_path: Path
) -> None:
    publish(snapshots, tmp_path / "new")
    assert snapshots.heads("crate", "x" * 300) == []
    for number in range(NAMES_KEPT + 10):
        assert snapshots.heads("crate", f"nobody-{number}") == []
    assert [head.source for head in snapshots.heads("crate", SOURCE.name)] == [SOURCE]
    assert len(snapshots._heads._listed) == NAMES_KEPT
