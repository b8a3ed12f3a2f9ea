"""Servers of engines: one for each workplace, another one when it has grown or hangs."""

from __future__ import annotations

import contextlib
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from docstow.core.errors import TooLarge
from docstow.languages.shared import engines as engines_module
from docstow.languages.shared import language_server
from docstow.languages.shared.engines import Engine, Engines, Workplace, engine_folder
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
    with engines.at_work(ENGINE, place) as server:
        (said,) = server.judge("a.py", "python", code)
        return said.message, server.pid


def test_a_server_that_hangs_is_ended_and_the_next_code_has_another(
    engines: Engines, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = workplace(tmp_path)
    with monkeypatch.context() as patched:
        patched.setattr(engines_module, "_WAIT_S", 1.0)
        with pytest.raises(TooLarge), engines.at_work(ENGINE, place) as server:
            server.judge("a.py", "python", "hang")
    assert engines.pids() == []
    said, pid = judged(engines, place, "next")
    assert (said, engines.pids()) == ("next", [pid])


def test_a_server_that_has_grown_is_started_again(
    engines: Engines, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = workplace(tmp_path)
    first = judged(engines, place, "one")
    assert judged(engines, place, "two") == ("two", first[1])
    monkeypatch.setattr(language_server, "_GROWN_BYTES", 1)
    said, pid = judged(engines, place, "three")
    assert (said, engines.pids()) == ("three", [pid])
    assert pid != first[1]


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
    places = [workplace(tmp_path, f"place {number}") for number in range(4)]
    entered = threading.Event()

    def fourth() -> str:
        entered.set()
        return judged(engines, places[3], "fourth")[0]

    with ThreadPoolExecutor(1) as pool:
        with contextlib.ExitStack() as held:
            for number, place in enumerate(places[:3]):
                server = held.enter_context(engines.at_work(ENGINE, place))
                assert server.judge("a.py", "python", str(number))[0].message == str(number)
            waiting = pool.submit(fourth)
            assert entered.wait(LONG_S)
            assert len(engines.pids()) == 3
            assert not waiting.done()
        assert waiting.result(LONG_S) == "fourth"
    assert len(engines.pids()) == 3
