"""Paths of definitions, as other crates' files and our own answers name items, find the items."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path

import pytest

from docstow.core.errors import ItemNotFound
from docstow.core.model import Snapshot
from docstow.core.settings import load
from docstow.index.loaded import Index
from docstow.index.lookup import find_items
from docstow.runtime import Runtime
from paths import CRATES


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("definitions")


@pytest.fixture(scope="module")
def runtime(folder: Path) -> Iterator[Runtime]:
    flags = {"store": str(folder / "store"), "cache": str(folder / "cache")}
    with contextlib.closing(Runtime(load(flags, {}))) as made:
        yield made


@pytest.fixture(scope="module")
def index(runtime: Runtime, folder: Path) -> Index:
    file = folder / "reexports.json.zst"
    file.write_bytes((CRATES / "reexports" / "rustdoc.json.zst").read_bytes())
    snapshot: Snapshot = runtime.rustdoc_files([file]).ingest(file)
    return runtime.library.index(snapshot)


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("reexports::private::Hidden", "reexports::Hidden"),
        ("reexports::private::Hidden::new", "reexports::Hidden::new"),
        ("crate::private::Before", "reexports::After"),
        ("private::Before", "reexports::After"),
    ],
)
def test_a_definition_path_finds_the_item_and_its_members(
    index: Index, written: str, meant: str
) -> None:
    assert {index.columns["path"][row] for row in find_items(index, written)} == {meant}


def test_a_definition_path_is_no_name_to_suggest_or_to_show(index: Index) -> None:
    assert "reexports::private::Before" in index.definitions
    assert not index.definitions.keys() & set(index.names())
    with pytest.raises(ItemNotFound) as caught:
        find_items(index, "reexports::private::Befour")
    suggested = {each["item_path"] for each in caught.value.suggestions}
    assert not suggested & index.definitions.keys()
    (row,) = find_items(index, "reexports::private::Before")
    assert "reexports::private::Before" not in index.attributes(row).get("aliases", [])
