"""The MCP function behind a Function URL: the same app, by the events that such an URL sends."""

from __future__ import annotations

from pathlib import Path

from docstow.core.auth import token_digest
from docstow.core.settings import load
from docstow.runtime import Runtime
from paths import REPOSITORY
from servers.gateway import TOKEN, body_of, url_event
from servers.lambda_runtime import LambdaRuntime


def test_a_function_url_answers_twice_warm_and_to_nobody_without_a_credential(
    tmp_path: Path,
) -> None:
    store = str(tmp_path / "store")
    runtime = Runtime(load({"store": store, "cache": str(tmp_path / "cache")}, {}))
    runtime.ingest_sample()
    runtime.close()
    environment = {
        "DOCSTOW_STORE": store,
        "DOCSTOW_CACHE": str(tmp_path / "warm"),
        "DOCSTOW_AUTH": f"agent:read:{token_digest(TOKEN)}",
    }
    message = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "tools/call",
        "params": {
            "name": "search_items",
            "arguments": {"crate": "stowage", "query": "put cargo into the hold"},
        },
    }
    with LambdaRuntime("functions/mcp/handler.handler", REPOSITORY, environment) as function:
        answers = [function.invoke(url_event("POST", "/mcp", message)) for _ in range(2)]
        refused = function.invoke(url_event("POST", "/mcp", message, token=""))
        health = function.invoke(url_event("GET", "/health", token=""))
    first, second = (body_of(answer)["result"]["structuredContent"] for answer in answers)
    assert first["results"][0]["item_path"] == "stowage::Hold::stow"
    assert second == first
    assert (refused["statusCode"], health["statusCode"]) == (401, 200)
