"""What a kind of source is, and what its origin gives to a sync: a revision, then events."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, Protocol

from docstow.core.errors import Forbidden, InvalidParameter
from docstow.core.model import File, Known, Registration, Revision, Source

if TYPE_CHECKING:
    from docstow.core.settings import Settings
    from docstow.net import Fetcher
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


@dataclass(frozen=True, slots=True)
class Skipped:
    """A file that is left out on purpose: ``reason`` is a short phrase, one of a few."""

    ref: str
    reason: str


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


Event = Found | Same | Skipped | Failed


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


class Environment(Protocol):
    """What origins are opened with."""

    @property
    def settings(self) -> Settings:
        """The settings of this process."""
        ...

    @property
    def store(self) -> ObjectStore:
        """The store of this process."""
        ...

    @property
    def reads_local_files(self) -> bool:
        """Whether this process serves one person on that person's machine."""
        ...

    def guarded_fetcher(self, trusted_url: str = "") -> Fetcher:
        """Return a client for addresses that users give.

        Args:
            trusted_url: an address that the operator has chosen; its host may be private.
        """
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
        pushed: whether its texts are pushed into the store, which alone has them. Bundles carry
            them, deleting the source deletes them, and a sync that finds none is no error.
        paths_are_urls: whether document paths are canonical URLs; else they are paths in a tree.
        shared: whether its snapshots answer whoever names the package. Registering a source then
            pins its snapshot, and deleting the registration leaves the snapshot.
        catalogued: whether its snapshots have cards in the catalog of crates.
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
    open: Callable[[Registration, Environment], AbstractContextManager[Origin]] | None = None
    source: Callable[[Registration], Source] = lambda registration: registration.source
    refreshable: bool = False
    local_only: bool = False
    pushed: bool = False
    paths_are_urls: bool = False
    shared: bool = False
    catalogued: bool = False
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

    def check_allowed(self, environment: Environment) -> None:
        """Refuse a kind that reads local files on a server that others reach.

        Raises:
            Forbidden: this process does not read local files.
        """
        if self.local_only and not environment.reads_local_files:
            word = self.command.metavar if self.command else "URI"
            raise Forbidden(
                f"This server does not read {self.name}s of the machine it runs on. Run `docstow"
                f" ingest {self.name} {word}` or `docstow serve` on your own machine, or push the"
                " texts into a collection."
            )
