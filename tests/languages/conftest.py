"""Real packages and crates, each installed or stowed once for all workers of a run."""

from __future__ import annotations

from pathlib import Path

import pytest

import python_environment
from check_environment import crates, node_judge, node_resolver, python_resolver, rust_runtime
from engines import engines_folder
from node_environment import npm, npm_more_root, npm_root, pnpm_root
from require import unavailable
from settled import settle
from shared import shared

__all__ = [
    "crates",
    "engines_folder",
    "node_judge",
    "node_resolver",
    "npm",
    "npm_more_root",
    "npm_root",
    "pnpm_root",
    "python_resolver",
    "rust_runtime",
]


def _environment(factory: pytest.TempPathFactory, name: str, wanted: Path) -> Path:
    with shared(factory, name) as root:
        told = root / "failed.txt"
        if not told.exists():
            told.write_text(python_environment.install(root, wanted), "utf-8")
            settle(root)
    if failed := told.read_text("utf-8"):
        unavailable(f"the packages cannot be installed here: {failed}")
    return root


@pytest.fixture(scope="session")
def python_project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project whose ``.venv`` has some fifty distributions; read it, change nothing."""
    wanted = python_environment.WANTED
    return _environment(tmp_path_factory, "python-project", wanted)


@pytest.fixture(scope="session")
def more_python_project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Another one, of a few packages of other forms."""
    wanted = python_environment.MORE
    return _environment(tmp_path_factory, "more-python-project", wanted)


@pytest.fixture(scope="session")
def python_surfaces(python_project: Path) -> python_environment.Surfaces:
    return python_environment.Surfaces(python_environment.site_packages(python_project))
