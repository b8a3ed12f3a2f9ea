"""The main path on real rustdoc JSON: from a docs.rs to a tool's answer."""

from __future__ import annotations

import contextlib
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from docstow.core.errors import DocstowError
from docstow.core.settings import load
from docstow.runtime import Runtime
from servers.docs_rs import DocsRs


@pytest.fixture(scope="module")
def upstream(corpus: Path) -> Iterator[DocsRs]:
    with DocsRs(corpus) as server:
        yield server


@pytest.fixture(scope="module")
def runtime(upstream: DocsRs, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Runtime]:
    folder = tmp_path_factory.mktemp("store")
    flags = {
        "store": str(folder / "store"),
        "cache": str(folder / "cache"),
        "docs_rs_url": upstream.url,
        "crates_index_url": upstream.index_url,
        "upstream_interval_s": 0,
        "wait_s": 120,
    }
    with contextlib.closing(Runtime(load(flags, {}))) as made:
        yield made


def call(runtime: Runtime, tool: str, **arguments: Any) -> Any:
    answer = runtime.toolbox.call(tool, arguments)
    return json.loads(answer.render()) if answer.structured is not None else answer.text


def test_a_crate_is_stowed_on_demand_and_spawn_is_found(runtime: Runtime) -> None:
    answer = call(runtime, "search_items", crate="tokio", query="spawn task")
    assert (answer["asked"], answer["answered"]) == ("latest", "1.53.2")
    assert answer["substituted"] is False
    assert "tokio::spawn" in [result["item_path"] for result in answer["results"]]
    assert len(answer["results"]) == 4
    for result in answer["results"]:
        assert set(result) >= {"score", "item_path", "item_type", "header"}
        # A snippet that the docs shown with it have is not said twice.
        assert "text" in result or "snippet" in result


def test_an_items_page_is_markdown_with_a_whole_example(runtime: Runtime) -> None:
    page = call(runtime, "get_item_doc", item_path="tokio::spawn")
    assert page.startswith("# function `tokio::spawn`")
    assert "tokio 1.53.2 (asked: latest)" in page
    assert "pub fn spawn<F>(future: F) -> JoinHandle<F::Output>" in page
    blocks = re.findall(r"```(\w*)\n(.*?)```", page, re.DOTALL)
    assert any(language == "rust" and "async fn main()" in code for language, code in blocks)
    assert not any(line.startswith("# ") for _, code in blocks for line in code.splitlines())


def test_any_public_path_reaches_the_same_item(runtime: Runtime) -> None:
    pages = {
        call(runtime, "get_item_doc", crate="tokio", item_path=path)
        for path in ("tokio::spawn", "tokio::task::spawn", "spawn()", "Tokio::Spawn")
    }
    assert len(pages) == 1


def test_the_summary_names_the_resolved_version(runtime: Runtime) -> None:
    answer = call(runtime, "get_crate_summary", crate="tokio", version="1.43")
    assert (answer["asked"], answer["answered"]) == ("1.43", "1.53.2")
    exact = call(runtime, "get_crate_summary", crate="tokio", version="1.43.1")
    assert (exact["asked"], exact["answered"]) == ("1.43.1", "1.43.1")
    assert "tokio::sync" in [module["path"] for module in exact["results"]]
    assert exact["items"]["struct"] > 50


def test_versions_are_listed_newest_first(runtime: Runtime) -> None:
    answer = call(runtime, "list_versions", crate="tokio", requirement="~1.43")
    assert answer["answered"] == "1.43.1"
    assert [version["version"] for version in answer["results"]] == ["1.53.2", "1.43.1", "1.24.2"]


def test_a_lock_file_fixes_the_version(runtime: Runtime) -> None:
    lockfile = '[[package]]\nname = "tokio"\nversion = "1.43.1"\n'
    answer = call(runtime, "get_crate_summary", crate="tokio", lockfile=lockfile)
    assert answer["answered"] == "1.43.1"


def test_a_misspelt_path_gets_suggestions(runtime: Runtime) -> None:
    with pytest.raises(DocstowError) as caught:
        call(runtime, "get_item_doc", item_path="tokio::spwan")
    body = caught.value.body()
    assert body["error"] == "item_not_found"
    assert body["suggestions"][0] == {
        "item_path": "tokio::spawn",
        "score": pytest.approx(0.9, abs=0.1),
    }
