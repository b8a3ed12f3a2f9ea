"""One scan of a project: find environments, read what is installed there, then what is locked."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping, Sequence
from dataclasses import astuple
from pathlib import Path
from typing import Any

from docstow.core.errors import DocstowError, EnvironmentNotFound
from docstow.core.spelling import folded, of_ecosystem
from docstow.languages.shared.boundary import Boundary, shown
from docstow.languages.shared.language import LANGUAGES
from docstow.languages.shared.project import Environment, Locked, Package, Problem, Scan, ordered
from docstow.languages.shared.scanning import (
    Finder,
    LockFile,
    ReadLock,
    ScanCache,
    Scanning,
    Walk,
    read_manifests,
    recall_file,
)

#: Folders that hold what others wrote or what a build made; environments are found by their own.
_SKIPPED = frozenset(("site-packages", "__pycache__", "target", "dist", "build", "vendor"))
_DEEPEST = 3
_MOST_FOLDERS = 1500
#: How often it is looked again at what changes while it is looked at.
_AGAIN = 3


def scan(
    root: Path,
    memory: ScanCache,
    environ: Mapping[str, str] | None = None,
    home: Path | None = None,
) -> Scan:
    """Find what is installed or locked in a project.

    Args:
        root: its directory.
        memory: what was found before; it learns what is found now.
        environ: names an active environment and where sources are kept; the process's own if
            left out.
        home: the user's folder; the real one if left out.

    Raises:
        EnvironmentNotFound: nothing is.
    """
    environ = os.environ if environ is None else environ
    begun = time.perf_counter()
    return _Scanning(root, memory, environ, home or Path.home()).scan(begun)


class Scans:
    """The scan of one project, as long as it is right.

    Args:
        root: the project's directory.
        memory: what was found before.
    """

    def __init__(self, root: Path, memory: ScanCache) -> None:
        self._root = root
        self._memory = memory
        self._last: Scan | None = None
        self._active: Mapping[str, Path] = {}

    def now(self) -> Scan:
        """Return what is installed or locked now: the last scan where it would find the same.

        Raises:
            EnvironmentNotFound: nothing is.
        """
        languages = _languages()
        active = _active(languages, self._root.resolve(), os.environ)
        if self._last is not None and active == self._active and self._memory.same():
            return self._last
        self._last = None
        found = scan(self._root, self._memory)
        for _ in range(_AGAIN):
            # What an installer puts in another's place was there all the time.
            if not found.problems or not self._memory.changed():
                break
            found = scan(self._root, self._memory)
        # Sources that are kept elsewhere are not watched.
        if all(languages[each.ecosystem].kept is None for each in found.environments):
            self._last, self._active = found, active
        return found


def _languages() -> dict[str, Scanning]:
    """Return how projects are scanned for each language, by ecosystem."""
    return {each.spelling.ecosystem: each.scanning() for each in LANGUAGES.values()}


def _active(
    languages: Mapping[str, Scanning], root: Path, environ: Mapping[str, str]
) -> dict[str, Path]:
    """Return the active environments that are the project's, by ecosystem."""
    found = ((name, each.active(root, environ)) for name, each in languages.items())
    return {name: place for name, place in found if place is not None}


