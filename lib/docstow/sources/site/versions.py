"""Which part of a website is for a version of what it is about.

Read the Docs and most generators have the version in the path (``/en/0.27.x/``, ``/v2/``,
``/docs/8.x/``); mike (MkDocs) and the theme of PyData (Sphinx) list theirs in ``versions.json`` and
``switcher.json``: https://github.com/jimporter/mike,
https://pydata-sphinx-theme.readthedocs.io/en/stable/user_guide/version-dropdown.html.
"""

from __future__ import annotations

import json
import re
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any
from urllib.parse import urljoin, urlsplit

from docstow.core.errors import DocstowError
from docstow.core.patterns import lazy_pattern
from docstow.core.records import dataclass
from docstow.core.urls import clean_url, site_of

if TYPE_CHECKING:
    from docstow.net import Answer, Fetcher

#: A segment of a path that tells versions apart.
_LABEL = lazy_pattern(
    r"latest|stable|current|main|master|dev|devel|next|(?P<version>v?\d+(?:\.\d+)*(?:\.?x)?)",
    re.IGNORECASE,
)
_NUMBERS = lazy_pattern(
    r"v?(\d+(?:\.\d+)*)(?:\.?x)?(?:\s*\((?:stable|latest|current)\))?", re.IGNORECASE
)
_ENGLISH = lazy_pattern(r"en(?:[-_][a-z]{2})?", re.IGNORECASE)
_LISTINGS = ("versions.json", "switcher.json")
#: A version that no site has: where it has a page, any address has one.
_NO_VERSION = "0.0.0-none"
#: Requests for one site, the time between two and that for all of them, in seconds.
_MOST_REQUESTS = 14
_INTERVAL_S = 0.2
_BUDGET_S = 8.0
#: How long a site's versions are taken for known, and of how many sites.
_TTL_S, _RETRY_S = 24 * 3600.0, 600.0
_MOST_SITES = 500
_MOST_LISTING = 1_000_000
_MOST_REDIRECTS = 5
_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_EXPECTED = frozenset({200, *_REDIRECTS, *range(400, 500)}) - {429}


@dataclass(frozen=True, slots=True)
class VersionPlace:
    """Where an address has the version of a site.

    Attributes:
        root: what stands before it: ``https://docs.example/en/``.
        label: how the site names the version: ``0.27.x``, ``latest``.
        rest: what follows, with its slash.
    """

    root: str
    label: str
    rest: str

    def of(self, label: str) -> str:
        """Return the address for another version."""
        return f"{self.root}{label}{self.rest}"


@dataclass(frozen=True, slots=True)
class VersionSite:
    """The part of a site for a version.

    Attributes:
        url: its address.
        aliases: further addresses of the site: as it was named, and what that redirects to.
    """

    url: str
    aliases: tuple[str, ...] = ()


def find_place(url: str) -> VersionPlace | None:
    """Return where an address has a version; None where it has none."""
    site = site_of(url)
    segments = urlsplit(url).path.split("/")
    for place, segment in enumerate(segments[1:], 1):
        if _LABEL.fullmatch(segment):
            rest = "/".join(["", *segments[place + 1 :]]) if len(segments) > place + 1 else ""
            return VersionPlace(f"{site}{'/'.join(segments[:place])}/", segment, rest)
    return None


def family(url: str) -> str:
    """Return what the addresses of a site's versions share: its host and path.

    ``https://www.example.org/docs/en/v2/`` is ``example.org/docs``.
    """
    parts = urlsplit(url)
    host = parts.netloc.lower().removeprefix("www.")
    kept = [
        each
        for each in parts.path.split("/")
        if each and not _LABEL.fullmatch(each) and not _ENGLISH.fullmatch(each)
    ]
    return "/".join([host, *kept])


def labels(version: str) -> list[str]:
    """Return how sites name a version or the series that it is of, the nearest first."""
    numbers = version.split("+")[0].split(".")
    if len(numbers) < 2 or not all(each.isdigit() for each in numbers[:2]):
        return [version, f"v{version}"]
    major, minor = numbers[0], ".".join(numbers[:2])
    named = [version, f"v{version}", f"{minor}.x", minor, f"v{minor}", f"v{minor}.x"]
    # Two digits without a dot are those of SQLAlchemy: /en/20/ is of 2.0.
    named += ["".join(numbers[:2]), f"{major}.x", f"v{major}", major, f"{major}x", f"v{major}.x"]
    return list(dict.fromkeys(named))


def is_of(label: str, version: str) -> bool:
    """Return whether a label names a version or the series that it is of."""
    return label.lower() in labels(version)


class SiteVersions:
    """Finds the parts of sites for versions, politely: few requests, robots.txt obeyed.

    Args:
        open_fetcher: opens the HTTP client, which answers for hosts that users name.
        monotonic: seconds on a clock that never goes back.
    """

    def __init__(
        self, open_fetcher: Callable[[], Fetcher], monotonic: Callable[[], float] = time.monotonic
    ) -> None:
        self._open_fetcher = open_fetcher
        self._monotonic = monotonic
        self._known: OrderedDict[tuple[str, str], tuple[float, VersionSite]] = OrderedDict()
        self._lock = threading.Lock()

    def nearest(self, url: str, version: str) -> VersionSite:
        """Return the part of a site for a version, or for the nearest one that is not newer.

        Where the site does not tell its versions apart, or cannot be asked, that is the site.

        Args:
            url: of the site.
            version: of what it is about.
        """
        key = url, version
        with self._lock:
            until, found = self._known.get(key, (0.0, VersionSite(url)))
        if self._monotonic() < until:
            return found
        asking = _Asking(self._open_fetcher(), self._monotonic)
        found = _find(asking, url, version)
        with self._lock:
            ttl_s = _RETRY_S if asking.broken else _TTL_S
            self._known[key] = self._monotonic() + ttl_s, found
            if len(self._known) > _MOST_SITES:
                self._known.popitem(last=False)
        return found


