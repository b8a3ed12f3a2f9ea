"""The tool ``diff_versions`` on the project's own pair of crates, stowed from their files."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator
from typing import Any

import pytest

from docstow.core.errors import InvalidParameter, ItemNotFound, UpstreamError
from docstow.core.settings import load
from docstow.runtime import Runtime
from paths import CRATES


@pytest.fixture(scope="module")
def runtime(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Runtime]:
    folder = tmp_path_factory.mktemp("diff")
    nowhere = "http://127.0.0.1:1"
    flags = {
        "store": str(folder / "store"),
        "cache": str(folder / "cache"),
        "docs_rs_url": nowhere,
        "crates_index_url": nowhere,
        "retries": 0,
    }
    with contextlib.closing(Runtime(load(flags, {}))) as made:
        for name in ("api_old", "api_new"):
            file = CRATES / name / "rustdoc.json.zst"
            made.rustdoc_files([file]).ingest(file)
        yield made


def call(runtime: Runtime, **arguments: Any) -> dict[str, Any]:
    answer = runtime.toolbox.call("diff_versions", {"crate": "api", **arguments})
    rendered: dict[str, Any] = json.loads(answer.render())
    return rendered


def test_breaking_changes_come_first_with_verdict_and_provenance(runtime: Runtime) -> None:
    answer = call(runtime, from_version="~1.2")
    assert (answer["asked"], answer["answered"]) == ("latest", "1.3.0")
    assert (answer["from"]["asked"], answer["from"]["answered"]) == ("~1.2", "1.2.0")
    assert answer["snapshot"] != answer["from"]["snapshot"]
    assert answer["verdict"] == {
        "declared": "minor",
        "allows": "compatible",
        "needed": "breaking",
        "fits": False,
        "summary": "1.2.0 to 1.3.0 is a minor step; its gravest change is breaking, which the "
        "version does not announce",
    }
    classes = [each["class"] for each in answer["results"]]
    assert classes == sorted(classes, key=["breaking", "compatible", "docs-only"].index)
    assert answer["total"] == sum(answer["counts"].values()) > len(answer["results"]) == 50
    assert answer["results"][0] == {
        "path": "api::Alias",
        "kind": "struct",
        "class": "breaking",
        "rule": "alias-removed",
        "before": "api::Twice",
        "new_path": "api::Twice",
    }


def test_pages_are_joined_by_cursors_of_the_same_question(runtime: Runtime) -> None:
    first = call(runtime, from_version="1.2.0")
    second = call(runtime, from_version="1.2.0", cursor=first["cursor"])
    assert second["cursor"] is None
    assert len(first["results"]) + len(second["results"]) == first["total"]
    with pytest.raises(InvalidParameter, match="cursor"):
        call(runtime, from_version="1.2.0", paths=["api::Work"], cursor=first["cursor"])


def test_cursors_are_short_however_long_the_question_is(runtime: Runtime) -> None:
    paths = ["api"] * 100
    first = call(runtime, from_version="1.2.0", paths=paths)
    second = call(runtime, from_version="1.2.0", paths=paths, cursor=first["cursor"])
    assert len(first["results"]) + len(second["results"]) == first["total"]


def test_paths_limit_it_to_what_is_used(runtime: Runtime) -> None:
    answer = call(runtime, from_version="1.2.0", paths=["api::Work::retyped", "api::Alias"])
    assert [(each["path"], each["rule"]) for each in answer["results"]] == [
        ("api::Alias", "alias-removed"),
        ("api::Work::retyped", "trait-item-signature-changed"),
    ]
    members = call(runtime, from_version="1.2.0", paths=["Work"])
    assert {each["path"] for each in members["results"]} == {
        f"api::Work::{name}"
        for name in ("new_required", "new_provided", "retyped", "to_required", "to_provided")
    }
    module = call(runtime, from_version="1.2.0", paths=["api::here"])
    assert [each["path"] for each in module["results"]] == ["api::here::Moved", "api::here::Kept"]
    with pytest.raises(ItemNotFound):
        call(runtime, from_version="1.2.0", paths=["api::nowhere_at_all"])


def test_a_lock_file_names_the_version_one_comes_from(runtime: Runtime) -> None:
    lockfile = '[[package]]\nname = "api"\nversion = "1.2.0"\n'
    answer = call(runtime, lockfile=lockfile, to_version="1.3.0")
    assert answer["from"]["answered"] == "1.2.0"
    with pytest.raises(InvalidParameter, match="not both"):
        call(runtime, lockfile=lockfile, from_version="1.2.0")
    with pytest.raises(InvalidParameter, match="from_version"):
        call(runtime)


def test_the_way_back_is_a_downgrade(runtime: Runtime) -> None:
    answer = call(runtime, from_version="1.3.0", to_version="1.2.0", paths=["api::added"])
    assert answer["verdict"] == {
        "declared": "downgrade",
        "allows": "compatible",
        "needed": "breaking",
        "fits": None,
        "summary": "1.3.0 to 1.2.0 is a downgrade; the changes are those of going back (the "
        "gravest is breaking), and whether a version announces them is not asked",
    }
    assert [each["rule"] for each in answer["results"]] == ["item-removed"]


def test_a_version_against_itself_is_said_to_be_the_same(runtime: Runtime) -> None:
    answer = call(runtime, from_version="1.3.0", to_version="1.3.0")
    assert answer["verdict"] == {
        "declared": "none",
        "allows": "compatible",
        "needed": "none",
        "fits": None,
        "summary": "1.3.0 on both sides is the same version; nothing to compare",
    }
    assert (answer["total"], answer["results"]) == (0, [])


def test_a_version_that_no_file_holds_is_an_error(runtime: Runtime) -> None:
    with pytest.raises(UpstreamError):
        call(runtime, from_version="7.0.0")
