"""Projects of Read the Docs, against a server that answers as its API v3 is documented."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from docstow.core.errors import InvalidParameter
from docstow.ingest.jobs import Job
from docstow.runtime import Runtime
from docstow.sources.readthedocs import KIND, canonical
from servers.json_service import TOKEN, JsonService

API = "/api/v3/projects/sails"
COMMIT = "3a6b3995c141c0888af6591a59240ba5db7d9914"


def _version(slug: str, url: str, name: str = "", identifier: str = COMMIT) -> dict[str, Any]:
    return {
        "id": 71652437,
        "slug": slug,
        "verbose_name": name or slug,
        "identifier": identifier,
        "ref": None,
        "built": True,
        "active": True,
        "type": "tag",
        "urls": {"documentation": f"{url}/en/{slug}/", "vcs": "https://forge.example/sails"},
    }


@pytest.fixture
def service() -> Iterator[JsonService]:
    pages = {
        "/en/stable/": '<title>Sails</title><h1>Sails</h1><p>Hoist. <a href="reef.html">Reef</a>',
        "/en/stable/reef.html": '<h1>Reefing</h1><p>Reef early. <a href="/en/latest/">New</a>',
        "/en/latest/": "<h1>Sails</h1><p>Unreleased.",
    }
    with JsonService({}, pages) as served:
        url, listed = served.url, "versions/?active=true&built=true"
        stable, latest = _version("stable", url), _version("latest", url, identifier="main")
        older = _version("v1-0", url, name="v1.0")
        served.answers |= {
            f"{API}/": {"slug": "sails", "default_version": "stable"},
            f"{API}/{listed}&limit=100": {
                "count": 3,
                "next": f"{API}/{listed}&limit=100&offset=2",
                "previous": None,
                "results": [latest, stable],
            },
            f"{API}/{listed}&limit=100&offset=2": {"count": 3, "next": None, "results": [older]},
            **{
                f"{API}/{listed}&slug={each['slug']}": {"next": None, "results": [each]}
                for each in (stable, latest)
            },
            **{
                f"{API}/{listed}&slug={slug}": {"next": None, "results": []}
                for slug in ("v1.0", "v9")
            },
        }
        yield served


def _sync(runtime: Runtime, url: str, project: str, token: str = TOKEN, **options: Any) -> Job:
    source, _ = runtime.registry.create(
        "readthedocs",
        f"{url}/projects/{project}",
        title=project,
        options={"delay_s": 0, **options},
        headers={"Authorization": token},
    )
    return runtime.sync.wait(runtime.sync.start(source.id).id, 60)


def test_the_default_version_is_crawled_and_no_other(
    runtime: Runtime, service: JsonService
) -> None:
    job = _sync(runtime, service.url, "sails")
    assert (job.state, job.version, job.counts["documents"]) == ("success", COMMIT, 2)
    page = runtime.prose.document(f"{service.url}/en/stable/reef.html").document
    assert (page.title, "Reef early." in page.text) == ("Reefing", True)
    assert "/en/latest/" not in service.asked
    # The token is for the API; the pages are anybody's.
    for request in service.requests:
        assert ("authorization" in request.headers) == request.path.startswith("/api/"), request


def test_a_version_is_named_by_its_slug_or_its_tag(runtime: Runtime, service: JsonService) -> None:
    job = _sync(runtime, service.url, "sails@latest")
    assert (job.version, job.counts["documents"]) == ("main", 1)
    service.pages["/en/v1-0/"] = "<h1>Old sails</h1><p>Of canvas."
    assert _sync(runtime, service.url, "sails@v1.0").counts["documents"] == 1
    found = runtime.prose.document(f"{service.url}/en/v1-0/", source="sails@v1.0").document
    assert found.title == "Old sails"


@pytest.mark.parametrize(
    ("project", "token", "kind", "message"),
    [
        (
            "sails@v9",
            TOKEN,
            "source_not_found",
            "no built version v9; there are latest, stable, v1-0",
        ),
        ("oars", TOKEN, "source_not_found", "has no project oars"),
        ("sails", "Token wrong", "upstream_error", "401 for project sails; check the token"),
    ],
)
def test_what_is_not_there_is_said(
    runtime: Runtime, service: JsonService, project: str, token: str, kind: str, message: str
) -> None:
    job = _sync(runtime, service.url, project, token)
    assert (job.state, job.errors[0].kind) == ("failed", kind)
    assert message in job.errors[0].message


@pytest.mark.parametrize(
    ("uri", "shown"),
    [
        ("pip", "https://app.readthedocs.org/projects/pip"),
        ("pip@stable", "https://app.readthedocs.org/projects/pip@stable"),
        ("https://app.readthedocs.org/projects/pip/", "https://app.readthedocs.org/projects/pip"),
        (
            "https://app.readthedocs.com/projects/x@2.1",
            "https://app.readthedocs.com/projects/x@2.1",
        ),
    ],
)
def test_a_version_of_a_project_has_one_address(uri: str, shown: str) -> None:
    assert canonical(uri) == shown


@pytest.mark.parametrize(
    "uri", ["https://pip.pypa.io/en/stable/", "Pip Docs", "pip@", "/projects/x"]
)
def test_other_addresses_are_refused(uri: str) -> None:
    with pytest.raises(InvalidParameter):
        KIND.canonical_uri(uri)


def test_options_are_those_of_a_website() -> None:
    assert KIND.checked_options({"max_pages": 3})["max_pages"] == 3
    with pytest.raises(InvalidParameter):
        KIND.checked_options({"pages": 3})
