"""A search over several crates, from the tool's arguments to its answer."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from docstow.core.errors import CrateNotFound, InvalidParameter
from docstow.core.model import LOCAL, Source
from docstow.core.settings import load
from docstow.runtime import SAMPLE, Runtime
from paths import CRATES as FIXTURES
from servers.docs_rs import DocsRs

CRATES = ["features", "globs", "links", "members", "namespaces", "reexports", "signatures"]


def opened(folder: Path, **flags: Any) -> Runtime:
    nowhere = {"docs_rs_url": "http://127.0.0.1:1", "crates_index_url": "http://127.0.0.1:1"}
    places = {"store": str(folder / "store"), "cache": str(folder / "cache")}
    return Runtime(load({**places, **nowhere, "retries": 0, **flags}, {}))


@pytest.fixture(scope="module")
def runtime(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Runtime]:
    with contextlib.closing(opened(tmp_path_factory.mktemp("across"))) as made:
        made.rustdoc_files([SAMPLE]).ingest(SAMPLE)
        for name in CRATES:
            file = FIXTURES / name / "rustdoc.json.zst"
            made.rustdoc_files([file]).ingest(file)
        yield made


def ask(runtime: Runtime, query: str, **arguments: Any) -> Any:
    """The tool's answer, which must be of the shape that the tool promises."""
    rendered = runtime.toolbox.call("search_items", {"query": query, **arguments}).render()
    answer = json.loads(rendered)
    jsonschema.validate(answer, runtime.toolbox.get("search_items").output_schema or False)
    return answer


def test_the_crate_for_a_purpose_is_found(runtime: Runtime) -> None:
    answer = ask(runtime, "put parcels into the hold of a ship", k=3)
    assert answer["asked"] == "all stowed crates"
    assert answer["substituted"] is False
    assert 1 <= len(answer["answered"]) <= 7
    best = answer["answered"][0]
    assert (best["crate"], best["version"]) == ("stowage", "0.1.0")
    head = runtime.snapshots.head(Source(LOCAL, "stowage", "0.1.0"))
    assert head is not None
    assert runtime.snapshots.load(head, best["snapshot"]) is not None
    assert len(answer["results"]) == 3
    assert answer["results"][0]["crate"] == "stowage"
    assert answer["results"][0]["item_path"].startswith("stowage::")
    scores = [result["score"] for result in answer["results"]]
    assert scores == sorted(scores, reverse=True)


def test_each_result_says_its_crate_and_version(runtime: Runtime) -> None:
    answer = ask(runtime, "make one", k=50)
    versions = {each["crate"]: each["version"] for each in answer["answered"]}
    assert len({result["crate"] for result in answer["results"]}) > 1
    for result in answer["results"]:
        assert result["version"] == versions[result["crate"]]
        assert result["item_path"].split("::")[0] == result["crate"]


def test_pages_join_to_one_list(runtime: Runtime) -> None:
    whole = ask(runtime, "make one", k=12, max_tokens=0)
    first = ask(runtime, "make one", k=6, max_tokens=0)
    second = ask(runtime, "make one", k=6, max_tokens=0, cursor=first["cursor"])
    assert first["results"] + second["results"] == whole["results"]
    with pytest.raises(InvalidParameter, match="cursor"):
        ask(runtime, "make one", crates=["links"], cursor=first["cursor"])


def test_an_explanation_tells_the_crate_from_the_item(runtime: Runtime) -> None:
    (result,) = ask(runtime, "hold of a ship", k=1, explain=True)["results"]
    assert result["explanation"]["crate"].keys() == {"score", "place", "cosine"}


def test_named_crates_alone_are_searched(runtime: Runtime) -> None:
    answer = ask(runtime, "hold of a ship", crates=["links", "globs", "links"], k=50)
    assert answer["asked"] == "links latest, globs latest"
    assert [each["crate"] for each in answer["answered"]] == ["links", "globs"]
    assert {result["crate"] for result in answer["results"]} == {"links", "globs"}


def test_a_lock_file_fixes_the_versions_of_named_crates(runtime: Runtime) -> None:
    lockfile = '[[package]]\nname = "stowage"\nversion = "0.1.0"\n'
    answer = ask(runtime, "hold", crates=["stowage"], lockfile=lockfile)
    assert answer["asked"] == "stowage lockfile: 0.1.0"


