"""Options of a website: defaults, and advice where one is wrong."""

from __future__ import annotations

from typing import Any

import pytest

from docstow.core.errors import InvalidParameter
from docstow.sources.site import options

DEFAULTS = {
    "start_urls": [],
    "allowed_domains": [],
    "path_prefixes": [],
    "include": [],
    "exclude": [],
    "max_pages": 500,
    "max_depth": 6,
    "delay_s": 1.0,
    "max_page_bytes": 10_000_000,
    "concurrency": 2,
    "sitemap": True,
    "llms": "auto",
    "render_js": False,
    "fetch_assets": False,
}


def test_defaults() -> None:
    assert options({}) == DEFAULTS
    assert options({"max_pages": None}) == DEFAULTS


def test_checking_twice_changes_nothing() -> None:
    given = {
        "start_urls": "HTTPS://Docs.Example.org/a/#top",
        "allowed_domains": ["Docs.Example.org", "*.example.org", "localhost:8000", "[::1]:80"],
        "path_prefixes": ["docs/", "/"],
        "include": ["/docs/*"],
        "max_pages": 5.0,
        "delay_s": 0,
    }
    once = options(given)
    assert once == DEFAULTS | {
        "start_urls": ["https://docs.example.org/a/"],
        "allowed_domains": ["docs.example.org", "*.example.org", "localhost:8000", "[::1]:80"],
        "path_prefixes": ["/docs", "/"],
        "include": ["/docs/*"],
        "max_pages": 5,
        "delay_s": 0.0,
    }
    assert options(once) == once


@pytest.mark.parametrize(
    ("name", "value", "advice"),
    [
        ("max_page", 1, "did you mean max_pages?"),
        ("colour", "red", "is no option of a website"),
        ("max_pages", 0, "from 1 to 100000"),
        ("max_pages", "10", "must be a whole number"),
        ("max_pages", 1.5, "must be a whole number"),
        ("max_pages", True, "must be a whole number"),
        ("max_depth", -1, "from 0 to 100"),
        ("delay_s", float("nan"), "must be a number from 0"),
        ("concurrency", 6, "from 1 to 5"),
        ("sitemap", "yes", "true or false"),
        ("render_js", 1, "true or false"),
        ("llms", "always", "auto or off"),
        ("include", [1], "list of texts"),
        ("exclude", [""], "none of them empty"),
        ("start_urls", ["ftp://example.org/"], "must be an address"),
        ("start_urls", ["https://user:pass@example.org/"], "as a header instead"),
        ("allowed_domains", ["https://example.org"], "must hold hosts"),
        ("allowed_domains", ["example.org/docs"], "must hold hosts"),
        ("allowed_domains", ["*"], "must hold hosts"),
        ("allowed_domains", ["a.*.org"], "must hold hosts"),
    ],
)
def test_what_is_wrong_is_said_with_what_would_be_right(name: str, value: Any, advice: str) -> None:
    with pytest.raises(InvalidParameter) as caught:
        options({name: value})
    assert caught.value.details["field"] == name
    assert advice in caught.value.message
