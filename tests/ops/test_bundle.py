"""Bundles: round trips between stores, and everything that may have happened to a file."""

from __future__ import annotations

import contextlib
import hashlib
import io
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import zstandard
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from docstow.core.errors import (
    CrateNotFound,
    DocstowError,
    InvalidParameter,
    SourceNotFound,
    TooLarge,
    UnreadableInput,
)
from docstow.core.model import CRATE, LOCAL, Head, Source, source_id
from docstow.core.settings import load
from docstow.ops.bundle import archive
from docstow.ops.bundle.manifest import MANIFEST
from docstow.ops.bundle.read import BundleImport, Imported
from docstow.ops.bundle.write import BundleExport
from docstow.runtime import SAMPLE, Runtime
from docstow.sources import collection as pushed
from docstow.sources.registry import REGISTERED
from docstow.store.heads import Heads, end_epoch, point_to
from docstow.store.usage import PRE_INGESTED, Pins
from paths import FIXTURES
from prose_store import ProseStore, page
from servers.docs_rs import DocsRs
from servers.s3 import Bucket

STORES = FIXTURES / "stores"
SECRET = "Bearer open-sesame-7291"
STOWED_BY_0_1_0 = "540d98bde5eb551d7f1eb3608137298aad906ad99c119144703451ef8ac4e786"


@contextlib.contextmanager
def opened(store: Path | str, endpoint: str = "", **flags: str) -> Iterator[Runtime]:
    """A runtime that can reach no upstream but those that are given."""
    given = dict.fromkeys(("docs_rs_url", "crates_index_url"), "http://127.0.0.1:1")
    given |= {"store": str(store), "s3_endpoint": endpoint, "retries": "0", **flags}
    with (
        tempfile.TemporaryDirectory() as cache,
        contextlib.closing(Runtime(load({"cache": cache, **given}, {}))) as runtime,
    ):
        yield runtime


def export_of(runtime: Runtime, *, history: bool = False) -> BundleExport:
    return BundleExport(
        runtime.store, runtime.snapshots, runtime.registry, runtime.resolver, history=history
    )


def export(runtime: Runtime, path: Path, *words: str, history: bool = False) -> str:
    """Write the named sources, or all; the digest of the list."""
    bundles = export_of(runtime, history=history)
    entries = [bundles.find(word) for word in words] if words else bundles.list_all()
    return bundles.write(entries, path, force=True).sha256


def bring_in(
    runtime: Runtime, path: Path, *, sha256: str = "", force: bool = False, limit: int = 1 << 31
) -> list[Imported]:
    def sync(collection: str) -> str:
        job = runtime.sync.wait(runtime.sync.start(collection, "incremental").id, 60)
        return "" if job.snapshot_id else job.state

    bundles = BundleImport(
        runtime.store,
        runtime.snapshots,
        runtime.registry,
        lambda: runtime.catalog,
        sync,
        limit=limit,
        force=force,
    )
    return list(bundles.run(path, sha256=sha256))


def fill(root: Path) -> None:
    """One source of each kind, one of them with a secret, one with a history, one pinned."""
    with opened(root) as runtime:
        snapshot = runtime.rustdoc_files([SAMPLE]).ingest(SAMPLE)
        Pins(runtime.store).pin(snapshot.revision.source, PRE_INGESTED)
        runtime.collections.push("notes", "# Ebb\n\nLow water is at six.\n", uri="note:1")
        runtime.collections.push("notes", "# Flood\n\nHigh water is at noon.\n", uri="note:2")
    prose = ProseStore(root.parent / "prose")
    for text in ("first", "second", "third"):
        prose.stow(
            "https://tides.test/", [page("https://tides.test/a", f"# Tides\n\n{text}")], kind="site"
        )
    prose.registry.create(
        "site", "https://tides.test/", title="Tides", headers={"Authorization": SECRET}
    )
    prose.stow(
        str(root.parent / "docs"), [page("a.md", "# Moorings\n\nTie up here.")], kind="folder"
    )
    for kind in ("blobs", "snapshots", "heads", "sources"):
        shutil.copytree(root.parent / "prose/store" / kind, root / kind, dirs_exist_ok=True)


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("filled") / "store"
    with opened(root) as runtime:
        runtime.collections.create("notes")
    fill(root)
    return root


