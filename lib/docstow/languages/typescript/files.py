"""The files of installed Node packages: which one a module is, and what is written in it.

This room knows package folders, how a module's name leads to a file, and the cache of what was
read. It does not know what names mean.
"""

from __future__ import annotations

import json
import os
import re
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from docstow.core.errors import DocstowError
from docstow.languages.shared.sandbox import Boundary
from docstow.languages.typescript import package_json as node_manifest
from docstow.languages.typescript.source.model import Source
from docstow.languages.typescript.source.statements import read_file

#: Bytes of a declaration file that is read: compilers' own are a tenth of it.
LARGEST = 16 * 1024 * 1024
_CACHED = 24 * 1024 * 1024
_BARE = re.compile(r"((?:@[^/]+/)?[^/]+)(/.+)?")
_AMBIENT = re.compile(rb"\bdeclare\s+module\s+[\"']([^\"']+)")
_GLOBAL = re.compile(rb"\bdeclare\s+global\b")
_STAR = re.compile(rb"export\s*(?:type\s*)?\*|export\s*=|exports|__export")
_MOST_FILES = 20_000


@dataclass(frozen=True, slots=True, eq=False)
class Folder:
    """An installed package.

    Attributes:
        root: its folder, links resolved.
        manifest: its package.json; empty where it has none that can be read.
    """

    root: Path
    manifest: Mapping[str, Any]

    @property
    def name(self) -> str:
        """As its package.json spells it."""
        return str(self.manifest.get("name") or self.root.name)


class _File:
    """What was read of a file; it is parsed when it is first asked about."""

    def __init__(self, name: str, body: bytes) -> None:
        self.body = body
        self._name = name

    @cached_property
    def source(self) -> Source:
        return read_file(self._name, self.body)


class Unit:
    """One file of a package.

    Args:
        path: links resolved.
        folder: the package.
        file: what was read.
    """

    __slots__ = ("_file", "folder", "path")

    def __init__(self, path: Path, folder: Folder, file: _File) -> None:
        self.path = path
        self.folder = folder
        self._file = file

    @property
    def source(self) -> Source:
        """What it declares, imports and exports."""
        return self._file.source

    @property
    def esm(self) -> bool:
        """Whether Node takes it for an ES module."""
        name = self.path.name
        if name.endswith((".mts", ".mjs")):
            return True
        return self.folder.manifest.get("type") == "module" and not name.endswith((".cts", ".cjs"))

    @property
    def body(self) -> bytes:
        """Its bytes."""
        return self._file.body

    def may_export(self, name: str) -> bool:
        """Whether a name can be among its exports, judged without parsing it."""
        return name.encode() in self.body or _STAR.search(self.body) is not None

    def beside(self, path: Path) -> Unit:
        """The same file as if it stood elsewhere in its package."""
        return Unit(path, self.folder, self._file)


