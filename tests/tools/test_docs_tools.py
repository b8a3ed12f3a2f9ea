"""The tools for prose, asked over HTTP of a folder that was synced."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from prose_server import PAGES, Harbour, harbour, write
from servers.site import Site

SECRET = "Bearer 7c1f-not-for-anyone"


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Harbour]:
    with harbour(tmp_path_factory.mktemp("docs-tools")) as served:
        yield served


@pytest.fixture(scope="module")
def shaken(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Harbour]:
    """One that anything may be asked of."""
    with harbour(tmp_path_factory.mktemp("shaken"), wait_s=0) as served:
        yield served


def _records(text: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in text.splitlines()]


def test_a_search_says_what_answered_and_where_it_stands(served: Harbour) -> None:
    found = served.answer("search_docs", query="install on linux", source_id="Harbour")
    jsonschema.validate(found, served.runtime.toolbox.get("search_docs").output_schema or False)
    first = found["results"][0]
    assert (first["heading_path"], first["title"]) == ("Installing > On Linux", "Installing")
    assert first["source"] == "Harbour"
    assert first["chunk_id"].startswith(first["doc_id"])
    assert first["url"].endswith("guide/install.md#on-linux")
    # The short page fits in whole: its other sections answer too.
    assert first["text"] == PAGES["guide/install.md"].strip()
    (answered,) = found["answered"]
    newest = served.runtime.prose.newest(served.runtime.registry.get("Harbour"))
    assert newest is not None
    told = (answered["source_id"], answered["snapshot"], answered["source"])
    assert told == (served.source_id, newest.id, "Harbour")


def test_of_many_sources_those_that_have_results_are_told(tmp_path: Path) -> None:
    with harbour(tmp_path) as made:
        for number in range(7):
            write(tmp_path / str(number), {"fruit.md": f"# Fruit {number}\n\nApples and pears.\n"})
            added, _ = made.runtime.registry.create("folder", str(tmp_path / str(number)))
            assert (
                made.runtime.sync.wait(made.runtime.sync.start(added.id).id, 60).state == "success"
            )
        found = made.answer("search_docs", query="mooring lines", mode="keyword")
        assert found["searched"] == 8
        assert [each["source"] for each in found["answered"]] == ["Harbour"]
        assert {each["doc_id"][:12] for each in found["results"]} == {made.source_id[:12]}
        nothing = made.answer("search_docs", query="zebra", mode="keyword")
        assert (nothing["searched"], nothing["answered"]) == (8, [])
        assert " and 3 more;" in nothing["notice"]


@pytest.mark.parametrize("mode", ["hybrid", "vector", "keyword"])
def test_every_mode_finds_a_page_by_its_words(served: Harbour, mode: str) -> None:
    found = served.answer("search_docs", query="mooring lines", mode=mode, source_id="Harbour")
    assert found["results"][0]["title"] == "Mooring"


def test_pages_of_results_join_to_the_whole_list(served: Harbour) -> None:
    question = {"query": "harbour", "source_id": "Harbour", "max_tokens": 0}
    whole = served.answer("search_docs", **question, top_k=50)
    cursor: str | None = ""
    joined: list[Any] = []
    while cursor is not None:
        page = served.answer("search_docs", **question, top_k=2, cursor=cursor)
        joined += page["results"]
        cursor = page["cursor"]
    assert sorted(each["chunk_id"] for each in joined) == sorted(
        each["chunk_id"] for each in whole["results"]
    )
    assert whole["cursor"] is None


def test_passages_of_one_page_are_merged_in_its_order_within_the_budget(tmp_path: Path) -> None:
    sections = [
        f"## Rope {number}\n\nHow to splice a rope of {number} strands.\n\n"
        + "Pull it tight. " * 90
        for number in range(8)
    ]
    with harbour(tmp_path) as served:
        served.answer("push_document", text="# Ropes\n\n" + "\n\n".join(sections), uri="ropes.md")
        shown = []
        for budget in (300, 1000, 3000):
            found = served.answer(
                "search_docs", query="splice a rope", max_tokens=budget, top_k=6, mode="keyword"
            )
            result = found["results"][0]
            assert len(json.dumps(found["results"])) <= budget * 4
            numbers = [each.split()[2] for each in result["text"].split("\n") if "## " in each]
            assert numbers == sorted(numbers)
            # The best comes first in the list, whatever stands before it on the page.
            assert result["heading_path"].startswith("Ropes > Rope ")
            shown.append(len(numbers))
        assert shown == sorted(set(shown)), shown


def test_a_passage_that_begins_in_the_middle_has_what_is_around_it(tmp_path: Path) -> None:
    before = " ".join(f"The {n}th line is made fast." for n in range(80))
    after = " ".join(f"The {n}th line is cast off." for n in range(80))
    text = f"# Lines\n\n## All\n\n{before}\n\nMind the bollard.\n\n{after}\n"
    with harbour(tmp_path) as served:
        served.answer("push_document", text=text, uri="lines.md")
        asked = {"query": "mind the bollard", "mode": "keyword", "top_k": 1}
        small = served.answer("search_docs", **asked, max_tokens=600)["results"][0]
        large = served.answer("search_docs", **asked, max_tokens=4000)["results"][0]
        assert "Mind the bollard." in small["text"]
        # Neighbours repeat no sentence.
        assert large["text"] == text.strip()


def test_filters_narrow_and_are_checked(served: Harbour) -> None:
    found = served.answer("search_docs", query="install", filters={"path": "guide/"}, top_k=50)
    assert {each["title"] for each in found["results"]} == {"Installing", "Mooring"}
    none = served.answer("search_docs", query="install", filters={"kinds": ["site"]})
    assert (none["results"], "leave out" in none["notice"]) == ([], True)
    for filters in ({"paht": "x"}, {"path": 1}, {"kinds": ["planet"]}, {"metadata": "x"}):
        refused = served.tool("search_docs", query="install", filters=filters)
        assert (refused.status_code, refused.json()["field"]) == (400, "filters")


@pytest.mark.parametrize("query", ["", "   ", "x" * 501])
def test_a_query_has_1_to_500_characters(served: Harbour, query: str) -> None:
    refused = served.tool("search_docs", query=query)
    assert (refused.status_code, refused.json()["field"]) == (400, "query")


@pytest.mark.parametrize("top_k", [0, 51, "x"])
def test_top_k_is_1_to_50(served: Harbour, top_k: object) -> None:
    refused = served.tool("search_docs", query="x", top_k=top_k)
    assert (refused.status_code, refused.json()["field"]) == (400, "top_k")


def test_a_page_is_read_by_id_url_or_path(served: Harbour) -> None:
    hit = served.answer("search_docs", query="linux", source_id="Harbour")["results"][0]
    texts = {
        served.tool("get_doc", doc=ref).text
        for ref in (
            hit["doc_id"],
            hit["url"].partition("#")[0],
            "guide/install.md",
            "guide/install",
            "install",
        )
    }
    (text,) = texts
    line, _, body = text.partition("\n\n")
    assert line.startswith("*Harbour (folder) · <file:")
    assert "· snapshot " in line
    assert line.endswith("· third-party text*")
    assert body.startswith(PAGES["guide/install.md"].strip())
    assert f"- `{hit['chunk_id']}` Installing > On Linux\n" in body


def test_a_fragment_gives_its_section_alone(served: Harbour) -> None:
    text = served.tool("get_doc", doc="guide/install.md#on-linux").text
    line, _, body = text.partition("\n\n")
    assert body.startswith("## On Linux\n")
    assert "install.md#on-linux>" in line
    assert "Windows" not in body
    missed = served.tool("get_doc", doc="guide/install.md#on-mars").text
    assert " · no section #on-mars: this is the page · " in missed.partition("\n")[0]
    assert PAGES["guide/install.md"].strip() in missed


def test_a_page_says_what_share_of_its_words_is_kept(served: Harbour) -> None:
    line = served.tool("get_doc", doc="guide/install.md").text.partition("\n")[0]
    assert re.search(r" · 100 % of \d+ words kept · third-party text\*$", line)


def test_a_long_page_comes_in_parts_that_join(tmp_path: Path) -> None:
    paragraphs = [
        f"Paragraph {number} of a long page, with some words in it." for number in range(80)
    ]
    whole = "\n\n".join(["# Long", *paragraphs])
    with harbour(tmp_path) as served:
        served.answer("push_document", text=whole, uri="long.md")
        joined, cursor = "", ""
        while True:
            text = served.tool("get_doc", doc="long.md", max_tokens=100, cursor=cursor).text
            line, _, part = text.partition("\n\n")
            assert len(part) <= 400
            joined += part
            if "next cursor" not in line:
                break
            cursor = line.split("`")[1]
        assert joined.startswith(f"{whole}\n\n---\n")
        other = served.tool("get_doc", doc="guide/moor.md", cursor=cursor)
        assert (other.status_code, other.json()["field"]) == (400, "cursor")


def test_a_chunk_has_its_neighbours(served: Harbour) -> None:
    hit = served.answer("search_docs", query="linux package manager")["results"][0]
    chunk = served.answer("get_chunk", chunk_id=hit["chunk_id"], neighbours=1)
    assert "apt install harbour" in chunk["text"]
    assert [each["heading_path"] for each in chunk["before"]] == ["Installing"]
    assert [each["heading_path"] for each in chunk["after"]] == ["Installing > On Windows"]
    assert (chunk["doc_id"], chunk["source"]) == (hit["doc_id"], "Harbour")
    assert "before" not in served.answer("get_chunk", chunk_id=hit["chunk_id"])


def test_misses_suggest_what_comes_near(served: Harbour) -> None:
    missed = served.tool("get_doc", doc="guide/instal.md")
    assert (missed.status_code, missed.json()["error"]) == (404, "document_not_found")
    assert missed.json()["suggestions"][0]["path"] == "guide/install.md"
    unknown = served.tool("search_docs", query="x", source_id="Harbor")
    assert (unknown.status_code, unknown.json()["error"]) == (404, "source_not_found")
    assert unknown.json()["suggestions"][0]["title"] == "Harbour"
    snapshot = served.tool("search_docs", query="x", snapshot_id="0" * 64)
    assert (snapshot.status_code, snapshot.json()["error"]) == (404, "snapshot_not_found")
    job = served.tool("get_sync_status", job_id="nothing")
    assert (job.status_code, job.json()["error"]) == (404, "job_not_found")


def test_an_earlier_snapshot_answers_where_it_is_named(tmp_path: Path) -> None:
    with harbour(tmp_path) as served:
        before = served.answer("list_snapshots", source_id="Harbour")["results"]
        write(served.folder, {"guide/moor.md": "# Mooring\n\nBuoys are enough.\n"})
        job = served.answer("start_sync", source_id="Harbour")
        assert served.runtime.sync.wait(job["id"], 60).state == "success"
        status = served.answer("get_sync_status", source_id="Harbour")
        assert (status["id"], status["counts"]["changed"]) == (job["id"], 1)
        now = served.answer("list_snapshots", source_id="Harbour")["results"]
        assert [each["current"] for each in now] == [True, False]
        assert now[1]["snapshot"] == before[0]["snapshot"]
        old = served.tool("get_doc", doc="guide/moor.md", snapshot_id=now[1]["snapshot"]).text
        new = served.tool("get_doc", doc="guide/moor.md").text
        assert "four lines" in old
        assert "Buoys" in new


def test_the_tools_say_what_limits_left_out(tmp_path: Path) -> None:
    with harbour(tmp_path / "harbour") as served, Site() as site:
        links = [f"/{number}.html" for number in range(9)]
        site.page("/", "Start", "", *links)
        site.page("/deep.html", "Deep")
        for link in links:
            site.page(link, f"Page {link}", "", "/deep.html")
        limits = {"max_pages": 4, "max_depth": 1, "delay_s": 0}
        given = {"kind": "site", "uri": f"{site.url}/", "options": limits}
        made = served.answer("create_source", **given, sync=True)
        assert served.runtime.sync.wait(made["job"]["id"], 60).state == "success"

        said = "Left out by limits: 1 page by max_depth, 6 pages by max_pages."
        status = served.answer("get_sync_status", source_id=made["source_id"])
        assert status["notice"].startswith(said)
        assert "Set max_depth and max_pages higher" in status["notice"]
        (listed,) = served.answer("list_sources", kind="site")["results"]
        assert listed["notice"] == status["notice"]
        # Whoever starts the next one is told what the last one left out.
        again = served.answer("start_sync", source_id=made["source_id"])
        assert again["notice"] == status["notice"]
        assert served.runtime.sync.wait(again["id"], 60).state == "success"

        more = {"max_pages": 100, "max_depth": 3, "delay_s": 0}
        grown = served.answer("create_source", **{**given, "options": more}, sync=True)
        assert served.runtime.sync.wait(grown["job"]["id"], 60).state == "success"
        whole = served.answer("get_sync_status", source_id=made["source_id"])
        assert "notice" not in whole
        (listed,) = served.answer("list_sources", kind="site")["results"]
        assert (listed["documents"], "notice" in listed) == (11, False)


def test_a_source_is_registered_changed_and_deleted(tmp_path: Path) -> None:
    write(tmp_path / "other", {"a.md": "# A\n\nOnly this.\n"})
    with harbour(tmp_path) as served:
        given = {
            "kind": "folder",
            "uri": str(tmp_path / "other"),
            "headers": {"Authorization": SECRET},
        }
        first = served.answer("create_source", **given, title="Other", sync=True)
        assert first["created"] is True
        assert served.runtime.sync.wait(first["job"]["id"], 60).state == "success"
        again = served.tool("create_source", **given, keep=2)
        assert (again.json()["created"], again.json()["keep"]) == (False, 2)
        listed = served.tool("list_sources", kind="folder")
        other = next(each for each in listed.json()["results"] if each["title"] == "Other")
        assert other["headers"] == ["Authorization"]
        assert (other["documents"], other["job"]["state"]) == (1, "success")
        forms = ("jsonl", "markdown", "llms", "llms-full", "openwebui", "openwebui-markdown")
        exports = [
            served.tool("export_snapshot", source_id="Other", format=form).text for form in forms
        ]
        assert all("Only this." in each for each in (*exports[:2], *exports[3:]))
        told = [again.text, listed.text, *exports]
        assert not any(SECRET in each for each in told)
        assert served.answer("delete_source", source_id="Other")["deleted"] is True
        gone = served.tool("export_snapshot", source_id="Other")
        assert (gone.status_code, gone.json()["error"]) == (404, "source_not_found")


def test_open_webui_gets_a_line_with_content_and_metadata_for_each_page(served: Harbour) -> None:
    text = served.tool("export_snapshot", source_id="Harbour", format="openwebui").text
    page, *documents = _records(text)
    assert (page["record"], page["cursor"]) == ("page", None)
    assert [each["metadata"]["path"] for each in documents] == sorted(PAGES)
    assert all(each["content"] and each["metadata"]["name"] for each in documents)


def test_an_export_in_pages_is_the_export(served: Harbour) -> None:
    whole = served.tool("export_snapshot", source_id="Harbour", format="llms-full").text
    joined, cursor = "", ""
    while True:
        text = served.tool(
            "export_snapshot",
            source_id="Harbour",
            format="llms-full",
            max_tokens=100,
            cursor=cursor,
        ).text
        line, _, part = text.partition("\n")
        joined += part
        if line.endswith("last page"):
            break
        cursor = line.split("`")[1]
    assert joined == whole.partition("\n")[2]


def test_a_pushed_text_is_found_replaced_and_deleted(tmp_path: Path) -> None:
    with harbour(tmp_path) as served:
        pushed = served.answer(
            "push_document",
            text="# Tides\n\nHigh at noon.",
            uri="tides.md",
            metadata={"team": "sea"},
        )
        assert pushed["replaced"] is False
        by_team = {"query": "noon", "filters": {"metadata": {"team": "sea"}}}
        assert served.answer("search_docs", **by_team)["results"][0]["doc_id"] == pushed["doc_id"]
        again = served.answer("push_document", text="# Tides\n\nLow at noon.", uri="tides.md")
        assert (again["replaced"], again["doc_id"]) == (True, pushed["doc_id"])
        (listed,) = served.answer("list_collections")["results"]
        assert (listed["title"], listed["documents"]) == ("default", 1)
        assert served.answer("delete_document", uri="tides.md")["deleted"] is True
        missing = served.tool("delete_document", uri="tides.md")
        assert (missing.status_code, missing.json()["error"]) == (404, "document_not_found")
        made = served.answer("create_collection", name="notes", title="Our notes")
        assert (made["created"], made["title"]) == (True, "Our notes")
        assert served.answer("create_collection", name="notes")["created"] is False


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=5,
)
PLAUSIBLE = st.sampled_from(
    [
        "Harbour",
        "guide/install.md",
        "default",
        "site",
        "full",
        "keyword",
        "1",
        "true",
        "0" * 64,
        "{}",
    ]
)


@settings(max_examples=150, deadline=None)
@given(data=st.data())
@pytest.mark.slow
def test_every_tool_answers_or_refuses_in_json(shaken: Harbour, data: st.DataObject) -> None:
    # The crates' tools would ask an upstream; whatever is registered or deleted must stay as it is.
    changing = {"delete_source", "start_sync"}
    tools = [
        tool
        for tool in shaken.runtime.toolbox.tools
        if tool.toolset in ("docs", "sources", "collections") and tool.name not in changing
    ]
    tool = data.draw(st.sampled_from(tools), label="tool")
    names = st.sampled_from([each.name for each in tool.parameters] or ["x"]) | st.text(max_size=5)
    arguments = data.draw(st.dictionaries(names, PLAUSIBLE | JSON, max_size=5), label="arguments")
    arguments.pop("crate", None)
    response = shaken.tool(tool.name, **arguments)
    assert response.status_code < 500, response.text
    if response.status_code >= 400:
        body = response.json()
        assert body["error"]
        assert body["message"]
