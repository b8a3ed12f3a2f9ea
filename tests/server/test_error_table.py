"""Each row of the table of errors, over plain HTTP and over MCP, before a loopback upstream."""

from __future__ import annotations

import contextlib
import json
import shutil
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import pytest
import zstandard

from docstow.core.settings import load
from docstow.runtime import SAMPLE, Runtime
from servers import loopback
from servers.docs_rs import DocsRs
from servers.web import serve

HEADERS = {"Accept": "application/json, text/event-stream", "MCP-Protocol-Version": "2025-11-25"}


@dataclass
class Row:
    """One condition: what is asked of which tool, and what must come back."""

    error: str
    status: int
    arguments: dict[str, Any]
    tool: str = "get_crate_summary"
    members: dict[str, Any] = field(default_factory=dict)
    prepare: Callable[[DocsRs], None] = lambda _: None
    settings: dict[str, Any] = field(default_factory=dict)


def _other_format(number: int) -> bytes:
    """The sample's file as a rustdoc of another format would have begun and ended it."""
    body = zstandard.ZstdDecompressor().decompress(SAMPLE.read_bytes())
    return body.replace(b'"format_version":57', b'"format_version":%d' % number)


JSON_PATH = "/crate/stowage/0.1.0/json"
INDEX_PATH = "/index/st/ow/stowage"

ROWS = {
    "unknown crate": Row("crate_not_found", 404, {"crate": "no-such-crate"}),
    "unknown version": Row("crate_not_found", 404, {"crate": "stowage", "version": "9.9.9"}),
    "yanked": Row("version_yanked", 410, {"crate": "stowage", "version": "0.0.9"}),
    "no rustdoc JSON": Row("crate_not_documented", 404, {"crate": "stowage", "version": "0.0.8"}),
    "standard library": Row("crate_not_documented", 404, {"crate": "std"}),
    "format too old": Row(
        "unsupported_format",
        422,
        {"crate": "stowage"},
        members={"format_version": 7, "supported": [15, 61]},
        prepare=lambda server: server.always(JSON_PATH, loopback.content(_other_format(7))),
    ),
    "not JSON": Row(
        "unreadable_input",
        422,
        {"crate": "stowage"},
        prepare=lambda server: server.always(JSON_PATH, loopback.content(b"<html>")),
    ),
    "unknown item": Row(
        "item_not_found",
        404,
        {"item_path": "stowage::Hodl"},
        tool="get_item_doc",
    ),
    "unknown source": Row(
        "source_not_found", 404, {"query": "hold", "source_id": "nobody"}, tool="search_docs"
    ),
    "unknown page": Row("document_not_found", 404, {"doc": "guide/hold.md"}, tool="get_doc"),
    "unknown chunk": Row("document_not_found", 404, {"chunk_id": "hold"}, tool="get_chunk"),
    "unknown snapshot": Row(
        "snapshot_not_found", 404, {"query": "hold", "snapshot_id": "0" * 64}, tool="search_docs"
    ),
    "unknown filter": Row(
        "invalid_parameter",
        400,
        {"query": "hold", "filters": {"colour": "red"}},
        tool="search_docs",
        members={"field": "filters"},
    ),
    "missing parameter": Row("invalid_parameter", 400, {}, members={"field": "package"}),
    "unknown parameter": Row(
        "invalid_parameter", 400, {"crate": "stowage", "verison": "1"}, members={"field": "verison"}
    ),
    "bad requirement": Row(
        "invalid_parameter", 400, {"crate": "stowage", "version": "!"}, members={"field": "version"}
    ),
    "bad lock file": Row(
        "invalid_parameter",
        400,
        {"crate": "stowage", "lockfile": "[[package]]"},
        members={"field": "lockfile"},
    ),
    "bad cursor": Row(
        "invalid_parameter",
        400,
        {"crate": "stowage", "query": "hold", "cursor": "eA=="},
        tool="search_items",
        members={"field": "cursor"},
    ),
    "too large": Row(
        "too_large",
        413,
        {"crate": "stowage"},
        members={"limit": 1000},
        settings={"max_decompressed": 1000},
    ),
    "upstream fault": Row(
        "upstream_error",
        502,
        {"crate": "stowage"},
        prepare=lambda server: server.always(JSON_PATH, loopback.status(500)),
    ),
    "upstream rate limit": Row(
        "upstream_error",
        502,
        {"crate": "stowage"},
        prepare=lambda server: server.always(JSON_PATH, loopback.status(429)),
    ),
    "index fault": Row(
        "upstream_error",
        502,
        {"crate": "stowage"},
        prepare=lambda server: server.always(INDEX_PATH, loopback.status(503)),
    ),
}


