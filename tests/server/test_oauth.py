"""The server as a resource server of OAuth: forged tokens, keys that change, what clients learn."""

from __future__ import annotations

import base64
import contextlib
import hashlib
import hmac
import json
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import httpx
import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from docstow.core.errors import ConfigurationError, Unauthorized, UpstreamError
from docstow.core.settings import load
from docstow.runtime import Runtime
from docstow.server.oauth import AccessTokens
from servers.loopback import Handler, Loopback, status
from servers.web import serve

ISSUER = "https://id.example/realms/docs"
AUDIENCE = "https://docs.example/mcp"
RSA = rsa.generate_private_key(65537, 2048)
EC = ec.generate_private_key(ec.SECP256R1())
ED = ed25519.Ed25519PrivateKey.generate()
STRANGER = rsa.generate_private_key(65537, 2048)
SHORT = rsa.generate_private_key(65537, 1024)
P384 = ec.generate_private_key(ec.SECP384R1())
OWN_EC = ec.generate_private_key(ec.SECP256R1())
SIGNERS: dict[str, Any] = {"RS256": RSA, "ES256": EC, "EdDSA": ED}


def _jwk(key: Any, kid: str, algorithm: str) -> dict[str, Any]:
    made = jwt.get_algorithm_by_name(algorithm).to_jwk(key.public_key(), as_dict=True)
    return {**made, "kid": kid, "use": "sig", "alg": algorithm}


KEYS = [_jwk(key, name, name) for name, key in SIGNERS.items()]


class Issuer:
    """An issuer's metadata and keys without a network; counts what is asked."""

    def __init__(self, keys: list[dict[str, Any]] | None = None) -> None:
        self.keys = KEYS if keys is None else keys
        self.metadata: dict[str, Any] = {"issuer": ISSUER, "jwks_uri": "https://id.example/jwks"}
        self.down = False
        self.asked: list[str] = []
        self.now = 1000.0

    def fetch(self, url: str) -> Any:
        self.asked.append(url)
        if self.down:
            raise UpstreamError("id.example does not answer.")
        return {"keys": self.keys} if url.endswith("jwks") else self.metadata

    def tokens(self, *audiences: str) -> AccessTokens:
        return AccessTokens(ISSUER, audiences or (AUDIENCE,), self.fetch, clock=lambda: self.now)


def _claims(**changes: Any) -> dict[str, Any]:
    now = int(time.time())
    made = {"iss": ISSUER, "aud": AUDIENCE, "sub": "ann", "iat": now, "exp": now + 300}
    made |= {"scope": "openid docstow:read"}
    return {name: value for name, value in (made | changes).items() if value is not None}


def _signed(
    claims: Mapping[str, Any], algorithm: str = "RS256", key: Any = None, **header: Any
) -> str:
    headers = {"kid": algorithm} | header
    return jwt.encode(dict(claims), key or SIGNERS[algorithm], algorithm, headers=headers)


def _raw(header: Mapping[str, Any], claims: Mapping[str, Any], key: bytes = b"") -> str:
    def part(value: bytes) -> str:
        return base64.urlsafe_b64encode(value).rstrip(b"=").decode()

    body = ".".join(part(json.dumps(each).encode()) for each in (header, claims))
    return f"{body}.{part(hmac.digest(key, body.encode(), hashlib.sha256) if key else b'')}"


@pytest.mark.parametrize("algorithm", SIGNERS)
@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"aud": ["https://other.example", AUDIENCE]},
        {"aud": None, "client_id": AUDIENCE},
        {"nbf": 20},
        {"exp": -20},
    ],
)
def test_a_token_of_the_issuer_is_accepted(algorithm: str, changes: dict[str, Any]) -> None:
    # Times are given as seconds from now; a run of all tests takes longer than the leeway.
    now = int(time.time())
    claims = {name: now + each if isinstance(each, int) else each for name, each in changes.items()}
    found = Issuer().tokens().claims(_signed(_claims(**claims), algorithm, typ="at+jwt"))
    assert found["sub"] == "ann"


