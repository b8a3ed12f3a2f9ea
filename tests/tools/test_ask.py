"""One search over all that a project uses: what is searched, chosen and left out."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from docstow.core.errors import EnvironmentNotFound, InvalidParameter
from docstow.core.settings import load
from docstow.runtime import Runtime
from docstow.text.markdown import without_links
from docstow.tools import fit

LOCKFILE = """version = 4
[[package]]
name = "ship"
version = "1.0.0"
dependencies = ["stowage", "ballast"]
[[package]]
name = "stowage"
version = "0.1.0"
source = "registry+https://index.example"
[[package]]
name = "ballast"
version = "2.0.0"
source = "registry+https://index.example"
"""
CRANE = '''"""Cranes."""


def hoist(load: int) -> None:
    """Lift a load out of the hold with the crane.

    Mind the wind above seven knots.
    """
'''
PAGE = "# Lashing\n\n## At sea\n\nLash each piece with two straps before the ship leaves.\n"


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project that has a lock file of crates and an environment with one package."""
    folder = tmp_path_factory.mktemp("ship")
    (folder / "Cargo.lock").write_text(LOCKFILE)
    (folder / "Cargo.toml").write_text('[package]\nname = "ship"\nversion = "1.0.0"\n')
    (folder / "pyproject.toml").write_text(
        '[project]\nname = "ship"\nversion = "1.0.0"\ndependencies = ["crane"]\n'
    )
    packages = folder / ".venv" / "lib" / "python3.11" / "site-packages"
    info = packages / "crane-1.2.3.dist-info"
    info.mkdir(parents=True)
    (folder / ".venv" / "pyvenv.cfg").write_text("home = /usr/bin\nversion = 3.11.2\n")
    (packages / "crane.py").write_text(CRANE)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: crane\nVersion: 1.2.3\n")
    (info / "RECORD").write_text("crane.py,,\ncrane-1.2.3.dist-info/METADATA,,\n")
    (info / "top_level.txt").write_text("crane\n")
    return folder


@pytest.fixture(scope="module")
def runtime(root: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Runtime]:
    folder = tmp_path_factory.mktemp("ask")
    nowhere = dict.fromkeys(("docs_rs_url", "crates_index_url"), "http://127.0.0.1:1")
    flags = {"store": str(folder / "store"), "cache": str(folder / "cache"), "root": str(root)}
    with contextlib.closing(Runtime(load(flags | nowhere, {}))) as made:
        made.ingest_sample()
        made.toolbox.call("push_document", {"text": PAGE, "uri": "lashing.md"})
        yield made


def ask(runtime: Runtime, question: str, **arguments: Any) -> Any:
    answer = json.loads(runtime.toolbox.call("ask", {"question": question, **arguments}).render())
    jsonschema.validate(answer, runtime.toolbox.get("ask").output_schema or False)
    return answer


def test_crates_packages_and_pages_are_searched_at_once(runtime: Runtime) -> None:
    answer = ask(runtime, "lift a load out of the hold and lash each piece with straps")
    assert answer["searched"]["packages"] == 2
    found = {each["source"]: each for each in answer["results"]}
    assert {"stowage (rust)", "crane (python)"} < set(found)
    crane = next(e for e in answer["results"] if e["title"] == "function crane.hoist")
    assert crane["version"] == "1.2.3"
    assert "Mind the wind above seven knots." in crane["text"]
    (passage,) = [each for each in answer["results"] if each["kind"] == "passage"]
    assert passage["text"] == PAGE.strip()


def test_each_result_says_how_to_read_on(runtime: Runtime) -> None:
    for each in ask(runtime, "put a piece into the hold of the ship")["results"]:
        call = each["next"]
        assert runtime.toolbox.call(call["tool"], call["arguments"]).text


def test_what_is_not_stowed_is_named_with_the_call_that_stows_it(runtime: Runtime) -> None:
    answer = ask(runtime, "put a piece into the hold")
    assert answer["not_stowed"] == [
        {
            "name": "ballast",
            "version": "2.0.0",
            "get": {
                "tool": "get_package_summary",
                "arguments": {"package": "ballast", "version": "2.0.0"},
            },
        }
    ]


def test_a_lock_file_alone_is_the_scope(runtime: Runtime) -> None:
    answer = ask(runtime, "lift a load with the crane", lockfile=LOCKFILE)
    assert answer["searched"]["packages"] == 1
    assert not any(each["source"].startswith("crane") for each in answer["results"])


def _lock_python(mark: str) -> str:
    tables = (
        f'[[package]]\nname = "{name}"\nversion = "{version}"\n{mark}\n'
        for name, version in (("crane", "1.2.3"), ("winch", "2.0"))
    )
    return "\n".join(tables)


