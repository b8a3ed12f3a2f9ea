"""One scan of a project: places are found, what is installed there is read, the rest is locked.

This room knows the order of things. It does not know any environment's or lock file's form.
"""

from __future__ import annotations

import base64
import hashlib
import os
import re
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from docstow.core.errors import EnvironmentNotFound
from docstow.languages.projects import lockfiles as local_sources
from docstow.languages.projects import lockfiles as lock_scan
from docstow.languages.python.environment import Site
from docstow.languages.shared import manifests as asked_for
from docstow.languages.shared import places as places
from docstow.languages.shared.manifests import Asked
from docstow.languages.shared.places import Places, Sites, shown
from docstow.languages.shared.project import (
    Ecosystem,
    Environment,
    Package,
    Problem,
    Scan,
    folded,
    ordered,
)
from docstow.languages.shared.sandbox import Boundary
from docstow.languages.shared.scan_cache import Memory
from docstow.languages.typescript.environment import Modules

# An active environment that is not in the project's folder, and whether it is the project's.


_LONGEST = 65536


def named_environment(root: Path, environ: Mapping[str, str]) -> Path | None:
    """The active environment if it is inside the root, or the root's own elsewhere.

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
            if folder.is_relative_to(root) or variable.startswith("UV") or _names(root, folder):
                return folder
        except OSError:
            continue
    return None


def _names(root: Path, folder: Path) -> bool:
    """Whether the project names the environment, or the environment the project."""
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


#: What every new environment has: where there is no more, nothing was installed.
_BROUGHT = frozenset(("pip", "setuptools", "wheel", "distribute"))


#: How often it is looked again at what changes while it is looked at.
_AGAIN = 3


def scan(
    root: Path, memory: Memory, environ: Mapping[str, str] | None = None, home: Path | None = None
) -> Scan:
    """What is installed or locked in a project.

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
    active = named_environment(root.resolve(), environ)
    boundary = Boundary(root, (active,) if active else ())
    memory.begin()
    found = places.find(boundary, active, memory.watch)
    kept = _kept_sources(found, environ, home or Path.home())
    if folders := [each for some in kept.values() for each in some]:
        boundary = Boundary(root, (*((active,) if active else ()), *folders))
    return _Scanning(boundary, found, memory, kept).scan(begun)


class Scans:
    """The scan of one project, as long as it is right.

    Args:
        root: the project's directory.
        memory: what was found before.
    """

    def __init__(self, root: Path, memory: Memory) -> None:
        self._root = root
        self._memory = memory
        self._last: Scan | None = None
        self._active: Path | None = None

    def now(self) -> Scan:
        """What is installed or locked now: the last scan where it would find the same.

        Raises:
            EnvironmentNotFound: nothing is.
        """
        active = named_environment(self._root.resolve(), os.environ)
        if self._last is not None and active == self._active and self._memory.same():
            return self._last
        self._last = None
        found = scan(self._root, self._memory)
        for _ in range(_AGAIN):
            # What an installer puts in another's place was there all the time.
            if not found.problems or not self._memory.changed():
                break
            found = scan(self._root, self._memory)
        # What Cargo and Go keep is elsewhere, and not watched.
        if all(each.ecosystem in ("python", "node") for each in found.environments):
            self._last, self._active = found, active
        return found


def _kept_sources(
    found: Places, environ: Mapping[str, str], home: Path
) -> Mapping[Ecosystem, Sequence[Path]]:
    """Where Cargo and Go keep sources, if the project is one of theirs."""
    names = {each.name for each in (*found.locks, *found.manifests)}
    kept: dict[Ecosystem, Sequence[Path]] = {}
    if "Cargo.lock" in names:
        kept["rust"] = local_sources.cargo(environ, home)
    if "go.mod" in names:
        kept["go"] = local_sources.go(environ, home)
    return kept


class _Scanning:
    """A scan under way."""

    def __init__(
        self,
        boundary: Boundary,
        found: Places,
        memory: Memory,
        kept: Mapping[Ecosystem, Sequence[Path]],
    ) -> None:
        self._kept = kept
        self._boundary = boundary
        self._found = found
        self._memory = memory
        self._problems = list(found.problems)

    def scan(self, begun: float) -> Scan:
        asked, problems = asked_for.read(self._found.manifests, self._boundary, self._memory)
        self._problems += problems
        environments = [
            *(self._python(each, asked) for each in self._found.python),
            *self._node(asked),
        ]
        covered = [
            (each.ecosystem, place)
            for each, place in zip(environments, self._folders(environments), strict=True)
            if any(folded(one.name) not in _BROUGHT for one in each.packages)
        ]
        locks = lock_scan.LockScan(self._boundary, self._memory, asked, self._kept)
        environments += locks.environments(self._found, covered)
        self._problems += locks.problems
        for folder in self._found.plug_and_play:
            reason = (
                "Yarn Plug'n'Play keeps packages in archives, which are not read: set nodeLinker: "
                "node-modules in .yarnrc.yml and run yarn install"
            )
            self._problems.append(Problem(shown(folder, self._boundary), reason))
        self._memory.end()
        if not environments:
            raise self._nothing()
        return Scan(
            tuple(environments),
            tuple(dict.fromkeys(self._problems)),
            self._boundary,
            round((time.perf_counter() - begun) * 1000, 1),
            self._memory.made,
        )

    def _folders(self, environments: Iterable[Environment]) -> list[Path]:
        """Whose environments these are: the folder that each is in, the root of those elsewhere."""
        root = self._boundary.root
        return [
            (root / each.location).parent
            if each.location != "." and (root / each.location).is_relative_to(root)
            else root
            for each in environments
        ]

    def _python(self, sites: Sites, asked: Asked) -> Environment:
        packages: list[Package] = []
        requested: set[str] = set()
        for folder in sites.sites:
            site = Site(folder, self._boundary, self._memory)
            packages += site.packages()
            requested |= site.requested
            self._problems += site.problems
        # Without a manifest, what somebody installed by name is what the project asks for.
        wanted = asked.python or requested
        packages = [
            replace(each, direct=each.editable or folded(each.name) in wanted) for each in packages
        ]
        detail = f"Python {sites.version}" if sites.version else ""
        location = shown(sites.folder, self._boundary)
        return Environment("python", sites.kind, location, detail, ordered(packages))

    def _node(self, asked: Asked) -> list[Environment]:
        seen: set[str] = set()
        all_modules = [
            Modules(folder, self._boundary, self._memory, seen) for folder in self._found.modules
        ]
        # What a member of a workspace asks for may be in another's store: first come links to it.
        tops = [modules.top() for modules in all_modules]
        found = []
        for folder, modules, top in zip(self._found.modules, all_modules, tops, strict=True):
            packages = [
                *(replace(each, direct=each.import_names[0] in asked.node) for each in top),
                *modules.rest(),
            ]
            self._problems += modules.problems
            if packages:
                location = shown(folder, self._boundary)
                found.append(
                    Environment(
                        "node", "node_modules", location, modules.manager, ordered(packages)
                    )
                )
        return found

    def _nothing(self) -> EnvironmentNotFound:
        names = {each.name for each in self._found.manifests}
        node, python = "npm install", "python -m venv .venv"
        if "package.json" in names and len(names) == 1:
            advice = node
        elif names and "package.json" not in names:
            advice = f"{python}, and install into it"
        else:
            advice = f"{python} or {node}"
        error = EnvironmentNotFound(f"no environment found: run {advice}")
        if self._problems:
            error.details["problems"] = [
                {"location": each.location, "reason": each.reason} for each in self._problems
            ]
        return error
