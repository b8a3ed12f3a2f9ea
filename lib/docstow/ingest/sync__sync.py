"""Sync: a registered source is visited, and what it has now becomes its snapshot.

This room knows the order of the steps, and what a job says of them. What a visit brings in is
known in ``visit`` and ``harvest``.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from docstow.core.errors import DocstowError
from docstow.core.model import CRATE, Registration, Snapshot
from docstow.ingest.jobs.store import FULL, INCREMENTAL, SUCCESS, Job, Jobs, without_secrets
from docstow.store.objects import Conflict

if TYPE_CHECKING:
    from docstow.embedding._embed import Embedder
    from docstow.ingest.jobs.dispatch import Dispatch
    from docstow.sources.protocol import ProseOrigin
    from docstow.sources.registry import Registry
    from docstow.store.snapshots import Snapshots

log = logging.getLogger(__name__)

#: The longest pause between two looks at a job, in seconds.
POLL_S = 0.5


def _now() -> datetime:
    return datetime.now(UTC)


class Sync:
    """Starts, runs and awaits the jobs that sync registered sources.

    Args:
        registry: the registered sources.
        jobs: where jobs are written down.
        snapshots: published snapshots.
        origins: opens the origin of a source, anew for each visit.
        embedder: the model that texts are embedded with, when it is first needed.
        dispatch: sends jobs to a worker.
        crates: stows a crate by name and version, anew if the third says so.
        clock: the time, with its zone.
        pause: sleeps.
    """

    def __init__(
        self,
        registry: Registry,
        jobs: Jobs,
        snapshots: Snapshots,
        origins: Callable[[Registration], AbstractContextManager[ProseOrigin]],
        embedder: Callable[[], Embedder],
        dispatch: Dispatch,
        *,
        crates: Callable[[str, str, bool], Snapshot],
        clock: Callable[[], datetime] = _now,
        pause: Callable[[float], object] = time.sleep,
    ) -> None:
        self._registry = registry
        self._jobs = jobs
        self._snapshots = snapshots
        self._origins = origins
        self._embedder = embedder
        self._dispatch = dispatch
        self._crates = crates
        self._clock = clock
        self._pause = pause

    def start(self, ref: str, mode: str = INCREMENTAL, *, join_running: bool = True) -> Job:
        """Have a source synced; the job that does it, which may be under way already.

        Args:
            ref: what the registry finds the source by.
            mode: ``incremental``, or ``full``, in which nothing is taken for unchanged.
            join_running: see :meth:`Jobs.start`.

        Raises:
            SourceNotFound: no source is called that.
            InvalidParameter: there is no such mode.
        """
        registration = self._registry.get(ref)
        job, _ = self._dispatch.start(registration.id, mode, join_running=join_running)
        return job

    def wait(self, job_id: str, seconds: float) -> Job:
        """The job when it has ended, or as it is after so many seconds.

        Raises:
            JobNotFound: there is none of that id.
        """
        until, pause = time.monotonic() + seconds, 0.01
        while (job := self._jobs.get(job_id)).active:
            left = until - time.monotonic()
            if left <= 0:
                break
            self._pause(min(pause, left))
            pause = min(pause * 1.5, POLL_S)
        return job

    def finished(self, job: Job) -> Mapping[str, Any] | None:
        """Nobody knows what a source has now without a visit."""
        del job
        return None

    def perform(self, job: Job) -> Mapping[str, Any]:
        """Do a job in this thread; its worker holds the lease. The fields of the job at its end.

        Whatever goes wrong, what answered before goes on answering.

        Raises:
            DocstowError: as the origin or the store says; it tells no secrets.
            Conflict: others changed the source meanwhile, twice.
        """
        secrets: tuple[str, ...] = ()
        try:
            registration = self._registry.get(job.source_id)
            secrets = tuple(registration.headers.values())
            if registration.kind == CRATE:
                return self._crate(registration, job)
            return self._visited(registration, job)
        except DocstowError as error:
            error.message = without_secrets(error.message, secrets)
            error.args = (error.message,)
            error.details, error.suggestions = {}, ()
            raise

    def _visited(self, registration: Registration, job: Job) -> dict[str, Any]:
        """Visit the source, and once more if others published or deleted it meanwhile."""
        # Only now: a visit needs numpy, and most processes never make one.
        from docstow.ingest.sync import Visit

        def visit(registration: Registration) -> dict[str, Any]:
            with self._origins(registration) as origin:
                return Visit(
                    registration,
                    job,
                    origin,
                    self._jobs,
                    self._snapshots,
                    self._embedder(),
                    clock=self._clock,
                ).make()

        try:
            return visit(registration)
        except Conflict:
            log.info("%s was changed by others; it is visited again", registration.source.key)
            return visit(self._registry.get(registration.id))

    def _crate(self, registration: Registration, job: Job) -> dict[str, Any]:
        name, _, version = registration.uri.partition("@")
        snapshot = self._crates(name, version, job.mode == FULL)
        counts = {"documents": snapshot.counts.get("documents", 0)}
        return {
            "state": SUCCESS,
            "counts": {**job.counts, **counts},
            "snapshot_id": snapshot.id,
            "version": snapshot.revision.version,
        }
