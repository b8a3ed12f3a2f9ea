"""Pins: marks that eviction reads."""

from __future__ import annotations

from pathlib import Path

import pytest

from docstow.core.errors import StoreError
from docstow.core.model import Source
from docstow.store.objects import DirectoryStore
from docstow.store.usage import PRE_INGESTED, Pins


@pytest.fixture
def store(tmp_path: Path) -> DirectoryStore:
    return DirectoryStore(tmp_path)


def test_a_pin_is_read_back_by_another_process(store: DirectoryStore) -> None:
    old, new = Source("crate", "Inflector", "0.1.0"), Source("crate", "Inflector", "0.2.0", "wasm")
    pins = Pins(store)
    assert pins.pinned() == {}
    pins.pin(new, "by hand")
    pins.pin(old, PRE_INGESTED)
    pins.pin(old, PRE_INGESTED)
    assert Pins(store).pinned() == {old: PRE_INGESTED, new: "by hand"}
    pins.pin(old, "by hand")
    pins.unpin(new)
    pins.unpin(new)
    assert Pins(store).pinned() == {old: "by hand"}


def test_the_newest_version_takes_over_its_own_kind_of_pin(store: DirectoryStore) -> None:
    kept = Source("crate", "tokio", "1.0.0")
    old, new = Source("crate", "tokio", "1.1.0"), Source("crate", "tokio", "1.2.0")
    elsewhere = Source("crate", "tokio", "1.1.0", "wasm32-unknown-unknown")
    other = Source("crate", "tokio-util", "1.1.0")
    pins = Pins(store)
    pins.pin(kept, "by hand")
    for each in (old, elsewhere, other):
        pins.move(each, PRE_INGESTED)
    pins.move(new, PRE_INGESTED)
    assert pins.pinned() == {
        kept: "by hand",
        elsewhere: PRE_INGESTED,
        new: PRE_INGESTED,
        other: PRE_INGESTED,
    }


def test_a_damaged_pin_is_named(store: DirectoryStore) -> None:
    store.create("pinned/crate/tokio/1.0.0.json", b"{}")
    with pytest.raises(StoreError, match=r"pinned/crate/tokio/1\.0\.0\.json"):
        Pins(store).pinned()
