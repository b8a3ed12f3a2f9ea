"""Which version answers, when the upstream is asked, and that work is done once."""

from __future__ import annotations

import contextlib
import shutil
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from docstow.core.errors import CrateNotFound, Ingesting, InvalidParameter, UpstreamError
from docstow.core.settings import load
from docstow.runtime import SAMPLE, Runtime
from docstow.store.leases import Leases
from docstow.store.objects import open_store
from servers import loopback
from servers.docs_rs import DocsRs

JSON = "/crate/stowage/0.1.0/json"


@pytest.fixture
def upstream(tmp_path: Path) -> Iterator[DocsRs]:
    for version in ("0.1.0", "0.2.0-rc.1"):
        place = tmp_path / "crates" / "stowage" / version
        place.mkdir(parents=True)
        shutil.copy(SAMPLE, place / "rustdoc.json.zst")
    with DocsRs(tmp_path / "crates") as server:
        yield server


@contextlib.contextmanager
def library(folder: Path, upstream: DocsRs | None, **flags: Any) -> Iterator[Runtime]:
    nowhere = "http://127.0.0.1:1"
    defaults = {
        "store": str(folder / "store"),
        "cache": str(folder / "cache"),
        "docs_rs_url": upstream.url if upstream else nowhere,
        "crates_index_url": upstream.index_url if upstream else nowhere,
        "upstream_interval_s": 0,
        "retries": 0,
        "wait_s": 60,
    }
    with contextlib.closing(Runtime(load(defaults | flags, {}))) as runtime:
        yield runtime


def test_callers_that_come_at_once_fetch_once(tmp_path: Path, upstream: DocsRs) -> None:
    with library(tmp_path, upstream) as runtime, ThreadPoolExecutor(8) as pool:
        found = list(pool.map(runtime.library.crate, ["stowage"] * 8))
    assert len({stowed.snapshot.id for stowed in found}) == 1
    assert len(upstream.paths(JSON)) == 1


def test_what_is_stowed_is_not_fetched_again(tmp_path: Path, upstream: DocsRs) -> None:
    for _ in range(2):
        with library(tmp_path, upstream) as runtime:
            runtime.library.crate("stowage", "0.1")
            runtime.library.crate("stowage", "=0.1.0")
    assert len(upstream.paths(JSON)) == 1


def test_another_process_at_work_is_waited_for(tmp_path: Path, upstream: DocsRs) -> None:
    """A lease that somebody holds is waited out; his snapshot is taken, and nothing is fetched."""
    other = Leases(open_store(str(tmp_path / "store")), "somebody else")
    lease = other.acquire("crate/stowage/0.1.0", 3600)
    assert lease is not None
    with library(tmp_path, upstream, wait_s=0.05) as waiting:
        with pytest.raises(Ingesting):
            waiting.library.crate("stowage")
        with library(tmp_path, upstream) as holder:
            holder.crates.ingest("stowage")
        other.release(lease)
    with library(tmp_path, upstream) as later:
        assert later.library.crate("stowage").version == "0.1.0"
    assert len(upstream.paths(JSON)) == 1


def test_a_caller_who_gave_up_finds_it_stowed_later(tmp_path: Path, upstream: DocsRs) -> None:
    asked, go = threading.Event(), threading.Event()

    def hold(handler: loopback.Handler) -> None:
        asked.set()
        go.wait(30)
        handler.server.loopback.answer(handler)

    upstream.plan(JSON, hold)
    with library(tmp_path, upstream, wait_s=0.05) as runtime:
        with pytest.raises(Ingesting) as caught:
            runtime.library.crate("stowage")
        assert caught.value.details["retry_after_s"] > 0
        assert asked.wait(30)
        go.set()
    with library(tmp_path, None) as offline:
        found = offline.library.crate("stowage")
    assert (found.version, found.substituted) == ("0.1.0", True)
    assert "could not be asked" in found.notice


def test_without_the_index_nothing_stowed_is_an_error(tmp_path: Path) -> None:
    with library(tmp_path, None) as runtime, pytest.raises(UpstreamError):
        runtime.library.crate("stowage")


def test_a_file_answers_for_its_name_and_nobody_is_asked(tmp_path: Path, upstream: DocsRs) -> None:
    with library(tmp_path, upstream) as runtime:
        runtime.rustdoc_files([SAMPLE]).ingest(SAMPLE)
        for requirement in ("", "0.1", "0.1.0", ">=0.1, <0.2"):
            assert runtime.library.crate("stowage", requirement).version == "0.1.0"
        listing = runtime.library.versions("stowage")
    assert [row["version"] for row in listing.versions] == ["0.1.0"]
    assert upstream.requests == []


