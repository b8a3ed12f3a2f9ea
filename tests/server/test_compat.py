"""The forms of earlier systems: each request, and its answer as that system gave it."""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import anyio
import httpx
import pytest
from mcp_types import TextContent

from docstow.cli import main
from docstow.core.auth import READ, WRITE, token_digest
from docstow.core.settings import load
from docstow.runtime import Runtime
from docstow.server.compat import Form
from docstow.server.compat.registry import SYSTEMS
from mcp import Client, StdioServerParameters
from paths import REPOSITORY
from prose_server import PAGES, Harbour, harbour, write
from servers.web import serve

SITE = ".venv/lib/python3.12/site-packages"
PROJECT = {
    ".venv/pyvenv.cfg": "home = /usr/bin\nversion = 3.12.1\n",
    "pyproject.toml": '[project]\nname = "boat"\nversion = "1"\ndependencies = ["sails"]\n',
    f"{SITE}/sails/__init__.py": '"""Sails of a boat."""\n\nfrom sails.rig import hoist\n',
    f"{SITE}/sails/rig.py": "def hoist() -> None: ...\n",
    f"{SITE}/sails-2.1.dist-info/METADATA": "Name: sails\nVersion: 2.1\n",
    f"{SITE}/sails-2.1.dist-info/RECORD": "sails/__init__.py,,\nsails/rig.py,,\n",
    f"{SITE}/oars-1.0.dist-info/METADATA": "Name: oars\nVersion: 1.0\n",
    f"{SITE}/oars-1.0.dist-info/RECORD": "oars.py,,\n",
    f"{SITE}/oars.py": "STROKES = 2\n",
}


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Harbour]:
    place = tmp_path_factory.mktemp("compat")
    write(place / "boat", PROJECT)
    with harbour(place, compat="all", root=str(place / "boat")) as served:
        yield served


def _call(served: Harbour, system: str, tool: str, **arguments: Any) -> Any:
    """The answer of a tool over MCP, by the official client: an object, or a text."""

    async def ask() -> Any:
        async with Client(f"{served.client.base_url}/compat/{system}/mcp") as client:
            result = await client.call_tool(tool, arguments)
        (block,) = result.content
        assert isinstance(block, TextContent)
        if result.is_error:
            return json.loads(block.text)
        if result.structured_content is None:
            return block.text
        assert json.loads(block.text) == result.structured_content
        return result.structured_content

    return anyio.run(ask)


def _below(served: Harbour, system: str) -> httpx.Client:
    """A client of a system's plain routes."""
    return httpx.Client(base_url=f"{served.client.base_url}/compat/{system}", timeout=60)


def _hit(served: Harbour, path: str) -> dict[str, Any]:
    """What our own search says of the best chunk of a page."""
    question = {"query": "moor install ship linux", "top_k": 20, "max_tokens": 0}
    results = served.answer("search_docs", **question)["results"]
    return next(each for each in results if each["url"].split("#")[0].endswith(path))


# nats-docs


def test_search_nats_docs(served: Harbour) -> None:
    answer = _call(served, "nats-docs", "search_nats_docs", query="moored with lines", limit=1)
    url = (served.folder / "guide/moor.md").as_uri()
    assert re.fullmatch(
        r"Found 1 results for query: moored with lines\n\n"
        rf"1\. Mooring \[Harbour\]\n   URL: {re.escape(url)}#?\w*\n   Relevance: [01]\.\d\d\n"
        r"   Summary: Mooring A ship is moored with four lines\.\n\n",
        answer,
    ), answer


def test_search_nats_docs_asks_the_sources_of_nats_where_there_are_any(
    served: Harbour, tmp_path: Path
) -> None:
    write(tmp_path / "nats", {"lines.md": "# Lines\n\nA subject names the lines of a stream.\n"})
    source, _ = served.runtime.registry.create("folder", str(tmp_path / "nats"), title="NATS docs")
    try:
        # Until it is synced there is nothing of it.
        assert "[Harbour]" in _call(served, "nats-docs", "search_nats_docs", query="four lines")
        job = served.runtime.sync.start(source.id)
        assert served.runtime.sync.wait(job.id, 60).state == "success"
        answer = _call(served, "nats-docs", "search_nats_docs", query="four lines")
    finally:
        served.runtime.registry.delete(source.id)
    assert "[NATS docs]" in answer
    assert "[Harbour]" not in answer


