"""Whatever comes at the endpoint of MCP is answered as JSON-RPC says, and never by a fault."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from docstow.core.auth import SCOPES
from fuzz.http_server import Fuzzed, fuzzed
from fuzz.mutation import mutated

pytestmark = [pytest.mark.slow, pytest.mark.timeout(3600)]

_HEADERS = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
_INTERNAL = -32603
_NAMES = ("docstow", "search_items", "get_item_doc", "verify_code", "list_sources", "ask")
#: What a value is replaced by.
_value: st.SearchStrategy[Any] = st.recursive(
    st.one_of(
        st.none(),
        st.booleans(),
        st.integers(),
        st.floats(allow_nan=False),
        st.text(max_size=20),
        st.sampled_from(["stowage", "stowage::Hold", "latest", "*", "2.0", *_NAMES]),
        st.sampled_from([-1, 0, 2**31, 2**63, 2**64, 10**400, 1e308]),
    ),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(st.text(max_size=8), inner, max_size=3)
    ),
    max_leaves=6,
)


def _message(method: str, params: dict[str, Any] | None = None) -> dict[str, Any]:
    message = {"jsonrpc": "2.0", "id": 1, "method": method}
    return message if params is None else {**message, "params": params}


def _call(tool: str, **arguments: Any) -> dict[str, Any]:
    return _message("tools/call", {"name": tool, "arguments": arguments})


_STATELESS = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
}
_CLIENT = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "x"}}
MESSAGES: list[Any] = [
    _message("initialize", _CLIENT),
    {"jsonrpc": "2.0", "method": "notifications/initialized"},
    _message("ping"),
    _message("tools/list", {"cursor": ""}),
    _message("tools/list", {"_meta": _STATELESS}),
    _message("resources/list"),
    _message("prompts/list"),
    _message("server/discover", {"_meta": _STATELESS}),
    _call("search_items", crate="stowage", query="hold", k=3, kinds=["struct"]),
    _call("get_item_doc", item_path="stowage::Hold"),
    _call("get_module_tree", crate="stowage", depth=2),
    _call("search_docs", query="hold", top_k=2, filters={"path": "a*"}),
    _call("diff_versions", crate="stowage", old_version="0.1.0", new_version="0.1.0"),
    _call("verify_code", code="use stowage::Hold;", versions={"stowage": "0.1.0"}),
    _call("list_versions", package="stowage", requirement="^0.1"),
    _call("list_sources", kind="crate"),
    _call("get_metrics"),
    [_message("ping"), _call("list_collections")],
    {"jsonrpc": "2.0", "id": 1, "result": {}},
]


def _places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    yield path
    members = dict(enumerate(value)) if isinstance(value, list) else value
    for key, each in members.items() if isinstance(members, dict) else ():
        yield from _places(each, (*path, key))


@st.composite
def changed(draw: st.DrawFn) -> bytes:
    """A message in which values are replaced, left out or added."""
    message = json.loads(json.dumps(draw(st.sampled_from(MESSAGES))))
    for _ in range(draw(st.integers(0, 3))):
        path = draw(st.sampled_from(list(_places(message))))
        if not path:
            message = draw(_value) if draw(st.booleans()) else [message, message]
            continue
        holder = message
        for key in path[:-1]:
            holder = holder[key]
        act = draw(st.sampled_from(["replace", "remove", "add"]))
        if act == "remove":
            del holder[path[-1]]
        elif act == "replace" or not isinstance(holder, dict):
            holder[path[-1]] = draw(_value)
        else:
            holder[draw(st.text(max_size=8))] = draw(_value)
    return json.dumps(message).encode()


def _bodies() -> st.SearchStrategy[bytes]:
    return st.one_of(changed(), mutated([json.dumps(each).encode() for each in MESSAGES]))


_headers = st.fixed_dictionaries(
    {},
    optional={
        "MCP-Protocol-Version": st.sampled_from(
            ["2024-11-05", "2025-03-26", "2025-11-25", "2026-07-28", "1", "x" * 500, ""]
        ),
        "Mcp-Method": st.sampled_from(["tools/call", "ping", "=?base64?eA==?=", "=?base64?!?="]),
        "Mcp-Name": st.sampled_from([*_NAMES, "=?base64?//8=?=", ""]),
        "Mcp-Session-Id": st.sampled_from(["x", ""]),
        "Accept": st.sampled_from(["*/*", "application/json", "text/event-stream", "text/html"]),
        "Content-Type": st.sampled_from(
            ["application/json; charset=latin-1", "text/plain", "multipart/form-data", "{}"]
        ),
        "Content-Encoding": st.sampled_from(["gzip", "x"]),
        "Origin": st.sampled_from(["null", "http://localhost", "https://evil.example", "%"]),
    },
)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Fuzzed]:
    """A server whose store all tests of this module change."""
    with fuzzed(tmp_path_factory.mktemp("mcp")) as made:
        yield made


@pytest.mark.parametrize("scope", SCOPES)
def test_whatever_comes_is_answered_as_the_protocol_says(server: Fuzzed, scope: str) -> None:
    with httpx.Client(base_url=server.url, timeout=60) as client:

        @settings(suppress_health_check=list(HealthCheck))
        @given(_bodies(), _headers)
        def check(body: bytes, headers: dict[str, str]) -> None:
            sent = {**_HEADERS, **server.headers[scope], **headers}
            answer = client.post("/mcp", content=body, headers=sent)
            assert answer.status_code < 500, answer.text
            for each in _answers(answer):
                assert each.get("jsonrpc", "2.0") == "2.0"
                error = each.get("error")
                assert not isinstance(error, dict) or error["code"] != _INTERNAL, error
                assert '"internal_error"' not in json.dumps(each)

        check()


def _answers(answer: httpx.Response) -> list[dict[str, Any]]:
    """Return the objects of an answer, whatever it comes as."""
    if answer.headers.get("content-type", "").startswith("text/event-stream"):
        lines = [line[5:] for line in answer.text.splitlines() if line.startswith("data:")]
        return [json.loads(line) for line in lines if line.strip()]
    if not answer.content:
        return []
    found = answer.json()
    return found if isinstance(found, list) else [found]
