"""The command line's face of prose, as a user runs it."""

from __future__ import annotations

import contextlib
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from docstow.core.settings import load
from docstow.runtime import Runtime
from prose_server import PAGES, write

#: Each test runs the command as a process.
pytestmark = pytest.mark.slow

SECRET = "7c1f-not-for-anyone"


@pytest.fixture
def place(tmp_path: Path) -> Path:
    write(tmp_path / "docs", PAGES)
    return tmp_path


def environment(place: Path) -> dict[str, str]:
    inherited = {k: v for k, v in os.environ.items() if not k.startswith("DOCSTOW_")}
    ours = {"DOCSTOW_STORE": str(place / "store"), "DOCSTOW_CACHE": str(place / "cache")}
    return inherited | ours


def run(place: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "docstow", *words],
        env=environment(place),
        cwd=place,
        capture_output=True,
        text=True,
        timeout=120,
    )


SUMMARY = re.compile(
    r"folder (?P<uri>\S+): (?P<documents>\d+) documents, \d+ chunks \((?P<new>\d+) new, "
    r"(?P<changed>\d+) changed, (?P<unchanged>\d+) unchanged, (?P<gone>\d+) gone, "
    r"(?P<failed>\d+) failed; (?P<made>\d+) vectors made, (?P<reused>\d+) reused\), "
    r"snapshot [0-9a-f]{12}, [\d.]+ s\n"
)


def test_a_folder_is_ingested_searched_exported_and_deleted(place: Path) -> None:
    # By a relative path, which means the working directory's.
    first = run(place, "ingest", "folder", "docs", "--title", "Harbour", "--header", f"X: {SECRET}")
    assert first.returncode == 0, first.stderr
    said = SUMMARY.fullmatch(first.stdout)
    assert said is not None, first.stdout
    shown = json.loads(run(place, "sources", "show", "Harbour").stdout)
    coverage = shown["coverage"]
    assert coverage["words"] == coverage["kept"] > 0
    assert (coverage["below"], coverage["pages"]) == (0, {})
    assert said["uri"] == str(place / "docs")
    assert (said["documents"], said["new"], said["reused"]) == ("3", "3", "0")

    write(place / "docs", {"guide/moor.md": "# Mooring\n\nBuoys are enough.\n"})
    second = SUMMARY.fullmatch(run(place, "ingest", "folder", "docs").stdout)
    assert second is not None
    assert (second["changed"], second["unchanged"], second["new"]) == ("1", "2", "0")
    assert int(second["reused"]) > int(second["made"]) > 0

    listed = run(place, "sources", "list")
    assert re.fullmatch(r"[0-9a-f]{12}  folder  \S+  3 documents, success\n", listed.stdout)
    found = run(place, "search", "install on linux", "--source", "Harbour", "--top-k", "1")
    assert found.stdout.startswith("1. Installing > On Linux (Harbour)\n   file:")
    assert found.stdout.count("\n\n") == 1

    lines = run(place, "export", "Harbour", "--format", "openwebui", "--into", "-")
    records = [json.loads(line) for line in lines.stdout.splitlines()]
    assert [each["metadata"]["path"] for each in records] == sorted(PAGES)
    wrote = run(place, "export", "Harbour", "--format", "openwebui-markdown", "--into", "out")
    assert wrote.returncode == 0, wrote.stderr
    names = {file.name for file in (place / "out").iterdir()}
    assert names == {"guide--install.md", "guide--moor.md", "index.md"}
    tree = run(place, "export", "Harbour", "--format", "markdown", "--into", "tree")
    assert tree.returncode == 0, tree.stderr
    assert "four lines" not in (place / "tree" / "guide" / "moor.md").read_text("utf-8")

    told = [first, listed, found, lines, wrote]
    assert not any(SECRET in each.stdout + each.stderr for each in told)
    deleted = run(place, "sources", "delete", "Harbour")
    assert (deleted.returncode, deleted.stdout) == (0, f"folder {place / 'docs'}: deleted\n")
    assert run(place, "sources", "list").stdout == ""


