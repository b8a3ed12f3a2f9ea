"""Registries that are reached as pip and npm reach them: their own authorities, and proxies."""

from __future__ import annotations

import contextlib
import logging
import os
import ssl
from collections.abc import Iterator
from pathlib import Path

import pytest

from docstow.core.errors import ConfigurationError, UpstreamError
from docstow.net import Fetcher
from docstow.net.connection import Connection
from docstow.net.retry import RetryPolicy
from docstow.sources.packages.configuration import Surroundings
from docstow.sources.packages.connections import npm_connection, python_connection
from servers.authority import make_authority, server_context
from servers.loopback import Handler, Loopback


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with ``ca.pem`` and ``server.pem``, the certificate and key of 127.0.0.1."""
    return make_authority(tmp_path_factory.mktemp("authority"))


@pytest.fixture(scope="module")
def server(authority: Path) -> Iterator[Loopback]:
    """A server on loopback that speaks TLS by a certificate that nobody else trusts."""
    context = server_context(authority)
    with Loopback(lambda handler: handler.reply(200, b"boats"), tls=context) as made:
        yield made


@pytest.fixture
def home(tmp_path: Path) -> Path:
    for each in ("home", "root", "prefix"):
        (tmp_path / each).mkdir()
    return tmp_path / "home"


def surroundings(home: Path, **environment: str) -> Surroundings:
    none = {"XDG_CONFIG_DIRS": str(home / "none"), "PATH": "", "PREFIX": str(home / "none")}
    beside = home.parent
    return Surroundings(
        environment={**none, **environment},
        home=home,
        root=beside / "root",
        prefix=beside / "prefix",
        run=lambda _: "",
    )


def fetch(connection: Connection, url: str) -> bytes:
    policy = RetryPolicy(retries=0)
    with contextlib.closing(Fetcher("tests", policy=policy, connection=connection)) as fetcher:
        return fetcher.get(url).body


def test_an_authority_of_pip_is_trusted(server: Loopback, authority: Path, home: Path) -> None:
    with pytest.raises(UpstreamError, match=r"is not trusted.*cert of pip"):
        fetch(python_connection(surroundings(home)), server.url)
    for name in ("PIP_CERT", "SSL_CERT_FILE", "REQUESTS_CA_BUNDLE"):
        # The file of all users of this machine may have an authority of its own.
        named = {name: str(authority / "ca.pem"), "PIP_CONFIG_FILE": os.devnull}
        made = python_connection(surroundings(home, **named))
        assert fetch(made, server.url) == b"boats"
    (home / ".pip").mkdir()
    (home / ".pip" / "pip.conf").write_text(f"[global]\ncert = {authority}/ca.pem\n")
    assert fetch(python_connection(surroundings(home)), server.url) == b"boats"


def test_an_authority_of_npm_is_trusted(server: Loopback, authority: Path, home: Path) -> None:
    text = (authority / "ca.pem").read_text()
    line = text.strip().replace("\n", "\\n")
    for npmrc, environment in (
        (f"cafile={authority}/ca.pem", {}),
        (f'ca="{line}"', {}),
        (f'ca[]="{line}"\nca[]="{line}"', {}),
        ("", {"NODE_EXTRA_CA_CERTS": str(authority / "ca.pem")}),
        ("", {"npm_config_cafile": str(authority / "ca.pem")}),
    ):
        (home / ".npmrc").write_text(npmrc)
        assert fetch(npm_connection(surroundings(home, **environment)), server.url) == b"boats"
    (home / ".npmrc").write_text("")
    with pytest.raises(UpstreamError, match="is not trusted"):
        fetch(npm_connection(surroundings(home)), server.url)


def test_certificates_are_checked_whatever_a_configuration_says(
    server: Loopback, home: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (home / ".npmrc").write_text("strict-ssl=false\n")
    caplog.set_level(logging.WARNING)
    for made in (
        npm_connection(surroundings(home)),
        npm_connection(surroundings(home, NODE_TLS_REJECT_UNAUTHORIZED="0")),
        python_connection(surroundings(home, PIP_TRUSTED_HOST="127.0.0.1")),
        python_connection(surroundings(home, UV_INSECURE_HOST="127.0.0.1")),
    ):
        with pytest.raises(UpstreamError, match="not obeyed"):
            fetch(made, server.url)
    assert caplog.text.count("not obeyed") == 4


def test_a_project_does_not_say_whom_to_trust(
    server: Loopback, authority: Path, home: Path, caplog: pytest.LogCaptureFixture
) -> None:
    project = home.parent / "root" / ".npmrc"
    project.write_text(f"cafile={authority}/ca.pem\nhttps-proxy=http://127.0.0.1:1\n")
    made = npm_connection(surroundings(home))
    assert made == Connection()
    assert "a project cannot say it" in caplog.text


def test_files_without_certificates_are_told(authority: Path, home: Path) -> None:
    (home / "empty.pem").write_text("none")
    for name in ("gone.pem", "empty.pem"):
        with pytest.raises(ConfigurationError, match=name):
            fetch(python_connection(surroundings(home, PIP_CERT=str(home / name))), "http://x")
        shown = python_connection(surroundings(home, PIP_CLIENT_CERT=str(home / name)))
        with pytest.raises(ConfigurationError, match=name):
            fetch(shown, "http://x")
    beside = npm_connection(surroundings(home, NODE_EXTRA_CA_CERTS=str(home / "gone.pem")))
    assert beside.further is None


def test_a_clients_certificate_is_shown(authority: Path, home: Path) -> None:
    context = server_context(authority)
    context.load_verify_locations(authority / "ca.pem")
    context.verify_mode = ssl.CERT_REQUIRED
    named = {"PIP_CERT": str(authority / "ca.pem")}
    with Loopback(lambda handler: handler.reply(200, b"boats"), tls=context) as server:
        with pytest.raises(UpstreamError):
            fetch(python_connection(surroundings(home, **named)), server.url)
        named["PIP_CLIENT_CERT"] = str(authority / "server.pem")
        assert fetch(python_connection(surroundings(home, **named)), server.url) == b"boats"


def test_proxies_are_those_of_the_tools(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A proxy is asked for the whole address; the name is not resolved here."""
    asked: list[str] = []

    def answer(handler: Handler) -> None:
        asked.append(handler.path)
        handler.reply(200, b"boats")

    with Loopback(answer) as proxy, Loopback(answer) as other:
        monkeypatch.setenv("http_proxy", other.url)
        url = "http://registry.example/boats"
        (home / ".npmrc").write_text(f"proxy={proxy.url}\n")
        for made in (
            python_connection(surroundings(home, PIP_PROXY=proxy.url)),
            npm_connection(surroundings(home)),
            npm_connection(surroundings(home, npm_config_https_proxy=proxy.url)),
        ):
            proxy.requests.clear()
            assert fetch(made, url) == b"boats"
            assert (len(proxy.requests), asked[-1]) == (1, url)
        assert not other.requests
        assert fetch(Connection(), url) == b"boats"
        assert len(other.requests) == 1
        past = npm_connection(surroundings(home, NO_PROXY="registry.example"))
        assert past.direct == ("registry.example",)
        proxy.requests.clear()
        with pytest.raises(UpstreamError, match="cannot be reached"):
            fetch(past, url)
        assert fetch(npm_connection(surroundings(home)), f"{other.url}/x") == b"boats"
        assert not proxy.requests
