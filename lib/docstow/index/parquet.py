"""Columns of plain Parquet files, read without DuckDB: its import alone takes longer than a search.

What is read is what DuckDB writes of a snapshot's tables: flat columns without nulls, in pages of
version 1 with plain values or a dictionary, compressed by zstd. Anything else is left to DuckDB.
The format is that of https://parquet.apache.org/docs/file-format/, with metadata in Thrift's
compact protocol.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import zstandard
from numpy.typing import NDArray

from docstow.core.records import dataclass

_MAGIC = b"PAR1"
_ZSTD = 6
_DATA_PAGE, _DICTIONARY_PAGE = 0, 2
_PLAIN = 0
_DICTIONARIES = (2, 8)
_REQUIRED, _OPTIONAL = 0, 1
_BOOLEAN, _BYTES = 0, 6
_TEXT = 0
#: Physical and converted types of numbers, as numpy has them.
_NUMBERS: Mapping[tuple[int, int | None], str] = {
    (1, None): "<i4",
    (1, 17): "<i4",
    (2, None): "<i8",
    (2, 18): "<i8",
    (4, None): "<f4",
    (5, None): "<f8",
}
_LENGTH = struct.Struct("<I")

_DAMAGE = (
    AttributeError,
    IndexError,
    KeyError,
    MemoryError,
    OverflowError,
    RecursionError,
    TypeError,
    ValueError,
    struct.error,
    zstandard.ZstdError,
)


class Unusual(Exception):
    """The file is none of those that are read here, or damaged."""


def read_columns(path: Path, names: Sequence[str] = ()) -> dict[str, NDArray[Any]]:
    """Read columns of a file, in the order of its rows.

    Args:
        path: the file.
        names: of the columns; none means all.

    Returns:
        Column name to array. Text and blobs are object arrays of str and bytes.

    Raises:
        Unusual: something in it has to be left to DuckDB.
    """
    try:
        with path.open("rb") as file:
            return _read_columns(file, names)
    except (OSError, *_DAMAGE) as fault:
        raise Unusual from fault


def read_names(path: Path) -> frozenset[str]:
    """Return the names of a file's columns.

    Raises:
        Unusual: something in it has to be left to DuckDB.
    """
    try:
        with path.open("rb") as file:
            return frozenset(_read_schema(_read_metadata(file)))
    except (OSError, *_DAMAGE) as fault:
        raise Unusual from fault


def _read_schema(metadata: Mapping[int, Any]) -> dict[str, tuple[int, Any]]:
    """Return the place and the description of each column."""
    root, *leaves = metadata[2]
    if root.get(5) != len(leaves) or any(each.get(5) for each in leaves):
        raise Unusual
    return {each[4].decode(): (place, each) for place, each in enumerate(leaves)}


def _read_columns(file: BinaryIO, names: Sequence[str]) -> dict[str, NDArray[Any]]:
    metadata = _read_metadata(file)
    columns = _read_schema(metadata)
    found = {}
    for name in names or columns:
        place, schema = columns[name]
        if schema.get(3) not in (_REQUIRED, _OPTIONAL):
            raise Unusual
        column = _Column(schema[1], schema.get(6), schema[3] == _OPTIONAL)
        chunks = [group[1][place][3] for group in metadata.get(4, ())]
        parts = [part for chunk in chunks for part in _read_chunk(file, chunk, column)]
        found[name] = np.concatenate(parts) if len(parts) != 1 else parts[0]
        if len(found[name]) != metadata[3]:
            raise Unusual
    return found


def _read_metadata(file: BinaryIO) -> dict[int, Any]:
    end = file.seek(-8, 2)
    size, magic = struct.unpack("<I4s", file.read(8))
    if magic != _MAGIC or size > end:
        raise Unusual
    file.seek(end - size)
    return _Thrift(file.read(size)).struct()


@dataclass(frozen=True, slots=True)
class _Column:
    """How the values of a column are stored.

    Attributes:
        physical: number of the physical type.
        converted: number of the converted type, which says that bytes are text.
        optional: whether levels before the values say which rows have one.
    """

    physical: int
    converted: int | None
    optional: bool

    def plain(self, body: bytes, count: int) -> NDArray[Any]:
        """Return values that stand one after another."""
        if (number := _NUMBERS.get((self.physical, self.converted))) is not None:
            return np.frombuffer(body, number, count)
        if self.physical == _BOOLEAN:
            bits = np.unpackbits(np.frombuffer(body, np.uint8), bitorder="little")
            return bits[:count].astype(bool)
        if self.physical != _BYTES or self.converted not in (None, _TEXT):
            raise Unusual
        values, place, length_at = [], 0, _LENGTH.unpack_from
        for _ in range(count):
            begin = place + 4
            place = begin + length_at(body, place)[0]
            values.append(body[begin:place])
        if place > len(body):
            raise Unusual
        array = np.empty(count, object)
        array[:] = values if self.converted is None else [each.decode() for each in values]
        return array


def _read_chunk(
    file: BinaryIO, chunk: Mapping[int, Any], column: _Column
) -> Iterator[NDArray[Any]]:
    """Yield the values of each page of a column chunk."""
    if chunk[4] != _ZSTD:
        raise Unusual
    start = min(chunk[9], chunk.get(11) or chunk[9])
    file.seek(start)
    body = file.read(chunk[7])
    unpacker = zstandard.ZstdDecompressor()
    dictionary: NDArray[Any] | None = None
    place, left = 0, chunk[5]
    while left:
        thrift = _Thrift(body, place)
        header = thrift.struct()
        place = thrift.place + header[3]
        packed = body[thrift.place : place]
        page = unpacker.decompress(packed, max_output_size=header[2])
        if header[1] == _DICTIONARY_PAGE:
            dictionary = column.plain(page, header[7][1])
            continue
        if header[1] != _DATA_PAGE:
            raise Unusual
        count, encoding = header[5][1], header[5][2]
        values = _skip_levels(page, count) if column.optional else page
        if encoding == _PLAIN:
            yield column.plain(values, count)
        elif encoding in _DICTIONARIES and dictionary is not None:
            yield dictionary[_read_runs(values[1:], values[0], count)]
        else:
            raise Unusual
        left -= count


def _skip_levels(page: bytes, count: int) -> bytes:
    """Return what follows the levels of a page; they must say that each row has a value."""
    (size,) = _LENGTH.unpack_from(page)
    if not _read_runs(page[4 : 4 + size], 1, count).all():
        raise Unusual
    return page[4 + size :]


def _read_runs(body: bytes, width: int, count: int) -> NDArray[np.int64]:
    """Return numbers of ``width`` bits, stored as runs of one number and as packed bits."""
    thrift, parts, found = _Thrift(body), [], 0
    powers = 1 << np.arange(width, dtype=np.int64)
    while found < count:
        header = thrift.varint()
        if header & 1:
            size = (header >> 1) * width
            packed = np.frombuffer(thrift.take(size), np.uint8)
            bits = np.unpackbits(packed, bitorder="little").reshape(-1, width)
            parts.append(bits.astype(np.int64) @ powers)
        else:
            number = int.from_bytes(thrift.take((width + 7) // 8), "little")
            parts.append(np.full(min(header >> 1, count), number, np.int64))
        found += len(parts[-1])
        if not len(parts[-1]):
            raise Unusual
    return np.concatenate(parts)[:count] if parts else np.zeros(0, np.int64)


class _Thrift:
    """A reader of Thrift's compact protocol; structs become mappings by the fields' numbers."""

    def __init__(self, body: bytes, place: int = 0) -> None:
        self._body = body
        self.place = place

    def take(self, size: int) -> bytes:
        """Return the next bytes."""
        begin, self.place = self.place, self.place + size
        if self.place > len(self._body):
            raise Unusual
        return self._body[begin : self.place]

    def varint(self) -> int:
        """Return a number of seven bits a byte."""
        number = shift = 0
        while True:
            byte = self._body[self.place]
            self.place += 1
            number |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return number

    def struct(self) -> dict[int, Any]:
        """Return a struct."""
        fields: dict[int, Any] = {}
        number = 0
        while kind := self.take(1)[0]:
            number = number + (kind >> 4) if kind >> 4 else self._integer()
            fields[number] = self._value(kind & 15)
        return fields

    def _integer(self) -> int:
        number = self.varint()
        return (number >> 1) ^ -(number & 1)

    def _value(self, kind: int) -> Any:
        if kind in (1, 2):
            return kind == 1
        if kind == 3:
            return self.take(1)[0]
        if kind in (4, 5, 6):
            return self._integer()
        if kind == 7:
            return self.take(8)
        if kind == 8:
            return self.take(self.varint())
        if kind in (9, 10):
            header = self.take(1)[0]
            size = header >> 4 if header >> 4 != 15 else self.varint()
            return [self._value(header & 15) for _ in range(size)]
        if kind == 12:
            return self.struct()
        raise Unusual