def test_full_takes_nothing_for_unchanged(place: Path) -> None:
    run(place, "ingest", "folder", "docs")
    again = run(place, "ingest", "folder", "docs", "--full")
    said = SUMMARY.fullmatch(again.stdout)
    assert said is not None, again.stderr
    assert (said["documents"], said["made"]) == ("3", "0")


def test_a_limit_says_what_it_left_out_and_which_option_raises_it(place: Path) -> None:
    cut = run(place, "ingest", "folder", "docs", "--option", "max_files=1")
    assert "Left out by limits: 2 files by max_files." in cut.stderr
    assert "--option max_files=N" in cut.stderr
    (job,) = run(place, "jobs", "list").stdout.splitlines()
    assert (
        "2 files by max_files" in json.loads(run(place, "jobs", "show", job[:23]).stdout)["notice"]
    )
    whole = run(place, "ingest", "folder", "docs", "--option", "max_files=3")
    assert "max_files" not in whole.stderr


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["ingest", "folder", "nowhere"], "source_not_found"),
        (["ingest", "site", "no-such-preset"], "source_not_found"),
        (["ingest", "folder", "docs", "--option", "x"], "option: 'x' is not KEY=VALUE"),
        (["ingest", "folder", "docs", "--option", "x=1"], "invalid_parameter"),
        (["ingest", "folder", "docs", "--header", SECRET], "header: must be written as"),
        (["search", "x", "--source", "nobody"], "source_not_found"),
        (["sources", "delete", "nobody"], "source_not_found"),
        (["export", "nobody", "--format", "openwebui"], "source_not_found"),
    ],
)
def test_what_cannot_be_done_is_said_with_status_1(
    place: Path, words: list[str], said: str
) -> None:
    done = run(place, *words)
    assert (done.returncode, done.stdout) == (1, "")
    assert said in done.stderr
    assert SECRET not in done.stderr
    assert "Traceback" not in done.stderr
    assert run(place, "sources", "list").stdout == ""


def test_names_that_come_near_are_told(place: Path) -> None:
    run(place, "ingest", "folder", "docs", "--title", "Harbour")
    missed = run(place, "sources", "delete", "Harbor").stderr.splitlines()
    assert missed[-1] == f"docstow: did you mean: {place / 'docs'}"
    assert "did you mean: django" in run(place, "ingest", "site", "djang").stderr


def test_a_first_sync_that_fails_says_what_became_of_the_source(place: Path) -> None:
    (place / "empty").mkdir()
    done = run(place, "ingest", "folder", "empty")
    assert (done.returncode, done.stdout) == (1, "")
    error, advice = done.stderr.splitlines()
    assert "gave no page that can be read" in error
    listed = run(place, "sources", "list").stdout
    assert advice.endswith(
        f"run this again, or forget it with: docstow sources delete {listed[:12]}"
    )
    assert run(place, "sources", "delete", listed[:12]).returncode == 0


def test_a_server_goes_on_with_what_a_process_that_died_had_queued(place: Path) -> None:
    flags = {"store": str(place / "store"), "cache": str(place / "other"), "lease_s": 1}
    with contextlib.closing(Runtime(load(flags, {}))) as dead:
        registration, _ = dead.registry.create("folder", str(place / "docs"))
        job, _ = dead.jobs.start(registration.id)  # written down, and never sent
        with served(place, DOCSTOW_LEASE_S="1"):
            assert dead.sync.wait(job.id, 60).state == "success"


@contextlib.contextmanager
def served(place: Path, **settings: str) -> Iterator[None]:
    """A server on standard input, until that ends."""
    words = [sys.executable, "-m", "docstow", "serve", "--stdio"]
    with subprocess.Popen(
        words,
        env=environment(place) | settings,
        cwd=place,
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
    ) as process:
        yield
        assert process.stdin is not None
        process.stdin.close()
        assert process.wait(60) == 0
