"""One crawl of a site: the order of visits, redirects, and pages under several URLs."""

from __future__ import annotations

import re
from collections import Counter, deque
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextvars import copy_context
from dataclasses import dataclass, replace
from functools import partial
from urllib.parse import urlsplit

from docstow.core.errors import DocstowError, Forbidden, InvalidParameter, UpstreamError
from docstow.core.model import Known
from docstow.core.urls import Scope, canonical_url, clean_url, exclusion_reason, on_site
from docstow.sources import MORE_PAGES, TOO_DEEP, Event, Failed, Found, Same, Skipped
from docstow.sources.site.fetch import (
    Broken,
    Moved,
    Outcome,
    Refused,
    Robots,
    SitePages,
    Taken,
    Unchanged,
    canonical_of,
    digest_of,
    downgrades,
)

#: How many queries of one path are visited: calendars and filters have no end.
_MOST_QUERIES = 20
#: Queries with the name of a wiki's page, which is a word; those of calendars are numbers.
_PAGE_QUERY = re.compile(
    r"(?:id|title|page|name|topic|article|doc|path|p)=[a-z%][^&=]*", re.IGNORECASE
)
#: How many URLs a crawl remembers, so that a hostile site cannot fill the memory.
_MOST_URLS = 200_000
_MOST_REDIRECTS = 5
ANOTHER = "same as another page"
FORBIDDEN = "forbidden by robots.txt"


@dataclass(frozen=True, slots=True)
class Visit:
    """A URL to visit.

    Attributes:
        url: clean.
        depth: the number of links from a start URL.
        start: whether it is a start URL.
        chain: the URLs that redirected to it.
    """

    url: str
    depth: int = 0
    start: bool = False
    chain: tuple[str, ...] = ()


class Frontier:
    """The URLs that are still to be visited, each page once, in the order of offers.

    Args:
        scope: the site.
        max_depth: the largest number of links from a start URL.
    """

    def __init__(self, scope: Scope, max_depth: int) -> None:
        self._scope = scope
        self._max_depth = max_depth
        self._queue: deque[Visit] = deque()
        self._seen: set[str] = set()
        self._queries: Counter[str] = Counter()

    def __len__(self) -> int:
        return len(self._queue)

    def add_start(self, url: str) -> None:
        """Add a start URL, whatever the globs."""
        if self.mark_seen(url):
            self._queue.append(Visit(url, start=True))

    def offer(self, url: str, depth: int = 0) -> Skipped | None:
        """Add a found URL; if it is left out, return why, once for each URL."""
        try:
            url = clean_url(url)
        except InvalidParameter:
            return None
        if len(self._seen) >= _MOST_URLS or not self.mark_seen(url):
            return None
        reason = exclusion_reason(url, self._scope)
        parts = urlsplit(url)
        if not reason and depth > self._max_depth:
            reason = TOO_DEEP
        # Pages that the site lists, and pages of wikis, are not traps.
        if not reason and parts.query and depth and not _PAGE_QUERY.fullmatch(parts.query):
            self._queries[parts.netloc + parts.path] += 1
            if self._queries[parts.netloc + parts.path] > _MOST_QUERIES:
                reason = "endless address"
        if reason:
            return Skipped(canonical_url(url), reason)
        self._queue.append(Visit(url, depth))
        return None

    def mark_seen(self, url: str) -> bool:
        """Mark a clean URL as seen; return whether it was new."""
        canonical = canonical_url(url)
        if canonical in self._seen:
            return False
        self._seen.add(canonical)
        return True

    def push_front(self, visit: Visit) -> None:
        """Add a visit before all others."""
        self._queue.appendleft(visit)

    def pop(self) -> Visit:
        """Remove and return the next visit."""
        return self._queue.popleft()

    def drain(self) -> Iterator[Skipped]:
        """Yield the rest as skipped for the limit of pages."""
        while self._queue:
            yield Skipped(canonical_url(self._queue.popleft().url), MORE_PAGES)


_Window = deque[tuple[Visit, "Future[Outcome]"]]


