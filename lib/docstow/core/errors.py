"""The hierarchy of errors, each with a stable code, an HTTP status and advice on what to do.

Servers translate :meth:`DocstowError.body` and ``status`` into their protocols.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar


class DocstowError(Exception):
    """The base class. Subclasses set ``code`` and ``status``; instances have message and details.

    Args:
        message: what happened and what to do next, in one or two sentences for a person or a model.
        suggestions: near names, best first, each with a ``score`` from 0 to 1.
        details: further JSON values that become members of the error body.
    """

    code: ClassVar[str] = "internal_error"
    status: ClassVar[int] = 500

    def __init__(
        self,
        message: str,
        *,
        suggestions: Sequence[Mapping[str, Any]] = (),
        **details: Any,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.suggestions = tuple(dict(each) for each in suggestions)
        self.details = details

    def body(self) -> dict[str, Any]:
        """Return the JSON body that every protocol answers with."""
        body: dict[str, Any] = {"error": self.code, "message": self.message, **self.details}
        if self.suggestions:
            body["suggestions"] = list(self.suggestions)
        return body


class CrateNotFound(DocstowError, LookupError):
    """No crate of that name, or no version of it that matches."""

    code, status = "crate_not_found", 404


class CrateNotDocumented(DocstowError, LookupError):
    """The crate's version exists, but there is no rustdoc JSON of it."""

    code, status = "crate_not_documented", 404


class VersionYanked(DocstowError, LookupError):
    """The version was asked for by number and has been yanked."""

    code, status = "version_yanked", 410


class UnsupportedFormat(DocstowError, ValueError):
    """The rustdoc format is outside the range that the reader knows."""

    code, status = "unsupported_format", 422


class UnreadableInput(DocstowError, ValueError):
    """Bytes that are not what they claim to be: truncated, not JSON, not an archive."""

    code, status = "unreadable_input", 422


class ItemNotFound(DocstowError, LookupError):
    """No item of that path in the crate."""

    code, status = "item_not_found", 404


class SourceNotFound(DocstowError, LookupError):
    """No source of that id, URI or title."""

    code, status = "source_not_found", 404


class DocumentNotFound(DocstowError, LookupError):
    """No page, chunk or pushed text of that id, URL or path."""

    code, status = "document_not_found", 404


class EnvironmentNotFound(DocstowError, LookupError):
    """A project in which nothing is installed or locked."""

    code, status = "environment_not_found", 404


class PackageNotFound(DocstowError, LookupError):
    """No package of that name in the project's environments."""

    code, status = "package_not_found", 404


class SnapshotNotFound(DocstowError, LookupError):
    """No snapshot of that id among those that are kept."""

    code, status = "snapshot_not_found", 404


class JobNotFound(DocstowError, LookupError):
    """No job of that id."""

    code, status = "job_not_found", 404


class ToolNotFound(DocstowError, LookupError):
    """No tool of that name."""

    code, status = "tool_not_found", 404


class InvalidParameter(DocstowError, ValueError):
    """A parameter is missing, unknown, of the wrong type or out of range.

    Args:
        field: name of the parameter.
        reason: what is wrong with it and what would be right.
    """

    code, status = "invalid_parameter", 400

    def __init__(self, field: str, reason: str) -> None:
        super().__init__(f"{field}: {reason}", field=field, reason=reason)


class TooLarge(DocstowError, ValueError):
    """Something exceeds a limit; ``limit`` (in bytes unless the message differs) is in the body."""

    code, status = "too_large", 413

    def __init__(self, message: str, *, limit: int) -> None:
        super().__init__(message, limit=limit)


class Unauthorized(DocstowError, PermissionError):
    """A valid credential is needed, and none was sent."""

    code, status = "unauthorized", 401


class Forbidden(DocstowError, PermissionError):
    """Not allowed: scope, origin, host or a private address."""

    code, status = "forbidden", 403


class QuotaExceeded(DocstowError, PermissionError):
    """The caller has as much in the store as it may; ``limit`` is in the body."""

    code, status = "quota_exceeded", 403


class TooManyRequests(DocstowError):
    """A rate limit; ``retry_after_s`` becomes the Retry-After header."""

    code, status = "too_many_requests", 429


class UpstreamError(DocstowError, ConnectionError):
    """An upstream answered with an error, or could not be reached."""

    code, status = "upstream_error", 502


class UpstreamTimeout(DocstowError, TimeoutError):
    """An upstream did not answer in time."""

    code, status = "upstream_timeout", 504


class Ingesting(DocstowError):
    """Not an error but a wait: the source is being ingested; retry after ``retry_after_s``."""

    code, status = "ingesting", 202

    def __init__(self, message: str, *, job_id: str, retry_after_s: int) -> None:
        super().__init__(message, job_id=job_id, retry_after_s=retry_after_s)


class Cancelled(DocstowError):
    """Whoever made the call does not want its answer any more; what it asked for may go on."""

    code, status = "cancelled", 409


class StoreError(DocstowError):
    """The object store cannot be used as it is: no conditional writes, no access, no space."""

    code, status = "store_error", 500


class SnapshotGone(StoreError):
    """A part of a snapshot is not in the store: it was evicted while it was read, or is lost."""


class ConfigurationError(DocstowError, ValueError):
    """Settings are wrong; the message lists every mistake at once."""

    code, status = "configuration_error", 500


class InternalError(DocstowError):
    """Any other failure; carries a request id and no internals."""

    code, status = "internal_error", 500


def internal_error(request_id: str) -> InternalError:
    """Return the error for an unforeseen failure, without its details.

    Args:
        request_id: of the request or job, under which the log has the details.
    """
    return InternalError(
        "Something failed inside the server. Try again; if it stays, give the operator the "
        "request id, under which the log has the details.",
        request_id=request_id,
    )


def from_record(code: str, message: str, details: Mapping[str, Any]) -> DocstowError:
    """Return a stored error as an instance of the class of its code.

    Args:
        code: of the error; an unknown one gives an :class:`InternalError`.
        message: of the error.
        details: the other members of its body.
    """
    known = {kind.code: kind for kind in DocstowError.__subclasses__()}
    kind = known.get(code, InternalError)
    error = kind.__new__(kind)
    # The constructors of subclasses compose messages; this message is complete.
    DocstowError.__init__(error, message, **details)
    return error
