"""Eviction, sweep and verify on real stores: what is damaged, refused, raced for and read."""

from __future__ import annotations

import contextlib
import gzip
import json
import os
import re
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import numpy as np
import pytest

from docstow.cli import main
from docstow.core.errors import InvalidParameter, SnapshotGone, StoreError
from docstow.core.model import Recipe, Revision, Snapshot, Source
from docstow.core.settings import load
from docstow.index.cards import Card, make_card, make_entry
from docstow.index.catalog import Catalog
from docstow.ingest.jobs import FAILED, SUCCESS, Jobs
from docstow.ingest.queue import Enqueuer, Message
from docstow.ops.audit import verify
from docstow.ops.sweep import Swept, sweep
from docstow.ops.upkeep import LOST_S, Refresh, Sent, Upkeep, clean_up
from docstow.runtime import Runtime
from docstow.sources.registry import Registry
from docstow.store import inventory
from docstow.store.heads import list_blobs, snapshot_key
from docstow.store.objects import (
    DirectoryStore,
    Entry,
    ObjectStore,
    Stored,
    connect,
    open_store,
)
from docstow.store.objects.s3 import S3Store
from docstow.store.snapshots import BlobCache, Snapshots
from docstow.store.usage import PRE_INGESTED, Pins, UsageMarks
from schedules import Memory
from servers import s3
from servers.s3 import STORES, Bucket

NOW = datetime(2026, 11, 21, tzinfo=UTC)
RECIPE = Recipe("r", "c", "w", "m")
AT_ONCE = timedelta(0)


@pytest.fixture(params=STORES)
def store(request: pytest.FixtureRequest, tmp_path: Path) -> ObjectStore:
    if request.param == "directory":
        return DirectoryStore(tmp_path / "store")
    there: Bucket = request.getfixturevalue("buckets")(request.param)
    return open_store(there.at(tmp_path.name), endpoint=there.endpoint)


def crate(number: int | str, kind: str = "crate") -> Source:
    return Source(kind, f"crate-{number}", "1.0.0")


def opened(store: ObjectStore, folder: Path) -> Snapshots:
    return Snapshots(store, BlobCache(folder / "cache", 10**8), freshness_s=0)


def stow(
    store: ObjectStore,
    folder: Path,
    source: Source,
    text: str = "one",
    *,
    keep: int = 1,
    url: str = "",
    **facts: Any,
) -> Snapshot:
    folder.mkdir(exist_ok=True)
    files = {name: folder / f"{name}-{source.name}-{text}" for name in ("documents", "passages")}
    for name, path in files.items():
        path.write_bytes(f"{name} of {text}".encode() * 100)
    return opened(store, folder).publish(
        Revision(source, source.version, origin="docs.rs", url=url),
        RECIPE,
        files,
        [text],
        {"documents": 2},
        facts,
        NOW,
        keep=keep,
    )


def now() -> datetime:
    return datetime.now(UTC)


class Unheard:
    """A queue that nobody listens to."""

    joins = False

    def __init__(self) -> None:
        self.sent: list[str] = []

    def send(self, message: Message) -> None:
        self.sent.append(message.job_id)

    def send_all(self, messages: Sequence[Message]) -> None:
        self.sent += [message.job_id for message in messages]

    def close(self) -> None:
        return


def upkeep(store: ObjectStore, folder: Path, limit: int = 1 << 30) -> Upkeep:
    registry, jobs = Registry(store), Jobs(store, now)
    refresh = Refresh(registry, jobs, Enqueuer(jobs, Unheard(), now))
    snapshots = opened(store, folder)
    catalog = Catalog(store, snapshots, freshness_s=0)
    return Upkeep(store, registry, snapshots, refresh, limit, lambda: catalog, grace=AT_ONCE)


def text_of(store: ObjectStore, folder: Path, source: Source) -> str:
    """What answers for a source now, read anew; empty if nothing does."""
    mine = opened(store, folder / "fresh")
    head = mine.head(source)
    snapshot = mine.load(head) if head else None
    if snapshot is None:
        return ""
    texts = {path.read_text()[:40] for path in mine.fetch(snapshot).values()}
    assert len(texts) == 2
    return min(texts).split()[2].removesuffix("documents")


