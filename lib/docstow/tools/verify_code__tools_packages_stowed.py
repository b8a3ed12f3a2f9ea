"""Stowed Python and Node packages in the versions that a caller names, for a check of code.

This room knows how versions are said without an environment, and that only the very version that
is said judges. It does not know code.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from docstow.core.language_names import LANGUAGES, PYTHON
from docstow.languages.projects import lockfiles__packages_locked_text as locked_text
from docstow.languages.projects.resolver import Nothing
from docstow.languages.python.stdlib__packages_standard import Standard
from docstow.languages.shared.findings import Finding, Verdict
from docstow.languages.shared.lookup import Installed
from docstow.languages.shared.project import folded
from docstow.languages.shared.stored_surface import StowedSurface
from docstow.languages.shared.version_requests import fitting
from docstow.library.packages import stowed_name

if TYPE_CHECKING:
    from docstow.core.model import Snapshot
    from docstow.library import Library
    from docstow.store.snapshots import Snapshots

_MOST_OTHERS = 4


class StowedPackages:
    """Packages by what code imports.

    Args:
        library: opens what is stowed.
        snapshots: what is stowed.
        language: of the code.
        versions: by package, as the caller gave them.
        lockfile: the text of a lock file; may be empty.
    """

    def __init__(
        self,
        library: Library,
        snapshots: Snapshots,
        language: str,
        versions: Mapping[str, str],
        lockfile: str,
    ) -> None:
        self._library = library
        self._snapshots = snapshots
        self._language = LANGUAGES[language]
        self._standard = Nothing(language)
        self._complete = bool(lockfile)
        self._wanted = self._locked(lockfile) if lockfile else {}
        self._wanted |= {self._key(n): v.strip().removeprefix("==") for n, v in versions.items()}
        self._python = Standard(self._wanted.get("python", ""))
        self._found: dict[str, Installed | None] = {}
        self._by_import: dict[str, str] | None = None
        #: What is not stowed, and the next call.
        self.notices: dict[str, str] = {}

    def package_for(self, imported: str) -> Installed | None:
        """The package of a dotted name or module specifier, if that version is stowed.

        Python's own modules are those of the version that is given for ``python``; of any where
        none is.
        """
        if self.is_standard(imported):
            return self._python.installed if self._language is PYTHON else None
        name = self._package_of(imported)
        if name not in self._found:
            self._found[name] = self._find(name)
        return self._found[name]

    def is_standard(self, imported: str) -> bool:
        """Whether it is a module of the language itself."""
        return self._standard.is_standard(imported)

    def explained(self, verdict: Verdict) -> Verdict:
        """The same, saying of names that are not there which other stowed version has them."""
        return replace(verdict, findings=tuple(self._explained(each) for each in verdict.findings))

    # -- versions ------------------------------------------------------------------------------

    def _key(self, name: str) -> str:
        return folded(name) if self._language is PYTHON else name

    def _locked(self, text: str) -> dict[str, str]:
        """One version of each package; none where several are locked and none comes first."""
        found: dict[str, dict[str, bool]] = {}
        for each in locked_text.read(text, self._language.kind):
            versions = found.setdefault(self._key(each.name), {})
            versions[each.version] = versions.get(each.version, False) or bool(each.direct)
        chosen: dict[str, str] = {}
        for name, versions in found.items():
            direct = [each for each, asked in versions.items() if asked] or list(versions)
            chosen[name] = direct[0] if len(direct) == 1 else ""
        return chosen

    def _package_of(self, imported: str) -> str:
        """The wanted package that is imported so."""
        if self._language is not PYTHON:
            parts = imported.split("/")
            return "/".join(parts[: 2 if imported.startswith("@") else 1])
        parts = imported.split(".")
        for end in range(len(parts), 0, -1):
            if (name := self._imports.get(".".join(parts[:end]))) is not None:
                return name
        return folded(parts[0])

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
        heads = self._snapshots.heads(self._language.kind, stowed_name(self._language, name))
        loaded = {each.source.version: self._snapshots.load(each.snapshot_id) for each in heads}
        return {version: each for version, each in loaded.items() if each is not None}

    def _find(self, name: str) -> Installed | None:
        version, stowed = self._wanted.get(name, ""), self._versions(name)
        if version in stowed:
            return Installed(name, version, self._surface(stowed[version]))
        advice = f"stow it where it is installed: docstow ingest project DIR --package {name}"
        nearest = fitting(".".join(version.split(".")[:2]), stowed) or fitting("", stowed)
        near = f" (nearest stowed version: {nearest})" if nearest else ""
        if version:
            self.notices[name] = f"{name} {version} is not stowed{near}; {advice}"
        elif stowed:
            call = f'give versions {{"{name}": "{nearest}"}}'
            self.notices[name] = f"no version of {name} is said; {call}"
        else:
            self.notices[name] = f"{name} is not stowed; {advice}, or read_package where it is"
        return None

    def _surface(self, snapshot: Snapshot) -> StowedSurface:
        return StowedSurface(self._library.index(snapshot), self._agreed, self._closed)

    def _agreed(self, other: str) -> bool:
        """Whether the caller has another package in that version."""
        name, _, version = other.rpartition(" ")
        return self._wanted.get(self._key(name)) == version

    def _closed(self, beside: frozenset[str]) -> bool:
        """Whether the caller has no package but such as were looked at together with one."""
        return self._complete and self._wanted.keys() <= beside

    # -- other versions ------------------------------------------------------------------------

    def _explained(self, finding: Finding) -> Finding:
        if finding.status != "unknown" or not finding.package:
            return finding
        stowed = self._versions(finding.package)
        others = [each for each in stowed if each != finding.version][:_MOST_OTHERS]
        having = [each for each in others if self._has(stowed[each], finding)]
        best = fitting("", having)
        if best is None:
            return finding
        later = fitting("", [best, finding.version]) == best
        said = f"{finding.package} {best} has it"
        said = said if later else f"removed in or before {finding.version}: {said}"
        return replace(finding, message=f"{finding.message.rstrip('.')}; {said}.")

    def _has(self, snapshot: Snapshot, finding: Finding) -> bool:
        symbol = self._surface(snapshot).symbol(finding.name)
        return symbol is not None
