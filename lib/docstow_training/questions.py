"""Hand-written questions of developers, and which of them only judge."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from docstow_training.texts import Item

HELD_OUT = 15
"""In hundred: the crates whose texts and questions are not learned from, but judged on."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A question of a crate, and the items that answer it, best first."""

    query: str
    crate: str
    items: tuple[int, ...]


def is_held_out(crate: str) -> bool:
    """Whether a crate serves to judge; by its name alone, so that it stays so."""
    return int(hashlib.sha256(crate.encode()).hexdigest(), 16) % 100 < HELD_OUT


def read_questions(file: Path, items: Sequence[Item]) -> list[Asked]:
    """Questions as JSON Lines: ``crate``, ``query`` and ``relevant`` paths, best first.

    Raises:
        KeyError: a path is not among the items.
    """
    numbers = {(item.source, item.path): n for n, item in reversed(list(enumerate(items)))}
    found = []
    for line in file.read_text("utf-8").splitlines():
        one = json.loads(line)
        answers = tuple(numbers[f"rust:{one['crate']}", path] for path in one["relevant"])
        found.append(Asked(one["query"], one["crate"], answers))
    return found