# -- eviction ----------------------------------------------------------------------------------


def test_the_least_used_make_room_pinned_ones_last_and_what_cannot_come_back_never(
    store: ObjectStore, tmp_path: Path
) -> None:
    sources = [crate(number) for number in range(4)] + [crate("l", "local"), crate("s", "site")]
    made = {source: stow(store, tmp_path, source) for source in sources}
    sizes = {source: sum(snapshot.sizes.values()) for source, snapshot in made.items()}
    Pins(store).pin(sources[0], PRE_INGESTED)
    found = upkeep(store, tmp_path)
    assert [line.source for line in found.list_sources()] == [
        *sources[1:4],
        sources[0],
        *sources[4:],
    ]
    total, one = sum(sizes.values()), sizes[sources[1]]
    assert upkeep(store, tmp_path, total).evict() == []
    evicted = upkeep(store, tmp_path, total - one - 1).evict()
    assert [line.source for line in evicted] == sources[1:3]
    assert [text_of(store, tmp_path, each) for each in sources] == ["one", "", "", *["one"] * 3]
    evicted = upkeep(store, tmp_path, 0).evict()
    assert [line.source for line in evicted] == [sources[3], sources[0]]
    assert [text_of(store, tmp_path, each) for each in sources] == [""] * 4 + ["one"] * 2
    assert upkeep(store, tmp_path).sweep().deleted == sum(
        1 + len(blobs_of(made[source])) for source in sources[:4]
    )
    assert upkeep(store, tmp_path).verify().faults == ()
    stow(store, tmp_path, sources[1])
    assert text_of(store, tmp_path, sources[1]) == "one"


def test_what_was_used_today_goes_after_what_was_not(tmp_path: Path) -> None:
    import os

    store = DirectoryStore(tmp_path / "store")
    for number in range(3):
        stow(store, tmp_path, crate(number))
    ago = datetime.now(UTC).timestamp() - 10 * 86400
    for path in (tmp_path / "store" / "snapshots").iterdir():
        os.utime(path, (ago, ago))
    touched = UsageMarks(store, clock=lambda: NOW + timedelta(days=1))
    for _ in range(3):
        touched.note(crate(0))
    touched.close()
    assert len(list(store.list("touched/"))) == 1
    order = [line.source.name for line in upkeep(store, tmp_path).list_sources()]
    assert order == ["crate-1", "crate-2", "crate-0"]


def test_packages_make_room_that_anybody_can_fetch_again(
    store: ObjectStore, tmp_path: Path
) -> None:
    url = "https://files.example/boats.whl"
    fetched, installed = crate("fetched", "python"), crate("installed", "python")
    private, local = crate("private", "node"), crate("local", "python")
    stow(store, tmp_path, fetched, url=url)
    stow(store, tmp_path, installed, url="")
    stow(store, tmp_path, private, url=url, private=True)
    stow(store, tmp_path, local, url="file:///opt/wheels/boats.whl")
    assert [line.source for line in upkeep(store, tmp_path, 0).evict()] == [fetched]


def test_an_eviction_never_takes_what_was_published_meanwhile(
    store: ObjectStore, tmp_path: Path
) -> None:
    from docstow.ops.evict import evict, list_sources

    stow(store, tmp_path, crate(1), "one")
    found = inventory.list_store(store)
    stow(store, tmp_path, crate(1), "two")
    assert evict(store, found, list_sources(store, found, {}), 0) == []
    assert text_of(store, tmp_path, crate(1)) == "two"


def test_a_reader_goes_on_for_a_day_with_what_was_evicted(
    store: ObjectStore, tmp_path: Path
) -> None:
    snapshot = stow(store, tmp_path, crate(1))
    reader = opened(store, tmp_path / "reader")
    upkeep(store, tmp_path, 0).evict()
    for _ in range(2):
        sweep(store)
    path = reader.fetch(snapshot)["documents"]
    assert path.read_bytes() == b"documents of one" * 100
    assert sweep(store, grace=AT_ONCE).deleted == 1 + len(blobs_of(snapshot))
    with pytest.raises(SnapshotGone):
        opened(store, tmp_path / "another").fetch(snapshot)


