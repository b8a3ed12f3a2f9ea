"""Crates are stowed ahead, beside the questions that are answered meanwhile."""

from __future__ import annotations

import contextlib
import shutil
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from docstow.core.errors import ConfigurationError, CrateNotFound, InvalidParameter
from docstow.core.model import Source
from docstow.core.settings import load
from docstow.ingest.preload import POPULAR, PackagePreload, popular, select_packages
from docstow.languages import parse_package
from docstow.runtime import SAMPLE, Runtime
from docstow.store.usage import PRE_INGESTED, Pins
from servers import loopback
from servers.docs_rs import DocsRs
from servers.web import serve

#: How long anything may take that should happen; it is waited for by events.
SOON_S = 60


@pytest.fixture
def upstream(tmp_path: Path) -> Iterator[DocsRs]:
    for name in ("one", "two", "three", "four"):
        place = tmp_path / "crates" / name / "0.1.0"
        place.mkdir(parents=True)
        shutil.copy(SAMPLE, place / "rustdoc.json.zst")
    with DocsRs(tmp_path / "crates") as server:
        yield server


@pytest.fixture
def runtime(tmp_path: Path, upstream: DocsRs) -> Iterator[Runtime]:
    flags: dict[str, Any] = {
        "store": str(tmp_path / "store"),
        "cache": str(tmp_path / "cache"),
        "docs_rs_url": upstream.url,
        "crates_index_url": upstream.index_url,
        "upstream_interval_s": 0,
        "retries": 0,
        "wait_s": SOON_S,
    }
    with contextlib.closing(Runtime(load(flags, {}))) as made:
        yield made


def finished(at_work: PackagePreload) -> dict[str, Any]:
    """The progress once no thread is at work any more."""
    for thread in at_work.threads:
        thread.join(SOON_S)
        assert not thread.is_alive()
    return at_work.progress()


def test_all_are_stowed_and_pinned_and_a_failure_stops_nothing(
    runtime: Runtime, upstream: DocsRs
) -> None:
    runtime.crates.ingest("two")
    before = len(upstream.paths("/crate/two/"))
    done = finished(
        runtime.preload_packages(["one", "no-such-crate", "two", "three@^0.1", "four@9"])
    )
    assert done == {
        "total": 5,
        "done": 3,
        "failed": {"no-such-crate": "crate_not_found", "four@9": "crate_not_found"},
        "running": [],
    }
    assert len(upstream.paths("/crate/two/")) == before
    assert Pins(runtime.store).pinned() == {
        Source("crate", name, "0.1.0"): PRE_INGESTED for name in ("one", "three", "two")
    }
    assert runtime.health()["pre_ingest"] == done


def test_questions_are_answered_and_health_tells_while_it_is_at_work(
    runtime: Runtime, upstream: DocsRs
) -> None:
    arrived, released = threading.Semaphore(0), threading.Event()

    def hold(handler: loopback.Handler) -> None:
        arrived.release()
        released.wait(SOON_S)
        handler.server.loopback.answer(handler)

    for name in ("one", "two", "three"):
        upstream.plan(f"/crate/{name}/", hold)
    with serve(runtime.app) as url:
        assert "pre_ingest" not in httpx.get(f"{url}/health").json()
        at_work = runtime.preload_packages(["one", "two", "three", "one@0.1.0"])
        for _ in range(3):
            assert arrived.acquire(timeout=SOON_S)
        progress = httpx.get(f"{url}/health").json()["pre_ingest"]
        answer = httpx.post(
            f"{url}/mcp/tools/get_crate_summary", json={"crate": "four"}, timeout=SOON_S
        )
        released.set()
        end = finished(at_work)
    assert sorted(progress.pop("running")) == ["one", "three", "two"]
    assert progress == {"total": 4, "done": 0, "failed": {}}
    assert answer.json()["answered"] == "0.1.0"
    assert end == {"total": 4, "done": 4, "failed": {}, "running": []}


def test_it_stops_promptly_while_an_upstream_keeps_it_waiting(
    runtime: Runtime, upstream: DocsRs
) -> None:
    arrived, released, ended = threading.Event(), threading.Event(), threading.Event()

    def hold(handler: loopback.Handler) -> None:
        arrived.set()
        released.wait(SOON_S)
        ended.set()
        handler.close_connection = True

    upstream.always("/crate/one/", hold)
    at_work = runtime.preload_packages(["one", "one@0.1.0", "one@^0.1", "one@=0.1.0", "two"])
    assert arrived.wait(SOON_S)
    at_work.stop(grace_s=0.1)
    assert not ended.is_set()
    released.set()
    assert finished(at_work)["done"] == 0
    assert upstream.paths("/crate/two/") == []


def test_no_more_than_its_workers_are_at_work() -> None:
    lock, running, most = threading.Lock(), 0, 0
    together = threading.Barrier(3)

    def stow(name: str) -> None:
        nonlocal running, most
        with lock:
            running += 1
            most = max(most, running)
        together.wait(SOON_S)
        with lock:
            running -= 1
        if name == "c4":
            raise CrateNotFound("none")
        if name == "c5":
            raise RuntimeError("unforeseen")

    at_work = PackagePreload([f"c{number}" for number in range(9)], stow, 3)
    at_work.start()
    assert finished(at_work) == {
        "total": 9,
        "done": 7,
        "failed": {"c4": "crate_not_found", "c5": "internal_error"},
        "running": [],
    }
    assert most == 3


@pytest.mark.parametrize(("language", "least"), [("rust", 200), ("python", 5000), ("npm", 5000)])
def test_the_lists_that_ship_name_each_package_once(language: str, least: int) -> None:
    known = parse_package(f"{language if language != 'rust' else 'crate'}:x").language
    assert known is not None
    names = popular(known)
    text = (POPULAR / f"{known.name}.txt").read_text("utf-8")
    lines = [line for line in text.splitlines() if line and line[0] != "#"]
    assert names == [line.partition("#")[0].strip() for line in lines]
    assert len(names) >= least


def test_packages_of_several_languages_are_chosen_the_most_used_first() -> None:
    assert select_packages(["3"]) == ["serde", "tokio", "serde_json"]
    assert select_packages(["0"]) == []
    assert select_packages(["python:2 npm:1", "rust:1", "npm:react@^19"]) == [
        "python:boto3",
        "typescript:semver",
        "serde",
        "npm:react@^19",
        "python:packaging",
    ]
    with pytest.raises(InvalidParameter, match="pre-ingest"):
        select_packages(["perl:50"])


def test_a_list_of_ones_own_has_comments_and_versions(tmp_path: Path) -> None:
    file = tmp_path / "mine.txt"
    file.write_text("# mine\n\n tokio@^1.40  # the old one\nserde\nserde\n", "utf-8")
    assert select_packages([str(file)]) == ["tokio@^1.40", "serde"]
    file.write_text("# none\n", "utf-8")
    with pytest.raises(ConfigurationError, match="names no crate"):
        select_packages([str(file)])
    file.write_bytes(b"\xff")
    with pytest.raises(ConfigurationError, match="UTF-8"):
        select_packages([str(file)])
    with pytest.raises(ConfigurationError, match="cannot be read"):
        select_packages([str(tmp_path / "absent")])
