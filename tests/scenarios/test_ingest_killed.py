"""An ingest that is killed at any step leaves the old snapshot, and the next one succeeds."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import zstandard

from docstow.core.settings import load
from docstow.ops.audit import verify
from docstow.runtime import SAMPLE, Runtime
from docstow.store.objects import DirectoryStore
from servers import loopback
from servers.docs_rs import DocsRs

# Runs the command line and kills its own process when one of the write path's functions is
# called, or returns, for the n-th time.
PROGRAM = """
import os, signal, sys
from docstow.cli import main

step, moment, number = sys.argv[1:4]
seen = 0

def watch(frame, event, argument):
    global seen
    name = frame.f_globals.get("__name__", "") + ":" + frame.f_code.co_name
    if event == moment and name == step:
        seen += 1
        if seen == int(number):
            os.kill(os.getpid(), getattr(signal, "SIGKILL", signal.SIGTERM))

sys.setprofile(watch)
sys.exit(main(sys.argv[4:]))
"""

STEPS = [
    ("docstow.sources.crates.origin:resolve", 1),
    ("docstow.sources.crates.origin:fetch", 1),
    ("docstow.languages.rust.rustdoc:read", 1),
    ("docstow.index.tables:tabulate", 1),
    ("docstow.embedding.static:embed", 1),
    *(("docstow.index.tables:write_table", number) for number in range(1, 6)),
    ("docstow.index.catalog:add", 1),
    ("docstow.store.snapshots:publish", 1),
]


@pytest.fixture
def upstream(tmp_path: Path) -> Iterator[DocsRs]:
    place = tmp_path / "crates" / "stowage" / "0.1.0"
    place.mkdir(parents=True)
    (place / "rustdoc.json.zst").write_bytes(SAMPLE.read_bytes())
    with DocsRs(tmp_path / "crates") as server:
        yield server


def test_killed_at_each_step(tmp_path: Path, upstream: DocsRs) -> None:
    flags = {
        "store": str(tmp_path / "store"),
        "cache": str(tmp_path / "cache"),
        "docs_rs_url": upstream.url,
        "crates_index_url": upstream.index_url,
        "upstream_interval_s": "0",
    }
    words = [f"--{name.replace('_', '-')}={value}" for name, value in flags.items()]

    def ingest(step: str = "", moment: str = "", number: int = 1) -> int:
        command = [sys.executable, "-c", PROGRAM, step, moment, str(number)]
        command += ["ingest", "crate", "stowage", *words]
        return subprocess.run(command, capture_output=True, timeout=60).returncode

    def page() -> str:
        with contextlib.closing(Runtime(load(flags, {}))) as runtime:
            return runtime.toolbox.call("get_item_doc", {"item_path": "stowage"}).text

    def found_across() -> str:
        """The snapshot that a search over all crates finds."""
        with contextlib.closing(Runtime(load(flags, {}))) as runtime:
            found = runtime.toolbox.call("search_items", {"query": "the hold"}).structured
        assert found is not None
        (answered,) = found["answered"]
        return str(answered["snapshot"])

    assert ingest() == 0
    before = page()
    assert "ship" in before
    body = zstandard.ZstdDecompressor().decompress(SAMPLE.read_bytes())
    upstream.always("/crate/stowage/0.1.0/json", loopback.content(body.replace(b"ship", b"boat")))
    for step, number in STEPS:
        for moment in ("call", "return"):
            killed = ingest(step, moment, number)
            if (step, moment) == (*STEPS[-1][:1], "return"):
                # The last step had been done, and nothing but a line of output was lost.
                break
            assert killed not in (0, 1), f"{step} was not reached"
            assert page() == before, f"killed at the {moment} of {step}"
            assert verify(DirectoryStore(tmp_path / "store")).faults == ()
            if step in ("docstow.index.catalog:add", "docstow.store.snapshots:publish"):
                assert found_across()[:12] in before, f"killed at the {moment} of {step}"
    assert ingest() == 0
    after = page()
    assert "boat" in after
    assert found_across()[:12] in after
    assert "ship" not in after


# Imports everything once, and then runs the command line in children of its own, each on a copy
# of the store, until one lives: the n-th is killed at its n-th write, before or after that.
FORKS = """
import itertools, os, shutil, signal, sys
from docstow import cli, embedding, runtime
from docstow.index import tables
from docstow.ingest import publish
from docstow.store.objects import DirectoryStore

folder, words = sys.argv[1], sys.argv[2:]

def child(number):
    numbers = itertools.count(1)

    def counted(write):
        def run(self, *arguments):
            mine = next(numbers)
            if mine == number // 2 and number % 2 == 0:
                os.kill(os.getpid(), signal.SIGKILL)
            try:
                return write(self, *arguments)
            finally:
                if mine == number // 2 and number % 2:
                    os.kill(os.getpid(), signal.SIGKILL)
        return run

    for name in ("create", "swap", "delete"):
        setattr(DirectoryStore, name, counted(getattr(DirectoryStore, name)))
    sys.exit(cli.main([*words, f"--store={folder}/{number}", "--log-level=error"]))

number, status = 2, 1
while status:
    shutil.copytree(f"{folder}/store", f"{folder}/{number}")
    pid = os.fork()
    if not pid:
        child(number)
    status = os.waitpid(pid, 0)[1]
    assert status in (0, signal.SIGKILL), status
    number += 1
print(number)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are forked")
def test_killed_at_each_write(tmp_path: Path, upstream: DocsRs) -> None:
    flags = {
        "cache": str(tmp_path / "cache"),
        "docs_rs_url": upstream.url,
        "crates_index_url": upstream.index_url,
        "upstream_interval_s": "0",
    }
    words = [f"--{name.replace('_', '-')}={value}" for name, value in flags.items()]

    def answer(store: Path) -> str:
        with contextlib.closing(Runtime(load({**flags, "store": str(store)}, {}))) as runtime:
            return runtime.toolbox.call("get_item_doc", {"item_path": "stowage"}).text

    with contextlib.closing(
        Runtime(load({**flags, "store": str(tmp_path / "store")}, {}))
    ) as first:
        first.crates.ingest("stowage")
    before = answer(tmp_path / "store")
    body = zstandard.ZstdDecompressor().decompress(SAMPLE.read_bytes())
    upstream.always("/crate/stowage/0.1.0/json", loopback.content(body.replace(b"ship", b"boat")))
    command = [sys.executable, "-c", FORKS, str(tmp_path), "ingest", "crate", "stowage", *words]
    forks = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert forks.returncode == 0, forks.stderr
    end = int(forks.stdout.split()[-1])
    assert end > 20
    answers = []
    for number in range(2, end):
        store = DirectoryStore(tmp_path / str(number))
        assert verify(store).faults == (), f"killed at {number / 2}"
        answers.append(answer(tmp_path / str(number)))
        assert (answers[-1] == before) != ("boat" in answers[-1])
    # Once it is there it stays: the swap of the head is the one moment at which the answer changes.
    news = ["boat" in each for each in answers]
    assert news == sorted(news)
    assert (news[0], news[-1]) == (False, True)
