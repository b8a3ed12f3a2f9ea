"""Packages of an npm registry, asked for by tools: installed nowhere, fetched once."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from docstow.core.errors import InvalidParameter, PackageNotFound
from docstow.core.settings import load
from docstow.runtime import Runtime
from servers.npm import NpmServer

OLD = """
/** Hoist a sail.
 * @param name of the sail */
export declare function hoist(name: string): void;
/** Lower every sail. */
export declare function lower(): void;
"""
NEW = """
import { Rope } from "ropes";
/** Hoist a sail by a rope. */
export declare function hoist(name: string, rope: Rope): void;
export { Rope };
"""


@pytest.fixture
def npm() -> Iterator[NpmServer]:
    with NpmServer() as server:
        server.publish("sails", "1.0.0", {"index.d.ts": OLD}, description="Sails for boats")
        server.publish("sails", "1.1.0", {"index.d.ts": OLD}, tag="old")
        server.publish("sails", "2.0.0", {"index.d.ts": NEW}, dependencies={"ropes": "^1"})
        server.packuments["sails"]["versions"]["1.1.0"]["deprecated"] = "use 2"
        rope = "export declare class Rope { /** Pull it tight. */ tighten(): void; }"
        server.publish("ropes", "1.2.0", {"index.d.ts": rope})
        yield server


@pytest.fixture
def call(npm: NpmServer, tmp_path: Path) -> Iterator[Callable[..., Any]]:
    nowhere = "http://127.0.0.1:1"
    flags = {
        "store": str(tmp_path / "store"),
        "cache": str(tmp_path / "cache"),
        "docs_rs_url": nowhere,
        "crates_index_url": nowhere,
        "npm_registry_url": npm.url,
    }
    with contextlib.closing(Runtime(load(flags, {}))) as runtime:

        def ask(tool: str, **arguments: Any) -> Any:
            answer = runtime.toolbox.call(tool, {"language": "typescript", **arguments})
            return answer.structured if answer.structured is not None else answer.text

        yield ask


def test_a_package_is_fetched_once_and_answers(npm: NpmServer, call: Callable[..., Any]) -> None:
    for _ in range(2):
        answer = call("search_items", crate="sails", query="hoist a sail")
        assert answer["answered"] == "2.0.0"
        assert answer["results"][0]["item_path"] == "sails.hoist"
    assert len(npm.paths(".tgz")) == 2
    assert "tighten" in str(call("search_items", crate="sails", query="pull a rope tight"))


@pytest.mark.parametrize(
    ("version", "answered"),
    [
        ("^1", "1.0.0"),
        ("1.1", "1.1.0"),
        ("old", "1.1.0"),
        ("1 || 2", "2.0.0"),
        (">=1.0.0 <2", "1.0.0"),
        ("latest", "2.0.0"),
    ],
)
def test_versions_are_npms(call: Callable[..., Any], version: str, answered: str) -> None:
    answer = call("get_crate_summary", crate="sails", version=version)
    assert answer["answered"] == answered
    assert ("deprecated" in answer.get("notice", "")) == (answered == "1.1.0")


def test_two_versions_are_compared(call: Callable[..., Any]) -> None:
    answer = call("diff_versions", crate="sails", from_version="^1", to_version="^2")
    rules = {each["path"]: each["rule"] for each in answer["results"]}
    assert rules["sails.lower"] == "item-removed"


def test_what_is_missing_is_said(npm: NpmServer, call: Callable[..., Any]) -> None:
    with pytest.raises(PackageNotFound, match="no npm package named sales"):
        call("get_crate_summary", crate="sales")
    with pytest.raises(PackageNotFound, match="no version matches"):
        call("get_crate_summary", crate="sails", version="^3")
    with pytest.raises(InvalidParameter, match="registry"):
        call("get_crate_summary", crate="sails", version="file:../sails")


LOCK = json.dumps(
    {
        "name": "boat",
        "lockfileVersion": 3,
        "packages": {
            "": {"dependencies": {"sails": "^1", "rigging": "npm:ropes@^1"}},
            "node_modules/sails": {"version": "1.0.0"},
            "node_modules/other/node_modules/sails": {"version": "2.0.0"},
            "node_modules/rigging": {"name": "ropes", "version": "1.2.0"},
            "node_modules/local": {"resolved": "packages/local", "link": True},
        },
    }
)


def test_a_lock_file_chooses_the_version(call: Callable[..., Any]) -> None:
    answer = call("get_crate_summary", crate="sails", lockfile=LOCK)
    assert (answer["asked"], answer["answered"]) == ("lockfile: 1.0.0", "1.0.0")
    assert "sails 2.0.0 too; 1.0.0 is what the project depends on" in answer["notice"]
    for tool, more in {
        "search_items": {"query": "hoist"},
        "get_item_doc": {"item_path": "sails.lower"},
        "get_module_tree": {},
    }.items():
        answer = call(tool, crate="sails", lockfile=LOCK, **more)
        assert "1.0.0" in str(answer)
    several = call("search_items", crates=["sails", "ropes"], query="hoist", lockfile=LOCK)
    assert {each["crate"]: each["version"] for each in several["results"]} == {
        "sails": "1.0.0",
        "ropes": "1.2.0",
    }


def test_a_lock_file_tells_versions_and_dependencies(call: Callable[..., Any]) -> None:
    answer = call("list_versions", crate="sails", lockfile=LOCK)
    assert answer["answered"] == "1.0.0"
    locked = [each["version"] for each in answer["results"] if each.get("locked")]
    assert locked == ["2.0.0", "1.0.0"]
    asked = LOCK.replace('"version": "1.0.0"', '"version": "2.0.0"')
    answer = call("get_dependencies", crate="sails", lockfile=asked)
    assert (answer["asked"], answer["results"][0]["resolved"]) == ("lockfile: 2.0.0", "1.2.0")


def test_a_difference_begins_at_the_lock_file(call: Callable[..., Any]) -> None:
    answer = call("diff_versions", crate="sails", lockfile=LOCK, to_version="2")
    assert (answer["from"]["answered"], answer["answered"]) == ("1.0.0", "2.0.0")


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        ({"crate": "sails", "version": "1", "lockfile": LOCK}, "either version or lockfile"),
        ({"crate": "sales", "lockfile": LOCK}, r"no package sales \(it has sails"),
        ({"crate": "sails", "lockfile": "what is this"}, "package-lock.json"),
    ],
)
def test_what_a_lock_file_does_not_say(
    call: Callable[..., Any], arguments: dict[str, str], reason: str
) -> None:
    with pytest.raises(InvalidParameter, match=reason):
        call("get_crate_summary", **arguments)


CODE = """import { hoist, lower, drop } from "sails";
import { tighten } from "ropes";
hoist("jib");
"""


def verdicts(answer: dict[str, Any]) -> dict[str, str]:
    return {each["name"]: each["status"] for each in answer["results"]}


@pytest.mark.parametrize(
    ("given", "packages", "unknown"),
    [
        (
            {"versions": {"sails": "1"}},
            {"sails": "1.0.0", "ropes": "1.2.0"},
            {"sails.drop", "ropes.tighten"},
        ),
        (
            {"versions": {"sails": "^2", "ropes": ""}},
            {"sails": "2.0.0", "ropes": "1.2.0"},
            {"sails.drop", "sails.lower", "ropes.tighten"},
        ),
        ({"lockfile": LOCK}, {"sails": "1.0.0", "ropes": "1.2.0"}, {"sails.drop", "ropes.tighten"}),
    ],
)
def test_code_is_checked_against_versions_that_nobody_has_installed(
    call: Callable[..., Any], given: dict[str, Any], packages: dict[str, str], unknown: set[str]
) -> None:
    answer = call("verify_code", code=CODE, **given)
    assert answer["packages"] == packages
    found = verdicts(answer)
    assert {name for name, status in found.items() if status == "unknown"} == unknown


def test_a_version_that_is_not_there_is_said_and_what_nobody_named_is_told(
    call: Callable[..., Any],
) -> None:
    answer = call("verify_code", code=CODE, versions={"sails": "7"})
    assert "no version matches 7" in answer["notice"]
    assert "the newest were fetched: ropes 1.2.0" in answer["notice"]
    assert verdicts(answer) == {"ropes.tighten": "unknown"}
