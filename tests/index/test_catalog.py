"""The catalogue of stowed crates: several writers, killed ones, lost and damaged segments."""

from __future__ import annotations

import base64
import contextlib
import gzip
import json
import shutil
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import numpy as np
import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from docstow.core.errors import StoreError
from docstow.core.model import CRATE, File, Head, Revision, Snapshot, Source
from docstow.core.settings import load
from docstow.index import catalog_upkeep
from docstow.index.cards import Card, card_key, make_card, stamp_of
from docstow.index.catalog import TAIL, Catalog
from docstow.index.catalog_store import OLD_SHARDS
from docstow.index.catalog_upkeep import CatalogUpkeep, Maintained
from docstow.index.manifest import LEVELS, MANIFEST, SEGMENTS, Reference, plan, plan_small
from docstow.index.segments import make_segment
from docstow.ingest.crates import read_crate
from docstow.runtime import SAMPLE, Runtime
from docstow.sources import kinds
from docstow.store.heads import encode_head, head_key, list_blobs
from docstow.store.inventory import store_time
from docstow.store.objects import Entry, ObjectStore, Stored, Unchanged
from servers.clock import Clock
from servers.s3 import STORES, Bucket


@pytest.fixture(params=STORES)
def open_runtime(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Callable[[], Runtime]]:
    """Opens one store, each time as a newcomer to whom nothing is known from before."""
    flags = {"cache": str(tmp_path / "cache"), "store": str(tmp_path / "store")}
    if request.param != "directory":
        there: Bucket = request.getfixturevalue("buckets")(request.param)
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


def shown(catalog: Catalog) -> dict[str, tuple[str, int]]:
    return {each.key: (each.source.version, each.stamp) for each in catalog.card_set().entries()}


def bare(name: str, version: str = "1.0.0") -> Card:
    """A card of nothing that is stowed."""
    documents: dict[str, list[str]] = {"kind": [], "title": [], "summary": [], "attributes": []}
    nothing = np.zeros((0, 4), np.float32)
    return make_card(Source(CRATE, name, version), "ab" * 32, "m", {}, documents, nothing)


def upkeep_of(runtime: Runtime) -> CatalogUpkeep:
    return CatalogUpkeep(runtime.catalog, runtime.snapshots)


def maintain(runtime: Runtime, *, at_once: bool = True) -> Maintained:
    """A round of what upkeep does."""
    heads = {each.source: each for name in kinds() for each in heads_of(runtime, name)}
    oldest = store_time(runtime.store) + timedelta(hours=1 if at_once else -1)
    return upkeep_of(runtime).maintain(heads, oldest, kinds())


def heads_of(runtime: Runtime, kind: str) -> list[Head]:
    names = runtime.snapshots.names(kind)
    return [head for name in names for head in runtime.snapshots.heads(kind, name)]


def stored(store: ObjectStore, key: str) -> Stored:
    found = store.get(key)
    assert found is not None
    return found


def segments(store: ObjectStore) -> list[str]:
    return [entry.key for entry in store.list(SEGMENTS)]


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
    expected = {
        "oak_tree": ("1.10.0", stamp_of(newest.id)),
        "stowage": ("0.1.0", stamp_of(local.snapshot_id)),
    }
    assert shown(runtime.catalog) == expected
    assert shown(open_runtime().catalog) == expected
    assert upkeep_of(runtime).rebuild(kinds()) == 2
    assert shown(runtime.catalog) == expected


def test_the_card_of_a_publish_is_that_of_its_tables(open_runtime: Callable[[], Runtime]) -> None:
    runtime = open_runtime()
    stow(runtime, "oak")
    published = runtime.catalog.card_set().segments[0]
    assert upkeep_of(runtime).rebuild(kinds()) == 1
    (rebuilt,) = open_runtime().catalog.card_set().segments
    assert np.array_equal(published.head.codes, rebuilt.head.codes)
    for name in ("terms", "steps", "weights"):
        before, after = (getattr(each.bucket(0), name) for each in (published, rebuilt))
        assert np.array_equal(before, after)
    assert rebuilt.head.entry(0) == published.head.entry(0)