@pytest.fixture(scope="module")
def whole(filled: Path) -> Path:
    """A bundle of all of it."""
    path = filled.parent / "all.bundle"
    with opened(filled) as runtime:
        export(runtime, path)
    return path


def objects(runtime: Runtime) -> dict[str, bytes]:
    """Everything in a store that is neither derived nor remembers when things happened."""
    passing = ("jobs/", "logs/", "leases/", "catalog/", "sources/", "touched/")
    keys = [each.key for each in runtime.store.list("") if not each.key.startswith(passing)]
    found = {key: runtime.store.get(key) for key in keys}
    return {key: stored.body for key, stored in found.items() if stored is not None}


def asked(runtime: Runtime) -> list[Any]:
    """What users see of what is stowed."""
    search = runtime.toolbox.call("search_items", {"query": "put pieces into the hold", "k": 3})
    docs = runtime.toolbox.call("search_docs", {"query": "high water", "top_k": 5})
    item = runtime.toolbox.call("get_item_doc", {"item_path": "stowage::Hold"})
    return [
        [each["item_path"] for each in (search.structured or {})["results"]],
        [(each["title"], each["source"]) for each in (docs.structured or {})["results"]],
        re.sub(r"snapshot \w+", "", item.render()),  # another store may give another id
        [(each.kind, each.uri, each.title, dict(each.options)) for each in runtime.registry.all()],
        dict(Pins(runtime.store).pinned()),
    ]


def test_there_and_back_by_way_of_a_bucket(
    filled: Path, whole: Path, bucket: Bucket, tmp_path: Path
) -> None:
    with opened(filled) as runtime:
        expected = asked(runtime)
    with opened(bucket.at(tmp_path.name), bucket.endpoint) as there:
        done = bring_in(there, whole)
        assert [each.skipped for each in done] == [""] * 4
        assert asked(there) == expected
        export(there, tmp_path / "again.bundle")
    with opened(tmp_path / "back") as back:
        bring_in(back, tmp_path / "again.bundle")
        assert asked(back) == expected
        export(back, tmp_path / "back.bundle")
    notes = [each.notes for each in done if each.notes]
    assert notes == [("its headers are secret and stayed behind: give them again with --header",)]
    # All but the mark that there were headers, which the other stores never had, is the same.
    lists = [listed(path) for path in (whole, tmp_path / "back.bundle")]
    for source in lists[0]["sources"]:
        if source["registered"]:
            source["registered"]["had_headers"] = False
    assert lists[0] == lists[1]


def listed(path: Path) -> dict[str, Any]:
    with archive.open_archive(path) as reader:
        found: dict[str, Any] = json.loads(reader.first(MANIFEST))
        return found


def test_the_same_content_is_the_same_file(filled: Path, whole: Path, tmp_path: Path) -> None:
    with opened(filled) as runtime:
        export(runtime, tmp_path / "again.bundle")
    assert (tmp_path / "again.bundle").read_bytes() == whole.read_bytes()


def test_other_tools_open_it(whole: Path) -> None:
    plain = unpacked(whole)
    with tarfile.open(fileobj=io.BytesIO(plain)) as tar:
        names = tar.getnames()
        assert names[0] == "manifest.json"
        assert names[1:] == sorted(names[1:])
        assert {name.split("/")[0] for name in names[1:]} == {"blobs", "pushed", "snapshots"}


def test_no_secret_leaves_the_store(filled: Path, whole: Path) -> None:
    secret = SECRET.encode()
    assert any(secret in path.read_bytes() for path in filled.rglob("*.json"))
    assert secret not in unpacked(whole)
    assert b"Authorization" not in unpacked(whole)


