"""Rust: rustdoc JSON, Cargo.lock, checks of code, differences of versions."""

from __future__ import annotations

from docstow.core.spelling import RUST as SPELLING
from docstow.languages.shared.language import Language, deferred

RUST = Language(
    spelling=SPELLING,
    fences={".rs": "rust"},
    scanning=deferred("docstow.languages.rust.scanning:SCANNING"),
    versions=deferred("docstow.languages.rust.scanning:VERSIONS"),
    texts=deferred("docstow.languages.rust.scanning:TEXTS"),
    registries=("crate", "cargo", "crates.io"),
)
