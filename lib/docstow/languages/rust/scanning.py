"""How projects are scanned for crates: lock files, and the sources that Cargo keeps."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path

from docstow.languages.rust.cargo_lock import parse
from docstow.languages.shared.project import Locked
from docstow.languages.shared.sandbox import first_folder
from docstow.languages.shared.scanning import (
    KeptSources,
    LockFile,
    ReadNames,
    Scanning,
    table_at,
    tables_at,
)

_CARGO = re.compile(r"^\[(?:package|(?:workspace\.|dev-|build-)?dependencies)\b", re.MULTILINE)
_DESCRIPTION = re.compile(r'^description\s*=\s*"((?:[^"\\]|\\.){1,300})', re.MULTILINE)


def find_registries(environ: Mapping[str, str], home: Path) -> list[Path]:
    """Return the folders in which Cargo keeps crates, one of each registry."""
    place = Path(environ.get("CARGO_HOME") or home / ".cargo") / "registry" / "src"
    try:
        return sorted(each for each in place.iterdir() if each.is_dir())
    except OSError:
        return []


def find_crate(name: str, version: str, registries: Sequence[Path]) -> Path | None:
    """Return where the sources of a crate are."""
    return first_folder(each / f"{name}-{version}" for each in registries)


def read_cargo_lock(text: str) -> list[Locked]:
    """Read the packages of a ``Cargo.lock`` that come from elsewhere.

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


def cargo_toml(text: str) -> set[str]:
    """Read the dependencies of all kinds of a ``Cargo.toml``, of workspace and targets too."""
    read = tomllib.loads(text)
    places = [read, table_at(read, "workspace"), *tables_at(read, "target")]
    kinds = ("dependencies", "dev-dependencies", "build-dependencies")
    return {name for place in places for kind in kinds for name in table_at(place, kind)}


def _description(manifest: str) -> str:
    found = _DESCRIPTION.search(manifest)
    return found[1].replace('\\"', '"') if found else ""


def _recognise(text: str) -> ReadNames | None:
    return cargo_toml if _CARGO.search(text) else None


SCANNING = Scanning(
    # Lock files say what the project asks for, so that its manifests are not read.
    manifests=("Cargo.toml",),
    manifest_of=_recognise,
    lock_files={"Cargo.lock": LockFile("cargo", read_cargo_lock)},
    kept=KeptSources(
        "Cargo.lock", find_registries, find_crate, summary=("Cargo.toml", _description)
    ),
    locked_imports=lambda name: (name.replace("-", "_"),),
)
