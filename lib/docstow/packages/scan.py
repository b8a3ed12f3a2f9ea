"""One scan of a project: places are found, what is installed there is read, the rest is locked.

This room knows the order of things. It does not know any environment's or lock file's form.
"""

from __future__ import annotations

from pathlib import Path

from docstow.packages.found import Scan
from docstow.packages.memory import Memory


def scan(root: Path, memory: Memory) -> Scan:
    """What is installed or locked in a project.

    Args:
        root: its directory.
        memory: what was found before; it learns what is found now.

    Raises:
        EnvironmentNotFound: nothing is.
    """
    raise NotImplementedError
