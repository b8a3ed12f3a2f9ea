"""Code is checked against packages that are fetched, or stowed, for this: nothing is installed."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import cached_property
from itertools import islice
from typing import TYPE_CHECKING

from docstow.core.errors import DocstowError, InvalidParameter
from docstow.languages.projects.lock_text import parse_lock
from docstow.languages.shared.findings import ANOTHER_PACKAGE, Finding, Verdict
from docstow.languages.shared.lookup import Installed
from docstow.languages.shared.stored_surface import StoredSurface
from docstow.library.environments import FetchedEnvironment, Wanted

if TYPE_CHECKING:
    from docstow.core.model import Snapshot
    from docstow.languages.shared.language import Language
    from docstow.languages.shared.lookup import Resolver
    from docstow.languages.shared.project import Scan
    from docstow.library import Library
    from docstow.store.snapshots import Snapshots

#: Further versions of a package that are looked into.
_MOST_OTHER_PACKAGES = 4
#: So many packages are fetched for one call, beside what they need themselves.
MOST_FETCHED = 12
#: So many packages are tried for a name that is imported of none of that name.
_MOST_TRIED = 3
#: Folders of a project that are looked through for names that are its own.
_MOST_FOLDERS, _DEEPEST, _INSTALLED = 400, 2, "node_modules"
#: So many names of a package that nobody named, and none that is there: it is likely another one.
_STRANGE = 2


class StowedPackages:
    """Packages by what code imports.

    Args:
        library: opens what is stowed, and has environments made.
        snapshots: what is stowed.
        language: of the packages.
        versions: by package, as the caller gave them.
        lockfile: the text of a lock file; may be empty.
        scan: the project that the code is of; packages that it locks and has not installed are of
            these versions.
    """

    def __init__(
        self,
        library: Library,
        snapshots: Snapshots,
        language: Language,
        versions: Mapping[str, str],
        lockfile: str,
        scan: Scan | None = None,
    ) -> None:
        self._library = library
        self._snapshots = snapshots
        self._language = language
        self._key = language.spelling.package_key
        checking, reading = language.checking, language.reading
        assert checking is not None
        assert reading is not None
        self._checking = checking()
        self._reading = reading()
        self._scan = scan
        self._complete = bool(lockfile)
        self._aliases: Mapping[str, str] = {}
        self._wanted: dict[str, str] = {}
        if lockfile:
            lock = parse_lock(lockfile, language)
            self._wanted, self._aliases = dict(lock.versions()), lock.aliases()
        if scan is not None:
            self._wanted = {self._key(n): v for n, v in _locked(scan, language).items()}
        self._given = {self._key(n): v.strip().removeprefix("==") for n, v in versions.items()}
        self._wanted |= self._given
        self._standard = self._checking.standard(self._wanted.get(language.name, ""))
        self._found: dict[str, Installed | None] = {}
        self._by_import: dict[str, str] | None = None
        self._environment = FetchedEnvironment()
        self._imported: frozenset[str] = frozenset()
        self._fetched: Resolver | None = None
        #: What is not judged, and the next call.
        self.notices: dict[str, str] = {}
        #: Packages that nobody said a version of, with those that were fetched.
        self.guessed: dict[str, str] = {}

    @contextmanager
    def opened(self, imports: Sequence[str]) -> Iterator[StowedPackages]:
        """Fetch what code imports, as far as it may be, for as long as the code is checked.

        Args:
            imports: names and specifiers.
        """
        self._imported = frozenset(imports)
        self._environment = self._open(imports)
        if self._environment.scan is None:
            yield self
            return
        with self._checking.resolver(self._environment.scan) as resolver:
            self._fetched = resolver
            try:
                yield self
            finally:
                self._fetched = None

    @property
    def scan(self) -> Scan | None:
        """What was fetched for the code; None where nothing was."""
        return self._environment.scan

    def package_for(self, imported: str) -> Installed | None:
        """Return the package of a dotted name or module specifier, if that version is at hand.

        Python's own modules are those of the version that is given for ``python``; of any where
        none is.
        """
        if self.is_standard(imported):
            found = self._standard.package_for(imported)
            # What a language has of its own a package may declare: Node's modules.
            if found is None and self._fetched is not None:
                return self._fetched.package_for(imported)
            return found
        if self._fetched is not None and (found := self._fetched.package_for(imported)) is not None:
            return found
        name = self._package_of(imported)
        if name not in self._found:
            self._found[name] = self._find(name)
        return self._found[name]

    def is_standard(self, imported: str) -> bool:
        """Return whether it is a module of the language itself."""
        return self._standard.is_standard(imported)

    def explain(self, verdict: Verdict) -> Verdict:
        """Say of names that are not there which other stowed version has them."""
        doubtful = set(self._doubtful(verdict))
        findings = (self._explain(each) for each in verdict.findings)
        kept = (
            replace(each, status="not_checked", message="", suggestions=(), reason=ANOTHER_PACKAGE)
            if each.package in doubtful and each.status == "unknown"
            else each
            for each in findings
        )
        return replace(verdict, findings=tuple(kept))

    def _doubtful(self, verdict: Verdict) -> Iterator[str]:
        """Yield packages that were guessed by an import alone, of which nothing is right."""
        for name, version in self.guessed.items():
            mine = [each for each in verdict.findings if each.package == name]
            # That a package can be imported says nothing of what is in it.
            own = [each.status for each in mine if each.status != "ok" or "." in each.name]
            if own.count("unknown") >= _STRANGE and "ok" not in own:
                self.notices[name] = (
                    f"{name} {version} has nothing that the code names, so it is likely not the"
                    f' package that is meant; give versions {{"<name>": "latest"}}'
                )
                yield name

    def _open(self, imports: Sequence[str]) -> FetchedEnvironment:
        """Have an environment made of what is imported."""
        environments = self._library.installed.environments
        if environments is None:
            return FetchedEnvironment()
        wanted, guessed = self._choose_packages(imports)
        if not environments.guesses:
            wanted = {name: each for name, each in wanted.items() if name not in guessed}
        for name in list(wanted)[MOST_FETCHED:]:
            self.notices[name] = (
                f"{name} is not judged: {MOST_FETCHED} packages are fetched for one call; send the"
                " code in parts"
            )
        wanted = dict(islice(wanted.items(), MOST_FETCHED))
        locked = {name: version for name, version in self._wanted.items() if version}
        found = environments.open(self._language, wanted, locked)
        for name, version in found.versions.items():
            if name in guessed and found.scan is not None:
                self.guessed[name] = version
            self._wanted[self._key(name)] = version
        return found

    def _choose_packages(self, imports: Sequence[str]) -> tuple[dict[str, Wanted], set[str]]:
        """Return what imports lead to, and of which of these nobody says a version."""
        wanted: dict[str, Wanted] = {}
        guessed: set[str] = set()
        for imported in imports:
            if self.is_standard(imported):
                continue
            names = self._named(imported)
            for name in names:
                version = self._wanted[self._key(name)]
                # A lock file may have several versions of one, of which none is the one.
                if version or self._key(name) in self._given:
                    wanted[name] = Wanted(self._aliases.get(name, name), version)
            for name in () if names else self._checking.packages(imported)[:1]:
                if name not in wanted:
                    wanted[name] = Wanted(name)
                    guessed.add(name)
        for name, version in self._given.items():
            if name != self._language.name:
                wanted.setdefault(name, Wanted(name, version))
        return wanted, guessed

    def _named(self, imported: str) -> list[str]:
        """Return the packages of which a version is said, that an import may lead to."""
        likely = [*self._checking.packages(imported)]
        exact = [
            each for each in likely if self._key(each) in self._wanted or each in self._aliases
        ]
        for each in exact:
            if each in self._aliases:
                self._wanted.setdefault(each, self._wanted.get(self._key(self._aliases[each]), ""))
        if exact or self._language.spelling.scoped:
            return exact[:_MOST_TRIED]
        parts = {each.lower().strip("_") for each in imported.split(".")[:2]}
        near = [each for each in self._wanted if any(part and part in each for part in parts)]
        return sorted(near, key=len)[:_MOST_TRIED]

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
        return self._providing(imported) or name

    def _providing(self, imported: str) -> str:
        """Return the wanted package of another name that has an import name; empty if none.

        Its name has that of the import in it, or is known; what it has is seen when it is stowed.
        """
        first = imported.partition(self._language.spelling.import_separator)[0]
        for name in self._named(first):
            if name not in self._found:
                self._found[name] = self._find(name)
            self._by_import = None
            if self._imports.get(first) == name:
                return name
        return ""

    @property
    def _imports(self) -> Mapping[str, str]:
        """The wanted packages that are stowed, by what is imported of them.

        What an installed package is imported as is known of the project: the catalogue is not read.
        """
        if self._by_import is None:
            ecosystem = self._language.spelling.ecosystem
            here = self._scan.packages if self._scan is not None else ()
            installed = (e.name for e in here if e.installed and e.ecosystem == ecosystem)
            known = set(map(self._key, installed)) - self._given.keys()
            packages = self._library.installed
            self._by_import = packages.stored_imports(self._language, self._wanted.keys() - known)
        return self._by_import

    def _versions(self, name: str) -> dict[str, Snapshot]:
        heads = self._snapshots.heads(self._language.kind, self._key(name))
        loaded = {each.source.version: self._snapshots.load(each) for each in heads}
        return {version: each for version, each in loaded.items() if each is not None}

    def _find(self, name: str) -> Installed | None:
        """Return a package as it is stowed, where it is not fetched."""
        version, stowed = self._wanted.get(name, ""), self._versions(name)
        if version in stowed:
            return Installed(name, version, self._surface(stowed[version]))
        choose = self._language.versions().choose
        failed = self._environment.problems.get(name, "")
        if failed and version and (best := self._choose(version, stowed)) is not None:
            self.notices[name] = f"{failed.rstrip('.')}; the best stowed version answers"
            return Installed(name, best, self._surface(stowed[best]))
        if name in self.notices or not (name in self._wanted or self._is_imported(name)):
            # A checker asks, too, for what declares a language's own types.
            return None
        if self._environment.pending and name in self._environment.versions:
            self.notices[name] = f"{name} {version} is being fetched; ask again in a few seconds"
            return None
        advice = f"stow it where it is installed: docstow ingest project DIR --package {name}"
        if self._has_registry and name not in self._wanted:
            advice = f'give versions {{"{name}": "latest"}}, or the one that is used'
        nearest = self._choose(".".join(version.split(".")[:2]), stowed) or choose("", stowed)
        near = f" (nearest stowed version: {nearest})" if nearest else ""
        if failed and self._has_registry:
            said = f"{name} {version}".strip()
            self.notices[name] = f"{said} is not judged: {failed.rstrip('.')}"
        elif version:
            self.notices[name] = f"{name} {version} is not stowed{near}; {advice}"
        elif stowed:
            call = f'give versions {{"{name}": "{nearest}"}}'
            self.notices[name] = f"no version of {name} is said; {call}"
        else:
            self.notices[name] = f"{name} is not stowed; {advice}, or read_package where it is"
        return None

    def _is_imported(self, name: str) -> bool:
        likely = (
            each
            for imported in self._imported
            for each in (*self._checking.packages(imported), _first(imported))
        )
        return any(name in (each, self._key(each)) for each in likely)

    def _choose(self, asked: str, stowed: Mapping[str, Snapshot]) -> str | None:
        try:
            return self._language.versions().choose(asked, stowed)
        except InvalidParameter:
            return None

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


class ProjectFirst:
    """What a project has installed, and what is fetched of the rest.

    Args:
        project: answers for what is installed.
        others: answers for the rest.
        own: import names that are the project's own code.
        replaced: returns whether an import leads to a package of which another version is meant
            than the one that is installed.
    """

    def __init__(
        self,
        project: Resolver,
        others: Resolver,
        own: frozenset[str],
        replaced: Callable[[str], bool],
    ) -> None:
        self._project = project
        self._others = others
        self._own = own
        self._replaced = replaced

    def package_for(self, imported: str) -> Installed | None:
        """Return the package of a dotted name or module specifier."""
        if self._replaced(imported):
            return self._others.package_for(imported)
        found = self._project.package_for(imported)
        if found is not None or self._project.is_standard(imported):
            return found
        return None if _first(imported) in self._own else self._others.package_for(imported)

    def is_standard(self, imported: str) -> bool:
        """Return whether it is a module of the language itself."""
        return self._project.is_standard(imported)


def not_installed(versions: Mapping[str, str], scan: Scan, language: Language) -> dict[str, str]:
    """Return the versions that a caller gave, but for those that the project has installed."""

    def is_there(name: str, version: str) -> bool:
        exact = version.strip().removeprefix("==")
        packages = scan.named(name, language.spelling.ecosystem)
        return any(each.installed and each.version == exact for each in packages)

    return {name: each for name, each in versions.items() if not is_there(name, each)}


def replacing(versions: Mapping[str, str], scan: Scan, language: Language) -> Callable[[str], bool]:
    """Return what tells whether an import leads to a package of which a version is given.

    Args:
        versions: by package.
        scan: what the project has installed.
        language: of the code.
    """
    key = language.spelling.package_key
    given = {key(name) for name in versions}

    def is_replaced(imported: str) -> bool:
        package = scan.importing(imported, language.name)
        return package is not None and key(package.name) in given

    return is_replaced


def foreign_imports(
    imports: Sequence[str],
    scan: Scan,
    language: Language,
    own: frozenset[str],
    replaced: Callable[[str], bool],
) -> list[str]:
    """Return imports that lead neither to what is installed and meant nor to the project's code."""
    found = []
    for each in imports:
        package = scan.importing(each, language.name)
        installed = package is not None and package.installed and not replaced(each)
        if not installed and (replaced(each) or _first(each) not in own):
            found.append(each)
    return found


def own_names(scan: Scan) -> frozenset[str]:
    """Return the names of a project's folders and files, without suffix: its code imports these."""
    found: set[str] = set()
    waiting = [(str(scan.boundary.root), 0)]
    for _ in range(_MOST_FOLDERS):
        if not waiting:
            break
        folder, depth = waiting.pop(0)
        try:
            with os.scandir(folder) as listed:
                entries = [e for e in listed if not e.name.startswith(".")]
        except OSError:
            continue
        names = {each.name for each in entries}
        if "pyvenv.cfg" in names:
            continue
        found |= {each.partition(".")[0] for each in names}
        waiting += [
            (each.path, depth + 1)
            for each in entries
            if depth < _DEEPEST and each.is_dir(follow_symlinks=False) and each.name != _INSTALLED
        ]
    return frozenset(found)


def _first(imported: str) -> str:
    return imported.partition("/")[0].partition(".")[0]


def _locked(scan: Scan, language: Language) -> dict[str, str]:
    """Return the versions of the packages that a project has installed or locks."""
    return {
        each.name: each.version
        for each in scan.packages
        if each.ecosystem == language.spelling.ecosystem and each.version
    }
