"""Upstreams: clients and origins for everything outside, each made when it is first needed.

This room knows which client may ask whom. It does not know what is asked for.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from docstow.core.model import COLLECTION, FOLDER, GITHUB, Registration
from docstow.core.settings import LOOPBACK, Settings, allowed_private

if TYPE_CHECKING:
    from docstow.net import Fetcher
    from docstow.net.decompress import Limits
    from docstow.sources.crates import CrateOrigin
    from docstow.sources.protocol import ProseOrigin
    from docstow.store.objects import ObjectStore


class Upstreams:
    """The outside of one process. Safe to share between threads.

    Args:
        settings: whom to ask, and how patiently.
        store: where pushed texts are.
    """

    def __init__(self, settings: Settings, store: ObjectStore) -> None:
        self._settings = settings
        self._store = store
        self._lock = threading.RLock()
        self._closing = contextlib.ExitStack()

    def close(self) -> None:
        """Drop connections."""
        self._closing.close()

    @property
    def limits(self) -> Limits:
        """How large a download or a file may be."""
        from docstow.net.decompress import Limits

        return Limits(self._settings.max_compressed, self._settings.max_decompressed)

    def fetcher(self, total_s: float = 0.0, *, private: bool | tuple[str, ...] = True) -> Fetcher:
        """A client of its own for one upstream.

        Args:
            total_s: how long one answer may take, if not as usual.
            private: whether it may ask hosts on private addresses, or which.
        """
        from docstow.net import Fetcher
        from docstow.net.errors import Patience

        settings = self._settings
        patience = Patience(
            connect_s=settings.connect_timeout_s,
            read_s=settings.read_timeout_s,
            total_s=total_s or settings.total_timeout_s,
            retries=settings.retries,
        )
        made = Fetcher(settings.contact_url, patience=patience, private=private)
        with self._lock:
            return self._closing.enter_context(contextlib.closing(made))

    @property
    def crates(self) -> CrateOrigin:
        """docs.rs and the index of crates."""
        with self._lock:
            return self._crates

    @cached_property
    def _crates(self) -> CrateOrigin:
        from docstow.sources.crates import CrateOrigin

        settings = self._settings
        return CrateOrigin(
            self.fetcher(),
            settings.docs_rs_url,
            settings.crates_index_url,
            limits=self.limits,
            interval_s=settings.upstream_interval_s,
        )

    def check(self, kind: str, uri: str) -> None:
        """Refuse a source that no sync could read, as far as nobody need be asked for that.

        Raises:
            Forbidden: a folder, and this process reads none.
            SourceNotFound: a folder that is not there.
        """
        if kind == FOLDER:
            from docstow.sources import folder as folder

            folder.check(Path(folder.canonical(uri)), allowed=self._reads_folders)

    @property
    def _reads_folders(self) -> bool:
        """Others could have the server read what is none of their business."""
        return self._settings.host in LOOPBACK

    @contextlib.contextmanager
    def prose(self, registration: Registration) -> Iterator[ProseOrigin]:
        """Where the files of a registered source come from, for one sync."""
        with contextlib.ExitStack() as stack:
            yield self._open(registration, stack)

    def _open(self, registration: Registration, stack: contextlib.ExitStack) -> ProseOrigin:
        if registration.kind == COLLECTION:
            from docstow.sources.collection import PushedOrigin

            return PushedOrigin(self._store, registration.id)
        if registration.kind == FOLDER:
            from docstow.sources.folder import FolderOrigin

            return FolderOrigin(registration, allowed=self._reads_folders)
        if registration.kind == GITHUB:
            from docstow.sources.git import GithubOrigin

            url, token = self._settings.github_url, self._settings.github_token
            fetcher = self._outside if "://" in registration.uri else self._github
            return GithubOrigin(registration, fetcher, api_url=url, token=token)
        from docstow.sources.site import SiteOrigin, scope

        render = None
        if registration.options.get("render_js"):
            from docstow.sources.site.browser import Browser

            chromium, inside = self._settings.chromium, scope(registration)
            browser = Browser(self._outside, chromium=chromium, may_open=inside.holds)
            render = stack.enter_context(browser).render
        return SiteOrigin(registration, self._outside, render=render)

    @property
    def _outside(self) -> Fetcher:
        """A client for addresses that users name."""
        with self._lock:
            return self._guarded

    @cached_property
    def _guarded(self) -> Fetcher:
        return self.fetcher(private=allowed_private(self._settings))

    @property
    def _github(self) -> Fetcher:
        """A client for GitHub's API: its host is the operator's choice, private or not."""
        with self._lock:
            return self._guarded_but_for_github

    @cached_property
    def _guarded_but_for_github(self) -> Fetcher:
        private = allowed_private(self._settings)
        if not isinstance(private, bool):
            private = (*private, urlsplit(self._settings.github_url).hostname or "")
        return self.fetcher(private=private)
