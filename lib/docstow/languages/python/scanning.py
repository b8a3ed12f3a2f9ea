"""How projects are scanned for Python: environments, manifests and lock files."""

from __future__ import annotations

import base64
import hashlib
import os
import re
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from docstow.core.errors import DocstowError
from docstow.core.spelling import folded
from docstow.languages.python import manifests
from docstow.languages.python.environment import Site
from docstow.languages.shared.boundary import Boundary, shown
from docstow.languages.shared.project import Environment, Locked, Package, Problem, ordered
from docstow.languages.shared.scanning import Finder, LockFile, ReadNames, ScanCache, Scanning, Walk

_VENVS = (".venv", "venv", "env")
_VERSION = re.compile(r"^version(?:_info)?\s*=\s*(\d+\.\d+(?:\.\d+)?)", re.MULTILINE)
_INTERPRETER = re.compile(r"(?:python|pypy)(?=\d)")
_SHARES = re.compile(r"^include-system-site-packages\s*=\s*true", re.MULTILINE | re.IGNORECASE)
#: Bytes that are read of a file that may name an environment.
_LONGEST = 65536


def active_environment(root: Path, environ: Mapping[str, str]) -> Path | None:
    """Return the active environment if it is inside the root, or the root's own elsewhere.

    Args:
        root: the project's directory, links resolved.
        environ: with ``VIRTUAL_ENV``, ``CONDA_PREFIX`` or ``UV_PROJECT_ENVIRONMENT``.
    """
    for variable in ("VIRTUAL_ENV", "UV_PROJECT_ENVIRONMENT", "CONDA_PREFIX"):
        value = environ.get(variable)
        if not value:
            continue
        folder = Path(os.path.realpath(root / value))
        try:
            if not ((folder / "pyvenv.cfg").is_file() or (folder / "conda-meta").is_dir()):
                continue
            # The project of whoever named it to uv is this one.
            if (
                folder.is_relative_to(root)
                or variable.startswith("UV")
                or _belong_together(root, folder)
            ):
                return folder
        except OSError:
            continue
    return None


def _belong_together(root: Path, folder: Path) -> bool:
    """Return whether the project names the environment, or the environment the project."""
    if (root / ".venv").is_symlink() and Path(os.path.realpath(root / ".venv")) == folder:
        return True
    written = _text(root / ".venv").strip()
    if written and (written == folder.name or Path(written).expanduser() == folder):
        return True
    # virtualenvwrapper and Pipenv write down whose it is.
    if _text(folder / ".project").strip() == str(root):
        return True
    hashes = (_poetry_hash(root), _pipenv_hash(root / "Pipfile"))
    if any(f"-{each}" in folder.name for each in hashes):
        return True
    for name in ("environment.yml", "environment.yaml"):
        found = re.search(r"^name:\s*[\"']?([\w.-]+)", _text(root / name), re.MULTILINE)
        if found and found[1] == folder.name:
            return True
    return False


def _poetry_hash(root: Path) -> str:
    digest = hashlib.sha256(os.path.normcase(root).encode()).digest()
    return base64.urlsafe_b64encode(digest).decode()[:8]


def _pipenv_hash(pipfile: Path) -> str:
    digest = hashlib.sha256(str(pipfile).encode()).digest()
    return base64.urlsafe_b64encode(digest[:6]).decode()[:8]


def _text(path: Path) -> str:
    try:
        if not path.is_file():
            return ""
        with path.open("rb") as file:
            return file.read(_LONGEST).decode("utf-8", "replace")
    except OSError:
        return ""


@dataclass(frozen=True, slots=True)
class Sites:
    """An environment and its folders of import names."""

    folder: Path
    kind: str
    version: str
    sites: tuple[Path, ...]


