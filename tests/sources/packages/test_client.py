"""What a registry is asked for again."""

from __future__ import annotations

import contextlib

import pytest

from docstow.net import Fetcher
from docstow.net.decompress import Limits
from docstow.sources.packages import Registry
from docstow.sources.packages.client import RegistryClient
from servers.clock import Clock
from servers.loopback import Handler, Loopback

DATE = "Sun, 01 Nov 2026 10:00:00 GMT"


@pytest.mark.parametrize(
    ("validator", "condition"),
    [
        ({"ETag": '"one"', "Last-Modified": DATE}, ("if-none-match", '"one"')),
        ({"Last-Modified": DATE}, ("if-modified-since", DATE)),
    ],
)
def test_a_second_look_costs_no_body(validator: dict[str, str], condition: tuple[str, str]) -> None:
    sent: list[int] = []

    def answer(handler: Handler) -> None:
        known = handler.asked.headers.get(condition[0]) == condition[1]
        sent.append(304 if known else 200)
        handler.begin(sent[-1], 0 if known else 5, validator)
        handler.wfile.write(b"" if known else b"boats")

    clock = Clock()
    with Loopback(answer) as server, contextlib.closing(Fetcher("tests")) as fetcher:
        client = RegistryClient[str](
            fetcher, Registry(server.url), Limits(), monotonic=clock.monotonic
        )

        def listing() -> str | None:
            return client.listing(f"{server.url}/boats", lambda found: found.body.decode(), {})

        assert [listing(), listing()] == ["boats", "boats"]
        assert sent == [200]
        for _ in range(2):
            clock.now += 601
            assert listing() == "boats"
        assert sent == [200, 304, 304]
