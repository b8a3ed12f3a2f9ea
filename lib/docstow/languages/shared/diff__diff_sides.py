"""What is compared and what comes of it: a version's side, and one change.

This room knows the shapes alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from docstow.core.model import Document, Relation
from docstow.languages.shared.diff import RULES

OWNERS = frozenset({"struct", "enum", "union", "trait", "primitive", "variant"})
"""Kinds whose members come and go with them."""


@dataclass(frozen=True, slots=True)
class Side:
    """One version's snapshot.

    Attributes:
        version: exact.
        documents: of the items and their members.
        relations: between them.
        facts: of the crate: ``features``, ``rust_version``, ``target``, ``externals``.
    """

    version: str
    documents: Sequence[Document]
    relations: Sequence[Relation]
    facts: Mapping[str, Any]


@dataclass(frozen=True, slots=True, order=True)
class Change:
    """One difference.

    Attributes:
        path: the item as the old version has it; of what is new, as the new one has it.
        kind: its kind in that version.
        rule: id in :data:`docstow.languages.shared.diff.RULES`.
        before: what it was; empty for what is new.
        after: what it is; empty for what is gone.
        now: its path in the new version, where that is another.
    """

    path: str
    kind: str
    rule: str
    before: str = ""
    after: str = ""
    now: str = ""

    @property
    def verdict(self) -> str:
        """``breaking``, ``compatible`` or ``docs-only``."""
        return RULES[self.rule].verdict