class _Files:
    """What was read of files, by path, time and size; the least used goes first."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._kept: OrderedDict[tuple[str, int, int], _File] = OrderedDict()
        self._bytes = 0

    def get(self, path: Path, read: Callable[[], bytes]) -> _File:
        status = path.stat()
        key = (str(path), status.st_mtime_ns, status.st_size)
        with self._lock:
            if key in self._kept:
                self._kept.move_to_end(key)
                return self._kept[key]
        file = _File(path.name, read())
        with self._lock:
            if key not in self._kept:
                self._kept[key] = file
                self._bytes += len(file.body)
            while self._bytes > _CACHED and len(self._kept) > 1:
                self._bytes -= len(self._kept.popitem(last=False)[1].body)
        return file


_FILES = _Files()
_AMBIENTS: OrderedDict[tuple[str, int], tuple[tuple[str, str], ...]] = OrderedDict()


class NodeFiles:
    """The packages below one boundary, as their own files see each other.

    Args:
        boundary: what may be read.
    """

    def __init__(self, boundary: Boundary) -> None:
        self.boundary = boundary
        self._folders: dict[Path, Folder | None] = {}
        self._units: dict[Path, Unit | None] = {}
        self._marks: dict[Path, tuple[int, int] | None] = {}

    def folder(self, path: Path) -> Folder | None:
        """The package in a folder; None where there is none inside."""
        if path not in self._folders:
            self._folders[path] = self._folder(path)
        return self._folders[path]

    def _folder(self, path: Path) -> Folder | None:
        try:
            root = self.boundary.inside(path)
        except DocstowError:
            return None
        if not root.is_dir():
            return None
        manifest: object = {}
        try:
            manifest = json.loads(self.boundary.read(root / "package.json"))
        except (DocstowError, ValueError):
            if not (root / "index.d.ts").is_file():
                return None
        return Folder(root, manifest if isinstance(manifest, dict) else {})

    def find(self, name: str, start: Path) -> Folder | None:
        """The package of a name as files in a folder see it: in the nearest ``node_modules``."""
        for above in (start, *start.parents):
            if above.name != "node_modules":
                place = above / "node_modules" / name
                if place.is_dir() and (found := self.folder(place)) is not None:
                    return found
            if above == self.boundary.root:
                break
        return None

    def unit(self, path: Path, folder: Folder) -> Unit | None:
        """A file, read; None where it cannot be."""
        if path not in self._units:
            self._marks[path] = _mark(path)
            try:
                real = self.boundary.inside(path)
                file = _FILES.get(real, lambda: self.boundary.read(real, most=LARGEST))
                self._units[path] = Unit(real, folder, file)
            except (DocstowError, OSError):
                self._units[path] = None
        return self._units[path]

    def same(self) -> bool:
        """Whether all files that were asked for are as they were."""
        return all(_mark(path) == known for path, known in self._marks.items())

    @property
    def size(self) -> int:
        """Bytes of all files that were read."""
        return sum(known[1] for known in self._marks.values() if known is not None)

    def module(
        self, folder: Folder, subpath: str, conditions: frozenset[str], *, typed: bool
    ) -> Unit | None:
        """The file of a module of a package.

        Args:
            folder: the package.
            subpath: ``.`` or ``./x``.
            conditions: those that hold in ``exports``.
            typed: TypeScript only; else JavaScript only.
        """
        for path in self._paths(folder, subpath, conditions):
            for each in node_manifest.candidates(path):
                if node_manifest.is_typed(each) == typed and (folder.root / each).is_file():
                    unit = self.unit(folder.root / each, folder)
                    if unit is not None:
                        return unit
        return None

    def _paths(self, folder: Folder, subpath: str, conditions: frozenset[str]) -> Iterator[str]:
        exported = node_manifest.exported(folder.manifest, subpath, conditions)
        for path in exported or ():
            yield path.removeprefix("./")
        # Only a package's entry is looked for elsewhere than where exports says.
        if exported is None or subpath == ".":
            yield from node_manifest.named(folder.manifest, subpath)

    def beside(self, unit: Unit, path: str) -> Unit | None:
        """The file that a relative specifier of another one means."""
        target = _normal(unit.path.parent, path)
        if target is None:
            return None
        folder = unit.folder
        if not target.is_relative_to(folder.root):
            return None
        if target.is_dir() and (inner := self.folder(target)) is not None and inner.manifest:
            for typed in (True, False):
                found = self.module(inner, ".", node_manifest.IMPORT, typed=typed)
                if found is not None:
                    return self.unit(found.path, folder)
        for each in node_manifest.candidates(str(target)):
            if os.path.isfile(each):  # noqa: PTH113 - many are asked, and Path is slow
                return self.unit(Path(each), folder)
        return None

    def has(self, folder: Folder, subpath: str) -> bool:
        """Whether a package has a file or a folder of that name, whatever its ending is."""
        target = _normal(folder.root, subpath)
        if target is None or not target.parent.is_relative_to(folder.root):
            return True
        try:
            names = os.listdir(target.parent)  # noqa: PTH208 - names alone are wanted
        except OSError:
            return False
        return any(each == target.name or each.startswith(f"{target.name}.") for each in names)

    def ambients(self, folder: Folder) -> tuple[tuple[str, str], ...]:
        """Which declaration files of a package speak for which modules: path, specifier.

        Those that speak for all files have an empty specifier.
        """
        try:
            stamp = (folder.root / "package.json").stat().st_mtime_ns
        except OSError:
            stamp = 0
        key = (str(folder.root), stamp)
        if key not in _AMBIENTS:
            _AMBIENTS[key] = tuple(self._ambients(folder))
            if len(_AMBIENTS) > 2048:
                _AMBIENTS.popitem(last=False)
        return _AMBIENTS[key]

    def _ambients(self, folder: Folder) -> Iterator[tuple[str, str]]:
        seen: set[str] = set()
        for count, path in enumerate(self.boundary.walk(folder.root, {"node_modules"})):
            if count > _MOST_FILES:
                return
            if not path.name.endswith((".d.ts", ".d.mts", ".d.cts")):
                continue
            # Of files that are published in two forms, the second says the same.
            if path.name.endswith(".d.cts") and f"{str(path)[:-4]}ts" in seen:
                continue
            seen.add(str(path))
            try:
                body = path.read_bytes()
            except OSError:
                continue
            for found in set(_AMBIENT.findall(body)):
                yield str(path), found.decode(errors="replace")
            if _GLOBAL.search(body):
                yield str(path), ""


def split(specifier: str) -> tuple[str, str]:
    """``@scope/name/sub`` → ``@scope/name``, ``./sub``; the package itself is ``.``."""
    found = _BARE.fullmatch(specifier)
    if found is None:
        return specifier, "."
    return found[1], f".{found[2]}" if found[2] else "."


def _mark(path: Path) -> tuple[int, int] | None:
    """When a file was changed last, and its size; None where there is none."""
    try:
        status = os.stat(path)  # noqa: PTH116 - hundreds are asked, and Path is slow
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size


def _normal(base: Path, path: str) -> Path | None:
    """A relative path joined lexically; None where it leads above everything."""
    parts = list(base.parts)
    for part in path.split("/"):
        if part == "..":
            if len(parts) < 2:
                return None
            parts.pop()
        elif part not in ("", "."):
            parts.append(part)
    return Path(*parts)
