"""What lock files promise where nothing is installed, and of it what is here all the same.

This room knows which lock file speaks for which folder. It does not know their texts.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import astuple, dataclass
from pathlib import Path
from typing import Any

from docstow.core.errors import DocstowError
from docstow.languages.projects import lockfiles__packages_local_sources as local_sources
from docstow.languages.python import lockfiles as locked_python
from docstow.languages.python.lockfiles import Locked
from docstow.languages.shared.manifests__packages_asked_for import Asked, recalled
from docstow.languages.shared.places import Places, is_requirements, shown
from docstow.languages.shared.project import Environment, Problem, folded, ordered
from docstow.languages.shared.project__packages_model import Ecosystem, Package
from docstow.languages.shared.sandbox import Boundary
from docstow.languages.shared.scan_cache import Memory
from docstow.languages.typescript import lockfiles as locked_node

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
    "Cargo.lock": _Form("rust", "cargo", local_sources.cargo_lock),
    "go.mod": _Form("go", "go", local_sources.go_mod),
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
        form = _Form("go", "go", local_sources.go_sum)
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
            return local_sources.crate_folder(locked.name, locked.version, self._sources("rust"))
        if ecosystem == "go":
            return local_sources.module_folder(locked.name, locked.version, self._sources("go"))
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
