"""A client of a named upstream asks no other host, whatever it is redirected to."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from docstow.core.errors import UpstreamError
from docstow.core.settings import load
from docstow.net.hosts import AllowedHosts
from docstow.sources import Upstreams
from docstow.store.objects import open_store
from servers.loopback import Loopback, content, redirect


def _upstreams(folder: Path, **settings: str) -> Upstreams:
    made = load({}, {f"DOCSTOW_{name.upper()}": value for name, value in settings.items()})
    return Upstreams(made, open_store(str(folder)))


@pytest.mark.parametrize(
    ("host", "allowed"),
    [
        ("docs.example", True),
        ("DOCS.example", True),
        ("docs.example:8443", False),
        ("cdn.docs.example", False),
        ("files.hub.example", True),
        ("eu.files.hub.example", True),
        ("hub.example", False),
        ("evil-hub.example", False),
        ("hub.example.evil.test", False),
        ("", False),
        ("169.254.169.254", False),
        ("[::1]", False),
    ],
)
def test_names_are_whole_hosts_or_those_below_one(host: str, allowed: bool) -> None:
    hosts = AllowedHosts({"docs.example", "*.hub.example"}, "it is another.")
    if allowed:
        hosts.check(host)
    else:
        with pytest.raises(UpstreamError, match=re.escape(f"{host} is not asked")):
            hosts.check(host)


def test_a_redirect_to_another_host_is_refused_unless_it_is_named(tmp_path: Path) -> None:
    with Loopback(content(b"elsewhere")) as other:
        target = f"{other.url}/latest/meta-data"
        with Loopback(redirect(target)) as docs:
            upstreams = _upstreams(tmp_path)
            with pytest.raises(UpstreamError) as refused:
                upstreams.upstream(docs.url).get(f"{docs.url}/crate/a/1.0.0/json")
            host = other.url.removeprefix("http://")
            assert refused.value.details["host"] == host
            assert "upstream_hosts" in str(refused.value)
            assert other.requests == []
            upstreams.close()
            named = _upstreams(tmp_path, upstream_hosts=host)
            answer = named.upstream(docs.url).get(f"{docs.url}/crate/a/1.0.0/json")
            assert answer.body == b"elsewhere"
            named.close()


def test_offline_no_redirect_leads_out(tmp_path: Path) -> None:
    with Loopback(content(b"elsewhere")) as other, Loopback(redirect(other.url)) as near:
        upstreams = _upstreams(tmp_path, offline="true", embeddings_url=near.url)
        with pytest.raises(UpstreamError, match="offline is on"):
            upstreams.fetcher().get(near.url)
        assert other.requests == []
        upstreams.close()


def test_files_of_a_registry_come_from_no_private_host_but_its_own(tmp_path: Path) -> None:
    from docstow.net.connection import Connection

    with Loopback(content(b"a file")) as registry:
        port = registry.url.rpartition(":")[2]
        upstreams = _upstreams(tmp_path, host="0.0.0.0", auth="docs:" + "x" * 32)
        fetcher = upstreams.registry_fetcher(Connection(proxy=""), [registry.url])
        assert fetcher.get(f"{registry.url}/a").body == b"a file"
        with pytest.raises(Exception, match="private address"):
            fetcher.get(f"http://localhost:{port}/a")
        assert len(registry.requests) == 1
        upstreams.close()
