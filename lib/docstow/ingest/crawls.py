"""Which crawls run, over all processes of a store: so many at once, and one of a host.

Of a forge that is one repository after the other.

Both are leases in the store, which only whoever crawls asks for. A crawl that finds none gives its
worker back and comes again.
"""

from __future__ import annotations

import contextlib
import random
from collections.abc import Iterator
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from docstow.ingest.queue import Busy
from docstow.sources import kind_of

if TYPE_CHECKING:
    from docstow.core.model import Registration
    from docstow.store.leases import Lease, Leases

#: A crawl that has to wait comes again after so many seconds.
PAUSE_S = 2.0


class Crawls:
    """The crawls of a store.

    Args:
        leases: of this process.
        most: crawls at the same time, in all processes; 0 for any number.
        lease_s: how long the lease of a process that died is held.
    """

    def __init__(self, leases: Leases, most: int, lease_s: float) -> None:
        self._leases = leases
        self._most = most
        self._lease_s = lease_s

    @contextlib.contextmanager
    def turn(self, registration: Registration) -> Iterator[None]:
        """Be one of the crawls that run, within; what asks no upstream is none.

        Raises:
            Busy: as many run as may, or one of that host does.
            StoreError: the store cannot be used.
        """
        kind = kind_of(registration.kind)
        if kind.pushed or kind.local_only:
            yield
            return
        with contextlib.ExitStack() as held:
            named = urlsplit(registration.uri).netloc.rpartition("@")[2].lower()
            if host := named or kind.host:
                self._hold(held, self._leases.acquire(f"crawl/host/{host}", self._lease_s))
            if self._most:
                self._hold(held, self._slot())
            yield

    def _hold(self, held: contextlib.ExitStack, lease: Lease | None) -> None:
        if lease is None:
            raise Busy("crawl", pause_s=PAUSE_S)
        held.enter_context(self._leases.kept(lease))

    def _slot(self) -> Lease | None:
        # In an order of chance, so that many who come at once do not all try the same.
        for number in random.sample(range(self._most), self._most):
            if lease := self._leases.acquire(f"crawl/slot/{number}", self._lease_s):
                return lease
        return None
