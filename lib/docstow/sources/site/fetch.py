"""One request for a page of a site, and what its answer means.

This room knows statuses, headers and who may see the source's secret ones. It does not know which
page comes next.
"""

from __future__ import annotations

import hashlib
import logging
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from urllib.parse import urljoin, urlsplit

from docstow.core.errors import (
    DocstowError,
    InternalError,
    InvalidParameter,
    TooLarge,
    UpstreamError,
)
from docstow.core.model import NO_ATTRIBUTES, File, Known
from docstow.core.urls import canonical_url, clean_url, on_site
from docstow.formats import read, readable
from docstow.formats.soft_404 import says_not_found
from docstow.net.decompress import Limits
from docstow.sources.site.robots import AGENT

if TYPE_CHECKING:
    from docstow.net import Answer, Fetcher

log = logging.getLogger(__name__)

#: Gives a page's HTML after its scripts have run; is given the headers to send.
Render = Callable[[str, Mapping[str, str]], bytes]

_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_GONE = frozenset({404, 410})
# A 429 is a wait, which is the fetcher's matter; any other 4xx is an answer.
_EXPECTED = frozenset({200, 304, *_REDIRECTS, *range(400, 500)}) - {429}
_MOST_REDIRECTS = 5
_ACCEPT = "text/html, application/xhtml+xml, text/markdown;q=0.9, text/plain;q=0.8, */*;q=0.1"
_HTML = ("text/html", "application/xhtml+xml")
_MARKDOWN = ("text/markdown", "text/x-markdown")
_META_ROBOTS = re.compile(
    # "<" ends an unclosed tag, so that no part of a hostile page is read twice.
    rb"<meta\b(?=[^<>]*\bname\s*=\s*[\"']?(?:robots|docstow)\b)"
    rb"[^<>]*\bcontent\s*=\s*[\"']?([^\"'<>]*)",
    re.IGNORECASE,
)
_HEADER_NAME = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")
_HEADER_VALUE = re.compile(r"(?:[!-~](?:[ -~]*[!-~])?)?")
_OURS = {"user-agent", "host", "accept", "accept-encoding", "connection", "content-length"}
#: Directives of X-Robots-Tag that have a value behind a colon; any other such word is an agent.
_VALUED = {"max-snippet", "max-image-preview", "max-video-preview", "unavailable_after"}


@dataclass(frozen=True, slots=True)
class Moved:
    """A redirect; ``url`` is absolute, and may be anything."""

    url: str


@dataclass(frozen=True, slots=True)
class Unchanged:
    """The page is as it was when it was last asked for."""


@dataclass(frozen=True, slots=True)
class Refused:
    """The page is there or not, but is left out: why."""

    reason: str


@dataclass(frozen=True, slots=True)
class Broken:
    """The page could not be had."""

    error: DocstowError


@dataclass(frozen=True, slots=True)
class Taken:
    """A page.

    Attributes:
        file: its ``path`` is still empty.
        validator: ETag, Last-Modified, the named address and the digest, one a line.
        digest: of what the page says, however it is wrapped.
        canonical: the address that it names as its own; may be empty.
        links: absolute; none where the page asks that they are not followed.
        indexable: whether it may be kept.
    """

    file: File
    validator: str
    digest: str
    canonical: str = ""
    links: tuple[str, ...] = ()
    indexable: bool = True


Outcome = Moved | Unchanged | Refused | Broken | Taken


