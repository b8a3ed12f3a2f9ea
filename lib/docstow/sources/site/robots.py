"""robots.txt (RFC 9309), host by host."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from docstow.core.errors import DocstowError, Forbidden, UpstreamError
from docstow.core.urls import site_of

if TYPE_CHECKING:
    from protego import Protego

#: The name of docstow in its User-Agent and in robots.txt.
AGENT = "docstow"
#: Bytes that are read of a robots.txt; the minimum of RFC 9309.
_READ = 500 * 1024

#: Returns the text at a URL; None where there is none.
Text = Callable[[str], bytes | None]


@dataclass(slots=True)
class Robots:
    """The robots.txt of each host, fetched once.

    Attributes:
        text: fetches one, redirects and retries included.
    """

    text: Text
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
        return Protego.parse(body[:_READ].decode("utf-8", "replace").removeprefix("\ufeff"))
