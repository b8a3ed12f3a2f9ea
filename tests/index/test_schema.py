"""Tables of snapshots: names that stay, vectors that are reused, and everything read back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from docstow.core.model import CRATE, Document, Known, Relation, Source, document_id
from docstow.embedding import Embedder, bundled
from docstow.index.loaded import Index
from docstow.index.profiles import ITEMS, PAGES, profile_of
from docstow.index.tables import Tables, tabulate
from docstow.languages import PYTHON
from fictional_docs import PAGES as FICTIONAL_PAGES
from prose_store import indexed, page, written

SOURCE = "5" * 64
ALL = sorted(
    (page(path, text) for path, text in FICTIONAL_PAGES.items()), key=lambda each: each.path
)


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
    return tabulate(PAGES, documents, [], bundled(), source_id=SOURCE, known=known or {})


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
    tabulate(PAGES, [page("a", text)], [], model, source_id=SOURCE)
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
    relations = [Relation("a", "links-to", "b")]
    made = tabulate(PAGES, ALL, relations, bundled(), source_id=SOURCE, visits=visits)
    (tmp_path / "other").mkdir()
    snapshot = indexed(tmp_path / "other", []).snapshot
    index = Index(snapshot, written(made.columns, tmp_path).__getitem__)
    assert index.documents() == ALL
    assert index.visits() == visits
    assert index.vectors_by_digest() == vectors(made)


ITEM_DOCUMENTS = [
    Document("p", "module", "p", text="All about ropes.", attributes={"language": "python"}),
    Document(
        "p.tie",
        "function",
        "tie",
        "def tie(\n    rope: Rope,\n) -> Knot",
        "Ties a rope. Slowly.\n\n>>> tie(rope)\n\n# Care\n\nKeep dry.\n",
        parent="p",
        attributes={"language": "python"},
    ),
]


@pytest.mark.parametrize("model", [bundled(), WholeTexts()])
def test_vectors_of_unchanged_items_are_reused(tmp_path: Path, model: Embedder) -> None:
    first = tabulate(ITEMS, ITEM_DOCUMENTS, [], model)
    (tmp_path / "other").mkdir()
    snapshot = indexed(tmp_path / "other", []).snapshot
    snapshot = replace(
        snapshot,
        revision=replace(snapshot.revision, source=Source(CRATE, "p", "1.0.0")),
        recipe=ITEMS.recipe("test/1", model.id),
    )
    index = Index(snapshot, written(first.columns, tmp_path).__getitem__)
    known = index.vectors_by_digest()
    again = tabulate(ITEMS, ITEM_DOCUMENTS, [], model, known=known)
    assert (first.embedded, first.reused) == (len(known), 0)
    assert (again.embedded, again.reused) == (0, len(known))
    for name in ("passages", "examples"):
        assert list(again.columns[name]["embedding"]) == list(first.columns[name]["embedding"])
    changed = [ITEM_DOCUMENTS[0], replace(ITEM_DOCUMENTS[1], signature="def tie() -> None")]
    after = tabulate(ITEMS, changed, [], model, known=known)
    assert (after.embedded, after.reused) == (2, len(known) - 2)


def test_a_new_kind_of_source_has_pages() -> None:
    assert [profile_of(kind) for kind in (CRATE, PYTHON.kind, "site", "wiki")] == [
        *(ITEMS, ITEMS),
        *(PAGES, PAGES),
    ]


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Index:
    return indexed(tmp_path_factory.mktemp("tables"), ALL)


@settings(max_examples=100, deadline=None)
@given(st.sampled_from(ALL))
def test_every_page_and_chunk_is_read_back_whole(index: Index, document: Document) -> None:
    identity = document_id(index.snapshot.revision.source.name, document.path)
    row = index.page_row(identity)
    assert row is not None
    assert row == index.page_row(document.path)
    assert index.document(row) == document
    for number, chunk_row in enumerate(index.passage_rows(row)):
        chunk = index.passage(chunk_row)
        assert chunk.ordinal == number
        assert chunk.id.startswith(identity + ".")
        assert index.find_passage(chunk.id) == chunk_row
        assert chunk.text in document.text
        assert chunk.tokens == bundled().count(chunk.text)
