"""The HTTP client: one call with its redirects, retries and pauses, under one deadline.

A download continues where an earlier attempt broke off (RFC 9110, 14): a server that supports
ranges answers 206 with the rest, another answers 200 with the whole, and 416 means that there is no
more.
"""

from __future__ import annotations

import contextlib
import random
import re
import threading
import time
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from ipaddress import ip_address
from pathlib import Path
from types import MappingProxyType
from urllib.parse import urljoin, urlsplit

import httpx

from docstow import __version__
from docstow.core.errors import InvalidParameter, StoreError, TooLarge, UpstreamError
from docstow.net.connection import Connection
from docstow.net.decompress import Limits, decompress
from docstow.net.hosts import AllowedHosts
from docstow.net.retry import (
    RetryableError,
    RetryPolicy,
    backoff,
    connection_error,
    host_of,
    parse_retry_after,
    status_error,
    timeout_error,
    untrusted_error,
)
from docstow.net.ssrf import GuardedTransport

#: Statuses of redirects; ``ask`` of :func:`follow_redirects` returns answers with these.
REDIRECTS = (301, 302, 303, 307, 308)
_MOST_REDIRECTS = 5
_WITH_BODY = (
    httpx.codes.OK,
    httpx.codes.PARTIAL_CONTENT,
    httpx.codes.REQUESTED_RANGE_NOT_SATISFIABLE,
)
_NO_HEADERS: Mapping[str, str] = MappingProxyType({})
_DEFAULT_LIMITS = Limits()
_DEFAULT_POLICY = RetryPolicy()
_DEFAULT_CONNECTION = Connection()


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer of an upstream.

    Attributes:
        status: one of the statuses that the caller expected.
        url: the final address, after redirects.
        headers: by lower-case name.
        body: decompressed; of a GET empty unless the status is 200 (of a range 206), and of a
            download.
    """

    status: int
    url: str
    headers: Mapping[str, str]
    body: bytes


class Fetcher:
    """An HTTP client that threads can share.

    Args:
        project_url: describes this client to upstreams; part of the User-Agent.
        policy: timeouts and retries.
        sleep: waits for the given seconds.
        monotonic: seconds on a clock that never goes back.
        now: the time of day, aware; measures ``Retry-After`` dates.
        chance: returns numbers in [0, 1) that spread the pauses between attempts.
        private: whether hosts on private addresses may be requested, or the names of those that
            may.
        only: the hosts that may be requested, redirects included; None for any.
        connection: certificates and proxies, where private hosts may be requested.

    Raises:
        ConfigurationError: these certificates cannot be read.
    """

    def __init__(
        self,
        project_url: str,
        *,
        policy: RetryPolicy = _DEFAULT_POLICY,
        sleep: Callable[[float], None] = time.sleep,
        monotonic: Callable[[], float] = time.monotonic,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
        chance: Callable[[], float] = random.random,
        private: bool | Collection[str] = True,
        only: AllowedHosts | None = None,
        connection: Connection = _DEFAULT_CONNECTION,
    ) -> None:
        self._policy = policy
        self._only = only
        self._sleep = sleep
        self._monotonic = monotonic
        self._now = now
        self._chance = chance
        self._next_slot: dict[str, float] = {}
        self._slots_lock = threading.Lock()
        self._notice = connection.notice
        context = connection.context()
        self._client = httpx.Client(
            headers={
                "User-Agent": f"docstow/{__version__} (+{project_url})",
                "Accept-Encoding": "gzip",
            },
            verify=context,
            mounts=connection.mounts(context),
            transport=None if private is True else GuardedTransport(private or (), context=context),
            # A proxy would resolve names for itself, past the guard.
            trust_env=private is True and connection.proxy is None,
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
            expected: statuses that are returned; any other is an error.
            headers: further request headers.
            limits: caps on the body, enforced while it streams.
            interval_s: the least time between two requests to the same host; waiting for the
                first does not count as waiting for the answer.
            wanted: takes the headers (by lower-case name) of a 200; False leaves its body unread.

        Raises:
            InvalidParameter: the URL cannot be parsed.
            UpstreamTimeout: no answer within the deadline, retries included.
            UpstreamError: unreachable, or a status that was not expected; ``details`` has
                ``host`` and, where there was one, ``status`` (and ``retry_after_s`` after a 429).
            TooLarge: the body exceeds a limit.
            UnreadableInput: the body is a damaged archive.
        """
        self._await_slot(_parsed(url).host, interval_s)
        call = _Call("GET", expected, headers, self._deadline(), limits, interval_s, wanted=wanted)
        return self._with_retries(url, call)

    def post(
        self,
        url: str,
        content: bytes,
        *,
        expected: Collection[int] = (200,),
        headers: Mapping[str, str] = _NO_HEADERS,
        limits: Limits = _DEFAULT_LIMITS,
        idempotent: bool = True,
    ) -> Answer:
        """Send bytes and return the answer, with retries.

        Redirects are not followed: the content, and any key among the headers, is meant for this
        host.

        Args:
            url: http or https.
            content: the request's body; its media type is among the headers.
            expected: statuses that are returned; any other is an error.
            headers: further request headers.
            limits: caps on the answer's body.
            idempotent: whether it may be sent twice; else only a 429, which says that nothing was
                done, is answered by another attempt.

        Raises:
            UpstreamTimeout, UpstreamError, TooLarge, UnreadableInput: as :meth:`get`.
        """
        call = _Call(
            "POST",
            expected,
            headers,
            self._deadline(),
            limits,
            content=content,
            idempotent=idempotent,
        )
        return self._with_retries(url, call)

    def delete(
        self,
        url: str,
        *,
        expected: Collection[int] = (200,),
        headers: Mapping[str, str] = _NO_HEADERS,
    ) -> Answer:
        """Delete what is at an address, with retries but without redirects; as :meth:`post`."""
        return self._with_retries(url, _Call("DELETE", expected, headers, self._deadline()))

    def download(
        self,
        url: str,
        path: Path,
        *,
        most: int,
        expected: Collection[int] = (200,),
        headers: Mapping[str, str] = _NO_HEADERS,
    ) -> Answer:
        """Download a URL into a file as it is, continuing where an earlier attempt broke off.

        Args:
            url: http or https.
            path: the file; the bytes in it are taken as the beginning. The caller checks the whole.
            most: the largest size in bytes.
            expected: statuses that are returned; those other than 200 leave no file.
            headers: further request headers.

        Raises:
            UpstreamTimeout, UpstreamError, TooLarge: as :meth:`get`; what has arrived stays.
        """
        statuses = {*expected, httpx.codes.PARTIAL_CONTENT}
        statuses.add(httpx.codes.REQUESTED_RANGE_NOT_SATISFIABLE)
        part = PartialFile(path, most)
        return self._with_retries(url, _Call("GET", statuses, headers, self._deadline(), part=part))

    def get_range(
        self,
        url: str,
        begin: int,
        end: int,
        *,
        expected: Collection[int] = (206,),
        headers: Mapping[str, str] = _NO_HEADERS,
    ) -> Answer:
        """Fetch a part of a file as it is: RFC 9110, 14.

        Args:
            url: http or https.
            begin: the first byte; below zero it counts from the end, up to which all is fetched.
            end: the byte after the last one.
            expected: statuses that are returned; only a 206 has a body.
            headers: further request headers.

        Raises:
            UpstreamTimeout, UpstreamError: as :meth:`get`.
            TooLarge: the answer has more than was asked for.
        """
        size = -begin if begin < 0 else end - begin
        asked = f"bytes=-{size}" if begin < 0 else f"bytes={begin}-{end - 1}"
        call = _Call(
            "GET",
            expected,
            {**headers, "Accept-Encoding": "identity", "Range": asked},
            self._deadline(),
            Limits(size, size),
            wanted=lambda answered: "content-range" in answered,
            raw=True,
        )
        return self._with_retries(url, call)

    def _deadline(self) -> float:
        return self._monotonic() + self._policy.total_s

    def _with_retries(self, url: str, call: _Call) -> Answer:
        attempt, address = 0, _parsed(url)
        while True:
            try:
                return self._follow(address, call)
            except RetryableError as failure:
                self._pause_or_raise(failure, attempt, call)
                self._await_slot(address.host, call.interval_s)
                attempt += 1

    def _follow(self, address: httpx.URL, call: _Call) -> Answer:
        """Make one attempt: request the address and what it redirects to."""
        redirects = _MOST_REDIRECTS if call.method == "GET" else 0
        for _ in range(1 + redirects):
            outcome = self._request(address, call)
            if isinstance(outcome, Answer):
                return outcome
            address = outcome
            self._await_slot(address.host, call.interval_s)
        raise UpstreamError(
            f"{host_of(address)} redirects more than {redirects} times; check the configured URL.",
            host=host_of(address),
        )

    def _request(self, address: httpx.URL, call: _Call) -> Answer | httpx.URL:
        """Return the answer to one request, or the address that it redirects to."""
        host = host_of(address)
        if self._only is not None:
            self._only.check(address.netloc.decode("ascii"))
        try:
            with self._client.stream(
                call.method,
                address,
                headers={**call.headers, **(call.part.headers() if call.part else {})},
                content=call.content,
                timeout=self._timeout(host, call),
            ) as response:
                return self._evaluate(response, call)
        except httpx.TimeoutException as error:
            raise RetryableError(timeout_error(host)) from error
        except httpx.TransportError as error:
            if "CERTIFICATE_VERIFY_FAILED" in str(error):
                raise untrusted_error(host, error, self._notice) from error
            raise RetryableError(connection_error(host, error)) from error

    def _evaluate(self, response: httpx.Response, call: _Call) -> Answer | httpx.URL:
        host, status = host_of(response.url), response.status_code
        if status in call.expected:
            headers = {name.lower(): value for name, value in response.headers.items()}
            taken = (status in _WITH_BODY or call.method == "POST") and call.wanted(headers)
            body = self._body(response, call) if taken else b""
            return Answer(status, str(response.url), headers, body)
        if response.next_request is not None:
            return checked_redirect(response.url, response.next_request.url)
        if status == httpx.codes.TOO_MANY_REQUESTS or status >= httpx.codes.INTERNAL_SERVER_ERROR:
            wait = parse_retry_after(response.headers.get("retry-after", ""), self._now())
            raise RetryableError(status_error(host, status, wait), wait or 0.0)
        raise UpstreamError(
            f"{host} answered {status} for {response.url.path}; check the configured URL.",
            host=host,
            status=status,
        )

    def _body(self, response: httpx.Response, call: _Call) -> bytes:
        if call.part is not None:
            call.part.append(response, self._until_deadline(response, call))
            return b""
        if call.raw:
            return self._raw_body(response, call)
        length = response.headers.get("content-length", "")
        return decompress(
            self._until_deadline(response, call),
            call.limits,
            name=str(response.url),
            declared=int(length) if length.isascii() and length.isdigit() else None,
        )

    def _raw_body(self, response: httpx.Response, call: _Call) -> bytes:
        body = bytearray()
        for piece in self._until_deadline(response, call):
            body += piece
            if len(body) > call.limits.compressed:
                raise TooLarge(
                    f"{host_of(response.url)} sent more than the part that was asked for.",
                    limit=call.limits.compressed,
                )
        return bytes(body)

    def _until_deadline(self, response: httpx.Response, call: _Call) -> Iterator[bytes]:
        """Yield the raw body; raise when a slow one passes the deadline."""
        for chunk in response.iter_raw():
            yield chunk
            if self._monotonic() > call.deadline:
                raise timeout_error(host_of(response.url))

    def _timeout(self, host: str, call: _Call) -> httpx.Timeout:
        left = call.deadline - self._monotonic()
        if left <= 0:
            raise timeout_error(host)
        policy = self._policy
        return httpx.Timeout(min(policy.read_s, left), connect=min(policy.connect_s, left))

    def _await_slot(self, host: str, interval_s: float) -> None:
        """Sleep until the next slot of a host; each waiting thread takes a slot of its own."""
        if interval_s <= 0:
            return
        with self._slots_lock:
            now = self._monotonic()
            slot = max(now, self._next_slot.get(host, now))
            self._next_slot[host] = slot + interval_s
        if slot > now:
            self._sleep(slot - now)

    def _pause_or_raise(self, failure: RetryableError, attempt: int, call: _Call) -> None:
        pause = max(backoff(attempt, self._policy.backoff_s, self._chance()), failure.wait_s)
        if (
            attempt >= self._policy.retries
            or failure.wait_s > self._policy.retry_after_s
            or not (call.idempotent or _says_too_many(failure))
            or self._monotonic() + pause >= call.deadline
        ):
            raise failure.error from failure.__cause__
        self._sleep(pause)


