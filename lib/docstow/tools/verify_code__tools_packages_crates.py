"""Crates in the versions that a project has, for a check of its code.

This room knows where a crate's version is said: by the caller, by a lock file, by a project; and
that only what is stowed already answers where nobody says it. It does not know code.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from docstow.core.errors import DocstowError
from docstow.core.model import CRATE, LOCAL
from docstow.core.versions import Version, choose
from docstow.languages.rust.cargo_lock import parse
from docstow.languages.rust.check.crate_names__verify_rust_names import CrateNames

if TYPE_CHECKING:
    from docstow.core.model import Snapshot
    from docstow.languages.shared.project import Scan
    from docstow.library import Library
    from docstow.store.snapshots import Snapshots

_MOST_OTHERS = 3


class StowedCrates:
    """Crates by the names that code uses.

    Args:
        library: stows what is asked for by version.
        snapshots: what is stowed.
        versions: by crate, as the caller gave them.
        lockfile: the text of a ``Cargo.lock``; may be empty.
        scan: what a project has, if one is looked into.
    """

    def __init__(
        self,
        library: Library,
        snapshots: Snapshots,
        versions: Mapping[str, str],
        lockfile: str,
        scan: Scan | None,
    ) -> None:
        self._library = library
        self._snapshots = snapshots
        self._lock = parse(lockfile) if lockfile else None
        self._versions = {_folded(name): (name, version) for name, version in versions.items()}
        self._scan = scan
        self._told = bool(lockfile or versions)
        self._crates: dict[str, CrateNames | None] = {}
        #: What could not be had, and why.
        self.notices: list[str] = []
        #: Versions that nobody asked for.
        self.guessed: list[str] = []

    def crate(self, name: str) -> CrateNames | None:
        """The crate in the version that is meant; None where there is none at hand."""
        if name not in self._crates:
            self._crates[name] = self._find(name)
        return self._crates[name]

    def other_versions(self, name: str) -> Sequence[CrateNames]:
        """Further stowed versions, the newest first."""
        here = self._crates.get(name)
        if here is None:
            return ()
        kind, package = here.index.snapshot.revision.source.kind, here.package
        heads = {each.source.version: each for each in self._snapshots.heads(kind, package)}
        found: list[CrateNames] = []
        for version in sorted(heads, key=Version.parse, reverse=True):
            if version == here.version or not heads[version].snapshot_id:
                continue
            if (snapshot := self._snapshots.load(heads[version].snapshot_id)) is not None:
                found.append(CrateNames(self._library.index(snapshot)))
            if len(found) == _MOST_OTHERS:
                break
        return found

    def _find(self, name: str) -> CrateNames | None:
        package, version = self._said(name)
        if not version:
            return None if self._told else self._stowed(name)
        try:
            stowed = self._library.crate(package, version)
        except DocstowError as error:
            self.notices.append(f"{package} {version}: {error}")
            return None
        return CrateNames(self._library.index(stowed.snapshot))

    def _said(self, name: str) -> tuple[str, str]:
        """The package and version that caller, lock file or project mean by a name."""
        if (given := self._versions.get(_folded(name))) is not None:
            return given
        if self._lock is not None:
            found = [each for each in self._lock.named(name) if each.source]
            if found:
                return found[0].name, self._lock.locked(name).version
        if self._scan is not None:
            package = self._scan.importing(name, "rust")
            if package is not None and package.version:
                return package.name, package.version
        return name, ""

    def _stowed(self, name: str) -> CrateNames | None:
        """The best stowed version; no upstream learns the name."""
        for kind in (LOCAL, CRATE):
            for spelling in dict.fromkeys((name, name.replace("_", "-"))):
                heads = {
                    each.source.version: each
                    for each in self._snapshots.heads(kind, spelling)
                    if each.snapshot_id
                }
                best = choose("", heads)
                snapshot = self._loaded(heads[best].snapshot_id) if best is not None else None
                if snapshot is not None:
                    self.guessed.append(f"{spelling} {best}")
                    return CrateNames(self._library.index(snapshot))
        return None

    def _loaded(self, snapshot_id: str) -> Snapshot | None:
        return self._snapshots.load(snapshot_id)


def _folded(name: str) -> str:
    return name.replace("-", "_").lower()
