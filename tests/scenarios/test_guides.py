"""Guides of packages: carried in their archives, and on the sites that their metadata names."""

from __future__ import annotations

import contextlib
import json
import shutil
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from docstow.core.model import Document, Snapshot
from docstow.core.settings import load
from docstow.core.spelling import RUST
from docstow.ingest.overview import describe_package
from docstow.languages import PYTHON
from docstow.runtime import SAMPLE, Runtime
from servers.docs_rs import DocsRs
from servers.loopback import redirect
from servers.npm import NpmServer
from servers.python_index import PythonIndexServer, sdist, wheel
from servers.site import Site, slow

NOWHERE = "http://127.0.0.1:1"
MANIFEST = """
[package]
name = "stowage"
version = "0.1.0"
description = "Where the load goes"
license = "MIT OR Apache-2.0"
rust-version = "1.70"
keywords = ["cargo", "hold"]
readme = "README.md"
documentation = "https://docs.rs/stowage"
homepage = "https://stowage.example"
repository = "https://github.com/example/stowage"
"""
ARCHIVE = {
    "Cargo.toml": MANIFEST,
    "README.md": "# Stowage\n\nTie a knot in the lashing before the ship heels.\n",
    "CHANGELOG.md": "# Changelog\n\n## 0.1.0\n\n- `Hold::unload` no longer drops crates.\n",
    "docs/ballast.md": "# Ballast\n\n## Trim\n\nPump water aft until the keel is level.\n",
    "docs/SUMMARY.md": "- [Ballast](ballast.md)\n",
    "examples/first_voyage.rs": "//! Sail once around the lighthouse.\n\nfn main() {}\n",
    "src/lib.rs": "pub mod hold;\n",
    "LICENSE": "MIT\n",
}


def write_files(folder: Path, files: dict[str, str]) -> None:
    for path, text in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text, encoding="utf-8")


@pytest.fixture
def crates(tmp_path: Path) -> Iterator[DocsRs]:
    folder = tmp_path / "crates" / "stowage" / "0.1.0"
    folder.mkdir(parents=True)
    shutil.copy(SAMPLE, folder / "rustdoc.json.zst")
    write_files(folder / "crate", ARCHIVE)
    with DocsRs(tmp_path / "crates") as server:
        yield server


@contextlib.contextmanager
def runtime_of(folder: Path, **flags: Any) -> Iterator[Runtime]:
    given = {
        "store": str(folder / "store"),
        "cache": str(folder / "cache"),
        "docs_rs_url": NOWHERE,
        "crates_index_url": NOWHERE,
        "retries": 0,
        "upstream_interval_s": 0,
        "wait_s": 60,
    }
    with contextlib.closing(Runtime(load(given | flags, {}))) as runtime:
        yield runtime


def of_crates(
    folder: Path, crates: DocsRs, **flags: Any
) -> contextlib.AbstractContextManager[Runtime]:
    return runtime_of(folder, docs_rs_url=crates.url, crates_index_url=crates.index_url, **flags)


def call(runtime: Runtime, tool: str, **arguments: Any) -> Any:
    answer = runtime.toolbox.call(tool, arguments)
    return json.loads(answer.render()) if answer.structured is not None else answer.text


def test_a_crates_archive_gives_its_guides_and_facts(tmp_path: Path, crates: DocsRs) -> None:
    with of_crates(tmp_path, crates) as runtime:
        summary = call(runtime, "get_crate_summary", package="stowage")
        assert summary["guides"] == [
            "stowage/README",
            "stowage/CHANGELOG",
            "stowage/docs/ballast",
            "stowage/examples/first_voyage",
        ]
        assert summary["license"] == "MIT OR Apache-2.0"
        assert summary["rust_version"] == "1.70"
        assert summary["keywords"] == ["cargo", "hold"]
        assert summary["links"]["homepage"] == "https://stowage.example"
        assert summary["links"]["repository"] == "https://github.com/example/stowage"
        assert summary["items"]["page"] == 4
        assert "left_out" not in summary
        found = call(runtime, "search_items", package="stowage", query="pump water until level")
        assert found["results"][0]["item_path"] == "stowage/docs/ballast"
        examples = call(runtime, "search_examples", package="stowage", query="lighthouse voyage")
        assert examples["results"][0]["item_path"] == "stowage/examples/first_voyage"
        # Items keep their places, and the root is what modules are listed of.
        tree = call(runtime, "get_module_tree", package="stowage")
        assert tree["results"][0]["path"] == "stowage"


