"""Every tool's tutorial: each of its calls is made, in the order of the table, and answers."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

import httpx
import pytest

from docstow.embedding import bundled
from docstow.tools.tutorials import TUTORIALS
from servers.web import serve
from tutored import World, tutored

MOST_TOKENS = 200
CALLS = [(name, way) for name, each in TUTORIALS.items() for way in each.calls]


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    with tutored(tmp_path_factory.mktemp("tutorials")) as world:
        yield world


@pytest.mark.parametrize(("tool", "way"), CALLS)
def test_each_call_answers(world: World, tool: str, way: str) -> None:
    if world.runtime.toolbox.get(tool).toolset in ("sources", "collections"):
        world.renew()
    taught = TUTORIALS[tool]
    _, arguments = taught.calls[way]
    answer = world.call(tool, arguments)
    form = taught.answers.partition(":")[0]
    assert (answer.structured is not None) == (form == "JSON")
    # There is one version to compare, and code that is right has no findings.
    if way == "basic" and tool != "diff_versions":
        assert (answer.structured or {}).get("results") != []
    if way == "basic":
        # What is named with an underscore is a field, or a tool.
        named = set(re.findall(r"\b[a-z]+_[a-z]+\b", taught.answers))
        assert {
            e for e in named - set(world.runtime.toolbox.names) if e not in answer.render()
        } == set()


def test_every_tool_has_one_of_at_most_200_tokens(world: World) -> None:
    tools = {tool.name for tool in world.runtime.toolbox.tools}
    assert tools == set(TUTORIALS)
    count = bundled().count
    texts = {name: json.dumps(each.describe()) for name, each in TUTORIALS.items()}
    # The bundled tokenizer passes over marks; by four characters a token they count.
    longest = {name: max(count(text), len(text) // 4) for name, text in texts.items()}
    assert {name: size for name, size in longest.items() if size > MOST_TOKENS} == {}


def test_the_manifest_and_the_commands_have_them_and_the_list_of_tools_has_not(
    world: World,
) -> None:
    with serve(world.runtime.app) as url:
        manifest = httpx.get(f"{url}/mcp/manifest").json()
        commands = httpx.get(f"{url}/commands").json()
        message = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
        listed = httpx.post(f"{url}/mcp", json=message).json()["result"]
    described = {name: each.describe() for name, each in TUTORIALS.items()}
    assert {each["name"]: each["tutorial"] for each in manifest["tools"]} == described
    assert {each["name"]: each["tutorial"] for each in commands["tools"]} == described
    assert described["scan_packages"]["basic"] == {
        "does": "All packages of the project",
        "arguments": {},
    }
    assert [each["name"] for each in listed["tools"] if "tutorial" in each] == []