@dataclass(frozen=True, slots=True)
class _Call:
    """The parameters of one call, the same for its redirects and retries."""

    method: str
    expected: Collection[int]
    headers: Mapping[str, str] = field(repr=False)  # some are secret
    deadline: float
    limits: Limits = _DEFAULT_LIMITS
    interval_s: float = 0.0
    content: bytes = b""
    part: PartialFile | None = None
    idempotent: bool = True
    wanted: Callable[[Mapping[str, str]], bool] = lambda _: True
    raw: bool = False  # whether the body is taken as it is


def _parsed(url: str) -> httpx.URL:
    try:
        return httpx.URL(url)
    except (httpx.InvalidURL, ValueError) as error:
        raise InvalidParameter("url", f"cannot be asked for ({error})") from None


def _says_too_many(failure: RetryableError) -> bool:
    return failure.error.details.get("status") == httpx.codes.TOO_MANY_REQUESTS


def checked_redirect(here: httpx.URL, there: httpx.URL) -> httpx.URL:
    """Return the address that a redirect leads to, if it may be followed.

    Raises:
        UpstreamError: it is not an http address, or leaves https for a host other than loopback.
    """
    if there.scheme not in {"http", "https"}:
        raise UpstreamError(
            f"{host_of(here)} redirects to an address other than http, which is not followed.",
            host=host_of(here),
        )
    if here.scheme == "https" and there.scheme == "http" and not _loopback(there.host):
        raise UpstreamError(
            f"{host_of(here)} redirects from https to plain http on {host_of(there)}, which is not"
            " followed.",
            host=host_of(here),
        )
    return there


