"""The catalogue of stowed crates: several writers, killed ones, lost and damaged shards."""

from __future__ import annotations

import contextlib
import hashlib
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import zstandard

from docstow.core.errors import StoreError
from docstow.core.model import CRATE, File, Head, Revision, Snapshot, Source
from docstow.core.settings import load
from docstow.index.catalog import SHARDS, Card, Catalog, card_key, make_card
from docstow.ingest.crates import read_crate
from docstow.runtime import SAMPLE, Runtime
from docstow.store.heads import encode_head, head_key
from docstow.store.objects import Entry, ObjectStore, Stored, Unchanged
from servers.clock import Clock
from servers.s3 import Bucket

#: Names whose cards are all in one shard.
SHARD = 3
NEIGHBOURS = [
    name
    for name in (f"crate{number}" for number in range(400))
    if int(hashlib.sha256(name.encode()).hexdigest()[:8], 16) % SHARDS == SHARD
]
KEY = f"catalog/{SHARD:02d}.json.gz"


@pytest.fixture(params=["directory", pytest.param("bucket", marks=pytest.mark.slow)])
def open_runtime(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Callable[[], Runtime]]:
    """Opens one store, each time as a newcomer to whom nothing is known from before."""
    flags = {"cache": str(tmp_path / "cache"), "store": str(tmp_path / "store")}
    if request.param == "bucket":
        there: Bucket = request.getfixturevalue("bucket")
        flags["store"], flags["s3_endpoint"] = there.at(tmp_path.name), there.endpoint
    with contextlib.ExitStack() as stack:
        yield lambda: stack.enter_context(contextlib.closing(Runtime(load(flags, {}))))


BODY = zstandard.ZstdDecompressor().decompress(SAMPLE.read_bytes())


def stow(runtime: Runtime, name: str, version: str = "1.0.0", word: str = "ship") -> Snapshot:
    """Stow the sample crate under a name of docs.rs, with another word for a ship."""
    body = BODY.replace(b"ship", word.encode())
    file = File("rustdoc.json", "https://docs.example", "application/json", body)
    revision = Revision(Source(CRATE, name, version), version, origin="docs.rs")
    reading = read_crate(revision, file, {}, lambda package, exact: None)
    return runtime.publisher.publish(reading).snapshot


def shown(catalog: Catalog) -> dict[str, tuple[str, str]]:
    return {card.key: (card.source.version, card.snapshot) for card in catalog.deck().cards}


def bare(name: str, version: str = "1.0.0") -> Card:
    """A card of nothing that is stowed."""
    documents: dict[str, list[str]] = {"kind": [], "title": [], "summary": [], "attributes": []}
    nothing = np.zeros((0, 4), np.float32)
    return make_card(Source(CRATE, name, version), f"of {name}", "m", {}, documents, nothing)


def test_what_is_stowed_has_one_card_of_its_newest_version(
    open_runtime: Callable[[], Runtime],
) -> None:
    runtime = open_runtime()
    newest = stow(runtime, "oak-tree", "1.10.0")
    stow(runtime, "oak-tree", "1.9.0")
    stow(runtime, "oak-tree", "2.0.0-rc.1")
    runtime.rustdoc_files([SAMPLE]).ingest(SAMPLE)
    local = runtime.snapshots.head(Source("local", "stowage", "0.1.0"))
    assert local is not None
    expected = {"oak_tree": ("1.10.0", newest.id), "stowage": ("0.1.0", local.snapshot_id)}
    assert shown(runtime.catalog) == expected
    assert shown(open_runtime().catalog) == expected
    assert runtime.catalog.rebuild() == 2
    assert shown(runtime.catalog) == expected


def test_the_card_of_a_publish_is_that_of_its_tables(open_runtime: Callable[[], Runtime]) -> None:
    runtime = open_runtime()
    stow(runtime, "oak")
    (published,) = runtime.catalog.deck().cards
    runtime.catalog.rebuild()
    (rebuilt,) = open_runtime().catalog.deck().cards
    assert np.array_equal(published.centres, rebuilt.centres)
    assert replace(published, centres=rebuilt.centres) == rebuilt


def test_no_writer_loses_anothers_card(open_runtime: Callable[[], Runtime]) -> None:
    names = NEIGHBOURS[:12]
    runtimes = [open_runtime() for _ in range(4)]

    def write(number: int) -> None:
        for name in names[number::4]:
            runtimes[number].catalog.add(bare(name))

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(write, range(4)))
    assert sorted(shown(open_runtime().catalog)) == sorted(names)


@pytest.mark.parametrize("damage", ["garbage", "cut", "of another schema"])
def test_a_damaged_shard_is_made_again(open_runtime: Callable[[], Runtime], damage: str) -> None:
    runtime = open_runtime()
    name = NEIGHBOURS[0]
    stow(runtime, name)
    expected = shown(runtime.catalog)
    stored = runtime.store.get(KEY)
    assert stored is not None
    bodies = {
        "garbage": b"\x00not json",
        "cut": stored.body[:-20],
        "of another schema": b'{"schema": 0, "cards": []}',
    }
    runtime.store.swap(KEY, bodies[damage], stored.etag)
    assert shown(open_runtime().catalog) == expected
    runtime.store.swap(KEY, bodies[damage], etag_of(runtime.store))
    stow(open_runtime(), NEIGHBOURS[1])
    assert sorted(shown(open_runtime().catalog)) == sorted(NEIGHBOURS[:2])


