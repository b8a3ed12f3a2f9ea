"""Words of like meaning count in part: on the bundled model's own words."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from docstow.embedding import bundled, word_vectors
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
    return near.in_texts(query, np.arange(len(TEXTS)))


def in_names(near: NearWords, query: Sequence[str], names: Sequence[str]) -> Floats:
    return near.in_names_and_summaries(query, names, ())[0]


def in_summaries(near: NearWords, query: Sequence[str], summaries: Sequence[str]) -> Floats:
    return near.in_names_and_summaries(query, (), summaries)[1]


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
    assert in_names(near, [], ["remove"]).tolist() == [0]
    assert in_names(near, ["remove"], []).tolist() == []
    assert in_names(near, ["remove"], ["", "_"]).tolist() == [0, 0]


def test_names_are_near_by_close_words(near: NearWords) -> None:
    same, like, other = in_names(near, bm25.tokens("remove"), NAMES)
    assert same == pytest.approx(1)
    assert same > like > other >= 0


def test_summaries_are_near_by_words_of_like_meaning(near: NearWords) -> None:
    asked = bm25.tokens("delete an item")
    same, like, other, none = in_summaries(
        near, asked, [SUMMARIES[0], "Removes an element from the list.", "Parses a date.", ""]
    )
    assert same > like > other > none == 0
    # The tail of a long sentence is not compared.
    assert in_summaries(near, asked, [SUMMARIES[1]])[0] < like


def test_texts_that_have_been_read_are_near_as_sentences_are(near: NearWords) -> None:
    asked = bm25.tokens("delete an item")
    sentences = [SUMMARIES[0], "Parses a date.", "Unheard of."]
    read = [near.read(bm25.tokens(each)) for each in sentences]
    assert near.in_read(asked, read).tolist() == in_summaries(near, asked, sentences).tolist()
    assert near.in_read(asked, []).tolist() == []
    # Of these all words are compared.
    long = bm25.tokens(SUMMARIES[1])
    assert near.in_read(asked, [near.read(long)]) > near.in_read(asked, [near.read(long[:-1])])


def test_how_near_a_word_is_to_all_others_is_computed_once(
    near: NearWords, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = bm25.tokens("delete an item")
    first = (
        in_texts(near, asked),
        in_names(near, asked, NAMES),
        in_summaries(near, asked, SUMMARIES),
    )
    monkeypatch.setattr(near, "_vectors", None)
    again = (
        in_texts(near, asked),
        in_names(near, asked, NAMES),
        in_summaries(near, asked, SUMMARIES),
    )
    for one, other in zip(first, again, strict=True):
        assert one.tolist() == other.tolist()


def test_a_word_has_the_direction_that_the_model_gives_it() -> None:
    words = ["delete", "handle", "timestamp"]
    numbers = [word_vectors().number(term) for term in ("delete", "handl", "timestamp")]
    vectors, lengths = word_vectors().vectors(np.array(numbers))
    assert np.allclose(vectors, bundled().embed(words), atol=1e-5)
    assert (lengths > 0).all()
    assert word_vectors().number("qqzzx") is None
