"""Paths as people write them, and the items that they mean."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from docstow.core.errors import ItemNotFound
from docstow.core.model import LOCAL, Source
from docstow.core.settings import load
from docstow.core.spelling import RUST
from docstow.index.loaded import Index
from docstow.index.lookup import find_items
from docstow.runtime import Runtime


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Index]:
    folder = tmp_path_factory.mktemp("lookup")
    flags = {"store": str(folder / "store"), "cache": str(folder / "cache")}
    with contextlib.closing(Runtime(load(flags, {}))) as runtime:
        runtime.ingest_sample()
        head = runtime.snapshots.head(Source(LOCAL, "stowage", "0.1.0"))
        assert head is not None
        snapshot = runtime.snapshots.load(head)
        assert snapshot is not None
        yield runtime.library.index(snapshot)


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("`tokio::spawn`", "tokio::spawn"),
        ("Vec::<T>::new()", "Vec::new"),
        ("HashMap<String, Vec<u8>>::get", "HashMap::get"),
        ("println!", "println"),
        ("tokio :: sync :: Mutex", "tokio::sync::Mutex"),
        ("::std::fmt", "std::fmt"),
        ("Mutex.lock", "Mutex::lock"),
        ("Mutex#lock", "Mutex::lock"),
    ],
)
def test_what_surrounds_a_path_is_taken_off(written: str, meant: str) -> None:
    assert RUST.normalise(written) == meant


@pytest.mark.parametrize(
    "written",
    [
        "stowage::Hold::stow",
        "Hold::stow",
        "crate::Hold::stow",
        "stowage::prelude::Hold::stow",
        "STOWAGE::hold::Stow",
        "stowage::Hold::stow()",
        "Stowage::Hold.stow",
    ],
)
def test_every_way_to_write_it_finds_the_method(index: Index, written: str) -> None:
    assert {index.columns["path"][row] for row in find_items(index, written)} == {
        "stowage::Hold::stow"
    }


def test_a_miss_suggests_what_comes_near_best_first(index: Index) -> None:
    with pytest.raises(ItemNotFound) as caught:
        find_items(index, "stowage::Hodl")
    suggestions = caught.value.suggestions
    assert suggestions[0]["item_path"] == "stowage::Hold"
    scores = [each["score"] for each in suggestions]
    assert scores == sorted(scores, reverse=True)
    assert min(scores) >= 0.6


@given(st.text(max_size=40))
def test_anything_finds_something_or_says_so(index: Index, path: str) -> None:
    try:
        rows = find_items(index, path)
    except ItemNotFound as error:
        assert error.body()["error"] == "item_not_found"
    else:
        assert rows


@given(st.data())
def test_every_path_and_alias_finds_its_item(index: Index, data: st.DataObject) -> None:
    name = data.draw(st.sampled_from(sorted(index.names())))
    canonical = {path for path, _ in index.aliases.get(name, ())} or {name}
    assert {index.columns["path"][row] for row in find_items(index, name)} == canonical


def test_one_of_several_of_a_name_is_not_guessed(index: Index) -> None:
    """`weight` is a method of four types: all of them are suggested, before what is spelt alike."""
    with pytest.raises(ItemNotFound) as caught:
        find_items(index, "weight")
    suggested = [each["item_path"] for each in caught.value.suggestions]
    assert len(suggested) >= 3
    assert all(path.endswith("::weight") for path in suggested[:3])


def test_the_very_name_comes_before_the_same_in_another_case(index: Index) -> None:
    """`Result` is a type alias; no slip of case leads elsewhere."""
    (row,) = find_items(index, "Result")
    assert index.columns["path"][row] == "stowage::Result"
