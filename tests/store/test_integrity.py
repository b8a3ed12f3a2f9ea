"""Records that are damaged or swapped: none answers, verify finds it and repair mends it.

Every bit counts: a head holds the digest of each record that it names.
"""

from __future__ import annotations

import hashlib
import io
import json
import random
import tarfile
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
import zstandard

from docstow.core.errors import StoreError
from docstow.core.model import Head, Recipe, Revision, Snapshot, Source
from docstow.ops.audit import repair, verify
from docstow.ops.sweep import sweep
from docstow.ops.upkeep import add_digests
from docstow.store.heads import (
    StoredHead,
    decode_head,
    decode_snapshot,
    encode_head,
    encode_snapshot,
    head_key,
    point_to,
    replace_head,
    snapshot_key,
)
from docstow.store.inventory import list_store
from docstow.store.objects import DirectoryStore
from docstow.store.snapshots import BlobCache, Snapshots
from paths import FIXTURES
from schedules import Memory

NOW = datetime(2026, 11, 21, tzinfo=UTC)
RECIPE = Recipe("r", "c", "w", "m")
SOURCE, OTHER = Source("crate", "tokio", "1.24.2"), Source("crate", "mio", "1.0.0")
BITS = 200


class Shelf:
    """A store, and processes on it that remember nothing of one another."""

    def __init__(self, folder: Path) -> None:
        self.store = Memory()
        self.folder = folder

    def open(self) -> Snapshots:
        return Snapshots(self.store, BlobCache(self.folder / "cache", 10**6), freshness_s=0)

    def publish(self, text: str, source: Source = SOURCE, *, keep: int = 1) -> Snapshot:
        path = self.folder / f"documents-{text}"
        path.write_bytes(text.encode() * 10)
        return self.open().publish(
            Revision(source, source.version, origin="docs.rs"),
            RECIPE,
            {"documents": path},
            [hashlib.sha256(text.encode()).hexdigest()],
            {"documents": 1},
            {"title": text},
            NOW,
            keep=keep,
        )

    def body(self, snapshot: Snapshot) -> bytes:
        return self.store.objects[snapshot_key(snapshot.id)][0]

    def put(self, key: str, body: bytes) -> None:
        self.store.objects[key] = (body, self.store.now)

    def head(self, source: Source = SOURCE) -> Head:
        return decode_head(self.store.objects[head_key(source)][0], head_key(source))

    def forget_copies(self) -> None:
        """Write the head as releases do that copy no record into it."""
        head = replace(self.head(), record="")
        self.put(head_key(SOURCE), encode_head(head))

    def repair(self) -> list[str]:
        mine = self.open()
        return repair(
            self.store,
            verify(self.store),
            lambda each: mine.adopt(each, mine.fetch(each), each.created_at),
        )


@pytest.fixture
def shelf(tmp_path: Path) -> Shelf:
    return Shelf(tmp_path)


