"""The MCP function under the real runtime client: full API Gateway events, a real S3 API."""

from __future__ import annotations

import contextlib
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from docstow.core.auth import token_digest
from docstow.core.settings import load
from docstow.runtime import SAMPLE, Runtime
from paths import REPOSITORY
from servers.docs_rs import DocsRs
from servers.gateway import TOKEN, body_of, event
from servers.lambda_runtime import LambdaRuntime
from servers.s3 import bucket


@pytest.fixture(scope="module")
def function(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LambdaRuntime]:
    folder = tmp_path_factory.mktemp("function")
    place = folder / "crates" / "stowage" / "0.1.0"
    place.mkdir(parents=True)
    shutil.copy(SAMPLE, place / "rustdoc.json.zst")
    with bucket() as there, DocsRs(folder / "crates") as upstream:
        environment = {
            "DOCSTOW_STORE": there.at("docs"),
            "DOCSTOW_S3_ENDPOINT": there.endpoint,
            "DOCSTOW_DOCS_RS_URL": upstream.url,
            "DOCSTOW_CRATES_INDEX_URL": upstream.index_url,
            "DOCSTOW_UPSTREAM_INTERVAL_S": "0",
            "DOCSTOW_CACHE": str(folder / "cache"),
            "DOCSTOW_WAIT_S": "60",
            "DOCSTOW_AUTH": f"anonymous:read,agent:write:{token_digest(TOKEN)}",
        }
        with LambdaRuntime("functions/mcp/handler.handler", REPOSITORY, environment) as running:
            yield running


def test_a_crate_is_stowed_and_searched_twice_warm(function: LambdaRuntime) -> None:
    call = {
        "jsonrpc": "2.0",
        "id": 7,
        "method": "tools/call",
        "params": {
            "name": "search_items",
            "arguments": {"crate": "stowage", "query": "put cargo into the hold"},
        },
    }
    first = function.invoke(event("POST", "/mcp", call))
    second = function.invoke(event("POST", "/mcp", call, encoded=True))
    assert first["statusCode"] == second["statusCode"] == 200
    assert first["headers"]["content-type"] == "application/json"
    assert body_of(first)["result"] == body_of(second)["result"]
    found = body_of(first)["result"]["structuredContent"]
    assert (found["answered"], len(found["results"])) == ("0.1.0", 4)


def test_initialize_and_discovery_are_answered_twice(function: LambdaRuntime) -> None:
    initialize = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "initialize",
        "params": {
            "protocolVersion": "2025-06-18",
            "capabilities": {},
            "clientInfo": {"name": "c", "version": "1"},
        },
    }
    answers = [function.invoke(event("POST", "/mcp", initialize)) for _ in range(2)]
    assert [body_of(a)["result"]["protocolVersion"] for a in answers] == ["2025-06-18"] * 2


def test_streams_are_refused_at_once(function: LambdaRuntime) -> None:
    assert function.invoke(event("GET", "/mcp"))["statusCode"] == 405
    assert function.invoke(event("DELETE", "/mcp"))["statusCode"] == 405


def test_plain_routes_answer(function: LambdaRuntime) -> None:
    assert body_of(function.invoke(event("GET", "/health")))["status"] == "ok"
    answer = function.invoke(event("POST", "/mcp/tools/list_versions", {"crate": "stowage"}))
    assert body_of(answer)["answered"] == "0.1.0"
    missing = function.invoke(event("POST", "/mcp/tools/get_item_doc", {"item_path": "stowage::x"}))
    assert (missing["statusCode"], body_of(missing)["error"]) == (404, "item_not_found")


def test_without_a_credential_nothing_is_written(function: LambdaRuntime) -> None:
    crate = {"crate": "stowage", "query": "hold"}
    refused = function.invoke(event("POST", "/mcp/tools/push_document", {"text": "x"}, token=""))
    assert refused["statusCode"] == 401
    assert body_of(refused)["error"] == "unauthorized"
    assert refused["headers"]["www-authenticate"] == 'Bearer realm="docstow"'
    unknown = function.invoke(event("POST", "/mcp/tools/search_items", crate, token="docstow_x"))
    assert unknown["statusCode"] == 401
    assert function.invoke(event("POST", "/mcp/tools/search_items", crate))["statusCode"] == 200
    read = function.invoke(event("POST", "/mcp/tools/search_items", crate, token=""))
    assert read["statusCode"] == 200


