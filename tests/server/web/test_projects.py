"""Versions, differences, dependencies, a project's code and its agents as pages."""

from __future__ import annotations

import contextlib
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from playwright.sync_api import Page

from docstow.core.settings import load
from docstow.runtime import Runtime
from docstow.server.clients import CLIENTS
from docstow.server.web import plots
from paths import FIXTURES
from servers.docs_rs import DocsRs
from servers.web import serve

CARGO = """[package]
name = "ship"
version = "0.1.0"
[dependencies]
stowage = "0.1"
"""
LOCK = """version = 4
[[package]]
name = "ship"
version = "0.1.0"
dependencies = ["stowage"]
[[package]]
name = "stowage"
version = "0.1.0"
source = "registry+https://github.com/rust-lang/crates.io-index"
"""


def need(name: str, req: str, *features: str, optional: bool = True) -> dict[str, Any]:
    line = {"name": name, "req": req, "features": list(features), "optional": optional}
    return line | {"kind": "normal", "default_features": False, "target": None, "package": None}


#: What the index of crates.io says of regex 1.11.1 and of what it needs, without tests' needs.
REGEX: dict[tuple[str, str], dict[str, Any]] = {
    ("regex", "1.11.1"): {
        "deps": [
            need("aho-corasick", "^1.0.0"),
            need("memchr", "^2.6.0"),
            need(
                "regex-automata",
                *("^0.4.8", "alloc", "syntax", "meta", "nfa-pikevm"),
                optional=False,
            ),
            need("regex-syntax", "^0.8.5", optional=False),
        ],
        "features": {
            "default": ["std", "perf", "unicode", "regex-syntax/default"],
            "std": ["aho-corasick?/std", "memchr?/std", "regex-automata/std", "regex-syntax/std"],
            "perf": ["perf-literal"],
            "perf-literal": ["dep:aho-corasick", "dep:memchr", "regex-automata/perf-literal"],
            "unicode": ["regex-automata/unicode", "regex-syntax/unicode"],
        },
    },
    ("regex-automata", "0.4.9"): {
        "deps": [
            need("aho-corasick", "^1.0.0"),
            need("memchr", "^2.6.0"),
            need("regex-syntax", "^0.8.5"),
        ],
        "features": {
            "alloc": [],
            "std": ["regex-syntax?/std", "memchr?/std", "aho-corasick?/std", "alloc"],
            "syntax": ["dep:regex-syntax", "alloc"],
            "meta": ["syntax", "nfa-pikevm"],
            "nfa-pikevm": [],
            "perf-literal": ["dep:memchr", "dep:aho-corasick"],
            "unicode": ["regex-syntax?/unicode"],
        },
    },
    ("regex-syntax", "0.8.5"): {
        "features": {"default": ["std", "unicode"], "std": [], "unicode": []}
    },
    ("aho-corasick", "1.1.3"): {
        "deps": [need("memchr", "^2.4")],
        "features": {"default": ["std"], "std": ["memchr?/std"]},
    },
    ("memchr", "2.7.4"): {"features": {"default": ["std"], "std": ["alloc"], "alloc": []}},
}


