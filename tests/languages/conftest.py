"""Real packages and crates, each installed or stowed once for all workers of a run."""

from __future__ import annotations

from pathlib import Path

import pytest
from filelock import FileLock

import python_environment
from check_environment import crates, node_judge, node_resolver, python_resolver, rust_runtime
from engines import engines_folder
from node_environment import npm, npm_more_root, npm_root, pnpm_root
from require import unavailable
from settled import settle

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


def _environment(factory: pytest.TempPathFactory, worker_id: str, name: str, wanted: Path) -> Path:
    base = factory.getbasetemp()
    root = (base if worker_id == "master" else base.parent) / name
    with FileLock(f"{root}.lock"):
        told = root / "failed.txt"
        if not root.exists():
            root.mkdir()
            told.write_text(python_environment.install(root, wanted), "utf-8")
            settle(root)
    if failed := told.read_text("utf-8"):
        unavailable(f"the packages cannot be installed here: {failed}")
    return root


@pytest.fixture(scope="session")
def python_project(tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> Path:
    """A project whose ``.venv`` has some fifty distributions; read it, change nothing."""
    wanted = python_environment.WANTED
    return _environment(tmp_path_factory, worker_id, "python-project", wanted)


@pytest.fixture(scope="session")
def more_python_project(tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> Path:
    """Another one, of a few packages of other forms."""
    wanted = python_environment.MORE
    return _environment(tmp_path_factory, worker_id, "more-python-project", wanted)


@pytest.fixture(scope="session")
def python_surfaces(python_project: Path) -> python_environment.Surfaces:
    return python_environment.Surfaces(python_environment.site_packages(python_project))
