"""The regular files of a ``.tar.gz``, read as a stream.

Hostile archives do no harm: nothing is written, links and devices are reported but not read, and
sizes are bounded.
"""

from __future__ import annotations

import re
import tarfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import IO, Self, cast

from docstow.core.errors import DocstowError, TooLarge, UnreadableInput

_MIB = 1024 * 1024
_STEP = 128 * 1024
_GZIP = b"\x1f\x8b"
_GZIP_WINDOW = 16 + zlib.MAX_WBITS
#: Largest extended header in bytes; Git's are a few hundred bytes long.
_MOST_HEADER = _MIB
_HEADERS = {
    tarfile.XHDTYPE,
    tarfile.XGLTYPE,
    tarfile.SOLARIS_XHDTYPE,
    tarfile.GNUTYPE_LONGNAME,
    tarfile.GNUTYPE_LONGLINK,
}
#: Headers in a row before one file, of which tarfile reads each inside the one before, and fields
#: that hold for all files, of which each file has a copy. Git and npm write one.
_MOST_IN_A_ROW, _MOST_GLOBAL = 16, 64
#: tarfile takes what is in extended headers for well formed.
_MALFORMED = (ValueError, ArithmeticError, LookupError, RecursionError)
#: Why an entry must not be read whose name leads out of the archive.
UNSAFE = "unsafe path"
_DRIVE = re.compile(r"[A-Za-z]:")
_CONTROL = re.compile(r"[\x00-\x1f\x7f\\]")


@dataclass(frozen=True, slots=True)
class Caps:
    """Limits: bytes after decompression, entries, and the ratio of decompressed to packed bytes.

    The ratio applies beyond ``free`` bytes, as short runs of blanks compress without bound.
    """

    plain: int = 1024 * _MIB
    entries: int = 200_000
    ratio: int = 100
    free: int = 16 * _MIB


@dataclass(frozen=True, slots=True)
class Entry:
    """An entry of an archive, other than a directory.

    Attributes:
        path: below the archive's single top directory.
        size: in bytes, by its header.
        refusal: why it must not be read: a short phrase; empty for a regular file.
        pieces: yields its bytes; only valid until the next entry.
    """

    path: str
    size: int
    refusal: str
    pieces: Callable[[], Iterator[bytes]]

    def read(self) -> bytes:
        """Return all bytes at once; as ``pieces``."""
        return b"".join(self.pieces())


_DEFAULT_CAPS = Caps()


def entries(
    stream: IO[bytes], *, name: str, caps: Caps = _DEFAULT_CAPS, tidy: bool = False
) -> Iterator[Entry]:
    """Yield the entries of an archive, which is read to its end.

    Args:
        stream: the compressed bytes.
        name: names the archive in messages.
        caps: limits.
        tidy: take ``./a//b`` for ``a/b``, as some tools write it; otherwise it is unsafe.

    Raises:
        UnreadableInput: it is not such an archive, is damaged or ends early.
        TooLarge: it exceeds a cap.
    """
    plain = _Decompressed(stream, name, caps)
    count = 0
    with _archive_errors(name):
        with _Archive.open(fileobj=cast("IO[bytes]", plain), mode="r|", tarinfo=_Member) as archive:
            while (member := archive.next()) is not None:
                # It keeps all that it has read, with the fields that hold for all.
                archive.members.clear()  # type: ignore[attr-defined]  # missing in the stubs
                count += 1
                if count > caps.entries:
                    raise TooLarge(
                        f"{name} has more than {caps.entries} entries, the most that are read.",
                        limit=caps.entries,
                    )
                if not member.isdir():
                    yield _entry(archive, member, name, tidy=tidy)
        plain.drain()


@contextmanager
def _archive_errors(name: str) -> Iterator[None]:
    try:
        yield
    except DocstowError:
        raise
    except (tarfile.TarError, zlib.error, *_MALFORMED) as error:
        raise UnreadableInput(f"{name} is a damaged archive ({error}); sync again.") from error


def _entry(archive: tarfile.TarFile, member: tarfile.TarInfo, name: str, *, tidy: bool) -> Entry:
    path, refusal = _safe_path(tidied(member.name) if tidy else member.name)
    if not refusal and (member.issym() or member.islnk()):
        refusal = "link"
    if not refusal and (not member.isreg() or member.issparse()):
        refusal = "not a regular file"

    def pieces() -> Iterator[bytes]:
        body = None if refusal else archive.extractfile(member)
        if body is None:
            raise UnreadableInput(f"{path} is no regular file.")
        with _archive_errors(name):
            while piece := body.read(_STEP):
                yield piece

    return Entry(path, member.size, refusal, pieces)


def tidied(path: str) -> str:
    """Return a relative path without empty parts and single dots; an absolute one as it is."""
    if path.startswith("/"):
        return path
    return "/".join(part for part in path.split("/") if part not in ("", "."))


