"""Images, descriptions of APIs and downloads of sources that ask for them, end to end."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from docstow.core.settings import load
from docstow.ingest.jobs import Job
from docstow.runtime import Runtime
from servers.forge import Forge, Repository, commit
from servers.site import Site

API = {
    "openapi": "3.1.0",
    "info": {"title": "Harbour", "version": "1.2"},
    "paths": {
        "/berths/{id}": {
            "get": {"summary": "Read a berth", "responses": {"200": {"description": "The berth"}}},
            "delete": {"operationId": "freeBerth", "responses": {"204": {"description": "Freed"}}},
        }
    },
}
PAGE = """<!doctype html><title>Moor</title><main><h1>Moor</h1><p>How to tie up.</p>
<h2>Lines</h2><figure><img src="/img/lines.png" alt="Bow and stern lines of a moored boat">
<figcaption>Figure 1: four lines</figcaption></figure>
<img src="dot.gif"><p>Get <a href="/files/charts.zip">all charts</a>, the
<a href="/openapi.json">API</a> and <a href="/data/tides.json">tides</a>.</p></main>"""
GUIDE = """# Guide

![The harbour from above](img/plan.svg)

*Plan of 1902*

## Tides

See [the table](tides.csv) and ![The harbour](img/plan.svg), not `![x](img/y.png)`.

