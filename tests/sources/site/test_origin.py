"""A site on loopback that behaves and misbehaves: what a crawl finds, leaves out and asks for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import closing
from datetime import UTC, datetime
from itertools import pairwise
from typing import Any

import pytest

from docstow.core.errors import DocstowError, Forbidden, InvalidParameter, UpstreamError
from docstow.core.model import Known, Registration, source_id
from docstow.core.urls import canonical_url
from docstow.net import Fetcher
from docstow.net.retry import RetryPolicy
from docstow.sources import Event, Failed, Found, Same, Skipped
from docstow.sources.site import options as site_options
from docstow.sources.site.fetch import Render, SitePages
from docstow.sources.site.origin import SiteOrigin
from paths import FIXTURES
from servers.clock import Clock
from servers.loopback import content, redirect, status
from servers.site import Site, deeper, endless

SITES = FIXTURES / "sites"
QUICK: Mapping[str, Any] = {"delay_s": 0, "llms": "off", "sitemap": False}


@pytest.fixture
def site() -> Iterator[Site]:
    with Site() as running:
        yield running


@pytest.fixture
def fetcher(clock: Clock) -> Iterator[Fetcher]:
    made = Fetcher(
        "https://project.example",
        policy=RetryPolicy(read_s=5, retries=2),
        sleep=clock.sleep,
        monotonic=clock.monotonic,
        now=clock.today,
        chance=lambda: 0.0,
    )
    yield made
    made.close()


def origin_of(
    url: str,
    fetcher: Fetcher,
    *,
    headers: Mapping[str, str] | None = None,
    render: Render | None = None,
    **options: Any,
) -> SiteOrigin:
    uri = canonical_url(url)
    registration = Registration(
        source_id("site", uri), "site", uri, "Docs", site_options({**QUICK, **options}),
        datetime(2026, 11, 22, tzinfo=UTC), headers or {},
    )  # fmt: skip
    return SiteOrigin(registration, fetcher, render=render)


def crawl(
    url: str, fetcher: Fetcher, known: Mapping[str, Known] | None = None, **options: Any
) -> list[Event]:
    return list(origin_of(url, fetcher, **options).files(known or {}))


def found(events: list[Event], root: str = "") -> list[str]:
    return [each.file.path.removeprefix(root) for each in events if isinstance(each, Found)]


def skipped(events: list[Event], root: str = "") -> dict[str, str]:
    return {
        each.ref.removeprefix(root): each.reason for each in events if isinstance(each, Skipped)
    }


def remembered(events: list[Event]) -> dict[str, Known]:
    return {
        each.file.path: Known(each.file.path, each.file.url, each.validator, each.links)
        for each in events
        if isinstance(each, Found)
    }


def test_pages_are_found_breadth_first_under_their_canonical_addresses(
    site: Site, fetcher: Fetcher
) -> None:
    site.page("/docs/", "Start", "", "b/?utm_source=nav", "/docs/a#top", "/blog", "mailto:x@y.z")
    site.page("/docs/a", "A", "", "deep", "b")
    site.page("/docs/b/", "B", "", "../../other")
    site.page("/docs/deep", "Deep")
    events = crawl(f"{site.url}/docs/", fetcher)
    assert found(events, site.url) == ["/docs", "/docs/b", "/docs/a", "/docs/deep"]
    assert skipped(events, site.url) == {"/blog": "out of scope", "/other": "out of scope"}
    assert not [path for path in site.paths() if "utm" in path]
    first = events[0]
    assert isinstance(first, Found)
    assert first.file.media_type == "text/html; charset=utf-8"
    agents = {visit.headers["user-agent"] for visit in site.visits}
    assert all(agent.startswith("docstow/") for agent in agents)


def test_depth_and_number_of_pages_are_bounded(site: Site, fetcher: Fetcher) -> None:
    site.page("/", "Start", "", "/1", "/2", "/3")
    for number in (1, 2, 3):
        site.page(f"/{number}", f"Page {number}", "", f"/{number}/below")
        site.page(f"/{number}/below", f"Below {number}")
    events = crawl(site.url, fetcher, max_depth=1)
    assert found(events, site.url) == ["/", "/1", "/2", "/3"]
    assert set(skipped(events).values()) == {"deeper than max_depth"}
    events = crawl(site.url, fetcher, max_pages=3)
    assert found(events, site.url) == ["/", "/1", "/2"]
    assert skipped(events, site.url) == {
        "/3": "more than max_pages",
        "/1/below": "more than max_pages",
        "/2/below": "more than max_pages",
    }


@pytest.mark.parametrize("at_once", [1, 5])
def test_traps_of_endless_links_end(site: Site, fetcher: Fetcher, at_once: int) -> None:
    site.page("/", "Start", "", "/calendar", "/deeper", "/guide")
    site.page("/guide", "Guide")
    site.at("/calendar", endless)
    site.always("/deeper", deeper)
    events = crawl(site.url, fetcher, max_depth=50, max_pages=200, concurrency=at_once)
    assert "/guide" in found(events, site.url)
    assert "endless address" in skipped(events).values()
    assert len(site.paths("/calendar")) == 21
    assert len(site.paths()) < 40


def test_pages_that_a_query_names_are_no_trap(site: Site, fetcher: Fetcher) -> None:
    names = [f"topic-{chr(97 + number // 26)}{chr(97 + number % 26)}" for number in range(40)]
    pages = [f"/wiki?id={name}" for name in names]
    site.page("/wiki", "Wiki", "", *pages, *(f"/wiki?do=diff&rev={each}" for each in range(40)))
    for page, name in zip(pages, names, strict=True):
        site.page(page, name)
    events = crawl(site.url, fetcher, start_urls=[f"{site.url}/wiki"])
    assert set(pages) <= set(found(events, site.url))
    assert list(skipped(events).values()).count("endless address") == 20


def test_a_page_that_leads_on_by_itself_is_followed_and_not_kept(
    site: Site, fetcher: Fetcher
) -> None:
    site.put("/", '<meta http-equiv="refresh" content="0; url=en/latest/"><p>Moving.')
    site.page("/en/latest/", "Guide")
    assert found(crawl(site.url, fetcher), site.url) == ["/en/latest"]


def test_events_have_one_order_whatever_runs_at_once(site: Site, fetcher: Fetcher) -> None:
    paths = [f"/p{number}" for number in range(12)]
    site.page("/", "Start", "", *paths)
    for path in paths:
        site.page(path, path, "", f"{path}/a", "/common")
        site.page(f"{path}/a", f"{path}/a")
    orders = [crawl(site.url, fetcher, concurrency=number, max_pages=20) for number in (1, 3, 5, 5)]
    assert found(orders[0]) == found(orders[1]) == found(orders[2])
    assert orders[2] == orders[3]


def test_robots_txt_is_obeyed(site: Site, fetcher: Fetcher, clock: Clock) -> None:
    rules = "User-agent: *\nDisallow: /\n\nUser-agent: Docstow\nDisallow: /private\nCrawl-delay: 7"
    site.put("/robots.txt", rules, "text/plain")
    site.page("/", "Start", "", "/private/a", "/open")
    site.page("/open", "Open")
    events = crawl(site.url, fetcher, delay_s=1, concurrency=5)
    assert found(events, site.url) == ["/", "/open"]
    assert skipped(events, site.url) == {"/private/a": "forbidden by robots.txt"}
    assert site.paths() == ["/robots.txt", "/", "/open"]
    assert clock.naps == [1.0, 7.0]


def test_the_delay_lies_between_the_starts_of_requests(
    site: Site, fetcher: Fetcher, clock: Clock
) -> None:
    site.page("/", "Start", "", *(f"/{number}" for number in range(5)))
    for number in range(5):
        site.page(f"/{number}", str(number))
    begun = clock.now
    crawl(site.url, fetcher, delay_s=2, concurrency=5)
    assert clock.now - begun >= 2 * 6


@pytest.mark.parametrize("code", [401, 403, 404, 410])
def test_a_host_without_robots_txt_allows_everything(
    site: Site, fetcher: Fetcher, code: int
) -> None:
    site.at("/robots.txt", status(code))
    site.page("/", "Start")
    assert found(crawl(site.url, fetcher), site.url) == ["/"]


@pytest.mark.parametrize("code", [500, 503, 429])
def test_a_host_that_fails_to_say_what_it_allows_allows_nothing(
    site: Site, fetcher: Fetcher, code: int
) -> None:
    site.at("/robots.txt", status(code))
    site.page("/", "Start")
    with pytest.raises(UpstreamError, match=r"robots\.txt cannot be had"):
        crawl(site.url, fetcher)
    assert set(site.paths()) == {"/robots.txt"}


def test_headers_that_cannot_be_sent_are_refused_without_their_values(fetcher: Fetcher) -> None:
    for headers in ({"X-Key": "secret\r\nX-Other: 1"}, {"X Key": "secret"}):
        with pytest.raises(InvalidParameter) as caught:
            origin_of("http://127.0.0.1:9/", fetcher, headers=headers)
        assert caught.value.details["field"] == "headers"
        assert "secret" not in caught.value.message


def test_who_asks_is_not_for_a_source_to_say(site: Site, fetcher: Fetcher) -> None:
    site.page("/", "Start")
    crawl(site.url, fetcher, headers={"user-agent": "Mozilla/5.0", "Host": "other"})
    assert all(visit.headers["user-agent"].startswith("docstow/") for visit in site.visits)
    assert {visit.headers["host"] for visit in site.visits} == {site.url.partition("//")[2]}


def test_a_private_address_is_refused_where_the_server_is_public(site: Site) -> None:
    site.page("/", "Start")
    fetcher = Fetcher("https://project.example", private=False)
    with closing(fetcher), pytest.raises(Forbidden, match="private_hosts"):
        crawl(site.url, fetcher)
    assert site.visits == []


def test_an_unreachable_host_is_an_error(fetcher: Fetcher) -> None:
    with Site() as gone:
        pass
    with pytest.raises(UpstreamError):
        crawl(gone.url, fetcher)


def test_what_asks_for_pages_does_not_show_its_secrets(fetcher: Fetcher) -> None:
    pages = SitePages(
        fetcher, ("docs.example",), {"X-Key": "hush"}, plain=False, max_bytes=1, delay_s=0
    )
    assert "hush" not in repr(pages)


def test_a_robots_txt_may_redirect_but_takes_no_secrets_along(site: Site, fetcher: Fetcher) -> None:
    site.page("/", "Start", "", "/private")
    with Site() as other:
        other.put("/rules", "User-agent: *\nDisallow: /private", "text/plain")
        site.at("/robots.txt", redirect(f"{other.url}/rules"))
        events = crawl(site.url, fetcher, headers={"Authorization": "Bearer secret"})
        assert [visit.headers.get("authorization") for visit in other.visits] == [None]
    assert {visit.headers.get("authorization") for visit in site.visits} == {"Bearer secret"}
    assert skipped(events, site.url) == {"/private": "forbidden by robots.txt"}


def test_pages_that_ask_not_to_be_kept_are_not(site: Site, fetcher: Fetcher) -> None:
    none = '<meta name="robots" content="noindex, nofollow">'
    site.page("/", "Start", "", "/tag", "/head", "/none")
    page = '<title>{0}</title><p>Text of {0}</p><a href="/{0}-below">on</a>'
    site.put("/tag", page.format("tag"), x_robots_tag="otherbot: nofollow, docstow: noindex")
    site.put("/head", page.format("head").replace("<p>", '<meta content=noindex name="robots"><p>'))
    site.put("/none", none + page.format("none"))
    site.page("/tag-below", "Tag below")
    site.page("/head-below", "Head below")
    site.page("/none-below", "None below")
    events = crawl(site.url, fetcher)
    assert found(events, site.url) == ["/", "/tag-below", "/head-below"]
    assert skipped(events, site.url) == dict.fromkeys(["/tag", "/head", "/none"], "noindex")


def test_what_is_no_page_is_left_out(site: Site, fetcher: Fetcher) -> None:
    large = b"<title>Large</title>" + b"x" * 10_000_001
    links = ["/logo.png", "/assets/app", "/data", "/large", "/gone", "/notes.md", "ftp://x/y"]
    links += ["/nothing", "/soft"]
    site.page("/", "Start", "", *links)
    site.at("/data", content(b"\x00" * 64))
    site.put("/large", large)
    site.put("/notes.md", "# Notes\n\nSee [more](more).\n", "text/markdown")
    site.page("/more", "More")
    site.put("/nothing", b" \n")
    site.page("/soft", "Page not found", "The page that you are looking for is not here.")
    events = crawl(site.url, fetcher)
    assert found(events, site.url) == ["/", "/notes.md", "/more"]
    assert skipped(events, site.url) == {
        "/logo.png": "not a page",
        "/assets/app": "not a page",
        "/data": "not a page",
        "/large": "too large",
        "/gone": "not found",
        "/nothing": "empty",
        "/soft": "not found",
    }
    assert not site.paths("/logo.png")


def test_globs_choose_pages_but_the_start_is_read_for_its_links(
    site: Site, fetcher: Fetcher
) -> None:
    site.page("/", "Start", "", "/guide/a", "/guide/old/b", "/blog/c")
    site.page("/guide/a", "A")
    events = crawl(site.url, fetcher, include=["/guide/*"], exclude=["*/old/*"])
    assert found(events, site.url) == ["/guide/a"]
    assert skipped(events, site.url) == {
        "/": "not included",
        "/guide/old/b": "excluded",
        "/blog/c": "not included",
    }


def test_one_page_under_several_addresses_is_one(site: Site, fetcher: Fetcher) -> None:
    site.page("/", "Start", "", "/a?print=1", "/a", "/copy", "/moved", "/b", "/lost")
    canonical = f'<link rel="canonical" href="{site.url}/a">'
    site.page("/a", "A", "Text of A", head=canonical)
    site.page("/a?print=1", "A", "Text of A, for paper", head=canonical)
    site.page("/b", "B", "Text of B")
    site.page("/copy", "B", "Text of B")
    site.at("/moved", redirect("/a"))
    # Many a site says on every page that it is the start page.
    site.page("/lost", "Lost", head=f'<link rel="canonical" href="{site.url}/">')
    events = crawl(site.url, fetcher)
    # The page at its own address comes after, and instead of, the one that only names it.
    assert found(events, site.url) == ["/", "/a", "/a", "/copy", "/lost"]
    urls = [each.file.url.removeprefix(site.url) for each in events if isinstance(each, Found)]
    assert urls == ["/", "/a?print=1", "/a", "/copy", "/lost"]
    assert skipped(events, site.url) == dict.fromkeys(["/moved", "/b"], "same as another page")


@pytest.mark.parametrize("number", [2, 3])
@pytest.mark.parametrize("changed", [-1, 0, 1])
def test_pages_that_name_each_other_keep_their_own_addresses(
    site: Site, fetcher: Fetcher, number: int, changed: int
) -> None:
    paths = [f"/{each}" for each in range(number)]
    site.page("/", "Start", "", *paths)

    def write(round_: int, *which: int) -> None:
        for each in which:
            named = f'<link rel="canonical" href="{site.url}/{(each + 1) % number}">'
            site.page(paths[each], f"Page {each}", f"Text {each} of {round_}", head=named)

    def texts(events: list[Event]) -> dict[str, str]:
        last = {each.file.path: each.file for each in events if isinstance(each, Found)}
        return {path: file.url for path, file in last.items() if path != canonical_url(site.url)}

    write(1, *range(number))
    first = crawl(site.url, fetcher)
    own = {f"{site.url}{path}": f"{site.url}{path}" for path in paths}
    assert texts(first) == own
    assert skipped(first) == {}
    if changed >= 0:
        write(2, changed)
    second = crawl(site.url, fetcher, remembered(first))
    same = {each.path for each in second if isinstance(each, Same)}
    assert same - {canonical_url(site.url)} | texts(second).keys() == own.keys()
    assert all(path == url for path, url in texts(second).items() if path not in same)
    assert skipped(second) == {}


def test_an_unchanged_site_is_asked_and_not_sent_again(site: Site, fetcher: Fetcher) -> None:
    site.page("/docs/", "Start", "", "/docs/a", "/docs/copy")
    site.page("/docs/a", "A", "Text", "/docs/b")
    site.page("/docs/copy", "A", "Text", "/docs/b")
    site.page("/docs/b", "B")
    first = crawl(f"{site.url}/docs/", fetcher)
    site.forget()
    again = crawl(f"{site.url}/docs/", fetcher, remembered(first))
    assert found(again) == []
    same = [each.path for each in again if isinstance(each, Same)]
    assert same == found(first)
    assert skipped(again) == skipped(first)
    asked = {visit.path: visit.headers.get("if-none-match") for visit in site.visits}
    assert asked["/docs/a"]
    assert asked["/docs/b"]


def test_what_changed_is_found_again_and_what_is_gone_does_not_occur(
    site: Site, fetcher: Fetcher
) -> None:
    site.page("/", "Start", "", "/a", "/b", "/c")
    for path in ("/a", "/b", "/c"):
        site.page(path, path)
    known = remembered(crawl(site.url, fetcher))
    site.page("/b", "/b", "now says something else")
    site.at("/c", status(404))
    again = crawl(site.url, fetcher, known)
    assert again == [
        Same(f"{site.url}/"),
        Same(f"{site.url}/a"),
        *[each for each in again if isinstance(each, Found)],
        Skipped(f"{site.url}/c", "not found"),
    ]
    assert found(again, site.url) == ["/b"]


def test_pages_below_one_that_fails_stay_within_reach(site: Site, fetcher: Fetcher) -> None:
    site.page("/", "Start", "", "/a")
    site.page("/a", "A", "", "/a/below")
    site.page("/a/below", "Below")
    known = remembered(crawl(site.url, fetcher))
    site.at("/a", status(500))
    again = crawl(site.url, fetcher, known)
    assert [type(each) for each in again] == [Same, Failed, Same]
    assert again[2] == Same(f"{site.url}/a/below")


def test_redirects_stay_in_the_source(site: Site, fetcher: Fetcher) -> None:
    with Site() as other:
        other.page("/", "Elsewhere")
        site.page("/docs/", "Start", "", "/docs/old", "/docs/away", "/docs/out", "/docs/hidden")
        site.at("/docs/old", redirect("/docs/new", 301))
        site.page("/docs/new", "New", "", "below")
        site.page("/docs/below", "Below")
        site.at("/docs/away", redirect(f"{other.url}/"))
        site.at("/docs/out", redirect("/blog"))
        site.at("/docs/hidden", redirect("/docs/secret"))
        site.put("/robots.txt", "User-agent: *\nDisallow: /docs/secret", "text/plain")
        events = crawl(f"{site.url}/docs/", fetcher, headers={"X-Key": "hush"})
        assert other.visits == []
    assert found(events, site.url) == ["/docs", "/docs/new", "/docs/below"]
    assert skipped(events, site.url) == {
        "/docs/away": "redirect out of scope",
        "/docs/out": "redirect out of scope",
        "/docs/hidden": "forbidden by robots.txt",
    }
    assert {visit.headers.get("x-key") for visit in site.visits} == {"hush"}
    assert "hush" not in repr(events)


def test_a_page_that_fails_is_an_event_and_the_rest_goes_on(
    site: Site, fetcher: Fetcher, clock: Clock
) -> None:
    site.page("/", "Start", "", "/circle", "/slow", "/broken", "/closed", "/unasked", "/fine")
    site.at("/circle", redirect("/circle-2"))
    site.at("/circle-2", redirect("/circle"))
    site.at("/slow", lambda handler: _silent(handler, clock))
    site.at("/broken", status(500))
    site.at("/closed", status(403))
    site.at("/unasked", status(304))
    site.page("/fine", "Fine")
    events = crawl(site.url, fetcher, concurrency=1)
    assert found(events, site.url) == ["/", "/fine"]
    failed = [
        (each.ref.removeprefix(site.url), each.kind) for each in events if isinstance(each, Failed)
    ]
    assert sorted(failed) == [
        ("/broken", "upstream_error"),
        ("/circle", "upstream_error"),
        ("/closed", "upstream_error"),
        ("/slow", "upstream_timeout"),
        ("/unasked", "upstream_error"),
    ]
    assert len(site.paths("/broken")) == 3


def _silent(handler: Any, clock: Clock) -> None:
    """Let the time for one answer pass between the halves of a page."""
    handler.close_connection = True
    handler.begin(200, 1000, {"Content-Type": "text/html"})
    clock.now += 1000
    handler.wfile.write(b"<p>half")


def test_a_circle_is_told_though_all_of_it_is_linked(site: Site, fetcher: Fetcher) -> None:
    site.page("/", "Start", "", "/one", "/two", "/three", "/new", "/old")
    site.at("/one", redirect("/two"))
    site.at("/two", redirect("/three"))
    site.at("/three", redirect("/one"))
    site.at("/old", redirect("/new"))
    site.page("/new", "New")
    events = crawl(site.url, fetcher)
    assert found(events, site.url) == ["/", "/new"]
    assert [each.ref for each in events if isinstance(each, Failed)] == [f"{site.url}/three"]
    assert "/old" in skipped(events, site.url)


def test_busy_servers_are_waited_for(site: Site, fetcher: Fetcher, clock: Clock) -> None:
    site.page("/", "Start", "", "/busy", "/ill", "/never")
    site.page("/busy", "Busy")
    site.page("/ill", "Ill")
    site.plan("/busy", status(429, retry_after="11"))
    site.plan("/ill", status(500), status(503))
    site.at("/never", status(429, retry_after="3600"))
    events = crawl(site.url, fetcher, concurrency=1)
    assert found(events, site.url) == ["/", "/busy", "/ill"]
    assert clock.naps == [11.0, 0.5, 1.0]
    assert all(early < late for early, late in pairwise(clock.naps[1:]))
    assert [each.kind for each in events if isinstance(each, Failed)] == ["upstream_error"]


@pytest.mark.parametrize("code", [404, 500])
def test_a_site_that_gives_nothing_at_all_is_an_error(
    site: Site, fetcher: Fetcher, code: int
) -> None:
    site.at("/docs", status(code))
    with pytest.raises(DocstowError):
        crawl(f"{site.url}/docs", fetcher)


def test_a_start_that_leads_away_says_what_to_set(site: Site, fetcher: Fetcher) -> None:
    site.at("/", redirect("https://elsewhere.example/"))
    with pytest.raises(Forbidden, match="allowed_domains"):
        crawl(site.url, fetcher)


def test_a_directory_that_insists_on_its_slash_is_found(site: Site, fetcher: Fetcher) -> None:
    site.at("/docs", status(404))
    site.page("/docs/", "Start", "", "a")
    site.page("/docs/a", "A")
    assert found(crawl(f"{site.url}/docs/", fetcher), site.url) == ["/docs", "/docs/a"]


def test_scripts_are_run_where_that_is_asked_for(site: Site, fetcher: Fetcher) -> None:
    asked: list[tuple[str, Mapping[str, str]]] = []

    def render(url: str, headers: Mapping[str, str]) -> bytes:
        asked.append((url, headers))
        return b'<title>App</title><main><p>Made by a script</p><a href="/next">on</a></main>'

    site.put("/", "<title>App</title><div id=app></div>")
    site.put("/next", "<title>Next</title><div id=app></div>")
    origin = origin_of(
        site.url, fetcher, headers={"X-Key": "k"}, render=render, render_js=True, max_depth=1
    )
    events = list(origin.files({}))
    assert asked == [(f"{site.url}/", {"X-Key": "k"}), (f"{site.url}/next", {"X-Key": "k"})]
    assert isinstance(events[0], Found)
    assert b"Made by a script" in events[0].file.body
    with pytest.raises(DocstowError, match="render_js needs a browser"):
        origin_of(site.url, fetcher, render_js=True).resolve()


@pytest.mark.parametrize("name", ["mkdocs", "docusaurus", "gitbook", "furo", "mdbook"])
def test_sites_of_the_usual_generators_are_found_whole(name: str, fetcher: Fetcher) -> None:
    with Site(SITES) as site:
        events = crawl(f"{site.url}/{name}/", fetcher, sitemap=True, llms="auto")
        root = f"{site.url}/{name}"
        paths = {path or "/" for path in found(events, root)}
    pages = {
        "/" + str(page.relative_to(SITES / name)).removesuffix("index.html").rstrip("/")
        for page in (SITES / name).rglob("*.html")
        if page.name != "404.html"
    }
    assert paths == pages
    assert not [each for each in events if isinstance(each, Failed)]
