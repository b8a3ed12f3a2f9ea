"""One crawl of a site: what is visited next, what is a page of its own, what is the same again.

This room knows the order of visits, redirects between pages and pages that occur under several
addresses. It does not know HTTP, nor where the first addresses come from.
"""

from __future__ import annotations

import re
from collections import Counter, deque
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from urllib.parse import urlsplit

from docstow.core.errors import DocstowError, Forbidden, InvalidParameter, UpstreamError
from docstow.core.model import Known
from docstow.core.urls import Scope, canonical_url, clean_url, exclusion_reason, on_site
from docstow.sources.protocol import MORE_PAGES, Event, Failed, Found, Same, Skipped
from docstow.sources.site.fetch import (
    Broken,
    Moved,
    Outcome,
    Refused,
    SitePages,
    Taken,
    Unchanged,
    canonical_of,
    digest_of,
    downgrades,
)
from docstow.sources.site.robots import Robots

# The addresses that a crawl still has to visit, each page once, the nearest first.


#: How many queries of one path are asked for: calendars and filters have no end.
_MOST_QUERIES = 20


#: Wikis have all pages under one path; their names are words, those of calendars are numbers.
_NAMES_A_PAGE = re.compile(
    r"(?:id|title|page|name|topic|article|doc|path|p)=[a-z%][^&=]*", re.IGNORECASE
)


#: How many addresses are remembered, so that a hostile site cannot fill the memory.
_MOST_ADDRESSES = 200_000


@dataclass(frozen=True, slots=True)
class Visit:
    """An address that is to be asked for.

    Attributes:
        url: as it is asked for.
        depth: links between it and where the crawl began.
        start: whether the crawl begins here.
        chain: the addresses that redirected to it.
    """

    url: str
    depth: int = 0
    start: bool = False
    chain: tuple[str, ...] = ()


class Frontier:
    """First in, first out: breadth first, as long as seeds are offered before links.

    Args:
        scope: the site.
        max_depth: how many links a page may lie away from where the crawl began.
    """

    def __init__(self, scope: Scope, max_depth: int) -> None:
        self._scope = scope
        self._max_depth = max_depth
        self._queue: deque[Visit] = deque()
        self._seen: set[str] = set()
        self._queries: Counter[str] = Counter()

    def __len__(self) -> int:
        return len(self._queue)

    def start(self, url: str) -> None:
        """Take an address that the source names itself, whatever its globs say."""
        if self.first(url):
            self._queue.append(Visit(url, start=True))

    def offer(self, url: str, depth: int = 0) -> Skipped | None:
        """Take an address that was found; says why if it is left out, once for each."""
        try:
            url = clean_url(url)
        except InvalidParameter:
            return None
        if len(self._seen) >= _MOST_ADDRESSES or not self.first(url):
            return None
        reason = exclusion_reason(url, self._scope)
        parts = urlsplit(url)
        if not reason and depth > self._max_depth:
            reason = "deeper than max_depth"
        # What the site itself lists is no trap, nor what has a page's name.
        if not reason and parts.query and depth and not _NAMES_A_PAGE.fullmatch(parts.query):
            self._queries[parts.netloc + parts.path] += 1
            if self._queries[parts.netloc + parts.path] > _MOST_QUERIES:
                reason = "endless address"
        if reason:
            return Skipped(canonical_url(url), reason)
        self._queue.append(Visit(url, depth))
        return None

    def first(self, url: str) -> bool:
        """Whether a clean address is met for the first time; it is not the next time."""
        canonical = canonical_url(url)
        if canonical in self._seen:
            return False
        self._seen.add(canonical)
        return True

    def next_is(self, visit: Visit) -> None:
        """Put a visit before all others: where a redirect leads."""
        self._queue.appendleft(visit)

    def pop(self) -> Visit:
        """The next visit."""
        return self._queue.popleft()

    def rest(self) -> Iterator[Skipped]:
        """What there is no room for any more."""
        while self._queue:
            yield Skipped(canonical_url(self._queue.popleft().url), MORE_PAGES)


_MOST_REDIRECTS = 5


ANOTHER = "same as another page"


FORBIDDEN = "forbidden by robots.txt"


_Window = deque[tuple[Visit, "Future[Outcome]"]]


