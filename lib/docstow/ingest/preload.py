"""Preload: crates that many use are ingested before anybody asks for them."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from docstow.core.errors import ConfigurationError, DocstowError, InternalError
from docstow.ingest.jobs import STOW, subject
from docstow.ingest.queue import Enqueuer
from docstow.store.objects import tolerate_read_only
from docstow.store.usage import PRE_INGESTED, Pins

if TYPE_CHECKING:
    from docstow.ingest.crates import CrateTask
    from docstow.sources.crates import CrateResolver

log = logging.getLogger(__name__)

#: The most used crates, the most wanted first.
POPULAR = Path(__file__).parent / "popular.txt"

#: How long the end of the program waits for crates that are under way, in seconds. What is cut
#: off then leaves nothing half done: publishing swaps one object, as its last step.
GRACE_S = 2.0


def select_crates(wanted: str) -> list[str]:
    """Return the crates that ``--pre-ingest`` names.

    Args:
        wanted: a number, for so many of :data:`POPULAR`; else the path of a list of crates.

    Raises:
        ConfigurationError: the file cannot be read, or names nothing.
    """
    if wanted.isascii() and wanted.isdigit():
        return read_list(POPULAR)[: int(wanted)]
    return read_list(Path(wanted))


def read_list(path: Path) -> list[str]:
    """Return the crates of a list: one a line, maybe with ``@`` and a version.

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


class CratePreload:
    """Ingests crates in the background, several at a time.

    It has workers of its own, so that no caller waits in line behind them; they end with the
    program.

    Args:
        names: crates, maybe with ``@`` and a version.
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
    crate: str, *, resolver: CrateResolver, pins: Pins, worker: CrateTask | Enqueuer
) -> None:
    """Ingest a crate unless it is stored, and pin it: eviction takes it last.

    Args:
        crate: a name, maybe with ``@`` and a version.
        resolver: finds the version that is wanted.
        pins: where it is pinned.
        worker: ingests it here, or sends it to a queue.

    Raises:
        DocstowError: as the upstream or the reader says.
    """
    name, _, requirement = crate.partition("@")
    if isinstance(worker, Enqueuer):
        revision, snapshot = resolver.resolve(name, requirement)
        source = revision.source
        if snapshot is None:
            worker.start(subject(STOW, source), kind=STOW, source=source)
    else:
        source = worker.ensure(name, requirement).revision.source
    with tolerate_read_only("crates are not pinned"):
        pins.move(source, PRE_INGESTED)
