"""Which version of a Python package a request means."""

from __future__ import annotations

import pytest

from docstow.core.errors import InvalidParameter
from docstow.languages.python.versions import choose, is_pinned, order

KNOWN = ["1.0", "1.1.dev3", "1.1", "1.1.post1", "1.10", "2.0rc1", "1.9.1+local", "not a version"]


@pytest.mark.parametrize(
    ("asked", "chosen"),
    [
        ("", "1.10"), ("latest", "1.10"), ("*", "1.10"), ("1", "1.10"), ("1.1", "1.1"),
        ("v1.1.0", "1.1"), ("1.1.0", "1.1"), ("1.10.0.0", "1.10"), ("1.x", "1.10"),
        ("1.9", "1.9.1+local"), ("==1.1", "1.1"), ("==1.1.*", "1.1.post1"), ("~=1.1", "1.10"),
        ("~=1.1.0", "1.1.post1"), (">=1, <1.9", "1.1.post1"), (">1.1", "1.10"), ("<1.1", "1.0"),
        ("!=1.10", "1.9.1+local"), ("===1.10", "1.10"), ("2", "2.0rc1"), (">=2.0rc1", "2.0rc1"),
        (">=2", None), ("2.0rc1", "2.0rc1"), ("2.0.RC.1", "2.0rc1"), ("==2.0c1", "2.0rc1"),
        ("1.1.dev3", "1.1.dev3"), ("3", None), ("==3.*", None),
        ("not a version", "not a version"),
    ],
)  # fmt: skip
def test_the_newest_that_is_asked_for(asked: str, chosen: str | None) -> None:
    assert choose(asked, KNOWN) == chosen


def test_prereleases_answer_where_there_is_nothing_else() -> None:
    assert choose("", ["0.1a1", "0.1b2"]) == "0.1b2"
    assert choose("<0.1b2", ["0.1a1", "0.1b2"]) == "0.1a1"


@pytest.mark.parametrize("asked", ["^1.2", "1.2 or so", ">=", "=>1", "1 || 2", "x" * 5000, "~1.2"])
def test_what_is_no_request_is_told(asked: str) -> None:
    with pytest.raises(InvalidParameter, match="PEP 440"):
        choose(asked, KNOWN)


@pytest.mark.parametrize(
    ("asked", "pinned"),
    [
        *((each, False) for each in ("", "==1.*", ">=1", "1.x")),
        *((each, True) for each in ("1.0", "==1.0", "===1.0", ">=1,==1.2")),
    ],
)
def test_only_one_version_is_named(asked: str, pinned: bool) -> None:
    assert is_pinned(asked) is pinned


def test_versions_are_ordered_by_pep_440() -> None:
    in_order = ["no version", "1.0.dev1", "1.0a1", "1.0", "1.0.post1", "1.1", "1.10", "1!0.1"]
    mixed = [*in_order[3:], *in_order[:3]]
    assert sorted(mixed, key=order) == in_order
