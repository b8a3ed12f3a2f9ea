"""``docstow serve`` as a process on a free port."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path


def start(
    environment: Mapping[str, str], *, quiet: bool = False
) -> tuple[subprocess.Popen[str], str]:
    """Start a server; return its process and its root URL when it listens.

    Args:
        environment: variables beside those of this process.
        quiet: whether nobody reads its log.
    """
    process = subprocess.Popen(
        [sys.executable, "-m", "docstow", "serve", "--port", "0"],
        env={**os.environ, **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL if quiet else None,
        text=True,
    )
    assert process.stdout is not None
    found = re.search(r"(http://127\.0\.0\.1:\d+)/mcp", process.stdout.readline())
    assert found
    return process, found[1]


@contextmanager
def serving(folder: Path, **environment: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """Serve a store below a folder, offline; the process is killed at the end."""
    own = {"DOCSTOW_STORE": f"{folder}/store", "DOCSTOW_CACHE": f"{folder}/cache"}
    process, url = start({**own, "DOCSTOW_OFFLINE": "true", **environment})
    with process:
        try:
            yield process, url
        finally:
            process.kill()
