"""The kept report still says what the ranking is worth."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from evaluation.__main__ import REPORT, ask
from evaluation.crates import Crates
from evaluation.measures import Score, interval, mean, score
from evaluation.questions import load

# Linear algebra differs in the last digits between processors, and two near scores may swap.
TOLERANCE = 0.01


def test_a_ranking_is_judged_as_the_books_do() -> None:
    answers = [{"a", "a2"}, {"b"}]
    judged = score(["x", "a2", "a", "b"], answers)
    assert (judged.hit, judged.mrr) == (1.0, 0.5)
    # Gains at ranks 2 and 4 (the second name of the first answer earns nothing), best at 1 and 2.
    assert judged.ndcg == pytest.approx((0.63093 + 0.43068) / (1 + 0.63093), abs=1e-4)
    assert score([], answers) == Score(0.0, 0.0, 0.0)
    assert mean([Score(1, 1, 1), Score(0, 0, 0)]) == Score(0.5, 0.5, 0.5)
    low, high = interval([0.0, 1.0] * 50)
    assert 0.35 < low < 0.5 < high < 0.65


def test_the_report_is_true(corpus: Path, tmp_path: Path) -> None:
    row = r"^\| ([^|]+?) \| 173 \| ([\d.]+) \| ([\d.]+) \| ([\d.]+) "
    bundled, _, _ = REPORT.read_text("utf-8").partition("## Stages with")
    kept = re.findall(row, bundled, re.MULTILINE)
    crates = Crates([corpus], tmp_path)
    outcomes = [ask(crates, each) for each in load(corpus.parent / "eval" / "dev-queries.jsonl")]
    assert len(kept) == 4
    for name, *figures in kept:
        average = mean([outcome.scores[name] for outcome in outcomes])
        now = [average.hit, average.mrr, average.ndcg]
        for before, after in zip(figures, now, strict=True):
            assert abs(float(before) - after) <= TOLERANCE, (
                f"{name}: {before} was kept, {after} now"
            )
