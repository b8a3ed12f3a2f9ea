from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from docstow.index.ranking import Scale, calibrate, reciprocal_rank_fusion, times_before, top

small_scores = st.lists(st.integers(-4, 4), max_size=30)


def fuse(rankings: Sequence[np.ndarray], k: int = 60) -> list[tuple[int, float]]:
    rows, scores = reciprocal_rank_fusion(rankings, k=k)
    return list(zip(rows.tolist(), scores.tolist(), strict=True))


@given(small_scores, st.integers(-1, 40))
def test_top_is_the_head_of_a_full_stable_sort(scores: list[int], k: int) -> None:
    expected = sorted(range(len(scores)), key=lambda row: (-scores[row], row))[: max(k, 0)]
    assert top(np.array(scores, dtype=np.float32), k).tolist() == expected


def test_fusion_adds_reciprocal_ranks() -> None:
    fused = fuse([np.array([7, 2, 9]), np.array([2, 5])])
    assert [row for row, _ in fused] == [2, 7, 5, 9]
    shares = [61 * share / 2 for share in (1 / 62 + 1 / 61, 1 / 61, 1 / 62, 1 / 63)]
    assert [score for _, score in fused] == pytest.approx(shares)


def test_fusion_with_k() -> None:
    fused = fuse([np.array([1]), np.array([3, 1])], k=9)
    assert dict(fused) == pytest.approx({1: (1 + 10 / 11) / 2, 3: 1 / 2})


def test_the_first_of_all_rankings_has_one() -> None:
    assert fuse([np.array([4, 1]), np.array([4])])[0] == (4, 1.0)


rankings = st.lists(
    st.lists(st.integers(0, 20), unique=True, max_size=12).map(
        lambda rows: np.array(rows, dtype=np.int64)
    ),
    max_size=4,
)


@given(rankings, st.integers(1, 100))
def test_fusion_ranks_every_row_once_and_falls(lists: list[np.ndarray], k: int) -> None:
    fused = fuse(lists, k=k)
    assert sorted(row for row, _ in fused) == sorted(
        {row for rows in lists for row in rows.tolist()}
    )
    assert fused == sorted(fused, key=lambda item: (-item[1], item[0]))
    assert all(0 < score <= 1 + 1e-9 for _, score in fused)


@given(small_scores)
def test_times_before_counts_the_same_values_before_each_place(values: list[int]) -> None:
    expected = [values[:place].count(value) for place, value in enumerate(values)]
    assert times_before(np.array(values, np.int64)).tolist() == expected


@given(st.lists(st.floats(-50, 50), unique=True), st.floats(-5, 5), st.floats(0.5, 5))
def test_calibrated_scores_keep_their_order(
    scores: list[float], middle: float, width: float
) -> None:
    shown = [calibrate(score, Scale(middle, width)) for score in sorted(scores)]
    assert shown == sorted(shown)
    assert all(0 <= score <= 1 for score in shown)


@given(rankings, st.permutations(range(21)))
def test_fused_scores_do_not_depend_on_how_rows_are_numbered(
    lists: list[np.ndarray], numbers: list[int]
) -> None:
    renamed = [np.array([numbers[row] for row in rows.tolist()], dtype=np.int64) for rows in lists]
    expected = {numbers[row]: value for row, value in fuse(lists)}
    assert dict(fuse(renamed)) == expected
