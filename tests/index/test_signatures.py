"""search_items by signature, over the sample crate and over real ones."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from docstow.core.errors import InvalidParameter
from docstow.core.model import LOCAL, Source
from docstow.core.settings import load
from docstow.index.loaded import Index
from docstow.index.search import ItemFilters
from docstow.index.signatures.functions import read_query
from docstow.index.signatures.search import search_by_signature
from docstow.index.signatures.syntax import BadSignature
from docstow.runtime import Runtime

CRATES = ("serde_json", "itertools", "bytes")


@pytest.fixture(scope="module")
def runtime(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Runtime]:
    folder = tmp_path_factory.mktemp("signatures")
    nowhere = "http://127.0.0.1:1"
    flags = {
        "store": str(folder / "store"),
        "cache": str(folder / "cache"),
        "docs_rs_url": nowhere,
        "crates_index_url": nowhere,
    }
    with contextlib.closing(Runtime(load(flags, {}))) as made:
        made.ingest_sample()
        yield made


@pytest.fixture(scope="module")
def real(runtime: Runtime, corpus: Path) -> Mapping[str, Index]:
    """Crates of the corpus, stowed from their files."""
    return {name: _stowed(runtime, corpus / name) for name in CRATES}


def _stowed(runtime: Runtime, folder: Path) -> Index:
    newest = max(folder.glob("*/rustdoc.json.zst"))
    return runtime.library.index(runtime.rustdoc_files([newest]).ingest(newest))


def sample(runtime: Runtime) -> Index:
    head = runtime.snapshots.head(Source(LOCAL, "stowage", "0.1.0"))
    assert head is not None
    snapshot = runtime.snapshots.load(head)
    assert snapshot is not None
    return runtime.library.index(snapshot)


def ask(runtime: Runtime, **arguments: Any) -> dict[str, Any]:
    answer = runtime.toolbox.call("search_items", {"crate": "stowage", **arguments})
    assert answer.structured is not None
    return dict(answer.structured)


def paths(answer: Mapping[str, Any]) -> list[str]:
    return [each["item_path"] for each in answer["results"]]


@pytest.mark.parametrize(
    ("signature", "first"),
    [
        ("&Plan -> Option<&Placement>", "stowage::Plan::first"),
        ("(&mut Plan, &str) -> Result<Placement, Error>", "stowage::Plan::unload"),
        ("&str, Plan -> Result<Placement>", "stowage::Plan::unload"),
        ("&Hold, &Plan -> Balance", "stowage::balance::of"),
        ("Plan, Hold -> Balance", "stowage::balance::of"),
        ("Strategy, &[T] -> Vec<usize>", "stowage::Strategy::order"),
        ("&Plan, Layout, impl Write -> Result<()>", "stowage::manifest::write"),
        ("fn weight(&Plan) -> f64", "stowage::Plan::weight"),
        ("Hold, f64 -> Hold", "stowage::Hold::with_limit"),
    ],
)
def test_a_shape_finds_its_function_first(runtime: Runtime, signature: str, first: str) -> None:
    assert paths(ask(runtime, signature=signature))[0] == first


def test_a_result_looks_like_any_other(runtime: Runtime) -> None:
    answer = ask(runtime, signature="&Plan -> Option<&Placement>", k=1, explain=True)
    (found,) = answer["results"]
    assert found["header"] == "pub fn first(&self) -> Option<&Placement>"
    assert found["item_type"] == "method"
    assert found["score"] == 1
    assert found["explanation"] == {"distance": 0}
    assert "notice" not in answer
    by_all = runtime.toolbox.call(
        "search_items", {"signature": "&Plan -> Option<&Placement>", "k": 1}
    )
    assert by_all.structured is not None
    assert paths(by_all.structured) == ["stowage::Plan::first"]


def test_what_is_unstable_counts_as_bent(runtime: Runtime, corpus: Path) -> None:
    index = _stowed(runtime, corpus / "alloc")

    def first(signature: str) -> tuple[str, float]:
        found = search_by_signature(index, None, signature, limit=1).hits[0]
        return found.path, found.details["distance"]

    # The allocator that Vec has besides counts 0.05.
    unstable = "alloc::vec::Vec::push_within_capacity"
    assert first("&mut Vec<T>, T -> Result<&mut T, T>") == (unstable, 0.65)
    assert first("&mut Vec<T>, T -> _") == ("alloc::vec::Vec::push", 0.05)


def test_filters_and_pages_hold(runtime: Runtime) -> None:
    every = paths(ask(runtime, signature="_ -> f64", k=50))
    below = paths(ask(runtime, signature="_ -> f64", k=50, module="stowage::Plan"))
    assert below == [path for path in every if path.startswith("stowage::Plan::")] != []
    assert paths(ask(runtime, signature="_ -> f64", type_filter=["struct"])) == []
    page = ask(runtime, signature="_ -> f64", k=4)
    after = ask(runtime, signature="_ -> f64", k=4, cursor=page["cursor"])
    assert paths(page) + paths(after) == every[:8]


def test_words_sort_what_the_shape_lets_through(runtime: Runtime) -> None:
    shaped = paths(ask(runtime, signature="Hold -> f64", k=50))
    both = paths(ask(runtime, signature="Hold -> f64", query="what can be added still", k=50))
    assert set(both) == set(shaped)
    assert both[0] == "stowage::Hold::remaining"


def test_an_unknown_name_is_a_variable_and_the_answer_says_so(runtime: Runtime) -> None:
    answer = ask(runtime, signature="&Plan -> Option<&Foo>", k=1)
    assert paths(answer) == ["stowage::Plan::first"]
    assert answer["notice"] == "no type of stowage, read as variables: Foo"


@pytest.mark.parametrize(
    ("signature", "reason"),
    [
        ("Plan -> Option<", "expected a name, found the end"),
        ("_ -> _", "must name a type"),
        (", ".join("ABCDEFGHIJK") + " -> Z", "has more than 10 arguments"),
    ],
)
def test_a_bad_signature_says_what_is_wrong(runtime: Runtime, signature: str, reason: str) -> None:
    with pytest.raises(InvalidParameter) as caught:
        ask(runtime, signature=signature)
    assert caught.value.details["field"] == "signature"
    assert reason.split(",")[0] in str(caught.value)


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_every_function_is_found_by_its_own_signature(
    real: Mapping[str, Index], data: st.DataObject
) -> None:
    index = real[data.draw(st.sampled_from(CRATES))]
    columns = index.columns
    rows = [row for row, kind in enumerate(columns["kind"]) if kind in {"function", "method"}]
    row = data.draw(st.sampled_from(rows))
    signature, owner = str(columns["signature"][row]), str(columns["parent"][row])
    try:
        read_query(signature)
    except BadSignature:  # several impl blocks declare it, so that no single one is its own
        assert signature.startswith("impl")
        return
    found = search_by_signature(index, None, signature, limit=5, filters=ItemFilters(module=owner))
    assert columns["path"][row] in [hit.path for hit in found.hits]
    assert found.hits[0].details["distance"] == 0