def is_untapped(url: str) -> bool:
    """Return whether what is fetched cannot be changed on its way: by TLS, or on this machine."""
    parts = urlsplit(url)
    return parts.scheme == "https" or _loopback(parts.hostname or "")


def _loopback(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def follow_redirects(url: str, ask: Callable[[str, bool], Answer]) -> Answer:
    """Request an address and follow its redirects one by one.

    Args:
        url: http or https.
        ask: requests one address; its second argument is whether secret headers may be sent,
            which is until the first redirect to another host.

    Raises:
        UpstreamError: the redirects do not end, or lead from https to plain http or elsewhere.
    """
    own = True
    home = origin_of(url)
    for _ in range(1 + _MOST_REDIRECTS):
        answer = ask(url, own)
        if answer.status not in REDIRECTS:
            return answer
        host = host_name(url)
        try:
            there = urljoin(url, answer.headers.get("location", ""))
            scheme = urlsplit(there).scheme
        except ValueError:
            there = scheme = ""
        if scheme not in {"https", urlsplit(url).scheme}:
            raise UpstreamError(
                f"{host} redirects to an address that is not https, which is not followed.",
                host=host,
            )
        url = there
        # A redirect back from another host is that host's request, not ours.
        own = own and origin_of(url) == home
    raise UpstreamError(
        f"{host_name(url)} redirects too often; check the configured URL.", host=host_name(url)
    )


def origin_of(url: str) -> tuple[str, str]:
    """Return scheme and host with port: what secret headers are meant for."""
    parts = urlsplit(url)
    return parts.scheme, parts.netloc.lower()


def host_name(url: str) -> str:
    """Return host and port of an address for messages; never credentials."""
    return urlsplit(url).netloc.rpartition("@")[2]


class PartialFile:
    """The part of a download that has arrived, on disk, so that another attempt can continue.

    Args:
        path: the file; bytes in it count as the beginning of the download.
        most: the largest size in bytes.
    """

    def __init__(self, path: Path, most: int) -> None:
        self.path = path
        self._most = most
        self._etag = ""

    def headers(self) -> Mapping[str, str]:
        """Return headers that request the missing rest, or the whole if the file has changed."""
        # A range counts the bytes of one encoding.
        headers = {"Accept-Encoding": "identity"}
        if size := self._size():
            headers["Range"] = f"bytes={size}-"
            if self._etag:
                headers["If-Range"] = self._etag
        return headers

    def append(self, response: httpx.Response, pieces: Iterator[bytes]) -> None:
        """Append the body of an answer.

        Raises:
            TooLarge: the file would exceed its limit.
            RetryableError: the answer does not fit the part, which is deleted.
            StoreError: it cannot be written.
        """
        size = self._size()
        begin, total = content_range(response.headers.get("content-range", ""))
        if response.status_code == httpx.codes.REQUESTED_RANGE_NOT_SATISFIABLE:
            if size and total == size:
                return
            self._discard(response)
        if response.status_code == httpx.codes.PARTIAL_CONTENT and begin != size:
            self._discard(response)
        if response.status_code == httpx.codes.OK:
            size = 0
        etag = response.headers.get("etag", "")
        self._etag = "" if etag.startswith("W/") else etag
        with _write_errors():
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with self.path.open("ab" if size else "wb") as file:
                for piece in pieces:
                    size += len(piece)
                    if size > self._most:
                        raise TooLarge(
                            f"{response.url.path} is larger than {self._most} bytes, the most that"
                            " is fetched.",
                            limit=self._most,
                        )
                    file.write(piece)

    def _size(self) -> int:
        return self.path.stat().st_size if self.path.exists() else 0

    def _discard(self, response: httpx.Response) -> None:
        self.path.unlink(missing_ok=True)
        host = host_of(response.url)
        raise RetryableError(
            UpstreamError(f"{host} sent another range than was asked for; try again.", host=host)
        )


@contextlib.contextmanager
def _write_errors() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise StoreError(
            f"What is fetched cannot be kept: {error.strerror or error}. Free some space on the"
            " disk of temporary files."
        ) from error


def content_range(value: str) -> tuple[int | None, int | None]:
    """Return first byte and total size of a ``Content-Range`` header, each None if not given."""
    match = re.fullmatch(r"bytes (?:(\d+)-\d+|\*)/(?:(\d+)|\*)", value)
    if match is None:
        return None, None
    return (int(match[1]) if match[1] else None), (int(match[2]) if match[2] else None)
