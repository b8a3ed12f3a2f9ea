"""A documentation website whose pages are empty until their scripts have run.

This room knows how long a browser is needed: for one sync, whatever becomes of it. It does not
know how a site is crawled, nor how a page is rendered.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from docstow.model import Registration
from docstow.origins.browser import Browser
from docstow.origins.contract import Event, Known
from docstow.origins.site import SiteOrigin, scope

if TYPE_CHECKING:
    from docstow.net import Fetcher


class RenderedSite:
    """The pages of one registered site, rendered; see :class:`docstow.origins.site.SiteOrigin`.

    Args:
        registration: of a site, with ``render_js``.
        fetcher: asks, for the crawl and for the pages' scripts.
        chromium: path or name of the browser; empty: found on PATH.
    """

    def __init__(self, registration: Registration, fetcher: Fetcher, *, chromium: str = "") -> None:
        self._registration = registration
        self._fetcher = fetcher
        self._chromium = chromium

    def resolve(self) -> str:
        """A site has no version.

        Raises:
            ConfigurationError: Playwright or a browser is missing.
            InvalidParameter: an option or a header is wrong.
        """
        return self._site(self._browser()).resolve()

    def files(self, known: Mapping[str, Known]) -> Iterator[Event]:
        """Every page; the browser ends with the last one, or when no more are asked for.

        Raises:
            ConfigurationError, InvalidParameter: as :meth:`resolve`.
            DocstowError: the site cannot be had.
        """
        with self._browser() as browser:
            yield from self._site(browser).files(known)

    def _browser(self) -> Browser:
        """A browser that has not started yet, and does with its first page."""
        inside = scope(self._registration)
        return Browser(self._fetcher, chromium=self._chromium, may_open=inside.holds)

    def _site(self, browser: Browser) -> SiteOrigin:
        return SiteOrigin(self._registration, self._fetcher, render=browser.render)
