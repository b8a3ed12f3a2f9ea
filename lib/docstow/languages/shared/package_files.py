"""The files of a package: which are worth reading, in which order, and as a tree."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path

from docstow.languages.shared.language import Reading, of_ecosystem
from docstow.languages.shared.project import Package
from docstow.languages.shared.sandbox import Boundary

_SKIPPED = frozenset(
    {
        *("__pycache__", "node_modules", ".git", ".mypy_cache", ".pytest_cache", ".ruff_cache"),
        *(".venv", "venv", ".tox", ".nox", ".cache", ".idea", ".vscode"),
    }
)
#: Names of what no one reads: compiled, pictures, archives, data of other programs.
_BINARY = frozenset(
    {
        *(".pyc", ".pyo", ".so", ".pyd", ".dll", ".dylib", ".a", ".o", ".lib", ".exe", ".node"),
        *(".wasm", ".png", ".jpg", ".jpeg", ".gif", ".ico", ".webp", ".bmp", ".tif", ".tiff"),
        *(".woff", ".woff2", ".ttf", ".otf", ".eot", ".zip", ".gz", ".tgz", ".bz2", ".xz"),
        *(".zst", ".whl", ".jar", ".pdf", ".mo", ".npy", ".npz", ".pkl", ".parquet", ".db"),
        *(".sqlite", ".mp3", ".mp4", ".wav", ".bin", ".map"),
    }
)
_MINIFIED = (".min.js", ".min.mjs", ".min.cjs", ".min.css", "-min.js", ".bundle.js", ".umd.js")
#: What says most comes first.
_FIRST = (".pyi", ".d.ts", ".d.mts", ".d.cts")
_READMES = ("readme", "package.json")
_LINES = 150
_DEEPEST = 12


def files(package: Package, boundary: Boundary) -> list[str]:
    """Return the readable files of a package, each folder's own before those below it.

    They are relative to the package's ``files_root``, with slashes. Only folders are looked into:
    what is not shown of a file is not asked for.

    Args:
        package: an installed one.
        boundary: what may be opened.
    """
    root = package.files_root
    if root is None:
        return []
    base = f"{boundary.inside(root)}{os.sep}"
    found = []
    for start in _starts(package, root):
        places = (
            boundary.files(start, _SKIPPED) if start.is_dir() else [str(boundary.inside(start))]
        )
        found += [
            place[len(base) :].replace(os.sep, "/")
            for place in places
            if place.startswith(base) and _is_readable(place)
        ]
    return sorted(found, key=_order)


def _reading(package: Package) -> Reading | None:
    language = of_ecosystem(package.ecosystem)
    return language.reading() if language is not None and language.reading is not None else None


def _starts(package: Package, root: Path) -> list[Path]:
    reading = _reading(package)
    return reading.starts(package, root) if reading is not None else [root]


def _is_readable(place: str) -> bool:
    name = place.rpartition(os.sep)[2].lower()
    _, dot, suffix = name.rpartition(".")
    return f"{dot}{suffix}" not in _BINARY and not name.endswith(_MINIFIED)


def _order(path: str) -> tuple[list[str], int, bool, str]:
    parent, _, name = path.lower().rpartition("/")
    return parent.split("/"), not name.startswith(_READMES), not name.endswith(_FIRST), name


def owns(package: Package, path: str) -> bool:
    """Return whether a path relative to ``files_root`` is one of the package's own."""
    reading = _reading(package)
    return reading is None or reading.owns(package, path)


def tree(found: Sequence[str], root: Path, below: str = "", lines: int = _LINES) -> str:
    """Format files as an indented list; what is in folders that do not fit is counted.

    Args:
        found: all files, as :func:`files` gives them.
        root: what they are relative to.
        below: the folder that is shown; everything if empty.
        lines: how long it may be.
    """
    prefix = f"{below.strip('/')}/" if below.strip("/") else ""
    shown = [each.removeprefix(prefix).split("/") for each in found if each.startswith(prefix)]
    depth, count = _fitting(shown, lines)
    rows = list(islice(_listed(shown, root / prefix, depth), lines))
    left = count - lines
    more = [f"… and {left} more; name a folder as file_path"] if left > 0 else []
    return "\n".join(rows + more)


def _fitting(found: Sequence[list[str]], lines: int) -> tuple[int, int]:
    """Return how deep folders can be open within so many lines, and how many lines that takes."""
    own = Counter(len(parts) - 1 for parts in found)
    folders = {tuple(parts[:end]) for parts in found for end in range(1, len(parts))}
    inner = Counter(map(len, folders))
    # Open folders with their own files, and the closed ones in the last of them.
    counts = [0]
    for depth in range(_DEEPEST + 1):
        counts.append(counts[-1] + own[depth] + inner[depth + 1])
    depth = next((each for each in range(_DEEPEST, 1, -1) if counts[each + 1] <= lines), 1)
    return depth, counts[depth + 1]


def _listed(found: Sequence[list[str]], root: Path, depth: int) -> Iterator[str]:
    closed = Counter(tuple(parts[: depth + 1]) for parts in found if len(parts) > depth + 1)
    opened: set[tuple[str, ...]] = set()
    for parts in found:
        for level in range(min(len(parts) - 1, depth + 1)):
            folder = tuple(parts[: level + 1])
            if folder not in opened:
                opened.add(folder)
                count = f" ({closed[folder]} files)" if level == depth else ""
                yield f"{'  ' * level}{folder[-1]}/{count}"
        if len(parts) <= depth + 1:
            yield f"{'  ' * (len(parts) - 1)}{parts[-1]}{_size(root.joinpath(*parts))}"


def _size(place: Path) -> str:
    try:
        size = place.stat().st_size
    except OSError:  # it is gone meanwhile
        return ""
    return f" ({size} B)" if size < 1024 else f" ({size / 1024:.0f} KB)"