@pytest.mark.parametrize("path", ["stowage/docs/ballast", "stowage/docs/Ballast"])
def test_a_guide_is_opened_by_its_path(tmp_path: Path, crates: DocsRs, path: str) -> None:
    with of_crates(tmp_path, crates) as runtime:
        page = call(runtime, "get_item_doc", item_path=path)
        assert page.startswith("# page `stowage/docs/ballast`")
        assert "Pump water aft until the keel is level." in page
        assert "/crate/stowage/0.1.0/source/docs/ballast.md" in page


def test_a_crate_without_its_archive_says_so(tmp_path: Path, crates: DocsRs) -> None:
    crates.overrides["stowage", "0.1.0"] = {"cksum": "0" * 64}
    with of_crates(tmp_path, crates) as runtime:
        summary = call(runtime, "get_crate_summary", package="stowage")
        assert "guides" not in summary
        [reason] = summary["left_out"]
        assert reason.startswith("README, changelog and examples are left out: stowage-0.1.0.crate")
        assert "is not the file that the registry lists" in reason


def test_a_source_distribution_gives_its_guides(tmp_path: Path) -> None:
    files = {
        "boats/__init__.py": '"""Boats."""\n\ndef row(strokes: int) -> None:\n    """Row."""\n',
        "CHANGES.rst": "Changes\n=======\n\n2.0\n---\n\n* Oars are made of ash.\n",
        "docs/mooring.md": "# Mooring\n\nThrow the painter around a bollard.\n",
        "docs/conf.py": "project = 'boats'\n",
        "README.md": "Not read twice.\n",
    }
    with PythonIndexServer() as index:
        index.add("boats", "boats-2.0.tar.gz", sdist("boats", "2.0", files))
        with runtime_of(tmp_path, python_index_url=index.url) as runtime:
            of = {"language": "python", "package": "boats"}
            summary = call(runtime, "get_crate_summary", **of)
            assert summary["guides"] == ["boats/README", "boats/CHANGES", "boats/docs/mooring"]
            found = call(runtime, "search_items", query="bollard painter", **of)
            assert found["results"][0]["item_path"] == "boats/docs/mooring"
            # A changelog has all words of its package, and hides what they are about.
            ash = {"query": "oars are made of ash", **of}
            paths = {row["item_path"] for row in call(runtime, "search_items", **ash)["results"]}
            assert "boats/CHANGES" not in paths
            asked = call(runtime, "search_items", type_filter="page", **ash)
            assert asked["results"][0]["item_path"] == "boats/CHANGES"
            page = call(runtime, "get_item_doc", item_path="boats/CHANGES", **of)
            assert "Oars are made of ash." in page


def test_an_npm_package_gives_its_changelog_and_docs(tmp_path: Path) -> None:
    files = {
        "index.d.ts": "/** Hoist a sail. */\nexport declare function hoist(): void;\n",
        "README.md": "# sails\n\nAll about sails.\n",
        "CHANGELOG.md": "# Changes\n\n## 1.0.0\n\n- Reefs are tied by `hoist`.\n",
        "docs/reefing.md": "# Reefing\n\nTake in the foot of the sail in a gale.\n",
        "docs/large.md": "x" * 600_000,
    }
    with NpmServer() as npm:
        npm.publish("sails", "1.0.0", files)
        with runtime_of(tmp_path, npm_registry_url=npm.url) as runtime:
            of = {"language": "typescript", "package": "sails"}
            summary = call(runtime, "get_crate_summary", **of)
            assert summary["readme"] == "sails/README.md"
            assert summary["guides"] == ["sails/README.md", "sails/CHANGELOG", "sails/docs/reefing"]
            assert summary["left_out"] == ["docs/large.md is left out: it has more than 500 kB."]
            page = call(runtime, "get_item_doc", item_path="sails/docs/reefing", **of)
            assert "Take in the foot" in page


