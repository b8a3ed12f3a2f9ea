"""The function behind the queue: an SQS event in, the messages that have to come again out.

Composition happens while the module is imported, where the platform gives a full core.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from docstow.core.garbage import collect_seldom
from docstow.core.logs import configure
from docstow.core.settings import load
from docstow.core.threads import limit_blas
from docstow.runtime import Runtime

# Only the temporary folder can be written, and holds 512 MB unless more is asked for.
_PLATFORM = {
    # Others name the sources, so that they are treated as on a server that all can reach.
    "host": "0.0.0.0",  # noqa: S104 - nothing listens here
    "cache": os.environ.get("DOCSTOW_CACHE") or str(Path(tempfile.gettempdir(), "docstow")),
    "cache_bytes": os.environ.get("DOCSTOW_CACHE_BYTES") or "384MiB",
}

_settings = load(_PLATFORM, os.environ)
configure(_settings)
limit_blas()
collect_seldom()
_sqs_events = Runtime(_settings).sqs_events()


def handler(event: Mapping[str, Any], context: Any) -> dict[str, list[dict[str, str]]]:
    """Handle a batch; messages that are not done are reported, and come again one by one."""
    return _sqs_events.handle(event, lambda: context.get_remaining_time_in_millis() / 1000)