def test_no_writer_loses_anothers_card(open_runtime: Callable[[], Runtime]) -> None:
    names = [f"crate{number}" for number in range(12)]
    runtimes = [open_runtime() for _ in range(4)]

    def write(number: int) -> None:
        for name in names[number::4]:
            runtimes[number].catalog.add(bare(name))
            upkeep_of(runtimes[number]).join_small()

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(write, range(4)))
    assert sorted(shown(open_runtime().catalog)) == sorted(names)


@pytest.mark.parametrize("damage", ["garbage", "cut", "missing"])
def test_what_a_damaged_segment_had_upkeep_makes_again(
    open_runtime: Callable[[], Runtime], damage: str
) -> None:
    runtime = open_runtime()
    stow(runtime, "oak")
    expected = shown(runtime.catalog)
    (key,) = segments(runtime.store)
    body = stored(runtime.store, key)
    if damage == "missing":
        runtime.store.delete(key)
    else:
        bad = b"\x00" * len(body.body) if damage == "garbage" else body.body[:-20]
        runtime.store.swap(key, bad, body.etag)
    newcomer = open_runtime()
    assert shown(newcomer.catalog) == {}
    stow(newcomer, "elm")
    assert list(shown(newcomer.catalog)) == ["elm"]
    assert maintain(open_runtime()).made == 1
    assert shown(open_runtime().catalog).items() >= expected.items()
    assert maintain(open_runtime()).made == 0


@pytest.mark.parametrize("damage", [b"", b'{"schema": 0}', None])
def test_a_lost_manifest_is_made_again(
    open_runtime: Callable[[], Runtime], damage: bytes | None
) -> None:
    runtime = open_runtime()
    for name in ("oak", "elm"):
        stow(runtime, name)
    expected = shown(runtime.catalog)
    former = stored(runtime.store, MANIFEST)
    if damage is None:
        runtime.store.delete(MANIFEST)
    else:
        runtime.store.swap(MANIFEST, damage, former.etag)
    counted = Counted(runtime.store)
    assert len(Catalog(counted, runtime.snapshots).card_set()) == 0
    assert "list" not in counted.asked
    assert maintain(open_runtime()).made == 2
    assert shown(open_runtime().catalog) == expected


def old_shard(*cards: tuple[str, str]) -> bytes:
    """The cards of crates as an earlier release wrote them."""
    found = []
    for name, about in cards:
        source = {"kind": CRATE, "name": name, "version": "1.0.0", "target": ""}
        texts = {"name": name, "about": about, "modules": "", "names": "", "sentences": ""}
        centres = base64.b64encode(np.eye(4, dtype="<f2")[:2].tobytes()).decode()
        found.append(
            {
                "source": source,
                "snapshot": "ab" * 32,
                "model": "m",
                "kinds": ["module"],
                "texts": texts,
                "dimensions": 4,
                "centres": centres,
            }
        )
    return gzip.compress(json.dumps({"schema": 1, "cards": found}).encode())


def test_the_catalogue_of_an_earlier_release_is_taken_over(
    open_runtime: Callable[[], Runtime],
) -> None:
    store = open_runtime().store
    store.create(OLD_SHARDS[0], old_shard(("oak", "a tree"), ("elm", "another tree")))
    store.create(OLD_SHARDS[5], old_shard(("mast", "of a ship")))
    store.create(OLD_SHARDS[7], b"damaged")
    counted = Counted(store)
    catalog = Catalog(counted, open_runtime().snapshots)
    assert sorted(shown(catalog)) == ["elm", "mast", "oak"]
    assert "list" not in counted.asked
    ranking = catalog.rank("a ship", "m", np.array([0.5, 0.5, 0, 0], np.float32))
    assert next(iter(ranking))[0].source.name == "mast"
    assert sorted(shown(open_runtime().catalog)) == ["elm", "mast", "oak"]
    # Servers of that release go on with their own until it has not changed for a day.
    runtime = open_runtime()
    assert maintain(runtime, at_once=False).deleted == 0
    assert maintain(runtime).deleted == 3


