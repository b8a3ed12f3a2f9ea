"""The sparse index of crates.io: which versions a crate has, and what each of them needs.

This room knows the index's paths, lines and lifetimes. It does not know docs.rs, nor which
version a requirement means.
"""

from __future__ import annotations

import dataclasses
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import msgspec

from docstow.core.errors import CrateNotFound, UpstreamError, UpstreamTimeout
from docstow.core.versions import Version

if TYPE_CHECKING:
    from docstow.net import Fetcher
    from docstow.net.decompress import Limits

# What Cargo takes for "no such crate": https://doc.rust-lang.org/cargo/reference/registry-index.html
_ABSENT = frozenset({404, 410, 451})
_NEWEST_LINE_FORMAT = 2
# The entries of crates with many versions weigh a megabyte each.
_REMEMBERED_CRATES = 64


@dataclass(frozen=True, slots=True)
class Dependency:
    """One dependency of a release.

    Attributes:
        name: the package's own name on the registry.
        requirement: a Cargo requirement.
        kind: ``normal``, ``build`` or ``dev``.
        optional: whether a feature turns it on.
        features: features that are asked of it.
        default_features: whether its default features are on.
        target: the platform it is limited to (a triple or ``cfg(...)``); empty for all.
        alias: the name it has in the manifest where that differs; else empty.
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
    """One published version of a crate.

    Attributes:
        version: as the index spells it, build metadata included.
        yanked: whether its publisher has withdrawn it.
        features: feature to what it turns on.
        dependencies: in the index's order.
        rust_version: the oldest Rust it says it needs; empty where it does not say.
        published: ISO 8601 time of publishing; empty where the index does not say.
    """

    version: str
    yanked: bool
    features: Mapping[str, tuple[str, ...]]
    dependencies: tuple[Dependency, ...]
    rust_version: str = ""
    published: str = ""

    def facts(self) -> dict[str, Any]:
        """What never changes about the release, as JSON values: all but ``yanked``."""
        facts: dict[str, Any] = {
            "features": {name: list(enabled) for name, enabled in self.features.items()},
            "dependencies": [
                {**dataclasses.asdict(each), "features": list(each.features)}
                for each in self.dependencies
            ],
        }
        told = {"rust_version": self.rust_version, "published": self.published}
        return facts | {name: value for name, value in told.items() if value}


@dataclass(frozen=True, slots=True)
class Listing:
    """A crate as the index has it: its name as it spells itself, releases in ascending order."""

    name: str
    releases: tuple[Release, ...]


@dataclass(frozen=True, slots=True)
class _Remembered:
    listing: Listing | None
    etag: str
    until: float


class SparseIndex:
    """Reads the sparse index, remembering what it said for as long as that is good.

    Args:
        fetcher: asks over HTTP.
        url: the index's root, without a trailing slash.
        limits: caps on one crate's entry.
        ttl_s: how long an entry answers unasked; afterwards it is revalidated by its ETag. The
            index itself says ten minutes.
        retry_s: how long "no such crate" and "unreachable" are taken for granted.
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
        self._ttl_s = ttl_s
        self._retry_s = retry_s
        self._monotonic = monotonic
        self._lock = threading.Lock()
        self._remembered: OrderedDict[str, _Remembered] = OrderedDict()
        self._fault: UpstreamError | UpstreamTimeout | None = None
        self._fault_until = 0.0

    def listing(self, name: str) -> Listing:
        """All releases of a crate; ``-`` and ``_`` may be mixed up, and letters' cases too.

        Raises:
            CrateNotFound: the index has no crate of that name.
            UpstreamError, UpstreamTimeout: the index cannot be asked and nothing is remembered.
        """
        asked = name.lower()
        for spelling in dict.fromkeys((asked, asked.replace("_", "-"), asked.replace("-", "_"))):
            if (listing := self._look_up(spelling)) is not None:
                return listing
        raise CrateNotFound(
            f"crates.io has no crate named {name}. Check the spelling; docs of a private crate can"
            " be stowed with `docstow ingest rustdoc FILE`."
        )

    def _look_up(self, key: str) -> Listing | None:
        with self._lock:
            known = self._remembered.get(key)
        if known is not None and self._monotonic() < known.until:
            return known.listing
        try:
            fresh = self._ask(key, known)
        except (UpstreamError, UpstreamTimeout):
            # An old list of versions is better than none while the index is away.
            if known is not None and known.listing is not None:
                return known.listing
            raise
        with self._lock:
            self._remembered[key] = fresh
            self._remembered.move_to_end(key)
            if len(self._remembered) > _REMEMBERED_CRATES:
                self._remembered.popitem(last=False)
        return fresh.listing

    def _ask(self, key: str, known: _Remembered | None) -> _Remembered:
        """Ask the index, unless it was unreachable a moment ago: waiting again helps nobody."""
        with self._lock:
            fault = self._fault if self._monotonic() < self._fault_until else None
        if fault is not None:
            raise type(fault)(fault.message, **fault.details)
        try:
            return self._request(key, known)
        except (UpstreamError, UpstreamTimeout) as error:
            with self._lock:
                self._fault, self._fault_until = error, self._monotonic() + self._retry_s
            raise

    def _request(self, key: str, known: _Remembered | None) -> _Remembered:
        etag = known.etag if known is not None else ""
        answer = self._fetcher.get(
            f"{self._url}/{entry_path(key)}",
            expected={200, 304, *_ABSENT},
            headers={"If-None-Match": etag} if etag else {},
            limits=self._limits,
        )
        now = self._monotonic()
        if answer.status in _ABSENT:
            return _Remembered(None, "", now + self._retry_s)
        if known is not None and answer.status == 304:
            return _Remembered(known.listing, etag, now + self._ttl_s)
        listing = read_entry(answer.body, url=answer.url)
        return _Remembered(listing, answer.headers.get("etag", ""), now + self._ttl_s)


def entry_path(name: str) -> str:
    """Where the index keeps a crate, as the Cargo book has it under "Index files"."""
    lowered = name.lower()
    match len(lowered):
        case 1 | 2 as length:
            return f"{length}/{lowered}"
        case 3:
            return f"3/{lowered[0]}/{lowered}"
        case _:
            return f"{lowered[:2]}/{lowered[2:4]}/{lowered}"


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
    v: int | None = None


_LINES = msgspec.json.Decoder(_Line)


def read_entry(body: bytes, *, url: str) -> Listing | None:
    """Read an entry of the index, one JSON object a line; None when it lists no version.

    As Cargo does, lines of a later format and lines that cannot be read are left out: they are
    for newer clients and must not hide the others.

    Raises:
        UpstreamError: there are lines, but none is of an index.
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
    )


def _dependencies(lines: Sequence[_DependencyLine]) -> tuple[Dependency, ...]:
    return tuple(
        Dependency(
            # Where a dependency is renamed, ``package`` is its real name.
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
