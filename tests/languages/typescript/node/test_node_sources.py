"""Installed Node packages answer as sources."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from docstow.core.settings import load
from docstow.runtime import Runtime

Call = Callable[..., Any]

QUERIES = [
    ("zod", "validate an email address", {"zod.email", "zod.ZodString.email", "zod.ZodEmail"}),
    ("axios", "create an instance with default config", {"axios.create", "axios.Axios.create"}),
    ("axios", "cancel a request", {"axios.CancelToken", "axios.Cancel", "axios.CancelStatic"}),
    ("date-fns", "difference between two dates in days", {"date-fns.differenceInDays"}),
    ("date-fns", "first day of the month", {"date-fns.startOfMonth"}),
    ("commander", "add an option to a command", {"commander.Command.addOption"}),
    ("react", "run an effect after render", {"react.useEffect", "react.useLayoutEffect"}),
]


@contextlib.contextmanager
def calling(folder: Path, root: Path | None) -> Iterator[Call]:
    flags = {
        "store": str(folder / "store"),
        "cache": str(folder / "cache"),
        "docs_rs_url": "http://127.0.0.1:1",
        "crates_index_url": "http://127.0.0.1:1",
    }
    if root is not None:
        flags["root"] = str(root)
    with contextlib.closing(Runtime(load(flags, {}))) as runtime:

        def call(tool: str, **arguments: Any) -> Any:
            answer = runtime.toolbox.call(tool, {"language": "typescript", **arguments})
            return answer.structured if answer.structured is not None else answer.text

        yield call


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("node-sources")


@pytest.fixture(scope="module")
def call(folder: Path, npm_root: Path) -> Iterator[Call]:
    with calling(folder, npm_root) as call:
        yield call


def test_natural_queries_find_the_item_among_the_first_five(call: Call) -> None:
    missed = []
    for package, query, wanted in QUERIES:
        answer = call("search_items", crate=package, query=query)
        if not wanted & {each["item_path"] for each in answer["results"]}:
            missed.append((package, query, [each["item_path"] for each in answer["results"]]))
    assert len(missed) <= 1, missed


def test_pages_are_found_by_path_and_shown_as_typescript(call: Call) -> None:
    page = call("get_item_doc", item_path="zod.ZodString")
    assert page.startswith("# interface `zod.ZodString`")
    assert "```typescript" in page
    assert "*zod 4.6.7" in page
    scoped = call("get_item_doc", item_path="@tanstack/react-query.useQuery")
    assert scoped.startswith("# function `@tanstack/react-query.useQuery`")


def test_examples_come_from_the_readme(call: Call) -> None:
    answer = call("search_examples", crate="zod", query="define a schema", language=["typescript"])
    assert "zod/README.md" in {each["item_path"] for each in answer["results"]}


def test_a_stowed_package_answers_without_the_project(call: Call, folder: Path) -> None:
    with calling(folder, None) as elsewhere:
        call("search_items", crate="@tanstack/react-query", query="fetch data")
        page = elsewhere("get_item_doc", item_path="@tanstack/react-query.useQuery")
        assert page.startswith("# function `@tanstack/react-query.useQuery`")


def written(root: Path, version: str, declared: str) -> None:
    package = root / "node_modules" / "boats"
    package.mkdir(parents=True)
    told = {"name": "boats", "version": version, "types": "index.d.ts", "main": "index.js"}
    (package / "package.json").write_text(json.dumps(told))
    (package / "index.d.ts").write_text(declared)
    (package / "index.js").write_text("")
    (root / "package.json").write_text(json.dumps({"dependencies": {"boats": version}}))


def test_two_versions_are_compared_by_their_declarations(tmp_path: Path) -> None:
    before, after = tmp_path / "before", tmp_path / "after"
    written(
        before,
        "1.0.0",
        "/** Rows. */\nexport declare function row(strokes: number): void;\n"
        "export declare function sink(): void;\nexport declare class Boat { anchor(): void; }\n",
    )
    written(
        after,
        "2.0.0",
        "/** Rows on. */\nexport declare function row(strokes: number): void;\n"
        "/** @deprecated use Boat */\nexport declare function sail(): void;\n"
        "export declare class Boat { anchor(depth: number): void; }\n",
    )
    store = tmp_path / "home"
    for root in (before, after):
        with calling(store, root) as call:
            call("search_items", crate="boats", query="row")
    with calling(store, None) as call:
        answer = call("diff_versions", crate="boats", from_version="1", to_version="2")
    told = {(each["path"], each["class"], each["rule"]) for each in answer["results"]}
    assert told == {
        ("boats.sink", "breaking", "item-removed"),
        ("boats.Boat.anchor", "breaking", "signature-changed"),
        ("boats.sail", "compatible", "item-added"),
        ("boats.row", "docs-only", "docs-changed"),
    }
    assert answer["verdict"]["fits"] is True
