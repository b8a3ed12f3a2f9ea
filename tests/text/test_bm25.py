from __future__ import annotations

import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from docstow.text.bm25 import (
    ITEM_WORDS,
    PROSE_WORDS,
    Postings,
    Words,
    build_postings,
    prose_tokens,
    query_tokens,
    score,
    tokens,
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("JoinSet", "joinset join set"),
        ("join_set", "joinset join set"),
        ("spawn_blocking", "spawnblocking spawn block"),
        ("HTTPServer", "httpserver http server"),
        ("getElementById", "getelementbyid get element by id"),
        ("MAX_LEN", "maxlen max len"),
        ("tokio::task::spawn", "tokio task spawn"),
        ("Vec<T>", "vec t"),
        ("TStruct", "tstruct struct"),
        ("__init__", "init"),
        ("u64 i8 E0277", "u64 i8 e0277"),
        ("utf8 utf-8", "utf8 utf 8 utf 8"),
        ("Ipv4Addr", "ipv4addr ipv4 ipv 4 addr"),
        ("x86_64", "x8664 x86 64"),
        ("#[derive(Debug)] vec![1, 20]", "deriv debug vec 1 20"),
        ("URLs of IDs", "url of id"),
        ("it's don\u2019t &'s str", "it don s str"),
        (
            "na\u00efveTest \u65e5\u672c\u8a9e \u00dcber",
            "na\u00efvetest na\u00efv test \u65e5\u672c\u8a9e \u00fcber",
        ),
        ("_ __ -- !", ""),
        ("", ""),
    ],
)
def test_tokens(text: str, expected: str) -> None:
    assert tokens(text) == expected.split()


@pytest.mark.parametrize(
    "family",
    [
        "task tasks",
        "library libraries",
        "spawn spawns spawned spawning",
        "run runs running",
        "stop stops stopped stopping",
        "write writes writing",
        "close closes closed closing",
        "parse parses parsed parsing",
        "cache caches cached caching",
        "handle handles handled handling HANDLE Handles",
        "encode encodes encoded encoding",
        "copy copies copied copying",
        "match matches matched matching",
        "hash hashes hashed hashing",
        "class classes",
        "alias aliases",
        "box boxes boxed boxing",
        "serialize serializes serialized serializing",
        "use uses used using",
        "index indices",
        "embed embeds embedded embedding",
        "schedule scheduled scheduling",
    ],
)
def test_forms_of_a_word_share_a_stem(family: str) -> None:
    assert len(set(tokens(family))) == 1


@pytest.mark.parametrize(
    "words",
    [
        "status stat",
        "string str",
        "state stat",
        "mode mod",
        "mute mut",
        "https http",
        "thread thre",
    ],
)
def test_different_words_keep_apart(words: str) -> None:
    assert len(set(tokens(words))) == 2


@given(st.text())
def test_tokens_are_lower_case_words(text: str) -> None:
    for token in tokens(text):
        assert token == token.lower()
        assert "_" not in token
        assert token


@given(st.text(), st.text())
def test_tokens_of_joined_lines_are_the_joined_tokens(first: str, second: str) -> None:
    assert tokens(f"{first}\n{second}") == tokens(first) + tokens(second)


text_of_few_words = st.lists(
    st.sampled_from(["alpha", "beta", "gamma", "JoinSet", "join"]), max_size=6
).map(" ".join)
tables = st.lists(st.tuples(text_of_few_words, text_of_few_words), max_size=8)
WEIGHTS, B = (2.0, 0.5), (0.75, 0.0)


def straightforward_bm25f(rows: list[tuple[str, str]], query: list[str]) -> list[float]:
    """The formula, one row, one term and one field at a time."""
    counted = [[Counter(tokens(text)) for text in row] for row in rows]
    means = [sum(row[f].total() for row in counted) / len(rows) for f in range(2)] if rows else []
    scores = []
    for row in counted:
        total = 0.0
        for term in sorted(set(query)):
            frequency = sum(
                weight * fields[term] / (1 - b + b * fields.total() / mean)
                for fields, weight, b, mean in zip(row, WEIGHTS, B, means, strict=True)
                if fields[term]
            )
            having = sum(any(fields[term] for fields in other) for other in counted)
            idf = math.log(1 + (len(rows) - having + 0.5) / (having + 0.5))
            total += idf * frequency / (1.2 + frequency)
        scores.append(total)
    return scores


