"""Cards of crates: what is written on them, which one stands for a name, which suit a query."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from docstow.core.model import CRATE, LOCAL, Source
from docstow.index.card_set import Buckets, CardSet, Loaded, Ranking, standard_scores
from docstow.index.cards import (
    MOST_ITEMS,
    Card,
    Entry,
    card_key,
    make_card,
    outranks,
    term_hash,
)
from docstow.index.centres import CENTRES, find_centres, pack, unpack
from docstow.index.segments import (
    COARSE,
    FINE,
    FULL_CARDS,
    Damaged,
    encode_head,
    join,
    make_segment,
    read_bucket,
    read_head,
    survivors,
)
from docstow.text import bm25

AXES = np.eye(4, dtype=np.float32)


def card(name: str, about: str, vectors: NDArray[np.float32], model: str = "m") -> Card:
    return make_card(
        Source(CRATE, name, "1.0.0"),
        "abc",
        model,
        {"description": about},
        {"kind": ["module"], "title": [name], "summary": [""], "attributes": ["{}"]},
        vectors,
    )


def card_set_of(*cards: Card) -> CardSet:
    segments = [make_segment([each]) for each in cards]
    loaded = [
        Loaded(str(number), each.head, each.bucket, whole=True)
        for number, each in enumerate(segments)
    ]
    return CardSet(loaded, Buckets())


def test_a_card_says_what_a_crate_is_and_has() -> None:
    made = make_card(
        Source(CRATE, "Oak-Tree", "1.2.0", "wasm"),
        "00000000000000ff" + "0" * 48,
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
    assert made.entry == Entry(
        Source(CRATE, "Oak-Tree", "1.2.0", "wasm"),
        255,
        ("function", "module", "struct"),
        "A tree. It grows.",
    )
    texts = ("Oak-Tree", "A tree.\nIt grows.", "oak_tree roots", "Leaf climb", "Green. Goes up.")
    words = {term_hash(term) for text in texts for term in bm25.tokens(text)}
    assert words <= made.terms.keys()
    assert made.terms[term_hash("oak")] > made.terms[term_hash("climb")]
    assert made.vector == pytest.approx([0.5] * 4)


def test_only_the_items_mentioned_most_are_on_a_card() -> None:
    count = MOST_ITEMS + 50
    made = make_card(
        Source(CRATE, "big", "1.0.0"),
        "abc",
        "m",
        {},
        {
            "kind": ["function"] * count,
            "title": [f"name{chr(97 + row // 26)}{chr(97 + row % 26)}x" for row in range(count)],
            "summary": [""] * count,
            "attributes": [json.dumps({"in_degree": row}) for row in range(count)],
        },
        np.ones((count, 3), np.float32),
    )
    assert len(made.terms) == MOST_ITEMS + 1


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
    cards = card_set_of(
        card("walk", "goes through directories", AXES[:1]),
        card("mail", "sends letters", AXES[1:2]),
        card("pack", "makes archives of files", AXES[2:3]),
    )
    nowhere = np.full(4, 0.5, np.float32)
    assert names(cards.rank("send a letter", "m", nowhere))[0] == "mail"
    assert names(cards.rank("unheard of", "m", AXES[2]))[0] == "pack"


def names(ranking: Ranking) -> list[str]:
    return [entry.source.name for entry, _ in ranking]


def test_vectors_of_two_models_never_meet() -> None:
    other = card("other", "", np.ones((3, 7), np.float32), model="of 7 dimensions")
    ranking = card_set_of(other, card("near", "", AXES[:1]), card("far", "", -AXES[:1])).rank(
        "zebra", "m", AXES[0]
    )
    scores = {each.source.name: score for each, score in ranking}
    assert scores == pytest.approx({"near": 1.0, "other": 0.0, "far": -1.0}, abs=1e-3)
    assert ranking.score("near") == pytest.approx(1.0, abs=1e-3)
    assert ranking.score("unheard") == pytest.approx(-1.0, abs=1e-3)


def test_a_part_of_a_crate_is_found_beside_all_that_it_is_about() -> None:
    draw = np.random.default_rng(7)
    asked, *others = np.linalg.qr(draw.normal(size=(96, 6)))[0].T.astype(np.float32)
    wide = card("wide", "", np.stack([asked, *others[:3]])[np.arange(20) % 4])
    narrow = card("narrow", "", (asked + 2 * others[3])[None])
    far = card("far", "", others[4][None])
    ranking = card_set_of(wide, narrow, far).rank("zebra", "m", asked)
    # The means of two are about as near; one of the centres of the wide one is the query itself.
    assert len(wide.centres) == 4
    assert wide.vector @ asked == pytest.approx(narrow.vector @ asked, abs=0.06)
    assert ranking.score("wide") > ranking.score("narrow") + 0.3
    assert ranking.score("narrow") > ranking.score("far") + 0.3


@given(st.integers(1, 40), st.integers(1, CENTRES))
def test_centres_are_directions_of_what_they_stand_for(rows: int, count: int) -> None:
    vectors = np.random.default_rng(rows).normal(size=(rows, 6)).astype(np.float32)
    found = find_centres(vectors, count)
    assert found.shape == (min(rows, count), 6)
    assert np.linalg.norm(found, axis=1) == pytest.approx(1.0, abs=1e-5)
    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    if rows <= count:
        assert (found @ unit.T).max(axis=0) == pytest.approx(1.0, abs=1e-5)


def test_packed_vectors_lose_less_than_half_a_part() -> None:
    vectors = np.random.default_rng(3).uniform(-0.25, 0.25, size=(50, 32)).astype(np.float32)
    assert pack(vectors).nbytes == vectors.nbytes // 8
    assert unpack(pack(vectors)) == pytest.approx(vectors, abs=1 / 56 + 1e-6)


def test_an_empty_deck_has_no_best_card() -> None:
    assert list(card_set_of().rank("anything", "m", AXES[0])) == []


def test_the_last_card_of_a_source_counts_and_of_a_name_the_best() -> None:
    first, second = card("oak", "a tree", AXES[:1]), card("oak", "a plant", AXES[1:2])
    newer = replace(first, entry=replace(first.entry, source=Source(CRATE, "oak", "2.0.0")))
    assert [e.about for e in card_set_of(first, second).entries()] == ["a plant"]
    assert [e.source.version for e in card_set_of(newer, second).entries()] == ["2.0.0"]
    segments = [make_segment([first]), make_segment([], [first.source]), make_segment([second])]
    for count, expected in ((1, 1), (2, 0), (3, 1)):
        alive = survivors([each.head for each in segments[:count]])
        assert sum(int(each.sum()) for each in alive) == expected


words = st.lists(
    st.sampled_from(["walk", "mail", "pack", "tree", "leaf", "root", "hold", "ship", "mast"])
)
decks = st.lists(st.tuples(st.sampled_from("abcdefgh"), words), min_size=1, max_size=20)


@given(decks, st.data())
@hypothesis_settings(max_examples=50)
def test_joined_segments_rank_as_they_did_apart(
    rows: list[tuple[str, list[str]]], data: st.DataObject
) -> None:
    draws = np.random.default_rng(len(rows)).normal(size=(len(rows), 1, 4)).astype(np.float32)
    cards = [
        card(f"{name}{number % 5}", " ".join(said), draws[number])
        for number, (name, said) in enumerate(rows)
    ]
    apart = card_set_of(*cards)
    cut = data.draw(st.integers(0, len(cards)))
    parts = [make_segment(each) for each in (cards[:cut], cards[cut:]) if each]
    alive = survivors([each.head for each in parts])
    joined = join(parts, alive)
    head = read_head(encode_head(joined.head))
    together = CardSet([Loaded("1", head, joined.bucket, whole=True)], Buckets())
    assert list(together.entries()) == list(apart.entries())
    for query in ("walk", "a tree of leaves"):
        before, after = (each.rank(query, "m", AXES[0]) for each in (apart, together))
        left = {entry.key: score for entry, score in before}
        # What others have replaced counts for how rare a word is until it is joined away.
        if len(left) == len(cards):
            assert {entry.key: score for entry, score in after} == pytest.approx(left, abs=1e-3)


@pytest.mark.parametrize("at", [0, 5, -1])
def test_what_is_no_segment_is_refused(at: int) -> None:
    segment = make_segment([card("oak", "a tree", AXES)])
    for body, read in ((encode_head(segment.head), read_head), (segment.terms, read_bucket)):
        damaged = bytearray(body)
        damaged[at] ^= 0x55
        for each in (bytes(damaged), body[:-3], b""):
            with pytest.raises(Damaged):
                read(each)


def test_many_cards_have_their_vectors_in_few_directions() -> None:
    draw = np.random.default_rng(7)
    lines = draw.normal(size=(12, 96)).astype(np.float32)
    vectors = (draw.normal(size=(FULL_CARDS + 1, 12)) @ lines).astype(np.float32)
    cards = [card(f"c{n}", "", row[None]) for n, row in enumerate(vectors)]
    parts = [make_segment(cards[:-1]), make_segment(cards[-1:])]
    joined = join(parts, survivors([each.head for each in parts]))
    assert joined.head.codes.shape == (len(cards), COARSE)
    assert joined.head.bits == 8
    assert joined.head.centres.shape == (len(cards), FINE // 2)
    ranked = CardSet([Loaded("1", joined.head, joined.bucket, whole=True)], Buckets())
    found = next(iter(ranked.rank("zebra", "m", cards[99].vector)))[0]
    assert found.source.name == "c99"
    # A whole segment beside it is compared in the same directions, and joins it.
    late = make_segment([card("late", "", cards[99].vector[None])])
    for parts in ([joined, late], [join([joined, late], survivors([joined.head, late.head]))]):
        heads = [read_head(encode_head(each.head)) for each in parts]
        both = CardSet(
            [
                Loaded(str(n), head, each.bucket, whole=True)
                for n, (head, each) in enumerate(zip(heads, parts, strict=True))
            ],
            Buckets(),
        )
        scores = {
            entry.source.name: score for entry, score in both.rank("zebra", "m", cards[99].vector)
        }
        assert min(scores["late"], scores["c99"]) > max(
            score for name, score in scores.items() if name not in ("late", "c99")
        )


@given(st.lists(st.integers(-1000, 1000), max_size=30))
def test_standard_scores(values: list[int]) -> None:
    scores = standard_scores(np.array(values, np.float32))
    assert len(scores) == len(values)
    varied = len(set(values)) > 1
    assert float(scores.sum()) == pytest.approx(0.0, abs=1e-2)
    assert float((scores**2).sum()) == pytest.approx(len(values) if varied else 0.0, abs=1e-2)
