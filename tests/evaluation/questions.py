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
    """

    crate: str
    text: str
    answers: tuple[frozenset[str], ...]

    def rows(self, index: Index) -> list[set[int]]:
        """The rows that each answer means; an answer that the crate does not have is empty."""
        return [{row for path in paths for row in index.find(path)} for paths in self.answers]


def load(file: Path) -> list[Question]:
    """Read a file of JSON Lines with ``crate``, ``query``, ``relevant`` and perhaps ``also``.

    ``also`` gives further paths of a relevant item.
    """
    return [_question(line) for line in file.read_text("utf-8").splitlines() if line]


def _question(line: str) -> Question:
    record = json.loads(line)
    also = record.get("also", {})
    paths: Iterable[str] = record["relevant"]
    answers = tuple(frozenset({path, *also.get(path, [])}) for path in paths)
    return Question(record["crate"], record["query"], answers)