LOCKFILE = """
version = 4
[[package]]
name = "app"
version = "0.1.0"
dependencies = ["links", "members"]
[[package]]
name = "links"
version = "VERSION"
source = "registry+https://github.com/rust-lang/crates.io-index"
[[package]]
name = "members"
version = "9.9.9"
source = "registry+https://github.com/rust-lang/crates.io-index"
dependencies = ["globs"]
[[package]]
name = "globs"
version = "1.0.0"
source = "registry+https://github.com/rust-lang/crates.io-index"
"""


def test_the_crates_of_a_project_come_first(runtime: Runtime) -> None:
    (links,) = runtime.snapshots.heads(LOCAL, "links")
    lockfile = LOCKFILE.replace("VERSION", links.source.version)
    own = ask(runtime, "hold of a ship", k=3, lockfile=lockfile)
    names = [each["crate"] for each in own["answered"]]
    # What the dependencies of the project depend on is not asked for by the project.
    assert {"links", "members"} <= set(names[:3])
    assert "members: the project has 9.9.9, which is not stowed" in own["notice"]
    assert "links:" not in own["notice"]


def test_filters_choose_the_crates_too(runtime: Runtime) -> None:
    macros = ask(runtime, "hold of a ship", type_filter=["macro"])
    assert {result["item_type"] for result in macros["results"]} == {"macro"}
    inside = ask(runtime, "hold of a ship", module="namespaces::same")
    assert [each["crate"] for each in inside["answered"]] == ["namespaces"]
    assert next(result["item_path"] for result in inside["results"]).startswith("namespaces::same")


@pytest.mark.parametrize(
    ("arguments", "notice"),
    [
        ({"module": "nowhere::at"}, "no stowed crate has the module nowhere::at; name the crate"),
        ({"module": "links::nowhere"}, "nothing passes the filters in links; leave out"),
        ({"type_filter": ["union"], "module": "nowhere"}, "no stowed crate has items of the kinds"),
    ],
)
def test_filters_never_empty_the_list_silently(
    runtime: Runtime, arguments: dict[str, Any], notice: str
) -> None:
    answer = ask(runtime, "anything", **arguments)
    assert answer["results"] == []
    assert answer["notice"].startswith(notice)


@pytest.mark.parametrize(
    "arguments",
    [
        {"crate": "links", "crates": ["globs"]},
        {"version": "1"},
        {"lockfile": "version = 4"},
        {"crates": [f"crate{number}" for number in range(11)]},
    ],
)
def test_what_makes_no_sense_is_refused(runtime: Runtime, arguments: dict[str, Any]) -> None:
    with pytest.raises(InvalidParameter):
        ask(runtime, "anything", **arguments)


def test_an_empty_store_says_what_to_do(tmp_path: Path) -> None:
    with (
        contextlib.closing(opened(tmp_path)) as empty,
        pytest.raises(CrateNotFound, match="ingest crate"),
    ):
        ask(empty, "anything")


def test_named_crates_are_stowed_on_demand(tmp_path: Path) -> None:
    place = tmp_path / "crates" / "stowage" / "0.1.0"
    place.mkdir(parents=True)
    (place / "rustdoc.json.zst").write_bytes(SAMPLE.read_bytes())
    with DocsRs(tmp_path / "crates") as upstream:
        flags = {"docs_rs_url": upstream.url, "crates_index_url": upstream.index_url}
        with contextlib.closing(opened(tmp_path, upstream_interval_s=0, **flags)) as fresh:
            answer = ask(fresh, "hold of a ship", crates=["stowage"])
            assert answer["results"][0]["item_path"].startswith("stowage::")
            assert ask(fresh, "hold of a ship")["answered"] == answer["answered"]
            with pytest.raises(CrateNotFound, match="unheard"):
                ask(fresh, "hold of a ship", crates=["stowage", "unheard"])


def test_crates_of_the_corpus_are_found_by_their_purpose(corpus: Path, tmp_path: Path) -> None:
    purposes = {
        "regex": "match text against a regular expression",
        "csv": "read rows of comma separated values",
        "rayon": "iterate in parallel over all cores",
        "uuid": "make a random unique identifier",
        "walkdir": "visit all files in a directory recursively",
        "base64": "encode bytes as base64",
    }
    with DocsRs(corpus) as upstream:
        flags = {"docs_rs_url": upstream.url, "crates_index_url": upstream.index_url}
        with contextlib.closing(opened(tmp_path, upstream_interval_s=0, **flags)) as full:
            for name in purposes:
                full.crates.ingest(name)
            chosen = {
                name: ask(full, query)["answered"][0]["crate"] for name, query in purposes.items()
            }
    assert chosen == {name: name for name in purposes}
