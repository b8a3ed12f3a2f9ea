"""One question, asked in every way in which docstow answers: the answers are the same."""

from __future__ import annotations

import contextlib
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import anyio
import httpx
import pytest
from mcp_types import TextContent

from docstow.core.settings import load
from docstow.runtime import Runtime
from mcp import Client, StdioServerParameters
from servers.web import serve

LOCKFILE = 'version = 4\n[[package]]\nname = "stowage"\nversion = "0.1.0"\n'
QUESTIONS: list[tuple[str, dict[str, Any]]] = [
    ("find_packages", {"query": "stow cargo in a hold", "language": "rust"}),
    ("get_package_summary", {"package": "stowage"}),
    ("search_items", {"crate": "stowage", "query": "put a crate into the hold", "k": "3"}),
    ("get_item_doc", {"item_path": "stowage::Hold"}),
    ("get_module_tree", {"crate": "stowage"}),
    ("search_examples", {"crate": "stowage", "query": "put something into the hold"}),
    ("find_implementations", {"crate": "stowage", "type": "Hold"}),
    ("diff_versions", {"crate": "stowage", "from_version": "0.1.0"}),
    ("get_dependencies", {"crate": "stowage", "lockfile": LOCKFILE}),
    ("ask", {"question": "how are crates put into the hold and lashed", "lockfile": LOCKFILE}),
    ("search_docs", {"query": "lash the crates", "top_k": "2"}),
    ("get_doc", {"doc": "lashing.md"}),
    ("list_versions", {"crate": "stowage"}),
]
BESIDE = [
    "get_chunk",
    "scan_packages",
    "read_package",
    "verify_code",
    "search",
    "fetch",
    "create_source",
    "list_sources",
    "delete_source",
    "start_sync",
    "get_sync_status",
    "list_snapshots",
    "export_snapshot",
    "push_document",
    "delete_document",
    "create_collection",
    "list_collections",
    "get_metrics",
]
TEXT = {"text": "# Lashing\n\nLash the crates to the deck.", "uri": "lashing.md"}
MODES = ["legacy", "auto", "2026-07-28"]


@pytest.fixture(scope="module")
def flags(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    folder = tmp_path_factory.mktemp("every-way")
    nowhere = "http://127.0.0.1:1"
    return {
        "store": str(folder / "store"),
        "cache": str(folder / "cache"),
        "docs_rs_url": nowhere,
        "crates_index_url": nowhere,
    }


@pytest.fixture(scope="module")
def words(flags: dict[str, str]) -> list[str]:
    return [f"--{name.replace('_', '-')}={value}" for name, value in flags.items()]


@pytest.fixture(scope="module")
def expected(words: list[str]) -> list[str]:
    """The answers as ``docstow call`` prints them."""

    def call(tool: str, arguments: dict[str, Any]) -> str:
        command = [sys.executable, "-m", "docstow", "call", *words, tool]
        command.append(json.dumps(arguments))
        done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
        return done.stdout.removesuffix("\n")

    call("push_document", TEXT)
    return [call(tool, arguments) for tool, arguments in QUESTIONS]


@pytest.fixture(scope="module")
def url(flags: dict[str, str], expected: list[str]) -> Iterator[str]:
    with contextlib.closing(Runtime(load(flags, {}))) as runtime, serve(runtime.app) as base:
        yield base


async def _ask(server: Any, mode: str) -> list[str]:
    answers = []
    async with Client(server, mode=mode) as client:
        for tool, arguments in QUESTIONS:
            result = await client.call_tool(tool, arguments)
            (block,) = result.content
            assert isinstance(block, TextContent)
            assert not result.is_error
            if result.structured_content is not None:
                assert result.structured_content == json.loads(block.text)
            answers.append(block.text)
    return answers


@pytest.mark.parametrize("mode", MODES)
def test_over_http_with_the_official_client(url: str, mode: str, expected: list[str]) -> None:
    assert anyio.run(_ask, f"{url}/mcp", mode) == expected


@pytest.mark.parametrize("mode", MODES)
def test_over_standard_streams(words: list[str], mode: str, expected: list[str]) -> None:
    server = StdioServerParameters(
        command=sys.executable, args=["-m", "docstow", "serve", "--stdio", *words]
    )
    assert anyio.run(_ask, server, mode) == expected


def test_over_plain_http(url: str, expected: list[str]) -> None:
    answers = [httpx.post(f"{url}/mcp/tools/{tool}", json=body).text for tool, body in QUESTIONS]
    assert answers == expected
    listed = httpx.get(f"{url}/mcp/resources/versions", params={"crate": "stowage"})
    assert listed.text == expected[-1]


def test_the_manifest_and_the_openapi_document_name_every_tool(url: str) -> None:
    manifest = httpx.get(f"{url}/mcp/manifest").json()
    openapi = httpx.get(f"{url}/openapi.json").json()
    names = [tool for tool, _ in QUESTIONS]
    assert sorted(tool["name"] for tool in manifest["tools"]) == sorted(names + BESIDE)
    default = ["rust", "docs", "packages", "connectors"]
    assert manifest["default_toolsets"] == default
    listed = [tool["name"] for tool in manifest["tools"] if tool["toolset"] in default]
    paths = [path for path in openapi["paths"] if path.startswith("/mcp/tools/")]
    assert paths == [f"/mcp/tools/{name}" for name in listed]


def test_further_toolsets_are_selected_by_url(url: str) -> None:
    message: dict[str, Any] = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
    answer = httpx.post(f"{url}/mcp?toolsets=sources", json=message).json()
    assert [tool["name"] for tool in answer["result"]["tools"]] == BESIDE[6:13]
    arguments = {"crate": "stowage", "format": "llms"}
    message |= {"method": "tools/call"}
    message["params"] = {"name": "export_snapshot", "arguments": arguments}
    called = httpx.post(f"{url}/mcp?toolsets=rust,sources", json=message).json()
    (block,) = called["result"]["content"]
    plain = httpx.post(f"{url}/mcp/tools/export_snapshot", json=arguments)
    assert block["text"] == plain.text
    assert "\n# stowage 0.1.0\n" in plain.text


def test_the_list_of_tools_stays_small(url: str) -> None:
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
    answer = httpx.post(f"{url}/mcp", json=message)
    assert len(answer.content) < 14 * 1024
    for tool in answer.json()["result"]["tools"]:
        # The other hints are about what changes something.
        assert tool["annotations"]["readOnlyHint"] is True
        described = tool["inputSchema"]["properties"].items()
        assert [name for name, each in described if not each.get("description")] == []
    message["params"] = {}
    everything = "rust,docs,packages,connectors,sources,collections"
    further = httpx.post(f"{url}/mcp?toolsets={everything}", json=message).json()
    for tool in further["result"]["tools"]:
        hints = {"destructiveHint", "idempotentHint", "openWorldHint"}
        assert tool["annotations"]["readOnlyHint"] or tool["annotations"].keys() >= hints
        described = tool["inputSchema"]["properties"].items()
        assert [name for name, each in described if not each.get("description")] == []
        assert "Example: {" in tool["description"]
        # A token of English is about four characters.
        assert len(tool["description"]) < 200 * 4


def test_the_versions_resource_passes_requirements_on(url: str, flags: dict[str, str]) -> None:
    answer = httpx.get(
        f"{url}/mcp/resources/versions", params={"crate": "stowage", "requirement": "^9"}
    )
    assert (answer.status_code, answer.json()["error"]) == (404, "crate_not_found")
    assert Path(flags["store"]).is_dir()
