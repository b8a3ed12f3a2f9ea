"""Rates of callers: whom a request counts for, and what one more is answered with."""

from __future__ import annotations

import ipaddress
from collections.abc import Mapping
from typing import Any

import httpx
import pytest

from docstow.core.auth import new_token, parse, token_digest
from docstow.core.errors import ConfigurationError, TooManyRequests
from docstow.server.limits import Limits, Rate, make_limits
from docstow.tools import Answer, Tool
from servers.mcp_fixture_server import fixture_app
from servers.web import serve


class Clock:
    """A clock that stands until it is set."""

    now = 100.0

    def __call__(self) -> float:
        return self.now


def test_a_bucket_holds_a_burst_and_is_refilled_at_its_rate() -> None:
    clock = Clock()
    rate = Rate("requests", 2.0, clock)
    for _ in range(6):
        rate.take("one")
    with pytest.raises(TooManyRequests) as refused:
        rate.take("one")
    assert refused.value.details["retry_after_s"] == 1
    rate.take("another")
    clock.now += 1.0
    rate.take("one", 2)
    with pytest.raises(TooManyRequests):
        rate.take("one")


def test_more_than_a_bucket_holds_is_taken_when_it_is_full() -> None:
    clock = Clock()
    rate = Rate("slow calls", 1.0, clock)
    rate.take("one", 50)
    with pytest.raises(TooManyRequests) as refused:
        rate.take("one", 50)
    assert refused.value.details["retry_after_s"] == 15
    clock.now += 15
    rate.take("one", 50)


def test_without_a_rate_nobody_is_limited() -> None:
    limits = make_limits(30.0, 2.0, (), trusted=True)
    for _ in range(1000):
        limits.requests.take("one")
        limits.slow.take("one")


@pytest.mark.parametrize(
    ("peer", "forwarded", "address"),
    [
        ("192.0.2.1", [], "192.0.2.1"),
        # Anybody can write the header.
        ("192.0.2.1", ["198.51.100.7"], "192.0.2.1"),
        ("10.0.0.5", ["198.51.100.7"], "198.51.100.7"),
        # What stands before the address that our proxy has added is not believed.
        ("10.0.0.5", ["203.0.113.9, 198.51.100.7"], "198.51.100.7"),
        ("10.0.0.5", ["203.0.113.9", "198.51.100.7, 10.1.2.3"], "198.51.100.7"),
        ("10.0.0.5", [], "10.0.0.5"),
        ("10.0.0.5", ["10.0.0.6"], "10.0.0.6"),
        ("::1", ["198.51.100.7"], "198.51.100.7"),
        ("2001:db8:1:2:3:4:5:6", [], "2001:db8:1:2::/64"),
        ("::ffff:192.0.2.1", [], "192.0.2.1"),
        ("10.0.0.5", ["unknown"], "unknown"),
    ],
)
def test_a_request_counts_for_an_address_that_nobody_can_choose(
    peer: str, forwarded: list[str], address: str
) -> None:
    limits = make_limits(1.0, 1.0, ("10.0.0.0/8", "::1"), trusted=False)
    assert limits.address(peer, forwarded) == address


def test_a_proxy_that_is_no_address_is_a_mistake() -> None:
    with pytest.raises(ConfigurationError, match="proxies: 'localhost'"):
        make_limits(1.0, 1.0, ("localhost",), trusted=False)


def _limits(requests: float, slow: float) -> Limits:
    clock = Clock()
    proxies = (ipaddress.ip_network("127.0.0.1"),)
    return Limits(Rate("requests", requests, clock), Rate("slow calls", slow, clock), proxies)


def _refusal(answer: httpx.Response) -> tuple[int, str, str]:
    body: Mapping[str, Any] = answer.json()
    return answer.status_code, answer.headers.get("retry-after", ""), body["error"]


def test_each_token_and_each_address_has_a_rate_of_its_own() -> None:
    token = new_token()
    policy = parse(["anonymous:read", f"me:read:{token_digest(token)}"], exposed=True)
    app = fixture_app(policy=policy, limits=_limits(1.0, 1.0))
    with serve(app) as url, httpx.Client(base_url=url) as client:

        def ask(**headers: str) -> httpx.Response:
            return client.get("/mcp/manifest", headers=headers)

        first = [ask(**{"X-Forwarded-For": "192.0.2.1"}) for _ in range(4)]
        assert [each.status_code for each in first] == [200, 200, 200, 429]
        assert _refusal(first[-1]) == (429, "1", "too_many_requests")
        assert "1 a second" in first[-1].json()["message"]
        assert ask(**{"X-Forwarded-For": "192.0.2.2"}).status_code == 200
        named = {"Authorization": f"Bearer {token}", "X-Forwarded-For": "192.0.2.1"}
        assert [ask(**named).status_code for _ in range(4)] == [200, 200, 200, 429]
        # Whoever tries tokens is counted, too; and the state of the server is told to anybody.
        wrong = {"Authorization": "Bearer x", "X-Forwarded-For": "192.0.2.3"}
        assert [ask(**wrong).status_code for _ in range(4)] == [401, 401, 401, 429]
        health = [client.get("/health").status_code for _ in range(9)]
        assert health == [200] * 9


def test_slow_calls_have_a_rate_of_their_own_however_they_are_called() -> None:
    def answer(_: Mapping[str, Any]) -> Answer:
        return Answer(text="done")

    slow = Tool("slow", "fixtures", "Slow", "Takes long.", (), answer, slow=True)
    call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "slow"}}
    batch = [{**call, "id": number} for number in range(15)]
    app = fixture_app(slow, limits=_limits(100.0, 1.0))
    with serve(app) as url, httpx.Client(base_url=url) as client:
        assert len(client.post("/mcp", json=batch).json()) == 15
        for refused in (client.post("/mcp", json=call), client.post("/mcp/tools/slow", json={})):
            assert _refusal(refused) == (429, "1", "too_many_requests")
        assert client.get("/mcp/manifest").status_code == 200
