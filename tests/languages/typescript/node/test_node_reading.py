"""Packages of Node as ``read_package`` shows them: those that are one function, and aliases."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from docstow.core.errors import InvalidParameter
from docstow.languages.projects import Projects
from docstow.tools import Toolbox, read_package


@pytest.fixture
def read(tmp_path: Path) -> Any:
    """The tool over a project with one library in two versions, the older under another name."""
    root = tmp_path / "project"
    declared = {
        "equal": ("equal", "3.1.3", "declare const equal: (a: any) => boolean;\nexport = equal;\n"),
        "lib": ("lib", "7.0.0", "export declare function newer(): void;\n"),
        "a-lib5": ("lib", "5.9.0", "export declare function older(): void;\n"),
    }
    for place, (name, version, text) in declared.items():
        folder = root / "node_modules" / place
        folder.mkdir(parents=True)
        manifest = {"name": name, "version": version, "types": "index.d.ts"}
        (folder / "package.json").write_text(json.dumps(manifest))
        (folder / "index.d.ts").write_text(text)
    asked = {"equal": "3", "lib": "7", "a-lib5": "npm:lib@5"}
    (root / "package.json").write_text(json.dumps({"dependencies": asked}))
    toolbox = Toolbox([read_package.tool(Projects([root], tmp_path / "cache", local=True))])
    return lambda **arguments: toolbox.call("read_package", arguments).text


def test_a_package_that_is_one_function_shows_how_it_is_called(read: Any) -> None:
    text = read(package_name="equal")
    assert "const equal: (a: any) => boolean" in text
    assert "## Names" not in text


def test_a_name_means_the_package_that_is_imported_by_it(read: Any) -> None:
    text = read(package_name="lib")
    assert text.startswith("*lib 7.0.0 ")
    assert "also installed: 5.9.0" in text
    assert "newer" in text


def test_an_alias_is_read_by_its_name(read: Any) -> None:
    assert read(package_name="a-lib5").startswith("*lib 5.9.0 ")
    assert "function older()" in read(package_name="a-lib5", symbol="older")


def test_lines_are_those_of_a_file(read: Any) -> None:
    with pytest.raises(InvalidParameter, match="file_path"):
        read(package_name="lib", lines="1-2")