@pytest.mark.parametrize("doc_id", ["guide/moor", "/guide/moor/", "guide/moor.md", "ID"])
def test_retrieve_nats_doc(served: Harbour, doc_id: str) -> None:
    doc_id = _hit(served, "moor.md")["doc_id"] if doc_id == "ID" else doc_id
    url = (served.folder / "guide/moor.md").as_uri()
    answer = _call(served, "nats-docs", "retrieve_nats_doc", doc_id=doc_id)
    assert answer == f"# Mooring\n\nURL: {url}\n\nA ship is moored with four lines.\n"


def test_a_page_of_nats_that_is_not_there(served: Harbour) -> None:
    answer = _call(served, "nats-docs", "retrieve_nats_doc", doc_id="nothing/here")
    assert answer["error"] == "document_not_found"
    assert "search_docs" not in answer["message"]


# rusty-memory


def test_rusty_memory_over_http(tmp_path: Path) -> None:
    with harbour(tmp_path, compat="rusty-memory") as served, _below(served, "rusty-memory") as post:
        assert post.get("/collections").json() == {"collections": []}
        assert post.get("/metrics").json() == {"documents_indexed": 0, "chunks_indexed": 0}
        pushed = post.post("/index", json={"text": "Fog\n\nSound the horn."})
        assert (pushed.status_code, pushed.json()) == (
            200,
            {"status": "ok", "collection": "default", "chunksIndexed": 1},
        )
        two = "# Fog\n\nSound the horn.\n\n# Ice\n\nTurn back."
        new = post.post("/index", json={"text": two, "collection": "notes"})
        assert new.json() == {"status": "ok", "collection": "notes", "chunksIndexed": 2}
        # What was pushed before is pushed again, and counts again.
        again = post.post("/index", json={"text": two, "collection": "notes"})
        assert again.json() == new.json()
        size = served.runtime.embedder.dimensions
        made = post.post("/collections", json={"name": "logs", "vector_size": size})
        assert made.json() == {"status": "ok", "collection": "logs", "vectorSize": size}
        other = post.post("/collections", json={"name": "logs", "vector_size": 1536}).json()
        assert other.pop("notice") == (
            f"vectors have the {size} numbers of the server's model, not 1536"
        )
        assert other == made.json()
        assert post.get("/collections").json() == {"collections": ["default", "logs", "notes"]}
        assert post.get("/metrics").json() == {"documents_indexed": 3, "chunks_indexed": 5}
        found = served.answer("search_docs", query="horn", source_id="notes")["results"]
        assert "Sound the horn." in found[0]["text"]
        refused = post.post("/index", json={"text": " "})
        assert (refused.status_code, refused.json()["field"]) == (400, "text")
        assert post.get("/metrics").json() == {"documents_indexed": 3, "chunks_indexed": 5}


def test_rusty_memory_over_mcp(served: Harbour) -> None:
    before = _call(served, "rusty-memory", "metrics")
    pushed = _call(served, "rusty-memory", "push", text="# Tides\n\nHigh.", collection="tides")
    assert pushed == {"status": "ok", "collection": "tides", "chunksIndexed": 1}
    size = served.runtime.embedder.dimensions
    made = _call(served, "rusty-memory", "new-collection", name="empty")
    assert made == {"status": "ok", "collection": "empty", "vectorSize": size}
    listed = _call(served, "rusty-memory", "get-collections")
    assert listed == {"collections": ["empty", "tides"]}
    assert _call(served, "rusty-memory", "metrics") == {
        "documents_indexed": before["documents_indexed"] + 1,
        "chunks_indexed": before["chunks_indexed"] + 1,
    }


def test_a_source_that_is_no_collection_is_not_pushed_into(served: Harbour) -> None:
    answer = _call(served, "rusty-memory", "push", text="x", collection="Harbour")
    assert (answer["error"], answer["field"]) == ("invalid_parameter", "collection")


# context6


