"""One spelling for each address, and which addresses belong to a site."""

from __future__ import annotations

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from docstow.core.errors import InvalidParameter
from docstow.core.urls import Scope, canonical_url, clean_url, directory_of, exclusion_reason

SEGMENTS = st.text(alphabet="aB.%;=~ü +&?#/2Ee", max_size=12)
ADDRESSES = st.builds(
    "{}://{}{}/{}?{}#{}".format,
    st.sampled_from(["http", "HTTPS", "https"]),
    st.sampled_from(["Docs.Example.org", "bücher.example", "[::1]", "127.0.0.1", "example.org."]),
    st.sampled_from(["", ":80", ":443", ":8080"]),
    SEGMENTS,
    st.lists(
        st.sampled_from(["b=2", "a=1", "utm_source=x", "ref=y", "q=%7ex", "SID=3", "", "%%", "ä"])
    ).map("&".join),
    SEGMENTS,
)


@settings(max_examples=400)
@given(ADDRESSES)
@example("http://Docs.Example.org/;/?#")
@example("http://Docs.Example.org/a;/./;//;jsessionid=1/")
def test_a_canonical_address_is_its_own(url: str) -> None:
    once = canonical_url(url)
    assert canonical_url(once) == once
    assert canonical_url(clean_url(url)) == once
    assert clean_url(clean_url(url)) == clean_url(url)


@pytest.mark.parametrize(
    ("url", "canonical"),
    [
        ("https://example.org", "https://example.org/"),
        ("HTTPS://Example.ORG:443/Guide/", "https://example.org/Guide"),
        ("http://example.org:80/a/./b/../c", "http://example.org/a/c"),
        ("http://example.org:8080//a///b", "http://example.org:8080/a/b"),
        ("https://example.org/a/../../b/..", "https://example.org/"),
        ("https://example.org/a#part", "https://example.org/a"),
        ("https://example.org/a?utm_source=x&utm_medium=y&gclid=1", "https://example.org/a"),
        ("https://example.org/a?b=2&fbclid=1&a=1&ref=nav", "https://example.org/a?a=1&b=2"),
        ("https://example.org/a?source=menu&refresh=1", "https://example.org/a?refresh=1"),
        ("https://example.org/a;jsessionid=8F3?PHPSESSID=9", "https://example.org/a"),
        ("https://example.org/%7euser/caf%c3%a9", "https://example.org/~user/caf%C3%A9"),
        ("https://example.org/café", "https://example.org/caf%C3%A9"),
        ("https://example.org/a b?q=c d", "https://example.org/a%20b?q=c%20d"),
        ("https://bücher.example/", "https://xn--bcher-kva.example/"),
        ("http://[::1]:8080/a/", "http://[::1]:8080/a"),
        ("https://example.org/a;", "https://example.org/a"),
        ("https://example.org/a;v=1/b;w=2/", "https://example.org/a;v=1/b;w=2"),
        ("http://Docs.Example.org/;/?#", "http://docs.example.org/"),
    ],
)
def test_canonical_address(url: str, canonical: str) -> None:
    assert canonical_url(url) == canonical


def test_what_is_asked_for_keeps_its_slash_and_the_order_of_its_query() -> None:
    asked = clean_url("https://Example.org/guide/?b=2&utm_term=x&a=1#top")
    assert asked == "https://example.org/guide/?b=2&a=1"


@pytest.mark.parametrize(
    "url",
    [
        "",
        "example.org/guide",
        "ftp://example.org/",
        "file:///etc/hosts",
        "javascript:alert(1)",
        "https://",
        "https://example.org:port/",
        "https://user:secret@example.org/",
        "https://exa mple.org/",
        "https://[::1/",
    ],
)
def test_other_addresses_are_refused_without_repeating_them(url: str) -> None:
    with pytest.raises(InvalidParameter) as caught:
        canonical_url(url)
    assert caught.value.details["field"] == "url"
    assert "secret" not in caught.value.message


@pytest.mark.parametrize(
    ("url", "directory"),
    [
        ("https://example.org", ""),
        ("https://example.org/docs/", "/docs"),
        ("https://example.org/docs", "/docs"),
        ("https://example.org/docs/intro.html", "/docs"),
        ("https://example.org/en/v1.2", "/en/v1.2"),
    ],
)
def test_the_directory_of_a_start_address(url: str, directory: str) -> None:
    assert directory_of(url) == directory


SCOPE = Scope(
    domains=("docs.example.org", "*.pages.example", "127.0.0.1:8000"),
    prefixes=("/guide", "/static/api"),
    include=("/guide/*", "/static/*", "https://a.pages.example/*"),
    exclude=("*/old/*",),
)


@pytest.mark.parametrize(
    ("url", "reason"),
    [
        ("https://docs.example.org/guide/a", ""),
        ("https://docs.example.org:8443/guide/a", ""),
        ("https://a.pages.example/guide", ""),
        ("http://127.0.0.1:8000/guide/a", ""),
        ("http://127.0.0.1:8001/guide/a", "out of scope"),
        ("https://pages.example/guide/a", "out of scope"),
        ("https://docs.example.org.evil.example/guide/a", "out of scope"),
        ("https://docs.example.org/guides/a", "out of scope"),
        ("https://docs.example.org/", "out of scope"),
        ("https://docs.example.org/guide", "not included"),
        ("https://docs.example.org/guide/old/a", "excluded"),
        ("https://docs.example.org/guide/a.PNG", "not a page"),
        ("https://docs.example.org/guide/static/a", "not a page"),
        ("https://docs.example.org/guide/_sources/a.rst.txt", "not a page"),
        ("https://docs.example.org/guide/genindex-a.html", "not a page"),
        ("https://docs.example.org/guide/index-of-genes.html", ""),
        ("https://docs.example.org/static/api/a", ""),
        ("https://docs.example.org/guide/array.map", ""),
        ("https://docs.example.org/guide/a/a/a", "endless address"),
        ("https://docs.example.org/guide/a/b/a/b/a/b/a", "endless address"),
        ("https://docs.example.org/guide/" + "x" * 2000, "endless address"),
    ],
)
def test_scope(url: str, reason: str) -> None:
    assert exclusion_reason(url, SCOPE) == reason
    assert SCOPE.holds(url) is not bool(reason)


def test_what_is_no_address_is_in_no_scope() -> None:
    assert not SCOPE.holds("mailto:someone@docs.example.org")
