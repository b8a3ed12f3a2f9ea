"""The files of installed Node packages: which one a module is, and what is written in it."""

from __future__ import annotations

import json
import os
import re
import stat
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from docstow.core.errors import DocstowError
from docstow.languages.shared.boundary import Boundary
from docstow.languages.shared.stamps import Stamps
from docstow.languages.typescript import package_json
from docstow.languages.typescript.source.model import Source
from docstow.languages.typescript.source.statements import read_file

#: Bytes of a file that is read; the largest declarations of compilers are a tenth of it.
_MAX_FILE = 16 * 1024 * 1024
#: Bytes of all files that are kept.
_MAX_CACHE = 8 * 1024 * 1024
_SPECIFIER = re.compile(r"((?:@[^/]+/)?[^/]+)(/.+)?")
_AMBIENT = re.compile(rb"\bdeclare\s+module\s+[\"']([^\"']+)")
_REFERENCE = re.compile(rb"^[ \t]*///\s*<reference\s+path\s*=\s*[\"']([^\"']+)[\"']", re.MULTILINE)
_GLOBAL = re.compile(rb"\bdeclare\s+global\b")
_INDIRECT_EXPORT = re.compile(rb"export\s*(?:type\s*)?\*|export\s*=|exports|__export")
#: Files of a package that are searched for ambient modules, and packages whose result is kept.
_MAX_FILES = 20_000
_MAX_PACKAGES = 2048


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
        """Its name, as its package.json spells it."""
        return str(self.manifest.get("name") or self.root.name)


class _Content:
    """The bytes of a file, parsed on demand."""

    def __init__(self, name: str, body: bytes) -> None:
        self.body = body
        self._name = name

    @property
    def is_parsed(self) -> bool:
        return "source" in self.__dict__

    @cached_property
    def source(self) -> Source:
        return read_file(self._name, self.body)


class SourceFile:
    """One file of a package.

    Args:
        path: links resolved.
        folder: the package.
        content: its bytes.
    """

    __slots__ = ("_content", "folder", "path")

    def __init__(self, path: Path, folder: Folder, content: _Content) -> None:
        self.path = path
        self.folder = folder
        self._content = content

    @property
    def source(self) -> Source:
        """What it declares, imports and exports."""
        return self._content.source

    @property
    def is_bundle(self) -> bool:
        """Whether it was parsed, and is too large for what it assigns to be followed."""
        return self._content.is_parsed and self._content.source.bundle

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
        return self._content.body

    def may_export(self, name: str) -> bool:
        """Whether a name can be among its exports, judged without parsing it."""
        return name.encode() in self.body or _INDIRECT_EXPORT.search(self.body) is not None

    def at(self, path: Path) -> SourceFile:
        """Return the same file as if it stood elsewhere in its package."""
        return SourceFile(path, self.folder, self._content)


