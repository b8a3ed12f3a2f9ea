"""Wheels that are too large to be fetched, of which only the files that are read are fetched.

A wheel is a zip, whose list of files is at its end, and servers of files send parts of them. What
the registry says of the whole cannot be checked then: each file is checked by the CRC of the zip
and by the digest that ``RECORD`` in the wheel has of it, and all comes over a connection that
nobody can change. https://packaging.python.org/en/latest/specifications/recording-installed-packages/
"""

from __future__ import annotations

import base64
import csv
import hashlib
import zipfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import IO, TYPE_CHECKING, cast

from docstow.core.errors import TooLarge, UnreadableInput
from docstow.core.threads import in_parallel
from docstow.sources.packages.archives import (
    BoundedReads,
    files,
    refusal,
    write_errors,
    zip_errors,
)

if TYPE_CHECKING:
    from docstow.net.decompress import Limits

_MIB = 1024 * 1024
#: The part at the end that is fetched first, which has the list of files of most wheels.
_TAIL = 2 * _MIB
#: Gaps up to this size are fetched with what is around them; a request costs about as much.
_GAP = 256 * 1024
_LARGEST_PART = 8 * _MIB
_LARGEST_RECORD = 8 * _MIB
_LARGEST_WHEEL = 32 * 1024 * _MIB
_STEP = 64 * 1024
#: Parts that are fetched at most, and together.
_MOST_PARTS, _AT_ONCE = 2000, 8
GetRange = Callable[[int, int], tuple[bytes, int]]


def fetch_parts(
    get_range: GetRange,
    path: Path,
    name: str,
    size: int,
    wanted: Callable[[str], bool],
    limits: Limits,
) -> None:
    """Make a file in which only some files of a wheel are; the rest of it is a hole.

    Args:
        get_range: returns the bytes from one place to another (of the first, if it is negative,
            from the end on), and the size of the whole.
        path: where to; there is no such file yet.
        name: names the wheel in messages.
        size: of the whole, as it is listed, in bytes.
        wanted: whether a file is wanted, by its path in the wheel.
        limits: caps on what is fetched, and on what that is unpacked.

    Raises:
        UnreadableInput: it is damaged, or a file is not the one that its ``RECORD`` lists.
        TooLarge: it has more to be read than may be fetched.
        UpstreamError, UpstreamTimeout: as ``get_range``.
        StoreError: the disk is full.
    """
    tail, total = get_range(-min(_TAIL, limits.compressed), 0)
    if total != size:
        raise UnreadableInput(
            f"{name} has {total} bytes, and the index says {size}; nothing of it was kept."
        )
    if size > _LARGEST_WHEEL:
        most = _LARGEST_WHEEL
        raise TooLarge(f"{name} has more than {most // _MIB} MiB.", limit=most)
    with write_errors(), path.open("w+b") as stream, zip_errors(name):
        stream.truncate(size)
        held = _Held(stream, get_range, size, tail, limits.compressed)
        listing = zipfile.ZipFile(cast("IO[bytes]", BoundedReads(cast("IO[bytes]", held), name)))
        found = files(listing)
        taken = {each for each in found if wanted(each) or _is_record(each)}
        if sum(found[each].file_size for each in taken) > limits.decompressed:
            most = limits.decompressed
            raise TooLarge(
                f"{name} is larger than {most // _MIB} MiB unpacked, the most that is read.",
                limit=most,
            )
        spans = _merged(_spans(listing.infolist(), taken, listing.start_dir))
        # The first bytes tell what kind of archive it is.
        held.fetch([(0, 4), *spans])
        _check(listing, found, taken, name)


def _spans(
    entries: Sequence[zipfile.ZipInfo], taken: set[str], end: int
) -> Iterator[tuple[int, int]]:
    """Yield where the wanted files are with their headers, which end where the next begins."""
    places = sorted({each.header_offset for each in entries} | {end})
    following = dict(pairwise(places))
    for each in sorted(entries, key=lambda each: each.header_offset):
        if each.filename in taken:
            yield each.header_offset, following.get(each.header_offset, end)