# -- verify and repair -------------------------------------------------------------------------


def blobs_of(snapshot: Snapshot) -> list[str]:
    return sorted(key for key, _ in list_blobs(snapshot))


def replace_object(store: ObjectStore, key: str, body: bytes) -> None:
    store.delete(key)
    store.create(key, body)


DAMAGES: dict[str, Callable[[ObjectStore, Snapshot], None]] = {
    "a blob is lost": lambda store, made: store.delete(blobs_of(made)[0]),
    "a blob is cut": lambda store, made: replace_object(store, blobs_of(made)[0], b"short"),
    "a blob is flipped": lambda store, made: replace_object(
        store, blobs_of(made)[0], b"x" * next(s for k, s in sorted(list_blobs(made)))
    ),
    "a record is lost": lambda store, made: store.delete(f"snapshots/{made.id}.json"),
    "a record is damaged": lambda store, made: replace_object(
        store, f"snapshots/{made.id}.json", b"{"
    ),
    "a head is damaged": lambda store, made: replace_object(
        store, f"heads/crate/{made.revision.source.name}/1.0.0.json", b"\xff"
    ),
}


@pytest.mark.parametrize("damage", DAMAGES)
@pytest.mark.parametrize("former", [False, True])
def test_damage_is_found_told_and_repaired(
    store: ObjectStore, tmp_path: Path, damage: str, *, former: bool
) -> None:
    stow(store, tmp_path, crate(0), "whole")
    if former:
        stow(store, tmp_path, crate(1), "former", keep=2)
    snapshot = stow(store, tmp_path, crate(1), "newest", keep=2)
    keeper = upkeep(store, tmp_path)
    assert keeper.verify().faults == ()
    DAMAGES[damage](store, snapshot)
    found = keeper.verify()
    assert {fault.source for fault in found.faults} == {crate(1)}
    assert all(fault.repair for fault in found.faults)
    keeper.repair(found)
    assert keeper.verify().faults == ()
    lost = "newest" if "head" in damage else "former" if former else ""
    assert text_of(store, tmp_path, crate(1)) == lost
    assert text_of(store, tmp_path, crate(0)) == "whole"
    stow(store, tmp_path, crate(1), "newest")
    assert text_of(store, tmp_path, crate(1)) == "newest"
    sweep(store, grace=AT_ONCE)
    sweep(store, grace=AT_ONCE)
    assert upkeep(store, tmp_path).verify().faults == ()
    assert text_of(store, tmp_path, crate(1)) == "newest"


