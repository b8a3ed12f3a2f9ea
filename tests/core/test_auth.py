"""Who may call what: the setting, credentials over HTTP, and what an anonymous caller gets."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient
from hypothesis import given
from hypothesis import strategies as st

from docstow.cli import main
from docstow.core import auth as access
from docstow.core.auth import ADMIN, OWNER, READ, SCOPES, WRITE, Caller, parse, token_digest
from docstow.core.errors import ConfigurationError, Forbidden, Unauthorized
from docstow.core.settings import load
from docstow.core.visibility import Visibility
from docstow.runtime import Runtime
from growth import growth
from servers.docs_rs import DocsRs

TOKENS = {scope: f"docstow_{scope}-token" for scope in SCOPES}
ENTRIES = [f"{scope}er:{scope}:{token_digest(token)}" for scope, token in TOKENS.items()]


def test_scopes_include_those_before_them() -> None:
    may = {
        scope: [wanted for wanted in SCOPES if Caller("x", scope).may(wanted)] for scope in SCOPES
    }
    assert may == {READ: [READ], WRITE: [READ, WRITE], ADMIN: [READ, WRITE, ADMIN]}
    assert not any(Caller("x", "").may(wanted) for wanted in SCOPES)


def test_nothing_said_is_open_at_home_and_closed_outside() -> None:
    assert parse([], exposed=False).identify("") == OWNER
    assert parse([], exposed=True).identify("") == access.NOBODY


def test_a_token_stands_for_its_entry_alone() -> None:
    policy = parse(ENTRIES, exposed=True)
    callers = {scope: policy.identify(f"Bearer {token}") for scope, token in TOKENS.items()}
    assert callers == {scope: Caller(f"{scope}er", scope) for scope in SCOPES}
    for wrong in ("Bearer docstow_other", f"Basic {TOKENS[ADMIN]}", "Bearer", TOKENS[READ]):
        with pytest.raises(Unauthorized):
            policy.identify(wrong)


@given(st.text(max_size=80))
def test_no_text_but_the_token_is_let_in(text: str) -> None:
    policy = parse(ENTRIES, exposed=True)
    if text.strip() in TOKENS.values():
        return
    with pytest.raises(Unauthorized):
        policy.identify(f"Bearer {text}")


def test_all_mistakes_are_told_at_once_and_no_digest_is() -> None:
    digest = "0" * 64
    words = ["open", f"ci:owner:{digest}", "ci:read:abc", f"a:read:{digest}", f"a:write:{digest}"]
    with pytest.raises(ConfigurationError) as caught:
        parse(words, exposed=True)
    message = caught.value.message
    assert message.count("\n") >= 3
    assert "open lets everybody in" in message
    assert digest not in message


def test_a_new_token_is_let_in_by_its_digest() -> None:
    token = access.new_token()
    assert token != access.new_token()
    policy = parse([f"ci:write:{token_digest(token)}"], exposed=True)
    assert policy.identify(f"bearer {token}") == Caller("ci", WRITE)


def test_the_command_line_makes_tokens(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["token", "new", "ci", "--scope", "write"]) == 0
    out, err = capsys.readouterr()
    policy = parse([err.split()[0]], exposed=True)
    assert policy.identify(f"Bearer {out.strip()}") == Caller("ci", WRITE)
    assert main(["token", "new", "a:b"]) == 1
    assert "NAME:read|write|admin:SHA256" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("claims", "scope"),
    [
        (["docstow:read"], READ),
        (["openid", "docstow/write"], WRITE),
        (["admin", "read"], ADMIN),
        (["openid"], ""),
        (["https://api.example/docstow/write"], WRITE),
        (["billing/admin", "docstow:read"], READ),
        (["other:admin", "notdocstow/admin"], ""),
    ],
)
def test_claims_of_an_authorizer_in_front(claims: list[str], scope: str) -> None:
    assert parse(["jwt"], exposed=True).from_claims("me", claims) == Caller("me", scope)


def test_requirements_tell_anonymous_callers_from_weak_ones() -> None:
    with access.calling(Caller("", READ)):
        access.require(READ)
        with pytest.raises(Unauthorized):
            access.require(WRITE)
        with pytest.raises(Unauthorized):
            access.require_credential("stowing")
    with access.calling(Caller("reader", READ)):
        access.require_credential("stowing")
        with pytest.raises(Forbidden):
            access.require(WRITE)
    access.require(ADMIN)


@pytest.fixture
def client(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[TestClient]:
    with DocsRs(tmp_path / "no-crates") as upstream:
        settings = load(
            {
                "store": str(tmp_path / "store"),
                "cache": str(tmp_path / "cache"),
                "host": "0.0.0.0",
                "allowed_hosts": "testserver",
                "auth": ",".join(request.param),
                "docs_rs_url": upstream.url,
                "crates_index_url": upstream.index_url,
                "retries": 0,
            },
            {},
        )
        runtime = Runtime(settings)
        runtime.ingest_sample()
        yield TestClient(runtime.app)
        runtime.close()


def status(client: TestClient, tool: str, arguments: Any, token: str = "") -> tuple[int, str]:
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    response = client.post(f"/mcp/tools/{tool}", json=arguments, headers=headers)
    body = response.json() if "json" in response.headers["content-type"] else {}
    return response.status_code, body.get("error", "")


SEARCH = {"crate": "stowage", "query": "hold"}


@pytest.mark.parametrize("client", [()], indirect=True)
def test_a_server_that_others_reach_is_closed_until_told_otherwise(client: TestClient) -> None:
    assert client.get("/health").status_code == 200
    for path in ("/commands", "/openapi.json", "/mcp/manifest", "/sources", "/metrics"):
        assert client.get(path).status_code == 401
    answer = client.post("/mcp", json={"jsonrpc": "2.0", "id": 1, "method": "ping"})
    assert (answer.status_code, answer.headers["www-authenticate"]) == (
        401,
        'Bearer realm="docstow"',
    )
    assert status(client, "search_items", SEARCH) == (401, "unauthorized")


@pytest.mark.parametrize("client", [(*ENTRIES, "anonymous:read")], indirect=True)
def test_each_tool_asks_for_its_scope(client: TestClient) -> None:
    push, delete = {"text": "# A text\n\nof words"}, {"source_id": "default"}
    assert status(client, "search_items", SEARCH) == (200, "")
    assert status(client, "push_document", push) == (401, "unauthorized")
    assert status(client, "push_document", push, TOKENS[READ]) == (403, "forbidden")
    assert status(client, "push_document", push, TOKENS[WRITE]) == (200, "")
    assert status(client, "delete_source", delete, TOKENS[WRITE]) == (403, "forbidden")
    assert status(client, "delete_source", delete, TOKENS[ADMIN]) == (200, "")
    call = {"name": "push_document", "arguments": push}
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call}
    headers = {"MCP-Protocol-Version": "2025-11-25"}
    answer = client.post("/mcp?toolsets=collections", json=message, headers=headers).json()[
        "result"
    ]
    assert (answer["isError"], "unauthorized" in answer["content"][0]["text"]) == (True, True)


@pytest.mark.parametrize("client", [(*ENTRIES, "anonymous:read")], indirect=True)
def test_an_anonymous_caller_causes_no_ingest(client: TestClient) -> None:
    registered = {"kind": "collection", "uri": "notes"}
    assert status(client, "create_source", registered) == (401, "unauthorized")
    assert status(client, "start_sync", {"source_id": "notes"}) == (401, "unauthorized")


@pytest.mark.parametrize("client", [("open",)], indirect=True)
def test_open_is_a_choice(client: TestClient) -> None:
    assert status(client, "push_document", {"text": "words"}) == (200, "")


@pytest.mark.parametrize(
    ("pattern", "kind", "name", "seen"),
    [
        ("team-a/*", "github", "team-a/docs@main", True),
        ("team-a/*", "collection", "team-a/notes", True),
        ("team-a/*", "github", "team-ab/docs@main", False),
        ("team-a/*", "github", "x/team-a/docs", False),
        ("team-a/*", "node", "team-a/x", False),
        ("*", "site", "https://docs.example/", True),
        ("*", "crate", "serde", False),
        ("*", "python", "requests", False),
        ("*", "project", "work", False),
        ("https://docs.example/a/*", "site", "https://docs.example/a/b", True),
        ("https://docs.example/a/*", "site", "https://docs.example.evil/a/b", False),
        ("site:https://docs.example/*", "github", "https://docs.example/x", False),
        ("site:https://*.example/*", "site", "https://a.example/x", True),
        ("crate:*", "crate", "serde", True),
        ("crate:*", "local", "serde", False),
        ("crate:serde-*", "crate", "Serde_Json", True),
        ("python:Acme_*", "python", "acme-tools", True),
        ("node:@team-a/*", "node", "@team-a/ui", True),
        ("node:foo-js", "node", "foo.js", False),
        ("crate:a*b*c", "crate", "a_b_bc", True),
        ("crate:a*b*c", "crate", "acb", False),
        ("crate:ab*ba", "crate", "aba", False),
        ("crate:[a-z]*", "crate", "serde", False),
        ("crate:.*", "crate", "serde", False),
        ("", "site", "", False),
        ("*", "site", "", False),
        ("*:*", "crate", "serde", False),
    ],
)
def test_patterns_of_sources(pattern: str, kind: str, name: str, *, seen: bool) -> None:
    assert Visibility((pattern,)).sees(kind, name) is seen
    assert not Visibility(()).sees(kind, name)


def test_a_pattern_of_many_stars_is_not_slow() -> None:
    pattern = "a*" * 200 + "b"
    found = growth(lambda times: Visibility((pattern,)).sees("site", "a" * 1000 * times))
    assert found < 2


def test_tokens_are_bound_to_the_sources_of_their_entries() -> None:
    digest = token_digest("docstow_a")
    entries = [f"a:write:{digest}:team-a/*;crate:*", "anonymous:read:python:*"]
    policy = parse(entries, exposed=True, kinds=lambda: ("crate", "python"))
    who = policy.identify("Bearer docstow_a")
    assert who == Caller("a", WRITE, Visibility(("team-a/*", "crate:*")))
    assert policy.identify("") == Caller("", READ, Visibility(("python:*",)))
    for entry in (f"a:read:{digest}:crates:*", f"a:read:{digest}:", f"a:read:{digest}:é"):
        with pytest.raises(ConfigurationError):
            parse([entry], exposed=True, kinds=lambda: ("crate",))
    everything = parse([f"a:read:{digest}:*:*"], exposed=True)
    assert everything.identify("Bearer docstow_a") == Caller("a", READ)


def test_the_command_line_binds_tokens(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["token", "new", "a", "--sources", "team-a/*", "--sources", "crate:*"]) == 0
    out, err = capsys.readouterr()
    who = parse([err.split()[0]], exposed=True).identify(f"Bearer {out.strip()}")
    assert who.bound == Visibility(("team-a/*", "crate:*"))
    assert main(["token", "new", "a", "--sources", "crates:*"]) == 1
    assert main(["token", "new", "a", "--sources", "team-a/*,b:admin:open"]) == 1


def test_a_caller_is_told_the_same_of_what_exists_and_what_does_not() -> None:
    with access.calling(Caller("a", ADMIN, Visibility(("crate:serde",)))):
        assert access.unseen("crate", "serde") == ""
        told = access.unseen("crate", "tokio")
        assert told.startswith("crate:tokio is not for the credential 'a', which sees crate:serde.")
        with pytest.raises(Forbidden, match="which sees crate:serde"):
            access.require_sight("site", "https://docs.example/")
