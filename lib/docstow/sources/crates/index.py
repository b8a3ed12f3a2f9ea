"""The sparse index of crates.io: the versions of a crate and their dependencies."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import msgspec

from docstow.core.errors import CrateNotFound, UpstreamError
from docstow.core.versions import Version
from docstow.sources.listing_cache import EXPECTED, ListingCache

if TYPE_CHECKING:
    from docstow.net import Answer, Fetcher
    from docstow.net.decompress import Limits

_NEWEST_LINE_FORMAT = 2


@dataclass(frozen=True, slots=True)
class Dependency:
    """A dependency of a release.

    Attributes:
        name: the package's own name on the registry.
        requirement: a Cargo requirement.
        kind: ``normal``, ``build`` or ``dev``.
        optional: whether a feature enables it.
        features: the features that are enabled in it.
        default_features: whether its default features are enabled.
        target: the platform that it is limited to (a triple or ``cfg(...)``); empty for all.
        alias: its name in the manifest if that differs, else empty.
    """

    name: str
    requirement: str
    kind: str = "normal"
    optional: bool = False
    features: tuple[str, ...] = ()
    default_features: bool = True
    target: str = ""
    alias: str = ""


@dataclass(frozen=True, slots=True)
class Release:
    """A published version of a crate.

    Attributes:
        version: as the index spells it, build metadata included.
        yanked: whether its publisher has withdrawn it.
        features: by name, what the feature enables.
        dependencies: in the index's order.
        rust_version: the minimal version of Rust; empty if not stated.
        published: ISO 8601 time of publishing; empty if not stated.
        checksum: SHA-256 of its archive in hex; empty if not stated.
    """

    version: str
    yanked: bool
    features: Mapping[str, tuple[str, ...]]
    dependencies: tuple[Dependency, ...]
    rust_version: str = ""
    published: str = ""
    checksum: str = ""

    def facts(self) -> dict[str, Any]:
        """Return what is immutable and not of the archive, as JSON values."""
        facts: dict[str, Any] = {
            "features": {name: list(enabled) for name, enabled in self.features.items()},
            "dependencies": [
                {**dataclasses.asdict(each), "features": list(each.features)}
                for each in self.dependencies
            ],
        }
        optional = {"rust_version": self.rust_version, "published": self.published}
        return facts | {name: value for name, value in optional.items() if value}


@dataclass(frozen=True, slots=True)
class Listing:
    """A crate in the index: its own spelling of its name, and releases in ascending order."""

    name: str
    releases: tuple[Release, ...]


class SparseIndex:
    """A client of the sparse index that caches its entries.

    Args:
        fetcher: the HTTP client.
        url: the index's root, without a trailing slash.
        limits: caps on one crate's entry.
        ttl_s: how long an entry is cached, after which it is revalidated by its ETag. The index
            itself sends ten minutes.
        retry_s: how long "no such crate" and "unreachable" are cached.
        monotonic: seconds on a clock that never goes back.
    """

    def __init__(
        self,
        fetcher: Fetcher,
        url: str,
        *,
        limits: Limits,
        ttl_s: float = 600.0,
        retry_s: float = 30.0,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._fetcher = fetcher
        self._url = url
        self._limits = limits
        self._cache: ListingCache[Listing] = ListingCache(
            self._ask, ttl_s=ttl_s, retry_s=retry_s, monotonic=monotonic
        )
        self._configuration: ListingCache[str] = ListingCache(
            self._ask, ttl_s=ttl_s, retry_s=retry_s, most=1, monotonic=monotonic
        )

    def archives(self) -> str:
        """Return where archives are, as its configuration says; empty where it does not.

        Raises:
            UpstreamError, UpstreamTimeout: the index does not answer and nothing is cached.
        """
        return self._configuration.get(f"{self._url}/config.json", _read_configuration) or ""

    def listing(self, name: str) -> Listing:
        """Return all releases of a crate; case, and ``-`` or ``_`` in its name, do not matter.

        Raises:
            CrateNotFound: the index has no crate of that name.
            UpstreamError, UpstreamTimeout: the index does not answer and nothing is cached.
        """
        asked = name.lower()
        for spelling in dict.fromkeys((asked, asked.replace("_", "-"), asked.replace("-", "_"))):
            url = f"{self._url}/{entry_path(spelling)}"
            if (listing := self._cache.get(url, _read_answer)) is not None:
                return listing
        raise CrateNotFound(
            f"crates.io has no crate named {name}. Check the spelling; docs of a private crate can"
            " be stowed with `docstow ingest rustdoc FILE`."
        )

    def _ask(self, url: str, headers: Mapping[str, str]) -> Answer:
        return self._fetcher.get(url, expected=EXPECTED, headers=headers, limits=self._limits)


def entry_path(name: str) -> str:
    """Return the path of a crate's entry, see the Cargo book, "Index files"."""
    lowered = name.lower()
    return f"{index_folder(lowered)}/{lowered}"


