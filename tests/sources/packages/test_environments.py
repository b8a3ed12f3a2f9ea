"""Fetched packages and environments of them: whole or not there, shared, bounded, never outside."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from multiprocessing.synchronize import Barrier
from pathlib import Path

import pytest

from docstow.core.errors import StoreError, UnreadableInput
from docstow.core.model import Revision, Source
from docstow.net import Fetcher
from docstow.net.decompress import Limits
from docstow.sources.packages import Registry
from docstow.sources.packages.environments import Assembly, PackageFiles, Unpacked, digest_of
from docstow.sources.packages.python_index import PythonIndex
from servers.python_index import PythonIndexServer

KIB, MIB = 1024, 1024 * 1024
#: Every write to it is refused, as a full disk does.
FULL = Path("/dev/full")


def files_of(root: Path) -> set[str]:
    return {each.relative_to(root).as_posix() for each in root.rglob("*") if each.is_file()}


def filled(*names: str, size: int = 10) -> Callable[[Assembly], list[str]]:
    """What makes an environment of packages with one file each."""

    def fill(assembly: Assembly) -> list[str]:
        for name in names:

            def make(folder: Path, name: str = name) -> None:
                (folder / name).mkdir()
                (folder / name / "code.py").write_text("x" * size, "utf-8")

            assembly.link(assembly.unpack(digest_of(name), make))
        return []

    return fill


def test_a_package_is_unpacked_once_for_all_environments(tmp_path: Path) -> None:
    files = PackageFiles(tmp_path / "here", MIB)
    one = files.obtain(digest_of("1"), filled("a", "b"))
    other = files.obtain(digest_of("2"), filled("b", "c"))
    assert files_of(one.root) == {"a/code.py", "b/code.py"}
    assert files_of(other.root) == {"b/code.py", "c/code.py"}
    shared = [(each.root / "b" / "code.py").stat().st_ino for each in (one, other)]
    assert shared[0] == shared[1]
    # Another process finds them.
    again = PackageFiles(tmp_path / "here", MIB).find(digest_of("1"))
    assert again is not None
    assert again.root == one.root


def test_the_least_recently_used_go_with_what_they_are_in(tmp_path: Path) -> None:
    now = [1_000_000.0]
    files = PackageFiles(tmp_path / "here", 30_000, hold_s=60, clock=lambda: now[0])
    for number, name in enumerate(("a", "b", "c")):
        now[0] += 100
        files.obtain(digest_of(str(number)), filled(name, size=8_000))
        # The first is asked for again each time.
        now[0] += 100
        assert files.find(digest_of("0")) is not None
    assert files.find(digest_of("1")) is None
    assert files.find(digest_of("2")) is not None
    left = {each.name for each in (tmp_path / "here" / "packages").iterdir()}
    assert left == {digest_of("a"), digest_of("c")}
    assert len(list((tmp_path / "here" / "environments").iterdir())) == 2


def test_what_is_in_use_stays_beyond_the_limit(tmp_path: Path) -> None:
    files = PackageFiles(tmp_path / "here", 1, hold_s=60)
    for name in ("a", "b"):
        files.obtain(digest_of(name, "environment"), filled(name))
    assert files.find(digest_of("a", "environment")) is not None


def test_what_could_not_be_had_is_tried_again(tmp_path: Path) -> None:
    now = [0.0]
    files = PackageFiles(tmp_path / "here", MIB, clock=lambda: now[0])
    key = digest_of("1")
    made = files.obtain(key, lambda assembly: [*filled("a")(assembly), "b is missing."])
    assert made.missing == ("b is missing.",)
    assert files.find(key) is not None
    now[0] += 3600
    assert files.find(key) is None
    assert files_of(files.obtain(key, filled("a", "b")).root) == {"a/code.py", "b/code.py"}


def die_while_filling(folder: Path) -> None:
    def fill(assembly: Assembly) -> list[str]:
        filled("a")(assembly)
        os.kill(os.getpid(), signal.SIGKILL)
        return []

    PackageFiles(folder, MIB).obtain(digest_of("1"), fill)


def test_a_process_that_is_killed_leaves_nothing_that_answers(tmp_path: Path) -> None:
    folder = tmp_path / "here"
    process = multiprocessing.get_context("spawn").Process(target=die_while_filling, args=(folder,))
    process.start()
    process.join(60)
    assert process.exitcode == -signal.SIGKILL
    later = PackageFiles(folder, MIB, clock=lambda: 4e9)
    assert later.find(digest_of("1")) is None
    assert files_of(later.obtain(digest_of("1"), filled("a", "b")).root) == {
        "a/code.py",
        "b/code.py",
    }
    # What it had begun goes once nobody can be at it any more.
    assert [each.name for each in (folder / "environments").iterdir()] == [digest_of("1")]


def test_what_cannot_be_made_is_not_there(tmp_path: Path) -> None:
    files = PackageFiles(tmp_path / "here", MIB)

    def refuse(folder: Path) -> None:
        (folder / "half.py").write_text("", "utf-8")
        raise UnreadableInput("It is damaged.")

    def fill(assembly: Assembly) -> list[str]:
        assembly.unpack(digest_of("a"), refuse)
        return []

    with pytest.raises(UnreadableInput):
        files.obtain(digest_of("1"), fill)
    assert files.find(digest_of("1")) is None
    assert files_of(tmp_path) == set()


class Unpacks:
    """Unpacks packages of 40 KiB and notes how often."""

    def __init__(self) -> None:
        self.unpacked: list[str] = []

    def unpack(self, revision: Revision, folder: Path) -> Unpacked:
        self.unpacked.append(revision.version)
        folder.mkdir()
        (folder / "code.py").write_bytes(b"#" * 40 * KIB)
        return Unpacked(("hulls 1.5",), ("nothing",))


def revision(version: str, digest: str = "ab") -> Revision:
    return Revision(Source("python", "boats", version), version, validator=digest)


def test_what_is_here_is_not_unpacked_again(tmp_path: Path) -> None:
    registry, cache = Unpacks(), PackageFiles(tmp_path, 10**6)
    with cache.open(revision("1"), registry.unpack) as found:
        assert found.unpacked == Unpacked(("hulls 1.5",), ("nothing",))
        first = found.folder
        assert (first / "code.py").stat().st_size == 40 * KIB
    # Another process finds it, too.
    with PackageFiles(tmp_path, 10**6).open(revision("1"), registry.unpack) as found:
        assert (found.folder, found.unpacked.beside) == (first, ("hulls 1.5",))
    with cache.open(revision("1", "cd"), registry.unpack) as found:
        assert found.folder != first
    assert registry.unpacked == ["1", "1"]


def test_of_threads_that_come_at_once_one_unpacks(tmp_path: Path) -> None:
    registry, cache = Unpacks(), PackageFiles(tmp_path, 10**6)
    barrier = threading.Barrier(8)

    def read(_: int) -> bytes:
        barrier.wait()
        with cache.open(revision("1"), registry.unpack) as found:
            return (found.folder / "code.py").read_bytes()[:1]

    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(read, range(8))) == [b"#"] * 8
    assert registry.unpacked == ["1"]


def test_of_processes_that_come_at_once_both_read_one_folder(tmp_path: Path) -> None:
    registry = Unpacks()
    ours, theirs = PackageFiles(tmp_path, 10**6), PackageFiles(tmp_path, 10**6)

    def unpack(asked: Revision, folder: Path) -> Unpacked:
        with theirs.open(asked, registry.unpack):
            return registry.unpack(asked, folder)

    with ours.open(revision("1"), unpack) as found, theirs.open(revision("1"), unpack) as other:
        assert found.folder == other.folder
        assert (found.folder / "code.py").is_file()


def test_what_is_read_stays_and_the_least_recently_used_go(tmp_path: Path) -> None:
    now = 1000.0
    registry = Unpacks()
    # Each takes some 50 KiB, so that two fit.
    cache = PackageFiles(tmp_path, 100 * KIB, hold_s=10, clock=lambda: now)
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

    cache, registry = PackageFiles(tmp_path, 10**6), Unpacks()
    with pytest.raises(UnreadableInput), cache.open(revision("1"), fail):
        pass
    assert not [each for each in tmp_path.rglob("*") if each.is_file()]
    with cache.open(revision("1"), registry.unpack) as found:
        (found.folder.parent / "facts.json").write_text("{", "utf-8")
    # What somebody damaged is unpacked again, and what has no digest each time.
    with cache.open(revision("1"), registry.unpack):
        pass
    for _ in range(2):
        with cache.open(revision("5", ""), registry.unpack) as found:
            pass
        assert not found.folder.exists()
    assert registry.unpacked == ["1", "1", "5", "5"]


def make_at_once(folder: Path, barrier: Barrier, told: Path) -> None:
    def fill(assembly: Assembly) -> list[str]:
        # Both are at it before either has finished.
        barrier.wait(60)
        return filled("a", "b")(assembly)

    made = PackageFiles(folder, MIB).obtain(digest_of("1"), fill)
    told.write_text(f"{made.root}\n" + "\n".join(sorted(files_of(made.root))), "utf-8")


def test_two_processes_make_one_environment_at_once(tmp_path: Path) -> None:
    context = multiprocessing.get_context("spawn")
    folder, barrier = tmp_path / "here", context.Barrier(2)
    told = [tmp_path / "one", tmp_path / "two"]
    processes = [
        context.Process(target=make_at_once, args=(folder, barrier, each)) for each in told
    ]
    for each in processes:
        each.start()
    for each in processes:
        each.join(120)
    assert [each.exitcode for each in processes] == [0, 0]
    found = PackageFiles(folder, MIB).find(digest_of("1"))
    assert found is not None
    expected = f"{found.root}\na/code.py\nb/code.py"
    assert [each.read_text("utf-8") for each in told] == [expected, expected]
    # Nothing of the slower one is left.
    assert len(list((folder / "environments").iterdir())) == 1
    assert len(list((folder / "packages").iterdir())) == 2


@pytest.mark.skipif(not FULL.exists(), reason="this system has no device that is always full")
def test_a_full_disk_is_told_and_leaves_nothing(tmp_path: Path) -> None:
    files = PackageFiles(tmp_path / "here", MIB)

    def overflow(folder: Path) -> None:
        (folder / "half.py").write_text("x", "utf-8")
        FULL.write_text("x", "utf-8")

    def unpack(_: Revision, folder: Path) -> Unpacked:
        folder.mkdir()
        overflow(folder)
        return Unpacked()

    def fill_package(assembly: Assembly) -> list[str]:
        assembly.unpack(digest_of("a"), overflow)
        return []

    def fill_environment(assembly: Assembly) -> list[str]:
        filled("b")(assembly)
        overflow(assembly.root)
        return []

    told = "No space left on device. Free some space, lower package_bytes"
    with pytest.raises(StoreError, match=told), files.open(revision("1"), unpack):
        pass
    for key, fill in (("1", fill_package), ("2", fill_environment)):
        with pytest.raises(StoreError, match=told):
            files.obtain(digest_of(key), fill)
        assert files.find(digest_of(key)) is None
    # The one package that was whole before the disk was full stays; of the others nothing does.
    kept = files_of(tmp_path / "here" / "packages" / digest_of("b"))
    assert kept == {"facts.json", "tree/b/code.py"}
    assert len(files_of(tmp_path)) == len(kept)
    # With room again the same things are made.
    assert files_of(files.obtain(digest_of("2"), filled("a", "b")).root) == {
        "a/code.py",
        "b/code.py",
    }


def test_what_is_stowed_and_what_is_checked_share_one_limit(tmp_path: Path) -> None:
    now = [1000.0]
    files = PackageFiles(tmp_path, 100 * KIB, hold_s=10, clock=lambda: now[0])
    files.obtain(digest_of("1"), filled("a", size=40 * KIB))
    now[0] += 100
    unpacks = Unpacks()
    with files.open(revision("1"), unpacks.unpack), files.open(revision("2"), unpacks.unpack):
        assert files.find(digest_of("1")) is None
    assert not (tmp_path / "packages" / digest_of("a")).exists()


@pytest.fixture
def server() -> Iterator[PythonIndexServer]:
    with PythonIndexServer() as made:
        yield made


def test_versions_lie_together_with_what_they_need(
    server: PythonIndexServer, tmp_path: Path
) -> None:
    server.add_wheel("boat", "1.0", {"boat/__init__.py": ""}, needs=["oar>=1", "sail"])
    for version in ("1.0", "1.5", "2.0"):
        server.add_wheel("oar", version, {"oar/__init__.py": f"V = {version!r}\n"})
    # A wheel may not put files in another's place, nor outside.
    server.add_wheel("sail", "1.0", {"sail.py": "", "boat/__init__.py": "stolen = 1\n"})
    server.add_wheel("evil", "1.0", {"../../../out.py": ""})
    fetcher = Fetcher("tests")
    index = PythonIndex(fetcher, [Registry(server.url)], limits=Limits(MIB, MIB), python="3.12.1")
    files = PackageFiles(tmp_path / "here", MIB)
    wanted = {name: index.resolve(name) for name in ("boat", "evil")}

    def fill(assembly: Assembly) -> tuple[str, ...]:
        return index.assemble(wanted, assembly, {"oar": "1.5"}.get)  # type: ignore[arg-type]

    made = files.obtain(digest_of("1"), fill)
    fetcher.close()
    site = made.root / "lib" / "python3.12" / "site-packages"
    assert (site / "oar" / "__init__.py").read_text("utf-8") == "V = '1.5'\n"
    assert (site / "boat" / "__init__.py").read_text("utf-8") == ""
    assert (site / "sail.py").is_file()
    assert not (site / "evil").exists()
    assert any(each.startswith("evil 1.0 is missing:") for each in made.missing)
    assert not list(tmp_path.rglob("out.py"))
