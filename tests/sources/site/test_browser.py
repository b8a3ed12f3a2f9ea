"""Pages after their scripts have run, in a real Chromium, from loopback servers."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from docstow.core.errors import ConfigurationError, Forbidden, UpstreamError, UpstreamTimeout
from docstow.core.model import Registration
from docstow.net import Fetcher
from docstow.net.retry import RetryPolicy
from docstow.sources import Found
from docstow.sources.site import browser, options
from docstow.sources.site.browser import Browser, Timeouts
from docstow.sources.site.origin import SiteOrigin, scope
from require import unavailable
from servers.loopback import Handler, Loopback, redirect, status

PAGES = {
    "/": b"""<!doctype html><title>Garden</title><div id=app></div><script src=/app.js></script>
        <img src=/pixel.png><video src=/film.mp4></video>""",
    "/app.js": b"""fetch('/words.json').then(answer => answer.json()).then(words => {
        document.getElementById('app').innerHTML = '<h1>' + words.title + '</h1>'; })""",
    "/words.json": b'{"title": "Moss and fern"}',
    "/busy": b"<p>early</p><script>setTimeout(() => { for (;;) {} }, 0)</script>",
    "/restless": b"<p id=p>here</p><script>setInterval(() => fetch('/words.json'), 20)</script>",
    "/frame": b"<p>outer</p><iframe src=/inner></iframe><iframe src=/allowed></iframe>",
    "/allowed": b"<p>inner</p>",
}


@pytest.fixture(scope="module")
def chromium() -> str:
    try:
        return browser.find_browser()
    except ConfigurationError as error:
        unavailable(error.message)


@pytest.fixture
def site() -> Iterator[Loopback]:
    def answer(handler: Handler) -> None:
        body = PAGES.get(handler.place)
        kind = {"js": "text/javascript", "json": "application/json"}
        media_type = kind.get(handler.place.rpartition(".")[2], "text/html; charset=utf-8")
        if body is None:
            handler.reply(404)
        else:
            handler.reply(200, body, {"Content-Type": media_type})

    with Loopback(answer) as running:
        yield running


@pytest.fixture(scope="module")
def plain() -> Iterator[Fetcher]:
    made = Fetcher("https://project.example", policy=RetryPolicy(retries=0))
    yield made
    made.close()


@pytest.fixture(scope="module")
def opened(chromium: str, plain: Fetcher) -> Iterator[Browser]:
    with Browser(
        plain, chromium=chromium, may_open=lambda url: url.endswith("/allowed")
    ) as running:
        yield running


def test_a_page_that_is_empty_without_its_scripts(opened: Browser, site: Loopback) -> None:
    html = opened.render(f"{site.url}/", {"X-Key": "k3y"}).decode()
    assert "<h1>Moss and fern</h1>" in html
    assert site.paths() == ["/", "/app.js", "/words.json"]
    for request in site.requests:
        assert request.headers["user-agent"].startswith("docstow/")
        assert request.headers["x-key"] == "k3y"


def test_many_threads_share_one_browser(opened: Browser, site: Loopback) -> None:
    pages: list[bytes] = []
    threads = [
        threading.Thread(target=lambda: pages.append(opened.render(f"{site.url}/", {})))
        for _ in range(3)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [b"Moss and fern" in page for page in pages] == [True] * 3


def test_headers_stay_with_their_own_host_and_frames_in_scope(
    opened: Browser, site: Loopback
) -> None:
    with Loopback(
        lambda handler: handler.reply(200, b"1", {"Content-Type": "text/javascript"})
    ) as other:
        PAGES["/mixed"] = f"<p>x<script src={other.url}/far.js></script>".encode()
        opened.render(f"{site.url}/mixed", {"X-Key": "k3y"})
        assert other.paths() == ["/far.js"]
        assert "x-key" not in other.requests[0].headers
    assert site.requests[0].headers["x-key"] == "k3y"
    opened.render(f"{site.url}/frame", {})
    assert site.paths("/allowed") == ["/allowed"]
    assert site.paths("/inner") == []


def test_a_script_reaches_nothing_past_the_fetcher(opened: Browser, site: Loopback) -> None:
    """Sockets, posts, beacons, images and other ways out find no network."""
    with Loopback(lambda handler: handler.reply(200)) as other:
        socket = other.url.replace("http", "ws")
        PAGES["/out"] = f"""<p>x<img src={other.url}/i><link rel=prefetch href={other.url}/p>
            <link rel=preconnect href={other.url}><script>
            try {{ new WebSocket('{socket}/ws') }} catch (e) {{}}
            navigator.sendBeacon('{other.url}/beacon', 'x');
            fetch('{other.url}/post', {{method: 'POST', body: 'x'}}).catch(() => 0);
            new EventSource('{other.url}/events'); window.open('{other.url}/popup');
            new Image().src = '{other.url}/image';
            setTimeout(() => document.body.append('done'), 50);</script>""".encode()
        assert b"done" in opened.render(f"{site.url}/out", {})
        assert other.paths() == []


def test_a_script_cannot_ask_for_a_private_address(chromium: str, site: Loopback) -> None:
    """The fetcher's own rule holds in the browser: here the page itself is on such an address."""
    guarded = Fetcher("https://project.example", private=())
    with Browser(guarded, chromium=chromium) as opened, pytest.raises(Forbidden):
        opened.render(f"{site.url}/", {})
    guarded.close()
    assert site.paths() == []


