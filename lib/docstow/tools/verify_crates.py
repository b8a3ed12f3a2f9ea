"""Crates for ``verify_code``: the versions that are meant, and the check of code against them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from docstow.core.errors import (
    CrateNotDocumented,
    CrateNotFound,
    DocstowError,
    UnsupportedFormat,
    VersionYanked,
)
from docstow.core.versions import Version
from docstow.languages.rust.cargo_lock import parse
from docstow.languages.rust.check.crate_items import CrateNames
from docstow.languages.shared.findings import ANOTHER_PACKAGE

if TYPE_CHECKING:
    from docstow.languages.projects import Projects
    from docstow.languages.shared.findings import Verdict
    from docstow.languages.shared.project import Scan
    from docstow.library import Library
    from docstow.store.snapshots import Snapshots

#: Further versions of a crate that are looked into, and crates that are fetched for one call.
_MOST_OTHERS, _MOST_FETCHED = 3, 12
#: Of a crate that was taken by its name alone so many absent names, and none that is there, tell
#: that another one is meant.
_STRANGE = 2


def cargo_project(projects: Projects | None, name: str, scan: Scan | None) -> Path | None:
    """Return the folder of a project that Cargo has locked; None where there is none.

    Args:
        projects: those that may be looked into.
        name: of the project, as for :meth:`Projects.get`.
        scan: what was found in it, if anything was.
    """
    if projects is None:
        return None
    try:
        root = projects.get(name).root
    except DocstowError:
        return None
    environments = scan.environments if scan is not None else ()
    places = [root / e.location for e in environments if e.ecosystem == "rust"]
    folders = (each if each.is_dir() else each.parent for each in places)
    whole = ("Cargo.toml", "Cargo.lock")
    wanted = (e for e in (root, *folders) if all((e / file).is_file() for file in whole))
    return next(wanted, None)


class StowedCrates:
    """Crates by the names that code uses.

    Args:
        library: stows what is asked for by version.
        snapshots: what is stowed.
        versions: by crate, as the caller gave them.
        lockfile: the text of a ``Cargo.lock``; may be empty.
        scan: what a project has, if one is looked into.
        target: compilation target of their docs; empty for the server's own.
        may_fetch: whether the upstream may be asked for what docs of crates only name.
    """

    def __init__(
        self,
        library: Library,
        snapshots: Snapshots,
        versions: Mapping[str, str],
        lockfile: str,
        scan: Scan | None,
        target: str = "",
        *,
        may_fetch: bool = False,
    ) -> None:
        self._library = library
        self._may_fetch = may_fetch
        self._target = target
        self._snapshots = snapshots
        self._lock = parse(lockfile) if lockfile else None
        self._versions = {_fold(name): (name, version) for name, version in versions.items()}
        self._scan = scan
        self._are_given = bool(lockfile or versions)
        self._crates: dict[str, CrateNames | None] = {}
        #: What could not be had, and why.
        self.notices: list[str] = []
        #: Versions that nobody asked for: stowed before, or fetched for this.
        self.guessed: list[str] = []
        self.fetched: list[str] = []
        #: What was fetched as it is named by other crates' docs.
        self.shown: list[str] = []

    def crate(self, name: str) -> CrateNames | None:
        """Return the crate in the version that is meant; None where there is none at hand."""
        if name not in self._crates:
            self._crates[name] = self._find(name)
        return self._crates[name]

    def fetch(self, names: Iterable[str]) -> None:
        """Have the newest versions of crates stowed of which nobody says a version, if need be.

        Args:
            names: by which code imports them.
        """
        if self._are_given:
            return
        missing = [each for each in dict.fromkeys(names) if self.crate(each) is None]
        missing = [each for each in missing if not self._wanted(each)[1]]
        for name in missing[:_MOST_FETCHED]:
            try:
                stowed = self._library.crate(name, "", self._target)
            except (CrateNotFound, CrateNotDocumented):
                continue
            except DocstowError as error:
                self.notices.append(f"{name}: {error}")
                continue
            self.fetched.append(f"{stowed.name} {stowed.version}")
            self._crates[name] = CrateNames.of(self._library.index(stowed.snapshot))
        for name in missing[_MOST_FETCHED:]:
            self.notices.append(
                f"{name} is not judged: {_MOST_FETCHED} crates are fetched for one call; send the"
                " code in parts"
            )

    def behind(self, names: CrateNames, name: str) -> CrateNames | None:
        """Return a crate whose items another one's docs name, in the version they were made with.

        It is fetched where nothing says or has a version of it.
        """
        known = self.crate(name)
        if known is not None or not self._may_fetch or names.root == name:
            return known
        external = names.index.snapshot.facts.get("externals", {}).get(name, {})
        package, version = external.get("package", ""), external.get("version", "")
        if not package or not version or len(self.shown) >= _MOST_FETCHED:
            return None
        failed = names.unavailable
        # The very version may have no docs that can be read, where a later one has.
        for requirement in (version, f"^{version}") if name not in failed else ():
            try:
                stowed = self._library.crate(package, requirement, self._target)
            except (CrateNotFound, CrateNotDocumented, UnsupportedFormat, VersionYanked):
                continue
            except DocstowError as error:
                self.notices.append(f"{package}: {error}")
                self._may_fetch = False
                return None
            self.shown.append(f"{stowed.name} {stowed.version}")
            self._crates[name] = CrateNames.of(self._library.index(stowed.snapshot))
            return self._crates[name]
        failed.add(name)
        return None

    def explain(self, verdict: Verdict) -> Verdict:
        """Lower what is said of crates that were fetched by a name of which nothing is right."""
        strange = set()
        for title in self.fetched:
            name = title.partition(" ")[0]
            told = [each.status for each in verdict.findings if each.package == name]
            if told.count("unknown") >= _STRANGE and "ok" not in told:
                strange.add(name)
                self.notices.append(
                    f"{title} has nothing that the code names, so it is likely not the crate that"
                    f' is meant; give versions {{"{name}": "<version>"}}'
                )
        if not strange:
            return verdict
        lowered = (
            replace(each, status="not_checked", message="", suggestions=(), reason=ANOTHER_PACKAGE)
            if each.package in strange and each.status == "unknown"
            else each
            for each in verdict.findings
        )
        return replace(verdict, findings=tuple(lowered))

    def other_versions(self, name: str) -> Sequence[CrateNames]:
        """Return further stowed versions, the newest first."""
        here = self._crates.get(name)
        if here is None:
            return ()
        source = here.index.snapshot.revision.source
        of_package = self._snapshots.heads(source.kind, here.package)
        heads = {e.source.version: e for e in of_package if e.source.target == source.target}
        found: list[CrateNames] = []
        for version in sorted(heads, key=Version.parse, reverse=True):
            if version == here.version or not heads[version].snapshot_id:
                continue
            if (snapshot := self._snapshots.load(heads[version])) is not None:
                found.append(CrateNames.of(self._library.index(snapshot)))
            if len(found) == _MOST_OTHERS:
                break
        return found

    def _find(self, name: str) -> CrateNames | None:
        package, version = self._wanted(name)
        if not version:
            return None if self._are_given else self._stowed(name)
        try:
            stowed = self._library.crate(package, version, self._target)
        except DocstowError as error:
            self.notices.append(f"{package} {version}: {error}")
            return None
        return CrateNames.of(self._library.index(stowed.snapshot))

    def _wanted(self, name: str) -> tuple[str, str]:
        """Return the package and version that caller, lock file or project mean by a name."""
        if (given := self._versions.get(_fold(name))) is not None:
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
        """Return the best stowed version; no upstream learns the name."""
        for spelling in dict.fromkeys((name, name.replace("_", "-"))):
            stowed = self._library.stowed(spelling, "", self._target)
            if stowed is not None:
                self.guessed.append(f"{stowed.name} {stowed.version}")
                return CrateNames.of(self._library.index(stowed.snapshot))
        return None


def _fold(name: str) -> str:
    return name.replace("-", "_").lower()
