"""What all workers of a run share: made once, by whichever needs it first."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from filelock import FileLock


@contextlib.contextmanager
def shared(factory: pytest.TempPathFactory, name: str) -> Iterator[Path]:
    """Yield a folder that no other worker is at work in meanwhile."""
    base = factory.getbasetemp()
    folder = (base.parent if os.environ.get("PYTEST_XDIST_WORKER") else base) / name
    with FileLock(f"{folder}.lock"):
        folder.mkdir(exist_ok=True)
        yield folder
