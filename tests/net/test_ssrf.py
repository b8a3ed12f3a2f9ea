"""Private addresses are out of reach, whatever name, spelling or wrapping they come in."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager

import httpx
import pytest

from docstow.core.errors import Forbidden, UpstreamError
from docstow.core.settings import Settings, allowed_private, load
from docstow.net import Fetcher
from docstow.net.retry import RetryPolicy
from docstow.net.ssrf import GuardedTransport, is_public
from servers.loopback import Loopback, content, redirect


@pytest.fixture
def server() -> Iterator[Loopback]:
    with Loopback(content(b"inside")) as running:
        yield running


@contextmanager
def guarded(private: bool | tuple[str, ...] = ()) -> Iterator[Fetcher]:
    fetcher = Fetcher("https://project.example", policy=RetryPolicy(retries=0), private=private)
    yield fetcher
    fetcher.close()


@pytest.mark.parametrize(
    ("address", "expected"),
    [
        ("93.184.215.14", True),
        ("2606:2800:21f:cb07:6820:80da:af6b:8b2c", True),
        ("64:ff9b::5db8:d70e", True),
        ("127.0.0.1", False),
        ("10.1.2.3", False),
        ("172.16.0.1", False),
        ("192.168.1.1", False),
        ("100.64.0.1", False),
        ("169.254.169.254", False),
        ("0.0.0.0", False),
        ("224.0.0.1", False),
        ("255.255.255.255", False),
        ("240.0.0.1", False),
        ("::", False),
        ("::1", False),
        ("fe80::1%eth0", False),
        ("fd00:ec2::254", False),
        ("ff02::1", False),
        ("::ffff:127.0.0.1", False),
        ("::ffff:169.254.169.254", False),
        ("64:ff9b::7f00:1", False),
        ("2002:7f00:1::", False),
        ("2002:a9fe:a9fe::1", False),
        ("::127.0.0.1", False),
        ("fec0::1", False),
        ("192.0.0.8", False),
        ("192.0.0.192", False),
        ("168.63.129.16", False),
        ("::ffff:168.63.129.16", False),
        ("198.18.0.1", False),
        ("64:ff9b:1::a9fe:a9fe", False),
        ("64:ff9b:1::5db8:d70e", False),
        ("64:ff9b::a9fe:a9fe", False),
        ("100::1", False),
        ("3fff::1", False),
        ("2001:2::1", False),
    ],
)
def test_public_addresses(address: str, expected: bool) -> None:
    assert is_public(address) is expected


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "2130706433", "0x7f.1", "[::1]"])
def test_loopback_is_refused_in_every_spelling(server: Loopback, host: str) -> None:
    port = server.url.rpartition(":")[2]
    with guarded(False) as fetcher, pytest.raises(Forbidden, match="private_hosts"):
        fetcher.get(f"http://{host}:{port}/")
    assert server.requests == []


def test_a_redirect_to_a_private_address_is_refused(server: Loopback) -> None:
    server.plan("/", redirect(f"http://localhost:{server.url.rpartition(':')[2]}/inside"))
    with guarded(("127.0.0.1",)) as fetcher:
        with pytest.raises(Forbidden, match="localhost is on a private address"):
            fetcher.get(f"{server.url}/")
        assert fetcher.get(f"{server.url}/").body == b"inside"


def test_the_default_reaches_everything(server: Loopback) -> None:
    with closing(Fetcher("https://project.example")) as fetcher:
        assert fetcher.get(f"{server.url}/").body == b"inside"


def test_the_address_that_was_checked_is_the_one_that_is_connected_to(server: Loopback) -> None:
    """A name that is public when it is checked and private afterwards leads nowhere private."""
    answers = iter([["192.0.2.1", "127.0.0.1"], ["127.0.0.1"]])
    asked: list[str] = []

    def resolve(host: str, port: int) -> list[str]:
        asked.append(host)
        return next(answers)

    port = server.url.rpartition(":")[2]
    with httpx.Client(transport=GuardedTransport((), resolve)) as client:
        for _ in range(2):
            with pytest.raises(Forbidden):
                client.get(f"http://rebinding.example:{port}/")
    assert asked == ["rebinding.example", "rebinding.example"]
    assert server.requests == []


def test_a_named_host_is_reached_by_the_addresses_that_were_resolved(server: Loopback) -> None:
    port = server.url.rpartition(":")[2]
    transport = GuardedTransport(["Intranet.example"], lambda host, port: ["127.0.0.1"])
    with httpx.Client(transport=transport) as client:
        assert client.get(f"http://intranet.example:{port}/").content == b"inside"
    assert server.requests[0].headers["host"] == f"intranet.example:{port}"


def test_a_proxy_of_the_environment_is_no_way_around(
    server: Loopback, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HTTP_PROXY", server.url)
    with guarded() as fetcher, pytest.raises(Forbidden):
        fetcher.get("http://127.0.0.2:9/")
    assert server.requests == []


def test_a_name_without_an_address_is_unreachable() -> None:
    with guarded() as fetcher, pytest.raises(UpstreamError, match="cannot be reached"):
        fetcher.get("http://nowhere.invalid/")


def test_who_listens_on_loopback_may_name_private_hosts() -> None:
    assert allowed_private(Settings()) is True
    assert allowed_private(Settings(host="0.0.0.0")) == ()
    named = load({"host": "0.0.0.0"}, {"DOCSTOW_PRIVATE_HOSTS": "intranet, 10.0.0.5"})
    assert allowed_private(named) == ("intranet", "10.0.0.5")
    assert allowed_private(load({"host": "::"}, {"DOCSTOW_PRIVATE_HOSTS": "*"})) is True
