"""Rust: rustdoc JSON, Cargo.lock, checks of code, differences of versions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from docstow.core.language_names import RUST as SPELLING
from docstow.languages.shared.language import Language

if TYPE_CHECKING:
    from docstow.languages.shared.messages import Texts
    from docstow.languages.shared.scanning import Scanning


def _scanning() -> Scanning:
    from docstow.languages.rust.scanning import SCANNING

    return SCANNING


def _texts() -> Texts:
    from docstow.languages.rust.texts import TEXTS

    return TEXTS


RUST = Language(spelling=SPELLING, fences={".rs": "rust"}, scanning=_scanning, texts=_texts)
