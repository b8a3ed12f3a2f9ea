"""Vectors in files of the cache: shared, made anew where they are unsound, dispensable."""

from __future__ import annotations

import mmap
import resource
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from docstow.index.mapped import SUFFIX, map_vectors
from docstow.store.blobs import BlobCache
from fictional_docs import PAGES
from prose_store import ProseStore, page
from servers.clock import Clock

DIGEST = "0f" * 32
VECTORS = np.random.default_rng(7).normal(size=(40, 24)).astype(np.float16).astype(np.float32)
SIZE = 64 + VECTORS.nbytes

_ANOTHER = """
import sys
from pathlib import Path
from docstow.index.mapped import map_vectors
from docstow.store.blobs import BlobCache

def read():
    raise AssertionError("they are here")

vectors = map_vectors(BlobCache(Path(sys.argv[1]), 10**6), sys.argv[2], read)
print(vectors.shape, vectors.tobytes().hex())
"""


def unread() -> NDArray[np.float32]:
    raise AssertionError("they are here")


def is_mapped(vectors: NDArray[np.float32]) -> bool:
    """Return whether the values are those of a file, and cannot be written."""
    base: object = vectors
    while isinstance(base, np.ndarray):
        base = base.base
    return isinstance(getattr(base, "obj", base), mmap.mmap) and not vectors.flags.writeable


@pytest.fixture
def cache(tmp_path: Path) -> BlobCache:
    return BlobCache(tmp_path / "cache", 10**6)


def test_processes_share_what_one_of_them_has_made(cache: BlobCache) -> None:
    made = map_vectors(cache, DIGEST, lambda: VECTORS)
    found = map_vectors(cache, DIGEST, unread)
    for vectors in (made, found):
        assert vectors.dtype == np.float32
        assert vectors.tolist() == VECTORS.tolist()
        assert is_mapped(vectors)
    assert [path.name for path in cache.directory.iterdir()] == [DIGEST + SUFFIX]
    command = [sys.executable, "-c", _ANOTHER, str(cache.directory), DIGEST]
    another = subprocess.run(command, capture_output=True, text=True, check=True)
    assert another.stdout == f"{VECTORS.shape} {VECTORS.tobytes().hex()}\n"


@pytest.mark.parametrize(
    "damage",
    [
        lambda body: b"",
        lambda body: body[:30],
        lambda body: body[:-1],
        lambda body: body + b"\0",
        lambda body: body[: SIZE // 2] + bytes(SIZE - SIZE // 2),  # lost by a crash of the machine
        lambda body: body[:-1] + bytes([body[-1] ^ 1]),
        lambda body: bytes([body[0] ^ 1]) + body[1:],
        lambda body: body[:16] + (2**40).to_bytes(8, "little") + body[24:],
    ],
)
def test_an_unsound_file_is_made_anew(cache: BlobCache, damage: Callable[[bytes], bytes]) -> None:
    map_vectors(cache, DIGEST, lambda: VECTORS)
    (path,) = cache.directory.iterdir()
    whole = path.read_bytes()
    assert len(whole) == SIZE
    path.write_bytes(damage(whole))
    assert map_vectors(cache, DIGEST, lambda: VECTORS).tolist() == VECTORS.tolist()
    assert path.read_bytes() == whole
    assert map_vectors(cache, DIGEST, unread).tolist() == VECTORS.tolist()


def test_the_files_count_and_one_that_is_mapped_may_go(tmp_path: Path) -> None:
    clock = Clock()
    cache = BlobCache(tmp_path / "cache", 2 * SIZE, hold_s=0, clock=clock.monotonic)
    first = map_vectors(cache, DIGEST, lambda: VECTORS)
    clock.now += 1
    map_vectors(cache, "1e" * 32, lambda: VECTORS + 1)
    clock.now += 1
    assert map_vectors(cache, DIGEST, unread) is not first
    clock.now += 1
    map_vectors(cache, "2d" * 32, lambda: VECTORS + 2)
    assert {path.name[:2] for path in cache.directory.iterdir()} == {"0f", "2d"}
    clock.now += 1
    cache.add("3c" * 32, bytes(2 * SIZE))
    assert [path.name for path in cache.directory.iterdir()] == ["3c" * 32]
    assert first.tolist() == VECTORS.tolist()
    assert map_vectors(cache, DIGEST, lambda: VECTORS).tolist() == VECTORS.tolist()
    assert [path.name for path in cache.directory.iterdir()] == [DIGEST + SUFFIX]


def test_a_cache_without_room_keeps_none(tmp_path: Path) -> None:
    cache = BlobCache(tmp_path / "cache", SIZE - 1)
    assert map_vectors(cache, DIGEST, lambda: VECTORS) is VECTORS
    assert not cache.directory.exists()


@contextmanager
def full_disk(most: int) -> Iterator[None]:
    """No file can be longer than so many bytes."""
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (most, limits[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)


def test_a_cache_that_cannot_be_written_costs_a_copy(cache: BlobCache, tmp_path: Path) -> None:
    with full_disk(SIZE // 2):
        assert map_vectors(cache, DIGEST, lambda: VECTORS) is VECTORS
    assert list(cache.directory.iterdir()) == []
    (tmp_path / "file").write_bytes(b"")
    nowhere = BlobCache(tmp_path / "file" / "cache", 10**6)
    assert map_vectors(nowhere, DIGEST, lambda: VECTORS) is VECTORS


def test_no_vectors_need_no_file(cache: BlobCache) -> None:
    assert map_vectors(cache, DIGEST, lambda: np.zeros((0, 0), np.float32)).shape == (0, 0)
    assert not cache.directory.exists()


def test_a_search_compares_mapped_vectors(tmp_path: Path) -> None:
    store = ProseStore(tmp_path)
    _, snapshot = store.stow("quayside", [page(path, text) for path, text in PAGES.items()])
    index = store.prose.index(snapshot)
    assert is_mapped(index.matrix)
    assert is_mapped(index.example_matrix)
    files = {path.name for path in (tmp_path / "cache").iterdir()}
    tables = index.profile.passages.name, index.profile.examples.name
    assert files == {snapshot.tables[name] + SUFFIX for name in tables}
    assert len(index.matrix) == len(index.passages["document"])
