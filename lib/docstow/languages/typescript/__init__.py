"""TypeScript and JavaScript: Node packages, surfaces, checks of code, differences of versions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from docstow.core.language_names import Spelling
from docstow.languages.shared.language import Language

if TYPE_CHECKING:
    from docstow.languages.shared.language import Checking, Comparing, Reading
    from docstow.languages.shared.messages import Texts
    from docstow.languages.shared.scanning import Scanning


def _scanning() -> Scanning:
    from docstow.languages.typescript.scanning import SCANNING

    return SCANNING


def _texts() -> Texts:
    from docstow.languages.typescript.texts import TEXTS

    return TEXTS


def _reading() -> Reading:
    from docstow.languages.typescript.reading import READING

    return READING


def _checking() -> Checking:
    from docstow.languages.typescript.checking import CHECKING

    return CHECKING


def _comparing() -> Comparing:
    from docstow.languages.typescript.comparing import COMPARING

    return COMPARING


TYPESCRIPT = Language(
    spelling=Spelling(
        name="typescript",
        aliases=("javascript",),
        ecosystem="node",
        kind="node",
        import_separator="/",
        scoped=True,
    ),
    fences={
        ".ts": "typescript",
        ".tsx": "tsx",
        ".mts": "typescript",
        ".cts": "typescript",
        ".js": "javascript",
        ".mjs": "javascript",
        ".cjs": "javascript",
        ".jsx": "jsx",
    },
    scanning=_scanning,
    texts=_texts,
    reading=_reading,
    checking=_checking,
    comparing=_comparing,
    examples=("typescript", "ts", "tsx", "javascript", "js", "jsx"),
)