def test_context6_over_mcp(served: Harbour, tmp_path: Path) -> None:
    write(tmp_path / "more", {"a.md": "# Ropes\n\nSplice them.\n", "b.txt": "No.\n"})
    asked = {
        "type": "local",
        "name": "Ropes",
        "config": {"local": {"root": str(tmp_path / "more"), "include": ["**/*.md"]}},
        "limits": {"max_pages_per_run": 10, "max_doc_size_mb": 0.5, "max_depth": 3},
    }
    made = _call(served, "context6", "sources.create", **asked)
    source = made["source_id"]
    assert made == {
        "source_id": source,
        "created": True,
        "notice": "without effect here: max_depth",
    }
    assert _call(served, "context6", "sources.create", **asked)["created"] is False
    options = served.runtime.registry.get(source).options
    assert {name: options[name] for name in ("include", "max_files", "max_file_bytes")} == {
        "include": ["**/*.md"],
        "max_files": 10,
        "max_file_bytes": 500_000,
    }
    listed = _call(served, "context6", "sources.list")["sources"]
    (mine,) = [each for each in listed if each["source_id"] == source]
    created_at = served.runtime.registry.get(source).created_at.isoformat()
    assert mine == {
        "source_id": source,
        "type": "local",
        "name": "Ropes",
        "created_at": created_at,
    }
    started = _call(served, "context6", "sync.start", source_id=source, mode="full")
    assert started == {"job_id": started["job_id"], "accepted": True}
    job = served.runtime.sync.wait(started["job_id"], 60)
    status = _call(served, "context6", "sync.status", job_id=job.id)
    assert status == {
        "job_id": job.id,
        "status": "success",
        "source_id": source,
        "snapshot_id": job.snapshot_id,
        "counts": {"docs": 1, "chunks": 1, "embedded": 1, "skipped": 0},
        "errors": [],
    }
    (snapshot,) = _call(served, "context6", "snapshots.list", source_id=source)["snapshots"]
    assert snapshot == {
        "snapshot_id": job.snapshot_id,
        "resolved_ref": "",
        "created_at": snapshot["created_at"],
        "status": "success",
        "counts": {"docs": 1, "chunks": 1},
    }
    question = {"query": "splice a rope", "source_id": source, "top_k": 3}
    (hit,) = _call(served, "context6", "search", **question)["results"]
    url = (tmp_path / "more/a.md").as_uri()
    assert hit == {
        "chunk_id": hit["chunk_id"],
        "score": hit["score"],
        "title": "Ropes",
        "url": hit["url"],
        "heading_path": "Ropes",
        "snippet": "Ropes\n\nSplice them.",
    }
    assert 0 < hit["score"] <= 1
    assert hit["url"].split("#")[0] == url
    chunk = _call(served, "context6", "get_chunk", chunk_id=hit["chunk_id"])
    assert chunk == {
        "chunk_id": hit["chunk_id"],
        "doc_id": chunk["doc_id"],
        "url": url,
        "heading_path": "Ropes",
        "text": chunk["text"],
        "meta": {"source_id": source, "snapshot_id": job.snapshot_id, "chunk_index": 0},
    }
    assert "Splice them." in chunk["text"]
    assert _call(served, "context6", "get_doc", doc_id=chunk["doc_id"]) == {
        "doc_id": chunk["doc_id"],
        "title": "Ropes",
        "url": url,
        "content_normalized": "# Ropes\n\nSplice them.",
        "chunks": [{"chunk_id": hit["chunk_id"], "heading_path": "Ropes"}],
    }
    gone = _call(served, "context6", "sources.delete", source_id=source)
    assert gone == {"source_id": source, "deleted": True}
    missing = _call(served, "context6", "sources.delete", source_id=source)
    assert missing["error"] == "source_not_found"
    assert "sources.list" in missing["message"]
    assert "list_sources" not in missing["message"]


@pytest.fixture
def root(served: Harbour) -> Iterator[httpx.Client]:
    with _below(served, "context6") as client:
        yield client


def test_context6_over_http(served: Harbour, root: httpx.Client, tmp_path: Path) -> None:
    assert root.get("/healthz").json() == {"ok": True}
    write(tmp_path / "more", {"a.md": "# Knots\n\nTie them.\n\n# Bends\n\nJoin ropes.\n"})
    config = {"root": str(tmp_path / "more")}
    body = {"type": "local", "name": "Knots", "config": config}
    made = root.post("/sources", json=body).json()
    assert made == {"source_id": made["source_id"], "created": True}
    source = made["source_id"]
    assert source in [each["source_id"] for each in root.get("/sources").json()["sources"]]
    started = root.post("/sync", json={"source_id": source}).json()
    assert started == {"job_id": started["job_id"], "accepted": True}
    served.runtime.sync.wait(started["job_id"], 60)
    job = root.get(f"/jobs/{started['job_id']}").json()
    assert (job["status"], job["counts"]["docs"], job["counts"]["chunks"]) == ("success", 1, 2)
    asked: dict[str, Any] = {"source_id": source, "limit": 5}
    (snapshot,) = root.get("/snapshots", params=asked).json()["snapshots"]
    assert snapshot["snapshot_id"] == job["snapshot_id"]
    asked = {"query": "join ropes", "source_id": source, "snapshot_id": job["snapshot_id"]}
    hit = root.post("/search", json=asked).json()["results"][0]
    chunk = root.get(f"/chunks/{hit['chunk_id']}").json()
    assert (chunk["heading_path"], chunk["meta"]["chunk_index"]) == ("Bends", 1)
    page = root.get(f"/docs/{chunk['doc_id']}").json()
    assert [each["heading_path"] for each in page["chunks"]] == ["Knots", "Bends"]
    deleted = root.delete(f"/sources/{source}")
    assert (deleted.status_code, deleted.json()["deleted"]) == (200, True)
    assert root.delete(f"/sources/{source}").status_code == 404


