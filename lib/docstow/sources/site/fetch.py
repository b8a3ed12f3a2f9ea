"""Requests to a site: one for a page and the outcome of its answer, and robots.txt (RFC 9309).

Secret headers of the source are sent to its own hosts only.
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
    Forbidden,
    InternalError,
    InvalidParameter,
    TooLarge,
    UpstreamError,
)
from docstow.core.model import NO_ATTRIBUTES, File, Known
from docstow.core.urls import canonical_url, clean_url, on_site, site_of
from docstow.formats import Page, openapi, read, readable, skim
from docstow.net.decompress import Limits

if TYPE_CHECKING:
    from protego import Protego

    from docstow.net import Answer, Fetcher

log = logging.getLogger(__name__)

#: Returns a page's HTML after its scripts have run; takes its URL and the headers to send.
Render = Callable[[str, Mapping[str, str]], bytes]

#: The name of docstow in its User-Agent and in robots.txt.
AGENT = "docstow"
#: Bytes that are read of a robots.txt; the minimum of RFC 9309.
_MOST_ROBOTS = 500 * 1024

_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_GONE = frozenset({404, 410})
# The client retries a 429; any other 4xx is an outcome.
_EXPECTED = frozenset({200, 304, *_REDIRECTS, *range(400, 500)}) - {429}
_MOST_REDIRECTS = 5
_ACCEPT = "text/html, application/xhtml+xml, text/markdown;q=0.9, text/plain;q=0.8, */*;q=0.1"
_HTML = ("text/html", "application/xhtml+xml")
_MARKDOWN = ("text/markdown", "text/x-markdown")
_META_ROBOTS = re.compile(
    # "<" ends an unclosed tag, so that hostile pages take linear time.
    rb"<meta\b(?=[^<>]*\bname\s*=\s*[\"']?(?:robots|docstow)\b)"
    rb"[^<>]*\bcontent\s*=\s*[\"']?([^\"'<>]*)",
    re.IGNORECASE,
)
_HEADER_NAME = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")
_HEADER_VALUE = re.compile(r"(?:[!-~](?:[ -~]*[!-~])?)?")
_RESERVED = {"user-agent", "host", "accept", "accept-encoding", "connection", "content-length"}
#: Directives of X-Robots-Tag with a value after a colon; any other word there is an agent.
_VALUED = {"max-snippet", "max-image-preview", "max-video-preview", "unavailable_after"}


@dataclass(frozen=True, slots=True)
class Moved:
    """A redirect; ``url`` is absolute but not checked."""

    url: str


@dataclass(frozen=True, slots=True)
class Unchanged:
    """The page is unchanged since the last request."""


@dataclass(frozen=True, slots=True)
class Refused:
    """The page is left out for a reason."""

    reason: str


@dataclass(frozen=True, slots=True)
class Broken:
    """The page could not be fetched."""

    error: DocstowError


@dataclass(frozen=True, slots=True)
class Taken:
    """A page.

    Attributes:
        file: with an empty ``path``.
        validator: ETag, Last-Modified, canonical URL and digest, one per line.
        digest: of what the page says, as of :class:`docstow.formats.Skimmed`.
        canonical: the canonical URL that the page states; may be empty.
        links: absolute; none where the page forbids following them.
        indexable: whether the page allows indexing.
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
    """A client for the pages of one site.

    Attributes:
        fetcher: the HTTP client.
        domains: hosts that get the secret headers.
        headers: the source's own, secret.
        plain: whether these may be sent over plain http.
        max_bytes: the largest page.
        delay_s: the shortest time between two requests.
        render: runs a page's scripts, if set.
        files: whether descriptions of APIs are read too.
    """

    fetcher: Fetcher
    domains: tuple[str, ...]
    headers: Mapping[str, str] = field(repr=False)
    plain: bool
    max_bytes: int
    delay_s: float
    render: Render | None = None
    files: bool = False

    def fetch(self, url: str, delay_s: float, known: Known | None) -> Outcome:
        """Request a page once; a failure is an outcome, not an exception.

        Args:
            url: clean.
            delay_s: the host's crawl delay.
            known: what the last sync learned from this URL.
        """
        try:
            answer = self._get(url, self.max_bytes, delay_s, _conditions(known), self._takes(url))
            return self._outcome(url, answer, known)
        except TooLarge:
            return Refused("too large")
        except DocstowError as error:
            return Broken(error)
        except Exception:
            log.exception("%s could not be read", url)
            return Broken(InternalError("The page could not be read."))

    def text(self, url: str, most: int, *, anywhere: bool = False) -> Answer | None:
        """Fetch a file beside the pages, following redirects; None where there is none.

        Args:
            url: clean.
            most: the largest size in bytes.
            anywhere: follow redirects to hosts that are not the source's.

        Raises:
            DocstowError: it cannot be fetched.
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
            headers={**self._secret_headers(url), "Accept": _ACCEPT, **conditions},
            limits=Limits(most, most),
            interval_s=max(delay_s, self.delay_s),
            wanted=wanted,
        )

    def _takes(self, url: str) -> Callable[[Mapping[str, str]], bool]:
        """Return what tells from the headers of an answer whether its body is read."""

        def takes(headers: Mapping[str, str]) -> bool:
            essence = headers.get("content-type", "").partition(";")[0].strip().lower()
            return _wanted(url, headers) or (self.files and _may_describe(url, essence))

        return takes

    def _secret_headers(self, url: str) -> Mapping[str, str]:
        """Return the source's headers for its own hosts, none for others."""
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
        if not self._takes(url)(headers):
            return Refused("not a page")
        rules = directives(headers.get("x-robots-tag", ""))
        return self._taken(url, answer, rules)

    def _taken(self, url: str, answer: Answer, rules: set[str]) -> Taken | Refused:
        media_type = answer.headers.get("content-type", "") or _HTML[0]
        body = answer.body
        essence = media_type.partition(";")[0].strip().lower()
        if self.render and essence in _HTML:
            body, media_type = (
                self.render(url, self._secret_headers(url)),
                "text/html; charset=utf-8",
            )
        if not body.strip():
            return Refused("empty")
        if self.files and _may_describe(url, essence):
            if openapi.is_description(body):
                media_type = essence = openapi.MEDIA_TYPE
            elif not _wanted(url, answer.headers):
                return Refused("not a page")
        file = File("", url, media_type, body)
        raw = hashlib.sha256(body).hexdigest()
        if essence not in (*_HTML, *_MARKDOWN):
            return Taken(file, _validator(answer, raw), raw, indexable="noindex" not in rules)
        page = skim(file)
        if _is_error_title(_SITE_NAME.split(page.title)[0]) and says_not_found(read(file), url):
            return Refused("not found")
        if essence in _HTML and (match := _META_ROBOTS.search(body)):
            rules = rules | directives(match[1].decode("ascii", "replace"))
        digest = page.digest or raw
        return Taken(
            file,
            _validator(answer, digest, page.canonical),
            digest,
            page.canonical,
            () if "nofollow" in rules else page.links,
            page.indexable and "noindex" not in rules,
        )