def test_an_import_is_repeated_without_harm(whole: Path, tmp_path: Path) -> None:
    with opened(tmp_path / "store") as runtime:
        bring_in(runtime, whole)
        before = objects(runtime)
        assert [each.skipped for each in bring_in(runtime, whole)] == [""] * 4
        assert objects(runtime) == before


def test_the_kept_snapshots_come_along_if_they_are_wanted(filled: Path, tmp_path: Path) -> None:
    with opened(filled) as runtime:
        export(runtime, tmp_path / "b", "Tides", history=True)
        head = runtime.snapshots.head(Source("site", source_id("site", "https://tides.test/")))
        assert head is not None
    with opened(tmp_path / "store") as runtime:
        bring_in(runtime, tmp_path / "b")
        copy = runtime.snapshots.head(head.source)
        assert copy is not None
        assert copy.named == head.named
        assert len(head.named) == 3


def test_what_is_newer_in_the_store_stays(tmp_path: Path) -> None:
    store = ProseStore(tmp_path)
    first = store.stow("notes", [page("n", "# One\n\nold")])[1]
    with opened(tmp_path / "store") as runtime:
        export(runtime, tmp_path / "notes", "notes")
    second = store.stow("notes", [page("n", "# Two\n\nnew")])[1]
    with opened(tmp_path / "store") as runtime:
        skipped = bring_in(runtime, tmp_path / "notes")
        assert "--force" in skipped[0].skipped
        assert runtime.prose.snapshots("notes")[0].id == second.id
        assert bring_in(runtime, tmp_path / "notes", force=True)[0].skipped == ""
        assert runtime.prose.snapshots("notes")[0].id == first.id


def test_a_store_that_was_swept_gives_and_takes(filled: Path, whole: Path, tmp_path: Path) -> None:
    """Where a head's epoch was raised, the same content has another id and other blobs."""
    with opened(tmp_path / "swept") as runtime:
        bring_in(runtime, whole)
        before = asked(runtime)
        heads = Heads(runtime.store, freshness_s=0, clock=time.monotonic)
        for source in (each.source for each in export_of(runtime).list_all()):
            heads.change(source, lambda head: end_epoch(point_to(unwrap(head), "", 1)))
        assert bring_in(runtime, whole)[0].skipped == ""
        assert asked(runtime) == before
        found = [
            unwrap(runtime.snapshots.head(each.source, fresh=True))
            for each in export_of(runtime).list_all()
        ]
        assert [head.epoch for head in found] == [1] * 4
        export(runtime, tmp_path / "again")
    with opened(tmp_path / "last") as runtime:
        bring_in(runtime, tmp_path / "again")
        assert asked(runtime) == before
    assert [each["snapshot"] for each in listed(tmp_path / "again")["sources"]] == [
        each["snapshot"] for each in listed(whole)["sources"]
    ]


def unwrap(head: Head | None) -> Head:
    assert head is not None
    return head


def test_a_crate_of_an_upstream_answers_where_there_is_none(tmp_path: Path) -> None:
    place = tmp_path / "crates" / "stowage" / "0.1.0"
    place.mkdir(parents=True)
    shutil.copy(SAMPLE, place / "rustdoc.json.zst")
    source = Source(CRATE, "stowage", "0.1.0")
    with DocsRs(tmp_path / "crates") as upstream:
        flags = {"docs_rs_url": upstream.url, "crates_index_url": upstream.index_url}
        with opened(tmp_path / "store", **flags) as runtime:
            runtime.crates.ingest("stowage")
            runtime.registry.create(CRATE, "stowage@0.1.0", title="Cargo")
    with opened(tmp_path / "store") as runtime:
        for word in ("stowage", "Cargo", "stowage@0.1.0"):
            export(runtime, tmp_path / word, word)
            assert (tmp_path / word).read_bytes() == (tmp_path / "stowage").read_bytes()
    with opened(tmp_path / "gap") as runtime:
        bring_in(runtime, tmp_path / "stowage")
        question = {"crate": "stowage", "query": "put pieces into the hold"}
        found = runtime.toolbox.call("search_items", question).structured or {}
        assert found["results"][0]["item_path"] == "stowage::Hold::stow"
        assert [each.title for each in runtime.registry.all()] == ["Cargo"]
        assert dict(Pins(runtime.store).pinned()) == {source: REGISTERED}
        assert [each.source for each in runtime.catalog.card_set().entries()] == [source]


