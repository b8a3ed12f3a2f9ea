"""Which part of a website is for a version."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from docstow.net import Fetcher
from docstow.sources.site.versions import (
    SiteVersions,
    VersionPlace,
    family,
    find_place,
    is_of,
    labels,
)
from servers.loopback import redirect, status
from servers.site import Site


@pytest.fixture
def site() -> Iterator[Site]:
    with Site() as server:
        yield server


def nearest(url: str, version: str) -> str:
    fetcher = Fetcher("https://contact.example")
    try:
        return SiteVersions(lambda: fetcher).nearest(url, version).url
    finally:
        fetcher.close()


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("/en/0.27.x/", ("/en/", "0.27.x", "/")),
        ("/en/latest", ("/en/", "latest", "")),
        ("/docs/8.x/start/", ("/docs/", "8.x", "/start/")),
        ("/v2", ("/", "v2", "")),
        ("/en/4x/api.html", ("/en/", "4x", "/api.html")),
        ("/docs/guide/", None),
        ("/versions/", None),
        ("", None),
    ],
)
def test_addresses_have_their_version_in_a_place(
    path: str, expected: tuple[str, str, str] | None
) -> None:
    found = find_place(f"https://x.example{path}")
    if expected is None:
        assert found is None
        return
    assert found == VersionPlace(f"https://x.example{expected[0]}", *expected[1:])
    assert found.of("9").endswith(f"/9{expected[2]}")


def test_versions_are_named_in_many_ways_the_nearest_first() -> None:
    named = labels("0.27.2")
    assert named[:6] == ["0.27.2", "v0.27.2", "0.27.x", "0.27", "v0.27", "v0.27.x"]
    assert is_of("20", "2.0.36")
    assert is_of("4x", "4.21.0")
    assert is_of("V2", "2.1")
    assert not is_of("0.28.x", "0.27.2")
    assert not is_of("latest", "0.27.2")
    assert not is_of("2", "0.2.0")


def test_versions_and_languages_of_a_site_are_one_family() -> None:
    assert family("https://www.x.example/docs/en/v2/") == "x.example/docs"
    assert family("http://x.example/docs") == "x.example/docs"
    assert family("https://x.example/docs/fr/") == "x.example/docs/fr"


def test_the_version_of_read_the_docs_is_probed(site: Site) -> None:
    site.at("/", redirect("/en/latest/"))
    site.page("/en/latest/", "It")
    site.page("/en/0.27.x/", "It")
    site.page("/en/0.x/", "It")
    assert nearest(f"{site.url}/", "0.27.2") == f"{site.url}/en/0.27.x/"
    assert nearest(f"{site.url}/en/latest/", "0.27.2") == f"{site.url}/en/0.27.x/"
    assert nearest(f"{site.url}/en/latest/", "0.28.0") == f"{site.url}/en/0.x/"
    assert nearest(f"{site.url}/en/latest/", "1.0") == f"{site.url}/en/latest/"


def test_a_part_of_the_version_is_not_asked_about_further(site: Site) -> None:
    site.page("/en/20/", "It")
    assert nearest(f"{site.url}/en/20/", "2.0.36") == f"{site.url}/en/20/"
    assert site.paths() == ["/robots.txt", "/en/20/"]


def test_the_nearest_that_is_not_newer_is_chosen_where_versions_are_listed(site: Site) -> None:
    listed = [
        {"version": "dev", "title": "dev", "aliases": []},
        {"version": "2.1", "title": "2.1", "aliases": ["latest"]},
        {"version": "1.10", "title": "1.10.3", "aliases": []},
        {"version": "1.9", "title": "1.9", "aliases": []},
    ]
    site.page("/latest/", "It")
    site.put("/versions.json", json.dumps(listed), "application/json")
    for version, label in {
        "2.1.7": "2.1", "2.0.0": "1.10", "1.10.9": "1.10", "1.9": "1.9", "0.3": "latest",
    }.items():  # fmt: skip
        assert nearest(f"{site.url}/latest/", version) == f"{site.url}/{label}/"


def test_a_switcher_says_the_addresses_of_its_versions(site: Site) -> None:
    listed = [
        {"name": "2.3 (stable)", "version": "stable", "url": f"{site.url}/doc/stable/"},
        {"name": "2.2", "version": "2.2", "url": f"{site.url}/doc/2.2/"},
        {"name": "2.1", "version": "2.1", "url": "https://elsewhere.example/doc/2.1/"},
        "2.0",
        {"name": 7, "version": None},
    ]
    site.page("/doc/stable/", "It")
    site.put("/doc/stable/_static/switcher.json", json.dumps(listed), "application/json")
    assert nearest(f"{site.url}/doc/stable/", "2.3.1") == f"{site.url}/doc/stable/"
    assert nearest(f"{site.url}/doc/stable/", "2.2.9") == f"{site.url}/doc/2.2/"
    assert nearest(f"{site.url}/doc/stable/", "2.1.9") == f"{site.url}/doc/2.0/"


@pytest.mark.parametrize("body", ["{", "[]", "{}", "[[]]", "null", '[{"version": {}}]'])
def test_what_is_no_list_of_versions_is_passed_over(site: Site, body: str) -> None:
    site.page("/latest/", "It")
    site.page("/v3/", "It")
    site.put("/versions.json", body, "application/json")
    assert nearest(f"{site.url}/latest/", "3.1.0") == f"{site.url}/v3/"


def test_a_site_without_versions_in_its_address_may_have_them_below(site: Site) -> None:
    site.page("/docs/", "It")
    site.page("/docs/8.x/", "It")
    assert nearest(f"{site.url}/docs/", "8.2.0") == f"{site.url}/docs/8.x/"
    assert nearest(f"{site.url}/docs/", "7.2.0") == f"{site.url}/docs/"


def test_a_site_that_answers_any_address_has_no_versions(site: Site) -> None:
    for path in ("/en/latest/", "/en/1.2.0/", "/en/0.0.0-none/"):
        site.page(path, "It")
    assert nearest(f"{site.url}/en/latest/", "1.2.0") == f"{site.url}/en/latest/"


def test_an_address_that_leads_to_another_version_is_not_taken(site: Site) -> None:
    site.page("/en/latest/", "It")
    site.at("/en/1.2.0/", redirect("/en/latest/"))
    site.page("/en/1.2.x/", "It")
    assert nearest(f"{site.url}/en/latest/", "1.2.0") == f"{site.url}/en/1.2.x/"


def test_few_requests_are_made_and_robots_txt_is_obeyed(site: Site) -> None:
    site.page("/en/latest/", "It")
    nearest(f"{site.url}/en/latest/", "1.2.0")
    assert 10 < len(site.paths()) <= 15
    site.forget()
    site.put("/robots.txt", "User-agent: *\nDisallow: /en/1", "text/plain")
    site.page("/en/1.2.0/", "It")
    assert nearest(f"{site.url}/en/latest/", "1.2.0") == f"{site.url}/en/latest/"
    assert not site.paths("/en/1")


def test_a_site_is_asked_once(site: Site) -> None:
    site.page("/en/latest/", "It")
    site.page("/en/1.2.x/", "It")
    fetcher = Fetcher("https://contact.example")
    versions = SiteVersions(lambda: fetcher)
    url = f"{site.url}/en/latest/"
    first = versions.nearest(url, "1.2.0")
    asked = len(site.paths())
    assert versions.nearest(url, "1.2.0") == first
    assert len(site.paths()) == asked
    assert first.aliases == (url,)
    fetcher.close()


def test_a_site_that_cannot_be_asked_is_taken_as_it_is(site: Site) -> None:
    site.at("/en/latest/", status(403))
    assert nearest(f"{site.url}/en/latest/", "1.2.0") == f"{site.url}/en/latest/"