def _safe_path(name: str) -> tuple[str, str]:
    """Return a name without the top directory, and why it must not be read, if so."""
    shown = name.encode("utf-8", "backslashreplace").decode()
    parts = name.split("/")
    unsafe = (
        name.startswith("/")
        or ".." in parts
        or "." in parts
        or "" in parts
        or bool(_DRIVE.match(name))
        or (len(parts) > 1 and bool(_DRIVE.match(parts[1])))
        or bool(_CONTROL.search(name))
    )
    if unsafe:
        return shown, UNSAFE
    if shown != name:
        return shown, "name is not UTF-8"
    return "/".join(parts[1:]) or name, ("" if len(parts) > 1 else "outside the top directory")


class _Archive(tarfile.TarFile):
    """An archive that knows how many headers it is reading inside each other."""

    nested = 0


class _Member(tarfile.TarInfo):
    """An entry that reports a damaged header, which tarfile takes for the end of the archive."""

    @classmethod
    def frombuf(cls, buf: bytes | bytearray, encoding: str, errors: str) -> Self:
        """Parse a header; bound extended headers, which tarfile reads as a whole."""
        member = super().frombuf(buf, encoding, errors)
        if member.type in _HEADERS and member.size > _MOST_HEADER:
            raise UnreadableInput("The archive has an extended header of more than 1 MiB.")
        if member.size < 0:
            raise UnreadableInput("The archive has an entry of negative size.")
        return member

    @classmethod
    def fromtarfile(cls, archive: tarfile.TarFile) -> Self:
        """Return the next entry; only blocks of zeros end an archive."""
        nested = cast("_Archive", archive)
        if nested.nested >= _MOST_IN_A_ROW or len(archive.pax_headers) > _MOST_GLOBAL:
            raise UnreadableInput("The archive has more extended headers than any tool writes.")
        nested.nested += 1
        try:
            return super().fromtarfile(archive)
        except tarfile.EOFHeaderError:  # type: ignore[attr-defined]  # missing in the stubs
            raise
        except tarfile.HeaderError as error:
            raise UnreadableInput(
                f"The archive is damaged or ends early ({error}); sync again."
            ) from error
        finally:
            nested.nested -= 1

    def _refuse_sparse(self, *_: object) -> Self:
        raise UnreadableInput("The archive has a sparse file, which no package or repository has.")

    # tarfile reads the map of a sparse file into a list, however long it is, before it gives out
    # the entry: https://www.gnu.org/software/tar/manual/html_node/Sparse-Formats.html
    _proc_sparse = _refuse_sparse
    _proc_gnusparse_00 = _refuse_sparse
    _proc_gnusparse_01 = _refuse_sparse
    _proc_gnusparse_10 = _refuse_sparse


class _Decompressed:
    """The decompressed bytes of a gzip stream, under caps."""

    def __init__(self, stream: IO[bytes], name: str, caps: Caps) -> None:
        self._stream = stream
        self._name = name
        self._caps = caps
        self._packed = 0
        self._count = 0
        self._pieces = self._unpacked()
        self._rest = b""

    def read(self, size: int) -> bytes:
        """Return at most ``size`` bytes; none at the end."""
        while len(self._rest) < size and (piece := next(self._pieces, b"")):
            self._rest += piece
        body, self._rest = self._rest[:size], self._rest[size:]
        return body

    def drain(self) -> None:
        """Read the rest of the stream, which must be zeros.

        Raises:
            UnreadableInput: there is other data, or the stream ends early.
        """
        while piece := self.read(_STEP):
            if piece.strip(b"\0"):
                raise UnreadableInput(f"{self._name} has data after its end; sync again.")

    def _unpacked(self) -> Iterator[bytes]:
        member = zlib.decompressobj(_GZIP_WINDOW)
        while chunk := self._stream.read(_STEP):
            if not self._packed and not chunk.startswith(_GZIP):
                raise UnreadableInput(f"{self._name} is not a .tar.gz archive; check its address.")
            self._packed += len(chunk)
            while chunk:
                if member.eof:
                    member = zlib.decompressobj(_GZIP_WINDOW)
                if piece := member.decompress(chunk, _STEP):
                    yield self._counted(piece)
                chunk = member.unused_data if member.eof else member.unconsumed_tail
        if tail := member.flush():
            yield self._counted(tail)
        if not member.eof:
            raise UnreadableInput(f"{self._name} ends before its archive does; sync again.")

    def _counted(self, piece: bytes) -> bytes:
        self._count += len(piece)
        caps = self._caps
        if self._count > caps.plain:
            raise TooLarge(
                f"{self._name} is larger than {caps.plain // _MIB} MiB unpacked, the most that is"
                " read.",
                limit=caps.plain,
            )
        if self._count > max(caps.free, caps.ratio * self._packed):
            raise TooLarge(
                f"{self._name} expands more than {caps.ratio} times, which documentation does not;"
                " it was not read further.",
                limit=caps.ratio,
            )
        return piece