def test_what_is_joined_stays_and_what_it_was_joined_from_goes(
    open_runtime: Callable[[], Runtime],
) -> None:
    runtime = open_runtime()
    for number in range(TAIL + 3):
        runtime.catalog.add(bare(f"crate{number}"))
    expected = shown(runtime.catalog)
    assert len(expected) == TAIL + 3
    assert len(runtime.catalog.card_set().segments) == 2
    before = segments(runtime.store)
    assert len(before) == TAIL + 3
    reader = open_runtime()
    assert shown(reader.catalog) == expected
    # In one round what is left over is given up; in the next it is deleted.
    runtime.catalog.objects.change(lambda m: replace(m, covered=("crate",)))
    deletions = [sweep_of(runtime) for _ in range(3)]
    assert deletions == [0, TAIL + 1, 0]
    assert len(segments(runtime.store)) == 2
    assert shown(reader.catalog) == shown(open_runtime().catalog) == expected


def sweep_of(runtime: Runtime) -> int:
    return upkeep_of(runtime)._sweep(store_time(runtime.store) + timedelta(hours=1))


def test_a_writer_that_sleeps_through_a_sweep_names_nothing_that_is_gone(
    open_runtime: Callable[[], Runtime],
) -> None:
    writer, sweeper = open_runtime(), open_runtime()
    writer.catalog.add(bare("oak"))
    swap = writer.store.swap
    slept = list[str]()

    def sleepy(key: str, body: bytes, etag: str) -> str:
        if key == MANIFEST and not slept:
            slept.append(key)
            deleted = [sweep_of(sweeper) for _ in range(2)]
            assert deleted == [0, 1]
        return swap(key, body, etag)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(writer.store, "swap", sleepy)
        writer.catalog.add(bare("elm"))
    assert slept
    assert sorted(shown(open_runtime().catalog)) == ["elm", "oak"]


@pytest.mark.parametrize("killed_at", [MANIFEST, SEGMENTS])
def test_a_join_that_is_killed_changes_nothing(
    open_runtime: Callable[[], Runtime], killed_at: str
) -> None:
    runtime = open_runtime()
    for number in range(3):
        upkeep_of(runtime)._append_segment(make_segment([bare(f"crate{number}")]))
    expected = shown(runtime.catalog)

    def killed(key: str, *_: object) -> str:
        raise StoreError("killed") if key.startswith(killed_at) else AssertionError

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(runtime.store, "swap" if killed_at == MANIFEST else "create", killed)
        with pytest.raises(StoreError, match="killed"):
            upkeep_of(runtime)._join(lambda m: plan(m.segments))
    assert shown(open_runtime().catalog) == expected
    assert upkeep_of(open_runtime())._join(lambda m: plan(m.segments)) == 3
    assert shown(open_runtime().catalog) == expected


counts = st.lists(st.integers(1, 5000), max_size=40)


@given(counts)
def test_upkeep_leaves_few_segments(cards: list[int]) -> None:
    found = [Reference(str(n), 0, count, "m", 1, 2, "") for n, count in enumerate(cards)]
    for _ in range(50):
        begin, end = plan(found)
        if end - begin < 2:
            break
        joined = replace(found[begin], cards=sum(each.cards for each in found[begin:end]))
        found[begin:end] = [joined]
    assert len(found) <= LEVELS
    assert sum(each.cards for each in found) == sum(cards)


def test_segments_of_two_models_are_not_joined() -> None:
    models = ["a"] * 20 + ["b"] * 20 + [""]
    found = [Reference(str(n), 0, 1, model, 1, 2, "") for n, model in enumerate(models)]
    assert plan_small(found) == (plan(found)[0], 41) == (20, 41)


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
    assert shown(open_runtime().catalog) == {"oak": ("1.0.0", stamp_of(old.id))}