HTTPX = {
    "httpx/__init__.py": (
        '"""A client."""\n\nclass Timeout:\n    """Limits."""\n\n'
        '    connect: float\n    """Seconds."""\n\n\n'
        'def get(url: str) -> str:\n    """Ask for a resource."""\n'
    ),
}
TIMEOUTS = (
    "<html><head><title>Timeouts</title></head><body><main><h1>Timeouts</h1>"
    "<p>Be strict about how long you wait.</p>"
    "<h2 id='client-timeouts'>Setting a timeout on a client</h2>"
    "<p>Pass <code>httpx.Timeout(10.0, connect=60.0)</code> for slow networks.</p>"
    "</main></body></html>"
)
INDEX = (
    "<html><head><title>HTTPX</title></head><body><main><h1>HTTPX</h1>"
    '<p>A client of the next generation. <a href="timeouts/">Timeouts</a></p></main></body></html>'
)


def httpx_metadata(site: str) -> bytes:
    lines = ("Metadata-Version: 2.1", "Name: httpx", "Version: 0.27.0", "Summary: A client.")
    urls = (
        f"Project-URL: Documentation, {site}/",
        "Project-URL: Source, https://github.com/e/httpx",
    )
    readme = "# httpx\n\n## Quickstart\n\nAsk with `httpx.get(url)` at first.\n"
    kind = "Description-Content-Type: text/markdown"
    return "\n".join([*lines, *urls, kind, "", readme]).encode()


@contextlib.contextmanager
def httpx_runtime(folder: Path, path: str = "", **flags: Any) -> Iterator[tuple[Runtime, Site]]:
    with Site() as site, PythonIndexServer() as index:
        site.put("/", INDEX)
        site.put("/timeouts/", TIMEOUTS)
        body = wheel("httpx", "0.27.0", HTTPX, info=httpx_metadata(site.url + path))
        index.add("httpx", "httpx-0.27.0-py3-none-any.whl", body)
        with runtime_of(folder, python_index_url=index.url, **flags) as runtime:
            yield runtime, site


OF_HTTPX = {"language": "python", "package": "httpx"}


def test_a_site_is_read_when_its_package_is_first_asked_about(tmp_path: Path) -> None:
    with httpx_runtime(tmp_path, guides="auto") as (runtime, site):
        first = call(runtime, "search_docs", query="set a timeout", **OF_HTTPX)
        assert first["notice"] == (
            f"the guide {site.url}/ is being read for the first time; list_sources shows how far"
            " it is"
        )
        [registration] = runtime.registry.all()
        assert (registration.kind, registration.uri) == ("site", f"{site.url}/")
        assert registration.title == "httpx guide"
        runtime.sync.wait(runtime.sync.start(registration.id).id, 60)
        found = call(runtime, "search_docs", query="set a timeout", **OF_HTTPX)
        assert "notice" not in found
        best = found["results"][0]
        assert best["heading_path"] == "Timeouts > Setting a timeout on a client"
        assert "httpx.Timeout(10.0, connect=60.0)" in best["text"]
        assert {row["source"] for row in found["results"]} == {"httpx guide", "httpx 0.27.0"}
        page = call(runtime, "get_item_doc", item_path="httpx.Timeout", language="python")
        assert page.endswith(
            "\n## In the guide\n\n- **Timeouts > Setting a timeout on a client**: "
            "Pass `httpx.Timeout(10.0, connect=60.0)` for slow networks. "
            f"({site.url}/timeouts#client-timeouts)\n"
        )
        answer = call(runtime, "ask", question="httpx: set a timeout on a client")
        assert any("connect=60.0" in each["text"] for each in answer["results"])
        assert len(runtime.registry.all()) == 1