@pytest.mark.parametrize(
    ("of_type", "config", "limits", "kind", "uri", "options"),
    [
        (
            "crawl",
            {
                "crawl": {
                    "start_urls": ["http://127.0.0.1:1/a/", "http://127.0.0.1:1/b/"],
                    "allow_domains": ["127.0.0.1:1"],
                    "allow_path_prefixes": ["/a", "/b"],
                    "render_js": False,
                    "fetch_assets": False,
                }
            },
            {"max_pages_per_run": 7, "max_depth": 2, "delay_seconds": 0.5, "max_doc_size_mb": 1},
            "site",
            "http://127.0.0.1:1/a",
            {
                "start_urls": ["http://127.0.0.1:1/a/", "http://127.0.0.1:1/b/"],
                "allowed_domains": ["127.0.0.1:1"],
                "path_prefixes": ["/a", "/b"],
                "max_pages": 7,
                "max_depth": 2,
                "delay_s": 0.5,
                "max_page_bytes": 1_000_000,
            },
        ),
        (
            "github",
            {"github": {"repo": "nats-io/nats.docs", "ref": "v2", "include": ["**/*.md"]}},
            {},
            "github",
            "nats-io/nats.docs@v2",
            {"include": ["**/*.md"]},
        ),
        (
            "github",
            {"url": "https://github.com/open-webui/docs"},
            {},
            "github",
            "open-webui/docs",
            {},
        ),
    ],
)
def test_types_of_sources_are_kinds_of_ours(
    served: Harbour,
    of_type: str,
    config: dict[str, Any],
    limits: dict[str, Any],
    kind: str,
    uri: str,
    options: dict[str, Any],
) -> None:
    asked = {"type": of_type, "name": "X", "config": config, "limits": limits}
    made = _call(served, "context6", "sources.create", **asked)
    try:
        found = served.runtime.registry.get(made["source_id"])
        assert (found.kind, found.uri, found.title) == (kind, uri, "X")
        assert {name: found.options[name] for name in options} == options
        assert made.keys() == {"source_id", "created"}
    finally:
        served.runtime.registry.delete(made["source_id"])


@pytest.mark.parametrize(
    ("config", "limits", "reason"),
    [
        ({}, {}, "github needs repo"),
        ({"github": {"repo": "a/b", "branch": "x"}}, {}, "unknown members branch"),
        ({"github": []}, {}, "github must be an object"),
        ({"repo": "a/b", "ref": 3}, {}, "github needs repo"),
        ({"repo": "a/b"}, {"max_pages_per_run": "many"}, "max_pages_per_run must be a number"),
        ({"repo": "a/b"}, {"max_pages_per_run": 0}, "max_files"),
    ],
)
def test_a_source_that_is_none_is_refused(
    served: Harbour, config: dict[str, Any], limits: dict[str, Any], reason: str
) -> None:
    asked = {"type": "github", "name": "X", "config": config, "limits": limits}
    answer = _call(served, "context6", "sources.create", **asked)
    assert answer["error"] == "invalid_parameter"
    assert reason in answer["message"]


# pkg-local


def test_scan_packages(served: Harbour) -> None:
    answer = _call(served, "pkg-local", "scan-packages")
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+00:00", answer.pop("scan_time"))
    assert answer == {
        "success": True,
        "packages": {
            "sails": {"version": "2.1", "location": f"{SITE}/sails"},
            "oars": {"version": "1.0", "location": f"{SITE}/oars.py"},
        },
        "environment": {"type": "venv", "path": ".venv", "python_version": "3.12.1"},
    }
    own = _call(served, "pkg-local", "scan-packages", scope="project", forceRefresh=True)
    assert list(own["packages"]) == ["sails"]


