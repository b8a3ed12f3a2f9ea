"""Words that are used for one another."""

from __future__ import annotations

import numpy as np

from docstow.index.related import WORDS, RelatedScores, related_terms
from docstow.text import bm25


def test_words_of_a_line_are_related_and_those_of_two_lines_are_not() -> None:
    assert {"start", "launch", "run"} <= set(related_terms("spawn"))
    assert "spawn" in related_terms("launch")
    assert "spawn" not in related_terms("spawn")
    # Both are related to "drop", in other groups.
    assert "omit" not in related_terms("unlink")
    assert related_terms("frobnicate") == frozenset()


def test_no_line_is_within_another() -> None:
    groups = [frozenset(line.split()) for line in WORDS.read_text("utf-8").splitlines()]
    assert all(len(group) > 1 for group in groups)
    assert not [a for a in groups for b in groups if a < b]
    assert len(set(groups)) == len(groups)


def test_the_best_word_of_a_group_counts_once_and_less_than_the_words_of_the_query() -> None:
    texts = ["spawn it", "launch it and start it", "paint it"]
    postings = bm25.build_postings([[each] for each in texts], [1.0], [0.5])
    by_term = dict(
        zip(postings.terms, zip(postings.rows, postings.weights, strict=True), strict=True)
    )
    scored = RelatedScores(by_term.get, len(texts))
    scores = scored.score(bm25.tokens("spawn"))
    plain = bm25.score(by_term.get, bm25.tokens("spawn"), len(texts))
    assert scores[0] == plain[0] > scores[1] > scores[2] == 0
    launch = bm25.score(by_term.get, bm25.tokens("launch"), len(texts))
    start = bm25.score(by_term.get, bm25.tokens("start"), len(texts))
    assert np.isclose(scores[1], max(launch[1], start[1]) / 2)
    # A related word that is asked for, too, counts by itself.
    both = scored.score(bm25.tokens("spawn launch"))
    assert both[1] > scores[1]
    assert (
        both.tolist() == RelatedScores(by_term.get, len(texts)).score(["spawn", "launch"]).tolist()
    )
