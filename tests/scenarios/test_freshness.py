"""Two servers on one store: each sees what the other publishes, at once where that is asked for."""

from __future__ import annotations

from pathlib import Path

from docstow.core.settings import load
from docstow.runtime import Runtime


def server(folder: Path, name: str) -> Runtime:
    return Runtime(
        load(
            {
                "store": str(folder / "store"),
                "cache": str(folder / name),
                "freshness_s": "3600",
            },
            {},
        )
    )


def titles(runtime: Runtime, **arguments: object) -> list[str]:
    wanted = {"query": "anchors", "mode": "keyword", **arguments}
    found = runtime.toolbox.call("search_docs", wanted).structured
    assert found is not None
    return [hit["title"] for hit in found["results"]]


def test_what_another_server_published_is_seen_at_once_on_request(tmp_path: Path) -> None:
    one, other = server(tmp_path, "one"), server(tmp_path, "other")
    push = {"uri": "a", "title": "First", "text": "# First\n\nOf anchors and chains."}
    one.toolbox.call("push_document", push)
    assert titles(other) == ["First"]
    one.toolbox.call("push_document", push | {"uri": "b", "title": "Second"})
    assert titles(other) == ["First"]
    assert sorted(titles(other, consistent=True)) == ["First", "Second"]
    assert sorted(titles(other, consistent="true")) == ["First", "Second"]
    one.close()
    other.close()


def test_a_crate_of_another_server_is_seen_at_once_on_request(tmp_path: Path) -> None:
    one, other = server(tmp_path, "one"), server(tmp_path, "other")
    everywhere = {"query": "hold"}
    assert other.library is not None
    one.ingest_sample()
    found = other.toolbox.call("search_items", everywhere | {"consistent": True}).structured
    assert found is not None
    assert found["results"][0]["crate"] == "stowage"
    one.close()
    other.close()


def test_every_tool_takes_the_wish_and_only_as_a_boolean(tmp_path: Path) -> None:
    runtime = server(tmp_path, "one")
    for tool in runtime.toolbox.tools:
        assert "consistent" in runtime.toolbox.schema(tool)["properties"]
    error = runtime.toolbox.attempt("list_sources", {"consistent": "soon"}, "r")
    assert getattr(error, "code", "") == "invalid_parameter"
    runtime.close()
