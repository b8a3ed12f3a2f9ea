"""Where files come from: the contract of a source, the registered kinds, and their clients.

There is a module or package for each kind of source, with its :class:`SourceKind` record. The
record is light; the code that fetches is imported when an origin is opened.
"""

from __future__ import annotations

import contextlib
import pkgutil
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import field
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, Protocol, runtime_checkable
from urllib.parse import urlsplit

from docstow.core.errors import Forbidden, InvalidParameter
from docstow.core.model import File, Known, Registration, Revision, Source
from docstow.core.records import dataclass
from docstow.core.settings import LOOPBACK, Settings, allowed_private
from docstow.core.threads import lazy
from docstow.languages import LANGUAGES

if TYPE_CHECKING:
    from docstow.net import Fetcher
    from docstow.net.connection import Connection
    from docstow.net.decompress import Limits
    from docstow.net.hosts import AllowedHosts
    from docstow.sources.crates.origin import CrateOrigin
    from docstow.sources.packages import PackageRegistry
    from docstow.store.objects import ObjectStore


@dataclass(frozen=True, slots=True)
class Found:
    """A file that is new or may have changed; ``file.path`` is its document's path."""

    file: File
    validator: str = ""
    links: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Same:
    """A file that is unchanged according to its upstream."""

    path: str


#: Reasons for leaving out a wanted file because a limit was reached before it.
MORE_FILES, MORE_BYTES, MORE_PAGES = (
    "more than max_files",
    "more than max_bytes",
    "more than max_pages",
)
LIMITS = frozenset({MORE_FILES, MORE_BYTES, MORE_PAGES})
TOO_DEEP = "deeper than max_depth"
#: By reason the option that raises the limit, and what it counts.
_RAISED_BY = {
    MORE_FILES: ("max_files", "file"),
    MORE_BYTES: ("max_bytes", "file"),
    MORE_PAGES: ("max_pages", "page"),
    TOO_DEEP: ("max_depth", "page"),
}


@dataclass(frozen=True, slots=True)
class Skipped:
    """A file that is left out on purpose: ``reason`` is a short phrase, one of a few."""

    ref: str
    reason: str


def by_limits(skipped: Mapping[str, int]) -> dict[str, int]:
    """Return those reasons for leaving out files that an option of the source changes."""
    return {reason: number for reason, number in skipped.items() if reason in _RAISED_BY}


def limit_notice(skipped: Mapping[str, int]) -> str:
    """Say what limits left out and which options raise them; empty where they left out nothing.

    Args:
        skipped: how many files a sync left out, by reason.
    """
    found = [(number, *_RAISED_BY[reason]) for reason, number in by_limits(skipped).items()]
    if not found:
        return ""
    left_out = ", ".join(
        f"{number} {what}{'s' * (number > 1)} by {option}" for number, option, what in found
    )
    names = " and ".join(option for _, option, _ in found)
    unseen = " What only these link to is not counted." if found[0][2] == "page" else ""
    return (
        f"Left out by limits: {left_out}.{unseen} Set {names} higher among the source's options"
        f" (create_source once more, or docstow ingest --option {found[0][1]}=N) and sync again."
    )


@dataclass(frozen=True, slots=True)
class Failed:
    """A file that could not be read this time; its former document stays.

    Attributes:
        ref: its path or URL.
        kind: the code of an error, such as ``upstream_timeout``.
        message: what happened, for people; no secrets.
    """

    ref: str
    kind: str
    message: str


@dataclass(frozen=True, slots=True)
class Preview:
    """Files that answer for a source until its first sync has ended, and not any longer."""

    files: tuple[File, ...]


Event = Found | Same | Skipped | Failed | Preview


class Origin(Protocol):
    """Where the files of one registered source come from; opened anew for each sync."""

    def resolve(self) -> Revision:
        """Return the revision of which :meth:`files` will give the files.

        Its validator (a commit) is empty where the source has no versions.

        Raises:
            DocstowError: the source cannot be read at all; the sync fails.
        """
        ...

    def files(self, known: Mapping[str, Known]) -> Iterator[Event]:
        """Yield an event for each file that the source has now; paths without one are gone.

        Args:
            known: by path what the last sync learned; empty for a full sync, in which no file is
                taken for unchanged.

        Raises:
            DocstowError: the source cannot be read at all; the sync fails.
        """
        ...


