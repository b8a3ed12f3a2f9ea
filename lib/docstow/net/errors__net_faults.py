"""What went wrong with an upstream, in words: one error for each kind of fault.

This room knows hosts and statuses. It asks nothing itself, and does not know whether another
attempt follows.
"""

from __future__ import annotations

import math
from typing import Any

import httpx

from docstow.core.errors import DocstowError, UpstreamError, UpstreamTimeout


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
