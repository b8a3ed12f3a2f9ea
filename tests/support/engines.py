"""The engines, installed once by the command that people use."""

from __future__ import annotations

from pathlib import Path

import pytest

from docstow.cli import main
from require import unavailable
from shared import shared


@pytest.fixture(scope="session")
def engines_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the type checkers."""
    with shared(tmp_path_factory, "engines") as folder:
        if main(["engines", "install", "--engines", str(folder)]):
            unavailable("the engines could not be installed")
    return folder