PEM = RSA.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
FORGED: dict[str, Callable[[], str]] = {
    "no signature": lambda: _raw({"alg": "none", "kid": "RS256"}, _claims()),
    "none in capitals": lambda: _raw({"alg": "NoNe", "kid": "RS256"}, _claims()),
    "the public key as a secret": lambda: _raw({"alg": "HS256", "kid": "RS256"}, _claims(), PEM),
    "a stranger's key": lambda: _signed(_claims(), key=STRANGER),
    "a key of its own in the header": lambda: _signed(
        _claims(), key=STRANGER, jwk=_jwk(STRANGER, "RS256", "RS256")
    ),
    "the address of a stranger's keys": lambda: _signed(
        _claims(), key=STRANGER, jku="https://evil.example/jwks", x5u="https://evil.example/x"
    ),
    "another key's name": lambda: _signed(_claims(), kid="ES256"),
    "a name that is no text": lambda: _raw({"alg": "RS256", "kid": ["RS256"]}, _claims(), b"x"),
    "an algorithm that is not offered": lambda: _signed(_claims(), "RS512", RSA, kid="RS256"),
    "expired": lambda: _signed(_claims(exp=int(time.time()) - 90)),
    "never expires": lambda: _signed(_claims(exp=None)),
    "expires at a text": lambda: _raw({"alg": "RS256", "kid": "RS256"}, _claims(exp="x"), b"x"),
    "not yet valid": lambda: _signed(_claims(nbf=int(time.time()) + 600)),
    "another issuer": lambda: _signed(_claims(iss="https://evil.example")),
    "an issuer below it": lambda: _signed(_claims(iss=f"{ISSUER}/evil")),
    "an issuer with a slash more": lambda: _signed(_claims(iss=f"{ISSUER}/")),
    "no issuer": lambda: _signed(_claims(iss=None)),
    "another audience": lambda: _signed(_claims(aud="https://docs.example")),
    "audiences that are others": lambda: _signed(_claims(aud=["a", f"{AUDIENCE}/x"])),
    "an audience that is no text": lambda: _signed(_claims(aud={AUDIENCE: 1})),
    "an empty audience, by a client": lambda: _signed(_claims(aud=[], client_id=AUDIENCE)),
    "no audience": lambda: _signed(_claims(aud=None)),
    "unknown extensions": lambda: _signed(_claims(), crit=["exp2"], exp2=1),
    "a token of another kind": lambda: _signed(_claims(), typ="logout+jwt"),
    "a changed body": lambda: _swapped(_signed(_claims()), _claims(scope="docstow:admin")),
    "too long": lambda: _signed(_claims(extra="x" * 9000)),
    "a signature of zeros": lambda: _resigned(_signed(_claims(), "ES256"), bytes(64)),
    "a signature left out": lambda: _resigned(_signed(_claims()), b""),
    "a signature of another body": lambda: _swapped(_signed(_claims(sub="bob")), _claims()),
    "one byte of the signature changed": lambda: _flipped(_signed(_claims())),
    "a part more": lambda: _signed(_claims()) + ".e30",
    "white space in it": lambda: _signed(_claims()).replace(".", ".\n", 1),
    "another alphabet": lambda: _signed(_claims()).replace(".", "=.", 1),
    "RSA by another padding": lambda: _signed(_claims(), "PS256", RSA, kid="RS256"),
    "another curve": lambda: _signed(_claims(), "ES384", P384, kid="ES256"),
    "a curve of its own in the header": lambda: _signed(
        _claims(), "ES256", OWN_EC, jwk=_jwk(OWN_EC, "ES256", "ES256")
    ),
    "a certificate of its own": lambda: _signed(_claims(), key=STRANGER, x5c=["MIIB"]),
    "the key's members as a secret": lambda: _raw(
        {"alg": "HS256", "kid": "RS256"}, _claims(), json.dumps(KEYS[0]).encode()
    ),
    "an empty secret": lambda: _raw({"alg": "HS256", "kid": "RS256"}, _claims(), b"\0"),
    "a secret of a file": lambda: _raw(
        {"alg": "HS256", "kid": "../../../../dev/null"}, _claims(), b"\0"
    ),
    "algorithms in a list": lambda: _raw({"alg": ["RS256"], "kid": "RS256"}, _claims(), b"x"),
    "no algorithm": lambda: _raw({"kid": "RS256"}, _claims(), b"x"),
    "no key's name, a stranger's key": lambda: jwt.encode(_claims(), STRANGER, "RS256"),
    "a body that is not encoded": lambda: _signed(_claims(), crit=["b64"], b64=False),
    "a token in a token": lambda: _signed({"jwt": _signed(_claims())}, cty="JWT"),
    "a body that is a list": lambda: _resealed(b"[]"),
    "a body that is no JSON": lambda: _resealed(b"{"),
    "expires at infinity": lambda: _resealed(_said(exp=float("inf"))),
    "expires at no number": lambda: _resealed(_said(exp=float("nan"))),
    "expires at true": lambda: _resealed(_said(exp=True)),
    "expired, in a list": lambda: _resealed(_said(exp=[2**40])),
    "valid from a text on": lambda: _resealed(_said(nbf="tomorrow")),
    "issued tomorrow": lambda: _signed(_claims(iat=int(time.time()) + 86_400)),
    "issuers in a list": lambda: _resealed(_said(iss=[ISSUER])),
    "an issuer in capitals": lambda: _signed(_claims(iss=ISSUER.upper())),
    "an audience with blanks": lambda: _signed(_claims(aud=f" {AUDIENCE} ")),
    "audiences in a text": lambda: _signed(_claims(aud=f"https://other.example {AUDIENCE}")),
    "no JSON": lambda: "a.b.c",
    "nothing": lambda: "..",
    "encrypted": lambda: "eyJhbGciOiJSU0EtT0FFUCIsImVuYyI6IkEyNTZHQ00ifQ.e30.e30.e30.e30",
    "not ASCII": lambda: "é.é.é",
}


