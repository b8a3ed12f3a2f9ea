"""Jobs: what a piece of work is at, has counted and has met, kept in the store for whoever asks.

This room knows the records and which changes of them are allowed. It does not know what a job
does, nor who runs it.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Any, NoReturn

from docstow.ended import Ended
from docstow.errors import DocstowError, InvalidParameter, JobNotFound, StoreError, restored
from docstow.lease import SKEW_S
from docstow.model import NO_ATTRIBUTES, Source
from docstow.objects import AlreadyThere, Conflict, ObjectStore

SCHEMA = 1
PREFIX = "jobs/"
ATTEMPTS = 100
PARALLEL = 8
#: So many jobs of a source are kept; a new one removes those that are older.
KEPT = 100
#: So many errors of a job are told one by one.
ERRORS_KEPT = 100

SYNC, STOW, RENEW = "sync", "crate", "renew"
INCREMENTAL, FULL = "incremental", "full"
MODES = (INCREMENTAL, FULL)
QUEUED, RUNNING, SUCCESS, FAILED = "queued", "running", "success", "failed"
ACTIVE = (QUEUED, RUNNING)
ABANDONED = "abandoned"

#: What a job counts; every job has all of them.
COUNTS = (
    "fetched",
    "unchanged",
    "new",
    "changed",
    "gone",
    "skipped",
    "failed",
    "documents",
    "chunks",
    "embedded",
    "reused",
)
_ID = re.compile(r"[0-9a-f]{16}-\d{6}")
_USER_OF_URL = re.compile(r"(?<=://)[^/?#\s]*@")


@dataclass(frozen=True, slots=True)
class JobError:
    """Something that went wrong.

    Attributes:
        kind: the code of the error.
        ref: what it is about.
        message: what happened.
        details: what else the error's body has.
    """

    kind: str
    ref: str
    message: str
    details: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a job is: ``done`` of ``total`` (None: not known yet), and what it is at."""

    done: int = 0
    total: int | None = None
    current: str = ""


@dataclass(frozen=True, slots=True)
class Job:
    """One piece of work: a source to be synced, a crate to be stowed, a snapshot to be made anew.

    Attributes:
        id: 16 digits of its source's id and its number, such as ``0123456789abcdef-000001``.
        source_id: the registration that it syncs; of other kinds what :func:`subject` says.
        mode: :data:`INCREMENTAL` or :data:`FULL`.
        state: :data:`QUEUED`, :data:`RUNNING`, :data:`SUCCESS` or :data:`FAILED`; the last two
            never change any more.
        created_at: when it was asked for, UTC.
        heartbeat: when its record was last written.
        kind: what it does: :data:`SYNC`, :data:`STOW` or :data:`RENEW`.
        source: what it stows or makes anew; None for a sync.
        started_at: when it began to run.
        finished_at: when it ended.
        counts: see :data:`COUNTS`.
        skipped: how many things were left out, by reason.
        errors: the first :data:`ERRORS_KEPT` of what went wrong; no secrets.
        error_count: how many there were in all.
        snapshot_id: what answers for the source after it.
        version: what the origin resolved to, such as a commit.
        options: digest of the options that it worked by.
        progress: how far it is.
    """

    id: str
    source_id: str
    mode: str
    state: str
    created_at: datetime
    heartbeat: datetime
    kind: str = SYNC
    source: Source | None = None
    started_at: datetime | None = None
    finished_at: datetime | None = None
    counts: Mapping[str, int] = field(default_factory=lambda: dict.fromkeys(COUNTS, 0))
    skipped: Mapping[str, int] = field(default_factory=dict)
    errors: tuple[JobError, ...] = ()
    error_count: int = 0
    snapshot_id: str = ""
    version: str = ""
    options: str = ""
    progress: Progress = Progress()

    @property
    def active(self) -> bool:
        """Whether it is queued or running."""
        return self.state in ACTIVE

    @property
    def abandoned(self) -> bool:
        """Whether it failed because whoever ran it died."""
        return self.state == FAILED and any(each.kind == ABANDONED for each in self.errors[:1])

    @property
    def lease(self) -> str:
        """The lease of whoever runs it."""
        return lease_key(self.source_id) if self.source is None else self.source.key

    def reason(self) -> DocstowError:
        """Why it failed, as the error that it met."""
        error = self.errors[0] if self.errors else JobError("", "", "The job failed.")
        return restored(error.kind, error.message, error.details)

    def body(self) -> dict[str, Any]:
        """JSON for the faces, and its stored form; without what only other kinds of jobs have."""
        body = {
            name: value.astimezone(UTC).isoformat() if isinstance(value, datetime) else value
            for name, value in asdict(self).items()
        }
        body["errors"] = [
            {name: value for name, value in asdict(each).items() if name != "details" or value}
            for each in self.errors
        ]
        if self.source is None:
            del body["source"]
        return body


