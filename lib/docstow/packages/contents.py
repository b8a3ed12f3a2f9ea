"""The files of a package: which are worth reading, in which order, and as a tree.

This room knows file names. It does not know what is inside the files.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from docstow.packages.boundary import Boundary
from docstow.packages.model import Package

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


@dataclass(frozen=True, slots=True)
class Entry:
    """A file: its path relative to the package's ``files_root``, with slashes, and its bytes."""

    path: str
    size: int


def entries(package: Package, boundary: Boundary) -> list[Entry]:
    """The readable files of a package, each folder's own before those below it.

    Args:
        package: an installed one.
        boundary: what may be opened.
    """
    root = package.files_root
    if root is None:
        return []
    found = []
    for start in _starts(package, root):
        files = boundary.walk(start, _SKIPPED) if start.is_dir() else [boundary.inside(start)]
        base = boundary.inside(root)
        found += [
            Entry(path.relative_to(base).as_posix(), path.stat().st_size)
            for path in files
            if _is_readable(path.name) and path.is_relative_to(base)
        ]
    return sorted(found, key=_order)


def _starts(package: Package, root: Path) -> list[Path]:
    """Where the package's files begin; ``site-packages`` is others' too."""
    if package.ecosystem != "python":
        return [root]
    found = []
    for name in package.import_names:
        place = root.joinpath(*name.split("."))
        stubs = root / f"{name}-stubs"
        modules = [place.with_name(f"{place.name}{suffix}") for suffix in (".pyi", ".py")]
        found += [each for each in (place, stubs) if each.is_dir()]
        found += [each for each in modules if each.is_file()]
    return found


def _is_readable(name: str) -> bool:
    lower = name.lower()
    return PurePosixPath(lower).suffix not in _BINARY and not lower.endswith(_MINIFIED)


def _order(entry: Entry) -> tuple[str, int, bool, str]:
    path = PurePosixPath(entry.path)
    name = path.name.lower()
    rank = 0 if name.startswith(_READMES) else 1
    return str(path.parent), rank, not name.endswith(_FIRST), name


def owns(package: Package, path: str) -> bool:
    """Whether a path relative to ``files_root`` is one of the package's own."""
    if package.ecosystem != "python":
        return "node_modules" not in PurePosixPath(path).parts
    for name in package.import_names:
        place = name.replace(".", "/")
        beside = (f"{place}.py", f"{place}.pyi")
        if path in beside or path == place or path.startswith((f"{place}/", f"{name}-stubs/")):
            return True
    return False


def tree(found: Sequence[Entry], below: str = "", lines: int = _LINES) -> str:
    """The files as an indented list; folders that do not fit are counted.

    Args:
        found: all files.
        below: the folder that is shown; everything if empty.
        lines: how long it may be.
    """
    prefix = f"{below.strip('/')}/" if below.strip("/") else ""
    shown = [each for each in found if each.path.startswith(prefix)]
    for depth in range(12, 0, -1):
        listed = _listed(shown, prefix, depth)
        if len(listed) <= lines or depth == 1:
            break
    else:
        listed = []
    left = len(listed) - lines
    more = [f"… and {left} more; name a folder as file_path"] if left > 0 else []
    return "\n".join(listed[:lines] + more)


def _listed(found: Sequence[Entry], prefix: str, depth: int) -> list[str]:
    counts: dict[tuple[str, ...], int] = {}
    rows: list[str] = []
    opened: set[tuple[str, ...]] = set()
    for each in found:
        parts = tuple(each.path.removeprefix(prefix).split("/"))
        folder = parts[:-1]
        if len(folder) > depth:
            counts[folder[: depth + 1]] = counts.get(folder[: depth + 1], 0) + 1
    closed: set[tuple[str, ...]] = set()
    for each in found:
        parts = tuple(each.path.removeprefix(prefix).split("/"))
        folder = parts[:-1]
        for level in range(1, min(len(folder), depth) + 1):
            if folder[:level] not in opened:
                opened.add(folder[:level])
                rows.append(f"{'  ' * (level - 1)}{folder[level - 1]}/")
        if len(folder) > depth:
            top = folder[: depth + 1]
            if top not in closed:
                closed.add(top)
                rows.append(f"{'  ' * depth}{top[-1]}/ ({counts[top]} files)")
        else:
            rows.append(f"{'  ' * len(folder)}{parts[-1]} ({_size(each.size)})")
    return rows


def _size(size: int) -> str:
    return f"{size} B" if size < 1024 else f"{size / 1024:.0f} KB"
