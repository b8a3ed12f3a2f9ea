"""What a ranking is worth: hit@k, MRR@k and nDCG@k, with bootstrap intervals.

Relevance is binary. nDCG is that of Järvelin and Kekäläinen (TOIS 2002) with gain 1 and the
discount 1 / log2(rank + 1).
"""

from __future__ import annotations

import math
import random
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Score:
    """The worth of one ranking: ``hit`` at 5, ``mrr`` and ``ndcg`` at 10; each from 0 to 1."""

    hit: float
    mrr: float
    ndcg: float


def score(ranking: Sequence[str], answers: Sequence[Collection[str]]) -> Score:
    """Judge one ranking.

    Args:
        ranking: what was returned, best first.
        answers: for each relevant item the names that mean it; a second name of an item that was
            found already earns nothing.
    """
    found: set[int] = set()
    gains = []
    for name in ranking[:10]:
        new = [n for n, names in enumerate(answers) if name in names and n not in found]
        found.update(new)
        gains.append(bool(new))
    first = next((rank for rank, gain in enumerate(gains, 1) if gain), 0)
    best = sum(1 / math.log2(rank + 1) for rank in range(1, min(len(answers), 10) + 1))
    dcg = sum(1 / math.log2(rank + 1) for rank, gain in enumerate(gains, 1) if gain)
    return Score(float(any(gains[:5])), 1 / first if first else 0.0, dcg / best if best else 0.0)


def mean(scores: Sequence[Score]) -> Score:
    """The mean of each measure."""
    count = max(1, len(scores))
    return Score(
        sum(each.hit for each in scores) / count,
        sum(each.mrr for each in scores) / count,
        sum(each.ndcg for each in scores) / count,
    )


def interval(values: Sequence[float], *, rounds: int = 1000, seed: int = 7) -> tuple[float, float]:
    """The 95 % percentile bootstrap interval of a mean (Efron 1979), over queries."""
    chance = random.Random(seed)
    means = sorted(sum(chance.choices(values, k=len(values))) / len(values) for _ in range(rounds))
    return means[int(rounds * 0.025)], means[int(rounds * 0.975)]


def table(rows: Mapping[str, Sequence[Score]]) -> str:
    """A Markdown table, a row a name, with the interval of nDCG@10."""
    lines = [
        "| | queries | hit@5 | MRR@10 | nDCG@10 | 95 % |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    for name, scores in rows.items():
        average = mean(scores)
        low, high = interval([each.ndcg for each in scores])
        lines.append(
            f"| {name} | {len(scores)} | {average.hit:.3f} | {average.mrr:.3f} "
            f"| {average.ndcg:.3f} | {low:.3f}-{high:.3f} |"
        )
    return "\n".join(lines)
