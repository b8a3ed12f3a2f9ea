"""What robots.txt allows (RFC 9309), host by host.

This room knows robots.txt and what its absence or failure means. It does not know pages.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from docstow.core.errors import DocstowError, Forbidden, UpstreamError
from docstow.core.urls import site_of

if TYPE_CHECKING:
    from protego import Protego

#: How docstow calls itself in its User-Agent, and is called in robots.txt.
AGENT = "docstow"
#: What is read of a robots.txt; RFC 9309 asks for at least this much.
_READ = 500 * 1024

#: Gives the text at an address; None where the host says that there is none.
Text = Callable[[str], bytes | None]


@dataclass(slots=True)
class Robots:
    """The robots.txt of each host that is met, asked for once.

    Attributes:
        text: fetches it, redirects and retries included.
    """

    text: Text
    _rules: dict[str, Protego | UpstreamError] = field(default_factory=dict)

    def allows(self, url: str) -> bool:
        """Whether a page may be fetched.

        Raises:
            UpstreamError: the host's robots.txt cannot be had, which forbids everything.
            Forbidden: the host is on a private address.
        """
        return self._of(url).can_fetch(url, AGENT)

    def delay_s(self, url: str) -> float:
        """Seconds between two requests that the host asks for; raises as :meth:`allows`."""
        return float(self._of(url).crawl_delay(AGENT) or 0.0)

    def sitemaps(self, url: str) -> list[str]:
        """The sitemaps that the host names; raises as :meth:`allows`."""
        return list(self._of(url).sitemaps)

    def _of(self, url: str) -> Protego:
        site = site_of(url)
        if site not in self._rules:
            self._rules[site] = self._asked(site)
        rules = self._rules[site]
        if isinstance(rules, UpstreamError):
            raise rules
        return rules

    def _asked(self, site: str) -> Protego | UpstreamError:
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
        # A byte order mark would hide the first line.
        return Protego.parse(body[:_READ].decode("utf-8", "replace").removeprefix("\ufeff"))