def test_the_commands_and_their_exit_statuses(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    place = [f"--store={tmp_path / 'store'}", f"--cache={tmp_path / 'cache'}"]
    store = DirectoryStore(tmp_path / "store")
    snapshot = stow(store, tmp_path, crate(1))

    def run(*words: str) -> tuple[int, str, str]:
        code = main(["store", *words, *place])
        return code, *capsys.readouterr()

    code, out, _ = run("list")
    assert (code, out.splitlines()[0].split()) == (
        0,
        ["source", "snapshot", "documents", "bytes", "last", "used", "pinned"],
    )
    weight = sum(snapshot.sizes.values())
    row = out.splitlines()[1].split()
    assert row[:4] == ["crate/crate-1/1.0.0", snapshot.id[:12], "2", str(weight)]
    assert json.loads(run("list", "--json")[1])[0]["snapshot"] == snapshot.id
    size = json.loads(run("size", "--json")[1])
    assert (size["bytes"], size["sources"]) == (weight, 1)
    assert run("verify")[0] == 0
    store.delete(blobs_of(snapshot)[0])
    code, out, errors = run("verify")
    assert (code, blobs_of(snapshot)[0] in errors) == (1, True)
    assert run("verify", "--repair")[0] == 0
    assert run("verify")[0] == 0
    assert json.loads(run("evict", "--json", "--store-limit=0")[1]) == []
    assert json.loads(run("sweep", "--json", "--grace-hours=0")[1])["deleted"] == 2
    assert run("sweep", "--grace-hours=-1")[0] == 1
    notes = tmp_path / "notes"
    notes.mkdir()
    (notes / "anchors.md").write_text("# Anchors\n\nDrop them.")
    assert main(["ingest", "folder", str(notes), "--refresh-hours=24", *place]) == 0
    assert "0 sources refreshed" in run("upkeep")[1].splitlines()[-1]
    (notes / "anchors.md").write_text("# Anchors\n\nWeigh them.")
    Registry(store).create("folder", str(notes), refresh_hours=1)
    for entry in store.list("jobs/"):
        text = (tmp_path / "store" / entry.key).read_text()
        old = re.sub(r'("(finished|started)_at": )"[^"]*"', r'\1"2026-01-01T00:00:00+00:00"', text)
        (tmp_path / "store" / entry.key).write_text(old)
    code, out, _ = run("upkeep", "--json")
    assert (code, len(json.loads(out)["sent"]["synced"])) == (0, 1)
    assert main(["search", "weigh anchors", *place]) == 0
    assert "Weigh them" in capsys.readouterr().out


def test_what_is_no_snapshot_is_looked_at_too(tmp_path: Path) -> None:
    store = DirectoryStore(tmp_path / "store")
    for key in ("sources/x.json", "jobs/0123456789abcdef-000001.json", "pinned/crate/x/1.json"):
        store.create(key, b"{")
    keeper = upkeep(store, tmp_path)
    found = keeper.verify()
    assert len(found.faults) == 3
    keeper.repair(found)
    assert [fault.key for fault in keeper.verify().faults] == ["sources/x.json"]


# -- a store of an older release ---------------------------------------------------------------


def test_shared_blobs_of_older_releases_stay_as_long_as_one_needs_them(tmp_path: Path) -> None:
    from dataclasses import replace

    from docstow.core.model import Head
    from docstow.store.heads import encode_head, encode_snapshot, head_key

    store = DirectoryStore(tmp_path / "store")
    for number in (1, 2):
        made = stow(DirectoryStore(tmp_path / "other"), tmp_path, crate(number))
        old = replace(made, place="", content=made.id)
        for name, digest in made.tables.items():
            body = (tmp_path / f"{name}-crate-{number}-one").read_bytes()
            with contextlib.suppress(Exception):
                store.create(f"blobs/{digest}.parquet", body)
        store.create(f"snapshots/{old.id}.json", encode_snapshot(old))
        head = Head(crate(number), old.id, 1, NOW, "docs.rs")
        store.create(head_key(head.source), encode_head(head))
    keeper = upkeep(store, tmp_path)
    assert keeper.verify().faults == ()
    assert (keeper.verify().blobs, keeper.sweep().deleted) == (2, 0)
    from docstow.ops.evict import evict, list_sources

    found = inventory.list_store(store)
    evict(store, found, list_sources(store, found, {})[:1], 0)
    assert keeper.sweep().deleted == 1
    assert text_of(store, tmp_path, crate(2)) == "one"
    upkeep(store, tmp_path, 0).evict()
    assert keeper.sweep().deleted == 3
    assert list(store.list("blobs/")) == []
    stow(store, tmp_path, crate(1), "one")
    assert text_of(store, tmp_path, crate(1)) == "one"
    assert keeper.verify().faults == ()


# -- faults of the store -----------------------------------------------------------------------


def test_sixteen_who_publish_one_crate_while_others_sweep(
    store: ObjectStore, tmp_path: Path
) -> None:
    stow(store, tmp_path, crate(1), "one")
    over = threading.Event()

    def keep() -> None:
        while not over.is_set():
            upkeep(store, tmp_path, 0).evict()
            sweep(store, grace=AT_ONCE)

    with ThreadPoolExecutor(18) as pool:
        keepers = [pool.submit(keep) for _ in range(2)]
        try:
            made = list(
                pool.map(lambda n: stow(store, tmp_path / f"{n}", crate(1), "new"), range(16))
            )
        finally:
            over.set()
        for each in keepers:
            each.result()
    assert {each.content for each in made} == {made[0].content}
    assert upkeep(store, tmp_path).verify().faults == ()
    stow(store, tmp_path, crate(1), "new")
    assert text_of(store, tmp_path, crate(1)) == "new"


@pytest.mark.parametrize("lost", range(8))
def test_the_answer_to_each_write_is_lost(bucket: Bucket, tmp_path: Path, lost: int) -> None:
    """The write lands, the client never hears of it: publish, evict, sweep and stow again."""
    forward, writes = s3.forward(bucket.endpoint), 0

    def respond(request: s3.Request) -> s3.Answer:
        nonlocal writes
        answer = forward(request)
        if request.method in ("PUT", "DELETE") and "upkeep" not in urlsplit(request.path).path:
            writes += 1
            if writes % 8 == lost:
                raise s3.Lost
        return answer

    with s3.serve(respond) as endpoint:
        flaky = open_store(bucket.at(tmp_path.name), endpoint=endpoint)
        stow(flaky, tmp_path, crate(1), "one")
        stow(flaky, tmp_path, crate(1), "two")
        assert text_of(flaky, tmp_path, crate(1)) == "two"
        upkeep(flaky, tmp_path, 0).evict()
        sweep(flaky, grace=AT_ONCE)
        sweep(flaky, grace=AT_ONCE)
        stow(flaky, tmp_path, crate(1), "two")
    plain = open_store(bucket.at(tmp_path.name), endpoint=bucket.endpoint)
    assert text_of(plain, tmp_path, crate(1)) == "two"
    assert upkeep(plain, tmp_path).verify().faults == ()


def test_a_bucket_that_turns_read_only_goes_on_answering(bucket: Bucket, tmp_path: Path) -> None:
    forward, read_only = s3.forward(bucket.endpoint), threading.Event()

    def respond(request: s3.Request) -> s3.Answer:
        if read_only.is_set() and request.method in ("PUT", "DELETE", "POST"):
            return s3.fault(403, "AccessDenied")
        return forward(request)

    with s3.serve(respond) as endpoint:
        store = open_store(bucket.at(tmp_path.name), endpoint=endpoint)
        stow(store, tmp_path, crate(1))
        read_only.set()
        touched = UsageMarks(store)
        touched.note(crate(1))
        touched.close()
        assert text_of(store, tmp_path, crate(1)) == "one"
        keeper = upkeep(store, tmp_path, 0)
        assert keeper.verify().faults == ()
        assert [line.source for line in keeper.list_sources()] == [crate(1)]
        for refused in (keeper.evict, keeper.sweep, lambda: stow(store, tmp_path, crate(2))):
            with pytest.raises(StoreError, match="Check the credentials"):
                refused()
        assert text_of(store, tmp_path, crate(1)) == "one"
        read_only.clear()
        stow(store, tmp_path, crate(2))
        assert text_of(store, tmp_path, crate(2)) == "one"


# -- a thousand heads --------------------------------------------------------------------------


def test_a_thousand_heads_take_two_requests_each(tmp_path: Path) -> None:
    store = DirectoryStore(tmp_path / "store")
    from dataclasses import replace

    from docstow.core.model import Head
    from docstow.store.heads import encode_head, encode_snapshot, head_key, snapshot_key

    made = stow(DirectoryStore(tmp_path / "other"), tmp_path, crate("model"))
    for number in range(1000):
        source = crate(number)
        digest = f"{number:064x}"
        mine = replace(made, id=digest, revision=Revision(source, "1.0.0"), place="x", tables={})
        for key, body in (
            (snapshot_key(digest), encode_snapshot(mine)),
            (head_key(source), encode_head(Head(source, digest, 1, NOW))),
        ):
            path = store.local_path(key)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(body)
    verified = verify(store)
    assert (verified.heads, verified.faults) == (1000, ())
    assert verified.requests <= 2000 + 10


def test_listing_pages_do_not_matter(bucket: Bucket, tmp_path: Path) -> None:
    plain = open_store(bucket.at(tmp_path.name), endpoint=bucket.endpoint)
    for number in range(5):
        stow(plain, tmp_path, crate(number))
    paged = S3Store(connect(endpoint=bucket.endpoint), bucket.name, tmp_path.name, page_size=2)
    assert len(inventory.list_store(paged).blobs) == 5
    assert verify(paged).faults == ()


@pytest.mark.skipif(sys.platform == "win32", reason="limits of POSIX stand for a full disk")
def test_a_cache_whose_disk_is_full_is_told_and_leaves_nothing_half_done(
    bucket: Bucket, tmp_path: Path
) -> None:
    import resource

    store = open_store(bucket.at(tmp_path.name), endpoint=bucket.endpoint)
    snapshot = stow(store, tmp_path, crate(1))
    reader = opened(store, tmp_path / "reader")
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, limits[1]))
    try:
        with pytest.raises(StoreError, match="Free some space"):
            reader.fetch(snapshot)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert list((tmp_path / "reader" / "cache").iterdir()) == []
    assert len(reader.fetch(snapshot)) == 2
    assert upkeep(store, tmp_path).verify().faults == ()