@runtime_checkable
class Foresees(Protocol):
    """An origin that can tell how much is left while it yields its files."""

    @property
    def left(self) -> int:
        """The number of files that it knows of and has not yielded; more may be found."""
        ...


@dataclass(frozen=True, slots=True)
class Command:
    """How ``docstow ingest KIND URI`` names a source of a kind.

    Attributes:
        metavar: what the help calls the URI.
        help: a line for the list of kinds.
        flags: by name the options of the kind that have a flag of their own, and the flag's help.
        takes_preset: whether a word without a slash is the name of a preset.
        uri: returns the URI that a word on the command line stands for.
    """

    metavar: str
    help: str
    flags: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    takes_preset: bool = False
    uri: Callable[[str], str] = str


@dataclass(frozen=True, slots=True)
class SourceKind:
    """A kind of source: the only place where code may tell one kind from another.

    Attributes:
        name: as users give it and as keys of the store have it.
        profile: whether its snapshots hold ``pages`` (searched by search_docs) or ``items`` of an
            API (searched by search_items).
        canonical: returns the one spelling of a URI and raises InvalidParameter for a URI that is
            not of this kind; None where sources of the kind cannot be registered.
        options: returns checked options with defaults, from those given and the URI as given;
            None where the kind has no options.
        check: raises where a canonical URI cannot be synced, as far as that shows without network.
        open: opens the origin of a registered source for one sync; None for kinds that are
            ingested by name and version.
        source: returns what a registered source is stored under.
        refreshable: whether upkeep may sync it periodically, because it changes upstream.
        local_only: whether its URIs are paths on one machine. Servers that others reach refuse it.
        host: of the URIs that name none.
        pushed: whether its texts are pushed into the store, which alone has them. Bundles carry
            them, deleting the source deletes them, and a sync that finds none is no error.
        paths_are_urls: whether document paths are canonical URLs; else they are paths in a tree.
        shared: whether its snapshots answer whoever names the package. Registering a source then
            pins its snapshot, and deleting the registration leaves the snapshot.
        evictable: whether eviction may remove its snapshots, because a request fetches them again.
        preset: whether a preset may name such a source.
        command: its spelling as a subcommand of ``docstow ingest``; None where it has none, or one
            of its own.
    """

    name: str
    profile: Literal["pages", "items"] = "pages"
    canonical: Callable[[str], str] | None = None
    options: Callable[[Mapping[str, Any], str], dict[str, Any]] | None = None
    check: Callable[[str], None] = lambda _: None
    open: Callable[[Registration, Upstreams], AbstractContextManager[Origin]] | None = None
    source: Callable[[Registration], Source] = lambda registration: registration.source
    refreshable: bool = False
    local_only: bool = False
    host: str = ""
    pushed: bool = False
    paths_are_urls: bool = False
    shared: bool = False
    evictable: bool = False
    preset: bool = False
    command: Command | None = None

    @property
    def has_pages(self) -> bool:
        """Whether its snapshots hold pages."""
        return self.profile == "pages"

    def canonical_uri(self, uri: str) -> str:
        """Return the one spelling of a URI by which a source is identified.

        Raises:
            InvalidParameter: the URI is not of this kind.
        """
        if self.canonical is None:
            raise InvalidParameter("kind", f"a {self.name} cannot be registered")
        if not (trimmed := uri.strip()):
            raise InvalidParameter("uri", "must not be empty")
        return self.canonical(trimmed)

    def checked_options(self, raw: Mapping[str, Any], uri: str = "") -> dict[str, Any]:
        """Return the options of a source, checked and completed by their defaults.

        Args:
            raw: the options that the user gave.
            uri: as the user gave it; it may name a part of the source.

        Raises:
            InvalidParameter: an option is unknown or invalid.
        """
        if self.options is not None:
            return self.options(raw, uri)
        if raw:
            names = ", ".join(raw)
            raise InvalidParameter("options", f"a {self.name} has none, but {names} was given")
        return {}

    def check_allowed(self, upstreams: Upstreams) -> None:
        """Refuse a kind that reads local files on a server that others reach.

        Raises:
            Forbidden: this process does not read local files.
        """
        if self.local_only and not upstreams.reads_local_files:
            word = self.command.metavar if self.command else "URI"
            raise Forbidden(
                f"This server does not read {self.name}s of the machine it runs on. Run `docstow"
                f" ingest {self.name} {word}` or `docstow serve` on your own machine, or push the"
                " texts into a collection."
            )