def _swapped(token: str, claims: Mapping[str, Any]) -> str:
    head, _, signature = token.split(".")
    body = base64.urlsafe_b64encode(json.dumps(dict(claims)).encode()).rstrip(b"=").decode()
    return f"{head}.{body}.{signature}"


def _part(value: bytes) -> str:
    return base64.urlsafe_b64encode(value).rstrip(b"=").decode()


def _resigned(token: str, signature: bytes) -> str:
    return f"{token.rpartition('.')[0]}.{_part(signature)}"


def _flipped(token: str) -> str:
    signature = bytearray(base64.urlsafe_b64decode(token.rpartition(".")[2] + "=="))
    signature[20] ^= 1
    return _resigned(token, bytes(signature))


def _said(**claims: Any) -> bytes:
    """Return a body as it is written, with what no library writes."""
    return json.dumps(_claims(**claims)).encode()


def _resealed(body: bytes) -> str:
    """Return a token of the issuer's own key whose body is anything."""
    return jwt.api_jws.encode(body, RSA, "RS256", headers={"kid": "RS256"})


@pytest.mark.parametrize("kind", FORGED)
def test_a_forged_token_is_refused(kind: str) -> None:
    issuer = Issuer()
    with pytest.raises(Unauthorized) as refused:
        issuer.tokens().claims(FORGED[kind]())
    assert "ann" not in str(refused.value)
    assert not [url for url in issuer.asked if "evil" in url]


@pytest.mark.filterwarnings("ignore::jwt.warnings.InsecureKeyLengthWarning")
@pytest.mark.parametrize(
    ("key", "signer"),
    [
        (_jwk(SHORT, "RS256", "RS256"), SHORT),
        (_jwk(RSA, "RS256", "RS256") | {"use": "enc"}, RSA),
        (_jwk(RSA, "RS256", "RS256") | {"alg": "RS512"}, RSA),
        (_jwk(EC, "RS256", "ES256"), RSA),
        ({"kty": "RSA", "kid": "RS256", "n": "!", "e": "AQAB"}, RSA),
        ({"kty": "oct", "kid": "RS256", "k": "c2VjcmV0"}, RSA),
    ],
)
def test_keys_that_are_weak_or_for_other_uses_are_not_taken(
    key: dict[str, Any], signer: rsa.RSAPrivateKey
) -> None:
    with pytest.raises(Unauthorized):
        Issuer([key]).tokens().claims(_signed(_claims(), key=signer))


def test_a_new_key_is_asked_for_when_it_first_signs() -> None:
    issuer = Issuer([])
    tokens = issuer.tokens()
    token = _signed(_claims())
    with pytest.raises(Unauthorized, match="does not name"):
        tokens.claims(token)
    issuer.keys = KEYS
    with pytest.raises(Unauthorized):
        tokens.claims(token)
    issuer.now += 31
    assert tokens.claims(token)["sub"] == "ann"
    # A key that the issuer withdraws is forgotten when the keys are asked for again.
    issuer.keys, issuer.now = [KEYS[1]], issuer.now + 601
    with pytest.raises(Unauthorized):
        tokens.claims(token)


def test_unknown_keys_do_not_make_the_server_ask() -> None:
    issuer = Issuer()
    tokens = issuer.tokens()
    for number in range(1000):
        with pytest.raises(Unauthorized):
            tokens.claims(_raw({"alg": "RS256", "kid": str(number)}, _claims(), b"x"))
    assert issuer.asked == [
        "https://id.example/.well-known/oauth-authorization-server/realms/docs",
        "https://id.example/jwks",
    ]


