"""The kind of GitBook spaces: the pages of one as Markdown, by GitBook's API.

https://gitbook.com/docs/developers/gitbook-api: the content of a space is a tree of documents,
groups and links in one revision; each document is given as Markdown.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urlsplit

from docstow.core.errors import DocstowError, InvalidParameter
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

API = "https://api.gitbook.com/v1"
_ID = lazy_pattern(r"[A-Za-z0-9_-]{8,64}")
_API_PATH = lazy_pattern(r"(?P<root>(?:/[^/]+)*?)/spaces/(?P<id>[A-Za-z0-9_-]+)(?:/.*)?")
_APP_PATH = lazy_pattern(r"(?:/o/[^/]+)?/s/(?P<id>[A-Za-z0-9_-]+)(?:/.*)?")
#: What a page of the tree is, whatever its release calls it.
_DOCUMENTS = ("document", "sheet")


def canonical(uri: str) -> str:
    """Return the API's address of a space, given by its id, in the API or in GitBook's app.

    Raises:
        InvalidParameter: it is none of these.
    """
    if _ID.fullmatch(uri):
        return f"{API}/spaces/{uri}"
    parts = urlsplit(clean_url(uri))
    if (match := _APP_PATH.fullmatch(parts.path)) and parts.hostname == "app.gitbook.com":
        return f"{API}/spaces/{match['id']}"
    if match := _API_PATH.fullmatch(parts.path):
        return f"{parts.scheme}://{parts.netloc}{match['root']}/spaces/{match['id']}"
    raise InvalidParameter(
        "uri", "must be a space: its id, or https://app.gitbook.com/o/ORGANISATION/s/ID"
    )


class GitBookOrigin:
    """One space, for one sync.

    Args:
        registration: its URI is the API's address of the space.
        fetcher: the HTTP client.
    """

    def __init__(self, registration: Registration, fetcher: Fetcher) -> None:
        self._registration = registration
        uri = registration.uri
        self._api = JsonApi(fetcher, f"{uri}/", registration.headers, what="this space")
        self._content: dict[str, Any] = {}

    def resolve(self) -> Revision:
        """Return the revision of the space's content now.

        Raises:
            SourceNotFound: there is no such space, or the token may not see it.
            UpstreamError, UpstreamTimeout, UnreadableInput: it cannot be read.
        """
        if not self._content:
            self._content = self._api.get("content")
        return self._registration.revision(text(self._content, "id"))

    def files(self, known: Mapping[str, Known]) -> Iterator[Event]:
        """Yield the space's documents, in the order of its table of contents.

        Raises:
            SourceNotFound, UpstreamError, UpstreamTimeout, UnreadableInput: as :meth:`resolve`.
        """
        revision = self.resolve().validator
        space = self._api.get(self._registration.uri)
        published = text(space, "urls", "published") or text(space, "urls", "app")
        documents = {text(each, "id"): each for each in _documents(rows(self._content, "pages"))}
        for number, (identity, page) in enumerate(documents.items()):
            place = text(page, "path").strip("/") or text(page, "slug") or identity
            path, validator = f"{place}.md", text(page, "updatedAt") or revision
            if number >= self._registration.options["max_pages"]:
                yield Skipped(path, MORE_PAGES)
            elif path in known and known[path].validator == validator:
                yield Same(path)
            else:
                url = f"{published.rstrip('/')}/{quote(place)}" if published else ""
                yield self._fetch(path, url, identity, page, validator)

    def _fetch(
        self, path: str, url: str, identity: str, listed: Mapping[str, Any], validator: str
    ) -> Event:
        try:
            page = self._api.get(f"content/page/{quote(identity)}?format=markdown")
        except DocstowError as error:
            return Failed(path, error.code, error.message)
        body = text(page, "markdown")
        title = text(page, "title") or text(listed, "title")
        if title and not body.lstrip().startswith("# "):
            body = f"# {title}\n\n{body}"
        return Found(File(path, url, "text/markdown", body.encode()), validator)


def _documents(pages: Sequence[Mapping[str, Any]]) -> Iterator[Mapping[str, Any]]:
    """Yield the documents of a tree of any depth; groups and links have no text."""
    waiting = list(reversed(pages))
    while waiting:
        page = waiting.pop()
        if text(page, "id") and (text(page, "type") or text(page, "kind")) in _DOCUMENTS:
            yield page
        waiting += reversed(rows(page, "pages"))


@contextlib.contextmanager
def _open(registration: Registration, upstreams: Upstreams) -> Iterator[Origin]:
    yield GitBookOrigin(registration, upstreams.guarded_fetcher())


KIND = SourceKind(
    "gitbook",
    canonical=canonical,
    options=json_api.options,
    open=_open,
    refreshable=True,
    command=Command("URL|ID", "the pages of a GitBook space"),
)