@dataclass(slots=True)
class Robots:
    """The robots.txt of each host, fetched once.

    Attributes:
        text: fetches one, redirects and retries included; None where there is none.
    """

    text: Callable[[str], bytes | None]
    _rules: dict[str, Protego | UpstreamError] = field(default_factory=dict)

    def allows(self, url: str) -> bool:
        """Return whether a page may be fetched.

        Raises:
            UpstreamError: the host's robots.txt cannot be fetched, which forbids everything.
            Forbidden: the host is on a private address.
        """
        return self._rules_of(url).can_fetch(url, AGENT)

    def delay_s(self, url: str) -> float:
        """Return the host's crawl delay in seconds; raise as :meth:`allows`."""
        return float(self._rules_of(url).crawl_delay(AGENT) or 0.0)

    def sitemaps(self, url: str) -> list[str]:
        """Return the sitemaps that the host names; raise as :meth:`allows`."""
        return list(self._rules_of(url).sitemaps)

    def _rules_of(self, url: str) -> Protego:
        site = site_of(url)
        if site not in self._rules:
            self._rules[site] = self._fetch(site)
        rules = self._rules[site]
        if isinstance(rules, UpstreamError):
            raise rules
        return rules

    def _fetch(self, site: str) -> Protego | UpstreamError:
        from protego import Protego

        try:
            body = self.text(f"{site}/robots.txt") or b""
        except Forbidden:
            raise
        except DocstowError as error:
            return UpstreamError(
                f"{site}/robots.txt cannot be had, and until it can, nothing may be fetched there"
                f" (RFC 9309): {error.message}",
                **{"host": site.partition("://")[2], **error.details},
            )
        # Protego takes a byte order mark for part of the first line.
        return Protego.parse(body[:_MOST_ROBOTS].decode("utf-8", "replace").removeprefix("\ufeff"))


