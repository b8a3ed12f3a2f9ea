"""Composition: Settings become live objects here, once per process, each when first needed.

This room alone knows which implementation stands behind which contract.
"""

from __future__ import annotations

import contextlib
import importlib
import logging
import os
import threading
import time
from collections.abc import Sequence
from datetime import timedelta
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import platformdirs

from docstow import __version__
from docstow import runtime__faces as faces
from docstow.core import auth as access
from docstow.core.settings import LOOPBACK, Settings
from docstow.ingest.crates import Stowing
from docstow.ingest.jobs.store import RENEW, STOW, SYNC
from docstow.ingest.publish__renewal import Renewals
from docstow.languages.projects import Projects
from docstow.library import Library
from docstow.ops.sweep import GRACE
from docstow.runtime__embedders import Embedders
from docstow.runtime__registered import Registered
from docstow.runtime__stocking import Stocking
from docstow.runtime__upstreams import Upstreams
from docstow.runtime__workers import Workers
from docstow.store.objects import ObjectStore, open_store
from docstow.store.objects import probe as probe
from docstow.store.snapshots import BlobCache, Snapshots
from docstow.store.usage__touched import Touched

if TYPE_CHECKING:
    from fastapi import FastAPI

    from docstow.core.model import Snapshot
    from docstow.embedding._embed import Embedder
    from docstow.embedding.select import Choice
    from docstow.index.catalog import Catalog
    from docstow.ingest.collections import Collections
    from docstow.ingest.jobs.dispatch import Dispatch
    from docstow.ingest.jobs.store import Jobs
    from docstow.ingest.jobs.worker import Task, Work
    from docstow.ingest.preload import PreIngest
    from docstow.ingest.preload__together import Together
    from docstow.ingest.publish import Ingest
    from docstow.ingest.sync__sync import Sync
    from docstow.library.packages import Installed
    from docstow.library.prose import Prose
    from docstow.ops.upkeep import Upkeep
    from docstow.server.mcp import Protocol
    from docstow.sources.registry import Registry
    from docstow.tools import Toolbox

log = logging.getLogger(__name__)

#: What is imported by the first search, and by no call before that.
_SEARCHING = (
    "duckdb",
    "docstow.index.cross_crate",
    "docstow.index.schema",
    "docstow.index.search",
)


def _may_ignore_conditions(location: str, endpoint: str) -> bool:
    """AWS itself honours conditional writes; servers that merely speak S3 may not.

    The AWS variables name a server as well as our own setting does.
    """
    variables = ("AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL")
    elsewhere = endpoint or any(os.environ.get(name) for name in variables)
    return location.startswith("s3://") and bool(elsewhere)


