"""Registries of packages: what is published there, and its files, which are unpacked and never run.

There is a module for each registry's protocol; what they have in common is here.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Protocol
from urllib.parse import urljoin, urlsplit, urlunsplit

from docstow.core.errors import PackageNotFound
from docstow.core.model import Revision
from docstow.core.similar import similar_names
from docstow.languages.shared.project import About

if TYPE_CHECKING:
    from docstow.sources.packages.environments import Assembly, Unpacked

_NOTHING: Mapping[str, str] = MappingProxyType({})
#: Versions that are suggested, tags that are told, and characters of a requirement that are shown.
_SUGGESTED, _MOST_TAGS, _LONGEST_SHOWN = 3, 10, 100
#: Versions that are no prereleases, by PEP 440 and by semantic versioning.
_FINAL = re.compile(r"v?\d+(?:\.\d+)*(?:\.post\d+)?(?:\+.*)?")


@dataclass(frozen=True, slots=True)
class Registry:
    """Where a registry is.

    Attributes:
        url: its root, without a trailing slash.
        headers: sent to the host of ``url`` alone; secret, so never shown or logged.
        credentials: further secret headers, by how the addresses begin that they are sent to,
            without scheme: ``//host/path/``.
    """

    url: str
    headers: Mapping[str, str] = field(default_factory=lambda: _NOTHING, repr=False)
    credentials: Mapping[str, Mapping[str, str]] = field(
        default_factory=lambda: MappingProxyType({}), repr=False
    )

    def secret(self, url: str) -> Mapping[str, str]:
        """Return the secret headers that are meant for an address, and for no other host."""
        own, asked = urlsplit(self.url), urlsplit(url)
        same = (asked.scheme, asked.netloc.lower()) == (own.scheme, own.netloc.lower())
        if self.headers and same:
            return self.headers
        if not same and asked.scheme != "https":
            return _NOTHING
        place = f"//{asked.netloc.lower()}{asked.path}"
        begins = [each for each in self.credentials if f"{place}/".startswith(each)]
        return self.credentials[max(begins, key=len)] if begins else _NOTHING


def address_of(base: str, url: str) -> str:
    """Return where a file is that a registry names; empty where it is no address of http.

    A file of this machine is one only where the list itself is. User, password and fragment are
    dropped: what is sent to a host is what the installers are configured with.

    Args:
        base: the address of what the registry answered.
        url: as it stands there.
    """
    try:
        parts = urlsplit(urljoin(base, url))
        # A port is only looked at when it is asked for.
        known = (parts.port or 0) >= 0 and parts.scheme in {"http", "https", urlsplit(base).scheme}
    except ValueError:
        return ""
    host = parts.netloc.rpartition("@")[2]
    if not known or (not host and parts.scheme != "file"):
        return ""
    return urlunsplit((parts.scheme, host, parts.path, parts.query, ""))


@dataclass(frozen=True, slots=True)
class Distribution:
    """One file of a release.

    Attributes:
        filename: with its suffix.
        url: absolute, without fragment.
        hashes: by algorithm, in lower-case hex; none where the registry states none.
        size: in bytes; None where it is not stated.
        requires: the versions of the interpreter that it is for; empty for any.
        yanked: whether its publisher has withdrawn it.
        metadata: the hashes of its metadata, which is a file of its own; None where it is none.
    """

    filename: str
    url: str
    hashes: Mapping[str, str] = field(default_factory=lambda: _NOTHING)
    size: int | None = None
    requires: str = ""
    yanked: bool = False
    metadata: Mapping[str, str] | None = None


@dataclass(frozen=True, slots=True)
class Dependency:
    """What a release asks for.

    Attributes:
        name: of the package.
        requirement: in the language of its registry; empty for any version.
        kind: ``normal``, ``optional`` (it may be missing) or ``peer`` (whoever uses it brings it).
        extra: the feature that turns it on; empty for always.
        marker: the environments that it is limited to; empty for all.
        features: the extras that are wanted of it.
        alias: what it is imported as, where that is another name.
    """

    name: str
    requirement: str = ""
    kind: str = "normal"
    extra: str = ""
    marker: str = ""
    features: tuple[str, ...] = ()
    alias: str = ""


@dataclass(frozen=True, slots=True)
class Release:
    """A published version of a package.

    Attributes:
        version: as the registry spells it.
        published: ISO 8601 time; empty where it is not stated.
        yanked: whether it is only for those who ask for exactly this version.
        withdrawn: why it should not be used, in its publisher's words: of a yank, or a deprecation.
        requires: the versions of the interpreter or engine that it is for; empty for any.
        distributions: its files; an npm release has one.
        dependencies: None where the registry's list of releases does not state them.
    """

    version: str
    published: str = ""
    yanked: bool = False
    withdrawn: str = ""
    requires: str = ""
    distributions: tuple[Distribution, ...] = ()
    dependencies: tuple[Dependency, ...] | None = None


@dataclass(frozen=True, slots=True)
class Listing:
    """A package in a registry.

    Attributes:
        name: as the registry spells it.
        releases: in ascending order.
        tags: versions by name, such as ``latest``.
    """

    name: str
    releases: tuple[Release, ...]
    tags: Mapping[str, str] = field(default_factory=lambda: _NOTHING)

    def release(self, version: str) -> Release | None:
        """Return the release of an exact version."""
        return next((each for each in self.releases if each.version == version), None)

    def listed(self, revision: Revision) -> Release:
        """Return the release of a version that was resolved.

        Raises:
            PackageNotFound: it is not there any more.
        """
        release = self.release(revision.version)
        if release is None:
            raise self.no_match(revision.version)
        return release

    def no_match(self, asked: str, *, withdrawn: bool = False) -> PackageNotFound:
        """Return the error for a requirement that no release matches.

        It suggests versions that are spelled like it, else the newest, of which final ones and
        what is tagged as the latest come first.

        Args:
            asked: the requirement.
            withdrawn: whether versions match that are only for those who ask for exactly them.
        """
        offered = [each.version for each in self.releases if not each.yanked]
        spelled = asked.lstrip("=~<>!^v ")
        near = [each for each, _ in similar_names(spelled, offered, most=_SUGGESTED)]
        if not near:
            final = [each for each in offered if _FINAL.fullmatch(each)] or offered
            latest = [each for each in offered if each == self.tags.get("latest")]
            near = list(dict.fromkeys([*latest, *reversed(final)]))[:_SUGGESTED]
        reason = "only withdrawn versions match" if withdrawn else "no version matches"
        tags = ", ".join(list(self.tags)[:_MOST_TAGS])
        return PackageNotFound(
            f"Of {self.name} {reason} {asked[:_LONGEST_SHOWN] or 'what is asked for'}. Ask for one"
            f" of {', '.join(near) or 'its withdrawn versions by number'}"
            f"{f', or by a tag: {tags}' if tags else ''}.",
            suggestions=[
                {"version": each, "score": round(1 / place, 2)}
                for place, each in enumerate(near, 1)
            ],
        )


class PackageRegistry(Protocol):
    """The packages of one language. Safe to share between threads."""

    def listing(self, name: str) -> Listing:
        """Return all releases of a package; names are folded as the registry folds them.

        Raises:
            InvalidParameter: the name cannot be a package's.
            PackageNotFound: the registry has no such package.
            UpstreamError, UpstreamTimeout: the registry does not answer.
        """
        ...

    def cached(self, name: str) -> Listing | None:
        """Return the releases of a package if they are here already; nobody is asked."""
        ...

    def resolve(self, name: str, requirement: str = "") -> Revision:
        """Return the version that the language's installer would choose.

        Args:
            name: of the package.
            requirement: in the language's own terms; empty for the newest that is final, not
                yanked, and fits.

        Raises:
            InvalidParameter: the name or the requirement is invalid.
            PackageNotFound: there is no such package, or no version that matches.
            UpstreamError, UpstreamTimeout: the registry does not answer.
        """
        ...

    def dependencies(self, revision: Revision) -> tuple[Dependency, ...]:
        """Return what a version asks for.

        Raises:
            as :meth:`unpack` does.
        """
        ...

    def about(self, revision: Revision) -> About:
        """Return what a version says of itself, as far as that is had without large files.

        Raises:
            as :meth:`unpack` does.
        """
        ...

    def is_private(self, revision: Revision) -> bool:
        """Whether a credential is sent for a version, so that others may not be able to have it."""
        ...

    def unpack(self, revision: Revision, folder: Path) -> Unpacked:
        """Fetch a version, check it and unpack it, with what reading it needs of other packages.

        Args:
            revision: resolved.
            folder: becomes a project with an environment, as an installer would leave it; there
                must be nothing of that name.

        Raises:
            PackageNotFound: the version is not there any more, or has no file that can be read.
            TooLarge: it exceeds a limit.
            UnreadableInput: it is not what the registry says that it is, or is damaged.
            UpstreamError, UpstreamTimeout: the registry does not answer.
        """
        ...

    def assemble(
        self, wanted: Mapping[str, Revision], assembly: Assembly, locked: Callable[[str], str]
    ) -> tuple[str, ...]:
        """Lay versions out together as an environment, with what reading them needs of others.

        Args:
            wanted: resolved versions, by the names that they are imported or installed as; of what
                several have in one place the first stands.
            assembly: what is filled.
            locked: returns the version that a package of a name must have; empty for the newest
                that fits.

        Returns:
            What could not be had or was not taken, in sentences for people.

        Raises:
            StoreError: the disk is full or cannot be written.
        """
        ...
