"""A package by its name, with its language and version beside it or in one word with it."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import pytest

from docstow.core.errors import InvalidParameter
from docstow.core.settings import load
from docstow.languages import PYTHON, RUST, TYPESCRIPT, parse_package
from docstow.runtime import Runtime
from prose_server import write

SITE = ".venv/lib/python3.12/site-packages"
FILES = {
    ".venv/pyvenv.cfg": "version = 3.12.1\n",
    f"{SITE}/lantern.py": '"""Lamps."""\n\n\ndef kindle() -> None:\n    """Light the lamp.'
    '\n\n    ```toml\n    lamp = "lit"\n    ```\n    """\n',
    f"{SITE}/lantern-1.0.dist-info/METADATA": "Name: lantern\nVersion: 1.0\n",
    f"{SITE}/lantern-1.0.dist-info/RECORD": "lantern.py,,\n",
}


@pytest.fixture(scope="module")
def runtime(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Runtime]:
    folder = tmp_path_factory.mktemp("names")
    root = folder / "project"
    write(root, {str(root / name): text for name, text in FILES.items()})
    flags = {"store": str(folder / "store"), "cache": str(folder / "cache"), "root": str(root)}
    with contextlib.closing(Runtime(load(flags | {"offline": True}, {}))) as made:
        made.ingest_sample()
        yield made


def call(runtime: Runtime, tool: str, **arguments: Any) -> dict[str, Any]:
    return dict(runtime.toolbox.call(tool, arguments).structured or {})


@pytest.mark.parametrize(
    ("word", "language", "name", "requirement"),
    [
        ("flask", None, "flask", ""),
        ("tokio@1", None, "tokio", "1"),
        ("python:flask@3.0", PYTHON, "flask", "3.0"),
        ("PyPI: flask @ >=3,<4", PYTHON, "flask", ">=3,<4"),
        ("npm:@types/node@^18", TYPESCRIPT, "@types/node", "^18"),
        ("javascript:react", TYPESCRIPT, "react", ""),
        ("@types/node", None, "@types/node", ""),
        ("npm:react@npm:preact@^10", TYPESCRIPT, "react", "npm:preact@^10"),
        ("crates.io:serde", RUST, "serde", ""),
        ("tokio::sync", None, "tokio::sync", ""),
    ],
)
def test_one_word(word: str, language: object, name: str, requirement: str) -> None:
    found = parse_package(word)
    assert (found.language, found.name, found.requirement) == (language, name, requirement)


@pytest.mark.parametrize("word", ["perl:dbi", "npm:", "python:@", "go:cobra", "@"])
def test_a_word_that_names_no_package_is_refused(word: str) -> None:
    with pytest.raises(InvalidParameter, match="package"):
        parse_package(word)


@pytest.mark.parametrize(
    "arguments",
    [
        {"package": "stowage"},
        {"crate": "stowage"},
        {"package": "stowage", "crate": "stowage"},
        {"package": "rust:stowage@0.1", "version": "0.1"},
        {"package": "crate:stowage", "language": "rust"},
    ],
)
def test_every_spelling_of_a_crate(runtime: Runtime, arguments: dict[str, Any]) -> None:
    for tool, more in (("get_module_tree", {}), ("search_items", {"query": "hold"})):
        answer = call(runtime, tool, **arguments, **more)
        assert (answer["crate"], answer["package"]) == ("stowage", "stowage")
        assert answer["answered"] == "0.1.0"


@pytest.mark.parametrize(
    "arguments",
    [
        {"package": "lantern", "language": "python"},
        {"package": "python:lantern@1.0"},
        {"crate": "pypi:lantern", "version": "==1.*"},
    ],
)
def test_every_spelling_of_a_package(runtime: Runtime, arguments: dict[str, Any]) -> None:
    for tool, more in (
        ("get_module_tree", {}),
        ("search_items", {"query": "light"}),
        ("search_examples", {"query": "light"}),
    ):
        answer = call(runtime, tool, **arguments, **more)
        assert (answer["package"], answer["answered"]) == ("lantern", "1.0")
    text = runtime.toolbox.call("get_item_doc", {"item_path": "lantern.kindle", **arguments}).text
    assert "Light the lamp" in text
    export = runtime.toolbox.call("export_snapshot", {**arguments, "format": "markdown"})
    assert "Light the lamp" in export.text


@pytest.mark.parametrize(
    ("arguments", "field"),
    [
        ({"package": "stowage", "crate": "tokio"}, "package"),
        ({"package": "python:lantern", "language": "rust"}, "language"),
        ({"package": "stowage@0.1", "version": "0.2"}, "version"),
        ({"package": "perl:dbi"}, "package"),
    ],
)
def test_what_contradicts_itself_is_refused(
    runtime: Runtime, arguments: dict[str, Any], field: str
) -> None:
    with pytest.raises(InvalidParameter) as caught:
        call(runtime, "get_module_tree", **arguments)
    assert caught.value.details["field"] == field


def test_a_tool_for_crates_alone_says_so(runtime: Runtime) -> None:
    with pytest.raises(InvalidParameter, match="Rust crate"):
        call(runtime, "find_implementations", package="python:lantern", trait="x")


def test_one_search_over_packages_of_several_languages(runtime: Runtime) -> None:
    words = ["python:lantern@1.0", "stowage@0.1", "lantern"]
    answer = call(runtime, "search_items", query="light the lamp", packages=words[:2], k=50)
    assert [each["crate"] for each in answer["answered"]] == ["stowage", "lantern"]
    assert {each["crate"] for each in answer["results"]} == {"stowage", "lantern"}
    alone = call(runtime, "search_items", query="lamp", crates=words[2:], language="python")
    assert [each["version"] for each in alone["answered"]] == ["1.0"]


def test_the_language_is_the_packages_and_code_has_its_own(runtime: Runtime) -> None:
    for wanted in ({"code_language": ["toml"]}, {"language": ["toml"]}, {"language": "toml"}):
        arguments = {"query": "lamp", "package": "python:lantern", **wanted}
        if "language" in wanted:
            # What names no language of packages is one of code, as it was before.
            arguments = {"query": "hold", "package": "stowage", **wanted}
        found = call(runtime, "search_examples", **arguments)
        assert {each["language"] for each in found["results"]} <= {"toml"}
    both = call(
        runtime, "search_examples", query="lamp", package="lantern", language=["python", "toml"]
    )
    assert [each["language"] for each in both["results"]] == ["toml"]
    with pytest.raises(InvalidParameter, match="code_language"):
        call(runtime, "search_examples", query="x", package="stowage", language="python,rust")
