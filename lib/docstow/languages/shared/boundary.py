"""A directory that nothing leads out of, and how the files in it are opened.

A file is opened first and then asked where it is, so that what is swapped meanwhile is not read
either. A hard link is a file of its own: installers make them from their caches, and they look
alike.
"""

from __future__ import annotations

import contextlib
import os
import re
import stat
import unicodedata
from collections.abc import Collection, Iterable, Iterator, Sequence
from pathlib import Path
from urllib.parse import unquote_to_bytes

from docstow.core.errors import DocumentNotFound, Forbidden, TooLarge, UnreadableInput
from docstow.core.patterns import lazy_pattern

#: Bytes of a file that is read whole.
LARGEST = 8 * 1024 * 1024
_DEEPEST = 32
_MOST_ENTRIES = 200_000
_LONGEST = 4096
_SAMPLE = 8192
#: A file that is replaced so often, each time just when it is opened, is not read.
_TRIES = 50
#: Folders of which is kept where they are.
_MOST_FOLDERS = 4096
#: Where Linux says which files a process has opened.
_OPENED = "/proc/self/fd"
#: Files that are none, wherever a root may be.
_SYSTEM = ("/proc/", "/sys/", "/dev/")
_SCHEME = lazy_pattern(r"[A-Za-z][A-Za-z0-9+.-]*:")
_ENCODED = lazy_pattern(r"%(?:u[0-9A-Fa-f]{4}|[0-9A-Fa-f]{2})")
#: What looks like a slash, a backslash or a dot and is none.
_LOOK_ALIKES = lazy_pattern(
    "[\u2044\u2215\u29f8\u29f5\u29f9\u2216\ufe68\uff0f\uff3c\uff0e\u2024\u2025\u2026]"
)
_CONTROL = lazy_pattern(r"[\x00-\x1f\x7f]")
#: Control characters that no text has; those of terminals and printers are let through.
_BINARY = lazy_pattern(rb"[\x00-\x06\x0e-\x1a\x1c-\x1f]")
_ARCHIVES = (b"\x1f\x8b", b"PK\x03\x04", b"%PDF-", b"BZh", b"\xfd7zXZ", b"\x28\xb5\x2f\xfd")
#: Opening must neither wait for a pipe's other end nor, where the system knows how, follow a link.
_OPEN = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
_OPEN |= getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NOCTTY", 0)


class Boundary:
    """A project's root, and the folders elsewhere that belong to it.

    Args:
        root: the directory.
        allowed: further directories: an environment that the project names, a registry's sources.
    """

    def __init__(self, root: Path, allowed: Sequence[Path] = ()) -> None:
        self.root = Path(os.path.realpath(root))
        roots = (str(self.root), *(os.path.realpath(each) for each in allowed))
        self._within = tuple(map(_folder, roots))
        #: Where folders are whose files were read; that they still are is seen of what is opened.
        self._folders: dict[str, str] = {}

    def inside(self, path: str | Path, base: Path | None = None) -> Path:
        """Resolve a path; the file need not exist.

        Args:
            path: as text, what a caller wrote: relative, and in its plain form alone. As a path,
                what was found on disk.
            base: what a relative path is relative to, inside; the root if left out.

        Raises:
            Forbidden: it leads out, or is written in a form that no file of a package has.
        """
        if isinstance(path, str):
            _check(path)
        try:
            # A package has many files, and Path is slow.
            real = os.path.realpath(os.path.join(base or self.root, path))  # noqa: PTH118
            looped = os.path.islink(real)  # noqa: PTH114
        except (OSError, ValueError) as error:
            raise _outside(path) from error
        place = _folder(real)
        if looped or not place.startswith(self._within) or place.startswith(_SYSTEM):
            raise _outside(path)
        return Path(real)

    def read(
        self, path: str | Path, base: Path | None = None, *, most: int = LARGEST, text: bool = True
    ) -> bytes:
        """Read a regular file.

        Args:
            path: as for :meth:`inside`.
            base: as for :meth:`inside`.
            most: how many bytes it may have.
            text: refuse what is no text, whatever its name says.

        Raises:
            Forbidden: it is outside, or became so while it was opened.
            DocumentNotFound: there is no such file.
            TooLarge: it has more bytes.
            UnreadableInput: it is a folder, a device or no text, or may not be read.
        """
        shown = _shown(path)
        try:
            body = self._body(path, base, most)
        except Forbidden:
            raise
        except FileNotFoundError as error:
            raise DocumentNotFound(f"There is no file {shown}.") from error
        except OSError as error:
            reason = error.strerror or "it cannot be opened"
            raise UnreadableInput(f"{shown} cannot be read: {reason}.") from error
        if len(body) > most:
            raise TooLarge(f"{shown} has more than {most} bytes.", limit=most)
        if text and is_binary(body):
            raise UnreadableInput(f"{shown} is not text; only text files are read.")
        return body

    def _body(self, path: str | Path, base: Path | None, most: int) -> bytes:
        """Read the beginning of a file that is inside, both before and after it is opened.

        Where another was put in its place meanwhile, as installers do, that one is opened.
        """
        for attempt in range(_TRIES):
            real = self._expected(path, base) if not attempt else self.inside(path, base)
            try:
                descriptor = os.open(real, _OPEN)
            except OSError:
                # A link may have been led elsewhere, and what it led to have gone.
                if self.inside(path, base) != real:
                    continue
                raise
            try:
                status = os.fstat(descriptor)
                if not stat.S_ISREG(status.st_mode):
                    raise UnreadableInput(f"{_shown(path)} is a folder or device, not a file.")
                is_same = _opened_at(descriptor) == str(real) or (
                    self.inside(path, base) == real and _is_at(real, status)
                )
                if is_same:
                    with os.fdopen(descriptor, "rb", closefd=False) as file:
                        return file.read(most + 1)
            finally:
                os.close(descriptor)
        raise _outside(path)

    def _expected(self, path: str | Path, base: Path | None) -> Path:
        """Return where a file is, as far as its folder is where it was."""
        if isinstance(path, str) or base is not None or not path.is_absolute():
            return self.inside(path, base)
        folder, name = os.path.split(path)
        known = self._folders.get(folder)
        place = os.path.join(known, name) if known is not None else ""  # noqa: PTH118
        if known is not None and name not in {"", ".", ".."} and not os.path.islink(place):  # noqa: PTH114
            return Path(place)
        real = self.inside(path)
        if real.name == name:
            if len(self._folders) >= _MOST_FOLDERS:
                self._folders.clear()
            self._folders[folder] = str(real.parent)
        return real

    def walk(self, folder: Path, skip: Collection[str] = ()) -> Iterator[Path]:
        """Yield the regular files below a folder, as :meth:`files` gives them."""
        yield from map(Path, self.files(folder, skip))

    def files(self, folder: Path, skip: Collection[str] = ()) -> Iterator[str]:
        """Yield the paths of regular files below a folder, each folder's own before those below it.

        They are sorted. Linked folders are not entered; linked files are listed if they are
        inside. What cannot be listed is passed over. No file is asked for more than its name.

        Args:
            folder: inside.
            skip: names of folders that are not entered.

        Raises:
            Forbidden: the folder is outside.
        """
        left = _MOST_ENTRIES
        waiting = [(str(self.inside(folder)), 0)]
        while waiting and left > 0:
            place, depth = waiting.pop()
            try:
                with os.scandir(place) as found:
                    listed = sorted(found, key=lambda entry: entry.name)
            except OSError:
                continue
            left -= len(listed)
            folders = []
            for entry in listed:
                if entry.is_dir(follow_symlinks=False):
                    if entry.name not in skip and depth < _DEEPEST:
                        folders.append((entry.path, depth + 1))
                elif self._is_file(entry):
                    yield entry.path
            waiting.extend(reversed(folders))

    def _is_file(self, entry: os.DirEntry[str]) -> bool:
        try:
            if not entry.is_symlink():
                return entry.is_file()
            return self.inside(Path(entry.path)).is_file()
        except (OSError, Forbidden):
            return False


