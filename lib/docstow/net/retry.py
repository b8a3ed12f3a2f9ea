"""The retry policy: timeouts, pauses between attempts, and the ``Retry-After`` header."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """Timeouts and retries of a client; all times in seconds.

    Attributes:
        connect_s: for opening a connection.
        read_s: between two pieces of an answer.
        total_s: for one call, its redirects, retries and pauses included.
        retries: further attempts after the first.
        backoff_s: the first pause between attempts; see :func:`backoff`.
        retry_after_s: the longest ``Retry-After`` that is waited for; beyond it the call gives up.
    """

    connect_s: float = 5.0
    read_s: float = 30.0
    total_s: float = 120.0
    retries: int = 4
    backoff_s: float = 0.5
    retry_after_s: float = 60.0


def backoff(attempt: int, base_s: float, chance: float) -> float:
    """Return the pause after an attempt, counted from 0, in seconds: doubling, plus up to half.

    For any ``chance`` in [0, 1) a later pause is longer than every earlier one: the longest pause
    of an attempt is three quarters of the shortest of the next.
    """
    return base_s * 2.0**attempt * (1.0 + chance / 2.0)


def parse_retry_after(value: str, now: datetime) -> float | None:
    """Return the seconds that a ``Retry-After`` header asks for (RFC 9110, 10.2.3), or None.

    Args:
        value: a number of seconds or an HTTP date.
        now: the time that a date is measured from, aware.
    """
    text = value.strip()
    if text.isascii() and text.isdigit():
        return float(text)
    try:
        moment = parsedate_to_datetime(text)
    except ValueError:
        return None
    # A date with the zone "-0000" is parsed as naive; it is UTC all the same.
    aware = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return max(0.0, (aware - now).total_seconds())
