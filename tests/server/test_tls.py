"""TLS by a proxy before the server, and of an S3 server whose authority is private."""

from __future__ import annotations

import contextlib
import ssl
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import httpx
import pytest

from docstow.core import auth
from docstow.core.errors import StoreError
from docstow.core.settings import load
from docstow.runtime import SAMPLE, Runtime
from docstow.server.limits import make_limits
from servers import s3
from servers.authority import make_authority, server_context
from servers.command import serving

pytestmark = pytest.mark.slow

HOST, CLIENT = "docs.example.org", "203.0.113.7"
TOKEN = auth.new_token()
HELLO = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    },
}
MCP = {"Accept": "application/json, text/event-stream", "Authorization": f"Bearer {TOKEN}"}


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_authority(tmp_path_factory.mktemp("authority"))


@contextlib.contextmanager
def behind_proxy(
    folder: Path, authority: Path, **environment: str
) -> Iterator[tuple[str, httpx.Client]]:
    """A server behind a proxy that ends TLS: its own address, and a client of the proxy."""
    with serving(folder, **environment) as (_, direct):
        forward = s3.forward(direct)

        def pass_on(request: s3.Request) -> s3.Answer:
            told = {
                "x-forwarded-for": CLIENT,
                "x-forwarded-proto": "https",
                "x-forwarded-host": request.headers["host"],
            }
            return forward(replace(request, headers=request.headers | told))

        trusted = ssl.create_default_context(cafile=str(authority / "ca.pem"))
        with (
            s3.serve(pass_on, server_context(authority)) as url,
            httpx.Client(base_url=url, headers={"Host": HOST}, verify=trusted, timeout=60) as made,
        ):
            assert url.startswith("https://")
            yield direct, made


@pytest.fixture(scope="module")
def proxied(
    tmp_path_factory: pytest.TempPathFactory, authority: Path
) -> Iterator[tuple[str, httpx.Client]]:
    settings = {
        "DOCSTOW_AUTH": f"me:write:{auth.token_digest(TOKEN)}",
        "DOCSTOW_ALLOWED_HOSTS": HOST,
        "DOCSTOW_PROXIES": "127.0.0.1",
    }
    with behind_proxy(tmp_path_factory.mktemp("proxied"), authority, **settings) as made:
        yield made


def test_mcp_is_answered_through_the_proxy(proxied: tuple[str, httpx.Client]) -> None:
    client = proxied[1]
    same = client.post("/mcp", json=HELLO, headers=MCP | {"Origin": f"https://{HOST}"})
    assert same.status_code == 200
    assert "docstow" in same.text
    other = client.post("/mcp", json=HELLO, headers=MCP | {"Origin": "https://evil.example"})
    assert other.status_code == 403
    unknown = client.post("/mcp", json=HELLO, headers={"Accept": MCP["Accept"]})
    assert unknown.status_code == 401
    elsewhere = client.post("/mcp", json=HELLO, headers=MCP | {"Host": "other.example"})
    assert elsewhere.status_code == 403


def test_pages_and_cookies_are_those_of_the_address_that_people_use(
    proxied: tuple[str, httpx.Client],
) -> None:
    client = proxied[1]
    sent = {"Origin": f"https://{HOST}", "Sec-Fetch-Site": "same-origin"}
    given = {"token": TOKEN, "next": "/ui/connect"}
    answer = client.post("/ui/login", data=given, headers=sent)
    assert answer.status_code == 303
    assert "; secure" in answer.headers["set-cookie"].lower()
    cookie = answer.headers["set-cookie"].partition(";")[0]
    page = client.get("/ui/connect", headers={"Cookie": cookie}).text
    assert f"https://{HOST}/mcp" in page
    assert f"http://{HOST}" not in page


@pytest.mark.parametrize(("peer", "believed"), [("127.0.0.1", "https"), ("192.0.2.1", "")])
def test_only_a_named_proxy_tells_the_scheme(peer: str, believed: str) -> None:
    limits = make_limits(0, 0, ["127.0.0.1"], trusted=False)
    told = ("https, http", "ftp", "")
    assert [limits.scheme(peer, each) for each in told] == [believed, "", ""]


def test_a_server_of_this_machine_alone_refuses_what_a_proxy_passes_on(
    tmp_path: Path, authority: Path
) -> None:
    with behind_proxy(tmp_path, authority, DOCSTOW_ALLOWED_HOSTS=HOST) as (direct, client):
        refused = client.post("/mcp", json=HELLO, headers=MCP)
        assert refused.status_code == 401
        assert "came through a proxy" in refused.text
        assert client.get("/health").status_code == 200
        assert httpx.post(f"{direct}/mcp", json=HELLO, headers=MCP).status_code == 200


def test_a_bucket_behind_tls_of_a_private_authority(
    tmp_path: Path, authority: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with (
        s3.bucket() as bucket,
        s3.serve(s3.forward(bucket.endpoint), server_context(authority)) as endpoint,
    ):
        settings = {
            "store": bucket.at("docs"),
            "s3_endpoint": endpoint,
            "cache": str(tmp_path / "cache"),
            "offline": True,
        }
        with (
            contextlib.closing(Runtime(load(settings, {}))) as runtime,
            pytest.raises(StoreError, match="authority of its certificate in AWS_CA_BUNDLE"),
        ):
            runtime.check_store()
        monkeypatch.setenv("AWS_CA_BUNDLE", str(authority / "ca.pem"))
        with contextlib.closing(Runtime(load(settings, {}))) as runtime:
            runtime.check_store()
            runtime.rustdoc_files([SAMPLE]).ingest(SAMPLE)
        with contextlib.closing(Runtime(load(settings, {}))) as runtime:
            page = runtime.toolbox.call("get_item_doc", {"item_path": "stowage::Hold"})
            assert "Hold" in page.text
