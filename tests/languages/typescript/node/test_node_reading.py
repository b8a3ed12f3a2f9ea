"""Packages of Node as ``read_package`` shows them: those that are one function, and aliases."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from docstow.core.errors import InvalidParameter
from docstow.languages.projects import Projects
from docstow.languages.shared.boundary import Boundary
from docstow.tools import Toolbox, read_package
from settled import settle


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


@pytest.fixture
def settled(tmp_path: Path) -> Path:
    """A project whose package was written an hour ago, and is added to by another one."""
    modules = tmp_path / "project" / "node_modules"
    for name, files in {
        "app": {"index.d.ts": "export * from './more';\nexport declare function first(): void;\n"},
        "more": {"index.d.ts": "import 'app';\ndeclare module 'app' { const added: number; }\n"},
    }.items():
        manifest = {"name": name, "version": "1.0.0", "types": "index.d.ts", "peerDependencies": {}}
        manifest["peerDependencies"] = {"app": "1"} if name == "more" else {}
        (modules / name).mkdir(parents=True)
        (modules / name / "package.json").write_text(json.dumps(manifest))
        for path, text in files.items():
            (modules / name / path).write_text(text)
    (modules / "app" / "more.d.ts").write_text("export declare function second(): void;\n")
    asked = {"dependencies": {"app": "1", "more": "1"}}
    (modules.parent / "package.json").write_text(json.dumps(asked))
    settle(modules.parent)
    return modules.parent


def opened(root: Path, cache: Path) -> Any:
    toolbox = Toolbox([read_package.tool(Projects([root], cache, local=True))])
    return lambda **arguments: toolbox.call("read_package", arguments).text


@pytest.fixture
def files(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The files that are read, path by path."""
    paths: list[str] = []
    reads = Boundary.read

    def noted(self: Boundary, path: str | Path, *rest: Any, **named: Any) -> bytes:
        paths.append(str(path))
        return reads(self, path, *rest, **named)

    monkeypatch.setattr(Boundary, "read", noted)
    return paths


def test_what_was_read_is_not_read_again(settled: Path, tmp_path: Path, files: list[str]) -> None:
    read = opened(settled, tmp_path / "cache")
    first = read(package_name="app"), read(package_name="app", symbol="second")
    assert any(each.endswith("more.d.ts") for each in files)
    files.clear()
    assert first == (read(package_name="app"), read(package_name="app", symbol="second"))
    assert [each for each in files if each.endswith(".ts")] == []


def test_an_answer_does_not_depend_on_what_was_asked_before(settled: Path, tmp_path: Path) -> None:
    asked: tuple[dict[str, str], ...] = (
        {},
        {"symbol": "added"},
        {"symbol": "first"},
        {"symbol": "app"},
    )
    alone = [opened(settled, tmp_path / "cache")(package_name="app", **each) for each in asked]
    for order in (asked, asked[::-1]):
        read = opened(settled, tmp_path / "cache")
        texts = {str(each): read(package_name="app", **each) for each in order}
        assert [texts[str(each)] for each in asked] == alone


def test_the_pages_of_a_text_follow_each_other(settled: Path, tmp_path: Path) -> None:
    names = "".join(f"export declare function f{each}(): void;\n" for each in range(300))
    (settled / "node_modules" / "app" / "more.d.ts").write_text(names)
    settle(settled)
    read, seen, cursor = opened(settled, tmp_path / "cache"), "", ""
    while cursor or not seen:
        page = read(package_name="app", max_tokens=400, cursor=cursor)
        seen += page
        # Another question between them changes nothing.
        read(package_name="app", symbol="added")
        cursor = found[1] if (found := re.search("next cursor: `(.+?)`", page)) else ""
    assert all(seen.count(f"**f{each}**") == 1 for each in range(300))


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ("more.d.ts", "export declare function third(): void;\n"),
        ("more.ts", "export declare function fourth(): void;\n"),
    ],
    ids=["a file", "another file"],
)
def test_what_has_changed_is_read_again(
    settled: Path, tmp_path: Path, change: str, text: str
) -> None:
    read = opened(settled, tmp_path / "cache")
    for _ in range(2):
        assert "second" in read(package_name="app")
    (settled / "node_modules" / "app" / change).write_text(text)
    now = read(package_name="app")
    assert change in now
    assert now == opened(settled, tmp_path)(package_name="app")