@pytest.mark.parametrize(
    "lockfile",
    [
        "crane==1.2.3\nwinch==2.0\n",
        _lock_python('python-versions = ">=3.9"'),
        _lock_python('source = { registry = "https://index.example" }'),
        _lock_python('requires_python = ">=3.9"\nfiles = []'),
    ],
)
def test_a_lock_file_of_python_alone_is_the_scope(runtime: Runtime, lockfile: str) -> None:
    ask(runtime, "lift a load with the crane")  # stows what is installed
    answer = ask(runtime, "lift a load with the crane", lockfile=lockfile)
    assert answer["searched"]["packages"] == 1
    assert answer["results"][0]["source"].startswith("crane")
    arguments = {"package": "winch", "language": "python", "version": "2.0"}
    call = {"tool": "get_package_summary", "arguments": arguments}
    assert answer["not_stowed"] == [{"name": "winch", "version": "2.0", "get": call}]


@pytest.mark.parametrize("budget", [200, 500, 2000, 8000])
def test_results_keep_to_the_budget_and_repeat_nothing(runtime: Runtime, budget: int) -> None:
    results = ask(runtime, "put a piece into the hold", max_tokens=budget)["results"]
    assert results
    size = len(json.dumps(results, ensure_ascii=False))
    assert size <= budget * 4 or (len(results) == 1 and size < budget * 4 + 800)
    texts = [each["text"] for each in results]
    assert len(set(texts)) == len(texts)
    if budget >= 2000:
        assert len({each["kind"] for each in results}) > 1
    assert all(0 <= each["score"] <= 1 for each in results)


def test_an_unknown_project_is_refused(runtime: Runtime) -> None:
    with pytest.raises((InvalidParameter, EnvironmentNotFound)):
        ask(runtime, "anything", root="nowhere")
    with pytest.raises(InvalidParameter, match="question"):
        ask(runtime, "  ")


def test_a_source_that_the_question_names_comes_first(runtime: Runtime) -> None:
    words = "piece of the load in the hold"
    for name, source in (("crane", "crane (python)"), ("Stowage", "stowage (rust)")):
        first, *_ = ask(runtime, f"{name}: {words}")["results"]
        assert first["source"] == source


def test_what_the_question_names_has_most_of_the_budget(runtime: Runtime) -> None:
    for number in range(6):
        text = f"# Piece {number}\n\n" + "A piece of the load is put into the hold. " * 20
        runtime.toolbox.call("push_document", {"text": text, "uri": f"piece-{number}.md"})
    try:
        results = ask(runtime, "stowage: put a piece of the load into the hold")["results"]
    finally:
        for number in range(6):
            runtime.toolbox.call("delete_document", {"uri": f"piece-{number}.md"})
    own = [each for each in results if each["source"] == "stowage (rust)"]
    assert len(json.dumps(own)) > 0.6 * len(json.dumps(results))


def test_the_name_of_a_package_is_not_looked_for_within_it(runtime: Runtime) -> None:
    # What has the crate's name in its examples would come before what is meant.
    results = ask(runtime, "stowage: what everybody imports")["results"]
    titles = [each["title"] for each in results if each["kind"] == "item"]
    assert titles[0] == "module stowage::prelude"
    assert ask(runtime, "stowage")["results"]


def test_an_item_that_is_cut_says_so_and_is_read_on(runtime: Runtime) -> None:
    results = ask(runtime, "stowage: a hold of a ship", max_tokens=600)["results"]
    cut = [each for each in results if each["text"].endswith("[…]")]
    assert cut
    for each in cut:
        call = each["next"]
        whole = without_links(runtime.toolbox.call(call["tool"], call["arguments"]).text)
        assert len(whole) > len(each["text"])


def test_the_best_items_come_with_their_docs_within_the_budget(runtime: Runtime) -> None:
    asked = {"package": "stowage", "query": "put a piece into the hold"}
    short = runtime.toolbox.call("search_items", {**asked, "max_tokens": 0}).structured or {}
    assert not any("text" in each for each in short["results"])
    for budget in (600, 1000, 4000):
        answer = runtime.toolbox.call("search_items", {**asked, "max_tokens": budget}).structured
        assert answer is not None
        jsonschema.validate(answer, runtime.toolbox.get("search_items").output_schema or False)
        results = answer["results"]
        assert [e["item_path"] for e in results] == [e["item_path"] for e in short["results"]]
        assert len(json.dumps(results, ensure_ascii=False)) <= budget * 4 + 100
        assert not any("text" in each for each in results[2:])
        assert all("snippet" in each for each in results[2:])
        for each in results[:2]:
            if "text" not in each:
                assert budget == 600
                continue
            # What the header and the docs say is not said again.
            assert each["header"] not in each["text"]
            assert each.get("snippet", "") == "" or each["text"].endswith("[…]")
            if budget == 4000:
                item = {"item_path": each["item_path"], "max_tokens": 25000}
                page = without_links(runtime.toolbox.call("get_item_doc", item).text)
                assert all(block in page for block in each["text"].split("\n\n"))


def test_a_text_that_is_cut_says_so() -> None:
    text = "One line.\n\n" * 40
    assert fit(text, 1000) == text
    short = fit(text, 200)
    assert short.startswith("One line.\n\nOne line.")
    assert short.endswith("\n\n[…]")
    assert len(json.dumps(short, ensure_ascii=False)) <= 200
