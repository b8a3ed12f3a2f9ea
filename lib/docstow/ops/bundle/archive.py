"""Many files as one: a tar in a zstd frame, and behind it a digest of all that comes before.

Only the very tar is read that would be written here: so there are no links, no paths that climb,
nothing twice and nothing besides.

The digest stands in a frame that zstd skips, so that ``zstd -d`` and ``tar`` open an archive too.
It shows what was damaged in transit. Whoever changes an archive on purpose can write another
digest: against that the list of files, which comes first, holds the digest of every file, and its
own digest can be given in another way.
"""

from __future__ import annotations

import contextlib
import hashlib
import tarfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, cast

import zstandard

from docstow.core.errors import TooLarge, UnreadableInput
from docstow.ops.files import open_whole

_MIB = 1024 * 1024
_STEP = 256 * 1024
#: What the list of files may weigh: 150 bytes a file.
LIST_CAP = 64 * _MIB
#: What one file may weigh: each is held in memory once while it is stored.
FILE_CAP = 512 * _MIB
#: zstd's third level looks back 2 MiB; an archive that asks for more memory is none of ours.
_WINDOW = 8 * _MIB
#: The end: a frame that zstd skips, 32 bytes long, which are a SHA-256.
_MARK = b"\x5d\x2a\x4d\x18\x20\x00\x00\x00"
_END = len(_MARK) + 32


@dataclass(frozen=True, slots=True)
class Member:
    """A file of an archive: its name, its length in bytes and the SHA-256 of its content in hex."""

    name: str
    size: int
    sha256: str


def member(name: str, body: bytes) -> Member:
    """Return the member that a content is."""
    return Member(name, len(body), hashlib.sha256(body).hexdigest())


def write(
    path: Path,
    first: tuple[str, bytes],
    members: Sequence[Member],
    content: Callable[[Member], Iterable[bytes]],
    *,
    force: bool,
) -> None:
    """Write an archive; until it is whole, nothing is to be seen at its place.

    Args:
        path: its place.
        first: name and content of the list of files.
        members: the files in their order.
        content: reads one of them.
        force: replace a file that is there.

    Raises:
        InvalidParameter: there is a file and no force, or the place cannot be written.
        UnreadableInput: a file is not what its member says: it was changed meanwhile.
    """
    with open_whole(path, force=force) as file:
        digested = _DigestedFile(file)
        packer = zstandard.ZstdCompressor(level=3, write_checksum=True)
        with packer.stream_writer(cast("BinaryIO", digested), closefd=False) as packed:
            written = _put(packed, first[0], len(first[1]), [first[1]])
            for each in members:
                written += _put(packed, each.name, each.size, _checked(content(each), each))
            packed.write(_tail(written))
        file.write(_MARK + digested.digest())


def check(path: Path) -> None:
    """Read a file to its end and compare what it is with what it says at its end.

    Raises:
        UnreadableInput: it is no archive, ends early or was changed.
    """
    with _explained(path), path.open("rb") as file:
        rest = _length(file) - _END
        digest = hashlib.sha256()
        for piece in _pieces(_Beginning(file, rest).read, max(rest, 0)):
            digest.update(piece)
        if rest <= 0 or file.read() != _MARK + digest.digest():
            raise UnreadableInput(
                f"{path.name} is no bundle, or is damaged, or ends early: what it holds is not what"
                " its end says. Get it again."
            )


