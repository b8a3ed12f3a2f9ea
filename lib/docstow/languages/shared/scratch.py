"""Temporary folders that are gone once their process is, however that ended."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path

_LOCK = "lock"
#: A folder of this age without a lock is no longer being made, in seconds.
_MADE_S = 3600.0


class Scratch:
    """A temporary folder of this process; what killed processes left is removed as it is made.

    A lock that ends with its process tells whose folder is still in use.

    Args:
        prefix: of its name, which no other temporary files have.
        base: the folder that it lies in; the system's for temporary files if None.
    """

    def __init__(self, prefix: str, base: Path | None = None) -> None:
        parent = Path(tempfile.gettempdir()) if base is None else base
        with suppress(OSError):
            for each in sorted(parent.glob(f"{prefix}*")):
                _remove_if_abandoned(each)
        self._lock: int | None = None
        # Another process may take the lock of a folder that is just made for an abandoned one.
        while self._lock is None:
            self.path = Path(tempfile.mkdtemp(prefix=prefix, dir=parent)).resolve()
            self._lock = _locked(self.path / _LOCK, os.O_CREAT)

    def close(self) -> None:
        """Remove the folder."""
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None
            shutil.rmtree(self.path, ignore_errors=True)


def _remove_if_abandoned(folder: Path) -> None:
    """Remove a folder of this user's that no process holds."""
    with suppress(OSError):
        about = folder.lstat()
        if hasattr(os, "geteuid") and about.st_uid != os.geteuid():
            return
        if folder.is_symlink() or not folder.is_dir():
            return
        if (folder / _LOCK).exists():
            held = _locked(folder / _LOCK)
            if held is None:
                return
            os.close(held)
        elif time.time() - about.st_mtime < _MADE_S:
            return
        shutil.rmtree(folder, ignore_errors=True)


def _locked(file: Path, flags: int = 0) -> int | None:
    """Open a file that nobody else has locked, and lock it until it is closed; else return None."""
    if sys.platform == "win32":
        # What is open there cannot be removed.
        if not flags:
            file.unlink()
        return os.open(file, os.O_RDWR | os.O_CREAT)
    import fcntl

    opened = os.open(file, os.O_RDWR | os.O_NOFOLLOW | flags, 0o600)
    try:
        fcntl.flock(opened, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(opened)
        return None
    return opened
