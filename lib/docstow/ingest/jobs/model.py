"""A job's record: what is written down of a piece of work, and its stored form."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from typing import Any

from docstow.core.errors import DocstowError, StoreError, from_record, internal_error
from docstow.core.model import NO_ATTRIBUTES, Source

SCHEMA = 1
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
)
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
        if not self.resumed:
            del body["resumed"]  # so that older releases can read what they can do
        return body


def _hide_place(error: JobError, job_id: str) -> JobError:
    if error.kind != StoreError.code:
        return error
    shown = internal_error(job_id)
    return JobError(shown.code, error.ref, shown.message, shown.details)


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


def encode(job: Job) -> bytes:
    """Return the stored form of a job."""
    fields = {"schema": SCHEMA, **job.body()}
    return json.dumps(fields, indent=1, ensure_ascii=False, allow_nan=False).encode()


def decode(body: bytes, key: str) -> Job:
    """Read the stored form of a job; ``key`` is named in the error.

    Raises:
        StoreError: it is damaged, or of another release.
    """
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
