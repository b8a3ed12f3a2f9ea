"""Go: which modules a project requires, and which of them a text names."""

from __future__ import annotations

from typing import TYPE_CHECKING

from docstow.core.language_names import Spelling
from docstow.languages.shared.language import Language

if TYPE_CHECKING:
    from docstow.languages.shared.messages import Texts
    from docstow.languages.shared.scanning import Scanning


def _scanning() -> Scanning:
    from docstow.languages.go.scanning import SCANNING

    return SCANNING


def _texts() -> Texts:
    from docstow.languages.go.texts import TEXTS

    return TEXTS


GO = Language(
    spelling=Spelling(name="go", ecosystem="go", import_separator="/"),
    fences={".go": "go"},
    scanning=_scanning,
    texts=_texts,
    documented=False,
)
