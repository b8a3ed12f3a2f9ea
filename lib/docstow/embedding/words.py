"""The bundled model's vectors of single words, read from its files where they lie."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from docstow.embedding.wordpiece import WordPieces


class WordVectors:
    """A vector for each whole word of a static model; its length says how much the word means.

    Args:
        pieces: the vocabulary, which numbers the rows.
        model: the model's file; its rows are mapped into memory and not copied.
        tables: where ``rows`` (int8) and ``scales`` (float32, one a row) begin in the model's file.
        dimensions: of each row.
    """

    def __init__(
        self, pieces: WordPieces, model: Path, tables: dict[str, int], dimensions: int
    ) -> None:
        self._pieces = pieces
        shape = (len(pieces), dimensions)
        self._rows: NDArray[np.int8] = np.memmap(model, np.int8, "r", tables["rows"], shape)
        self._scales: NDArray[np.float32] = np.memmap(
            model, "<f4", "r", tables["scales"], shape[:1]
        )

    def number(self, term: str) -> int | None:
        """Return the row of a word, or of the word with the final e that its stem has lost."""
        if not term.isalpha():
            return None
        found = self._pieces.number(term)
        return self._pieces.number(f"{term}e") if found is None else found

    def sum(self, numbers: Sequence[int]) -> NDArray[np.float32]:
        """Return the sum of the vectors of some tokens: shape ``(dimensions,)``."""
        rows = self._rows[numbers].astype(np.float32)
        total: NDArray[np.float32] = (rows * self._scales[numbers][:, None]).sum(axis=0)
        return total

    def vectors(
        self, numbers: Sequence[int] | NDArray[np.int64]
    ) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """Return unit vectors, shape ``(n, dimensions)``, and their lengths before, ``(n,)``."""
        rows = self._rows[numbers].astype(np.float32)
        lengths = np.sqrt(np.einsum("ij,ij->i", rows, rows))
        rows /= np.maximum(lengths, 1e-9)[:, None]
        return rows, lengths * self._scales[numbers]
