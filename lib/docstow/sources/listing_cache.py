"""A cache of what registries list of each package, revalidated by ETags or dates."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, TypeVar

from docstow.core.errors import UpstreamError, UpstreamTimeout

if TYPE_CHECKING:
    from docstow.net import Answer

_T = TypeVar("_T")
#: Statuses that mean "no such package": https://doc.rust-lang.org/cargo/reference/registry-index.html
ABSENT = frozenset({404, 410, 451})
#: The statuses that a request for a listing expects.
EXPECTED = frozenset({200, 304}) | ABSENT
_NO_HEADERS: Mapping[str, str] = {}
_SERVER_FAULT = 500
_TOO_MANY = 429


@dataclass(frozen=True, slots=True)
class _Cached(Generic[_T]):
    value: _T | None
    #: What another request says, so that it costs no body while the listing is the same.
    conditions: Mapping[str, str]
    until: float


class ListingCache(Generic[_T]):
    """Listings by address. Safe to share between threads; one for each registry.

    Args:
        ask: requests an address with further headers; answers with one of :data:`EXPECTED`.
        ttl_s: how long a listing is cached, after which it is revalidated.
        retry_s: how long "no such package" and "unreachable" are cached.
        most: number of listings; one of many versions takes megabytes.
        monotonic: seconds on a clock that never goes back.
    """

    def __init__(
        self,
        ask: Callable[[str, Mapping[str, str]], Answer],
        *,
        ttl_s: float = 600.0,
        retry_s: float = 30.0,
        most: int = 64,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._ask = ask
        self._ttl_s = ttl_s
        self._retry_s = retry_s
        self._most = most
        self._monotonic = monotonic
        self._lock = threading.Lock()
        self._cache: OrderedDict[str, _Cached[_T]] = OrderedDict()
        self._error: UpstreamError | UpstreamTimeout | None = None
        self._error_until = 0.0

    def get(
        self,
        url: str,
        read: Callable[[Answer], _T | None],
        headers: Mapping[str, str] = _NO_HEADERS,
    ) -> _T | None:
        """Return the listing at an address; None where the registry has no such package.

        Args:
            url: of the listing.
            read: parses an answer with status 200; None where it lists nothing.
            headers: of the request.

        Raises:
            UpstreamError, UpstreamTimeout: the registry does not answer and nothing is cached.
        """
        with self._lock:
            known = self._cache.get(url)
        if known is not None and self._monotonic() < known.until:
            return known.value
        try:
            fresh = self._request_unless_down(url, read, headers, known)
        except (UpstreamError, UpstreamTimeout):
            # A stale list of versions is better than none while the registry does not answer.
            if known is not None and known.value is not None:
                return known.value
            raise
        with self._lock:
            self._cache[url] = fresh
            self._cache.move_to_end(url)
            if len(self._cache) > self._most:
                self._cache.popitem(last=False)
        return fresh.value

    def cached(self, url: str) -> _T | None:
        """Return the listing at an address if it is here, however old; nothing is asked."""
        with self._lock:
            known = self._cache.get(url)
        return known.value if known is not None else None

    def _request_unless_down(
        self,
        url: str,
        read: Callable[[Answer], _T | None],
        headers: Mapping[str, str],
        known: _Cached[_T] | None,
    ) -> _Cached[_T]:
        """Request a listing, unless the registry was unreachable a moment ago."""
        with self._lock:
            down = self._error if self._monotonic() < self._error_until else None
        if down is not None:
            raise type(down)(down.message, **down.details)
        try:
            return self._request(url, read, headers, known)
        except (UpstreamError, UpstreamTimeout) as error:
            status = int(error.details.get("status", _SERVER_FAULT))
            # What is refused says nothing of other packages.
            if status >= _SERVER_FAULT or status == _TOO_MANY:
                with self._lock:
                    self._error, self._error_until = error, self._monotonic() + self._retry_s
            raise

    def _request(
        self,
        url: str,
        read: Callable[[Answer], _T | None],
        headers: Mapping[str, str],
        known: _Cached[_T] | None,
    ) -> _Cached[_T]:
        conditions = known.conditions if known is not None else {}
        answer = self._ask(url, {**headers, **conditions})
        now = self._monotonic()
        if answer.status in ABSENT:
            return _Cached(None, {}, now + self._retry_s)
        if known is not None and answer.status == 304:
            return _Cached(known.value, conditions, now + self._ttl_s)
        return _Cached(read(answer), _conditions(answer), now + self._ttl_s)


def _conditions(answer: Answer) -> Mapping[str, str]:
    """Return the headers that ask for a listing only if it has changed (RFC 9110, 13.1)."""
    if etag := answer.headers.get("etag", ""):
        return {"If-None-Match": etag}
    date = answer.headers.get("last-modified", "")
    return {"If-Modified-Since": date} if date else {}
