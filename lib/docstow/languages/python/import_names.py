"""The import names of a distribution, from the list of files that it installed."""

from __future__ import annotations

import csv
from collections.abc import Collection, Iterable, Iterator
from pathlib import PurePosixPath

from docstow.core.language_names import folded

#: Folders that some distributions install beside their package by mistake.
STRAY = frozenset(
    ("test", "tests", "doc", "docs", "example", "examples", "benchmarks", "scripts", "tools")
)
MODULE_SUFFIXES = (".py", ".pyi", ".so", ".pyd")
_MOST_IMPORT_NAMES = 40
_DEEPEST_IMPORT_NAME = 5


def record_paths(text: str) -> Iterator[str]:
    """Yield the paths of a ``RECORD``, relative to ``site-packages``."""
    for line in text.splitlines():
        if line.startswith('"'):
            yield from (row[0] for row in csv.reader([line]) if row)
        elif line:
            yield line.partition(",")[0]


def import_names(
    paths: Iterable[str], distribution: str, namespaces: Collection[str] = ()
) -> tuple[str, ...]:
    """Return top-level names, the distribution's own first; of namespaces the names below them.

    Args:
        paths: of installed files.
        distribution: its name.
        namespaces: dotted names that it declares to be shared.
    """
    packages: set[tuple[str, ...]] = set()
    inner: dict[tuple[str, ...], set[tuple[str, ...]]] = {}
    for path in paths:
        if not path.endswith(MODULE_SUFFIXES):
            continue
        *folders, last = path.split("/")
        stem = last.partition(".")[0]
        parts = (*folders, stem)
        if len(parts) > _DEEPEST_IMPORT_NAME + 1 or not _is_importable(parts):
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
        for name in _names_below(top, packages - shared, inner)
    ]
    kept = [each for each in found if each.partition(".")[0] not in STRAY] or found
    return tuple(sorted(kept, key=lambda each: _sort_key(each, distribution)))


def _names_below(
    name: tuple[str, ...],
    packages: Collection[tuple[str, ...]],
    inner: dict[tuple[str, ...], set[tuple[str, ...]]],
) -> list[tuple[str, ...]]:
    """Return the name of a module or package; of a namespace the names below it."""
    if name in packages or name not in inner:
        return [name]
    found = [each for child in inner[name] for each in _names_below(child, packages, inner)]
    return found if len(found) <= _MOST_IMPORT_NAMES else [name]


def _is_importable(parts: tuple[str, ...]) -> bool:
    first, *rest = parts
    if first.startswith("__editable__") or first == "__pycache__":
        return False
    return first.removesuffix("-stubs").isidentifier() and all(each.isidentifier() for each in rest)


def _sort_key(name: str, distribution: str) -> tuple[bool, bool, bool, str]:
    wanted = folded(distribution)
    alike = folded(name) == wanted or folded(name.partition(".")[0]) == wanted
    private = any(part.startswith("_") for part in name.split("."))
    return private and "." in name, not alike, private, name


def path_files(paths: Iterable[str]) -> list[str]:
    """Return the ``.pth`` files among installed ones, with the finders that some of them call."""
    return [
        path
        for path in paths
        if "/" not in path
        and (
            path.endswith(".pth")
            or (path.endswith(".py") and "editable" in PurePosixPath(path).stem)
        )
    ]
