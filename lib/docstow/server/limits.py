"""Rates of callers: token buckets, one for each token or address.

A bucket is refilled at a rate and holds a burst; a full one is like none, so that the table of
callers may forget those that were seen longest ago.
"""

from __future__ import annotations

import ipaddress
import math
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterable, Sequence

from docstow.core.errors import ConfigurationError, TooManyRequests
from docstow.core.records import dataclass

#: What a bucket holds: so many seconds of its rate.
_BURST_S = {"requests": 3.0, "slow calls": 15.0}
#: Callers that are remembered.
_MOST_CALLERS = 20_000
#: A network of this size belongs to one caller: whoever has an address of IPv6 has many.
_OWN_NETWORK = 64

Network = ipaddress.IPv4Network | ipaddress.IPv6Network


class Rate:
    """A token bucket for each caller. Safe to share between threads.

    Args:
        what: is counted, in the plural.
        per_s: the rate; 0 for none.
        clock: monotonic seconds.
    """

    def __init__(
        self, what: str, per_s: float, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._what = what
        self._per_s = per_s
        self._burst = max(per_s * _BURST_S[what], 1.0)
        self._clock = clock
        self._lock = threading.Lock()
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def take(self, caller: str, count: int = 1) -> None:
        """Take tokens of a caller's bucket; more than it holds are taken when it is full.

        Raises:
            TooManyRequests: it has fewer.
        """
        if not self._per_s or not caller or not count:
            return
        wanted = min(float(count), self._burst)
        with self._lock:
            now = self._clock()
            left, at = self._buckets.pop(caller, (self._burst, now))
            left = min(left + (now - at) * self._per_s, self._burst)
            enough = left >= wanted
            self._buckets[caller] = (left - wanted * enough, now)
            if len(self._buckets) > _MOST_CALLERS:
                self._buckets.popitem(last=False)
        if not enough:
            wait_s = math.ceil((wanted - left) / self._per_s)
            raise TooManyRequests(
                f"Too many {self._what}: {self._per_s:g} a second are answered to one caller. Ask"
                f" again in {wait_s} seconds, and one after the other.",
                retry_after_s=wait_s,
            )


@dataclass(frozen=True, slots=True)
class Limits:
    """The rates of a server.

    Attributes:
        requests: of all requests.
        slow: of calls that may take seconds.
        proxies: networks whose word on the client's address counts.
    """

    requests: Rate
    slow: Rate
    proxies: tuple[Network, ...] = ()

    def scheme(self, peer: str, forwarded: str) -> str:
        """Return the scheme that a client asked by, as a proxy of ours tells it; else nothing.

        Args:
            peer: the address that the connection came from.
            forwarded: the value of ``X-Forwarded-Proto``, of which the client's comes first.
        """
        told = forwarded.partition(",")[0].strip().lower()
        return told if told in ("http", "https") and self._is_proxy(peer) else ""

    def address(self, peer: str, forwarded: Iterable[str]) -> str:
        """Return what stands for the client of a request without a credential.

        Args:
            peer: the address that the connection came from.
            forwarded: values of ``X-Forwarded-For``, the last one added last. Each proxy of ours
                has added the address that it was called from, and what stands before the first
                that is no proxy anybody may have written.
        """
        hops = [each.strip() for value in forwarded for each in value.split(",")]
        found = peer
        while hops and self._is_proxy(found):
            found = hops.pop()
        try:
            address = ipaddress.ip_address(found)
        except ValueError:
            return found[:64]
        if isinstance(address, ipaddress.IPv6Address):
            if address.ipv4_mapped is not None:
                return str(address.ipv4_mapped)
            return str(ipaddress.ip_network((address, _OWN_NETWORK), strict=False))
        return str(address)

    def _is_proxy(self, address: str) -> bool:
        try:
            found = ipaddress.ip_address(address)
        except ValueError:
            return False
        return any(found in each for each in self.proxies)


#: For servers that only their own user can reach.
UNLIMITED = Limits(Rate("requests", 0), Rate("slow calls", 0))


def make_limits(
    per_s: float, slow_per_s: float, proxies: Sequence[str], *, trusted: bool
) -> Limits:
    """Return the rates that settings say.

    Args:
        per_s: requests of one caller, each second.
        slow_per_s: slow calls, likewise.
        proxies: addresses and networks.
        trusted: whether only the server's own user can reach it, who is not limited.

    Raises:
        ConfigurationError: what is no address.
    """
    try:
        networks = tuple(ipaddress.ip_network(each, strict=False) for each in proxies)
    except ValueError as error:
        raise ConfigurationError(f"proxies: {error}") from error
    requests, slow = (0.0, 0.0) if trusted else (per_s, slow_per_s)
    return Limits(Rate("requests", requests), Rate("slow calls", slow), networks)
