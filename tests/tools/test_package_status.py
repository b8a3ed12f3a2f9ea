"""What a summary says of a package's standing: releases, deprecation, licence, advisories."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from docstow.core.settings import load
from docstow.runtime import Runtime
from servers.npm import NpmServer

TYPES = {"index.d.ts": "/** Light. */\nexport declare function kindle(): void;\n"}
FAULT = {
    "id": "GHSA-1",
    "aliases": ["CVE-1"],
    "summary": "Sets fire to the boat",
    "published": "2024-01-02T00:00:00Z",
    "database_specific": {"severity": "HIGH"},
    "references": [{"type": "ADVISORY", "url": "https://example.org/1"}],
    "affected": [
        {
            "package": {"ecosystem": "npm", "name": "lantern"},
            "ranges": [{"type": "SEMVER", "events": [{"introduced": "0"}, {"fixed": "2.0.0"}]}],
        }
    ],
}


@pytest.fixture
def registry() -> Iterator[NpmServer]:
    with NpmServer() as server:
        common: dict[str, Any] = {"types": "index.d.ts", "license": "MIT"}
        server.publish("lantern", "1.0.0", TYPES, **common, deprecated="use 2")
        server.publish("lantern", "2.0.0", TYPES, **common, engines={"node": ">=18"})
        server.publish("candle", "1.0.0", TYPES, **common, deprecated="Lanterns are safer.")
        yield server


@pytest.fixture
def runtime(tmp_path: Path, registry: NpmServer) -> Iterator[Runtime]:
    (tmp_path / "osv.json").write_text(json.dumps(FAULT), "utf-8")
    flags = {"store": str(tmp_path / "store"), "cache": str(tmp_path / "cache"), "retries": 0}
    flags |= {"npm_registry_url": registry.url, "advisories": str(tmp_path / "osv.json")}
    with contextlib.closing(Runtime(load(flags, {}))) as made:
        yield made


def status(runtime: Runtime, package: str, tool: str = "get_package_summary") -> dict[str, Any]:
    answer = runtime.toolbox.call(tool, {"package": package}).structured
    assert answer is not None
    return dict(answer["status"])


def test_a_version_that_is_deprecated_and_unsafe(runtime: Runtime) -> None:
    assert status(runtime, "npm:lantern@1") == {
        "latest": "2.0.0",
        "deprecated": "use 2",
        "licence": "MIT",
        "advisory_count": 1,
        "advisories": [
            {
                "id": "GHSA-1",
                "summary": "Sets fire to the boat",
                "aliases": ["CVE-1"],
                "severity": "HIGH",
                "published": "2024-01-02",
                "fixed": ["2.0.0"],
                "url": "https://example.org/1",
            }
        ],
    }


def test_a_version_that_is_neither(runtime: Runtime) -> None:
    expected = {"latest": "2.0.0", "requires": ">=18", "licence": "MIT", "advisory_count": 0}
    assert status(runtime, "npm:lantern") == expected
    # Its former name answers and is not listed.
    assert status(runtime, "npm:lantern", "get_crate_summary") == expected
    names = [each.name for each in runtime.toolbox.tools]
    assert "get_package_summary" in names
    assert "get_crate_summary" not in names


def test_a_package_that_is_given_up(runtime: Runtime) -> None:
    assert status(runtime, "npm:candle")["deprecated"] == "Lanterns are safer."


def test_advisories_that_are_not_there_are_said_to_be(runtime: Runtime, tmp_path: Path) -> None:
    (tmp_path / "osv.json").unlink()
    answer = runtime.toolbox.call("get_package_summary", {"package": "npm:candle"}).structured
    assert answer is not None
    assert "osv.json" in answer["notice"]
    assert "advisory_count" not in answer["status"]
