"""Make the bundled embedding model; see README.md beside this file for what it needs.

Stage 0 gives each vocabulary entry its teacher's vector, reduced to fewer dimensions and weighted
by rarity. Stage 1 fits the sums of those vectors to the teacher's vectors of whole passages.
"""

from __future__ import annotations

import argparse
import random
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from docstow.bundled import export, texts

if TYPE_CHECKING:
    from tokenizers import Tokenizer

SEED = 20261121
DIMENSIONS = 256
DOCUMENTATION_WORDS = 12_000
FITTED_WORDS = 32
"""Passages of more words are not fitted: the teacher takes long for them, and they blur."""
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


def fit(
    table: NDArray[np.float32],
    ids: Sequence[Sequence[int]],
    targets: NDArray[np.float32],
    epochs: int,
) -> NDArray[np.float32]:
    """Fit sums of rows to target vectors: by cosine, and by the similarities within a batch.

    Args:
        table: the rows to begin with; rows 0 and 1 stay zero.
        ids: the tokens of each text.
        targets: unit vectors, one per text.
        epochs: how often each text is seen.
    """
    import torch  # type: ignore[import-not-found, unused-ignore]
    from torch.nn import functional  # type: ignore[import-not-found, unused-ignore]

    torch.manual_seed(SEED)
    torch.use_deterministic_algorithms(mode=True)
    bag = torch.nn.EmbeddingBag.from_pretrained(
        torch.from_numpy(table.copy()), freeze=False, mode="sum", padding_idx=0
    )
    wanted = torch.from_numpy(targets)
    batch = 512
    steps = epochs * (len(ids) // batch)
    optimizer = torch.optim.Adam(bag.parameters(), lr=2e-3)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, max_lr=2e-3, total_steps=steps)
    for epoch in range(epochs):
        order = torch.randperm(len(ids)).tolist()
        total = 0.0
        for first in range(0, len(order) - batch + 1, batch):
            rows = order[first : first + batch]
            flat = torch.tensor([token for row in rows for token in ids[row]])
            lengths = torch.tensor([0, *(len(ids[row]) for row in rows)])
            made = functional.normalize(bag(flat, lengths.cumsum(0)[:-1]), dim=1)
            target = wanted[rows]
            cosine = (1.0 - (made * target).sum(dim=1)).mean()
            structure = functional.mse_loss(made @ made.T, target @ target.T)
            loss = cosine + 10.0 * structure
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            schedule.step()
            total += loss.item()
        print(f"epoch {epoch}: loss {total * batch / len(order):.4f}", flush=True)  # noqa: T201
    fitted: NDArray[np.float32] = bag.weight.detach().numpy().copy()
    fitted[:2] = 0.0
    return fitted


def gather(arguments: argparse.Namespace) -> list[str]:
    """All different passages of the training texts, in a fixed order."""
    passages: dict[str, None] = {}
    for file in texts.rustdoc_crates(arguments.rustdoc, leave_out=set(arguments.leave_out)):
        passages.update(dict.fromkeys(texts.rustdoc_passages(file)))
    for folder in arguments.python:
        passages.update(dict.fromkeys(texts.python_passages(folder)))
    return list(passages)


def build(arguments: argparse.Namespace) -> None:
    """Gather texts, run the stages and write the files."""
    import torch
    from sentence_transformers import (  # type: ignore[import-not-found, unused-ignore]
        SentenceTransformer,
    )

    torch.set_num_threads(1)
    passages = gather(arguments)
    counts = count_words(passages)
    teacher = SentenceTransformer(str(arguments.teacher), device="cpu")

    def taught(batch: list[str]) -> NDArray[np.float32]:
        vectors = teacher.encode(batch, batch_size=128, normalize_embeddings=True)
        return np.asarray(vectors, dtype=np.float32)

    entries = sorted(teacher.tokenizer.get_vocab(), key=teacher.tokenizer.get_vocab().__getitem__)
    vocabulary = make_vocabulary(entries, counts)
    tokenizer = export.tokenizer(vocabulary)

    short = [passage for passage in passages if len(passage.split()) <= FITTED_WORDS]
    sample = random.Random(SEED).sample(short, min(arguments.fit_passages, len(short)))  # noqa: S311
    word_vectors = taught([entry.removeprefix("##") for entry in vocabulary])
    targets = taught(sample) if sample else word_vectors
    axes = principal_axes(targets)
    table = word_vectors @ axes * rarity(vocabulary, tokenizer, counts)[:, None]
    if sample:
        ids = [each.ids for each in tokenizer.encode_batch(sample, add_special_tokens=False)]
        reduced = targets @ axes
        reduced /= np.linalg.norm(reduced, axis=1, keepdims=True)
        table = fit(table, ids, reduced, arguments.epochs)
    made_by: dict[str, Any] = {
        "stage": 1 if sample else 0,
        "seed": SEED,
        "texts": texts.statistics(passages),
        "vocabulary": len(vocabulary),
        "fitted_passages": len(sample),
        "epochs": arguments.epochs if sample else 0,
    }
    export.write(arguments.into, "bundled", vocabulary, table, made_by)


def main() -> None:
    """Read the arguments and build."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--teacher", type=Path, required=True, help="folder of all-MiniLM-L6-v2")
    parser.add_argument(
        "--rustdoc", type=Path, required=True, help="<crate>/<version>/rustdoc.json.zst"
    )
    parser.add_argument("--leave-out", nargs="*", default=[], help="crates kept for evaluation")
    parser.add_argument(
        "--python", type=Path, nargs="*", default=[], help="folders of Python sources"
    )
    parser.add_argument("--fit-passages", type=int, default=24_000, help="0 stops after stage 0")
    parser.add_argument("--epochs", type=int, default=8)
    parser.add_argument("--into", type=Path, default=Path(__file__).parent)
    build(parser.parse_args())


if __name__ == "__main__":
    main()
