"""What a process imports for its first answer."""

from __future__ import annotations

import contextlib
import json
import subprocess
import sys
from pathlib import Path

import pytest

from docstow.core.settings import load
from docstow.runtime import Runtime

#: Answers one call as a function does, by the ASGI application, and says what it had to import.
CALL = """
import asyncio, json, sys
import docstow
from docstow.core.settings import load

folder, path, arguments = sys.argv[1:]
app = docstow.asgi(load({"store": f"{folder}/store", "cache": f"{folder}/cache"}, {}))
body, sent = arguments.encode(), []

async def receive():
    return {"type": "http.request", "body": body, "more_body": False}

async def send(message):
    sent.append(message)

headers = {"host": "localhost", "content-type": "application/json", "content-length": len(body)}
scope = {
    "type": "http", "asgi": {"version": "3.0"}, "http_version": "1.1", "method": "POST",
    "path": path, "raw_path": path.encode(), "query_string": b"", "root_path": "",
    "scheme": "http", "client": ("127.0.0.1", 1), "server": ("localhost", 80),
    "headers": [(name.encode(), str(value).encode()) for name, value in headers.items()],
}
asyncio.run(app(scope, receive, send))
print(json.dumps([sent[0]["status"], sent[1]["body"].decode(), sorted(sys.modules)]))
"""
CRATE = {"crate": "stowage", "version": "0.1.0"}
LIST = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}
#: What no answer from the store needs.
NEVER = {
    *("fastapi", "pydantic", "uvicorn", "boto3", "botocore", "httpx", "griffe", "tree_sitter"),
    *("duckdb", "onnxruntime", "docstow.server.command_line"),
    *("jinja2", "pygments", "nh3", "docstow.server.web"),
    *("docstow.ingest.publish", "docstow.ingest.worker", "docstow.library.environments"),
    *("docstow.languages.python.scanning", "docstow.languages.rust.check", "docstow.ops"),
    *("docstow.tools.check_code", "docstow.tools.compare_versions", "docstow.tools.collections"),
}
#: What only calls that read tables need.
TABLES = {"numpy", "docstow.index.loaded"}
#: What only searches need.
SEARCH = {"tokenizers", "docstow.index.search", "docstow.tools.search_crates"}
#: What no call on an exact version needs.
JOBS = {"docstow.ingest.queue", "docstow.library.packages"}
JOBS |= {"tomllib", "docstow.languages.shared.project"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("cold")
    settings = load({"store": f"{place}/store", "cache": f"{place}/first"}, {})
    with contextlib.closing(Runtime(settings)) as runtime:
        runtime.ingest_sample()
    return place


@pytest.mark.parametrize(
    ("path", "arguments", "left_out"),
    [
        ("/mcp/tools/get_package_summary", CRATE, TABLES | SEARCH | JOBS | {"docstow.tools.ask"}),
        ("/mcp/tools/get_crate_summary", CRATE, TABLES | SEARCH | JOBS | {"docstow.tools.docs"}),
        (
            "/mcp/tools/get_item_doc",
            {**CRATE, "item_path": "stowage::strategy::LargestFirst"},
            SEARCH | JOBS,
        ),
        (
            "/mcp/tools/search_items",
            {**CRATE, "query": "the largest first"},
            JOBS | {"docstow.tools.read_crate", "docstow.library.guides"},
        ),
        ("/mcp", LIST, TABLES | {"onnxruntime", "tokenizers", "docstow.index.search"}),
    ],
)
def test_an_answer_imports_what_it_needs_alone(
    folder: Path, path: str, arguments: dict[str, object], left_out: set[str]
) -> None:
    command = [sys.executable, "-c", CALL, str(folder), path, json.dumps(arguments)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    status, body, imported = json.loads(done.stdout)
    assert status == 200, body
    assert {*imported} & (NEVER | left_out) == set()


#: Searches in a process that was made ready before its snapshot, and says what it still imports.
RESTORED = """
import json, sys
from docstow.core.settings import load
from docstow.runtime import Runtime

runtime = Runtime(load({"store": f"{sys.argv[1]}/store", "cache": f"{sys.argv[1]}/cache"}, {}))
runtime.warm_up()
before = {*sys.modules}
runtime.toolbox.call("search_items", json.loads(sys.argv[2]))
print(json.dumps([sorted({*sys.modules} - before), "duckdb" in before]))
"""


def test_a_restored_process_has_imported_what_a_search_needs(folder: Path) -> None:
    question = json.dumps({**CRATE, "query": "the largest first"})
    command = [sys.executable, "-c", RESTORED, str(folder), question]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    imported, needless = json.loads(done.stdout)
    assert {name for name in imported if name.startswith("docstow.index")} == set()
    assert not needless
