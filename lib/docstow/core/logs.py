"""What is logged, as lines for people or as JSON, and the audit of what callers change.

A server begins each request by :func:`in_request`. Within one every write and every refusal is a
line of the logger ``docstow.audit``: who, what, on which source, with which outcome.
"""

from __future__ import annotations

import contextlib
import json
import logging
import os
import sys
from collections.abc import Iterator
from contextvars import ContextVar
from datetime import UTC, datetime

from docstow.core import auth
from docstow.core.records import dataclass
from docstow.core.settings import Settings

_TEXT = "%(asctime)s %(levelname)s %(name)s: %(message)s"
_AUDIT = logging.getLogger("docstow.audit")
#: Characters of what a caller names that a line repeats.
_LONGEST = 200


@dataclass(slots=True)
class _Request:
    """A request of a server.

    Attributes:
        id: as the caller is told it.
        audited: whether a line says what became of it.
    """

    id: str
    audited: bool = False


_request: ContextVar[_Request | None] = ContextVar("request", default=None)


@contextlib.contextmanager
def in_request(identity: str) -> Iterator[None]:
    """Log what happens within under a request's id; copies of the context inherit it."""
    token = _request.set(_Request(identity))
    try:
        yield
    finally:
        _request.reset(token)


def audit(action: str, outcome: str, *, source: str = "") -> None:
    """Log a write or a refusal, if a caller of a server asked for it.

    Args:
        action: the tool, or method and path.
        outcome: ``done``, or the code of the error.
        source: what it was about, as the caller named it.
    """
    request = _request.get()
    if request is None:
        return
    request.audited = True
    fields = {"action": action, "source": source[:_LONGEST], "outcome": outcome}
    told = " ".join(f"{name}={value!r}" for name, value in fields.items() if value)
    told += f" caller={auth.caller().name!r} request={request.id}"
    _AUDIT.info("%s", told, extra={"fields": fields})


def audit_refusal(action: str, outcome: str) -> None:
    """Log that a request was refused, unless a line says so already."""
    request = _request.get()
    if request is not None and not request.audited:
        audit(action, outcome)


class _JsonLines(logging.Formatter):
    """One JSON object a line."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line of a record."""
        fields = {
            "at": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
        }
        if (request := _request.get()) is not None:
            fields |= {"request_id": request.id, "caller": auth.caller().name}
        fields |= getattr(record, "fields", {})
        if record.exc_info:
            fields["trace"] = self.formatException(record.exc_info)
        return json.dumps(fields, ensure_ascii=False, default=str)


def configure(settings: Settings, *, quiet: bool = False) -> None:
    """Log as the settings say; where a platform logs already, through what it has set up.

    Args:
        settings: level, form and file.
        quiet: whether standard error has warnings alone: a command tells by itself what it does.
    """
    root, level = logging.getLogger(), settings.log_level.upper()
    if not root.handlers:
        handler = _handler(settings.log_file)
        if quiet and not settings.log_file:
            handler.setLevel(logging.WARNING)
        root.addHandler(handler)
        root.setLevel(level)
    logging.getLogger("docstow").setLevel(level)
    # It tells each address that is asked, with what may be secret in it.
    logging.getLogger("httpx").setLevel(logging.WARNING)
    if settings.log_format == "json":
        for handler in root.handlers:
            handler.setFormatter(_JsonLines())


def _handler(file: str) -> logging.Handler:
    """Return what writes to a file, or else to standard error."""
    from logging.handlers import WatchedFileHandler  # with sockets and pickles, for servers alone

    handler: logging.Handler
    if not file:
        handler = logging.StreamHandler(sys.stderr)
    elif os.name == "nt":
        handler = logging.FileHandler(file, encoding="utf-8")
    else:
        # A file that was moved away, as logrotate does, is opened anew.
        handler = WatchedFileHandler(file, encoding="utf-8")
    handler.setFormatter(logging.Formatter(_TEXT))
    return handler
