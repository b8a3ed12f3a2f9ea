"""The pages of a documentation website, found by sitemaps (sitemaps.org), links and ``llms.txt``.

Sitemaps with a document type are refused, as it could define entities.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING
from urllib.parse import urljoin
from xml.parsers import expat

from docstow.core.errors import ConfigurationError, DocstowError, InvalidParameter, UnreadableInput
from docstow.core.model import File, Known, Registration, Revision
from docstow.core.urls import (
    Scope,
    canonical_url,
    clean_url,
    directory_of,
    exclusion_reason,
    on_site,
    site_of,
)
from docstow.net.decompress import GZIP, Limits, decompress
from docstow.sources import Event, Failed, Found, Preview
from docstow.sources.site.crawl import Crawl, Frontier
from docstow.sources.site.fetch import Render, Robots, SitePages, sendable
from docstow.sources.site.versions import find_place

if TYPE_CHECKING:
    from docstow.net import Answer, Fetcher

_MOST_SITEMAPS = 50
_DEEPEST_SITEMAP = 3
_MOST_ROBOTS_BYTES = 5_000_000
_MOST_LLMS_BYTES = 20_000_000
#: Bytes of what answers before the pages are read.
_MOST_PREVIEW_BYTES = 1_000_000
_MARKDOWN = "text/markdown; charset=utf-8"
# Possessive, and no part matches beyond a "[", so that hostile texts take linear time.
_LINK = re.compile(r"\[[^\[\]\n]*+\]\(\s*+<?([^\[)\s>]++)>?[^\[)\n]*+\)")
#: The line with a page's URL after its title, as common generators write it.
_NAMED = re.compile(
    r"^(?:[-*>]\s+)?\**(?:source|url|permalink)(?: url)?\**:\**\s*<?(https?://[^\s>]+)>?\s*$",
    re.IGNORECASE,
)
_TITLE = re.compile(r"^#{1,2}\s+\S")
_FENCE = re.compile(r"^\s*(```|~~~)")
#: The largest distance in lines of a page's title and its URL.
_NEAR = 4
#: The largest sitemap in bytes, and in pages, by sitemaps.org.
_MOST_SITEMAP_BYTES = 50 * 1024 * 1024
_MOST_SITEMAP_PAGES = 50_000


class SiteOrigin:
    """The pages of one registered site.

    Args:
        registration: ``uri`` is the start URL; ``options`` are checked and complete; ``headers``
            are sent to its own hosts only.
        fetcher: the HTTP client.
        render: returns a page's HTML after its scripts have run, for ``render_js``.

    Raises:
        InvalidParameter: an option or a header is invalid.
    """

    def __init__(
        self, registration: Registration, fetcher: Fetcher, *, render: Render | None = None
    ) -> None:
        chosen = registration.options
        self._registration = registration
        self._options = chosen
        self._render = render
        self._starts = _starts(registration)
        self._scope = scope(registration)
        self._pages = SitePages(
            fetcher,
            tuple(self._scope.domains),
            sendable(registration.headers),
            plain=any(url.startswith("http:") for url in self._starts),
            max_bytes=chosen["max_page_bytes"],
            delay_s=chosen["delay_s"],
            render=render if chosen["render_js"] else None,
            files=chosen["fetch_assets"],
        )
        self._robots = Robots(self._robots_text)
        self._texts: dict[str, tuple[str, str] | None] = {}
        self._crawl: Crawl | None = None

    @property
    def left(self) -> int:
        """The number of pages that are known of and not visited yet; more may be found."""
        return self._crawl.left if self._crawl else 0

    def resolve(self) -> Revision:
        """Return the revision without a version: a site has none.

        Raises:
            ConfigurationError: it needs a browser, and there is none.
        """
        if self._options["render_js"] and self._render is None:
            raise ConfigurationError(
                "render_js needs a browser, and none is at hand; install one, or leave it off."
            )
        return self._registration.revision()

    def files(self, known: Mapping[str, Known]) -> Iterator[Event]:
        """Yield every page; see :class:`docstow.sources.Origin`.

        Raises:
            UpstreamError: the robots.txt of a start URL cannot be fetched.
            DocstowError: there is no page, and a start URL failed with this error.
        """
        for url in self._starts:
            self._robots.allows(url)
        frontier = Frontier(self._scope, self._options["max_depth"])
        crawl = self._crawl = Crawl(
            self._pages,
            self._robots,
            self._scope,
            frontier,
            known,
            starts=self._starts,
            most=self._options["max_pages"],
            at_once=self._options["concurrency"],
        )
        yield from self._seeds(frontier, crawl, known)
        yield from crawl.run()
        if not crawl.kept and crawl.trouble:
            raise crawl.trouble

    def _seeds(
        self, frontier: Frontier, crawl: Crawl, known: Mapping[str, Known]
    ) -> Iterator[Event]:
        """Fill the frontier with the start URLs, then the pages that the site lists."""
        for url in self._starts:
            frontier.add_start(url)
        if self._options["llms"] == "auto":
            full = list(self._full_texts())
            if not known and (preview := self._preview(full)):
                yield Preview(preview)
            for file in full:
                if event := crawl.keep(Found(file)):
                    yield event
        whole = True
        if self._options["sitemap"]:
            for each in self._sitemap_pages():
                whole = whole and isinstance(each, str)
                event = frontier.offer(each) if isinstance(each, str) else each
                if event:
                    yield event
        if self._options["llms"] == "auto":
            offered = (frontier.offer(url) for url in self._listed())
            yield from (skipped for skipped in offered if skipped)
        if not whole:
            # A failing sitemap must not remove the pages that only it lists.
            for page in known.values():
                frontier.offer(page.url)

    def _sitemap_pages(self) -> Iterator[str | Failed]:
        """Yield the URLs of all sitemaps, and a failure for each that cannot be read."""
        queue = deque((url, 0, sure) for url, sure in self._sitemaps().items())
        seen: set[str] = set()
        while queue and len(seen) < _MOST_SITEMAPS:
            url, depth, sure = queue.popleft()
            if url in seen or not on_site(url, self._scope.domains):
                continue
            seen.add(url)
            try:
                answer = self._auxiliary(url, _MOST_SITEMAP_BYTES)
                # Sites without a sitemap may answer with an error page or their start page.
                if answer is None or (not sure and b"<html" in answer.body[:2000].lower()):
                    continue
                found = parse_sitemap(answer.body, url)
            except DocstowError as error:
                yield Failed(url, error.code, error.message)
                continue
            yield from found.pages
            if depth < _DEEPEST_SITEMAP:
                further = (_joined(url, each) for each in found.sitemaps)
                queue.extend((each, depth + 1, True) for each in further if each)

    def _sitemaps(self) -> dict[str, bool]:
        """Return URLs of sitemaps; True for those of robots.txt, False for guesses."""
        named: dict[str, bool] = {}
        for start in self._starts:
            for each in self._robots.sitemaps(start):
                if url := _joined(start, each):
                    named[url] = True
        return named or dict.fromkeys(self._candidates("sitemap.xml"), False)

    def _candidates(self, name: str) -> list[str]:
        """Return where a file may be: beside the start URLs, and at the roots."""
        sites = [(site_of(url), directory_of(url)) for url in self._starts]
        near = [f"{site}{directory}/{name}" for site, directory in sites]
        return list(dict.fromkeys([*near, *(f"{site}/{name}" for site, _ in sites)]))

    def _text_of(self, name: str) -> tuple[str, str] | None:
        """Return URL and text of the nearest file of a name; None if the site has none."""
        if name not in self._texts:
            self._texts[name] = self._fetch_text(name)
        return self._texts[name]

    def _fetch_text(self, name: str) -> tuple[str, str] | None:
        for url in self._candidates(name):
            try:
                answer = self._auxiliary(url, _MOST_LLMS_BYTES)
            except DocstowError:
                # The file is optional: the pages are found without it.
                continue
            if answer and is_text(answer.body, answer.headers.get("content-type", "")):
                return answer.url, answer.body.decode("utf-8", "replace")
        return None

    def _listed(self) -> list[str]:
        """Return the links of ``llms.txt``."""
        found = self._text_of("llms.txt")
        return links(found[1], found[0]) if found else []

    def _full_texts(self) -> Iterator[File]:
        """Yield the pages of ``llms-full.txt``, if it names their URLs."""
        found = self._text_of("llms-full.txt")
        for address, text in sections(found[1]).items() if found else ():
            url = _joined(address, "")
            if url and not exclusion_reason(url, self._scope) and self._allows(url):
                yield File(canonical_url(url), url, _MARKDOWN, text.encode())

    def _preview(self, full: Sequence[File]) -> tuple[File, ...]:
        """Return what the site says of itself in texts: ``llms.txt`` and ``llms-full.txt``."""
        files = [*full]
        names = ("llms.txt",) if full else ("llms.txt", "llms-full.txt")
        for url, text in filter(None, map(self._text_of, names)):
            if not any(self._is_near(url, start) for start in self._starts):
                continue
            files.append(File(canonical_url(url), url, _MARKDOWN, text.encode()))
        kept: list[File] = []
        room = _MOST_PREVIEW_BYTES
        # Of a text that is too long, and of many, the beginning answers.
        for file in sorted(files, key=lambda each: not each.path.endswith("/llms.txt")):
            if body := file.body[:room]:
                whole = len(body) == len(file.body)
                kept.append(replace(file, body=body if whole else body[: body.rfind(b"\n") + 1]))
            room -= len(body)
        return tuple(each for each in kept if each.body.strip())

    @staticmethod
    def _is_near(url: str, start: str) -> bool:
        """Return whether a text is about the version that a start URL is of."""
        return find_place(start) is None or directory_of(url.rpartition("/")[0]) == directory_of(
            start
        )

    def _allows(self, url: str) -> bool:
        """Return whether robots.txt allows a page; False where it cannot be fetched."""
        try:
            return self._robots.allows(url)
        except DocstowError:
            return False

    def _auxiliary(self, url: str, most: int) -> Answer | None:
        """Fetch a file beside the pages, if robots.txt allows it."""
        return self._pages.text(url, most) if self._robots.allows(url) else None

    def _robots_text(self, url: str) -> bytes | None:
        answer = self._pages.text(url, _MOST_ROBOTS_BYTES, anywhere=True)
        return answer.body if answer else None


def scope(registration: Registration) -> Scope:
    """Return the scope of a registered site: of its options, else of its start URLs."""
    chosen, starts = registration.options, _starts(registration)
    hosts = [site_of(url).partition("://")[2] for url in starts]
    return Scope(
        tuple(dict.fromkeys(chosen["allowed_domains"] or hosts)),
        tuple(chosen["path_prefixes"] or map(directory_of, starts)),
        tuple(chosen["include"]),
        tuple(chosen["exclude"]),
        files=chosen["fetch_assets"],
    )


def _starts(registration: Registration) -> list[str]:
    """Return the clean URLs that a crawl begins with."""
    return registration.options["start_urls"] or [clean_url(registration.uri)]


def _joined(base: str, reference: str) -> str:
    """Return the clean absolute URL; empty where there is none."""
    try:
        return clean_url(urljoin(base, reference))
    except (InvalidParameter, ValueError):
        return ""


def is_text(body: bytes, media_type: str) -> bool:
    """Return whether an answer is plain text; many sites answer any request with HTML."""
    return "html" not in media_type.lower() and body.lstrip()[:1] != b"<"


def links(text: str, url: str) -> list[str]:
    """Return the absolute URLs that an ``llms.txt`` links to, in its order."""
    found = (urljoin(url, match[1]) for match in _LINK.finditer(text))
    return [each for each in dict.fromkeys(found) if each.startswith(("http://", "https://"))]


def sections(text: str) -> dict[str, str]:
    """Return the pages of an ``llms-full.txt`` as Markdown by URL; empty if it names no URLs.

    A page begins with its title, followed by a line such as ``Source: https://…``.
    """
    lines = text.splitlines()
    marks = _marks(lines)
    pages: dict[str, str] = {}
    for number, (title, named, url) in enumerate(marks):
        end = marks[number + 1][0] if number + 1 < len(marks) else len(lines)
        body = [*lines[title:named], *lines[named + 1 : end]]
        pages.setdefault(url, "\n".join(body).strip() + "\n")
    return pages


def _marks(lines: list[str]) -> list[tuple[int, int, str]]:
    """Return the lines of titles and of URLs, and the URLs."""
    marks: list[tuple[int, int, str]] = []
    title, fence = -_NEAR - 1, ""
    for number, line in enumerate(lines):
        if match := _FENCE.match(line):
            fence = "" if fence == match[1] else fence or match[1]
        elif fence:
            continue
        elif _TITLE.match(line):
            title = number
        elif (match := _NAMED.match(line)) and number - title <= _NEAR:
            marks.append((title, number, match[1]))
            title = -_NEAR - 1
    return marks


@dataclass(slots=True)
class Sitemap:
    """The URLs of a sitemap, in its order."""

    pages: list[str] = field(default_factory=list)
    sitemaps: list[str] = field(default_factory=list)


def parse_sitemap(body: bytes, url: str) -> Sitemap:
    """Parse a sitemap, an index of sitemaps, or a list of URLs, one per line.

    Args:
        body: the bytes, which may be gzipped.
        url: of the sitemap, for messages.

    Raises:
        UnreadableInput: it is none of these, or declares a document type.
        TooLarge: it is larger than 50 MiB when decompressed.
    """
    if body.startswith(GZIP):
        body = decompress([body], Limits(_MOST_SITEMAP_BYTES, _MOST_SITEMAP_BYTES), name=url)
    start = body[:512].lstrip(b"\xef\xbb\xbf \t\r\n")
    if start.startswith((b"http://", b"https://")):
        return Sitemap(pages=_lines(body.decode("utf-8", "replace").splitlines()))
    return _Parser(url).parse(body)


def _lines(lines: Iterable[str]) -> list[str]:
    found = (line.lstrip("\ufeff").strip() for line in lines)
    return [line for line in found if line.startswith(("http://", "https://"))][
        :_MOST_SITEMAP_PAGES
    ]


class _Full(Exception):
    """The largest number of pages is reached."""


class _Parser:
    """A pass over the XML that keeps the text of ``<loc>``."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._found = Sitemap()
        self._open: list[str] = []
        self._loc: list[str] = []

    def parse(self, body: bytes) -> Sitemap:
        parser = expat.ParserCreate(namespace_separator=" ")
        parser.StartDoctypeDeclHandler = self._refuse
        parser.StartElementHandler = self._begin
        parser.CharacterDataHandler = self._text
        parser.EndElementHandler = self._end
        try:
            parser.Parse(body, True)  # noqa: FBT003 - expat's own parameter has no name
        except _Full:
            pass
        except UnreadableInput:
            raise
        except (expat.ExpatError, LookupError, ValueError) as error:
            # An encoding that no codec has, or of several bytes a letter, is no error of expat's.
            raise UnreadableInput(f"{self._url} is no sitemap: {error}.") from None
        return self._found

    def _refuse(self, *_: object) -> None:
        raise UnreadableInput(
            f"{self._url} is no sitemap: it declares a document type, which sitemaps do not have."
        )

    def _begin(self, name: str, _: dict[str, str]) -> None:
        self._open.append(name.rpartition(" ")[2])
        self._loc = []
        if len(self._open) == 1 and self._open[0] not in {"urlset", "sitemapindex"}:
            raise UnreadableInput(f"{self._url} is no sitemap but <{self._open[0]}>.")

    def _text(self, text: str) -> None:
        if self._open[-1] == "loc":
            self._loc.append(text)

    def _end(self, _: str) -> None:
        # <image:loc> is deeper, in <image:image>.
        if self._open[1:] in (["url", "loc"], ["sitemap", "loc"]):
            kept = self._found.pages if self._open[1] == "url" else self._found.sitemaps
            kept.append("".join(self._loc).strip())
            if len(kept) >= _MOST_SITEMAP_PAGES:
                raise _Full
        self._open.pop()
        self._loc = []
