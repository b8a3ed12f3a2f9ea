"""The kinds of Rust crates: those of docs.rs, and those that were read from a file."""

from __future__ import annotations

from docstow.core.errors import InvalidParameter
from docstow.core.model import CRATE, LOCAL, Registration, Source
from docstow.core.versions import Version
from docstow.sources import SourceKind


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
    catalogued=True,
    evictable=True,
)
LOCAL_KIND = SourceKind(LOCAL, profile="items", catalogued=True)
