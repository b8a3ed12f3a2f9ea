"""What the tools for prose have in common: how a source is named, and which snapshot answered.

This room knows parameters and members of answers. It does not know any tool.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from docstow.tools.parameters import Parameter

if TYPE_CHECKING:
    from docstow.core.model import Registration, Snapshot

SOURCE = Parameter("source_id", "string", "Id, URI or title", default="", max_length=2000)
CURSOR = Parameter("cursor", "string", "", default="", max_length=400)
SNAPSHOT = Parameter("snapshot_id", "string", "", default="", max_length=64)


def answered(registration: Registration, snapshot: Snapshot) -> dict[str, Any]:
    """Which snapshot of which source an answer is from."""
    members = {
        "source_id": registration.id,
        "source": registration.title,
        "kind": registration.kind,
        "uri": registration.uri,
        "snapshot": snapshot.id,
        "created_at": snapshot.created_at.isoformat(),
    }
    version = snapshot.revision.validator or snapshot.revision.version
    return members | ({"version": version} if version else {})


def provenance_line(registration: Registration, snapshot: Snapshot, url: str) -> str:
    """The same for a page: one line of Markdown."""
    version = snapshot.revision.validator or snapshot.revision.version
    parts = [
        f"{registration.title} ({registration.kind})",
        f"version {version[:40]}" if version else "",
        f"<{url}>" if url else "",
        f"snapshot {snapshot.id[:12]} of {snapshot.created_at:%Y-%m-%d}",
        "third-party text",
    ]
    return f"*{' · '.join(filter(None, parts))}*"