def sendable(headers: Mapping[str, str]) -> dict[str, str]:
    """Return a source's headers without those that the client sets itself.

    Raises:
        InvalidParameter: one is invalid; the message has no value.
    """
    for name, value in headers.items():
        if not _HEADER_NAME.fullmatch(name) or not _HEADER_VALUE.fullmatch(value):
            raise InvalidParameter(
                "headers", "must have names of letters, digits and -, and values of one plain line"
            )
    return {name: value for name, value in headers.items() if name.lower() not in _RESERVED}


def downgrades(here: str, there: str) -> bool:
    """Return whether a redirect leaves https for plain http."""
    return here.startswith("https:") and not there.startswith("https:")


def digest_of(validator: str) -> str:
    """Return the digest in a validator of :class:`Taken`."""
    return validator.rpartition("\n")[2]


def canonical_of(validator: str) -> str:
    """Return the canonical URL in a validator of :class:`Taken`; empty if there is none."""
    lines = validator.split("\n")
    try:
        return canonical_url(lines[2]) if len(lines) > 3 and lines[2] else ""
    except InvalidParameter:
        return ""


def directives(text: str) -> set[str]:
    """Return the directives of a robots tag for all agents or for docstow."""
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


def _may_describe(url: str, essence: str) -> bool:
    """Return whether an answer may describe an API: JSON or YAML, by its name or media type."""
    if essence in _HTML:
        return False
    name = urlsplit(url).path.lower()
    return name.endswith(tuple(openapi.SUFFIXES)) or essence.endswith(("json", "yaml"))


def _wanted(url: str, headers: Mapping[str, str]) -> bool:
    return readable(url, headers.get("content-type", "") or _HTML[0])


#: The whole title or heading of such a page.
_ERROR_TITLE = re.compile(
    r"(?:error\s*)?(?:404)?[\s:.,!|\u2013\u2014-]*(?:error[\s:.,!|\u2013\u2014-]*)?"
    r"(?:(?:oops|sorry)[\s!.,:]*)?"
    r"(?:(?:this |the )?page (?:not found|could not be found|cannot be found|can't be found"
    r"|was not found|does ?n[o\u2019']t exist)|not found|seite nicht gefunden|page introuvable"
    r"|p\u00e1gina no encontrada|p\u00e1gina n\u00e3o encontrada|pagina non trovata)?[\s:!.]*",
    re.IGNORECASE,
)
#: Phrases in the text of such a page; a page about the error writes of requests and servers.
_ERROR_PHRASE = re.compile(
    r"\b(?:page|url|link|address|seite|p\u00e1gina|pagina)\b.{0,80}\b(?:not|\w+n.t|no longer|moved"
    r"|removed|nicht|n\u2019existe|existe|trouv|encontr|trovata|looking for|requested)"
    r"|\b(?:not|\w+n.t|no)\b.{0,30}\b(?:find|found|locate)\b.{0,60}\b(?:page|you|here)\b"
    r"|\bnothing (?:to see )?here\b",
    re.IGNORECASE | re.DOTALL,
)
_ERROR_NAME = re.compile(r"404|not-?_?found", re.IGNORECASE)
_ERROR_PAGE = re.compile(r"/404(?:\.html?|/index\.html?)?/?$")
_SITE_NAME = re.compile(r"\s+[|\u00b7\u2013\u2014-]\s+")
_MOST_ERROR_WORDS = 60


def says_not_found(page: Page, url: str) -> bool:
    """Return whether a page only says that there is no page at its URL.

    A page about the error is not a soft 404: it is longer, shows code, does not mention the missing
    page, or its URL names the error.
    """
    path = urlsplit(url).path
    if _ERROR_NAME.search(path.rstrip("/").rpartition("/")[2]) and not _ERROR_PAGE.search(path):
        return False
    first, _, rest = page.text.strip().partition("\n")
    heading, body = (first.lstrip("# "), rest) if first.startswith("#") else ("", page.text)
    if "```" in body or len(body.split()) > _MOST_ERROR_WORDS:
        return False
    if not _is_error_title(heading or _SITE_NAME.split(page.title)[0]):
        return False
    return not body.strip() or bool(_ERROR_PHRASE.search(body))


def _is_error_title(text: str) -> bool:
    bare = text.replace("*", "").strip()
    return any(each.isalnum() for each in bare) and _ERROR_TITLE.fullmatch(bare) is not None