def _opened_at(descriptor: int) -> str:
    """Return where the system says that an open file is; empty where it does not say that."""
    try:
        return os.readlink(f"{_OPENED}/{descriptor}")  # noqa: PTH115
    except OSError:
        return ""


def _is_at(real: Path, status: os.stat_result) -> bool:
    try:
        return os.path.samestat(status, real.lstat())
    except FileNotFoundError:
        return False


def _folder(path: str) -> str:
    """Return a real path as the beginning of all that is in it."""
    return os.path.join(os.path.normcase(path), "")  # noqa: PTH118


def is_binary(body: bytes) -> bool:
    """Return whether bytes are no text, judged by what they are and not by a name."""
    sample = body[:_SAMPLE]
    if sample.startswith(_ARCHIVES) or b"\0" in sample:
        return True
    return _BINARY.search(sample) is not None and not _is_utf8(sample)


def _is_utf8(sample: bytes) -> bool:
    try:
        # The sample may end within a character.
        sample[:-3].decode()
    except UnicodeDecodeError:
        return False
    return True


def _check(path: str) -> None:
    """Refuse what means, or is meant to look like, something else than a plain relative path."""
    parts = path.split("/")
    wrong = (
        not path.strip()
        or len(path) > _LONGEST
        or path.startswith(("/", "~"))
        or ".." in (part.strip() for part in parts)
        or "\\" in path
        or _SCHEME.match(path)
        or _CONTROL.search(path)
        or _LOOK_ALIKES.search(path)
        or ".." in (part.strip() for part in unicodedata.normalize("NFKC", path).split("/"))
        or any("\ud800" <= each <= "\udfff" for each in path)
    )
    if wrong:
        raise _outside(path)
    if _ENCODED.search(path):
        _check_decoded(path)


def _check_decoded(path: str) -> None:
    """Refuse encodings, however often repeated, of what is refused when it is written plainly."""
    if re.search("%u[0-9A-Fa-f]{4}", path):
        raise _outside(path)
    try:
        decoded = unquote_to_bytes(path).decode()
    except UnicodeDecodeError as error:
        raise _outside(path) from error
    _check(decoded)
    if decoded.count("/") != path.count("/"):
        raise _outside(path)


def _shown(path: str | Path) -> str:
    """Format a path for a message: the part that a caller wrote, never where the root is."""
    text = path if isinstance(path, str) else path.name
    return repr(text[:200])[1:-1]


def _outside(path: str | Path) -> Forbidden:
    return Forbidden(
        f"{_shown(path)} does not lead to a file inside the project; give a path relative to the"
        " package, as its file tree lists it."
    )


def shown(place: Path, boundary: Boundary) -> str:
    """Return a place relative to the root; absolute where it is elsewhere."""
    try:
        return place.relative_to(boundary.root).as_posix()
    except ValueError:
        return place.as_posix()


def first_folder(places: Iterable[Path]) -> Path | None:
    """Return the first place that is a folder; None where there is none."""
    with contextlib.suppress(OSError):
        return next((each for each in places if each.is_dir()), None)
    return None
