"""Real packages and crates, each installed or stowed once for all workers of a run."""

from __future__ import annotations

from pathlib import Path

import pytest
from filelock import FileLock

import python_environment
from check_environment import crates, node_resolver, python_resolver, rust_runtime
from node_environment import npm, npm_root, pnpm_root
from require import unavailable
from settled import settle

__all__ = [
    "crates",
    "node_resolver",
    "npm",
    "npm_root",
    "pnpm_root",
    "python_resolver",
    "rust_runtime",
]


@pytest.fixture(scope="session")
def python_project(tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> Path:
    """A project whose ``.venv`` has some fifty distributions; read it, change nothing."""
    base = tmp_path_factory.getbasetemp()
    root = (base if worker_id == "master" else base.parent) / "python-project"
    with FileLock(f"{root}.lock"):
        told = root / "failed.txt"
        if not root.exists():
            root.mkdir()
            told.write_text(python_environment.install(root), "utf-8")
            settle(root)
    if failed := told.read_text("utf-8"):
        unavailable(f"the packages cannot be installed here: {failed}")
    return root


@pytest.fixture(scope="session")
def python_surfaces(python_project: Path) -> python_environment.Surfaces:
    return python_environment.Surfaces(python_environment.site_packages(python_project))
