"""How a language scans a project's folders and manifests, and the cache of what was found there.

Several servers may use one cache: each writes it whole, and whoever reads none simply looks again.
A scan asks for facts and says which folders it lists. When it is over, all that it looked at is
known with its mark, and one look at these tells whether another scan would find anything else.
"""

from __future__ import annotations

import codecs
import contextlib
import hashlib
import json
import os
import tempfile
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import zstandard

from docstow.core.errors import DocstowError, Forbidden
from docstow.languages.shared.boundary import Boundary, is_binary, shown
from docstow.languages.shared.project import Environment, Locked, Problem
from docstow.languages.shared.stamps import TICK_NS

#: Raised with every change of what is remembered of a file.
_LAYOUT = "packages/2"
_LARGEST_CACHE = 64 * 1024 * 1024

#: When something was changed last, its size, which one it is, and what may be done with it.
_Mark = tuple[int, int, int, int]
_LARGEST = 16 * 1024 * 1024
#: What readers of texts raise where a text is not what its name says.
UNREADABLE = (ValueError, TypeError, AttributeError, KeyError, RecursionError)


class ScanCache:
    """Facts by key, each with the mark of the file that it was read from.

    Facts are JSON values. Between :meth:`begin` and :meth:`end` those that are not asked for are
    forgotten.

    Args:
        path: where it is stored.
        root: the project's.
        known: facts by key, with their marks.
    """

    def __init__(self, path: Path, root: Path, known: dict[str, tuple[str, Any]]) -> None:
        self._path = path
        self._root = str(root)
        self._known = known
        self._asked: dict[str, tuple[str, Any]] = {}
        self._looked_at: dict[str, _Mark | None] = {}
        self._begun_ns = 0
        self.made = 0

    @classmethod
    def load(cls, folder: Path, root: Path) -> ScanCache:
        """Load what is stored of a project; nothing where that cannot be read.

        Args:
            folder: where all indexes are.
            root: the project's.
        """
        digest = hashlib.sha256(os.fsencode(root)).hexdigest()[:24]
        path = folder / f"{digest}.json.zst"
        known: dict[str, tuple[str, Any]] = {}
        with contextlib.suppress(OSError, ValueError, TypeError, KeyError, zstandard.ZstdError):
            body = zstandard.ZstdDecompressor().decompress(
                path.read_bytes(), max_output_size=_LARGEST_CACHE
            )
            stored = json.loads(body)
            if stored["layout"] == _LAYOUT and stored["root"] == str(root):
                known = {key: (mark, fact) for key, (mark, fact) in stored["known"].items()}
        return cls(path, root, known)

    @property
    def folder(self) -> Path:
        """Where it is stored, and what else is read of projects may be."""
        return self._path.parent

    def begin(self) -> None:
        """Begin a scan."""
        self._asked, self.made = {}, 0
        self._looked_at, self._begun_ns = {}, time.time_ns()

    def recall(self, key: str, paths: tuple[Path, ...], make: Callable[[], Any]) -> Any:
        """Return the fact of a key, made anew unless its files are the same.

        Args:
            key: unique among all facts of the project.
            paths: the files; links are followed.
            make: finds it.

        Raises:
            OSError: one of the files is not there.
        """
        marks = []
        for path in paths:
            self.watch(path)
            # What is not there is asked again, for the reason.
            marks.append(self._looked_at[str(path)] or _mark(path))
        mark = " ".join(".".join(f"{each:x}" for each in some) for some in marks)
        known = self._known.get(key)
        if known is None or known[0] != mark:
            self.made += 1
            lasting = all(self._is_settled(each) for each in marks)
            known = (mark if lasting else "", make())
        self._asked[key] = known
        return known[1]

    def watch(self, path: Path) -> None:
        """Note, before it is looked at, that the scan depends on a folder, or on a file's being."""
        key = str(path)
        if key in self._looked_at:
            return
        try:
            self._looked_at[key] = _mark(key)
        except OSError:
            self._looked_at[key] = None

    def same(self) -> bool:
        """Return whether all that the last scan looked at is unchanged.

        False as well where that cannot be told, because something had changed shortly before.
        """
        if not all(self._is_settled(each) for each in self._looked_at.values() if each):
            return False
        return not self.changed()

    def changed(self) -> bool:
        """Return whether something has changed visibly since the scan looked at it."""
        for path, known in self._looked_at.items():
            try:
                if _mark(path) != known:
                    return True
            except OSError:
                if known is not None:
                    return True
        return False

    def _is_settled(self, mark: _Mark) -> bool:
        """Return whether a file is old enough that a further change of it would show."""
        return mark[0] <= self._begun_ns - TICK_NS

    def end(self) -> None:
        """End a scan: what has changed is stored. Where that fails, the next scan takes longer."""
        changed = self.made or self._asked.keys() != self._known.keys()
        self._known = self._asked
        if changed:
            with contextlib.suppress(OSError):
                self._write()

    def _write(self) -> None:
        text = json.dumps(
            {"layout": _LAYOUT, "root": self._root, "known": self._known}, separators=(",", ":")
        )
        body = zstandard.ZstdCompressor(level=3).compress(text.encode())
        self._path.parent.mkdir(parents=True, exist_ok=True)
        descriptor, scratch = tempfile.mkstemp(dir=self._path.parent, prefix=".index-")
        try:
            with os.fdopen(descriptor, "wb") as file:
                file.write(body)
            Path(scratch).replace(self._path)
        except BaseException:
            Path(scratch).unlink(missing_ok=True)
            raise


