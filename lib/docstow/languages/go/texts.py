"""What Go code imports."""

from __future__ import annotations

import re

from docstow.languages.shared.language import Texts

TEXTS = Texts(
    imports=re.compile(
        r"^\s*(?:import\s+)?(?:[\w.]+\s+)?\"([\w.~-]+\.[\w]+/[^\"\s]+)\"", re.MULTILINE
    )
)
