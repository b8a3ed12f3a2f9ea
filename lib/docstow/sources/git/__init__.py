"""The kind of the documentation files of Git repositories."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from docstow.sources import Command, Origin, SourceKind, Upstreams, globs
from docstow.sources.git.refs import canonical, parse

if TYPE_CHECKING:
    from docstow.core.model import Registration


def options(raw: Mapping[str, Any], uri: str = "") -> dict[str, Any]:
    """Check the options of a repository; see :class:`docstow.sources.globs.Selection`.

    Args:
        raw: the options that the user gave.
        uri: as the user gave it; a folder that it names is included where ``raw`` names none.

    Raises:
        InvalidParameter: an option or the address is invalid.
    """
    checked = globs.options(raw)
    folder = parse(uri).folder if uri else ""
    if folder and not checked.get("include"):
        checked["include"] = globs.options({"include": [f"/{folder}"]})["include"]
    return checked


@contextlib.contextmanager
def _open(registration: Registration, upstreams: Upstreams) -> Iterator[Origin]:
    from docstow.sources.git.origin import GitOrigin

    settings = upstreams.settings
    # The host of the API is the operator's choice; that of a forge is a user's.
    trusted = "" if "://" in registration.uri else settings.github_url
    fetcher = upstreams.guarded_fetcher(trusted)
    yield GitOrigin(
        registration, fetcher, api_url=settings.github_url, token=settings.github_token.reveal()
    )


KIND = SourceKind(
    "github",
    canonical=canonical,
    options=options,
    open=_open,
    refreshable=True,
    preset=True,
    host="github.com",
    command=Command("OWNER/REPO[@REF]", "the documentation files of a repository"),
)
