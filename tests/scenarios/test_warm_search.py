"""What a search of a server that has answered before asks for, counted and not timed."""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from docstow.core.settings import load
from docstow.embedding.words import WordVectors
from docstow.runtime import SAMPLE, Runtime
from docstow.store.objects import DirectoryStore
from docstow.text import parsing

ASKED = Counter[str]()


class Counted(np.ndarray[Any, np.dtype[np.float32]]):
    """A matrix that counts the rows that are multiplied with something."""

    def __matmul__(self, other: Any) -> Any:
        ASKED["rows"] += len(self) if self.ndim > 1 else 1
        return np.asarray(self) @ other


@pytest.fixture
def runtime(tmp_path: Path) -> Iterator[Runtime]:
    flags = {"store": str(tmp_path / "store"), "cache": str(tmp_path / "cache")}
    with contextlib.closing(Runtime(load(flags, {}))) as made:
        made.rustdoc_files([SAMPLE]).ingest(SAMPLE)
        yield made


def search(runtime: Runtime, query: str) -> str:
    return runtime.toolbox.call("search_items", {"crate": "stowage", "query": query}).render()


def test_a_search_passes_over_the_vectors_once_and_asks_nobody(
    runtime: Runtime, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = search(runtime, "put all pieces into the hold")
    index = runtime.library.index(runtime.library.crate("stowage").snapshot)
    vars(index)["matrix"] = index.matrix.view(Counted)
    # A few candidates are compared with one another as well.
    most = 2 * len(index.matrix) - 1
    ASKED.clear()
    embed = WordVectors.sum
    get, get_changed = DirectoryStore.get, DirectoryStore.get_changed

    def counted_embed(self: WordVectors, numbers: Sequence[int]) -> Any:
        ASKED["embedded"] += 1
        return embed(self, numbers)

    def counted_get(self: DirectoryStore, key: str) -> Any:
        ASKED["requests"] += 1
        return get(self, key)

    def counted_get_changed(self: DirectoryStore, key: str, etag: str) -> Any:
        ASKED["requests"] += 1
        return get_changed(self, key, etag)

    monkeypatch.setattr(WordVectors, "sum", counted_embed)
    monkeypatch.setattr(DirectoryStore, "get", counted_get)
    monkeypatch.setattr(DirectoryStore, "get_changed", counted_get_changed)

    # The items and their examples are searched by one vector of the question.
    search(runtime, "take a piece out of the hold again")
    assert len(index.matrix) <= ASKED.pop("rows") <= most
    assert ASKED == {"embedded": 1}
    # A question that was asked before is not embedded again.
    ASKED.clear()
    assert search(runtime, "put all pieces into the hold") == first
    assert len(index.matrix) <= ASKED.pop("rows") <= most
    assert not ASKED


def test_docs_that_are_shown_again_are_not_parsed_again(
    runtime: Runtime, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = search(runtime, "put all pieces into the hold")
    parsing.parse.cache_clear()

    def parse(text: str) -> Any:
        raise AssertionError(f"a text is parsed: {text}")

    monkeypatch.setattr(parsing, "_events", parse)
    assert search(runtime, "put all pieces into the hold") == first
