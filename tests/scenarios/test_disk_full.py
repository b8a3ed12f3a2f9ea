"""A disk that is full at any write of an ingest: it says so, nothing is mixed, the next works.

A limit of the size of files stands for a full disk: the system refuses the very write that is too
much, in Python's files as in DuckDB's. What a cache's full disk does is tried in ``test_upkeep``.
"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from docstow.core import threads
from docstow.core.errors import StoreError
from docstow.core.settings import load
from docstow.index import tables
from docstow.net.client import PartialFile
from docstow.ops.audit import verify
from docstow.runtime import SAMPLE, Runtime

if sys.platform == "win32":
    pytest.skip("limits of POSIX stand for a full disk", allow_module_level=True)


@contextlib.contextmanager
def full(size: int) -> Iterator[None]:
    """No file can become larger than so many bytes."""
    import resource

    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, limits[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)


def test_an_ingest_whose_disk_is_full_says_so_and_the_next_one_works(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(threads, "PARALLEL", 1)
    told = set[str]()
    for size in (0, 300, 1500, 9000, 20_000, 45_000, 10**6):
        flags = {"store": str(tmp_path / str(size)), "cache": str(tmp_path / "cache")}
        with contextlib.closing(Runtime(load(flags, {}))) as runtime:
            runtime.embedder.embed_query("loaded")
            try:
                with full(size):
                    runtime.rustdoc_files([SAMPLE]).ingest(SAMPLE)
            except StoreError as error:
                told.add(str(error).partition(":")[0])
                assert "File too large" in str(error)
                assert "docstow-" not in str(error)  # no place of a temporary file
            else:
                assert size == 10**6
            assert verify(runtime.store).faults == (), size
            runtime.rustdoc_files([SAMPLE]).ingest(SAMPLE)
        with contextlib.closing(Runtime(load(flags, {}))) as runtime:
            found = runtime.toolbox.call("search_items", {"query": "the hold"}).structured
            assert "stowage::Hold" in str(found), size
            assert verify(runtime.store).faults == (), size
    # What the store itself refuses is tried in ``test_objects``.
    tables = {f"Cannot write the table {e}.parquet" for e in ("documents", "passages")}
    assert tables <= told
    assert all(each.startswith("Cannot write the table ") for each in told)


def test_where_no_temporary_file_can_be_it_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "absent"))
    nowhere = pytest.raises(StoreError, match="no place for temporary files: No such file")
    with nowhere, tables.scratch():
        raise AssertionError("there is none")


def test_a_download_that_does_not_fit_says_so(tmp_path: Path) -> None:
    parts = PartialFile(tmp_path / "archive", 10**6)
    answer = httpx.Response(200, request=httpx.Request("GET", "http://host.example/archive"))
    with full(100), pytest.raises(StoreError, match="cannot be kept: File too large"):
        parts.append(answer, iter([bytes(60), bytes(60)]))
