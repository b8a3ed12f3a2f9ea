"""What is published again takes over the vectors of what is at hand, and is the same as without."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
import zstandard
from numpy.typing import NDArray

from docstow.core.settings import load
from docstow.embedding import Embedder, bundled
from docstow.runtime import SAMPLE, Runtime
from docstow.store.objects import Stored
from servers.s3 import Bucket


class Counting:
    """The bundled model, which counts the texts that it embeds."""

    def __init__(self) -> None:
        self._inner: Embedder = bundled()
        self.id, self.dimensions, self.fields = bundled().id, bundled().dimensions, True
        self.embedded = 0

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        self.embedded += len(texts)
        return self._inner.embed(texts)

    def embed_query(self, text: str) -> NDArray[np.float32]:
        return self._inner.embed_query(text)

    def count(self, text: str) -> int:
        return self._inner.count(text)


def opened(folder: Path, **flags: str) -> tuple[Runtime, Counting]:
    settings = {"store": str(folder / "store"), "cache": str(folder / "cache")} | flags
    runtime, model = Runtime(load(settings, {})), Counting()
    runtime.models.__dict__["embedder"] = model
    return runtime, model


def versions(folder: Path) -> tuple[Path, Path]:
    """The sample, and a later version of it with other texts here and there."""
    body = zstandard.ZstdDecompressor().decompress(SAMPLE.read_bytes())
    assert body.count(b'"crate_version":"0.1.0"') == 1
    later = body.replace(b'"crate_version":"0.1.0"', b'"crate_version":"0.2.0"')
    path = folder / "later.json"
    path.write_bytes(later.replace(b"centre of gravity", b"middle of the weight"))
    return SAMPLE, path


def test_a_later_version_reuses_vectors_and_has_the_same_tables(tmp_path: Path) -> None:
    first, second = versions(tmp_path)
    runtime, model = opened(tmp_path / "both")
    alone, other_model = opened(tmp_path / "alone")
    with contextlib.closing(runtime), contextlib.closing(alone):
        runtime.rustdoc_files([first]).ingest(first)
        model.embedded = 0
        reused = runtime.rustdoc_files([second]).ingest(second)
        made = alone.rustdoc_files([second]).ingest(second)
        assert 0 < model.embedded < other_model.embedded / 2
        assert (reused.id, reused.tables) == (made.id, made.tables)


def test_for_reuse_nothing_is_asked_of_the_store(
    bucket: Bucket, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = versions(tmp_path)
    place = {"store": bucket.at(tmp_path.name), "s3_endpoint": bucket.endpoint}
    runtime, model = opened(tmp_path, **place)
    with contextlib.closing(runtime):
        runtime.rustdoc_files([first]).ingest(first)
        everything, model.embedded = model.embedded, 0
        read: list[str] = []
        get = runtime.store.get

        def watched(key: str) -> Stored | None:
            read.append(key)
            return get(key)

        monkeypatch.setattr(runtime.store, "get", watched)
        runtime.rustdoc_files([second]).ingest(second)
    assert model.embedded > everything / 2
    assert not any(key.startswith("blobs/") for key in read)
