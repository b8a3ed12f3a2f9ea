"""The vocabulary and its first vectors: which words there are, how rare, along which axes."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from docstow_training import export

if TYPE_CHECKING:
    from tokenizers import Tokenizer

DIMENSIONS = 256
DOCUMENTATION_WORDS = 12_000
SIF = 1e-3
"""a of a / (a + p), the weight of a word of probability p: Arora, Liang and Ma, ICLR 2017."""


def count_words(passages: Iterable[str]) -> Counter[str]:
    """How often each word, as the tokenizer's splitter sees it, occurs."""
    splitter = export.tokenizer([export.PAD, export.UNKNOWN])
    normalizer, pre_tokenizer = splitter.normalizer, splitter.pre_tokenizer
    if normalizer is None or pre_tokenizer is None:
        raise ValueError("the tokenizer has no splitter")
    counts: Counter[str] = Counter()
    for passage in passages:
        words = pre_tokenizer.pre_tokenize_str(normalizer.normalize_str(passage))
        counts.update(word for word, _ in words)
    return counts


def make_vocabulary(teacher_entries: Sequence[str], counts: Counter[str]) -> list[str]:
    """The teacher's Latin and Greek words and pieces, and the commonest words of documentation."""
    kept = [
        entry for entry in teacher_entries if re.fullmatch(r"(##)?[0-9a-z\u03b1-\u03c9]+", entry)
    ]
    known = set(kept)
    words = sorted(counts, key=lambda word: (-counts[word], word))
    new = [word for word in words if word not in known and 1 < len(word) <= 32]
    return [export.PAD, export.UNKNOWN, *kept, *new[:DOCUMENTATION_WORDS]]


def rarity(
    vocabulary: Sequence[str], tokenizer: Tokenizer, counts: Counter[str]
) -> NDArray[np.float32]:
    """The SIF weight of each entry, by how often the words of documentation contain it."""
    frequency = np.full(len(vocabulary), 0.5)
    for word, count in counts.items():
        np.add.at(frequency, tokenizer.encode(word, add_special_tokens=False).ids, count)
    weights: NDArray[np.float32] = (SIF / (SIF + frequency / frequency.sum())).astype(np.float32)
    weights[:2] = 0.0  # padding and unknown words say nothing
    return weights


def principal_axes(vectors: NDArray[np.float32]) -> NDArray[np.float32]:
    """The ``DIMENSIONS`` main axes of unit vectors, shape ``(teacher dimensions, DIMENSIONS)``."""
    _, axes = np.linalg.eigh(vectors.T.astype(np.float64) @ vectors)
    main: NDArray[np.float32] = axes[:, ::-1][:, :DIMENSIONS].astype(np.float32)
    return main