def test_known_keys_outlast_an_issuer_that_does_not_answer() -> None:
    issuer = Issuer()
    tokens = issuer.tokens()
    token = _signed(_claims())
    assert tokens.claims(token)
    issuer.down = True
    issuer.now += 3600
    assert tokens.claims(token)
    issuer.now += 86_400
    with pytest.raises(UpstreamError):
        tokens.claims(token)
    fresh = issuer.tokens()
    for _ in range(3):
        with pytest.raises(UpstreamError, match="does not answer"):
            fresh.claims(token)
    assert len(issuer.asked) == 2 + 2 + 2 + 2


@pytest.mark.parametrize(
    "metadata",
    [
        {"issuer": "https://evil.example", "jwks_uri": "https://id.example/jwks"},
        {"issuer": ISSUER, "jwks_uri": "http://id.example/jwks"},
        {"issuer": ISSUER},
    ],
)
def test_metadata_of_another_or_without_tls_are_not_believed(metadata: dict[str, Any]) -> None:
    issuer = Issuer()
    issuer.metadata = metadata
    with pytest.raises(UpstreamError, match="oauth_issuer"):
        issuer.tokens().claims(_signed(_claims()))
    assert not [url for url in issuer.asked if url.endswith("jwks")]


# Over HTTP, with an issuer on loopback


@pytest.fixture
def issuer() -> Iterator[Loopback]:
    def answer(handler: Handler) -> None:
        if handler.place == "/.well-known/openid-configuration":
            found: Any = {"issuer": running.url, "jwks_uri": f"{running.url}/jwks"}
        elif handler.place == "/jwks":
            found = {"keys": KEYS}
        else:
            return status(404)(handler)
        return handler.reply(200, json.dumps(found).encode())

    with Loopback(answer) as running:
        yield running


@pytest.fixture
def server(issuer: Loopback, tmp_path: Path) -> Iterator[str]:
    flags = {
        "store": str(tmp_path / "store"),
        "cache": str(tmp_path / "cache"),
        "oauth_issuer": issuer.url,
        "oauth_resource": AUDIENCE,
        "auth": "ci:read:" + hashlib.sha256(b"docstow_ci").hexdigest(),
    }
    with contextlib.closing(Runtime(load(flags, {}))) as runtime, serve(runtime.app) as url:
        yield url


def test_clients_learn_of_the_issuer(server: str, issuer: Loopback) -> None:
    refused = httpx.get(f"{server}/mcp/manifest")
    assert refused.status_code == 401
    metadata_url = "https://docs.example/.well-known/oauth-protected-resource/mcp"
    assert refused.headers["www-authenticate"] == (
        f'Bearer realm="docstow", scope="docstow:read", resource_metadata="{metadata_url}"'
    )
    for path in ("", "/mcp"):
        told = httpx.get(f"{server}/.well-known/oauth-protected-resource{path}")
        assert told.json() == {
            "resource": AUDIENCE,
            "authorization_servers": [issuer.url],
            "scopes_supported": ["docstow:read", "docstow:write", "docstow:admin"],
            "bearer_methods_supported": ["header"],
            "resource_name": "docstow",
        }


def test_metadata_name_the_host_that_was_asked_where_no_address_is_set(
    issuer: Loopback, tmp_path: Path
) -> None:
    flags = {
        "store": str(tmp_path / "store"),
        "cache": str(tmp_path / "cache"),
        "oauth_issuer": issuer.url,
        "oauth_audience": "clients",
        "auth": "ci:read:" + hashlib.sha256(b"docstow_ci").hexdigest(),
    }
    with contextlib.closing(Runtime(load(flags, {}))) as runtime, serve(runtime.app) as url:
        metadata_url = f"{url}/.well-known/oauth-protected-resource/mcp"
        refused = httpx.get(f"{url}/mcp/manifest")
        assert f'resource_metadata="{metadata_url}"' in refused.headers["www-authenticate"]
        assert httpx.get(metadata_url).json()["resource"] == f"{url}/mcp"


