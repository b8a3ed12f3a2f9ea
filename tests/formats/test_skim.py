"""What a crawl has to know of a page, without its conversion."""

from __future__ import annotations

import pytest

from docstow.core.model import File
from docstow.formats import read, skim

PAGE = """<html><head><title>Moor | Harbour</title><link rel="canonical" href="/moor">
<meta name="robots" content="{robots}"></head><body><nav><a href="/quays">Quays</a></nav>
<main><h1>Moor<a class="headerlink" href="#moor">¶</a></h1>
<p id="ship">Ships <b>moor</b> at <a href="{link}">{words}</a>, see <a href="#ship">above</a>.</p>
<script type="math/tex">{formula}</script><script>var id = "{noise}"</script>
<img src="{image}" alt="A ship"></main><footer>Made at {noise}</footer></body></html>"""
FIELDS = {
    "link": "quay.html",
    "words": "a quay",
    "formula": "x^2",
    "image": "ship.png",
    "noise": "12:00",
    "robots": "all",
}


def html(url: str = "http://docs.example/moor.html", **changed: str) -> File:
    return File("", url, "text/html", PAGE.format(**FIELDS | changed).encode())


@pytest.mark.parametrize("robots", ["all", "noindex", "nofollow"])
def test_it_says_what_reading_says(robots: str) -> None:
    page, skimmed = read(html(robots=robots)), skim(html(robots=robots))
    assert (skimmed.title, skimmed.canonical) == (page.title, page.canonical)
    assert (skimmed.links, skimmed.indexable) == (page.links, page.indexable)
    assert skimmed.title == "Moor"


def test_what_is_around_the_text_and_the_own_address_make_no_other_page() -> None:
    digest = skim(html()).digest
    assert skim(html(noise="13:00")).digest == digest
    assert skim(html("http://docs.example/")).digest == digest


@pytest.mark.parametrize("name", ["link", "words", "formula", "image"])
def test_text_formulas_links_and_images_make_another_page(name: str) -> None:
    assert skim(html(**{name: "other"})).digest != skim(html()).digest


def test_of_markdown_the_text_counts() -> None:
    one, other = (File("", f"http://docs.example/{n}", "text/markdown", b"# Moor\n") for n in "ab")
    assert skim(one).digest == skim(other).digest != ""
    assert skim(File("", one.url, one.media_type, b"\n")).digest == ""