class Runtime:
    """Live objects, each made once, when it is first asked for.

    Args:
        settings: what they are made from.
        folder: the directory that whoever asks works in, where they alone are served; it is their
            project where none is set.

    Raises:
        ConfigurationError: a setting names something that does not exist.
        StoreError: the store cannot be used.
    """

    def __init__(self, settings: Settings, folder: Path | None = None) -> None:
        self.settings = settings
        roots = [Path(each).expanduser() for each in settings.root]
        #: The projects whose packages may be looked into.
        self.projects = Projects(
            roots or ([folder] if folder else []),
            self._cache_folder,
            local=folder is not None or settings.host in LOOPBACK,
        )
        self.location = settings.store or str(
            platformdirs.user_data_path("docstow", appauthor=False)
        )
        self._lock = threading.RLock()
        self._closing = contextlib.ExitStack()
        self._started = time.monotonic()
        self.store: ObjectStore = open_store(
            self.location, endpoint=settings.s3_endpoint, region=settings.s3_region
        )
        #: What has work done, here or by way of a queue.
        self.workers = Workers(settings, self.store, self._tasks)
        #: Everything outside.
        self.upstreams = Upstreams(settings, self.store)
        self._closing.callback(self.upstreams.close)
        if _may_ignore_conditions(self.location, settings.s3_endpoint):
            probe(self.store)
        words = settings.auth.replace(",", " ").split()
        #: Who may call over HTTP, and what.
        self.policy = access.parse(words, exposed=settings.host not in LOOPBACK)
        self._models = Embedders(settings, self.upstreams, f"{self._cache_folder}-models")
        touched = Touched(self.store)
        self._closing.callback(touched.close)
        blobs = BlobCache(self._cache_folder, settings.cache_bytes)
        #: Published snapshots, read through the local cache.
        self.snapshots = Snapshots(
            self.store, blobs, freshness_s=settings.freshness_s, used=touched.note
        )
        self._registered = Registered(
            settings,
            self.store,
            self.snapshots,
            self.workers,
            self.upstreams,
            lambda: self.embedder,
            self._stow_crate,
        )
        self._stocking = Stocking(
            settings,
            self.store,
            self.snapshots,
            self.workers,
            self.upstreams,
            lambda: self.ingest,
            lambda: self.library,
        )

    def upkeep(self, grace: timedelta = GRACE) -> Upkeep:
        """What keeps the store small and sound.

        Args:
            grace: for how long readers may go on with what a head named.
        """
        from docstow.ops.upkeep import Upkeep
        from docstow.ops.upkeep__refresh import Refresh

        refresh = Refresh(self.registry, self.jobs, self.dispatch)
        limit = self.settings.store_limit
        return Upkeep(self.store, self.registry, self.snapshots, refresh, limit, grace=grace)

    def keep_up(self) -> None:
        """Begin to do upkeep now and then in the background, where no schedule does it."""
        self.workers.keep_up(self.upkeep)

    @property
    def catalog(self) -> Catalog:
        """One card of every stowed crate."""
        with self._lock:
            return self._catalog

    @cached_property
    def _catalog(self) -> Catalog:
        from docstow.index.catalog import Catalog

        return Catalog(self.store, self.snapshots, freshness_s=self.settings.freshness_s)

    @property
    def _cache_folder(self) -> Path:
        given = self.settings.cache
        return Path(given or platformdirs.user_cache_path("docstow", appauthor=False)).expanduser()

    @cached_property
    def library(self) -> Library:
        """Everything stowed, and the way to stow more."""
        return Library(
            self.snapshots,
            lambda: self.catalog,
            self._stowing,
            self._renewals,
            lambda: self.upstreams.crates,
            lambda: self.embedder,
            target=self.settings.target,
            memory_bytes=self.settings.memory_bytes,
            pause=time.sleep,
            installed=self.installed,
        )

    @cached_property
    def installed(self) -> Installed:
        """The packages of projects, as sources."""
        from docstow.library.packages import Installed

        return Installed(self.projects, self.snapshots, lambda: self.ingest)

    def project(self, folder: Path) -> Installed:
        """The packages of one directory, for whoever works there.

        Raises:
            ConfigurationError: it is no directory.
        """
        from docstow.library.packages import Installed

        projects = Projects([folder], self._cache_folder, local=True)
        return Installed(projects, self.snapshots, lambda: self.ingest)

    @cached_property
    def _stowing(self) -> Stowing:
        return Stowing(
            self.snapshots,
            self.jobs,
            self.workers.leases,
            lambda: self.upstreams.crates,
            lambda: self.ingest,
            lambda: self.dispatch,
            wait_s=self.settings.wait_s,
            lease_s=self.settings.lease_s,
        )

    @cached_property
    def _renewals(self) -> Renewals:
        return Renewals(self.snapshots, self.jobs, lambda: self.ingest, lambda: self.dispatch)

    def _tasks(self) -> dict[str, Task]:
        return {STOW: self._stowing, RENEW: self._renewals, SYNC: self.sync}

    @property
    def jobs(self) -> Jobs:
        """What was written down of every ingest and sync."""
        return self.workers.jobs

    @property
    def dispatch(self) -> Dispatch:
        """Starts jobs."""
        return self.workers.dispatch

    @property
    def work(self) -> Work:
        """What is done for a message."""
        return self.workers.work

    def _stow_crate(self, name: str, version: str, anew: bool) -> Snapshot:  # noqa: FBT001
        library = self.library
        if anew:
            return library.stow(name, version)
        return library.ensure(name, version, patient=False)

    @property
    def registry(self) -> Registry:
        """The sources that users have added."""
        return self._registered.registry

    @property
    def prose(self) -> Prose:
        """Everything that was synced, for reading."""
        return self._registered.prose

    @property
    def sync(self) -> Sync:
        """Starts and runs the syncs of sources."""
        return self._registered.sync

    @property
    def collections(self) -> Collections:
        """The texts that clients push."""
        return self._registered.collections

    @property
    def ingest(self) -> Ingest:
        """The write path."""
        from docstow.ingest.publish import Ingest

        return Ingest(self.snapshots, self.catalog, self.embedder)

    @property
    def embedder(self) -> Embedder:
        """The model that texts and queries are embedded with."""
        return self._models.embedder

    def preload(self) -> None:
        """Load what a first search needs; for a process of which copies are started later."""
        for name in _SEARCHING:
            importlib.import_module(name)
        self.embedder.embed_query("what a first search needs")

    def fetch_model(self, chosen: Choice, into: Path | None = None) -> Path:
        """The folder of a model of the hub, fetched if it is not there yet."""
        return self._models.fetch(chosen, into)

    def stow_file(self, path: Path, *, version: str = "") -> Snapshot:
        """Stow a rustdoc JSON file; it then answers for its crate's name."""
        return self._stocking.file(path, version=version)

    def together(self, paths: Sequence[Path], *, version: str = "") -> Together:
        """Rustdoc JSON files that are stowed as one another's siblings."""
        return self._stocking.together(paths, version=version)

    def stow_sample(self) -> None:
        """Stow the crate that comes with docstow, so that a first search needs no network."""
        self._stocking.sample()

    def pre_ingest(self, crates: Sequence[str]) -> PreIngest:
        """Begin to stow crates in the background; see :meth:`Stocking.ahead`."""
        return self._stocking.ahead(crates)

    @cached_property
    def toolbox(self) -> Toolbox:
        """Every tool that this server offers."""
        return faces.toolbox(
            self.library,
            self._registered,
            self.snapshots,
            self.projects,
            self.workers,
            self.upstreams,
        )

    @cached_property
    def protocol(self) -> Protocol:
        """MCP over this server's tools."""
        return faces.protocol(self.toolbox)

    @cached_property
    def app(self) -> FastAPI:
        """The HTTP face."""
        return faces.app(self.protocol, self.settings, self.policy, self.health)

    def close(self) -> None:
        """Wait for running ingests and drop connections."""
        self._stocking.close()
        self.workers.close()  # work in progress needs the connections, so it is waited for first
        self._closing.close()

    def health(self) -> dict[str, Any]:
        """What ``GET /health`` answers; touches neither store nor model."""
        progress = self._stocking.progress()
        return {
            "status": "ok",
            "version": __version__,
            "store": self.location.split("://")[0] if "://" in self.location else "directory",
            "uptime_s": round(time.monotonic() - self._started, 1),
            **({"pre_ingest": progress} if progress else {}),
        }
