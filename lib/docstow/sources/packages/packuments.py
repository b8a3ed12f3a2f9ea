"""npm's packuments: what a registry says of a package, read leniently and within bounds.

The forms are those of the registry's "package metadata", abbreviated or full. Old packages have
fields of other types than today's; what is not as it should be counts as not there.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import msgspec

from docstow.core.errors import TooLarge, UpstreamError
from docstow.core.npm_ranges import parse_version
from docstow.languages.shared.project import About
from docstow.languages.typescript.package_json import describe_manifest
from docstow.sources.packages import Dependency, Distribution, Listing, Release, address_of

if TYPE_CHECKING:
    from docstow.net import Answer

#: The abbreviated form, which has all that is needed; a registry may send the full one.
ACCEPT = "application/vnd.npm.install-v1+json; q=1.0, application/json; q=0.8, */*; q=0.1"
#: The package with most versions has a fifth of them.
MOST_VERSIONS = 100_000
#: Of all versions together; three thousand versions that ask for a hundred others have a third.
MOST_DEPENDENCIES = 1_000_000
_HEX = re.compile(r"[0-9a-fA-F]{40}")
_INTEGRITY = re.compile(r"(sha512|sha384|sha256|sha1)-([A-Za-z0-9+/]+={0,2})(?:\?\S*)?")


class _Packument(msgspec.Struct):
    versions: dict[str, msgspec.Raw] = {}
    name: Any = ""
    dist_tags: Any = msgspec.field(default=None, name="dist-tags")
    time: Any = None


class _Version(msgspec.Struct):
    dist: Any = None
    deprecated: Any = None
    engines: Any = None
    dependencies: Any = None
    optional_dependencies: Any = msgspec.field(default=None, name="optionalDependencies")
    peer_dependencies: Any = msgspec.field(default=None, name="peerDependencies")
    peer_dependencies_meta: Any = msgspec.field(default=None, name="peerDependenciesMeta")


_PACKUMENTS = msgspec.json.Decoder(_Packument)
_VERSIONS = msgspec.json.Decoder(_Version)


def read(answer: Answer, name: str) -> Listing | None:
    """Parse a packument; None where it lists no version that can be fetched.

    Args:
        answer: with status 200.
        name: that was asked for.

    Raises:
        UpstreamError: it is no packument, or one of another package.
        TooLarge: it lists too many versions.
    """
    try:
        packument = _PACKUMENTS.decode(answer.body)
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
        raise UpstreamError(
            f"{answer.url} is not a packument of npm; check the address of the registry in the"
            " settings, or in npm's configuration.",
            url=answer.url,
        ) from None
    if isinstance(packument.name, str) and packument.name not in ("", name):
        raise UpstreamError(
            f"{answer.url} is about {packument.name[:100]!r} and not {name}.", url=answer.url
        )
    if len(packument.versions) > MOST_VERSIONS:
        raise TooLarge(
            f"{name} lists {len(packument.versions)} versions; up to {MOST_VERSIONS} are read.",
            limit=MOST_VERSIONS,
        )
    times = _texts(packument.time)
    releases, needs = [], 0
    for version, raw in packument.versions.items():
        parsed = parse_version(version)
        release = _release(version, raw, times.get(version, "")) if parsed is not None else None
        if parsed is not None and release is not None:
            releases.append((parsed, release))
            needs += len(release.dependencies or ())
        if needs > MOST_DEPENDENCIES:
            raise TooLarge(
                f"{name} lists more than {MOST_DEPENDENCIES} dependencies of its versions, the most"
                " that are read.",
                limit=MOST_DEPENDENCIES,
            )
    if not releases:
        return None
    releases.sort(key=lambda each: each[0])
    return Listing(name, tuple(each for _, each in releases), _texts(packument.dist_tags))


def read_about(answer: Answer) -> About:
    """Return what the manifest of a version says of it; nothing where it is none."""
    try:
        manifest = msgspec.json.decode(answer.body)
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
        return About()
    return describe_manifest(manifest) if isinstance(manifest, dict) else About()


def read_dependencies(manifest: Mapping[str, Any]) -> Iterator[Dependency]:
    """Yield what a manifest asks for; an optional one or an optional peer may be missing.

    Args:
        manifest: a ``package.json``.
    """
    optional = _texts(manifest.get("optionalDependencies"))
    meta = manifest.get("peerDependenciesMeta")
    missing = {
        name
        for name, each in (meta.items() if isinstance(meta, dict) else ())
        if isinstance(each, dict) and each.get("optional") is True
    }
    groups = (
        ("normal", _texts(manifest.get("dependencies"))),
        ("optional", optional),
        ("peer", _texts(manifest.get("peerDependencies"))),
    )
    for kind, wanted in groups:
        for name, requirement in wanted.items():
            # What is optional may be among the others as well.
            if kind == "normal" and name in optional:
                continue
            actual = "optional" if kind == "peer" and name in missing else kind
            yield Dependency(name=name, requirement=requirement, kind=actual)


def _release(version: str, raw: msgspec.Raw, published: str) -> Release | None:
    try:
        found = _VERSIONS.decode(raw)
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
        return None
    dist = found.dist if isinstance(found.dist, dict) else {}
    given = dist.get("tarball")
    url = address_of("", given) if isinstance(given, str) else ""
    if not url:
        return None
    engines = found.engines if isinstance(found.engines, dict) else {}
    node = engines.get("node")
    manifest = {
        "dependencies": found.dependencies,
        "optionalDependencies": found.optional_dependencies,
        "peerDependencies": found.peer_dependencies,
        "peerDependenciesMeta": found.peer_dependencies_meta,
    }
    reason = found.deprecated
    return Release(
        version=version,
        published=published,
        withdrawn=reason if isinstance(reason, str) else "deprecated" if reason is True else "",
        requires=node if isinstance(node, str) else "",
        distributions=(
            Distribution(
                filename=url.partition("?")[0].rpartition("/")[2] or "package",
                url=url,
                hashes=_hashes(dist),
            ),
        ),
        dependencies=tuple(read_dependencies(manifest)),
    )


def _hashes(dist: Mapping[str, Any]) -> Mapping[str, str]:
    """Return the digests of a tarball in hex: of ``integrity``, and ``shasum``."""
    found: dict[str, str] = {}
    integrity = dist.get("integrity")
    for algorithm, digest in _INTEGRITY.findall(integrity if isinstance(integrity, str) else ""):
        try:
            found.setdefault(algorithm, base64.b64decode(digest, validate=True).hex())
        except (ValueError, binascii.Error):
            continue
    shasum = dist.get("shasum")
    if isinstance(shasum, str) and _HEX.fullmatch(shasum):
        found.setdefault("sha1", shasum.lower())
    return found


def _texts(value: object) -> dict[str, str]:
    if not isinstance(value, dict):
        return {}
    return {name: each for name, each in value.items() if isinstance(each, str)}
