"""Parsers of Python's lock files: which versions a project would have.

A text that cannot be read raises ValueError.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from docstow.core.language_names import folded
from docstow.languages.shared.project import Locked

_PIN = re.compile(r"\s*([A-Za-z0-9][\w.-]*)\s*(?:\[[^\]]*\])?\s*={2,3}\s*([\w.!+-]+)(?![\w.!+*-])")


def uv(text: str) -> list[Locked]:
    """Parse ``uv.lock``; the project's own packages, which come from a folder, are left out."""
    packages = _packages(text, "package")
    own = [each for each in packages if not _is_fetched(each.get("source"))]
    direct = {folded(name) for each in own for name in _uv_dependencies(each)}
    return [
        Locked(str(each["name"]), str(each.get("version", "")), folded(each["name"]) in direct)
        for each in packages
        if each not in own
    ]


def _is_fetched(source: object) -> bool:
    return not (isinstance(source, dict) and source.keys() & {"editable", "virtual"})


def _uv_dependencies(package: Mapping[str, Any]) -> Iterator[str]:
    groups = [package.get("dependencies")]
    for kind in ("optional-dependencies", "dev-dependencies"):
        table = package.get(kind)
        groups += table.values() if isinstance(table, dict) else ()
    for group in groups:
        for each in group if isinstance(group, list) else ():
            if isinstance(each, dict) and isinstance(each.get("name"), str):
                yield each["name"]


def poetry(text: str) -> list[Locked]:
    """Parse ``poetry.lock`` or ``pdm.lock``; the manifest says which packages are direct."""
    return [
        Locked(
            str(each["name"]),
            str(each.get("version", "")),
            summary=str(each.get("description") or each.get("summary") or ""),
        )
        for each in _packages(text, "package")
    ]


def pylock(text: str) -> list[Locked]:
    """Parse ``pylock.toml``, the common format (PEP 751)."""
    return [
        Locked(str(each["name"]), str(each["version"]))
        for each in _packages(text, "packages")
        if each.get("version")
    ]


def pipenv(text: str) -> list[Locked]:
    """Parse ``Pipfile.lock``."""
    read = json.loads(text)
    if not isinstance(read, dict):
        raise ValueError("not an object")
    found = {}
    for category, table in read.items():
        if category == "_meta" or not isinstance(table, dict):
            continue
        for name, entry in table.items():
            version = str(entry.get("version", "")) if isinstance(entry, dict) else ""
            found[name] = Locked(name, version.lstrip("="))
    return list(found.values())


def requirements(text: str) -> list[Locked]:
    """Parse a requirements file; what is not pinned to one version is left out."""
    pins = (_PIN.match(line) for line in text.splitlines())
    return [Locked(pin[1], pin[2]) for pin in pins if pin]


#: Parsers by the name of the lock file.
PYTHON: Mapping[str, Callable[[str], list[Locked]]] = {
    "uv.lock": uv,
    "poetry.lock": poetry,
    "pdm.lock": poetry,
    "pylock.toml": pylock,
    "Pipfile.lock": pipenv,
}


def _packages(text: str, key: str) -> list[dict[str, Any]]:
    found = tomllib.loads(text).get(key, [])
    if not isinstance(found, list):
        raise ValueError("not a lock file")
    return [each for each in found if isinstance(each, dict) and isinstance(each.get("name"), str)]