class Reader:
    """An archive that is read from its beginning to its end, each file in its turn.

    Args:
        file: the archive, open at its beginning.
        name: what it is called in messages.
    """

    def __init__(self, file: BinaryIO, name: str) -> None:
        unpacker = zstandard.ZstdDecompressor(max_window_size=_WINDOW)
        source = _Beginning(file, _length(file) - _END)
        self._stream = unpacker.stream_reader(cast("BinaryIO", source), read_across_frames=True)
        self._name = name
        self._taken = 0

    def first(self, name: str) -> bytes:
        """Read the content of the list of files.

        Raises:
            UnreadableInput: the archive does not begin with it.
            TooLarge: it is longer than any list should be.
        """
        header = self._read(tarfile.BLOCKSIZE)
        with contextlib.suppress(ValueError):
            size = int(header[124:135], 8)
            if header == _header(name, size):
                if size > LIST_CAP:
                    raise TooLarge(f"The list of files in {self._name} is too long", limit=LIST_CAP)
                return b"".join(self._content(size))
        raise UnreadableInput(f"{self._name} does not begin with {name}: it is no bundle.")

    def content(self, expected: Member) -> Iterator[bytes]:
        """Yield the content of the next file, piece by piece; read it to its end.

        Raises:
            UnreadableInput: the next file is another one, or its content is.
        """
        header = self._read(tarfile.BLOCKSIZE)
        if header != _header(expected.name, expected.size):
            there = header[:100].rstrip(b"\0").decode("ascii", "replace") or "nothing"
            raise UnreadableInput(
                f"{self._name} has {there!r} where its list has a plain file {expected.name!r} of"
                f" {expected.size} bytes: it was changed. Get it again."
            )
        yield from _checked(self._content(expected.size), expected)

    def end(self) -> None:
        """Check that nothing follows.

        Raises:
            UnreadableInput: something does.
        """
        tail = _tail(self._taken)
        if self._read(len(tail)) != tail or self._read(1, partly=True):
            raise UnreadableInput(
                f"{self._name} holds more than its list says: it was changed. Get it again."
            )

    def _content(self, size: int) -> Iterator[bytes]:
        yield from _pieces(lambda number: self._read(number, partly=True), size)
        if any(self._read(-size % tarfile.BLOCKSIZE)):
            raise UnreadableInput(f"{self._name} has something between its files: it was changed.")

    def _read(self, size: int, *, partly: bool = False) -> bytes:
        """Read so many bytes; fewer only at the end, and then only if that is allowed."""
        try:
            found = b"".join(_pieces(self._stream.read, size, partly=True))
        except zstandard.ZstdError as error:
            reason = f"{self._name} is a damaged archive ({error}). Get it again."
            raise UnreadableInput(reason) from error
        if len(found) < size and not partly:
            raise UnreadableInput(f"{self._name} ends before its files do. Get it again.")
        self._taken += len(found)
        return found


@contextlib.contextmanager
def open_archive(path: Path) -> Iterator[Reader]:
    """Open the archive at a path.

    Raises:
        UnreadableInput: it cannot be read.
    """
    with _explained(path), path.open("rb") as file:
        yield Reader(file, path.name)


class _DigestedFile:
    """A file that is written to, with the digest of what was written."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._sha256 = hashlib.sha256()

    def write(self, body: bytes) -> int:
        self._sha256.update(body)
        return self._file.write(body)

    def digest(self) -> bytes:
        return self._sha256.digest()


class _Beginning:
    """The beginning of a file, so many bytes long, as if that were all of it."""

    def __init__(self, file: BinaryIO, size: int) -> None:
        self._file = file
        self._left = size

    def read(self, size: int = -1) -> bytes:
        wanted = self._left if size < 0 else min(size, self._left)
        found = self._file.read(max(wanted, 0))
        self._left -= len(found)
        return found


def _put(
    packed: zstandard.ZstdCompressionWriter, name: str, size: int, content: Iterable[bytes]
) -> int:
    packed.write(_header(name, size))
    for piece in content:
        packed.write(piece)
    packed.write(bytes(-size % tarfile.BLOCKSIZE))
    return tarfile.BLOCKSIZE + size + -size % tarfile.BLOCKSIZE


def _header(name: str, size: int) -> bytes:
    """Return a file's header: nothing in it depends on the machine, the user or the day."""
    info = tarfile.TarInfo(name)
    info.size = size
    return info.tobuf(tarfile.USTAR_FORMAT)


def _tail(written: int) -> bytes:
    """Return what ends a tar: two empty blocks at least, up to a whole record."""
    return bytes(2 * tarfile.BLOCKSIZE + -(written + 2 * tarfile.BLOCKSIZE) % tarfile.RECORDSIZE)


def _checked(pieces: Iterable[bytes], expected: Member) -> Iterator[bytes]:
    """Yield the pieces; raise if all of them together are not what the list says."""
    digest, size = hashlib.sha256(), 0
    for piece in pieces:
        digest.update(piece)
        size += len(piece)
        if size > expected.size:
            break
        yield piece
    if (size, digest.hexdigest()) != (expected.size, expected.sha256):
        raise UnreadableInput(
            f"{expected.name} is not what the list of files says: it was changed. Get it again."
        )


def _pieces(read: Callable[[int], bytes], size: int, *, partly: bool = False) -> Iterator[bytes]:
    """Yield so many bytes in pieces; fewer at the end of the file only if that is allowed."""
    left = size
    while left > 0 and (piece := read(min(left, _STEP))):
        left -= len(piece)
        yield piece
    if left > 0 and not partly:
        raise UnreadableInput("The archive ends before its files do. Get it again.")


def _length(file: BinaryIO) -> int:
    length = file.seek(0, 2)
    file.seek(0)
    return length


@contextlib.contextmanager
def _explained(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        reason = f"{path} cannot be read and unpacked: {error.strerror or error}"
        raise UnreadableInput(reason) from error
