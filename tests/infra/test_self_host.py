"""What lies in ``infra`` for servers of one's own."""

from __future__ import annotations

import configparser
import re
from pathlib import Path

from docstow.core.settings import FIELDS, Settings, load
from docstow.server.command_line import parse
from paths import REPOSITORY

INFRA = REPOSITORY / "infra"


def test_the_example_has_every_setting_with_its_default(tmp_path: Path) -> None:
    text = (INFRA / "docstow.toml").read_text("utf-8")
    listed = re.findall(r"^# (.+)\n#(\w+) = ", text, re.MULTILINE)
    assert listed == [(field.metadata["help"], name) for name, field in FIELDS.items()]
    taken = tmp_path / "docstow.toml"
    taken.write_text(re.sub(r"^#(\w+ = )", r"\1", text, flags=re.MULTILINE))
    assert load({}, {}, taken) == Settings()
    assert load({}, {}, INFRA / "docstow.toml") == Settings()


def test_the_service_runs_a_command_that_there_is() -> None:
    unit = configparser.RawConfigParser(strict=False)
    unit.read_string((INFRA / "docstow.service").read_text("utf-8"))
    program, *words = unit["Service"]["ExecStart"].split()
    assert Path(program).name == "docstow"
    assert parse(words).config == Path("/etc/docstow/docstow.toml")
    text = (INFRA / "docstow.service").read_text("utf-8")
    named = re.findall(r"^Environment=DOCSTOW_(\w+)=", text, re.MULTILINE)
    assert named
    assert {name.lower() for name in named} <= FIELDS.keys()
