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
from docstow.sources.packages import Registry, configuration
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
        common["keywords"] = ["light", "dark"]
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


def test_advisories_of_what_is_judged_are_counted(runtime: Runtime, registry: NpmServer) -> None:
    registry.publish("boat", "1.0.0", TYPES, dependencies={"lantern": "1"})

    def notice(tool: str, **arguments: object) -> str:
        answer = runtime.toolbox.call(tool, arguments).structured
        assert answer is not None
        return str(answer["notice"])

    said = "advisories: lantern 1.0.0 (1)"
    assert said in notice("get_dependencies", package="npm:boat")
    assert notice("get_dependencies", package="npm:lantern@2") == "advisories: none"
    code = 'import { kindle } from "lantern";\n'
    for version, expected in (("1", said), ("2", "advisories: none")):
        versions = {"lantern": version}
        told = notice("verify_code", code=code, language="typescript", versions=versions)
        assert expected in told


def test_a_version_that_is_neither(runtime: Runtime) -> None:
    expected = {"latest": "2.0.0", "requires": "Node >=18", "advisory_count": 0}
    assert status(runtime, "npm:lantern") == expected
    # Its former name answers and is not listed.
    assert status(runtime, "npm:lantern", "get_crate_summary") == expected
    names = [each.name for each in runtime.toolbox.tools]
    assert "get_package_summary" in names
    assert "get_crate_summary" not in names


def test_a_package_states_its_licence_and_keywords(runtime: Runtime, registry: NpmServer) -> None:
    answer = runtime.toolbox.call("get_package_summary", {"package": "npm:lantern"}).structured
    assert answer is not None
    assert (answer["license"], answer["keywords"]) == ("MIT", ["light", "dark"])
    # Neither is asked of the registry: they stand in what was stowed.
    assert len(registry.requests) == 2


def install(folder: Path, name: str) -> Path:
    """Make a project in which a package is installed."""
    place = folder / "node_modules" / name
    place.mkdir(parents=True)
    (folder / "package.json").write_text(json.dumps({"dependencies": {name: "1.0.0"}}), "utf-8")
    manifest: dict[str, Any] = {
        "name": name,
        "version": "1.0.0",
        "types": "index.d.ts",
        "license": "MIT",
    }
    manifest |= {"engines": {"node": ">=16"}}
    (place / "package.json").write_text(json.dumps(manifest), "utf-8")
    (place / "index.d.ts").write_text(TYPES["index.d.ts"], "utf-8")
    return folder


@pytest.mark.parametrize("named", [False, True])
def test_a_registry_that_is_not_named_learns_nothing_of_installed_packages(
    tmp_path: Path, registry: NpmServer, monkeypatch: pytest.MonkeyPatch, named: bool
) -> None:
    project = install(tmp_path / "project", "lantern")
    # As npm's own configuration has it.
    found = configuration.NpmRegistries(Registry(registry.url))
    monkeypatch.setattr(configuration, "npm_registries", lambda *_: found)
    flags = {"store": str(tmp_path / "store"), "cache": str(tmp_path / "cache"), "retries": 0}
    flags |= {"npm_registry_url": registry.url} if named else {}
    with contextlib.closing(Runtime(load(flags, {}), project)) as runtime:
        answer = runtime.toolbox.call("get_package_summary", {"package": "npm:lantern"}).structured
        assert answer is not None
        assert answer["license"] == "MIT"
        if named:
            assert (answer["status"]["deprecated"], len(registry.requests)) == ("use 2", 1)
            return
        assert answer["status"] == {
            "requires": "Node >=16",
            "releases": "not looked up, as it is installed; list_versions does",
        }
        assert not registry.requests
        # Who has asked for its versions has let the registry know.
        runtime.toolbox.call("list_versions", {"package": "npm:lantern"})
        asked = len(registry.requests)
        assert status(runtime, "npm:lantern")["deprecated"] == "use 2"
        assert len(registry.requests) == asked


def test_a_package_that_is_given_up(runtime: Runtime) -> None:
    assert status(runtime, "npm:candle")["deprecated"] == "Lanterns are safer."


def test_advisories_that_are_not_there_are_said_to_be(runtime: Runtime, tmp_path: Path) -> None:
    (tmp_path / "osv.json").unlink()
    answer = runtime.toolbox.call("get_package_summary", {"package": "npm:candle"}).structured
    assert answer is not None
    assert "osv.json" in answer["notice"]
    assert "advisory_count" not in answer["status"]
