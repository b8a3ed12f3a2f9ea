"""What lock files promise where nothing is installed, and of it what is here all the same.

This room knows which lock file speaks for which folder. It does not know their texts.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass
from pathlib import Path
from typing import Any

from docstow.core.errors import DocstowError, InvalidParameter
from docstow.languages.python import lockfiles as locked_python
from docstow.languages.rust.cargo_lock import parse
from docstow.languages.shared.manifests import Asked, recalled
from docstow.languages.shared.places import Places, is_requirements, shown
from docstow.languages.shared.project import (
    Ecosystem,
    Environment,
    Locked,
    Package,
    Problem,
    folded,
    ordered,
)
from docstow.languages.shared.sandbox import Boundary
from docstow.languages.shared.scan_cache import Memory
from docstow.languages.typescript import lockfiles as locked_node

# The sources that Cargo and Go keep of what a project locks, and what their files lock.


_REQUIRE = re.compile(r"\s*(?:require\s+)?([\w.~-]+(?:/[\w.~!+-]+)*)\s+(v[\w.+-]+)\s*(//.*)?$")


def cargo(environ: Mapping[str, str], home: Path) -> list[Path]:
    """The folders in which Cargo keeps crates, one of each registry."""
    place = Path(environ.get("CARGO_HOME") or home / ".cargo") / "registry" / "src"
    return _folders(place)


def go(environ: Mapping[str, str], home: Path) -> list[Path]:
    """The folder in which Go keeps modules."""
    path = environ.get("GOPATH", "").split(":")[0]
    place = environ.get("GOMODCACHE") or Path(path or home / "go") / "pkg" / "mod"
    return [Path(place)] if Path(place).is_dir() else []


def cargo_lock(text: str) -> list[Locked]:
    """The packages of a ``Cargo.lock`` that come from elsewhere.

    Raises:
        InvalidParameter: it is none.
    """
    lock = parse(text)
    direct = {(each.name, each.version) for own in lock.own for each in lock.needs(own)}
    return [
        Locked(each.name, each.version, (each.name, each.version) in direct)
        for some in lock.by_name.values()
        for each in some
        if each.source
    ]


def go_mod(text: str) -> list[Locked]:
    """What a ``go.mod`` requires; what others brought in it marks itself."""
    return list(_required(text))


def go_sum(text: str) -> list[Locked]:
    """The modules of a ``go.sum`` whose content is used, of each the last that is named."""
    rows = (line.split() for line in text.splitlines())
    found = {row[0]: row[1] for row in rows if len(row) == 3 and not row[1].endswith("/go.mod")}
    return [Locked(name, version) for name, version in found.items()]


def _required(text: str) -> Iterator[Locked]:
    block = ""
    for line in text.splitlines():
        if opened := re.match(r"\s*(\w+)\s*\(\s*$", line):
            block = opened[1]
        elif line.strip() == ")":
            block = ""
        elif block == "require" or line.lstrip().startswith("require "):
            found = _REQUIRE.match(line)
            if found is not None:
                yield Locked(found[1], found[2], "indirect" not in (found[3] or ""))


def crate_folder(name: str, version: str, registries: Sequence[Path]) -> Path | None:
    """Where the sources of a crate are."""
    return _first(each / f"{name}-{version}" for each in registries)


def module_folder(name: str, version: str, caches: Sequence[Path]) -> Path | None:
    """Where the sources of a Go module are: capitals are written with a mark of their own."""
    escaped = re.sub(r"[A-Z]", lambda found: f"!{found[0].lower()}", f"{name}@{version}")
    return _first(each / escaped for each in caches)


def _first(places: Iterator[Path]) -> Path | None:
    with contextlib.suppress(OSError):
        return next((each for each in places if each.is_dir()), None)
    return None


def _folders(place: Path) -> list[Path]:
    try:
        return sorted(each for each in place.iterdir() if each.is_dir())
    except OSError:
        return []


# Which lock file a text is, where nobody says its name.


_YARN = re.compile(r"^# yarn lockfile|^__metadata:", re.MULTILINE)


_PNPM = re.compile(r"^lockfileVersion:", re.MULTILINE)


_LOCKED_TEXT_ADVICE = (
    "is no lock file that is known; send the whole text of uv.lock, poetry.lock, pdm.lock, "
    "pylock.toml, Pipfile.lock, requirements.txt, package-lock.json, pnpm-lock.yaml, yarn.lock or "
    "bun.lock"
)


def read(text: str, ecosystem: str) -> list[Locked]:
    """The packages of a lock file.

    Args:
        text: the whole file.
        ecosystem: ``python`` or ``node``.

    Raises:
        InvalidParameter: it is none of that ecosystem's.
    """
    for form in _python(text) if ecosystem == "python" else _node(text):
        try:
            found = form(text)
        except (ValueError, KeyError, TypeError, AttributeError):
            continue
        if found:
            return found
    raise InvalidParameter("lockfile", _LOCKED_TEXT_ADVICE)


def _python(text: str) -> Iterator[Callable[[str], list[Any]]]:
    if text.lstrip().startswith("{"):
        yield locked_python.pipenv
    elif re.search(r"^\[\[packages\]\]", text, re.MULTILINE):
        yield locked_python.pylock
    elif re.search(r"^\[\[package\]\]", text, re.MULTILINE):
        # What uv writes names each package's source in a table; the others do not.
        marked = re.search(r"^source = \{", text, re.MULTILINE)
        yield locked_python.uv if marked else locked_python.poetry
    else:
        yield locked_python.requirements


def _node(text: str) -> Iterator[Callable[[str], list[Any]]]:
    if text.lstrip().startswith("{"):
        yield locked_node.npm
        yield locked_node.bun
    elif _YARN.search(text):
        yield locked_node.yarn
    elif _PNPM.search(text):
        yield locked_node.pnpm


_DESCRIPTION = re.compile(r'^description\s*=\s*"((?:[^"\\]|\\.){1,300})', re.MULTILINE)


@dataclass(frozen=True, slots=True)
class _Form:
    """One form of lock file: whose it is, who writes it, and what reads it."""

    ecosystem: Ecosystem
    tool: str
    read: Callable[[str], list[Locked]]
    advice: str = ""


#: How to have a form that can be read.
_ADVICE = {"bun.lockb": "to have bun.lock, run bun install --save-text-lockfile"}


FORMS: Mapping[str, _Form] = {
    **{
        name: _Form("python", name.partition(".")[0].lower(), read)
        for name, read in locked_python.PYTHON.items()
    },
    **{
        name: _Form("node", locked_node.MANAGERS[name], read, _ADVICE.get(name, ""))
        for name, read in locked_node.NODE.items()
    },
    "Cargo.lock": _Form("rust", "cargo", cargo_lock),
    "go.mod": _Form("go", "go", go_mod),
}


_REQUIREMENTS = _Form("python", "requirements", locked_python.requirements)


_LANGUAGES: Mapping[Ecosystem, str] = {
    "python": "python",
    "node": "javascript",
    "rust": "rust",
    "go": "go",
}


class LockScan:
    """Reads lock files.

    Args:
        boundary: what may be opened.
        memory: what is known of them.
        asked: what the project asks for.
        kept: folders in which Cargo and Go keep sources.
    """

    def __init__(
        self,
        boundary: Boundary,
        memory: Memory,
        asked: Asked,
        kept: Mapping[Ecosystem, Sequence[Path]],
    ) -> None:
        self._kept = kept
        self._boundary = boundary
        self._memory = memory
        self._asked = asked
        self.problems: list[Problem] = []

    def environments(
        self, found: Places, covered: Sequence[tuple[Ecosystem, Path]]
    ) -> list[Environment]:
        """What the lock files say that speak for folders in which nothing is installed.

        Args:
            found: all lock files and manifests.
            covered: folders in which, and below which, something of an ecosystem is.
        """
        # Pinned requirements are read where no proper lock file is; there may be several of them.
        spoken: set[tuple[str, Path]] = set()
        result = []
        order = list(FORMS)
        locks = sorted(found.locks, key=lambda each: (each.parent.parts, order.index(each.name)))
        rest = [each for each in found.manifests if each.name == "go.mod" or is_requirements(each)]
        for path in (*locks, *rest):
            form = FORMS.get(path.name, _REQUIREMENTS)
            key = (form.ecosystem, path.parent)
            above = [place for each, place in covered if each == form.ecosystem]
            if any(path.parent.is_relative_to(place) for place in above):
                continue
            if key in spoken:
                continue
            packages = self._packages(path, form)
            if packages:
                if form is not _REQUIREMENTS:
                    spoken.add(key)
                location = shown(path, self._boundary)
                result.append(
                    Environment(form.ecosystem, "lockfile", location, form.tool, packages)
                )
        return result

    def _packages(self, path: Path, form: _Form) -> tuple[Package, ...]:
        fact = recalled(path, "lock", self._boundary, self._memory, lambda text: _rows(form, text))
        if isinstance(fact, str):
            reason = "; ".join(filter(None, (fact.rstrip("."), form.advice)))
            self.problems.append(Problem(shown(path, self._boundary), reason))
            return ()
        locked = [Locked(*row) for row in fact]
        if form.ecosystem == "go":
            locked += self._brought(path.with_name("go.sum"), {each.name for each in locked})
        return ordered(self._package(each, form.ecosystem) for each in locked)

    def _brought(self, path: Path, named: Collection[str]) -> list[Locked]:
        """What older ``go.mod`` leave to the ``go.sum`` beside them."""
        if not path.exists():
            return []
        form = _Form("go", "go", go_sum)
        fact = recalled(path, "lock", self._boundary, self._memory, lambda text: _rows(form, text))
        found = [Locked(*row) for row in fact] if isinstance(fact, list) else []
        return [each for each in found if each.name not in named]

    def _package(self, locked: Locked, ecosystem: Ecosystem) -> Package:
        folder = self._folder(locked, ecosystem)
        summary = locked.summary or (self._summary(folder) if folder else "")
        return Package(
            ecosystem=ecosystem,
            name=locked.name,
            version=locked.version,
            location=shown(folder, self._boundary) if folder else "",
            import_names=_import_names(locked, ecosystem),
            direct=self._is_direct(locked, ecosystem),
            language=_LANGUAGES[ecosystem],
            summary=summary,
            installed=folder is not None,
            editable=False,
            files_root=folder,
        )

    def _is_direct(self, locked: Locked, ecosystem: Ecosystem) -> bool:
        """What the file says, and where it does not, what the manifests do."""
        if locked.direct is not None:
            return locked.direct
        if ecosystem == "python":
            return folded(locked.name) in self._asked.python
        return ecosystem == "node" and (locked.imported or locked.name) in self._asked.node

    def _folder(self, locked: Locked, ecosystem: Ecosystem) -> Path | None:
        """Where the sources of a crate or module are, if they are here."""
        if ecosystem == "rust":
            return crate_folder(locked.name, locked.version, self._sources("rust"))
        if ecosystem == "go":
            return module_folder(locked.name, locked.version, self._sources("go"))
        return None

    def _sources(self, ecosystem: Ecosystem) -> Sequence[Path]:
        return self._kept.get(ecosystem, ())

    def _summary(self, folder: Path) -> str:
        """What a crate's manifest says of it."""
        manifest = folder / "Cargo.toml"
        try:
            key = f"summary:{manifest}"
            return str(self._memory.recall(key, (manifest,), lambda: self._described(manifest)))
        except OSError:
            return ""

    def _described(self, manifest: Path) -> str:
        try:
            text = self._boundary.read(manifest).decode("utf-8", "replace")
        except DocstowError:
            return ""
        found = _DESCRIPTION.search(text)
        return found[1].replace('\\"', '"') if found else ""


def _rows(form: _Form, text: str) -> list[Any]:
    """What a file locks; what it has in several places once."""
    found: dict[tuple[str, str, str], Locked] = {}
    for each in form.read(text):
        key = each.name, each.version, each.imported
        if key not in found or each.direct:
            found[key] = each
    return [[*astuple(each)] for each in found.values()]


def _import_names(locked: Locked, ecosystem: Ecosystem) -> tuple[str, ...]:
    """What a program imports, as far as a name tells; of Python it does not."""
    if ecosystem == "python":
        return ()
    name = locked.imported or locked.name
    return (name.replace("-", "_") if ecosystem == "rust" else name,)
