"""Names that are like a mistyped one, and those that no comparison is spent on."""

from __future__ import annotations

import time

from docstow.core.similar import similar_names


def test_the_nearest_come_first_whatever_their_case() -> None:
    found = similar_names("Tokoi", ["serde", "tokio-util", "tokio"])
    assert [name for name, _ in found] == ["tokio", "tokio-util"]
    assert found[0] == ("tokio", 0.8)
    assert similar_names("tokoi", ["tokio", "tokio"], most=1) == [("tokio", 0.8)]
    assert similar_names("tokoi", ["serde"]) == []


def test_long_texts_cost_nothing() -> None:
    begin = time.process_time()
    names = ["a" * 50_000 + str(number) for number in range(2000)]
    assert similar_names("a" * 1_000_000, [*names, "a" * 199], least=0.9) == [("a" * 199, 0.997)]
    assert time.process_time() - begin < 2
