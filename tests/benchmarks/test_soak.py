"""What a soak finds is told: losses, failures, and growth between two rests."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import httpx
import pytest

from benchmarks.soak import Rest, Seen, problems

QUIET = Rest(resident=300 << 20, files=80, threads=40, kinds=Counter())


def test_a_server_that_stays_as_it_is_has_no_problem() -> None:
    assert problems(QUIET, replace(QUIET, resident=320 << 20, files=85), [], []) == []


@pytest.mark.parametrize(
    ("last", "told"),
    [
        (replace(QUIET, resident=340 << 20), "memory grew from 300 MiB to 340 MiB"),
        (replace(QUIET, files=100), "files grew from 80 to 100"),
        (replace(QUIET, threads=60), "threads grew from 40 to 60"),
    ],
)
def test_what_grows_is_a_problem(last: Rest, told: str) -> None:
    assert problems(QUIET, last, [], []) == [told]


def test_what_is_lost_or_fails_is_a_problem() -> None:
    found = problems(QUIET, QUIET, ["ask: 500 x", "ask: 500 x"], ["notes/a.md: 404"])
    assert found == ["lost: notes/a.md: 404", "failed: ask: 500 x"]


def test_a_refusal_is_a_failure_unless_something_was_done_to_the_call() -> None:
    seen = Seen()
    for tool, status in (
        ("search_items", 200),
        ("search_items", 503),
        ("verify_code", 413),
        ("search_items", 413),
        ("search_items", 500),
    ):
        seen.note("alone", tool, 0.1, httpx.Response(status, text="told"))
    seen.note("alone", "search_items", 0.1, None)
    assert seen.waits["alone", "search_items"] == [0.1]
    assert seen.faults == ["search_items: 413 told", "search_items: 500 told", "search_items: 0 "]
