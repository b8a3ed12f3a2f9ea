"""What registries and clients are told of a release: one name, one version, commands that run."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path
from typing import Any

from infra import mcpb
from paths import INFRA, REPOSITORY

PROJECT = tomllib.loads((REPOSITORY / "pyproject.toml").read_text("utf-8"))["project"]


def _asked(command: list[str], folder: Path, environment: dict[str, str]) -> dict[str, Any]:
    """Start a server over standard streams and return what it answers to initialize."""
    initialize = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "initialize",
        "params": {
            "protocolVersion": "2025-06-18",
            "capabilities": {},
            "clientInfo": {"name": "test", "version": "1"},
        },
    }
    done = subprocess.run(
        command,
        cwd=folder,
        env={**os.environ, **environment},
        input=f"{json.dumps(initialize)}\n",
        capture_output=True,
        text=True,
        check=True,
        timeout=300,
    )
    return dict(json.loads(done.stdout.splitlines()[0])["result"])


def test_the_registry_entry_is_of_this_release_and_its_command_runs(tmp_path: Path) -> None:
    entry = json.loads((INFRA / "server.json").read_text("utf-8"))
    (package,) = entry["packages"]
    assert entry["version"] == package["version"] == PROJECT["version"]
    assert package["identifier"] == PROJECT["name"]
    assert len(entry["description"]) <= 100
    # By this line of the package's page the registry knows whose it is.
    assert f"mcp-name: {entry['name']}" in (REPOSITORY / "README.md").read_text("utf-8")
    words = [each.get("value") or each["name"] for each in package["packageArguments"]]
    variables = {each["name"]: str(tmp_path) for each in package["environmentVariables"]}
    told = _asked([sys.executable, "-m", "docstow", *words], tmp_path, variables)
    assert told["serverInfo"]["version"] == PROJECT["version"]


def test_the_bundle_serves_over_standard_streams(tmp_path: Path) -> None:
    bundle = tmp_path / "docstow.mcpb"
    mcpb.write(bundle)
    with zipfile.ZipFile(bundle) as packed:
        packed.extractall(tmp_path / "there")
    manifest = json.loads((tmp_path / "there" / "manifest.json").read_text("utf-8"))
    pinned = tomllib.loads((tmp_path / "there" / "pyproject.toml").read_text("utf-8"))["project"]
    assert pinned["dependencies"] == [f"docstow=={manifest['version']}"]
    assert manifest["version"] == PROJECT["version"]
    program = manifest["server"]["mcp_config"]["args"][-1]
    assert manifest["server"]["entry_point"] == program
    environment = {"DOCSTOW_STORE": str(tmp_path / "store")}
    told = _asked([sys.executable, program], tmp_path / "there", environment)
    assert told["serverInfo"]["name"] == "docstow"


def test_the_same_release_has_the_same_bytes(tmp_path: Path) -> None:
    for name in ("one", "two"):
        mcpb.write(tmp_path / name)
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()