def test_a_site_is_named_where_it_may_not_be_added(tmp_path: Path) -> None:
    with httpx_runtime(tmp_path, guides="ask") as (runtime, site):
        found = call(runtime, "search_docs", query="ask for a resource", **OF_HTTPX)
        assert found["notice"] == (
            f"httpx has a guide at {site.url}/ that is not stowed: create_source"
            f' {{"kind": "site", "uri": "{site.url}/"}} and start_sync'
        )
        [own] = found["results"]
        assert own["doc_id"] == "httpx/README"
        assert own["heading_path"] == "httpx > Quickstart"
        page = call(runtime, "get_item_doc", item_path="httpx.get", language="python")
        assert "- **httpx > Quickstart**: Ask with `httpx.get(url)` at first. (httpx/README" in page
        summary = call(runtime, "get_crate_summary", package="httpx", language="python")
        assert summary["guide"] == f"{site.url}/"
        assert runtime.registry.all() == []
        # Whoever adds it by the call that is named has it searched with the package.
        created = call(runtime, "create_source", kind="site", uri=f"{site.url}/")
        runtime.sync.wait(runtime.sync.start(created["source_id"]).id, 60)
        found = call(runtime, "search_docs", query="set a timeout", **OF_HTTPX)
        assert "connect=60.0" in found["results"][0]["text"]


@pytest.mark.parametrize("flags", [{"guides": "never"}, {"guides": "auto", "offline": True}])
def test_a_site_is_passed_over(tmp_path: Path, flags: dict[str, Any]) -> None:
    with httpx_runtime(tmp_path, guides="never") as (runtime, _):
        call(runtime, "search_docs", query="anything", **OF_HTTPX)
    with httpx_runtime(tmp_path, **flags) as (runtime, site):
        snapshot = runtime.library.installed.find(PYTHON, "httpx", "0.27.0").snapshot
        assert snapshot.facts["site"]
        assert runtime.library.guides is not None
        assert runtime.library.guides.find(snapshot) is None
        assert runtime.registry.all() == []
        assert site.visits == []


def test_a_deleted_site_is_not_added_again(tmp_path: Path) -> None:
    with httpx_runtime(tmp_path, guides="auto") as (runtime, _):
        call(runtime, "search_docs", query="timeout", **OF_HTTPX)
        [registration] = runtime.registry.all()
        runtime.sync.wait(runtime.sync.start(registration.id).id, 60)
        runtime.registry.delete(registration.id)
        found = call(runtime, "search_docs", query="timeout", **OF_HTTPX)
        assert "create_source" in found["notice"]
        assert runtime.registry.all() == []


def test_a_crates_own_guide_answers_what_no_item_does(tmp_path: Path) -> None:
    folder = tmp_path / "crates" / "stowage" / "0.1.0"
    folder.mkdir(parents=True)
    shutil.copy(SAMPLE, folder / "rustdoc.json.zst")
    text = '# Attributes\n\n## Rename a field\n\nWrite `#[stow(rename = "hull")]` above it.\n'
    write_files(folder / "crate", {"Cargo.toml": MANIFEST, "docs/attributes.md": text})
    with (
        DocsRs(tmp_path / "crates") as server,
        runtime_of(tmp_path, docs_rs_url=server.url, crates_index_url=server.index_url) as runtime,
    ):
        found = call(runtime, "search_docs", package="stowage", query="rename a field")
        best = found["results"][0]
        assert best["heading_path"] == "Attributes > Rename a field"
        assert best["url"] == (
            f"{server.url}/crate/stowage/0.1.0/source/docs/attributes.md#rename-a-field"
        )
        opened = call(runtime, best["next"]["tool"], **best["next"]["arguments"])
        assert '#[stow(rename = "hull")]' in opened