class PythonFinder(Finder):
    """Finds virtual environments, those of conda, and ``__pypackages__``."""

    claimed = frozenset(("__pypackages__",))
    linked = frozenset(_VENVS)

    def __init__(self, walk: Walk) -> None:
        self._walk = walk
        self._found: list[Sites] = []

    def note_root(self, folder: Path, names: Collection[str]) -> None:
        """Note that the root itself is an environment."""
        if {"pyvenv.cfg", "conda-meta"} & set(names):
            self._add(folder)

    def claim(self, folder: Path) -> None:
        """Note the newest version's packages of a ``__pypackages__``."""
        self._walk.watch(folder)
        for each in folder.iterdir():
            self._walk.watch(each)
        newest = sorted(folder.glob("*/lib"), key=lambda each: _numbers(each.parent.name))[-1:]
        version = newest[0].parent.name if newest else ""
        self._found.append(Sites(folder, "pypackages", version, tuple(newest)))

    def is_environment(self, folder: Path) -> bool:
        """Note a folder that ``venv`` or conda has made."""
        if not ((folder / "pyvenv.cfg").is_file() or (folder / "conda-meta").is_dir()):
            return False
        self._add(folder)
        return True

    def finish(self) -> None:
        """Put the active environment first, then those with the usual names."""
        if self._walk.active is not None:
            self._add(self._walk.active)
        self._found.sort(key=self._preference)

    def _preference(self, sites: Sites) -> tuple[bool, int, int, str]:
        name = sites.folder.name
        place = (*_VENVS, name).index(name)
        return sites.folder != self._walk.active, len(sites.folder.parts), place, name

    def environments(self, asked: frozenset[str], memory: ScanCache) -> list[Environment]:
        """Read the distributions of each environment."""
        return [self._environment(each, asked, memory) for each in self._found]

    def _environment(self, sites: Sites, asked: frozenset[str], memory: ScanCache) -> Environment:
        packages: list[Package] = []
        requested: set[str] = set()
        for folder in sites.sites:
            site = Site(folder, self._walk.boundary, memory)
            packages += site.packages()
            requested |= site.requested
            self._walk.problems += site.problems
        # Without a manifest, what somebody installed by name is what the project asks for.
        wanted = asked or requested
        packages = [
            replace(each, direct=each.editable or folded(each.name) in wanted) for each in packages
        ]
        detail = f"Python {sites.version}" if sites.version else ""
        location = shown(sites.folder, self._walk.boundary)
        return Environment("python", sites.kind, location, detail, ordered(packages))

    def _add(self, folder: Path) -> None:
        if any(each.folder == folder for each in self._found):
            return
        self._watch(folder)
        conda = (folder / "conda-meta").is_dir()
        configured = "" if conda else _configuration(folder, self._walk.boundary)
        stated = _VERSION.search(configured)
        sites = _sites(folder, stated[1] if stated else "")
        version = (
            stated[1] if stated else _INTERPRETER.sub("", sites[0].parent.name) if sites else ""
        )
        if not sites and (folder / "Lib" / "site-packages").is_dir():
            sites.append(folder / "Lib" / "site-packages")
        if _SHARES.search(configured):
            self._problem(
                folder,
                "it has the packages of the system's Python too, which are not read; to have all, "
                "make it without --system-site-packages",
            )
        if sites:
            kind = "conda" if conda else "venv"
            self._found.append(Sites(folder, kind, version, tuple(sites)))
        elif not conda:
            advice = f"it has no site-packages; make it anew: python -m venv {folder.name}"
            self._problem(folder, advice)

    def _problem(self, folder: Path, reason: str) -> None:
        self._walk.problems.append(Problem(shown(folder, self._walk.boundary), reason))

    def _watch(self, folder: Path) -> None:
        self._walk.watch(folder)
        for name in ("lib", "lib64", "Lib", "conda-meta", "pyvenv.cfg"):
            self._walk.watch(folder / name)
        for python in (*(folder / "lib").glob("python*"), *(folder / "lib64").glob("python*")):
            self._walk.watch(python)


def _sites(folder: Path, version: str) -> list[Path]:
    """Return the folders of import names of an environment's Python, not those of a former one.

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


def _read_manifest(file: Path, project: str) -> ReadNames | None:
    if file.name in manifests.READERS:
        return manifests.READERS[file.name]
    if manifests.is_requirements(file):
        return lambda text: manifests.parse_requirement_names(text, project)
    return None


def _lock_text(text: str) -> Iterator[Callable[[str], list[Locked]]]:
    if text.lstrip().startswith("{"):
        yield manifests.parse_pipfile_lock
    elif re.search(r"^\[\[packages\]\]", text, re.MULTILINE):
        yield manifests.parse_pylock
    elif re.search(r"^\[\[package\]\]", text, re.MULTILINE):
        # What uv writes names each package's source in a table; the others do not.
        marked = re.search(r"^source = \{", text, re.MULTILINE)
        yield manifests.parse_uv_lock if marked else manifests.parse_poetry_lock
    else:
        yield manifests.parse_pins


def _advice(names: Collection[str]) -> str:
    only_python = names and "package.json" not in names
    return f"{_INSTALL}, and install into it" if only_python else ""


_INSTALL = "python -m venv .venv"

SCANNING = Scanning(
    finder=PythonFinder,
    active=active_environment,
    manifests=manifests.READERS,
    is_requirements=manifests.is_requirements,
    read_manifest=_read_manifest,
    project_name=("pyproject.toml", manifests.project_name),
    manifest_of=manifests.recognise,
    lock_files={
        name: LockFile(name.partition(".")[0].lower(), read)
        for name, read in manifests.LOCK_FILES.items()
    },
    pins=LockFile("requirements", manifests.parse_pins, alone=False),
    lock_text=_lock_text,
    preinstalled=frozenset(("pip", "setuptools", "wheel", "distribute")),
    locked_imports=lambda _: (),
    install=_INSTALL,
    advice=_advice,
)
