"""Composition: settings become live objects here, once per process, each when first needed.

Heavy libraries are imported by what needs them alone: a server starts, and upkeep runs, without.
"""

from __future__ import annotations

import contextlib
import importlib.util
import itertools
import json
import logging
import os
import socket
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from docstow import __version__
from docstow.core import auth
from docstow.core.errors import ConfigurationError, DocstowError, StoreError, UpstreamError
from docstow.core.garbage import collect_seldom
from docstow.core.logs import configure
from docstow.core.model import LOCAL, Source
from docstow.core.secret import Secret
from docstow.core.settings import (
    FIELDS,
    LOOPBACK,
    Settings,
    drops_suspect,
    guides_mode,
    load,
)
from docstow.core.spelling import package_kinds
from docstow.core.threads import Background, cores, lazy, limit_blas
from docstow.core.urls import site_of
from docstow.core.visibility import PROJECT
from docstow.embedding.models import Models
from docstow.languages.projects import Projects
from docstow.library import Library
from docstow.sources import Upstreams, kinds
from docstow.sources.crates import CrateResolver
from docstow.sources.registry import Registry
from docstow.store.objects import (
    ObjectStore,
    S3Store,
    open_store,
    tolerate_read_only,
)
from docstow.store.quotas import Quotas
from docstow.store.snapshots import BlobCache, Snapshots
from docstow.store.usage import UsageMarks

if TYPE_CHECKING:
    from starlette.applications import Starlette

    from docstow.core.processes import Handler
    from docstow.embedding import Embedder
    from docstow.index.catalog import Catalog
    from docstow.ingest.crates import CrateTask, RustdocFiles
    from docstow.ingest.descriptions import Descriptions
    from docstow.ingest.jobs import Job, Jobs
    from docstow.ingest.packages import PackageIngest, PackageTask
    from docstow.ingest.preload import PackagePreload
    from docstow.ingest.publish import Publisher, RenewalTask
    from docstow.ingest.pushed_texts import Collections
    from docstow.ingest.queue import Enqueuer, Message, Queue
    from docstow.ingest.sync import SyncTask
    from docstow.ingest.worker import SqsEvents, Task, Worker
    from docstow.languages.shared.engines import Engines
    from docstow.library.environments import PackageEnvironments
    from docstow.library.finding import PackageFinder
    from docstow.library.guides import Guides
    from docstow.library.package_cards import PackageCards
    from docstow.library.packages import Packages
    from docstow.library.prose import Prose
    from docstow.library.requests import RenewalRequests, StowRequests, SyncRequests
    from docstow.library.stowed import Stowed
    from docstow.net import Fetcher
    from docstow.ops.upkeep import Upkeep
    from docstow.server.compat import System
    from docstow.server.mcp import Protocol
    from docstow.server.oauth import AccessTokens, Resource
    from docstow.server.web.visit import Services as PageServices
    from docstow.sources.advisories import Advisories
    from docstow.sources.packages.environments import PackageFiles
    from docstow.sources.presets import Presets
    from docstow.store.leases import Leases
    from docstow.tools import Metrics, Toolbox
    from docstow.tools.apart import ToolProcesses
    from docstow.tools.offers import Prompt, Resources
    from docstow.tools.sources import SourceServices

log = logging.getLogger(__name__)

#: A small crate of docstow's own, as rustdoc JSON.
SAMPLE = Path(__file__).parent / "ingest" / "sample" / "stowage-0.1.0.json.zst"

#: What clients show beside the server's name: a crate in a hull.
ICON = (
    "data:image/svg+xml;base64,"
    "PHN2ZyB4bWxucz0iaHR0cDovL3d3dy53My5vcmcvMjAwMC9zdmciIHZpZXdCb3g9IjAgMCAyNCAyNCI+PHBhdGgg"
    "ZD0iTTMgMTBoMThsLTMgMTBINnoiIGZpbGw9IiMyNTY4OGMiLz48cGF0aCBkPSJNNyAzaDEwdjZIN3oiIGZpbGw9"
    "IiNkOThiMmIiLz48L3N2Zz4="
)

#: The first upkeep waits for so many seconds: a server that has just begun has other things to do.
FIRST_UPKEEP_S = 60.0

_DOTS_OF_JWT = 2
#: What the issuer of JWTs may take to answer, in seconds, and how much it may say.
_ISSUER_S = 10.0
_ISSUER_BYTES = 512 * 1024

