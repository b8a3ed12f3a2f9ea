"""The distributions of a Python environment, read from what installers wrote of them.

This room knows ``.dist-info``, ``.egg-info``, ``.egg`` and ``.egg-link``. It does not know where
environments are, nor which distributions a project asks for. No code of a package is run.
"""

from __future__ import annotations

import ast
import contextlib
import csv
import json
import os
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import unquote, urlsplit

from docstow.core.errors import DocstowError, Forbidden
from docstow.core.language_names import folded
from docstow.languages.shared.places import shown
from docstow.languages.shared.project import Package, Problem
from docstow.languages.shared.sandbox import Boundary
from docstow.languages.shared.scan_cache import Memory
from docstow.text import python_ast as python_tree

# Which names of a Python distribution a program imports, judged by the files that it installed.


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


# Python distributions that are installed by reference


#: Folders and files of a checkout that are no part of what it offers.
_NOT_OFFERED = STRAY | {
    "setup",
    "conftest",
    "noxfile",
    "tasks",
    "fabfile",
    "manage",
    "build",
    "dist",
}


_MODULES = (".py", ".pyi", ".so", ".pyd")


_DEEPEST_NAMESPACE = 3


_MOST_NAMESPACES = 40


def checkout(
    site: Path, files: Sequence[str], info: Path | None, boundary: Boundary
) -> tuple[str, list[str]] | None:
    """Where an editable distribution's import names are found, and which those are.

    Args:
        site: ``site-packages``.
        files: names of its ``.pth`` files and finders.
        info: its ``.dist-info``.
        boundary: what may be opened.

    Returns:
        A folder, absolute but not yet known to be inside, and names; no names where all of the
        folder's are meant, no folder where names stand for folders of other names. None if it is
        not editable.
    """
    for name in files:
        text = _text(site / name, boundary)
        mapped = _mapping(text) if name.endswith(".py") else {}
        if mapped:
            return _of_mapping(mapped) or ("", list(mapped))
        if name.endswith(".pth"):
            for line in text.splitlines():
                place = line.strip()
                if place and not place.startswith(("#", "import ", "import\t")):
                    return os.path.normpath(site / place), []
    url = _direct_url(info, boundary) if info is not None else ""
    return (_sources(Path(url), boundary), []) if url else None


def offered(
    folder: Path, distribution: str, watch: Callable[[Path], None] = lambda _: None
) -> tuple[str, ...]:
    """The import names of a checkout's folder, the distribution's namesake first.

    Where it has no modules of its own, those in its namespaces. ``watch`` is told which folders
    that depends on.
    """
    found, others = _offered(folder, _NOT_OFFERED, watch)
    for _ in range(_DEEPEST_NAMESPACE):
        if found:
            break
        below = {
            name: _offered(folder.joinpath(*name.split(".")), (), watch)
            for name in others[:_MOST_NAMESPACES]
        }
        found = [f"{name}.{each}" for name, (some, _) in below.items() for each in some]
        others = [f"{name}.{each}" for name, (_, more) in below.items() for each in more]
    return tuple(sorted(found, key=lambda each: (folded(each) != folded(distribution), each)))


def _offered(
    folder: Path, skipped: Collection[str], watch: Callable[[Path], None]
) -> tuple[list[str], list[str]]:
    """The modules and packages of a folder, and its folders that are none themselves."""
    found: list[str] = []
    others: list[str] = []
    watch(folder)
    with contextlib.suppress(OSError), os.scandir(folder) as listed:
        for entry in listed:
            stem = entry.name.partition(".")[0] if entry.name.endswith(_MODULES) else entry.name
            if stem in skipped or not stem.isidentifier():
                continue
            if stem != entry.name:
                found.append(stem)
            elif entry.is_dir(follow_symlinks=False):
                watch(Path(entry.path))
                (found if _is_package(Path(entry.path)) else others).append(stem)
    return sorted(set(found)), sorted(others)


