"""Parquet files on this machine, written from and read into numpy columns by DuckDB.

DuckDB is imported at the first table.
"""

from __future__ import annotations

import contextlib
import errno
import os
import threading
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from docstow.core.errors import StoreError

if TYPE_CHECKING:
    import duckdb

THREADS = 2
_VECTOR_TYPE = np.dtype("<f2")
_opening = threading.Lock()


def write_table(columns: Mapping[str, NDArray[Any] | Sequence[Any]], path: Path) -> None:
    """Write columns of equal length as one Parquet file (zstd).

    The same columns give the same bytes. Types follow numpy's; sequences and object arrays may
    hold str, bytes, int, float or bool, and None for null, one type per column. A column without
    any value is written as text.

    Raises:
        ValueError: no columns, or their lengths differ.
        StoreError: the file cannot be written.
    """
    import duckdb

    arrays = {name: _as_array(values) for name, values in columns.items()}
    lengths = {name: len(array) for name, array in arrays.items()}
    if len(set(lengths.values())) != 1:
        raise ValueError(f"a table needs columns of one length, not {lengths}")
    selected = ", ".join(
        f"{_quoted(name)}::VARCHAR AS {_quoted(name)}" if _is_void(array) else _quoted(name)
        for name, array in arrays.items()
    )
    with _connection() as connection:
        connection.register("docstow_columns", arrays)
        try:
            connection.execute(
                f"COPY (SELECT {selected} FROM docstow_columns)"  # noqa: S608 - names are quoted
                " TO $path (FORMAT parquet, COMPRESSION zstd)",
                {"path": str(path)},
            )
        except duckdb.IOException as fault:
            raise StoreError(
                f"Cannot write the table {path.name}: {_reason(fault)}. Check the space and the"
                " rights where temporary files are."
            ) from fault
        finally:
            connection.unregister("docstow_columns")


@contextlib.contextmanager
def scratch() -> Iterator[Path]:
    """Provide a folder for tables that are about to be published; delete it after the block.

    Raises:
        StoreError: this machine has no place for it.
    """
    try:
        folder = TemporaryDirectory(prefix="docstow-")
    except OSError as fault:
        raise StoreError(
            f"There is no place for temporary files: {fault.strerror or fault}. Free some space, or"
            " name another folder in TMPDIR."
        ) from fault
    with folder as name:
        yield Path(name)


def read_table(
    path: Path,
    columns: Sequence[str] = (),
    *,
    where: str = "",
    parameters: Sequence[object] = (),
) -> dict[str, NDArray[Any]]:
    """Read columns of a Parquet file, in the order of its rows.

    Args:
        path: the file.
        columns: names to read; none means all.
        where: a condition in SQL with ``?`` for each of ``parameters``; no part of a request may
            be pasted into it.
        parameters: values for the condition.

    Returns:
        Column name to array. Text and blobs are object arrays of str and bytes, with None for
        null; a null number is NaN (integers with nulls become floats).

    Raises:
        StoreError: the file is missing or no readable table, or lacks a column.
    """
    import duckdb

    selected = ", ".join(map(_quoted, columns)) or "*"
    query = f"SELECT {selected} FROM read_parquet(?)"  # noqa: S608 - names are quoted
    if where:
        query += f" WHERE {where}"
    with _connection() as connection:
        try:
            found = connection.execute(query, [str(path), *parameters]).fetchnumpy()
        except (duckdb.IOException, duckdb.InvalidInputException, duckdb.BinderException) as fault:
            raise StoreError(f"Cannot read the table {path.name}: {fault}") from fault
    return {name: _plain(array) for name, array in found.items()}


def pack_vectors(matrix: NDArray[Any]) -> NDArray[np.object_]:
    """Return each row of an ``(n, d)`` matrix as the bytes of little-endian float16 values."""
    count, dimensions = matrix.shape
    width = dimensions * _VECTOR_TYPE.itemsize
    body = np.ascontiguousarray(matrix, dtype=_VECTOR_TYPE).tobytes()
    packed = np.empty(count, dtype=object)
    packed[:] = [body[row * width : (row + 1) * width] for row in range(count)]
    return packed


def unpack_vectors(blobs: Sequence[bytes] | NDArray[np.object_], dimensions: int) -> NDArray[Any]:
    """Return packed vectors as a float32 matrix of shape ``(n, dimensions)``.

    Raises:
        StoreError: the vectors are of another width.
    """
    values = np.frombuffer(b"".join(blobs), dtype=_VECTOR_TYPE)
    if values.size != len(blobs) * dimensions:
        raise StoreError(
            f"The table's vectors do not have {dimensions} dimensions; stow the source again."
        )
    return values.reshape(len(blobs), dimensions).astype(np.float32)


@lru_cache(maxsize=1)
def _database() -> duckdb.DuckDBPyConnection:
    """Return the process's one in-memory database; it holds no data, only settings and threads."""
    import duckdb

    return duckdb.connect(
        ":memory:",
        config={
            "threads": THREADS,
            "autoinstall_known_extensions": "false",
            "autoload_known_extensions": "false",
            "allow_community_extensions": "false",
            "temp_directory": "",
        },
    )


def _connection() -> duckdb.DuckDBPyConnection:
    """Return a connection of the caller's own, so that threads do not wait for each other."""
    with _opening:
        return _database().cursor()


def _as_array(values: NDArray[Any] | Sequence[Any]) -> NDArray[Any]:
    """Return a one-dimensional array of a type that DuckDB reads without a copy or a guess."""
    if isinstance(values, np.ndarray) and values.dtype.kind != "U":
        return values
    first = next((value for value in values if value is not None), None)
    if isinstance(first, (int, float)) and None not in values:
        return np.asarray(values)
    array = np.empty(len(values), dtype=object)
    array[:] = [str(value) for value in values] if isinstance(values, np.ndarray) else values
    return array


def _is_void(array: NDArray[Any]) -> bool:
    return array.dtype == object and all(value is None for value in array)


def _reason(fault: Exception) -> str:
    """Return the operating system's reason without the addresses that DuckDB adds."""
    text = str(fault)
    reasons = (reason for reason in map(os.strerror, errno.errorcode) if reason in text)
    return max(reasons, key=len, default="the disk refuses it")


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _plain(array: NDArray[Any]) -> NDArray[Any]:
    """Undo what DuckDB adds: masks, and bytearrays where bytes went in."""
    if isinstance(array, np.ma.MaskedArray):
        values = array.data.astype(np.float64 if array.dtype.kind in "iub" else array.dtype)
        values[np.ma.getmaskarray(array)] = None if values.dtype == object else np.nan
        return _plain(values)
    if array.dtype == object:
        array[:] = [bytes(each) if isinstance(each, bytearray) else each for each in array]
    return array
