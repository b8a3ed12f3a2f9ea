"""What a site says of itself: sitemaps in all their forms, llms.txt and llms-full.txt."""

from __future__ import annotations

import gzip
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

import pytest

from docstow.core.errors import TooLarge, UnreadableInput
from docstow.core.model import Known, Registration
from docstow.net import Fetcher
from docstow.sources import Event, Failed, Found, Preview, Same, Skipped
from docstow.sources.site import options as site_options
from docstow.sources.site import origin
from docstow.sources.site.origin import SiteOrigin
from growth import growth
from servers.loopback import content, status
from servers.site import Site, sitemap, sitemap_index

FULL = """# Install
Source: {0}/docs/install

Run `pip install it`.

```md
# Not a page
Source: {0}/docs/not-a-page
```

## On Windows

Source: it is built from source.

# Elsewhere
URL: https://elsewhere.example/a

Not ours.

# Use
URL: <{0}/docs/use?utm_source=llms>

Use it.
"""


@pytest.fixture
def site() -> Iterator[Site]:
    with Site() as running:
        running.page("/docs", "Start", "", "/docs/linked")
        for name in ("a", "b", "c", "linked"):
            running.page(f"/docs/{name}", name.upper())
        yield running


def crawl(
    site: Site, fetcher: Fetcher, known: Mapping[str, Known] | None = None, **options: Any
) -> list[Event]:
    registration = Registration(
        "0" * 64, "site", f"{site.url}/docs", "Docs", site_options({"delay_s": 0, **options}),
        datetime(2026, 11, 22, tzinfo=UTC),
    )  # fmt: skip
    return list(SiteOrigin(registration, fetcher).files(known or {}))


def found(site: Site, events: list[Event]) -> list[str]:
    return [e.file.path.removeprefix(site.url) for e in events if isinstance(e, Found)]


def test_pages_of_the_sitemap_come_before_links(site: Site, fetcher: Fetcher) -> None:
    pages = [f"{site.url}/docs/{name}" for name in ("b", "a")]
    site.put("/sitemap.xml", sitemap(*pages, f"{site.url}/blog"), "application/xml")
    events = crawl(site, fetcher)
    assert found(site, events) == ["/docs", "/docs/b", "/docs/a", "/docs/linked"]
    assert Skipped(f"{site.url}/blog", "out of scope") in events
    assert found(site, crawl(site, fetcher, sitemap=False)) == ["/docs", "/docs/linked"]


def test_the_sitemaps_that_robots_txt_names_lead_on_to_others(site: Site, fetcher: Fetcher) -> None:
    robots = f"User-agent: *\nDisallow: /docs/b\nSitemap: {site.url}/maps/index.xml\n"
    site.put("/robots.txt", robots, "text/plain")
    inner = [f"{site.url}/maps/1.xml.gz", f"{site.url}/maps/2.txt", f"{site.url}/maps/gone.xml"]
    site.put("/maps/index.xml", sitemap_index(*inner, f"{site.url}/maps/index.xml"))
    packed = gzip.compress(sitemap(f"{site.url}/docs/a", f"{site.url}/docs/b"))
    site.put("/maps/1.xml.gz", packed, "application/gzip")
    site.put("/maps/2.txt", f"{site.url}/docs/c\n{site.url}/docs/a\n", "text/plain")
    events = crawl(site, fetcher)
    assert found(site, events) == ["/docs", "/docs/a", "/docs/c", "/docs/linked"]
    assert Skipped(f"{site.url}/docs/b", "forbidden by robots.txt") in events
    assert not site.paths("sitemap.xml")


def test_a_sitemap_that_fails_once_makes_no_page_vanish(site: Site, fetcher: Fetcher) -> None:
    site.put("/sitemap.xml", sitemap(f"{site.url}/docs/a"))
    known = {
        e.file.path: Known(e.file.path, e.file.url, e.validator, e.links)
        for e in crawl(site, fetcher)
        if isinstance(e, Found)
    }
    assert f"{site.url}/docs/a" in known
    site.at("/sitemap.xml", status(400))
    assert Same(f"{site.url}/docs/a") not in crawl(site, fetcher, known)
    site.at("/sitemap.xml", content(b"<urlset><url>"))
    events = crawl(site, fetcher, known)
    assert Same(f"{site.url}/docs/a") in events
    assert [e.kind for e in events if isinstance(e, Failed)] == ["unreadable_input"]


def test_sitemaps_that_are_no_sitemaps_are_refused() -> None:
    bomb = (
        b'<?xml version="1.0"?><!DOCTYPE x [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;">]>'
        b"<urlset><url><loc>&b;</loc></url></urlset>"
    )
    for body in (bomb, bomb.decode().replace('1.0"', '1.0" encoding="utf-16"').encode("utf-16")):
        with pytest.raises(UnreadableInput, match="declares a document type"):
            origin.parse_sitemap(body, "sitemap.xml")
    # No codec has the first encoding; the second has several bytes a letter.
    encoded = [b'<?xml version="1.0" encoding="%s"?><urlset/>' % each for each in (b"x1", b"gbk")]
    for body in (b"", b"<rss></rss>", b"<urlset><url></urlset>", b"nothing", *encoded):
        with pytest.raises(UnreadableInput, match="is no sitemap"):
            origin.parse_sitemap(body, "sitemap.xml")
    huge = gzip.compress(b"<urlset>" + b" " * (50 << 20))
    with pytest.raises(TooLarge):
        origin.parse_sitemap(huge, "sitemap.xml.gz")


