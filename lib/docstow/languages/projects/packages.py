"""The installed packages of a project: found by name, with their surfaces, files and documents."""

from __future__ import annotations

import contextlib
import os
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path, PurePosixPath

from docstow.core.errors import DocstowError, PackageNotFound, UnreadableInput
from docstow.core.model import Document
from docstow.core.similar import similar_names
from docstow.languages.shared.boundary import Boundary
from docstow.languages.shared.language import LANGUAGES, Reading, of_ecosystem
from docstow.languages.shared.project import Package, Scan
from docstow.languages.shared.surface import Surface, Surfaces

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
#: Fewer items of more lines of code than these are told of.
_FEW_ITEMS = 5
_MANY_LINES = 1000
_DEEPEST = 12
_NAME = re.compile(r"[A-Za-z]\w+")
_QUOTED = re.compile(r"`([^`\n]+)`")
_CALLED = re.compile(r"\b([A-Za-z]\w+)\(")


class ProjectPackages:
    """The packages that a scan found; each surface is opened when it is first asked for.

    Args:
        scan: of one project.
    """

    def __init__(self, scan: Scan) -> None:
        self.scan = scan
        self._openers: dict[str, Surfaces] = {}

    def again(self) -> bool:
        """Make ready for another question; whether what was read is still so, and not much."""
        return all(each.again() for each in self._openers.values())

    def package(self, name: str) -> Package:
        """Return an installed package by its name, or by what is imported of it.

        Raises:
            PackageNotFound: there is none; near names are suggested.
        """
        found = self.scan.named(name)
        languages = [each.name for each in LANGUAGES.values() if each.documented]
        imported = (self.scan.importing(name, each) for each in languages)
        package = next((each for each in (*found, *imported) if each is not None), None)
        if package is None:
            names = [each.name for each in self.scan.packages]
            raise PackageNotFound(
                f"No package {name!r} is installed or locked in this project; scan_packages lists"
                " them.",
                suggestions=[
                    {"name": each, "score": score}
                    for each, score in similar_names(name, names, least=0.5)
                ],
            )
        if not package.installed or package.files_root is None:
            raise PackageNotFound(
                f"{package.name} {package.version} is locked but not installed here, so its files"
                " cannot be read; install the project's dependencies first, or give its version, so"
                " that it is fetched."
            )
        return package

    def surface(self, package: Package) -> Surface | None:
        """Return what a package offers; None where there is no reader for its language."""
        if package.ecosystem not in self._openers:
            language = of_ecosystem(package.ecosystem)
            if language is None or language.reading is None:
                return None
            self._openers[package.ecosystem] = language.reading().surfaces(self.scan)
        return self._openers[package.ecosystem](package)

    def boundary(self, package: Package) -> Boundary:
        """Return the package's own folder, which nothing of it leads out of."""
        if package.files_root is None:
            raise PackageNotFound(f"{package.name} is not installed here.")
        self.scan.boundary.inside(package.files_root)
        return Boundary(package.files_root)

    def file(self, package: Package, path: str) -> tuple[str, bytes]:
        """Read one file of a package, and its path with all links resolved.

        Raises:
            Forbidden: the path leads out of the package.
            DocumentNotFound: there is no such file.
            TooLarge, UnreadableInput: it cannot be shown.
        """
        boundary = self.boundary(package)
        real = boundary.inside(path).relative_to(boundary.root)
        shown = PurePosixPath(*real.parts).as_posix()
        if not owns(package, shown):
            raise UnreadableInput(
                f"{path} is not a file of {package.name}; call without file_path for its tree."
            )
        return shown, boundary.read(path)


def list_files(package: Package, boundary: Boundary) -> list[str]:
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


def describe_scarcity(
    package: Package, boundary: Boundary, documents: Sequence[Document], suffixes: Collection[str]
) -> str:
    """Return what is said of a package in whose code hardly an item was found; empty if enough was.

    Args:
        package: an installed one.
        boundary: what may be opened.
        documents: those that were made of it.
        suffixes: of files with code.
    """
    items = sum(each.kind not in ("page", "module") for each in documents)
    if items >= _FEW_ITEMS or package.files_root is None:
        return ""
    lines = 0
    for path in list_files(package, boundary):
        if path.endswith(tuple(suffixes)):
            with contextlib.suppress(DocstowError, OSError):
                lines += boundary.read(package.files_root / path).count(b"\n")
    if lines <= _MANY_LINES:
        return ""
    count = (
        "no items were" if not items else f"only {items} item{'s were' if items > 1 else ' was'}"
    )
    return (
        f"In {lines:,} lines of code {count} found: names that are made while it runs, or are"
        " declared in a way that is not read, are missing. read_package shows the files."
    )


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


def format_tree(found: Sequence[str], root: Path, below: str = "", lines: int = _LINES) -> str:
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


def collect_documents(made: Iterable[Document], name: str) -> list[Document]:
    """Return what a package is as a source, sorted, each path of a kind once.

    Args:
        made: the documents of its surface, as its language makes them.
        name: the package's.

    Raises:
        PackageNotFound: there is nothing to read.
    """
    found = {(each.path, each.kind): each for each in _weighed(list(made))}
    if not found:
        raise PackageNotFound(f"{name} has nothing that can be read.")
    return [found[key] for key in sorted(found)]


def _weighed(made: list[Document]) -> Iterator[Document]:
    """Yield the same, each knowing how many others mention its name in signature or docs."""
    titles = {each.title for each in made if each.kind not in ("page", "module")}
    mentions = Counter(
        word
        for each in made
        for word in {*_identifiers(each.signature), *_mentioned(each.text)} & titles
        if word != each.title and not each.path.endswith(f"{word}.{each.title}")
    )
    for each in made:
        degree = 0 if each.kind in ("page", "module") else mentions[each.title]
        yield replace(each, attributes={**each.attributes, "in_degree": degree})


def _identifiers(text: str) -> Iterator[str]:
    """Yield the names in a text that are no words of English."""
    return (each for each in _NAME.findall(text) if not each.isalpha() or not each.islower())


def _mentioned(text: str) -> Iterator[str]:
    """Yield the names that prose means as such: plain words only in code or before a call."""
    yield from _identifiers(text)
    yield from _CALLED.findall(text)
    for code in _QUOTED.findall(text):
        yield from _NAME.findall(code)
