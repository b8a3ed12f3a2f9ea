"""A package in whose code hardly an item is found says so in its summary."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from languages.projects.test_sources import runtime_at
from languages.typescript.node.test_node_written import written

CODE = "const hidden = () => 1;\n"


def summary(root: Path, **files: str) -> dict[str, Any]:
    written(root / "project", files, main="index.js", version="1.0.0")
    (root / "project" / "package.json").write_text('{"dependencies": {"lib": "1"}}')
    with runtime_at(root, root / "project") as runtime:
        arguments = {"language": "typescript", "crate": "lib"}
        answer = runtime.toolbox.call("get_crate_summary", arguments).structured
    assert isinstance(answer, dict)
    return answer


def test_few_items_of_many_lines_are_told_of(tmp_path: Path) -> None:
    told = summary(tmp_path, **{"index.js": "exports.one = 1;\n", "inner.js": CODE * 1000})
    assert told["scarcity"].startswith("In 1,001 lines of code only 1 item was found:")


@pytest.mark.parametrize(
    "files",
    [
        {"index.js": "exports.one = 1;\n", "inner.js": CODE * 999},
        {"index.js": "exports.one = 1;\n", "data.json": "1\n" * 2000},
        {"index.js": "".join(f"exports.x{i} = 1;\n" for i in range(5)), "inner.js": CODE * 1000},
    ],
)
def test_little_code_or_enough_items_are_not(tmp_path: Path, files: dict[str, str]) -> None:
    assert "scarcity" not in summary(tmp_path, **files)
