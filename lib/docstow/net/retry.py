"""The retry policy: timeouts, pauses, ``Retry-After``, and which errors a retry may mend."""

from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

import httpx

from docstow.core.errors import DocstowError, UpstreamError, UpstreamTimeout


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


class RetryableError(Exception):
    """A failed attempt that a retry may mend; ``error`` is raised when there is none.

    ``wait_s`` is the pause that the upstream asks for, in seconds.
    """

    def __init__(self, error: DocstowError, wait_s: float = 0.0) -> None:
        super().__init__(error.message)
        self.error = error
        self.wait_s = wait_s


def host_of(address: httpx.URL) -> str:
    """Return host and port, the port only if it is not the scheme's default; never credentials."""
    return address.netloc.decode("ascii")


def timeout_error(host: str) -> UpstreamTimeout:
    """Return the error for an upstream that does not answer."""
    return UpstreamTimeout(f"{host} did not answer in time; try again later.", host=host)


def connection_error(host: str, error: httpx.TransportError) -> UpstreamError:
    """Return the error for a connection that failed or broke."""
    reason = str(error) or type(error).__name__
    return UpstreamError(
        f"{host} cannot be reached or broke off ({reason}); check the network and try again.",
        host=host,
    )


def untrusted_error(host: str, error: httpx.TransportError, notice: str) -> UpstreamError:
    """Return the error for a host whose certificate no trusted authority has signed."""
    return UpstreamError(
        f"The certificate of {host} is not trusted ({error}). Name its authority where the"
        " installer has it (cert of pip, cafile of npm), or in SSL_CERT_FILE."
        f"{' ' if notice else ''}{notice}",
        host=host,
    )


def status_error(host: str, status: int, wait: float | None) -> UpstreamError:
    """Return the error for a 429 or 5xx; ``wait`` (in seconds) goes into its details."""
    reason = (
        "too many requests" if status == httpx.codes.TOO_MANY_REQUESTS else "a fault of its own"
    )
    details: dict[str, Any] = {"host": host, "status": status}
    when = "later"
    if wait is not None:
        details["retry_after_s"] = math.ceil(wait)
        when = f"in {math.ceil(wait)} seconds"
    return UpstreamError(f"{host} answered {status}, {reason}; retry {when}.", **details)
