"""Code is checked against packages that are stowed, or are for this: nothing is installed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING

from docstow.core.errors import DocstowError
from docstow.languages.projects.lock_text import parse_lock
from docstow.languages.shared.findings import Finding, Verdict
from docstow.languages.shared.lookup import Installed
from docstow.languages.shared.stored_surface import StoredSurface

if TYPE_CHECKING:
    from docstow.core.model import Snapshot
    from docstow.languages.shared.language import Language
    from docstow.library import Library
    from docstow.store.snapshots import Snapshots

#: Further versions of a package that are looked into.
_MOST_OTHER_PACKAGES = 4
#: So many packages are fetched for one call.
_MOST_FETCHED = 12
#: So many packages are tried for a name that is imported of none of that name.
_MOST_TRIED = 3
#: Packages of Python whose names do not have in them what is imported of them.
_IMPORTED_AS = {
    "PIL": ("pillow",),
    "bs4": ("beautifulsoup4",),
    "cv2": ("opencv-python", "opencv-python-headless", "opencv-contrib-python"),
    "fitz": ("pymupdf",),
    "skimage": ("scikit-image",),
    "sklearn": ("scikit-learn",),
}


class StowedPackages:
    """Packages by what code imports.

    Args:
        library: opens what is stowed.
        snapshots: what is stowed.
        language: of the packages.
        versions: by package, as the caller gave them.
        lockfile: the text of a lock file; may be empty.
    """

    def __init__(
        self,
        library: Library,
        snapshots: Snapshots,
        language: Language,
        versions: Mapping[str, str],
        lockfile: str,
    ) -> None:
        self._library = library
        self._snapshots = snapshots
        self._language = language
        self._key = language.spelling.package_key
        checking, reading = language.checking, language.reading
        assert checking is not None
        assert reading is not None
        self._reading = reading()
        self._complete = bool(lockfile)
        self._wanted = dict(parse_lock(lockfile, language).versions()) if lockfile else {}
        self._given = {self._key(n): v.strip().removeprefix("==") for n, v in versions.items()}
        self._wanted |= self._given
        self._standard = checking().standard(self._wanted.get(language.name, ""))
        self._found: dict[str, Installed | None] = {}
        self._fetched = 0
        self._by_import: dict[str, str] | None = None
        #: What is not stowed, and the next call.
        self.notices: dict[str, str] = {}

    def package_for(self, imported: str) -> Installed | None:
        """Return the package of a dotted name or module specifier, if that version is stowed.

        Python's own modules are those of the version that is given for ``python``; of any where
        none is.
        """
        if self.is_standard(imported):
            return self._standard.package_for(imported)
        name = self._package_of(imported)
        if name not in self._found:
            self._found[name] = self._find(name)
        return self._found[name]

    def is_standard(self, imported: str) -> bool:
        """Return whether it is a module of the language itself."""
        return self._standard.is_standard(imported)

    def explain(self, verdict: Verdict) -> Verdict:
        """Say of names that are not there which other stowed version has them."""
        return replace(verdict, findings=tuple(self._explain(each) for each in verdict.findings))

    def _package_of(self, imported: str) -> str:
        """Return the wanted package that is imported so."""
        spelling = self._language.spelling
        if spelling.scoped:
            return "/".join(imported.split("/")[: 2 if imported.startswith("@") else 1])
        joint = spelling.import_separator
        parts = imported.split(joint)
        for end in range(len(parts), 0, -1):
            if (name := self._imports.get(joint.join(parts[:end]))) is not None:
                return name
        if (name := self._key(parts[0])) in self._wanted or not self._wanted:
            return name
        return self._providing(parts[0]) or name

    def _providing(self, imported: str) -> str:
        """Return the wanted package of another name that has an import name; empty if none.

        Its name has that of the import in it, or is known; what it has is seen when it is stowed.
        """
        plain = imported.lower().strip("_")
        names = sorted((each for each in self._wanted if plain in each), key=len)
        names += [each for each in _IMPORTED_AS.get(imported, ()) if each in self._wanted]
        for name in names[:_MOST_TRIED]:
            if name not in self._found:
                self._found[name] = self._find(name)
            self._by_import = None
            if self._imports.get(imported) == name:
                return name
        return ""

    @property
    def _imports(self) -> Mapping[str, str]:
        """The wanted packages that are stowed, by what is imported of them."""
        if self._by_import is None:
            self._by_import = {}
            stowed = set(self._snapshots.names(self._language.kind))
            for name in sorted(stowed & self._wanted.keys()):
                for snapshot in list(self._versions(name).values())[:1]:
                    for each in snapshot.facts.get("import_names", ()):
                        self._by_import.setdefault(str(each), name)
        return self._by_import

    def _versions(self, name: str) -> dict[str, Snapshot]:
        heads = self._snapshots.heads(self._language.kind, self._key(name))
        loaded = {each.source.version: self._snapshots.load(each) for each in heads}
        return {version: each for version, each in loaded.items() if each is not None}

    def _find(self, name: str) -> Installed | None:
        version, stowed = self._wanted.get(name, ""), self._versions(name)
        if version in stowed:
            return Installed(name, version, self._surface(stowed[version]))
        if (fetched := self._fetch(name)) is not None:
            return fetched
        if name in self.notices:
            return None
        advice = f"stow it where it is installed: docstow ingest project DIR --package {name}"
        if self._has_registry and name not in self._wanted:
            advice = f'give versions {{"{name}": "latest"}}, or the one that is used'
        choose = self._language.versions().choose
        nearest = choose(".".join(version.split(".")[:2]), stowed) or choose("", stowed)
        near = f" (nearest stowed version: {nearest})" if nearest else ""
        if version:
            self.notices[name] = f"{name} {version} is not stowed{near}; {advice}"
        elif stowed:
            call = f'give versions {{"{name}": "{nearest}"}}'
            self.notices[name] = f"no version of {name} is said; {call}"
        else:
            self.notices[name] = f"{name} is not stowed; {advice}, or read_package where it is"
        return None

    def _fetch(self, name: str) -> Installed | None:
        """Have a wanted version stowed from its registry; None where that cannot be.

        A version is wanted that the caller names; no registry learns of what code only imports.
        """
        if name not in self._wanted or not (self._wanted[name] or name in self._given):
            return None
        if not self._has_registry:
            return None
        version = self._wanted[name]
        if self._fetched == _MOST_FETCHED:
            self.notices[name] = (
                f"{name} {version} is not stowed, and {_MOST_FETCHED} packages were fetched for "
                "this call; ask again"
            )
            return None
        self._fetched += 1
        try:
            found = self._library.package(self._language, name, version)
        except DocstowError as error:
            self.notices[name] = f"{name} {version} is not judged: {error.message.rstrip('.')}"
            return None
        self._wanted[name] = found.version
        return Installed(name, found.version, self._surface(found.snapshot))

    @cached_property
    def _has_registry(self) -> bool:
        try:
            self._library.installed.registry(self._language)
        except DocstowError:
            return False
        return True

    def _surface(self, snapshot: Snapshot) -> StoredSurface:
        index = self._library.index(snapshot)
        return StoredSurface(index, self._reading, self._agrees, self._is_complete)

    def _agrees(self, other: str) -> bool:
        """Return whether the caller has another package in that version."""
        name, _, version = other.rpartition(" ")
        return self._wanted.get(self._key(name)) == version

    def _is_complete(self, beside: frozenset[str]) -> bool:
        """Return whether the caller has no package but such as were looked at together with one."""
        return self._complete and self._wanted.keys() <= beside

    def _explain(self, finding: Finding) -> Finding:
        if finding.status != "unknown" or not finding.package:
            return finding
        stowed = self._versions(finding.package)
        others = [each for each in stowed if each != finding.version][:_MOST_OTHER_PACKAGES]
        having = [each for each in others if self._has(stowed[each], finding)]
        choose = self._language.versions().choose
        best = choose("", having)
        if best is None:
            return finding
        later = choose("", [best, finding.version]) == best
        note = f"{finding.package} {best} has it"
        note = note if later else f"removed in or before {finding.version}: {note}"
        return replace(finding, message=f"{finding.message.rstrip('.')}; {note}.")

    def _has(self, snapshot: Snapshot, finding: Finding) -> bool:
        return self._surface(snapshot).symbol(finding.name) is not None
