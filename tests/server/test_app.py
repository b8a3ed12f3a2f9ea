"""The HTTP face on real sockets: routes, refusals, errors, concurrency."""

from __future__ import annotations

import asyncio
import json
import logging
import socket
import threading
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from logging.handlers import QueueHandler
from queue import SimpleQueue
from typing import Any

import httpx
import pytest
from openapi_spec_validator import validate

from docstow.core.auth import new_token, parse, token_digest
from docstow.core.errors import ConfigurationError
from docstow.server.http import listen
from docstow.server.mcp import DEFAULT, Selection
from docstow.tools import Answer, Tool
from docstow.tools.tutorials import tutorial
from servers.mcp_fixture_server import ADDITION, RESOURCE, Meeting, fixture_app, fixture_protocol
from servers.web import serve

PING = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
JSON = {"Content-Type": "application/json"}


@contextmanager
def _client(*further: Tool, **options: Any) -> Iterator[httpx.Client]:
    with serve(fixture_app(*further, **options)) as url, httpx.Client(base_url=url) as client:
        yield client


@pytest.fixture(scope="module")
def client() -> Iterator[httpx.Client]:
    with _client(max_body_bytes=10_000) as client:
        yield client


@pytest.mark.parametrize("host", ["127.0.0.1", "::1"])
def test_answers_on_a_kept_alive_connection_do_not_wait_for_acknowledgements(host: str) -> None:
    async def exchange() -> list[int]:
        delays: list[int] = []

        async def serve_lines(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            connection = writer.get_extra_info("socket")
            while await reader.readline():
                option = connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
                delays.append(option)
                writer.write(b"answer\n")
            writer.close()

        listener = listen(host, 0)
        async with await asyncio.start_server(serve_lines, sock=listener):
            reader, writer = await asyncio.open_connection(*listener.getsockname()[:2])
            for _ in range(2):
                writer.write(b"question\n")
                assert await reader.readline() == b"answer\n"
            writer.close()
            await writer.wait_closed()
        return delays

    assert asyncio.run(exchange()) == [1, 1]


def test_a_taken_port_is_refused_with_a_word_on_what_to_do() -> None:
    with listen("127.0.0.1", 0) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(ConfigurationError, match=rf"port {port}: .*--port"):
            listen("127.0.0.1", port)


# MCP.


@pytest.mark.parametrize("path", ["/mcp", "/mcp/"])
def test_mcp_is_served_with_and_without_a_slash(client: httpx.Client, path: str) -> None:
    response = client.post(path, json=PING, headers={"Accept": "*/*"})
    assert (response.status_code, response.json()) == (
        200,
        {"jsonrpc": "2.0", "id": 1, "result": {}},
    )
    assert response.headers["content-type"] == "application/json"


def test_a_notification_is_accepted_with_no_body(client: httpx.Client) -> None:
    message = {"jsonrpc": "2.0", "method": "notifications/initialized"}
    response = client.post("/mcp", json=message)
    assert (response.status_code, response.content) == (202, b"")
    assert "content-type" not in response.headers


@pytest.mark.parametrize("method", ["GET", "DELETE", "PUT", "HEAD"])
@pytest.mark.parametrize("path", ["/mcp", "/mcp/"])
def test_there_is_no_stream_to_open_and_no_session_to_end(
    client: httpx.Client, method: str, path: str
) -> None:
    response = client.request(method, path, headers={"Accept": "text/event-stream"})
    assert (response.status_code, response.headers["allow"]) == (405, "POST")
    if method != "HEAD":
        assert response.json()["error"] == "method_not_allowed"


def test_broken_json_is_a_parse_error(client: httpx.Client) -> None:
    response = client.post("/mcp", content=b"{", headers=JSON)
    assert (response.status_code, response.json()["error"]["code"]) == (400, -32700)


def test_toolsets_and_schemas_are_chosen_by_the_query(client: httpx.Client) -> None:
    message = {**PING, "method": "tools/list"}
    query = {"toolsets": "trouble,fixtures", "schema": "plain", "other": "x"}
    tools = client.post("/mcp", json=message, params=query).json()["result"]["tools"]
    assert {"add", "break"} <= {tool["name"] for tool in tools}
    (schema,) = [tool["inputSchema"] for tool in tools if tool["name"] == "add"]
    assert schema["properties"]["a"]["type"] == "integer"


def test_a_tool_call_over_mcp(client: httpx.Client) -> None:
    message = {**PING, "method": "tools/call", "params": {"name": "add", "arguments": {"a": 1}}}
    result = client.post("/mcp", json=message).json()["result"]
    assert result["structuredContent"] == {"sum": 2, "terms": [1, 1]}


def test_an_unforeseen_fault_over_mcp_shows_the_request_id_alone(client: httpx.Client) -> None:
    message = {**PING, "method": "tools/call", "params": {"name": "break"}}
    response = client.post("/mcp?toolsets=trouble", json=message)
    result = response.json()["result"]
    body = json.loads(result["content"][0]["text"])
    assert (result["isError"], body["error"]) == (True, "internal_error")
    assert body["request_id"] == response.headers["x-request-id"]
    assert "shadow" not in response.text


# Plain HTTP.


def test_a_structured_answer_is_json(client: httpx.Client) -> None:
    response = client.post("/mcp/tools/add", json={"a": "3", "b": 4})
    assert (response.status_code, response.json()) == (200, {"sum": 7, "terms": [3, 4]})
    assert response.headers["content-type"] == "application/json"


def test_a_page_is_markdown_and_no_body_means_no_arguments(client: httpx.Client) -> None:
    response = client.post("/mcp/tools/test_simple_text")
    assert response.text == "This is a simple text response for testing."
    assert response.headers["content-type"] == "text/markdown; charset=utf-8"


def test_content_blocks_are_json_too(client: httpx.Client) -> None:
    response = client.post("/mcp/tools/test_embedded_resource", json={})
    assert response.json() == {"content": [RESOURCE]}


@pytest.mark.parametrize(
    ("tool", "arguments", "status", "error", "headers"),
    [
        ("test_error_handling", {}, 404, "crate_not_found", {}),
        ("add", {"a": "x"}, 400, "invalid_parameter", {}),
        ("nothing", {}, 404, "tool_not_found", {}),
        ("wait", {}, 202, "ingesting", {"retry-after": "5"}),
        ("limit", {}, 429, "too_many_requests", {"retry-after": "2"}),
        ("break", {}, 500, "internal_error", {}),
    ],
)
def test_errors_have_their_status_and_body(
    client: httpx.Client,
    tool: str,
    arguments: Mapping[str, Any],
    status: int,
    error: str,
    headers: Mapping[str, str],
) -> None:
    response = client.post(f"/mcp/tools/{tool}", json=arguments)
    assert (response.status_code, response.json()["error"]) == (status, error)
    assert response.json()["message"]
    assert headers.items() <= response.headers.items()


@pytest.mark.parametrize("body", [b"{", b"\xff", b"[]", b'"x"', b"null", b'{"a":NaN}'])
def test_arguments_that_are_no_json_object_are_refused(client: httpx.Client, body: bytes) -> None:
    response = client.post("/mcp/tools/add", content=body, headers=JSON)
    assert response.status_code == 400
    assert (response.json()["error"], response.json()["field"]) == ("invalid_parameter", "body")


def test_a_name_that_no_text_can_have_is_refused_like_any_other(client: httpx.Client) -> None:
    body = rb'{"a": 1, "\ud800": 2}'
    response = client.post("/mcp/tools/add", content=body, headers=JSON)
    assert (response.status_code, response.json()["field"]) == (400, "\ud800")


def test_versions_are_a_resource_too(client: httpx.Client) -> None:
    path = "/mcp/resources/versions"
    found = client.get(path, params={"crate": "tokio", "requirement": "^1"})
    assert found.json() == {"crate": "tokio", "requirement": "^1"}
    assert client.get(path, params={"crate": "tokio"}).json()["requirement"] == "*"
    assert client.get(path).json()["field"] == "crate"
    assert client.get(path, params={"crate": "a", "x": "y"}).json()["field"] == "x"


# What describes the server.


def test_the_manifest_lists_everything(client: httpx.Client) -> None:
    manifest = client.get("/mcp/manifest").json()
    protocol = fixture_protocol()
    assert manifest.pop("tools") == [
        {"toolset": tool.toolset, **protocol.describe(tool, DEFAULT), **tutorial(tool.name)}
        for tool in protocol.toolbox.tools
    ]
    assert manifest == {
        "name": "fixtures",
        "version": "1.2.3",
        "protocol_versions": [
            "2024-11-05",
            "2025-03-26",
            "2025-06-18",
            "2025-11-25",
            "2026-07-28",
        ],
        "toolsets": ["fixtures", "trouble"],
        "default_toolsets": ["fixtures"],
    }


def test_the_manifest_of_a_selection(client: httpx.Client) -> None:
    response = client.get("/mcp/manifest?toolsets=trouble")
    assert {tool["toolset"] for tool in response.json()["tools"]} == {"trouble"}
    refused = client.get("/mcp/manifest?toolsets=none")
    assert (refused.status_code, refused.json()["field"]) == (400, "toolsets")


def test_the_openapi_document_has_one_operation_for_each_tool(client: httpx.Client) -> None:
    document = client.get("/openapi.json").json()
    validate(document)
    protocol = fixture_protocol()
    assert document["info"] == {"title": "fixtures", "version": "1.2.3"}
    assert {
        (path, operation["operationId"])
        for path, methods in document["paths"].items()
        for operation in methods.values()
    } == {(f"/mcp/tools/{tool.name}", tool.name) for tool in protocol.tools(DEFAULT)}
    add = document["paths"]["/mcp/tools/add"]["post"]
    assert add["requestBody"] == {
        "required": True,
        "content": {
            "application/json": {"schema": protocol.toolbox.schema(protocol.toolbox.get("add"))}
        },
    }
    assert add["responses"]["200"]["content"] == {"application/json": {"schema": ADDITION}}
    page = document["paths"]["/mcp/tools/test_simple_text"]["post"]
    assert list(page["responses"]["200"]["content"]) == ["text/markdown"]
    assert add["responses"]["404"] == {"$ref": "#/components/responses/NotFound"}
    assert "crate_not_found" in document["components"]["responses"]["NotFound"]["description"]
    assert {"202", "400", "404", "410", "413", "422", "429", "500", "502", "504"} <= set(
        add["responses"]
    )


def test_the_openapi_document_of_a_selection(client: httpx.Client) -> None:
    document = client.get("/openapi.json?toolsets=trouble&schema=plain").json()
    expected = fixture_protocol().tools(Selection("trouble"))
    assert list(document["paths"]) == [f"/mcp/tools/{tool.name}" for tool in expected]


def test_health(client: httpx.Client) -> None:
    assert client.get("/health").json() == {"status": "ok"}
    assert client.head("/health").status_code == 200


# Refusals.


def test_every_response_has_a_request_id_of_its_own(client: httpx.Client) -> None:
    responses = [
        client.get("/health"),
        client.get("/nothing"),
        client.post("/mcp", json=PING),
        client.get("/health", headers={"Origin": "https://evil.example"}),
        client.get("/health", headers={"X-Request-Id": "mine"}),
    ]
    ids = [response.headers["x-request-id"] for response in responses]
    assert len(set(ids)) == len(ids)
    assert "mine" not in ids


@pytest.mark.parametrize(
    ("method", "path", "status", "error"),
    [
        ("GET", "/", 404, "not_found"),
        ("GET", "/mcp/tools/", 404, "not_found"),
        ("GET", "/docs", 404, "not_found"),
        ("POST", "/mcp/tools/a/b", 404, "not_found"),
        ("GET", "/mcp/tools/add", 405, "method_not_allowed"),
        ("POST", "/health", 405, "method_not_allowed"),
    ],
)
def test_other_routes_answer_in_the_same_shape(
    client: httpx.Client, method: str, path: str, status: int, error: str
) -> None:
    response = client.request(method, path)
    assert (response.status_code, response.json()["error"]) == (status, error)
    assert response.json()["message"]


@pytest.mark.parametrize("path", ["/mcp", "/mcp/tools/add"])
@pytest.mark.parametrize("kind", ["text/plain", "application/x-www-form-urlencoded", ""])
def test_what_a_foreign_page_may_send_unasked_is_refused(
    client: httpx.Client, path: str, kind: str
) -> None:
    headers = {"Content-Type": kind} if kind else {}
    response = client.post(path, content=b"{}", headers=headers)
    assert (response.status_code, response.json()["error"]) == (415, "unsupported_media_type")


def test_a_charset_does_not_hurt(client: httpx.Client) -> None:
    headers = {"Content-Type": "Application/JSON; charset=utf-8"}
    assert client.post("/mcp", json=PING, headers=headers).status_code == 200


@pytest.mark.parametrize("path", ["/mcp", "/mcp/tools/add"])
@pytest.mark.parametrize("chunked", [False, True])
def test_a_body_over_the_limit_is_refused(client: httpx.Client, path: str, chunked: bool) -> None:
    body = b" " * 9_999 + b"{}"
    response = client.post(path, content=iter([body]) if chunked else body, headers=JSON)
    assert (response.status_code, response.json()["error"]) == (413, "too_large")
    assert response.json()["limit"] == 10_000
    fits = client.post(path, content=b" " * 9_998 + b"{}", headers=JSON)
    assert fits.status_code == 400


@pytest.mark.parametrize(
    ("host", "status"),
    [
        ("localhost", 200),
        ("LOCALHOST:8000", 200),
        ("127.0.0.1:1", 200),
        ("[::1]:8000", 200),
        ("[::1]", 200),
        ("evil.example", 403),
        ("localhost.evil.example", 403),
        ("localhost:x", 403),
        ("", 403),
    ],
)
def test_only_loopback_hosts_are_answered_by_default(
    client: httpx.Client, host: str, status: int
) -> None:
    response = client.get("/health", headers={"Host": host})
    assert response.status_code == status
    if status == 403:
        assert response.json()["error"] == "forbidden"


@pytest.mark.parametrize(
    ("origin", "status"),
    [
        ("http://localhost:6274", 200),
        ("http://127.0.0.1", 200),
        ("https://[::1]:8443", 200),
        ("https://app.example", 200),
        ("https://evil.example", 403),
        ("https://app.example.evil.example", 403),
        ("http://app.example", 403),
        ("http://localhost.evil.example", 403),
        ("null", 403),
        ("http://[::1", 403),
    ],
)
def test_only_known_origins_are_answered(origin: str, status: int) -> None:
    with _client(allowed_origins=["https://app.example/"]) as client:
        response = client.post("/mcp", json=PING, headers={"Origin": origin})
        assert response.status_code == status
        allowed = response.headers.get("access-control-allow-origin")
        assert allowed == (origin if status == 200 else None)


def test_hosts_and_origins_can_be_opened() -> None:
    with _client(allowed_hosts=["*"]) as client:
        assert client.get("/health", headers={"Host": "docs.example"}).status_code == 200
        same = {"Host": "docs.example", "Origin": "https://docs.example"}
        assert client.get("/health", headers=same).status_code == 200
        other = {"Host": "docs.example", "Origin": "https://app.example"}
        assert client.get("/health", headers=other).status_code == 403
    with _client(allowed_hosts=["docs.example"], allowed_origins=["*"]) as client:
        assert client.get("/health").status_code == 403
        headers = {"Host": "Docs.Example:8000", "Origin": "null"}
        assert client.get("/health", headers=headers).status_code == 200


def test_a_browser_may_ask_before_it_calls(client: httpx.Client) -> None:
    asked = {
        "Origin": "http://localhost:6274",
        "Access-Control-Request-Method": "POST",
        "Access-Control-Request-Headers": "mcp-protocol-version",
    }
    allowed = client.options("/mcp", headers=asked)
    assert allowed.status_code == 204
    assert allowed.headers["access-control-allow-origin"] == "http://localhost:6274"
    assert allowed.headers["access-control-allow-methods"] == "DELETE, GET, POST"
    assert "Mcp-Protocol-Version" in allowed.headers["access-control-allow-headers"]
    assert allowed.headers["vary"] == "Origin"
    refused = client.options("/mcp", headers={**asked, "Origin": "https://evil.example"})
    assert refused.status_code == 403
    assert "access-control-allow-origin" not in refused.headers
    assert client.options("/mcp").status_code == 405


def test_a_fault_of_the_app_itself_says_nothing_of_the_inside(
    caplog: pytest.LogCaptureFixture,
) -> None:
    def sick() -> Mapping[str, Any]:
        raise RuntimeError("the secret is /etc/shadow")

    with _client(health=sick) as client, caplog.at_level(logging.INFO, "docstow"):
        response = client.get("/health")
        assert client.post("/mcp", json=PING).status_code == 200
    request_id = response.headers["x-request-id"]
    assert (response.status_code, response.json()["error"]) == (500, "internal_error")
    assert response.json()["request_id"] == request_id
    assert "shadow" not in response.text
    assert f"request {request_id} failed" in caplog.messages


def test_the_log_has_a_line_for_each_request_without_its_query(
    client: httpx.Client, caplog: pytest.LogCaptureFixture
) -> None:
    records: SimpleQueue[logging.LogRecord] = SimpleQueue()
    handler = QueueHandler(records)
    gate = logging.getLogger("docstow.server.middleware")
    gate.addHandler(handler)
    try:
        with caplog.at_level(logging.INFO, "docstow.server"):
            response = client.get("/nothing%0Ahere?token=secret")
            # The line is written when the answer is out already.
            line = records.get(timeout=30).getMessage()
    finally:
        gate.removeHandler(handler)
    assert records.empty()
    assert line.startswith(r"GET '/nothing\nhere' 404 ")
    assert line.endswith(f" ms {response.headers['x-request-id']}")


# Concurrency.


def _call(url: str, tool: str, arguments: Mapping[str, Any]) -> str:
    return httpx.post(f"{url}/mcp/tools/{tool}", json=arguments, timeout=60).text


def test_calls_run_at_once() -> None:
    names = [f"caller {number}" for number in range(8)]
    with serve(fixture_app(Meeting(8).tool())) as url, ThreadPoolExecutor(8) as pool:
        met = pool.map(lambda name: _call(url, "meet", {"name": name}), names)
        assert list(met) == [f"met as {name}" for name in names]


def test_calls_over_the_limit_wait_and_the_rest_is_served_meanwhile() -> None:
    started, release = threading.Semaphore(0), threading.Event()

    def block(arguments: Mapping[str, Any]) -> Answer:
        started.release()
        assert release.wait(60)
        return Answer(text="done")

    tool = Tool("block", "fixtures", "Block", "Waits.", (), block)
    with (
        serve(fixture_app(tool, max_concurrent_calls=3)) as url,
        ThreadPoolExecutor(3) as pool,
    ):
        # One of the three places is left to other callers.
        calls = [pool.submit(_call, url, "block", {}) for _ in range(3)]
        assert started.acquire(timeout=60)
        assert started.acquire(timeout=60)
        assert httpx.post(f"{url}/mcp", json=PING).status_code == 200
        assert httpx.get(f"{url}/health").status_code == 200
        # The third has no place yet.
        assert not started.acquire(blocking=False)
        release.set()
        assert [call.result() for call in calls] == ["done"] * 3


def _request(path: str, arguments: Mapping[str, Any]) -> bytes:
    body = json.dumps(arguments).encode()
    head = (
        f"POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        f"Content-Length: {len(body)}\r\n\r\n"
    )
    return head.encode() + body


def test_a_client_that_leaves_in_a_call_disturbs_nobody() -> None:
    with serve(fixture_app(Meeting(3).tool())) as url, ThreadPoolExecutor(2) as pool:
        address = ("127.0.0.1", int(url.rpartition(":")[2]))
        with socket.create_connection(address) as leaving:
            leaving.sendall(_request("/mcp/tools/meet", {"name": "gone"}))
            # Closed without reading, this resets the connection while the tool waits for others.
        staying = pool.map(lambda name: _call(url, "meet", {"name": name}), ["a", "b"])
        assert list(staying) == ["met as a", "met as b"]
        assert httpx.get(f"{url}/health").status_code == 200


def test_a_client_that_leaves_in_its_own_message_is_not_an_error(
    caplog: pytest.LogCaptureFixture,
) -> None:
    seen = threading.Event()

    class Watch(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            if "the client left" in record.getMessage():
                seen.set()

    watch, logger = Watch(), logging.getLogger("docstow.server.middleware")
    logger.addHandler(watch)
    try:
        with serve(fixture_app()) as url, caplog.at_level(logging.INFO, "docstow.server"):
            address = ("127.0.0.1", int(url.rpartition(":")[2]))
            with socket.create_connection(address) as leaving:
                leaving.sendall(_request("/mcp", PING)[:-5])
            assert seen.wait(60)
            assert httpx.post(f"{url}/mcp", json=PING).status_code == 200
    finally:
        logger.removeHandler(watch)
    assert [record for record in caplog.records if record.levelno > logging.INFO] == []


@pytest.mark.parametrize(
    "header", ["X-Forwarded-For", "Forwarded", "Via", "X-Real-IP", "Tailscale-User-Login"]
)
def test_what_a_proxy_passes_on_is_not_trusted_as_the_machines_own_user(header: str) -> None:
    passed = {header: "203.0.113.7"}
    terms = {"a": 1, "b": 2}
    with _client(policy=parse([], exposed=False)) as local:
        assert local.post("/mcp/tools/add", json=terms).status_code == 200
        refused = local.post("/mcp/tools/add", json=terms, headers=passed)
        assert (refused.status_code, refused.json()["error"]) == (401, "unauthorized")
        assert header.lower() in refused.json()["message"]
        assert "DOCSTOW_AUTH" in refused.json()["message"]
        assert local.get("/health", headers=passed).status_code == 200
    with _client(policy=parse(["open"], exposed=False)) as chosen:
        assert chosen.post("/mcp/tools/add", json=terms, headers=passed).status_code == 200
    token = new_token()
    with _client(policy=parse([f"me:read:{token_digest(token)}"], exposed=False)) as guarded:
        assert guarded.post("/mcp/tools/add", json=terms, headers=passed).status_code == 401
        held = passed | {"Authorization": f"Bearer {token}"}
        assert guarded.post("/mcp/tools/add", json=terms, headers=held).status_code == 200
