"""Jobs: what a piece of work is at, has counted and has met, kept in the store for whoever asks.

This room knows where the records are and which changes of them are allowed. It does not know what
a job does, nor who runs it.
"""

from __future__ import annotations

import gzip
import json
import re
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any, NoReturn

from docstow.core.errors import InvalidParameter, JobNotFound, StoreError
from docstow.core.model import Source
from docstow.ingest.jobs.model import (
    ABANDONED,
    ACTIVE,
    COUNTS,
    ERRORS_KEPT,
    FAILED,
    FULL,
    INCREMENTAL,
    MODES,
    QUEUED,
    RENEW,
    RUNNING,
    STOW,
    SUCCESS,
    SYNC,
    Job,
    JobError,
    Progress,
    decode,
    encode,
    lease_key,
    subject,
    with_error,
    without_secrets,
)
from docstow.store.leases import SKEW_S
from docstow.store.objects import AlreadyThere, Conflict, Entry, ObjectStore

__all__ = [
    "ABANDONED",
    "ACTIVE",
    "COUNTS",
    "ERRORS_KEPT",
    "FAILED",
    "FULL",
    "INCREMENTAL",
    "KEPT",
    "MODES",
    "QUEUED",
    "RENEW",
    "RUNNING",
    "STOW",
    "SUCCESS",
    "SYNC",
    "Job",
    "JobError",
    "Jobs",
    "Progress",
    "lease_key",
    "subject",
    "with_error",
    "without_secrets",
]


# Which jobs have ended


KEY = "upkeep/ended.json.gz"


SCHEMA = 1


class Ended:
    """The ends of jobs, each by the key and the time stamp of its record.

    Args:
        store: where they are kept.
    """

    def __init__(self, store: ObjectStore) -> None:
        self._store = store
        self._etag = ""
        self._states: dict[str, str] | None = None

    def among(self, entries: Iterable[Entry]) -> dict[str, str]:
        """Key to state of those records that are known to be of jobs that have ended."""
        states = self._known()
        known = {entry.key: states.get(_mark(entry), "") for entry in entries}
        return {key: state for key, state in known.items() if state}

    def note(self, entries: Iterable[Entry], states: Mapping[str, str]) -> None:
        """Know from now on how the jobs among these records have ended, and no others."""
        self._states = {_mark(entry): states[entry.key] for entry in entries if entry.key in states}

    def keep(self) -> None:
        """Write down what is known, for the next process; a store that fails costs only that."""
        fields = {"schema": SCHEMA, "ended": self._known()}
        body = gzip.compress(json.dumps(fields).encode(), mtime=0)
        try:
            if self._etag:
                self._etag = self._store.swap(KEY, body, self._etag)
            else:
                self._etag = self._store.create(KEY, body)
        except (AlreadyThere, Conflict, StoreError):
            self._states = None  # another has written what it knows, which will do

    def _known(self) -> dict[str, str]:
        if self._states is None:
            stored = self._store.get(KEY)
            self._states = _decode(stored.body) if stored else {}
            self._etag = stored.etag if stored else ""
        return self._states


def _mark(entry: Entry) -> str:
    # A record of that key that was written anew is another one.
    return f"{entry.key.rpartition('/')[2]} {entry.modified.timestamp():.0f}"


def _decode(body: bytes) -> dict[str, str]:
    try:
        fields = json.loads(gzip.decompress(body))
        return dict(fields["ended"]) if fields["schema"] == SCHEMA else {}
    except (OSError, EOFError, zlib.error, ValueError, KeyError, TypeError):
        return {}


PREFIX = "jobs/"


ATTEMPTS = 100


PARALLEL = 8


#: So many jobs of a source are kept; a new one removes those that are older.
KEPT = 100


_ID = re.compile(r"[0-9a-f]{16}-\d{6}")


