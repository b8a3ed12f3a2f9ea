"""Jobs: the record of each piece of work, and which changes of it are allowed.

A job that has ended never changes any more.
"""

from __future__ import annotations

import contextlib
import gzip
import hashlib
import json
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, field, replace
from datetime import UTC, datetime, timedelta
from itertools import islice
from typing import Any, NoReturn

from docstow.core import auth
from docstow.core.errors import (
    DocstowError,
    InvalidParameter,
    JobNotFound,
    StoreError,
    from_record,
    internal_error,
)
from docstow.core.model import NO_ATTRIBUTES, Snapshot, Source
from docstow.core.patterns import lazy_pattern
from docstow.core.records import dataclass
from docstow.core.threads import in_parallel
from docstow.core.visibility import named
from docstow.store.leases import SKEW_S
from docstow.store.objects import AlreadyThere, Entry, ObjectStore, ReadOnlyStore
from docstow.store.update import Codec, attempts, update
from docstow.text.invisible import INVISIBLE

SCHEMA = 1
#: Of so many jobs the newest of several sources are found in one list of all; so many that have
#: ended are kept in memory.
_MOST_LISTED, _MOST_ENDED = 2000, 1000
#: So many errors of a job are kept one by one.
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
    "invisible",
)

PREFIX = "jobs/"
#: What jobs have logged; not below their records, as releases before this take all there for one.
LOGS_PREFIX = "logs/"
#: So many jobs of a source are kept; a new one removes those that are older.
KEPT = 100
#: How often a job goes on after the death of whoever ran it, before it has failed: it may be what
#: they die of.
MOST_RESUMED = 3
#: The index of the jobs that have ended.
FINISHED = "upkeep/ended.json.gz"

_ID = lazy_pattern(r"[0-9a-f]{16}-\d{6}")
_USER_OF_URL = lazy_pattern(r"(?<=://)[^/?#\s]*@")


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


#: A page that keeps less than this share of its words is named, the first of them.
COMPLETE, PAGES_KEPT = 0.9, 100


@dataclass(frozen=True, slots=True)
class Coverage:
    """How much of its pages a source has.

    Attributes:
        words: number of words that the pages show, without navigation and what all of them share.
        kept: number of those that the documents have.
        below: number of pages that keep less than :data:`COMPLETE` of their words.
        pages: the share of each of these by path, the worst first, at most :data:`PAGES_KEPT`.
    """

    words: int
    kept: int
    below: int = 0
    pages: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a job is: ``done`` of ``total`` (None: not known yet), and what it is at.

    While files are fetched the total is that of those which are known of so far. Afterwards it is
    at :data:`docstow.core.calls.EMBEDDING`, where passages and examples are counted.
    """

    done: int = 0
    total: int | None = None
    current: str = ""


@dataclass(frozen=True, slots=True)
class Job:
    """One piece of work: a source to sync, a crate to ingest, or a snapshot to make anew.

    Attributes:
        id: 16 digits of its source's id and its number, such as ``0123456789abcdef-000001``.
        source_id: the registration that it syncs; of other kinds what :func:`subject` says.
        mode: :data:`INCREMENTAL` or :data:`FULL`.
        state: :data:`QUEUED`, :data:`RUNNING`, :data:`SUCCESS` or :data:`FAILED`; the last two
            never change any more.
        created_at: when it was asked for, UTC.
        heartbeat: when its record was last written.
        kind: what it does: :data:`SYNC`, :data:`STOW` or :data:`RENEW`.
        source: what it ingests or makes anew; None for a sync.
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
        resumed: how often it was queued again because whoever ran it died.
        coverage: how much of its pages the source has; None for jobs without pages.
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
    resumed: int = 0
    coverage: Coverage | None = None

    @property
    def active(self) -> bool:
        """Return whether it is queued or running."""
        return self.state in ACTIVE

    @property
    def abandoned(self) -> bool:
        """Return whether it failed because whoever ran it died."""
        return self.state == FAILED and any(each.kind == ABANDONED for each in self.errors[:1])

    @property
    def lease(self) -> str:
        """Return the key of the lease that whoever runs it holds."""
        return lease_key(self.source_id) if self.source is None else self.source.key

    def reason(self) -> DocstowError:
        """Return why it failed, as the error that it met."""
        error = self.errors[0] if self.errors else JobError("", "", "The job failed.")
        return from_record(error.kind, error.message, error.details)

    def outward(self) -> Job:
        """Return the job as callers may see it, without what only the operator may know.

        An error of the store names places, so that callers get an internal error with the job's id.
        """
        return replace(self, errors=tuple(_hide_place(each, self.id) for each in self.errors))

    def body(self) -> dict[str, Any]:
        """Return its fields as JSON values, without those that this kind of job does not have."""
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
        # Older releases can read what they can do.
        if not self.resumed:
            del body["resumed"]
        if self.coverage is None:
            del body["coverage"]
        return body