def _merged(spans: Iterable[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    start = stop = -1
    for begin, end in spans:
        if start >= 0 and begin - stop <= _GAP and end - start <= _LARGEST_PART:
            stop = max(stop, end)
            continue
        if start >= 0:
            yield start, stop
        start, stop = begin, end
    if start >= 0:
        yield start, stop


class _Held:
    """A file that is fetched from its end: what is read before that is fetched with all behind."""

    def __init__(
        self, stream: IO[bytes], get_range: GetRange, size: int, tail: bytes, most: int
    ) -> None:
        self._stream = stream
        self._get_range = get_range
        self._size = size
        self._most = self._left = most
        self._begin = size
        self._listed = False
        self._write(size - len(tail), tail)
        self._begin = size - len(tail)

    def fetch(self, spans: Sequence[tuple[int, int]]) -> None:
        """Fetch parts; from now on what is not there is a hole."""
        self._listed = True
        spans = [(begin, min(end, self._begin)) for begin, end in spans if begin < self._begin]
        if len(spans) > _MOST_PARTS:
            raise TooLarge(
                f"It has its files in more than {_MOST_PARTS} places.", limit=_MOST_PARTS
            )
        self._spend(spans)
        get = partial(_exactly, self._get_range, self._size)
        for at in range(0, len(spans), _AT_ONCE):
            some = spans[at : at + _AT_ONCE]
            for (begin, _), body in zip(some, in_parallel(get, some), strict=True):
                self._write(begin, body)

    def read(self, size: int = -1) -> bytes:
        place = self._stream.tell()
        if not self._listed and place < self._begin:
            span = (place, self._begin)
            self._spend([span])
            self._write(place, _exactly(self._get_range, self._size, span))
            self._begin = place
            self._stream.seek(place)
        return self._stream.read(size)

    def seek(self, offset: int, whence: int = 0) -> int:
        return self._stream.seek(offset, whence)

    def tell(self) -> int:
        return self._stream.tell()

    def close(self) -> None:
        """Leave the file open, which its owner closes."""

    def _write(self, place: int, body: bytes) -> None:
        self._stream.seek(place)
        self._stream.write(body)

    def _spend(self, spans: Iterable[tuple[int, int]]) -> None:
        self._left -= sum(end - begin for begin, end in spans)
        if self._left < 0:
            raise TooLarge(
                f"The files in it that are read have more than {self._most / _MIB:.6g} MiB packed."
                " Set max_compressed higher to have it.",
                limit=self._most,
            )


def _exactly(get_range: GetRange, size: int, span: tuple[int, int]) -> bytes:
    begin, end = span
    if not 0 <= begin < end:
        raise UnreadableInput("The list of its files leads out of it; nothing of it was kept.")
    body, total = get_range(begin, end)
    if len(body) != end - begin or total != size:
        raise UnreadableInput("It changed while it was fetched; try again.")
    return body


def _is_record(path: str) -> bool:
    return path.count("/") == 1 and path.endswith(".dist-info/RECORD")


def _check(
    listing: zipfile.ZipFile, found: Mapping[str, zipfile.ZipInfo], taken: set[str], name: str
) -> None:
    """Compare files with the digests that the wheel itself lists."""
    records = [found[each] for each in taken if _is_record(each)]
    if len(records) != 1 or records[0].file_size > _LARGEST_RECORD or refusal(records[0]):
        raise UnreadableInput(f"{name} has no list of its files that could be read.")
    lines = listing.read(records[0]).decode("utf-8", "replace").splitlines()
    stated = {line[0]: line[1] for line in csv.reader(lines) if len(line) > 1}
    for path in sorted(taken):
        if _is_record(path) or refusal(found[path]):
            continue
        digest = hashlib.sha256()
        with listing.open(found[path]) as stream:
            while piece := stream.read(_STEP):
                digest.update(piece)
        encoded = base64.urlsafe_b64encode(digest.digest()).rstrip(b"=").decode()
        if stated.get(path, "").rstrip("=") != f"sha256={encoded}":
            raise UnreadableInput(
                f"{path[:200]!r} in {name} is not the file that its RECORD lists; nothing of it was"
                " kept."
            )
