"""The version of Python that a project is for, by its files; nothing of it is run."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.version import InvalidVersion, Version

from docstow.core import toml
from docstow.core.errors import DocstowError
from docstow.languages.python.scanning import active_environment
from docstow.languages.shared.boundary import Boundary

_LARGEST = 4 * 1024 * 1024
_STATED = re.compile(r"^version(?:_info)?\s*=\s*(\d+\.\d+(?:\.\d+)?)", re.MULTILINE)
_PINNED = re.compile(r"^\s*(?:cpython-|python-?)?(\d+\.\d+(?:\.\d+)?)\s*(?:#.*)?$", re.MULTILINE)
_LOCKED = re.compile(r"^(?:requires-python|python-versions) = \"([^\"\n]+)\"", re.MULTILINE)
_VENVS = (".venv", "venv", "env")
_LOCKS = ("uv.lock", "pylock.toml", "poetry.lock", "pdm.lock")


def interpreter_version(root: Path, environ: Mapping[str, str]) -> str:
    """Return the version of a project's Python; empty where nothing says it.

    That is the one of its environment, else what ``.python-version`` pins, else the oldest that
    ``requires-python`` of ``pyproject.toml`` or of its lock file admits: what fits that fits all.

    Args:
        root: the project's folder.
        environ: names an active environment.
    """
    boundary = Boundary(root)
    active = active_environment(boundary.root, environ)
    # An environment may lie elsewhere, where only its own file is read.
    folders = ([active] if active is not None else []) + [boundary.root / e for e in _VENVS]
    for folder in folders:
        reader = Boundary(folder) if folder == active else boundary
        if found := _STATED.search(_text(reader, folder / "pyvenv.cfg")):
            return found[1]
    if found := _PINNED.search(_text(boundary, boundary.root / ".python-version")):
        return found[1]
    return next((oldest for each in _ranges(boundary) if (oldest := _oldest(each))), "")


def _ranges(boundary: Boundary) -> Iterator[str]:
    """Yield what a project's manifest and lock files ask of Python."""
    try:
        manifest = toml.loads(_text(boundary, boundary.root / "pyproject.toml"))
    except toml.TomlError:
        manifest = {}
    project, tool = manifest.get("project"), manifest.get("tool")
    if isinstance(project, dict) and isinstance(project.get("requires-python"), str):
        yield project["requires-python"]
    poetry = tool.get("poetry") if isinstance(tool, dict) else None
    asked = poetry.get("dependencies") if isinstance(poetry, dict) else None
    if isinstance(asked, dict) and isinstance(asked.get("python"), str):
        yield asked["python"]
    for name in _LOCKS:
        if found := _LOCKED.search(_text(boundary, boundary.root / name)):
            yield found[1]


def _oldest(requirement: str) -> str:
    """Return the oldest version of Python 3 that a range names and admits; empty if none.

    Poetry's ``^3.9`` and ``~3.9`` begin with their own number.
    """
    try:
        specifiers = SpecifierSet(re.sub(r"(?<![~=<>!])[\^~](?=\s*\d)", ">=", requirement))
        named = [Version(each.version.removesuffix(".*")) for each in specifiers]
    except (InvalidSpecifier, InvalidVersion):
        return ""
    # ``>3.8`` names a version that it does not admit, though it admits its patches.
    fitting = [each for each in named if each in specifiers or f"{each}.99" in specifiers]
    return str(min(fitting)) if fitting else ""


def _text(boundary: Boundary, path: Path) -> str:
    try:
        return boundary.read(path, most=_LARGEST).decode("utf-8-sig", "replace")
    except DocstowError:
        return ""
