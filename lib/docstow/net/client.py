"""The fetcher: one call with its redirects, retries and waits.

This room knows the order of attempts and the deadline of a call. It does not know what is fetched.
"""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from types import MappingProxyType

import httpx

from docstow import __version__
from docstow.core.errors import InvalidParameter, UpstreamError
from docstow.net.decompress import Limits, unpack
from docstow.net.errors import (
    Fault,
    Patience,
    backoff,
    host_of,
    retry_after,
    timed_out,
    unable,
    unreachable,
)
from docstow.net.ranges import PartFile
from docstow.net.redirects import followed
from docstow.net.ssrf import GuardedTransport

_MOST_REDIRECTS = 5
_WITH_BODY = (
    httpx.codes.OK,
    httpx.codes.PARTIAL_CONTENT,
    httpx.codes.REQUESTED_RANGE_NOT_SATISFIABLE,
)
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
        body: decompressed; empty unless the status is 200, and of a download.
    """

    status: int
    url: str
    headers: Mapping[str, str]
    body: bytes


class Fetcher:
    """Requests to the outside, shareable among threads.

    Args:
        project_url: where upstreams can read about this client; part of the User-Agent.
        patience: timeouts and retries.
        sleep: waits for the given seconds.
        monotonic: seconds on a clock that never goes back.
        now: the time of day, aware; measures ``Retry-After`` dates.
        chance: numbers in [0, 1) that spread the waits between attempts.
        private: whether hosts on private addresses may be asked, or the names of those that may.
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
        private: bool | Collection[str] = True,
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
            transport=None if private is True else GuardedTransport(private or ()),
            # A proxy would resolve names for itself, past the guard.
            trust_env=private is True,
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
        wanted: Callable[[Mapping[str, str]], bool] = lambda _: True,
    ) -> Answer:
        """Fetch a URL, decompressing zstd and gzip whatever the headers call them.

        Args:
            url: http or https.
            expected: statuses that are an answer; any other is an error.
            headers: further request headers.
            limits: caps on the body, held while it streams.
            interval_s: the least time between two requests to the same host; waiting for the
                first does not count as waiting for the answer.
            wanted: is given the headers (by lower-case name) of a 200; False leaves its body.

        Raises:
            InvalidParameter: that is no address.
            UpstreamTimeout: no answer within the patience, retries included.
            UpstreamError: unreachable, or a status that was not expected; ``details`` has
                ``host`` and, where there was one, ``status`` (and ``retry_after_s`` after a 429).
            TooLarge: the body exceeds a limit.
            UnreadableInput: the body is a damaged archive.
        """
        try:
            host = httpx.URL(url).host
        except httpx.InvalidURL as error:
            raise InvalidParameter("url", f"cannot be asked for ({error})") from None
        self._keep_distance(host, interval_s)
        call = _Call("GET", expected, headers, self._deadline(), limits, interval_s, wanted=wanted)
        return self._tried(url, call)

    def post(
        self,
        url: str,
        content: bytes,
        *,
        headers: Mapping[str, str] = _NO_HEADERS,
        limits: Limits = _DEFAULT_LIMITS,
    ) -> Answer:
        """Send bytes and take the answer; sent again after a fault, as :meth:`get` asks again.

        So this is for what may be done twice. Redirects are not followed: the content, and any
        key among the headers, is meant for this host.

        Args:
            url: http or https.
            content: the request's body; its media type is among the headers.
            headers: further request headers.
            limits: caps on the answer's body.

        Raises:
            UpstreamTimeout, UpstreamError, TooLarge, UnreadableInput: as :meth:`get`.
        """
        call = _Call("POST", (httpx.codes.OK,), headers, self._deadline(), limits, content=content)
        return self._tried(url, call)

    def download(
        self,
        url: str,
        path: Path,
        *,
        most: int,
        expected: Collection[int] = (200,),
        headers: Mapping[str, str] = _NO_HEADERS,
    ) -> Answer:
        """Fetch a URL into a file as it is, going on where an earlier attempt broke off.

        Args:
            url: http or https.
            path: the file; bytes that it has already are taken as the beginning. The caller knows
                whether that is right, and checks the whole.
            most: the largest size in bytes.
            expected: statuses that are an answer; those other than 200 leave no file.
            headers: further request headers.

        Raises:
            UpstreamTimeout, UpstreamError, TooLarge: as :meth:`get`; what has arrived stays.
        """
        statuses = {*expected, httpx.codes.PARTIAL_CONTENT}
        statuses.add(httpx.codes.REQUESTED_RANGE_NOT_SATISFIABLE)
        part = PartFile(path, most)
        return self._tried(url, _Call("GET", statuses, headers, self._deadline(), part=part))

    def _deadline(self) -> float:
        return self._monotonic() + self._patience.total_s

    def _tried(self, url: str, call: _Call) -> Answer:
        """The answer of the first attempt that succeeds."""
        attempt = 0
        while True:
            try:
                return self._follow(httpx.URL(url), call)
            except Fault as fault:
                self._wait_or_give_up(fault, attempt, call)
                self._keep_distance(httpx.URL(url).host, call.interval_s)
                attempt += 1

    def _follow(self, address: httpx.URL, call: _Call) -> Answer:
        """One attempt: the address and whatever it redirects to."""
        redirects = _MOST_REDIRECTS if call.method == "GET" else 0
        for _ in range(1 + redirects):
            outcome = self._ask(address, call)
            if isinstance(outcome, Answer):
                return outcome
            address = outcome
            self._keep_distance(address.host, call.interval_s)
        raise UpstreamError(
            f"{host_of(address)} redirects more than {redirects} times; check the configured URL.",
            host=host_of(address),
        )

    def _ask(self, address: httpx.URL, call: _Call) -> Answer | httpx.URL:
        """One request: its answer, or the address that it redirects to."""
        host = host_of(address)
        try:
            with self._client.stream(
                call.method,
                address,
                headers={**call.headers, **(call.part.headers() if call.part else {})},
                content=call.content,
                timeout=self._timeout(host, call),
            ) as response:
                return self._judge(response, call)
        except httpx.TimeoutException as error:
            raise Fault(timed_out(host)) from error
        except httpx.TransportError as error:
            raise Fault(unreachable(host, error)) from error

    def _judge(self, response: httpx.Response, call: _Call) -> Answer | httpx.URL:
        host, status = host_of(response.url), response.status_code
        if status in call.expected:
            headers = {name.lower(): value for name, value in response.headers.items()}
            taken = status in _WITH_BODY and call.wanted(headers)
            body = self._body(response, call) if taken else b""
            return Answer(status, str(response.url), headers, body)
        if response.next_request is not None:
            return followed(response.url, response.next_request.url)
        if status == httpx.codes.TOO_MANY_REQUESTS or status >= httpx.codes.INTERNAL_SERVER_ERROR:
            wait = retry_after(response.headers.get("retry-after", ""), self._now())
            raise Fault(unable(host, status, wait), wait or 0.0)
        raise UpstreamError(
            f"{host} answered {status} for {response.url.path}; check the configured URL.",
            host=host,
            status=status,
        )

    def _body(self, response: httpx.Response, call: _Call) -> bytes:
        if call.part is not None:
            call.part.take(response, self._in_time(response, call))
            return b""
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
                raise timed_out(host_of(response.url))

    def _timeout(self, host: str, call: _Call) -> httpx.Timeout:
        left = call.deadline - self._monotonic()
        if left <= 0:
            raise timed_out(host)
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

    def _wait_or_give_up(self, fault: Fault, attempt: int, call: _Call) -> None:
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

    method: str
    expected: Collection[int]
    headers: Mapping[str, str] = field(repr=False)  # some are secret
    deadline: float
    limits: Limits = _DEFAULT_LIMITS
    interval_s: float = 0.0
    content: bytes = b""
    part: PartFile | None = None
    wanted: Callable[[Mapping[str, str]], bool] = lambda _: True
