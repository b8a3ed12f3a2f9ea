"""Texts of lock files, of every form: which version of a package a project uses."""

from __future__ import annotations

import json

import pytest

from docstow import languages
from docstow.core.errors import InvalidParameter
from docstow.languages.projects.lock_text import LockText
from docstow.languages.shared.language import Language
from docstow.languages.shared.project import LockedVersion


def language(name: str) -> Language:
    found = languages.of_name(name)
    assert found is not None
    return found


UV = """
version = 1
[[package]]
name = "boat"
version = "0.1.0"
source = { virtual = "." }
dependencies = [{ name = "sail-cloth" }]
[[package]]
name = "sail-cloth"
version = "2.1.0"
source = { registry = "https://index.example/simple" }
[[package]]
name = "sail-cloth"
version = "3.0.0"
source = { registry = "https://index.example/simple" }
"""
POETRY = """
[[package]]
name = "Sail_Cloth"
version = "2.1.0"
[metadata]
lock-version = "2.0"
"""
PYLOCK = """
lock-version = "1.0"
[[packages]]
name = "sail-cloth"
version = "2.1.0"
"""
PIPFILE = json.dumps({"_meta": {}, "default": {"sail-cloth": {"version": "==2.1.0"}}})
PINS = "# pinned\nsail.cloth==2.1.0 ; python_version > '3'\nropes>=1\n"
NPM = json.dumps(
    {
        "lockfileVersion": 3,
        "packages": {
            "": {"dependencies": {"sails": "^2"}},
            "node_modules/sails": {"version": "2.1.0"},
        },
    }
)
YARN = '# yarn lockfile v1\n\n"sails@^2", sails@^2.1:\n  version "2.1.0"\n'
BERRY = '__metadata:\n  version: 8\n\n"sails@npm:^2":\n  version: 2.1.0\n'
PNPM = """lockfileVersion: '9.0'
importers:
  .:
    dependencies:
      sails:
        specifier: ^2
        version: 2.1.0
packages:
  sails@2.1.0:
    resolution: {integrity: sha512-x}
"""
BUN = (
    '{"lockfileVersion": 1, "workspaces": {"": {"dependencies": {"sails": "^2"}}},'
    ' "packages": {"sails": ["sails@2.1.0", "", {}, "sha512-x"],}}'
)


@pytest.mark.parametrize("text", [UV, POETRY, PYLOCK, PIPFILE, PINS])
@pytest.mark.parametrize("name", ["sail-cloth", "Sail_Cloth"])
def test_a_version_of_python(text: str, name: str) -> None:
    assert LockText(text, language("python")).locked(name).version in ("2.1.0", "3.0.0")


@pytest.mark.parametrize("text", [NPM, YARN, BERRY, PNPM, BUN])
def test_a_version_of_node(text: str) -> None:
    assert LockText(text, language("typescript")).locked("sails").version == "2.1.0"


def test_the_highest_of_several_that_the_project_asks_for() -> None:
    lock = LockText(UV, language("python"))
    assert lock.locked("sail-cloth") == LockedVersion("3.0.0", ("2.1.0",), ("the project",))
    assert lock.versions()["sail-cloth"] == ""
    assert lock.direct() == {"sail-cloth": "3.0.0"}


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("python", "ropes>=1\n"),
        ("typescript", "{}"),
        ("python", "[[package]]\nname = 1"),
        ("typescript", ""),
    ],
)
def test_what_is_no_lock_file_is_refused(name: str, text: str) -> None:
    with pytest.raises(InvalidParameter, match="is no lock file that is known"):
        LockText(text, language(name))


def test_what_comes_from_elsewhere_has_no_version() -> None:
    text = '[[package]]\nname = "x"\nsource = { git = "https://host.example/x" }\n'
    text += '[[package]]\nname = "y"\nversion = "1"\nsource = { registry = "z" }\n'
    with pytest.raises(InvalidParameter, match="comes from elsewhere"):
        LockText(text, language("python")).locked("x")
