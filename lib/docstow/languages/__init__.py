"""The languages that docstow reads: one record each, registered in the order of answers.

A further language is one folder with one record.
"""

from __future__ import annotations

from docstow.languages.go import GO
from docstow.languages.python import PYTHON
from docstow.languages.rust import RUST
from docstow.languages.shared.language import (
    LANGUAGES,
    Language,
    PackageName,
    documented,
    names,
    of_ecosystem,
    of_kind,
    of_name,
    parse_package,
    register,
    unregister,
)
from docstow.languages.typescript import TYPESCRIPT

__all__ = [
    "GO",
    "LANGUAGES",
    "PYTHON",
    "RUST",
    "TYPESCRIPT",
    "Language",
    "PackageName",
    "documented",
    "names",
    "of_ecosystem",
    "of_kind",
    "of_name",
    "parse_package",
    "register",
    "unregister",
]

for _language in (PYTHON, TYPESCRIPT, RUST, GO):
    register(_language)