def test_scopes_of_a_token_hold(server: str, issuer: Loopback) -> None:
    def ask(path: str, arguments: dict[str, Any], **claims: Any) -> httpx.Response:
        token = _signed(_claims(iss=issuer.url, **claims))
        headers = {"Authorization": f"Bearer {token}"}
        return httpx.post(f"{server}/mcp/tools/{path}", json=arguments, headers=headers)

    pushed = {"source": "notes", "path": "a", "text": "# A"}
    assert ask("list_sources", {}).status_code == 200
    refused = ask("push_document", pushed)
    assert refused.status_code == 403
    challenge = refused.headers["www-authenticate"]
    assert 'error="insufficient_scope", scope="docstow:write"' in challenge
    assert "resource_metadata=" in challenge
    assert ask("list_sources", {}, scope="openid").status_code == 403
    assert ask("list_sources", {}, scope=None, scp=["docstow:write"]).status_code == 200
    invalid = ask("list_sources", {}, exp=1)
    assert invalid.status_code == 401
    assert 'error="invalid_token"' in invalid.headers["www-authenticate"]
    assert len(issuer.paths("jwks")) == 1


def test_a_call_by_mcp_asks_for_the_scope_that_it_needs(server: str, issuer: Loopback) -> None:
    def ask(calls: list[tuple[str, dict[str, Any]]], **claims: Any) -> httpx.Response:
        sent: list[dict[str, Any]] = [
            {
                "jsonrpc": "2.0",
                "id": number,
                "method": "tools/call",
                "params": {"name": name, "arguments": arguments},
            }
            for number, (name, arguments) in enumerate(calls)
        ]
        token = _signed(_claims(iss=issuer.url, **claims))
        headers = {"Authorization": f"Bearer {token}", "MCP-Protocol-Version": "2025-03-26"}
        body = sent if len(sent) > 1 else sent[0]
        return httpx.post(f"{server}/mcp?toolsets=collections", json=body, headers=headers)

    make = ("create_collection", {"name": "notes"})
    listed: tuple[str, dict[str, Any]] = ("list_collections", {})
    refused = ask([make])
    assert refused.status_code == 403
    assert refused.headers["www-authenticate"] == (
        'Bearer realm="docstow", error="insufficient_scope", scope="docstow:write", '
        'resource_metadata="https://docs.example/.well-known/oauth-protected-resource/mcp"'
    )
    assert refused.json()["id"] == 0
    assert refused.json()["result"]["isError"]
    # Of several at once none is done.
    several = ask([listed, make])
    assert several.status_code == 403
    assert len(several.json()) == 2
    allowed = ask([make], scope="docstow:write")
    assert allowed.status_code == 200
    assert allowed.json()["result"]["structuredContent"]["created"]
    assert ask([listed]).status_code == 200
    assert ask([("no_such_tool", {})]).status_code == 200


def test_tokens_of_the_operator_hold_beside_those_of_the_issuer(server: str) -> None:
    def ask(token: str) -> int:
        headers = {"Authorization": f"Bearer {token}"}
        return httpx.get(f"{server}/mcp/manifest", headers=headers).status_code

    assert ask("docstow_ci") == 200
    assert ask("docstow_other") == 401


def test_a_claim_binds_a_token_to_sources(issuer: Loopback, tmp_path: Path) -> None:
    flags = {
        "store": str(tmp_path / "store"),
        "cache": str(tmp_path / "cache"),
        "oauth_issuer": issuer.url,
        "oauth_resource": AUDIENCE,
        "oauth_sources": "https://docs.example/sources",
    }
    with contextlib.closing(Runtime(load(flags, {}))) as runtime, serve(runtime.app) as url:
        for name in ("team-a/notes", "team-b/notes"):
            runtime.toolbox.call("create_collection", {"name": name})

        def seen(**claims: Any) -> list[str]:
            token = _signed(_claims(iss=issuer.url, **claims))
            found = httpx.get(f"{url}/sources", headers={"Authorization": f"Bearer {token}"})
            return [each["uri"] for each in found.json()["results"]]

        claim = flags["oauth_sources"]
        assert seen(**{claim: ["team-a/*", "crate:*"]}) == ["team-a/notes"]
        assert seen(**{claim: "crate:* team-b/*"}) == ["team-b/notes"]
        assert seen(**{claim: "*:*"}) == ["team-a/notes", "team-b/notes"]
        for nothing in ([], "", None, {"team-a/*": 1}, [["team-a/*"]], 7, True):
            assert seen(**{claim: nothing}) == []


def test_an_issuer_needs_the_address_of_this_server(tmp_path: Path) -> None:
    flags = {"store": str(tmp_path), "oauth_issuer": "https://id.example"}
    with (
        contextlib.closing(Runtime(load(flags, {}))) as runtime,
        pytest.raises(ConfigurationError, match="oauth_resource"),
    ):
        assert runtime.app
