"""Names that are like a mistyped one, and those that no comparison is spent on."""

from __future__ import annotations

from docstow.core.similar import similar_names
from growth import growth


def test_the_nearest_come_first_whatever_their_case() -> None:
    found = similar_names("Tokoi", ["serde", "tokio-util", "tokio"])
    assert [name for name, _ in found] == ["tokio", "tokio-util"]
    assert found[0] == ("tokio", 0.8)
    assert similar_names("tokoi", ["tokio", "tokio"], most=1) == [("tokio", 0.8)]
    assert similar_names("tokoi", ["serde"]) == []


def test_long_texts_cost_no_more_than_short_ones() -> None:
    def suggest(size: int) -> list[tuple[str, float]]:
        names = ["a" * (12_500 * size) + str(number) for number in range(500)]
        return similar_names("a" * (250_000 * size), [*names, "a" * 199], least=0.9)

    assert suggest(4) == [("a" * 199, 0.997)]
    assert growth(suggest) < 2
