"""Spaces of Confluence, against a server that answers as REST API v2 is documented."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from docstow.core.errors import InvalidParameter
from docstow.ingest.jobs import Job
from docstow.runtime import Runtime
from docstow.sources.confluence import KIND, canonical
from servers.json_service import TOKEN, JsonService
from servers.loopback import status

SPACES = "/wiki/api/v2/spaces?keys=SAIL"
FIRST = "/wiki/api/v2/spaces/65537/pages?status=current&limit=250"
SECOND = "/wiki/api/v2/spaces/65537/pages?limit=250&status=current&cursor=eyJpZCI6IjIifQ=="


def _listed(identity: str, title: str, version: int) -> dict[str, Any]:
    return {
        "id": identity,
        "status": "current",
        "title": title,
        "spaceId": "65537",
        "parentId": None,
        "version": {"number": version, "createdAt": "2026-01-02T03:04:05.678Z"},
        "body": {},
        "_links": {"webui": f"/spaces/SAIL/pages/{identity}/{title}", "tinyui": "/x/abc"},
    }


def _page(identity: str, title: str, version: int, body: str) -> dict[str, Any]:
    view = {"representation": "view", "value": body}
    return {**_listed(identity, title, version), "body": {"view": view}}


def _answers() -> dict[str, Any]:
    return {
        SPACES: {"results": [{"id": "65537", "key": "SAIL", "name": "Sails"}], "_links": {}},
        FIRST: {
            "results": [_listed("1", "Reefing", 3), _listed("2", "Hoisting", 1)],
            "_links": {"next": SECOND, "base": "https://sail.example/wiki"},
        },
        SECOND: {"results": [_listed("2", "Hoisting", 1), _listed("3", "Care", 7)], "_links": {}},
        "/wiki/api/v2/pages/1?body-format=view": _page(
            "1", "Reefing", 3, "<h2>When</h2><p>Reef early.</p><pre>reef --early</pre>"
        ),
        "/wiki/api/v2/pages/2?body-format=view": _page("2", "Hoisting", 1, "<p>Hoist slowly.</p>"),
        "/wiki/api/v2/pages/3?body-format=view": _page("3", "Care", 7, "<p>Rinse them.</p>"),
    }


@pytest.fixture
def service() -> Iterator[JsonService]:
    with JsonService(_answers()) as served:
        yield served


def _sync(runtime: Runtime, url: str, token: str = TOKEN, **options: Any) -> Job:
    address, headers = f"{url}/wiki/spaces/SAIL/overview", {"Authorization": token}
    source, _ = runtime.registry.create(
        "confluence", address, title="Sails", options=options, headers=headers
    )
    return runtime.sync.wait(runtime.sync.start(source.id).id, 60)


def test_a_space_is_read_and_what_is_unchanged_is_not_fetched_again(
    runtime: Runtime, service: JsonService
) -> None:
    job = _sync(runtime, service.url)
    assert (job.state, job.counts["new"], job.counts["documents"]) == ("success", 3, 3)
    assert all(each.headers["authorization"] == TOKEN for each in service.requests)
    page = runtime.prose.document("pages/1.html").document
    assert page.title == "Reefing"
    assert page.url == f"{service.url}/wiki/spaces/SAIL/pages/1/Reefing"
    assert "## When\n\nReef early." in page.text
    assert "```\nreef --early\n```" in page.text
    hits, _ = runtime.prose.search("rinse the sails")
    assert hits[0].title == "Care"
    service.requests.clear()
    service.answers[FIRST] = {
        "results": [_listed("1", "Reefing", 4)],
        "_links": {"next": SECOND},
    }
    service.answers[SECOND] = {"results": [_listed("3", "Care", 7)], "_links": {}}
    service.answers["/wiki/api/v2/pages/1?body-format=view"] = _page(
        "1", "Reefing", 4, "<p>Reef now.</p>"
    )
    job = _sync(runtime, service.url)
    counts = {name: job.counts[name] for name in ("changed", "unchanged", "gone", "documents")}
    assert counts == {"changed": 1, "unchanged": 1, "gone": 1, "documents": 2}
    assert [path for path in service.asked if "/pages/" in path] == ["/wiki/api/v2/pages/1"]


def test_a_limit_is_named_and_a_page_that_fails_leaves_the_others(
    runtime: Runtime, service: JsonService
) -> None:
    del service.answers["/wiki/api/v2/pages/2?body-format=view"]
    job = _sync(runtime, service.url, max_pages=2)
    assert (job.state, job.counts["documents"]) == ("success", 1)
    assert dict(job.skipped) == {"more than max_pages": 1}
    (error,) = job.errors
    assert (error.kind, error.ref) == ("source_not_found", "pages/2.html")


@pytest.mark.parametrize(
    ("change", "kind", "message"),
    [
        ({"token": "Bearer wrong"}, "upstream_error", "401 for the space SAIL; check the token"),
        ({SPACES: {"results": []}}, "source_not_found", "There is no space SAIL"),
        ({SPACES: [1]}, "unreadable_input", "without a JSON object"),
        (
            {FIRST: {"results": [], "_links": {"next": "http://elsewhere.example/x"}}},
            "upstream_error",
            "leads to elsewhere.example, which is not asked",
        ),
    ],
)
def test_what_cannot_be_read_fails_with_advice(
    runtime: Runtime, service: JsonService, change: dict[str, Any], kind: str, message: str
) -> None:
    token = change.pop("token", TOKEN)
    service.answers |= change
    job = _sync(runtime, service.url, token)
    assert job.state == "failed"
    assert (job.errors[0].kind, "let-me-in" in job.errors[0].message) == (kind, False)
    assert message in job.errors[0].message


def test_a_list_that_leads_back_to_itself_ends(runtime: Runtime, service: JsonService) -> None:
    service.answers[SECOND]["_links"] = {"next": FIRST}
    assert _sync(runtime, service.url).counts["documents"] == 3


def test_a_server_in_trouble_keeps_what_was_there(runtime: Runtime, service: JsonService) -> None:
    assert _sync(runtime, service.url).state == "success"
    service.always("/wiki/api/v2/spaces", status(503))
    assert _sync(runtime, service.url).state == "failed"
    assert runtime.prose.document("pages/2.html").document.title == "Hoisting"


@pytest.mark.parametrize(
    ("uri", "shown"),
    [
        (
            "https://sail.atlassian.net/wiki/spaces/SAIL",
            "https://sail.atlassian.net/wiki/spaces/SAIL",
        ),
        (
            "https://Sail.atlassian.net/wiki/spaces/SAIL/pages/1/Reefing#x",
            "https://sail.atlassian.net/wiki/spaces/SAIL",
        ),
        ("https://docs.example/display/SAIL/Home", "https://docs.example/spaces/SAIL"),
        (
            "https://sail.atlassian.net/wiki/spaces/~abc12",
            "https://sail.atlassian.net/wiki/spaces/~abc12",
        ),
    ],
)
def test_a_space_has_one_address(uri: str, shown: str) -> None:
    assert canonical(uri) == shown


@pytest.mark.parametrize("uri", ["https://sail.atlassian.net/wiki", "SAIL", "ftp://x/spaces/A"])
def test_other_addresses_are_refused(uri: str) -> None:
    with pytest.raises(InvalidParameter):
        KIND.canonical_uri(uri)


@pytest.mark.parametrize("options", [{"max_pages": 0}, {"max_pages": True}, {"pages": 3}])
def test_options_are_checked(options: dict[str, Any]) -> None:
    with pytest.raises(InvalidParameter):
        KIND.checked_options(options)