def flipped(body: bytes, bit: int) -> bytes:
    return body[: bit // 8] + bytes([body[bit // 8] ^ (1 << bit % 8)]) + body[bit // 8 + 1 :]


def test_a_head_holds_the_digest_of_each_record_that_it_names(shelf: Shelf) -> None:
    made = [shelf.publish(text, keep=2) for text in ("one", "two", "three")]
    assert shelf.head().named == (made[2].id, made[1].id)
    assert shelf.head().records == {
        each.id: hashlib.sha256(shelf.body(each)).hexdigest() for each in made[1:]
    }
    shelf.open().withdraw(SOURCE, NOW)
    assert set(shelf.head().records) == {made[2].id}


@pytest.mark.parametrize("former", [False, True])
def test_no_flipped_bit_of_a_record_changes_an_answer(shelf: Shelf, *, former: bool) -> None:
    snapshot = shelf.publish("one", keep=2)
    if former:
        shelf.publish("two", keep=2)
    sound = shelf.body(snapshot)
    shelf.forget_copies()
    for bit in random.Random(1).sample(range(len(sound) * 8), BITS):
        shelf.put(snapshot_key(snapshot.id), flipped(sound, bit))
        with pytest.raises(StoreError, match=snapshot.id):
            shelf.open().load(shelf.head(), snapshot.id)
        (fault,) = verify(shelf.store).faults
        assert (fault.key, fault.source) == (snapshot_key(snapshot.id), SOURCE)
        assert fault.repair
    shelf.put(snapshot_key(snapshot.id), sound)
    assert verify(shelf.store).faults == ()


def test_a_head_answers_by_its_copy_of_the_record_unless_that_is_damaged(shelf: Shelf) -> None:
    snapshot = shelf.publish("one")
    key, body = head_key(SOURCE), shelf.store.objects[head_key(SOURCE)][0]
    assert shelf.head().record.encode() == shelf.body(snapshot)
    sound = shelf.body(snapshot)
    shelf.put(snapshot_key(snapshot.id), flipped(sound, 999))
    assert shelf.open().answering(SOURCE) == snapshot
    del shelf.store.objects[snapshot_key(snapshot.id)]
    assert shelf.open().answering(SOURCE) == snapshot
    # Whoever publishes does not rely on it.
    assert shelf.open().stored(SOURCE, snapshot.id) is None
    shelf.put(snapshot_key(snapshot.id), sound)
    changed = body.replace(b'\\"title\\": \\"one', b'\\"title\\": \\"own')
    assert changed != body
    shelf.put(key, changed)
    assert shelf.open().answering(SOURCE) == snapshot


@pytest.mark.parametrize(
    "change",
    [
        lambda shelf: shelf.publish("two", keep=2),
        lambda shelf: shelf.open().withdraw(SOURCE, NOW),
        lambda shelf: evict(shelf.store, SOURCE),
    ],
)
def test_no_head_copies_a_record_that_does_not_answer(
    shelf: Shelf, change: Callable[[Shelf], object]
) -> None:
    snapshot = shelf.publish("one", keep=2)
    change(shelf)
    assert shelf.head().snapshot_id != snapshot.id
    answering = shelf.open().answering(SOURCE)
    copied = shelf.head().record.encode()
    assert copied == (shelf.body(answering) if answering is not None else b"")


def evict(store: Memory, source: Source) -> None:
    """Let a source be answered by nothing, as eviction does."""
    stored = store.get(head_key(source))
    assert stored is not None
    head = decode_head(stored.body, head_key(source))
    assert replace_head(store, StoredHead(head, stored.etag), point_to(head, "", 1))


def test_a_reader_with_an_older_head_is_given_no_changed_answer(shelf: Shelf) -> None:
    snapshot = shelf.publish("one")
    shelf.forget_copies()
    head = shelf.head()
    shelf.publish("two")
    assert shelf.open().load(head) == snapshot
    changed = shelf.body(snapshot).replace(b'"title": "one"', b'"title": "own"')
    shelf.put(snapshot_key(snapshot.id), changed)
    with pytest.raises(StoreError, match="is damaged"):
        shelf.open().load(head)


def test_no_flipped_bit_of_a_record_outlives_a_repair(shelf: Shelf) -> None:
    shelf.publish("whole", OTHER)
    for bit in random.Random(2).sample(range(4000), 25):
        former = shelf.publish("former", keep=2)
        snapshot = shelf.publish(f"newest {bit}", keep=2)
        shelf.put(snapshot_key(snapshot.id), flipped(shelf.body(snapshot), bit))
        assert shelf.repair() != []
        assert verify(shelf.store).faults == ()
        assert shelf.open().answering(SOURCE) == former
        again = shelf.publish(f"newest {bit}", keep=2)
        assert shelf.open().answering(SOURCE) == again
        for _ in range(2):
            sweep(shelf.store, grace=timedelta(0))
        assert verify(shelf.store).faults == ()
    assert list_store(shelf.store).unreadable == {}
    answers = shelf.open().answering(OTHER)
    assert answers is not None
    assert answers.facts == {"title": "whole"}


def test_a_record_of_another_source_never_answers(shelf: Shelf) -> None:
    own, other = shelf.publish("one"), shelf.publish("two", OTHER)
    renamed = replace(other, id=own.id)
    forged = replace(renamed, revision=replace(other.revision, source=SOURCE))
    former = shelf.body(own)
    shelf.forget_copies()
    for swapped in (shelf.body(other), encode_snapshot(renamed), encode_snapshot(forged)):
        shelf.put(snapshot_key(own.id), swapped)
        with pytest.raises(StoreError, match="is damaged"):
            shelf.open().answering(SOURCE)
        assert shelf.open().answering(OTHER) == other
        assert {fault.source for fault in verify(shelf.store).faults} == {SOURCE}
    for _ in range(3):
        sweep(shelf.store, grace=timedelta(0))
    assert snapshot_key(own.id) in shelf.store.objects, "what a head names is never deleted"
    shelf.repair()
    assert verify(shelf.store).faults == ()
    assert shelf.open().answering(SOURCE) is None
    assert shelf.open().answering(OTHER) == other
    assert shelf.publish("one").facts == decode_snapshot(former, "").facts
    assert shelf.open().answering(SOURCE) is not None


def test_heads_that_are_swapped_never_answer(shelf: Shelf) -> None:
    shelf.publish("one")
    shelf.publish("two", OTHER)
    shelf.put(head_key(SOURCE), shelf.store.objects[head_key(OTHER)][0])
    with pytest.raises(StoreError, match=r"heads/crate/tokio/1\.24\.2\.json"):
        shelf.open().head(SOURCE)
    assert {fault.source for fault in verify(shelf.store).faults} == {SOURCE}
    shelf.repair()
    assert verify(shelf.store).faults == ()
    answers = shelf.open().answering(SOURCE)
    assert answers is not None
    assert answers.facts == {"title": "one"}


def test_a_record_that_no_head_names_is_not_published_unless_it_is_the_same(shelf: Shelf) -> None:
    """A publisher was killed before it swapped the head, and its record was damaged since."""
    first = shelf.publish("one")
    body = shelf.body(first)
    emptied = replace(shelf.head(), snapshot_id="", generation=2, records={})
    shelf.put(head_key(SOURCE), encode_head(emptied))
    assert shelf.open().stored(SOURCE, first.id) is None
    assert shelf.publish("one") == first
    changed = body.replace(b'"title": "one"', b'"title": "own"')
    shelf.put(head_key(SOURCE), encode_head(emptied))
    shelf.put(snapshot_key(first.id), changed)
    again = shelf.publish("one")
    assert (again.facts, again.epoch) == ({"title": "one"}, 1)
    assert shelf.open().answering(SOURCE) == again


def without_digests(shelf: Shelf) -> None:
    """Write the head as releases without digests do."""
    fields = json.loads(shelf.store.objects[head_key(SOURCE)][0])
    del fields["records"], fields["record"]
    shelf.put(head_key(SOURCE), json.dumps(fields, indent=1, ensure_ascii=False).encode())


RENEWALS: dict[str, Callable[[Shelf], object]] = {
    "touched": lambda shelf: shelf.open().touch(SOURCE, NOW + timedelta(hours=1)),
    "published": lambda shelf: shelf.publish("two", keep=2),
    "kept up": lambda shelf: add_digests(shelf.store, list_store(shelf.store)),
}


@pytest.mark.parametrize("renewal", RENEWALS)
def test_a_former_head_is_read_and_gets_digests_at_its_next_write(
    shelf: Shelf, renewal: str
) -> None:
    shelf.publish("one", keep=2)
    snapshot = shelf.publish("two", keep=2)
    without_digests(shelf)
    assert shelf.head().records == {}
    assert shelf.open().answering(SOURCE) == snapshot
    assert verify(shelf.store).faults == ()
    RENEWALS[renewal](shelf)
    assert set(shelf.head().records) == set(shelf.head().named)
    assert len(shelf.head().named) == 2
    assert shelf.open().answering(SOURCE) == snapshot
    shelf.forget_copies()
    shelf.put(snapshot_key(snapshot.id), flipped(shelf.body(snapshot), 999))
    with pytest.raises(StoreError, match="is damaged"):
        shelf.open().answering(SOURCE)


def test_a_former_head_checks_whose_a_record_is(shelf: Shelf) -> None:
    own, other = shelf.publish("one"), shelf.publish("two", OTHER)
    without_digests(shelf)
    renamed = replace(other, id=own.id)
    for swapped in (shelf.body(other), encode_snapshot(renamed)):
        shelf.put(snapshot_key(own.id), swapped)
        with pytest.raises(StoreError, match="is damaged"):
            shelf.open().answering(SOURCE)


def test_a_record_that_was_deleted_and_made_again_is_read_by_all(shelf: Shelf) -> None:
    """What the error advises: the record is deleted, and the source published once more."""
    reader = shelf.open()
    snapshot = shelf.publish("one")
    assert reader.answering(SOURCE) == snapshot
    shelf.store.delete(snapshot_key(snapshot.id))
    later = NOW + timedelta(days=1)
    mine = shelf.open()
    files = {"documents": shelf.folder / "documents-one"}
    again = mine.adopt(replace(snapshot, created_at=later), files, later)
    assert again.id == snapshot.id
    assert reader.answering(SOURCE) == shelf.open().answering(SOURCE) == again
    assert verify(shelf.store).faults == ()


def test_a_store_of_the_first_release_gets_digests(tmp_path: Path) -> None:
    packed = (FIXTURES / "stores" / "0.1.0.tar.zst").read_bytes()
    plain = zstandard.ZstdDecompressor().stream_reader(packed).read()
    with tarfile.open(fileobj=io.BytesIO(plain)) as tar:
        tar.extractall(tmp_path / "old", filter="data")
    store = DirectoryStore(tmp_path / "old")

    def answer(source: Source) -> Snapshot | None:
        return Snapshots(store, BlobCache(tmp_path / "cache", 10**6)).answering(source)

    (source,) = list_store(store).heads
    former = answer(source)
    assert former is not None
    assert verify(store).faults == ()
    assert add_digests(store, list_store(store)) == 1
    assert add_digests(store, list_store(store)) == 0
    assert answer(source) == former
    path = store.local_path(snapshot_key(former.id))
    sound = path.read_bytes()
    for bit in random.Random(3).sample(range(len(sound) * 8), 50):
        path.write_bytes(flipped(sound, bit))
        with pytest.raises(StoreError, match=former.id):
            answer(source)
        assert {fault.source for fault in verify(store).faults} == {source}
    path.write_bytes(sound)
    assert answer(source) == former