def index_folder(name: str) -> str:
    """Return the folder that a name of that spelling has in an index."""
    match len(name):
        case 1 | 2 as length:
            return f"{length}"
        case 3:
            return f"3/{name[0]}"
        case _:
            return f"{name[:2]}/{name[2:4]}"


def _read_configuration(answer: Answer) -> str | None:
    try:
        found = msgspec.json.decode(answer.body, type=_Configuration)
    except ValueError:
        return None
    return found.dl if found.dl.startswith(("https://", "http://")) else None


class _Configuration(msgspec.Struct):
    dl: str = ""


class _DependencyLine(msgspec.Struct):
    name: str
    req: str
    features: list[str] | None = None
    optional: bool = False
    default_features: bool = True
    target: str | None = None
    kind: str | None = None
    package: str | None = None


class _Line(msgspec.Struct):
    name: str
    vers: str
    deps: list[_DependencyLine] | None = None
    features: dict[str, list[str]] | None = None
    features2: dict[str, list[str]] | None = None
    yanked: bool | None = None
    rust_version: str | None = None
    pubtime: str | None = None
    cksum: str | None = None
    v: int | None = None


_LINES = msgspec.json.Decoder(_Line)


def read_entry(body: bytes, *, url: str) -> Listing | None:
    """Parse an entry of the index, one JSON object per line; None when it lists no version.

    Like Cargo, ignore lines of a later format and invalid lines: they are for newer clients.

    Raises:
        UpstreamError: there are lines, but none is valid.
    """
    lines = [line for line in body.splitlines() if line.strip()]
    read = [line for line in map(_read_line, lines) if line is not None]
    if lines and not read:
        raise UpstreamError(
            f"{url} is not an entry of a sparse index; check the configured index URL.", url=url
        )
    releases = [_release(line) for line in read if (line.v or 1) <= _NEWEST_LINE_FORMAT]
    if not releases:
        return None
    return Listing(read[-1].name, tuple(sorted(releases, key=_order)))


def _read_answer(answer: Answer) -> Listing | None:
    return read_entry(answer.body, url=answer.url)


def _read_line(line: bytes) -> _Line | None:
    try:
        decoded = _LINES.decode(line)
        Version.parse(decoded.vers)
    except ValueError:
        return None
    return decoded


def _order(release: Release) -> Version:
    return Version.parse(release.version)


def _release(line: _Line) -> Release:
    features = (line.features or {}) | (line.features2 or {})
    return Release(
        version=line.vers,
        yanked=bool(line.yanked),
        features={name: tuple(enabled) for name, enabled in sorted(features.items())},
        dependencies=_dependencies(line.deps or ()),
        rust_version=line.rust_version or "",
        published=line.pubtime or "",
        checksum=line.cksum or "",
    )


def _dependencies(lines: Sequence[_DependencyLine]) -> tuple[Dependency, ...]:
    return tuple(
        Dependency(
            # If a dependency is renamed, ``package`` is its real name.
            name=line.package or line.name,
            requirement=line.req,
            kind=line.kind or "normal",
            optional=line.optional,
            features=tuple(line.features or ()),
            default_features=line.default_features,
            target=line.target or "",
            alias=line.name if line.package and line.package != line.name else "",
        )
        for line in lines
    )
