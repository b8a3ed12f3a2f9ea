"""A changed model: words answer at once, vectors are made anew beside, and never mixed."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from bert import tiny_model
from docstow.core.errors import ConfigurationError
from docstow.core.model import LOCAL, Snapshot, Source
from docstow.core.settings import load
from docstow.embedding import Embedder
from docstow.index.tables import read_table
from docstow.runtime import SAMPLE, Runtime
from docstow.store.objects import Conflict

WORDS = ["hold", "parcel", "stow", "ship", "pieces", "the", "a", "of", "into", "put"]
STOWAGE = Source(LOCAL, "stowage", "0.1.0")
Open = Callable[..., Runtime]


@pytest.fixture
def opened(tmp_path: Path) -> Iterator[Open]:
    """Opens runtimes on one store, one after the other or side by side."""
    with contextlib.ExitStack() as closing:

        def make(model: str = "bundled", **flags: str) -> Runtime:
            named = {"store": str(tmp_path / "store"), "cache": str(tmp_path / "cache"), **flags}
            runtime = Runtime(load({**named, "model": model}, {}))
            return closing.enter_context(contextlib.closing(runtime))

        yield make


def search(runtime: Runtime) -> Any:
    arguments = {"crate": "stowage", "query": "put pieces into the hold", "explain": True}
    return runtime.toolbox.call("search_items", arguments).structured


def answering(runtime: Runtime) -> Snapshot:
    head = runtime.snapshots.head(STOWAGE, fresh=True)
    assert head is not None
    snapshot = runtime.snapshots.load(head)
    assert snapshot is not None
    return snapshot


class Gated:
    """An embedder that waits for the test before it embeds passages."""

    def __init__(self, inner: Embedder) -> None:
        self.inner = inner
        self.id = inner.id
        self.dimensions = inner.dimensions
        self.fields = inner.fields
        self.gate = threading.Event()
        self.questions: list[str] = []

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        assert self.gate.wait(30)
        return self.inner.embed(texts)

    def count(self, text: str) -> int:
        return len(text.split())

    def embed_query(self, text: str) -> NDArray[np.float32]:
        self.questions.append(text)
        return self.inner.embed_query(text)


@pytest.mark.parametrize("back", [False, True])
def test_words_answer_until_the_vectors_are_made_anew(
    opened: Open, tmp_path: Path, back: bool
) -> None:
    tiny = str(tiny_model(tmp_path / "tiny", words=WORDS))
    before, after = (tiny, "bundled") if back else ("bundled", tiny)
    first = opened(before)
    first.ingest_sample()
    old = answering(first)

    runtime = opened(after)
    gated = Gated(runtime.embedder)
    runtime.models.__dict__["embedder"] = gated
    found = search(runtime)
    assert found["snapshot"] == old.id
    assert "the embedding model has changed: words alone are searched" in found["notice"]
    assert "local/stowage/0.1.0 is embedded anew, which has begun" in found["notice"]
    assert len(found["results"]) == 4
    for tool, filters in (
        ("search_items", {"type_filter": ["union"]}),
        ("search_examples", {"language": ["cobol"]}),
    ):
        arguments = {"crate": "stowage", "query": "hold", **filters}
        nothing = runtime.toolbox.call(tool, arguments).structured
        assert nothing is not None
        assert nothing["results"] == []
        assert nothing["notice"].startswith("the embedding model has changed: words alone")
        assert "stowage has " in nothing["notice"]
    assert gated.questions == []
    assert answering(runtime) == old

    gated.gate.set()
    runtime.close()
    new = answering(runtime)
    assert new.recipe.model == gated.id
    assert (new.revision, new.facts, new.counts) == (old.revision, old.facts, old.counts)
    assert new.tables["relations"] == old.tables["relations"]

    third = opened(after)
    found = search(third)
    assert found["snapshot"] == new.id
    assert "notice" not in found
    vectors = read_table(third.snapshots.fetch(new)["passages"], ("embedding",))["embedding"]
    assert {len(each) for each in vectors} == {2 * third.embedder.dimensions}


def test_what_is_made_anew_is_what_a_stowing_would_have_made(opened: Open, tmp_path: Path) -> None:
    tiny = str(tiny_model(tmp_path / "tiny", words=WORDS))
    opened().ingest_sample()
    renewing = opened(tiny)
    renewed = renewing.renewals.renew(answering(renewing))
    afresh = opened(tiny, store=str(tmp_path / "other"))
    afresh.rustdoc_files([SAMPLE]).ingest(SAMPLE)
    stowed = answering(afresh)
    assert renewed.id == stowed.id
    assert renewed.tables == stowed.tables


def test_going_back_finds_the_old_tables(opened: Open, tmp_path: Path) -> None:
    tiny = str(tiny_model(tmp_path / "tiny", words=WORDS))
    first = opened()
    first.ingest_sample()
    old = answering(first)
    there = opened(tiny)
    there.renewals.renew(old)
    back = opened()
    assert back.renewals.renew(answering(back)) == old
    assert answering(back) == old


def test_the_check_of_the_upstream_keeps_its_time(opened: Open, tmp_path: Path) -> None:
    first = opened()
    first.ingest_sample()
    before = first.snapshots.head(STOWAGE)
    runtime = opened(str(tiny_model(tmp_path / "tiny", words=WORDS)))
    runtime.renewals.renew(answering(runtime))
    after = runtime.snapshots.head(STOWAGE)
    assert before is not None
    assert after is not None
    assert (after.generation, after.checked_at) == (before.generation + 1, before.checked_at)


def test_what_was_stowed_meanwhile_stays(opened: Open, tmp_path: Path) -> None:
    first = opened()
    first.ingest_sample()
    old = answering(first)
    runtime = opened(str(tiny_model(tmp_path / "tiny", words=WORDS)))
    new = runtime.renewals.renew(old)
    with pytest.raises(Conflict):
        opened(str(tiny_model(tmp_path / "next", words=WORDS, seed=1))).renewals.renew(old)
    assert answering(runtime) == new


def test_a_failure_is_told_and_not_repeated_at_once(opened: Open, tmp_path: Path) -> None:
    opened().ingest_sample()
    folder = tiny_model(tmp_path / "tiny", words=WORDS)
    (folder / "onnx" / "model.onnx").write_bytes(b"no model")
    runtime = opened(str(folder))
    assert "has begun" in search(runtime)["notice"]
    runtime.close()
    found = search(runtime)
    assert "which failed and is tried again in a minute" in found["notice"]
    assert "cannot be run as an ONNX model" in found["notice"]
    assert len(found["results"]) == 4


def test_a_model_that_cannot_be_is_refused_at_start(opened: Open, tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="there is no model 'bge'"):
        opened("bge")
    with pytest.raises(ConfigurationError, match="embeddings_url: the model openai:x"):
        opened("openai:x")
    opened().ingest_sample()
    with pytest.raises(ConfigurationError, match="there is no folder"):
        search(opened(str(tmp_path / "none")))
