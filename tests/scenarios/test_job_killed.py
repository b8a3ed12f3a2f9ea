"""A process that is killed while it is at a job: the next one on its store goes on with it."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from docstow.core.model import Source
from docstow.core.settings import load
from docstow.ingest.jobs import FAILED, QUEUED, RUNNING, STOW, SUCCESS, Job, subject
from docstow.runtime import SAMPLE, Runtime
from servers import loopback
from servers.docs_rs import DocsRs

SOURCE = Source("crate", "stowage", "0.1.0")
JSON = "/crate/stowage/0.1.0/json"

#: Starts to ingest the crate, says which job that is once it runs, and never ends by itself.
PROGRAM = """
import json, sys, time
from docstow.core.model import Source
from docstow.core.settings import load
from docstow.ingest.jobs import RUNNING, STOW, subject
from docstow.runtime import Runtime

runtime = Runtime(load(json.loads(sys.argv[1]), {}))
source = Source("crate", "stowage", "0.1.0")
job, _ = runtime.enqueuer.start(subject(STOW, source), kind=STOW, source=source)
while runtime.jobs.stored(job.id).state != RUNNING:
    time.sleep(0.01)
print(job.id, flush=True)
time.sleep(600)
"""


@pytest.fixture
def upstream(tmp_path: Path) -> Iterator[DocsRs]:
    place = tmp_path / "crates" / "stowage" / "0.1.0"
    place.mkdir(parents=True)
    (place / "rustdoc.json.zst").write_bytes(SAMPLE.read_bytes())
    with DocsRs(tmp_path / "crates") as server:
        yield server


def killed_at_work(flags: dict[str, str]) -> str:
    """Kill a process when its job runs; the job's id."""
    import json

    with subprocess.Popen(
        [sys.executable, "-c", PROGRAM, json.dumps(flags)],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    ) as child:
        assert child.stdout is not None
        job_id = child.stdout.readline().strip()
        child.send_signal(getattr(signal, "SIGKILL", signal.SIGTERM))
    assert job_id
    return job_id


@pytest.mark.parametrize("looked_at", [False, True])
def test_a_running_job_of_a_killed_process_goes_on_in_the_next(
    tmp_path: Path, upstream: DocsRs, *, looked_at: bool
) -> None:
    flags = {
        "store": str(tmp_path / "store"),
        "cache": str(tmp_path / "cache"),
        "docs_rs_url": upstream.url,
        "crates_index_url": upstream.index_url,
        "upstream_interval_s": "0",
        "lease_s": "1",
    }
    hanging = threading.Event()
    upstream.always(JSON, loopback.drip([b"x"] * 600, lambda: hanging.wait(600)))
    job_id = killed_at_work(flags)
    hanging.set()
    upstream.always(JSON, None)
    with contextlib.closing(Runtime(load(flags, {}))) as runtime:
        assert runtime.jobs.stored(job_id).state == RUNNING
        runtime.requeue()
        seen: list[Job] = []
        until = time.monotonic() + 60
        while time.monotonic() < until and (not seen or seen[-1].active):
            time.sleep(0.05)
            # A client that asks how the job goes must not end it.
            seen.append((runtime.jobs.get if looked_at else runtime.jobs.stored)(job_id))
        assert seen[-1].state == SUCCESS, seen[-1]
        assert FAILED not in {each.state for each in seen}
        assert {RUNNING, QUEUED} & {each.state for each in seen}
        assert seen[-1].resumed == 1
        assert [job.id for job in runtime.jobs.all()] == [job_id]
        assert runtime.snapshots.answering(SOURCE, fresh=True) is not None
        again, new = runtime.jobs.start(subject(STOW, SOURCE), kind=STOW, source=SOURCE)
        assert (new, again.resumed) == (True, 0)