@pytest.mark.parametrize(
    ("claims", "reads", "writes"),
    [
        (None, 401, 401),
        ({"sub": "me", "scope": "openid"}, 403, 403),
        ({"sub": "me", "scope": "openid docstow/read"}, 200, 403),
        ({"sub": "me", "scp": "[docstow:read docstow:write]"}, 200, 200),
    ],
)
def test_an_authorizers_claims_say_what_a_caller_may_do(
    by_claims: LambdaRuntime, claims: dict[str, str] | None, reads: int, writes: int
) -> None:
    def call(tool: str, **arguments: str) -> int:
        asked = event("POST", f"/mcp/tools/{tool}", arguments, token="")
        if claims is not None:
            asked["requestContext"]["authorizer"] = {"jwt": {"claims": claims, "scopes": None}}
        return int(by_claims.invoke(asked)["statusCode"])

    assert call("list_sources") == reads
    assert call("create_collection", name="notes") == writes


@pytest.fixture(scope="module")
def by_claims(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LambdaRuntime]:
    folder = tmp_path_factory.mktemp("claims")
    environment = {
        "DOCSTOW_STORE": str(folder / "store"),
        "DOCSTOW_CACHE": str(folder / "cache"),
        "DOCSTOW_AUTH": "jwt",
    }
    with LambdaRuntime("functions/mcp/handler.handler", REPOSITORY, environment) as running:
        yield running


_LOADED = """
import random, sys
random.seed(1)
first = random.random()
random.seed(1)
from functions.mcp.handler import handler as inner

def handler(event, context):
    heavy = {"duckdb", "numpy", "onnxruntime", "tokenizers"} & set(sys.modules)
    return {"loaded": sorted(heavy), "alike": random.random() == first}
"""


_CALLED = """
import gc, random, sys, tempfile
import docstow

def looks():
    return sum(each["collections"] for each in gc.get_stats())

before = looks()
from functions.mcp.handler import handler as inner

def handler(event, context):
    assert inner(event, context)["statusCode"] == 200
    assert looks() == before, "neither composing nor a first answer looks for garbage"
    heavy = {"anyio._backends._asyncio", "botocore", "duckdb", "httpx", "jinja2", "numpy"}
    return sorted((heavy | {"numpy.ma", "pydantic"}) & set(sys.modules))
"""


def test_a_first_call_that_reads_no_table_loads_no_library_that_it_does_not_need(
    tmp_path: Path,
) -> None:
    (tmp_path / "called.py").write_text(_CALLED)
    environment = {
        "PYTHONPATH": str(REPOSITORY),
        "DOCSTOW_STORE": str(tmp_path / "store"),
        "DOCSTOW_CACHE": str(tmp_path / "cache"),
        "DOCSTOW_AUTH": "open",
    }
    with LambdaRuntime("called.handler", tmp_path, environment) as function:
        assert function.invoke(event("POST", "/mcp/tools/list_sources", {})) == []


def test_a_first_call_on_a_bucket_loads_no_library_that_it_does_not_need(tmp_path: Path) -> None:
    (tmp_path / "called.py").write_text(_CALLED)
    pages = tmp_path / "pages"
    pages.mkdir()
    (pages / "hold.md").write_text("# The hold\n\nCargo is put into the hold by a crane.\n")
    with bucket() as there:
        store = {"store": there.at("docs"), "s3_endpoint": there.endpoint}
        settings = load(store | {"cache": str(tmp_path / "own")}, {})
        with contextlib.closing(Runtime(settings)) as runtime:
            registration, _ = runtime.registry.create("folder", str(pages))
            runtime.sync.wait(runtime.sync.start(registration.id).id, 60)
        environment = {
            "PYTHONPATH": str(REPOSITORY),
            "DOCSTOW_CACHE": str(tmp_path / "cache"),
            "DOCSTOW_AUTH": "open",
            **{f"DOCSTOW_{name.upper()}": value for name, value in store.items()},
        }
        for tool, arguments, loaded in (
            ("list_sources", {}, []),
            ("search_docs", {"query": "put cargo into the hold"}, ["numpy"]),
        ):
            with LambdaRuntime("called.handler", tmp_path, environment) as function:
                asked = event("POST", f"/mcp/tools/{tool}", arguments)
                assert function.invoke(asked) == loaded


@pytest.mark.parametrize(
    ("initialization", "loaded", "alike"),
    [
        ("on-demand", [], True),
        ("snap-start", ["numpy", "tokenizers"], False),
    ],
)
def test_a_snapshot_has_everything_loaded_and_nothing_in_common(
    tmp_path: Path, initialization: str, loaded: list[str], alike: bool
) -> None:
    (tmp_path / "asked.py").write_text(_LOADED)
    environment = {
        "PYTHONPATH": str(REPOSITORY),
        "AWS_LAMBDA_INITIALIZATION_TYPE": initialization,
        "DOCSTOW_STORE": str(tmp_path / "store"),
        "DOCSTOW_CACHE": str(tmp_path / "cache"),
    }
    with LambdaRuntime("asked.handler", tmp_path, environment) as function:
        assert function.invoke({}) == {"loaded": loaded, "alike": alike}
