"""Texts that were made lately."""

from __future__ import annotations

from collections import Counter

from docstow.core.recent import RecentTexts


def test_texts_are_made_again_only_when_there_is_no_room_for_them() -> None:
    made = Counter[str]()
    texts = RecentTexts(10)

    def ask(key: str, size: int) -> None:
        def make() -> str:
            made[key] += 1
            return key * size

        assert texts.get(key, make) == key * size

    for key in "abab":
        ask(key, 4)
    assert made == {"a": 1, "b": 1}
    ask("a", 4)
    ask("c", 4)  # "b" has not been asked for the longest
    ask("a", 4)
    assert made == {"a": 1, "b": 1, "c": 1}
    ask("b", 4)
    assert made["b"] == 2
    ask("long", 4)  # is longer than all may be together
    ask("a", 4)
    assert made == {"a": 2, "b": 2, "c": 1, "long": 1}
