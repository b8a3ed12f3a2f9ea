"""What reStructuredText costs grows with its length, whatever it is made of."""

from __future__ import annotations

import pytest

from docstow.core.model import File
from docstow.formats import read, survey
from growth import growth

#: Words in which an address could begin anywhere, markup that nothing closes, and what sets up a
#: parser for each line.
UNITS = ("-", "a-", "a:", "/a", "`a ", "*a ", "|a ", "- a\n", "1. a\n\n", ":a: b\n\n", "== ==\n")


@pytest.mark.parametrize("unit", UNITS)
def test_the_cost_grows_with_the_length(unit: str) -> None:
    def cost(times: int) -> None:
        body = (unit * (4000 * times // len(unit)) + " x").encode()
        file = File("a.rst", "https://x.example/a.rst", "", body)
        assert read(file, survey([file])).text

    assert growth(cost) < 2
