"""Names that may be meant, tried in the place of the one that does not exist.

What the engine then refuses, by what it is called with or by what its result is given to, is less
likely meant than what it takes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, TypeAlias

from docstow.core.errors import InternalError, TooLarge
from docstow.languages.shared.findings import MOST, PROBLEMS, advised

if TYPE_CHECKING:
    from docstow.languages.shared.findings import Finding
    from docstow.languages.shared.language_server import Diagnostic

#: Findings of one piece of code for which names are tried, and names of each.
_MOST_FINDINGS, MOST_TRIED = 4, 6

#: Returns the code with a name in the place of one that does not exist.
Writer: TypeAlias = Callable[[str], str]
_NOTHING: Mapping[tuple[int, int], Sequence[str]] = {}


class Trials:
    """Tries names in one piece of code.

    Args:
        writer: returns what writes a name in the place of a finding's; None where nothing can.
        judge: returns the faults that an engine finds in code.
        said: those that it finds in the code as it is.
        spare: of places in the code, from 1: names that are tried where none of a finding's fits.
    """

    def __init__(
        self,
        writer: Callable[[Finding], Writer | None],
        judge: Callable[[str], Sequence[Diagnostic]],
        said: Sequence[Diagnostic],
        spare: Mapping[tuple[int, int], Sequence[str]] = _NOTHING,
    ) -> None:
        self._writer = writer
        self._judge = judge
        self._known = _counted(said)
        self._spare = spare
        self._left = _MOST_FINDINGS

    def ordered(self, finding: Finding) -> Finding:
        """Return a finding with the first name first that the engine takes."""
        near = finding.suggestions
        found = self._spare.get((finding.line, finding.column), ())
        spare = [each for each in found if each not in near]
        is_choice = finding.status in PROBLEMS and near and len(near) + len(spare) > 1
        write = self._writer(finding) if is_choice and self._left else None
        if write is None:
            return replace(finding, suggestions=near[:MOST])
        self._left -= 1
        try:
            better = self._tried(near, spare, write)
        except (TooLarge, InternalError):
            # What is found stands without an engine, which has no answer to more trials, either.
            self._left = 0
            better = near[:MOST]
        if better == near:
            return finding
        message = advised(finding.message, finding.name.rpartition(".")[2], better)
        return replace(finding, suggestions=better, message=message)

    def _tried(self, near: Sequence[str], spare: Sequence[str], write: Writer) -> tuple[str, ...]:
        names = [*near, *spare]
        for each in names[:MOST_TRIED]:
            said = self._judge(write(each.rpartition(".")[2]))
            if not _counted(said) - self._known:
                return tuple(dict.fromkeys((each, *near)))[:MOST]
        return tuple(names[:MOST])


def _counted(said: Sequence[Diagnostic]) -> Counter[tuple[int, str, str]]:
    return Counter((each.line, each.code, each.message) for each in said)