def _find(asking: _Asking, url: str, version: str) -> VersionSite:
    """Ask for the site, for lists of its versions, and for the version by its usual names."""
    base = asking.end(url) or url
    aliases = tuple(dict.fromkeys((url, base)))
    place = find_place(base)
    if place is not None and is_of(place.label, version):
        return VersionSite(base, aliases)
    root = place.root if place is not None else f"{base.rstrip('/')}/"
    listings = [f"{root}{name}" for name in _LISTINGS]
    if place is not None:
        listings.append(f"{root}{place.label}/_static/switcher.json")
    for listing in listings:
        body = asking.read(listing)
        listed = list(_listed(body, listing, root)) if body else []
        if listed:
            chosen = _choose(listed, version)
            return VersionSite(chosen or base, aliases)
    names = labels(version)
    if place is None:
        # Few sites without a version in their address have it below.
        major = version.split(".")[0]
        names = [f"v{major}", f"{major}.x"]
    for label in names:
        there = place.of(label) if place is not None else f"{root}{label}/"
        if asking.has(there, label):
            anything = asking.has(f"{root}{_NO_VERSION}/", "")
            return VersionSite(base if anything else there, aliases)
    return VersionSite(base, aliases)


def _listed(body: bytes, listing: str, root: str) -> Iterator[tuple[tuple[int, ...], str]]:
    """Yield the numbers of each version that a file lists, and its address on the same site."""
    try:
        entries: Any = json.loads(body)
    except ValueError:
        return
    for entry in entries if isinstance(entries, list) else ():
        named = entry if isinstance(entry, dict) else {"version": entry}
        texts = [named.get(key) for key in ("version", "name", "title")]
        found = (_NUMBERS.fullmatch(each.strip()) for each in texts if isinstance(each, str))
        match = next(filter(None, found), None)
        if match is None or not isinstance(label := named.get("version"), str):
            continue
        given = named.get("url")
        given = given if isinstance(given, str) else f"{root}{label}/"
        try:
            url = clean_url(urljoin(listing, given))
        except (DocstowError, ValueError):
            continue
        if site_of(url) == site_of(listing):
            yield tuple(map(int, match[1].split("."))), url


def _choose(listed: list[tuple[tuple[int, ...], str]], version: str) -> str:
    """Return the address of the newest version that is not newer; empty where there is none."""
    match = re.match(r"v?(\d+(?:\.\d+)*)", version)
    if match is None:
        return ""
    own = tuple(map(int, match[1].split(".")))
    fitting = [(numbers, url) for numbers, url in listed if numbers <= own[: len(numbers)]]
    return max(fitting, key=lambda each: each[0], default=((), ""))[1]


class _Asking:
    """The requests for one site: at most so many, for so long, and where robots.txt allows."""

    def __init__(self, fetcher: Fetcher, monotonic: Callable[[], float]) -> None:
        # Imported with the first request: addresses are compared where none is made.
        from docstow.net.decompress import Limits
        from docstow.sources.site.fetch import Robots

        self._limits = Limits(_MOST_LISTING, _MOST_LISTING)
        self._fetcher = fetcher
        self._monotonic = monotonic
        self._until = monotonic() + _BUDGET_S
        self._left = _MOST_REQUESTS
        self._robots = Robots(self._robots_text)
        self.broken = False

    def end(self, url: str) -> str:
        """Return the address at the end of redirects where a page is; else nothing."""
        answer = self._follow(url, body=False)
        return answer.url if answer is not None else ""

    def has(self, url: str, label: str) -> bool:
        """Return whether there is a page at an address, and it is still one of the label."""
        answer = self._follow(url, body=False)
        if answer is None:
            return False
        return not label or label in urlsplit(answer.url).path.split("/")

    def read(self, url: str) -> bytes:
        """Return the body of a file that is no page; empty where there is none."""
        answer = self._follow(url, body=True)
        return answer.body if answer is not None else b""

    def _follow(self, url: str, *, body: bool) -> Answer | None:
        """Return the answer 200 at the end of redirects; None where there is none.

        None too where robots.txt forbids it, and where no request is left.
        """
        from docstow.sources.site.fetch import downgrades

        try:
            for _ in range(1 + _MOST_REDIRECTS):
                if self._left <= 0 or self._monotonic() > self._until:
                    return None
                if not self._robots.allows(url) or self._robots.delay_s(url) > _BUDGET_S / 4:
                    return None
                self._left -= 1
                answer = self._get(url, body=body)
                if answer.status not in _REDIRECTS:
                    return answer if answer.status == 200 else None
                there = clean_url(urljoin(url, answer.headers.get("location", "")))
                if downgrades(url, there):
                    return None
                url = there
        except DocstowError:
            # A host that does not answer is not asked again now.
            self._left, self.broken = 0, True
        return None

    def _get(self, url: str, *, body: bool) -> Answer:
        delay_s = self._robots.delay_s(url)
        return self._fetcher.get(
            url,
            expected=_EXPECTED,
            limits=self._limits,
            interval_s=max(_INTERVAL_S, delay_s),
            wanted=lambda headers: body and "html" not in headers.get("content-type", "").lower(),
        )

    def _robots_text(self, url: str) -> bytes | None:
        self._left -= 1
        expected = _EXPECTED - _REDIRECTS
        answer = self._fetcher.get(url, expected=expected, limits=self._limits)
        return answer.body if answer.status == 200 else None
