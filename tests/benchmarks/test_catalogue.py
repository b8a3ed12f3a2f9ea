"""The catalogue of seven thousand cards, as requests: times are for ``benchmarks.catalogue``."""

from __future__ import annotations

import contextlib
from pathlib import Path

import pytest

from benchmarks.catalogue import (
    OTHERS,
    cards_of_fixtures,
    drawn,
    listed,
    published,
    searched,
    stored,
)
from docstow.core.settings import load
from docstow.index import catalog_store
from docstow.index.catalog import Catalog
from docstow.index.segments import COARSE
from docstow.runtime import Runtime
from docstow.store.objects import DirectoryStore


def test_requests_do_not_grow_with_the_number_of_crates(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # As if the store were large enough that the terms of its largest segment are read in parts.
    monkeypatch.setattr(catalog_store, "WHOLE_BYTES", 1 << 19)
    settings = {"store": str(tmp_path / "real"), "cache": str(tmp_path / "cache")}
    with contextlib.closing(Runtime(load(settings, {}))) as runtime:
        real = cards_of_fixtures(runtime)
        writer = Catalog(DirectoryStore(tmp_path / "store"), runtime.snapshots)
        stored(writer, drawn(real, 7000))
        store = DirectoryStore(tmp_path / "store")
        reader = Catalog(store, runtime.snapshots)
        largest = reader.card_set().segments[0]
        assert not largest.whole
        assert largest.head.codes.shape[1] == COARSE
        assert len(reader.card_set()) == 7000
        others = 1 + 6999 // 11
        assert listed(store, runtime)[1] == others
        vector = runtime.embedder.embed_query("a ship")
        crates = reader.rank("a ship", runtime.embedder.id, vector)
        sites = reader.rank("a ship", runtime.embedder.id, vector, {"site"})
        assert (len(crates), len(sites)) == (7000 - others, others // 3)
        assert {entry.source.kind for entry, _ in sites} == {"site"}
        assert {entry.source.kind for entry, _ in crates}.isdisjoint(OTHERS)
        found = searched(store, runtime)
        assert found.gets <= 10
        assert found.later <= 6
        last = next(drawn(real, 1, seed=8))
        assert published(store, runtime, last) == ["get", "put", "put", "get"]
        assert searched(store, runtime).gets <= 10
