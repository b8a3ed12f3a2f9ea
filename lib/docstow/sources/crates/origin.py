"""Rust crates: versions from the sparse index; rustdoc JSON from docs.rs, a file or a toolchain."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import time
from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from itertools import chain, zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from docstow.core import auth
from docstow.core.errors import (
    CrateNotDocumented,
    CrateNotFound,
    DocstowError,
    InvalidParameter,
    UnreadableInput,
    UpstreamError,
    UpstreamTimeout,
    VersionYanked,
)
from docstow.core.model import CRATE, STANDARD, File, Revision, Source
from docstow.core.versions import Version, choose, exact
from docstow.net.decompress import Limits, decompress
from docstow.sources.crates.index import Listing, Release, SparseIndex

if TYPE_CHECKING:
    from docstow.net import Fetcher
    from docstow.sources.crates.archive import CrateArchive

DOCS_RS = "docs.rs"
MEDIA_TYPE = "application/json"
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,63}")
_TARGET = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,79}")
_OBJECT = re.compile(rb"\s*\{")
_SUGGESTED = 3
_READ_SIZE = 64 * 1024
_DEFAULT_LIMITS = Limits()
_BUILD_IT = (
    "build it with `cargo +nightly rustdoc --lib -- -Z unstable-options --output-format json` and"
    " run `docstow ingest rustdoc FILE`"
)
#: The crates that the component rust-docs-json has, and further ones that it may have.
_STD_NAMES = ("std", "core", "alloc")
_STD_EXTRA = ("proc_macro",)
_STD_FOLDER = Path("share", "doc", "rust", "json")
_NIGHTLY = "nightly"
_RUSTC_TIMEOUT_S = 60
_INSTALL_STD = (
    "Run `rustup toolchain install nightly --component rust-docs-json`, then `docstow ingest std`; "
    "or give files from elsewhere: `docstow ingest rustdoc std.json core.json alloc.json`."
)


class CrateOrigin:
    """Resolves and fetches crates.

    docs.rs is asked for exact versions only: its robots.txt bars requirements, and the sparse
    index has more versions and no rate limit.

    Args:
        fetcher: the HTTP client.
        docs_rs_url: root of docs.rs, without a trailing slash.
        index_url: root of the sparse index, without a trailing slash.
        limits: caps on one download.
        interval_s: the shortest time between two requests to docs.rs, whose crawler policy is one
            request per second.
        monotonic: seconds on a clock that never goes back; ages cached entries of the index.
    """

    def __init__(
        self,
        fetcher: Fetcher,
        docs_rs_url: str,
        index_url: str,
        *,
        limits: Limits = _DEFAULT_LIMITS,
        interval_s: float = 1.0,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._fetcher = fetcher
        self._docs_rs_url = docs_rs_url.rstrip("/")
        self._limits = limits
        self._interval_s = interval_s
        self._index = SparseIndex(
            fetcher, index_url.rstrip("/"), limits=limits, monotonic=monotonic
        )

    def releases(self, name: str) -> tuple[str, Sequence[Release]]:
        """Return the crate's own spelling of its name, and its releases in ascending order.

        Raises:
            InvalidParameter: the name cannot be a crate's.
            CrateNotDocumented: it is a crate of the standard library.
            CrateNotFound: the index has no such crate.
            UpstreamError, UpstreamTimeout: the index does not answer.
        """
        listing = self._listing(name)
        return listing.name, listing.releases

    def release(self, revision: Revision) -> Release | None:
        """Return the release of a revision; None where the index lacks it or does not answer."""
        try:
            listing = self._listing(revision.source.name)
        except (CrateNotFound, UpstreamError, UpstreamTimeout):
            return None
        return next((each for each in listing.releases if each.version == revision.version), None)

    def resolve(self, name: str, requirement: str = "", *, target: str = "") -> Revision:
        """Return the newest version that matches a requirement, by the index alone.

        Args:
            name: the crate; ``-`` and ``_`` are interchangeable.
            requirement: an exact version, a Cargo requirement, or empty, ``latest`` or ``*`` for
                the highest that is not yanked, stable ones first.
            target: a compilation target; empty for the crate's default.

        Raises:
            InvalidParameter: name, requirement or target is invalid.
            CrateNotFound: no such crate, or no version that matches.
            VersionYanked: the exact version is yanked.
            CrateNotDocumented: it is a crate of the standard library.
            UpstreamError, UpstreamTimeout: the index does not answer.
        """
        if target and not _TARGET.fullmatch(target):
            raise InvalidParameter("target", "must be a target such as x86_64-unknown-linux-gnu")
        listing = self._listing(name)
        offered = [release.version for release in listing.releases if not release.yanked]
        version = choose(requirement, offered)
        if version is None:
            raise _no_match(listing, requirement.strip(), offered)
        return Revision(
            source=Source(CRATE, listing.name, version, target),
            version=version,
            origin=DOCS_RS,
            url=self._address(listing.name, version, target),
        )

    def fetch(self, revision: Revision) -> File:
        """Download the rustdoc JSON of a resolved revision.

        Raises:
            CrateNotDocumented: docs.rs has no JSON of it.
            CrateNotFound: docs.rs has no JSON, and the index no such version.
            TooLarge: it exceeds a limit; the download was stopped there.
            UnreadableInput: the body is damaged, or not a JSON object.
            UpstreamError, UpstreamTimeout: docs.rs does not answer.
        """
        answer = self._fetcher.get(
            revision.url, expected={200, 404}, limits=self._limits, interval_s=self._interval_s
        )
        if answer.status == 404:
            raise self._undocumented(revision)
        return _file(answer.url, answer.body)

    def archive(self, revision: Revision, release: Release) -> CrateArchive | None:
        """Fetch what a release's own archive has for people; None where the index has no archives.

        Raises:
            UpstreamError, UpstreamTimeout, UnreadableInput, TooLarge: as
                :func:`docstow.sources.crates.archive.fetch_archive` says.
        """
        from docstow.sources.crates.archive import archive_url, fetch_archive

        if not (template := self._index.archives()):
            return None
        name, version = revision.source.name, revision.version
        return fetch_archive(
            self._fetcher,
            archive_url(template, name, release),
            name,
            release,
            shown=f"{self._docs_rs_url}/crate/{quote(name)}/{quote(version)}/source",
            most=self._limits.compressed,
            plain=self._limits.decompressed,
        )

    def _listing(self, name: str) -> Listing:
        if not _NAME.fullmatch(name):
            raise InvalidParameter(
                "crate",
                "must start with a letter and go on with at most 63 letters, digits, - or _",
            )
        if name.replace("-", "_") in STANDARD:
            raise CrateNotDocumented(
                f"{name} comes with Rust and is not on docs.rs. Run `rustup component add"
                " --toolchain nightly rust-docs-json`, then `docstow ingest std --toolchain"
                " nightly`; or `docstow ingest rustdoc std.json core.json alloc.json` with files"
                " from elsewhere."
            )
        if told := auth.unseen(CRATE, name):
            raise CrateNotFound(told)
        return self._index.listing(name)

    def _address(self, name: str, version: str, target: str) -> str:
        parts = ["crate", name, version, *([target] if target else []), "json"]
        return "/".join([self._docs_rs_url, *(quote(part, safe="") for part in parts)])

    def _undocumented(self, revision: Revision) -> DocstowError:
        """Return the error for a 404 of docs.rs, whose reason only the index shows."""
        source = revision.source
        try:
            listing = self._index.listing(source.name)
        except (UpstreamError, UpstreamTimeout):
            listing = Listing(source.name, ())
        offered = [release.version for release in listing.releases if not release.yanked]
        known = {release.version for release in listing.releases}
        if known and revision.version not in known:
            return _no_match(listing, revision.version, offered)
        if source.target:
            return CrateNotDocumented(
                f"docs.rs has no rustdoc JSON of {source.name} {revision.version} for"
                f" {source.target}. Leave the target out for the crate's default one, or"
                f" {_BUILD_IT}."
            )
        newest = choose("", offered)
        return CrateNotDocumented(
            f"docs.rs has no rustdoc JSON of {source.name} {revision.version}: it keeps none of"
            " releases from before May 2025, of failed builds, or of crates without a library."
            f" Ask for a newer version, or {_BUILD_IT}.",
            suggestions=_scored([newest] if newest and newest != revision.version else []),
        )


def read_file(path: Path, limits: Limits = _DEFAULT_LIMITS) -> File:
    """Read rustdoc JSON from a file: plain, ``.zst`` or ``.gz``, recognised by its first bytes.

    Raises:
        UnreadableInput: it cannot be opened, is damaged, or is not a JSON object.
        TooLarge: it exceeds a limit.
    """
    try:
        with path.open("rb") as stream:
            body = decompress(
                _chunks(stream.read), limits, name=str(path), declared=path.stat().st_size
            )
    except OSError as error:
        raise UnreadableInput(f"{path} cannot be read: {error.strerror}.") from error
    return _file(path.resolve().as_uri(), body)


def standard_library(toolchain: str = "") -> list[Path]:
    """Return the rustdoc JSON of the standard library in an installed toolchain.

    The files are those of ``std``, ``core``, ``alloc`` and further crates of rustup's component.

    Args:
        toolchain: rustup's name of it; empty for the current one, or ``nightly`` where that has no
            such files (only nightly toolchains have).

    Raises:
        CrateNotDocumented: there is no working Rust, no such toolchain, or it lacks the component.
    """
    if (rustc := shutil.which("rustc")) is None:
        raise CrateNotDocumented(f"There is no rustc in PATH. {_INSTALL_STD}")
    looked = []
    for name in (toolchain,) if toolchain else ("", _NIGHTLY):
        if (sysroot := _sysroot(rustc, name)) is None:
            continue
        folder = sysroot / _STD_FOLDER
        files = [folder / f"{each}.json" for each in (*_STD_NAMES, *_STD_EXTRA)]
        if all(file.is_file() for file in files[: len(_STD_NAMES)]):
            return [file for file in files if file.is_file()]
        looked.append(str(folder))
    if not looked:
        raise CrateNotDocumented(
            f"rustc knows no toolchain {toolchain or _NIGHTLY}. {_INSTALL_STD}"
        )
    raise CrateNotDocumented(
        f"The standard library's rustdoc JSON is not in {' or '.join(looked)}. {_INSTALL_STD}"
    )


def _sysroot(rustc: str, toolchain: str) -> Path | None:
    """Return the folder of a toolchain; None where rustc does not know it."""
    command = [rustc, *([f"+{toolchain}"] if toolchain else []), "--print", "sysroot"]
    try:
        done = subprocess.run(  # noqa: S603 - the operator's own rustc, no shell
            command,
            capture_output=True,
            text=True,
            timeout=_RUSTC_TIMEOUT_S,
            check=False,
            # A query must not install anything.
            env=os.environ | {"RUSTUP_AUTO_INSTALL": "0"},
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise CrateNotDocumented(f"{rustc} cannot be asked ({error}). {_INSTALL_STD}") from error
    return Path(done.stdout.strip()) if done.returncode == 0 and done.stdout.strip() else None


def _chunks(read: Callable[[int], bytes]) -> Iterator[bytes]:
    while chunk := read(_READ_SIZE):
        yield chunk


def _file(url: str, body: bytes) -> File:
    if not _OBJECT.match(body):
        raise UnreadableInput(
            f"{url} is not rustdoc JSON: it does not begin as a JSON object does."
        )
    return File(path="rustdoc.json", url=url, media_type=MEDIA_TYPE, body=body)


def _no_match(listing: Listing, asked: str, offered: Sequence[str]) -> DocstowError:
    """Return the error for a requirement that no offered version matches."""
    name = listing.name
    named = exact(asked)
    if named is not None:
        near = _nearest(named, offered)
        advice = f" Nearest to it: {', '.join(near)}." if near else " No other is on offer."
        if choose(asked, [release.version for release in listing.releases]) is not None:
            return VersionYanked(
                f"{name} {named} has been yanked by its publisher.{advice}",
                suggestions=_scored(near),
            )
        return CrateNotFound(f"{name} has no version {named}.{advice}", suggestions=_scored(near))
    if not offered:
        return CrateNotFound(f"All versions of {name} have been yanked; ask for another crate.")
    newest = list(reversed(offered))[:_SUGGESTED]
    yanked = choose(asked, [release.version for release in listing.releases])
    reason = "Only yanked versions" if yanked else "No versions"
    return CrateNotFound(
        f"{reason} of {name} match {asked}; the newest on offer are {', '.join(newest)}.",
        suggestions=_scored(newest),
    )


def _nearest(wanted: Version, offered: Sequence[str]) -> list[str]:
    """Return versions to use instead, best first.

    Versions compatible by Cargo's rules come first, prereleases last; among equals the nearest
    above, the nearest below, and so on outwards.
    """
    versions = [Version.parse(text) for text in offered]
    place = bisect_left(versions, wanted)
    above, below = offered[place:], offered[:place][::-1]
    outwards = [text for text in chain(*zip_longest(above, below)) if text is not None]

    def distance(text: str) -> tuple[bool, bool]:
        version = Version.parse(text)
        return bool(version.prerelease), _line(version) != _line(wanted)

    return sorted(outwards, key=distance)[:_SUGGESTED]


def _line(version: Version) -> tuple[int, ...]:
    """Return the numbers that compatible versions share, by Cargo's reading of SemVer."""
    return (version.major,) if version.major else (version.major, version.minor)


def _scored(versions: Sequence[str]) -> list[dict[str, Any]]:
    """Return suggestions whose scores express their order."""
    return [
        {"version": version, "score": round(1 / place, 2)}
        for place, version in enumerate(versions, 1)
    ]
