"""Sections of pages by the fragments that generators make of headings."""

from __future__ import annotations

import pytest

from docstow.text.sections import find_section

PAGE = """\
# Moorings

Text.

## On `Linux` & co.

Ropes.

```sh
## not a heading
```

### Details

Knots.

## Usage

First.

## Usage

Second.
"""


@pytest.mark.parametrize(
    ("fragment", "first", "last"),
    [
        ("moorings", "# Moorings", "Second."),
        ("on-linux--co", "## On `Linux` & co.", "Knots."),
        ("On_Linux_co", "## On `Linux` & co.", "Knots."),
        ("details", "### Details", "Knots."),
        ("usage", "## Usage", "First."),
        ("usage-1", "## Usage", "Second."),
        ("usage_1", "## Usage", "Second."),
    ],
)
def test_a_section_ends_at_the_next_heading_of_its_level(
    fragment: str, first: str, last: str
) -> None:
    section = find_section(PAGE, fragment)
    assert section is not None
    assert (section.split("\n")[0], section.split("\n")[-2]) == (first, last)


@pytest.mark.parametrize("fragment", ["", "-", "linux", "usage-2", "not-a-heading"])
def test_no_heading_has_the_fragment(fragment: str) -> None:
    assert find_section(PAGE, fragment) is None
