"""The official conformance suite and the inspector's lint, against docstow's protocol and app."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from docstow.server.mcp import DEFAULT
from servers.mcp_fixture_server import fixture_app, fixture_protocol
from servers.web import serve

HERE = Path(__file__).resolve().parent

Judge = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    with serve(fixture_app()) as url:
        yield f"{url}/mcp"


# Fewer would mean that scenarios had gone missing, or their checks had been skipped.
@pytest.mark.parametrize(("version", "least"), [("2026-07-28", 120), ("2025-11-25", 60)])
def test_the_official_suite_finds_nothing_but_what_is_not_offered(
    judge: Judge, server: str, tmp_path: Path, version: str, least: int
) -> None:
    done = judge(
        "conformance/dist/index.js",
        "server",
        *("--url", server),
        *("--suite", "all"),
        *("--spec-version", version),
        *("--expected-failures", str(HERE / f"expected-failures-{version}.yml")),
        *("-o", str(tmp_path)),
    )
    assert done.returncode == 0, done.stdout[-8000:] + done.stderr
    total = re.search(r"Total: (\d+) passed", done.stdout)
    assert total is not None
    assert int(total[1]) >= least


@pytest.mark.parametrize("era", ["modern", "legacy"])
@pytest.mark.parametrize("query", ["", "?schema=plain"])
def test_the_inspector_lists_the_tools_and_its_lint_is_content(
    judge: Judge, server: str, era: str, query: str
) -> None:
    done = judge(
        "inspector/clients/launcher/build/index.js",
        *("--cli", server + query),
        *("--transport", "http"),
        *("--protocol-era", era),
        *("--method", "tools/list"),
        "--strict",
        *("--format", "json"),
    )
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr
    listed = [tool["name"] for tool in json.loads(done.stdout)["result"]["tools"]]
    offered = [
        tool.name
        for tool in fixture_protocol().tools(DEFAULT)
        if era == "modern" or not tool.client_capabilities
    ]
    assert listed == offered
