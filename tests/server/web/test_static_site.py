"""The pages as files: every link leads to one, and a browser reads them without a server."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator
from html import unescape
from pathlib import Path
from urllib.parse import unquote

import pytest
from playwright.sync_api import Browser

from docstow.cli import main
from docstow.core.settings import load
from docstow.languages import PYTHON, TYPESCRIPT
from docstow.runtime import Runtime
from servers.npm import NpmServer
from servers.python_index import PythonIndexServer

BOATS = {
    "boats/__init__.py": (
        '"""Boats to row: see [Boat](#boats.Boat)."""\n\nfrom boats.hulls import Hull\n\n'
        'class Boat(Hull):\n    """A boat.\n\n    Examples\n    --------\n    >>> Boat().row(3)\n'
        '    """\n\n    def row(self, strokes: int) -> Hull:\n        """Row so many strokes."""\n'
    ),
    "boats/hulls.py": 'class Hull:\n    """What floats."""\n\n    wet: bool = True\n',
    "boats-1.0.dist-info/README.md": "# Boats\n",
}
LANTERN = {
    "README.md": "# Lantern\n\nSee [light](#light) and [nothing](#nothing).\n\n## Light\n\nOil.\n\n"
    '```html\n<a href="/light" href="#x">\n```\n',
    "index.d.ts": (
        "/** A lantern. */\nexport declare class Lantern {\n  /** Lights it. */\n"
        "  light(wick: Wick): void;\n}\n/** What burns. */\nexport interface Wick {\n"
        "  dry: boolean;\n}\n"
        "export declare function trim(wick: Wick): Wick;\n"
    ),
}


@pytest.fixture(scope="module")
def packages(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Runtime]:
    """A store with a package of Python and one of Node, as their registries have them."""
    folder = tmp_path_factory.mktemp("packages")
    with PythonIndexServer() as python, NpmServer() as npm:
        python.add_wheel("boats", "1.0", BOATS)
        npm.publish("@ship/lantern", "2.0.0", LANTERN, types="index.d.ts")
        settings = {
            "store": f"{folder}/store",
            "cache": f"{folder}/cache",
            "python_index_url": python.url,
            "npm_registry_url": npm.url,
            "retries": 0,
        }
        with contextlib.closing(Runtime(load(settings, {}))) as runtime:
            runtime.library.package(PYTHON, "boats", "1.0")
            runtime.library.package(TYPESCRIPT, "@ship/lantern", "2.0.0")
            yield runtime


@pytest.fixture(
    params=[
        ("stowage", "runtime"),
        ("Ship manual", "runtime"),
        ("python:boats@1.0", "packages"),
        ("npm:@ship/lantern", "packages"),
    ],
    ids=lambda each: str(each[0]),
)
def site(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    source, kept = request.param
    runtime: Runtime = request.getfixturevalue(kept)
    monkeypatch.setenv("DOCSTOW_STORE", runtime.location)
    monkeypatch.setenv("DOCSTOW_CACHE", str(runtime.settings.cache))
    monkeypatch.setenv("DOCSTOW_OFFLINE", "true")
    into = tmp_path / "site"
    assert main(["export", source, "--format", "site", "--into", str(into)]) == 0
    return into


def test_every_link_leads_to_what_a_file_of_the_site_has(site: Path) -> None:
    pages = {page: page.read_text("utf-8") for page in site.rglob("*.html")}
    assert len(pages) > 1
    anchors = {page: set(re.findall(r' id="([^"]+)"', text)) for page, text in pages.items()}
    fragments = 0
    for page, text in pages.items():
        assert not re.search(r'<[a-z][^<>]* (?:href|src)="/', text)
        assert "<form" not in text
        assert len(anchors[page]) == text.count(' id="')
        for address in re.findall(r'<[a-z][^<>]* (?:href|src)="([^"]+)"', text):
            if "://" in address:
                continue
            place, _, fragment = address.partition("#")
            target = (page.parent / place).resolve() if place else page
            assert target.is_file(), address
            if fragment:
                fragments += 1
                assert unescape(unquote(fragment)) in anchors[target], (page.name, address)
    assert fragments


def test_what_code_says_of_addresses_stays(
    packages: Runtime, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DOCSTOW_STORE", packages.location)
    monkeypatch.setenv("DOCSTOW_CACHE", str(packages.settings.cache))
    monkeypatch.setenv("DOCSTOW_OFFLINE", "true")
    into = tmp_path / "site"
    assert main(["export", "npm:@ship/lantern", "--format", "site", "--into", str(into)]) == 0
    text = re.sub(r"<[^>]*>", "", (into / "index.html").read_text("utf-8"))
    assert 'href="/light" href="#x"' in unescape(text)


def test_a_browser_reads_it_without_a_server(site: Path, chromium: Browser) -> None:
    page = chromium.new_page()
    failed: list[str] = []
    page.on("requestfailed", lambda request: failed.append(request.url))
    page.on("pageerror", lambda error: failed.append(str(error)))
    page.goto((site / "index.html").as_uri())
    assert page.locator("h1").first.is_visible()
    page.locator("article a[href^='pages/'], .side a[href^='pages/']").first.click()
    page.wait_for_url("**/pages/*.html")
    assert page.evaluate("getComputedStyle(document.querySelector('.top')).display") == "flex"
    page.close()
    assert failed == []


def test_a_site_is_a_folder(runtime: Runtime, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DOCSTOW_STORE", runtime.location)
    monkeypatch.setenv("DOCSTOW_CACHE", str(runtime.settings.cache))
    assert main(["export", "stowage", "--format", "site", "--into", "-"]) != 0
