"""Patterns that are compiled when they are first used, beside those of ``re``."""

from __future__ import annotations

import re
from unittest.mock import patch

import pytest

from docstow.core.patterns import lazy_pattern


def test_a_pattern_does_what_one_of_the_library_does() -> None:
    word, same = (
        lazy_pattern(r"(?P<first>\w)(\w*)", re.ASCII),
        re.compile(r"(?P<first>\w)(\w*)", re.ASCII),
    )
    text = "two words"
    for found, expected in (
        (word.match(text), same.match(text)),
        (word.search(text, 3), same.search(text, 3)),
        (word.fullmatch(text, 0, 3), same.fullmatch(text, 0, 3)),
    ):
        assert found is not None
        assert expected is not None
        assert (found.span(), found.groupdict()) == (expected.span(), expected.groupdict())
    assert word.sub(r"\2\1", text) == same.sub(r"\2\1", text) == "wot ordsw"
    assert word.subn("", text, 1) == same.subn("", text, 1)
    assert word.split(text) == same.split(text)
    assert word.findall(text) == same.findall(text)
    assert [each.span() for each in word.finditer(text)] == [(0, 3), (4, 9)]
    for name in ("pattern", "flags", "groups", "groupindex"):
        assert getattr(word, name) == getattr(same, name)
    assert lazy_pattern(rb"\d").search(b"a1")


def test_it_is_compiled_once_and_when_it_is_used() -> None:
    with patch("re.compile", wraps=re.compile) as compiled:
        word, wrong = lazy_pattern(r"\w+"), lazy_pattern("(")
        assert compiled.call_count == 0
        assert word.match("a")
        assert word.findall("a b") == ["a", "b"]
        assert compiled.call_count == 1
    with pytest.raises(re.error, match="missing \\), unterminated subpattern"):
        wrong.match("a")
