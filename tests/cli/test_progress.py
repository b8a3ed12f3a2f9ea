"""The live line of a terminal, and what a server prints when it begins."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from docstow.cli.progress import Pace, State
from docstow.runtime import SAMPLE
from servers.command import start

pytestmark = pytest.mark.slow


def test_a_line_names_what_is_counted() -> None:
    pace = Pace(iter([0.0, 1.0, 3.0]).__next__)
    assert pace.describe(State(3, 9, doing="reading"), "pages") == "reading: 3 of 9 pages"
    embedding = [State(done, 40, doing="embedding", unit="passages") for done in (10, 20)]
    assert pace.describe(embedding[0], "pages") == "embedding: 10 of 40 passages"
    told = pace.describe(embedding[1], "pages")
    assert told == "embedding: 20 of 40 passages, 5.0/s, 4 s left"


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such terminals")
def test_the_live_line_tells_how_much_is_embedded(tmp_path: Path) -> None:
    import pty
    import termios

    shutil.copyfile(SAMPLE, tmp_path / "stowage.json.zst")
    outer, inner = pty.openpty()
    termios.tcsetwinsize(inner, (24, 200))
    with subprocess.Popen(
        [sys.executable, "-m", "docstow", "ingest", "rustdoc", "stowage.json.zst"],
        cwd=tmp_path,
        env={**os.environ, "TERM": "xterm", "DOCSTOW_STORE": "s", "DOCSTOW_CACHE": "c"},
        stdout=subprocess.DEVNULL,
        stderr=inner,
    ) as process:
        os.close(inner)
        seen = b""
        try:
            while part := os.read(outer, 4096):
                seen += part
        except OSError:
            pass  # the other side is closed
        os.close(outer)
    assert process.returncode == 0
    found = re.findall(rb"stowage.json.zst: embedding: (\d+) of (\d+) passages", seen)
    done, totals = ([int(each[side]) for each in found] for side in (0, 1))
    assert done == sorted(done)
    assert set(totals) == {done[-1]}


def test_serve_prints_where_its_pages_are(tmp_path: Path) -> None:
    store = {"DOCSTOW_STORE": f"{tmp_path}/s", "DOCSTOW_CACHE": f"{tmp_path}/c"}
    process, url = start(store | {"DOCSTOW_OFFLINE": "true"}, quiet=True)
    with process:
        assert process.stdout is not None
        assert process.stdout.readline() == f"Pages for people: {url}/\n"
        process.kill()
