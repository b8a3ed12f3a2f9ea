"""The plain routes: each is one tool, by a method and a path of its own."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from urllib.parse import quote, urlsplit

import httpx
import pytest
from openapi_spec_validator import validate

from docstow.cli import main
from docstow.server.rest import ROUTES, ToolRoute, collect_arguments
from docstow.tools import Answer, Tool
from prose_server import Harbour, harbour, write
from servers.mcp_fixture_server import fixture_app
from servers.web import serve

JSON = {"Content-Type": "application/json"}


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Harbour]:
    with harbour(tmp_path_factory.mktemp("routes")) as served:
        yield served


def test_a_source_goes_its_whole_way_over_plain_http(served: Harbour, tmp_path: Path) -> None:
    client = served.client
    write(tmp_path / "more", {"tides.md": "# Tides\n\nHigh at noon.\n"})
    uri = str(tmp_path / "more")
    source = client.post("/sources", json={"kind": "folder", "uri": uri, "title": "Tides"}).json()
    job = client.post("/sync", json={"source_id": source["source_id"]}).json()
    assert served.runtime.sync.wait(job["id"], 60).state == "success"
    assert client.get(f"/jobs/{job['id']}").json()["counts"]["documents"] == 1
    listed = client.get("/sources", params={"kind": "folder"}).json()["results"]
    assert {each["title"] for each in listed} == {"Harbour", "Tides"}
    (snapshot,) = client.get("/snapshots", params={"source_id": "Tides"}).json()["results"]
    assert (snapshot["documents"], snapshot["current"]) == (1, True)
    deleted = client.delete(f"/sources/{quote(uri, safe='')}")
    assert (deleted.status_code, deleted.json()["deleted"]) == (200, True)
    assert client.delete("/sources/Tides").json()["error"] == "source_not_found"


def test_a_search_leads_to_chunks_and_pages(served: Harbour) -> None:
    client = served.client
    question = {"query": "install on linux", "top_k": "1"}
    found = client.post("/search", json=question)
    assert found.json() == served.answer("search_docs", **question)
    (hit,) = found.json()["results"]
    chunk = client.get(f"/chunks/{hit['chunk_id']}", params={"neighbours": 1}).json()
    assert (chunk["chunk_id"], len(chunk["before"])) == (hit["chunk_id"], 1)
    page = served.tool("get_doc", doc=hit["doc_id"]).text
    address = hit["url"].partition("#")[0]
    for way in (
        client.get(f"/docs/{hit['doc_id']}"),
        client.get("/docs/guide/install.md"),
        client.get(f"/docs/{quote(address, safe='')}"),
        client.get("/docs", params={"ref": address, "source_id": "Harbour"}),
    ):
        assert (way.status_code, way.text) == (200, page)
        assert way.headers["content-type"] == "text/markdown; charset=utf-8"


def test_texts_are_pushed_into_collections(served: Harbour) -> None:
    client = served.client
    made = client.post("/collections", json={"name": "routes"})
    assert made.json()["created"] is True
    pushed = client.post(
        "/index", json={"text": "# Fog\n\nSound the horn.", "collection": "routes"}
    )
    found = client.post("/search", json={"query": "horn", "source_id": "routes"}).json()
    assert found["results"][0]["doc_id"] == pushed.json()["doc_id"]
    listed = client.get("/collections").json()["results"]
    assert "routes" in [each["title"] for each in listed]


def test_where_the_store_is_no_caller_learns_from_a_job_that_failed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with harbour(tmp_path) as served:
        store, client = tmp_path / "store", served.client
        write(served.folder, {"index.md": "# Harbour\n\nClosed for the winter.\n"})
        (store / "blobs").rename(tmp_path / "moved")
        (store / "blobs").write_text("a file stands where tables are to be")
        started = client.post("/sync", json={"source_id": "Harbour"}).json()
        job = served.runtime.sync.wait(started["id"], 60)
        assert (job.state, job.errors[0].kind) == ("failed", "store_error")
        answers = [
            client.get(f"/jobs/{job.id}"),
            client.get("/sources"),
            served.tool("get_sync_status", source_id="Harbour"),
            served.tool("list_sources"),
        ]
        assert [each.status_code for each in answers] == [200] * 4
        for each in answers:
            assert "internal_error" in each.text
            assert str(store) not in each.text
            assert "A file stands" not in each.text
        (told,) = answers[0].json()["errors"]
        refused = client.post("/search", json={"query": "winter", "source_id": "Harbour"}).json()
        assert (told["kind"], told["message"]) == (refused["error"], refused["message"])
        assert told["details"] == {"request_id": job.id}
    # The operator reads the record itself.
    (store / "blobs").unlink()
    assert main(["jobs", "show", job.id, "--store", str(store)]) == 0
    (error,) = json.loads(capsys.readouterr().out)["errors"]
    assert error["kind"] == "store_error"
    assert str(store) in error["message"]


@pytest.mark.parametrize(
    ("method", "path", "body", "field"),
    [
        ("GET", "/sources?kind=planet", None, "kind"),
        ("GET", "/sources?nothing=1", None, "nothing"),
        ("GET", "/snapshots", None, "source_id"),
        ("GET", "/docs", None, "doc"),
        ("GET", "/chunks/x?neighbours=many", None, "neighbours"),
        ("POST", "/search", {"query": "x", "top_k": 51}, "top_k"),
        ("POST", "/search", [], "body"),
        ("POST", "/index", {}, "text"),
        ("DELETE", "/sources/x", {"a": 1}, "body"),
    ],
)
def test_arguments_are_checked_as_the_tools_own(
    served: Harbour, method: str, path: str, body: object, field: str
) -> None:
    response = served.client.request(method, path, json=body)
    assert (response.status_code, response.json()["field"]) == (400, field)


def test_a_wrong_method_says_which_are_right(served: Harbour) -> None:
    response = served.client.put("/search", json={})
    assert (response.status_code, response.headers["allow"]) == (405, "POST")


def test_a_member_of_the_query_that_recurs_is_an_array() -> None:
    route = ToolRoute("GET", "/docs/{doc}", "get_doc", renamed=(("ref", "b"),))
    query = [("a", "1"), ("a", "2"), ("a", "3"), ("ref", "x")]
    assert collect_arguments(route, {}, query, {"doc": "y"}) == {
        "a": ["1", "2", "3"],
        "b": "x",
        "doc": "y",
    }


def test_commands_and_openapi_list_all_there_is(served: Harbour) -> None:
    catalogue = served.client.get("/commands").json()
    tools = {tool["name"]: tool for tool in catalogue["tools"]}
    assert set(tools) == {tool.name for tool in served.runtime.toolbox.tools}
    assert tools["search_docs"]["inputSchema"]["properties"]["query"]["maxLength"] == 500
    assert "results" in tools["search_docs"]["outputSchema"]["properties"]
    commands = [each["command"] for each in catalogue["commands"]]
    assert {"serve", "ingest site", "ingest folder", "search", "call"} <= set(commands)
    routes = [(each["method"], each["path"], each["tool"]) for each in catalogue["routes"]]
    assert routes == [(each.method, each.template, each.tool) for each in ROUTES]
    document = served.client.get("/openapi.json").json()
    validate(document)
    for method, path, tool in routes:
        operation = document["paths"][path][method.lower()]
        assert operation["summary"] == tools[tool]["title"]
    names = [each["name"] for each in document["paths"]["/docs"]["get"]["parameters"]]
    assert names == ["ref", "source_id", "snapshot_id", "max_tokens", "cursor", "consistent"]


def test_a_client_that_leaves_disturbs_no_other(served: Harbour) -> None:
    address = urlsplit(str(served.client.base_url))
    body = json.dumps({"query": "install on linux"}).encode()
    head = f"POST /search HTTP/1.1\r\nHost: {address.netloc}\r\nContent-Type: application/json\r\n"

    def leave(_: int) -> None:
        with socket.create_connection((address.hostname, address.port)) as connection:
            connection.sendall(f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body)

    def ask(_: int) -> int:
        return httpx.post(
            f"{served.client.base_url}/search", content=body, headers=JSON
        ).status_code

    with ThreadPoolExecutor(8) as pool:
        left, answers = pool.map(leave, range(20)), pool.map(ask, range(20))
        assert list(answers) == [200] * 20
        list(left)
    assert served.client.get("/health").status_code == 200


def test_one_who_leaves_a_call_under_way_does_not_end_those_of_others() -> None:
    arrived, released = threading.Event(), threading.Event()

    def hold(_: object) -> Answer:
        arrived.set()
        assert released.wait(60)
        return Answer(text="done")

    with serve(fixture_app(Tool("hold", "fixtures", "Hold", "Waits.", (), hold))) as url:
        address = urlsplit(url)
        head = f"POST /mcp/tools/hold HTTP/1.1\r\nHost: {address.netloc}\r\n\r\n"
        with socket.create_connection((address.hostname, address.port)) as connection:
            connection.sendall(head.encode())
            assert arrived.wait(60)
        answer = httpx.post(f"{url}/mcp/tools/add", json={"a": 1})
        assert (answer.status_code, answer.json()["sum"]) == (200, 2)
        released.set()
        assert httpx.post(f"{url}/mcp/tools/hold").text == "done"
