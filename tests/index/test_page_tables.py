"""Tables of pages: names that stay, vectors that are used again, and everything read back."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from docstow.core.model import Document, Known, Relation, document_id
from docstow.embedding import bundled
from docstow.index.loaded import PageIndex
from docstow.index.schema import Tables
from docstow.index.schema import tabulate_pages as tabulate
from fictional_docs import PAGES
from prose_store import indexed, page, written

SOURCE = "5" * 64
ALL = sorted((page(path, text) for path, text in PAGES.items()), key=lambda each: each.path)


class WholeTexts:
    """A model that takes a chunk as one text; remembers what it was given."""

    id, dimensions, fields = "whole", 4, False

    def __init__(self) -> None:
        self.texts: list[str] = []

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        self.texts += texts
        return np.full((len(texts), 4), 0.5, np.float32)

    def embed_query(self, text: str) -> NDArray[np.float32]:
        return np.full(4, 0.5, np.float32)

    def count(self, text: str) -> int:
        return len(text.split())


def tables(documents: Sequence[Document], known: dict[str, bytes] | None = None) -> Tables:
    return tabulate(SOURCE, documents, {}, [], bundled(), known or {})


def vectors(made: Tables) -> dict[str, bytes]:
    return {
        digest: vector
        for name in ("chunks", "examples")
        for digest, vector in zip(
            made.columns[name]["digest"], made.columns[name]["embedding"], strict=True
        )
    }


def test_what_is_unchanged_is_not_embedded_again() -> None:
    first = tables(ALL)
    again = tables(ALL, vectors(first))
    assert (first.reused, again.embedded) == (0, 0)
    assert first.embedded == again.reused
    assert vectors(first) == vectors(again)


def test_only_the_changed_chunk_is_embedded_and_only_its_name_changes() -> None:
    before = tables(ALL)
    changed = [
        page(each.path, each.text.replace("doubles after each", "triples after each"))
        for each in ALL
    ]
    after = tables(changed, vectors(before))
    assert after.embedded == 1
    assert len(set(before.columns["chunks"]["id"]) - set(after.columns["chunks"]["id"])) == 1


def test_a_changed_title_is_embedded_with_all_chunks_but_their_names_stay() -> None:
    before = tables([page("a", "# One\n\nfirst\n\n## Two\n\nsecond\n", "Old")])
    after = tables([page("a", "# One\n\nfirst\n\n## Two\n\nsecond\n", "New")], vectors(before))
    assert after.embedded == 2
    assert after.columns["chunks"]["id"] == before.columns["chunks"]["id"]


def test_a_model_of_whole_texts_gets_title_headings_and_text() -> None:
    model = WholeTexts()
    text = "# Ropes\n\nOf hemp.\n\n## Care\n\nKeep *dry*.\n\n```sh\nrope --dry\n```\n"
    tabulate(SOURCE, [page("a", text)], {}, [], model, {})
    assert model.texts == [
        "Ropes\nRopes\n\nOf hemp.",
        "Ropes\nCare\nCare\n\nKeep dry.",
        "Ropes\nKeep dry.\nrope --dry",
    ]


def test_a_text_that_recurs_is_numbered() -> None:
    made = tables([page("a", "# A\n\nsame\n\n# A\n\nsame\n\n# A\n\nsame\n")])
    assert len(set(made.columns["chunks"]["id"])) == 3


def test_everything_is_read_back(tmp_path: Path) -> None:
    visits = {"b": Known("b", "https://x.example/b", '"etag"', ("https://x.example/c",))}
    made = tabulate(SOURCE, ALL, visits, [Relation("a", "links-to", "b")], bundled(), {})
    (tmp_path / "other").mkdir()
    snapshot = indexed(tmp_path / "other", []).snapshot
    index = PageIndex(snapshot, written(made.columns, tmp_path).__getitem__)
    assert index.documents() == ALL
    assert index.visits() == visits
    assert index.vectors_by_digest() == vectors(made)
    assert index.headings(index.row_of("billing") or 0) == [
        "Quayside Cloud billing",
        "Quayside Cloud billing > What is metered",
        "Quayside Cloud billing > Spending limits",
        "Quayside Cloud billing > Invoices",
    ]


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> PageIndex:
    return indexed(tmp_path_factory.mktemp("tables"), ALL)


@settings(max_examples=100, deadline=None)
@given(st.sampled_from(ALL))
def test_every_page_and_chunk_is_read_back_whole(index: PageIndex, document: Document) -> None:
    identity = document_id(index.snapshot.revision.source.name, document.path)
    row = index.row_of(identity)
    assert row is not None
    assert row == index.row_of(document.path)
    assert index.document(row) == document
    for number, chunk_row in enumerate(index.chunk_rows(row)):
        chunk = index.chunk(chunk_row)
        assert chunk.ordinal == number
        assert chunk.id.startswith(identity + ".")
        assert index.chunk_row_of(chunk.id) == chunk_row
        assert chunk.text in document.text
        assert chunk.tokens == bundled().count(chunk.text)
