"""The bundled model's vectors of single words, read from its files where they lie."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray


class WordVectors:
    """A vector for each whole word of a static model; its length says how much the word means.

    Args:
        model: the model's file; its rows are mapped into memory and not copied.
        tokenizer: the tokenizer's file, whose vocabulary numbers the rows.
        tables: where ``rows`` (int8) and ``scales`` (float32, one a row) begin in the model's file.
        dimensions: of each row.
    """

    def __init__(
        self, model: Path, tokenizer: Path, tables: dict[str, int], dimensions: int
    ) -> None:
        entries: dict[str, int] = json.loads(tokenizer.read_bytes())["model"]["vocab"]
        shape = (len(entries), dimensions)
        self._numbers = {word: row for word, row in entries.items() if word.isalpha()}
        self._rows: NDArray[np.int8] = np.memmap(model, np.int8, "r", tables["rows"], shape)
        self._scales: NDArray[np.float32] = np.memmap(
            model, "<f4", "r", tables["scales"], shape[:1]
        )

    def number(self, term: str) -> int | None:
        """Return the row of a word, or of the word with the final e that its stem has lost."""
        found = self._numbers.get(term)
        return self._numbers.get(f"{term}e") if found is None else found

    def vectors(
        self, numbers: Sequence[int] | NDArray[np.int64]
    ) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """Return unit vectors, shape ``(n, dimensions)``, and their lengths before, ``(n,)``."""
        rows = self._rows[numbers].astype(np.float32)
        lengths = np.sqrt(np.einsum("ij,ij->i", rows, rows))
        rows /= np.maximum(lengths, 1e-9)[:, None]
        return rows, lengths * self._scales[numbers]