def test_a_sitemap_gives_pages_and_no_pictures_up_to_a_limit() -> None:
    body = (
        b'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9" xmlns:i="urn:images"><url>'
        b"<loc>\n https://x.example/a?b=1&amp;c=2 </loc><lastmod>2026-01-01</lastmod>"
        b"<i:image><i:loc>https://x.example/a.png</i:loc></i:image></url></urlset>"
    )
    assert origin.parse_sitemap(body, "").pages == ["https://x.example/a?b=1&c=2"]
    many = sitemap(*(f"https://x.example/{number}" for number in range(50_001)))
    assert len(origin.parse_sitemap(many, "").pages) == 50_000


def test_llms_txt_lists_pages(site: Site, fetcher: Fetcher) -> None:
    text = (
        "# It\n\n- [A](/docs/a): first\n- [B](docs/b 'title')\n- [Other](https://other.example/x)\n"
    )
    site.put("/llms.txt", text, "text/plain")
    events = crawl(site, fetcher)
    assert found(site, events) == ["/docs", "/docs/a", "/docs/b", "/docs/linked"]
    assert found(site, crawl(site, fetcher, llms="off")) == ["/docs", "/docs/linked"]


def test_llms_full_txt_gives_whole_pages_where_it_names_them(site: Site, fetcher: Fetcher) -> None:
    site.put("/llms-full.txt", FULL.format(site.url), "text/plain")
    site.put("/sitemap.xml", sitemap(f"{site.url}/docs/install", f"{site.url}/docs/a"))
    site.put("/robots.txt", "User-agent: *\nDisallow: /docs/use", "text/plain")
    events = crawl(site, fetcher)
    assert found(site, events) == ["/docs/install", "/docs", "/docs/a", "/docs/linked"]
    preview, install = events[:2]
    assert isinstance(preview, Preview)
    assert isinstance(install, Found)
    assert preview.files == (install.file,)
    assert install.file.media_type == "text/markdown; charset=utf-8"
    assert install.file.body.startswith(b"# Install\n\nRun `pip install it`.")
    assert b"built from source" in install.file.body
    assert not site.paths("/docs/install")


def test_a_page_in_the_place_of_llms_txt_is_none(site: Site, fetcher: Fetcher) -> None:
    site.page("/llms.txt", "Not found", "", "/docs/a")
    site.put("/llms-full.txt", "\n<html># A\nSource: https://x.example/</html>", "text/plain")
    assert found(site, crawl(site, fetcher)) == ["/docs", "/docs/linked"]


def test_a_text_that_does_not_name_its_pages_is_not_divided() -> None:
    assert origin.sections("# A\n\nText\n\n# B\n\nMore\n") == {}
    pages = origin.sections("# A\n\n**URL:** https://x.example/a\n\nText\n# B\nInner\n")
    assert pages == {"https://x.example/a": "# A\n\n\nText\n# B\nInner\n"}


@pytest.mark.parametrize("unit", ["[", "[a](x", "[a]( ", "[a](x y"])
def test_the_cost_of_links_that_never_close_grows_with_their_length(unit: str) -> None:
    def read(times: int) -> None:
        text = unit * (12_500 * times) + " [b](/c)"
        assert origin.links(text, "https://x.example/") == ["https://x.example/c"]
        assert origin.links("[a](" + "x" * (12_500 * times), "https://x.example/") == []

    assert growth(read) < 2


def test_texts_of_a_site_are_its_preview(site: Site, fetcher: Fetcher) -> None:
    site.put("/llms.txt", "# It\n\n- [A](/docs/a): first\n", "text/plain")
    site.put("/llms-full.txt", "# It\n\n" + "All of it.\n" * 200_000, "text/plain")
    [preview] = [each for each in crawl(site, fetcher) if isinstance(each, Preview)]
    assert [each.path for each in preview.files] == [
        f"{site.url}/llms.txt",
        f"{site.url}/llms-full.txt",
    ]
    listed, whole = (each.body for each in preview.files)
    assert listed.endswith(b": first\n")
    assert 990_000 < len(whole) <= 1_000_000
    assert whole.endswith(b"All of it.\n")
    known = {f"{site.url}/docs": Known(f"{site.url}/docs", f"{site.url}/docs")}
    assert not [each for each in crawl(site, fetcher, known) if isinstance(each, Preview)]
    assert not [each for each in crawl(site, fetcher, llms="off") if isinstance(each, Preview)]


def test_a_text_about_another_version_is_no_preview(site: Site, fetcher: Fetcher) -> None:
    site.put("/llms.txt", "# It\n\n- [A](/docs/a): first\n", "text/plain")
    start = f"{site.url}/docs/v1/"
    site.page("/docs/v1/", "It")
    events = crawl(site, fetcher, start_urls=[start])
    assert not [each for each in events if isinstance(each, Preview)]
    site.put("/docs/v1/llms.txt", "# It, 1\n", "text/plain")
    [preview] = [e for e in crawl(site, fetcher, start_urls=[start]) if isinstance(e, Preview)]
    assert [each.url for each in preview.files] == [f"{start}llms.txt"]