class Crawl:
    """Visits pages concurrently and evaluates them in order, so that the events have one order.

    Args:
        pages: fetches a page.
        robots: the rules of robots.txt.
        scope: of the site.
        frontier: the URLs to visit, seeds included.
        known: what the last sync learned, by path.
        starts: the clean start URLs.
        most: how many pages are kept.
        at_once: the number of concurrent requests.
    """

    def __init__(
        self,
        pages: SitePages,
        robots: Robots,
        scope: Scope,
        frontier: Frontier,
        known: Mapping[str, Known],
        *,
        starts: Iterable[str],
        most: int,
        at_once: int,
    ) -> None:
        self._pages = pages
        self._robots = robots
        self._scope = scope
        self._frontier = frontier
        self._known = {each.url: each for each in known.values()}
        self._starts = frozenset(map(canonical_url, starts))
        self._most = most
        self._at_once = at_once
        # Pages that are not kept cost requests too; a site of such pages must end as well.
        self._requests_left = 3 * most + 100
        self._paths: set[str] = set()
        self._digests: set[str] = set()
        #: Paths of pages that were only found at another URL than their canonical one.
        self._at_other_url: set[str] = set()
        #: The canonical URL that a page states; the visit and digest of pages under another path.
        self._canonicals: dict[str, str] = {}
        self._aliases: dict[str, tuple[Visit, str]] = {}
        #: Redirects by URL.
        self._redirects: dict[str, str] = {}
        #: The first error of a start URL.
        self.trouble: DocstowError | None = None

    @property
    def kept(self) -> int:
        """The number of pages so far."""
        return len(self._paths)

    @property
    def left(self) -> int:
        """The number of pages that are known of and not visited yet, as far as there is room."""
        return max(min(len(self._frontier), self._most - self.kept), 0)

    def keep(self, found: Found) -> Event | None:
        """Add a page that was not visited; return None if there is no room or it is known."""
        if self.kept >= self._most or not self._frontier.mark_seen(clean_url(found.file.url)):
            return None
        self._paths.add(found.file.path)
        return found

    def run(self) -> Iterator[Event]:
        """Visit everything in the frontier, which grows meanwhile; yield the events."""
        window: _Window = deque()
        pool = ThreadPoolExecutor(self._at_once, thread_name_prefix="crawl")
        try:
            while True:
                yield from self._start_visits(window, pool)
                if not window:
                    break
                visit, outcome = window.popleft()
                yield from self._evaluate(visit, outcome.result())
        finally:
            pool.shutdown(cancel_futures=True)
        yield from self._frontier.drain()

    def _start_visits(self, window: _Window, pool: ThreadPoolExecutor) -> Iterator[Event]:
        """Start as many visits as may run at once and could be kept."""
        while (
            self._frontier
            and len(window) < self._at_once
            and self.kept + len(window) < self._most
            and self._requests_left > 0
        ):
            visit = self._frontier.pop()
            try:
                allowed = self._robots.allows(visit.url)
                delay_s = self._robots.delay_s(visit.url)
            except DocstowError as error:
                yield from self._broken(visit, error)
                continue
            if not allowed:
                yield self._skipped(visit, FORBIDDEN)
                continue
            self._requests_left -= 1
            known = None if self._pages.render else self._known.get(visit.url)
            fetch = partial(self._pages.fetch, visit.url, delay_s, known)
            # In this context, so that what it logs is of this job.
            window.append((visit, pool.submit(copy_context().run, fetch)))

    def _evaluate(self, visit: Visit, outcome: Outcome) -> Iterator[Event]:
        match outcome:
            case Moved(url):
                yield from self._moved(visit, url)
            case Unchanged():
                yield from self._unchanged(visit)
            case Refused(reason):
                yield from self._refused(visit, reason)
            case Broken(error):
                yield from self._broken(visit, error)
            case Taken():
                yield from self._taken(visit, outcome)

    def _moved(self, visit: Visit, url: str) -> Iterator[Event]:
        """Follow a redirect within the scope."""
        try:
            there = clean_url(url)
        except InvalidParameter:
            there = ""
        out = not there or downgrades(visit.url, there) or self._exclusion_reason(there, visit)
        chain = (*visit.chain, visit.url)
        if out:
            host = urlsplit(there).netloc or "an address that is none"
            error = Forbidden(
                f"{visit.url} redirects to {host}, out of the source's scope; allowed_domains and"
                " path_prefixes say what belongs to it."
            )
            yield self._skipped(visit, "redirect out of scope", error)
        elif (
            there in chain
            or len(chain) > _MOST_REDIRECTS
            or _closes_circle(self._redirects, visit.url, there)
        ):
            host = urlsplit(visit.url).netloc
            circle = UpstreamError(f"{host} redirects in a circle, or too often.", host=host)
            yield from self._broken(visit, circle)
        elif canonical_url(there) in map(canonical_url, chain) or self._frontier.mark_seen(there):
            self._frontier.push_front(replace(visit, url=there, chain=chain))
        else:
            yield self._skipped(visit, ANOTHER)

    def _exclusion_reason(self, url: str, visit: Visit) -> str:
        """Return why a URL is left out; the globs do not apply to start URLs."""
        scope = replace(self._scope, include=(), exclude=()) if visit.start else self._scope
        return exclusion_reason(url, scope)

    def _unchanged(self, visit: Visit) -> Iterator[Event]:
        known = self._known[visit.url]
        self._is_credible(canonical_url(visit.url), canonical_of(known.validator))
        yield from self._deduplicated(
            visit, known.path, digest_of(known.validator), Same(known.path)
        )
        yield from self._offer(known.links, visit.depth + 1)

    def _taken(self, visit: Visit, taken: Taken) -> Iterator[Event]:
        if not taken.indexable:
            yield self._skipped(visit, "noindex")
        elif reason := exclusion_reason(visit.url, self._scope):
            yield self._skipped(visit, reason)
        else:
            path = self._path(visit, taken)
            if path != (own := canonical_url(visit.url)):
                self._aliases[own] = (visit, taken.digest)
            links = tuple(dict.fromkeys(self._on_site(taken.links)))
            found = Found(replace(taken.file, path=path), taken.validator, links)
            yield from self._deduplicated(visit, path, taken.digest, found)
        yield from self._offer(taken.links, visit.depth + 1)

    def _deduplicated(self, visit: Visit, path: str, digest: str, event: Event) -> Iterator[Event]:
        """Yield the event of a page, unless its path or its content is known already.

        A page that was first found at another URL gives way to the one at its canonical URL.
        """
        own = canonical_url(visit.url) == path
        if own and path in self._at_other_url:
            self._at_other_url.remove(path)
        elif path in self._paths or (digest and digest in self._digests):
            yield self._skipped(visit, ANOTHER)
            return
        elif not own:
            self._at_other_url.add(path)
        self._paths.add(path)
        self._digests.add(digest)
        yield event

    def _path(self, visit: Visit, taken: Taken) -> str:
        """Return the path of a page: the canonical URL that it states, if it is credible.

        It is where it belongs to the source. Many sites state their start page on every page by
        mistake, so that one is credible only on the start page itself. Where pages state each
        other, none is credible.
        """
        own = canonical_url(visit.url)
        try:
            named = clean_url(taken.canonical) if taken.canonical else own
            allowed = not exclusion_reason(named, self._scope) and self._robots.allows(named)
        except DocstowError:
            return own
        path = canonical_url(named)
        general = path in self._starts or urlsplit(path).path == "/"
        plausible = not general or urlsplit(path).path == urlsplit(own).path
        return path if allowed and plausible and self._is_credible(own, path) else own

    def _is_credible(self, own: str, named: str) -> bool:
        """Return whether a canonical URL does not lead back to the page that states it.

        Pages of such a circle that were kept under another path are visited again.
        """
        if not named or named == own or not _closes_circle(self._canonicals, own, named):
            return True
        while named != own:
            if named in self._aliases:
                alias, digest = self._aliases.pop(named)
                self._digests.discard(digest)
                self._frontier.push_front(alias)
            named = self._canonicals[named]
        return False

    def _refused(self, visit: Visit, reason: str) -> Iterator[Event]:
        if reason == "not found" and visit.start and not visit.url.endswith("/"):
            # The canonical URL of a directory has no slash; some servers require it.
            parts = urlsplit(visit.url)
            slashed = parts._replace(path=f"{parts.path}/").geturl()
            self._frontier.push_front(replace(visit, url=slashed))
            return
        yield self._skipped(visit, reason)

    def _broken(self, visit: Visit, error: DocstowError) -> Iterator[Event]:
        """Report a page that could not be fetched; its known links are still visited."""
        if visit.start:
            self.trouble = self.trouble or error
        known = self._known.get(visit.chain[0] if visit.chain else visit.url)
        known = known or self._known.get(visit.url)
        yield Failed(known.path if known else self._ref(visit), error.code, error.message)
        yield from self._offer(known.links if known else (), visit.depth + 1)

    def _skipped(self, visit: Visit, reason: str, error: DocstowError | None = None) -> Skipped:
        if visit.start:
            why = error or UpstreamError(f"{visit.url} gives no page: {reason}.")
            self.trouble = self.trouble or why
        return Skipped(self._ref(visit), reason)

    @staticmethod
    def _ref(visit: Visit) -> str:
        return canonical_url(visit.chain[0] if visit.chain else visit.url)

    def _offer(self, links: Iterable[str], depth: int) -> Iterator[Event]:
        offered = (self._frontier.offer(link, depth) for link in links)
        yield from (skipped for skipped in offered if skipped)

    def _on_site(self, links: Iterable[str]) -> Iterator[str]:
        """Yield the links to the source's own hosts."""
        for link in links:
            try:
                url = clean_url(link)
            except InvalidParameter:
                continue
            if on_site(url, self._scope.domains):
                yield url


def _closes_circle(edges: dict[str, str], start: str, target: str) -> bool:
    """Add an edge; return whether the edges lead back to its start."""
    edges[start] = target
    seen = {start}
    while target in edges and target not in seen:
        seen.add(target)
        target = edges[target]
    return target == start