@contextmanager
def _server(folder: Path, row: Row) -> Iterator[str]:
    crates = folder / "crates"
    place = crates / "stowage" / "0.1.0"
    place.mkdir(parents=True)
    shutil.copy(SAMPLE, place / "rustdoc.json.zst")
    overrides: dict[tuple[str, str], dict[str, Any]] = {
        ("stowage", "0.0.9"): {"yanked": True},
        ("stowage", "0.0.8"): {},
    }
    with DocsRs(crates, overrides=overrides) as upstream:
        row.prepare(upstream)
        flags = {
            "store": str(folder / "store"),
            "cache": str(folder / "cache"),
            "docs_rs_url": upstream.url,
            "crates_index_url": upstream.index_url,
            "upstream_interval_s": 0,
            "retries": 0,
            **row.settings,
        }
        with contextlib.closing(Runtime(load(flags, {}))) as runtime, serve(runtime.app) as url:
            yield url


@pytest.mark.parametrize("name", ROWS)
def test_a_tools_error_has_its_status_and_body_on_both_faces(name: str, tmp_path: Path) -> None:
    row = ROWS[name]
    message = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "tools/call",
        "params": {"name": row.tool, "arguments": row.arguments},
    }
    with _server(tmp_path, row) as url:
        plain = httpx.post(f"{url}/mcp/tools/{row.tool}", json=row.arguments)
        over_mcp = httpx.post(f"{url}/mcp", json=message, headers=HEADERS)
    body = plain.json()
    assert (plain.status_code, body["error"]) == (row.status, row.error)
    assert len(body["message"]) > 20
    assert {key: body[key] for key in row.members} == row.members
    result = over_mcp.json()["result"]
    assert over_mcp.status_code == 200
    assert result["isError"] is True
    assert "structuredContent" not in result
    assert json.loads(result["content"][0]["text"])["error"] == row.error


def test_a_miss_suggests_what_comes_near(tmp_path: Path) -> None:
    with _server(tmp_path, Row("", 0, {})) as url:
        answer = httpx.post(
            f"{url}/mcp/tools/get_item_doc", json={"item_path": "stowage::Hodl"}, timeout=30
        )
    first = answer.json()["suggestions"][0]
    assert first["item_path"] == "stowage::Hold"
    assert 0.6 <= first["score"] < 1


def test_a_slow_upstream_is_a_gateway_timeout(tmp_path: Path) -> None:
    released = threading.Event()

    def stall(handler: loopback.Handler) -> None:
        released.wait(30)
        handler.close_connection = True

    row = Row("", 0, {}, prepare=lambda server: server.always(JSON_PATH, stall))
    row.settings = {"read_timeout_s": 0.2}
    with _server(tmp_path, row) as url:
        answer = httpx.post(f"{url}/mcp/tools/get_crate_summary", json={"crate": "stowage"})
        released.set()
    assert (answer.status_code, answer.json()["error"]) == (504, "upstream_timeout")


def test_a_caller_does_not_wait_longer_than_it_should(tmp_path: Path) -> None:
    released = threading.Event()

    def hold(handler: loopback.Handler) -> None:
        released.wait(30)
        handler.server.loopback.answer(handler)

    row = Row("", 0, {}, prepare=lambda server: server.plan(JSON_PATH, hold))
    row.settings = {"wait_s": 0.1}
    with _server(tmp_path, row) as url:
        waiting = httpx.post(f"{url}/mcp/tools/get_crate_summary", json={"crate": "stowage"})
        released.set()
        assert (waiting.status_code, waiting.json()["error"]) == (202, "ingesting")
        assert waiting.headers["Retry-After"] == str(waiting.json()["retry_after_s"])
        assert waiting.json()["job_id"]


def test_a_strange_origin_is_forbidden(tmp_path: Path) -> None:
    with _server(tmp_path, Row("", 0, {})) as url:
        answer = httpx.post(
            f"{url}/mcp/tools/get_crate_summary",
            json={"crate": "stowage"},
            headers={"Origin": "https://evil.example"},
        )
    assert (answer.status_code, answer.json()["error"]) == (403, "forbidden")


def test_a_body_beyond_the_limit_is_too_large(tmp_path: Path) -> None:
    with _server(tmp_path, Row("", 0, {})) as url:
        answer = httpx.post(f"{url}/mcp", content=b" " * (5 * 1024 * 1024), headers=HEADERS)
    assert answer.status_code == 413


def test_a_fault_nobody_foresaw_says_nothing_of_the_inside(tmp_path: Path) -> None:
    # On a busy machine the crate would else be told to be on its way, and no head be there.
    patient: dict[str, Any] = {"wait_s": 120}

    def ask(url: str) -> httpx.Response:
        asked = f"{url}/mcp/tools/get_crate_summary"
        return httpx.post(asked, json={"crate": "stowage"}, timeout=150)

    with _server(tmp_path, Row("", 0, {}, settings=patient)) as url:
        assert ask(url).status_code == 200
        heads = list((tmp_path / "store" / "heads").rglob("*.json"))
        assert heads
        for head in heads:
            head.write_bytes(b"{}")
        shared = patient | {"store": str(tmp_path / "store")}
        with _server(tmp_path / "second", Row("", 0, {}, settings=shared)) as second:
            answer = ask(second)
    body = answer.json()
    assert answer.status_code == 500
    assert body["error"] == "internal_error"
    assert body["request_id"] == answer.headers["X-Request-Id"]
    assert str(tmp_path) not in answer.text
    assert "Traceback" not in answer.text
    assert "site-packages" not in answer.text