def test_a_redirect_out_of_scope_is_not_followed(opened: Browser, site: Loopback) -> None:
    site.always("/away", redirect("/elsewhere"))
    with pytest.raises(Forbidden):
        opened.render(f"{site.url}/away", {})
    assert site.paths("/elsewhere") == []
    site.always("/away", redirect("/allowed"))
    assert b"inner" in opened.render(f"{site.url}/away", {})


def test_pages_that_never_end_are_given_up(chromium: str, plain: Fetcher, site: Loopback) -> None:
    brief = Timeouts(load_s=3, settle_s=0.5)
    with Browser(plain, chromium=chromium, timeouts=brief) as opened:
        assert b"here" in opened.render(f"{site.url}/restless", {})
        with pytest.raises(UpstreamTimeout):
            opened.render(f"{site.url}/busy", {})
        assert b"inner" in opened.render(f"{site.url}/allowed", {})


def test_a_page_that_cannot_be_had_is_told(opened: Browser, site: Loopback) -> None:
    site.always("/gone", status(404))
    with pytest.raises(UpstreamError, match="answered 404"):
        opened.render(f"{site.url}/gone", {})
    with pytest.raises(UpstreamError, match="cannot be reached"):
        opened.render("http://127.0.0.1:1/", {})


def test_a_browser_leaves_no_process_and_no_file(
    chromium: str, plain: Fetcher, site: Loopback, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with pytest.raises(ZeroDivisionError):
        _fail_in_the_middle(plain, chromium, f"{site.url}/", tmp_path)
    assert list(tmp_path.iterdir()) == []
    running = [path for path in Path("/proc").glob("[0-9]*/cmdline") if _names(path, tmp_path)]
    assert running == []


def test_a_site_is_crawled_through_what_its_scripts_show(
    chromium: str, plain: Fetcher, site: Loopback, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Links that only a script writes are followed; the browser ends with the sync."""
    script = b"<title>Docs</title><main id=m></main><script>m.innerHTML = '<h1>Start</h1>"
    monkeypatch.setitem(PAGES, "/docs/", script + b"<a href=/docs/next>next</a>'</script>")
    monkeypatch.setitem(PAGES, "/docs/next", script.replace(b"Start", b"Next") + b"'</script>")
    given = options({"render_js": True, "delay_s": 0, "sitemap": False, "llms": "off"})
    made = datetime(2026, 1, 1, tzinfo=UTC)
    registration = Registration("0" * 64, "site", f"{site.url}/docs/", "Docs", given, made)
    before = _browsers()
    with Browser(plain, chromium=chromium, may_open=scope(registration).holds) as rendering:
        origin = SiteOrigin(registration, plain, render=rendering.render)
        found = [event for event in origin.files({}) if isinstance(event, Found)]
    assert [event.file.path for event in found] == [f"{site.url}/docs", f"{site.url}/docs/next"]
    assert b"<h1>Next</h1>" in found[1].file.body
    assert _browsers() == before


def _browsers() -> int:
    return [thread.name for thread in threading.enumerate()].count("browser")


def _fail_in_the_middle(plain: Fetcher, chromium: str, url: str, folder: Path) -> None:
    with Browser(plain, chromium=chromium) as opened:
        opened.render(url, {})
        assert list(folder.iterdir())
        raise ZeroDivisionError


def _names(path: Path, folder: Path) -> bool:
    try:
        return str(folder).encode() in path.read_bytes()
    except OSError:
        return False


def test_a_browser_that_does_not_start_is_told(plain: Fetcher, tmp_path: Path) -> None:
    broken = tmp_path / "chromium"
    broken.write_text("#!/bin/sh\nexit 1\n")
    broken.chmod(0o755)
    with (
        Browser(plain, chromium=str(broken)) as opened,
        pytest.raises(UpstreamError, match="browser"),
    ):
        opened.render("https://docs.example/", {})


def test_a_missing_browser_is_told_with_what_to_install(plain: Fetcher, tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="DOCSTOW_CHROMIUM"):
        Browser(plain, chromium=str(tmp_path / "nothing"))


def test_missing_playwright_is_told(plain: Fetcher, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "playwright.sync_api", None)
    with pytest.raises(ConfigurationError, match="docstow\\[js\\]"):
        Browser(plain)