def test_a_site_of_the_packages_own_version_answers_first(tmp_path: Path) -> None:
    with httpx_runtime(tmp_path, "/en/latest", guides="auto") as (runtime, site):
        for version in ("latest", "0.28.x", "0.27.x"):
            runtime.registry.create("site", f"{site.url}/en/{version}/")
        snapshot = runtime.library.package(PYTHON, "httpx").snapshot
        assert snapshot.facts["site"] == f"{site.url}/en/latest"
        assert runtime.library.guides is not None
        guide = runtime.library.guides.find(snapshot)
        assert guide is not None
        assert guide.registration is not None
        assert guide.registration.uri == f"{site.url}/en/0.27.x"
        assert len(runtime.registry.all()) == 3


def versions_site(site: Site) -> None:
    """Have a site like those of Read the Docs, whose versions say different things."""
    site.at("/", redirect("/en/latest/"))
    for label, seconds in {"latest": "90", "0.27.x": "60", "0.26.x": "30"}.items():
        site.put(f"/en/{label}/", INDEX.replace("timeouts/", f"/en/{label}/timeouts/"))
        site.put(f"/en/{label}/timeouts/", TIMEOUTS.replace("60.0", f"{seconds}.0"))


def newest(runtime: Runtime) -> Snapshot:
    [registration] = runtime.registry.all()
    snapshot = runtime.prose.newest(registration)
    assert snapshot is not None
    return snapshot


def synced(runtime: Runtime) -> list[str]:
    """Wait for all syncs; the addresses of the sources."""
    for each in runtime.registry.all():
        runtime.sync.wait(runtime.sync.start(each.id).id, 60)
    return [each.uri for each in runtime.registry.all()]


def test_the_part_of_a_site_for_the_version_is_read_and_named(tmp_path: Path) -> None:
    with httpx_runtime(tmp_path, guides="auto") as (runtime, site):
        versions_site(site)
        first = call(runtime, "search_docs", query="set a timeout", **OF_HTTPX)
        assert f"the guide {site.url}/en/0.27.x is being read" in first["notice"]
        assert synced(runtime) == [f"{site.url}/en/0.27.x"]
        found = call(runtime, "search_docs", query="set a timeout", **OF_HTTPX)
        assert found["notice"] == "guide of 0.27.x for 0.27.0"
        assert "connect=60.0" in found["results"][0]["text"]
        assert found["results"][0]["source"] == "httpx guide 0.27.x"


def test_other_versions_of_a_guide_are_not_mixed_in(tmp_path: Path) -> None:
    with httpx_runtime(tmp_path, guides="auto") as (runtime, site):
        versions_site(site)
        for label in ("latest", "0.26.x"):
            runtime.registry.create("site", f"{site.url}/en/{label}/", title=f"HTTPX {label}")
        call(runtime, "search_docs", query="set a timeout", **OF_HTTPX)
        assert len(synced(runtime)) == 3
        found = call(runtime, "search_docs", query="set a timeout", **OF_HTTPX)
        shown = json.dumps(found["results"])
        assert "connect=60.0" in shown
        assert "connect=90.0" not in shown
        assert "connect=30.0" not in shown
        answer = call(runtime, "ask", question="httpx: set a timeout on a client")
        assert "httpx guide 0.27.x" in answer["searched"]["sources"]
        assert not {"HTTPX latest", "HTTPX 0.26.x"} & set(answer["searched"]["sources"])
        # Who asks for one gets it.
        named = call(runtime, "ask", question="set a timeout", sources=["HTTPX latest"])
        assert "connect=90.0" in json.dumps(named["results"])


