"""The audit: who changed what, and who was refused, as lines that machines read."""

from __future__ import annotations

import contextlib
import hashlib
import json
import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from docstow.core.logs import configure
from docstow.core.settings import load
from docstow.runtime import Runtime
from servers.web import serve

TOKENS = {"ada": ("write", "docstow_ada_hunter2"), "bob": ("read", "docstow_bob_hunter2")}


@pytest.fixture
def log(tmp_path: Path) -> Iterator[Path]:
    """A file that is logged to as JSON, in the place of what pytest has set up."""
    root = logging.getLogger()
    before, level = root.handlers[:], root.level
    root.handlers.clear()
    file = tmp_path / "docstow.log"
    configure(load({"log_file": str(file), "log_format": "json"}, {}))
    yield file
    for handler in root.handlers:
        handler.close()
    root.handlers[:] = before
    root.setLevel(level)


@pytest.fixture
def server(log: Path, tmp_path: Path) -> Iterator[str]:
    entries = (
        f"{name}:{scope}:{hashlib.sha256(token.encode()).hexdigest()}"
        for name, (scope, token) in TOKENS.items()
    )
    flags = {
        "store": str(tmp_path / "store"),
        "cache": str(tmp_path / "cache"),
        "auth": ",".join(entries),
        "github_token": "ghp_hunter2",
        "embeddings_key": "sk-hunter2",
        "python_index_url": "https://me:hunter2@index.example/simple",
    }
    with contextlib.closing(Runtime(load(flags, {}))) as runtime, serve(runtime.app) as url:
        yield url


def _ask(url: str, path: str, who: str, arguments: dict[str, Any]) -> httpx.Response:
    token = TOKENS[who][1] if who in TOKENS else "docstow_nobody_hunter2"
    headers = {"Authorization": f"Bearer {token}"}
    return httpx.post(f"{url}{path}", json=arguments, headers=headers, timeout=60)


def _audited(log: Path) -> list[dict[str, Any]]:
    lines = [json.loads(line) for line in log.read_text("utf-8").splitlines()]
    return [line for line in lines if line["logger"] == "docstow.audit"]


PUSHED = {"uri": "a.md", "text": "# A\n\nText."}


def test_writes_and_refusals_are_a_line_each(server: str, log: Path) -> None:
    pushed = _ask(server, "/mcp/tools/push_document", "ada", PUSHED)
    assert pushed.status_code == 200
    read = _ask(server, "/mcp/tools/list_sources", "bob", {})
    refused = _ask(server, "/mcp/tools/push_document", "bob", PUSHED)
    call = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "tools/call",
        "params": {"name": "push_document", "arguments": PUSHED},
    }
    by_mcp = _ask(server, "/mcp?toolsets=collections", "bob", call)
    unknown = _ask(server, "/mcp/tools/list_sources", "eve", {})
    assert (read.status_code, refused.status_code, unknown.status_code) == (200, 403, 401)
    lines = _audited(log)
    told = [(line["caller"], line["action"], line["outcome"]) for line in lines]
    assert told == [
        ("ada", "push_document", "done"),
        ("bob", "push_document", "forbidden"),
        ("bob", "push_document", "forbidden"),
        ("", "POST /mcp/tools/list_sources", "401"),
    ]
    ids = [each.headers["x-request-id"] for each in (pushed, refused, by_mcp, unknown)]
    assert [line["request_id"] for line in lines] == ids
    assert all(line["source"] for line in lines[:3])


def test_no_line_has_a_secret(server: str, log: Path) -> None:
    for who in ("ada", "bob", "eve"):
        _ask(server, "/mcp/tools/push_document", who, PUSHED)
        _ask(server, "/mcp/tools/list_sources", who, {})
        _ask(
            server,
            "/mcp/tools/get_package_summary",
            who,
            {"package": "absent", "language": "python"},
        )
    text = log.read_text("utf-8")
    assert len(_audited(log)) >= 4
    assert "hunter2" not in text


def test_a_log_that_is_moved_away_is_begun_anew(log: Path) -> None:
    logging.getLogger("docstow.test").info("before")
    log.rename(log.with_suffix(".1"))
    logging.getLogger("docstow.test").info("after")
    assert json.loads(log.read_text("utf-8"))["message"] == "after"
