"""Python: environments, sources, surfaces, checks of code, differences of versions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from docstow.core.language_names import Spelling
from docstow.languages.shared.language import Language

if TYPE_CHECKING:
    from docstow.languages.shared.language import Checking, Comparing, Reading
    from docstow.languages.shared.messages import Texts
    from docstow.languages.shared.scanning import Scanning


def _scanning() -> Scanning:
    from docstow.languages.python.scanning import SCANNING

    return SCANNING


def _texts() -> Texts:
    from docstow.languages.python.texts import TEXTS

    return TEXTS


def _reading() -> Reading:
    from docstow.languages.python.reading import READING

    return READING


def _checking() -> Checking:
    from docstow.languages.python.checking import CHECKING

    return CHECKING


def _comparing() -> Comparing:
    from docstow.languages.python.comparing import COMPARING

    return COMPARING


PYTHON = Language(
    spelling=Spelling(
        name="python", ecosystem="python", kind="python", folds=True, guess_code=True
    ),
    fences={".py": "python", ".pyi": "python"},
    scanning=_scanning,
    texts=_texts,
    reading=_reading,
    checking=_checking,
    comparing=_comparing,
    examples=("python", "py", "python3", "pycon"),
)
