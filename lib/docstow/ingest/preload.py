"""Preload: packages that many use are ingested before anybody asks for them."""

from __future__ import annotations

import logging
import re
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from itertools import chain, zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, Any

from docstow.core.errors import ConfigurationError, DocstowError, InternalError, PackageNotFound
from docstow.core.similar import similar_names
from docstow.ingest.jobs import STOW, subject
from docstow.ingest.packages import is_outdated
from docstow.languages import RUST, documented, parse_package
from docstow.store.objects import tolerate_read_only
from docstow.store.usage import PRE_INGESTED, Pins

if TYPE_CHECKING:
    from docstow.ingest.crates import CrateTask
    from docstow.ingest.packages import PackageTask
    from docstow.ingest.queue import Enqueuer
    from docstow.languages import Language
    from docstow.sources.crates import CrateResolver
    from docstow.sources.packages import PackageRegistry
    from docstow.store.snapshots import Snapshots

log = logging.getLogger(__name__)

#: The most used packages of each language, the most wanted first.
POPULAR = Path(__file__).parent / "popular"

#: How long the end of the program waits for crates that are under way, in seconds. What is cut
#: off then leaves nothing half done: publishing swaps one object, as its last step.
GRACE_S = 2.0
#: So many names that come near are told, of which each must be so like.
_NEAR, _LIKE = 3, 0.7


def popular(language: Language) -> list[str]:
    """Return the most used packages of a language, the most wanted first."""
    file = POPULAR / f"{language.name}.txt"
    return read_list(file) if file.is_file() else []


def near_popular(name: str, others: Iterable[str] = ()) -> list[str]:
    """Return the most used packages of all languages that are spelled like a name, nearest first.

    Args:
        name: of which nobody knows a package.
        others: further names that may be meant; of names that are as near they come first.
    """
    used = (each for language in documented() for each in popular(language))
    every = chain(others, used)
    return [near for near, _ in similar_names(name, every, most=_NEAR, least=_LIKE)]


def described(language: Language) -> dict[str, str]:
    """Return what the list of the most used packages says of those that it describes."""
    file = POPULAR / f"{language.name}.txt"
    lines = file.read_text(encoding="utf-8").splitlines() if file.is_file() else []
    parts = (line.partition("#") for line in lines)
    return {name.strip(): text.strip() for name, mark, text in parts if name.strip() and mark}


def select_packages(words: Sequence[str]) -> list[str]:
    """Return the packages that ``--pre-ingest`` names, as :func:`parse_package` reads them.

    Args:
        words: each a number, for so many of the most used crates; a language with a number
            (``python:50``); a package (``npm:react@^19``, ``rust:tokio``); or the path of a list.
            Where there are several, the first of each come before the second.

    Raises:
        ConfigurationError: a file cannot be read, or names nothing.
        InvalidParameter: there is no such language.
    """
    chosen = [_select(each) for word in words for each in word.replace(",", " ").split()]
    rounds = (each for row in zip_longest(*chosen) for each in row if each is not None)
    return list(dict.fromkeys(rounds))


def _select(word: str) -> list[str]:
    if word.isascii() and word.isdigit():
        return popular(RUST)[: int(word)]
    if not re.match(r"[A-Za-z.]{2,}:", word):
        return read_list(Path(word))
    package = parse_package(word, "--pre-ingest")
    if package.language is None or not (package.name.isascii() and package.name.isdigit()):
        return [word]
    prefix = f"{package.language.name}:" if package.language.packaged else ""
    return [f"{prefix}{name}" for name in popular(package.language)[: int(package.name)]]