def test_a_correction_in_the_midst_of_a_publish_costs_no_card(
    open_runtime: Callable[[], Runtime],
) -> None:
    writer, reader = open_runtime(), open_runtime()
    card = bare("oak")
    with writer.catalog.listed(card):
        assert reader.catalog.correct(card.entry) is None
        assert upkeep_of(reader).rebuild(kinds()) == 0
        head = Head(card.source, "ab" * 32, 1, stow(writer, "elm").created_at)
        writer.store.create(head_key(card.source), encode_head(head))
    assert sorted(shown(open_runtime().catalog)) == ["elm", "oak"]


def test_a_card_that_was_evicted_drops_out(open_runtime: Callable[[], Runtime]) -> None:
    runtime = open_runtime()
    stow(runtime, "oak")
    kept = stow(runtime, "elm")
    source = Source(CRATE, "oak", "1.0.0")
    head, state = runtime.snapshots.head(source), stored(runtime.store, head_key(source))
    assert head is not None
    evicted = replace(head, snapshot_id="", generation=head.generation + 1)
    runtime.store.swap(head_key(source), encode_head(evicted), state.etag)
    newcomer = open_runtime()
    answer = newcomer.toolbox.call("search_items", {"query": "hold of a ship"}).structured
    assert answer is not None
    assert [each["snapshot"] for each in answer["answered"]] == [kept.id]
    assert list(shown(open_runtime().catalog)) == [card_key("elm")]


def test_what_cannot_be_made_holds_no_other_card_up(
    open_runtime: Callable[[], Runtime], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(catalog_upkeep, "MOST_MADE", 2)
    monkeypatch.setattr(catalog_upkeep, "MOST_TRIED", 7)
    runtime = open_runtime()
    made = {name: stow(runtime, name, word=name) for name in ("ash", "elm", "fir", "oak", "yew")}
    for name in ("ash", "elm", "fir"):  # the first in every order but that of chance
        for blob in list_blobs(made[name]):
            runtime.store.delete(blob[0])
    runtime.store.delete(MANIFEST)
    newcomer = open_runtime()
    with contextlib.suppress(OSError):
        shutil.rmtree(newcomer.settings.cache)
    maintain(newcomer)
    assert sorted(shown(open_runtime().catalog)) == ["oak", "yew"]


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

    def get_range(self, key: str, start: int, size: int) -> bytes | None:
        self.asked.append("range")
        return self._store.get_range(key, start, size)

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


def test_a_reader_asks_for_what_is_new(open_runtime: Callable[[], Runtime]) -> None:
    writer, clock = open_runtime(), Clock()
    for number in range(TAIL + 1):
        writer.catalog.add(bare(f"crate{number}"))
    store = Counted(writer.store)
    reader = Catalog(store, writer.snapshots, freshness_s=5, clock=clock.monotonic)

    def asked() -> Counter[str]:
        store.asked.clear()
        reader.card_set()
        return Counter(store.asked)

    assert asked() == {"get": 3}
    clock.sleep(4)
    assert asked() == {}
    clock.sleep(2)
    assert asked() == {"unchanged": 1}
    writer.catalog.add(bare("oak"))
    clock.sleep(6)
    assert asked() == {"changed": 1, "get": 1}
    assert "oak" in shown(reader)


def test_a_publish_takes_few_requests(open_runtime: Callable[[], Runtime]) -> None:
    runtime = open_runtime()
    runtime.catalog.add(bare("oak"))
    store = Counted(runtime.store)
    catalog = Catalog(store, runtime.snapshots)
    with catalog.listed(bare("elm")):
        pass
    assert store.asked == ["get", "get", "create", "swap", "unchanged"]


def test_a_card_that_is_there_is_not_written_again(open_runtime: Callable[[], Runtime]) -> None:
    runtime = open_runtime()
    snapshot = stow(runtime, "oak")
    store = Counted(runtime.store)
    catalog = Catalog(store, runtime.snapshots)
    card = catalog.card(snapshot)
    catalog.card_set()
    store.asked.clear()
    catalog.add(card)
    assert store.asked == ["unchanged"]
