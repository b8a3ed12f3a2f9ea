"""The documentation files below a directory of the machine that this runs on.

This room knows the file system. It does not know what is inside the files, nor whether its caller
may read here: it is told. Nothing outside the directory is read, whatever links say and whoever
swaps files meanwhile: a file is opened first, and then asked where it is.
"""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Iterator, Mapping
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import unquote, urlsplit

from docstow.core.errors import Forbidden, InvalidParameter, SourceNotFound
from docstow.core.model import File, Known, Registration
from docstow.sources import globs as selection
from docstow.sources.protocol import Event, Failed, Found, Same, Skipped

SUFFIXES = selection.TEXT_SUFFIXES | {".html", ".htm", ".pdf"}
_MOST_ENTRIES = 500_000
_DEEPEST = 64
#: Opening must neither wait for a pipe's other end nor, where the system knows how, follow a link.
_OPEN = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
_OPEN |= getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)


def options(raw: Mapping[str, Any]) -> dict[str, Any]:
    """Check the options of a folder; see :class:`docstow.sources.globs.Selection`.

    Raises:
        InvalidParameter: an option is unknown, of the wrong type or out of range.
    """
    return selection.options(raw)


def canonical(uri: str) -> str:
    """The absolute path without links that a path or ``file://`` address stands for.

    Raises:
        InvalidParameter: it is no absolute path of this machine, nor one below the home folder.
    """
    text = uri.strip()
    if text.lower().startswith("file:"):
        parts = urlsplit(text)
        if parts.netloc not in {"", "localhost"}:
            raise InvalidParameter("uri", f"{parts.netloc} is another machine; name a local path")
        text = unquote(parts.path)
    if not text or "\0" in text:
        raise InvalidParameter("uri", "must be the path of a directory")
    try:
        path = Path(text).expanduser()
        if not path.is_absolute():
            raise InvalidParameter("uri", f"must be an absolute path, not {text!r}")
        return str(path.resolve())
    except (OSError, RuntimeError) as error:
        raise InvalidParameter("uri", f"{text!r} cannot be resolved ({error})") from error


def check(root: Path, *, allowed: bool) -> None:
    """Refuse a directory that cannot be read.

    Raises:
        Forbidden: this process does not read directories.
        SourceNotFound: there is no such directory.
    """
    if not allowed:
        raise Forbidden(
            "This server does not read folders of the machine it runs on. Run `docstow ingest"
            " folder DIR` or `docstow serve` on your own machine, or push the texts into a"
            " collection."
        )
    if not root.is_dir():
        raise SourceNotFound(f"{root} is not a directory on this machine; check the path.")


class FolderOrigin:
    """One directory, for one sync.

    Args:
        registration: its URI is the directory's absolute path.
        allowed: whether this process may read its user's files: only where it runs for one
            person on that person's machine.
    """

    def __init__(self, registration: Registration, *, allowed: bool) -> None:
        self._root = Path(registration.uri)
        self._selection = selection.Selection.of(registration.options)
        self._allowed = allowed

    def resolve(self) -> str:
        """Empty: a directory has no version.

        Raises:
            Forbidden: this process does not read directories.
            SourceNotFound: there is no such directory.
        """
        check(self._root, allowed=self._allowed)
        return ""

    def files(self, known: Mapping[str, Known]) -> Iterator[Event]:
        """The wanted files, a directory's own before those below; validators are digests of bytes.

        Times and sizes are not taken for proof that a file is the same: a checkout or an unpacked
        archive sets them as it likes, and reading a folder is cheap beside embedding it.

        Raises:
            Forbidden, SourceNotFound: as :meth:`resolve`.
        """
        self.resolve()
        budget = selection.Budget(self._selection)
        for path in self._walk():
            if isinstance(path, Failed):
                yield path
            elif self._selection.takes(path, SUFFIXES):
                yield self._event(path, budget, known)

    def _walk(self) -> Iterator[str | Failed]:
        """Relative paths of everything that may be a file.

        Directories are walked by their own names alone; one behind a link that leads to another
        part of the folder is walked there.
        """
        left = _MOST_ENTRIES
        waiting = [PurePosixPath()]
        while waiting:
            place = waiting.pop()
            try:
                with os.scandir(self._root / place) as found:
                    listed = sorted(found, key=lambda entry: entry.name, reverse=True)
            except OSError as error:
                yield _failed(str(place), error)
                continue
            left -= len(listed)
            if left < 0:
                yield Failed(
                    str(place),
                    "too_large",
                    f"The folder has more than {_MOST_ENTRIES} entries; name a part of it.",
                )
                return
            directories = []
            for entry in reversed(listed):
                path = place / entry.name
                if not entry.is_dir(follow_symlinks=False):
                    yield str(path)
                elif not _ignored(entry.name) and len(path.parts) < _DEEPEST:
                    directories.append(path)
            waiting.extend(reversed(directories))

    def _event(self, path: str, budget: selection.Budget, known: Mapping[str, Known]) -> Event:
        try:
            path.encode()
        except UnicodeEncodeError:
            return Skipped(path.encode("utf-8", "backslashreplace").decode(), "name is not UTF-8")
        try:
            body = self._read(path, budget)
        except OSError as error:
            return _failed(path, error)
        if isinstance(body, Skipped):
            return body
        validator = hashlib.sha256(body).hexdigest()
        if path in known and known[path].validator == validator:
            return Same(path)
        if selection.binary(path, body):
            return Skipped(path, "not text")
        url = (self._root / path).as_uri()
        return Found(File(path, url, selection.media_type(path), body), validator)

    def _read(self, path: str, budget: selection.Budget) -> bytes | Skipped:
        """The bytes of a file inside the folder, or why it is left out."""
        here = self._root / path
        real = Path(os.path.realpath(here, strict=True))
        if not real.is_relative_to(os.path.realpath(self._root)):
            return Skipped(path, "link out of the folder")
        # A link inside has been resolved above; whatever has become one since is not followed.
        descriptor = os.open(real, _OPEN)
        with os.fdopen(descriptor, "rb") as file:
            status = os.fstat(descriptor)
            if not stat.S_ISREG(status.st_mode):
                return Skipped(path, "not a regular file")
            again = Path(os.path.realpath(here, strict=True))
            if again != real or not os.path.samestat(status, real.stat()):
                return Skipped(path, "changed while it was read")
            if reason := budget.refusal(path, status.st_size):
                return Skipped(path, reason)
            body = file.read(self._selection.largest(path) + 1)
        if len(body) > self._selection.largest(path):
            return Skipped(path, "too large")
        return body


def _ignored(name: str) -> bool:
    return name.startswith(".") or name in selection.IGNORED_DIRECTORIES


def _failed(path: str, error: OSError) -> Failed:
    shown = path.encode("utf-8", "backslashreplace").decode()
    return Failed(shown, "unreadable_input", f"{shown} cannot be read: {error.strerror or error}.")