def _mark(path: str | Path) -> _Mark:
    """Return what tells a file as it is from what it was; links are followed."""
    # The time of its status change would say more, and more often than something has changed: it
    # changes whenever another environment links to a file.
    status = os.stat(path)  # noqa: PTH116 - thousands are asked, and Path is slow
    return status.st_mtime_ns, status.st_size, status.st_ino, status.st_mode


#: Reads the names that a manifest asks for; raises ValueError for what is no manifest.
ReadNames = Callable[[str], set[str]]
#: Reads what a lock file locks.
ReadLock = Callable[[str], list[Locked]]


@dataclass(slots=True)
class Walk:
    """A walk through a project's folders.

    Attributes:
        boundary: what may be opened.
        watch: notes a folder or file that the result depends on, before it is looked at.
        active: an environment that comes first, wherever it is; inside the boundary.
        problems: what was passed over.
    """

    boundary: Boundary
    watch: Callable[[Path], None] = lambda _: None
    active: Path | None = None
    problems: list[Problem] = field(default_factory=list)


class Finder:
    """Finds the environments of one language during one walk; finds nothing by itself.

    Attributes:
        claimed: names of folders that are its own and that nobody else looks into.
        linked: names of folders that are looked at even where they are links.
    """

    claimed: Collection[str] = ()
    linked: Collection[str] = ()

    def note_root(self, folder: Path, names: Collection[str]) -> None:
        """Note the root and the names in it."""

    def claim(self, folder: Path) -> None:
        """Note a folder with a claimed name."""

    def is_environment(self, folder: Path) -> bool:
        """Note a folder if it is an environment, which is not walked through."""
        del folder
        return False

    def note_file(self, file: Path) -> None:
        """Note any file."""

    def finish(self) -> None:
        """End the walk."""

    def environments(self, asked: frozenset[str], memory: ScanCache) -> list[Environment]:
        """Read what is installed.

        Args:
            asked: names of packages that the project's manifests ask for.
            memory: what is known of files.
        """
        del asked, memory
        return []

    def remarks(self) -> list[Problem]:
        """Return what is to be said after all problems."""
        return []


@dataclass(frozen=True, slots=True)
class LockFile:
    """One form of lock file.

    Attributes:
        tool: who writes it.
        read: what reads it.
        advice: how to have a form that can be read, if this one cannot.
        alone: whether nothing further is read beside it.
        beside: a further file that locks what this one leaves out, and its reader.
    """

    tool: str
    read: ReadLock
    advice: str = ""
    alone: bool = True
    beside: tuple[str, ReadLock] | None = None


@dataclass(frozen=True, slots=True)
class PackageSources:
    """Folders outside a project in which a package manager keeps sources.

    Attributes:
        mark: name of the file of a project that uses them.
        folders: finds the folders, by the environment's variables and the user's home.
        folder: finds the sources of a package by name and version in such folders.
        summary: name of the file that describes a package, and what reads its description.
    """

    mark: str
    folders: Callable[[Mapping[str, str], Path], Sequence[Path]]
    folder: Callable[[str, str, Sequence[Path]], Path | None]
    summary: tuple[str, Callable[[str], str]] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Scanning:
    """How a project is scanned for the packages of a language.

    Attributes:
        finder: makes the finder of a walk; None where only lock files are read.
        active: finds the active environment of a root by the environment's variables.
        manifests: names of manifests.
        is_requirements: whether a file with another name lists requirements, too.
        read_manifest: what reads a manifest, given the project's own name; None for none.
        project_name: the manifest that says the project's own name, and what reads it.
        manifest_of: what reads a text that looks like a manifest; None for others.
        lock_files: by name, in the order in which they are asked.
        pins: reads requirements where there is no lock file.
        lock_text: what may read the text of a lock file whose name nobody says.
        kept: where sources are kept that are only locked.
        preinstalled: packages that every environment has, which say nothing of a project.
        locked_language: of packages that are only locked, if not the language itself.
        locked_imports: what is imported of a package that is only locked.
        install: the command that makes an environment.
        advice: what to run where there are only these manifests; empty to offer all commands.
    """

    finder: Callable[[Walk], Finder] | None = None
    active: Callable[[Path, Mapping[str, str]], Path | None] = lambda *_: None
    manifests: Collection[str] = ()
    is_requirements: Callable[[Path], bool] = lambda _: False
    read_manifest: Callable[[Path, str], ReadNames | None] = lambda *_: None
    project_name: tuple[str, Callable[[str], str]] | None = None
    manifest_of: Callable[[str], ReadNames | None] = lambda _: None
    lock_files: Mapping[str, LockFile] = field(default_factory=dict)
    pins: LockFile | None = None
    lock_text: Callable[[str], Iterator[ReadLock]] = lambda _: iter(())
    kept: PackageSources | None = None
    preinstalled: frozenset[str] = frozenset()
    locked_language: str = ""
    locked_imports: Callable[[str], tuple[str, ...]] = lambda name: (name,)
    install: str = ""
    advice: Callable[[Collection[str]], str] = lambda _: ""


