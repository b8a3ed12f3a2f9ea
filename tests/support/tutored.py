"""A project, a crate, a folder and a website, about which the tutorials of the tools speak."""

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

from docstow.core.settings import load
from docstow.runtime import Runtime
from docstow.tools import Answer
from prose_server import PAGES, write
from servers.site import Site

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
    flags: Mapping[str, str]

    def spell(self, arguments: Mapping[str, Any]) -> str:
        """Return arguments as JSON, with the website that is here in place of the example."""
        return json.dumps(arguments).replace("https://docs.example", self.site)

    def call(self, tool: str, arguments: Mapping[str, Any]) -> Answer:
        """Make a call with what is in capitals from an earlier answer, of a site that is here."""
        text = self.spell(arguments)
        wanted: list[str] = re.findall(r'"([A-Z]+_ID)"', text)
        for each in wanted:
            text = text.replace(each, self._earlier(each))
        return self.runtime.toolbox.call(tool, json.loads(text))

    def ask(self, tool: str, /, **arguments: Any) -> Any:
        """A structured answer."""
        return self.runtime.toolbox.call(tool, arguments).structured

    def renew(self) -> None:
        """Stow what a call of before may have deleted."""
        made = self.ask("create_source", kind="site", uri=f"{self.site}/", title="Quay")
        if made["created"]:
            self.sync(made["source_id"])
        for collection in ("default", "notes"):
            self.ask("create_collection", name=collection)
            self.ask("push_document", collection=collection, **NOTE)

    def sync(self, source: str) -> None:
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


@contextlib.contextmanager
def tutored(place: Path) -> Iterator[World]:
    """Stow what the calls are about in a store below a folder."""
    _project(place / "project")
    write(place / "docs", PAGES)
    with Site() as site:
        flags = {
            "store": str(place / "store"),
            "cache": str(place / "cache"),
            "root": str(place / "project"),
            "docs_rs_url": "http://127.0.0.1:1",
            "crates_index_url": "http://127.0.0.1:1",
            "guides": "never",
        }
        site.page("/", "Quay", "Where ships lie.", "/guide/moor")
        site.page("/guide/moor", "Moor", "Moor with four lines.")
        with contextlib.closing(Runtime(load(flags, {}), place / "project")) as runtime:
            runtime.ingest_sample()
            found, _ = runtime.registry.create("folder", str(place / "docs"), title="Harbour")
            world = World(runtime, site.url, flags)
            world.sync(found.id)
            yield world
