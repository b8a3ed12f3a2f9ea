"""Cards of crates: what is written on them, which one stands for a name, which suit a query."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from docstow.core.model import CRATE, LOCAL, Source
from docstow.index.catalog import (
    CENTRES,
    MOST_ITEMS,
    Card,
    Deck,
    card_key,
    decode_card,
    encode_card,
    find_centres,
    make_card,
    outranks,
    standard_scores,
)

AXES = np.eye(4, dtype=np.float32)


def card(name: str, about: str, vectors: NDArray[np.float32], model: str = "m") -> Card:
    return make_card(
        Source(CRATE, name, "1.0.0"),
        f"snapshot of {name}",
        model,
        {"description": about},
        {"kind": ["module"], "title": [name], "summary": [""], "attributes": ["{}"]},
        vectors,
    )


def test_a_card_says_what_a_crate_is_and_has() -> None:
    made = make_card(
        Source(CRATE, "Oak-Tree", "1.2.0", "wasm"),
        "abc",
        "m",
        {"description": "A tree.", "summary": "It grows."},
        {
            "kind": ["module", "function", "struct", "module"],
            "title": ["oak_tree", "climb", "Leaf", "roots"],
            "summary": ["The root.", "Goes up.", "Green.", "Below."],
            "attributes": ["{}", "{}", json.dumps({"in_degree": 3}), "{}"],
        },
        AXES,
    )
    assert made.key == "Oak_Tree@wasm"
    assert made.kinds == ("function", "module", "struct")
    assert made.texts == (
        "Oak-Tree",
        "A tree.\nIt grows.",
        "oak_tree\nroots\nThe root.\nBelow.",
        "Leaf\nclimb",
        "Green.\nGoes up.",
    )


def test_only_the_items_mentioned_most_are_on_a_card() -> None:
    count = MOST_ITEMS + 50
    made = make_card(
        Source(CRATE, "big", "1.0.0"),
        "abc",
        "m",
        {},
        {
            "kind": ["function"] * count,
            "title": [f"f{row}" for row in range(count)],
            "summary": [""] * count,
            "attributes": [json.dumps({"in_degree": row}) for row in range(count)],
        },
        np.ones((count, 3), np.float32),
    )
    assert made.texts[3].split("\n") == [f"f{row}" for row in reversed(range(50, count))]


def test_a_card_survives_being_written_down() -> None:
    made = card("oak", "a tree", AXES)
    read = decode_card(json.loads(json.dumps(encode_card(made))))
    assert np.array_equal(read.centres, made.centres)
    assert encode_card(read) == encode_card(made)
    assert (read.source, read.texts, read.kinds) == (made.source, made.texts, made.kinds)


@pytest.mark.parametrize("damage", [{"centres": "?"}, {"texts": {}}, {"dimensions": 3}])
def test_what_is_no_card_is_refused(damage: dict[str, object]) -> None:
    with pytest.raises((KeyError, TypeError, ValueError)):
        decode_card({**encode_card(card("oak", "a tree", AXES)), **damage})


@pytest.mark.parametrize(
    ("source", "other", "expected"),
    [
        (Source(CRATE, "a", "1.0.0"), None, True),
        (Source(CRATE, "a", "1.10.0"), Source(CRATE, "a", "1.9.0"), True),
        (Source(CRATE, "a", "1.9.0"), Source(CRATE, "a", "1.10.0"), False),
        (Source(CRATE, "a", "1.9.0"), Source(CRATE, "a", "1.9.0"), True),
        (Source(CRATE, "a", "2.0.0-rc.1"), Source(CRATE, "a", "1.9.0"), False),
        (Source(CRATE, "a", "1.9.0"), Source(CRATE, "a", "2.0.0-rc.1"), True),
        (Source(LOCAL, "a", "0.1.0"), Source(CRATE, "a", "9.0.0"), True),
        (Source(CRATE, "a", "9.0.0"), Source(LOCAL, "a", "0.1.0"), False),
        (Source(LOCAL, "a", "of my own"), None, False),
    ],
)
def test_which_source_stands_for_a_name(source: Source, other: Source, expected: bool) -> None:
    assert outranks(source, other) is expected


def test_a_name_has_one_key_however_it_is_spelled() -> None:
    assert card_key("tokio-util") == card_key("tokio_util") != card_key("tokio-util", "wasm")


def test_words_and_vectors_both_find_a_crate() -> None:
    deck = Deck(
        [
            card("walk", "goes through directories", AXES[:1]),
            card("mail", "sends letters", AXES[1:2]),
            card("pack", "makes archives of files", AXES[2:3]),
        ]
    )
    nowhere = np.full(4, 0.5, np.float32)
    assert deck.rank("send a letter", "m", nowhere)[0][0].source.name == "mail"
    assert deck.rank("unheard of", "m", AXES[2])[0][0].source.name == "pack"


def test_vectors_of_two_models_never_meet() -> None:
    other = card("other", "", np.ones((3, 7), np.float32), model="of 7 dimensions")
    deck = Deck([other, card("near", "", AXES[:1]), card("far", "", -AXES[:1])])
    scores = {each.source.name: score for each, score in deck.rank("zebra", "m", AXES[0])}
    assert scores == pytest.approx({"near": 1.0, "other": 0.0, "far": -1.0}, abs=1e-3)


def test_an_empty_deck_has_no_best_card() -> None:
    assert Deck([]).rank("anything", "m", AXES[0]) == []


matrices = st.tuples(st.integers(0, 40), st.integers(0, 2**32 - 1)).map(
    lambda pair: np.random.default_rng(pair[1]).normal(size=(pair[0], 5)).astype(np.float32)
)


@given(matrices)
@hypothesis_settings(max_examples=50)
def test_centres_are_few_and_of_length_one_and_always_the_same(
    vectors: NDArray[np.float32],
) -> None:
    found = find_centres(vectors, CENTRES)
    assert found.shape == (min(CENTRES, len(vectors)), 5)
    assert np.linalg.norm(found.astype(np.float32), axis=1) == pytest.approx(1.0, abs=1e-2)
    assert np.array_equal(found, find_centres(vectors.copy(), CENTRES))


def test_centres_find_the_groups() -> None:
    noise = np.random.default_rng(3).normal(scale=0.01, size=(40, 4)).astype(np.float32)
    found = find_centres(np.repeat(AXES, 10, axis=0) + noise, 4).astype(np.float32)
    assert (found @ AXES.T).max(axis=0) == pytest.approx(1.0, abs=1e-2)


@given(st.lists(st.integers(-1000, 1000), max_size=30))
def test_standard_scores(values: list[int]) -> None:
    scores = standard_scores(np.array(values, np.float32))
    assert len(scores) == len(values)
    varied = len(set(values)) > 1
    assert float(scores.sum()) == pytest.approx(0.0, abs=1e-2)
    assert float((scores**2).sum()) == pytest.approx(len(values) if varied else 0.0, abs=1e-2)
