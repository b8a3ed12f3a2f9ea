"""The pages of a documentation website, found by sitemaps, links and ``llms.txt``."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING
from urllib.parse import urljoin

from docstow.core.errors import ConfigurationError, DocstowError, InvalidParameter
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
from docstow.sources.protocol import Event, Failed, Found
from docstow.sources.site import discovery
from docstow.sources.site.crawl import Crawl, Frontier
from docstow.sources.site.fetch import Render, SitePages, sendable
from docstow.sources.site.options import options
from docstow.sources.site.robots import Robots

if TYPE_CHECKING:
    from docstow.net import Answer, Fetcher

_MOST_SITEMAPS = 50
_DEEPEST_SITEMAP = 3
_MOST_ROBOTS_BYTES = 5_000_000
_MOST_LLMS_BYTES = 20_000_000


class SiteOrigin:
    """The pages of one registered site.

    Args:
        registration: ``uri`` is the start URL; ``options`` are checked; ``headers`` are sent to
            its own hosts only.
        fetcher: the HTTP client.
        render: returns a page's HTML after its scripts have run, for ``render_js``.

    Raises:
        InvalidParameter: an option or a header is invalid.
    """

    def __init__(
        self, registration: Registration, fetcher: Fetcher, *, render: Render | None = None
    ) -> None:
        chosen = options(registration.options)
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
        )
        self._robots = Robots(self._robots_text)

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
        """Yield every page; see :class:`docstow.sources.protocol.Origin`.

        Raises:
            UpstreamError: the robots.txt of a start URL cannot be fetched.
            DocstowError: there is no page, and a start URL failed with this error.
        """
        for url in self._starts:
            self._robots.allows(url)
        frontier = Frontier(self._scope, self._options["max_depth"])
        crawl = Crawl(
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
            yield from self._full_texts(crawl)
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
                answer = self._auxiliary(url, discovery.MOST_BYTES)
                # Sites without a sitemap may answer with an error page or their start page.
                if answer is None or (not sure and b"<html" in answer.body[:2000].lower()):
                    continue
                found = discovery.parse_sitemap(answer.body, url)
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
        for url in self._candidates(name):
            try:
                answer = self._auxiliary(url, _MOST_LLMS_BYTES)
            except DocstowError:
                # The file is optional: the pages are found without it.
                continue
            if answer and discovery.is_text(answer.body, answer.headers.get("content-type", "")):
                return answer.url, answer.body.decode("utf-8", "replace")
        return None

    def _listed(self) -> list[str]:
        """Return the links of ``llms.txt``."""
        found = self._text_of("llms.txt")
        return discovery.links(found[1], found[0]) if found else []

    def _full_texts(self, crawl: Crawl) -> Iterator[Event]:
        """Yield the pages of ``llms-full.txt``, if it names their URLs."""
        found = self._text_of("llms-full.txt")
        for address, text in discovery.sections(found[1]).items() if found else ():
            url = _joined(address, "")
            if url and not exclusion_reason(url, self._scope) and self._allows(url):
                media_type = "text/markdown; charset=utf-8"
                file = File(canonical_url(url), url, media_type, text.encode())
                if event := crawl.keep(Found(file)):
                    yield event

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
    chosen, starts = options(registration.options), _starts(registration)
    hosts = [site_of(url).partition("://")[2] for url in starts]
    return Scope(
        tuple(dict.fromkeys(chosen["allowed_domains"] or hosts)),
        tuple(chosen["path_prefixes"] or map(directory_of, starts)),
        tuple(chosen["include"]),
        tuple(chosen["exclude"]),
    )


def _starts(registration: Registration) -> list[str]:
    """Return the clean URLs that a crawl begins with."""
    return options(registration.options)["start_urls"] or [clean_url(registration.uri)]


def _joined(base: str, reference: str) -> str:
    """Return the clean absolute URL; empty where there is none."""
    try:
        return clean_url(urljoin(base, reference))
    except (InvalidParameter, ValueError):
        return ""
