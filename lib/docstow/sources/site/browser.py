"""The HTML of a page after its scripts have run, by the system's Chromium through Playwright.

The browser has no network: the HTTP client answers the requests of pages or refuses them, so that a
script reaches nothing that a crawl could not.
"""

from __future__ import annotations

import os
import queue
import shutil
import tempfile
import threading
import time
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from concurrent.futures import TimeoutError as Late
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Self
from urllib.parse import urlsplit

from docstow.core.errors import (
    ConfigurationError,
    DocstowError,
    Forbidden,
    UpstreamError,
    UpstreamTimeout,
)
from docstow.net.client import REDIRECTS, follow_redirects, host_name, origin_of
from docstow.net.decompress import Limits

if TYPE_CHECKING:
    from playwright.sync_api import BrowserContext, Page, Route

    from docstow.net import Answer, Fetcher

#: Names of supported browsers on PATH.
_NAMES = (
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
    "microsoft-edge",
    "msedge",
    "chrome",
)
_FLAGS = (
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    # Connections that are not routed to the client (sockets, prefetching) get no network.
    "--host-resolver-rules=MAP * ~NOTFOUND",
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
)
#: A proxy on the discard port, so that numeric addresses are unreachable too.
_NOWHERE = "http://127.0.0.1:9"
_WANTED = {"document", "script", "stylesheet", "xhr", "fetch"}
_MOST_REQUESTS = 300
_LIMITS = Limits(compressed=10 * 1024 * 1024, decompressed=20 * 1024 * 1024)
_STATUSES = (200, *REDIRECTS, *range(400, 600))
_HTML = "() => document.documentElement ? document.documentElement.outerHTML : ' '"
_PASSED_ON = ("content-type", "access-control-allow-origin", "access-control-allow-credentials")


def find_browser(chosen: str = "") -> str:
    """Return the path of a Chromium.

    Args:
        chosen: its path or name; empty for one of the usual names on PATH.

    Raises:
        ConfigurationError: there is none.
    """
    for name in (chosen,) if chosen else _NAMES:
        if found := shutil.which(name):
            return found
    missing = f"{chosen} is no program" if chosen else "There is no Chromium on PATH"
    raise ConfigurationError(
        f"{missing}, and render_js needs one: install your system's chromium package, or set"
        " DOCSTOW_CHROMIUM to the path of Chromium, Chrome or Edge."
    )


@dataclass(frozen=True, slots=True)
class Timeouts:
    """How long a page may take, in seconds: to load, and then to become idle."""

    load_s: float = 30.0
    settle_s: float = 5.0


_DEFAULT_TIMEOUTS = Timeouts()
_Task = tuple[str, Mapping[str, str], "Future[bytes]"]


class Browser:
    """A browser for one sync; a context manager. It starts with the first page.

    It runs in a thread of its own, as Playwright's objects must stay in one. Any thread may call
    :meth:`render`; pages are rendered one at a time.

    Args:
        fetcher: answers the requests of pages.
        chromium: path or name of the browser; empty to find it on PATH.
        may_open: whether a frame or a redirect by script may open a URL.
        timeouts: of a page.
        sandboxed: whether Chromium's sandbox is used; by default except as root, where it fails.

    Raises:
        ConfigurationError: Playwright or a browser is missing.
    """

    def __init__(
        self,
        fetcher: Fetcher,
        *,
        chromium: str = "",
        may_open: Callable[[str], bool] = lambda _url: False,
        timeouts: Timeouts = _DEFAULT_TIMEOUTS,
        sandboxed: bool | None = None,
    ) -> None:
        _require_playwright()
        self._chromium = find_browser(chromium)
        self._fetcher = fetcher
        self._may_open = may_open
        self._timeouts = timeouts
        self._sandboxed = not _root() if sandboxed is None else sandboxed
        self._tasks: queue.Queue[_Task | None] = queue.Queue()
        # A daemon, so that a page that hangs does not keep the process alive.
        self._thread = threading.Thread(target=self._work, name="browser", daemon=True)
        self._starting = threading.Lock()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """Stop the browser, if it runs."""
        if self._thread.ident is not None:
            self._tasks.put(None)
            self._thread.join(self._longest())

    def render(self, url: str, headers: Mapping[str, str]) -> bytes:
        """Return the HTML of a page after its scripts have run and its requests have ended.

        Args:
            url: the page's address.
            headers: sent with every request to the page's own host only.

        Raises:
            UpstreamTimeout: it does not load in time.
            UpstreamError: it cannot be loaded, or the browser has stopped.
            DocstowError: the client cannot fetch the page.
        """
        with self._starting:
            if self._thread.ident is None:
                self._thread.start()
        answer: Future[bytes] = Future()
        self._tasks.put((url, headers, answer))
        try:
            return answer.result(self._longest())
        except Late:
            raise _slow(url) from None

    def _longest(self) -> float:
        return 2 * (self._timeouts.load_s + self._timeouts.settle_s) + 30

    def _work(self) -> None:
        """Run the browser; the body of its thread."""
        from playwright.sync_api import Error, sync_playwright

        failure: Exception | None = None
        try:
            with (
                tempfile.TemporaryDirectory(prefix="docstow-") as folder,
                sync_playwright() as play,
            ):
                context = play.chromium.launch_persistent_context(
                    Path(folder),
                    executable_path=self._chromium,
                    headless=True,
                    chromium_sandbox=self._sandboxed,
                    args=list(_FLAGS),
                    proxy={"server": _NOWHERE, "bypass": "<-loopback>"},
                    service_workers="block",
                    accept_downloads=False,
                    bypass_csp=True,
                )
                try:
                    while (task := self._tasks.get()) is not None:
                        _settle(task, lambda url, headers: self._page(context, url, headers))
                finally:
                    context.close()
        except (Error, OSError) as error:
            failure = error
        self._refuse(failure)

    def _refuse(self, failure: Exception | None) -> None:
        """Fail all further tasks, if the browser has stopped by itself."""
        while failure is not None and (task := self._tasks.get()) is not None:
            reason = str(failure).splitlines()[0] if str(failure) else type(failure).__name__
            task[2].set_exception(
                UpstreamError(f"The browser cannot render {task[0]}: it has ended ({reason}).")
            )

    def _page(self, context: BrowserContext, url: str, headers: Mapping[str, str]) -> bytes:
        from playwright.sync_api import Error
        from playwright.sync_api import TimeoutError as Timeout

        visit = _Visit(self._fetcher, self._may_open, url, headers, self._timeouts)
        page = context.new_page()
        try:
            page.route("**/*", visit.answer)
            return self._loaded(page, url)
        except Timeout as error:
            raise _slow(url) from error
        except Error as error:
            if visit.failure is not None:
                raise visit.failure from error
            raise UpstreamError(
                f"{url} cannot be rendered ({error.message.splitlines()[0]})."
            ) from error
        finally:
            page.close()

    def _loaded(self, page: Page, url: str) -> bytes:
        from playwright.sync_api import TimeoutError as Timeout

        page.on("popup", lambda popup: popup.close())
        page.on("dialog", lambda dialog: dialog.dismiss())
        page.goto(url, wait_until="domcontentloaded", timeout=1000 * self._timeouts.load_s)
        settle = 1000 * self._timeouts.settle_s
        # Some pages are never idle; their HTML at the timeout counts.
        with suppress(Timeout):
            page.wait_for_load_state("networkidle", timeout=settle)
        # Unlike content(), this times out when a script never ends.
        return str(page.wait_for_function(_HTML, timeout=settle).json_value()).encode()


