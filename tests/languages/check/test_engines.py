"""Servers of engines: one for each workplace, another one when it has grown or hangs."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from docstow.core.errors import TooLarge
from docstow.languages.shared import engines as engines_module
from docstow.languages.shared.engines import Engine, Engines, Workplace, engine_folder
from docstow.languages.shared.scratch import Scratch
from languages.check.test_language_server import SERVER

ENGINE = Engine("fake", "1", "npm", "fake", ("python",), {}, "MIT")
LONG_S = 60


@pytest.fixture
def engines(tmp_path: Path) -> Iterator[Engines]:
    program = engine_folder(tmp_path, ENGINE) / "python"
    program.parent.mkdir()
    program.symlink_to(Path(sys.executable).resolve())
    (tmp_path / "server.py").write_text(SERVER)
    with contextlib.closing(Engines(tmp_path)) as made:
        yield made


def workplace(tmp_path: Path, key: str = "one") -> Workplace:
    arguments = ("-I", "-S", str(tmp_path / "server.py"))
    reads = [tmp_path, Path(sys.base_prefix)]
    return Workplace(key, {"a.py": ""}, {}, reads, arguments)


def judged(engines: Engines, place: Workplace, code: str) -> tuple[str, int]:
    with engines.at_work((ENGINE, place)) as (server,):
        (said,) = server.judge("a.py", "python", code)
        return said.message, server.pid


def test_a_server_that_hangs_is_ended_and_the_next_code_has_another(
    engines: Engines, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = workplace(tmp_path)
    with monkeypatch.context() as patched:
        patched.setattr(engines_module, "_WAIT_S", 1.0)
        with pytest.raises(TooLarge), engines.at_work((ENGINE, place)) as (server,):
            server.judge("a.py", "python", "hang")
    assert engines.pids() == []
    said, pid = judged(engines, place, "next")
    assert (said, engines.pids()) == ("next", [pid])


def test_servers_that_have_too_much_memory_are_ended_the_last_one_at_last(
    engines: Engines, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = os.getpid()
    sizes = {own: 50}
    monkeypatch.setattr(engines_module, "memory_of", lambda pid: sizes.get(pid, 60))
    monkeypatch.setattr(engines_module, "_MOST_BYTES", 200)
    monkeypatch.setattr(engines_module, "_LEAST_BYTES", 60)
    places = [workplace(tmp_path, f"place {number}") for number in range(3)]
    first, second, third = (judged(engines, place, "x")[1] for place in places)
    assert engines.pids() == [second, third]
    assert judged(engines, places[1], "x")[1] == second
    fourth = judged(engines, places[0], "x")[1]
    assert engines.pids() == [second, fourth]
    assert first not in {second, third, fourth}
    # What lends them has more, and at last more than all may have.
    sizes[own] = 90
    assert judged(engines, places[1], "x")[1] == second
    assert engines.pids() == [second]
    sizes[own] = 300
    assert judged(engines, places[1], "x")[1] == second
    assert engines.pids() == [second]
    sizes[second] = 61
    assert judged(engines, places[1], "x")[1] == second
    assert engines.pids() == []


def test_what_killed_processes_leave_is_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    making = "from docstow.languages.shared.scratch import Scratch; print(Scratch('some-').path)"
    making += "; import os, sys; sys.stdout.flush(); os.kill(os.getpid(), 9)"
    done = subprocess.run(
        [sys.executable, "-c", making],
        env={**os.environ, "TMPDIR": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    left = Path(done.stdout.strip())
    (left / "code").mkdir()
    other = tmp_path / "something-else"
    other.mkdir()
    just_made = tmp_path / "some-without-a-lock-yet"
    just_made.mkdir()
    held = Scratch("some-")
    assert not left.exists()
    with contextlib.closing(Scratch("some-")) as second:
        assert {*tmp_path.iterdir()} == {other, just_made, held.path, second.path}
    held.close()
    assert {*tmp_path.iterdir()} == {other, just_made}


def test_the_folders_of_servers_go_with_them(
    engines: Engines, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(scratch))
    judged(engines, workplace(tmp_path), "x")
    assert list(scratch.rglob("a.py"))
    engines.close()
    assert list(scratch.iterdir()) == []


def test_code_of_one_workplace_is_judged_by_one_server_in_turn(
    engines: Engines, tmp_path: Path
) -> None:
    place = workplace(tmp_path)
    codes = [f"code {number}" for number in range(24)]
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda code: judged(engines, place, code), codes))
    assert [said for said, _ in answers] == codes
    assert {pid for _, pid in answers} == set(engines.pids())
    assert len(engines.pids()) == 1


def test_workplaces_do_not_wait_for_each_other_until_there_are_too_many(
    engines: Engines, tmp_path: Path
) -> None:
    places = [workplace(tmp_path, f"place {number}") for number in range(7)]
    entered = threading.Event()

    def last() -> str:
        entered.set()
        return judged(engines, places[6], "last")[0]

    with ThreadPoolExecutor(1) as pool:
        with contextlib.ExitStack() as held:
            for number, place in enumerate(places[:6]):
                (server,) = held.enter_context(engines.at_work((ENGINE, place)))
                assert server.judge("a.py", "python", str(number))[0].message == str(number)
            waiting = pool.submit(last)
            assert entered.wait(LONG_S)
            assert len(engines.pids()) == 6
            assert not waiting.done()
        assert waiting.result(LONG_S) == "last"
    assert len(engines.pids()) == 6


def test_callers_that_need_two_servers_each_do_not_wait_for_each_other(
    engines: Engines, tmp_path: Path
) -> None:
    """Who took them one by one would hold one each, and wait for ever for another."""

    def both(number: int) -> list[str]:
        pair = [(ENGINE, workplace(tmp_path, f"{number % 8} {each}")) for each in ("a", "b")]
        with engines.at_work(*pair) as servers:
            said = [each.judge("a.py", "python", str(number)) for each in servers]
            return [message.message for (message,) in said]

    with ThreadPoolExecutor(8) as pool:
        futures = [pool.submit(both, number) for number in range(24)]
        answers = [each.result(LONG_S) for each in futures]
    assert answers == [[str(number)] * 2 for number in range(24)]
    assert len(engines.pids()) <= 6