def test_a_round_gives_up_what_was_deleted_and_tidies(store: ObjectStore, tmp_path: Path) -> None:
    registry = Registry(store)
    gone, _ = registry.create("collection", "gone")
    kept, _ = registry.create("collection", "kept")
    made = [stow(store, tmp_path, each.source) for each in (gone, kept)]
    registry.delete(gone.id)
    later = datetime.now(UTC) + timedelta(days=100)
    store.create("touched/2000-01-01/crate/x/1", b"")
    done = upkeep(store, tmp_path).run()
    dead = 1 + len(blobs_of(made[0]))
    assert (done.dropped, done.swept.deleted, done.failed) == (1, dead, {})
    kinds = ("jobs", "logs", "leases", "touched", "cards", "segments")
    assert done.tidied == {**dict.fromkeys(kinds, 0), "touched": 1}
    assert text_of(store, tmp_path, kept.source) == "one"
    for number in (1, 2):
        store.create(f"jobs/{'0' * 16}-00000{number}.json", b'{"schema": 1}')
    store.create("leases/x.json", b"{}")
    assert clean_up(store, later) == {"jobs": 1, "logs": 0, "leases": 1, "touched": 0}
    assert upkeep(store, tmp_path).verify().faults == ()


class Counted(Memory):
    """A store that counts what is read of heads and records, pages of listings, and writes."""

    def __init__(self) -> None:
        super().__init__()
        self.counts: Counter[str] = Counter()

    def get(self, key: str) -> Stored | None:
        self.counts["get " + key.partition("/")[0]] += 1
        return super().get(key)

    def list(self, prefix: str) -> Iterator[Entry]:
        found = list(super().list(prefix))
        self.counts["list"] += 1 + len(found) // 1000
        return iter(found)

    def swap(self, key: str, body: bytes, etag: str) -> str:
        self.counts["put " + key] += 1
        return super().swap(key, body, etag)

    def create(self, key: str, body: bytes) -> str:
        self.counts["put " + key] += 1
        return super().create(key, body)