def test_read_package(served: Harbour) -> None:
    assert _call(served, "pkg-local", "read-package", package_name="sails") == {
        "success": True,
        "package": "sails",
        "version": "2.1",
        "init_content": PROJECT[f"{SITE}/sails/__init__.py"],
        "file_tree": ["sails/__init__.py", "sails/rig.py"],
    }
    for named in (
        {"package_name": "sails", "file_path": "sails/rig.py"},
        {"packageName": "sails", "filePath": "rig.py"},
    ):
        assert _call(served, "pkg-local", "read-package", **named) == {
            "success": True,
            "package": "sails",
            "file_path": "sails/rig.py",
            "content": "def hoist() -> None: ...\n",
        }


@pytest.mark.parametrize(
    ("tool", "arguments", "error", "suggestion"),
    [
        (
            "read-package",
            {"package_name": "sail"},
            "No package 'sail' is installed or locked in this project; scan-packages lists them.",
            "Did you mean sails?",
        ),
        (
            "read-package",
            {"package_name": "qwerty"},
            "No package 'qwerty' is installed or locked in this project; scan-packages lists them.",
            "Install it in the project and call scan-packages.",
        ),
        ("read-package", {"package_name": "sails", "file_path": "../oars.py"}, "", ""),
        ("read-package", {"package_name": "sails", "file_path": "/etc/passwd"}, "", ""),
        ("read-package", {"package_name": "sails", "file_path": "nothing.py"}, "", ""),
        ("read-package", {}, "package_name: is required: give it as a string", ""),
        ("scan-packages", {"nothing": 1}, "", ""),
    ],
)
def test_failures_of_pkg_local(
    served: Harbour, tool: str, arguments: dict[str, Any], error: str, suggestion: str
) -> None:
    answer = _call(served, "pkg-local", tool, **arguments)
    assert answer.keys() == {"success", "error", "suggestion"}
    assert answer["success"] is False
    assert error in answer["error"]
    assert suggestion in answer["suggestion"]
    assert answer["error"]
    assert answer["suggestion"]


def test_pkg_local_of_a_node_project(tmp_path: Path) -> None:
    manifest = '{"name": "knots", "version": "3.0.1", "main": "index.js", "types": "index.d.ts"}'
    files = {
        "package.json": '{"name": "boat", "dependencies": {"knots": "^3"}}',
        "package-lock.json": "{}",
        "node_modules/knots/package.json": manifest,
        "node_modules/knots/index.js": "exports.tie = () => {};\n",
        "node_modules/knots/index.d.ts": "export function tie(): void;\n",
    }
    write(tmp_path / "boat", files)
    with harbour(tmp_path, compat="pkg-local", root=str(tmp_path / "boat")) as served:
        answer = _call(served, "pkg-local", "scan-packages")
        assert answer.pop("scan_time")
        assert answer == {
            "success": True,
            "packages": {"knots": {"version": "3.0.1", "location": "node_modules/knots"}},
            "environment": {
                "type": "node_modules",
                "path": "node_modules",
            },
        }
        read = _call(served, "pkg-local", "read-package", package_name="knots")
        assert read["init_content"] == manifest
        assert sorted(read["file_tree"]) == ["index.d.ts", "index.js", "package.json"]
        one = _call(
            served, "pkg-local", "read-package", package_name="knots", file_path="index.d.ts"
        )
        assert one["content"] == "export function tie(): void;\n"


