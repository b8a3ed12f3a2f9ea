"""``search`` and ``fetch``, as ChatGPT calls them: each answer written out."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import anyio
import pytest
from mcp_types import TextContent

from docstow.runtime import SAMPLE
from docstow.server.mcp import DEFAULT
from mcp import Client
from prose_server import PAGES, Harbour, harbour

ITEM = "get_item_doc?package=stowage&item_path=stowage%3A%3AHold&version=0.1.0"


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Harbour]:
    nowhere = {"docs_rs_url": "http://127.0.0.1:1", "crates_index_url": "http://127.0.0.1:1"}
    with harbour(tmp_path_factory.mktemp("connectors"), **nowhere) as served:
        served.runtime.rustdoc_files([SAMPLE]).ingest(SAMPLE)
        yield served


def _page(served: Harbour, path: str) -> str:
    hits = served.answer("search_docs", query="mooring lines installing", top_k=20)["results"]
    return next(str(hit["doc_id"]) for hit in hits if hit["url"].split("#")[0].endswith(path))


async def _converse(url: str) -> list[Any]:
    """What a connector does: list the tools, search, fetch what was found."""
    async with Client(f"{url}/mcp?toolsets=connectors") as client:
        answers: list[Any] = [[tool.name for tool in (await client.list_tools()).tools]]
        found = await client.call_tool("search", {"query": "moor a ship with four lines"})
        first = (found.structured_content or {})["results"][0]["id"]
        for result in (found, await client.call_tool("fetch", {"id": first})):
            (block,) = result.content
            assert isinstance(block, TextContent)
            assert json.loads(block.text) == result.structured_content
            answers.append(result.structured_content)
        return answers


def test_a_connector_searches_and_fetches_a_page(served: Harbour) -> None:
    names, found, fetched = anyio.run(_converse, str(served.client.base_url).rstrip("/"))
    assert names == ["search", "fetch"]
    page = f"get_doc?doc={_page(served, 'moor.md')}"
    url = (served.folder / "guide/moor.md").as_uri()
    assert found["results"][0].keys() == {"id", "title", "url"}
    assert found["results"][0]["id"] == page
    assert found["results"][0]["title"].startswith("Mooring · Harbour ")
    assert found["results"][0]["url"].split("#")[0] == url
    snapshot = served.answer("list_snapshots", source_id="Harbour")["results"][0]
    assert fetched == {
        "id": page,
        "title": "Mooring",
        "text": PAGES["guide/moor.md"].rstrip(),
        "url": url,
        "metadata": {
            "source_id": served.source_id,
            "source": "Harbour",
            "kind": "folder",
            "uri": str(served.folder),
            "snapshot": snapshot["snapshot"],
            "created_at": snapshot["created_at"],
        },
    }


def test_an_item_is_found_and_read(served: Harbour) -> None:
    results = served.answer("search", query="stowage Hold")["results"]
    assert ITEM in [each["id"] for each in results]
    assert len({each["id"] for each in results}) == len(results)
    assert all(each["url"] for each in results)
    fetched = served.answer("fetch", id=ITEM)
    asked: dict[str, Any] = {"crate": "stowage", "item_path": "stowage::Hold", "version": "0.1.0"}
    whole = served.tool("get_item_doc", **asked).text
    assert (fetched["id"], fetched["title"]) == (ITEM, "stowage::Hold · stowage 0.1.0")
    assert fetched["text"] == whole
    assert fetched["url"] == "https://docs.rs/stowage/0.1.0/stowage/struct.Hold.html"
    assert fetched["metadata"].keys() == {"package", "version", "snapshot"}


def test_a_page_is_fetched_by_its_address_too(served: Harbour) -> None:
    assert served.answer("fetch", id="guide/install.md")["title"] == "Installing"


@pytest.mark.parametrize(
    ("tool", "arguments", "code"),
    [
        ("search", {"query": " "}, "invalid_parameter"),
        ("search", {"query": "x", "k": 3}, "invalid_parameter"),
        ("fetch", {"id": "get_doc?doc="}, "invalid_parameter"),
        ("fetch", {"id": "delete_source?source_id=Harbour"}, "document_not_found"),
        ("fetch", {"id": "get_item_doc?package=stowage&item_path=stowage::No"}, "item_not_found"),
        ("fetch", {"id": "get_item_doc?item_path=a&nothing=1"}, "invalid_parameter"),
    ],
)
def test_what_cannot_be_answered_is_refused(
    served: Harbour, tool: str, arguments: dict[str, Any], code: str
) -> None:
    assert served.tool(tool, **arguments).json()["error"] == code


def test_clients_on_standard_streams_are_not_offered_them(served: Harbour) -> None:
    names = [tool.name for tool in served.runtime.protocol.tools(DEFAULT)]
    assert "ask" in names
    assert {"search", "fetch"}.isdisjoint(names)
