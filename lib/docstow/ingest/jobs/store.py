"""The records of jobs in the store, and which changes of them are allowed.

A job that has ended never changes any more.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any, NoReturn

from docstow.core.concurrency import in_parallel
from docstow.core.errors import InvalidParameter, JobNotFound
from docstow.core.model import Source
from docstow.ingest.jobs.finished import FinishedJobs
from docstow.ingest.jobs.model import (
    ABANDONED,
    FAILED,
    INCREMENTAL,
    MODES,
    QUEUED,
    RUNNING,
    SYNC,
    Job,
    decode,
    encode,
    with_error,
)
from docstow.store.leases import SKEW_S
from docstow.store.objects import AlreadyThere, ObjectStore, ReadOnlyStore
from docstow.store.update import Codec, attempts, update

PREFIX = "jobs/"
#: So many jobs of a source are kept; a new one removes those that are older.
KEPT = 100
#: How often a job goes on after the death of whoever ran it, before it has failed: it may be what
#: they die of.
MOST_RESUMED = 3
_ID = re.compile(r"[0-9a-f]{16}-\d{6}")
_JOB: Codec[Job] = Codec(decode, encode)


class Jobs:
    """The jobs of a store, ``jobs/<16 of the source's id>-<number>.json``.

    Args:
        store: where they are.
        clock: the time, with its zone.
        lease_s: for so long the lease of a job that died is held at most.
        held: whether someone holds a lease.
        resumes: queue a job again whose runner died, for a queue that loses its messages with the
            process; otherwise it has failed, as the message of a queue that lasts comes again.
    """

    def __init__(
        self,
        store: ObjectStore,
        clock: Callable[[], datetime],
        *,
        lease_s: float = 15.0,
        held: Callable[[str], bool] = lambda _: False,
        resumes: bool = False,
    ) -> None:
        self._store = store
        self._clock = clock
        self._longest_silence = timedelta(seconds=lease_s + SKEW_S)
        self._held = held
        self._resumes = resumes
        self._finished = FinishedJobs(store)

    def start(
        self,
        source_id: str,
        mode: str = INCREMENTAL,
        *,
        kind: str = SYNC,
        source: Source | None = None,
        join_running: bool = True,
        rest_s: float = 0.0,
    ) -> tuple[Job, bool]:
        """Return the active job of a source, or a new one that is queued; and whether it is new.

        Args:
            source_id: the registration to sync; for other kinds what :func:`subject` says.
            mode: :data:`INCREMENTAL` or :data:`FULL`; a job that is joined keeps its own.
            kind: what it is to do.
            source: what it is to ingest or to make anew.
            join_running: whether a job that runs already will do. If not, the next is queued
                behind it: it sees all that was there when it was asked for.
            rest_s: a job that failed less than so many seconds ago is given instead of a new one.

        Raises:
            InvalidParameter: there is no such mode.
            StoreError: others were faster every time.
        """
        if mode not in MODES:
            raise InvalidParameter("mode", f"must be {' or '.join(MODES)}, not {mode!r}")
        for _ in attempts(f"The newest job of {source_id[:16]}"):
            keys = self._keys(source_id)
            last = self._read(keys[-1]) if keys else None
            if last is not None and (
                last.state == QUEUED
                or (last.state == RUNNING and join_running)
                or self._rests(last, rest_s)
            ):
                return last, False
            number = int(keys[-1][-11:-5]) + 1 if keys else 1
            now = self._clock()
            identity = f"{source_id[:16]}-{number:06}"
            job = Job(identity, source_id, mode, QUEUED, now, now, kind, source)
            try:
                self._store.create(_key(job.id), encode(job))
            except AlreadyThere:
                continue
            for old in keys[: max(len(keys) + 1 - KEPT, 0)]:
                self._store.delete(old)
            return job, True
        raise AssertionError("the last attempt returns or raises")

    def get(self, job_id: str) -> Job:
        """Return a job as it is now.

        One that runs no more, because whoever ran it died, is queued again or has failed with the
        error :data:`ABANDONED`.

        Raises:
            JobNotFound: there is none of that id, or it is too old.
        """
        job = self._read(_key(job_id)) if _ID.fullmatch(job_id) else None
        return job or _raise_missing(job_id)

    def stored(self, job_id: str) -> Job:
        """Return a job as it was last written, whether or not whoever ran it has died since.

        Raises:
            JobNotFound: there is none of that id, or it is too old.
        """
        found = self._store.get(_key(job_id)) if _ID.fullmatch(job_id) else None
        return decode(found.body, _key(job_id)) if found else _raise_missing(job_id)

    def repeat(self, job: Job) -> tuple[Job, bool]:
        """Start another job that does the same as one that has ended; return whether it is new."""
        return self.start(job.source_id, job.mode, kind=job.kind, source=job.source)

    def change(self, job: Job, **fields: Any) -> Job:
        """Write some fields of a job anew, and its heartbeat; return the job as it then is.

        A job that has ended is left as it is: look at the state of what comes back.

        Raises:
            JobNotFound: it was removed.
        """

        def renew(current: Job) -> Job:
            if not current.active:
                return current
            changed = replace(current, heartbeat=self._clock(), **fields)
            return changed if changed.active else replace(changed, finished_at=changed.heartbeat)

        return self._update(job, renew)

    def latest(self, source_id: str) -> Job | None:
        """Return the newest job of a source, or None."""
        keys = self._keys(source_id)
        return self._read(keys[-1]) if keys else None

    def of(self, source_id: str) -> Iterator[Job]:
        """Yield the jobs of a source that are kept, the newest first, each read when it is due."""
        found = map(self._read, reversed(self._keys(source_id)))
        return (job for job in found if job is not None)

    def all(self) -> list[Job]:
        """Return every job that is kept, the newest first."""
        return _sort(self._read_all([entry.key for entry in self._store.list(PREFIX)]))

    def active(self) -> list[Job]:
        """Return every job that has not ended, the newest first.

        For callers that look often: which jobs have ended is written down for the next process.
        """
        return _sort(self._look(save=True)[1])

    def states(self) -> Counter[str]:
        """Return how many of the jobs that are kept are in each state."""
        finished, active = self._look()
        return Counter([*finished.values(), *(job.state for job in active)])

    def _look(self, *, save: bool = False) -> tuple[dict[str, str], list[Job]]:
        """Return the states of those that have ended, by key, and the others."""
        entries = list(self._store.list(PREFIX))
        finished = self._finished.find(entries)
        jobs = self._read_all([entry.key for entry in entries if entry.key not in finished])
        fresh = {_key(job.id): job.state for job in jobs if not job.active}
        if fresh:
            self._finished.note(entries, finished | fresh)
            if save:
                self._finished.save()
        return finished | fresh, [job for job in jobs if job.active]

    def _rests(self, job: Job, rest_s: float) -> bool:
        if job.state != FAILED or job.abandoned:
            return False
        return self._clock() - job.heartbeat < timedelta(seconds=rest_s)

    def _keys(self, source_id: str) -> list[str]:
        return [entry.key for entry in self._store.list(f"{PREFIX}{source_id[:16]}-")]

    def _read_all(self, keys: list[str]) -> list[Job]:
        return [job for job in in_parallel(self._read, keys) if job is not None]

    def _read(self, key: str) -> Job | None:
        stored = self._store.get(key)
        if stored is None:
            return None
        job = decode(stored.body, key)
        if job.state != RUNNING or not self._silent(job) or self._held(job.lease):
            return job

        def take_back(current: Job) -> Job:
            lives = current.state != RUNNING or current.heartbeat != job.heartbeat
            return current if lives else self._taken_back(current)

        try:
            # Written down, so that one who was only asleep cannot end it in another way.
            return self._update(job, take_back)
        except ReadOnlyStore:
            return self._taken_back(job)

    def _silent(self, job: Job) -> bool:
        """Return whether nothing was written of a job for longer than its runner's lease lasts."""
        return self._clock() - job.heartbeat > self._longest_silence

    def _taken_back(self, job: Job) -> Job:
        """Return a running job as it is after the death of its runner."""
        if self._resumes and job.resumed < MOST_RESUMED:
            # Its heartbeat stays, so that it counts as one whose message is lost.
            return replace(job, state=QUEUED, resumed=job.resumed + 1)
        now = self._clock()
        message = "Whoever ran this job stopped before its end; start it again."
        error = with_error(job, ABANDONED, "", message)
        return replace(job, state=FAILED, heartbeat=now, finished_at=now, **error)

    def _update(self, job: Job, change: Callable[[Job], Job]) -> Job:
        def existing(current: Job | None) -> Job:
            if current is None:
                raise JobNotFound(f"The job {job.id} was removed.")
            return change(current)

        return update(self._store, _key(job.id), _JOB, existing).after or job


def _sort(jobs: list[Job]) -> list[Job]:
    return sorted(jobs, key=lambda job: (job.created_at, job.id), reverse=True)


def _raise_missing(job_id: str) -> NoReturn:
    raise JobNotFound(
        f"There is no job {job_id[:80]!r}; start_sync answers with the id of a job, and the newest"
        f" {KEPT} of each source are kept."
    )


def _key(job_id: str) -> str:
    return f"{PREFIX}{job_id}.json"
