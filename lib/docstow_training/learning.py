"""Gradient descent on the embedding table, with torch; both stages that need it."""

from __future__ import annotations

from collections.abc import Callable
from itertools import islice
from typing import Any

import numpy as np
import torch  # type: ignore[import-not-found, unused-ignore]
from numpy.typing import NDArray
from torch.nn import functional  # type: ignore[import-not-found, unused-ignore]

from docstow_training.contrast import BATCH, FIELDS, WEIGHTS, Batch, Lesson, Ragged, batches

TEMPERATURE = 0.17
"""Of the softmax. Items' sums are left as they are here, some 2 long: as 0.08 between unit vectors.

Learning with sums of unit length, as they are used, was no better: README.md has the figures.
"""

RATE = 2e-3
"""Highest learning rate, where rows have length 1 on average."""

QUESTIONS_COUNT = 0.3
"""What the mean loss of the questions counts beside that of the mined pairs."""

REPORT_EVERY = 100

Tensor = Any


def prepare(seed: int) -> None:
    """One thread and fixed seeds: the same inputs give the same table."""
    torch.set_num_threads(1)
    torch.manual_seed(seed)
    torch.use_deterministic_algorithms(mode=True)


def imitate(
    table: NDArray[np.float32], material: Ragged, targets: NDArray[np.float32], *, epochs: int
) -> NDArray[np.float32]:
    """Stage 1: fit sums of rows to a teacher's vectors, by cosine and by similarities in a batch.

    Args:
        table: the rows to begin with; rows 0 and 1 stay zero.
        material: the tokens of each text.
        targets: unit vectors, one per text.
        epochs: how often each text is seen.
    """
    rows = torch.nn.Parameter(torch.from_numpy(table.copy()))
    wanted = torch.from_numpy(targets)
    size = 512
    optimizer = torch.optim.Adam([rows], lr=2e-3)
    steps = epochs * (len(targets) // size)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, max_lr=2e-3, total_steps=steps)
    for epoch in range(epochs):
        order = torch.randperm(len(targets)).numpy()
        total = 0.0
        for first in range(0, len(order) - size + 1, size):
            some = order[first : first + size]
            made, target = _units(rows, material.take(some)), wanted[some]
            cosine = (1.0 - (made * target).sum(dim=1)).mean()
            loss = cosine + 10.0 * functional.mse_loss(made @ made.T, target @ target.T)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            schedule.step()
            total += loss.item()
        print(f"epoch {epoch}: loss {total * size / len(order):.4f}", flush=True)  # noqa: T201
    fitted: NDArray[np.float32] = rows.detach().numpy().copy()
    fitted[:2] = 0.0
    return fitted


def contrast(
    table: NDArray[np.float32],
    material: Lesson,
    *,
    seed: int,
    steps: int,
    report: Callable[[int, NDArray[np.float32]], None],
) -> NDArray[np.float32]:
    """Stage 2: each query must find its answer among all documents of a batch.

    Args:
        table: rows to begin with, rows 0 and 1 being zero.
        material: what to learn from.
        seed: of what is left to chance.
        steps: how many batches.
        report: told the step and the table from time to time.
    """
    chance = np.random.default_rng(seed)
    rows = torch.nn.Parameter(torch.from_numpy(table / np.linalg.norm(table, axis=1)[2:].mean()))
    optimizer = torch.optim.Adam([rows], lr=RATE, betas=(0.9, 0.99))
    schedule = torch.optim.lr_scheduler.OneCycleLR(
        optimizer, max_lr=RATE, total_steps=steps, pct_start=0.1
    )
    for step, one in enumerate(islice(batches(material, chance), steps), start=1):
        loss = _loss(rows, material, one)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()
        if step % REPORT_EVERY == 0 or step == steps:
            report(step, rows.detach().numpy())
    made: NDArray[np.float32] = rows.detach().numpy().copy()
    made[:2] = 0.0
    return made


def _units(rows: Tensor, bags: tuple[NDArray[np.int64], NDArray[np.int64]]) -> Tensor:
    tokens, offsets = (torch.from_numpy(each) for each in bags)
    return functional.normalize(functional.embedding_bag(tokens, rows, offsets, mode="sum"), dim=1)


def _loss(rows: Tensor, material: Lesson, one: Batch) -> Tensor:
    count = len(FIELDS)
    places = (one.documents[:, None] * count + np.arange(count)).reshape(-1)
    fields = _units(rows, material.fields.take(places)).view(-1, count, rows.shape[1])
    seen = torch.from_numpy(one.seen) * torch.tensor(WEIGHTS)
    documents = (fields * seen[:, :, None]).sum(dim=1)
    scores = _units(rows, one.queries) @ documents.T / TEMPERATURE
    scores = scores.masked_fill(torch.from_numpy(one.excluded), -1e4)
    losses = functional.cross_entropy(scores, torch.from_numpy(one.answers), reduction="none")
    return losses[:BATCH].mean() + QUESTIONS_COUNT * losses[BATCH:].mean()