def test_pkg_local_without_an_environment(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    with harbour(tmp_path, compat="pkg-local", root=str(tmp_path / "empty")) as served:
        answer = _call(served, "pkg-local", "scan-packages")
    assert answer["success"] is False
    assert "python -m venv .venv" in answer["suggestion"]


# How they are served


@pytest.mark.parametrize("system", list(SYSTEMS))
def test_each_system_lists_its_own_tools_alone(served: Harbour, system: str) -> None:
    async def listed() -> list[Any]:
        async with Client(f"{served.client.base_url}/compat/{system}/mcp") as client:
            assert client.instructions
            return list((await client.list_tools()).tools)

    tools = anyio.run(listed)
    forms: tuple[Form, ...] = SYSTEMS[system].forms
    assert [tool.name for tool in tools] == [form.name for form in forms]
    for tool, form in zip(tools, forms, strict=True):
        names = {each.name for each in form.parameters}
        assert set(tool.input_schema["properties"]) == names
        ours = served.runtime.toolbox.get(form.ours)
        assert tool.annotations
        assert tool.annotations.read_only_hint == ours.read_only


def test_over_standard_streams(tmp_path: Path) -> None:
    write(tmp_path / "boat", PROJECT)
    words = ["serve", "--stdio", "--compat", "pkg-local", "--store", str(tmp_path / "store")]
    server = StdioServerParameters(
        command=sys.executable,
        args=["-m", "docstow", *words, "--cache", str(tmp_path / "cache")],
        cwd=str(tmp_path / "boat"),
        env={"PYTHONPATH": os.pathsep.join([str(REPOSITORY / "lib")])},
    )

    async def ask() -> tuple[list[str], dict[str, Any]]:
        async with Client(server) as client:
            names = [tool.name for tool in (await client.list_tools()).tools]
            result = await client.call_tool("scan-packages", {})
            assert result.structured_content is not None
            return names, result.structured_content

    names, answer = anyio.run(ask)
    assert names == ["scan-packages", "read-package"]
    assert answer["packages"]["sails"]["version"] == "2.1"


def test_what_is_not_set_is_not_served(tmp_path: Path) -> None:
    with harbour(tmp_path) as served:
        for system in SYSTEMS.values():
            assert served.client.post(f"{system.root}/mcp", json={}).status_code == 404
    with harbour(tmp_path, compat="context6") as served:
        assert served.client.get("/compat/context6/sources").status_code == 200
        assert served.client.get("/compat/rusty-memory/metrics").status_code == 404


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--compat", "context7"], "compat: context7 is not known; there are nats-docs,"),
        (["--stdio", "--compat", "all"], "over standard streams one system is served"),
    ],
)
def test_a_setting_that_cannot_be_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], words: list[str], message: str
) -> None:
    kept = ["--store", str(tmp_path / "store"), "--cache", str(tmp_path / "cache")]
    assert main(["serve", *words, *kept]) == 1
    assert message in "".join(capsys.readouterr())


def test_credentials_hosts_and_sizes_hold_for_all_of_it(tmp_path: Path) -> None:
    entries = [f"{name}:{name}:{token_digest(name * 8)}" for name in (READ, WRITE)]
    flags = {
        "store": str(tmp_path / "store"),
        "cache": str(tmp_path / "cache"),
        "compat": "all",
        "auth": ",".join(entries),
    }
    runtime = Runtime(load(flags, {}))
    reader, writer = ({"Authorization": f"Bearer {name * 8}"} for name in (READ, WRITE))
    with serve(runtime.app) as url:
        for system in SYSTEMS.values():
            answer = httpx.post(f"{url}{system.root}/mcp", json={})
            assert answer.status_code == 401, system.name
            foreign = {**reader, "Host": "evil.example"}
            answer = httpx.post(f"{url}{system.root}/mcp", json={}, headers=foreign)
            assert answer.status_code == 403, system.name
            large = httpx.post(
                f"{url}{system.root}/mcp", json={"x": "y" * 5_000_000}, headers=reader
            )
            assert large.status_code == 413, system.name
            for route in system.routes:
                path = re.sub(r"\{[^}]*\}", "x", route.path)
                answer = httpx.request(route.method, f"{url}{system.root}{path}")
                assert answer.status_code == 401, route
        assert httpx.get(f"{url}/compat/context6/healthz").json() == {"ok": True}
        index = f"{url}/compat/rusty-memory/index"
        assert httpx.post(index, json={"text": "x"}, headers=reader).status_code == 403
        assert httpx.post(index, json={"text": "x"}, headers=writer).status_code == 200
        assert httpx.post(index, content="text=x", headers=writer).status_code == 415
        # What forgets a source asks for more than to write.
        gone = httpx.delete(f"{url}/compat/context6/sources/default", headers=writer)
        ours = httpx.delete(f"{url}/sources/default", headers=writer)
        assert gone.status_code == ours.status_code
    runtime.close()


def test_the_pages_that_the_tests_ask_for_are_those_served(served: Harbour) -> None:
    document = _call(served, "context6", "get_doc", doc_id=_hit(served, "install.md")["doc_id"])
    assert document["content_normalized"] == PAGES["guide/install.md"].rstrip()
