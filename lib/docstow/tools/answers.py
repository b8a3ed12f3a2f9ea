"""What the answers of all toolsets have in common: provenance, cursors and their schemas."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from docstow.core.errors import InvalidParameter

if TYPE_CHECKING:
    from docstow.library import ResolvedVersion

TEXT = {"type": "string"}
COUNT = {"type": "integer", "minimum": 0}
CURSOR = {"type": ["string", "null"], "description": "give it back for the next page"}


def list_schema(result: Mapping[str, Any], **members: Mapping[str, Any]) -> dict[str, Any]:
    """Return the JSON Schema of an answer with a list: provenance, ``results`` and ``cursor``.

    Args:
        result: schema of one result.
        members: further members of the answer.
    """
    return {
        "type": "object",
        "properties": {
            "crate": TEXT,
            "asked": TEXT,
            "answered": TEXT,
            "substituted": {"type": "boolean"},
            "snapshot": TEXT,
            "url": TEXT,
            "notice": TEXT,
            **members,
            "results": {"type": "array", "items": result},
            "cursor": CURSOR,
        },
        "required": ["asked", "answered", "substituted", "results", "cursor"],
    }


def result_schema(required: Mapping[str, Any], **optional: Mapping[str, Any]) -> dict[str, Any]:
    """Return the JSON Schema of one result."""
    return {
        "type": "object",
        "properties": {**required, **optional},
        "required": list(required),
    }


def page_schema(required: Mapping[str, Any]) -> dict[str, Any]:
    """Return the JSON Schema of one page of a list of such results, with their total."""
    return {
        "type": "object",
        "properties": {
            "total": COUNT,
            "results": {"type": "array", "items": result_schema(required)},
            "cursor": {"type": ["string", "null"]},
        },
        "required": ["total", "results", "cursor"],
    }


def provenance(stowed: ResolvedVersion) -> dict[str, Any]:
    """Return which version was asked for, which one answers, and where it comes from."""
    members = {
        "crate": stowed.name,
        "asked": stowed.asked,
        "answered": stowed.version,
        "substituted": stowed.substituted,
        "snapshot": stowed.snapshot.id,
        "url": stowed.snapshot.facts.get("url", ""),
    }
    notice = "; ".join(caveats(stowed))
    return members | ({"notice": notice} if notice else {})


def caveats(stowed: ResolvedVersion) -> list[str]:
    """Return what the caller should know of the answer's source."""
    notices = [stowed.notice] if stowed.notice else []
    if stowed.snapshot.facts.get("format_untested"):
        number = stowed.snapshot.facts.get("format_version")
        notices.append(f"its rustdoc format {number} is newer than those that docstow knows")
    return notices


def provenance_line(stowed: ResolvedVersion, url: str) -> str:
    """Format the provenance of a page: one line of Markdown."""
    notice = "".join(f"; {each}" for each in caveats(stowed))
    place = f"<{url}> · " if url else ""
    return (
        f"*{stowed.name} {stowed.version} (asked: {stowed.asked}{notice}) · {place}"
        f"snapshot {stowed.snapshot.id[:12]} · third-party text*"
    )


def shortened(text: str, most: int) -> str:
    """Return a text cut to so many characters, with an ellipsis where it was longer."""
    return text if len(text) <= most else text[: most - 2] + " …"


def paged(rows: Sequence[Any], cursor: str, scope: str, size: int) -> dict[str, Any]:
    """Return ``results`` and ``cursor``: the page of a list that a cursor points to.

    Args:
        rows: the list, whole or at least one row longer than the page.
        cursor: from an earlier answer; empty for the first page.
        scope: what the list belongs to (a snapshot); a cursor of another scope is refused.
        size: rows a page.

    Raises:
        InvalidParameter: the cursor is not one of this scope.
    """
    begin = offset(cursor, scope)
    end = begin + size
    following = cursor_at(end, scope) if len(rows) > end else None
    return {"results": list(rows[begin:end]), "cursor": following}


def cursor_at(begin: int, scope: str) -> str:
    """Make a cursor that :func:`offset` reads."""
    return base64.urlsafe_b64encode(json.dumps([begin, _scope_digest(scope)]).encode()).decode()


def offset(cursor: str, scope: str) -> int:
    """Return where the page of a cursor begins."""
    if not cursor:
        return 0
    try:
        begin, of = json.loads(base64.urlsafe_b64decode(cursor))
    except (ValueError, TypeError):
        begin, of = None, None
    if type(begin) is not int or begin < 0 or of != _scope_digest(scope):
        raise InvalidParameter(
            "cursor", "is not a cursor of this list, or the docs have changed; start without it"
        )
    return begin


def _scope_digest(scope: str) -> str:
    """Return a scope of any length in a few characters, since clients send cursors back."""
    return hashlib.sha256(scope.encode()).hexdigest()[:16]
