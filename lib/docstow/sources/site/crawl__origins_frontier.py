"""The addresses that a crawl still has to visit, each page once, the nearest first.

This room knows addresses, depth and the traps that are told by an address. It asks nobody.
"""

from __future__ import annotations

import re
from collections import Counter, deque
from collections.abc import Iterator
from dataclasses import dataclass
from urllib.parse import urlsplit

from docstow.core.errors import InvalidParameter
from docstow.core.urls import Scope, canonical_url, clean_url, left_out
from docstow.sources.protocol import MORE_PAGES, Skipped

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
        reason = left_out(url, self._scope)
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
