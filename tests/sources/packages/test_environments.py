"""Environments of fetched packages: whole or not there, shared, bounded, never outside."""

from __future__ import annotations

import multiprocessing
import os
import signal
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from docstow.core.errors import UnreadableInput
from docstow.net import Fetcher
from docstow.net.decompress import Limits
from docstow.sources.packages import Registry
from docstow.sources.packages.environments import Assembly, PackageFiles, digest_of
from docstow.sources.packages.python_index import PythonIndex
from servers.python_index import PythonIndexServer

MIB = 1024 * 1024


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
