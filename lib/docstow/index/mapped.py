"""Vectors as they are compared, in files of the local cache that are mapped into memory.

A snapshot stores vectors as float16 in compressed pages, for they have to travel; they are compared
as float32. A file beside the tables in the cache has them in this form: its pages are shared by all
processes of a machine and read again from disk where memory is short. It is derived: who finds it
lost, cut or damaged makes it anew, and who cannot write it has the vectors in memory.
"""

from __future__ import annotations

import contextlib
import mmap
import struct
import zlib
from collections.abc import Callable
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from docstow.core.errors import StoreError
from docstow.store.blobs import BlobCache

SUFFIX = ".vectors"

_TYPE = np.dtype("<f4")
#: What the file is, rows, dimensions, and the CRC-32 of what follows.
_HEAD = struct.Struct("<16sQQI28x")
_MAGIC = b"docstow f32 1\n\0\0"


def map_vectors(
    cache: BlobCache, digest: str, read: Callable[[], NDArray[np.float32]]
) -> NDArray[np.float32]:
    """Return the vectors of a table, mapped from the cache's file, which is made if need be.

    Args:
        cache: where the file lies.
        digest: of the table, which names the file.
        read: gives the vectors of the table, shape ``(rows, dimensions)``.
    """
    name = f"{digest}{SUFFIX}"
    with contextlib.suppress(OSError, ValueError):
        if (path := cache.find_derived(name)) is not None:
            return _open(path)
    vectors = read()
    if not vectors.size or _HEAD.size + vectors.nbytes > cache.limit_bytes:
        return vectors
    body = np.ascontiguousarray(vectors, _TYPE).data.cast("B")
    head = _HEAD.pack(_MAGIC, *vectors.shape, zlib.crc32(body))
    # A cache that cannot be written costs each process its own copy.
    with contextlib.suppress(StoreError, OSError, ValueError):
        return _open(cache.add(name, head, body), checked=True)
    return vectors


def _open(path: Path, *, checked: bool = False) -> NDArray[np.float32]:
    """Map a file of vectors.

    Raises:
        ValueError: it is none, or cut or damaged.
        OSError: it cannot be read.
    """
    with path.open("rb") as file:
        mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    if len(mapped) < _HEAD.size:
        raise ValueError
    magic, rows, dimensions, checksum = _HEAD.unpack_from(mapped)
    if magic != _MAGIC or len(mapped) != _HEAD.size + rows * dimensions * _TYPE.itemsize:
        raise ValueError
    if not checked and zlib.crc32(memoryview(mapped)[_HEAD.size :]) != checksum:
        raise ValueError
    # The array keeps the map open, also where the file has been evicted meanwhile.
    return np.frombuffer(mapped, _TYPE, offset=_HEAD.size).reshape(rows, dimensions)
