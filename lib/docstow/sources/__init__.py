"""Where files come from: one module or package for each kind of source, registered here."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING, Any

from docstow.core.errors import InvalidParameter

if TYPE_CHECKING:
    from docstow.sources.protocol import SourceKind

_added: dict[str, SourceKind] = {}


def register(kind: SourceKind) -> None:
    """Add a kind of source; servers and commands that are made afterwards have it."""
    _added[kind.name] = kind


def kinds() -> Mapping[str, SourceKind]:
    """Return all kinds of sources by name, those that can be registered first."""
    from docstow.sources import packages

    return {**_bundled(), **packages.kinds(), **_added}


@cache
def _bundled() -> Mapping[str, SourceKind]:
    # The records are light; the code that fetches is imported when an origin is opened.
    from docstow.sources import collection, crates, folder, git, site

    listed = (site.KIND, git.KIND, folder.KIND, collection.KIND, *crates.KINDS)
    return {kind.name: kind for kind in listed}


def kind_of(name: str) -> SourceKind:
    """Return the kind of a stored source; a bare record for a kind of another release."""
    from docstow.sources.protocol import SourceKind

    return kinds().get(name) or SourceKind(name, profile="items")


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


def canonical(kind: str, uri: str) -> str:
    """Return the one spelling of a URI by which a source is identified.

    Raises:
        InvalidParameter: there is no such kind, or the URI is not of that kind.
    """
    return find(kind).canonical_uri(uri)


def spelling(kind: str, uri: str) -> str:
    """Return the canonical spelling; empty where the text is no URI of that kind."""
    try:
        return canonical(kind, uri)
    except InvalidParameter:
        return ""


def options(kind: str, raw: Mapping[str, Any], uri: str = "") -> dict[str, Any]:
    """Return the checked options of a source; see :meth:`SourceKind.checked_options`."""
    return find(kind).checked_options(raw, uri)
