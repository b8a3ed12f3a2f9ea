"""Every tool's tutorial: each of its calls is made, in the order of the table, and answers."""

from __future__ import annotations

import contextlib
import importlib.metadata
import json
import re
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest

from docstow.core.settings import load
from docstow.embedding import bundled
from docstow.runtime import SAMPLE, Runtime
from docstow.tools import Answer
from docstow.tools.tutorials import TUTORIALS
from prose_server import PAGES, write
from servers.docs_rs import DocsRs
from servers.site import Site
from servers.web import serve

MOST_TOKENS = 200
CALLS = [(name, way) for name, each in TUTORIALS.items() for way in each.calls]
NOTE = {"text": "# Tags\n\nTag it.", "uri": "tag.md"}


def _project(root: Path) -> None:
    """A project that asks for stowage, and for httpx as it is installed here."""
    write(
        root,
        {
            "Cargo.toml": '[package]\nname = "quay"\nversion = "0.1.0"\n'
            '[dependencies]\nstowage = "0.1"\n',
            "Cargo.lock": 'version = 4\n[[package]]\nname = "quay"\nversion = "0.1.0"\n'
            'dependencies = ["stowage"]\n[[package]]\nname = "stowage"\nversion = "0.1.0"\n'
            'source = "registry+https://github.com/rust-lang/crates.io-index"\n',
            "pyproject.toml": '[project]\nname = "quay"\nversion = "0.1.0"\n'
            'dependencies = ["httpx"]\n',
            ".venv/pyvenv.cfg": "home = /usr/bin\nversion = 3.12.0\n",
        },
    )
    packages = root / ".venv" / "lib" / "python3.12" / "site-packages"
    for file in importlib.metadata.files("httpx") or ():
        if file.parts[0].startswith("httpx") and file.suffix != ".pyc":
            (packages / file).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(str(file.locate()), packages / file)


@dataclass(frozen=True)
class World:
    """What the calls are about: a crate, a project, a folder, a website and pushed texts."""

    runtime: Runtime
    site: str

    def call(self, tool: str, arguments: Mapping[str, Any]) -> Answer:
        """Make a call with what is in capitals from an earlier answer, of a site that is here."""
        text = json.dumps(arguments).replace("https://docs.example", self.site)
        wanted: list[str] = re.findall(r'"([A-Z]+_ID)"', text)
        for each in wanted:
            text = text.replace(each, self._earlier(each))
        return self.runtime.toolbox.call(tool, json.loads(text))

    def ask(self, tool: str, /, **arguments: Any) -> Any:
        """A structured answer."""
        return self.runtime.toolbox.call(tool, arguments).structured

    def have(self) -> None:
        """Stow what a call of before may have deleted."""
        made = self.ask("create_source", kind="site", uri=f"{self.site}/", title="Quay")
        if made["created"]:
            self._sync(made["source_id"])
        for collection in ("default", "notes"):
            self.ask("create_collection", name=collection)
            self.ask("push_document", collection=collection, **NOTE)

    def _sync(self, source: str) -> None:
        job = self.runtime.sync.start(source)
        assert self.runtime.sync.wait(job.id, 60).state == "success"

    def _earlier(self, name: str) -> str:
        found: str
        if name == "CHUNK_ID":
            found = self.ask("search_docs", query="moor")["results"][0]["chunk_id"]
        elif name == "SNAPSHOT_ID":
            found = self.ask("list_snapshots", source_id="Harbour")["results"][0]["snapshot"]
        elif name == "RESULT_ID":
            found = self.ask("search", query="hold")["results"][0]["id"]
        elif name == "JOB_ID":
            found = self.ask("get_sync_status", source_id=f"{self.site}/")["id"]
        elif name == "SOURCE_ID":
            listed = self.ask("list_sources", kind="site")
            found = listed["results"][0]["source_id"]
        else:
            found = self.ask("push_document", **NOTE)["doc_id"]
        return found


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    place = tmp_path_factory.mktemp("tutorials")
    _project(place / "project")
    write(place / "docs", PAGES)
    crate = place / "crates" / "stowage" / "0.1.0"
    crate.mkdir(parents=True)
    shutil.copyfile(SAMPLE, crate / "rustdoc.json.zst")
    rope = {"name": "rope", "req": "^1", "kind": "normal", "optional": False, "features": []}
    overrides: dict[tuple[str, str], dict[str, Any]] = {
        ("stowage", "0.1.0"): {"deps": [{**rope, "default_features": True, "target": None}]},
        ("rope", "1.0.0"): {"deps": []},
    }
    with (
        DocsRs(place / "crates", overrides=overrides) as docs_rs,
        Site() as site,
        contextlib.ExitStack() as stack,
    ):
        flags = {
            "store": str(place / "store"),
            "cache": str(place / "cache"),
            "docs_rs_url": docs_rs.url,
            "crates_index_url": docs_rs.index_url,
            "guides": "never",
        }
        runtime = stack.enter_context(
            contextlib.closing(Runtime(load(flags, {}), place / "project"))
        )
        site.page("/", "Quay", "Where ships lie.", "/guide/moor")
        site.page("/guide/moor", "Moor", "Moor with four lines.")
        runtime.crates.ensure("stowage")
        found, _ = runtime.registry.create("folder", str(place / "docs"), title="Harbour")
        made = World(runtime, site.url)
        made._sync(found.id)
        yield made


@pytest.mark.parametrize(("tool", "way"), CALLS)
def test_each_call_answers(world: World, tool: str, way: str) -> None:
    if world.runtime.toolbox.get(tool).toolset in ("sources", "collections"):
        world.have()
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
