"""The version of Node that a project is for, by its files; nothing of it is run."""

from __future__ import annotations

import json
import re
from pathlib import Path

from docstow.core.errors import DocstowError
from docstow.core.npm_ranges import Range
from docstow.languages.shared.boundary import Boundary

_LARGEST = 4 * 1024 * 1024
_PINNED = re.compile(r"^\s*v?(\d+)(?:\.(\d+))?(?:\.(\d+))?\s*(?:#.*)?$", re.MULTILINE)
#: Files that name a version for nvm and its likes.
_PINS = (".nvmrc", ".node-version")
#: Later than any: whoever names a series has its newest version.
_NEWEST = "999"


def engine_version(root: Path) -> str:
    """Return the version of a project's Node; empty where nothing says it.

    That is what ``.nvmrc`` or ``.node-version`` pins, else the oldest that ``engines.node`` of
    ``package.json`` admits: what runs on that runs on all.

    Args:
        root: the project's folder.
    """
    boundary = Boundary(root)
    for name in _PINS:
        if found := _PINNED.search(_text(boundary, name)):
            return ".".join(each or _NEWEST for each in found.groups())
    try:
        manifest = json.loads(_text(boundary, "package.json") or "{}")
    except (ValueError, RecursionError):
        return ""
    engines = manifest.get("engines") if isinstance(manifest, dict) else None
    asked = engines.get("node") if isinstance(engines, dict) else None
    return _oldest(asked) if isinstance(asked, str) else ""


def _oldest(asked: str) -> str:
    try:
        accepted = Range.parse(asked)
    except ValueError:
        return ""
    bounds = [each.version for some in accepted.sets for each in some if "<" not in each.operator]
    fitting = [each for each in bounds if accepted.matches(each)]
    return str(min(fitting)) if fitting else ""


def _text(boundary: Boundary, name: str) -> str:
    try:
        return boundary.read(boundary.root / name, most=_LARGEST).decode("utf-8-sig", "replace")
    except DocstowError:
        return ""