def test_of_a_site_that_was_read_whole_the_version_answers(tmp_path: Path) -> None:
    with httpx_runtime(tmp_path, guides="ask") as (runtime, site):
        versions_site(site)
        links = "".join(f"<a href='/en/{each}/'>{each}</a>" for each in ("latest", "0.27.x"))
        site.put("/", INDEX.replace("</main>", f"{links}</main>"))
        runtime.registry.create("site", f"{site.url}/", title="HTTPX")
        synced(runtime)
        found = call(runtime, "search_docs", query="set a timeout", **OF_HTTPX)
        assert found["notice"] == "guide of 0.27.x for 0.27.0"
        texts = [each["text"] for each in found["results"] if each["source"] == "HTTPX"]
        assert any("connect=60.0" in each for each in texts)
        assert not any("connect=90.0" in each for each in texts)
        page = call(runtime, "get_item_doc", item_path="httpx.Timeout", language="python")
        assert "connect=60.0" in page
        assert "connect=90.0" not in page


def test_a_preset_says_how_the_site_of_a_version_is_read(tmp_path: Path) -> None:
    with httpx_runtime(tmp_path, guides="auto") as (runtime, site):
        versions_site(site)
        file = tmp_path / "presets.toml"
        file.write_text(
            f'[httpx]\nkind = "site"\nuri = "{site.url}/en/latest/"\ntitle = "HTTPX"\n'
            'options = { path_prefixes = ["/en/latest", "/api/latest"], max_pages = 70 }\n'
            f'sites = ["{site.url}/"]\n',
            "utf-8",
        )
        with runtime_of(
            tmp_path,
            python_index_url=runtime.settings.python_index_url,
            guides="auto",
            presets=str(file),
        ) as known:
            call(known, "search_docs", query="set a timeout", **OF_HTTPX)
            [registration] = known.registry.all()
            assert registration.uri == f"{site.url}/en/0.27.x"
            assert registration.title == "HTTPX 0.27.x"
            prefixes = ["/en/0.27.x", "/api/0.27.x"]
            assert registration.options["path_prefixes"] == prefixes
            assert registration.options["max_pages"] == 70
            synced(known)


def test_the_texts_of_a_site_answer_before_its_pages(tmp_path: Path) -> None:
    release = threading.Event()
    with httpx_runtime(tmp_path, guides="auto") as (runtime, site):
        site.put("/llms.txt", "# HTTPX\n\n- [Proxies](/proxies/): tunnels\n", "text/plain")
        site.put("/llms-full.txt", "# HTTPX\n\n## Proxies\n\nTunnel by a proxy.\n", "text/plain")
        site.at("/timeouts/", slow(release))
        call(runtime, "search_docs", query="tunnel by a proxy", **OF_HTTPX)
        [registration] = runtime.registry.all()
        job = runtime.sync.start(registration.id)
        while not site.paths("/timeouts/"):
            runtime.sync.wait(job.id, 0.05)
        assert runtime.jobs.get(job.id).active
        found = call(runtime, "search_docs", query="tunnel by a proxy", **OF_HTTPX)
        assert found["results"][0]["text"].endswith("Tunnel by a proxy.")
        release.set()
        synced(runtime)
        paths = [each.path for each in runtime.prose.index(newest(runtime)).documents()]
        assert not [each for each in paths if "llms" in each]


def test_addresses_that_are_no_guides_are_not_taken() -> None:
    readme = Document("x/README", "page", "x", attributes={"role": "readme"})
    root = Document("x", "module", "x")
    for url, site in {
        "https://docs.rs/x": "",
        "https://github.com/e/x": "",
        "https://www.gitlab.com/e/x/docs": "",
        "https://registry.example/project/x/": "",
        "https://registry.example/package/@e/x": "",
        "https://x.example/project/x/start": "https://x.example/project/x/start",
        "https://x.example": "https://x.example/",
        "not an address": "",
    }.items():
        for label in ("Documentation", "homepage"):
            links = {label: url}
            facts = describe_package("x", [readme, root], root, readme, RUST, ("rust",), links)
            assert facts.get("site", "") == site
    both = {"Homepage": "https://x.example", "documentation": "https://docs.x.example/en/v2/"}
    facts = describe_package("x", [readme, root], root, readme, RUST, ("rust",), both)
    assert facts["site"] == "https://docs.x.example/en/v2"
