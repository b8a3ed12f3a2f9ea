"""A text with words put into its lines, and where a place of the one is in the other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from docstow.languages.shared.language_server import Diagnostic


@dataclass(frozen=True, slots=True, order=True)
class Insertion:
    """Words that are put into a line.

    Attributes:
        line: from 0.
        column: the byte before which they stand.
        rank: of several at one place those of a lower rank stand first.
        words: without the end of a line.
    """

    line: int
    column: int
    rank: tuple[int, ...]
    words: str


class Edited:
    """A text with insertions.

    Args:
        text: as it was.
        insertions: in any order.
        below: further lines, after the last one.
    """

    def __init__(
        self, text: str, insertions: Sequence[Insertion] = (), below: Sequence[str] = ()
    ) -> None:
        self._text = text
        self.insertions = sorted(insertions)
        self.below = below

    def __str__(self) -> str:
        lines = [each.encode() for each in self._text.split("\n")]
        for each in reversed(self.insertions):
            line = lines[each.line]
            lines[each.line] = line[: each.column] + each.words.encode() + line[each.column :]
        return "\n".join([b"\n".join(lines).decode(), *self.below])

    def with_more(self, insertions: Sequence[Insertion]) -> Edited:
        """Return it with further insertions."""
        return Edited(self._text, [*self.insertions, *insertions], self.below)

    def place(self, line: int, column: int) -> tuple[int, int]:
        """Return where a place of the text is now: behind what is put there."""
        before = (e for e in self.insertions if e.line == line and e.column <= column)
        return line, column + sum(len(each.words.encode()) for each in before)

    def place_of(self, insertion: Insertion) -> tuple[int, int]:
        """Return where an insertion is now."""
        before = (e for e in self.insertions if e.line == insertion.line and e < insertion)
        return insertion.line, insertion.column + sum(len(e.words.encode()) for e in before)

    def original(self, said: Diagnostic) -> Diagnostic:
        """Return what is said of it as said of the text."""
        return replace(
            said,
            start=self._column(said.line, said.start),
            end=self._column(said.line, said.end),
        )

    def _column(self, line: int, column: int) -> int:
        shift = 0
        for each in self.insertions:
            if each.line == line and each.column + shift < column:
                shift += min(len(each.words.encode()), column - each.column - shift)
        return column - shift
