"""A resolver that lies leads no request to a private address, whenever it changes its answer."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import closing
from typing import Any

import pytest

from docstow.core.errors import DocstowError, Forbidden
from docstow.net import Fetcher
from docstow.net.retry import RetryPolicy
from servers.loopback import Fault, Loopback, content, redirect

#: An address that is public, at which the loopback server answers here.
PUBLIC = "93.184.215.14"
NAME = "rebinding.example"
INSIDE = (
    *("127.0.0.1", "127.255.255.254", "0.0.0.0", "10.0.0.1", "172.31.255.255", "192.168.0.1"),
    *("169.254.169.254", "169.254.170.2", "100.100.100.200", "168.63.129.16", "192.0.0.192"),
    *("198.18.0.1", "224.0.0.251", "240.0.0.1", "255.255.255.255", "192.88.99.1"),
    *("::1", "::", "fe80::1%eth0", "fe80::a9fe:a9fe", "fec0::1", "fd00:ec2::254", "ff02::1"),
    *("::ffff:127.0.0.1", "::ffff:7f00:1", "::ffff:169.254.169.254", "::127.0.0.1"),
    *("64:ff9b::127.0.0.1", "64:ff9b::a9fe:a9fe", "64:ff9b:1::7f00:1", "2002:7f00:1::"),
    *("2002:c0a8:1::1", "2001:0:7f00:1::", "2001::5601:5601", "3fff::1", "5f00::1", "100::1"),
)


class Resolver:
    """Answers look-ups one after the other, and says which addresses were connected to."""

    def __init__(self, running: Loopback, monkeypatch: pytest.MonkeyPatch) -> None:
        self.answers: list[list[str]] = []
        self.looked_up = 0
        self.connected: list[str] = []
        self._port = int(running.url.rpartition(":")[2])
        self._connect = socket.create_connection
        self._resolve = socket.getaddrinfo
        monkeypatch.setattr(socket, "getaddrinfo", self._answer)
        monkeypatch.setattr(socket, "create_connection", self._open)

    def _answer(self, host: str, port: int, *rest: Any, **more: Any) -> list[Any]:
        if host != NAME:
            return self._resolve(host, port, *rest, **more)
        found = self.answers[min(self.looked_up, len(self.answers) - 1)]
        self.looked_up += 1
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (each, port)) for each in found]

    def _open(self, address: tuple[str, int], *rest: Any, **more: Any) -> socket.socket:
        self.connected.append(address[0])
        return self._connect(("127.0.0.1", self._port), *rest, **more)


def _last(status: int) -> Fault:
    """Answer, and end the connection."""
    return lambda handler: handler.reply(status, b"last", {"Connection": "close"})


@pytest.fixture
def server() -> Iterator[Loopback]:
    with Loopback(content(b"inside")) as running:
        yield running


@pytest.fixture
def resolver(server: Loopback, monkeypatch: pytest.MonkeyPatch) -> Resolver:
    return Resolver(server, monkeypatch)


@pytest.fixture
def fetcher() -> Iterator[Fetcher]:
    policy = RetryPolicy(retries=1, backoff_s=0.01)
    with closing(Fetcher("https://project.example", policy=policy, private=())) as made:
        yield made


def test_a_public_answer_is_taken(fetcher: Fetcher, resolver: Resolver, server: Loopback) -> None:
    resolver.answers = [[PUBLIC]]
    assert fetcher.get(f"http://{NAME}/").body == b"inside"
    assert resolver.connected == [PUBLIC]
    assert server.requests[0].headers["host"] == NAME


@pytest.mark.parametrize("inside", INSIDE)
@pytest.mark.parametrize("order", ["alone", "behind a public one", "before a public one"])
def test_one_private_address_of_an_answer_is_enough(
    fetcher: Fetcher, resolver: Resolver, inside: str, order: str
) -> None:
    both = [inside] if order == "alone" else [PUBLIC, inside]
    resolver.answers = [both[::-1] if order.startswith("before") else both]
    with pytest.raises(Forbidden, match="private address"):
        fetcher.get(f"http://{NAME}/")
    assert resolver.connected == []


@pytest.mark.parametrize("inside", INSIDE)
@pytest.mark.parametrize("how", ["redirected", "asked again", "tried again"])
def test_what_was_public_a_moment_ago_is_looked_at_again(
    fetcher: Fetcher, resolver: Resolver, server: Loopback, inside: str, how: str
) -> None:
    """Each connection is to an address that was checked for it: the name's change gains nothing."""
    resolver.answers = [[PUBLIC], [inside]]
    if how == "redirected":
        server.plan("/", redirect(f"http://{NAME}:8080/latest/meta-data"))
    elif how == "tried again":
        server.plan("/", _last(503))
    else:
        server.plan("/", _last(200))
        assert fetcher.get(f"http://{NAME}/").body == b"last"
    with pytest.raises(DocstowError) as refused:
        fetcher.get(f"http://{NAME}/")
    assert isinstance(refused.value, Forbidden)
    assert resolver.connected == [PUBLIC]
    assert resolver.looked_up == 2
    assert len(server.requests) == 1