#: The most processes that read the files of one source: each takes a hundred megabytes.
_READERS = 4

#: What the first search imports, and no call before it.
_SEARCHING = (
    "docstow.index.parquet",
    "docstow.index.render",
    "docstow.index.search_pages",
    "docstow.index.signatures.search",
    "docstow.tools.screening",
    "docstow.tools.search_crates",
)


def _fetch_json(fetcher: Fetcher, url: str) -> Any:
    from docstow.net.decompress import Limits

    answer = fetcher.get(url, limits=Limits(_ISSUER_BYTES, _ISSUER_BYTES))
    try:
        return json.loads(answer.body)
    except ValueError:
        raise UpstreamError(f"{url} is no JSON; correct oauth_issuer.") from None


def _list_commands() -> Sequence[Mapping[str, Any]]:
    # A process that only answers calls never parses a command line.
    from docstow.server import command_line

    return command_line.list_commands()


def visible_kinds() -> tuple[str, ...]:
    """Return the kinds of sources that a credential may be bound to."""
    return (*kinds(), PROJECT)


def _now() -> datetime:
    return datetime.now(UTC)


def _user_folder(purpose: Literal["data", "cache"]) -> Path:
    import platformdirs

    find = platformdirs.user_data_path if purpose == "data" else platformdirs.user_cache_path
    return find("docstow", appauthor=False)


