"""Changelogs of the layouts in use, line by line with their versions."""

from __future__ import annotations

import pytest

from docstow.text.changelog import (
    is_guide,
    is_history,
    names_in,
    read_notes,
    title_version,
    version_key,
)
from growth import growth


@pytest.mark.parametrize(
    ("title", "version"),
    [
        ("[1.2.3] - 2024-01-01", "1.2.3"),
        ("[4.0.0](https://forge.test/compare/v3...v4) (2023-05-01)", "4.0.0"),
        ("v1.2.3", "1.2.3"),
        ("v2", "2"),
        ("Version 2.0", "2.0"),
        ("knots 1.10.2", "1.10.2"),
        ("@moor/knots@2.0.0", "2.0.0"),
        ("What's new in 2.0.0 (April 3, 2023)", "2.0.0"),
        ("0.28.0 (28th November, 2024)", "0.28.0"),
        ("5.0.0 / 2024-09-10", "5.0.0"),
        ("2.0.30 - Released: May 5, 2024", "2.0.30"),
        ("1.0.0-rc.1 - 2020-01-01", "1.0.0-rc.1"),
        ("Upgrading to 3.0", "3.0"),
        ("[Unreleased]", ""),
        ("Python 3.8", ""),
        ("Support for knots 4.0 in ropes", ""),
        ("Changes", ""),
    ],
)
def test_a_title_tells_its_version(title: str, version: str) -> None:
    assert title_version(title, "knots") == version


def test_versions_of_texts_are_in_order() -> None:
    ordered = ["1.9", "1.10.0a1", "1.10.0b2", "1.10.0rc1", "1.10", "1.10.1", "2.0"]
    shuffled = [ordered[at] for at in (3, 6, 0, 5, 2, 4, 1)]
    assert sorted(shuffled, key=version_key) == ordered
    assert version_key("v2.0") == version_key("2.0.0")


KEPT = """\
# Changelog

## [Unreleased]

- Not out yet.

## [2.0.0] - 2024-01-01

### Removed

- `tie()`: use `knots.bind`
  instead.

### Fixed

- A leak in `Rope.coil`.

```
## 9.9.9
- code, not a line
```

## [1.9.0]

- Added `knots.bind`.
"""
LISTED = """\
History
=======

2.0.0 / 2024-01-01
------------------

  * remove:
    - `knots.tie` - use `knots.bind`
  * Fix `coil`

1.9.0 / 2023-01-01
------------------

  * Add `bind`
"""
ITEMS = """\
- 2.0.0 (2024-01-01)
  - BREAKING: drop `tie`
- 1.9.0
  - add `bind`
"""
BOLD = """\
**2.0.0**

BREAKING CHANGE: `tie` is gone

**1.9.0**

Adds `bind`
"""


@pytest.mark.parametrize("text", [KEPT, LISTED, ITEMS, BOLD])
def test_lines_stand_below_their_version(text: str) -> None:
    notes = [each for each in read_notes(text, "knots") if each.version]
    tied = [each for each in notes if any(name.endswith("tie") for name in each.names)]
    assert {each.version for each in tied} == {"2.0.0"}
    assert all(each.breaking for each in tied)
    bound = [each for each in notes if "dd" in each.text and "bind" in each.text]
    assert [(each.version, each.breaking) for each in bound] == [("1.9.0", False)]


def test_a_line_is_joined_and_keeps_what_it_is_below_of() -> None:
    notes = read_notes(KEPT, "knots")
    assert [each.text for each in notes if each.version == "2.0.0"] == [
        "`tie()`: use `knots.bind` instead.",
        "A leak in `Rope.coil`.",
    ]
    assert [each.section for each in notes if each.version == "2.0.0"] == ["Removed", "Fixed"]
    nested = next(each for each in read_notes(LISTED) if "knots.tie" in each.names)
    assert nested.section == "History > remove:" or nested.section == "remove:"


def test_names_are_those_in_code_marks_and_such_as_can_be_no_words() -> None:
    text = "Rename `Rope.coil()` and `@tie`; max_len, fromRope and untie() too, see knots.test.org"
    assert names_in(text) == ("Rope.coil", "tie", "max_len", "fromRope", "untie", "knots.test.org")


def test_pages_are_known_by_path_and_title() -> None:
    assert is_history("knots/CHANGELOG")
    assert is_history("knots/docs/release-notes")
    assert is_history("knots/x", "Release notes")
    assert not is_history("knots/exchanges")
    assert is_guide("knots/UPGRADING")
    assert is_guide("knots/docs/migration")
    assert not is_guide("knots/README")


@pytest.mark.parametrize(
    ("begin", "unit"),
    [
        ("## 1.2 ", "1" * 50),
        ("# 1.0.0\n", "- `" * 100_000),
        ("# 1.0.0\n", "a_" * 125_000),
        ("- 1.0.0\n", "  - x\n" * 25_000),
        ("", "| " * 100_000),
        ("# ", "v1." * 75_000),
        ("", ("    " * 20 + "- x:\n") * 5000),
    ],
)
def test_the_cost_of_hostile_texts_grows_with_their_length(begin: str, unit: str) -> None:
    assert len(read_notes(begin + unit * 4 + "x\n", "knots")) <= 40_000
    assert growth(lambda size: read_notes(begin + unit * size + "x\n", "knots")) < 2
