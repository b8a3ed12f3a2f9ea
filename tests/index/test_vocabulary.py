"""Words that may be like a misspelt one."""

from __future__ import annotations

import random

from rapidfuzz.distance import DamerauLevenshtein

from docstow.index.loaded import Vocabulary

LEAST = 0.8


def test_no_word_is_left_out_that_is_similar_enough() -> None:
    chance = random.Random(4)
    words = ["".join(chance.choices("abcde_é名", k=chance.randint(0, 12))) for _ in range(400)]
    vocabulary = Vocabulary.of(words)
    asked = [word for word in words if len(word) > 3]
    left_out = 0
    for word in [*asked, *("".join(chance.sample(each, len(each))) for each in asked)]:
        near = vocabulary.near(word, LEAST)
        similar = [
            each for each in words if DamerauLevenshtein.normalized_similarity(word, each) >= LEAST
        ]
        assert [each for each in near if each in similar] == similar
        left_out += len(words) - len(near)
    # Nearly all are: comparing them is what takes time.
    assert left_out > 0.8 * 2 * len(asked) * len(words)


def test_no_words_are_near_none() -> None:
    assert Vocabulary.of([]).near("word", LEAST) == []
