"""Where bytes come from: one module a kind of source.

An origin knows how to resolve a source and to fetch it. It does not know what the bytes mean.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from docstow.core.errors import InvalidParameter
from docstow.core.model import COLLECTION, CRATE, FOLDER, GITHUB, PROSE, SITE
from docstow.core.versions import Version

# The kinds of sources that can be registered


KINDS = (*PROSE, CRATE)


def canonical(kind: str, uri: str) -> str:
    """The one spelling of a URI by which a source is known.

    Raises:
        InvalidParameter: there is no such kind, or the URI is none of its kind.
    """
    if kind not in _CANONICAL:
        raise InvalidParameter("kind", f"must be one of {', '.join(KINDS)}, not {kind[:80]!r}")
    if not (trimmed := uri.strip()):
        raise InvalidParameter("uri", "must not be empty")
    return _CANONICAL[kind](trimmed)


def spelling(kind: str, uri: str) -> str:
    """The canonical spelling, or nothing where the text is no URI of that kind."""
    try:
        return canonical(kind, uri)
    except InvalidParameter:
        return ""


def options(kind: str, raw: Mapping[str, Any], uri: str = "") -> dict[str, Any]:
    """The options of a source, checked, and those that are not given with their defaults.

    Args:
        kind: of the source.
        raw: what the user gave.
        uri: as the user gave it: it may say which part of the source is meant.

    Raises:
        InvalidParameter: one is unknown, or is not what it should be.
    """
    if kind == SITE:
        from docstow.sources.site.options import options as site_options

        return site_options(raw)
    if kind == GITHUB:
        from docstow.sources import git

        return git.options(raw, uri)
    if kind == FOLDER:
        from docstow.sources import folder

        return folder.options(raw)
    if raw:
        raise InvalidParameter("options", f"a {kind} has none, but {', '.join(raw)} was given")
    return {}


def _site(uri: str) -> str:
    from docstow.core.urls import canonical_url

    return canonical_url(uri)


def _github(uri: str) -> str:
    from docstow.sources.git import refs as git_address

    return git_address.canonical(uri)


def _folder(uri: str) -> str:
    from docstow.sources import folder

    return folder.canonical(uri)


def _collection(uri: str) -> str:
    if len(uri) > 100 or not uri.isprintable():
        raise InvalidParameter("name", "must be one line of at most 100 characters")
    return uri


def _crate(uri: str) -> str:
    name, _, version = uri.partition("@")
    if not name.replace("-", "").replace("_", "").isalnum() or not name.isascii():
        raise InvalidParameter("uri", f"{name[:80]!r} is no crate's name")
    try:
        return f"{name}@{Version.parse(version)}"
    except ValueError:
        raise InvalidParameter(
            "uri", f"must be name@version with an exact version such as serde@1.0.200, not {uri!r}"
        ) from None


_CANONICAL: Mapping[str, Callable[[str], str]] = {
    SITE: _site,
    GITHUB: _github,
    FOLDER: _folder,
    COLLECTION: _collection,
    CRATE: _crate,
}
