"""Two servers on one bucket count one caller's sources and texts, and take turns at crawls."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import pytest

from docstow.core.auth import new_token, token_digest
from servers.command import start
from servers.loopback import Handler, Loopback
from servers.s3 import bucket

pytestmark = pytest.mark.slow

LIMIT_S = 120
MOST_SOURCES, MOST_BYTES = 4, 20_000


class Server:
    """A process that serves, as the callers of some tokens see it."""

    def __init__(self, environment: dict[str, str]) -> None:
        self.process, url = start(environment, quiet=True)
        self._client = httpx.Client(base_url=f"{url}/mcp/tools/", timeout=LIMIT_S)

    def call(self, token: str, tool: str, **arguments: Any) -> dict[str, Any]:
        """Call a tool; who asks again and again is answered 30 times a second."""
        headers = {"Authorization": f"Bearer {token}"}
        answer = self._client.post(tool, json=arguments, headers=headers)
        while answer.status_code == httpx.codes.TOO_MANY_REQUESTS:
            answer = self._client.post(tool, json=arguments, headers=headers)
        body: dict[str, Any] = answer.json()
        assert answer.status_code == (403 if "error" in body else 200), body
        return body

    def end(self) -> None:
        self._client.close()
        self.process.kill()
        self.process.communicate(timeout=30)


class Crawled:
    """Sites whose pages are answered when the gate is open."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.begun = threading.Semaphore(0)
        self.opened = threading.Event()

    @contextlib.contextmanager
    def site(self, name: str) -> Iterator[str]:
        """Serve a site of one page; yields its address."""

        def answer(handler: Handler) -> None:
            self.asked.append(name)
            self.begun.release()
            assert self.opened.wait(LIMIT_S)
            if handler.place != "/":
                handler.reply(404)
                return
            page = f"<html><body><main><h1>{name}</h1><p>Ropes and knots.</p></main></body></html>"
            handler.reply(200, page.encode(), {"Content-Type": "text/html"})

        with Loopback(answer) as loopback:
            yield loopback.url


@pytest.fixture(scope="module")
def tokens() -> dict[str, str]:
    return {name: new_token() for name in ("one", "other", "crawler", "chief")}


@pytest.fixture(scope="module")
def servers(
    tmp_path_factory: pytest.TempPathFactory, tokens: dict[str, str]
) -> Iterator[tuple[Server, Server]]:
    folder: Path = tmp_path_factory.mktemp("quotas")
    scopes = {"chief": "admin"}
    entries = (f"{n}:{scopes.get(n, 'write')}:{token_digest(t)}" for n, t in tokens.items())
    with bucket() as there, contextlib.ExitStack() as closing:
        environment = {
            "DOCSTOW_STORE": there.at("shared"),
            "DOCSTOW_S3_ENDPOINT": there.endpoint,
            "DOCSTOW_FRESHNESS_S": "0",
            "DOCSTOW_AUTH": ",".join(entries),
            "DOCSTOW_QUOTA_SOURCES": str(MOST_SOURCES),
            "DOCSTOW_QUOTA_BYTES": str(MOST_BYTES),
            "DOCSTOW_MAX_CRAWLS": "1",
        }
        made = []
        for name in ("first", "second"):
            made.append(Server({**environment, "DOCSTOW_CACHE": str(folder / name)}))
            closing.callback(made[-1].end)
        yield made[0], made[1]


def test_a_caller_adds_as_many_sources_as_it_may_whichever_process_it_asks(
    servers: tuple[Server, Server], tokens: dict[str, str]
) -> None:
    def add(number: int) -> dict[str, Any]:
        return servers[number % 2].call(
            tokens["one"], "create_source", kind="github", uri=f"acme/garden{number}"
        )

    with ThreadPoolExecutor(4) as threads:
        answers = list(threads.map(add, range(10)))
    added = [each for each in answers if each.get("created")]
    refused = [each for each in answers if "error" in each]
    assert len(added) == MOST_SOURCES
    assert {each["error"] for each in refused} == {"quota_exceeded"}
    assert len(refused) == 10 - MOST_SOURCES
    assert "credential one" in refused[0]["message"]
    assert "delete_source" in refused[0]["message"]
    # What is there already costs nothing, another has room, and an admin as much as there is.
    again = servers[0].call(tokens["one"], "create_source", kind="github", uri=added[0]["uri"])
    assert again["created"] is False
    assert add(100)["error"] == "quota_exceeded"
    other = servers[1].call(tokens["other"], "create_source", kind="github", uri="acme/other")
    assert other["created"]
    servers[1].call(tokens["chief"], "delete_source", source_id=added[0]["source_id"])
    assert add(100)["created"]
    assert add(101)["error"] == "quota_exceeded"
    for number in range(MOST_SOURCES + 1):
        uri = f"acme/chief{number}"
        assert servers[0].call(tokens["chief"], "create_source", kind="github", uri=uri)["created"]


def test_a_caller_pushes_as_much_text_as_it_may(
    servers: tuple[Server, Server], tokens: dict[str, str]
) -> None:
    first, second = servers

    def push(server: Server, uri: str, size: int) -> dict[str, Any]:
        text = "# Ropes\n\n" + "knot " * (size // 5)
        return server.call(tokens["other"], "push_document", collection="own", text=text, uri=uri)

    first.call(tokens["other"], "create_collection", name="own")
    assert "error" not in push(first, "a.md", 9_000)
    assert "error" not in push(second, "b.md", 9_000)
    refused = push(first, "c.md", 9_000)
    assert refused["error"] == "quota_exceeded"
    assert refused["limit"] == MOST_BYTES
    assert "delete_document" in refused["message"]
    second.call(tokens["chief"], "delete_document", collection="own", uri="a.md")
    assert "error" not in push(first, "c.md", 9_000)


def test_so_many_crawls_run_as_may_in_all_processes(
    servers: tuple[Server, Server], tokens: dict[str, str]
) -> None:
    """The second crawl, which another process has begun, waits until the first has ended."""
    crawled = Crawled()
    with contextlib.ExitStack() as closing:
        sites = [closing.enter_context(crawled.site(name)) for name in ("alpha", "beta")]
        jobs = []
        for server, url in zip(servers, sites, strict=True):
            made = server.call(
                tokens["crawler"], "create_source", kind="site", uri=f"{url}/", sync=True
            )
            jobs.append(made["job"]["id"])
            if len(jobs) == 1:
                assert crawled.begun.acquire(timeout=LIMIT_S)
        status: dict[str, Any] = {}
        while not (status.get("state") == "queued" and status.get("started_at")):
            # It was tried, found no turn, and was put off.
            status = servers[1].call(tokens["crawler"], "get_sync_status", job_id=jobs[1])
            assert status["state"] in ("queued", "running")
        assert set(crawled.asked) == {"alpha"}
        crawled.opened.set()
        for server, job in zip(servers, jobs, strict=True):
            while status.get("id") != job or status["state"] in ("queued", "running"):
                status = server.call(tokens["crawler"], "get_sync_status", job_id=job)
            assert status["state"] == "success", status
        first_of_beta = crawled.asked.index("beta")
        assert "alpha" not in crawled.asked[first_of_beta:]