class Crawl:
    """Visits pages side by side and judges them in order, so that its events have one order.

    Args:
        pages: asks for one page.
        robots: what may be asked for.
        scope: the site.
        frontier: what to visit, seeds included.
        known: what the last sync learned, by path.
        starts: the clean addresses that it begins with.
        most: how many pages are kept.
        at_once: how many are asked for at the same time.
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
        # Pages that are not kept cost requests too; a site made of them alone must end as well.
        self._requests_left = 3 * most + 100
        self._paths: set[str] = set()
        self._digests: set[str] = set()
        #: Pages that have only been met under another address than their own.
        self._borrowed: set[str] = set()
        #: Which page names which other one as the canonical one; how it was met, what it said.
        self._names: dict[str, str] = {}
        self._aliases: dict[str, tuple[Visit, str]] = {}
        #: Which address redirected to which.
        self._moves: dict[str, str] = {}
        #: Why a start address gave no page; the first such reason.
        self.trouble: DocstowError | None = None

    @property
    def kept(self) -> int:
        """How many pages there are so far."""
        return len(self._paths)

    def keep(self, found: Found) -> Event | None:
        """Take a page that came by another way than a visit; None if there is no room for it."""
        if self.kept >= self._most or not self._frontier.first(clean_url(found.file.url)):
            return None
        self._paths.add(found.file.path)
        return found

    def run(self) -> Iterator[Event]:
        """Visit everything that the frontier has and gets."""
        window: _Window = deque()
        pool = ThreadPoolExecutor(self._at_once, thread_name_prefix="crawl")
        try:
            while True:
                yield from self._fill(window, pool)
                if not window:
                    break
                visit, outcome = window.popleft()
                yield from self._judge(visit, outcome.result())
        finally:
            pool.shutdown(cancel_futures=True)
        yield from self._frontier.rest()

    def _fill(self, window: _Window, pool: ThreadPoolExecutor) -> Iterator[Event]:
        """Begin visits, as many as may run at once and could still be kept."""
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
            window.append((visit, pool.submit(self._pages.ask, visit.url, delay_s, known)))

    def _judge(self, visit: Visit, outcome: Outcome) -> Iterator[Event]:
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
        """Follow a redirect to where a link could lead as well."""
        try:
            there = clean_url(url)
        except InvalidParameter:
            there = ""
        out = not there or downgrades(visit.url, there) or self._left_out(there, visit)
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
            or _circles(self._moves, visit.url, there)
        ):
            host = urlsplit(visit.url).netloc
            circle = UpstreamError(f"{host} redirects in a circle, or too often.", host=host)
            yield from self._broken(visit, circle)
        elif canonical_url(there) in map(canonical_url, chain) or self._frontier.first(there):
            self._frontier.next_is(replace(visit, url=there, chain=chain))
        else:
            yield self._skipped(visit, ANOTHER)

    def _left_out(self, url: str, visit: Visit) -> str:
        """As for any link, but where a crawl begins its globs do not matter."""
        scope = replace(self._scope, include=(), exclude=()) if visit.start else self._scope
        return exclusion_reason(url, scope)

    def _unchanged(self, visit: Visit) -> Iterator[Event]:
        known = self._known[visit.url]
        self._believed(canonical_url(visit.url), canonical_of(known.validator))
        yield from self._once(visit, known.path, digest_of(known.validator), Same(known.path))
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
            links = tuple(dict.fromkeys(self._own(taken.links)))
            found = Found(replace(taken.file, path=path), taken.validator, links)
            yield from self._once(visit, path, taken.digest, found)
        yield from self._offer(taken.links, visit.depth + 1)

    def _once(self, visit: Visit, path: str, digest: str, event: Event) -> Iterator[Event]:
        """The event of a page, unless there is that page already, or one that says the same.

        A page that was met under another address first gives way to the one at its own.
        """
        own = canonical_url(visit.url) == path
        if own and path in self._borrowed:
            self._borrowed.remove(path)
        elif path in self._paths or (digest and digest in self._digests):
            yield self._skipped(visit, ANOTHER)
            return
        elif not own:
            self._borrowed.add(path)
        self._paths.add(path)
        self._digests.add(digest)
        yield event

    def _path(self, visit: Visit, taken: Taken) -> str:
        """What identifies a page: the address that it names as its own, if that can be believed.

        It can where it lies in the source. Many a site names its start page on every page by
        mistake; such a one is believed only of the start page itself. Where pages name each
        other, none is believed.
        """
        own = canonical_url(visit.url)
        try:
            named = clean_url(taken.canonical) if taken.canonical else own
            allowed = not exclusion_reason(named, self._scope) and self._robots.allows(named)
        except DocstowError:
            return own
        path = canonical_url(named)
        general = path in self._starts or urlsplit(path).path == "/"
        believed = not general or urlsplit(path).path == urlsplit(own).path
        return path if allowed and believed and self._believed(own, path) else own

    def _believed(self, own: str, named: str) -> bool:
        """Whether the page that is named does not lead back to the one that names it.

        Those of the circle that were taken for others before it closed are visited once more.
        """
        if not named or named == own or not _circles(self._names, own, named):
            return True
        while named != own:
            if named in self._aliases:
                alias, digest = self._aliases.pop(named)
                self._digests.discard(digest)
                self._frontier.next_is(alias)
            named = self._names[named]
        return False

    def _refused(self, visit: Visit, reason: str) -> Iterator[Event]:
        if reason == "not found" and visit.start and not visit.url.endswith("/"):
            # The canonical address of a directory has no slash; some servers insist on it.
            parts = urlsplit(visit.url)
            slashed = parts._replace(path=f"{parts.path}/").geturl()
            self._frontier.next_is(replace(visit, url=slashed))
            return
        yield self._skipped(visit, reason)

    def _broken(self, visit: Visit, error: DocstowError) -> Iterator[Event]:
        """A page that could not be had: what is known below it stays within reach."""
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

    def _own(self, links: Iterable[str]) -> Iterator[str]:
        """The links to the source's own hosts, the only ones that a crawl can go on with."""
        for link in links:
            try:
                url = clean_url(link)
            except InvalidParameter:
                continue
            if on_site(url, self._scope.domains):
                yield url


def _circles(ways: dict[str, str], here: str, there: str) -> bool:
    """Whether ways that were met before lead back; remembers this one."""
    ways[here] = there
    met = {here}
    while there in ways and there not in met:
        met.add(there)
        there = ways[there]
    return there == here