```md
![an example](img/example.png)
```
"""


@pytest.fixture
def runtime(tmp_path: Path) -> Iterator[Runtime]:
    flags = {"store": str(tmp_path / "store"), "cache": str(tmp_path / "cache")}
    with contextlib.closing(Runtime(load(flags, {}))) as made:
        yield made


def sync(runtime: Runtime, kind: str, uri: str, **options: Any) -> Job:
    made = runtime.toolbox.call(
        "create_source",
        {"kind": kind, "uri": uri, "title": "Harbour", "options": options},
    )
    source = (made.structured or {})["source_id"]
    job = runtime.sync.wait(runtime.sync.start(source).id, 60)
    assert job.state == "success", job.errors
    return job


def pages(runtime: Runtime) -> dict[str, Mapping[str, Any]]:
    """The documents of the source by path, without the first line of the export."""
    answer = runtime.toolbox.call("export_snapshot", {"source_id": "Harbour", "format": "jsonl"})
    lines = answer.render().splitlines()
    found = [json.loads(line) for line in lines if line.startswith('{"record":"document"')]
    return {each["path"]: each for each in found}


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    folder = tmp_path / "site"
    for path, text in {
        "docs/index.html": PAGE,
        "docs/other.html": "<!doctype html><title>Other</title><main><h1>Other</h1><p>Text.",
        "openapi.json": json.dumps(API),
        "data/tides.json": '{"high": 6}',
    }.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text, "utf-8")
    with Site(folder) as served:
        yield served


def test_a_site_gives_its_images_its_api_and_its_downloads(runtime: Runtime, site: Site) -> None:
    quick = {"delay_s": 0, "fetch_assets": True}
    job = sync(runtime, "site", f"{site.url}/docs/index.html", **quick)
    found = pages(runtime)
    api = f"{site.url}/openapi.json"
    read, free = f"{api}#/paths/~1berths~1{{id}}/get", f"{api}#/paths/~1berths~1{{id}}/delete"
    image, charts = f"{site.url}/img/lines.png", f"{site.url}/files/charts.zip"
    tides = f"{site.url}/data/tides.json"
    assert found.keys() == {f"{site.url}/docs/index.html", api, read, free, image, charts, tides}
    assert job.counts["documents"] == 7
    assert found[image]["text"] == (
        "# Bow and stern lines of a moored boat\n\n"
        "An image, `lines.png`, which is not read: this is what pages say of it.\n\n"
        "*Figure 1: four lines*\n\n"
        f"Stands on:\n\n- [Moor]({site.url}/docs/index.html), below “Lines”"
    )
    assert found[charts]["title"] == "charts.zip"
    assert "Called:\n\n- all charts\n" in found[charts]["text"]
    assert found[read]["title"] == "Read a berth"
    assert found[read]["text"].startswith("# Read a berth\n\n`GET /berths/{id}` · Harbour\n")
    assert "- `DELETE /berths/{id}`" in found[api]["text"]
    asked = {visit.path for visit in site.visits}
    assert not {"/img/lines.png", "/files/charts.zip", "/docs/dot.gif"} & asked

    answer = runtime.toolbox.call("search_docs", {"query": "free a berth freeBerth", "top_k": 1})
    (hit,) = (answer.structured or {})["results"]
    page = runtime.toolbox.call("get_doc", {"doc": hit["doc_id"]}).render()
    assert "`DELETE /berths/{id}`" in page

    again = sync(runtime, "site", f"{site.url}/docs/index.html", **quick)
    assert (again.counts["unchanged"], again.counts["embedded"]) == (7, 0)
    assert pages(runtime) == found


def test_what_no_page_has_any_more_is_gone(runtime: Runtime, site: Site) -> None:
    assert site.folder is not None
    quick = {"delay_s": 0, "fetch_assets": True}
    sync(runtime, "site", f"{site.url}/docs/index.html", **quick)
    changed = PAGE.replace('<a href="/files/charts.zip">all charts</a>', "charts")
    (site.folder / "docs/index.html").write_text(changed, "utf-8")
    smaller = {**API, "paths": {"/berths/{id}": {"get": API["paths"]["/berths/{id}"]["get"]}}}  # type: ignore[index]
    (site.folder / "openapi.json").write_text(json.dumps(smaller), "utf-8")
    job = sync(runtime, "site", f"{site.url}/docs/index.html", **quick)
    assert {name: job.counts[name] for name in ("new", "changed", "unchanged", "gone")} == {
        "new": 0,
        "changed": 2,
        "unchanged": 3,
        "gone": 2,
    }
    assert not [path for path in pages(runtime) if path.endswith(("charts.zip", "/delete"))]


def test_the_description_that_a_page_draws_is_found(runtime: Runtime, site: Site) -> None:
    assert site.folder is not None
    drawn = "<!doctype html><title>API</title>{}<h1>API</h1><p>Text."
    redoc = '<redoc spec-url="/openapi.json"></redoc>'
    rfc_8631 = '<link rel="service-desc" href="../openapi.json">'
    for named in (redoc, rfc_8631):
        (site.folder / "docs/index.html").write_text(drawn.format(named), "utf-8")
        sync(runtime, "site", f"{site.url}/docs/index.html", delay_s=0, fetch_assets=True)
        assert f"{site.url}/openapi.json" in pages(runtime)


def test_without_the_option_pages_alone_are_read(runtime: Runtime, site: Site) -> None:
    sync(runtime, "site", f"{site.url}/docs/index.html", delay_s=0)
    found = pages(runtime)
    assert found.keys() == {f"{site.url}/docs/index.html"}
    (page,) = found.values()
    assert "images" not in page["attributes"]


def write(folder: Path) -> Path:
    files = {
        "docs/guide.md": GUIDE,
        "docs/api.yaml": "swagger: '2.0'\ninfo: {title: Old}\npaths: {/a: {get: {}}}\n",
        "package.json": '{"name": "harbour"}',
        "docs/broken.yaml": "openapi: 3.0.0\n  paths: [",
    }
    for path, text in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text, "utf-8")
    return folder


TREE = {"docs/guide.md", "docs/img/plan.svg", "docs/tides.csv"}
TREE |= {"docs/api.yaml", "docs/api.yaml#/paths/~1a/get"}


def test_a_folder_gives_them_too(runtime: Runtime, tmp_path: Path) -> None:
    folder = write(tmp_path / "tree")
    job = sync(runtime, "folder", str(folder), fetch_assets=True)
    found = pages(runtime)
    assert found.keys() == TREE
    (error,) = job.errors
    assert error.ref == "docs/broken.yaml"
    assert "neither JSON nor YAML" in error.message
    assert found["docs/img/plan.svg"]["text"] == (
        "# The harbour from above\n\n"
        "An image, `plan.svg`, which is not read: this is what pages say of it.\n\n"
        "*Plan of 1902*\n\nCalled:\n\n- The harbour\n\n"
        "Stands on:\n\n- [Guide](docs/guide.md)\n- [Guide](docs/guide.md), below “Tides”"
    )
    again = sync(runtime, "folder", str(folder), fetch_assets=True)
    assert (again.counts["unchanged"], again.counts["gone"]) == (5, 0)


def test_a_repository_gives_them_under_paths_that_stay(tmp_path: Path) -> None:
    folder = write(tmp_path / "tree")
    (folder / "docs/broken.yaml").unlink()
    files = {str(p.relative_to(folder)): p.read_bytes() for p in folder.rglob("*") if p.is_file()}
    repositories = {"acme/harbour": Repository(files, branches={"main": commit("one")})}
    with Forge(repositories) as forge:
        flags = {"store": str(tmp_path / "store"), "cache": str(tmp_path / "cache")}
        flags |= {"github_url": forge.api_url}
        with contextlib.closing(Runtime(load(flags, {}))) as runtime:
            sync(runtime, "github", "acme/harbour@main", fetch_assets=True)
            assert pages(runtime).keys() == TREE
            repositories["acme/harbour"].branches["main"] = commit("two")
            job = sync(runtime, "github", "acme/harbour@main", fetch_assets=True)
            assert (job.counts["new"], job.counts["gone"]) == (0, 0)
            assert pages(runtime).keys() == TREE
