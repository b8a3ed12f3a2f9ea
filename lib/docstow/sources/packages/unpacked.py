"""Packages of registries as they lie unpacked in the local cache, each once for all that read it.

An entry is a folder that is never changed: it is filled under another name and gets its own when it
is whole, so that neither a crash nor a second process leaves half of one. Who reads it keeps it.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import shutil
import tempfile
import threading
import time
import uuid
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from docstow.core.errors import StoreError
from docstow.sources.packages import Unpacked

if TYPE_CHECKING:
    from docstow.core.model import Revision

#: Layout of the folders; a release that lays them out otherwise counts it up.
_LAYOUT = 1
#: An entry that was opened so few seconds ago stays: another process may read it.
HOLD_S = 600.0
#: What is older and bears the name of what is unfinished or removed was left behind by a crash.
_LEFTOVER_AGE_S = 3600.0
_BLOCK = 4096
_FILES, _ABOUT = "files", "about.json"
_FILLING, _GONE = ".filling-", ".gone-"


@dataclass(frozen=True, slots=True)
class UnpackedFolder:
    """A package where it lies unpacked.

    Attributes:
        folder: a project with an environment, as :meth:`PackageRegistry.unpack` leaves it.
        unpacked: what was said when it was unpacked.
    """

    folder: Path
    unpacked: Unpacked


class UnpackedPackages:
    """Folders of unpacked packages, of which the least recently used go first.

    Threads and processes may share the directory.

    Args:
        directory: made when missing.
        limit_bytes: what the folders may weigh together, on disk. One that is being read, or was
            opened less than ``hold_s`` ago, stays even if that exceeds the limit.
        hold_s: how long a reader in another process may take.
        clock: seconds since the epoch.
    """

    def __init__(
        self,
        directory: Path,
        limit_bytes: int,
        *,
        hold_s: float = HOLD_S,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._directory = directory / f"{_LAYOUT}"
        self._limit_bytes = limit_bytes
        self._hold_s = hold_s
        self._clock = clock
        self._lock = threading.Lock()
        self._filling: dict[str, threading.Lock] = {}
        self._reading: Counter[str] = Counter()

    @contextlib.contextmanager
    def open(
        self, revision: Revision, unpack: Callable[[Revision, Path], Unpacked]
    ) -> Iterator[UnpackedFolder]:
        """Give the folder of a version, unpacked now if it is not here; it stays while it is read.

        Args:
            revision: resolved. It is known by its digest; where the registry states none, it is
                unpacked anew each time.
            unpack: fetches and unpacks it into a folder that is not there yet.

        Raises:
            StoreError: the cache cannot be written.
            as ``unpack`` does.
        """
        key = _key(revision)
        with self._lock:
            self._reading[key] += 1
            turn = self._filling.setdefault(key, threading.Lock())
        try:
            with turn:
                found = self._find(key) or self._fill(key, revision, unpack)
            yield found
        finally:
            with self._lock:
                self._reading[key] -= 1
                if not self._reading[key]:
                    del self._reading[key]
                    self._filling.pop(key, None)
            if not revision.validator:
                self._remove(self._directory / key)

    def _find(self, key: str) -> UnpackedFolder | None:
        entry = self._directory / key
        try:
            about = json.loads((entry / _ABOUT).read_bytes())
            unpacked = Unpacked(tuple(about["beside"]), tuple(about["left_out"]))
            now = self._clock()
            os.utime(entry, (now, now))
        except FileNotFoundError:
            return None
        except (OSError, ValueError, KeyError, TypeError):
            # Somebody else has been at it.
            self._remove(entry)
            return None
        return UnpackedFolder(entry / _FILES, unpacked)

    def _fill(
        self, key: str, revision: Revision, unpack: Callable[[Revision, Path], Unpacked]
    ) -> UnpackedFolder:
        entry = self._directory / key
        with self._explained():
            self._directory.mkdir(parents=True, exist_ok=True)
            made = Path(tempfile.mkdtemp(prefix=_FILLING, dir=self._directory))
        try:
            unpacked = unpack(revision, made / _FILES)
            about = {
                "package": revision.source.key,
                "bytes": _weigh(made),
                "beside": list(unpacked.beside),
                "left_out": list(unpacked.left_out),
            }
            with self._explained():
                (made / _ABOUT).write_text(json.dumps(about), encoding="utf-8")
                # Where another process was faster, it has unpacked the same.
                with contextlib.suppress(FileExistsError, PermissionError):
                    _rename(made, entry)
        finally:
            shutil.rmtree(made, ignore_errors=True)
        self._make_room()
        found = self._find(key)
        if found is None:
            raise StoreError(
                f"The cache {self._directory} lost what was just put there; ask again."
            )
        return found

    def _make_room(self) -> None:
        """Remove the least recently used entries until the others fit."""
        with self._lock:
            now, total = self._clock(), 0
            entries: list[tuple[float, int, Path]] = []
            with self._explained():
                for each in list(self._directory.iterdir()):
                    with contextlib.suppress(FileNotFoundError, NotADirectoryError):
                        used = each.stat().st_mtime
                        if each.name.startswith((_FILLING, _GONE)):
                            if now - used > _LEFTOVER_AGE_S:
                                shutil.rmtree(each, ignore_errors=True)
                            continue
                        entries.append((used, _stated_bytes(each), each))
            total = sum(weight for _, weight, _ in entries)
            for used, weight, entry in sorted(entries):
                if total <= self._limit_bytes:
                    break
                if entry.name not in self._reading and now - used >= self._hold_s:
                    self._remove(entry)
                    total -= weight

    def _remove(self, entry: Path) -> None:
        """Remove an entry: first its name, so that nobody finds a half of it."""
        gone = self._directory / f"{_GONE}{uuid.uuid4().hex}"
        with contextlib.suppress(OSError):
            entry.rename(gone)
            shutil.rmtree(gone, ignore_errors=True)

    @contextlib.contextmanager
    def _explained(self) -> Iterator[None]:
        try:
            yield
        except OSError as fault:
            raise StoreError(
                f"The cache {self._directory} cannot be used: {fault.strerror or fault}. Free some"
                " space, lower the cache's limit, or name another directory."
            ) from fault


def _key(revision: Revision) -> str:
    """Return the name of a version's folder; another one each time where nothing identifies it."""
    digest = revision.validator or uuid.uuid4().hex
    return hashlib.sha256(f"{revision.source.key}\n{digest}".encode()).hexdigest()


def _rename(made: Path, entry: Path) -> None:
    try:
        made.rename(entry)
    except OSError as fault:
        if entry.is_dir():
            raise FileExistsError(str(entry)) from fault
        raise


def _weigh(folder: Path) -> int:
    """Return what the files below a folder take on disk, in bytes."""
    total = 0
    for path, folders, files in os.walk(folder):
        total += _BLOCK * len(folders)
        for name in files:
            size = os.lstat(os.path.join(path, name)).st_size  # noqa: PTH118 - many files
            total += -(-size // _BLOCK) * _BLOCK
    return total


def _stated_bytes(entry: Path) -> int:
    try:
        return int(json.loads((entry / _ABOUT).read_bytes())["bytes"])
    except (OSError, ValueError, KeyError, TypeError):
        return 0