def scores_of(postings: Postings, query: list[str], n: int) -> NDArray[np.float32]:
    table = dict(
        zip(postings.terms, zip(postings.rows, postings.weights, strict=True), strict=True)
    )
    return score(table.get, query, n)


@given(tables, text_of_few_words)
def test_scores_equal_a_straightforward_bm25f(rows: list[tuple[str, str]], words: str) -> None:
    query = tokens(words)
    scores = scores_of(build_postings(rows, WEIGHTS, B), query, len(rows))
    np.testing.assert_allclose(scores, straightforward_bm25f(rows, query), rtol=1e-5, atol=1e-6)


@given(tables.flatmap(lambda rows: st.tuples(st.just(rows), st.permutations(range(len(rows))))))
def test_scores_do_not_depend_on_the_order_of_rows(
    case: tuple[list[tuple[str, str]], list[int]],
) -> None:
    rows, order = case
    query = ["alpha", "join", "joinset"]
    scores = scores_of(build_postings(rows, WEIGHTS, B), query, len(rows))
    shuffled = scores_of(build_postings([rows[i] for i in order], WEIGHTS, B), query, len(rows))
    np.testing.assert_array_equal(shuffled, scores[order])


@given(tables)
def test_postings_are_sorted_and_typed(rows: list[tuple[str, str]]) -> None:
    postings = build_postings(rows, WEIGHTS, B)
    assert postings.terms == sorted({t for row in rows for text in row for t in tokens(text)})
    for numbers, weights in zip(postings.rows, postings.weights, strict=True):
        assert numbers.dtype == np.int32
        assert weights.dtype == np.float32
        assert numbers.tolist() == sorted(set(numbers.tolist()))
        assert weights.min() > 0


def test_repeated_query_terms_count_once_and_unknown_ones_not_at_all() -> None:
    postings = build_postings([("alpha",), ("beta",)], [1.0], [0.75])
    once = scores_of(postings, ["alpha"], 2)
    np.testing.assert_array_equal(scores_of(postings, ["alpha", "alpha", "omega"], 2), once)
    assert once[0] > once[1] == 0


def test_rows_must_have_a_text_for_every_field() -> None:
    with pytest.raises(ValueError, match="1 texts where there are 2 fields"):
        build_postings([("alpha",)], [1.0, 1.0], [0.75, 0.75])
    with pytest.raises(ValueError, match="1 field weights, but 2 values of b"):
        build_postings([("alpha",)], [1.0], [0.75, 0.75])


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("the handles", ["the", "handl"]),
        ("JoinHandles", ["joinhandl", "joinhandles", "join", "handl"]),
        ("join_set", ["joinset", "join", "set"]),
        ("Straße CAFÉ", ["strass", "cafe"]),
        ("cafe\u0301", ["cafe"]),
        ("配置文件", ["配置文件", "配", "置", "文", "件", "配置", "置文", "文件"]),
        ("用Python", ["用", "python"]),
        ("도커를", ["도커를", "도", "커", "를", "도커", "커를"]),
    ],
)
def test_terms_of_prose(text: str, terms: list[str]) -> None:
    assert prose_tokens(text) == terms


@settings(max_examples=300)
@given(st.text(max_size=40))
def test_prose_is_found_by_itself_in_any_case(text: str) -> None:
    wanted = query_tokens(text)
    assert set(wanted) <= set(prose_tokens(text))
    if text.upper().casefold() == text.casefold():
        assert query_tokens(text.upper()) == wanted
        assert set(wanted) <= set(prose_tokens(text.upper()))


@pytest.mark.property
@settings(max_examples=300)
@given(
    st.one_of(
        st.text(max_size=40),
        st.text(
            alphabet="aAbBsStTdD'_1 .-\n\u2019\u0301\u00e9\u65e5\u672c\u13a0\uab70", max_size=40
        ),
    )
)
def test_a_text_has_the_terms_of_its_words_and_lines(text: str) -> None:
    def terms_by_word(words: Words, texts: list[str]) -> list[str]:
        split = (word for text in texts for word in words.split(text))
        return sorted(term for word in split for term in words.terms(word))

    for texts in ([text], text.split("\n")):
        assert terms_by_word(ITEM_WORDS, texts) == sorted(tokens(text))
        assert terms_by_word(PROSE_WORDS, texts) == sorted(prose_tokens(text))