def test_a_round_reads_what_has_changed_since_the_last_one(tmp_path: Path) -> None:
    store = Counted()
    for number in range(300):
        stow(store, tmp_path, crate(number, "collection"))
    catalog, nothing = Catalog(store, opened(store, tmp_path)), np.zeros((0, 4), np.float32)
    entries = [make_entry(crate(number, "collection"), "ab", {}) for number in range(300)]
    catalog.append([Card(each, "m", {}, np.zeros(0, np.float32), nothing) for each in entries])
    keeper = upkeep(store, tmp_path)
    store.counts.clear()
    assert keeper.run().swept.deleted == 0
    assert (store.counts["get heads"], store.counts["get snapshots"]) == (300, 300)

    former = [stow(store, tmp_path, crate(number, "collection"), "two") for number in (7, 8)]
    store.counts.clear()
    done = keeper.run()
    assert (store.counts["get heads"], store.counts["get snapshots"]) == (2, 2)
    assert store.counts["put " + inventory.INVENTORY] == 1
    assert store.counts["list"] <= 15
    # the record and the blob of each that was replaced
    assert (done.swept.fenced, done.swept.deleted) == (2, 4)
    assert done.bytes == sum(
        inventory.list_store(store).weight(inventory.list_store(store).all_heads()).values()
    )
    assert text_of(store, tmp_path, former[0].revision.source) == "two"

    keeper.run()  # reads the two heads whose epochs the sweep has ended
    store.counts.clear()
    assert keeper.run().failed == {}
    assert (store.counts["get heads"], store.counts["get snapshots"]) == (0, 0)
    assert store.counts["put " + inventory.INVENTORY] == 0
    assert store.counts.total() <= 30