def lease_key(source_id: str) -> str:
    """Return the key of the lease that whoever syncs a source holds."""
    return f"sync/{source_id}"


def subject(kind: str, source: Source) -> str:
    """Return what takes the place of a registration's id where a job is about a crate."""
    prefix = "" if kind == STOW else f"{kind}/"
    return hashlib.sha256(f"{prefix}{source.key}".encode()).hexdigest()


def with_error(
    job: Job, kind: str, ref: str, message: str, details: Mapping[str, Any] = NO_ATTRIBUTES
) -> dict[str, Any]:
    """Return the fields of a job with one more error, put first as the one that counts most."""
    error = JobError(kind, without_secrets(ref), without_secrets(message), dict(details))
    return {
        "errors": (error, *job.errors)[:ERRORS_KEPT],
        "error_count": job.error_count + 1,
    }


def without_secrets(text: str, secrets: Iterable[str] = ()) -> str:
    """Return a text without the user names and passwords of its URLs, and without the secrets."""
    for secret in filter(None, secrets):
        text = text.replace(secret, "***")
    return _USER_OF_URL.sub("", text)


class Jobs:
    """The jobs of a store, ``jobs/<16 of the source's id>-<number>.json``.

    Args:
        store: where they are.
        clock: the time, with its zone.
        lease_s: for so long the lease of a job that died is held at most.
        held: whether someone holds a lease.
        resumes: queue a job again whose runner died, for a queue that loses its messages with the
            process; otherwise it has failed, as the message of a queue that lasts comes again.
        shows: whether the caller sees the registered source of an id. To a caller that is bound to
            sources no jobs of others are there.
    """

    def __init__(
        self,
        store: ObjectStore,
        clock: Callable[[], datetime],
        *,
        lease_s: float = 15.0,
        held: Callable[[str], bool] = lambda _: False,
        resumes: bool = False,
        shows: Callable[[str], bool] = lambda _: auth.caller().bound is None,
    ) -> None:
        self._store = store
        self._shows = shows
        self._clock = clock
        self._longest_silence = timedelta(seconds=lease_s + SKEW_S)
        self._held = held
        self._resumes = resumes
        self._finished = _FinishedJobs(store)
        self._ended: dict[str, tuple[Entry, Job]] = {}

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
                self._store.create(_key(job.id), _encode(job))
            except AlreadyThere:
                continue
            for old in keys[: max(len(keys) + 1 - KEPT, 0)]:
                self._store.delete(old)
                self._store.delete(log_key(job_id_of(old)))
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
        job = _decode(found.body, _key(job_id)) if found else None
        return job if job is not None and self._seen(job) else _raise_missing(job_id)

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
        listed = list(self._store.list(_prefix(source_id)))
        return self._read_listed(listed[-1]) if listed else None

    def latest_of(self, source_ids: Sequence[str]) -> dict[str, Job]:
        """Return the newest job of each of some sources that has one.

        They are looked for in one list of all jobs, unless there are very many; those that have
        ended are read once, since they never change.
        """
        if not source_ids:
            return {}
        prefixes = {each: _prefix(each) for each in source_ids}
        # A whole folder is listed without the import of botocore, even for one source.
        listed = list(islice(self._store.list(PREFIX), _MOST_LISTED + 1))
        if len(listed) > _MOST_LISTED:
            lists = in_parallel(
                lambda prefix: list(self._store.list(prefix)), list(prefixes.values())
            )
            newest = {each[-1].key.rpartition("-")[0]: each[-1] for each in lists if each}
        else:
            newest = {each.key.rpartition("-")[0]: each for each in listed}
        found = {
            source_id: entry
            for source_id, prefix in prefixes.items()
            if (entry := newest.get(prefix[:-1])) is not None
        }
        jobs = in_parallel(self._read_listed, list(found.values()))
        return {name: job for name, job in zip(found, jobs, strict=True) if job is not None}

    def _read_listed(self, entry: Entry) -> Job | None:
        """Return a job that was listed, from memory where it had ended as it was last read."""
        known = self._ended.get(entry.key)
        if known is not None and known[0] == entry:
            return known[1] if self._seen(known[1]) else None
        job = self._read(entry.key)
        if job is not None and not job.active:
            if len(self._ended) >= _MOST_ENDED:
                self._ended.clear()
            self._ended[entry.key] = (entry, job)
        return job

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
        if auth.caller().bound is not None:
            # The index of those that have ended does not tell whose they were.
            return Counter(job.state for job in self.all())
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
        return [entry.key for entry in self._store.list(_prefix(source_id))]

    def _read_all(self, keys: list[str]) -> list[Job]:
        return [job for job in in_parallel(self._read, keys) if job is not None]

    def _read(self, key: str) -> Job | None:
        stored = self._store.get(key)
        if stored is None:
            return None
        job = _decode(stored.body, key)
        if not self._seen(job):
            return None
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

    def _seen(self, job: Job) -> bool:
        """Return whether the current caller sees what a job is about."""
        if job.source is not None and named(job.source.kind):
            return auth.sees_head(job.source)
        return self._shows(job.source_id if job.source is None else job.source.name)

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


