"""The gate's verdicts, and its measure of requests on a library that is made to ask more."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from benchmarks.gate import SAMPLE, Compared, Side, compare, excused, faults, main
from paths import REPOSITORY

pytestmark = pytest.mark.slow

#: What a checkout is after a change that asks the store once more for each call.
WORSE = """
from docstow.store.objects import DirectoryStore
from docstow.tools import Toolbox
call = Toolbox.call
def ask(toolbox, name, arguments):
    DirectoryStore(STORE).get("heads/none")
    return call(toolbox, name, arguments)
Toolbox.call = ask
"""


@pytest.fixture
def sides(tmp_path: Path) -> Iterator[tuple[Side, Side]]:
    worse = tmp_path / "worse" / "lib"
    worse.mkdir(parents=True)
    # Python runs this before the probe; the library is the same one.
    hook = f"import sys\nsys.path.append({str(REPOSITORY / 'lib')!r})\n{WORSE}"
    place = f"__import__('pathlib').Path({str(tmp_path / 'nothing')!r})"
    (worse / "sitecustomize.py").write_text(hook.replace("STORE", place), "utf-8")
    with ExitStack() as stack:
        made = [Side(root, SAMPLE, "0.1.0") for root in (REPOSITORY, worse.parent)]
        for side in made:
            stack.callback(side.close)
        yield made[0], made[1]


def test_one_more_request_is_told_from_the_same_number(sides: tuple[Side, Side]) -> None:
    base, worse = sides
    found = compare(base, worse, "search", 2)
    assert found.asks_more
    assert found.head_requests == found.base_requests + 10  # one for each of ten questions
    same = compare(base, base, "first search", 2)
    assert not same.asks_more
    assert same.base_requests > 0


def test_what_is_worse_is_said_unless_the_commit_says_it() -> None:
    compared = [
        Compared("search", 1.0, 1.2, 0, 0),
        Compared("item", 1.0, 1.1, 4, 5),
        Compared("pages", 1.0, 0.5, 4, 3),
    ]
    assert faults(compared) == ["search: 1.20 times the CPU", "item: 5 requests, not 4"]
    assert faults(compared, "Rank twice\n\nSlower: search\n") == ["item: 5 requests, not 4"]
    assert excused("Slower: cold search\nSlower down: no") == {"cold search"}


def test_a_base_that_is_not_there_is_said_and_nothing_is_compared(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["0123456789abcdef0123456789abcdef01234567"]) == 0
    assert "nothing is compared" in capsys.readouterr().out
