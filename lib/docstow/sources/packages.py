"""The kinds of packages that a project has installed: one for each language that has them."""

from __future__ import annotations

from docstow.languages import LANGUAGES
from docstow.sources.protocol import SourceKind


def kinds() -> dict[str, SourceKind]:
    """Return the kinds of packages of all registered languages, by name."""
    found = (each.kind for each in LANGUAGES.values() if each.packaged)
    return {kind: SourceKind(kind, profile="items") for kind in found}