def test_texts_of_two_stores_are_joined(filled: Path, tmp_path: Path) -> None:
    with opened(filled) as runtime:
        export(runtime, tmp_path / "b", "notes")
    with opened(tmp_path / "older") as runtime:
        # What was pushed before, and never synced: nothing answers, so that the bundle's may.
        collection, _ = runtime.collections.create("notes")
        for uri, title in (("note:1", "Spring"), ("note:9", "Surge")):
            body = pushed.encode(pushed.Text(uri, f"# {title}\n\nTide.", "", uri))
            runtime.store.create(pushed.key(collection.id, uri), body)
        assert bring_in(runtime, tmp_path / "b")[0].notes == ("texts joined",)
        assert titles(runtime) == ["Flood", "Spring", "Surge"]
    with opened(tmp_path / "store") as runtime:
        bring_in(runtime, tmp_path / "b")
        assert titles(runtime) == ["Ebb", "Flood"]
        # A text of this store's own, and another one in the place of the bundle's.
        runtime.collections.push("notes", "# Slack\n\nIt turns.\n", uri="note:3")
        runtime.collections.push("notes", "# Neap\n\nHalf moon.\n", uri="note:1")
        assert "--force" in bring_in(runtime, tmp_path / "b")[0].skipped
        assert titles(runtime) == ["Flood", "Neap", "Slack"]
        assert bring_in(runtime, tmp_path / "b", force=True)[0].notes == ("texts joined",)
        assert titles(runtime) == ["Ebb", "Flood", "Slack"]


def titles(runtime: Runtime) -> list[str]:
    snapshot = runtime.prose.snapshots("notes")[0]
    return sorted(each.title for each in runtime.prose.index(snapshot).documents())


def test_sources_go_by_the_words_that_people_use(filled: Path, tmp_path: Path) -> None:
    with opened(filled) as runtime:
        bundles = export_of(runtime)
        site = source_id("site", "https://tides.test/")
        for word in ("Tides", "tides", "https://tides.test", site, site[:10]):
            assert bundles.find(word).source == Source("site", site)
        for word in ("stowage", "stowage@0.1.0", "stowage@^0.1"):
            assert bundles.find(word).source == Source(LOCAL, "stowage", "0.1.0")
        with pytest.raises(CrateNotFound, match=r"stowed: 0\.1\.0"):
            bundles.find("stowage@^2")
        with pytest.raises(SourceNotFound) as miss:
            bundles.find("stowags")
        assert miss.value.suggestions[0]["name"] == "stowage"
        with pytest.raises(SourceNotFound):
            bundles.find("https://elsewhere.test/")


def test_a_file_that_is_there_is_spared(filled: Path, tmp_path: Path) -> None:
    (tmp_path / "b").write_text("mine")
    with opened(filled) as runtime:
        bundles = export_of(runtime)
        entries = [bundles.find("stowage")]
        with pytest.raises(InvalidParameter, match="--force"):
            bundles.write(entries, tmp_path / "b")
    assert (tmp_path / "b").read_text() == "mine"


# What may have happened to a file.


def unpacked(path: Path) -> bytes:
    return (
        zstandard.ZstdDecompressor()
        .stream_reader(path.read_bytes(), read_across_frames=True)
        .read()
    )


def sealed(plain: bytes) -> bytes:
    """A file as someone with ill intent would make it: its end fits."""
    packed = zstandard.ZstdCompressor().compress(plain)
    mark = b"\x5d\x2a\x4d\x18\x20\x00\x00\x00"
    return packed + mark + hashlib.sha256(packed).digest()


@pytest.fixture(scope="module")
def small(filled: Path) -> tuple[Path, str]:
    """A bundle of one collection, and the digest of its list."""
    path = filled.parent / "small.bundle"
    with opened(filled) as runtime:
        return path, export(runtime, path, "notes")