class _Walk:
    """The walk through a project's folders, which goes not far down.

    Attributes:
        locks: lock files.
        manifests: what says which packages the project itself asks for.
        problems: what was passed over.
        finders: of each language that has one, by ecosystem.
    """

    def __init__(
        self,
        boundary: Boundary,
        memory: ScanCache,
        languages: Mapping[str, Scanning],
        active: Mapping[str, Path],
    ) -> None:
        self._boundary = boundary
        self._memory = memory
        self._languages = languages
        self.locks: list[Path] = []
        self.manifests: list[Path] = []
        self.problems: list[Problem] = []
        self.finders: dict[str, Finder] = {
            name: each.finder(Walk(boundary, memory.watch, active.get(name), self.problems))
            for name, each in languages.items()
            if each.finder is not None
        }
        self._manifest_names = {name for each in languages.values() for name in each.manifests}
        self._lock_names = {name for each in languages.values() for name in each.lock_files}

    def go(self) -> None:
        """Look through the folders from the root down."""
        waiting = [(self._boundary.root, 0)]
        looked = 0
        while waiting and looked < _MOST_FOLDERS:
            folder, depth = waiting.pop(0)
            looked += 1
            waiting += [(each, depth + 1) for each in self._look(folder, depth)]
        for each in self.finders.values():
            each.finish()

    def _look(self, folder: Path, depth: int) -> list[Path]:
        """Note what is in a folder, and return the folders to look into next."""
        self._memory.watch(folder)
        try:
            with os.scandir(folder) as listed:
                entries = sorted(listed, key=lambda entry: entry.name)
        except OSError as error:
            self._problem(folder, f"it cannot be listed: {error.strerror}")
            return []
        if not depth:
            names = {entry.name for entry in entries}
            for finder in self.finders.values():
                finder.note_root(folder, names)
        following = []
        for entry in entries:
            place = Path(entry.path)
            if not _is_folder(entry):
                # A link may stand for a file that several projects share; reading it is a check.
                self._note_file(place)
                continue
            linked = entry.is_symlink()
            if linked and not any(entry.name in each.linked for each in self.finders.values()):
                continue
            inside = self._inside(place) if linked else place
            try:
                if inside is not None and self._enters(inside, entry.name):
                    following.append(inside)
            except OSError as error:
                self._problem(place, f"it cannot be looked into: {error.strerror}")
        return following if depth < _DEEPEST else []

    def _inside(self, link: Path) -> Path | None:
        self._memory.watch(link)
        try:
            return self._boundary.inside(link)
        except DocstowError:
            reason = "it leads out of the root; activate that environment, or give it as --root"
            self._problem(link, reason)
            return None

    def _note_file(self, file: Path) -> None:
        if file.name in self._manifest_names or any(
            each.is_requirements(file) for each in self._languages.values()
        ):
            self.manifests.append(file)
        elif file.name in self._lock_names:
            self.locks.append(file)
        for finder in self.finders.values():
            finder.note_file(file)

    def _enters(self, folder: Path, name: str) -> bool:
        """Note an environment; otherwise return whether to look into the folder."""
        for finder in self.finders.values():
            if name in finder.claimed:
                finder.claim(folder)
                return False
        self._memory.watch(folder)
        if any(each.is_environment(folder) for each in self.finders.values()):
            return False
        return not name.startswith(".") and name not in _SKIPPED

    def _problem(self, place: Path, reason: str) -> None:
        self.problems.append(Problem(shown(place, self._boundary), reason))


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:
        # A link in a circle, or to where nobody may look.
        return False


