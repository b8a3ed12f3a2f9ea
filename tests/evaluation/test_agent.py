"""The agent's loop: it stops when it knows, follows what answers name, and gives up."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from docstow.core.settings import load
from docstow.runtime import Runtime
from evaluation.agent import MOST_CALLS, TASKS, Agent


@pytest.fixture(scope="module")
def runtime(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Runtime]:
    folder = tmp_path_factory.mktemp("agent")
    nowhere = dict.fromkeys(("docs_rs_url", "crates_index_url"), "http://127.0.0.1:1")
    flags = {"store": str(folder / "store"), "cache": str(folder / "cache"), **nowhere}
    runtime = Runtime(load(flags, {}), Path(folder))
    runtime.ingest_sample()
    yield runtime
    runtime.close()


def test_it_stops_when_the_facts_are_there(runtime: Runtime) -> None:
    agent = Agent(runtime, {"question": "stowage: the volume of a hold", "facts": ["Hold::volume"]})
    assert agent.work()
    assert [call.tool for call, _ in agent.made] == ["ask"]
    assert agent.missing() == []


def test_it_follows_what_an_answer_suggests(runtime: Runtime) -> None:
    code = "use stowage::Hold;\nfn main() { Hold::nw(1.0, 1.0, 1.0); }\n"
    versions = {"language": "rust", "code": code, "versions": {"stowage": "0.1.0"}}
    first = {"tool": "verify_code", "arguments": versions}
    facts = ["pub fn new(length: f64"]
    agent = Agent(runtime, {"question": "is this right?", "first": first, "facts": facts})
    assert agent.work()
    assert [call.tool for call, _ in agent.made] == ["verify_code", "get_item_doc"]


def test_it_gives_up_and_makes_no_call_twice(runtime: Runtime) -> None:
    agent = Agent(runtime, {"question": "stowage: load a hold", "facts": ["nowhere to be found"]})
    assert not agent.work()
    assert agent.missing() == ["nowhere to be found"]
    keys = [call.key for call, _ in agent.made]
    assert 1 < len(keys) <= MOST_CALLS
    assert len(keys) == len(set(keys))


def test_there_are_forty_tasks_over_three_languages_and_prose() -> None:
    tasks = [json.loads(line) for line in TASKS.read_text("utf-8").splitlines()]
    assert len({task["id"] for task in tasks}) == 40
    for half in (tasks[::2], tasks[1::2]):
        assert {task["kind"] for task in half} == {"rust", "python", "typescript", "prose"}
    assert all(task["question"] and task["facts"] for task in tasks)
