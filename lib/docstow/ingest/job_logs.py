"""What is logged while a job runs: its last lines, in an object beside the job's record.

They are for people who look at a job later. Nothing relies on them, and a store that fails costs
lines alone.
"""

from __future__ import annotations

import contextlib
import json
import logging
import sys
import threading
from collections import deque
from collections.abc import Iterable, Iterator
from contextvars import ContextVar
from dataclasses import asdict, dataclass
from datetime import UTC, datetime

from docstow.core import auth
from docstow.core.errors import DocstowError, StoreError
from docstow.ingest.jobs import Job, log_key, without_secrets
from docstow.store.objects import ObjectStore
from docstow.store.update import Codec, update

SCHEMA = 1
#: So many lines of a job are kept, and so many characters of each.
LINES_KEPT, LONGEST = 200, 1000
#: While a job runs its lines are written at most once in so many seconds.
WRITE_S = 30.0

#: The lines of all others may name places that only the operator may know.
_OUTWARD = "docstow.ingest."
#: Tells of callers, not of jobs.
_AUDIT = "docstow.audit"


@dataclass(frozen=True, slots=True)
class Line:
    """One line of a log.

    Attributes:
        at: when it was logged, in ISO 8601, UTC.
        level: as ``info``.
        logger: what logged it.
        message: what it says; of an exception also the trace. No secrets.
        inward: whether it may name places that only the operator may know.
    """

    at: str
    level: str
    logger: str
    message: str
    inward: bool = False

    def __str__(self) -> str:
        return f"{self.at} {self.level.upper()} {self.logger}: {self.message}"


class JobLog:
    """The lines of one job, as whoever runs it collects them.

    Args:
        store: where they are kept.
        job_id: whose they are.
    """

    def __init__(self, store: ObjectStore, job_id: str) -> None:
        self._store = store
        self._key = log_key(job_id)
        self._waiting: deque[Line] = deque(maxlen=LINES_KEPT)
        self._taking, self._writing = threading.Lock(), threading.Lock()
        #: Texts that no line has.
        self.secrets: tuple[str, ...] = ()

    def take(self, record: logging.LogRecord) -> None:
        """Take what is logged now."""
        # Errors but those of the store are worded for callers.
        met = sys.exc_info()[1]
        worded = met is None or (isinstance(met, DocstowError) and not isinstance(met, StoreError))
        outward = worded and not record.exc_info and record.name.startswith(_OUTWARD)
        message = record.getMessage()
        if record.exc_info:
            message += f"\n{_FORMATTER.formatException(record.exc_info)}"
        line = Line(
            datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            record.levelname.lower(),
            record.name,
            _shorten(without_secrets(message, self.secrets)),
            inward=not outward,
        )
        with self._taking:
            self._waiting.append(line)

    def write(self) -> None:
        """Add what has come since the last time to what is stored."""
        with self._writing:
            with self._taking:
                lines = tuple(self._waiting)
                self._waiting.clear()
            if not lines:
                return
            try:
                update(self._store, self._key, _LINES, lambda stored: _last(stored, lines))
            except StoreError:  # the next time may come through
                with self._taking:
                    self._waiting = deque((*lines, *self._waiting), maxlen=LINES_KEPT)

    @contextlib.contextmanager
    def taking(self) -> Iterator[None]:
        """Take what this thread logs, and those with a copy of its context."""
        logging.getLogger("docstow").addHandler(_HANDLER)
        token = _current.set(self)
        try:
            yield
        finally:
            _current.reset(token)

    @contextlib.contextmanager
    def kept(self) -> Iterator[None]:
        """Take what is logged and write it now and then; at the end that is left to the caller."""
        done = threading.Event()

        def write_often() -> None:
            while not done.wait(WRITE_S):
                self.write()

        threading.Thread(target=write_often, name=f"log {self._key}", daemon=True).start()
        try:
            with self.taking():
                yield
        finally:
            done.set()


class _Handler(logging.Handler):
    """Gives each record to the log of the job that it is about."""

    def emit(self, record: logging.LogRecord) -> None:
        """Give a record to the current log, if there is one."""
        current = _current.get()
        if current is not None and record.name != _AUDIT:
            current.take(record)
        # Python prints the warnings of a program that sets up no logging, but not where there is a
        # handler, as this one is.
        others = logging.getLogger().handlers or logging.getLogger("docstow").handlers[1:]
        if (last := logging.lastResort) and not others and record.levelno >= last.level:
            last.handle(record)


_HANDLER, _FORMATTER = _Handler(), logging.Formatter()
_current: ContextVar[JobLog | None] = ContextVar("job log", default=None)


def conceal(secrets: Iterable[str]) -> None:
    """Leave some texts out of what is logged from here on, where a job's lines are collected."""
    if (current := _current.get()) is not None:
        # Of "Bearer abc" also the latter part alone.
        current.secrets = tuple(part for each in secrets for part in (each, each.split(" ")[-1]))


def read(store: ObjectStore, job: Job) -> tuple[Line, ...]:
    """Return the last lines of a job that the caller sees, the oldest first.

    Whoever may not know everything gets none that could name places of the operator's.
    """
    stored = store.get(log_key(job.id))
    lines = _decode(stored.body, "") if stored else None
    who = auth.caller()
    whole = who.may(auth.ADMIN) and who.bound is None
    return tuple(line for line in lines or () if whole or not line.inward)


def _shorten(text: str) -> str:
    # Of a trace the end says what happened.
    return text if len(text) <= LONGEST else f"{text[: LONGEST // 4]} … {text[-LONGEST // 4 * 3 :]}"


def _last(stored: tuple[Line, ...] | None, lines: tuple[Line, ...]) -> tuple[Line, ...]:
    before = stored or ()
    # Those are there already whose writing was told as failed.
    return (*before, *(each for each in lines if each not in before))[-LINES_KEPT:]


def _encode(lines: tuple[Line, ...]) -> bytes:
    fields = {"schema": SCHEMA, "lines": [asdict(each) for each in lines]}
    return json.dumps(fields, ensure_ascii=False).encode("utf-8", "replace")


def _decode(body: bytes, _: str) -> tuple[Line, ...] | None:
    try:
        fields = json.loads(body)
        if fields["schema"] != SCHEMA:
            return None
        return tuple(Line(**each) for each in fields["lines"])
    except (ValueError, KeyError, TypeError):
        return None


_LINES: Codec[tuple[Line, ...]] = Codec(_decode, _encode)
