"""The function that a schedule calls: one round of the store's upkeep.

It has the store and nothing else: no model and no table is loaded.
"""

from __future__ import annotations

import os
import tempfile
from dataclasses import asdict
from pathlib import Path
from typing import Any

from docstow.core.garbage import collect_seldom
from docstow.core.logs import configure
from docstow.core.settings import load
from docstow.core.threads import limit_blas
from docstow.runtime import Runtime

_PLATFORM = {
    "cache": os.environ.get("DOCSTOW_CACHE") or str(Path(tempfile.gettempdir(), "docstow"))
}

limit_blas()
collect_seldom()
_settings = load(_PLATFORM, os.environ)
configure(_settings)
_runtime = Runtime(_settings)


def handler(event: object, context: object) -> dict[str, Any]:  # noqa: ARG001 - the platform's way
    """Do one round; what was done. A round that did not do all of it counts as failed.

    Raises:
        RuntimeError: a step could not be done, so that the platform's alarm sees it.
    """
    done = _runtime.upkeep().run()
    if done.failed:
        raise RuntimeError("; ".join(f"{step}: {reason}" for step, reason in done.failed.items()))
    return {
        "evicted": [line.source.key for line in done.evicted],
        "swept": asdict(done.swept),
        "dropped": done.dropped,
        "tidied": done.tidied,
        "sent": asdict(done.sent),
        "bytes": done.bytes,
        "left": done.left,
    }
