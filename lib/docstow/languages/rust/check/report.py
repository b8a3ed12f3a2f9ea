"""What was found out about the names of one piece of Rust code."""

from __future__ import annotations

from typing import TYPE_CHECKING

from docstow.languages.rust.check.paths import Answer
from docstow.languages.shared.findings import NOT_AT_HAND, Finding, Verdict, sort_findings

if TYPE_CHECKING:
    from tree_sitter import Node, Point


class Report:
    """The findings of one piece of code."""

    def __init__(self) -> None:
        self._findings: list[Finding] = []
        self._missing: dict[str, None] = {}
        self._features: dict[str, dict[str, None]] = {}
        #: The row and column of the code at which the text begins that is checked now.
        self.place = (0, 0)

    def at(self, point: Point, further: int = 0) -> tuple[int, int]:
        """Return the row and column of the code that are meant by those of the text."""
        row, column = self.place
        return row + point.row, point.column + further + (0 if point.row else column)

    def verdict(self) -> Verdict:
        """Return all that was added."""
        features = {name: tuple(used) for name, used in self._features.items()}
        return Verdict(sort_findings(self._findings), tuple(self._missing), features)

    def add_missing(self, node: Node, name: str, crate: str) -> None:
        """Add a name of a crate of which no version is stored."""
        self._missing.setdefault(crate)
        self.add(node, name, Answer("not_checked", reason=NOT_AT_HAND))

    def add(self, node: Node, name: str, answer: Answer) -> None:
        """Add the answer for a name."""
        message = answer.message
        for found in answer.found[:1]:
            used = self._features.setdefault(found.names.package, {})
            needed = found.names.index.features(found.row)
            used.update(dict.fromkeys(needed))
            extra = [
                each for each in needed if each not in found.names.undocumented.default_features
            ]
            if extra and answer.status == "ok":
                message = f"needs feature{'s' * (len(extra) > 1)} {', '.join(extra)}"
        row, column = self.at(node.start_point)
        self._findings.append(
            Finding(
                line=row + 1,
                column=column + 1,
                name=name,
                status=answer.status,
                message=message,
                suggestions=answer.suggestions,
                path=answer.found[0].path if answer.found else answer.looked_in,
                package=answer.names.package if answer.names else "",
                version=answer.names.version if answer.names else "",
                reason=answer.reason,
            )
        )
