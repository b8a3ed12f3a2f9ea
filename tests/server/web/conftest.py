"""A server of pages over real rustdoc JSON and a folder, and a real Chromium."""

from __future__ import annotations

from collections.abc import Iterator

import httpx
import pytest
from playwright.sync_api import Browser, Page, sync_playwright

from docstow.core.errors import ConfigurationError
from docstow.core.settings import load
from docstow.runtime import Runtime
from docstow.sources.site import browser
from node_environment import axe
from require import unavailable
from servers.web import serve

__all__ = ["axe"]

GUIDE = """# Loading a ship

See [the limits](limits.md#weight) before anything is stowed.

## Order

Heavy pieces go first, into the hold.

```rust
use stowage::Hold;
```

<script>document.title = "taken over"</script>
"""
LIMITS = "# Limits\n\n## Weight\n\nA hold bears what its frames bear.\n"


@pytest.fixture(scope="module")
def runtime(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Runtime]:
    folder = tmp_path_factory.mktemp("pages")
    docs = folder / "docs"
    docs.mkdir()
    (docs / "guide.md").write_text(GUIDE, "utf-8")
    (docs / "limits.md").write_text(LIMITS, "utf-8")
    settings = {"store": f"{folder}/store", "cache": f"{folder}/cache", "offline": True}
    made = Runtime(load(settings, {}))
    made.ingest_sample()
    asked = {"kind": "folder", "uri": str(docs), "title": "Ship manual", "sync": True}
    job = made.toolbox.call("create_source", asked).structured
    assert job is not None
    assert made.sync.wait(job["job"]["id"], 60).state == "success"
    yield made
    made.close()


@pytest.fixture(scope="module")
def url(runtime: Runtime) -> Iterator[str]:
    with serve(runtime.app) as address:
        yield address


@pytest.fixture(scope="module")
def client(url: str) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=url, timeout=60) as made:
        yield made


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    try:
        path = browser.find_browser()
    except ConfigurationError as error:
        unavailable(error.message)
    with sync_playwright() as playwright:
        made = playwright.chromium.launch(
            executable_path=path, args=["--no-sandbox", "--disable-gpu"]
        )
        yield made
        made.close()


@pytest.fixture
def tab(chromium: Browser, url: str) -> Iterator[Page]:
    """A page of the browser; what breaks the rules of the server's pages fails the test."""
    context = chromium.new_context(base_url=url, viewport={"width": 1400, "height": 900})
    page = context.new_page()
    refused: list[str] = []
    foreign: list[str] = []
    page.on("console", lambda said: refused.append(said.text) if said.type == "error" else None)
    page.on("pageerror", lambda error: refused.append(str(error)))
    page.on("request", lambda made: foreign.append(made.url) if url not in made.url else None)
    yield page
    context.close()
    assert [each for each in refused if "(Bad Request)" not in each] == []
    assert foreign == []
