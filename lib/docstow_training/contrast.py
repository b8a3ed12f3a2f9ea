"""Stage 2: fit the rows so that questions are near the items that answer them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer

from docstow_training.pairs import Pair
from docstow_training.questions import Asked
from docstow_training.texts import Item

FIELDS = ("path", "signature", "first", "rest", "name")
WEIGHTS = (0.7, 0.3, 1.0, 0.3, 0.3)
"""An item's vector is the sum of its fields' unit vectors, each times its weight, and then brought
to unit length (not while learning): an item that lacks a field is not the worse for it."""

BATCH = 2048
RUN = 128
"""In one half of a batch, so many pairs in a row come from one source."""
CRATES, CANDIDATES = 8, 128
"""A batch asks the questions of so many crates, among so many items of each."""

WORDS_LOST, FIELDS_LOST = 0.2, 0.1
"""Shares of a query's tokens, and of an item's fields, that a batch leaves out by chance."""

Rows = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Ragged:
    """Token lists of different lengths, one behind the other."""

    tokens: NDArray[np.int64]
    starts: NDArray[np.int64]

    @classmethod
    def encode(cls, tokenizer: Tokenizer, texts: Sequence[str]) -> Ragged:
        """Tokenise texts; unknown words are left out."""
        found: list[NDArray[np.int64]] = []
        for first in range(0, len(texts), 4096):
            chunk = list(texts[first : first + 4096])
            for each in tokenizer.encode_batch_fast(chunk, add_special_tokens=False):
                ids = np.array(each.ids, dtype=np.int64)
                found.append(ids[ids > 1])
        starts = np.cumsum([0, *(len(each) for each in found)])
        return cls(np.concatenate(found), starts)

    def take(self, rows: Rows) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The tokens of some lists and where each begins: what an embedding bag needs."""
        lengths = self.starts[rows + 1] - self.starts[rows]
        offsets = np.cumsum(lengths) - lengths
        places = np.repeat(self.starts[rows] - offsets, lengths) + np.arange(lengths.sum())
        return self.tokens[places], offsets


@dataclass(frozen=True, slots=True)
class Lesson:
    """All that is learned from, as tokens.

    Attributes:
        fields: of item ``i`` from row ``i * len(FIELDS)`` on.
        same: per item a number that items of one first sentence share.
        sources: per item the number of its source.
        queries: of each pair.
        answers: the item of each pair.
        hidden: shape ``(pairs, len(FIELDS))``, 0 where a field must not be seen, else 1.
        questions: tokens of each question.
        crates: questions and items of each crate that is asked about.
        relevant: items of each question.
    """

    fields: Ragged
    same: Rows
    sources: Rows
    queries: Ragged
    answers: Rows
    hidden: NDArray[np.float32]
    questions: Ragged
    crates: list[tuple[Rows, Rows]]
    relevant: list[tuple[int, ...]]


def lesson(
    tokenizer: Tokenizer, items: Sequence[Item], pairs: Sequence[Pair], asked: Sequence[Asked]
) -> Lesson:
    """Tokenise items, pairs and questions."""
    numbers: dict[str, int] = {}
    hidden = np.ones((len(pairs), len(FIELDS)), dtype=np.float32)
    for row, pair in enumerate(pairs):
        hidden[row, list(pair.hidden)] = 0.0
    by_crate: dict[str, tuple[list[int], list[int]]] = defaultdict(lambda: ([], []))
    for row, question in enumerate(asked):
        by_crate[f"rust:{question.crate}"][0].append(row)
    for number, item in enumerate(items):
        if item.source in by_crate:
            by_crate[item.source][1].append(number)
    return Lesson(
        fields=Ragged.encode(tokenizer, [text for item in items for text in item.fields]),
        same=np.array(
            [numbers.setdefault(item.first or item.path, len(numbers)) for item in items]
        ),
        sources=np.array([numbers.setdefault(item.source, len(numbers)) for item in items]),
        queries=Ragged.encode(tokenizer, [pair.query for pair in pairs]),
        answers=np.array([pair.item for pair in pairs]),
        hidden=hidden,
        questions=Ragged.encode(tokenizer, [question.query for question in asked]),
        crates=[(np.array(a), np.array(b)) for a, b in by_crate.values()],
        relevant=[question.items for question in asked],
    )