def log_key(job_id: str) -> str:
    """Return the key of what a job has logged."""
    return f"{LOGS_PREFIX}{job_id}.json"


def job_id_of(key: str) -> str:
    """Return the id of the job whose record, or log, has a key."""
    return key.rpartition("/")[2].removesuffix(".json")


def source_of(job: Job) -> Source:
    """Return what a job ingests."""
    if job.source is None:
        raise ValueError(f"the job {job.id} names nothing to ingest")
    return job.source


def success_fields(job: Job, snapshot: Snapshot) -> dict[str, Any]:
    """Return the fields at its end of a job whose source a snapshot answers for."""
    counts = {name: snapshot.counts.get(name, 0) for name in ("documents", INVISIBLE)}
    return {
        "state": SUCCESS,
        "counts": {**job.counts, **counts},
        "snapshot_id": snapshot.id,
        "version": snapshot.revision.version,
    }


class _FinishedJobs:
    """The index of finished jobs: how they have ended, so that their records are not read again.

    It holds the states by key and time stamp of the record, and is derived data: without it, or
    with a damaged one, the records are read.
    """

    def __init__(self, store: ObjectStore) -> None:
        self._store = store
        self._states: dict[str, str] | None = None

    def find(self, entries: Iterable[Entry]) -> dict[str, str]:
        """Return key and state of those records that are known to be of jobs that have ended."""
        if self._states is None:
            stored = self._store.get(FINISHED)
            self._states = (_decode_states(stored.body, FINISHED) if stored else None) or {}
        states = {entry.key: self._states.get(_mark(entry), "") for entry in entries}
        return {key: state for key, state in states.items() if state}

    def note(self, entries: Iterable[Entry], states: Mapping[str, str]) -> None:
        """Know from now on how the jobs of these records have ended, and no others."""
        self._states = {_mark(entry): states[entry.key] for entry in entries if entry.key in states}

    def save(self) -> None:
        """Write down what is known, for the next process; a store that fails costs only that."""
        with contextlib.suppress(StoreError):
            update(self._store, FINISHED, _STATES, lambda _: self._states)


def _sort(jobs: list[Job]) -> list[Job]:
    return sorted(jobs, key=lambda job: (job.created_at, job.id), reverse=True)


def _raise_missing(job_id: str) -> NoReturn:
    raise JobNotFound(
        f"There is no job {job_id[:80]!r}; start_sync answers with the id of a job, and the newest"
        f" {KEPT} of each source are kept."
    )


def _prefix(source_id: str) -> str:
    """Return what the keys of a source's jobs begin with."""
    return f"{PREFIX}{source_id[:16]}-"


def _key(job_id: str) -> str:
    return f"{PREFIX}{job_id}.json"


def _hide_place(error: JobError, job_id: str) -> JobError:
    if error.kind != StoreError.code:
        return error
    shown = internal_error(job_id)
    return JobError(shown.code, error.ref, shown.message, shown.details)


def _encode(job: Job) -> bytes:
    fields = {"schema": SCHEMA, **job.body()}
    return json.dumps(fields, indent=1, ensure_ascii=False, allow_nan=False).encode()


def _decode(body: bytes, key: str) -> Job:
    """Read the stored form of a job; raise StoreError if it is damaged, or of another release."""
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
        if (coverage := fields.get("coverage")) is not None:
            fields["coverage"] = Coverage(**coverage)
        return Job(**fields)
    except DocstowError:
        raise
    except (ValueError, KeyError, TypeError, AttributeError) as fault:
        raise StoreError(f"{key} in the store is damaged; delete it.") from fault


def _mark(entry: Entry) -> str:
    # A record of that key that was written anew is another one.
    return f"{entry.key.rpartition('/')[2]} {entry.modified.timestamp():.0f}"


def _encode_states(states: dict[str, str]) -> bytes:
    return gzip.compress(json.dumps({"schema": SCHEMA, "ended": states}).encode(), mtime=0)


def _decode_states(body: bytes, _: str) -> dict[str, str] | None:
    try:
        fields = json.loads(gzip.decompress(body))
        return dict(fields["ended"]) if fields["schema"] == SCHEMA else None
    except (OSError, EOFError, zlib.error, ValueError, KeyError, TypeError):
        return None


_JOB: Codec[Job] = Codec(_decode, _encode)
_STATES: Codec[dict[str, str]] = Codec(_decode_states, _encode_states)
