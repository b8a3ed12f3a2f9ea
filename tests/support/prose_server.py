"""A server with a folder of pages that is synced, for tests of tools and routes."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx

from docstow.core.settings import load
from docstow.runtime import Runtime
from servers.web import serve

PAGES = {
    "index.md": "# Harbour\n\nWelcome. Read [how to install it](guide/install.md).\n",
    "guide/install.md": (
        "# Installing\n\nRun the installer once.\n\n"
        "## On Linux\n\nUse the package manager.\n\n```sh\napt install harbour\n```\n\n"
        "## On Windows\n\nDownload the archive and unpack it.\n"
    ),
    "guide/moor.md": "# Mooring\n\nA ship is moored with four lines.\n",
}


@dataclass(frozen=True)
class Harbour:
    """The server and what it serves."""

    runtime: Runtime
    client: httpx.Client
    folder: Path
    source_id: str

    def tool(self, name: str, /, **arguments: Any) -> httpx.Response:
        """Call a tool over plain HTTP."""
        return self.client.post(f"/mcp/tools/{name}", json=arguments)

    def answer(self, name: str, /, **arguments: Any) -> Any:
        """The structured answer of a tool."""
        response = self.tool(name, **arguments)
        assert response.status_code == 200, response.text
        return response.json()


def write(folder: Path, pages: dict[str, str]) -> None:
    """Write pages below a folder."""
    for path, text in pages.items():
        file = folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, "utf-8")


@contextlib.contextmanager
def harbour(place: Path, **settings: Any) -> Iterator[Harbour]:
    """Serve a store in which a folder of pages was synced."""
    write(place / "docs", PAGES)
    flags = {"store": str(place / "store"), "cache": str(place / "cache"), **settings}
    with (
        contextlib.closing(Runtime(load(flags, {}))) as runtime,
        serve(runtime.app) as url,
        httpx.Client(base_url=url, timeout=60) as client,
    ):
        registration, _ = runtime.registry.create("folder", str(place / "docs"), title="Harbour")
        job = runtime.sync.start(registration.id)
        assert runtime.sync.wait(job.id, 60).state == "success"
        yield Harbour(runtime, client, place / "docs", registration.id)
