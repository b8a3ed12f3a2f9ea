"""Packages that are installed nowhere, unpacked on the local disk, and environments of them.

A folder has two kinds of things, both immutable: what was unpacked, named by the digest of what was
fetched (one package's files alone, or with what reading it needs, laid out as an environment), and
environments of several packages: hard links to such files, laid out as an installer leaves them.
Whatever reads an installed project reads these alike. Processes may share the folder: what is made
is filled elsewhere and renamed, so that it is there whole or not at all.
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
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from docstow.core.errors import DocstowError, StoreError
from docstow.sources.packages.archives import made_whole

if TYPE_CHECKING:
    from docstow.core.model import Revision

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
class Unpacked:
    """What lies in a folder after a package was unpacked there.

    Attributes:
        beside: other packages that lie there because reading it needs them, as ``name version``.
        left_out: what could not be had or was not taken, in sentences for people.
    """

    beside: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class UnpackedFolder:
    """A package where it lies unpacked.

    Attributes:
        folder: a project with an environment, as :meth:`PackageRegistry.unpack` leaves it.
        unpacked: what was said when it was unpacked.
    """

    folder: Path
    unpacked: Unpacked


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
        limit_bytes: what the packages may weigh together, on disk; the least recently used ones
            go, with the environments that they are in.
        hold_s: for how long what was used stays in any case, for readers in other processes; what
            this one reads by :meth:`open` stays until that is closed.
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
        self._lock = threading.Lock()
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
            StoreError: the disk is full or cannot be written.
            as ``unpack`` does.
        """
        key = digest_of("project", revision.source.key, revision.validator or uuid.uuid4().hex)
        with self._lock:
            self._reading[key] += 1

        def fill(tree: Path) -> Mapping[str, Any]:
            made = unpack(revision, tree)
            return {"beside": made.beside, "left_out": made.left_out}

        try:
            here = (self._packages / key).is_dir()
            facts = self._unpack(key, fill)
            if not here:
                self._make_room()
            said = (tuple(facts.get(each, ())) for each in ("beside", "left_out"))
            yield UnpackedFolder(self._packages / key / _TREE, Unpacked(*said))
        finally:
            with self._lock:
                self._reading[key] -= 1
                if not self._reading[key]:
                    del self._reading[key]
            if not revision.validator:
                _remove(self._packages / key)

    def find(self, key: str) -> MadeEnvironment | None:
        """Return an environment if it is here, with all its packages, and nothing is to be retried.

        Its packages count as used.
        """
        place = self._environments / key
        facts = _facts(place)
        if facts is None:
            return None
        stale = facts["missing"] and self._clock() - facts["made"] > RETRY_S
        here = [self._use(self._packages / each) is not None for each in facts["packages"]]
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

        def unpack(key: str, make: Callable[[Path], object]) -> Path:
            def fill(tree: Path) -> Mapping[str, Any]:
                make(_made(tree))
                return {}

            self._unpack(key, fill)
            return self._packages / key / _TREE

        with self._linking[int(key[:2], 16) % _LOCKS]:
            if (found := self.find(key)) is not None:
                return found
            with _made_unless_there(place, lambda: self.find(key) is not None) as made:
                assembly = Assembly(_made(made / _TREE), unpack)
                missing = tuple(fill(assembly))
                _made(made / _NOTES)
                facts = {
                    "packages": sorted(assembly.keys),
                    "missing": missing,
                    "made": self._clock(),
                }
                (made / _FACTS).write_text(json.dumps(facts), encoding="utf-8")
            found = self.find(key)
            self._make_room()
        if found is None:
            raise StoreError(f"The folder {place.parent} lost what was just put there; ask again.")
        return found

    def _unpack(self, key: str, fill: Callable[[Path], Mapping[str, Any]]) -> Mapping[str, Any]:
        """Return the facts of a package, unpacked by one thread for all that ask.

        Args:
            key: of the package.
            fill: makes and fills a folder, and returns what is to be remembered.
        """
        place = self._packages / key
        with self._unpacking[int(key[:2], 16) % _LOCKS]:
            if (known := self._use(place)) is not None:
                return known
            with _made_unless_there(place, lambda: self._use(place) is not None) as made:
                said = fill(made / _TREE)
                facts = {"bytes": _weigh(made / _TREE), **said}
                (made / _FACTS).write_text(json.dumps(facts), encoding="utf-8")
            known = self._use(place)
        if known is None:
            raise StoreError(f"The folder {place.parent} lost what was just put there; ask again.")
        return known

    def _use(self, place: Path) -> dict[str, Any] | None:
        """Note that a package is used; return its facts if it is here."""
        facts = _facts(place)
        if facts is not None:
            # Whoever may only read it cannot note it.
            with contextlib.suppress(OSError):
                now = self._clock()
                os.utime(place / _FACTS, (now, now))
        return facts

    def _make_room(self) -> None:
        """Remove the packages that were used longest ago until the others fit."""
        now = self._clock()
        with _explained(self._packages):
            listed = sorted(_listed(self._packages))
            total = sum(size for _, size, _ in listed)
            with self._lock:
                reading = set(self._reading)
            gone = set()
            for used_at, size, place in listed:
                held = place.name in reading or now - used_at < self._hold_s
                if total > self._limit_bytes and not held:
                    gone.add(place.name)
                    total -= size
            # An environment goes before what it is made of, so that none is there in parts.
            if gone:
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
def _made_unless_there(place: Path, usable: Callable[[], bool]) -> Iterator[Path]:
    """Give an empty folder to fill, which gets its name unless another process was faster.

    Args:
        place: its name. What is there and not usable makes way.
        usable: whether there is such a thing already; it has the same content.

    Raises:
        StoreError: the disk is full or cannot be written.
    """
    try:
        with _explained(place.parent):
            place.parent.mkdir(parents=True, exist_ok=True)
            with made_whole(place) as made:
                yield made
                # In this order: another process may put its own there in between, which is whole.
                if place.exists() and not usable():
                    _remove(place)
    except StoreError:
        if not usable():
            raise


@contextlib.contextmanager
def _explained(folder: Path) -> Iterator[None]:
    try:
        yield
    except DocstowError:
        # Some of these are errors of the system's kinds, too.
        raise
    except OSError as fault:
        raise StoreError(
            f"The folder of unpacked packages {folder} cannot be used: {fault.strerror or fault}."
            " Free some space, lower package_bytes, or name another cache."
        ) from fault
