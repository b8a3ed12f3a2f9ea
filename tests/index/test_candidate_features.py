"""What ranking knows of candidates."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from docstow.index.ranking import (
    Item,
    Match,
    describe_candidate,
    feature_weights,
    score_candidate,
    twin_word,
)
from docstow.text import bm25

ITEM = Item(
    kind="method",
    path="stowage::Hold::try_stow",
    title="try_stow",
    summary="Stows cargo if there is room.",
    in_degree=3,
    members=0,
    length=120,
    example=False,
    deprecated=False,
    twin="try",
    of_trait=False,
)
MATCH = Match(
    keyword=4.0,
    keyword_best=8.0,
    keyword_rank=2,
    cosine=0.5,
    cosine_best=0.7,
    vector_rank=0,
    anchor=1.5,
    text_near=0.6,
    name_near=0.2,
    summary_near=0.4,
    leaders=0.8,
    related=3.0,
    related_best=6.0,
    related_rank=10,
    told=0.25,
    named=0.0,
)


@pytest.mark.parametrize(
    ("title", "neighbours", "word"),
    [
        ("get_mut", {"get", "set"}, "mut"),
        ("try_send", {"send"}, "try"),
        ("try_send", {"recv"}, ""),
        ("commute", {"com"}, ""),
        ("get", {"get_mut"}, ""),
    ],
)
def test_a_twin_has_a_plainer_neighbour(title: str, neighbours: set[str], word: str) -> None:
    assert twin_word(title, neighbours) == word


def test_features_say_how_an_item_meets_a_query() -> None:
    values = describe_candidate(ITEM, MATCH, ["stow", "cargo"])
    assert values["keyword_share"] == 0.5
    assert values["fusion"] == pytest.approx(60 / 62)
    assert values["keyword_place"] == pytest.approx(10 / 12)
    assert values["vector_place"] == 0
    assert values["anchor"] == pytest.approx(math.log(2.5))
    assert values["related_share"] == 0.5
    assert values["related_place"] == 0.5
    assert values["told"] == 0.25
    assert values["cosine_gap"] == pytest.approx(-0.2)
    assert values["is_method"] == 1
    assert values["twin"] == 1


def test_the_words_of_a_title_are_asked_for_or_related_to_what_is() -> None:
    item = replace(ITEM, title="discardPieces")
    values = describe_candidate(item, MATCH, bm25.tokens("drop all pieces"))
    assert (values["title_asked"], values["title_related"]) == (0.5, 1.0)
    assert values["title_words"] == 2


def test_a_query_that_asks_for_the_variant_does_not_count_against_it() -> None:
    assert describe_candidate(ITEM, MATCH, ["try", "stow"])["twin"] == 0


def test_weights_are_of_features_that_exist() -> None:
    assert set(feature_weights()) <= set(describe_candidate(ITEM, MATCH, []))


def test_what_is_deprecated_or_a_twin_comes_after_its_like() -> None:
    asked = ["stow"]
    plain = score_candidate(describe_candidate(replace(ITEM, twin=""), MATCH, asked))
    assert score_candidate(describe_candidate(ITEM, MATCH, asked)) < plain
    assert (
        score_candidate(describe_candidate(replace(ITEM, twin="", deprecated=True), MATCH, asked))
        < plain
    )