#: The records of the kinds, imported with their first use: their modules import this one.
_BUNDLED = (
    "site:KIND",
    "git:KIND",
    "folder:KIND",
    "confluence:KIND",
    "gitbook:KIND",
    "readthedocs:KIND",
    "collection:KIND",
    "crates:KIND",
    "crates:LOCAL_KIND",
)
_added: dict[str, SourceKind] = {}
#: By kind what opens the registry of its packages, for the upstreams of a process.
_REGISTRIES = {
    "python": "docstow.sources.packages.python_index:open_index",
    "node": "docstow.sources.packages.npm_registry:open_registry",
}
#: By host those that it sends to: archives of crates, and the files of the hub's models.
_NAMED_WITH = {
    "index.crates.io": ("static.crates.io", "crates.io"),
    "huggingface.co": ("*.huggingface.co", "*.hf.co"),
}
#: The kinds of packages that come from registries, or from where they are installed.
PACKAGE_KINDS = frozenset(_REGISTRIES)


def register(kind: SourceKind) -> None:
    """Add a kind of source; servers and commands that are made afterwards have it."""
    _added[kind.name] = kind


def kinds() -> Mapping[str, SourceKind]:
    """Return all kinds of sources by name, those that can be registered first."""
    packaged = (each.kind for each in LANGUAGES.values() if each.packaged)
    packages = {name: SourceKind(name, profile="items") for name in packaged}
    return {**_bundled(), **packages, **_added}


@cache
def _bundled() -> Mapping[str, SourceKind]:
    kinds = (pkgutil.resolve_name(f"docstow.sources.{each}") for each in _BUNDLED)
    return {kind.name: kind for kind in kinds}


def kind_of(name: str) -> SourceKind:
    """Return the kind of a stored source; a bare record for a kind of another release."""
    # Many are asked for each search: the table of all of them is not made for one.
    return _added.get(name) or _bundled().get(name) or SourceKind(name, profile="items")


def registrable() -> list[str]:
    """Return the names of the kinds whose sources can be registered."""
    return [kind.name for kind in kinds().values() if kind.canonical is not None]


def page_kinds() -> list[str]:
    """Return the names of the kinds whose snapshots hold pages."""
    return [kind.name for kind in kinds().values() if kind.has_pages]


def find(name: str) -> SourceKind:
    """Return the kind that a user names.

    Raises:
        InvalidParameter: there is no such kind, or its sources cannot be registered.
    """
    if name not in registrable():
        known = ", ".join(registrable())
        raise InvalidParameter("kind", f"must be one of {known}, not {name[:80]!r}")
    return kinds()[name]


def spelling(kind: str, uri: str) -> str:
    """Return the canonical spelling; empty where the text is no URI of that kind."""
    try:
        return find(kind).canonical_uri(uri)
    except InvalidParameter:
        return ""