def test_a_version_that_no_file_holds_is_asked_for(tmp_path: Path, upstream: DocsRs) -> None:
    with library(tmp_path, upstream) as runtime:
        runtime.rustdoc_files([SAMPLE]).ingest(SAMPLE)
        found = runtime.library.crate("stowage", "=0.2.0-rc.1")
    assert found.snapshot.revision.source.kind == "crate"
    assert found.version == "0.2.0-rc.1"


def test_slips_in_a_name_are_forgiven(tmp_path: Path) -> None:
    place = tmp_path / "crates" / "stow-age" / "0.1.0"
    place.mkdir(parents=True)
    shutil.copy(SAMPLE, place / "rustdoc.json.zst")
    with DocsRs(tmp_path / "crates") as server, library(tmp_path, server) as runtime:
        assert runtime.library.crate("stow_age").name == "stow-age"
        with pytest.raises(CrateNotFound):
            runtime.library.crate("stow-ages")


def test_a_target_is_stowed_beside_the_default(tmp_path: Path, upstream: DocsRs) -> None:
    target = "x86_64-unknown-linux-gnu"
    with library(tmp_path, upstream) as runtime:
        first = runtime.crates.ingest("stowage")
        second = runtime.crates.ingest("stowage", target=target)
    assert first.revision.source.key == "crate/stowage/0.1.0"
    assert second.revision.source.key == f"crate/stowage/0.1.0@{target}"
    assert upstream.paths(f"/crate/stowage/0.1.0/{target}/json")


def test_each_call_may_name_its_target(tmp_path: Path, upstream: DocsRs) -> None:
    target = "x86_64-unknown-linux-gnu"
    asked: dict[str, dict[str, Any]] = {
        "get_crate_summary": {"crate": "stowage"},
        "search_items": {"crate": "stowage", "query": "hold", "limit": 1, "type_filter": ["fn"]},
        "get_item_doc": {"item_path": "stowage::Hold"},
        "search_examples": {"crate": "stowage", "query": "hold", "limit": "1"},
        "get_module_tree": {"crate": "stowage"},
        "find_implementations": {"crate": "stowage", "type": "Hold"},
        "diff_versions": {"crate": "stowage", "from_version": "0.1.0"},
        "export_snapshot": {"crate": "stowage", "format": "llms"},
    }
    several: dict[str, Any] = {"query": "hold", "crates": ["stowage"], "target": target}
    refused: list[tuple[str, dict[str, Any], str]] = [
        ("search_items", {"query": "hold", "target": target}, "named crates"),
        ("search_items", {**several, "language": "python"}, "is for crates"),
        ("get_crate_summary", {"crate": "stowage", "target": "a b"}, "must be a target"),
        ("get_crate_summary", {"crate": "a", "target": "x", "language": "python"}, "for crates"),
    ]
    with library(tmp_path, upstream) as runtime:
        toolbox = runtime.toolbox
        plain = {name: toolbox.call(name, given).render() for name, given in asked.items()}
        other = runtime.library.crate("stowage", target=target).snapshot
        for name, given in asked.items():
            text = toolbox.call(name, given | {"target": target}).render()
            assert other.id[:12] in text, name
            assert other.id[:12] not in plain[name], name
        (found,) = (toolbox.call("search_items", several).structured or {})["answered"]
        assert found["snapshot"] == other.id
        code = "use stowage::Hold;\nuse stowage::Hole;\n"
        checked = {"code": code, "language": "rust", "target": target}
        for versions in ({}, {"versions": {"stowage": "0.1.0"}}):
            answer = toolbox.call("verify_code", {**checked, **versions}).structured or {}
            assert [(each["name"], each["status"]) for each in answer["results"]] == [
                ("stowage::Hole", "unknown")
            ]
        # What is stowed for one target alone answers no other.
        nothing = toolbox.call("verify_code", {**checked, "target": "wasm32-wasip1"})
        assert (nothing.structured or {})["counts"] == {"not_checked": 2}
        for name, given, reason in refused:
            with pytest.raises(InvalidParameter, match=reason) as caught:
                toolbox.call(name, given)
            assert caught.value.details["field"] == "target"
        runtime.ingest_sample()
        from_file = toolbox.call("get_crate_summary", {"crate": "stowage", "target": target})
        assert other.id not in from_file.render()
        with pytest.raises(InvalidParameter, match=f"from a file, for {target}"):
            toolbox.call("get_crate_summary", {"crate": "stowage", "target": "wasm32-wasip1"})
    assert len(upstream.paths(f"/crate/stowage/0.1.0/{target}/json")) == 1
