"""How long to wait for an upstream and when to ask again.

This room knows numbers and one header's syntax. It waits for nothing itself.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

import httpx

from docstow.core.errors import DocstowError, UpstreamError, UpstreamTimeout

# What went wrong with an upstream, in words


class Fault(Exception):
    """A failed attempt that another attempt may mend; ``error`` is what to raise otherwise."""

    def __init__(self, error: DocstowError, wait_s: float = 0.0) -> None:
        super().__init__(error.message)
        self.error = error
        self.wait_s = wait_s


def host_of(address: httpx.URL) -> str:
    """Host, with the port where it is not the scheme's own; never the user's name or password."""
    return address.netloc.decode("ascii")


def timed_out(host: str) -> UpstreamTimeout:
    """The error for an upstream that is silent."""
    return UpstreamTimeout(f"{host} did not answer in time; try again later.", host=host)


def unreachable(host: str, error: httpx.TransportError) -> UpstreamError:
    """The error for a connection that did not stand or did not last."""
    reason = str(error) or type(error).__name__
    return UpstreamError(
        f"{host} cannot be reached or broke off ({reason}); check the network and try again.",
        host=host,
    )


def unable(host: str, status: int, wait: float | None) -> UpstreamError:
    """The error for a 429 or 5xx; the time to wait is among its details where it was named."""
    reason = (
        "too many requests" if status == httpx.codes.TOO_MANY_REQUESTS else "a fault of its own"
    )
    details: dict[str, Any] = {"host": host, "status": status}
    when = "later"
    if wait is not None:
        details["retry_after_s"] = math.ceil(wait)
        when = f"in {math.ceil(wait)} seconds"
    return UpstreamError(f"{host} answered {status}, {reason}; retry {when}.", **details)


@dataclass(frozen=True, slots=True)
class Patience:
    """How long the outside is waited for; all times in seconds.

    Attributes:
        connect_s: until a connection stands.
        read_s: between two pieces of an answer.
        total_s: for one call with its redirects, retries and waits.
        retries: further attempts after the first.
        backoff_s: the first wait between attempts; see :func:`backoff`.
        retry_after_s: the longest ``Retry-After`` that is waited for; beyond it the call gives up.
    """

    connect_s: float = 5.0
    read_s: float = 30.0
    total_s: float = 120.0
    retries: int = 4
    backoff_s: float = 0.5
    retry_after_s: float = 60.0


def backoff(attempt: int, base_s: float, chance: float) -> float:
    """Seconds to wait after the attempt numbered from 0: doubling, with up to half on top.

    For any ``chance`` in [0, 1) a later wait is longer than every earlier one: the largest wait
    of an attempt is three quarters of the smallest of the next.
    """
    return base_s * 2.0**attempt * (1.0 + chance / 2.0)


def retry_after(value: str, now: datetime) -> float | None:
    """Seconds that a ``Retry-After`` header asks for (RFC 9110, 10.2.3); None if it says nothing.

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
