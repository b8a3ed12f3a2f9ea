"""Search over the sample crate: names, sentences, slips, filters, and order."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from docstow.core.model import LOCAL, Hit, Source
from docstow.core.settings import load
from docstow.index.loaded import Index
from docstow.index.ranking import calibrate
from docstow.index.search import ITEM_SCALE, ItemFilters, find_candidates, search_items
from docstow.runtime import Runtime


@pytest.fixture(scope="module")
def runtime(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Runtime]:
    folder = tmp_path_factory.mktemp("search")
    flags = {"store": str(folder / "store"), "cache": str(folder / "cache")}
    with contextlib.closing(Runtime(load(flags, {}))) as made:
        made.ingest_sample()
        yield made


@pytest.fixture(scope="module")
def index(runtime: Runtime) -> Index:
    head = runtime.snapshots.head(Source(LOCAL, "stowage", "0.1.0"))
    assert head is not None
    snapshot = runtime.snapshots.load(head)
    assert snapshot is not None
    return runtime.library.index(snapshot)


def ask(
    runtime: Runtime, index: Index, query: str, limit: int = 10, **filters: object
) -> list[Hit]:
    chosen = ItemFilters(**filters)  # type: ignore[arg-type]
    return search_items(index, runtime.embedder, query, limit=limit, filters=chosen)


@pytest.mark.parametrize(
    ("query", "path"),
    [
        ("Hold", "stowage::Hold"),
        ("stowage::Hold::stow", "stowage::Hold::stow"),
        ("Hold::stow", "stowage::Hold::stow"),
        ("stow()", "stowage::Hold::stow"),
        ("with_limit", "stowage::Hold::with_limit"),
    ],
)
def test_a_name_finds_its_item_first(runtime: Runtime, index: Index, query: str, path: str) -> None:
    assert ask(runtime, index, query)[0].path == path


@pytest.mark.parametrize(
    ("query", "path"),
    [
        ("how much weight can still go in", "stowage::Hold::remaining"),
        ("put all pieces into the hold", "stowage::Hold::stow"),
        ("empty the hold again", "stowage::Hold::clear"),
    ],
)
def test_a_sentence_finds_what_it_means(
    runtime: Runtime, index: Index, query: str, path: str
) -> None:
    assert path in [hit.path for hit in ask(runtime, index, query, limit=3)]


@pytest.mark.parametrize("query", ["remianing weight", "reamining weight", "remaning weight"])
def test_a_typing_slip_does_not_sink_a_query(runtime: Runtime, index: Index, query: str) -> None:
    assert "stowage::Hold::remaining" in [hit.path for hit in ask(runtime, index, query, limit=3)]


def test_filters_hold_for_every_hit(runtime: Runtime, index: Index) -> None:
    kinds = {hit.kind for hit in ask(runtime, index, "stow", limit=50, kinds=("trait", "enum"))}
    assert kinds == {"trait", "enum"}
    paths = [hit.path for hit in ask(runtime, index, "plan", limit=50, module="stowage::balance")]
    assert paths
    assert all(path.startswith("stowage::balance") for path in paths)


def test_an_explanation_adds_up_to_the_score(runtime: Runtime, index: Index) -> None:
    for hit in ask(runtime, index, "weight of cargo"):
        shares = hit.details["features"].values()
        assert calibrate(sum(shares), ITEM_SCALE) == pytest.approx(hit.score, abs=0.01)
        assert 0 < hit.score < 1
        lists = {"keyword", "vector", "anchor", "related", "guide_mention", "name"}
        assert set(hit.details["ranks"]) == lists


def test_items_are_measured_by_those_that_lead(runtime: Runtime, index: Index) -> None:
    query = "put all pieces into the hold"
    found = find_candidates(index, runtime.embedder, query, ItemFilters())
    near = found.features["leaders"]
    first, *_, last = (-found.features["cosine"]).argsort().tolist()
    assert 1 >= near[first] > near[last]
    words = find_candidates(index, None, query, ItemFilters())
    assert set(words.features["leaders"]) == {0}


def test_a_snippet_is_long_where_there_is_text(runtime: Runtime, index: Index) -> None:
    (hit,) = ask(runtime, index, "stowage", limit=1)
    assert len(hit.snippet) >= 200


@settings(max_examples=100, deadline=None)
@given(st.text(max_size=60), st.integers(1, 20))
def test_any_query_gives_a_sorted_list_without_doubles(
    runtime: Runtime, index: Index, query: str, limit: int
) -> None:
    hits = ask(runtime, index, query, limit)
    keys = [(hit.path, hit.kind) for hit in hits]
    assert len(keys) == len(set(keys)) <= limit
    assert all(hit.path in index.rows_by_path for hit in hits)


@settings(max_examples=100, deadline=None)
@given(st.data())
def test_case_never_changes_what_a_name_finds(
    runtime: Runtime, index: Index, data: st.DataObject
) -> None:
    title = data.draw(st.sampled_from(sorted(set(index.columns["title"].tolist()))))
    upper = {hit.path for hit in ask(runtime, index, title.upper()) if hit.title == title}
    lower = {hit.path for hit in ask(runtime, index, title.lower()) if hit.title == title}
    assert upper == lower != set()


@settings(max_examples=100, deadline=None)
@given(st.data())
def test_every_item_is_found_by_its_own_path(
    runtime: Runtime, index: Index, data: st.DataObject
) -> None:
    path = data.draw(st.sampled_from(sorted(index.rows_by_path)))
    assert ask(runtime, index, path)[0].path == path
