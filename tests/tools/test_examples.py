"""Whole code blocks, found by words and by meaning; the module tree; what stands beside an item."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from docstow.core.model import LOCAL, Source
from docstow.core.settings import load
from docstow.index.loaded import Index
from docstow.runtime import Runtime
from docstow.text.chunking import code_blocks


@pytest.fixture(scope="module")
def runtime(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Runtime]:
    folder = tmp_path_factory.mktemp("examples")
    flags = {"store": str(folder / "store"), "cache": str(folder / "cache")}
    with contextlib.closing(Runtime(load(flags, {}))) as made:
        made.ingest_sample()
        yield made


def call(runtime: Runtime, tool: str, **arguments: Any) -> Any:
    return json.loads(runtime.toolbox.call(tool, {"crate": "stowage", **arguments}).render())


@pytest.fixture(scope="module")
def blocks(runtime: Runtime) -> set[str]:
    """Every code block of the sample, as its docs have them."""
    head = runtime.snapshots.head(Source(LOCAL, "stowage", "0.1.0"))
    assert head is not None
    snapshot = runtime.snapshots.load(head)
    assert snapshot is not None
    index = runtime.library.index(snapshot)
    texts = [index.document(row).text for row in range(len(index))]
    return {block.code for text in texts for block in code_blocks(text)}


@settings(max_examples=100, deadline=None)
@given(query=st.text(min_size=1, max_size=40).filter(str.strip), k=st.integers(1, 20))
def test_an_example_is_whole_and_the_list_is_bounded(
    runtime: Runtime, blocks: set[str], query: str, k: int
) -> None:
    results = call(runtime, "search_examples", query=query, k=k)["results"]
    assert len(results) <= k
    assert {result["code"] for result in results} <= blocks
    scores = [result["score"] for result in results]
    assert scores == sorted(scores, reverse=True)


@pytest.mark.parametrize(
    ("query", "path"),
    [
        ("Layout Csv starts_with", "stowage::manifest::write"),
        ("write the plan as csv", "stowage::manifest::write"),
    ],
)
def test_words_and_meaning_find_the_example(runtime: Runtime, query: str, path: str) -> None:
    results = call(runtime, "search_examples", query=query, k=3)["results"]
    assert path in [result["item_path"] for result in results]
    assert results[0]["language"] == "rust"


def test_a_language_that_is_not_there_is_said_to_be(runtime: Runtime) -> None:
    answer = call(runtime, "search_examples", query="hold", language=["cobol"])
    assert answer["results"] == []
    assert "rust" in answer["notice"]


def test_pages_of_examples_follow_each_other(runtime: Runtime) -> None:
    whole = call(runtime, "search_examples", query="hold", k=4)["results"]
    first = call(runtime, "search_examples", query="hold", k=2)
    second = call(runtime, "search_examples", query="hold", k=2, cursor=first["cursor"])
    assert first["results"] + second["results"] == whole


def test_the_tree_has_every_module_once_with_its_counts(runtime: Runtime) -> None:
    answer = call(runtime, "get_module_tree", depth=20)
    paths = [node["path"] for node in answer["results"]]
    assert paths == sorted(set(paths))
    assert answer["total"] == len(paths) == 6
    root = answer["results"][0]
    assert (root["path"], root["depth"], root["items"]["module"]) == ("stowage", 0, 5)
    part = call(runtime, "get_module_tree", module="stowage::balance")["results"]
    assert [node["path"] for node in part] == ["stowage::balance"]


def test_depth_cuts_the_tree(runtime: Runtime) -> None:
    levels = {node["depth"] for node in call(runtime, "get_module_tree", depth=1)["results"]}
    assert levels == {0, 1}


def test_something_that_is_no_module_is_refused(runtime: Runtime) -> None:
    body = runtime.toolbox.attempt(
        "get_module_tree", {"crate": "stowage", "module": "stowage::Hold"}, "id"
    )
    assert not hasattr(body, "structured")


def test_a_page_ends_with_what_stands_beside(runtime: Runtime) -> None:
    page = runtime.toolbox.call("get_item_doc", {"item_path": "stowage::Hold"}).text
    _, _, neighbours = page.partition("\n\n## See also\n\n")
    paths = [line.split("**")[1] for line in neighbours.strip().splitlines()]
    assert 1 <= len(paths) <= 6
    assert not any(path.startswith("stowage::Hold") or path == "stowage" for path in paths)


def test_links_repeat_nothing_that_the_page_has(runtime: Runtime) -> None:
    index = _index(runtime)
    links = 0
    for path in sorted(set(index.columns["path"])):
        page = runtime.toolbox.call("get_item_doc", {"item_path": path}).text
        for item in page.split("\n---\n\n"):
            body, _, tail = item.partition("\n## Links\n\n")
            listed, _, neighbours = tail.partition("\n\n## See also\n\n")
            for link in filter(None, listed.strip().splitlines()):
                links += 1
                name = link.removeprefix("- `").removesuffix("`")
                assert f"**{name}**" not in neighbours
                assert f"({name})" not in body
    assert links


def _index(runtime: Runtime) -> Index:
    head = runtime.snapshots.head(Source(LOCAL, "stowage", "0.1.0"))
    assert head is not None
    snapshot = runtime.snapshots.load(head)
    assert snapshot is not None
    return runtime.library.index(snapshot)


def test_a_module_owns_items_and_a_type_owns_members(runtime: Runtime) -> None:
    index = _index(runtime)
    owned = {row: index.members(row) for row in range(len(index))}
    kinds = index.columns["kind"]
    assert sorted(child for children in owned.values() for child in children) == [
        row for row in range(len(index)) if index.columns["parent"][row]
    ]
    for row, children in owned.items():
        inside = {kinds[child] for child in children}
        members = {"method", "field", "variant", "assoc_const", "assoc_type"}
        assert inside.isdisjoint(members) if kinds[row] == "module" else inside <= members
