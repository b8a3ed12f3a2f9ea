"""Ctrl-C, and how far an ingest is on a terminal and in a pipe: real processes, slow servers."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from docstow.cli.progress import Pace, State
from docstow.runtime import SAMPLE
from servers.docs_rs import DocsRs
from servers.held import Held
from servers.site import Site

pytestmark = [pytest.mark.slow, pytest.mark.skipif(os.name == "nt", reason="POSIX signals")]

#: How long a process is waited for, in seconds.
WAITED_S = 60


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    inherited = {k: v for k, v in os.environ.items() if not k.startswith("DOCSTOW_")}
    ours = {"STORE": f"{tmp_path}/store", "CACHE": f"{tmp_path}/cache", "UPSTREAM_INTERVAL_S": "0"}
    return inherited | {f"DOCSTOW_{name}": value for name, value in ours.items()}


@contextlib.contextmanager
def begun(environment: dict[str, str], *words: str) -> Iterator[subprocess.Popen[str]]:
    process = subprocess.Popen(
        [sys.executable, "-m", "docstow", *words],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    with process:
        try:
            yield process
        finally:
            process.kill()


def run(environment: dict[str, str], *words: str) -> tuple[int | None, str, str]:
    with begun(environment, *words) as process:
        out, err = process.communicate(timeout=WAITED_S)
        return process.returncode, out, err


def interrupt(process: subprocess.Popen[str]) -> tuple[str, str]:
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=WAITED_S)
    assert process.returncode == 130, err
    assert "Traceback" not in err
    assert "leaked" not in err
    return out, err


@pytest.fixture
def site() -> Iterator[tuple[Site, Held]]:
    held = Held()
    with Site() as site:
        site.page("/docs/", "Start", "The beginning.", "/docs/a", "/docs/b", "/docs/held")
        site.page("/docs/a", "A")
        site.page("/docs/b", "B")
        site.at("/docs/held", held)
        try:
            yield site, held
        finally:
            held.go.set()


def test_a_crawl_is_stopped_and_begun_anew(
    environment: dict[str, str], site: tuple[Site, Held]
) -> None:
    server, held = site
    words = ("ingest", "site", f"{server.url}/docs/", "--option", "delay_s=0")
    with begun(environment, *words) as process:
        assert held.reached.wait(WAITED_S)
        _, err = interrupt(process)
    assert "docstow: stopped; what was stowed before goes on answering; run this again" in err
    _, jobs, _ = run(environment, "jobs", "list")
    assert jobs.endswith("failed: It was stopped before its end; start it again.\n")
    held.go.set()
    status, out, err = run(environment, *words)
    assert (status, ": 4 documents," in out) == (0, True), err


@pytest.fixture
def crates(environment: dict[str, str], tmp_path: Path) -> Iterator[tuple[dict[str, str], Held]]:
    """Settings that lead to a docs.rs that does not answer for serde."""
    upstream, held = tmp_path / "docs-rs", Held()
    for name in ("tokio", "serde", "axum"):
        (upstream / name / "1.0.0").mkdir(parents=True)
        shutil.copyfile(SAMPLE, upstream / name / "1.0.0" / "rustdoc.json.zst")
    with DocsRs(upstream) as docs_rs:
        docs_rs.plan("/crate/serde/1.0.0/json", held)
        yield (
            environment
            | {"DOCSTOW_DOCS_RS_URL": docs_rs.url, "DOCSTOW_CRATES_INDEX_URL": docs_rs.index_url},
            held,
        )
        held.go.set()


def test_what_was_stowed_before_the_interrupt_stays(crates: tuple[dict[str, str], Held]) -> None:
    environment, held = crates
    with begun(environment, "ingest", "crate", "tokio", "serde", "axum") as process:
        assert held.reached.wait(WAITED_S)
        out, err = interrupt(process)
    assert out.startswith("crate/tokio/1.0.0: ")
    told = "stopped; 1 of 3 are done; go on with: docstow ingest crate serde axum\n"
    assert err.endswith(f"docstow: {told}")
    _, listed, _ = run(environment, "store", "list")
    assert re.findall(r"^crate/(\w+)/", listed, re.MULTILINE) == ["tokio"]


def test_a_terminal_has_one_live_line(crates: tuple[dict[str, str], Held]) -> None:
    import pty

    environment, held = crates
    main, side = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "docstow", "ingest", "crate", "tokio", "serde"],
        env=environment | {"TERM": "xterm", "COLUMNS": "100"},
        stdout=side,
        stderr=side,
    )
    os.close(side)
    seen = b""
    with process, os.fdopen(main, "rb", buffering=0) as screen, contextlib.suppress(OSError):
        while piece := screen.read(4096):  # a terminal that nobody holds is an OSError
            seen += piece
            if b"serde: 1 of 2 done" in seen and not held.go.is_set():
                held.go.set()
                process.send_signal(signal.SIGINT)
    assert process.returncode == 130
    assert b"http" not in seen
    above, _, rest = seen.partition(b"\x1b[2Kcrate/tokio/1.0.0: 83 documents")
    assert b"tokio: 0 of 2 done" in above
    # The line comes below what is printed, and is cleared at the end.
    assert rest.index(b"\r\n\r\x1b[2Kingest: ") < rest.index(b"serde: 1 of 2 done")
    told = b"\x1b[2Kdocstow: stopped; 1 of 2 are done; go on with: docstow ingest crate serde\r\n"
    assert seen.endswith(told)


def test_the_pace_tells_rate_and_time_left() -> None:
    now = [0.0]
    pace = Pace(lambda: now[0])
    assert pace.describe(State(0, 100, doing="fetching"), "pages") == "fetching: 0 of 100 pages"
    now[0] = 10
    told = pace.describe(State(20, 100, estimated=True, skipped=3, doing="fetching"), "pages")
    assert told == "fetching: 20 of about 100 pages, 2.0/s, 40 s left, 3 skipped"
    now[0] = 11
    told = pace.describe(State(1, 0, failed=1, doing="reading"), "pages")
    assert told == "reading: 1 pages, 1 failed"
    now[0] = 71
    assert pace.describe(State(2, 60, doing="reading"), "pages").endswith("1.0/min, 58:00 min left")
