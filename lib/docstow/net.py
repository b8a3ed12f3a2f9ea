"""HTTP to the outside: caps, redirects, retries, timeouts and politeness around httpx.

This room knows hosts and status codes. It does not know what is fetched, why, or where it goes.
"""

from __future__ import annotations

import math
import random
import threading
import time
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from ipaddress import ip_address
from types import MappingProxyType
from typing import Any

import httpx

from docstow import __version__
from docstow.errors import DocstowError, UpstreamError, UpstreamTimeout
from docstow.patience import Patience, backoff, retry_after
from docstow.unpack import Limits, unpack

_MOST_REDIRECTS = 5
_NO_HEADERS: Mapping[str, str] = MappingProxyType({})
_DEFAULT_LIMITS = Limits()
_DEFAULT_PATIENCE = Patience()


@dataclass(frozen=True, slots=True)
class Answer:
    """What an upstream answered.

    Attributes:
        status: one of the statuses that the caller expected.
        url: the address that answered, after redirects.
        headers: by lower-case name.
        body: decompressed; empty unless the status is 200.
    """

    status: int
    url: str
    headers: Mapping[str, str]
    body: bytes


class Fetcher:
    """GET requests to the outside, shareable among threads.

    Args:
        project_url: where upstreams can read about this client; part of the User-Agent.
        patience: timeouts and retries.
        sleep: waits for the given seconds.
        monotonic: seconds on a clock that never goes back.
        now: the time of day, aware; measures ``Retry-After`` dates.
        chance: numbers in [0, 1) that spread the waits between attempts.
    """

    def __init__(
        self,
        project_url: str,
        *,
        patience: Patience = _DEFAULT_PATIENCE,
        sleep: Callable[[float], None] = time.sleep,
        monotonic: Callable[[], float] = time.monotonic,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
        chance: Callable[[], float] = random.random,
    ) -> None:
        self._patience = patience
        self._sleep = sleep
        self._monotonic = monotonic
        self._now = now
        self._chance = chance
        self._next_slot: dict[str, float] = {}
        self._slots_lock = threading.Lock()
        # A proxy of the environment is for the outside; it cannot reach this machine's loopback.
        direct = {f"all://{host}": None for host in ("localhost", "127.0.0.1", "[::1]")}
        self._client = httpx.Client(
            headers={
                "User-Agent": f"docstow/{__version__} (+{project_url})",
                "Accept-Encoding": "gzip",
            },
            mounts=direct,
        )

    def close(self) -> None:
        """Drop the pooled connections."""
        self._client.close()

    def get(
        self,
        url: str,
        *,
        expected: Collection[int] = (200,),
        headers: Mapping[str, str] = _NO_HEADERS,
        limits: Limits = _DEFAULT_LIMITS,
        interval_s: float = 0.0,
    ) -> Answer:
        """Fetch a URL, decompressing zstd and gzip whatever the headers call them.

        Args:
            url: http or https.
            expected: statuses that are an answer; any other is an error.
            headers: further request headers.
            limits: caps on the body, held while it streams.
            interval_s: the least time between two requests to the same host.

        Raises:
            UpstreamTimeout: no answer within the patience, retries included.
            UpstreamError: unreachable, or a status that was not expected; ``details`` has
                ``host`` and, where there was one, ``status`` (and ``retry_after_s`` after a 429).
            TooLarge: the body exceeds a limit.
            UnreadableInput: the body is a damaged archive.
        """
        call = _Call(
            expected, headers, limits, interval_s, self._monotonic() + self._patience.total_s
        )
        attempt = 0
        while True:
            try:
                return self._follow(httpx.URL(url), call)
            except _Fault as fault:
                self._wait_or_give_up(fault, attempt, call)
                attempt += 1

    def _follow(self, address: httpx.URL, call: _Call) -> Answer:
        """One attempt: the address and whatever it redirects to."""
        for _ in range(1 + _MOST_REDIRECTS):
            self._keep_distance(address.host, call.interval_s)
            outcome = self._ask(address, call)
            if isinstance(outcome, Answer):
                return outcome
            address = outcome
        raise UpstreamError(
            f"{_host(address)} redirects more than {_MOST_REDIRECTS} times; check the configured"
            " URL.",
            host=_host(address),
        )

    def _ask(self, address: httpx.URL, call: _Call) -> Answer | httpx.URL:
        """One request: its answer, or the address that it redirects to."""
        host = _host(address)
        try:
            with self._client.stream(
                "GET", address, headers=dict(call.headers), timeout=self._timeout(host, call)
            ) as response:
                return self._judge(response, call)
        except httpx.TimeoutException as error:
            raise _Fault(_timed_out(host)) from error
        except httpx.TransportError as error:
            reason = str(error) or type(error).__name__
            raise _Fault(
                UpstreamError(
                    f"{host} cannot be reached or broke off ({reason}); check the network and"
                    " try again.",
                    host=host,
                )
            ) from error

    def _judge(self, response: httpx.Response, call: _Call) -> Answer | httpx.URL:
        host, status = _host(response.url), response.status_code
        if status in call.expected:
            return Answer(
                status=status,
                url=str(response.url),
                headers={name.lower(): value for name, value in response.headers.items()},
                body=self._body(response, call) if status == httpx.codes.OK else b"",
            )
        if response.next_request is not None:
            return followed(response.url, response.next_request.url)
        if status == httpx.codes.TOO_MANY_REQUESTS or status >= httpx.codes.INTERNAL_SERVER_ERROR:
            wait = retry_after(response.headers.get("retry-after", ""), self._now())
            raise _Fault(_unable(host, status, wait), wait or 0.0)
        raise UpstreamError(
            f"{host} answered {status} for {response.url.path}; check the configured URL.",
            host=host,
            status=status,
        )

    def _body(self, response: httpx.Response, call: _Call) -> bytes:
        length = response.headers.get("content-length", "")
        return unpack(
            self._in_time(response, call),
            call.limits,
            name=str(response.url),
            declared=int(length) if length.isascii() and length.isdigit() else None,
        )

    def _in_time(self, response: httpx.Response, call: _Call) -> Iterator[bytes]:
        """The body as it was sent; a slow drip is cut at the deadline."""
        for chunk in response.iter_raw():
            yield chunk
            if self._monotonic() > call.deadline:
                raise _timed_out(_host(response.url))

    def _timeout(self, host: str, call: _Call) -> httpx.Timeout:
        left = call.deadline - self._monotonic()
        if left <= 0:
            raise _timed_out(host)
        patience = self._patience
        return httpx.Timeout(min(patience.read_s, left), connect=min(patience.connect_s, left))

    def _keep_distance(self, host: str, interval_s: float) -> None:
        """Wait for this host's next slot; each waiting thread takes a slot of its own."""
        if interval_s <= 0:
            return
        with self._slots_lock:
            now = self._monotonic()
            slot = max(now, self._next_slot.get(host, now))
            self._next_slot[host] = slot + interval_s
        if slot > now:
            self._sleep(slot - now)

    def _wait_or_give_up(self, fault: _Fault, attempt: int, call: _Call) -> None:
        wait = max(backoff(attempt, self._patience.backoff_s, self._chance()), fault.wait_s)
        if (
            attempt >= self._patience.retries
            or fault.wait_s > self._patience.retry_after_s
            or self._monotonic() + wait >= call.deadline
        ):
            raise fault.error from fault.__cause__
        self._sleep(wait)


