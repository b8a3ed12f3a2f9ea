"""The version bump that a crate declared against the one that its changes need.

This room knows Cargo's reading of version numbers: the leftmost number that is not zero makes
releases incompatible.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from docstow.core.versions import Version
from docstow.languages.shared.diff import BREAKING, CLASSES
from docstow.languages.shared.diff__diff_sides import Change


@dataclass(frozen=True, slots=True)
class Bump:
    """What was declared and what was needed.

    Attributes:
        declared: ``major``, ``minor``, ``patch``, ``none``, or ``downgrade``.
        breaking_allowed: Cargo would not take the new version for the old one.
        needed: the gravest class of the changes; ``none`` without any.
    """

    declared: str
    breaking_allowed: bool
    needed: str

    @property
    def fits(self) -> bool | None:
        """Whether the declared bump covers what has changed; None where no step up was taken."""
        if self.declared in {"downgrade", "none"}:
            return None
        return self.needed != BREAKING or self.breaking_allowed


def bump(before: str, after: str, changes: Iterable[Change]) -> Bump:
    """Judge a step between two versions."""
    old, new = Version.parse(before), Version.parse(after)
    was, now = (old.major, old.minor, old.patch), (new.major, new.minor, new.patch)
    first = next((n for n, (a, b) in enumerate(zip(was, now, strict=True)) if a != b), 3)
    declared = "downgrade" if new < old else ("major", "minor", "patch", "none")[first]
    if declared == "none" and old != new:
        declared = "prerelease"
    found = {each.verdict for each in changes}
    needed = next((each for each in CLASSES if each in found), "none")
    return Bump(declared, not _compatible(was, now) or bool(old.prerelease), needed)


def _compatible(was: tuple[int, int, int], now: tuple[int, int, int]) -> bool:
    """Whether both agree up to the leftmost number of the old one that is not zero."""
    fixed = next((n for n, each in enumerate(was) if each), 2) + 1
    return was[:fixed] == now[:fixed]
