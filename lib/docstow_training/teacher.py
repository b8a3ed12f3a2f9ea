"""Stages 0 and 1: begin from a teacher's vectors of words, then imitate those of sentences."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from docstow_training import export
from docstow_training.contrast import Ragged
from docstow_training.learning import imitate
from docstow_training.vocabulary import count_words, make_vocabulary, principal_axes, rarity

if TYPE_CHECKING:
    from docstow_training.texts import Item

EPOCHS = 8
LONGEST = 24
"""Sentences of more words are not imitated: the teacher takes long for them, and they blur."""


def first_table(
    folder: Path, items: Sequence[Item], *, sentences: int, seed: int
) -> tuple[list[str], NDArray[np.float32], NDArray[np.float32]]:
    """The vocabulary, and the table after stage 0 and after stage 1.

    Args:
        folder: of the teacher, a sentence-transformers model.
        items: whose words are counted and whose first sentences are imitated.
        sentences: how many of these.
        seed: chooses them.
    """
    from sentence_transformers import (  # type: ignore[import-not-found, unused-ignore]
        SentenceTransformer,
    )

    teacher = SentenceTransformer(str(folder), device="cpu")
    counts = count_words(field for item in items for field in item.fields)
    entries = sorted(teacher.tokenizer.get_vocab(), key=teacher.tokenizer.get_vocab().__getitem__)
    vocabulary = make_vocabulary(entries, counts)
    tokenizer = export.tokenizer(vocabulary)
    known = sorted({item.first for item in items if 3 <= len(item.first.split()) <= LONGEST})
    sample = random.Random(seed).sample(known, min(sentences, len(known)))  # noqa: S311
    taught = _asker(teacher)
    targets = taught(sample)
    axes = principal_axes(targets)
    words = taught([entry.removeprefix("##") for entry in vocabulary])
    table = words @ axes * rarity(vocabulary, tokenizer, counts)[:, None]
    reduced = targets @ axes
    reduced /= np.linalg.norm(reduced, axis=1, keepdims=True)
    fitted = imitate(table, Ragged.encode(tokenizer, sample), reduced, epochs=EPOCHS)
    return vocabulary, table, fitted


def _asker(teacher: Any) -> Callable[[Sequence[str]], NDArray[np.float32]]:
    def taught(texts: Sequence[str]) -> NDArray[np.float32]:
        vectors = teacher.encode(list(texts), batch_size=128, normalize_embeddings=True)
        return np.asarray(vectors, dtype=np.float32)

    return taught