@pytest.mark.parametrize("body", [b"", b"no gzip", gzip.compress(b'{"schema": 9}', mtime=0)])
def test_a_damaged_inventory_is_made_anew_by_and_by(
    body: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = Counted()
    for number in range(30):
        stow(store, tmp_path, crate(number))
    store.create(inventory.INVENTORY, body)
    monkeypatch.setattr("docstow.ops.upkeep.MOST_READ", 25)
    keeper = upkeep(store, tmp_path, 0)
    keeper._open_catalog = lambda: pytest.fail("a look that is not whole decides nothing")
    # Of the five heads that the first round has not read, the second reads the records too.
    for left in (35, 10):
        done = keeper.run()
        assert (done.left, done.evicted, done.swept) == (left, [], Swept())
    assert len(keeper.list_sources()) == 30
    done = upkeep(store, tmp_path, 0).run()
    assert (done.left, len(done.evicted), done.bytes) == (0, 30, 0)


def test_nothing_is_taken_from_the_inventory_that_is_not_listed(tmp_path: Path) -> None:
    store = Memory()
    kept, lost, changed = (stow(store, tmp_path, crate(number)) for number in range(3))
    found = inventory.list_store(store, inventory.Inventory())
    assert inventory.write_inventory(store, inventory.Inventory(), found)
    store.delete(snapshot_key(lost.id))
    key = snapshot_key(changed.id)
    stored = store.get(key)
    assert stored is not None
    store.swap(key, b"{}", stored.etag)
    again = inventory.list_store(store, inventory.read_inventory(store))
    assert list(again.records) == [kept.id]
    assert list(again.unreadable) == [key]
    assert again.requests == 3 + 2
    # Who is overtaken leaves what another has written.
    assert not inventory.write_inventory(store, inventory.Inventory(), again)


def test_a_bucket_lists_the_tags_that_it_reads(bucket: Bucket, tmp_path: Path) -> None:
    store = open_store(bucket.at(tmp_path.name), endpoint=bucket.endpoint)
    for number in range(3):
        stow(store, tmp_path, crate(number))
    upkeep(store, tmp_path).run()
    found = inventory.list_store(store, inventory.read_inventory(store))
    assert (found.requests, len(found.heads), len(found.records)) == (3, 3, 3)


def test_sources_are_synced_again_when_that_is_due(tmp_path: Path) -> None:
    store, queue, begin = DirectoryStore(tmp_path / "store"), Unheard(), now()
    clock = [begin]
    registry, jobs = Registry(store), Jobs(store, lambda: clock[0])
    refresh = Refresh(registry, jobs, Enqueuer(jobs, queue, lambda: clock[0]))
    daily, _ = registry.create("site", "https://docs.example/", refresh_hours=24)
    registry.create("site", "https://other.example/")
    (first,) = refresh.send(clock[0]).synced  # it was never synced
    assert jobs.get(first).source_id == daily.id
    clock[0] += timedelta(hours=LOST_S / 3600 - 1)
    assert refresh.send(clock[0]) == Sent()  # it is queued still
    clock[0] += timedelta(hours=1)
    assert refresh.send(clock[0]) == Sent(again=(first,))  # its message is lost
    assert refresh.send(clock[0]) == Sent()
    jobs.change(jobs.get(first), state=FAILED)
    clock[0] += timedelta(hours=23)
    assert refresh.send(clock[0]) == Sent()  # it fails no more often than it may succeed
    clock[0] += timedelta(hours=1)
    (second,) = refresh.send(clock[0]).synced
    jobs.change(jobs.get(second), state=SUCCESS)
    registry.create("site", "https://docs.example/", refresh_hours=0)
    clock[0] += timedelta(days=300)
    assert refresh.send(clock[0]) == Sent()
    assert queue.sent == [first, first, second]


@pytest.mark.parametrize(
    ("kind", "uri", "hours"), [("site", "https://x.example/", -1), ("crate", "serde@1.0.0", 1)]
)
def test_what_cannot_be_refreshed_is_refused(
    tmp_path: Path, kind: str, uri: str, hours: int
) -> None:
    registry = Registry(DirectoryStore(tmp_path))
    with pytest.raises(InvalidParameter, match="refresh_hours"):
        registry.create(kind, uri, refresh_hours=hours)
    assert registry.create(kind, uri, refresh_hours=0)[0].refresh_hours == 0


def test_cards_of_crates_that_were_given_up_leave_the_catalogue(
    store: ObjectStore, tmp_path: Path
) -> None:
    for name in ("gone", "kept"):
        stow(store, tmp_path, crate(name))
    snapshots = opened(store, tmp_path)
    catalog = Catalog(store, snapshots, freshness_s=0)
    nothing = np.zeros((0, 4), np.float32)
    columns: dict[str, list[str]] = {"kind": [], "title": [], "summary": [], "attributes": []}
    for name in ("gone", "kept"):
        catalog.add(make_card(crate(name), "ab" * 32, "m", {}, columns, nothing))
    assert upkeep(store, tmp_path).run().tidied["cards"] == 0
    snapshots.withdraw(crate("gone"), NOW, keep=0)
    assert upkeep(store, tmp_path).run().tidied["cards"] == 1
    assert [each.source for each in catalog.card_set().entries()] == [crate("kept")]
    assert upkeep(store, tmp_path).run().tidied["cards"] == 0


def test_what_is_evicted_by_a_command_has_no_card_afterwards(
    store: ObjectStore, tmp_path: Path
) -> None:
    catalog = Catalog(store, opened(store, tmp_path), freshness_s=0)
    nothing = np.zeros((0, 4), np.float32)
    columns: dict[str, list[str]] = {"kind": [], "title": [], "summary": [], "attributes": []}
    for name in ("oak", "elm"):
        made = stow(store, tmp_path, crate(name))
        catalog.add(make_card(crate(name), made.id, "m", {}, columns, nothing))
    assert len(catalog.card_set()) == 2
    assert len(upkeep(store, tmp_path, 0).evict()) == 2
    assert len(catalog.card_set()) == 0


def test_counting_jobs_reads_each_that_has_ended_once(tmp_path: Path) -> None:
    store = DirectoryStore(tmp_path)
    jobs = Jobs(store, now)
    begun = [jobs.start(f"{number}" * 64)[0] for number in range(3)]
    for job in begun[:2]:
        jobs.change(job, state=SUCCESS)
    assert jobs.states()[SUCCESS] == 2
    store.delete(f"jobs/{begun[0].id}.json")
    jobs.change(begun[2], state=FAILED)
    # What has ended is not read again: not even one that was damaged since.
    ended = tmp_path / f"jobs/{begun[1].id}.json"
    written = ended.stat().st_mtime_ns
    ended.write_bytes(b"damaged")
    os.utime(ended, ns=(written, written))
    counted = jobs.states()
    assert (counted[SUCCESS], counted[FAILED]) == (1, 1)


def test_a_server_keeps_its_store_up_by_itself(tmp_path: Path) -> None:
    flags = {
        "store": str(tmp_path / "store"),
        "cache": str(tmp_path / "cache"),
        "store_limit": 0,
        "upkeep_hours": 0.05 / 3600,
    }
    with contextlib.closing(Runtime(load(flags, {}))) as runtime:
        stow(runtime.store, tmp_path, crate(1))
        runtime.keep_up()
        until = time.monotonic() + 60
        while text_of(runtime.store, tmp_path, crate(1)):
            assert time.monotonic() < until
