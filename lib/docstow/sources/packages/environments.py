"""Environments of packages that are installed nowhere: each unpacked once, and linked together.

A folder of the local disk has two kinds of things, both immutable: the files of one package, named
by the digest of what was fetched, and environments: hard links to such files, laid out as an
installer leaves them. Whatever reads an installed project reads these alike. Processes may share
the folder: what is made is filled elsewhere and renamed, so that it is there whole or not at all.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import shutil
import threading
import time
import uuid
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from docstow.core.errors import StoreError
from docstow.sources.packages.archives import made_whole

#: Raised with every change of what is kept of a package, or of how it is laid out.
_LAYOUT = "1"
#: What was used so recently stays, even beyond the limit: somebody may be reading it. In seconds.
HOLD_S = 600.0
#: An environment of which something could not be had is made again after so many seconds.
RETRY_S = 300.0
#: What is unfinished for so long was left by a process that died. In seconds.
_LEFTOVER_AGE_S = 3600.0
_PACKAGES, _ENVIRONMENTS = "packages", "environments"
_TREE, _NOTES, _FACTS = "tree", "notes", "facts.json"
#: Bytes that a file takes of a disk beyond its own.
_BLOCK = 4096
_LOCKS = 64


@dataclass(frozen=True, slots=True)
class MadeEnvironment:
    """Packages that lie together as in a project.

    Attributes:
        root: of the project.
        notes: a folder for what readers want to remember of it; it goes when the environment goes.
        missing: what could not be had or was not taken, in sentences for people.
    """

    root: Path
    notes: Path
    missing: tuple[str, ...]


def digest_of(*parts: str) -> str:
    """Return what names something that is made of these, in hex."""
    return hashlib.sha256("\0".join((_LAYOUT, *parts)).encode()).hexdigest()[:32]


class Assembly:
    """An environment that is being filled.

    Args:
        root: its folder, which is empty.
        unpacked: returns the folder of a package's files by their key, made now if need be.
    """

    def __init__(
        self, root: Path, unpacked: Callable[[str, Callable[[Path], object]], Path]
    ) -> None:
        self.root = root
        self._unpacked = unpacked
        self._lock = threading.Lock()
        #: Keys of the packages in it.
        self.keys: set[str] = set()

    def unpack(self, key: str, make: Callable[[Path], object]) -> Path:
        """Return the folder with the files of a package, which then belongs to the environment.

        Args:
            key: as :func:`digest_of` returns it.
            make: fills an empty folder; what it raises is raised.

        Raises:
            StoreError: the disk is full or cannot be written.
        """
        folder = self._unpacked(key, make)
        with self._lock:
            self.keys.add(key)
        return folder

    def link(
        self, folder: Path, place: str = "", *, wanted: Callable[[str], bool] = lambda _: True
    ) -> None:
        """Put the files of a package into the environment; what is there already stays.

        Args:
            folder: as :meth:`unpack` returned it.
            place: where below the root.
            wanted: whether a file is, by its path below ``folder``.
        """
        waiting = [""]
        while waiting:
            below = waiting.pop()
            target = self.root / place / below
            target.mkdir(parents=True, exist_ok=True)
            with os.scandir(folder / below) as listed:
                for entry in listed:
                    path = f"{below}/{entry.name}" if below else entry.name
                    if entry.is_dir(follow_symlinks=False):
                        waiting.append(path)
                    elif wanted(path):
                        _link(entry.path, target / entry.name)


class PackageFiles:
    """The local packages and environments. Safe to share between threads and processes.

    Args:
        folder: made when missing.
        limit_bytes: what the packages may weigh together; the least recently used ones go, with
            the environments that they are in.
        hold_s: for how long what was used stays in any case.
        clock: seconds since the epoch.
    """

    def __init__(
        self,
        folder: Path,
        limit_bytes: int,
        *,
        hold_s: float = HOLD_S,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._packages = folder / _PACKAGES
        self._environments = folder / _ENVIRONMENTS
        self._limit_bytes = limit_bytes
        self._hold_s = hold_s
        self._clock = clock
        self._unpacking = tuple(threading.Lock() for _ in range(_LOCKS))
        self._linking = tuple(threading.Lock() for _ in range(_LOCKS))

    def find(self, key: str) -> MadeEnvironment | None:
        """Return an environment if it is here, with all its packages, and nothing is to be retried.

        Its packages count as used.
        """
        place = self._environments / key
        facts = _facts(place)
        if facts is None:
            return None
        stale = facts["missing"] and self._clock() - facts["made"] > RETRY_S
        here = [self._touch(self._packages / each) for each in facts["packages"]]
        if stale or not all(here):
            return None
        return MadeEnvironment(place / _TREE, place / _NOTES, tuple(facts["missing"]))

    def obtain(self, key: str, fill: Callable[[Assembly], Sequence[str]]) -> MadeEnvironment:
        """Return an environment, made by one thread for all that ask.

        Args:
            key: as :func:`digest_of` returns it.
            fill: fills it, and returns what could not be had; what it raises is raised.

        Raises:
            StoreError: the disk is full or cannot be written.
        """
        place = self._environments / key
        with self._linking[int(key[:2], 16) % _LOCKS]:
            if (found := self.find(key)) is not None:
                return found
            with _explained(self._environments):
                _remove(place)
                self._environments.mkdir(parents=True, exist_ok=True)
            with _made_by_anybody(place), made_whole(place) as made:
                assembly = Assembly(_made(made / _TREE), self._unpack)
                missing = tuple(fill(assembly))
                _made(made / _NOTES)
                facts = {
                    "packages": sorted(assembly.keys),
                    "missing": missing,
                    "made": self._clock(),
                }
                (made / _FACTS).write_text(json.dumps(facts), encoding="utf-8")
            self._make_room()
            return MadeEnvironment(place / _TREE, place / _NOTES, missing)

    def _unpack(self, key: str, make: Callable[[Path], object]) -> Path:
        place = self._packages / key
        with self._unpacking[int(key[:2], 16) % _LOCKS]:
            if not self._touch(place):
                with _explained(self._packages):
                    self._packages.mkdir(parents=True, exist_ok=True)
                with _made_by_anybody(place), made_whole(place) as made:
                    make(_made(made / _TREE))
                    facts = {"bytes": _weigh(made / _TREE)}
                    (made / _FACTS).write_text(json.dumps(facts), encoding="utf-8")
                self._touch(place)
        return place / _TREE

    def _touch(self, place: Path) -> bool:
        """Note that a package is used; return whether it is here."""
        try:
            now = self._clock()
            os.utime(place / _FACTS, (now, now))
        except FileNotFoundError:
            return False
        except OSError:
            # Whoever may only read it cannot note it.
            return (place / _FACTS).is_file()
        return True

    def _make_room(self) -> None:
        """Remove the packages that were used longest ago until the others fit."""
        now = self._clock()
        with _explained(self._packages):
            listed = sorted(_listed(self._packages))
            total = sum(size for _, size, _ in listed)
            gone = set()
            for used_at, size, place in listed:
                if total > self._limit_bytes and now - used_at >= self._hold_s:
                    gone.add(place.name)
                    total -= size
            # An environment goes before what it is made of, so that none is there in parts.
            for place in list(_finished(self._environments)):
                facts = _facts(place)
                if facts is not None and not gone.isdisjoint(facts["packages"]):
                    _remove(place)
            for key in gone:
                _remove(self._packages / key)
            for folder in (self._packages, self._environments):
                for place in list(_unfinished(folder, now)):
                    shutil.rmtree(place, ignore_errors=True)


def _made(folder: Path) -> Path:
    folder.mkdir()
    return folder


def _link(source: str, target: Path) -> None:
    """Make a hard link, or a copy where the file system has none."""
    try:
        os.link(source, target)
    except FileExistsError:
        return
    except OSError:
        shutil.copyfile(source, target)


def _facts(place: Path) -> dict[str, Any] | None:
    try:
        found = json.loads((place / _FACTS).read_bytes())
    except (OSError, ValueError):
        return None
    return found if isinstance(found, dict) else None


def _weigh(folder: Path) -> int:
    return sum(
        Path(place, each).stat().st_size + _BLOCK
        for place, _, files in os.walk(folder)
        for each in files
    )


def _finished(folder: Path) -> Iterator[Path]:
    with contextlib.suppress(FileNotFoundError), os.scandir(folder) as listed:
        yield from (Path(each.path) for each in listed if not each.name.startswith("."))


def _unfinished(folder: Path, now: float) -> Iterable[Path]:
    """Yield what processes left that died while they made or removed it."""
    with contextlib.suppress(FileNotFoundError), os.scandir(folder) as listed:
        for each in listed:
            with contextlib.suppress(FileNotFoundError):
                if each.name.startswith(".") and now - each.stat().st_mtime > _LEFTOVER_AGE_S:
                    yield Path(each.path)


def _listed(folder: Path) -> Iterator[tuple[float, int, Path]]:
    """Yield time of last use, size and place of every package."""
    for place in _finished(folder):
        facts = _facts(place)
        with contextlib.suppress(FileNotFoundError):
            if facts is not None:
                yield (place / _FACTS).stat().st_mtime, int(facts["bytes"]), place


def _remove(place: Path) -> None:
    """Remove a folder; whoever looks finds it whole or not at all."""
    aside = place.with_name(f".gone-{uuid.uuid4().hex}")
    with contextlib.suppress(FileNotFoundError):
        place.rename(aside)
        shutil.rmtree(aside, ignore_errors=True)


@contextlib.contextmanager
def _made_by_anybody(place: Path) -> Iterator[None]:
    """Take what another process has made meanwhile for one's own."""
    try:
        yield
    except StoreError:
        if _facts(place) is None:
            raise


@contextlib.contextmanager
def _explained(folder: Path) -> Iterator[None]:
    try:
        yield
    except OSError as fault:
        raise StoreError(
            f"The folder of unpacked packages {folder} cannot be used: {fault.strerror or fault}."
            " Free some space, lower package_bytes, or name another cache."
        ) from fault
