"""Packages by purpose: stowed, installed, most used, described by their registries."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from docstow.core.errors import InvalidParameter
from docstow.core.settings import load
from docstow.ingest.descriptions import Description
from docstow.languages import PYTHON, TYPESCRIPT
from docstow.runtime import Runtime
from prose_server import write

PURPOSES = Path(__file__).parents[1] / "evaluation" / "purposes.jsonl"
SITE = ".venv/lib/python3.12/site-packages"


@pytest.fixture(scope="module")
def runtime(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Runtime]:
    folder = tmp_path_factory.mktemp("finding")
    root = folder / "project"
    metadata = "Name: quaylantern\nVersion: 1.0\nSummary: Lamps for harbours at night\n"
    files = {
        ".venv/pyvenv.cfg": "version = 3.12.1\n",
        f"{SITE}/quaylantern.py": "def kindle(): ...\n",
        f"{SITE}/quaylantern-1.0.dist-info/METADATA": metadata,
        f"{SITE}/quaylantern-1.0.dist-info/RECORD": "quaylantern.py,,\n",
    }
    write(root, {str(root / name): text for name, text in files.items()})
    flags = {"store": str(folder / "store"), "cache": str(folder / "cache"), "root": str(root)}
    with contextlib.closing(Runtime(load(flags | {"offline": True}, {}))) as made:
        made.ingest_sample()
        made.descriptions.add(
            TYPESCRIPT,
            {
                "chokidar": Description("Minimal file watching library", "fs watch watcher"),
                "zod": Description("TypeScript-first schema declaration and validation"),
            },
        )
        yield made


def find(runtime: Runtime, query: str, **arguments: Any) -> dict[str, Any]:
    answer = runtime.toolbox.call("find_packages", {"query": query, **arguments}).structured
    jsonschema.validate(answer, runtime.toolbox.get("find_packages").output_schema or False)
    return dict(answer or {})


def names(runtime: Runtime, query: str, **arguments: Any) -> list[str]:
    return [each["package"] for each in find(runtime, query, **arguments)["results"]]


def test_crates_are_found_by_their_purpose(runtime: Runtime) -> None:
    rows = [json.loads(line) for line in PURPOSES.read_text("utf-8").splitlines()]
    rust = [row for row in rows if row["language"] == "rust"]
    found = [names(runtime, row["query"], language="rust") for row in rust]
    pairs = zip(rust, found, strict=True)
    assert sum(not set(row["relevant"]).isdisjoint(here) for row, here in pairs) >= 18


def test_what_is_stowed_and_what_is_installed_is_found(runtime: Runtime) -> None:
    first = find(runtime, "stow cargo into the hold of a ship", language="rust")["results"][0]
    assert (first["package"], first["stowed"]) == ("stowage", "0.1.0")
    first = find(runtime, "lamps for the harbour", language="python")["results"][0]
    assert (first["package"], first["installed"]) == ("quaylantern", "1.0")
    assert first["description"] == "Lamps for harbours at night"


def test_what_registries_say_is_searched(runtime: Runtime) -> None:
    found = find(runtime, "watch files for changes", language="javascript")
    (told,) = (each for each in found["results"] if each["package"] == "chokidar")
    assert (told["language"], told["description"]) == (
        "typescript",
        "Minimal file watching library",
    )
    assert told["rank"] > 1
    assert "notice" not in found
    assert names(runtime, "validate data by a schema", language="typescript")[0] == "zod"


def test_without_descriptions_the_answer_says_so(runtime: Runtime) -> None:
    found = find(runtime, "requests", language="python", k=3)
    assert found["results"][0]["package"] == "requests"
    assert len(found["results"]) == 3
    assert "docstow ingest descriptions python:1000" in found["notice"]
    runtime.descriptions.add(PYTHON, {})
    assert runtime.descriptions.read(PYTHON)[1] == {}


def test_all_languages_are_searched_at_once(runtime: Runtime) -> None:
    found = find(runtime, "schema validation", limit=20)
    assert {each["language"] for each in found["results"]} >= {"rust", "typescript"}
    scores = [each["score"] for each in found["results"]]
    assert scores == sorted(scores, reverse=True)
    assert scores[0] <= 1


def test_nothing_and_no_language_are_refused(runtime: Runtime) -> None:
    with pytest.raises(InvalidParameter, match="query"):
        find(runtime, " ")
    with pytest.raises(InvalidParameter, match="language"):
        find(runtime, "x", language="perl")
