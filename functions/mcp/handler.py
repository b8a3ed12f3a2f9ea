"""The function behind the MCP endpoint: an API Gateway or Function URL event in, an answer out.

Composition happens while the module is imported, where the platform gives a full core; what a
call needs beyond that is loaded when it is first needed. This room knows the platform's
limits. It does not know MCP or tools.
"""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from mangum import Mangum

from docstow.runtime import Runtime
from docstow.settings import load

# Only the temporary folder can be written, and holds 512 MB unless more is asked for; the platform
# routes by host name before this.
_PLATFORM = {
    # Whoever knows its address can reach it, so that nothing is allowed that `auth` does not.
    "host": "0.0.0.0",  # noqa: S104 - the platform listens, not this process
    "cache": os.environ.get("DOCSTOW_CACHE") or str(Path(tempfile.gettempdir(), "docstow")),
    "cache_bytes": os.environ.get("DOCSTOW_CACHE_BYTES") or "384MiB",
    "allowed_hosts": os.environ.get("DOCSTOW_ALLOWED_HOSTS") or "*",
}

handler = Mangum(Runtime(load(_PLATFORM, os.environ)).app, lifespan="off")
