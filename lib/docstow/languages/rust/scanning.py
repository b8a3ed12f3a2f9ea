"""How projects are scanned for crates, and how texts about Rust are recognised."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from docstow.core import toml
from docstow.core.patterns import lazy_pattern
from docstow.core.versions import Version, choose
from docstow.languages.rust.cargo_lock import parse
from docstow.languages.shared.boundary import first_folder
from docstow.languages.shared.language import ErrorMessageFormat, Mention, Texts, Versions
from docstow.languages.shared.project import Locked
from docstow.languages.shared.scanning import (
    LockFile,
    PackageSources,
    ReadNames,
    Scanning,
    table_at,
    tables_at,
)

_CARGO = lazy_pattern(r"^\[(?:package|(?:workspace\.|dev-|build-)?dependencies)\b", re.MULTILINE)
_DESCRIPTION = lazy_pattern(r'^description\s*=\s*"((?:[^"\\]|\\.){1,300})', re.MULTILINE)
_MARKS = lazy_pattern(r"^error(?:\[E\d{4}\])?: |^[ \t]*-->\s\S+\.rs:\d+", re.MULTILINE)
#: So many lines around an error may show its code.
_SHOWN = 6
_TICKED = lazy_pattern(r"`([A-Za-z_]\w*(?:::\w+)+)")
_NOT_IN = lazy_pattern(
    r"(?:cannot find(?: \w+){0,3}|could not find) `(\w+)` in (?:\w+ )?`([\w:]+)`"
)
_UNDECLARED = lazy_pattern(
    r"(?:undeclared crate or module|unresolved module or unlinked crate|can't find crate for"
    r"|unresolved import) `(\w+)`"
)
_NO_METHOD = lazy_pattern(
    r"no (?:method|function or associated item|associated item|variant[^`]*|field) "
    r"(?:named )?`(\w+)` (?:found|on|exists)[^`]*`&?(?:'\w+ )?(?:mut )?([\w:]+)"
)
_NO_FIELD = lazy_pattern(r"`([\w:]+)[^`]*` has no field named `(\w+)`")
_DECLARED = lazy_pattern(r"\b(?:struct|enum|union|type|trait) (\w+)")
_IMPORTS = lazy_pattern(
    r"^[ \t]*(?:pub(?:\([^)]*\))? +)?use +(?:::)?(\w+)(?:::|;| as )|^[ \t]*extern crate (\w+)",
    re.MULTILINE,
)
_CODE = lazy_pattern(
    r"^[ \t]*(use [\w:]+|pub |fn |impl|let |#\[|extern crate|mod |struct )", re.MULTILINE
)
_NOT_CRATES = frozenset(("std", "core", "alloc", "crate", "self", "super", "proc_macro", "test"))


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
    read = toml.loads(text)
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
    kept=PackageSources(
        "Cargo.lock", find_registries, find_crate, summary=("Cargo.toml", _description)
    ),
    locked_imports=lambda name: (name.replace("-", "_"),),
)


def _mentions(lines: Sequence[str]) -> Iterator[Mention]:
    """Yield the names that the lines of a message speak of."""
    # The checks are imported where a text is read: any project's scan imports this module.
    from docstow.languages.rust.check.std import standard_paths

    own = {name for line in lines for name in _DECLARED.findall(line)}
    for package, names, number in _paths(lines):
        if package not in own and package in standard_paths():
            package, *above = standard_paths()[package].split("::")
            names = (*above, *names)
        if package[:1].islower():
            yield Mention(package, names, number)


def _paths(lines: Sequence[str]) -> Iterator[tuple[str, tuple[str, ...], int]]:
    """Yield what rustc names: types without their paths too, where there is but one of the name."""
    from docstow.languages.rust.check.std import PRIMITIVES, standard_paths

    for number, line in enumerate(lines, 1):
        for name, owner in _NOT_IN.findall(line):
            shown = lines[max(0, number - _SHOWN) : number + _SHOWN] if "::" not in owner else ()
            yield _path(_in_code(f"{owner}::{name}", shown), number)
        members = [(owner, name) for name, owner in _NO_METHOD.findall(line)]
        for owner, name in (*members, *_NO_FIELD.findall(line)):
            if "::" in owner or owner in PRIMITIVES or owner in standard_paths():
                yield _path(f"{owner}::{name}", number)
        for path in _TICKED.findall(line):
            yield _path(path, number)
        for name in _UNDECLARED.findall(line):
            yield name, (), number


def _in_code(path: str, lines: Sequence[str]) -> str:
    """Return a path with its beginning, as the lines of code around the error have it."""
    whole = re.compile(rf"\b(?:\w+::)*{re.escape(path)}\b")
    found = (match[0] for line in lines for match in whole.finditer(line))
    return next(found, path)


def _path(path: str, line: int) -> tuple[str, tuple[str, ...], int]:
    package, *names = path.split("::")
    return package, tuple(names), line


TEXTS = Texts(
    messages=(ErrorMessageFormat("rust", _MARKS, _mentions, compiled=True),),
    imports=_IMPORTS,
    is_package=lambda name: name not in _NOT_CRATES,
    code=_CODE,
)


def _order(version: str) -> tuple[bool, Version | str]:
    try:
        return True, Version.parse(version)
    except ValueError:
        return False, version


VERSIONS = Versions(choose=choose, order=_order)
