"""Wheels, source distributions and npm's tarballs, unpacked into a folder of their own.

Nothing of an archive is trusted: links and devices are not made, names that lead elsewhere refuse
the whole archive, sizes and counts are bounded by what is really read, and what one system would
take for another file is left out on all of them, so that a package is the same everywhere.
"""

from __future__ import annotations

import contextlib
import re
import shutil
import stat
import tempfile
import unicodedata
import zipfile
import zlib
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import IO, cast

from docstow.core.errors import StoreError, TooLarge, UnreadableInput
from docstow.sources import tarball
from docstow.sources.tarball import Caps

_MIB = 1024 * 1024
_ZIP, _GZIP = b"PK", b"\x1f\x8b"
_STEP = 64 * 1024
#: The longest path in an archive, in characters, and the most folders above a file.
_LONGEST, _DEEPEST = 1024, 32
#: Bytes of a central directory, which the library reads at once and keeps tenfold.
_LARGEST_DIRECTORY = 16 * _MIB
_ENCRYPTED = 0x1
_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
#: Names of devices in any folder of Windows: https://learn.microsoft.com/windows/win32/fileio/naming-a-file
_DEVICE = re.compile(
    r"(?:con|prn|aux|nul|conin\$|conout\$|com[0-9¹²³]|lpt[0-9¹²³])(?:\.|$)", re.IGNORECASE
)
_UNUSABLE = re.compile(r'[\x00-\x1f\x7f<>:"|?*]|[. ]$')
_DRIVE = re.compile(r"[A-Za-z]:")
_NO_CAPS = Caps()


@contextlib.contextmanager
def made_whole(folder: Path) -> Iterator[Path]:
    """Give an empty folder to fill, which gets its name when that has succeeded.

    Args:
        folder: there must be nothing of that name; its parent exists.

    Raises:
        StoreError: it cannot be made.
    """
    with write_errors():
        made = Path(tempfile.mkdtemp(prefix=".unpacking-", dir=folder.parent))
    try:
        yield made
        with write_errors():
            made.rename(folder)
    finally:
        shutil.rmtree(made, ignore_errors=True)


class Unpacker:
    """Unpacks archives into one folder; the limits hold for all of them together.

    What an earlier archive has written stays: a later one cannot replace it.

    Args:
        folder: where to; nobody else writes there.
        caps: limits.
    """

    def __init__(self, folder: Path, caps: Caps = _NO_CAPS) -> None:
        self._folder = folder
        self._caps = caps
        self._entries = 0
        self._size = 0
        #: By its folded path what is written there: the path, and the number of its archive.
        self._files: dict[str, tuple[str, int]] = {}
        #: The spelling of each folder, by its folded path.
        self._folders: dict[str, str] = {}
        self._archives = 0

    def add(
        self,
        archive: Path,
        name: str,
        place: Callable[[str], str] = lambda path: path,
        *,
        content: Callable[[str], bool] = lambda _: True,
    ) -> Counter[str]:
        """Unpack an archive.

        Args:
            archive: a zip or gzipped tar, told by its first bytes.
            name: names it in messages.
            place: returns where below the folder a file is written; empty for a file that is not
                wanted. It is given the path in the archive, of a tarball without the single folder
                at its top.
            content: whether a file's bytes are wanted; otherwise it is empty.

        Returns:
            How many files that were wanted are left out, by reason.

        Raises:
            UnreadableInput: it is damaged, no archive, or has names that lead out of it.
            TooLarge: it exceeds a limit.
            StoreError: what is in it cannot be written.
        """
        self._archives += 1
        left_out: Counter[str] = Counter()
        with write_errors(), archive.open("rb") as stream:
            head = stream.read(2)
            stream.seek(0)
            if head == _ZIP:
                entries = self._zipped(stream, name)
            elif head == _GZIP:
                entries = self._tarred(stream, name)
            else:
                raise UnreadableInput(f"{name} is neither a zip archive nor a .tar.gz.")
            for path, refused, read in entries:
                self._count(name)
                wanted = place(path)
                if not wanted:
                    continue
                reason = refused or _unusable(wanted) or self._claim(wanted)
                if reason:
                    left_out[reason] += 1
                    continue
                self._write(wanted, read() if content(path) else iter(()), name)
        return left_out

    def _zipped(
        self, stream: IO[bytes], name: str
    ) -> Iterator[tuple[str, str, Callable[[], Iterator[bytes]]]]:
        """Yield the path of each file, why it is left out if so, and what reads it."""
        with zip_errors(name):
            archive = zipfile.ZipFile(cast("IO[bytes]", BoundedReads(stream, name)))
        with archive:
            # The last of a name is what installers take.
            last = files(archive)
            for path, entry in last.items():
                safe = _checked(path, name)
                yield safe, refusal(entry), partial(self._pieces, archive, entry, name)

    def _pieces(
        self, archive: zipfile.ZipFile, entry: zipfile.ZipInfo, name: str
    ) -> Iterator[bytes]:
        taken = 0
        with zip_errors(name), archive.open(entry) as stream:
            while piece := stream.read(_STEP):
                taken += len(piece)
                if taken > max(self._caps.free, self._caps.ratio * entry.compress_size):
                    raise TooLarge(
                        f"{name} expands more than {self._caps.ratio} times; it was not read"
                        " further.",
                        limit=self._caps.ratio,
                    )
                yield piece

    def _tarred(
        self, stream: IO[bytes], name: str
    ) -> Iterator[tuple[str, str, Callable[[], Iterator[bytes]]]]:
        for entry in tarball.entries(stream, name=name, caps=self._caps, tidy=True):
            if entry.refusal == tarball.UNSAFE:
                raise _unsafe(entry.path, name)
            path = entry.path if entry.refusal else _checked(entry.path, name)
            yield path, entry.refusal, entry.pieces

    def _count(self, name: str) -> None:
        self._entries += 1
        if self._entries > self._caps.entries:
            raise TooLarge(
                f"{name} has more than {self._caps.entries} files, the most that are unpacked.",
                limit=self._caps.entries,
            )

    def _claim(self, path: str) -> str:
        """Note that a path is taken; return the reason where it cannot be."""
        folder, _, _ = path.rpartition("/")
        folded = _folded(path)
        written = self._files.get(folded)
        if folded in self._folders or (written and written != (path, self._archives)):
            return "another file has its name"
        above = []
        while folder:
            key = _folded(folder)
            if key in self._files or self._folders.get(key, folder) != folder:
                return "another file has its name"
            above.append((key, folder))
            folder, _, _ = folder.rpartition("/")
        self._folders.update(above)
        self._files[folded] = path, self._archives
        return ""

    def _write(self, path: str, pieces: Iterator[bytes], name: str) -> None:
        file = self._folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        with file.open("wb") as made:
            for piece in pieces:
                self._size += len(piece)
                if self._size > self._caps.plain:
                    raise TooLarge(
                        f"{name} is larger than {self._caps.plain // _MIB} MiB unpacked, the most"
                        " that is read.",
                        limit=self._caps.plain,
                    )
                made.write(piece)


