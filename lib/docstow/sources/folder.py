"""The kind of folders: the documentation files below a directory of this machine.

Nothing outside the directory is read, wherever links lead and whoever swaps files meanwhile: a
file is opened first, and its real path is checked afterwards.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import stat
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from urllib.parse import unquote, urlsplit

from docstow.core.errors import InvalidParameter, SourceNotFound
from docstow.core.model import File, Known, Registration, Revision
from docstow.formats import openapi
from docstow.sources import (
    Command,
    Event,
    Failed,
    Found,
    Origin,
    Same,
    Skipped,
    SourceKind,
    Upstreams,
    globs,
)

SUFFIXES = globs.TEXT_SUFFIXES | {".html", ".htm", ".pdf"}
#: Stands between the digest of a validator and the state of the file.
_STAMP = " at "
#: A file that changed less than so many seconds before it was read may do so unseen again.
_SETTLED_S = 2.0
_MOST_ENTRIES = 500_000
_DEEPEST = 64
#: Opening must neither wait for the other end of a pipe nor, where supported, follow a link.
_OPEN = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
_OPEN |= getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)


def canonical(uri: str) -> str:
    """Return the absolute path without links of a path or ``file://`` URL.

    Raises:
        InvalidParameter: it is not an absolute path of this machine, nor one below the home folder.
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


def check(root: str) -> None:
    """Refuse a directory that does not exist.

    Raises:
        SourceNotFound: there is no such directory.
    """
    if not Path(root).is_dir():
        raise SourceNotFound(f"{root} is not a directory on this machine; check the path.")


class FolderOrigin:
    """One directory, for one sync.

    Args:
        registration: its URI is the directory's absolute path.
    """

    def __init__(self, registration: Registration) -> None:
        self._registration = registration
        self._root = Path(registration.uri)
        self._selection = globs.Selection.from_options(registration.options)
        self._real = Path()

    def resolve(self) -> Revision:
        """Return the revision without a version: a directory has none.

        Raises:
            SourceNotFound: there is no such directory.
        """
        check(str(self._root))
        return self._registration.revision()

    def files(self, known: Mapping[str, Known]) -> Iterator[Event]:
        """Yield the wanted files, those of a directory before those of its subdirectories.

        Validators are digests of the bytes, with what the system says of the file where that
        proves that it is unchanged; such a file is not read again.

        Raises:
            SourceNotFound: as :meth:`resolve`.
        """
        self.resolve()
        self._real = Path(os.path.realpath(self._root))
        budget = globs.Budget(self._selection)
        for path in self._walk():
            if isinstance(path, Failed):
                yield path
            elif self._selection.includes(path, SUFFIXES):
                event = self._event(path, budget, known)
                yield from () if event is None else (event,)

    def _walk(self) -> Iterator[str | Failed]:
        """Yield the relative paths of everything that may be a file.

        Links to directories are not followed: a target inside the folder is walked in its place.
        """
        left = _MOST_ENTRIES
        waiting = [""]  # with a slash behind each but the root
        while waiting:
            place = waiting.pop()
            try:
                with os.scandir(self._root / place) as found:
                    listed = sorted(found, key=lambda entry: entry.name, reverse=True)
            except OSError as error:
                yield _failed(place.rstrip("/") or ".", error)
                continue
            left -= len(listed)
            if left < 0:
                yield Failed(
                    place.rstrip("/") or ".",
                    "too_large",
                    f"The folder has more than {_MOST_ENTRIES} entries; name a part of it.",
                )
                return
            directories = []
            for entry in reversed(listed):
                if not entry.is_dir(follow_symlinks=False):
                    yield place + entry.name
                elif not _ignored(entry.name) and place.count("/") + 1 < _DEEPEST:
                    directories.append(f"{place}{entry.name}/")
            waiting.extend(reversed(directories))

    def _event(self, path: str, budget: globs.Budget, known: Mapping[str, Known]) -> Event | None:
        """Return the event of a file; None where it might describe an API and does not."""
        api = self._selection.may_describe(path)
        try:
            path.encode()
        except UnicodeEncodeError:
            return Skipped(path.encode("utf-8", "backslashreplace").decode(), "name is not UTF-8")
        former = known[path].validator if path in known else ""
        if _STAMP in former and (size := self._unchanged(path, former)) is not None:
            reason = budget.take(path, size)
            return Skipped(path, reason) if reason else Same(path)
        try:
            # What is no documentation costs nothing.
            body, stamp = self._read(path, globs.Budget(self._selection) if api else budget)
        except OSError as error:
            return _failed(path, error)
        if isinstance(body, Skipped):
            return body
        if api and not openapi.is_description(body):
            return None
        if api and (reason := budget.take(path, len(body))):
            return Skipped(path, reason)
        digest = hashlib.sha256(body).hexdigest()
        if former.partition(_STAMP)[0] == digest:
            return Same(path)
        if globs.is_binary(path, body):
            return Skipped(path, "not text")
        url = (self._root / path).as_uri()
        media_type = openapi.MEDIA_TYPE if api else globs.media_type(path)
        return Found(File(path, url, media_type, body), digest + stamp)

    def _unchanged(self, path: str, validator: str) -> int | None:
        """Return the size of a file that is as the last sync saw it; None if it may differ."""
        try:
            status = os.lstat(os.path.join(self._root, path))  # noqa: PTH118 - of each file
        except OSError:
            return None
        return status.st_size if validator.endswith(_stamp(status)) else None

    def _read(self, path: str, budget: globs.Budget) -> tuple[bytes | Skipped, str]:
        """Return the bytes of a file inside the folder, or why it is left out, and its stamp."""
        here = self._root / path
        real = Path(os.path.realpath(here, strict=True))
        if not real.is_relative_to(self._real):
            return Skipped(path, "link out of the folder"), ""
        # A link has been resolved above; a path that has become one since is not followed.
        descriptor = os.open(real, _OPEN)
        with os.fdopen(descriptor, "rb") as file:
            status = os.fstat(descriptor)
            if not stat.S_ISREG(status.st_mode):
                return Skipped(path, "not a regular file"), ""
            again = Path(os.path.realpath(here, strict=True))
            if again != real or not os.path.samestat(status, real.stat()):
                return Skipped(path, "changed while it was read"), ""
            if reason := budget.take(path, status.st_size):
                return Skipped(path, reason), ""
            body = file.read(self._selection.max_size(path) + 1)
        if len(body) > self._selection.max_size(path):
            return Skipped(path, "too large"), ""
        # A link has no stamp: what it leads to may change while it does not.
        return body, _fresh_stamp(status) if here == real else ""


