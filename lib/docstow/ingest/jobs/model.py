"""A job's record: what is written down of a piece of work, and how.

This room knows the fields and their spelling. It does not know where records are kept, nor which
changes of them are allowed.
"""

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
        return from_record(error.kind, error.message, error.details)

    def outward(self) -> Job:
        """The job as callers are told it: of the store's faults they learn its id alone.

        What is written down of them is for the operator, and names places that are no caller's
        business.
        """
        return replace(self, errors=tuple(_outward(each, self.id) for each in self.errors))

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


def _outward(error: JobError, job_id: str) -> JobError:
    if error.kind != StoreError.code:
        return error
    told = internal_error(job_id)
    return JobError(told.code, error.ref, told.message, told.details)


def lease_key(source_id: str) -> str:
    """The lease of whoever syncs a source."""
    return f"sync/{source_id}"


def subject(kind: str, source: Source) -> str:
    """What takes the place of a registration's id where a job is about a crate."""
    prefix = "" if kind == STOW else f"{kind}/"
    return hashlib.sha256(f"{prefix}{source.key}".encode()).hexdigest()


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


def encode(job: Job) -> bytes:
    """The stored form of a job."""
    fields = {"schema": SCHEMA, **job.body()}
    return json.dumps(fields, indent=1, ensure_ascii=False, allow_nan=False).encode()


def decode(body: bytes, key: str) -> Job:
    """A job of its stored form.

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
