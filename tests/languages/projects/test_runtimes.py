"""Which Python and which Node a project is for, by its files."""

from __future__ import annotations

from pathlib import Path

import pytest

from docstow.languages.python.interpreter import interpreter_version
from docstow.languages.typescript.engine import engine_version


@pytest.mark.parametrize(
    ("files", "version"),
    [
        ({}, ""),
        ({".venv/pyvenv.cfg": "home = /usr/bin\nversion = 3.9.18\n"}, "3.9.18"),
        # As uv writes it; the environment counts before what is asked for.
        (
            {"venv/pyvenv.cfg": "version_info = 3.12.1\n", ".python-version": "3.10\n"},
            "3.12.1",
        ),
        ({".python-version": "# for tox, too\n3.10\n3.9\n"}, "3.10"),
        ({".python-version": "cpython-3.11.2\n"}, "3.11.2"),
        ({".python-version": "system\n"}, ""),
        ({"pyproject.toml": "[project]\nrequires-python = '>=3.9,<4'\n"}, "3.9"),
        ({"pyproject.toml": "[project]\nrequires-python = '<3.13'\n"}, ""),
        ({"pyproject.toml": "[project]\nrequires-python = '==3.11.*'\n"}, "3.11"),
        ({"pyproject.toml": "[tool.poetry.dependencies]\npython = '^3.8'\n"}, "3.8"),
        ({"pyproject.toml": "[project\n", "uv.lock": 'requires-python = ">=3.10"\n'}, "3.10"),
        ({"poetry.lock": '[metadata]\npython-versions = "~3.9"\n'}, "3.9"),
    ],
)
def test_python(tmp_path: Path, files: dict[str, str], version: str) -> None:
    write(tmp_path, files)
    assert interpreter_version(tmp_path, {}) == version


def test_the_active_environment_comes_first(tmp_path: Path) -> None:
    write(tmp_path, {".venv/pyvenv.cfg": "version = 3.9\n", "py312/pyvenv.cfg": "version = 3.12\n"})
    assert interpreter_version(tmp_path, {"VIRTUAL_ENV": str(tmp_path / "py312")}) == "3.12"


def test_nothing_outside_of_a_project_is_read(tmp_path: Path) -> None:
    write(tmp_path, {"secret": "3.8\n", "project/.keep": ""})
    (tmp_path / "project" / ".python-version").symlink_to(tmp_path / "secret")
    assert interpreter_version(tmp_path / "project", {}) == ""


@pytest.mark.parametrize(
    ("files", "version"),
    [
        ({}, ""),
        ({".nvmrc": "v18.17.1\n"}, "18.17.1"),
        ({".nvmrc": "20\n", "package.json": '{"engines": {"node": ">=16"}}'}, "20.999.999"),
        ({".nvmrc": "lts/*\n", ".node-version": "16.3"}, "16.3.999"),
        ({"package.json": '{"engines": {"node": "^18.12 || >=20.1"}}'}, "18.12.0"),
        ({"package.json": '{"engines": {"node": "<=20"}}'}, ""),
        ({"package.json": '{"engines": {"node": "*"}}'}, ""),
        ({"package.json": '{"engines": ['}, ""),
    ],
)
def test_node(tmp_path: Path, files: dict[str, str], version: str) -> None:
    write(tmp_path, files)
    assert engine_version(tmp_path) == version


def write(folder: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, "utf-8")
