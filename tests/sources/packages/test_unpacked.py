"""Packages that lie unpacked in the local cache: once, whole, and bounded."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from docstow.core.errors import UnreadableInput
from docstow.core.model import Revision, Source
from docstow.sources.packages import Unpacked
from docstow.sources.packages.unpacked import UnpackedPackages

_KIB = 1024


class Registry:
    """Unpacks packages of 40 KiB and notes how often."""

    def __init__(self) -> None:
        self.unpacked: list[str] = []

    def unpack(self, revision: Revision, folder: Path) -> Unpacked:
        self.unpacked.append(revision.version)
        folder.mkdir()
        (folder / "code.py").write_bytes(b"#" * 40 * _KIB)
        return Unpacked(("hulls 1.5",), ("nothing",))


def revision(version: str, digest: str = "ab") -> Revision:
    return Revision(Source("python", "boats", version), version, validator=digest)


def test_what_is_here_is_not_unpacked_again(tmp_path: Path) -> None:
    registry, cache = Registry(), UnpackedPackages(tmp_path, 10**6)
    with cache.open(revision("1"), registry.unpack) as found:
        assert found.unpacked == Unpacked(("hulls 1.5",), ("nothing",))
        first = found.folder
        assert (first / "code.py").stat().st_size == 40 * _KIB
    # Another process finds it, too.
    with UnpackedPackages(tmp_path, 10**6).open(revision("1"), registry.unpack) as found:
        assert (found.folder, found.unpacked.beside) == (first, ("hulls 1.5",))
    with cache.open(revision("1", "cd"), registry.unpack) as found:
        assert found.folder != first
    assert registry.unpacked == ["1", "1"]


def test_of_threads_that_come_at_once_one_unpacks(tmp_path: Path) -> None:
    registry, cache = Registry(), UnpackedPackages(tmp_path, 10**6)
    barrier = threading.Barrier(8)

    def read(_: int) -> bytes:
        barrier.wait()
        with cache.open(revision("1"), registry.unpack) as found:
            return (found.folder / "code.py").read_bytes()[:1]

    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(read, range(8))) == [b"#"] * 8
    assert registry.unpacked == ["1"]


def test_of_processes_that_come_at_once_both_read_one_folder(tmp_path: Path) -> None:
    registry = Registry()
    ours, theirs = UnpackedPackages(tmp_path, 10**6), UnpackedPackages(tmp_path, 10**6)

    def unpack(asked: Revision, folder: Path) -> Unpacked:
        with theirs.open(asked, registry.unpack):
            return registry.unpack(asked, folder)

    with ours.open(revision("1"), unpack) as found, theirs.open(revision("1"), unpack) as other:
        assert found.folder == other.folder
        assert (found.folder / "code.py").is_file()


def test_the_least_recently_used_go_and_those_that_are_read_stay(tmp_path: Path) -> None:
    now = 1000.0
    registry = Registry()
    # Each takes some 50 KiB, so that two fit.
    cache = UnpackedPackages(tmp_path, 120 * _KIB, hold_s=10, clock=lambda: now)
    with cache.open(revision("1"), registry.unpack) as held:
        for version in ("2", "3", "4"):
            now += 100
            with cache.open(revision(version), registry.unpack):
                pass
        assert (held.folder / "code.py").is_file()
    now += 100
    for version in ("4", "3"):
        with cache.open(revision(version), registry.unpack):
            pass
    # The first was read, the last was the newest.
    assert registry.unpacked == ["1", "2", "3", "4", "3"]


def test_nothing_is_left_of_what_failed(tmp_path: Path) -> None:
    def fail(_: Revision, folder: Path) -> Unpacked:
        folder.mkdir()
        (folder / "half.py").write_text("", "utf-8")
        raise UnreadableInput("damaged")

    cache, registry = UnpackedPackages(tmp_path, 10**6), Registry()
    with pytest.raises(UnreadableInput), cache.open(revision("1"), fail):
        pass
    assert not [each for each in tmp_path.rglob("*") if each.is_file()]
    with cache.open(revision("1"), registry.unpack) as found:
        (found.folder.parent / "about.json").write_text("{", "utf-8")
    # What somebody damaged is unpacked again, and what has no digest each time.
    with cache.open(revision("1"), registry.unpack):
        pass
    for _ in range(2):
        with cache.open(revision("5", ""), registry.unpack) as found:
            pass
        assert not found.folder.exists()
    assert registry.unpacked == ["1", "1", "5", "5"]