def _sources(folder: Path, boundary: Boundary) -> str:
    """Where a checkout keeps its packages: itself, or its ``src``."""
    with contextlib.suppress(DocstowError, OSError):
        if boundary.inside(folder / "src").is_dir():
            return str(folder / "src")
    return str(folder)


def _is_package(folder: Path) -> bool:
    return any((folder / f"__init__{end}").is_file() for end in (".py", ".pyi"))


def _of_mapping(mapped: dict[str, str]) -> tuple[str, list[str]] | None:
    """The folder in which the first mapped name is found, and all names found there."""
    roots: dict[str, list[str]] = {}
    for name, place in mapped.items():
        parts = name.split(".")
        path = Path(re.sub(r"([/\\]__init__)?\.pyi?$", "", place))
        if path.parts[-len(parts) :] == tuple(parts):
            roots.setdefault(str(path.parents[len(parts) - 1]), []).append(name)
    return next(iter(roots.items()), None)


def _mapping(text: str) -> dict[str, str]:
    """The names and places that a finder has as a literal."""
    try:
        tree = python_tree.module(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Dict) and node.keys:
            try:
                value = ast.literal_eval(node)
            except (ValueError, TypeError, RecursionError):
                continue
            if all(isinstance(each, str) for pair in value.items() for each in pair) and all(
                Path(at).is_absolute() for at in value.values()
            ):
                return dict(value)
    return {}


def _direct_url(info: Path, boundary: Boundary) -> str:
    try:
        read = json.loads(_text(info / "direct_url.json", boundary) or "{}")
        if not read.get("dir_info", {}).get("editable"):
            return ""
        parts = urlsplit(read["url"])
    except (ValueError, AttributeError, KeyError, TypeError):
        return ""
    if parts.scheme != "file" or parts.netloc not in ("", "localhost"):
        return ""
    path = unquote(parts.path)
    return path[1:] if re.match(r"/[A-Za-z]:", path) else path


def _text(path: Path, boundary: Boundary) -> str:
    try:
        return boundary.read(path, most=1024 * 1024).decode("utf-8", "replace")
    except DocstowError:
        return ""


_LARGEST_METADATA = 4 * 1024 * 1024


_LARGEST_RECORD = 32 * 1024 * 1024


_LONGEST_SUMMARY = 300


#: Names of distributions; letters of all alphabets, as registries of companies have them.
_NAME = re.compile(r"\w(?:[\w.-]*\w)?")


