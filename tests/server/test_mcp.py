"""The protocol alone: messages in, replies out, for both eras."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from docstow.core.errors import Ingesting
from docstow.server.mcp import DEFAULT, Pending, Protocol, Reply, Selection
from docstow.server.mcp.messages import HANDSHAKE, decode_header
from docstow.tools import Toolbox
from servers.mcp_fixture_server import RESOURCE, fixture_protocol

PROTOCOL = fixture_protocol()
SERVER = {"name": "fixtures", "version": "1.2.3"}
NEW = "2026-07-28"
META = {
    "io.modelcontextprotocol/protocolVersion": NEW,
    "io.modelcontextprotocol/clientCapabilities": {},
}
STAMP = {"_meta": {"io.modelcontextprotocol/serverInfo": SERVER}}
CAPABILITIES: dict[str, Any] = {
    "tools": {},
    "logging": {},
    "resources": {},
    "prompts": {},
    "completions": {},
}
CACHING = {"ttlMs": 300_000, "cacheScope": "public"}

Headers = list[tuple[str, str]]


def _message(method: str, params: Mapping[str, Any] | None = None, **more: Any) -> dict[str, Any]:
    named = {} if params is None else {"params": params}
    return {"jsonrpc": "2.0", "id": 1, "method": method, **named, **more}


def _exchange(
    message: Any, headers: Headers | None = None, selection: Selection = DEFAULT
) -> Reply:
    """Feed a message (bytes as they are, anything else as JSON) and run what it asks for."""
    body = message if isinstance(message, bytes) else json.dumps(message).encode()
    outcome = PROTOCOL.receive(body, headers, selection)
    if isinstance(outcome, Pending):
        outcome = outcome.run("r")
    return outcome


def _legacy(method: str, params: Mapping[str, Any] | None = None) -> Any:
    reply = _exchange(_message(method, params), [("MCP-Protocol-Version", "2025-11-25")])
    return json.loads(reply.body)


def _new(
    method: str,
    params: Mapping[str, Any] | None = None,
    *,
    meta: Any = META,
    headers: Mapping[str, str] | None = None,
) -> tuple[int, Any]:
    """One request of the stateless era, with the headers that belong to it unless replaced."""
    message = _message(method, {**(params or {}), "_meta": meta})
    sent = {"MCP-Protocol-Version": NEW, "Mcp-Method": method}
    if name := (params or {}).get("name"):
        sent["Mcp-Name"] = name
    reply = _exchange(message, [*{**sent, **(headers or {})}.items()])
    return reply.status, json.loads(reply.body)


def _error(body: Any) -> tuple[int, Any]:
    return body["error"]["code"], body["id"]


# The handshake era.


@pytest.mark.parametrize(
    ("asked", "agreed"),
    [
        *((version, version) for version in HANDSHAKE),
        (NEW, "2025-11-25"),
        ("1999-01-01", "2025-11-25"),
    ],
)
def test_initialize_agrees_on_a_handshake_version(asked: str, agreed: str) -> None:
    params = {"protocolVersion": asked, "capabilities": {}, "clientInfo": {"name": "c"}}
    assert json.loads(_exchange(_message("initialize", params), []).body) == {
        "jsonrpc": "2.0",
        "id": 1,
        "result": {
            "protocolVersion": agreed,
            "capabilities": CAPABILITIES,
            "serverInfo": SERVER,
            "instructions": "Tools for tests.",
        },
    }


def test_initialize_after_a_discovery_is_still_a_handshake() -> None:
    headers = [("mcp-protocol-version", NEW), ("mcp-method", "initialize")]
    reply = _exchange(_message("initialize", {"protocolVersion": "2025-06-18"}), headers)
    assert json.loads(reply.body)["result"]["protocolVersion"] == "2025-06-18"


def test_ping_is_answered_with_nothing() -> None:
    assert _legacy("ping") == {"jsonrpc": "2.0", "id": 1, "result": {}}


@pytest.mark.parametrize("version", [*HANDSHAKE, None])
def test_any_handshake_version_may_be_named_whatever_was_agreed(version: str | None) -> None:
    headers = [] if version is None else [("Mcp-Protocol-Version", version)]
    reply = _exchange(_message("tools/list"), headers)
    assert reply.status == 200
    assert "tools" in json.loads(reply.body)["result"]


def test_an_unknown_version_header_is_refused_with_the_version_to_use() -> None:
    reply = _exchange(_message("tools/list"), [("mcp-protocol-version", "2030-01-01")])
    assert reply.status == 400
    error = json.loads(reply.body)["error"]
    assert (error["code"], error["data"]) == (
        -32022,
        {"supported": [NEW], "requested": "2030-01-01"},
    )


def test_a_listed_tool_shows_its_schema_and_the_hints_that_say_something() -> None:
    tools = {tool["name"]: tool for tool in _legacy("tools/list")["result"]["tools"]}
    assert tools["add"] == {
        "name": "add",
        "description": "A tool for tests.",
        "inputSchema": PROTOCOL.toolbox.schema(PROTOCOL.toolbox.get("add"), brief=True),
        "annotations": {"readOnlyHint": True, "openWorldHint": False},
    }
    # Without sessions nobody remembers what the client said that it could do.
    assert "test_missing_capability" not in tools


def test_a_structured_answer_comes_as_itself_and_as_compact_text() -> None:
    answer = _legacy("tools/call", {"name": "add", "arguments": {"a": "2", "b": 3}})
    assert answer["result"] == {
        "content": [{"type": "text", "text": '{"sum":5,"terms":[2,3]}'}],
        "structuredContent": {"sum": 5, "terms": [2, 3]},
        "isError": False,
    }


def test_a_page_comes_as_text_alone_and_blocks_as_they_are() -> None:
    page = _legacy("tools/call", {"name": "test_simple_text"})["result"]
    assert page == {
        "content": [{"type": "text", "text": "This is a simple text response for testing."}],
        "isError": False,
    }
    blocks = _legacy("tools/call", {"name": "test_embedded_resource", "arguments": None})["result"]
    assert blocks == {"content": [RESOURCE], "isError": False}


@pytest.mark.parametrize(
    ("name", "arguments", "body"),
    [
        (
            "test_error_handling",
            {},
            {
                "error": "crate_not_found",
                "message": "There is no crate 'tokyo'. Did you mean tokio?",
                "suggestions": [{"name": "tokio", "score": 0.8}],
            },
        ),
        (
            "add",
            {"a": "many"},
            {
                "error": "invalid_parameter",
                "message": "a: must be an integer, not 'many'",
                "field": "a",
                "reason": "must be an integer, not 'many'",
            },
        ),
    ],
)
def test_a_tools_error_is_a_result_that_the_model_can_read(
    name: str, arguments: dict[str, Any], body: dict[str, Any]
) -> None:
    result = _legacy("tools/call", {"name": name, "arguments": arguments})["result"]
    (block,) = result.pop("content")
    assert result == {"isError": True}
    assert json.loads(block["text"]) == body


def test_a_wait_is_an_error_too_so_that_the_model_asks_again() -> None:
    message = json.dumps(_message("tools/call", {"name": "add"})).encode()
    pending = PROTOCOL.receive(message)
    assert isinstance(pending, Pending)
    reply = pending.refuse(Ingesting("Soon.", job_id="j", retry_after_s=3))
    result = json.loads(reply.body)["result"]
    assert result["isError"] is True
    assert json.loads(result["content"][0]["text"])["retry_after_s"] == 3


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"name": "no_such_tool"}, "Unknown tool: no_such_tool. There are test_simple_text, "),
        ({"name": "break"}, "Unknown tool: break. There are "),
        ({"name": 5}, "The name of a tool must be a string"),
        ({}, "The name of a tool must be a string"),
        ({"name": "add", "arguments": [1]}, "The arguments of a tool must be an object"),
    ],
)
def test_a_call_of_no_tool_is_an_error_of_the_request(params: Any, message: str) -> None:
    error = _legacy("tools/call", params)["error"]
    assert error["code"] == -32602
    assert error["message"].startswith(message)


def test_an_unknown_method_and_a_cursor_never_given_are_errors_in_band() -> None:
    wrong: list[tuple[str, Any, int]] = [
        ("roots/list", {}, -32601),
        ("server/discover/x", {}, -32601),
        ("tools/list", {"cursor": "x"}, -32602),
        ("tools/list", [1], -32602),
    ]
    for method, params, code in wrong:
        reply = _exchange(_message(method, params), [])
        assert (reply.status, _error(json.loads(reply.body))) == (200, (code, 1))


# Messages of any era.


@pytest.mark.parametrize(
    "body",
    [b"", b"{", b"\xff", b'{"jsonrpc":"2.0","id":1,"x":NaN}', b"[" * 100_000, b"1" * 5000],
    ids=["empty", "cut", "not UTF-8", "NaN", "deep", "digits"],
)
def test_what_is_not_json_is_a_parse_error(body: bytes) -> None:
    reply = _exchange(body, [])
    assert (reply.status, _error(json.loads(reply.body))) == (400, (-32700, None))


@pytest.mark.parametrize(
    ("message", "answered"),
    [
        (5, None),
        ("ping", None),
        ([], None),
        ({"id": 7, "method": "ping"}, 7),
        ({"jsonrpc": "1.0", "id": 7, "method": "ping"}, 7),
        ({"jsonrpc": "2.0", "id": 7}, 7),
        ({"jsonrpc": "2.0", "id": 7, "method": 5}, 7),
        ({"jsonrpc": "2.0", "id": None, "method": "ping"}, None),
        ({"jsonrpc": "2.0", "id": True, "method": "ping"}, None),
        ({"jsonrpc": "2.0", "id": 1.5, "method": "ping"}, None),
        ({"jsonrpc": "2.0", "id": {}, "method": "ping"}, None),
    ],
)
def test_what_is_no_message_is_an_invalid_request(message: Any, answered: Any) -> None:
    reply = _exchange(message, [])
    assert (reply.status, _error(json.loads(reply.body))) == (400, (-32600, answered))


@pytest.mark.parametrize(
    "message",
    [
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}},
        {"jsonrpc": "2.0", "method": "unheard/of", "params": 5},
        {"jsonrpc": "2.0", "id": 1, "result": {}},
        {"jsonrpc": "2.0", "id": 1, "error": {"code": 1, "message": "no"}},
    ],
)
def test_notifications_and_responses_are_accepted_in_silence(message: Any) -> None:
    for headers in ([], [("mcp-protocol-version", NEW)], None):
        assert _exchange(message, headers) == Reply(202, b"")


@given(st.text() | st.integers())
def test_the_id_comes_back_as_it_was(request_id: str | int) -> None:
    reply = _exchange(_message("ping", id=request_id), [])
    assert json.loads(reply.body)["id"] == request_id


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=8,
)
methods = st.sampled_from(
    ["initialize", "ping", "server/discover", "tools/list", "tools/call", "prompts/get", "x"]
)
metas = st.just(META) | st.dictionaries(st.sampled_from(sorted(META)), json_values)
params = json_values | st.fixed_dictionaries(
    {},
    optional={
        "name": st.sampled_from(["add", "list_versions"]) | json_values,
        "arguments": json_values,
        "protocolVersion": st.sampled_from([*HANDSHAKE, NEW]) | json_values,
        "_meta": metas,
    },
)
messages = st.fixed_dictionaries(
    {"jsonrpc": st.just("2.0")},
    optional={"id": json_values, "method": methods | json_values, "params": params},
)
header_lists = st.none() | st.lists(
    st.tuples(
        st.sampled_from(["MCP-Protocol-Version", "mcp-method", "Mcp-Name", "accept"]),
        st.sampled_from([*HANDSHAKE, NEW, "tools/call", "add", "=?base64?YWRk?="]) | st.text(),
    )
)


@given(messages | json_values | st.lists(messages, max_size=3), header_lists)
def test_whatever_comes_is_answered_properly(message: Any, headers: Headers | None) -> None:
    reply = _exchange(message, headers)
    assert reply.status in (200, 202, 400, 404)
    answers = json.loads(reply.body) if reply.body else []
    for answer in answers if isinstance(answers, list) else [answers]:
        assert answer["jsonrpc"] == "2.0"
        assert ("result" in answer) != ("error" in answer)


# Arrays of messages, which only 2025-03-26 had.


def test_an_array_is_answered_in_one_with_its_calls_run() -> None:
    batch = [
        _message("tools/call", {"name": "add", "arguments": {"a": 1}}, id="a"),
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        _message("ping", id="b"),
        _message("tools/call", {"name": "add", "arguments": {"a": 5}}, id="c"),
        _message("initialize", {"protocolVersion": "2025-03-26"}, id="d"),
        _message("server/discover", {"_meta": META}, id="e"),
        5,
    ]
    for headers in ([], [("mcp-protocol-version", "2025-03-26")], None):
        reply = _exchange(batch, headers)
        answers = json.loads(reply.body)
        assert reply.status == 200
        assert [answer["id"] for answer in answers] == ["a", "b", "c", "d", "e", None]
        assert answers[0]["result"]["structuredContent"] == {"sum": 2, "terms": [1, 1]}
        assert answers[1]["result"] == {}
        assert answers[2]["result"]["structuredContent"] == {"sum": 6, "terms": [5, 1]}
        assert [answer["error"]["code"] for answer in answers[3:]] == [-32600] * 3


def test_an_array_of_notifications_wants_no_answer() -> None:
    assert _exchange([{"jsonrpc": "2.0", "method": "notifications/x"}] * 2, []) == Reply(202)


@pytest.mark.parametrize("version", ["2025-06-18", "2025-11-25", NEW])
def test_later_revisions_have_no_arrays(version: str) -> None:
    reply = _exchange([_message("ping")], [("mcp-protocol-version", version)])
    assert (reply.status, _error(json.loads(reply.body))) == (400, (-32600, None))


def test_an_array_has_a_limit() -> None:
    assert _exchange([_message("ping")] * 50, []).status == 200
    assert _exchange([_message("ping")] * 51, []).status == 400


# The stateless era.


def test_discovery_tells_all_that_a_handshake_would() -> None:
    assert _new("server/discover") == (
        200,
        {
            "jsonrpc": "2.0",
            "id": 1,
            "result": {
                "resultType": "complete",
                "supportedVersions": [NEW],
                "capabilities": CAPABILITIES,
                "instructions": "Tools for tests.",
                **CACHING,
                **STAMP,
            },
        },
    )


def test_the_list_says_how_long_it_keeps() -> None:
    status, body = _new("tools/list")
    tools = body["result"].pop("tools")
    assert (status, body["result"]) == (200, {"resultType": "complete", **CACHING, **STAMP})
    assert [tool["name"] for tool in tools] == [tool.name for tool in PROTOCOL.tools(DEFAULT)]


def test_a_call_of_the_stateless_era() -> None:
    assert _new("tools/call", {"name": "add", "arguments": {"a": 1}}) == (
        200,
        {
            "jsonrpc": "2.0",
            "id": 1,
            "result": {
                "resultType": "complete",
                "content": [{"type": "text", "text": '{"sum":2,"terms":[1,1]}'}],
                "structuredContent": {"sum": 2, "terms": [1, 1]},
                "isError": False,
                **STAMP,
            },
        },
    )


def test_standard_streams_have_no_headers_to_agree_with() -> None:
    reply = _exchange(_message("tools/list", {"_meta": META}))
    assert json.loads(reply.body)["result"]["resultType"] == "complete"


@pytest.mark.parametrize(
    "meta",
    [
        {},
        None,
        "x",
        {"io.modelcontextprotocol/protocolVersion": NEW},
        {"io.modelcontextprotocol/clientCapabilities": {}},
        {**META, "io.modelcontextprotocol/clientCapabilities": []},
    ],
)
def test_a_request_must_say_its_version_and_capabilities(meta: Any) -> None:
    status, body = _new("tools/list", meta=meta)
    assert (status, _error(body)) == (400, (-32602, 1))


def test_without_headers_a_version_that_is_no_string_is_a_fault_of_shape() -> None:
    meta = {**META, "io.modelcontextprotocol/protocolVersion": 5}
    reply = _exchange(_message("tools/list", {"_meta": meta}))
    assert (reply.status, _error(json.loads(reply.body))) == (400, (-32602, 1))


@pytest.mark.parametrize(
    "headers",
    [
        {"MCP-Protocol-Version": "2025-11-25"},
        {"MCP-Protocol-Version": ""},
        {"Mcp-Method": "tools/list"},
        {"Mcp-Method": "TOOLS/CALL"},
        {"Mcp-Method": ""},
        {"Mcp-Name": "subtract"},
        {"Mcp-Name": ""},
        {"Mcp-Name": "=?base64?YWRk"},
        {"Mcp-Name": "=?base64?YWR?="},
        {"Mcp-Name": "=?base64?YW!k?="},
        {"Mcp-Name": "=?base64?/w==?="},
        {"mcp-name": "add"},
    ],
    ids=lambda headers: "=".join(*headers.items()),
)
def test_headers_that_disagree_with_the_body_are_refused(headers: dict[str, str]) -> None:
    # The last case sends Mcp-Name twice, under two spellings.
    status, body = _new("tools/call", {"name": "add", "arguments": {}}, headers=headers)
    assert (status, _error(body)) == (400, (-32020, 1))


@pytest.mark.parametrize("missing", ["MCP-Protocol-Version", "Mcp-Method", "Mcp-Name"])
def test_headers_that_are_missing_are_refused(missing: str) -> None:
    message = _message("tools/call", {"name": "add", "arguments": {"a": 1}, "_meta": META})
    headers = [
        ("MCP-Protocol-Version", NEW),
        ("Mcp-Method", "tools/call"),
        ("Mcp-Name", "add"),
    ]
    assert _exchange(message, headers).status == 200
    reply = _exchange(message, [header for header in headers if header[0] != missing])
    assert (reply.status, _error(json.loads(reply.body))) == (400, (-32020, 1))


@pytest.mark.parametrize("name", ["  add  ", "=?base64?YWRk?="])
def test_a_name_may_come_padded_or_encoded(name: str) -> None:
    params = {"name": "add", "arguments": {"a": 1}}
    assert _new("tools/call", params, headers={"Mcp-Name": name})[0] == 200


@given(st.text())
def test_any_name_survives_its_encoding(name: str) -> None:
    encoded = base64.b64encode(name.encode()).decode()
    assert decode_header(f"=?base64?{encoded}?=") == name


def test_a_version_that_is_not_served_is_answered_with_the_one_that_is() -> None:
    meta = {**META, "io.modelcontextprotocol/protocolVersion": "2099-01-01"}
    headers = {"MCP-Protocol-Version": "2099-01-01"}
    status, body = _new("server/discover", meta=meta, headers=headers)
    assert (status, body["error"]["code"], body["error"]["data"]) == (
        400,
        -32022,
        {"supported": [NEW], "requested": "2099-01-01"},
    )


def test_a_tool_that_needs_a_capability_is_refused_to_clients_without() -> None:
    params = {"name": "test_missing_capability", "arguments": {}}
    status, body = _new("tools/call", params)
    assert (status, body["error"]["code"], body["error"]["data"]) == (
        400,
        -32021,
        {"requiredCapabilities": {"sampling": {}}},
    )
    able = {**META, "io.modelcontextprotocol/clientCapabilities": {"sampling": {}}}
    assert _new("tools/call", params, meta=able)[0] == 200


@pytest.mark.parametrize(
    "method", ["initialize", "ping", "logging/setLevel", "resources/subscribe", "unheard/of"]
)
def test_methods_of_the_other_era_are_not_found(method: str) -> None:
    status, body = _new(method)
    assert (status, _error(body)) == (404, (-32601, 1))


def test_an_unknown_tool_is_a_bad_request() -> None:
    status, body = _new("tools/call", {"name": "none", "arguments": {}})
    assert (status, _error(body)) == (400, (-32602, 1))


# Selections.


def test_toolsets_are_chosen_by_the_url() -> None:
    reply = _exchange(_message("tools/list"), [], Selection("trouble"))
    names = [tool["name"] for tool in json.loads(reply.body)["result"]["tools"]]
    assert names == ["wait", "limit", "break"]
    both = _exchange(_message("tools/list"), [], Selection(" trouble,fixtures,"))
    assert len(json.loads(both.body)["result"]["tools"]) > len(names)


@pytest.mark.parametrize(
    ("selection", "message"),
    [
        (Selection("rust"), "toolsets: unknown toolset 'rust'; known are fixtures, trouble"),
        (Selection(schema="simple"), "schema: must be 'plain' or left out"),
    ],
)
def test_a_selection_of_nothing_known_is_named(selection: Selection, message: str) -> None:
    for method in ("initialize", "tools/list"):
        request = _message(method, {"protocolVersion": "2025-11-25"})
        error = json.loads(_exchange(request, [], selection).body)["error"]
        assert (error["code"], error["message"]) == (-32602, message)
        assert error["data"]["error"] == "invalid_parameter"


def test_plain_schemas_have_no_alternatives() -> None:
    def listed(selection: Selection) -> bytes:
        message = _message("tools/list")
        tools = json.loads(_exchange(message, [], selection).body)["result"]["tools"]
        return json.dumps([tool for tool in tools if tool["name"] == "add"]).encode()

    assert b'["integer", "string"]' in listed(DEFAULT)
    assert b'["integer", "string"]' not in listed(Selection(schema="plain"))


def test_instructions_that_clients_would_cut_are_refused() -> None:
    Protocol("x", "1", "é" * 1024, Toolbox([]))
    with pytest.raises(ValueError, match="longer than 2048 bytes"):
        Protocol("x", "1", "é" * 1024 + ".", Toolbox([]))