def lease_key(source_id: str) -> str:
    """The lease of whoever syncs a source."""
    return f"sync/{source_id}"


def subject(kind: str, source: Source) -> str:
    """What takes the place of a registration's id where a job is about a crate."""
    prefix = "" if kind == STOW else f"{kind}/"
    return hashlib.sha256(f"{prefix}{source.key}".encode()).hexdigest()


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
                self._store.create(_key(job.id), _encode(job))
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
        return _decode(found.body, _key(job_id)) if found else _missing(job_id)

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
            current = _decode(stored.body, key)
            if not current.active:
                return current
            changed = replace(current, heartbeat=self._clock(), **fields)
            if not changed.active:
                changed = replace(changed, finished_at=changed.heartbeat)
            try:
                self._store.swap(key, _encode(changed), stored.etag)
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
        job = _decode(stored.body, key)
        if job.state != RUNNING or not self.silent(job) or self._held(job.lease):
            return job
        # Written down, so that one who was only asleep cannot end it in another way.
        message = "Whoever ran this job stopped before its end; start it again."
        return self.change(job, state=FAILED, **with_error(job, ABANDONED, "", message))


def with_error(
    job: Job, kind: str, ref: str, message: str, details: Mapping[str, Any] = NO_ATTRIBUTES
) -> dict[str, Any]:
    """The fields of a job with one more error, the one that counts most."""
    error = JobError(kind, without_secrets(ref), without_secrets(message), dict(details))
    return {
        "errors": (error, *job.errors)[:ERRORS_KEPT],
        "error_count": job.error_count + 1,
    }


def without_secrets(text: str, secrets: Iterable[str] = ()) -> str:
    """A text whose URLs say neither name nor password, and which says none of the secrets."""
    for secret in filter(None, secrets):
        text = text.replace(secret, "***")
    return _USER_OF_URL.sub("", text)


def _missing(job_id: str) -> NoReturn:
    raise JobNotFound(
        f"There is no job {job_id[:80]!r}; start_sync answers with the id of a job, and the newest"
        f" {KEPT} of each source are kept."
    )


def _key(job_id: str) -> str:
    return f"{PREFIX}{job_id}.json"


def _encode(job: Job) -> bytes:
    fields = {"schema": SCHEMA, **job.body()}
    return json.dumps(fields, indent=1, ensure_ascii=False, allow_nan=False).encode()


def _decode(body: bytes, key: str) -> Job:
    try:
        fields = json.loads(body)
        if fields.pop("schema") != SCHEMA:
            raise StoreError(f"{key} was written by another release; delete it.")
        for name in ("created_at", "heartbeat", "started_at", "finished_at"):
            fields[name] = fields[name] and datetime.fromisoformat(fields[name])
        fields["errors"] = tuple(JobError(**each) for each in fields["errors"])
        if (source := fields.get("source")) is not None:
            fields["source"] = Source(**source)
        fields["progress"] = Progress(**fields["progress"])
        return Job(**fields)
    except DocstowError:
        raise
    except (ValueError, KeyError, TypeError, AttributeError) as fault:
        raise StoreError(f"{key} in the store is damaged; delete it.") from fault