def read_list(path: Path) -> list[str]:
    """Return the crates and packages of a list: one a line, maybe with ``@`` and a version.

    A ``#`` begins a comment.

    Raises:
        ConfigurationError: it cannot be read, or names nothing.
    """
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except OSError as error:
        raise ConfigurationError(f"{path} cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise ConfigurationError(f"{path} is no text in UTF-8") from error
    words = (line.partition("#")[0].strip() for line in lines)
    names = list(dict.fromkeys(word for word in words if word))
    if not names:
        raise ConfigurationError(f"{path} names no crate; write one a line")
    return names


class PackagePreload:
    """Ingests crates and packages in the background, several at a time.

    It has workers of its own, so that no caller waits in line behind them; they end with the
    program.

    Args:
        names: as :func:`ingest_and_pin` takes them.
        ingest: ingests one of them, unless it is stored already.
        workers: how many are ingested at the same time.

    Attributes:
        threads: the workers.
    """

    def __init__(self, names: Sequence[str], ingest: Callable[[str], object], workers: int) -> None:
        self._ingest = ingest
        self._total = len(names)
        self._waiting = list(reversed(names))
        self._running: list[str] = []
        self._failed: dict[str, str] = {}
        self._done = 0
        self._guard = threading.Lock()
        self._stopped = threading.Event()
        self.threads = [
            threading.Thread(target=self._work, name=f"pre-ingest {number}", daemon=True)
            for number in range(min(workers, len(names)))
        ]

    def start(self) -> None:
        """Begin; returns at once."""
        for thread in self.threads:
            thread.start()

    def stop(self, grace_s: float = GRACE_S) -> None:
        """Begin no other crate, and wait a little for those that are under way."""
        self._stopped.set()
        until = time.monotonic() + grace_s
        for thread in self.threads:
            thread.join(max(until - time.monotonic(), 0))

    def progress(self) -> dict[str, Any]:
        """Return ``total``, ``done``, ``failed`` (crate to error code) and ``running``."""
        with self._guard:
            return {
                "total": self._total,
                "done": self._done,
                "failed": dict(self._failed),
                "running": list(self._running),
            }

    def _work(self) -> None:
        while (name := self._next()) is not None:
            failure = self._attempt(name)
            with self._guard:
                self._running.remove(name)
                if failure:
                    self._failed[name] = failure
                else:
                    self._done += 1

    def _next(self) -> str | None:
        with self._guard:
            if self._stopped.is_set() or not self._waiting:
                return None
            name = self._waiting.pop()
            self._running.append(name)
            return name

    def _attempt(self, name: str) -> str:
        """Ingest a crate; return the code of its error, or nothing."""
        try:
            self._ingest(name)
        except DocstowError as error:
            log.warning("%s was not stowed ahead: %s", name, error.message)
            return error.code
        except Exception:
            if not self._stopped.is_set():  # else its connections were closed under it
                log.exception("%s was not stowed ahead", name)
            return InternalError.code
        return ""


def ingest_and_pin(
    word: str,
    *,
    resolver: CrateResolver,
    open_registry: Callable[[str], PackageRegistry | None],
    snapshots: Snapshots,
    pins: Pins,
    crates: CrateTask,
    packages: PackageTask,
    queue: Enqueuer | None = None,
) -> None:
    """Ingest a crate or package unless it is stored, and pin it: eviction takes it last.

    Args:
        word: as :func:`parse_package` reads it.
        resolver: finds the version of a crate that is wanted.
        open_registry: returns the registry of a kind of packages.
        snapshots: the published snapshots.
        pins: where it is pinned.
        crates: ingests crates here.
        packages: ingests packages here.
        queue: what it is sent to instead, where one is set.

    Raises:
        DocstowError: as the upstream or the reader says.
    """
    package = parse_package(word)
    name, requirement, language = package.name, package.requirement, package.language or RUST
    if language.packaged:
        registry = open_registry(language.kind)
        if registry is None:
            raise PackageNotFound(f"No registry of {language.name} packages is set.")
        source = registry.resolve(name, requirement).source
        stored = snapshots.answering(source)
        if stored is None or is_outdated(stored):
            if queue is not None:
                queue.start(subject(STOW, source), kind=STOW, source=source)
            else:
                packages.ingest(source.kind, source.name, source.version)
    elif queue is not None:
        revision, snapshot = resolver.resolve(name, requirement)
        source = revision.source
        if snapshot is None:
            queue.start(subject(STOW, source), kind=STOW, source=source)
    else:
        source = crates.ensure(name, requirement).revision.source
    with tolerate_read_only("packages are not pinned"):
        pins.move(source, PRE_INGESTED)