def etag_of(store: ObjectStore) -> str:
    stored = store.get(KEY)
    assert stored is not None
    return stored.etag


def test_a_store_from_before_there_was_a_catalogue_gets_one(
    open_runtime: Callable[[], Runtime],
) -> None:
    runtime = open_runtime()
    for name in NEIGHBOURS[:2]:
        stow(runtime, name)
    expected = shown(runtime.catalog)
    for entry in list(runtime.store.list("catalog/")):
        runtime.store.delete(entry.key)
    assert shown(open_runtime().catalog) == expected
    assert len(list(runtime.store.list("catalog/"))) == SHARDS


def test_a_writer_that_dies_before_the_head_leaves_what_was(
    open_runtime: Callable[[], Runtime],
) -> None:
    runtime = open_runtime()
    old = stow(runtime, "oak")
    for dead in (bare("oak", "2.0.0"), bare("elm")):
        with pytest.raises(StoreError), runtime.catalog.listed(dead):
            raise StoreError("killed")
    assert sorted(shown(open_runtime().catalog)) == ["elm", "oak"]
    newcomer = open_runtime()
    answer = newcomer.toolbox.call("search_items", {"query": "hold of a ship"}).structured
    assert answer is not None
    assert answer["answered"] == [{"crate": "oak", "version": "1.0.0", "snapshot": old.id}]
    assert shown(open_runtime().catalog) == {"oak": ("1.0.0", old.id)}


def test_a_correction_in_the_midst_of_a_publish_costs_no_card(
    open_runtime: Callable[[], Runtime],
) -> None:
    writer, reader = open_runtime(), open_runtime()
    card = bare("oak")
    with writer.catalog.listed(card):
        assert reader.catalog.correct(card) is None
        assert reader.catalog.rebuild() == 0
        head = Head(card.source, card.snapshot, 1, stow(writer, "elm").created_at)
        writer.store.create(head_key(card.source), encode_head(head))
    assert sorted(shown(open_runtime().catalog)) == ["elm", "oak"]


def test_a_card_that_was_evicted_drops_out(open_runtime: Callable[[], Runtime]) -> None:
    runtime = open_runtime()
    stow(runtime, "oak")
    kept = stow(runtime, "elm")
    source = Source(CRATE, "oak", "1.0.0")
    head, stored = runtime.snapshots.head(source), runtime.store.get(head_key(source))
    assert head is not None
    assert stored is not None
    evicted = replace(head, snapshot_id="", generation=head.generation + 1)
    runtime.store.swap(head_key(source), encode_head(evicted), stored.etag)
    newcomer = open_runtime()
    answer = newcomer.toolbox.call("search_items", {"query": "hold of a ship"}).structured
    assert answer is not None
    assert [each["snapshot"] for each in answer["answered"]] == [kept.id]
    assert list(shown(open_runtime().catalog)) == [card_key("elm")]


class Counted:
    """A store that notes what is asked of it."""

    def __init__(self, store: ObjectStore) -> None:
        self._store = store
        self.asked: list[str] = []

    def get(self, key: str) -> Stored | None:
        self.asked.append("get")
        return self._store.get(key)

    def get_changed(self, key: str, etag: str) -> Stored | Unchanged | None:
        found = self._store.get_changed(key, etag)
        self.asked.append("unchanged" if isinstance(found, Unchanged) else "changed")
        return found

    def create(self, key: str, body: bytes) -> str:
        self.asked.append("create")
        return self._store.create(key, body)

    def swap(self, key: str, body: bytes, etag: str) -> str:
        self.asked.append("swap")
        return self._store.swap(key, body, etag)

    def list(self, prefix: str) -> Iterator[Entry]:
        self.asked.append("list")
        return self._store.list(prefix)

    def delete(self, key: str) -> None:
        self.asked.append("delete")
        self._store.delete(key)


def test_a_reader_asks_for_each_shard_once_and_then_for_changes(
    open_runtime: Callable[[], Runtime],
) -> None:
    writer, clock = open_runtime(), Clock()
    writer.catalog.rebuild()
    store = Counted(writer.store)
    reader = Catalog(store, writer.snapshots, freshness_s=5, clock=clock.monotonic)

    def asked() -> Counter[str]:
        store.asked.clear()
        reader.deck()
        return Counter(store.asked)

    assert asked() == {"get": SHARDS}
    clock.sleep(4)
    assert asked() == {}
    clock.sleep(2)
    assert asked() == {"unchanged": SHARDS}
    writer.catalog.add(bare(NEIGHBOURS[0]))
    clock.sleep(6)
    assert asked() == {"unchanged": SHARDS - 1, "changed": 1}
    assert list(shown(reader)) == NEIGHBOURS[:1]


def test_a_card_that_is_there_is_not_written_again(open_runtime: Callable[[], Runtime]) -> None:
    runtime = open_runtime()
    stow(runtime, "oak")
    store = Counted(runtime.store)
    catalog = Catalog(store, runtime.snapshots)
    (card,) = catalog.deck().cards
    store.asked.clear()
    catalog.add(card)
    assert store.asked == ["get"]