class Runtime:
    """The live objects of a process, each made once, when it is first needed.

    Args:
        settings: what they are made from.
        folder: the directory that a caller works in who alone is served; it is that caller's
            project where the settings name none.

    Raises:
        ConfigurationError: a setting names something that does not exist.
        StoreError: the store cannot be used.

    Attributes:
        settings: as given.
        location: of the store.
        store: where everything is kept.
        snapshots: the published snapshots, read through the local cache.
        upstreams: everything outside.
        projects: the projects whose packages may be looked into.
        policy: who may call over HTTP, and what.
        models: opens and fetches models.
    """

    def __init__(self, settings: Settings, folder: Path | None = None) -> None:
        self.settings = settings
        self._started = time.monotonic()
        self._background = Background()
        self._closing = contextlib.ExitStack()
        self._preload: PackagePreload | None = None
        self._apart: ToolProcesses | None = None
        local = folder is not None or settings.host in LOOPBACK
        roots = [Path(each).expanduser() for each in settings.root] or ([folder] if folder else [])
        self.projects = Projects(roots, self.cache_folder, local=local)
        self.location = settings.store or str(_user_folder("data"))
        self.store: ObjectStore = open_store(
            self.location, endpoint=settings.s3_endpoint, region=settings.s3_region
        )
        self.upstreams = Upstreams(settings, self.store, folder)
        self._closing.callback(self.upstreams.close)
        tokens = settings.auth.reveal().replace(",", " ").split()
        closed = settings.host not in LOOPBACK or bool(settings.oauth_issuer)
        self.policy = auth.parse(tokens, exposed=closed, kinds=visible_kinds)
        self.models = Models(
            settings,
            lambda url, total_s: self.upstreams.upstream(url, total_s=total_s),
            f"{self.cache_folder}-models",
        )
        usage = UsageMarks(self.store)
        self._closing.callback(usage.close)
        blobs = BlobCache(self.cache_folder, settings.cache_bytes)
        self.snapshots = Snapshots(
            self.store, blobs, freshness_s=settings.freshness_s, used=usage.note
        )

    @property
    def cache_folder(self) -> Path:
        """The folder of the local blob cache."""
        given = self.settings.cache
        return Path(given).expanduser() if given else _user_folder("cache")

    def close(self) -> None:
        """Wait for running ingests and drop connections."""
        if self._preload is not None:
            self._preload.stop()
        self._background.close()
        if "queue" in self.__dict__:
            self.queue.close()  # work in progress needs the connections, so it is waited for first
        self._closing.close()

    def stop(self) -> list[Job]:
        """Give up what is under way, without waiting for it; the process is to be ended now.

        Returns:
            The jobs that were given up; they have failed, and can be started again.
        """
        with contextlib.suppress(StoreError):  # leases run out, and the jobs are found dead
            if "worker" in self.__dict__:
                return self.worker.stop()
            if "leases" in self.__dict__:
                self.leases.release_all()
        return []

    # What is stored

    @lazy
    def catalog(self) -> Catalog:
        """One card of every stored crate, and of every version of other sources."""
        from docstow.index.catalog import Catalog

        return Catalog(self.store, self.snapshots, freshness_s=self.settings.freshness_s)

    @lazy
    def registry(self) -> Registry:
        """The sources that users have added."""

        def forget(source: Source) -> None:
            self.catalog.forget([source])

        settings = self.settings
        return Registry(
            self.store,
            freshness_s=settings.freshness_s,
            forget=forget,
            quotas=Quotas(self.store, settings.quota_sources, settings.quota_bytes),
        )

    @lazy
    def presets(self) -> Presets:
        """The known sources that have a name."""
        from docstow.sources.presets import Presets

        file = self.settings.presets
        return Presets(Path(file).expanduser() if file else None)

    @lazy
    def leases(self) -> Leases:
        """The leases of this process."""
        from docstow.store.inventory import store_time
        from docstow.store.leases import Leases

        owner = f"{socket.gethostname()}/{os.getpid()}"
        return Leases(self.store, owner, store_now=lambda: store_time(self.store))

    @lazy
    def jobs(self) -> Jobs:
        """The records of all ingests, renewals and syncs."""
        from docstow.ingest.jobs import Jobs

        return Jobs(
            self.store,
            _now,
            lease_s=self.settings.lease_s,
            held=self.leases.held,
            resumes=not self.settings.queue_url,
            shows=lambda identity: self.registry.shows(identity),
        )

    # The model

    @property
    def embedder(self) -> Embedder:
        """The model that texts and queries are embedded with."""
        return self.models.embedder

    def _open_embedder(self) -> Embedder:
        return self.embedder

    def warm_up(self) -> None:
        """Load what a first search needs, for a process of which copies are started later."""
        for name in _SEARCHING:
            importlib.import_module(name)
        self.embedder.embed_query("what a first search needs")

    # The write path: what does the work

    @lazy
    def resolver(self) -> CrateResolver:
        """Finds the version of a crate that answers a request."""
        return CrateResolver(self.snapshots, lambda: self.upstreams.crates, self.settings.target)

    @lazy
    def publisher(self) -> Publisher:
        """Makes and publishes snapshots."""
        from docstow.ingest.publish import Publisher

        return Publisher(self.snapshots, self.catalog, self._open_embedder)

    @lazy
    def crates(self) -> CrateTask:
        """Ingests crates of docs.rs."""
        from docstow.ingest.crates import CrateTask

        return CrateTask(
            self.snapshots,
            self.resolver,
            self.publisher,
            self.leases,
            lease_s=self.settings.lease_s,
            try_unknown=self.settings.try_unknown_formats,
        )

    @lazy
    def descriptions(self) -> Descriptions:
        """What registries say of packages, as far as it was fetched."""
        from docstow.ingest.descriptions import Descriptions

        return Descriptions(self.store)

    @lazy
    def packages(self) -> PackageTask:
        """Ingests packages of registries."""
        from docstow.ingest.packages import PackageTask

        registry = self.upstreams.package_registry
        return PackageTask(self.snapshots, registry, self._package_ingest, self.unpacked)

    @lazy
    def _package_ingest(self) -> PackageIngest:
        from docstow.ingest.packages import PackageIngest

        return PackageIngest(lambda: self.publisher)

    @lazy
    def unpacked(self) -> PackageFiles:
        """The packages of registries that lie unpacked beside the local cache."""
        from docstow.sources.packages.environments import PackageFiles

        folder = Path(f"{self.cache_folder}-packages")
        return PackageFiles(folder, self.settings.package_bytes)

    def rustdoc_files(self, paths: Sequence[Path], *, version: str = "") -> RustdocFiles:
        """Return what ingests rustdoc JSON files as one another's siblings.

        Args:
            paths: all of them.
            version: for files that do not say theirs.
        """
        from docstow.ingest.crates import RustdocFiles

        return RustdocFiles(
            self.publisher,
            paths,
            self.upstreams.limits,
            version,
            try_unknown=self.settings.try_unknown_formats,
        )

    def check_store(self) -> None:
        """Refuse a store that nobody could write safely; that it cannot be written is fine.

        Raises:
            StoreError: it ignores the conditions of writes, or cannot be used at all.
        """
        if isinstance(self.store, S3Store):
            with tolerate_read_only("the store is only read"):
                self.store.check()

    def ingest_sample(self) -> None:
        """Ingest the crate that comes with docstow, so that a first search needs no network."""
        if not self._has_sample():
            with tolerate_read_only("the sample is not stowed"):
                self.rustdoc_files([SAMPLE]).ingest(SAMPLE)

    def ingest_sample_apart(self) -> None:
        """Do as :meth:`ingest_sample` in a process that ends then.

        What embeds and writes tables takes 150 MB, which a server that only checks code never needs
        again.
        """
        if self._has_sample():
            return
        if not sys.executable:
            self.ingest_sample()
            return
        from docstow.core.processes import Budget, ProcessPool

        # It is trusted, but shall not hang: a model may be fetched first.
        budget = Budget(cpu_s=600, wall_s=600.0, memory_bytes=8 * 1024**3)
        secrets = {"embeddings_key": self.settings.embeddings_key.reveal()}
        pool = ProcessPool(
            "docstow.runtime:ingest_sample_of",
            {"settings": {**_passed_on(self.settings), **secrets}},
            most=1,
            budget=budget,
        )
        try:
            pool.call({}, "sample")
        finally:
            pool.close()

    def _has_sample(self) -> bool:
        head = self.snapshots.head(Source(LOCAL, SAMPLE.name.partition("-")[0], "0.1.0"))
        return head is not None and bool(head.snapshot_id)

    @lazy
    def renewals(self) -> RenewalTask:
        """Makes snapshots of an older recipe again."""
        from docstow.ingest.publish import RenewalTask

        return RenewalTask(self.snapshots, self.publisher)

    @lazy
    def syncs(self) -> SyncTask:
        """Syncs registered sources."""
        from docstow.ingest.crawls import Crawls
        from docstow.ingest.sync import SyncTask

        settings = self.settings
        return SyncTask(
            self.registry,
            self.jobs,
            self.snapshots,
            self.publisher,
            self.upstreams.origin,
            self.crates,
            _now,
            processes=min(cores(), _READERS) if sys.executable else 1,
            crawls=Crawls(self.leases, settings.max_crawls, settings.lease_s),
        )

    @lazy
    def worker(self) -> Worker:
        """Does the jobs of messages, whichever queue brings them."""
        from docstow.ingest.jobs import RENEW, STOW, SYNC
        from docstow.ingest.worker import StowTask, Worker

        stowing = StowTask(self.crates, dict.fromkeys(package_kinds(), self.packages))
        tasks: dict[str, Task] = {STOW: stowing, RENEW: self.renewals, SYNC: self.syncs}
        lease_s = self.settings.lease_s
        return Worker(self.jobs, self.leases, tasks, self.store, lease_s=lease_s, clock=_now)

    def sqs_events(self) -> SqsEvents:
        """Return what handles the queue's messages in a function that the queue calls.

        Raises:
            ConfigurationError: no queue is set.
        """
        from docstow.ingest.queue import SqsQueue
        from docstow.ingest.worker import SqsEvents

        queue = self.queue
        if not isinstance(queue, SqsQueue):
            raise ConfigurationError("queue_url: name the queue whose messages are handled")
        return SqsEvents(self.worker, queue, self.settings.max_receive_count)

    # Requests: what asks for work

    @lazy
    def queue(self) -> Queue:
        """What brings jobs to a worker: the queue that is set, or the workers of this process."""
        from docstow.ingest.queue import LocalQueue, SqsQueue

        settings = self.settings
        if settings.queue_url:
            dead = settings.dead_letter_url
            return SqsQueue(settings.queue_url, dead, region=settings.s3_region)
        return LocalQueue(self._handle, settings.workers)

    def _handle(self, message: Message) -> None:
        self.worker.handle(message)

    def pass_jobs_on(self, pass_on: Callable[[Mapping[str, Any]], object]) -> None:
        """Have the process that this one works for do the jobs, where no queue is set.

        Args:
            pass_on: sends it what :meth:`run_apart` receives.
        """
        from docstow.ingest.queue import PassingQueue

        if not self.settings.queue_url:
            self.queue = PassingQueue(lambda message: pass_on({"job": message.encode()}))

    def run_apart(self) -> None:
        """Have tools that read foreign code run in processes that can be ended, from now on.

        To be called before the toolbox is used, by servers for many.
        """
        settings = self.settings
        if not settings.code_processes or not sys.executable:
            return
        from docstow.core.processes import ProcessPool
        from docstow.ingest.queue import decode
        from docstow.tools.apart import ToolProcesses, budget

        pool = ProcessPool(
            "docstow.runtime:answer_apart",
            {"settings": _passed_on(settings)},
            most=settings.code_processes,
            budget=budget(settings.memory_bytes),
            receive=lambda sent: self.queue.send(decode(sent["job"])),
        )
        self._closing.callback(pool.close)
        self._apart = ToolProcesses(pool)

    @lazy
    def enqueuer(self) -> Enqueuer:
        """Starts jobs."""
        from docstow.ingest.queue import Enqueuer

        return Enqueuer(self.jobs, self.queue, _now)

    @lazy
    def sync(self) -> SyncRequests:
        """Has registered sources synced."""
        from docstow.library.requests import SyncRequests

        return SyncRequests(self.registry, self.jobs, self.enqueuer)

    @lazy
    def requests(self) -> StowRequests:
        """Has crates and packages ingested."""
        from docstow.library.requests import StowRequests

        wait_s = self.settings.wait_s
        return StowRequests(self.snapshots, self.jobs, self.enqueuer, wait_s=wait_s)

    @lazy
    def renewal_requests(self) -> RenewalRequests:
        """Has snapshots of an older recipe made again."""
        from docstow.library.requests import RenewalRequests

        return RenewalRequests(self.jobs, self.enqueuer)

    # The read path

    @lazy
    def library(self) -> Library:
        """Everything stored of crates and packages, and the way to have more ingested."""
        return Library(
            self.snapshots,
            lambda: self.catalog,
            self.resolver,
            lambda: self.requests,
            lambda: self.renewal_requests,
            lambda: self.installed,
            self._open_embedder,
            self.settings.memory_bytes,
            lambda: self.guides,
        )

    @lazy
    def guides(self) -> Guides:
        """The guides of packages."""
        from docstow.library.guides import Guides
        from docstow.sources.site.versions import SiteVersions

        prose, mode = self.prose, guides_mode(self.settings)
        return Guides(
            self.registry,
            prose.newest,
            prose.index,
            lambda: self.sync,
            lambda *urls: self.presets.of_site(*urls),
            SiteVersions(self.upstreams.guarded_fetcher),
            mode,
        )

    @lazy
    def installed(self) -> Packages:
        """The packages of projects."""
        return self._packages(self.projects)

    def project(self, folder: Path) -> Packages:
        """Return the packages of one directory, for whoever works there.

        Raises:
            ConfigurationError: it is no directory.
        """
        return self._packages(Projects([folder], self.cache_folder, local=True))

    def _packages(self, projects: Projects) -> Packages:
        from docstow.library.packages import Packages

        return Packages(
            projects,
            self.snapshots,
            self.package_cards,
            self._package_ingest,
            self.upstreams.package_registry,
            lambda: self.requests,
            self._may_ask,
            lambda: self.unpacked,
            self.environments,
        )

    @lazy
    def package_cards(self) -> PackageCards:
        """Which packages are stored."""
        from docstow.library.package_cards import PackageCards

        return PackageCards(self.snapshots, lambda: self.catalog)

    def _may_ask(self, kind: str) -> bool:
        """Whether the operator has named the registry, which may know what is private."""
        named = {"python": self.settings.python_index_url, "node": self.settings.npm_registry_url}
        return bool(named.get(kind))

    @lazy
    def environments(self) -> PackageEnvironments:
        """Makes environments of packages that no project has installed."""
        from docstow.library.environments import PackageEnvironments

        settings = self.settings
        made = PackageEnvironments(
            self.unpacked,
            self.upstreams.package_registry,
            wait_s=settings.wait_s,
            guesses=settings.fetch_imports,
        )
        self._closing.callback(made.close)
        return made

    @lazy
    def prose(self) -> Prose:
        """Everything that was synced, for reading."""
        from docstow.library.prose import Prose

        memory_bytes = self.settings.memory_bytes
        open_catalog, open_embedder = lambda: self.catalog, self._open_embedder
        return Prose(self.snapshots, self.registry, open_catalog, open_embedder, memory_bytes)

    @lazy
    def collections(self) -> Collections:
        """The texts that clients push."""
        from docstow.ingest.pushed_texts import Collections

        return Collections(
            self.store,
            self.registry,
            self.sync,
            self.prose.current_document,
            wait_s=self.settings.wait_s,
            max_bytes=self.settings.max_push,
        )

    # The server

    @lazy
    def metrics(self) -> Metrics:
        """What counts the calls of tools."""
        from docstow.tools import Metrics

        return Metrics()

    @lazy
    def toolbox(self) -> Toolbox:
        """Every tool that this server offers."""
        from docstow.tools.registry import ToolMakers

        makers = ToolMakers(
            self.library,
            lambda: self._source_services,
            lambda: self.collections,
            self.projects,
            self.snapshots,
            self.advisories,
            lambda: self.engines,
            lambda: self.finder,
            self._background,
            dropping=drops_suspect(self.settings),
            metrics=self.metrics,
        )
        return makers.toolbox(self._apart)

    @lazy
    def _source_services(self) -> SourceServices:
        from docstow.library.page_totals import PageTotals
        from docstow.tools.sources import SourceServices

        return SourceServices(
            self.registry,
            self.jobs,
            self.sync,
            self.prose,
            PageTotals(self.store, self.snapshots, self.registry),
            lambda name: self.presets.find(name),
            self.upstreams.check,
        )

    @lazy
    def finder(self) -> PackageFinder:
        """Finds packages by purpose."""
        from docstow.library.finding import PackageFinder

        return PackageFinder(
            self.package_cards,
            lambda: self.catalog,
            self.projects,
            self.descriptions,
            self._open_embedder,
        )

    @lazy
    def engines(self) -> Engines:
        """The type checkers that are installed."""
        from docstow.languages.shared.engines import Engines

        builds = Path(f"{self.cache_folder}-builds") if self.settings.cargo_check else None
        found = Engines(self.engines_folder, builds)
        self._closing.callback(found.close)
        return found

    @property
    def engines_folder(self) -> Path | None:
        """Where type checkers are installed; None where none is to be used."""
        given = self.settings.engines
        if given == "none":
            return None
        return Path(given).expanduser() if given else Path(f"{self.cache_folder}-engines")

    @lazy
    def advisories(self) -> Advisories | None:
        """The advisories that the operator has, if any."""
        if not self.settings.advisories:
            return None
        from docstow.sources.advisories import Advisories

        return Advisories(Path(self.settings.advisories).expanduser(), self.cache_folder)

    @lazy
    def protocol(self) -> Protocol:
        """MCP over this server's tools, with what is stowed as its resources."""
        from docstow.server.mcp import Protocol, instruct

        dropping = drops_suspect(self.settings)

        def open_resources() -> Resources:
            from docstow.tools.resources import resources

            return resources(self.toolbox, self.stowed, dropping=dropping)

        def open_prompts() -> Sequence[Prompt]:
            from docstow.tools.prompts import prompts

            return prompts(self.toolbox, lambda: self.stowed)

        return Protocol(
            "docstow",
            __version__,
            lambda offered: instruct(offered, self._asked_for),
            self.toolbox,
            open_resources=open_resources,
            open_prompts=open_prompts,
            about={"title": "docstow", "icons": [{"src": ICON, "mimeType": "image/svg+xml"}]},
        )

    @lazy
    def stowed(self) -> Stowed:
        """The names of what is stowed."""
        from docstow.library.stowed import Stowed

        return Stowed(
            self.library, lambda: self.catalog, self.package_cards, self.registry, self.prose
        )

    def _asked_for(self) -> list[str]:
        """Return the packages that the caller's project asks for, each with its version."""
        try:
            _, scan = self.projects.scan()
        except DocstowError:
            return []
        packages = (each for environment in scan.environments for each in environment.packages)
        return list(dict.fromkeys(f"{e.name} {e.version}" for e in packages if e.direct))

    @lazy
    def compat(self) -> list[tuple[System, Protocol]]:
        """The earlier systems whose forms are served, each with MCP over its tools.

        Raises:
            ConfigurationError: the setting names one that is not known.
        """
        from docstow.server.compat import Services
        from docstow.server.compat.registry import choose

        chosen = choose(self.settings.compat)
        services = Services(
            self.toolbox, self.prose, self.registry, self.projects, lambda: self.embedder.dimensions
        )
        return [(system, system.protocol(services, __version__)) for system in chosen]

    @lazy
    def app(self) -> Starlette:
        """The application of a process that may start for one answer, or within another app."""
        return self._app()

    @lazy
    def served_app(self) -> Starlette:
        """The application of a server that stays: FastAPI's, which takes long to import."""
        from docstow.server.http import fastapi_app

        return self._app(fastapi_app(), streams=True)

    @property
    def resource(self) -> Resource | None:
        """This server as clients of OAuth know it; None where no issuer is configured.

        Raises:
            ConfigurationError: the issuer is, and nothing says whom its tokens are for.
        """
        settings = self.settings
        if not settings.oauth_issuer:
            return None
        if not settings.oauth_resource and not settings.oauth_audience:
            raise ConfigurationError(
                "oauth_issuer needs oauth_resource, the address of this server's /mcp"
                " (DOCSTOW_OAUTH_RESOURCE=https://docs.example/mcp), or oauth_audience"
            )
        from docstow.server.oauth import Resource

        return Resource(settings.oauth_resource or "/mcp", settings.oauth_issuer)

    @lazy
    def access_tokens(self) -> AccessTokens | None:
        """What checks JWTs; None where no issuer is configured."""
        settings = self.settings
        if not settings.oauth_issuer:
            return None
        if importlib.util.find_spec("jwt") is None:
            raise ConfigurationError(
                "oauth_issuer: JWTs need the extra oauth: pip install 'docstow[oauth]'"
            )
        from docstow.server.oauth import AccessTokens

        # The keys may be at another host, which the issuer's metadata name.
        fetcher = cache(
            lambda host: self.upstreams.upstream(settings.oauth_issuer, host, total_s=_ISSUER_S)
        )
        return AccessTokens(
            settings.oauth_issuer,
            settings.oauth_audience or (settings.oauth_resource,),
            lambda url: _fetch_json(fetcher(site_of(url)), url),
        )

    def _app(self, app: Starlette | None = None, *, streams: bool = False) -> Starlette:
        from docstow.server.http import create_app
        from docstow.server.limits import make_limits
        from docstow.server.middleware import LOOPBACK_HOSTS

        settings = self.settings
        return create_app(
            self.protocol,
            app=app,
            compat=self.compat if self.settings.compat else (),
            streams=streams,
            health=self.health,
            commands=_list_commands,
            allowed_hosts=(*LOOPBACK_HOSTS, settings.host, *settings.allowed_hosts),
            allowed_origins=settings.allowed_origins,
            policy=self.policy,
            resource=self.resource,
            tokens=self.access_tokens,
            limits=make_limits(
                settings.rate,
                settings.slow_rate,
                settings.proxies,
                trusted=self.policy.loopback,
            ),
            sources_claim=settings.oauth_sources,
            pages=lambda: self.page_services,
        )

    @lazy
    def page_services(self) -> PageServices:
        """What pages for people show."""
        from docstow.ingest import job_logs
        from docstow.server.web.visit import Services

        def identify(authorization: str) -> None:
            # Who brings a token of an issuer is checked by each request, which may ask the issuer.
            if not (self.settings.oauth_issuer and authorization.count(".") == _DOTS_OF_JWT):
                self.policy.identify(authorization)

        return Services(
            self.toolbox,
            self.library,
            lambda: self.prose,
            lambda: self.catalog,
            lambda: self._source_services,
            lambda job: job_logs.read(self.store, job),
            lambda job: self.enqueuer.repeat(job),
            lambda: self.upkeep().list_sources(),
            self.metrics,
            [who for _, who in self.policy.tokens],
            identify,
            __version__,
        )

    def health(self) -> dict[str, Any]:
        """Return what ``GET /health`` answers; touches neither store nor model."""
        return {
            "status": "ok",
            "version": __version__,
            "store": self.location.split("://")[0] if "://" in self.location else "directory",
            "uptime_s": round(time.monotonic() - self._started, 1),
            **({"pre_ingest": self._progress(self._preload)} if self._preload else {}),
        }

    def _progress(self, preload: PackagePreload) -> dict[str, Any]:
        """Return how far a preload is; which packages it has, those learn who may read all."""
        who, progress = auth.caller(), preload.progress()
        if who.may(auth.READ) and who.bound is None:
            return progress
        failed, running = progress["failed"], progress["running"]
        return {**progress, "failed": len(failed), "running": len(running)}

    # What runs in the background

    def upkeep(self, grace: timedelta | None = None) -> Upkeep:
        """Return what keeps the store small and sound.

        Args:
            grace: for how long readers may go on with what a head named; None for the usual time.
        """
        from docstow.ops.sweep import GRACE
        from docstow.ops.upkeep import Refresh, Upkeep

        refresh = Refresh(self.registry, self.jobs, self.enqueuer)
        limit = self.settings.store_limit
        return Upkeep(
            self.store,
            self.registry,
            self.snapshots,
            refresh,
            limit,
            lambda: self.catalog,
            grace=GRACE if grace is None else grace,
        )

    def keep_up(self) -> None:
        """Begin to do upkeep periodically, where no schedule does it."""
        from docstow.ingest.queue import LocalQueue

        period_s = self.settings.upkeep_hours * 3600

        def do_upkeep() -> None:
            for line in self.upkeep().run().evicted:
                log.info("%s had to make room", line.source.key)

        if period_s and isinstance(self.queue, LocalQueue):
            pauses = itertools.chain([min(FIRST_UPKEEP_S, period_s)], itertools.repeat(period_s))
            self._background.repeat("upkeep", pauses, do_upkeep, "there is no upkeep now")

    def requeue(self) -> None:
        """Begin to send again what a process that died had queued or begun."""
        from docstow.ingest.queue import LocalQueue
        from docstow.store.leases import SKEW_S

        older_s = self.settings.lease_s

        def send() -> None:
            for job in self.enqueuer.requeue(older_s):
                log.info("the job %s of an earlier process goes on", job.id)

        # What was queued just before a process died is old enough at the second look; the lease
        # of what it was at has lapsed at the third.
        pauses = (0.0, older_s, SKEW_S + 1)
        if isinstance(self.queue, LocalQueue):
            failure = "jobs of earlier processes are left alone"
            self._background.repeat("requeue", pauses, send, failure)

    def preload_packages(self, words: Sequence[str]) -> PackagePreload:
        """Begin to ingest packages that nobody has asked for; ``GET /health`` tells how far it is.

        They are pinned: eviction takes them last. Where a queue is set they are sent there.

        Args:
            words: crates and packages, as :func:`docstow.languages.parse_package` reads them.
        """
        from docstow.ingest.preload import PackagePreload, ingest_and_pin
        from docstow.store.usage import Pins

        ingest = partial(
            ingest_and_pin,
            resolver=self.resolver,
            open_registry=self.upstreams.package_registry,
            snapshots=self.snapshots,
            pins=Pins(self.store),
            crates=self.crates,
            packages=self.packages,
            queue=self.enqueuer if self.settings.queue_url else None,
        )
        self._preload = PackagePreload(words, ingest, self.settings.pre_ingest_workers)
        self._preload.start()
        return self._preload


