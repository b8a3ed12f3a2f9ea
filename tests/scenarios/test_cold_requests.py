"""What a process asks of a bucket before its first answer."""

from __future__ import annotations

import contextlib
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from docstow.core.settings import load
from docstow.runtime import SAMPLE, Runtime
from servers import s3
from servers.docs_rs import DocsRs

CRATE = {"crate": "stowage", "version": "0.1.0"}
HEADS = ["heads/crate/stowage/0.1.0.json", "heads/local/stowage/0.1.0.json"]
PAGE = {"documents", "relations", "passages"}
RANKED = {*PAGE, "postings", "anchor_postings"}


@dataclass(frozen=True, slots=True)
class Stowed:
    """A bucket with a crate, and what is asked of it and of docs.rs.

    Attributes:
        settings: for a process that reads it.
        tables: names of the crate's tables by their blobs.
        asked: method and path below the store, in order.
        upstream: docs.rs and the index.
    """

    settings: dict[str, str]
    tables: dict[str, str]
    asked: list[tuple[str, str]]
    upstream: DocsRs


@pytest.fixture(scope="module")
def stowed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stowed]:
    folder = tmp_path_factory.mktemp("cold")
    place = folder / "crates" / "stowage" / "0.1.0"
    place.mkdir(parents=True)
    shutil.copy(SAMPLE, place / "rustdoc.json.zst")
    asked: list[tuple[str, str]] = []
    with s3.bucket() as there, DocsRs(folder / "crates") as upstream:
        forward = s3.forward(there.endpoint)

        def respond(request: s3.Request) -> s3.Answer:
            asked.append((request.method, request.path.partition("/docs/")[2]))
            return forward(request)

        with s3.serve(respond) as endpoint:
            settings = {
                "store": there.at("docs"),
                "s3_endpoint": endpoint,
                "docs_rs_url": upstream.url,
                "crates_index_url": upstream.index_url,
                "upstream_interval_s": "0",
                "wait_s": "60",
            }
            with contextlib.closing(
                Runtime(load(settings | {"cache": f"{folder}/a"}, {}))
            ) as first:
                snapshot = first.library.crate("stowage", "0.1.0").snapshot
            tables = {digest: name for name, digest in snapshot.tables.items()}
            yield Stowed(settings, tables, asked, upstream)


@pytest.mark.parametrize(
    ("tool", "arguments", "tables"),
    [
        ("get_item_doc", {"item_path": "stowage::strategy::LargestFirst"}, PAGE),
        ("get_module_tree", {}, {"documents", "relations"}),
        ("search_items", {"query": "stow", "max_tokens": 0}, RANKED),
        ("search_items", {"query": "stow"}, {*RANKED, "examples", "example_postings"}),
        ("search_examples", {"query": "stow"}, {"documents", "examples", "example_postings"}),
    ],
)
def test_an_exact_version_is_found_by_its_heads_and_read_by_its_tables_alone(
    stowed: Stowed, tmp_path: Path, tool: str, arguments: dict[str, object], tables: set[str]
) -> None:
    stowed.asked.clear()
    stowed.upstream.requests.clear()
    settings = load(stowed.settings | {"cache": f"{tmp_path}/cache"}, {})
    with contextlib.closing(Runtime(settings)) as runtime:
        answer = runtime.toolbox.call(tool, CRATE | arguments).render()
    assert "0.1.0" in answer
    assert stowed.upstream.requests == []
    # Two rounds: both heads at once, then the tables at once; no table twice.
    assert sorted(stowed.asked[:2]) == [("GET", head) for head in HEADS]
    gets = [path for method, path in stowed.asked[2:] if method == "GET"]
    read = [stowed.tables[path.rpartition("/")[2].partition(".")[0]] for path in gets]
    assert sorted(read) == sorted(tables)
    rest = {(method, path.partition("/")[0]) for method, path in stowed.asked[2:]}
    assert rest <= {("GET", "blobs"), ("PUT", "touched"), ("HEAD", "touched")}
