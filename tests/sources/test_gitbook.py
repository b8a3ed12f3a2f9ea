"""Spaces of GitBook, against a server that answers as its API is documented."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from docstow.core.errors import InvalidParameter
from docstow.ingest.jobs import Job
from docstow.runtime import Runtime
from docstow.sources.gitbook import KIND, canonical
from servers.json_service import TOKEN, JsonService

SPACE = "/v1/spaces/mWvXj1c8sM6eYz2T"
ID = SPACE.rpartition("/")[2]


def _content(revision: str, tides: str) -> dict[str, Any]:
    return {
        "object": "revision",
        "id": revision,
        "pages": [
            {
                "id": "p1",
                "title": "Welcome",
                "kind": "sheet",
                "path": "readme",
                "slug": "readme",
                "pages": [],
            },
            {
                "id": "g1",
                "title": "Guides",
                "type": "group",
                "slug": "guides",
                "path": "guides",
                "pages": [
                    {
                        "id": "p2",
                        "title": "Tides",
                        "type": "document",
                        "path": "guides/tides",
                        "slug": "tides",
                        "updatedAt": tides,
                        "pages": [
                            {
                                "id": "p3",
                                "title": "Spring tides",
                                "type": "document",
                                "path": "guides/tides/spring",
                                "slug": "spring",
                                "updatedAt": "2026-01-01T00:00:00.000Z",
                                "pages": [],
                            }
                        ],
                    },
                    {"id": "l1", "title": "Forum", "type": "link", "href": "https://x.example"},
                ],
            },
        ],
    }


def _page(identity: str, markdown: str) -> dict[str, Any]:
    return {"object": "page", "id": identity, "title": "Title", "markdown": markdown}


@pytest.fixture
def service() -> Iterator[JsonService]:
    answers = {
        SPACE: {
            "object": "space",
            "id": ID,
            "title": "Sailing",
            "urls": {
                "app": "https://app.gitbook.com/s/x/",
                "published": "https://docs.sail.example/",
            },
        },
        f"{SPACE}/content": _content("r1", "2026-01-01T00:00:00.000Z"),
        f"{SPACE}/content/page/p1?format=markdown": _page("p1", "# Welcome\n\nCome aboard.\n"),
        f"{SPACE}/content/page/p2?format=markdown": _page("p2", "The moon makes tides.\n"),
        f"{SPACE}/content/page/p3?format=markdown": _page("p3", "# Spring tides\n\nHighest.\n"),
    }
    with JsonService(answers) as served:
        yield served


def _sync(runtime: Runtime, url: str, token: str = TOKEN, **options: Any) -> Job:
    address, headers = f"{url}{SPACE}", {"Authorization": token}
    source, _ = runtime.registry.create(
        "gitbook", address, title="Sailing", options=options, headers=headers
    )
    return runtime.sync.wait(runtime.sync.start(source.id).id, 60)


def test_a_space_is_read_as_markdown(runtime: Runtime, service: JsonService) -> None:
    job = _sync(runtime, service.url)
    assert (job.state, job.version, job.counts["documents"]) == ("success", "r1", 3)
    page = runtime.prose.document("guides/tides").document
    assert (page.path, page.title) == ("guides/tides.md", "Title")
    assert page.url == "https://docs.sail.example/guides/tides"
    assert page.text == "# Title\n\nThe moon makes tides."
    assert runtime.prose.document("readme.md").document.text == "# Welcome\n\nCome aboard."


def test_only_what_has_changed_is_fetched_again(runtime: Runtime, service: JsonService) -> None:
    assert _sync(runtime, service.url).counts["new"] == 3
    service.requests.clear()
    assert _sync(runtime, service.url).counts["unchanged"] == 3
    assert [path for path in service.asked if "/page/" in path] == []
    # A page that tells no time of its own may have changed with every revision.
    service.answers[f"{SPACE}/content"] = _content("r2", "2026-02-01T00:00:00.000Z")
    answer = _page("p2", "The sun makes tides too.\n")
    service.answers[f"{SPACE}/content/page/p2?format=markdown"] = answer
    service.requests.clear()
    job = _sync(runtime, service.url)
    assert (job.version, job.counts["changed"], job.counts["unchanged"]) == ("r2", 1, 2)
    fetched = [path.rpartition("/")[2] for path in service.asked if "/page/" in path]
    assert fetched == ["p1", "p2"]


def test_a_limit_is_named(runtime: Runtime, service: JsonService) -> None:
    job = _sync(runtime, service.url, max_pages=1)
    assert (job.counts["documents"], dict(job.skipped)) == (1, {"more than max_pages": 2})


def test_a_token_that_is_refused_is_not_shown(runtime: Runtime, service: JsonService) -> None:
    job = _sync(runtime, service.url, "Bearer hush-hush")
    (error,) = job.errors
    assert (job.state, error.kind) == ("failed", "upstream_error")
    assert "check the token" in error.message
    assert "hush" not in error.message


@pytest.mark.parametrize(
    ("uri", "shown"),
    [
        (ID, f"https://api.gitbook.com/v1/spaces/{ID}"),
        (
            f"https://app.gitbook.com/o/acme/s/{ID}/guides",
            f"https://api.gitbook.com/v1/spaces/{ID}",
        ),
        (f"https://app.gitbook.com/s/{ID}", f"https://api.gitbook.com/v1/spaces/{ID}"),
        (
            f"https://api.gitbook.com/v1/spaces/{ID}/content",
            f"https://api.gitbook.com/v1/spaces/{ID}",
        ),
    ],
)
def test_a_space_has_one_address(uri: str, shown: str) -> None:
    assert canonical(uri) == shown


@pytest.mark.parametrize(
    "uri", ["https://docs.sail.example/guides", "x", "https://app.gitbook.com/o/a"]
)
def test_other_addresses_are_refused(uri: str) -> None:
    with pytest.raises(InvalidParameter):
        KIND.canonical_uri(uri)
