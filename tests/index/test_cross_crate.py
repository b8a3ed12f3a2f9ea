"""Lists of several crates become one."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from docstow.core.model import Hit
from docstow.index.search import CRATE_DEPTH, CrateHit, fuse_crates

# Whole numbers and halves: scaling them by powers of two loses nothing.
values = st.integers(-100, 100).map(float)
entries = st.tuples(values, st.integers(-8, 8).map(lambda n: n / 8))
lists = st.lists(st.lists(entries, max_size=CRATE_DEPTH + 10), min_size=1, max_size=5)


def found(part: int, place: int, score: float, cosine: float) -> CrateHit:
    return CrateHit(Hit(f"c{part}::i{place}", "function", "", "", "", "", score, ""), cosine, part)


def made(rows: list[list[tuple[float, float]]]) -> list[list[CrateHit]]:
    """Each list best first, as a search gives it."""
    return [
        [found(part, place, *entry) for place, entry in enumerate(sorted(row, reverse=True))]
        for part, row in enumerate(rows)
    ]


def paths(fused: list[CrateHit]) -> list[str]:
    return [each.hit.path for each in fused]


@given(lists, st.data())
def test_every_hit_once_and_best_first(
    rows: list[list[tuple[float, float]]], data: st.DataObject
) -> None:
    scores = data.draw(st.lists(values, min_size=len(rows), max_size=len(rows)))
    fused = fuse_crates(made(rows), scores)
    assert sorted(paths(fused)) == sorted(path for each in made(rows) for path in paths(each))
    worths = [each.hit.score for each in fused]
    assert worths == sorted(worths, reverse=True)


@given(lists)
def test_equal_cosines_keep_the_order_of_a_list(rows: list[list[tuple[float, float]]]) -> None:
    level = [[(score, 0.5) for score, _ in row] for row in rows]
    fused = fuse_crates(made(level), [0.0] * len(rows))
    for part, each in enumerate(made(level)):
        assert [one.hit.path for one in fused if one.crate == part] == paths(each)


@given(lists)
def test_the_scale_of_scores_makes_no_difference(rows: list[list[tuple[float, float]]]) -> None:
    scaled = [[(4 * score, cosine) for score, cosine in row] for row in rows]
    scores = [float(number) for number in range(len(rows))]
    before, after = fuse_crates(made(rows), scores), fuse_crates(made(scaled), scores)
    assert [each.hit.score for each in before] == [each.hit.score for each in after]
    assert paths(before) == paths(after)


@given(lists)
def test_longer_lists_leave_the_first_hits_as_they_were(
    rows: list[list[tuple[float, float]]],
) -> None:
    whole = made(rows)
    short = [each[:CRATE_DEPTH] for each in whole]
    scores = [0.5] * len(rows)
    kept = {path for each in short for path in paths(each)}
    assert [p for p in paths(fuse_crates(whole, scores)) if p in kept] == paths(
        fuse_crates(short, scores)
    )


def test_a_crate_that_suits_better_comes_first() -> None:
    rows = made([[(1.0, 0.5)], [(1.0, 0.5)]])
    assert paths(fuse_crates(rows, [0.0, 1.0])) == ["c1::i0", "c0::i0"]
    assert fuse_crates(rows, [0.0, 1.0])[0].hit.details["crate"] == {
        "score": 1.0,
        "place": 1,
        "cosine": 0.5,
    }


def test_nothing_of_nothing() -> None:
    assert fuse_crates([], []) == []
    assert fuse_crates([[], []], [1.0, 2.0]) == []
