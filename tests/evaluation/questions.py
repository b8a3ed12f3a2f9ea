"""Questions with the items that answer them, and how a ranking does on them."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from docstow.index.loaded import Index


@dataclass(frozen=True, slots=True)
class Question:
    """A developer's question.

    Attributes:
        crate: the crate that it is asked of.
        text: the question.
        answers: for each relevant item the paths that mean it.
        held_out: whether it is kept aside for a figure at the end.
    """

    crate: str
    text: str
    answers: tuple[frozenset[str], ...]
    held_out: bool = False

    def rows(self, index: Index) -> list[set[int]]:
        """The rows that each answer means; an answer that the crate does not have is empty."""
        return [{row for path in paths for row in index.find(path)} for paths in self.answers]


def load(file: Path) -> list[Question]:
    """Read a file of JSON Lines with ``crate``, ``query`` and ``relevant``.

    ``also`` may give further paths of a relevant item; ``held_out`` is false where it is missing.
    """
    return [_question(line) for line in file.read_text("utf-8").splitlines() if line]


def _question(line: str) -> Question:
    record = json.loads(line)
    also = record.get("also", {})
    paths: Iterable[str] = record["relevant"]
    answers = tuple(frozenset({path, *also.get(path, [])}) for path in paths)
    return Question(record["crate"], record["query"], answers, record.get("held_out", False))