@dataclass(frozen=True, slots=True)
class Batch:
    """Queries, documents and which answers which.

    Attributes:
        queries: tokens and offsets.
        documents: item of each column.
        seen: shape ``(documents, fields)``, 1 where a field may be seen.
        answers: column of each query.
        excluded: shape ``(queries, documents)``, true where a column answers as well.
    """

    queries: tuple[NDArray[np.int64], NDArray[np.int64]]
    documents: Rows
    seen: NDArray[np.float32]
    answers: Rows
    excluded: NDArray[np.bool_]


def pair_order(material: Lesson, chance: np.random.Generator) -> Iterator[Rows]:
    """Pairs in batches, each pair once: half at random, half in runs from one source."""
    order = chance.permutation(len(material.answers))
    scattered, grouped = np.array_split(order, 2)
    sources = material.sources[material.answers[grouped]]
    grouped = grouped[np.argsort(sources, kind="stable")]
    runs = [grouped[first : first + RUN] for first in range(0, len(grouped), RUN)]
    grouped = np.concatenate([runs[number] for number in chance.permutation(len(runs))])
    half = BATCH // 2
    for first in range(0, min(len(scattered), len(grouped)) - half + 1, half):
        yield np.concatenate([scattered[first : first + half], grouped[first : first + half]])


def batches(material: Lesson, chance: np.random.Generator) -> Iterator[Batch]:
    """Batches without end."""
    while True:
        for pairs in pair_order(material, chance):
            yield batch(material, pairs, chance)


def batch(material: Lesson, pairs: Rows, chance: np.random.Generator) -> Batch:
    """A batch of these pairs, and of the questions of some crates chosen by chance.

    The questions come after the pairs. Columns are the pairs' items, then those of the crates.
    """
    crates = chance.choice(len(material.crates), min(CRATES, len(material.crates)), replace=False)
    asked = np.concatenate([material.crates[crate][0] for crate in crates])
    candidates = [_candidates(material, crate, chance) for crate in crates]
    documents = np.concatenate([material.answers[pairs], *candidates])
    columns = {item: column for column, item in enumerate(documents) if column >= len(pairs)}
    best = [_best(material.relevant[row], chance) for row in asked]
    answers = np.concatenate([np.arange(len(pairs)), [columns[item] for item in best]])
    excluded = material.same[documents[answers]][:, None] == material.same[documents][None, :]
    for row, question in enumerate(asked, start=len(pairs)):
        excluded[row] |= np.isin(documents, material.relevant[question])
    excluded[np.arange(len(answers)), answers] = False
    seen = (chance.random((len(documents), len(FIELDS))) >= FIELDS_LOST).astype(np.float32)
    seen[: len(pairs)] *= material.hidden[pairs]
    queries = _joined(material.queries.take(pairs), material.questions.take(asked))
    return Batch(_thinned(*queries, chance), documents, seen, answers, excluded)


def _candidates(material: Lesson, crate: int, chance: np.random.Generator) -> Rows:
    """The answers to a crate's questions, and some others of its items."""
    questions, items = material.crates[crate]
    wanted = np.unique(np.concatenate([material.relevant[row] for row in questions]))
    others = chance.permutation(np.setdiff1d(items, wanted))
    return np.concatenate([wanted, others[: max(0, CANDIDATES - len(wanted))]])


def _best(relevant: tuple[int, ...], chance: np.random.Generator) -> int:
    """One of the answers, an earlier one more often."""
    return relevant[int(len(relevant) * chance.random() ** 2)]


def _thinned(tokens: Rows, offsets: Rows, chance: np.random.Generator) -> tuple[Rows, Rows]:
    kept = chance.random(len(tokens)) >= WORDS_LOST
    return tokens[kept], np.concatenate([[0], np.cumsum(kept)])[offsets]


def _joined(first: tuple[Rows, Rows], second: tuple[Rows, Rows]) -> tuple[Rows, Rows]:
    tokens = np.concatenate([first[0], second[0]])
    return tokens, np.concatenate([first[1], second[1] + len(first[0])])
