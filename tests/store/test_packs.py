"""A snapshot's tables in one object: what is read of it, and stores with an object for each."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from docstow.core.model import Recipe, Revision, Snapshot, Source
from docstow.store.blobs import BlobCache, Blobs
from docstow.store.heads import decode_snapshot, encode_snapshot, list_blobs
from docstow.store.objects import DirectoryStore
from docstow.store.packs import GAP, STEP, Place, find_places, read_places

NOW = datetime(2026, 11, 21, 12, tzinfo=UTC)
SOURCE = Source("crate", "tokio", "1.43.1")
#: No table begins as another does, so that a wrong range has another digest.
BODY = b"".join(hashlib.sha256(str(each).encode()).digest() for each in range(STEP // 16))


class Bucket:
    """A store whose objects are not files here, and which notes the ranges it is asked."""

    def __init__(self, root: Path) -> None:
        self._store = DirectoryStore(root)
        self.ranges: list[tuple[str, int, int]] = []
        self.create, self.list, self.get = self._store.create, self._store.list, self._store.get
        self.swap, self.delete = self._store.swap, self._store.delete
        self.get_changed = self._store.get_changed

    def get_range(self, key: str, start: int, size: int) -> bytes | None:
        self.ranges.append((key, start, size))
        return self._store.get_range(key, start, size)


def make() -> Snapshot:
    return Snapshot(
        id="0" * 64,
        revision=Revision(SOURCE, SOURCE.version, "", "docs.rs", "https://docs.rs/tokio"),
        recipe=Recipe("rustdoc/1", "chunk/1", "words/1", "model/abc", "layout/2"),
        tables={},
        sizes={},
        counts={},
        facts={},
        created_at=NOW,
    )


def files(folder: Path, sizes: Sequence[int]) -> dict[str, Path]:
    """Write tables of some sizes, each of other bytes."""
    folder.mkdir()
    start, written = 0, {}
    for number, size in enumerate(sizes):
        written[f"table{number}"] = folder / str(number)
        written[f"table{number}"].write_bytes(BODY[start : start + size])
        start += size
    return written


def blobs(store: Bucket | DirectoryStore, folder: Path) -> Blobs:
    return Blobs(store, BlobCache(folder, 1 << 30))


@pytest.mark.parametrize(
    ("wanted", "ranges"),
    [
        ([0], [(0, 10)]),
        ([0, 1], [(0, 30)]),
        ([0, 2], [(0, 30 + GAP)]),
        ([1, 3], [(10, GAP + 20 + GAP + 1)]),
        ([0, 1, 2, 3, 4], [(0, 2 * GAP + 131)]),
        ([4, 3], [(30 + GAP, GAP + 101)]),
    ],
)
def test_tables_that_lie_near_each_other_are_read_by_one_request(
    tmp_path: Path, wanted: list[int], ranges: list[tuple[int, int]]
) -> None:
    store = Bucket(tmp_path / "store")
    written = files(tmp_path / "new", [10, 20, GAP, GAP + 1, 100])
    snapshot = blobs(store, tmp_path / "cache").upload(make(), written, "owner-1")
    found = blobs(store, tmp_path / "cache").fetch(snapshot, [f"table{each}" for each in wanted])
    assert sorted((start, size) for _, start, size in store.ranges) == ranges
    assert {name: path.read_bytes() for name, path in found.items()} == {
        f"table{each}": written[f"table{each}"].read_bytes() for each in wanted
    }


def test_what_lies_far_apart_or_is_long_is_read_by_several_requests(tmp_path: Path) -> None:
    store = Bucket(tmp_path / "store")
    written = files(tmp_path / "new", [10, GAP + 1, 20, STEP + 5])
    snapshot = blobs(store, tmp_path / "cache").upload(make(), written, "owner-1")
    found = blobs(store, tmp_path / "one").fetch(snapshot, ["table0", "table2"])
    assert sorted(store.ranges) == [
        (key, start, size)
        for key, _ in list_blobs(snapshot)
        for start, size in ((0, 10), (GAP + 11, 20))
    ]
    store.ranges.clear()
    found = blobs(store, tmp_path / "all").fetch(snapshot)
    assert [size for _, _, size in sorted(store.ranges)] == [STEP, GAP + 36]
    for name, path in found.items():
        assert path.read_bytes() == written[name].read_bytes()


@given(
    st.lists(st.integers(1, 3 * GAP // 2), min_size=1, max_size=6),
    st.data(),
)
def test_every_place_gets_its_bytes(sizes: list[int], data: st.DataObject) -> None:
    places, start = [], 0
    for size in sizes:
        places.append(Place("pack", start, start + size))
        start += size
    wanted = data.draw(st.lists(st.sampled_from(places), min_size=1, unique=True))
    asked = []

    def read(key: str, start: int, size: int) -> bytes:
        asked.append((key, start, size))
        return BODY[start : start + size]

    found = read_places(wanted, read)
    assert [bytes(each) for each in found] == [BODY[each.start : each.end] for each in wanted]
    assert sum(size for _, _, size in asked) <= (len(wanted) - 1) * GAP + sum(
        each.end - each.start for each in wanted
    )


def test_a_store_of_files_has_a_blob_for_each_table_and_any_store_reads_both(
    tmp_path: Path,
) -> None:
    """A store that is copied from a bucket to a directory, or back, answers as before."""
    local, bucket = DirectoryStore(tmp_path / "store"), Bucket(tmp_path / "store")
    written = files(tmp_path / "new", [10, 20, 30])
    expected = {name: path.read_bytes() for name, path in written.items()}
    packed = blobs(bucket, tmp_path / "cache").upload(make(), written, "owner-1")
    single = blobs(local, tmp_path / "cache").upload(make(), written, "owner-2")
    assert (bool(packed.pack), len(list_blobs(packed))) == (True, 1)
    assert (bool(single.pack), len(list_blobs(single))) == (False, 3)
    assert packed.tables == single.tables
    for snapshot in (packed, single):
        for reader in (
            blobs(local, tmp_path / f"local-{snapshot.place}"),
            blobs(bucket, tmp_path / f"bucket-{snapshot.place}"),
        ):
            found = reader.fetch(snapshot)
            assert {name: path.read_bytes() for name, path in found.items()} == expected
            assert reader.whole(snapshot)
            assert not reader.whole(replace(snapshot, place="owner-3"))
    assert len(bucket.ranges) == 1 + 3


def test_the_order_of_tables_in_a_record_is_that_in_the_pack(tmp_path: Path) -> None:
    store = Bucket(tmp_path / "store")
    written = files(tmp_path / "new", [10, 20, 30])
    backwards = dict(reversed(written.items()))
    snapshot = blobs(store, tmp_path / "cache").upload(make(), backwards, "owner-1")
    again = decode_snapshot(encode_snapshot(snapshot), "snapshots/x.json")
    assert again == snapshot
    assert [place.start for place in find_places(again).values()] == [0, 30, 50]
    found = blobs(store, tmp_path / "other").fetch(again, ["table0"])
    assert found["table0"].read_bytes() == written["table0"].read_bytes()
