"""Pre-ingest: crates that many use are stowed before anybody asks for them.

This room knows the list, the workers of its own and how far they are. It does not know how a
crate is stowed.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from docstow.core.errors import ConfigurationError, DocstowError, InternalError
from docstow.ingest.publish import Ingest, read_local

if TYPE_CHECKING:
    from docstow.core.model import File, Snapshot
    from docstow.languages.rust.rustdoc import CrateDocs


# Files of one command


class Together:
    """Rustdoc JSON files, each read once and kept as documents; the JSON itself is let go.

    Args:
        ingest: stows them.
        read: gives a file's content.
        paths: all files of the command.
        version: for files that do not say theirs.
    """

    def __init__(
        self, ingest: Ingest, read: Callable[[Path], File], paths: Sequence[Path], version: str = ""
    ) -> None:
        self._ingest = ingest
        self._read = read
        self._paths = paths
        self._version = version
        self._known: dict[Path, tuple[CrateDocs, str] | DocstowError] = {}

    def stow(self, path: Path) -> Snapshot:
        """Stow one of the files, with the others at hand.

        Raises:
            DocstowError: this file cannot be read; that of another is told in its own turn.
        """
        own = self._docs(path)
        if isinstance(own, DocstowError):
            raise own
        known = [self._docs(other) for other in self._paths if other != path]
        others = [other[0] for other in known if not isinstance(other, DocstowError)]
        return self._ingest.local(*own, others)

    def _docs(self, path: Path) -> tuple[CrateDocs, str] | DocstowError:
        """The documents of a file and its URL, or why there are none."""
        if path not in self._known:
            try:
                file = self._read(path)
                self._known[path] = (read_local(file, version=self._version), file.url)
            except DocstowError as error:
                self._known[path] = error
        return self._known[path]


log = logging.getLogger(__name__)


#: The most used crates, the most wanted first.
POPULAR = Path(__file__).parent / "popular.txt"


#: How long the end of the program waits for crates that are under way, in seconds. What is cut
#: off then leaves nothing half done: publishing swaps one object, as its last step.
GRACE_S = 2.0


def chosen(wanted: str) -> list[str]:
    """The crates that ``--pre-ingest`` names.

    Args:
        wanted: a number: so many of :data:`POPULAR`; else a file of crates.

    Raises:
        ConfigurationError: the file cannot be read, or names nothing.
    """
    if wanted.isascii() and wanted.isdigit():
        return read_list(POPULAR)[: int(wanted)]
    return read_list(Path(wanted))


def read_list(path: Path) -> list[str]:
    """The crates of a file: one a line, maybe with ``@`` and a version; ``#`` begins a comment.

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


class PreIngest:
    """Stows crates one after the other, several at a time, beside everything else.

    The workers are its own, so that nobody's call waits in line behind them, and end with the
    program.

    Args:
        names: crates, maybe with ``@`` and a version.
        stow: stows one of them, unless it is stowed already.
        workers: how many are stowed at the same time.

    Attributes:
        threads: the workers.
    """

    def __init__(self, names: Sequence[str], stow: Callable[[str], object], workers: int) -> None:
        self._stow = stow
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
        """How far it is: ``total``, ``done``, ``failed`` (crate to error code) and ``running``."""
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
        """Stow a crate; the code of the error if it fails, which concerns no other crate."""
        try:
            self._stow(name)
        except DocstowError as error:
            log.warning("%s was not stowed ahead: %s", name, error.message)
            return error.code
        except Exception:
            if not self._stopped.is_set():  # else its connections were closed under it
                log.exception("%s was not stowed ahead", name)
            return InternalError.code
        return ""
