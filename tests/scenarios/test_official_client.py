"""The official Python client as judge: both eras, over HTTP and over standard streams."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from typing import Any

import anyio
import pytest
from mcp.shared.exceptions import MCPError
from mcp_types import CallToolResult, TextContent

from docstow.server.mcp import DEFAULT
from mcp import Client, StdioServerParameters
from paths import REPOSITORY, SUPPORT
from servers.mcp_fixture_server import fixture_app, fixture_protocol
from servers.web import serve

NEW = "2026-07-28"
MODES = ["legacy", "auto", NEW]


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with serve(fixture_app()) as base:
        yield f"{base}/mcp"


def _over_stdio() -> StdioServerParameters:
    path = os.pathsep.join([str(REPOSITORY / "lib"), str(SUPPORT)])
    return StdioServerParameters(
        command=sys.executable,
        args=["-m", "servers.mcp_fixture_server"],
        env={"PYTHONPATH": path},
    )


def _text(result: CallToolResult) -> str:
    (block,) = result.content
    assert isinstance(block, TextContent)
    return block.text


async def _converse(server: Any, mode: str) -> dict[str, Any]:
    """Everything a client does with a server of tools; the client checks what it receives."""
    async with Client(server, mode=mode) as client:
        tools = (await client.list_tools()).tools
        added = await client.call_tool("add", {"a": "40", "b": 2})
        page = await client.call_tool("test_simple_text")
        blocks = await client.call_tool("test_multiple_content_types")
        failed = await client.call_tool("test_error_handling")
        with pytest.raises(MCPError, match="Unknown tool: nothing"):
            await client.call_tool("nothing")
        return {
            "version": client.protocol_version,
            "server": client.server_info and client.server_info.name,
            "instructions": client.instructions,
            "tools": [tool.name for tool in tools],
            "added": (added.structured_content, json.loads(_text(added)), added.is_error),
            "page": (page.structured_content, _text(page)),
            "blocks": [block.type for block in blocks.content],
            "failed": (failed.is_error, json.loads(_text(failed))["error"]),
        }


def _expected(mode: str) -> dict[str, Any]:
    tools = fixture_protocol().tools(DEFAULT)
    return {
        "version": "2025-11-25" if mode == "legacy" else NEW,
        "server": "fixtures" if mode != NEW else None,
        "instructions": "Tools for tests." if mode != NEW else None,
        "tools": [t.name for t in tools if mode != "legacy" or not t.client_capabilities],
        "added": ({"sum": 42, "terms": [40, 2]}, {"sum": 42, "terms": [40, 2]}, False),
        "page": (None, "This is a simple text response for testing."),
        "blocks": ["text", "image", "resource"],
        "failed": (True, "crate_not_found"),
    }


@pytest.mark.parametrize("mode", MODES)
def test_over_http(url: str, mode: str) -> None:
    assert anyio.run(_converse, url, mode) == _expected(mode)


@pytest.mark.parametrize("mode", MODES)
def test_over_standard_streams(mode: str) -> None:
    assert anyio.run(_converse, _over_stdio(), mode) == _expected(mode)


def test_a_selection_in_the_url(url: str) -> None:
    async def listed() -> list[str]:
        async with Client(f"{url}/?toolsets=trouble&schema=plain") as client:
            return [tool.name for tool in (await client.list_tools()).tools]

    assert anyio.run(listed) == ["wait", "limit", "break"]


def test_an_unknown_toolset_is_named_when_the_client_connects(url: str) -> None:
    async def connect() -> None:
        async with Client(f"{url}?toolsets=rust", mode="legacy"):
            pytest.fail("the client connected")

    named = pytest.RaisesExc(MCPError, match="unknown toolset 'rust'; known are fixtures, trouble")
    with pytest.RaisesGroup(named, flatten_subgroups=True):
        anyio.run(connect)