class BoundedReads:
    """A file of which no more is read at once than a central directory may have."""

    def __init__(self, stream: IO[bytes], name: str) -> None:
        self._stream = stream
        self._name = name

    def read(self, size: int = -1) -> bytes:
        """Read a bounded number of bytes."""
        if size > _LARGEST_DIRECTORY:
            raise TooLarge(
                f"{self._name} has a list of files of more than {_LARGEST_DIRECTORY // _MIB} MiB.",
                limit=_LARGEST_DIRECTORY,
            )
        return self._stream.read(size if size >= 0 else _LARGEST_DIRECTORY)

    def seek(self, offset: int, whence: int = 0) -> int:
        """Go to a place, which a damaged archive may have wrong."""
        try:
            return self._stream.seek(offset, whence)
        except (OSError, OverflowError):
            raise zipfile.BadZipFile("a place in it that no file has") from None

    def tell(self) -> int:
        """Return the place."""
        return self._stream.tell()

    def seekable(self) -> bool:
        """Return that places can be gone to."""
        return True

    def close(self) -> None:
        """Close the file."""
        self._stream.close()


def files(archive: zipfile.ZipFile) -> dict[str, zipfile.ZipInfo]:
    """Return the files of a zip by name; what has no name at all is none."""
    named = (each for each in archive.infolist() if each.filename)
    return {each.filename: each for each in named if not each.is_dir()}


def refusal(entry: zipfile.ZipInfo) -> str:
    """Return why a file of a zip is not read; empty if it is."""
    mode = entry.external_attr >> 16
    if stat.S_ISLNK(mode):
        return "link"
    if stat.S_IFMT(mode) not in (0, stat.S_IFREG):
        return "not a regular file"
    if entry.flag_bits & _ENCRYPTED:
        return "encrypted"
    return "" if entry.compress_type in _METHODS else "packed by a method that is not read"


def _checked(path: str, name: str) -> str:
    """Return a path in its plain form.

    Raises:
        UnreadableInput: it leads out of the archive.
        TooLarge: it is longer or deeper than any package needs.
    """
    parts = path.split("/")
    if (
        path.startswith(("/", "~"))
        or "\\" in path
        or _DRIVE.match(path)
        or ".." in (part.strip() for part in parts)
    ):
        raise _unsafe(path, name)
    if len(path) > _LONGEST or len(parts) > _DEEPEST:
        raise TooLarge(
            f"{name} has a path of more than {_LONGEST} characters or {_DEEPEST} folders.",
            limit=_LONGEST,
        )
    return tarball.tidied(path)


def _unsafe(path: str, name: str) -> UnreadableInput:
    shown = repr(path[:120])
    return UnreadableInput(
        f"{name} has a file whose name leads out of it ({shown}), which no honest archive has;"
        " nothing of it was kept."
    )


def _unusable(path: str) -> str:
    """Return why a path cannot be written on every system; empty if it can."""
    parts = path.split("/")
    if any(_DEVICE.match(part) for part in parts):
        return "name of a device"
    if any(_UNUSABLE.search(part) or len(part.encode()) > 255 for part in parts):
        return "name that not every system has"
    return ""


def _folded(path: str) -> str:
    """Return what is equal for paths that some system takes for the same."""
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", path).casefold())


@contextlib.contextmanager
def zip_errors(name: str) -> Iterator[None]:
    """Tell of a damaged zip as :class:`UnreadableInput`."""
    try:
        yield
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, ValueError) as error:
        if isinstance(error, (TooLarge, UnreadableInput)):
            raise
        raise UnreadableInput(f"{name} is a damaged archive ({error}).") from error


@contextlib.contextmanager
def write_errors() -> Iterator[None]:
    """Tell of a disk that cannot be written as :class:`StoreError`."""
    try:
        yield
    except OSError as error:
        raise StoreError(
            f"What is unpacked cannot be written: {error.strerror or error}. Free some space on"
            " the disk of temporary files."
        ) from error
