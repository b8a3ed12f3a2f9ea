"""``cargo check`` as the engine that judges Rust code by what a project depends on.

It runs the build scripts and the macros of these packages, so that it is used where the operator
has turned it on alone. The project is read and never written: the code is the library of a package
of our own, which depends on what the project's packages depend on, with the locked versions and
their features. Sources are those that Cargo has fetched or that the project has vendored; nothing
is fetched.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import signal
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from docstow.core import confined, toml
from docstow.core.errors import TooLarge, UnreadableInput
from docstow.languages.rust.cargo_lock import parse
from docstow.languages.shared.boundary import Boundary
from docstow.languages.shared.scanning import table_at

#: How long one call may take: what it has built until then is kept for the next one.
_WAIT_S = 60.0
_MEMORY_BYTES, _CPU_S, _FILE_BYTES = 2 * 1024**3, 600, 256 * 1024**2
_LONGEST_ANSWER = 32 * 1024**2
_LARGEST_LOCK = 8 * 1024**2
#: Of so many projects what was built is kept, hundreds of megabytes each.
_PROJECTS_KEPT = 8
_CRATES_IO = "registry+https://github.com/rust-lang/crates.io-index"
_NAME, _FILE, _LOCK = "judged", "src/lib.rs", ".lock"
#: What compilers and linkers need beside the toolchain.
_TOOLS = ("/usr", "/bin", "/etc/alternatives")
_PATH = ("/usr/local/bin", "/usr/bin", "/bin")
_ALLOWED = {"replace-with", "registry", "git", "branch", "tag", "rev", "directory"}
#: Settings of a source that are a folder.
_FOLDER = "directory"


@dataclass(frozen=True, slots=True)
class Error:
    """An error of the compiler.

    Attributes:
        code: ``E0599``; empty for some.
        message: what is wrong.
        line: from 1, of the code.
        start: the first byte of the place in its line.
        text: what is written there.
        notes: what it says beside that.
    """

    code: str
    message: str
    line: int
    start: int
    text: str
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Checked:
    """What the compiler says of a piece of code.

    Attributes:
        cargo: its version.
        errors: in the order in which it tells them; none where the code is right.
        passed: whether it compiles.
    """

    cargo: str
    errors: tuple[Error, ...]
    passed: bool


@dataclass(frozen=True, slots=True)
class _Toolchain:
    cargo: Path
    root: Path
    host: str
    version: str


def version() -> str:
    """Return the version of Cargo on this machine; empty where there is none."""
    found = _toolchain()
    return found.version if found is not None else ""


def forget_toolchain() -> None:
    """Have the next call look for Cargo again."""
    _toolchain.cache_clear()


def check(folder: Path, root: Path, code: str, *, first_line: int = 1) -> Checked:
    """Have Cargo check code against what a project depends on.

    Args:
        folder: where it may build; each project has a folder there.
        root: the project's, with ``Cargo.toml`` and ``Cargo.lock``.
        code: a whole file.
        first_line: of the code in what the caller has, for the lines of errors.

    Raises:
        UnreadableInput: Cargo is not there, or cannot build what the project depends on.
        TooLarge: it takes longer than a call may; the next one goes on from there.
    """
    from filelock import FileLock, Timeout  # 75 ms of imports that only this needs

    toolchain = _toolchain()
    if toolchain is None:
        raise UnreadableInput("there is no cargo on PATH")
    place = folder / hashlib.sha256(os.fsencode(root)).hexdigest()[:24]
    place.mkdir(parents=True, exist_ok=True)
    try:
        with FileLock(place / _LOCK, timeout=_WAIT_S):
            _forget_projects(folder, place)
            return _Cargo(toolchain, place, root).check(code, first_line)
    except Timeout:
        raise _too_long() from None


def _forget_projects(folder: Path, place: Path) -> None:
    """Remove what was built of projects beyond those used last, but none that is at work."""
    from filelock import FileLock, Timeout

    place.touch()
    found = [(each.stat().st_mtime_ns, each) for each in folder.iterdir()]
    for _, each in sorted(found, reverse=True)[_PROJECTS_KEPT:]:
        with suppress(Timeout), FileLock(each / _LOCK, timeout=0):
            shutil.rmtree(each, ignore_errors=True)


class _Cargo:
    """Cargo at work in the folder of one project.

    Args:
        toolchain: has it.
        place: the folder.
        root: the project's.
    """

    def __init__(self, toolchain: _Toolchain, place: Path, root: Path) -> None:
        self._toolchain = toolchain
        self._place = place.resolve()
        self._boundary = Boundary(root)
        self._home = Path(os.environ.get("CARGO_HOME") or Path.home() / ".cargo")
        #: Cargo's own folders with what it has fetched.
        self._fetched = [f"{self._home / each}" for each in ("registry", "git")]
        self._vendored: list[str] = []

    def check(self, code: str, first_line: int) -> Checked:
        package = self._place / _NAME
        lock = self._boundary.read("Cargo.lock", most=_LARGEST_LOCK).decode("utf-8", "replace")
        (package / "src").mkdir(parents=True, exist_ok=True)
        (self._place / "home").mkdir(exist_ok=True)
        self._configure()
        made = self._manifest(self._metadata(self._boundary.root, "--locked"))
        written = hashlib.sha256(f"{made}\0{lock}".encode()).hexdigest()
        state = self._place / "state"
        if not state.exists() or state.read_text("ascii") != written:
            (package / "Cargo.toml").write_text(made, "utf-8")
            (package / "Cargo.lock").write_text(lock, "utf-8")
            (package / _FILE).write_text("", "utf-8")
            self._metadata(package)
            self._check_versions(lock, (package / "Cargo.lock").read_text("utf-8"))
            state.write_text(written, "ascii")
        (package / _FILE).write_text(code, "utf-8")
        # Code with tests is checked with them.
        how = ("check", "--lib", "--profile", "test", "--message-format", "json", "--locked")
        status, said = self._run(package, how)
        errors = tuple(_errors(said, first_line))
        if status and not errors:
            raise UnreadableInput(self._reason())
        return Checked(self._toolchain.version, errors, not status)

    def _configure(self) -> None:
        """Write what Cargo is told: where sources are, as the user and the project say it."""
        home = self._place / "cargo"
        home.mkdir(exist_ok=True)
        for target in map(Path, self._fetched):
            link = home / target.name
            if not link.is_symlink() or link.readlink() != target:
                link.unlink(missing_ok=True)
                link.symlink_to(target, target_is_directory=True)
        told = {**self._sources(self._home), **self._sources(self._boundary.root / ".cargo")}
        (home / "config.toml").write_text(
            "".join(f"[source.{json.dumps(name)}]\n{_rows(each)}" for name, each in told.items()),
            "utf-8",
        )

    def _sources(self, folder: Path) -> dict[str, dict[str, str]]:
        """Return where a folder's settings of Cargo say that sources are."""
        file = next((f for n in ("config.toml", "config") if (f := folder / n).is_file()), None)
        if file is None:
            return {}
        allowed = Boundary(folder.parent, (self._home, self._boundary.root))
        try:
            read = toml.loads(allowed.read(file).decode("utf-8"))
        except ValueError:
            return {}
        found: dict[str, dict[str, str]] = {}
        for name, table in table_at(read, "source").items():
            kept = {key: str(table[key]) for key in _ALLOWED & table.keys()}
            if _FOLDER in kept:
                vendored = allowed.inside(Path(kept[_FOLDER]), folder.parent)
                kept[_FOLDER] = f"{vendored}"
                self._vendored.append(f"{vendored}")
            found[name] = kept
        return found

    def _manifest(self, metadata: Mapping[str, Any]) -> str:
        """Return the manifest of a package that depends on what the project's packages do."""
        packages = {each["id"]: each for each in metadata["packages"]}
        nodes = {each["id"]: each for each in metadata["resolve"]["nodes"]}
        members = metadata["workspace_members"]
        own = metadata["resolve"].get("root") or members[0]
        needs: dict[str, str] = {}
        for member in sorted(members, key=lambda each: each != own):
            for each in nodes[member]["deps"]:
                if any(kind["kind"] != "build" for kind in each["dep_kinds"]):
                    needs.setdefault(each["name"], each["pkg"])
        rows = "".join(
            f"[dependencies.{json.dumps(name)}]\n"
            + _rows(self._dependency(packages[key], nodes[key]["features"]))
            for name, key in needs.items()
        )
        edition = json.dumps(packages[own]["edition"])
        head = f'[package]\nname = "{_NAME}"\nversion = "0.0.0"\nedition = {edition}\n'
        return f"{head}[workspace]\n{rows}"

    def _dependency(
        self, package: Mapping[str, Any], features: Sequence[str]
    ) -> dict[str, str | bool | list[str]]:
        """Return how a package is named in a manifest, with the features that the project uses."""
        found: dict[str, str | bool | list[str]] = {"package": package["name"]}
        source = str(package["source"] or "")
        kind, _, address = source.partition("+")
        if not source:
            place = Path(package["manifest_path"]).parent
            found["path"] = f"{self._boundary.inside(place)}"
        elif kind == "git":
            parts = urlsplit(address)
            found["git"] = parts._replace(query="", fragment="").geturl()
            found |= {key: text for key, text in parse_qsl(parts.query) if key in _ALLOWED}
        else:
            found["version"] = f"={package['version']}"
            if source != _CRATES_IO:
                found["registry-index"] = source if kind == "sparse" else address
        found["default-features"] = False
        found["features"] = [each for each in features if each != "default"]
        if "default" in features:
            found["default-features"] = True
        return found

    def _check_versions(self, locked: str, used: str) -> None:
        """Raise UnreadableInput where other versions would be used than the project has locked."""
        known = {e[:3] for e in _locked(locked)}
        others = sorted(each for each in _locked(used) if each not in known)
        if others:
            (self._place / "state").unlink(missing_ok=True)
            raise UnreadableInput(f"{others[0][0]} {others[0][1]} is not what Cargo.lock has")

    def _metadata(self, package: Path, *more: str) -> dict[str, Any]:
        how = ("metadata", "--format-version", "1", "--filter-platform", self._toolchain.host)
        status, said = self._run(package, (*how, *more))
        if status or not said:
            raise UnreadableInput(self._reason())
        found: dict[str, Any] = json.loads(said[0])
        return found

    def _run(self, package: Path, arguments: Sequence[str]) -> tuple[int, list[bytes]]:
        """Run Cargo for a package; return its status and the lines that it printed."""
        toolchain, place = self._toolchain, self._place
        reads = [f"{self._boundary.root}", f"{toolchain.root}", *_TOOLS]
        manifest = ("--manifest-path", f"{package / 'Cargo.toml'}")
        settings = {
            "PATH": os.pathsep.join((f"{toolchain.cargo.parent}", *_PATH)),
            "CARGO_HOME": f"{place / 'cargo'}",
            "CARGO_TARGET_DIR": f"{place / 'target'}",
            "CARGO_INCREMENTAL": "0",
            "CARGO_TERM_COLOR": "never",
            "RUSTFLAGS": "-Awarnings",
        }
        command = confined.command(
            [f"{toolchain.cargo}", "--offline", *arguments, *manifest],
            reads=[*reads, *self._fetched, *self._vendored],
            memory_bytes=_MEMORY_BYTES,
            cpu_s=_CPU_S,
            writes=[f"{place}"],
            file_bytes=_FILE_BYTES,
        )
        with (place / "said").open("w+b") as said, (place / "told").open("wb") as told:
            process = subprocess.Popen(  # noqa: S603
                command,
                stdin=subprocess.DEVNULL,
                stdout=said,
                stderr=told,
                cwd=place,
                env=confined.environment(f"{place / 'home'}", settings),
                start_new_session=True,
            )
            with _ended(process):
                status = process.wait(_WAIT_S)
            said.seek(0)
            return status, said.read(_LONGEST_ANSWER).splitlines()

    def _reason(self) -> str:
        """Return in a line why Cargo could not do it."""
        text = (self._place / "told").read_bytes()[:_LONGEST_ANSWER].decode("utf-8", "replace")
        lines = [each for each in text.splitlines() if each.startswith("error")]
        return (lines or text.splitlines() or ["it ended"])[0][:200]


