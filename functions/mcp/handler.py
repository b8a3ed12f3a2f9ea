"""The function behind the MCP endpoint: an API Gateway or Function URL event in, an answer out.

Composition happens while the module is imported, where the platform gives a full core; what a
call needs beyond that is loaded when it is first needed.
"""

from __future__ import annotations

import os
import random
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from docstow.core.garbage import collect_seldom, keep_what_is_there

if TYPE_CHECKING:
    from mangum import Mangum

    from docstow.runtime import Runtime

# Only the temporary folder can be written, and holds 512 MB unless more is asked for; the platform
# routes by host name before this.
_PLATFORM = {
    # Whoever knows its address can reach it, so that nothing is allowed that `auth` does not.
    "host": "0.0.0.0",  # noqa: S104 - the platform listens, not this process
    "cache": os.environ.get("DOCSTOW_CACHE") or str(Path(tempfile.gettempdir(), "docstow")),
    "cache_bytes": os.environ.get("DOCSTOW_CACHE_BYTES") or "384MiB",
    "allowed_hosts": os.environ.get("DOCSTOW_ALLOWED_HOSTS") or "*",
}


def _compose() -> tuple[Runtime, Mangum]:
    """Compose the application, among whose objects no garbage is looked for."""
    collect_seldom()
    from mangum import Mangum

    from docstow.core.logs import configure
    from docstow.core.settings import load
    from docstow.core.threads import limit_blas
    from docstow.runtime import Runtime

    limit_blas()
    settings = load(_PLATFORM, os.environ)
    configure(settings)
    runtime = Runtime(settings)
    composed = runtime, Mangum(runtime.app, lifespan="off")
    keep_what_is_there()
    return composed


_runtime, handler = _compose()

if os.environ.get("AWS_LAMBDA_INITIALIZATION_TYPE") == "snap-start":
    # The process is kept as it is now, and every instance goes on from there: what is loaded here
    # is loaded once. Nothing has been asked yet, so that no connection and no lease is kept.
    from snapshot_restore_py import (  # type: ignore[import-untyped]
        register_after_restore,
        register_before_snapshot,
    )

    register_before_snapshot(_runtime.warm_up)
    register_after_restore(random.seed)  # or all instances would pause alike before they ask again