class _Visit:
    """Answers the requests of a page."""

    def __init__(
        self,
        fetcher: Fetcher,
        may_open: Callable[[str], bool],
        url: str,
        headers: Mapping[str, str],
        timeouts: Timeouts,
    ) -> None:
        self._fetcher = fetcher
        self._may_open = may_open
        self._url = url
        self._headers = headers
        self._home = origin_of(url)
        self._left = _MOST_REQUESTS
        self._until = time.monotonic() + timeouts.load_s
        #: Why the page itself could not be fetched.
        self.failure: DocstowError | None = None

    def answer(self, route: Route) -> None:
        """Answer a request of the page by the HTTP client, or abort it."""
        request = route.request
        self._left -= 1
        if not self._wanted(request.url, request.method, request.resource_type):
            route.abort()
            return
        try:
            answer = self._fetch(
                request.url, request.headers.get("accept", "*/*"), request.resource_type
            )
        except DocstowError as error:
            if request.url == self._url:
                self.failure = error
            route.abort()
            return
        if request.url == self._url and answer.status != 200:
            name = host_name(self._url)
            self.failure = UpstreamError(
                f"{name} answered {answer.status} for {self._url}.", host=name, status=answer.status
            )
            route.abort()
            return
        passed = {name: answer.headers[name] for name in _PASSED_ON if name in answer.headers}
        route.fulfill(status=answer.status, headers=passed, body=answer.body)

    def _wanted(self, url: str, method: str, kind: str) -> bool:
        if self._left < 0 or time.monotonic() > self._until or method != "GET":
            return False
        if kind not in _WANTED or urlsplit(url).scheme not in {"http", "https"}:
            return False
        return kind != "document" or url == self._url or self._may_open(url)

    def _fetch(self, url: str, accept: str, kind: str) -> Answer:
        def once(here: str, own: bool) -> Answer:  # noqa: FBT001 - the signature of a callback
            if here != url and not self._wanted(here, "GET", kind):
                raise Forbidden(f"{url} redirects to {here}, which is out of this source's scope.")
            secrets = self._headers if own and origin_of(url) == self._home else {}
            headers = {"Accept": accept, **secrets}
            return self._fetcher.get(here, expected=_STATUSES, headers=headers, limits=_LIMITS)

        return follow_redirects(url, once)


def _settle(task: _Task, render: Callable[[str, Mapping[str, str]], bytes]) -> None:
    """Run a task and set its result or exception."""
    url, headers, answer = task
    try:
        answer.set_result(render(url, headers))
    except Exception as error:  # noqa: BLE001 - raised again in the calling thread
        answer.set_exception(error)


def _require_playwright() -> None:
    try:
        import playwright.sync_api  # noqa: F401 - only to check that it exists
    except ImportError as error:
        raise ConfigurationError(
            "render_js needs Playwright: install docstow with its extra `js`, as in"
            " `pip install 'docstow[js]'`, and your system's chromium package."
        ) from error


def _slow(url: str) -> UpstreamTimeout:
    return UpstreamTimeout(f"{url} did not finish in the browser in time; try again later.")


def _root() -> bool:
    return hasattr(os, "geteuid") and os.geteuid() == 0
