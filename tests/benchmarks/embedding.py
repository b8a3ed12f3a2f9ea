"""Passages a second and time a question: the bundled model against MiniLM."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

import numpy as np

from benchmarks.measure import each, ms, quantile, table, timed
from docstow.embedding import Embedder
from docstow.index.loaded import Index

BASELINE = "MiniLM fp32"
AT_MOST = 5_000
"""The bundled model is given so many passages; a transformer a hundredth of them."""


def passages(index: Index) -> list[str]:
    """A text a passage: where it is, its header and its prose."""
    columns, table_ = index.columns, index.passages
    texts = []
    for row, heading, text in zip(
        table_["document"], table_["heading_path"], table_["text"], strict=True
    ):
        parts = (columns["path"][row], columns["signature"][row], heading, text)
        texts.append("\n".join(part for part in parts if part))
    return texts


def compare(
    embedders: Mapping[str, Embedder], texts: Sequence[str], queries: Sequence[str]
) -> None:
    """Print speed of passages and of questions."""
    rates, questions = {}, {}
    for name, embedder in embedders.items():
        embedder.embed_query("warm")
        many = [*texts] * (AT_MOST // len(texts) + 1) if embedder.fields else [*texts]
        sample = many[:AT_MOST] if embedder.fields else evenly(texts, AT_MOST // 100)
        taken = timed(lambda e=embedder, s=sample: e.embed(s), repeat=3)  # type: ignore[misc]
        rates[name] = (len(sample) / taken.wall_s, len(sample) / taken.cpu_s)
        # What was asked lately is known, so that each question is another one.
        asked = [f"{query} {number}" for number in range(5) for query in queries]
        questions[name] = each([partial(embedder.embed_query, query) for query in asked])
    base = rates[BASELINE] if BASELINE in rates else next(iter(rates.values()))
    base_name = BASELINE if BASELINE in rates else next(iter(rates))
    base_query = quantile(questions[base_name], 0.5)
    length = f"{np.mean([*map(len, texts)]):.0f} characters"
    table(
        f"Embedding (baseline: {base_name}; a passage has {length} on average)",
        ["model", "passages/s", "ratio", "passages/CPU s", "ratio", "a question p50", "ratio"],
        [
            [
                name,
                f"{wall:.0f}",
                f"{wall / base[0]:.1f}",
                f"{cpu:.0f}",
                f"{cpu / base[1]:.1f}",
                ms(quantile(questions[name], 0.5)),
                f"{base_query / quantile(questions[name], 0.5):.1f}",
            ]
            for name, (wall, cpu) in rates.items()
        ],
    )


def evenly(texts: Sequence[str], count: int) -> list[str]:
    """So many of the texts, from the whole breadth."""
    step = max(1, len(texts) // count)
    return list(texts[::step][:count])
