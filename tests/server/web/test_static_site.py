"""The pages as files: every link leads to one, and a browser reads them without a server."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.sync_api import Browser

from docstow.cli import main
from docstow.runtime import Runtime


@pytest.fixture(params=["stowage", "Ship manual"])
def site(
    request: pytest.FixtureRequest,
    runtime: Runtime,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> Path:
    monkeypatch.setenv("DOCSTOW_STORE", runtime.location)
    monkeypatch.setenv("DOCSTOW_CACHE", str(runtime.settings.cache))
    monkeypatch.setenv("DOCSTOW_OFFLINE", "true")
    into = tmp_path / "site"
    assert main(["export", request.param, "--format", "site", "--into", str(into)]) == 0
    return into


def test_every_link_leads_to_a_file_of_the_site(site: Path) -> None:
    pages = list(site.rglob("*.html"))
    assert len(pages) > 1
    for page in pages:
        text = page.read_text("utf-8")
        assert not re.search(r'(?:href|src)="/', text)
        assert "<form" not in text
        for address in re.findall(r'(?:href|src)="([^"#][^"]*)"', text):
            if "://" not in address:
                assert (page.parent / address.partition("#")[0]).is_file(), address


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