def read_manifests(
    manifests: Sequence[Path],
    languages: Mapping[str, Scanning],
    boundary: Boundary,
    memory: ScanCache,
) -> tuple[dict[str, frozenset[str]], list[Problem]]:
    """Read what manifests ask for, each manifest once as long as it is the same.

    Args:
        manifests: of any language; those that no language reads are passed over.
        languages: by ecosystem.
        boundary: what may be opened.
        memory: what is known of them.

    Returns:
        Names by ecosystem, spelled as the language's reader gives them; and what is passed over.
    """
    found: dict[str, set[str]] = {each: set() for each in languages}
    problems: list[Problem] = []
    project = _project_name(manifests, languages, boundary)
    for manifest in manifests:
        readers = (
            (name, each.read_manifest(manifest, project)) for name, each in languages.items()
        )
        ecosystem, reader = next((each for each in readers if each[1] is not None), ("", None))
        if reader is None:
            continue
        fact = recall_file(manifest, f"asked {project}", boundary, memory, partial(_sorted, reader))
        if isinstance(fact, str):
            problems.append(Problem(shown(manifest, boundary), fact))
        else:
            found[ecosystem] |= set(fact)
    return {name: frozenset(each) for name, each in found.items()}, problems


def recall_file(
    path: Path, use: str, boundary: Boundary, memory: ScanCache, make: Callable[[str], list[Any]]
) -> list[Any] | str:
    """Return what a file comes to, or why it comes to nothing.

    Args:
        path: inside the boundary.
        use: what is made of it; one file may have several.
        boundary: what may be opened.
        memory: what is known of it.
        make: raises ValueError where a text is not what it should be.
    """

    def fact() -> list[Any] | str:
        try:
            return make(_decoded(boundary.read(path, most=_LARGEST, text=False)))
        except Forbidden:
            return "it leads out of the root; give a --root that holds both"
        except DocstowError as error:
            return error.message.rstrip(".")
        except UNREADABLE as error:
            return f"it cannot be read: {str(error)[:200]}"

    try:
        found: list[Any] | str = memory.recall(f"{use}:{shown(path, boundary)}", (path,), fact)
    except OSError as error:
        return f"it cannot be read: {error.strerror}"
    return found


def _decoded(body: bytes) -> str:
    """Decode a manifest or lock file; some shells of Windows write it in UTF-16."""
    if body.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return body.decode("utf-16", "replace")
    if is_binary(body):
        raise ValueError("it is not text")
    return body.decode("utf-8-sig", "replace")


def _sorted(reader: ReadNames, text: str) -> list[str]:
    return sorted(reader(text))


def _project_name(
    manifests: Sequence[Path], languages: Mapping[str, Scanning], boundary: Boundary
) -> str:
    """Return the project's own name, which tools write beside what it asks for."""
    for file_name, read_name in filter(None, (each.project_name for each in languages.values())):
        own = next((each for each in manifests if each.name == file_name), None)
        if own is not None:
            try:
                return read_name(boundary.read(own).decode("utf-8", "replace"))
            except DocstowError:
                return ""
    return ""


def table_at(value: Any, *keys: str) -> dict[str, Any]:
    """Return the table below keys; an empty one where there is none."""
    for key in keys:
        value = value.get(key) if isinstance(value, dict) else None
    return value if isinstance(value, dict) else {}


def tables_at(value: Any, *keys: str) -> Iterable[dict[str, Any]]:
    """Return the tables in the table below keys."""
    return (each for each in table_at(value, *keys).values() if isinstance(each, dict))
