"""A package that gives hardly any item from many lines says so; a small one does not."""

from __future__ import annotations

import contextlib
import json
from pathlib import Path

import pytest

from docstow.core.settings import load
from docstow.runtime import Runtime
from prose_server import write

LINES = "_VALUE = 1\n"
PACKAGES = [
    ("python", "hidden", 1200, "few items could be read: 1 from 1202 lines of code"),
    ("python", "small", 20, ""),
    ("typescript", "hidden", 1200, "few items could be read: 1 from 1202 lines of code"),
]


@pytest.mark.parametrize(("language", "name", "lines", "notice"), PACKAGES)
def test_the_summary(tmp_path: Path, language: str, name: str, lines: int, notice: str) -> None:
    root = tmp_path / "project"
    if language == "python":
        site = root / ".venv/lib/python3.12/site-packages"
        files = {
            str(root / ".venv/pyvenv.cfg"): "version = 3.12.1\n",
            str(site / f"{name}.py"): f'"""A package."""\ndef run(): ...\n{LINES * lines}',
            str(site / f"{name}-1.0.dist-info/METADATA"): f"Name: {name}\nVersion: 1.0\n",
            str(site / f"{name}-1.0.dist-info/RECORD"): f"{name}.py,,\n",
        }
    else:
        inner = root / "node_modules" / name
        manifest = {"name": name, "version": "1.0.0", "types": "index.d.ts", "main": "index.js"}
        files = {
            str(root / "package.json"): json.dumps({"dependencies": {name: "1.0.0"}}),
            str(inner / "package.json"): json.dumps(manifest),
            str(inner / "index.d.ts"): "/** Run. */\nexport declare function run(): void;\n",
            str(inner / "index.js"): "var value = 1;\n" * lines,
        }
    write(tmp_path, files)
    store = {"store": str(tmp_path / "store"), "cache": str(tmp_path / "cache"), "root": str(root)}
    with contextlib.closing(Runtime(load(store, {}))) as runtime:
        answer = runtime.toolbox.call("get_crate_summary", {"crate": name, "language": language})
    assert answer.structured is not None
    assert str(answer.structured.get("notice", "")).startswith(notice)
    assert bool(answer.structured.get("notice")) == bool(notice)