@dataclass(frozen=True, slots=True)
class SitePages:
    """Requests to one site.

    Attributes:
        fetcher: retries, waits and keeps the distance.
        domains: hosts that see the secret headers.
        headers: the source's own, secret.
        plain: whether these may go over plain http.
        max_bytes: the largest page.
        delay_s: the least time between two requests.
        render: runs a page's scripts; None where that is not wanted.
    """

    fetcher: Fetcher
    domains: tuple[str, ...]
    headers: Mapping[str, str] = field(repr=False)
    plain: bool
    max_bytes: int
    delay_s: float
    render: Render | None = None

    def ask(self, url: str, delay_s: float, known: Known | None) -> Outcome:
        """Ask for a page once; its failure is an outcome, never an exception.

        Args:
            url: clean.
            delay_s: what the host asks for between two requests.
            known: what was learned from this very address before.
        """
        try:
            answer = self._get(
                url, self.max_bytes, delay_s, _conditions(known), lambda had: _wanted(url, had)
            )
            return self._outcome(url, answer, known)
        except TooLarge:
            return Refused("too large")
        except DocstowError as error:
            return Broken(error)
        except Exception:
            log.exception("%s could not be read", url)
            return Broken(InternalError("The page could not be read."))

    def text(self, url: str, most: int, *, anywhere: bool = False) -> Answer | None:
        """A file beside the pages, redirects followed; None where there is none.

        Args:
            url: clean.
            most: the largest size in bytes.
            anywhere: follow redirects to hosts that are not the source's.

        Raises:
            DocstowError: it could not be had; whether there is one is unknown.
        """
        for _ in range(1 + _MOST_REDIRECTS):
            answer = self._get(url, most)
            if answer.status not in _REDIRECTS:
                return answer if answer.status == 200 else None
            there = clean_url(urljoin(url, answer.headers.get("location", "")))
            if downgrades(url, there) or not (anywhere or on_site(there, self.domains)):
                return None
            url = there
        return None

    def _get(
        self,
        url: str,
        most: int,
        delay_s: float = 0.0,
        conditions: Mapping[str, str] = NO_ATTRIBUTES,
        wanted: Callable[[Mapping[str, str]], bool] = lambda _: True,
    ) -> Answer:
        return self.fetcher.get(
            url,
            expected=_EXPECTED,
            headers={**self._secret(url), "Accept": _ACCEPT, **conditions},
            limits=Limits(most, most),
            interval_s=max(delay_s, self.delay_s),
            wanted=wanted,
        )

    def _secret(self, url: str) -> Mapping[str, str]:
        """The source's headers, for its own hosts alone."""
        safe = self.plain or url.startswith("https:")
        return self.headers if safe and on_site(url, self.domains) else NO_ATTRIBUTES

    def _outcome(self, url: str, answer: Answer, known: Known | None) -> Outcome:
        status, headers = answer.status, answer.headers
        if status == 304 and known:
            return Unchanged()
        if status in _REDIRECTS:
            return Moved(urljoin(url, headers.get("location", "")))
        if status in _GONE:
            return Refused("not found")
        if status != 200:
            host = urlsplit(url).netloc
            return Broken(UpstreamError(f"{host} answered {status}.", host=host, status=status))
        if not _wanted(url, headers):
            return Refused("not a page")
        rules = directives(headers.get("x-robots-tag", ""))
        return self._taken(url, answer, rules)

    def _taken(self, url: str, answer: Answer, rules: set[str]) -> Taken | Refused:
        media_type = answer.headers.get("content-type", "") or _HTML[0]
        body = answer.body
        essence = media_type.partition(";")[0].strip().lower()
        if self.render and essence in _HTML:
            body, media_type = self.render(url, self._secret(url)), "text/html; charset=utf-8"
        if not body.strip():
            return Refused("empty")
        file = File("", url, media_type, body)
        raw = hashlib.sha256(body).hexdigest()
        if essence not in (*_HTML, *_MARKDOWN):
            return Taken(file, _validator(answer, raw), raw, indexable="noindex" not in rules)
        page = read(file)
        if says_not_found(page, url):
            return Refused("not found")
        if essence in _HTML and (match := _META_ROBOTS.search(body)):
            rules = rules | directives(match[1].decode("ascii", "replace"))
        said = f"{page.title}\n{page.text}".encode()
        digest = hashlib.sha256(said).hexdigest() if page.text.strip() else raw
        return Taken(
            file,
            _validator(answer, digest, page.canonical),
            digest,
            page.canonical,
            () if "nofollow" in rules else page.links,
            page.indexable and "noindex" not in rules,
        )


def sendable(headers: Mapping[str, str]) -> dict[str, str]:
    """A source's own headers, but those that are docstow's to say: who asks, and for what.

    Raises:
        InvalidParameter: one cannot be sent; its value is not repeated.
    """
    for name, value in headers.items():
        if not _HEADER_NAME.fullmatch(name) or not _HEADER_VALUE.fullmatch(value):
            raise InvalidParameter(
                "headers", "must have names of letters, digits and -, and values of one plain line"
            )
    return {name: value for name, value in headers.items() if name.lower() not in _OURS}


def downgrades(here: str, there: str) -> bool:
    """Whether a redirect leaves https for plain http."""
    return here.startswith("https:") and not there.startswith("https:")


def digest_of(validator: str) -> str:
    """The digest in a validator of :class:`Taken`."""
    return validator.rpartition("\n")[2]


def canonical_of(validator: str) -> str:
    """The address that a page named as its own, from a validator of :class:`Taken`."""
    lines = validator.split("\n")
    try:
        return canonical_url(lines[2]) if len(lines) > 3 and lines[2] else ""
    except InvalidParameter:
        return ""


def directives(text: str) -> set[str]:
    """The directives of a robots tag that are meant for everybody, or for docstow."""
    found: set[str] = set()
    agent = ""
    for part in text.lower().split(","):
        head, colon, tail = (piece.strip() for piece in part.partition(":"))
        if colon and head not in _VALUED:
            agent, head = head, tail
        if agent in {"", AGENT}:
            found.add(head)
    return found | {"noindex", "nofollow"} if "none" in found else found


def _validator(answer: Answer, digest: str, named: str = "") -> str:
    headers = answer.headers
    lines = [headers.get("etag", ""), headers.get("last-modified", ""), "".join(named.split())]
    return "\n".join([*lines, digest])


def _conditions(known: Known | None) -> dict[str, str]:
    etag, _, rest = (known.validator if known else "").partition("\n")
    date = rest.partition("\n")[0]
    named = {"If-None-Match": etag, "If-Modified-Since": date}
    return {name: value for name, value in named.items() if value}


def _wanted(url: str, headers: Mapping[str, str]) -> bool:
    return readable(url, headers.get("content-type", "") or _HTML[0])