def refused(body: bytes, folder: Path, sha256: str = "", **how: Any) -> DocstowError:
    """The error, after it is sure that nothing was stored."""
    (folder / "bad.bundle").write_bytes(body)
    with opened(folder / "empty") as runtime:
        with pytest.raises((UnreadableInput, TooLarge)) as error:
            bring_in(runtime, folder / "bad.bundle", sha256=sha256, **how)
        assert objects(runtime) == {}
        assert runtime.registry.all() == []
    return error.value


@settings(
    max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(data=st.data())
def test_any_changed_byte_is_noticed(
    small: tuple[Path, str], tmp_path: Path, data: st.DataObject
) -> None:
    body = bytearray(small[0].read_bytes())
    place = data.draw(st.integers(0, len(body) - 1))
    body[place] ^= data.draw(st.integers(1, 255))
    refused(bytes(body), tmp_path)


@settings(
    max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(data=st.data())
def test_any_changed_byte_of_what_is_packed_is_noticed_by_who_knows_the_digest(
    small: tuple[Path, str], tmp_path: Path, data: st.DataObject
) -> None:
    plain = bytearray(unpacked(small[0]))
    place = data.draw(st.integers(0, len(plain) - 1))
    plain[place] ^= data.draw(st.integers(1, 255))
    refused(sealed(bytes(plain)), tmp_path, small[1])


@settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(data=st.data())
def test_an_early_end_is_noticed(
    small: tuple[Path, str], tmp_path: Path, data: st.DataObject
) -> None:
    body = small[0].read_bytes()
    refused(body[: data.draw(st.integers(0, len(body) - 1))], tmp_path)
    plain = unpacked(small[0])
    refused(sealed(plain[: data.draw(st.integers(0, len(plain) - 1))]), tmp_path)


Files = list[tuple[tarfile.TarInfo, bytes]]


def files_of(path: Path) -> Files:
    with tarfile.open(fileobj=io.BytesIO(unpacked(path))) as tar:
        return [(each, tar.extractfile(each).read()) for each in tar.getmembers()]  # type: ignore[union-attr]


def tar_of(files: Files) -> bytes:
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w", format=tarfile.USTAR_FORMAT) as tar:
        for info, body in files:
            if info.isreg():
                info.size = len(body)
            tar.addfile(info, io.BytesIO(body))
    return packed.getvalue()


def info(name: str, kind: bytes = tarfile.REGTYPE, link: str = "") -> tarfile.TarInfo:
    made = tarfile.TarInfo(name)
    made.type, made.linkname = kind, link
    return made


Change = Callable[[Files], object]


def put(name: str, body: bytes = b"x", kind: bytes = tarfile.REGTYPE, link: str = "") -> Change:
    """One more file, that no list names."""
    return lambda files: files.append((info(name, kind, link), body))


def swap(first: int, second: int) -> Change:
    def change(files: Files) -> None:
        files[first], files[second] = files[second], files[first]

    return change


def relist(change: Callable[[dict[str, Any]], object]) -> Change:
    """Another list of files, to which nothing else is fitted."""

    def changed(files: Files) -> None:
        fields = json.loads(files[0][1])
        change(fields)
        files[0] = (files[0][0], json.dumps(fields, indent=1, ensure_ascii=False).encode())

    return changed


def rename(name: str) -> Change:
    """A file of another name, of which the list knows."""

    def change(files: Files) -> None:
        files[-1][0].name = name
        relist(lambda fields: fields["files"][-1].update(name=name))(files)

    return change


def rewrite(kind: str, old: bytes, new: bytes) -> Change:
    """Other bytes in the first file of a kind, to which the list is fitted."""

    def change(files: Files) -> None:
        row = next(row for row, (each, _) in enumerate(files) if each.name.startswith(kind))
        body = files[row][1].replace(old, new)
        assert body != files[row][1]
        files[row] = (files[row][0], body)
        sha256 = hashlib.sha256(body).hexdigest()
        relist(lambda fields: fields["files"][row - 1].update(size=len(body), sha256=sha256))(files)

    return change


def entry(**fields: Any) -> Change:
    return relist(lambda all_fields: all_fields["sources"][0].update(fields))


def registered(**fields: Any) -> Change:
    return relist(lambda all_fields: all_fields["sources"][0]["registered"].update(fields))


def file(**fields: Any) -> Change:
    return relist(lambda all_fields: all_fields["files"][0].update(fields))


def extra_source(fields: dict[str, Any]) -> None:
    fields["sources"].append({**fields["sources"][0]})


HOSTILE: dict[str, Change] = {
    "a file more": put("blobs/" + "0" * 64 + ".parquet"),
    "a path that climbs": put("../../evil"),
    "an absolute path": put("/etc/evil"),
    "a symbolic link": put("blobs/link", b"", tarfile.SYMTYPE, "/etc/passwd"),
    "a hard link": put("blobs/link", b"", tarfile.LNKTYPE, "manifest.json"),
    "a device": put("blobs/device", b"", tarfile.CHRTYPE),
    "a folder": put("blobs", b"", tarfile.DIRTYPE),
    "a file twice": lambda files: files.append(files[-1]),
    "a second list": lambda files: files.append(files[0]),
    "a file fewer": lambda files: files.pop(),
    "the list alone": lambda files: files.__delitem__(slice(1, None)),
    "no list": lambda files: files.pop(0),
    "the list is not first": swap(0, 1),
    "files in another order": swap(1, 2),
    "nothing at all": lambda files: files.clear(),
    "an owner": lambda files: setattr(files[1][0], "uname", "root"),
    "a mode": lambda files: setattr(files[1][0], "mode", 0o777),
    "a day": lambda files: setattr(files[1][0], "mtime", 1),
    "a link in a file's place": lambda files: setattr(files[1][0], "type", tarfile.SYMTYPE),
    "a listed path that climbs": rename("../../evil"),
    "a listed absolute path": rename("/etc/evil"),
    "a listed head": rename("heads/crate/tokio/1.0.0.json"),
    "a listed registration": rename(f"sources/{'0' * 64}.json"),
    "a text of another collection": rename(f"pushed/{'0' * 64}/{'0' * 16}.json"),
    "a claim of too much": file(size=1 << 40),
    "a claim of less": file(size=1),
    "a claim of less than nothing": file(size=-1),
    "a size that is none": file(size=True),
    "a digest that is none": file(sha256="x"),
    "another digest": file(sha256="0" * 64),
    "another schema": relist(lambda fields: fields.update(schema=99)),
    "another format": relist(lambda fields: fields.update(format="tar")),
    "no sources": relist(lambda fields: fields.update(sources=[])),
    "a source twice": relist(extra_source),
    "a list that is no object": lambda files: files.__setitem__(0, (files[0][0], b"[]")),
    "a list that is no JSON": lambda files: files.__setitem__(0, (files[0][0], b"\xff")),
    "a list too deep": lambda files: files.__setitem__(0, (files[0][0], b"[" * 100_000)),
    "headers": registered(headers={"Cookie": "x"}),
    "an option that no kind has": registered(options={"evil": 1}),
    "a title that moves the cursor": registered(title="\x1b[2J"),
    "an address of another source": registered(uri="elsewhere"),
    "no registration": entry(registered=None),
    "a kind that is none": entry(source={"kind": "x", "name": "y", "version": "", "target": ""}),
    "a source of another kind": entry(
        source={"kind": CRATE, "name": "tokio", "version": "1.0.0", "target": ""}
    ),
    "a name too long for any store": entry(
        source={"kind": LOCAL, "name": "x" * 1000, "version": "", "target": ""}, registered=None
    ),
    "a name that moves the cursor": entry(
        source={"kind": LOCAL, "name": "\x1b[2J", "version": "", "target": ""}, registered=None
    ),
    "a snapshot that is not there": entry(snapshot="0" * 64),
    "an id that climbs": entry(snapshot="../x"),
    "a time without a zone": entry(checked_at="2026-01-01T00:00:00"),
    "a record of another source": rewrite("snapshots", b'"collection"', b'"site"'),
    "a record of another table": rewrite("snapshots", b'"blob": "', b'"blob": "0'),
    "a record with a place": rewrite("snapshots", b'"schema": 1', b'"place": "x", "schema": 2'),
    "a record that is none": rewrite("snapshots", b"{", b"["),
    "a text of another key": rewrite("pushed", b"note:", b"mote:"),
    "a text that is none": rewrite("pushed", b"{", b"["),
}


@pytest.mark.parametrize("change", HOSTILE.values(), ids=HOSTILE.keys())
def test_what_no_export_wrote_is_refused(
    small: tuple[Path, str], tmp_path: Path, change: Change
) -> None:
    files = files_of(small[0])
    change(files)
    refused(sealed(tar_of(files)), tmp_path)


def test_a_tar_like_ours_is_taken(small: tuple[Path, str], tmp_path: Path) -> None:
    (tmp_path / "ours").write_bytes(sealed(tar_of(files_of(small[0]))))
    with opened(tmp_path / "store") as runtime:
        assert bring_in(runtime, tmp_path / "ours", sha256=small[1])[0].skipped == ""


def test_what_is_no_bundle_is_refused(small: tuple[Path, str], tmp_path: Path) -> None:
    body = small[0].read_bytes()
    for bad in (b"", b"x" * 10_000, b"\0" * 40, body + b"\0", body + body, body[1:]):
        refused(bad, tmp_path)
    bomb = info("manifest.json")
    bomb.size = 1 << 32
    refused(sealed(bomb.tobuf(tarfile.USTAR_FORMAT) + bytes(1 << 20)), tmp_path)
    refused(sealed(unpacked(small[0]) + bytes(10240)), tmp_path)
    assert isinstance(refused(body, tmp_path, limit=1000), TooLarge)
    assert "not the bundle that was asked for" in str(refused(body, tmp_path, "0" * 64))
    with opened(tmp_path / "empty") as runtime:
        with pytest.raises(InvalidParameter, match="64"):
            bring_in(runtime, small[0], sha256="abc")
        with pytest.raises(UnreadableInput, match="cannot be read"):
            bring_in(runtime, tmp_path / "absent")


# Killed.

PROGRAM = """
import os, signal, sys
from pathlib import Path
from docstow import cli
from docstow.store.objects import DirectoryStore

place, number = sys.argv[1], int(sys.argv[2])
count = 0

def doomed(write):
    def written(*arguments):
        global count
        count += 1
        if count == number:
            os.kill(os.getpid(), getattr(signal, "SIGKILL", signal.SIGTERM))
        return write(*arguments)
    return written

DirectoryStore.create = doomed(DirectoryStore.create)
DirectoryStore.swap = doomed(DirectoryStore.swap)
assert cli.main(["import-bundle", place]) == 0
print(count)
"""


def import_in_child(path: Path, store: Path, number: int = 0) -> subprocess.CompletedProcess[str]:
    places = {"DOCSTOW_STORE": str(store), "DOCSTOW_CACHE": f"{store}-cache"}
    return subprocess.run(
        [sys.executable, "-c", PROGRAM, str(path), str(number)],
        capture_output=True,
        text=True,
        timeout=60,
        env={**os.environ, **places, "PYTHONPATH": os.pathsep.join(sys.path)},
    )


@pytest.mark.slow
def test_an_import_that_is_killed_is_finished_by_the_next(filled: Path, tmp_path: Path) -> None:
    path = tmp_path / "b"
    with opened(filled) as runtime:
        export(runtime, path, "stowage", "notes")
    first = import_in_child(path, tmp_path / "whole")
    assert first.returncode == 0, first.stderr
    writes = int(first.stdout.split()[-1])
    sources = [Source(LOCAL, "stowage", "0.1.0")]
    sources.append(Source("collection", source_id("collection", "notes")))
    assert writes > 20
    with opened(tmp_path / "whole") as runtime:
        expected = objects(runtime)
    for number in range(1, writes + 1, 3):
        store = tmp_path / f"killed-{number}"
        killed = import_in_child(path, store, number)
        assert killed.returncode not in (0, 1), killed.stderr
        with opened(store) as runtime:
            for source in sources:
                head = runtime.snapshots.head(source)
                if head is not None and head.snapshot_id:
                    snapshot = runtime.snapshots.stored(head.source, head.snapshot_id)
                    assert snapshot is not None
                    assert set(runtime.snapshots.fetch(snapshot)) == set(snapshot.tables)
            bring_in(runtime, path)
            assert objects(runtime) == expected
            cards = list(runtime.catalog.card_set().entries())
            assert sorted(each.source.key for each in cards) == sorted(e.key for e in sources)


# Older stores, and the command line.


@pytest.fixture
def old_store(tmp_path: Path) -> Path:
    """What release 0.1.0 stowed of the sample crate, at the commit 43f2687."""
    packed = (STORES / "0.1.0.tar.zst").read_bytes()
    plain = zstandard.ZstdDecompressor().stream_reader(packed).read()
    with tarfile.open(fileobj=io.BytesIO(plain)) as tar:
        tar.extractall(tmp_path / "old", filter="data")
    return tmp_path / "old"


def test_a_store_of_the_first_release_answers(old_store: Path, tmp_path: Path) -> None:
    found = (path for path in old_store.rglob("*") if path.is_file())
    kept = (path for path in found if path.parent.name in ("blobs", "snapshots"))
    before = {path: path.read_bytes() for path in kept}
    with opened(old_store) as runtime:
        runtime.ingest_sample()
        export(runtime, tmp_path / "b", "stowage")
        first = runtime.toolbox.call("search_items", {"crate": "stowage", "query": "stow pieces"})
        assert (first.structured or {})["snapshot"] == STOWED_BY_0_1_0
        everywhere = runtime.toolbox.call("search_items", {"query": "put pieces into the hold"})
        assert (everywhere.structured or {})["results"][0]["item_path"] == "stowage::Hold::stow"
        page = runtime.toolbox.call("get_item_doc", {"item_path": "stowage::Hold"})
        assert page.render().startswith("# struct `stowage::Hold`")
        for tool in ("get_module_tree", "get_crate_summary", "list_versions"):
            assert runtime.toolbox.call(tool, {"crate": "stowage"}).structured or {}
    # Of another layout, it is made again beside what is there, which stays as it was.
    assert {path: path.read_bytes() for path in before} == before
    with opened(tmp_path / "new") as runtime:
        assert bring_in(runtime, tmp_path / "b")[0].entry.snapshot == STOWED_BY_0_1_0
        again = runtime.toolbox.call("search_items", {"crate": "stowage", "query": "stow pieces"})
        assert (again.structured or {})["results"] == (first.structured or {})["results"]


@pytest.mark.slow
def test_the_command_line(filled: Path, tmp_path: Path) -> None:
    def run(store: Path, *words: str) -> subprocess.CompletedProcess[str]:
        places = {"DOCSTOW_STORE": str(store), "DOCSTOW_CACHE": f"{store}-cache"}
        command = [sys.executable, "-m", "docstow", *words]
        return subprocess.run(
            command, env={**os.environ, **places}, capture_output=True, text=True, timeout=60
        )

    path = str(tmp_path / "b")
    done = run(filled, "export-bundle", "stowage@0.1.0", "Tides", path)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert [line.split(":")[0] for line in lines[:2]] == ["local/stowage/0.1.0", "site Tides"]
    words = lines[-1].split()
    assert words[:2] == ["docstow", "import-bundle"]
    done = run(tmp_path / "store", *words[1:])
    assert done.returncode == 0, done.stderr
    assert "give them again" in done.stdout
    assert run(filled, "export-bundle", path).returncode == 1
    assert run(filled, "export-bundle", "--all", "stowage", path).returncode == 1
    assert "--force" in run(filled, "export-bundle", "--all", path).stderr
