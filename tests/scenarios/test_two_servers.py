"""Two servers on one bucket: each sees what the other publishes within the freshness of heads."""

from __future__ import annotations

import contextlib
import signal
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx

from servers.command import start
from servers.s3 import bucket

FRESHNESS_S = 2.0


class Server:
    """A process that serves."""

    def __init__(self, environment: dict[str, str]) -> None:
        self.process, url = start(environment)
        self._client = httpx.Client(base_url=f"{url}/mcp/tools/", timeout=60)

    def call(self, tool: str, **arguments: Any) -> Any:
        answer = self._client.post(tool, json=arguments)
        assert answer.status_code == 200, answer.text
        return answer.json()

    def said(self, query: str) -> list[str]:
        """The texts that a search finds now."""
        return [hit["text"] for hit in self.call("search_docs", query=query)["results"]]

    def end(self) -> None:
        self._client.close()
        self.process.send_signal(signal.SIGTERM)
        self.process.communicate(timeout=30)


@contextlib.contextmanager
def servers(folder: Path) -> Iterator[tuple[Server, Server]]:
    with bucket() as there, contextlib.ExitStack() as closing:
        made = []
        for name in ("one", "two"):
            environment = {
                "DOCSTOW_STORE": there.at("shared"),
                "DOCSTOW_S3_ENDPOINT": there.endpoint,
                "DOCSTOW_CACHE": str(folder / name),
                "DOCSTOW_FRESHNESS_S": str(FRESHNESS_S),
            }
            made.append(Server(environment))
            closing.callback(made[-1].end)
        yield made[0], made[1]


def test_each_sees_what_the_other_has_published_within_the_freshness_of_heads(
    tmp_path: Path,
) -> None:
    with servers(tmp_path) as (one, two):
        one.call("push_document", text="# Anchors\n\nThey are dropped first.", uri="anchors.md")
        two.call("search_docs", query="anchors", consistent=True)
        for number, (writer, reader) in enumerate([(one, two), (two, one), (one, two)]):
            assert reader.said("anchors")  # so that the reader remembers the head from now on
            word = f"weighed{number}"
            writer.call("push_document", text=f"# Anchors\n\nThey are {word}.", uri="anchors.md")
            published = time.monotonic()
            # What reads its own writes sees them at once, and so does who asks for that.
            assert any(word in text for text in writer.said("anchors"))
            asked, found = published, False
            while not found and asked <= published + FRESHNESS_S:
                asked = time.monotonic()
                found = any(word in text for text in reader.said("anchors"))
            assert found, f"asked {asked - published:.1f} s after it was published"
