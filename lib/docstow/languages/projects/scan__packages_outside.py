"""An active environment that is not in the project's folder, and whether it is the project's.

This room knows how tools that keep environments elsewhere name them after a project. The user's
variables say that an environment is active, which does not make it this project's: both the
variable and the project, or what the tool wrote down, have to say so.
"""

from __future__ import annotations

import base64
import hashlib
import os
import re
from collections.abc import Mapping
from pathlib import Path

_LONGEST = 65536


def named_environment(root: Path, environ: Mapping[str, str]) -> Path | None:
    """The active environment if it is inside the root, or the root's own elsewhere.

    Args:
        root: the project's directory, links resolved.
        environ: with ``VIRTUAL_ENV``, ``CONDA_PREFIX`` or ``UV_PROJECT_ENVIRONMENT``.
    """
    for variable in ("VIRTUAL_ENV", "UV_PROJECT_ENVIRONMENT", "CONDA_PREFIX"):
        value = environ.get(variable)
        if not value:
            continue
        folder = Path(os.path.realpath(root / value))
        try:
            if not ((folder / "pyvenv.cfg").is_file() or (folder / "conda-meta").is_dir()):
                continue
            # The project of whoever named it to uv is this one.
            if folder.is_relative_to(root) or variable.startswith("UV") or _names(root, folder):
                return folder
        except OSError:
            continue
    return None


def _names(root: Path, folder: Path) -> bool:
    """Whether the project names the environment, or the environment the project."""
    if (root / ".venv").is_symlink() and Path(os.path.realpath(root / ".venv")) == folder:
        return True
    written = _text(root / ".venv").strip()
    if written and (written == folder.name or Path(written).expanduser() == folder):
        return True
    # virtualenvwrapper and Pipenv write down whose it is.
    if _text(folder / ".project").strip() == str(root):
        return True
    hashes = (_poetry_hash(root), _pipenv_hash(root / "Pipfile"))
    if any(f"-{each}" in folder.name for each in hashes):
        return True
    for name in ("environment.yml", "environment.yaml"):
        found = re.search(r"^name:\s*[\"']?([\w.-]+)", _text(root / name), re.MULTILINE)
        if found and found[1] == folder.name:
            return True
    return False


def _poetry_hash(root: Path) -> str:
    digest = hashlib.sha256(os.path.normcase(root).encode()).digest()
    return base64.urlsafe_b64encode(digest).decode()[:8]


def _pipenv_hash(pipfile: Path) -> str:
    digest = hashlib.sha256(str(pipfile).encode()).digest()
    return base64.urlsafe_b64encode(digest[:6]).decode()[:8]


def _text(path: Path) -> str:
    try:
        if not path.is_file():
            return ""
        with path.open("rb") as file:
            return file.read(_LONGEST).decode("utf-8", "replace")
    except OSError:
        return ""
