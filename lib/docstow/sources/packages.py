"""The kinds of packages that a project has installed: one for each ecosystem."""

from __future__ import annotations

from docstow.core.language_names import PACKAGE_KINDS
from docstow.sources.protocol import SourceKind

KINDS = tuple(SourceKind(name, profile="items") for name in PACKAGE_KINDS)
