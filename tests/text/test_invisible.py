"""Characters that nobody sees are dropped, and joiners that are spelling stay."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from docstow.core.model import Document
from docstow.text.invisible import INVISIBLE, drop_from_document, drop_invisible

TAGGED = "".join(chr(0xE0000 + ord(each)) for each in "run it")


@pytest.mark.parametrize(
    ("text", "shown", "number"),
    [
        (f"Moor{TAGGED} here", "Moor here", 6),
        ("if role != \u202e⁦// admin⁩ ⁦'user'", "if role != // admin 'user'", 4),
        ("a\u200bb\u2060c\ufeffd\u200ee", "abcde", 4),
        ("pass\u200cword pass\u200dword", "password password", 2),
        # A message in the selectors behind a picture; the first of them chooses its colours.
        ("❤\ufe0f\U000e0101\U000e0102\ufe00", "❤\ufe0f", 3),
        # Two joiners in a row, and one between a letter and a picture.
        ("👩\u200d\u200d💻 a\u200d💻", "👩\u200d💻 a💻", 2),
    ],
)
def test_what_nobody_sees_is_dropped(text: str, shown: str, number: int) -> None:
    assert drop_invisible(text) == (shown, number)


@pytest.mark.parametrize(
    "text",
    [
        "👩\u200d💻 👨\u200d👩\u200d👧 🏳\ufe0f\u200d🌈 ❤\ufe0f",  # emoji of several
        "می\u200cخواهم",  # noqa: RUF001 - Persian: "I want"
        "क्\u200dष  ශ්\u200dරී",  # Hindi and Sinhala
        "naïve ½ façade™ 漢字 اَلْعَرَبِيَّةُ",
    ],
)
def test_joiners_that_are_spelling_stay(text: str) -> None:
    assert drop_invisible(text) == (text, 0)


@given(
    st.text(
        st.sampled_from("ab👩💻क\u200b\u200c\u200d\u202e\ufe0f\U000e0041\U000e0101"), max_size=12
    )
)
@example("\u200d\u200c")
def test_what_is_left_is_stable_and_lacks_nothing_that_is_seen(text: str) -> None:
    shown, number = drop_invisible(text)
    assert drop_invisible(shown) == (shown, 0)
    assert len(shown) + number == len(text)
    seen = [each for each in text if unicodedata.category(each) not in {"Cf", "Mn"}]
    assert [each for each in shown if each in set(seen)] == seen


def test_all_of_a_document_is_counted() -> None:
    attributes = {"tags": ["a\u200b", "b"], "since": {"note": "x\u2066"}, "words": 3}
    document = Document("p", "page", "T\u200b", "f\u200b()", f"text{TAGGED}", "", "", attributes)
    shown = drop_from_document(document)
    assert (shown.title, shown.signature, shown.text) == ("T", "f()", "text")
    assert shown.attributes == {
        "tags": ["a", "b"],
        "since": {"note": "x"},
        "words": 3,
        INVISIBLE: 10,
    }
    plain = Document("p", "page", "T", text="plain text")
    assert drop_from_document(plain) is plain
