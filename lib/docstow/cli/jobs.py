"""The commands ``docstow jobs``: list, show and redrive jobs; send crates to the queue."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from docstow.core.errors import DocstowError, InvalidParameter
from docstow.ingest.jobs import FAILED, Job

if TYPE_CHECKING:
    from docstow.core.model import Source
    from docstow.runtime import Runtime


def list_jobs(runtime: Runtime, options: argparse.Namespace) -> int:
    """Print one line for each job, the newest first."""
    for job in runtime.jobs.all():
        if options.state in (None, job.state):
            print(_line(job))
    return 0


def _line(job: Job) -> str:
    about = job.source.key if job.source else job.source_id[:12]
    reason = f": {job.errors[0].message}" if job.state == FAILED and job.errors else ""
    when = job.created_at.isoformat(timespec="seconds")
    return f"{job.id}  {when}  {job.kind}  {about}  {job.state}{reason}"


def show_job(runtime: Runtime, options: argparse.Namespace) -> int:
    """Print a job as JSON."""
    print(json.dumps(runtime.jobs.get(options.job).body(), indent=1, ensure_ascii=False))
    return 0


def redrive_jobs(runtime: Runtime, options: argparse.Namespace) -> int:
    """Enqueue again the jobs that are named, or everything that failed for good."""
    failures = 0
    begun: list[Job] = []
    for ref in options.jobs:
        job = runtime.jobs.get(ref)
        if job.state != FAILED:
            raise InvalidParameter("ID", f"{ref} is {job.state}; only what failed is done anew")
        begun.append(runtime.enqueuer.repeat(job))
    for redriven in [] if options.jobs else runtime.enqueuer.redrive():
        if redriven.job is None:
            failures += 1
            print(f"docstow: {redriven.text[:200]!r}: {redriven.reason}", file=sys.stderr)
        else:
            begun.append(redriven.job)
    for job in begun:
        # The workers of this process end with it, so that they are waited for.
        while not runtime.settings.queue_url and (job := runtime.sync.wait(job.id, 60)).active:
            print(_line(job), file=sys.stderr, flush=True)
        failures += job.state == FAILED
        print(_line(job), flush=True)
    return 1 if failures else 0


def send_crates(runtime: Runtime, words: Sequence[str]) -> int:
    """Send crates to the queue, whose workers ingest them."""
    failures = 0

    def resolve(word: str) -> tuple[Source, bool]:
        name, _, requirement = word.partition("@")
        revision, snapshot = runtime.resolver.resolve(name, requirement)
        return revision.source, snapshot is not None

    for word, outcome in runtime.enqueuer.crates(words, resolve):
        if isinstance(outcome, DocstowError):
            failures += 1
            print(f"docstow: {word}: {outcome.code}: {outcome.message}", file=sys.stderr)
        else:
            print(_line(outcome) if outcome else f"{word}: is stowed already", flush=True)
    return 1 if failures else 0