@contextmanager
def _ended(process: subprocess.Popen[bytes]) -> Iterator[None]:
    """End a process and all that it has started, whatever happens."""
    try:
        yield
    except subprocess.TimeoutExpired:
        raise _too_long() from None
    finally:
        if process.poll() is None:
            with suppress(OSError, AttributeError):
                os.killpg(process.pid, signal.SIGKILL)
            process.kill()
            process.wait()


def _too_long() -> TooLarge:
    return TooLarge(
        f"it took more than {_WAIT_S:g} seconds; ask again, it goes on with what is built",
        limit=int(_WAIT_S),
    )


@lru_cache(maxsize=1)
def _toolchain() -> _Toolchain | None:
    """Return the toolchain that is on PATH, itself and not what chooses among several."""
    rustc, cargo = shutil.which("rustc"), shutil.which("cargo")
    if rustc is None or cargo is None:
        return None
    try:
        root = Path(_ask(rustc, "--print", "sysroot").strip())
        named = dict(line.split(": ", 1) for line in _ask(rustc, "-vV").splitlines()[1:])
        inside = root / "bin" / Path(cargo).name
        program = inside if inside.is_file() else Path(cargo)
        number = _ask(str(program), "--version").split()[1]
    except (OSError, ValueError, IndexError, subprocess.SubprocessError):
        return None
    return _Toolchain(program, root, named.get("host", ""), number)


