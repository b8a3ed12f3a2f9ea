"""Errors of requests to upstreams, and the mark of those that a retry may mend."""

from __future__ import annotations

import math
from typing import Any

import httpx

from docstow.core.errors import DocstowError, UpstreamError, UpstreamTimeout


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
