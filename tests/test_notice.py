"""Everything that the package carries beside code is named in NOTICE with its licence."""

from __future__ import annotations

import re
import tomllib

from paths import REPOSITORY

PACKAGE = REPOSITORY / "lib" / "docstow"


def test_every_data_file_that_is_carried_has_its_licence() -> None:
    notice = (REPOSITORY / "NOTICE").read_text("utf-8")
    named = set(re.findall(r"^lib/docstow/\S+$", notice, re.MULTILINE))
    carried = {
        file.relative_to(REPOSITORY).as_posix()
        for file in PACKAGE.rglob("*")
        if file.is_file() and file.suffix not in {".py", ".pyc"} and file.name != "py.typed"
    }
    assert named == carried


def test_the_wheel_carries_the_notice() -> None:
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text("utf-8"))["project"]
    assert project["license-files"] == ["LICENSE", "NOTICE"]
