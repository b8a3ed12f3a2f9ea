"""Everything outside of one process: HTTP clients, and the origins of registered sources."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from docstow.core.concurrency import lazy
from docstow.core.errors import InvalidParameter
from docstow.core.model import Registration
from docstow.core.settings import LOOPBACK, Settings, allowed_private
from docstow.sources import find as find_kind

if TYPE_CHECKING:
    from docstow.net import Fetcher
    from docstow.net.decompress import Limits
    from docstow.sources.crates.origin import CrateOrigin
    from docstow.sources.protocol import Origin
    from docstow.store.objects import ObjectStore


class Upstreams:
    """The HTTP clients and origins of one process. Safe to share between threads.

    Args:
        settings: addresses, limits and timeouts.
        store: where pushed texts are.
    """

    def __init__(self, settings: Settings, store: ObjectStore) -> None:
        self.settings = settings
        self.store = store
        self._lock = threading.RLock()
        self._closing = contextlib.ExitStack()
        self._guarded: dict[str, Fetcher] = {}

    def close(self) -> None:
        """Drop connections."""
        self._closing.close()

    @property
    def limits(self) -> Limits:
        """The largest download and file."""
        from docstow.net.decompress import Limits

        return Limits(self.settings.max_compressed, self.settings.max_decompressed)

    def fetcher(self, total_s: float = 0.0, *, private: bool | tuple[str, ...] = True) -> Fetcher:
        """Return a new client for one upstream.

        Args:
            total_s: how long one answer may take, in seconds; 0 for the setting.
            private: whether it may ask hosts on private addresses, or which of them.
        """
        from docstow.net import Fetcher
        from docstow.net.retry import RetryPolicy

        settings = self.settings
        policy = RetryPolicy(
            connect_s=settings.connect_timeout_s,
            read_s=settings.read_timeout_s,
            total_s=total_s or settings.total_timeout_s,
            retries=settings.retries,
        )
        made = Fetcher(settings.contact_url, policy=policy, private=private)
        with self._lock:
            return self._closing.enter_context(contextlib.closing(made))

    @lazy
    def crates(self) -> CrateOrigin:
        """docs.rs and the index of crates."""
        from docstow.sources.crates.origin import CrateOrigin

        settings = self.settings
        return CrateOrigin(
            self.fetcher(),
            settings.docs_rs_url,
            settings.crates_index_url,
            limits=self.limits,
            interval_s=settings.upstream_interval_s,
        )

    def check(self, kind: str, uri: str) -> None:
        """Refuse a source that cannot be synced, as far as that shows without network.

        Raises:
            InvalidParameter: there is no such kind, or the URI is not of that kind.
            Forbidden: the kind reads local files, and this process does not.
            SourceNotFound: a folder that is not there.
        """
        of_kind = find_kind(kind)
        canonical = of_kind.canonical_uri(uri)
        of_kind.check_allowed(self)
        of_kind.check(canonical)

    @property
    def reads_local_files(self) -> bool:
        """Whether this process serves one person on that person's machine."""
        return self.settings.host in LOOPBACK

    @contextlib.contextmanager
    def origin(self, registration: Registration) -> Iterator[Origin]:
        """Open the origin of a registered source for one sync.

        Raises:
            InvalidParameter: sources of its kind have no origin.
            Forbidden: the kind reads local files, and this process does not.
        """
        kind = find_kind(registration.kind)
        kind.check_allowed(self)
        if kind.open is None:
            raise InvalidParameter("kind", f"a {kind.name} is not synced file by file")
        with kind.open(registration, self) as origin:
            yield origin

    def guarded_fetcher(self, trusted_url: str = "") -> Fetcher:
        """Return a client for addresses that users give; the host of a trusted one may be private.

        One is made for each trusted host.
        """
        private = allowed_private(self.settings)
        trusted = urlsplit(trusted_url).hostname or ""
        if isinstance(private, bool):
            trusted = ""
        elif trusted:
            private = (*private, trusted)
        with self._lock:
            if trusted not in self._guarded:
                self._guarded[trusted] = self.fetcher(private=private)
            return self._guarded[trusted]
