"""Which names of a Python distribution a program imports, judged by the files that it installed.

This room knows lists of paths. It opens no files.
"""

from __future__ import annotations

import csv
from collections.abc import Collection, Iterable, Iterator
from pathlib import PurePosixPath

from docstow.languages.shared.project import folded

_MODULES = (".py", ".pyi", ".so", ".pyd")
#: What some distributions install beside their package by mistake.
STRAY = frozenset(
    ("test", "tests", "doc", "docs", "example", "examples", "benchmarks", "scripts", "tools")
)
_MOST = 40
_DEEPEST = 5


def recorded(text: str) -> Iterator[str]:
    """The paths of a ``RECORD``, relative to ``site-packages``."""
    for line in text.splitlines():
        if line.startswith('"'):
            yield from (row[0] for row in csv.reader([line]) if row)
        elif line:
            yield line.partition(",")[0]


def import_names(
    paths: Iterable[str], distribution: str, namespaces: Collection[str] = ()
) -> tuple[str, ...]:
    """Top-level names, the distribution's namesake first; of namespaces the names below them.

    Args:
        paths: of installed files.
        distribution: its name.
        namespaces: dotted names that it declares to be shared.
    """
    packages: set[tuple[str, ...]] = set()
    inner: dict[tuple[str, ...], set[tuple[str, ...]]] = {}
    for path in paths:
        if not path.endswith(_MODULES):
            continue
        *folders, last = path.split("/")
        stem = last.partition(".")[0]
        parts = (*folders, stem)
        if len(parts) > _DEEPEST + 1 or not _importable(parts):
            continue
        if stem == "__init__":
            packages.add(tuple(folders))
            parts = tuple(folders)
        for end in range(1, len(parts) + 1):
            inner.setdefault(parts[: end - 1], set()).add(parts[:end])
    shared = {tuple(each.split(".")) for each in namespaces}
    found = [
        ".".join(name)
        for top in inner.get((), ())
        for name in _below(top, packages - shared, inner)
    ]
    kept = [each for each in found if each.partition(".")[0] not in STRAY] or found
    return tuple(sorted(kept, key=lambda each: _order(each, distribution)))


def _below(
    name: tuple[str, ...],
    packages: Collection[tuple[str, ...]],
    inner: dict[tuple[str, ...], set[tuple[str, ...]]],
) -> list[tuple[str, ...]]:
    """The name itself, if it is a module or package; of a namespace those below it."""
    if name in packages or name not in inner:
        return [name]
    found = [each for child in inner[name] for each in _below(child, packages, inner)]
    return found if len(found) <= _MOST else [name]


def _importable(parts: tuple[str, ...]) -> bool:
    first, *rest = parts
    if first.startswith("__editable__") or first == "__pycache__":
        return False
    return first.removesuffix("-stubs").isidentifier() and all(each.isidentifier() for each in rest)


def _order(name: str, distribution: str) -> tuple[bool, bool, bool, str]:
    wanted = folded(distribution)
    alike = folded(name) == wanted or folded(name.partition(".")[0]) == wanted
    private = any(part.startswith("_") for part in name.split("."))
    return private and "." in name, not alike, private, name


def pth_names(paths: Iterable[str]) -> list[str]:
    """The ``.pth`` files among installed ones, and the finders that some of them call."""
    return [
        path
        for path in paths
        if "/" not in path
        and (
            path.endswith(".pth")
            or (path.endswith(".py") and "editable" in PurePosixPath(path).stem)
        )
    ]
