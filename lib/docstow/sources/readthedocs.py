"""The kind of projects of Read the Docs: the built documentation of one version.

https://docs.readthedocs.com/platform/stable/api/v3.html tells a project's versions and where the
documentation of each is; that is crawled as any website is, below its own address alone.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import replace
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urlsplit

from docstow.core.errors import InvalidParameter, SourceNotFound
from docstow.core.model import Known, Registration, Revision
from docstow.core.patterns import lazy_pattern
from docstow.core.urls import canonical_url, clean_url
from docstow.sources import Command, Event, Origin, SourceKind, Upstreams, site
from docstow.sources.json_api import JsonApi, rows, text

if TYPE_CHECKING:
    from collections.abc import Callable

    from docstow.net import Fetcher

HOME = "https://app.readthedocs.org"
_NAME = lazy_pattern(r"(?P<project>[a-z0-9][a-z0-9_-]*)(?:@(?P<version>[A-Za-z0-9._-]+))?")
_PATH = lazy_pattern(
    r"(?:/api/v3|/dashboard)?/projects?/(?P<project>[a-z0-9][a-z0-9_-]*)"
    r"(?:@(?P<version>[A-Za-z0-9._-]+)|/.*)?"
)
#: Versions that are named where the one that is wanted is not there.
_MOST_NAMED = 10
#: The largest number of answers that list a project's versions.
_MOST_ANSWERS = 20


def canonical(uri: str) -> str:
    """Return ``https://app.readthedocs.org/projects/PROJECT`` with ``@VERSION`` if it names one.

    Raises:
        InvalidParameter: it is neither ``PROJECT[@VERSION]`` nor the address of a project.
    """
    if match := _NAME.fullmatch(uri):
        home = HOME
    else:
        parts = urlsplit(clean_url(uri))
        match, home = _PATH.fullmatch(parts.path), f"{parts.scheme}://{parts.netloc}"
    if match is None:
        raise InvalidParameter(
            "uri", "must be PROJECT[@VERSION], such as pip@stable, or a project's address"
        )
    version = f"@{match['version']}" if match["version"] else ""
    return f"{home}/projects/{match['project']}{version}"


class ReadTheDocsOrigin:
    """One version of a project, for one sync.

    Args:
        registration: its URI names project and version; its headers go to the API alone.
        fetcher: the HTTP client.
        crawl: opens the origin of a website.
    """

    def __init__(
        self,
        registration: Registration,
        fetcher: Fetcher,
        crawl: Callable[[Registration], AbstractContextManager[Origin]],
    ) -> None:
        self._registration = registration
        self._crawl = crawl
        home, _, named = registration.uri.partition("/projects/")
        self._project, _, self._version = named.partition("@")
        self._api = JsonApi(
            fetcher,
            f"{home}/api/v3/projects/{self._project}/",
            registration.headers,
            what=f"project {self._project}",
        )
        self._found: dict[str, Any] = {}

    def resolve(self) -> Revision:
        """Return the commit that the version was built of, or what the project calls it by.

        Raises:
            SourceNotFound: there is no such project, or no such version that is built.
            UpstreamError, UpstreamTimeout, UnreadableInput: the API cannot be asked.
        """
        if not self._found:
            self._found = self._find()
        return self._registration.revision(text(self._found, "identifier"))

    def files(self, known: Mapping[str, Known]) -> Iterator[Event]:
        """Yield the pages of the built site.

        Raises:
            as :meth:`resolve`, and as a website does.
        """
        self.resolve()
        address = canonical_url(text(self._found, "urls", "documentation"))
        built = replace(self._registration, uri=address, headers={})
        with self._crawl(built) as pages:
            yield from pages.files(known)

    def _find(self) -> dict[str, Any]:
        """Return the wanted version, by its slug or the name of its branch or tag."""
        wanted = self._version or text(self._api.get(""), "default_version") or "latest"
        there: dict[str, None] = {}
        for each in self._list():
            if wanted in (text(each, "slug"), text(each, "verbose_name")):
                if text(each, "urls", "documentation"):
                    return each
                break
            there[text(each, "slug")] = None
        names = list(there)[:_MOST_NAMED]
        raise SourceNotFound(
            f"{self._project} has no built version {wanted}; there are"
            f" {', '.join(names) or 'none'}.",
            suggestions=[{"version": each} for each in names],
        )

    def _list(self) -> Iterator[dict[str, Any]]:
        """Yield the active versions that are built; the one of the wanted slug first."""
        if self._version:
            slug = quote(self._version)
            named = self._api.get(f"versions/?active=true&built=true&slug={slug}")
            yield from rows(named, "results")
        address = "versions/?active=true&built=true&limit=100"
        for _ in range(_MOST_ANSWERS):
            answer = self._api.get(address)
            yield from rows(answer, "results")
            address = text(answer, "next")
            if not address:
                return


@contextlib.contextmanager
def _open(registration: Registration, upstreams: Upstreams) -> Iterator[Origin]:
    def crawl(built: Registration) -> AbstractContextManager[Origin]:
        assert site.KIND.open is not None
        return site.KIND.open(built, upstreams)

    yield ReadTheDocsOrigin(registration, upstreams.guarded_fetcher(), crawl)


KIND = SourceKind(
    "readthedocs",
    canonical=canonical,
    options=lambda raw, _: site.options(raw),
    open=_open,
    refreshable=True,
    paths_are_urls=True,
    command=Command("PROJECT[@VERSION]", "the documentation of a project on Read the Docs"),
)
