"""Go: which modules a project requires, and which of them a text names."""

from __future__ import annotations

from docstow.core.spelling import Spelling
from docstow.languages.shared.language import Language, deferred

GO = Language(
    spelling=Spelling(name="go", ecosystem="go", import_separator="/"),
    fences={".go": "go"},
    scanning=deferred("docstow.languages.go.scanning:SCANNING"),
    texts=deferred("docstow.languages.go.scanning:TEXTS"),
    documented=False,
)
