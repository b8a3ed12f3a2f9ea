"""The distributions of a Python environment, from what installers wrote: metadata, lists of files.

No code of a package is run: path files and finders of editable distributions are read as text.
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
from docstow.core.spelling import folded
from docstow.languages.shared.boundary import Boundary, shown
from docstow.languages.shared.project import Package, Problem
from docstow.languages.shared.scanning import ScanCache
from docstow.text.python_ast import try_parse_module

_LARGEST_METADATA = 4 * 1024 * 1024
_LARGEST_RECORD = 32 * 1024 * 1024
_LONGEST_SUMMARY = 300
#: The name of a distribution, in letters of any alphabet, as private registries allow.
_DISTRIBUTION_NAME = re.compile(r"\w(?:[\w.-]*\w)?")
_DEEPEST_NAMESPACE = 3
_MOST_NAMESPACES = 40
#: Folders that some distributions install beside their package by mistake.
_STRAY = frozenset(
    ("test", "tests", "doc", "docs", "example", "examples", "benchmarks", "scripts", "tools")
)
#: Names in a checkout that are no part of what it offers.
_NOT_OFFERED = _STRAY | frozenset(
    ("setup", "conftest", "noxfile", "tasks", "fabfile", "manage", "build", "dist")
)
_MODULE_SUFFIXES = (".py", ".pyi", ".so", ".pyd")
_MOST_IMPORT_NAMES = 40
_DEEPEST_IMPORT_NAME = 5


class Site:
    """One folder of import names.

    Attributes:
        problems: entries that could not be read.
        requested: names of distributions that were installed by name.

    Args:
        folder: ``site-packages``.
        boundary: what may be opened.
        memory: what was read of its entries before.
    """

    def __init__(self, folder: Path, boundary: Boundary, memory: ScanCache) -> None:
        self._folder = folder
        self._boundary = boundary
        self._memory = memory
        self.problems: list[Problem] = []
        self.requested: set[str] = set()

    def packages(self) -> list[Package]:
        """Return its distributions; of one that is there twice the one installed last."""
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
            return self._remembered(info, "METADATA", self._dist_info)
        if entry.endswith(".egg-info"):
            return self._remembered(info, "PKG-INFO" if info.is_dir() else "", self._egg_info)
        if entry.endswith(".egg"):
            if info.is_dir():
                return self._remembered(info, "EGG-INFO/PKG-INFO", self._egg)
            return self._remembered(info, "", self._zipped)
        if entry.endswith(".egg-link"):
            return self._remembered(info, "", self._egg_link)
        return None

    def _remembered(self, info: Path, metadata: str, make: Any) -> Package | None:
        """Return the package of an entry, which is kept until the entry or its metadata changes."""
        try:
            files = (info, info / metadata)
            fact = self._memory.recall(
                shown(info, self._boundary), files, lambda: _read_fact(make, info)
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
        return self._build_package(info, fact)

    def _build_package(self, info: Path, fact: dict[str, Any]) -> Package:
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
                # A checkout changes without its installation.
                names = names or _offered_names(root, fact["name"], self._memory.watch)
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
            paths = tuple(_record_paths(record.decode("utf-8", "replace")))
        except DocstowError:
            fact["problem"] = "it has no RECORD that can be read: half installed; install it again"
        namespaces = self._lines(info / "namespace_packages.txt")
        names = import_names(paths, fact["name"], namespaces)
        if not paths:
            names = tuple(self._lines(info / "top_level.txt"))
        found = _find_checkout(self._folder, _path_files(paths), info, self._boundary)
        # Other distributions write .pth files, too, to run code when Python starts.
        if found and (not names or (info / "direct_url.json").is_file()):
            fact["checkout"], names = found[0], tuple(found[1])
        return fact | {"names": names, "requested": (info / "REQUESTED").is_file()}

    def _egg_info(self, info: Path) -> dict[str, Any]:
        if not info.is_dir():
            fact = self._metadata(info, info.name)
            return fact | {"names": self._guess_names(fact["name"])}
        fact = self._metadata(info / "PKG-INFO", info.name)
        listed = [os.path.normpath(f"{info.name}/{each}") for each in self._installed(info)]
        namespaces = self._lines(info / "namespace_packages.txt")
        names = import_names(listed, fact["name"], namespaces)
        names = names or tuple(self._lines(info / "top_level.txt"))
        return fact | {"names": names or self._guess_names(fact["name"])}

    def _installed(self, info: Path) -> list[str]:
        return self._lines(info / "installed-files.txt")

    def _egg(self, info: Path) -> dict[str, Any]:
        fact = self._metadata(info / "EGG-INFO" / "PKG-INFO", info.name)
        names = self._lines(info / "EGG-INFO" / "top_level.txt")
        return fact | {"names": names, "checkout": str(info)}

    def _zipped(self, info: Path) -> dict[str, Any]:
        name, version = _split_entry_name(info.name)
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
        fields = dict(_metadata_fields(body.decode("utf-8", "replace")))
        name, version = _split_entry_name(entry)
        stated = fields.get("name", "")
        summary = fields.get("summary", "")
        return {
            "name": stated if _DISTRIBUTION_NAME.fullmatch(stated) else name,
            "version": fields.get("version") or version,
            "summary": "" if summary == "UNKNOWN" else summary[:_LONGEST_SUMMARY],
        }

    def _lines(self, path: Path) -> list[str]:
        try:
            text = self._boundary.read(path).decode("utf-8", "replace")
        except DocstowError:
            return []
        return [line.strip() for line in text.splitlines() if line.strip()]

    def _guess_names(self, name: str) -> tuple[str, ...]:
        plain = name.replace("-", "_").replace(".", "_")
        for each in (plain, plain.lower()):
            if (self._folder / each).is_dir() or (self._folder / f"{each}.py").is_file():
                return (each,)
        return ()

    def _problem(self, place: Path, reason: str) -> None:
        self.problems.append(Problem(shown(place, self._boundary), reason))


def _read_fact(make: Any, info: Path) -> dict[str, Any]:
    """Read the fact of an entry; the reason where there is none is a fact, too."""
    try:
        fact: dict[str, Any] = make(info)
    except Forbidden:
        return {"problem": "it leads out of the root; install it again, or give a --root with both"}
    except DocstowError as error:
        return {"problem": f"{error.message.rstrip('.')}; install it again"}
    except OSError as error:
        return {"problem": f"it cannot be read: {error.strerror}; install it again"}
    return fact | {"names": list(fact["names"])} if "names" in fact else fact


def _split_entry_name(entry: str) -> tuple[str, str]:
    """Return name and version of a distribution, by the name of its entry."""
    name, _, version = entry.rpartition(".")[0].partition("-")
    return name, version.partition("-")[0]


def _metadata_fields(text: str) -> Iterator[tuple[str, str]]:
    """Yield the fields of core metadata before its body, the first of each name in lower case."""
    seen = set()
    for line in text.splitlines():
        if not line.strip():
            return
        name, colon, value = line.partition(":")
        if colon and not line[:1].isspace() and name.lower() not in seen:
            seen.add(name.lower())
            yield name.lower(), value.strip()


def _find_checkout(
    site: Path, files: Sequence[str], info: Path | None, boundary: Boundary
) -> tuple[str, list[str]] | None:
    """Return the folder of an editable distribution's import names, and those names.

    Args:
        site: ``site-packages``.
        files: names of its ``.pth`` files and finders.
        info: its ``.dist-info``.
        boundary: what may be opened.

    Returns:
        The folder, absolute but not yet known to be inside the boundary. No names stand for all
        of the folder's. The folder is empty where names are mapped to folders with other names.
        None if the distribution is not editable.
    """
    for name in files:
        text = _read_text(site / name, boundary)
        mapped = _literal_mapping(text) if name.endswith(".py") else {}
        if mapped:
            return _common_root(mapped) or ("", list(mapped))
        if name.endswith(".pth"):
            for line in text.splitlines():
                place = line.strip()
                if place and not place.startswith(("#", "import ", "import\t")):
                    return os.path.normpath(site / place), []
    url = _direct_url(info, boundary) if info is not None else ""
    return (_source_folder(Path(url), boundary), []) if url else None


def _offered_names(
    folder: Path, distribution: str, watch: Callable[[Path], None] = lambda _: None
) -> tuple[str, ...]:
    """Return the import names of a checkout's folder, the distribution's own first.

    Without modules of its own, these are the modules in its namespaces.

    Args:
        folder: of the checkout.
        distribution: its name.
        watch: is called with each folder that the result depends on.
    """
    found, others = _list_folder(folder, _NOT_OFFERED, watch)
    for _ in range(_DEEPEST_NAMESPACE):
        if found:
            break
        below = {
            name: _list_folder(folder.joinpath(*name.split(".")), (), watch)
            for name in others[:_MOST_NAMESPACES]
        }
        found = [f"{name}.{each}" for name, (some, _) in below.items() for each in some]
        others = [f"{name}.{each}" for name, (_, more) in below.items() for each in more]
    return tuple(sorted(found, key=lambda each: (folded(each) != folded(distribution), each)))


def _list_folder(
    folder: Path, skipped: Collection[str], watch: Callable[[Path], None]
) -> tuple[list[str], list[str]]:
    """Return the modules and packages of a folder, and its folders that are no packages."""
    found: list[str] = []
    others: list[str] = []
    watch(folder)
    with contextlib.suppress(OSError), os.scandir(folder) as listed:
        for entry in listed:
            stem = (
                entry.name.partition(".")[0]
                if entry.name.endswith(_MODULE_SUFFIXES)
                else entry.name
            )
            if stem in skipped or not stem.isidentifier():
                continue
            if stem != entry.name:
                found.append(stem)
            elif entry.is_dir(follow_symlinks=False):
                watch(Path(entry.path))
                (found if _is_package(Path(entry.path)) else others).append(stem)
    return sorted(set(found)), sorted(others)


def _source_folder(folder: Path, boundary: Boundary) -> str:
    """Return the folder of a checkout's packages: itself, or its ``src``."""
    with contextlib.suppress(DocstowError, OSError):
        if boundary.inside(folder / "src").is_dir():
            return str(folder / "src")
    return str(folder)


