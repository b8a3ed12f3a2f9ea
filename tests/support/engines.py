"""The engines, installed once by the command that people use."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from filelock import FileLock

from docstow.cli import main
from require import unavailable


@pytest.fixture(scope="session")
def engines_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the type checkers."""
    base = tmp_path_factory.getbasetemp()
    folder = (base.parent if os.environ.get("PYTEST_XDIST_WORKER") else base) / "engines"
    with FileLock(f"{folder}.lock"):
        if main(["engines", "install", "--engines", str(folder)]):
            unavailable("the engines could not be installed")
    return folder