class _Scanning:
    """A scan under way."""

    def __init__(
        self, root: Path, memory: ScanCache, environ: Mapping[str, str], home: Path
    ) -> None:
        self._languages = _languages()
        active = _active(self._languages, root.resolve(), environ)
        self._memory = memory
        memory.begin()
        boundary = Boundary(root, tuple(active.values()))
        self._walk = _Walk(boundary, memory, self._languages, active)
        self._walk.go()
        names = {each.name for each in (*self._walk.locks, *self._walk.manifests)}
        self._kept: dict[str, Sequence[Path]] = {
            name: each.kept.folders(environ, home)
            for name, each in self._languages.items()
            if each.kept is not None and each.kept.mark in names
        }
        elsewhere = [*active.values(), *(each for some in self._kept.values() for each in some)]
        self._boundary = Boundary(root, elsewhere)
        self._asked: Mapping[str, frozenset[str]] = {}
        self._forms = {
            name: (ecosystem, form)
            for ecosystem, each in self._languages.items()
            for name, form in each.lock_files.items()
        }

    def scan(self, begun: float) -> Scan:
        walk, problems = self._walk, self._walk.problems
        self._asked, passed_over = read_manifests(
            walk.manifests, self._languages, self._boundary, self._memory
        )
        problems += passed_over
        environments = [
            environment
            for name, finder in walk.finders.items()
            for environment in finder.environments(self._asked[name], self._memory)
        ]
        covered = [
            (each.ecosystem, self._folder(each)) for each in environments if self._has_own(each)
        ]
        environments += self._locked_environments(covered)
        problems += [each for finder in walk.finders.values() for each in finder.remarks()]
        self._memory.end()
        if not environments:
            raise self._nothing()
        return Scan(
            tuple(environments),
            tuple(dict.fromkeys(problems)),
            self._boundary,
            round((time.perf_counter() - begun) * 1000, 1),
            self._memory.made,
            self._memory.folder,
        )

    def _has_own(self, environment: Environment) -> bool:
        """Return whether anything was installed in an environment."""
        brought = self._languages[environment.ecosystem].preinstalled
        return any(folded(each.name) not in brought for each in environment.packages)

    def _folder(self, environment: Environment) -> Path:
        """Return the folder that an environment is in; the root for one that is elsewhere."""
        root = self._boundary.root
        place = root / environment.location
        inside = environment.location != "." and place.is_relative_to(root)
        return place.parent if inside else root

    def _locked_environments(self, covered: Sequence[tuple[str, Path]]) -> list[Environment]:
        """Read the lock files that speak for folders in which nothing is installed.

        Args:
            covered: folders in which, and below which, something of an ecosystem is.
        """
        # Pinned requirements are read where no proper lock file is; there may be several of them.
        decided: set[tuple[str, Path]] = set()
        result = []
        order = list(self._forms)
        locks = sorted(
            self._walk.locks, key=lambda each: (each.parent.parts, order.index(each.name))
        )
        for path in (*locks, *self._walk.manifests):
            ecosystem, form = self._form(path)
            if form is None or (ecosystem, path.parent) in decided:
                continue
            above = [place for each, place in covered if each == ecosystem]
            if any(path.parent.is_relative_to(place) for place in above):
                continue
            packages = self._packages(path, ecosystem, form)
            if packages:
                if form.alone:
                    decided.add((ecosystem, path.parent))
                location = shown(path, self._boundary)
                result.append(Environment(ecosystem, "lockfile", location, form.tool, packages))
        return result

    def _form(self, path: Path) -> tuple[str, LockFile | None]:
        if path.name in self._forms:
            return self._forms[path.name]
        pinned = (
            (ecosystem, each.pins)
            for ecosystem, each in self._languages.items()
            if each.is_requirements(path)
        )
        return next(pinned, ("", None))

    def _packages(self, path: Path, ecosystem: str, form: LockFile) -> tuple[Package, ...]:
        fact = self._recalled(path, form.read)
        if isinstance(fact, str):
            reason = "; ".join(filter(None, (fact.rstrip("."), form.advice)))
            self._walk.problems.append(Problem(shown(path, self._boundary), reason))
            return ()
        locked = [Locked(*row) for row in fact]
        if form.beside is not None:
            named = {each.name for each in locked}
            further = self._beside(path.with_name(form.beside[0]), form.beside[1])
            locked += [each for each in further if each.name not in named]
        return ordered(self._package(each, ecosystem) for each in locked)

    def _beside(self, path: Path, read_lock: ReadLock) -> list[Locked]:
        fact = self._recalled(path, read_lock) if path.exists() else ""
        return [Locked(*row) for row in fact] if isinstance(fact, list) else []

    def _recalled(self, path: Path, read_lock: ReadLock) -> list[Any] | str:
        return recall_file(
            path, "lock", self._boundary, self._memory, lambda text: _rows(read_lock, text)
        )

    def _package(self, locked: Locked, ecosystem: str) -> Package:
        language = self._languages[ecosystem]
        folder = self._sources(locked, ecosystem)
        summary = locked.summary or (self._summary(folder, ecosystem) if folder else "")
        return Package(
            ecosystem=ecosystem,
            name=locked.name,
            version=locked.version,
            location=shown(folder, self._boundary) if folder else "",
            import_names=language.locked_imports(locked.imported or locked.name),
            direct=self._is_direct(locked, ecosystem),
            language=language.locked_language or _name(ecosystem),
            summary=summary,
            installed=folder is not None,
            editable=False,
            files_root=folder,
        )

    def _is_direct(self, locked: Locked, ecosystem: str) -> bool:
        """Return what the file says, and where it does not, what the manifests do."""
        if locked.direct is not None:
            return locked.direct
        spelling, name = of_ecosystem(ecosystem), locked.imported or locked.name
        key = spelling.package_key(name) if spelling is not None else name
        return key in self._asked.get(ecosystem, ())

    def _sources(self, locked: Locked, ecosystem: str) -> Path | None:
        """Return where the sources of a locked package are, if they are here."""
        kept = self._languages[ecosystem].kept
        folders = self._kept.get(ecosystem, ())
        return kept.folder(locked.name, locked.version, folders) if kept is not None else None

    def _summary(self, folder: Path, ecosystem: str) -> str:
        """Return what the manifest of kept sources says of them."""
        kept = self._languages[ecosystem].kept
        if kept is None or kept.summary is None:
            return ""
        name, describe = kept.summary
        manifest = folder / name

        def read_description() -> str:
            try:
                return describe(self._boundary.read(manifest).decode("utf-8", "replace"))
            except DocstowError:
                return ""

        try:
            return str(self._memory.recall(f"summary:{manifest}", (manifest,), read_description))
        except OSError:
            return ""

    def _nothing(self) -> EnvironmentNotFound:
        names = {each.name for each in self._walk.manifests}
        ways = [each.install for each in self._languages.values() if each.install]
        advice = [each.advice(names) for each in self._languages.values()]
        best = next(filter(None, advice), " or ".join(ways))
        error = EnvironmentNotFound(f"no environment found: run {best}")
        if self._walk.problems:
            error.details["problems"] = [
                {"location": each.location, "reason": each.reason} for each in self._walk.problems
            ]
        return error


def _name(ecosystem: str) -> str:
    spelling = of_ecosystem(ecosystem)
    return spelling.name if spelling is not None else ecosystem


def _rows(read_lock: ReadLock, text: str) -> list[Any]:
    """Return what a file locks; what it has in several places once."""
    found: dict[tuple[str, str, str], Locked] = {}
    for each in read_lock(text):
        key = each.name, each.version, each.imported
        if key not in found or each.direct:
            found[key] = each
    return [[*astuple(each)] for each in found.values()]
