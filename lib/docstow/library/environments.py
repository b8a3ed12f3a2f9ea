"""Environments of packages that no project has installed, for code that is checked against them."""

from __future__ import annotations

import json
import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures import TimeoutError as NotYet
from contextvars import copy_context
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from docstow.core import auth
from docstow.core.errors import ConfigurationError, DocstowError
from docstow.core.model import Revision
from docstow.core.threads import in_parallel, waiting
from docstow.sources.packages.environments import PackageFiles, digest_of

if TYPE_CHECKING:
    from docstow.languages.shared.language import Language
    from docstow.languages.shared.project import Scan
    from docstow.sources.packages import PackageRegistry
    from docstow.sources.packages.environments import Assembly, MadeEnvironment

#: Scans that are remembered, and environments that are made at the same time.
_MOST_SCANS, _WORKERS = 4, 2


@dataclass(frozen=True, slots=True)
class Wanted:
    """A package that code uses.

    Attributes:
        name: as its registry spells it.
        requirement: in the language's terms; empty for the newest.
    """

    name: str
    requirement: str = ""


@dataclass(frozen=True, slots=True)
class FetchedEnvironment:
    """Packages of a registry that lie together.

    Attributes:
        scan: of the environment; None where there is none.
        versions: of the packages in it that were wanted, by how they are imported or installed.
        problems: by the same what could not be had, and why.
        missing: what else could not be had, in sentences for people.
        pending: it is being made, and a later call has it.
    """

    scan: Scan | None = None
    versions: Mapping[str, str] = field(default_factory=dict)
    problems: Mapping[str, str] = field(default_factory=dict)
    missing: tuple[str, ...] = ()
    pending: bool = False