def _is_package(folder: Path) -> bool:
    return any((folder / f"__init__{end}").is_file() for end in (".py", ".pyi"))


def _common_root(mapped: dict[str, str]) -> tuple[str, list[str]] | None:
    """Return the folder in which the first mapped name lies, and all names that lie there."""
    roots: dict[str, list[str]] = {}
    for name, place in mapped.items():
        parts = name.split(".")
        path = Path(re.sub(r"([/\\]__init__)?\.pyi?$", "", place))
        if path.parts[-len(parts) :] == tuple(parts):
            roots.setdefault(str(path.parents[len(parts) - 1]), []).append(name)
    return next(iter(roots.items()), None)


def _literal_mapping(text: str) -> dict[str, str]:
    """Return the names and paths that a finder has as a literal."""
    tree = try_parse_module(text)
    for node in ast.walk(tree) if tree is not None else ():
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
        read = json.loads(_read_text(info / "direct_url.json", boundary) or "{}")
        if not read.get("dir_info", {}).get("editable"):
            return ""
        parts = urlsplit(read["url"])
    except (ValueError, AttributeError, KeyError, TypeError):
        return ""
    if parts.scheme != "file" or parts.netloc not in ("", "localhost"):
        return ""
    path = unquote(parts.path)
    return path[1:] if re.match(r"/[A-Za-z]:", path) else path


def _read_text(path: Path, boundary: Boundary) -> str:
    try:
        return boundary.read(path, most=1024 * 1024).decode("utf-8", "replace")
    except DocstowError:
        return ""


def _record_paths(text: str) -> Iterator[str]:
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
        if not path.endswith(_MODULE_SUFFIXES):
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
    kept = [each for each in found if each.partition(".")[0] not in _STRAY] or found
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


def _path_files(paths: Iterable[str]) -> list[str]:
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
