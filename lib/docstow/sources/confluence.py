"""The kind of Confluence spaces: the current pages of one, as Confluence renders them.

Of REST API v2: https://developer.atlassian.com/cloud/confluence/rest/v2/. The list of a space tells
versions, so that only pages that have changed are fetched, one by one: the rendered form (``view``)
has what macros make and is given for single pages alone.
"""

from __future__ import annotations

import contextlib
import html
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urlsplit

from docstow.core.errors import DocstowError, InvalidParameter, SourceNotFound
from docstow.core.model import File, Known, Registration, Revision
from docstow.core.patterns import lazy_pattern
from docstow.core.urls import clean_url
from docstow.sources import (
    MORE_PAGES,
    Command,
    Event,
    Failed,
    Found,
    Origin,
    Same,
    Skipped,
    SourceKind,
    Upstreams,
    json_api,
)
from docstow.sources.json_api import JsonApi, rows, text

if TYPE_CHECKING:
    from docstow.net import Fetcher

#: Where a space is below the root of a site, which is ``/wiki`` in Atlassian's cloud.
_SPACE = lazy_pattern(r"(?P<root>(?:/[^/]+)*?)/(?:spaces|display)/(?P<key>~?[A-Za-z0-9]+)(?:/.*)?")
#: Pages of one answer.
_AT_ONCE = 250


def canonical(uri: str) -> str:
    """Return ``https://SITE/wiki/spaces/KEY`` of any address in a space.

    Raises:
        InvalidParameter: it is no address of a space.
    """
    parts = urlsplit(clean_url(uri))
    match = _SPACE.fullmatch(parts.path)
    if match is None:
        raise InvalidParameter(
            "uri", "must be the address of a space: https://NAME.atlassian.net/wiki/spaces/KEY"
        )
    return f"{parts.scheme}://{parts.netloc}{match['root']}/spaces/{match['key']}"


class ConfluenceOrigin:
    """One space, for one sync.

    Args:
        registration: its URI is the space's address.
        fetcher: the HTTP client.
    """

    def __init__(self, registration: Registration, fetcher: Fetcher) -> None:
        self._registration = registration
        self._root, _, self._key = registration.uri.rpartition("/spaces/")
        self._api = JsonApi(
            fetcher, f"{self._root}/", registration.headers, what=f"the space {self._key}"
        )

    def resolve(self) -> Revision:
        """Return the revision without a version: a space has none."""
        return self._registration.revision()

    def files(self, known: Mapping[str, Known]) -> Iterator[Event]:
        """Yield the space's current pages.

        Raises:
            SourceNotFound: there is no such space, or the token may not see it.
            UpstreamError, UpstreamTimeout, UnreadableInput: its pages cannot be listed.
        """
        # A page that the list names twice, because it was moved meanwhile, is one page.
        listed = {text(each, "id"): each for each in self._list()}
        for number, (identity, page) in enumerate(listed.items()):
            path, version = f"pages/{identity}.html", f"v{text(page, 'version', 'number')}"
            if number >= self._registration.options["max_pages"]:
                yield Skipped(path, MORE_PAGES)
            elif path in known and known[path].validator == version:
                yield Same(path)
            else:
                yield self._fetch(path, identity, page, version)

    def _list(self) -> Iterator[dict[str, Any]]:
        keys = rows(self._api.get(f"api/v2/spaces?keys={quote(self._key)}"), "results")
        if not keys:
            raise SourceNotFound(
                f"There is no space {self._key}, or it shows with a token alone: check its key, or"
                " give a token as a header of this source."
            )
        address = (
            f"api/v2/spaces/{quote(text(keys[0], 'id'))}/pages?status=current&limit={_AT_ONCE}"
        )
        met: set[str] = set()
        while address and address not in met:
            met.add(address)
            answer = self._api.get(address)
            yield from (each for each in rows(answer, "results") if text(each, "id"))
            address = text(answer, "_links", "next")

    def _fetch(self, path: str, identity: str, listed: Mapping[str, Any], version: str) -> Event:
        try:
            page = self._api.get(f"api/v2/pages/{quote(identity)}?body-format=view")
        except DocstowError as error:
            return Failed(path, error.code, error.message)
        title = html.escape(text(page, "title") or text(listed, "title"))
        body = text(page, "body", "view", "value")
        whole = (
            f"<!DOCTYPE html><html><head><title>{title}</title></head>"
            f"<body><main><h1>{title}</h1>{body}</main></body></html>"
        )
        shown = text(page, "_links", "webui") or text(listed, "_links", "webui")
        url = f"{self._root}{shown}" if shown.startswith("/") else self._registration.uri
        return Found(File(path, url, "text/html", whole.encode()), version)


@contextlib.contextmanager
def _open(registration: Registration, upstreams: Upstreams) -> Iterator[Origin]:
    yield ConfluenceOrigin(registration, upstreams.guarded_fetcher())


KIND = SourceKind(
    "confluence",
    canonical=canonical,
    options=json_api.options,
    open=_open,
    refreshable=True,
    command=Command("URL", "the pages of a Confluence space"),
)
