"""What is said of Rust code: findings, crates that are missing, features that are needed.

This room knows how an answer becomes a finding. It does not walk code.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from docstow.languages.rust.check.paths import Answer
from docstow.languages.shared.findings import Finding, Verdict, in_order

if TYPE_CHECKING:
    from tree_sitter import Node


class Notes:
    """The findings of one piece of code."""

    def __init__(self) -> None:
        self._findings: list[Finding] = []
        self._missing: dict[str, None] = {}
        self._features: dict[str, dict[str, None]] = {}
        #: The row of the code at which the text begins that is walked now.
        self.row = 0

    def verdict(self) -> Verdict:
        """All that was noted."""
        features = {name: tuple(used) for name, used in self._features.items()}
        return Verdict(in_order(self._findings), tuple(self._missing), features)

    def missing(self, node: Node, name: str, crate: str) -> None:
        """Nobody has a version of a crate."""
        self._missing.setdefault(crate)
        self.add(node, name, Answer("not_checked"))

    def add(self, node: Node, name: str, answer: Answer) -> None:
        """Note what is known of a name."""
        message = answer.message
        for found in answer.found[:1]:
            used = self._features.setdefault(found.names.package, {})
            needed = found.names.index.features(found.row)
            used.update(dict.fromkeys(needed))
            extra = [each for each in needed if each not in found.names.gaps.defaults]
            if extra and answer.status == "ok":
                message = f"needs feature{'s' * (len(extra) > 1)} {', '.join(extra)}"
        place = node.start_point
        self._findings.append(
            Finding(
                line=place.row + 1 + self.row,
                column=place.column + 1,
                name=name,
                status=answer.status,
                message=message,
                suggestions=answer.suggestions,
                path=answer.found[0].path if answer.found else answer.looked_in,
                package=answer.names.package if answer.names else "",
                version=answer.names.version if answer.names else "",
            )
        )
