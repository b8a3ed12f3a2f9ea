"""Lock files: which of them speak for which folder, and what of it is here all the same."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import astuple
from pathlib import Path
from typing import Any

from docstow.core.errors import DocstowError, InvalidParameter
from docstow.core.language_names import of_ecosystem
from docstow.languages.shared.language import Language
from docstow.languages.shared.manifests import recalled
from docstow.languages.shared.places import shown
from docstow.languages.shared.project import Environment, Locked, Package, Problem, ordered
from docstow.languages.shared.sandbox import Boundary
from docstow.languages.shared.scan_cache import ScanCache
from docstow.languages.shared.scanning import LockFile, ReadLock, Scanning

_UNKNOWN_TEXT = (
    "is no lock file that is known; send the whole text of uv.lock, poetry.lock, pdm.lock, "
    "pylock.toml, Pipfile.lock, requirements.txt, package-lock.json, pnpm-lock.yaml, yarn.lock or "
    "bun.lock"
)


def read(text: str, language: Language) -> list[Locked]:
    """Read the packages of a lock file whose name nobody says.

    Args:
        text: the whole file.
        language: whose packages it locks.

    Raises:
        InvalidParameter: it is none of that language's.
    """
    for reader in language.scanning().lock_text(text):
        try:
            found = reader(text)
        except (ValueError, KeyError, TypeError, AttributeError):
            continue
        if found:
            return found
    raise InvalidParameter("lockfile", _UNKNOWN_TEXT)


class LockScan:
    """Reads the lock files of a project.

    Args:
        boundary: what may be opened.
        memory: what is known of them.
        languages: how projects are scanned, by ecosystem.
        asked: what the project asks for, by ecosystem.
        kept: folders in which sources are kept elsewhere, by ecosystem.
    """

    def __init__(
        self,
        boundary: Boundary,
        memory: ScanCache,
        languages: Mapping[str, Scanning],
        asked: Mapping[str, Collection[str]],
        kept: Mapping[str, Sequence[Path]],
    ) -> None:
        self._boundary = boundary
        self._memory = memory
        self._languages = languages
        self._asked = asked
        self._kept = kept
        self._forms = {
            name: (ecosystem, form)
            for ecosystem, each in languages.items()
            for name, form in each.lock_files.items()
        }
        self.problems: list[Problem] = []

    def environments(
        self,
        locks: Sequence[Path],
        manifests: Sequence[Path],
        covered: Sequence[tuple[str, Path]],
    ) -> list[Environment]:
        """Read the lock files that speak for folders in which nothing is installed.

        Args:
            locks: all lock files.
            manifests: all manifests; of some languages they pin versions themselves.
            covered: folders in which, and below which, something of an ecosystem is.
        """
        # Pinned requirements are read where no proper lock file is; there may be several of them.
        decided: set[tuple[str, Path]] = set()
        result = []
        order = list(self._forms)
        locks = sorted(locks, key=lambda each: (each.parent.parts, order.index(each.name)))
        for path in (*locks, *manifests):
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
            self.problems.append(Problem(shown(path, self._boundary), reason))
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
        return recalled(
            path, "lock", self._boundary, self._memory, lambda text: _rows(read_lock, text)
        )

    def _package(self, locked: Locked, ecosystem: str) -> Package:
        language = self._languages[ecosystem]
        folder = self._folder(locked, ecosystem)
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

    def _folder(self, locked: Locked, ecosystem: str) -> Path | None:
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