def _stamp(status: os.stat_result) -> str:
    """Return what tells one state of a regular file from another; never empty.

    Size and modification time do not: a checkout or an unpacked archive sets them at will. But the
    time of the last change of the file's record is the system's alone. Links and the rest have
    a stamp that no validator ends with.
    """
    if not stat.S_ISREG(status.st_mode):
        return _STAMP
    times = f"{status.st_mtime_ns} {status.st_ctime_ns}"
    return f"{_STAMP}{status.st_dev} {status.st_ino} {status.st_size} {times}"


def _fresh_stamp(status: os.stat_result) -> str:
    """Return the stamp of a file that was read; empty where it proves nothing.

    A file may change again within the tick of the clock in which it was read, and on Windows the
    second time is that of its creation.
    """
    newest = max(status.st_mtime, status.st_ctime)
    return "" if os.name == "nt" or time.time() - newest < _SETTLED_S else _stamp(status)


def _ignored(name: str) -> bool:
    return name.startswith(".") or name in globs.IGNORED_DIRECTORIES


def _failed(path: str, error: OSError) -> Failed:
    shown = path.encode("utf-8", "backslashreplace").decode()
    return Failed(shown, "unreadable_input", f"{shown} cannot be read: {error.strerror or error}.")


@contextlib.contextmanager
def _open(registration: Registration, upstreams: Upstreams) -> Iterator[Origin]:
    del upstreams
    yield FolderOrigin(registration)


KIND = SourceKind(
    "folder",
    canonical=canonical,
    options=lambda raw, _: globs.options(raw),
    check=check,
    open=_open,
    refreshable=True,
    local_only=True,
    command=Command(
        "DIR",
        "the documentation files below a folder",
        uri=lambda word: str(Path(word).resolve()),
    ),
)
