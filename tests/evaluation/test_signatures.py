"""Search by signature is worth what its report says, over crates that are stowed in a second."""

from __future__ import annotations

import statistics
from pathlib import Path

from evaluation.crates import Crates
from evaluation.signatures import ask, load

LIGHT = frozenset(("serde_json", "itertools", "regex", "url", "bytes"))


def test_functions_are_among_the_first_five(corpus: Path, tmp_path: Path) -> None:
    crates = Crates([corpus], tmp_path)
    outcomes = [ask(crates, query) for query in load() if query.crate in LIGHT]
    assert len(outcomes) >= 15
    assert statistics.fmean(outcome.recall for outcome in outcomes) >= 0.9
    assert statistics.fmean(outcome.reciprocal for outcome in outcomes) >= 0.85