class Upstreams:
    """The HTTP clients and origins of one process. Safe to share between threads.

    Args:
        settings: addresses, limits and timeouts.
        store: where pushed texts are.
        root: the project's folder where a command runs in one; its files say, too, where packages
            come from.
    """

    def __init__(self, settings: Settings, store: ObjectStore, root: Path | None = None) -> None:
        self.settings = settings
        self.root = root
        self.store = store
        self._lock = threading.RLock()
        self._closing = contextlib.ExitStack()
        self._guarded: dict[str, Fetcher] = {}
        self._registries: dict[str, PackageRegistry | None] = {}

    def close(self) -> None:
        """Drop connections."""
        self._closing.close()

    @property
    def project(self) -> Path | None:
        """The folder of the project that packages should fit: the first that may be looked into."""
        if self.root is not None or not self.reads_local_files or not self.settings.root:
            return self.root
        return Path(self.settings.root[0]).expanduser()

    @property
    def limits(self) -> Limits:
        """The largest download and file."""
        from docstow.net.decompress import Limits

        return Limits(self.settings.max_compressed, self.settings.max_decompressed)

    def fetcher(
        self,
        total_s: float = 0.0,
        *,
        private: bool | tuple[str, ...] = True,
        connection: Connection | None = None,
        only: AllowedHosts | None = None,
    ) -> Fetcher:
        """Return a new client for one upstream.

        Args:
            total_s: how long one answer may take, in seconds; 0 for the setting.
            private: whether it may ask hosts on private addresses, or which of them.
            connection: certificates and proxies; those of the environment if left out.
            only: the hosts that it may ask; offline none but the model's API.

        Raises:
            ConfigurationError: what these are cannot be read.
        """
        from docstow.net import Fetcher
        from docstow.net.connection import Connection
        from docstow.net.hosts import AllowedHosts
        from docstow.net.retry import RetryPolicy

        settings = self.settings
        policy = RetryPolicy(
            connect_s=settings.connect_timeout_s,
            read_s=settings.read_timeout_s,
            total_s=total_s or settings.total_timeout_s,
            retries=settings.retries,
        )
        # A model's API is no source; whoever is offline has it near.
        if settings.offline:
            only = AllowedHosts(
                _hosts_of(settings.embeddings_url),
                "the setting offline is on: only what is stowed answers.",
                {"offline": True},
            )
        made = Fetcher(
            settings.contact_url,
            policy=policy,
            private=private,
            only=only,
            connection=connection or Connection(),
        )
        with self._lock:
            return self._closing.enter_context(contextlib.closing(made))

    def registry_fetcher(self, connection: Connection, urls: Iterable[str]) -> Fetcher:
        """Return a new client for registries of packages, whose files may be on other hosts.

        Where callers are elsewhere, those are on public addresses. A proxy resolves names itself
        and decides what it reaches.
        """
        from urllib.request import getproxies  # which imports a client and mail

        private = allowed_private(self.settings)
        proxied = connection.proxy or (connection.proxy is None and getproxies())
        if isinstance(private, bool) or proxied:
            return self.fetcher(connection=connection)
        own = (urlsplit(url).hostname or "" for url in urls)
        return self.fetcher(private=(*private, *own), connection=connection)

    def upstream(self, *urls: str, total_s: float = 0.0) -> Fetcher:
        """Return a new client that asks the hosts of these addresses, and those named with them.

        Args:
            urls: of the settings.
            total_s: as of :meth:`fetcher`.
        """
        from docstow.net.hosts import AllowedHosts

        own = _hosts_of(*urls)
        names = {*own, *(each for host in own for each in _NAMED_WITH.get(host, ()))}
        asked = ", ".join(own)
        return self.fetcher(
            total_s,
            only=AllowedHosts(
                names | {name.lower() for name in self.settings.upstream_hosts},
                f"{asked} alone {'is' if len(own) == 1 else 'are'} asked here; if it belongs to"
                " them, name it in upstream_hosts (DOCSTOW_UPSTREAM_HOSTS).",
            ),
        )

    @lazy
    def crates(self) -> CrateOrigin:
        """docs.rs and the index of crates."""
        from docstow.sources.crates.origin import CrateOrigin

        settings = self.settings
        return CrateOrigin(
            self.upstream(settings.docs_rs_url, settings.crates_index_url),
            settings.docs_rs_url,
            settings.crates_index_url,
            limits=self.limits,
            interval_s=settings.upstream_interval_s,
        )

    def package_registry(self, kind: str) -> PackageRegistry | None:
        """Return the registry of a kind of packages, opened once; None where there is none."""
        with self._lock:
            if kind not in self._registries:
                opener = _REGISTRIES.get(kind)
                opened = pkgutil.resolve_name(opener)(self) if opener else None
                self._registries[kind] = opened
            return self._registries[kind]

    def check(self, kind: str, uri: str) -> None:
        """Refuse a source that cannot be synced, as far as that shows without network.

        Raises:
            InvalidParameter: there is no such kind, or the URI is not of that kind.
            Forbidden: the kind reads local files, and this process does not.
            SourceNotFound: a folder that is not there.
        """
        of_kind = find(kind)
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
        kind = find(registration.kind)
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


def _hosts_of(*urls: str) -> tuple[str, ...]:
    """Return the hosts of addresses, with their ports; those of none are left out."""
    hosts = (urlsplit(url).netloc.rpartition("@")[2].lower() for url in urls)
    return tuple(dict.fromkeys(filter(None, hosts)))
