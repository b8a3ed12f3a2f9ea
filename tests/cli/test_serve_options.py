"""Ports that are taken, and toolsets by the command line."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from docstow.cli import main
from docstow.core.errors import ConfigurationError
from docstow.server.http import listen, listen_near


def test_a_taken_port_moves_to_the_next_free_one() -> None:
    with listen("127.0.0.1", 0) as taken:
        port = taken.getsockname()[1]
        with listen_near("127.0.0.1", port) as near:
            assert 0 < near.getsockname()[1] - port < 20
        with pytest.raises(ConfigurationError, match="choose another"):
            listen("127.0.0.1", port)


def test_a_chosen_port_that_is_taken_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("DOCSTOW_STORE", str(tmp_path / "store"))
    monkeypatch.setenv("DOCSTOW_CACHE", str(tmp_path / "cache"))
    with socket.create_server(("127.0.0.1", 0)) as taken:
        assert main(["serve", "--port", str(taken.getsockname()[1])]) == 1
    assert "choose another with --host and --port" in capsys.readouterr().err


@pytest.mark.slow
@pytest.mark.parametrize(
    ("toolsets", "there", "missing"),
    [("docs", "search_docs", "search_items"), ("all", "push_document", "")],
)
def test_toolsets_are_chosen_on_the_command_line(
    tmp_path: Path, toolsets: str, there: str, missing: str
) -> None:
    hello = {"protocolVersion": "2025-06-18", "capabilities": {}}
    hello["clientInfo"] = {"name": "test", "version": "1"}
    messages = [
        {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "id": 2, "method": "tools/list"},
    ]
    done = subprocess.run(
        [sys.executable, "-m", "docstow", "serve", "--stdio", "--toolsets", toolsets],
        env={**os.environ, "DOCSTOW_STORE": f"{tmp_path}/s", "DOCSTOW_CACHE": f"{tmp_path}/c"},
        input="".join(f"{json.dumps(each)}\n" for each in messages),
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    answers = {each["id"]: each for each in map(json.loads, done.stdout.splitlines())}
    names = {tool["name"] for tool in answers[2]["result"]["tools"]}
    assert there in names
    assert missing not in names


def test_a_toolset_that_is_not_known_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("DOCSTOW_STORE", str(tmp_path / "store"))
    assert main(["serve", "--stdio", "--toolsets", "rusty"]) == 1
    assert "unknown toolset 'rusty'" in capsys.readouterr().err


STOWS_A_SAMPLE = """
import sys
from docstow.core.settings import load
from docstow.runtime import Runtime

runtime = Runtime(load({"store": sys.argv[1], "cache": sys.argv[2]}, {}))
for stow in (runtime.ingest_sample_apart, runtime.ingest_sample):
    stow()
    print([name for name in ("onnxruntime", "duckdb") if name in sys.modules])
"""


def test_a_server_keeps_nothing_of_what_stowed_its_sample(tmp_path: Path) -> None:
    said = subprocess.run(
        [sys.executable, "-c", STOWS_A_SAMPLE, str(tmp_path / "store"), str(tmp_path / "cache")],
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    # The second time finds it stowed.
    assert said.stdout == "[]\n[]\n"
    assert list((tmp_path / "store" / "heads").rglob("0.1.0.json"))
