"""The command line as a person has it before them: in a real terminal, with keys and a screen."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from docstow.runtime import SAMPLE
from require import unavailable
from servers.docs_rs import DocsRs
from servers.held import Held
from terminal import Terminal

pytestmark = pytest.mark.slow

WIDTH = 80


@pytest.fixture(scope="module")
def docs_rs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[DocsRs]:
    upstream = tmp_path_factory.mktemp("docs-rs")
    (upstream / "tokio" / "1.0.0").mkdir(parents=True)
    shutil.copyfile(SAMPLE, upstream / "tokio" / "1.0.0" / "rustdoc.json.zst")
    with DocsRs(upstream) as server:
        yield server


@pytest.fixture
def terminal(docs_rs: DocsRs, tmp_path: Path) -> Iterator[Terminal]:
    if shutil.which("tmux") is None:
        unavailable("tmux is not here; it is a package of most systems.")
    ours = {
        "STORE": f"{tmp_path}/store",
        "CACHE": f"{tmp_path}/cache",
        "UPSTREAM_INTERVAL_S": "0",
        "DOCS_RS_URL": docs_rs.url,
        "CRATES_INDEX_URL": docs_rs.index_url,
    }
    inherited = {k: v for k, v in os.environ.items() if not k.startswith("DOCSTOW_")}
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    environment = inherited | {f"DOCSTOW_{name}": value for name, value in ours.items()}
    with Terminal(environment | {"PATH": path}, folder=tmp_path, columns=WIDTH) as terminal:
        yield terminal


def test_the_first_commands(terminal: Terminal) -> None:
    listed = terminal.run("docstow")
    assert listed.startswith("usage: docstow")
    assert listed.endswith("docstow COMMAND --help says more, with examples.")

    stowed = terminal.run("docstow", "add", "tokio")
    assert "crate/tokio/1.0.0: 83 documents" in stowed
    # Nothing of what native libraries say at the end of a process.
    assert "leaked" not in stowed

    found = terminal.run("docstow", "search", "put something on a shelf")
    assert found.startswith("docstow: no project is at hand")
    assert "\n1. struct stowage::Crate (tokio (rust) 1.0.0)\n" in found
    assert max(map(len, found.splitlines())) <= WIDTH

    assert "83" in terminal.run("docstow", "store", "list")
    assert "did you mean search?" in terminal.run("docstow", "serch", "shelf")


def test_keys_complete_words(terminal: Terminal) -> None:
    terminal.start('eval "$(docstow completion bash)"')
    terminal.ended()
    terminal.write("docstow disc")
    terminal.press("Tab")
    terminal.wait(lambda screen: "docstow disconnect" in screen)


def test_a_key_ends_an_ingest_and_says_how_to_go_on(terminal: Terminal, docs_rs: DocsRs) -> None:
    held = Held()
    docs_rs.plan("/crate/tokio/1.0.0/json", held)
    try:
        terminal.start("docstow ingest crate tokio; echo status $?")
        assert held.reached.wait(60)
        terminal.press("C-c")
        told = terminal.ended()
    finally:
        held.go.set()
    assert "Traceback" not in told
    assert "status 130" in told
    assert "docstow ingest crate tokio" in " ".join(told.split())