def _passed_on(settings: Settings) -> dict[str, Any]:
    """Return what a process apart has of the settings, as JSON takes it.

    Of what is secret it is told the addresses of registries, which it may ask, and no credential
    of callers, forges or models.
    """
    passed = {}
    for name, field in FIELDS.items():
        value = getattr(settings, name)
        if field.metadata["kind"] != "secret":
            passed[name] = value.reveal() if isinstance(value, Secret) else value
    return passed


def ingest_sample_of(setup: Mapping[str, Any], _: Callable[[Mapping[str, Any]], object]) -> Handler:
    """Return what ingests the sample; its set-up is that of :meth:`Runtime.ingest_sample_apart`."""

    def ingest(_: Mapping[str, Any]) -> Mapping[str, Any]:
        settings = load(setup["settings"], {})
        configure(settings)
        with contextlib.closing(Runtime(settings)) as runtime:
            runtime.ingest_sample()
        return {}

    return ingest


def answer_apart(
    setup: Mapping[str, Any], pass_on: Callable[[Mapping[str, Any]], object]
) -> Handler:
    """Return what answers the requests of a server in a process of its own.

    Args:
        setup: as :meth:`Runtime.run_apart` gives it.
        pass_on: sends a message to the server.
    """
    from docstow.tools.apart import answer

    limit_blas()
    collect_seldom()
    settings = load(setup["settings"], {})
    configure(settings)
    runtime = Runtime(settings)
    runtime.pass_jobs_on(pass_on)
    return partial(answer, runtime.toolbox)