@dataclass(frozen=True, slots=True)
class _Call:
    """What stays the same through the redirects and retries of one call."""

    expected: Collection[int]
    headers: Mapping[str, str]
    limits: Limits
    interval_s: float
    deadline: float


class _Fault(Exception):
    """A failed attempt that another attempt may mend; ``error`` is what to raise otherwise."""

    def __init__(self, error: DocstowError, wait_s: float = 0.0) -> None:
        super().__init__(error.message)
        self.error = error
        self.wait_s = wait_s


def followed(here: httpx.URL, there: httpx.URL) -> httpx.URL:
    """The address that a redirect leads to, if it may be followed.

    Raises:
        UpstreamError: it is no http address, or it leaves https for a host other than loopback.
    """
    if there.scheme not in {"http", "https"}:
        raise UpstreamError(
            f"{_host(here)} redirects to an address other than http, which is not followed.",
            host=_host(here),
        )
    if here.scheme == "https" and there.scheme == "http" and not _loopback(there.host):
        raise UpstreamError(
            f"{_host(here)} redirects from https to plain http on {_host(there)}, which is not"
            " followed.",
            host=_host(here),
        )
    return there


def _loopback(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _host(address: httpx.URL) -> str:
    """Host, with the port where it is not the scheme's own; never the user's name or password."""
    return address.netloc.decode("ascii")


def _timed_out(host: str) -> UpstreamTimeout:
    return UpstreamTimeout(f"{host} did not answer in time; try again later.", host=host)


def _unable(host: str, status: int, wait: float | None) -> UpstreamError:
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
