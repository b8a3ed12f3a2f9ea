"""Waits grow strictly whatever chance says; Retry-After is read in both of its forms."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from docstow.net.retry import backoff, parse_retry_after

CHANCES = st.floats(min_value=0, max_value=1, exclude_max=True)
NOON = datetime(2026, 11, 21, 12, tzinfo=UTC)


@given(
    attempt=st.integers(min_value=0, max_value=60),
    base_s=st.floats(min_value=0.001, max_value=60),
    chances=st.tuples(CHANCES, CHANCES),
)
def test_every_wait_is_longer_than_the_one_before(
    attempt: int, base_s: float, chances: tuple[float, float]
) -> None:
    before, after = backoff(attempt, base_s, chances[0]), backoff(attempt + 1, base_s, chances[1])
    assert base_s * 2**attempt <= before < after


def test_the_first_wait_is_the_base_with_up_to_half_on_top() -> None:
    assert [backoff(0, 0.5, chance) for chance in (0.0, 0.5, 0.999)] == [0.5, 0.625, 0.74975]


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        ("0", 0.0),
        (" 120 ", 120.0),
        ("Sat, 21 Nov 2026 12:00:30 GMT", 30.0),
        ("Sat, 21 Nov 2026 13:00:30 +0100", 30.0),
        ("Sat, 21 Nov 2026 12:00:30 -0000", 30.0),
        ("Sat, 21 Nov 2026 11:00:00 GMT", 0.0),
        ("", None),
        ("soon", None),
        ("-5", None),
        ("1.5", None),
        ("\u0661", None),
    ],
)
def test_retry_after(value: str, seconds: float | None) -> None:
    assert parse_retry_after(value, NOON) == seconds
