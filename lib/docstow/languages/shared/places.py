"""The folders and files of a project that tell of packages: environments, manifests, lock files.

This room knows their names and forms. It does not read what is installed in them.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from docstow.core.errors import DocstowError
from docstow.languages.shared.project import Problem
from docstow.languages.shared.sandbox import Boundary

#: Folders that hold what others wrote or what a build made; environments are found by their own.
_SKIPPED = frozenset(("site-packages", "__pycache__", "target", "dist", "build", "vendor"))
_VENVS = (".venv", "venv", "env")
_LOCKS = (
    "uv.lock",
    "poetry.lock",
    "pdm.lock",
    "pylock.toml",
    "Pipfile.lock",
    "package-lock.json",
    "npm-shrinkwrap.json",
    "pnpm-lock.yaml",
    "yarn.lock",
    "bun.lock",
    "bun.lockb",
    "Cargo.lock",
)
_MANIFESTS = (
    "pyproject.toml",
    "setup.cfg",
    "Pipfile",
    "environment.yml",
    "environment.yaml",
    "package.json",
    "Cargo.toml",
    "go.mod",
)
_REQUIREMENTS = re.compile(r"[\w.-]*requirements[\w.-]*\.(?:txt|in)$|[\w.-]+\.requirements\.txt$")
_VERSION = re.compile(r"^version(?:_info)?\s*=\s*(\d+\.\d+(?:\.\d+)?)", re.MULTILINE)
_INTERPRETER = re.compile(r"(?:python|pypy)(?=\d)")
_SHARES = re.compile(r"^include-system-site-packages\s*=\s*true", re.MULTILINE | re.IGNORECASE)
_DEEPEST = 3
_MOST_FOLDERS = 1500


@dataclass(frozen=True, slots=True)
class Sites:
    """An environment of Python and its folders of import names."""

    folder: Path
    kind: str
    version: str
    sites: tuple[Path, ...]


@dataclass(slots=True)
class Places:
    """What was found, each list in the order of folders from the root down.

    Attributes:
        python: environments, those with the usual names first.
        modules: ``node_modules`` folders, those below others' left out.
        locks: lock files.
        manifests: what says which packages the project itself asks for.
        plug_and_play: folders in which Yarn keeps packages in archives.
        problems: what was passed over.
        watch: is told of folders and files that all this depends on, before they are looked at.
    """

    python: list[Sites] = field(default_factory=list)
    modules: list[Path] = field(default_factory=list)
    locks: list[Path] = field(default_factory=list)
    manifests: list[Path] = field(default_factory=list)
    plug_and_play: list[Path] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    watch: Callable[[Path], None] = lambda _: None


def find(
    boundary: Boundary, active: Path | None, watch: Callable[[Path], None] = lambda _: None
) -> Places:
    """Look through a project's folders, without going far down.

    Args:
        boundary: the project's root.
        active: an environment that comes first, wherever it is; inside the boundary.
        watch: is told what the result depends on.
    """
    root = boundary.root
    found = Places(watch=watch)
    waiting = [(root, 0)]
    looked = 0
    while waiting and looked < _MOST_FOLDERS:
        folder, depth = waiting.pop(0)
        looked += 1
        waiting += [(each, depth + 1) for each in _look(folder, boundary, found, depth)]
    if active is not None and all(each.folder != active for each in found.python):
        _add_environment(active, boundary, found)
    found.python.sort(key=lambda each: _preference(each, active))
    return found


def _preference(sites: Sites, active: Path | None) -> tuple[bool, int, int, str]:
    names = [*_VENVS, sites.folder.name]
    place = names.index(sites.folder.name)
    return sites.folder != active, len(sites.folder.parts), place, sites.folder.name


def _look(folder: Path, boundary: Boundary, found: Places, depth: int) -> list[Path]:
    """Note what is in a folder.

    Returns:
        The folders to look into next.
    """
    found.watch(folder)
    try:
        with os.scandir(folder) as listed:
            entries = sorted(listed, key=lambda entry: entry.name)
    except OSError as error:
        reason = f"it cannot be listed: {error.strerror}"
        found.problems.append(Problem(shown(folder, boundary), reason))
        return []
    names = {entry.name for entry in entries}
    if not depth and not names.isdisjoint(("pyvenv.cfg", "conda-meta")):
        _add_environment(folder, boundary, found)
    following = []
    for entry in entries:
        place = Path(entry.path)
        if not _is_folder(entry):
            # A link may stand for a file that several projects share; reading it is a check.
            _note_file(place, found)
            continue
        if entry.is_symlink() and entry.name not in (*_VENVS, "node_modules"):
            continue
        inside = _inside(place, boundary, found, linked=entry.is_symlink())
        try:
            if inside is not None and _note_folder(inside, entry.name, boundary, found):
                following.append(inside)
        except OSError as error:
            reason = f"it cannot be looked into: {error.strerror}"
            found.problems.append(Problem(shown(place, boundary), reason))
    return following if depth < _DEEPEST else []


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:
        # A link in a circle, or to where nobody may look.
        return False


def _inside(place: Path, boundary: Boundary, found: Places, *, linked: bool) -> Path | None:
    if not linked:
        return place
    found.watch(place)
    try:
        return boundary.inside(place)
    except DocstowError:
        reason = "it leads out of the root; activate that environment, or give it as --root"
        found.problems.append(Problem(shown(place, boundary), reason))
        return None


def _note_file(place: Path, found: Places) -> None:
    name = place.name
    if name in _LOCKS:
        found.locks.append(place)
    elif name in _MANIFESTS or is_requirements(place):
        found.manifests.append(place)
    elif name in (".pnp.cjs", ".pnp.js"):
        found.plug_and_play.append(place.parent)


def is_requirements(place: Path) -> bool:
    """Whether a file lists requirements of Python."""
    if place.parent.name == "requirements" and place.suffix in (".txt", ".in"):
        return True
    return _REQUIREMENTS.match(place.name) is not None


def _note_folder(place: Path, name: str, boundary: Boundary, found: Places) -> bool:
    """Note an environment; otherwise whether to look into the folder."""
    if name == "node_modules":
        if place not in found.modules:
            found.modules.append(place)
        return False
    found.watch(place)
    if name == "__pypackages__":
        for each in place.iterdir():
            found.watch(each)
        newest = sorted(place.glob("*/lib"), key=lambda each: _numbers(each.parent.name))[-1:]
        version = newest[0].parent.name if newest else ""
        found.python.append(Sites(place, "pypackages", version, tuple(newest)))
        return False
    if (place / "pyvenv.cfg").is_file() or (place / "conda-meta").is_dir():
        _add_environment(place, boundary, found)
        return False
    return not name.startswith(".") and name not in _SKIPPED


def _add_environment(folder: Path, boundary: Boundary, found: Places) -> None:
    if any(each.folder == folder for each in found.python):
        return
    _watch_environment(folder, found)
    conda = (folder / "conda-meta").is_dir()
    configured = "" if conda else _configuration(folder, boundary)
    told = _VERSION.search(configured)
    sites = _sites(folder, told[1] if told else "")
    version = told[1] if told else _INTERPRETER.sub("", sites[0].parent.name) if sites else ""
    if not sites and (folder / "Lib" / "site-packages").is_dir():
        sites.append(folder / "Lib" / "site-packages")
    if _SHARES.search(configured):
        reason = (
            "it has the packages of the system's Python too, which are not read; to have all, "
            "make it without --system-site-packages"
        )
        found.problems.append(Problem(shown(folder, boundary), reason))
    if sites:
        kind = "conda" if conda else "venv"
        found.python.append(Sites(folder, kind, version, tuple(sites)))
    elif not conda:
        reason = "it has no site-packages; make it anew: python -m venv " + folder.name
        found.problems.append(Problem(shown(folder, boundary), reason))


def _watch_environment(folder: Path, found: Places) -> None:
    found.watch(folder)
    for name in ("lib", "lib64", "Lib", "conda-meta", "pyvenv.cfg"):
        found.watch(folder / name)
    for python in (*(folder / "lib").glob("python*"), *(folder / "lib64").glob("python*")):
        found.watch(python)


def _sites(folder: Path, version: str) -> list[Path]:
    """The folders of import names of an environment's Python; those of a former one are left over.

    Args:
        folder: the environment.
        version: of its Python; the newest that is there if empty.
    """
    found: dict[str, list[Path]] = {}
    # Of the two names on 64-bit systems one is usually a link to the other.
    for lib in ("lib", "lib64"):
        if not (folder / lib).is_symlink():
            for python in (folder / lib).glob("*py*"):
                site = python / "site-packages"
                if _INTERPRETER.match(python.name) and site.is_dir() and not python.is_symlink():
                    found.setdefault(python.name, []).append(site)
    names = sorted(found, key=_numbers)
    own = [each for each in names if _numbers(each) == _numbers(version)[:2]]
    return found[(own or names)[-1]] if names else []


def _numbers(name: str) -> list[int]:
    return [int(each) for each in re.findall(r"\d+", name)]


def _configuration(folder: Path, boundary: Boundary) -> str:
    try:
        return boundary.read(folder / "pyvenv.cfg", most=65536).decode("utf-8", "replace")
    except DocstowError:
        return ""


def shown(place: Path, boundary: Boundary) -> str:
    """A place relative to the root; absolute where it is elsewhere."""
    try:
        return place.relative_to(boundary.root).as_posix()
    except ValueError:
        return place.as_posix()
