"""Rust crates: their kinds, of docs.rs and of files, and which version answers a request."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from docstow.core.errors import InvalidParameter
from docstow.core.model import CRATE, LOCAL, Head, Registration, Revision, Snapshot, Source
from docstow.core.patterns import lazy_pattern
from docstow.core.threads import in_parallel
from docstow.core.versions import Version, choose, exact
from docstow.sources import SourceKind

if TYPE_CHECKING:
    from docstow.sources.crates.origin import CrateOrigin
    from docstow.store.snapshots import Snapshots

_CRATE_NAME = lazy_pattern(r"[A-Za-z][A-Za-z0-9_-]{0,63}")


def canonical(uri: str) -> str:
    """Return ``name@version`` with the version in its one spelling.

    Raises:
        InvalidParameter: the URI has no valid name or no exact version.
    """
    name, _, version = uri.partition("@")
    if not name.replace("-", "").replace("_", "").isalnum() or not name.isascii():
        raise InvalidParameter("uri", f"{name[:80]!r} is no crate's name")
    try:
        return f"{name}@{Version.parse(version)}"
    except ValueError:
        raise InvalidParameter(
            "uri", f"must be name@version with an exact version such as serde@1.0.200, not {uri!r}"
        ) from None


def _source(registration: Registration) -> Source:
    name, _, version = registration.uri.partition("@")
    return Source(CRATE, name, version)


KIND = SourceKind(
    CRATE,
    profile="items",
    canonical=canonical,
    source=_source,
    shared=True,
    evictable=True,
)
LOCAL_KIND = SourceKind(LOCAL, profile="items")


class CrateResolver:
    """Finds the version that answers a request for a crate.

    A crate that was stored from a file answers for its name: neither docs.rs nor the index is
    asked about it, unless a version is wanted that no file holds. So the name of a private
    crate never leaves the machine.

    Args:
        snapshots: the published snapshots.
        open_origin: opens docs.rs and the index of crates.
        target: compilation target of the docs; empty for each crate's default.
    """

    def __init__(
        self, snapshots: Snapshots, open_origin: Callable[[], CrateOrigin], target: str
    ) -> None:
        self._snapshots = snapshots
        self._open_origin = open_origin
        self.target = target

    @property
    def origin(self) -> CrateOrigin:
        """docs.rs and the index of crates."""
        return self._open_origin()

    def resolve(
        self, name: str, requirement: str = "", target: str = ""
    ) -> tuple[Revision, Snapshot | None]:
        """Return what answers a request, and its snapshot if it is stored already.

        Args:
            name: the crate; ``-`` and ``_`` may be mixed up.
            requirement: an exact version, a Cargo requirement, or empty for the latest.
            target: compilation target of the docs; empty for the one that is set.

        Raises:
            InvalidParameter: the target is none, or not that of a crate stored from a file.
            CrateNotFound, VersionYanked, UpstreamError, UpstreamTimeout: as the index says.
        """
        if (found := self._named(name, requirement, target)) is not None:
            return found.revision, found
        if (local := self.stored(LOCAL, library_name(name), requirement)) is not None:
            made_for = local.facts.get("target", "")
            if target not in ("", made_for):
                known = f"for {made_for}" if made_for else "without saying for which target"
                raise InvalidParameter(
                    "target", f"{name} was stowed from a file, {known}; leave the target out"
                )
            return local.revision, local
        revision = self.resolve_upstream(name, requirement, target=target)
        return revision, self._snapshots.answering(revision.source)

    def _named(self, name: str, requirement: str, target: str) -> Snapshot | None:
        """Return what is stored of the very version that is asked for, of a file or of docs.rs.

        Both heads are asked for at once, and nobody else: what the index could add is that the
        version has been yanked since, which does not change its documentation.
        """
        version = exact(requirement)
        if version is None or not _CRATE_NAME.fullmatch(name):
            return None
        sources = [
            Source(LOCAL, library_name(name), str(version)),
            Source(CRATE, name, str(version), target or self.target),
        ]
        local, crate = in_parallel(self._snapshots.answering, sources)
        # Another target than a file was made for is refused where all of that is looked at.
        return crate if local is None else local if target == "" else None

    def resolve_upstream(self, name: str, requirement: str = "", *, target: str = "") -> Revision:
        """Return what the index has for a request, whatever is stored.

        Raises:
            as :meth:`resolve` does.
        """
        return self.origin.resolve(name, requirement, target=target or self.target)

    def stored(self, kind: str, name: str, requirement: str, target: str = "") -> Snapshot | None:
        """Return the best stored version that matches."""
        heads = self.stored_heads(kind, name, target)
        best = choose(requirement, heads)
        return self._snapshots.load(heads[best]) if best is not None else None

    def stored_heads(self, kind: str, name: str, target: str = "") -> dict[str, Head]:
        """Return the heads of a name's stored versions, by version.

        Args:
            kind: of docs.rs, or of files.
            name: the crate as it spells itself.
            target: compilation target of the docs; empty for the one that is set.
        """
        wanted = target or self.target
        return {
            head.source.version: head
            for head in self._snapshots.heads(kind, name)
            if head.snapshot_id and (kind == LOCAL or head.source.target == wanted)
        }


def library_name(name: str) -> str:
    """Return a crate's name as files have it: they name the library, which has no ``-``."""
    return name.replace("-", "_")
