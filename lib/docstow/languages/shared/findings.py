"""The findings of a check of code: one for each name."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal

Status = Literal["ok", "unknown", "deprecated", "wrong_argument", "not_checked"]
#: What a caller should look at.
PROBLEMS: frozenset[Status] = frozenset({"unknown", "deprecated", "wrong_argument"})


@dataclass(frozen=True, slots=True)
class Finding:
    """What is known of one name in the code.

    Attributes:
        line: from 1.
        column: from 1.
        name: as the code means it, through its imports: ``tokio::sync::mpsc::channel``.
        status: ``not_checked`` wherever it cannot be known for certain.
        message: what is wrong and what to do; empty where nothing is.
        suggestions: nearest valid names, the likeliest first.
        path: the item that answers, or that the missing name was looked for in.
        package: whose it is; empty where it is nobody's.
        version: of that package.
    """

    line: int
    column: int
    name: str
    status: Status
    message: str = ""
    suggestions: tuple[str, ...] = ()
    path: str = ""
    package: str = ""
    version: str = ""


@dataclass(frozen=True, slots=True)
class Verdict:
    """The findings in the order of the code, and what could not be looked at.

    Attributes:
        findings: one a name and place.
        missing: packages that the code uses and nobody has a version of.
        features: features that the used items need, by package (Rust).
        unread: lines that could not be parsed, or are too deep to follow; nothing is said of what
            begins there.
    """

    findings: tuple[Finding, ...]
    missing: tuple[str, ...] = ()
    features: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    unread: tuple[int, ...] = ()

    def problems(self) -> tuple[Finding, ...]:
        """Return the findings that a caller should look at."""
        return tuple(each for each in self.findings if each.status in PROBLEMS)


def sort_findings(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Sort findings by place; of one place and name keep what is wrong before what is not."""
    kept: dict[tuple[int, int, str], Finding] = {}
    for each in findings:
        place = (each.line, each.column, each.name)
        if place not in kept or kept[place].status not in PROBLEMS:
            kept[place] = each
    return tuple(kept[place] for place in sorted(kept))
