"""The sources that Cargo and Go keep of what a project locks, and what their files lock.

This room knows ``Cargo.lock`` beside Cargo's registry, and ``go.mod`` beside Go's module cache. It
does not know any other ecosystem's files.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from docstow.languages.python.lockfiles import Locked
from docstow.languages.rust.cargo_lock import parse

_REQUIRE = re.compile(r"\s*(?:require\s+)?([\w.~-]+(?:/[\w.~!+-]+)*)\s+(v[\w.+-]+)\s*(//.*)?$")


def cargo(environ: Mapping[str, str], home: Path) -> list[Path]:
    """The folders in which Cargo keeps crates, one of each registry."""
    place = Path(environ.get("CARGO_HOME") or home / ".cargo") / "registry" / "src"
    return _folders(place)


def go(environ: Mapping[str, str], home: Path) -> list[Path]:
    """The folder in which Go keeps modules."""
    path = environ.get("GOPATH", "").split(":")[0]
    place = environ.get("GOMODCACHE") or Path(path or home / "go") / "pkg" / "mod"
    return [Path(place)] if Path(place).is_dir() else []


def cargo_lock(text: str) -> list[Locked]:
    """The packages of a ``Cargo.lock`` that come from elsewhere.

    Raises:
        InvalidParameter: it is none.
    """
    lock = parse(text)
    direct = {(each.name, each.version) for own in lock.own for each in lock.needs(own)}
    return [
        Locked(each.name, each.version, (each.name, each.version) in direct)
        for some in lock.by_name.values()
        for each in some
        if each.source
    ]


def go_mod(text: str) -> list[Locked]:
    """What a ``go.mod`` requires; what others brought in it marks itself."""
    return list(_required(text))


def go_sum(text: str) -> list[Locked]:
    """The modules of a ``go.sum`` whose content is used, of each the last that is named."""
    rows = (line.split() for line in text.splitlines())
    found = {row[0]: row[1] for row in rows if len(row) == 3 and not row[1].endswith("/go.mod")}
    return [Locked(name, version) for name, version in found.items()]


def _required(text: str) -> Iterator[Locked]:
    block = ""
    for line in text.splitlines():
        if opened := re.match(r"\s*(\w+)\s*\(\s*$", line):
            block = opened[1]
        elif line.strip() == ")":
            block = ""
        elif block == "require" or line.lstrip().startswith("require "):
            found = _REQUIRE.match(line)
            if found is not None:
                yield Locked(found[1], found[2], "indirect" not in (found[3] or ""))


def crate_folder(name: str, version: str, registries: Sequence[Path]) -> Path | None:
    """Where the sources of a crate are."""
    return _first(each / f"{name}-{version}" for each in registries)


def module_folder(name: str, version: str, caches: Sequence[Path]) -> Path | None:
    """Where the sources of a Go module are: capitals are written with a mark of their own."""
    escaped = re.sub(r"[A-Z]", lambda found: f"!{found[0].lower()}", f"{name}@{version}")
    return _first(each / escaped for each in caches)


def _first(places: Iterator[Path]) -> Path | None:
    with contextlib.suppress(OSError):
        return next((each for each in places if each.is_dir()), None)
    return None


def _folders(place: Path) -> list[Path]:
    try:
        return sorted(each for each in place.iterdir() if each.is_dir())
    except OSError:
        return []
