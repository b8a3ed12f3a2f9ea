"""What a language contributes to a scan of a project's folders."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from docstow.languages.shared.project import Environment, Locked, Problem
from docstow.languages.shared.sandbox import Boundary
from docstow.languages.shared.scan_cache import ScanCache

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
class KeptSources:
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


def _no_lock_text(text: str) -> Iterator[ReadLock]:
    del text
    yield from ()


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
    lock_text: Callable[[str], Iterator[ReadLock]] = _no_lock_text
    kept: KeptSources | None = None
    preinstalled: frozenset[str] = frozenset()
    locked_language: str = ""
    locked_imports: Callable[[str], tuple[str, ...]] = lambda name: (name,)
    install: str = ""
    advice: Callable[[Collection[str]], str] = lambda _: ""
