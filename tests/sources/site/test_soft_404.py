"""Pages that say that there is no page, and pages that tell of such pages."""

from __future__ import annotations

import pytest

from docstow.formats.html import read
from docstow.sources.site.fetch import says_not_found

URL = "https://docs.example/guide/start"
MOVED = (
    "<p>We could not find what you were looking for.</p><p>Please tell the owner of the site that"
    " linked to it that the link is broken, and that it does not work.</p>"
)


def says(title: str, body: str, url: str = URL) -> bool:
    text = f"<html><head><title>{title}</title></head><body><main>{body}</main></body></html>"
    return says_not_found(read(text.encode(), url), url)


@pytest.mark.parametrize(
    ("title", "body"),
    [
        ("Page not found | Docs", "<h1>Page not found</h1>"),
        ("Docs", "<h1>404</h1><p>The page you are looking for has moved.</p>"),
        ("404 - Docs", "<h1>404 Not Found</h1><p>Sorry, we could not find that page.</p>"),
        ("404: not found", "<h1>404</h1><h2>This page could not be found.</h2>"),
        ("Page Not Found", f"<h1>Page Not Found</h1>{MOVED}"),
        ("404", "<h1>Oops! Page not found</h1><p>This page doesn\u2019t exist.</p>"),
        ("Seite nicht gefunden", "<h1>Seite nicht gefunden</h1>"),
        ("Page introuvable", "<h1>Page introuvable</h1><p>Cette page n\u2019existe pas.</p>"),
    ],
)  # fmt: skip
def test_pages_that_are_none(title: str, body: str) -> None:
    assert says(title, body)


def test_the_page_that_a_static_site_answers_with() -> None:
    assert says("404", "<h1>404</h1>", "https://docs.example/404.html")


@pytest.mark.parametrize(
    ("title", "body", "url"),
    [
        # Named after the error, and about it.
        ("404 Not Found", "<h1>404 Not Found</h1><p>The page was not found.</p>",
         "https://docs.example/errors/404-not-found"),
        ("404 Not Found", "<h1>404 Not Found</h1><p>The server has no such bucket.</p>", URL),
        ("Page not found", "<h1>Page not found</h1><p>No page:</p><pre>vm.fault()</pre>", URL),
        ("Custom pages", "<h1>Pages that are not found</h1><p>The page is yours.</p>", URL),
        ("404", f"<h1>404</h1><p>{'The page was not found, as a client sees. ' * 9}</p>", URL),
        ("Error handling", "<h1>Not found handlers</h1><p>Call it when a page is not found.</p>",
         URL),
        ("Docs", "<p>The page cannot be found.</p>", URL),
    ],
)  # fmt: skip
def test_pages_about_the_error_are_pages(title: str, body: str, url: str) -> None:
    assert not says(title, body, url)
