"""Words of like meaning count in part: on the bundled model's own words."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from numpy.typing import NDArray

from docstow.embedding import bundled, word_vectors
from docstow.index import near_rows
from docstow.index.near_rows import NearRows
from docstow.index.near_words import Floats, NearWords
from docstow.text import bm25

TEXTS = (
    "Spawns a new thread.",
    "Removes an element from the list.",
    "Parses a date.",
    "Frobnicates zorkmids.",
    "",
)

#: Names and summaries of the index, whose words it has as well.
NAMES = ("remove", "delete_at", "parse")
SUMMARIES = ("Delete this item.", " ".join(f"zorkmid{number}" for number in range(60)) + " delete")


@pytest.fixture(scope="module")
def near() -> NearWords:
    rows: dict[str, list[int]] = {}
    for row, text in enumerate(TEXTS):
        for term in dict.fromkeys(bm25.tokens(text)):
            rows.setdefault(term, []).append(row)
    for text in (*NAMES, *SUMMARIES):
        for term in bm25.tokens(text):
            rows.setdefault(term, [])

    def postings(term: str) -> tuple[np.ndarray, np.ndarray] | None:
        found = rows.get(term)
        if found is None:
            return None
        return np.array(found, np.int32), np.ones(len(found), np.float32)

    return NearWords(word_vectors(), rows, postings, len(TEXTS))


def in_texts(near: NearWords, query: Sequence[str]) -> Floats:
    return near.in_texts(*near.weigh(query), np.arange(len(TEXTS)))


def in_read(near: NearWords, query: Sequence[str], texts: Sequence[NDArray[np.int32]]) -> Floats:
    terms, shares = near.weigh(query)
    found: Floats = shares @ near.best(terms, texts)
    return found


def in_sentences(near: NearWords, query: Sequence[str], sentences: Sequence[str]) -> Floats:
    return in_read(near, query, [near.read_text(each) for each in sentences])


@pytest.mark.parametrize(
    ("query", "row"),
    [("delete an item", 1), ("launch a thread", 0), ("start threads", 0), ("read a timestamp", 2)],
)
def test_a_text_is_near_that_says_it_in_other_words(near: NearWords, query: str, row: int) -> None:
    found = in_texts(near, bm25.tokens(query))
    assert found.argmax() == row
    assert 0 < found[row] < 1


def test_the_query_s_own_words_count_whole_even_if_the_model_does_not_know_them(
    near: NearWords,
) -> None:
    assert in_texts(near, bm25.tokens("frobnicate zorkmid"))[3] == pytest.approx(1)
    assert in_texts(near, bm25.tokens("frobnicate"))[[0, 1, 2, 4]].max() == 0


def test_a_text_without_words_and_a_query_without_words_are_near_nothing(near: NearWords) -> None:
    assert in_texts(near, bm25.tokens("delete an item"))[4] == 0
    assert in_texts(near, []).tolist() == [0] * len(TEXTS)
    assert in_sentences(near, ["remove"], ["", "_"]).tolist() == [0, 0]


def test_names_are_near_by_close_words(near: NearWords) -> None:
    same, like, other = in_sentences(near, bm25.tokens("remove"), NAMES)
    assert same == pytest.approx(1)
    assert same > like > other >= 0


def test_summaries_are_near_by_words_of_like_meaning(near: NearWords) -> None:
    asked = bm25.tokens("delete an item")
    same, like, other, none = in_sentences(
        near, asked, [SUMMARIES[0], "Removes an element from the list.", "Parses a date.", ""]
    )
    assert same > like > other > none == 0
    # The tail of a long sentence is not compared.
    assert in_sentences(near, asked, [SUMMARIES[1]])[0] < like


def test_texts_that_have_been_read_are_near_as_sentences_are(near: NearWords) -> None:
    asked = bm25.tokens("delete an item")
    sentences = [SUMMARIES[0], "Parses a date.", "Unheard of."]
    read = [near.read(bm25.tokens(each)) for each in sentences]
    assert in_read(near, asked, read).tolist() == in_sentences(near, asked, sentences).tolist()
    # Of these all words are compared.
    long = bm25.tokens(SUMMARIES[1])
    assert in_read(near, asked, [near.read(long)]) > in_read(near, asked, [near.read(long[:-1])])


def test_how_near_a_word_is_to_all_others_is_computed_once(
    near: NearWords, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = bm25.tokens("delete an item")
    first = (
        in_texts(near, asked),
        in_sentences(near, asked, NAMES),
        in_sentences(near, asked, SUMMARIES),
    )
    monkeypatch.setattr(near, "_vectors", None)
    again = (
        in_texts(near, asked),
        in_sentences(near, asked, NAMES),
        in_sentences(near, asked, SUMMARIES),
    )
    for one, other in zip(first, again, strict=True):
        assert one.tolist() == other.tolist()


def test_what_is_known_of_rows_is_not_compared_again(near: NearWords) -> None:
    asked = list(dict.fromkeys(bm25.tokens("delete an item")))
    fields = [NAMES[:2], SUMMARIES]
    reads = []

    def read(rows: NDArray[np.int64]) -> list[NDArray[np.int32]]:
        reads.append(rows.tolist())
        return [near.read_text(texts[row]) for texts in fields for row in rows.tolist()]

    known = NearRows(near, read, fields=2, count=2)
    whole = near.best(asked, read(np.arange(2))).reshape(len(asked), 2, 2)
    reads.clear()
    second = known.compare(asked[:1], np.array([1]))
    assert second.tolist() == whole[:1, :, 1:].tolist()
    for _ in range(2):
        assert known.compare(asked, np.arange(2)).tolist() == whole.tolist()
        assert (
            known.compare(asked[::-1], np.array([1, 0])).tolist() == whole[::-1, :, ::-1].tolist()
        )
    # Of the second row a word is known, the others are not.
    assert reads == [[1], [0, 1]]


def test_rows_give_way_to_others_where_there_is_no_room(
    near: NearWords, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(near_rows, "_KEPT_ROWS", 2)
    asked = list(dict.fromkeys(bm25.tokens("delete an item")))
    read = [near.read_text(each) for each in NAMES]
    known = NearRows(
        near, lambda rows: [read[row] for row in rows.tolist()], fields=1, count=len(NAMES)
    )
    whole = near.best(asked, read)
    for rows in ([0, 1], [2, 1], [0, 1, 2], [2, 0], [1]):
        assert known.compare(asked, np.array(rows))[:, 0].tolist() == whole[:, rows].tolist()


def test_a_word_has_the_direction_that_the_model_gives_it() -> None:
    words = ["delete", "handle", "timestamp"]
    numbers = [word_vectors().number(term) for term in ("delete", "handl", "timestamp")]
    vectors, lengths = word_vectors().vectors(np.array(numbers))
    assert np.allclose(vectors, bundled().embed(words), atol=1e-5)
    assert (lengths > 0).all()
    assert word_vectors().number("qqzzx") is None