class Jobs:
    """The jobs of a store, ``jobs/<16 of the source's id>-<number>.json``.

    Args:
        store: where they are.
        clock: the time, with its zone.
        lease_s: for so long the lease of a job that died is held at most.
        held: whether someone holds a lease.
    """

    def __init__(
        self,
        store: ObjectStore,
        clock: Callable[[], datetime],
        *,
        lease_s: float = 15.0,
        held: Callable[[str], bool] = lambda _: False,
    ) -> None:
        self._store = store
        self._clock = clock
        self._patience = timedelta(seconds=lease_s + SKEW_S)
        self._held = held
        self._ended = Ended(store)

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
        """The active job of a source, or a new one that is queued; and whether it is new.

        Args:
            source_id: the registration to sync; for other kinds what :func:`subject` says.
            mode: :data:`INCREMENTAL` or :data:`FULL`; a job that is joined keeps its own.
            kind: what it is to do.
            source: what it is to stow or to make anew.
            join_running: whether a job that runs already will do. If not, the next is queued
                behind it: it sees all that was there when it was asked for.
            rest_s: a job that failed less than so many seconds ago is given instead of a new one.

        Raises:
            InvalidParameter: there is no such mode.
            StoreError: others were faster every time.
        """
        if mode not in MODES:
            raise InvalidParameter("mode", f"must be {' or '.join(MODES)}, not {mode!r}")
        for _ in range(ATTEMPTS):
            keys = self._keys(source_id)
            last = self._read(keys[-1]) if keys else None
            if last is not None and (
                last.state == QUEUED or (last.state == RUNNING and join_running)
            ):
                return last, False
            if last is not None and self._rests(last, rest_s):
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
        raise StoreError("Others started jobs of this source every time; try again later.")

    def get(self, job_id: str) -> Job:
        """A job as it is now.

        One that runs no more, because whoever ran it died, has failed with the error
        :data:`ABANDONED`.

        Raises:
            JobNotFound: there is none of that id, or it is too old.
        """
        job = self._read(_key(job_id)) if _ID.fullmatch(job_id) else None
        return job or _missing(job_id)

    def stored(self, job_id: str) -> Job:
        """A job as it was last written, whether or not whoever ran it has died since.

        Raises:
            JobNotFound: there is none of that id, or it is too old.
        """
        found = self._store.get(_key(job_id)) if _ID.fullmatch(job_id) else None
        return decode(found.body, _key(job_id)) if found else _missing(job_id)

    def again(self, job: Job) -> tuple[Job, bool]:
        """Another job that does the same as one that has ended; and whether it is new."""
        return self.start(job.source_id, job.mode, kind=job.kind, source=job.source)

    def silent(self, job: Job) -> bool:
        """Whether nothing was written of a job for longer than the lease of its runner lasts."""
        return self._clock() - job.heartbeat > self._patience

    def change(self, job: Job, **fields: Any) -> Job:
        """Write some fields of a job anew, and its heartbeat; the job as it then is.

        A job that has ended is left as it is: look at the state of what comes back.

        Raises:
            JobNotFound: it was removed.
        """
        key = _key(job.id)
        for _ in range(ATTEMPTS):
            stored = self._store.get(key)
            if stored is None:
                raise JobNotFound(f"The job {job.id} was removed.")
            current = decode(stored.body, key)
            if not current.active:
                return current
            changed = replace(current, heartbeat=self._clock(), **fields)
            if not changed.active:
                changed = replace(changed, finished_at=changed.heartbeat)
            try:
                self._store.swap(key, encode(changed), stored.etag)
            except Conflict:
                continue
            return changed
        raise StoreError(f"Others changed the job {job.id} every time; try again later.")

    def latest(self, source_id: str) -> Job | None:
        """The newest job of a source, or None."""
        keys = self._keys(source_id)
        return self._read(keys[-1]) if keys else None

    def of(self, source_id: str) -> Iterator[Job]:
        """The jobs of a source that are kept, the newest first, each read when it is wanted."""
        found = map(self._read, reversed(self._keys(source_id)))
        return (job for job in found if job is not None)

    def all(self) -> list[Job]:
        """Every job that is kept, the newest first."""
        keys = [entry.key for entry in self._store.list(PREFIX)]
        with ThreadPoolExecutor(PARALLEL) as pool:
            jobs = [job for job in pool.map(self._read, keys) if job is not None]
        return sorted(jobs, key=lambda job: (job.created_at, job.id), reverse=True)

    def active(self) -> list[Job]:
        """Every job that has not ended, the newest first; what has ended is read once, by anybody.

        That is for who looks often: it is written down for the next process what has ended.
        """
        jobs = self._look(keep=True)[1]
        return sorted(jobs, key=lambda job: (job.created_at, job.id), reverse=True)

    def states(self) -> Counter[str]:
        """How many of the jobs that are kept are in each state; what has ended is read once."""
        ended, active = self._look()
        return Counter([*ended.values(), *(job.state for job in active)])

    def _look(self, *, keep: bool = False) -> tuple[dict[str, str], list[Job]]:
        """The states of those that have ended, by key, and the others."""
        entries = list(self._store.list(PREFIX))
        ended = self._ended.among(entries)
        unread = [entry.key for entry in entries if entry.key not in ended]
        with ThreadPoolExecutor(PARALLEL) as pool:
            jobs = [job for job in pool.map(self._read, unread) if job is not None]
        fresh = {_key(job.id): job.state for job in jobs if not job.active}
        if fresh:
            self._ended.note(entries, ended | fresh)
            if keep:
                self._ended.keep()
        return ended | fresh, [job for job in jobs if job.active]

    def _rests(self, job: Job, rest_s: float) -> bool:
        if job.state != FAILED or job.abandoned:
            return False
        return self._clock() - job.heartbeat < timedelta(seconds=rest_s)

    def _keys(self, source_id: str) -> list[str]:
        return [entry.key for entry in self._store.list(f"{PREFIX}{source_id[:16]}-")]

    def _read(self, key: str) -> Job | None:
        stored = self._store.get(key)
        if stored is None:
            return None
        job = decode(stored.body, key)
        if job.state != RUNNING or not self.silent(job) or self._held(job.lease):
            return job
        # Written down, so that one who was only asleep cannot end it in another way.
        message = "Whoever ran this job stopped before its end; start it again."
        return self.change(job, state=FAILED, **with_error(job, ABANDONED, "", message))


def _missing(job_id: str) -> NoReturn:
    raise JobNotFound(
        f"There is no job {job_id[:80]!r}; start_sync answers with the id of a job, and the newest"
        f" {KEPT} of each source are kept."
    )


def _key(job_id: str) -> str:
    return f"{PREFIX}{job_id}.json"
