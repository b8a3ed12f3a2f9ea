"""``sam local start-api`` without Docker: SAM's own routes and events, the real runtime client."""

from __future__ import annotations

import json
import os
import subprocess
import threading
from collections.abc import Iterator

import httpx
import pytest

from docstow.runtime import SAMPLE
from paths import REPOSITORY, TESTS
from servers.docs_rs import DocsRs
from servers.lambda_runtime import LambdaRuntime

#: The Python that SAM is installed in; ``make infra`` names it.
SAM_PYTHON = "DOCSTOW_SAM_PYTHON"

pytestmark = pytest.mark.skipif(
    SAM_PYTHON not in os.environ, reason="'make infra' runs these with SAM's environment"
)


@pytest.fixture(scope="module")
def described(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, object]]:
    """What SAM says of the template; its server answers by the real function meanwhile."""
    folder = tmp_path_factory.mktemp("sam")
    place = folder / "crates" / "stowage" / "0.1.0"
    place.mkdir(parents=True)
    (place / "rustdoc.json.zst").write_bytes(SAMPLE.read_bytes())
    local = json.loads((REPOSITORY / "infra" / "sam-local.json").read_text("utf-8"))["Parameters"]
    with DocsRs(folder / "crates") as upstream:
        environment = {
            **local,
            # A folder in the place of the S3 server that the file names.
            "DOCSTOW_STORE": str(folder / "store"),
            "DOCSTOW_S3_ENDPOINT": "",
            "DOCSTOW_CACHE": str(folder / "cache"),
            "DOCSTOW_DOCS_RS_URL": upstream.url,
            "DOCSTOW_CRATES_INDEX_URL": upstream.index_url,
            "DOCSTOW_WAIT_S": "60",
        }
        script = TESTS / "support" / "servers" / "sam_local.py"
        with (
            LambdaRuntime("functions/mcp/handler.handler", REPOSITORY, environment) as function,
            subprocess.Popen(
                [os.environ[SAM_PYTHON], str(script), "template.yaml"],
                cwd=REPOSITORY,
                env={**os.environ, "AWS_DEFAULT_REGION": "us-east-1", "SAM_CLI_TELEMETRY": "0"},
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
            ) as sam,
        ):
            assert sam.stdout is not None
            told = json.loads(sam.stdout.readline())
            answering = threading.Thread(target=_answer, args=(sam, function))
            answering.start()
            yield told
            sam.kill()
            answering.join()


def _answer(sam: subprocess.Popen[str], function: LambdaRuntime) -> None:
    """Give each event that SAM makes of a request to the function."""
    assert sam.stdin is not None
    assert sam.stdout is not None
    for line in sam.stdout:
        request = json.loads(line)
        assert request["function"] == "McpFunction"
        sam.stdin.write(json.dumps(function.invoke(request["event"])) + "\n")
        sam.stdin.flush()


@pytest.fixture
def client(described: dict[str, object]) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=f"http://127.0.0.1:{described['port']}", timeout=60) as client:
        yield client


def test_sam_finds_the_routes(described: dict[str, object]) -> None:
    paths = ["$default", "/.well-known/{proxy+}", "/health", "/{proxy+}"]
    assert described["routes"] == [[path, "McpFunction"] for path in paths]


def test_health_answers_through_it(client: httpx.Client) -> None:
    assert client.get("/health").json()["status"] == "ok"


def test_mcp_and_plain_http_answer_through_it(client: httpx.Client) -> None:
    arguments = {"crate": "stowage", "query": "put cargo into the hold"}
    call = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "tools/call",
        "params": {
            "name": "search_items",
            "arguments": arguments,
        },
    }
    headers = {"Accept": "application/json, text/event-stream"}
    answer = client.post("/mcp", json=call, headers=headers).json()
    found = answer["result"]["structuredContent"]["results"]
    assert found
    plain = client.post("/mcp/tools/search_items", json=arguments).json()
    assert plain["results"] == found


def test_what_a_client_asks_before_it_calls_is_answered(client: httpx.Client) -> None:
    assert client.options("/mcp", headers={"Origin": "https://foreign.example"}).status_code < 500
    assert client.get("/.well-known/oauth-protected-resource").status_code == 404
