"""What a process asks of a bucket before its first answer."""

from __future__ import annotations

import contextlib
import itertools
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from docstow.core.settings import load
from docstow.runtime import SAMPLE, Runtime
from docstow.store.heads import list_blobs
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
        pack: path of the crate's tables below the store.
        tables: where each table begins and ends there.
        asked: method, path below the store and range, in order.
        upstream: docs.rs and the index.
    """

    settings: dict[str, str]
    pack: str
    tables: dict[str, tuple[int, int]]
    asked: list[tuple[str, str, str]]
    upstream: DocsRs


@pytest.fixture(scope="module")
def stowed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stowed]:
    folder = tmp_path_factory.mktemp("cold")
    place = folder / "crates" / "stowage" / "0.1.0"
    place.mkdir(parents=True)
    shutil.copy(SAMPLE, place / "rustdoc.json.zst")
    asked: list[tuple[str, str, str]] = []
    with s3.bucket() as there, DocsRs(folder / "crates") as upstream:
        forward = s3.forward(there.endpoint)

        def respond(request: s3.Request) -> s3.Answer:
            path = request.path.partition("/docs/")[2]
            asked.append((request.method, path, request.headers.get("range", "")))
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
            ((pack, _),) = list_blobs(snapshot)
            ends = itertools.accumulate(snapshot.sizes.values())
            tables = {
                name: (end - snapshot.sizes[name], end)
                for name, end in zip(snapshot.sizes, ends, strict=True)
            }
            yield Stowed(settings, pack, tables, asked, upstream)


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
    # Two rounds: both heads at once, then the tables by one range.
    assert sorted(stowed.asked[:2]) == [("GET", head, "") for head in HEADS]
    read = [(path, span) for method, path, span in stowed.asked[2:] if method == "GET"]
    places = [stowed.tables[name] for name in tables]
    begin, end = min(start for start, _ in places), max(end for _, end in places)
    assert read == [(stowed.pack, f"bytes={begin}-{end - 1}")]
    rest = {(method, path.partition("/")[0]) for method, path, _ in stowed.asked[2:]}
    assert rest <= {("GET", "blobs"), ("PUT", "touched"), ("HEAD", "touched")}


def test_the_summary_of_an_exact_version_needs_its_heads_and_the_index(
    stowed: Stowed, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    said = {"rust_version": "1.70", "yanked": True}
    monkeypatch.setitem(stowed.upstream.overrides, ("stowage", "0.1.0"), said)
    stowed.asked.clear()
    stowed.upstream.requests.clear()
    settings = load(stowed.settings | {"cache": f"{tmp_path}/cache"}, {})
    with contextlib.closing(Runtime(settings)) as runtime:
        answer = runtime.toolbox.call("get_package_summary", CRATE)
    assert answer.structured is not None
    assert answer.structured["status"] == {
        "yanked": True,
        "all_yanked": True,
        "requires": "Rust 1.70",
    }
    asked = {(method, path.partition("/")[0]) for method, path, _ in stowed.asked}
    assert sorted(path for method, path, _ in stowed.asked if method == "GET") == HEADS
    assert asked <= {("GET", "heads"), ("PUT", "touched"), ("HEAD", "touched")}
    assert len(stowed.upstream.requests) == 1