def _ask(*command: str) -> str:
    done = subprocess.run(  # noqa: S603
        command, capture_output=True, check=True, timeout=_WAIT_S, cwd=Path(command[0]).parent
    )
    return done.stdout.decode()


def _errors(said: Sequence[bytes], first_line: int) -> Iterator[Error]:
    """Yield the errors in the code from the messages that Cargo prints; lines of JSON."""
    for line in said:
        told: dict[str, Any] = json.loads(line) if line.startswith(b"{") else {}
        if told.get("reason") != "compiler-message" or told["target"]["name"] != _NAME:
            continue
        message = told["message"]
        if message["level"] != "error":
            continue
        code = (message["code"] or {}).get("code", "")
        notes = tuple(str(each["message"]) for each in message["children"])
        for span in message["spans"]:
            if not (span["is_primary"] and span["text"] and span["file_name"] == _FILE):
                continue
            written = span["text"][0]["text"]
            start, end = span["column_start"] - 1, span["column_end"] - 1
            until = end if span["line_start"] == span["line_end"] else len(written)
            yield Error(
                code,
                str(message["message"]),
                span["line_start"] - 1 + first_line,
                len(written[:start].encode()),
                written[start:until],
                notes,
            )


def _locked(text: str) -> set[tuple[str, str, str]]:
    """Return the packages of a lock file that come from elsewhere."""
    some = parse(text).by_name.values()
    return {(e.name, e.version, e.source) for each in some for e in each if e.source}


def _rows(table: Mapping[str, str | bool | list[str]]) -> str:
    """Return the rows of a TOML table; texts are written alike in TOML and in JSON."""
    return "".join(
        f"{key} = {json.dumps(value, ensure_ascii=False)}\n" for key, value in table.items()
    )