@pytest.fixture(scope="module")
def ship(tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    """A server at work in a project of Rust, with two versions of a crate."""
    folder = tmp_path_factory.mktemp("ship")
    (folder / "Cargo.toml").write_text(CARGO, "utf-8")
    (folder / "Cargo.lock").write_text(LOCK, "utf-8")
    settings = {"store": f"{folder}/store", "cache": f"{folder}/cache", "offline": True}
    runtime = Runtime(load({**settings, "root": [str(folder)]}, {}))
    runtime.ingest_sample()
    for version in ("api_old", "api_new"):
        (path,) = (FIXTURES / "crates" / version).glob("*.json*")
        runtime.rustdoc_files([path]).ingest(path)
    with serve(runtime.app) as url, httpx.Client(base_url=url, timeout=60) as client:
        yield client
    runtime.close()


def sent_by(client: httpx.Client) -> dict[str, str]:
    return {"Origin": str(client.base_url).rstrip("/"), "Sec-Fetch-Site": "same-origin"}


def test_versions_lead_to_what_changed_breaking_first(ship: httpx.Client) -> None:
    listed = ship.get("/").text
    name = next(each for each in re.findall(r"/ui/rust/(\w+)/latest", listed) if each != "stowage")
    page = ship.get("/ui/versions", params={"package": name}).text
    new, old = re.findall(rf'href="/ui/rust/{name}/([\d.]+)"', page)[:2]
    changed = ship.get("/ui/diff", params={"package": name, "from": old, "to": new}).text
    assert f"{old} → {new}" in changed
    assert changed.index('id="ui-breaking"') < changed.index('id="ui-compatible"')
    assert '<span class="gd">' in changed


def test_a_project_s_packages_say_whether_they_are_stowed(ship: httpx.Client) -> None:
    page = ship.get("/ui/project").text
    row = re.search(r"<tr>(?:(?!</tr>).)*stowage(?:(?!</tr>).)*</tr>", page, re.DOTALL)
    assert row
    assert 'href="/ui/rust/stowage/0.1.0"' in row[0]
    assert '<span class="good">stowed</span>' in row[0]


def test_code_is_checked_with_findings_at_their_lines(ship: httpx.Client) -> None:
    code = 'use stowage::Hold;\nuse stowage::Hodl;\nfn main() { let a = "<b>"; }\n'
    asked = {"code": code, "language": "rust"}
    page = ship.post("/ui/check", data=asked, headers=sent_by(ship)).text
    lines = re.findall(r'<span class="row ([a-z]*)">', page)
    assert lines == ["", "bad", ""]
    assert "stowage::Hold" in page.split('class="told bad"')[1]
    assert "<b>" not in page
    assert ship.post("/ui/check", data=asked).status_code == 200
    foreign = {"Origin": "https://evil.example"}
    assert ship.post("/ui/check", data=asked, headers=foreign).status_code == 403


def test_what_no_index_knows_of_is_told_beside_the_sizes_of_modules(ship: httpx.Client) -> None:
    page = ship.get("/ui/dependencies", params={"package": "stowage"}).text
    assert 'class="notice"' in page
    assert "Modules by the number of their items" in page


def test_every_client_has_its_own_lines(client: httpx.Client) -> None:
    page = client.get("/ui/connect").text
    for name, known in CLIENTS.items():
        assert f'id="{name}"' in page
        assert known.title in page
    cursor = re.search(r'id="ui-cursor">(.*?)</code>', page, re.DOTALL)
    assert cursor
    entry = json.loads(cursor[1].replace("&#34;", '"'))
    assert entry["mcpServers"]["docstow"]["url"].endswith("/mcp")


def test_lines_are_copied(tab: Page, url: str) -> None:
    tab.context.grant_permissions(["clipboard-read", "clipboard-write"], origin=url)
    tab.goto("/ui/connect")
    tab.locator("#codex ~ p button.copy").click()
    tab.get_by_role("button", name="Copied").wait_for()
    copied = tab.evaluate("navigator.clipboard.readText()")
    assert copied == f'[mcp_servers.docstow]\nurl = "{url}/mcp"'


def test_dependencies_of_real_records_are_drawn_and_lead_on(tmp_path: Path) -> None:
    none = tmp_path / "none"
    none.mkdir()
    with DocsRs(none, overrides=REGEX) as server:
        settings = {
            "store": f"{tmp_path}/store",
            "cache": f"{tmp_path}/cache",
            "docs_rs_url": server.url,
            "crates_index_url": server.index_url,
            "retries": 0,
        }
        with contextlib.closing(Runtime(load(settings, {}))) as made, serve(made.app) as url:
            page = httpx.get(f"{url}/ui/dependencies?package=regex&version=1.11.1", timeout=60).text
    drawn = page.partition("<svg")[2].partition("</svg>")[0]
    linked = re.findall(r'<a href="/ui/rust/([^"]+)"><rect', drawn)
    assert linked == [
        "regex/1.11.1",
        *("aho-corasick/1.1.3", "memchr/2.7.4", "regex-automata/0.4.9", "regex-syntax/0.8.5"),
    ]
    # Four of its own; those of its dependencies lie as deep as what they lead to.
    assert drawn.count("<path") >= 4
    rows = re.findall(r"<tbody>(.*?)</tbody>", page, re.DOTALL)[0]
    assert "<code>^0.4.8</code>" in rows
    assert "alloc, syntax, meta, nfa-pikevm" in rows


def test_pictures_escape_what_they_name() -> None:
    bar = str(plots.bars("<t>", [plots.Bar("<a>::c", 3, "<b>", '"x'), plots.Bar("b", 0, "0")]))
    assert "&lt;a&gt;::<wbr>c" in bar
    assert "<b>" not in bar
    assert 'aria-label="&lt;t&gt;"' in bar
    nodes = [plots.Node("a 1", 0, ["b 2", "c 3"]), plots.Node("b 2", 1, ["a 1"], "/b")]
    drawn = str(plots.graph("g", nodes))
    assert drawn.count("<rect") == 2
    assert drawn.count("<path") == 1


@pytest.mark.parametrize(
    ("number", "told"), [(0, "0 B"), (999, "999 B"), (1500, "1.5 KB"), (2_400_000, "2.4 MB")]
)
def test_sizes_are_for_people(number: int, told: str) -> None:
    assert plots.size(number) == told


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_serious(tab: Page, axe: str, scheme: str, client: httpx.Client) -> None:
    tab.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
    source = re.findall(r"/ui/sources/[0-9a-f]{64}", client.get("/ui/sources").text)[0]
    job = re.findall(r"/ui/jobs/[0-9a-f]{16}-\d{6}", client.get("/ui/jobs").text)[0]
    page = re.findall(r"/ui/page/[^\"#]+", client.get("/?q=heavy+pieces&in=pages").text)[0]
    paths = ["/", "/?q=hold", "/ui/rust/stowage/latest", "/ui/rust/stowage/latest/stowage::Hold"]
    paths += [
        page,
        "/ui/sources",
        source,
        "/ui/jobs",
        job,
        "/ui/store",
        "/ui/versions?package=stowage",
    ]
    paths += ["/ui/dependencies?package=stowage", "/ui/check", "/ui/connect", "/ui/login"]
    serious: list[tuple[str, str, str]] = []
    for path in paths:
        tab.goto(path)
        # The rules of the page keep scripts of others out, so that it is run beside them.
        tab.evaluate(axe)
        found = tab.evaluate("axe.run().then(found => found.violations)")
        serious += [
            (path, each["id"], each["nodes"][0]["html"][:200])
            for each in found
            if each["impact"] in ("serious", "critical")
        ]
    assert serious == []


def test_nothing_moves_while_a_page_loads(tab: Page) -> None:
    for path in ("/?q=hold", "/ui/rust/stowage/latest/stowage::Hold"):
        tab.goto(path)
        shift = """new Promise(done => { let sum = 0;
            const add = list => { for (const each of list.getEntries()) sum += each.value; };
            new PerformanceObserver(add).observe({type: 'layout-shift', buffered: true});
            requestAnimationFrame(() => requestAnimationFrame(() => done(sum))); })"""
        assert tab.evaluate(shift) == 0