class Site:
    """One folder of import names.

    Args:
        folder: ``site-packages``.
        boundary: what may be opened.
        memory: what is known of it.
    """

    def __init__(self, folder: Path, boundary: Boundary, memory: Memory) -> None:
        self._folder = folder
        self._boundary = boundary
        self._memory = memory
        self.problems: list[Problem] = []
        #: Names of distributions that somebody asked for by name, as the installer wrote down.
        self.requested: set[str] = set()

    def packages(self) -> list[Package]:
        """Its distributions; of one that is there twice the one installed last."""
        found: dict[str, tuple[float, Package]] = {}
        self._memory.watch(self._folder)
        try:
            self._boundary.inside(self._folder)
            entries = sorted(each.name for each in self._folder.iterdir())
        except Forbidden:
            self._problem(self._folder, "it leads out of the root; give a --root that holds it")
            return []
        except OSError as error:
            self._problem(self._folder, f"it cannot be listed: {error.strerror}")
            return []
        for entry in entries:
            info = self._folder / entry
            try:
                package = self._package(entry)
                changed = info.stat().st_mtime if package is not None else 0.0
            except OSError as error:
                self._problem(info, f"it cannot be read: {error.strerror}; install it again")
                continue
            if package is None:
                continue
            name = folded(package.name)
            if name in found:
                self._problem(info, f"{package.name} is there twice; install it again")
            if name not in found or changed > found[name][0]:
                found[name] = changed, package
        return [package for _, package in found.values()]

    def _package(self, entry: str) -> Package | None:
        info = self._folder / entry
        if entry.endswith(".dist-info"):
            if entry.startswith("~"):
                self._problem(info, "an update was broken off; delete it")
                return None
            return self._read(info, "METADATA", self._dist_info)
        if entry.endswith(".egg-info"):
            return self._read(info, "PKG-INFO" if info.is_dir() else "", self._egg_info)
        if entry.endswith(".egg"):
            if info.is_dir():
                return self._read(info, "EGG-INFO/PKG-INFO", self._egg)
            return self._read(info, "", self._zipped)
        if entry.endswith(".egg-link"):
            return self._read(info, "", self._egg_link)
        return None

    def _read(self, info: Path, metadata: str, make: Any) -> Package | None:
        """The package of an entry, remembered for as long as the entry and its metadata are."""
        try:
            files = (info, info / metadata)
            fact = self._memory.recall(
                shown(info, self._boundary), files, lambda: _caught(make, info)
            )
        except FileNotFoundError:
            self._problem(info, f"it has no {metadata}: half installed; install it again")
            return None
        except OSError as error:
            self._problem(info, f"it cannot be read: {error.strerror}; install it again")
            return None
        if reason := fact.get("problem"):
            self._problem(info, reason)
        if "name" not in fact:
            return None
        return self._made(info, fact)

    def _made(self, info: Path, fact: dict[str, Any]) -> Package:
        if fact.get("requested"):
            self.requested.add(folded(fact["name"]))
        root, names, problem = self._folder, tuple(fact["names"]), ""
        place = fact.get("checkout")
        if place == "":
            problem = "its modules have other names than their folders; install it without -e"
            self._problem(info, problem)
        elif place is not None:
            try:
                root = self._boundary.inside(Path(place))
                # What is in a checkout changes, and nothing of its installation with it.
                names = names or offered(root, fact["name"], self._memory.watch)
                self._memory.watch(root)
                if not root.is_dir():
                    problem = "its checkout is not there; install it again"
            except Forbidden:
                problem = "its checkout is outside the root; give a --root that holds both"
            except OSError as error:
                problem = f"its checkout cannot be read: {error.strerror}; install it again"
            if problem:
                self._problem(info, problem)
        location = root if not problem else self._folder
        return Package(
            ecosystem="python",
            name=fact["name"],
            version=fact["version"],
            location=shown(location, self._boundary),
            import_names=names,
            direct=False,
            language="python",
            summary=fact["summary"],
            installed=True,
            editable=place is not None,
            problem=problem,
            files_root=None if problem else root,
            info_root=info if info.name.endswith(".dist-info") else None,
        )

    def _dist_info(self, info: Path) -> dict[str, Any]:
        fact = self._metadata(info / "METADATA", info.name)
        paths: Sequence[str] = ()
        try:
            record = self._boundary.read(info / "RECORD", most=_LARGEST_RECORD)
            paths = tuple(recorded(record.decode("utf-8", "replace")))
        except DocstowError:
            fact["problem"] = "it has no RECORD that can be read: half installed; install it again"
        namespaces = self._lines(info / "namespace_packages.txt")
        names = import_names(paths, fact["name"], namespaces)
        if not paths:
            names = tuple(self._lines(info / "top_level.txt"))
        found = checkout(self._folder, pth_names(paths), info, self._boundary)
        # Others write .pth files too, for what happens when Python starts.
        if found and (not names or (info / "direct_url.json").is_file()):
            fact["checkout"], names = found[0], tuple(found[1])
        return fact | {"names": names, "requested": (info / "REQUESTED").is_file()}

    def _egg_info(self, info: Path) -> dict[str, Any]:
        if not info.is_dir():
            fact = self._metadata(info, info.name)
            return fact | {"names": self._guessed(fact["name"])}
        fact = self._metadata(info / "PKG-INFO", info.name)
        listed = [os.path.normpath(f"{info.name}/{each}") for each in self._installed(info)]
        namespaces = self._lines(info / "namespace_packages.txt")
        names = import_names(listed, fact["name"], namespaces)
        names = names or tuple(self._lines(info / "top_level.txt"))
        return fact | {"names": names or self._guessed(fact["name"])}

    def _installed(self, info: Path) -> list[str]:
        return self._lines(info / "installed-files.txt")

    def _egg(self, info: Path) -> dict[str, Any]:
        fact = self._metadata(info / "EGG-INFO" / "PKG-INFO", info.name)
        names = self._lines(info / "EGG-INFO" / "top_level.txt")
        return fact | {"names": names, "checkout": str(info)}

    def _zipped(self, info: Path) -> dict[str, Any]:
        name, version = _named(info.name)
        problem = "it is a zipped egg, which is not read; install it with pip, which unpacks it"
        return {"name": name, "version": version, "summary": "", "names": [], "problem": problem}

    def _egg_link(self, info: Path) -> dict[str, Any]:
        place = next(iter(self._lines(info)), "")
        folder = self._boundary.inside(Path(place)) if Path(place).is_absolute() else None
        if folder is None:
            return {"problem": "it does not say where its checkout is; install it again"}
        for found in sorted(folder.glob("*.egg-info")):
            fact = self._metadata(found / "PKG-INFO", found.name)
            names = self._lines(found / "top_level.txt")
            return fact | {"names": names, "checkout": str(folder)}
        return {"problem": "its checkout has no .egg-info; install it again"}

    def _metadata(self, path: Path, entry: str) -> dict[str, Any]:
        body = self._boundary.read(path, most=_LARGEST_METADATA)
        fields = dict(_fields(body.decode("utf-8", "replace")))
        name, version = _named(entry)
        told = fields.get("name", "")
        summary = fields.get("summary", "")
        return {
            "name": told if _NAME.fullmatch(told) else name,
            "version": fields.get("version") or version,
            "summary": "" if summary == "UNKNOWN" else summary[:_LONGEST_SUMMARY],
        }

    def _lines(self, path: Path) -> list[str]:
        try:
            text = self._boundary.read(path).decode("utf-8", "replace")
        except DocstowError:
            return []
        return [line.strip() for line in text.splitlines() if line.strip()]

    def _guessed(self, name: str) -> tuple[str, ...]:
        plain = name.replace("-", "_").replace(".", "_")
        for each in (plain, plain.lower()):
            if (self._folder / each).is_dir() or (self._folder / f"{each}.py").is_file():
                return (each,)
        return ()

    def _problem(self, place: Path, reason: str) -> None:
        self.problems.append(Problem(shown(place, self._boundary), reason))


def _caught(make: Any, info: Path) -> dict[str, Any]:
    """A fact, or why there is none: that is remembered too."""
    try:
        fact: dict[str, Any] = make(info)
    except Forbidden:
        return {"problem": "it leads out of the root; install it again, or give a --root with both"}
    except DocstowError as error:
        return {"problem": f"{error.message.rstrip('.')}; install it again"}
    except OSError as error:
        return {"problem": f"it cannot be read: {error.strerror}; install it again"}
    return fact | {"names": list(fact["names"])} if "names" in fact else fact


def _named(entry: str) -> tuple[str, str]:
    """Name and version of a distribution, as the name of what was installed of it says them."""
    name, _, version = entry.rpartition(".")[0].partition("-")
    return name, version.partition("-")[0]


def _fields(text: str) -> Iterator[tuple[str, str]]:
    """The fields of core metadata before its body, the first of each name, names in lower case."""
    seen = set()
    for line in text.splitlines():
        if not line.strip():
            return
        name, colon, value = line.partition(":")
        if colon and not line[:1].isspace() and name.lower() not in seen:
            seen.add(name.lower())
            yield name.lower(), value.strip()
