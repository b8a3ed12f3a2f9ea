"""What ranking knows of candidates."""

from __future__ import annotations

import math
from collections.abc import Collection
from dataclasses import replace

import numpy as np
import pytest

from docstow.index.ranking import (
    Items,
    Matches,
    describe_candidates,
    describe_items,
    feature_weights,
    score_candidates,
    twin_word,
)
from docstow.text import bm25

ITEM = Items(
    kinds=["method"],
    paths=["stowage::Hold::try_stow"],
    titles=["try_stow"],
    bare=np.array([False]),
    in_degree=np.array([3]),
    members=np.array([0]),
    length=np.array([120]),
    example=np.array([False]),
    deprecated=np.array([False]),
    twins=["try"],
    of_trait=np.array([False]),
)
MATCH = Matches(
    keyword=np.array([4.0]),
    keyword_best=8.0,
    keyword_rank=np.array([2]),
    cosine=np.array([0.5]),
    cosine_best=0.7,
    vector_rank=np.array([0]),
    anchor=np.array([1.5]),
    text_near=np.array([0.6]),
    name_near=np.array([0.2]),
    summary_near=np.array([0.4]),
    leaders=np.array([0.8]),
    related=np.array([3.0]),
    related_best=6.0,
    related_rank=np.array([10]),
    guide_mention=np.array([0.25]),
    named=np.array([0.0]),
)


def describe(item: Items, terms: Collection[str]) -> dict[str, float]:
    """The features of one candidate that matches like any other."""
    return {
        name: float(value)
        for name, (value,) in describe_candidates(describe_items(item), MATCH, terms).items()
    }


def score(item: Items) -> float:
    (found,) = score_candidates(describe_candidates(describe_items(item), MATCH, ["stow"]))
    return float(found)


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
    values = describe(ITEM, ["stow", "cargo"])
    assert values["keyword_share"] == 0.5
    assert values["fusion"] == pytest.approx(60 / 62)
    assert values["keyword_place"] == pytest.approx(10 / 12)
    assert values["vector_place"] == 0
    assert values["anchor"] == pytest.approx(math.log(2.5))
    assert values["related_share"] == 0.5
    assert values["related_place"] == 0.5
    assert values["guide_mention"] == 0.25
    assert values["cosine_gap"] == pytest.approx(-0.2)
    assert values["is_method"] == 1
    assert values["twin"] == 1


def test_the_words_of_a_title_are_asked_for_or_related_to_what_is() -> None:
    item = replace(ITEM, titles=["discardPieces"])
    values = describe(item, bm25.tokens("drop all pieces"))
    assert (values["title_asked"], values["title_related"]) == (0.5, 1.0)
    assert values["title_words"] == 2


def test_a_query_that_asks_for_the_variant_does_not_count_against_it() -> None:
    assert describe(ITEM, ["try", "stow"])["twin"] == 0


def test_weights_are_of_features_that_exist() -> None:
    assert set(feature_weights()) <= set(describe(ITEM, []))


def test_what_is_deprecated_or_a_twin_comes_after_its_like() -> None:
    plain = score(replace(ITEM, twins=[""]))
    assert score(ITEM) < plain
    assert score(replace(ITEM, twins=[""], deprecated=np.array([True]))) < plain