class PackageEnvironments:
    """Makes environments of packages of registries. Safe to share between threads.

    Args:
        files: the local packages and environments.
        open_registry: returns the registry of a kind of packages; None where there is none.
        wait_s: how long a caller waits for one to be made, in seconds.
        guesses: whether a registry may be asked for packages that nobody names a version of.
    """

    def __init__(
        self,
        files: PackageFiles,
        open_registry: Callable[[str], PackageRegistry | None],
        *,
        wait_s: float,
        guesses: bool = True,
    ) -> None:
        self._files = files
        self._open_registry = open_registry
        self._wait_s = wait_s
        self.guesses = guesses
        self._lock = threading.Lock()
        self._pool: ThreadPoolExecutor | None = None
        self._making: dict[str, Future[MadeEnvironment]] = {}
        self._scans: OrderedDict[str, Scan] = OrderedDict()

    def close(self) -> None:
        """Begin nothing any more, and wait for what is under way."""
        if self._pool is not None:
            self._pool.shutdown(wait=True, cancel_futures=True)

    def open(
        self, language: Language, wanted: Mapping[str, Wanted], locked: Mapping[str, str]
    ) -> FetchedEnvironment:
        """Return an environment of some packages, fetched and linked now if need be.

        Nothing of them is installed or run.

        Args:
            language: of the packages.
            wanted: packages, by how they are imported or installed.
            locked: versions that packages which these need must have, by their keys.
        """
        unseen = {
            imported: told
            for imported, each in wanted.items()
            if (told := auth.unseen(language.kind, each.name))
        }
        seen = {imported: each for imported, each in wanted.items() if imported not in unseen}
        found = self._open(language, seen, locked)
        return replace(found, problems={**found.problems, **unseen}) if unseen else found

    def _open(
        self, language: Language, wanted: Mapping[str, Wanted], locked: Mapping[str, str]
    ) -> FetchedEnvironment:
        """Return an environment of packages that the caller sees."""
        if not wanted:
            return FetchedEnvironment()
        bound = auth.caller().bound
        # What a caller does not see is not in its environments, so they are others.
        pins = json.dumps([sorted(locked.items()), *([] if bound is None else bound.patterns)])
        named = {imported: each.requirement for imported, each in wanted.items()}
        choose = language.versions().choose
        try:
            exact = all(each and choose(each, [each]) == each for each in named.values())
        except DocstowError:
            exact = False
        if exact and (made := self._files.find(_key(language, wanted, named, pins))) is not None:
            # What is here whole is asked of nobody.
            return self._scanned(_key(language, wanted, named, pins), made, named, {})
        try:
            registry, problem = self._open_registry(language.kind), ""
        except ConfigurationError as error:
            registry, problem = None, error.message
        if registry is None:
            problem = problem or f"No registry of {language.name} packages is set."
            return FetchedEnvironment(problems=dict.fromkeys(wanted, problem))
        found: dict[str, Revision] = {}
        problems: dict[str, str] = {}
        resolved = in_parallel(lambda each: _resolve(registry, each), list(wanted.values()))
        for imported, revision in zip(wanted, resolved, strict=True):
            if isinstance(revision, DocstowError):
                problems[imported] = revision.message
            else:
                found[imported] = revision
        versions = {imported: each.version for imported, each in found.items()}
        if not found:
            return FetchedEnvironment(problems=problems)
        key = _key(language, wanted, versions, pins)
        made = self._files.find(key)
        if made is None:
            try:
                auth.require_credential(f"{', '.join(versions)} is not fetched yet")
                made = self._make(key, registry, found, language, locked)
            except DocstowError as error:
                return FetchedEnvironment(problems=dict.fromkeys(wanted, error.message))
        if made is None:
            return FetchedEnvironment(versions=versions, problems=problems, pending=True)
        return self._scanned(key, made, versions, problems)

    def _make(
        self,
        key: str,
        registry: PackageRegistry,
        found: Mapping[str, Revision],
        language: Language,
        locked: Mapping[str, str],
    ) -> MadeEnvironment | None:
        """Have an environment made, and wait a while for it."""
        name_key = language.spelling.package_key

        def fill(assembly: Assembly) -> tuple[str, ...]:
            return registry.assemble(found, assembly, lambda name: locked.get(name_key(name), ""))

        with self._lock:
            if self._pool is None:
                self._pool = ThreadPoolExecutor(_WORKERS, thread_name_prefix="environments")
            future = self._making.get(key)
            if future is None:
                context = copy_context()
                future = self._pool.submit(context.run, self._files.obtain, key, fill)
                self._making[key] = future
                future.add_done_callback(lambda _: self._making.pop(key, None))
        try:
            with waiting():
                return future.result(self._wait_s)
        except NotYet:
            return None

    def _scanned(
        self,
        key: str,
        made: MadeEnvironment,
        versions: Mapping[str, str],
        problems: Mapping[str, str],
    ) -> FetchedEnvironment:
        from docstow.languages.projects.scan import scan
        from docstow.languages.shared.scanning import ScanCache

        with self._lock:
            known = self._scans.pop(key, None)
        if known is None or known.boundary.root != made.root.resolve():
            try:
                memory = ScanCache.load(made.notes, made.root)
                known = scan(made.root, memory, {}, made.notes)
            except DocstowError as error:
                return FetchedEnvironment(problems=dict.fromkeys(versions, error.message))
        with self._lock:
            self._scans[key] = known
            while len(self._scans) > _MOST_SCANS:
                self._scans.popitem(last=False)
        return FetchedEnvironment(known, versions, problems, made.missing)


def _key(
    language: Language, wanted: Mapping[str, Wanted], versions: Mapping[str, str], pins: str
) -> str:
    each = (f"{n} {wanted[n].name} {v}" for n, v in sorted(versions.items()))
    return digest_of(language.kind, *each, pins)


def _resolve(registry: PackageRegistry, wanted: Wanted) -> Revision | DocstowError:
    try:
        return registry.resolve(wanted.name, wanted.requirement)
    except DocstowError as error:
        return error
