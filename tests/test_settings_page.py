"""What the docs say of settings is what the settings are."""

from __future__ import annotations

import re
from typing import Any

from docstow.core.settings import FIELDS, MIB
from paths import REPOSITORY

SETTINGS = REPOSITORY / "docs" / "settings.md"


def test_every_setting_is_in_the_table_with_its_default() -> None:
    rows = re.findall(
        r"^\| `(\w+)` \| (?:`(.*?)`)? *\| (.+) \|$", SETTINGS.read_text("utf-8"), re.MULTILINE
    )
    listed = {name: (default, text) for name, default, text in rows if name in FIELDS}
    expected = {}
    for name, field in FIELDS.items():
        default: Any = field.default
        if field.metadata["kind"] == "size":
            default = f"{default // MIB}MiB"
        if isinstance(default, tuple):
            default = ", ".join(default)
        if isinstance(default, bool):
            default = str(default).lower()
        expected[name] = (str(default), field.metadata["help"])
    assert listed == expected
