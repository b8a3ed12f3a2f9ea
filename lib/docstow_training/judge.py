"""Judge a table on questions of crates that were kept out of training."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer

from docstow_training.contrast import FIELDS, WEIGHTS, Ragged
from docstow_training.questions import Asked
from docstow_training.texts import Item

_TOP = 10


class Judge:
    """Ranks all items of a question's crate by the composed vectors alone."""

    def __init__(
        self, tokenizer: Tokenizer, items: Sequence[Item], questions: Sequence[Asked]
    ) -> None:
        self._questions = questions
        self._queries = Ragged.encode(tokenizer, [question.query for question in questions])
        self._crates: dict[str, tuple[NDArray[np.int64], Ragged]] = {}
        for crate in sorted({question.crate for question in questions}):
            found = [n for n, item in enumerate(items) if item.source == f"rust:{crate}"]
            texts = [text for number in found for text in items[number].fields]
            self._crates[crate] = np.array(found), Ragged.encode(tokenizer, texts)

    def figures(self, table: NDArray[np.float32]) -> dict[str, float]:
        """``hit@5``, ``MRR@10`` and ``nDCG@10``, as means over the questions."""
        vectors = {
            crate: _composed(_units(table, texts).reshape(len(items), len(FIELDS), -1))
            for crate, (items, texts) in self._crates.items()
        }
        queries = _units(table, self._queries)
        rows = []
        for question, query in zip(self._questions, queries, strict=True):
            scores = vectors[question.crate] @ query
            best = self._crates[question.crate][0][np.argsort(-scores, kind="stable")[:_TOP]]
            rows.append(_worth(np.isin(best, question.items), len(question.items)))
        means = np.mean(rows, axis=0)
        names = ("hit@5", "MRR@10", "nDCG@10")
        return {name: round(float(value), 3) for name, value in zip(names, means, strict=True)}


def _units(table: NDArray[np.float32], texts: Ragged) -> NDArray[np.float32]:
    """Unit vectors of texts; zero where no word is known."""
    sums = np.zeros((len(texts.starts) - 1, table.shape[1]), dtype=np.float32)
    lengths = np.diff(texts.starts)
    np.add.at(sums, np.repeat(np.arange(len(lengths)), lengths), table[texts.tokens])
    return _unit_long(sums)


def _composed(fields: NDArray[np.float32]) -> NDArray[np.float32]:
    """Items' vectors from those of their fields, of shape (items, fields, dimensions)."""
    return _unit_long(np.einsum("ifd,f->id", fields, np.array(WEIGHTS, dtype=np.float32)))


def _unit_long(vectors: NDArray[np.float32]) -> NDArray[np.float32]:
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    units: NDArray[np.float32] = vectors / np.maximum(lengths, 1e-12)
    return units


def _worth(hits: NDArray[np.bool_], relevant: int) -> tuple[float, float, float]:
    discounts = 1.0 / np.log2(np.arange(_TOP) + 2.0)
    first = float(1.0 / (hits.argmax() + 1)) if hits.any() else 0.0
    gain = (hits * discounts[: len(hits)]).sum() / discounts[: min(relevant, _TOP)].sum()
    return float(hits[:5].any()), first, float(gain)