class _FileCache:
    """Contents by path, time and size; the least recently used goes first."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._kept: OrderedDict[tuple[str, int, int], _Content] = OrderedDict()
        self._size = 0

    def get(self, path: Path, read: Callable[[], bytes]) -> _Content:
        status = path.stat()
        key = (str(path), status.st_mtime_ns, status.st_size)
        with self._lock:
            if key in self._kept:
                self._kept.move_to_end(key)
                return self._kept[key]
        content = _Content(path.name, read())
        with self._lock:
            if key not in self._kept:
                self._kept[key] = content
                self._size += len(content.body)
            while self._size > _MAX_CACHE and len(self._kept) > 1:
                self._size -= len(self._kept.popitem(last=False)[1].body)
        return content


_CACHE = _FileCache()
_MANIFESTS: dict[tuple[str, int, int], Mapping[str, Any]] = {}
_MOST_MANIFESTS = 2000
#: What is read of a manifest; the rest, half of most, is not kept.
_READ = frozenset(
    (
        *("name", "version", "description", "homepage", "repository"),
        *("type", "main", "module", "types", "typings", "typesVersions", "exports", "imports"),
        *("dependencies", "peerDependencies", "optionalDependencies"),
    )
)
_AMBIENTS: OrderedDict[tuple[str, int], tuple[tuple[str, str], ...]] = OrderedDict()


def folder_stamp(root: Path) -> int:
    """Return when a package was put into its folder, in nanoseconds; 0 where nothing tells."""
    try:
        return (root / "package.json").stat().st_mtime_ns
    except OSError:
        return 0


class PackageFiles:
    """The packages below one boundary, as their own files see each other.

    Args:
        boundary: what may be read.
    """

    def __init__(self, boundary: Boundary) -> None:
        self.boundary = boundary
        self._folders: dict[Path, Folder | None] = {}
        self._read: dict[Path, SourceFile | None] = {}
        #: Of the files that were read, and of their folders.
        self.stamps = Stamps()
        #: Files that are there and could not be read.
        self.unread: list[Path] = []

    def folder(self, path: Path) -> Folder | None:
        """Return the package in a folder; None where there is none."""
        if path not in self._folders:
            self._folders[path] = self._open(path)
        return self._folders[path]

    def _open(self, path: Path) -> Folder | None:
        try:
            root = self.boundary.inside(path)
        except DocstowError:
            return None
        if not root.is_dir():
            return None
        manifest = self._manifest(root)
        if manifest is None and not (root / "index.d.ts").is_file():
            return None
        return Folder(root, manifest or {})

    def _manifest(self, root: Path) -> Mapping[str, Any] | None:
        """Return what a package's manifest says; None where there is none that can be read.

        Those of hundreds of dependencies are looked into for each package that is shown. One that
        was read is known by its time and size; a link is followed each time.
        """
        place, key = root / "package.json", None
        with suppress(OSError):
            status = os.lstat(place)
            if stat.S_ISREG(status.st_mode):
                key = (str(place), status.st_mtime_ns, status.st_size)
        if key is not None and (known := _MANIFESTS.get(key)) is not None:
            return known
        try:
            read = json.loads(self.boundary.read(place))
        except (DocstowError, ValueError):
            return None
        told: Mapping[str, Any] = read if isinstance(read, dict) else {}
        manifest = {key: value for key, value in told.items() if key in _READ}
        if key is not None:
            if len(_MANIFESTS) >= _MOST_MANIFESTS:
                _MANIFESTS.clear()
            _MANIFESTS[key] = manifest
        return manifest

    def find(self, name: str, start: Path) -> Folder | None:
        """Find the package of a name in the nearest ``node_modules`` above a folder."""
        for above in (start, *start.parents):
            if above.name != "node_modules":
                place = above / "node_modules" / name
                if place.is_dir() and (found := self.folder(place)) is not None:
                    return found
            if above == self.boundary.root:
                break
        return None

    def read(self, path: Path, folder: Folder) -> SourceFile | None:
        """Read a file; None where it cannot be read."""
        if path not in self._read:
            self.stamps.note(path)
            # Another file of the folder may come to be what is meant.
            self.stamps.note(path.parent)
            try:
                real = self.boundary.inside(path)
                content = _CACHE.get(real, lambda: self.boundary.read(real, most=_MAX_FILE))
                self._read[path] = SourceFile(real, folder, content)
            except (DocstowError, OSError):
                self._read[path] = None
                if path.is_file():
                    self.unread.append(path)
        return self._read[path]

    @property
    def bundles(self) -> list[Path]:
        """The files that were read of which, for their size, only a part is seen."""
        return [each.path for each in self._read.values() if each is not None and each.is_bundle]

    def find_module(
        self, folder: Folder, subpath: str, conditions: frozenset[str], *, typed: bool
    ) -> SourceFile | None:
        """Find the file of a module of a package.

        Args:
            folder: the package.
            subpath: ``.`` or ``./x``.
            conditions: those that hold in ``exports``.
            typed: TypeScript only; else JavaScript only.
        """
        for path in self._module_paths(folder, subpath, conditions):
            for each in package_json.candidates(path):
                if package_json.is_typescript(each) == typed and (folder.root / each).is_file():
                    file = self.read(folder.root / each, folder)
                    if file is not None:
                        return file
        return None

    def _module_paths(
        self, folder: Folder, subpath: str, conditions: frozenset[str]
    ) -> Iterator[str]:
        exported = package_json.resolve_export(folder.manifest, subpath, conditions)
        for path in exported or ():
            yield path.removeprefix("./")
        # Only a package's entry is looked for elsewhere than where exports says.
        if exported is None or subpath == ".":
            yield from package_json.legacy_paths(folder.manifest, subpath)

    def resolve_relative(self, file: SourceFile, path: str) -> SourceFile | None:
        """Return the file that a relative specifier in a file means."""
        folder = file.folder
        target = _join(file.path.parent, path)
        if target is None or not target.is_relative_to(folder.root):
            return None
        if target.is_dir() and (inner := self.folder(target)) is not None and inner.manifest:
            for typed in (True, False):
                found = self.find_module(inner, ".", package_json.IMPORT, typed=typed)
                if found is not None:
                    return self.read(found.path, folder)
        for each in package_json.candidates(str(target)):
            if os.path.isfile(each):  # noqa: PTH113 - called often, and Path is slow
                return self.read(Path(each), folder)
        return None

    def references(self, file: SourceFile) -> list[SourceFile]:
        """Return the files that ``/// <reference path>`` of a file names, theirs included."""
        found: dict[Path, SourceFile] = {file.path: file}
        waiting = [file]
        while waiting:
            each = waiting.pop(0)
            if b"<reference" not in each.body:
                continue
            for path in _REFERENCE.findall(each.body):
                target = _join(each.path.parent, path.decode(errors="replace"))
                if target is None or not target.is_relative_to(file.folder.root):
                    continue
                inner = self.read(target, file.folder) if target.is_file() else None
                if inner is not None and inner.path not in found:
                    found[inner.path] = inner
                    waiting.append(inner)
        return list(found.values())[1:]

    def has_path(self, folder: Folder, subpath: str) -> bool:
        """Whether a package has a file or a folder of that name, whatever its ending is."""
        target = _join(folder.root, subpath)
        if target is None or not target.parent.is_relative_to(folder.root):
            return True
        try:
            names = os.listdir(target.parent)  # noqa: PTH208 - names are enough
        except OSError:
            return False
        return any(each == target.name or each.startswith(f"{target.name}.") for each in names)

    def ambient_modules(self, folder: Folder) -> tuple[tuple[str, str], ...]:
        """Return the ``declare module`` blocks of a package: path of the file, specifier.

        The specifier of ``declare global`` is empty.
        """
        key = (str(folder.root), folder_stamp(folder.root))
        if key not in _AMBIENTS:
            _AMBIENTS[key] = tuple(self._find_ambient_modules(folder))
            if len(_AMBIENTS) > _MAX_PACKAGES:
                _AMBIENTS.popitem(last=False)
        return _AMBIENTS[key]

    def _find_ambient_modules(self, folder: Folder) -> Iterator[tuple[str, str]]:
        seen: set[str] = set()
        for count, path in enumerate(self.boundary.walk(folder.root, {"node_modules"})):
            if count > _MAX_FILES:
                return
            if not path.name.endswith((".d.ts", ".d.mts", ".d.cts")):
                continue
            # A file that is published in two forms declares the same twice.
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


def split_specifier(specifier: str) -> tuple[str, str]:
    """Split ``@scope/name/sub`` into ``@scope/name`` and ``./sub``; the package itself is ``.``."""
    found = _SPECIFIER.fullmatch(specifier)
    if found is None:
        return specifier, "."
    return found[1], f".{found[2]}" if found[2] else "."


def name_types(package: str) -> str:
    """Return the package that has the types of one that declares none itself."""
    return f"@types/{package.removeprefix('@').replace('/', '__')}"


def _join(base: Path, path: str) -> Path | None:
    """Join a relative path lexically; None where it leads above the root."""
    parts = list(base.parts)
    for part in path.split("/"):
        if part == "..":
            if len(parts) < 2:
                return None
            parts.pop()
        elif part not in ("", "."):
            parts.append(part)
    return Path(*parts)
