"""Advisories that the operator has: an export of OSV, or a checkout of RustSec's database.

Nobody is asked about a package. The files are read once into an index in the cache, and again
where one of them has changed. The schemas are those of https://ossf.github.io/osv-schema/ (1.7)
and of RustSec's ``advisory-db`` (TOML at the head of Markdown).
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
import sqlite3
import threading
import time
import zipfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from docstow.core import toml
from docstow.core.errors import ConfigurationError
from docstow.core.npm_ranges import parse_version
from docstow.core.versions import Requirement, Version
from docstow.languages import PYTHON, RUST, TYPESCRIPT, Language
from docstow.languages.python import versions as python_versions
from docstow.text.invisible import drop_invisible

log = logging.getLogger(__name__)

#: OSV's names of ecosystems, by language.
ECOSYSTEMS = {"PyPI": PYTHON.name, "npm": TYPESCRIPT.name, "crates.io": RUST.name}
#: Bytes of one file, which may list many advisories; of one advisory; and advisories in all.
MOST_FILE, MOST_ENTRY, MOST_ENTRIES = 512 * 1024 * 1024, 8 * 1024 * 1024, 2_000_000
#: Characters of a summary.
LONGEST_SUMMARY = 300
#: The files are looked at again after so many seconds.
FRESH_S = 60.0
_SCHEMA = 1
_BATCH = 5000


@dataclass(frozen=True, slots=True)
class Advisory:
    """A known fault of some versions of a package.

    Attributes:
        id: as its database has it.
        aliases: its ids elsewhere, such as a CVE.
        summary: in one line.
        severity: as it is stated: a word or a CVSS vector; empty where none is.
        kind: ``unmaintained``, ``unsound`` or ``notice`` where it is about no vulnerability.
        published: date; empty where it is not stated.
        fixed: versions that are the first without it.
        url: of a page about it; may be empty.
    """

    id: str
    aliases: tuple[str, ...]
    summary: str
    severity: str
    kind: str
    published: str
    fixed: tuple[str, ...]
    url: str


class Advisories:
    """The advisories in a file or folder. Safe to share between threads.

    Args:
        place: OSV JSON (one advisory or a list), a zip of such, RustSec's Markdown, or a folder
            with any of these below it.
        cache: the folder in which the index is made.
        clock: monotonic seconds.
    """

    def __init__(
        self, place: Path, cache: Path, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._place = place
        self._cache = cache
        self._clock = clock
        self._lock = threading.Lock()
        self._index: Path | None = None
        self._looked = 0.0
        #: Files that could not be read when the index was last made.
        self.unread = 0

    def of(self, language: Language, name: str, version: str) -> list[Advisory]:
        """Return what is known against a version of a package, the gravest kind first.

        Raises:
            ConfigurationError: there is no such file or folder.
        """
        with closing(sqlite3.connect(f"{self._current().as_uri()}?mode=ro", uri=True)) as index:
            self.unread = index.execute("SELECT unread FROM facts").fetchone()[0]
            rows = index.execute(
                "SELECT entry FROM entries WHERE language = ? AND name = ?",
                (language.name, _folded(language, name)),
            ).fetchall()
        entries = [json.loads(row[0]) for row in rows]
        found = {e["id"]: _describe(e) for e in entries if _concerns(language, e, version)}
        # Databases have one fault under several ids: the first that names the others stands.
        told: set[str] = set()
        kept = []
        for each in sorted(found.values(), key=lambda e: (bool(e.kind), e.id)):
            if told.isdisjoint({each.id, *each.aliases}):
                kept.append(each)
            told |= {each.id, *each.aliases}
        return kept

    def _current(self) -> Path:
        """Return the index of the files as they are, made now if need be."""
        with self._lock:
            if self._index is not None and self._clock() - self._looked < FRESH_S:
                return self._index
            files = list(_files(self._place))
            state = hashlib.sha256(f"{_SCHEMA}".encode())
            for path, status in files:
                state.update(f"{path}\0{status.st_size}\0{status.st_mtime_ns}\n".encode())
            index = (self._cache / f"advisories-{state.hexdigest()[:24]}.sqlite").absolute()
            if not index.is_file():
                self._make(index, [path for path, _ in files])
            self._index, self._looked = index, self._clock()
            return index

    def _make(self, index: Path, files: Iterable[Path]) -> None:
        self._cache.mkdir(parents=True, exist_ok=True)
        part = index.with_suffix(f".{os.getpid()}.{threading.get_ident()}.part")
        begun, unread = time.monotonic(), 0
        try:
            with closing(sqlite3.connect(part)) as made:
                made.execute("PRAGMA journal_mode = OFF")
                made.execute("CREATE TABLE entries (language TEXT, name TEXT, entry TEXT)")
                made.execute("CREATE TABLE facts (unread INTEGER)")
                batch: list[tuple[str, str, str]] = []
                total = 0
                for row in _read_all(files):
                    if row is None:
                        unread += 1
                        continue
                    total += 1
                    if total > MOST_ENTRIES:
                        raise ConfigurationError(
                            f"advisories: {self._place} has more than {MOST_ENTRIES} entries; give"
                            " the export of one ecosystem."
                        )
                    batch.append(row)
                    if len(batch) >= _BATCH:
                        made.executemany("INSERT INTO entries VALUES (?, ?, ?)", batch)
                        batch.clear()
                made.executemany("INSERT INTO entries VALUES (?, ?, ?)", batch)
                made.execute("CREATE INDEX by_name ON entries (language, name)")
                made.execute("INSERT INTO facts VALUES (?)", (unread,))
                made.commit()
            part.replace(index)
        finally:
            part.unlink(missing_ok=True)
        for other in self._cache.glob("advisories-*.sqlite"):
            if other != index:
                other.unlink(missing_ok=True)
        if unread:
            log.warning("advisories: %d of %s could not be read", unread, self._place)
        log.info("advisories: %d entries in %.1f s", total, time.monotonic() - begun)


# Files


def _files(place: Path) -> Iterator[tuple[Path, os.stat_result]]:
    """Yield the files that may have advisories, in order; links are not followed."""
    if place.is_file():
        yield place, place.stat()
        return
    if not place.is_dir():
        raise ConfigurationError(f"advisories: there is no file or folder {place}")
    for folder, folders, names in os.walk(place):
        folders[:] = sorted(each for each in folders if not each.startswith("."))
        for name in sorted(names):
            path = Path(folder, name)
            if path.suffix in (".json", ".md", ".zip") and not path.is_symlink():
                yield path, path.stat()


_Row = tuple[str, str, str]


def _read_all(files: Iterable[Path]) -> Iterator[_Row | None]:
    """Yield language, name and entry of every advisory; None for a file that cannot be read."""
    for path in files:
        try:
            if path.suffix == ".zip":
                yield from _read_zip(path)
            elif path.stat().st_size > MOST_FILE:
                yield None
            else:
                yield from _read_text(path.name, path.read_bytes())
        except (OSError, zipfile.BadZipFile, EOFError, NotImplementedError, RuntimeError):
            yield None


def _read_zip(path: Path) -> Iterator[_Row | None]:
    with zipfile.ZipFile(path) as archive:
        for info in archive.infolist():
            if not info.filename.endswith((".json", ".md")):
                continue
            with archive.open(info) as stream:
                body = stream.read(MOST_ENTRY + 1)
            if len(body) > MOST_ENTRY:
                yield None
            else:
                yield from _read_text(info.filename, body)


def _read_text(name: str, body: bytes) -> Iterator[_Row | None]:
    try:
        if name.endswith(".md"):
            rows = list(_read_rustsec(body.decode("utf-8")))
        else:
            found = msgspec.json.decode(body)
            rows = [row for e in (found if isinstance(found, list) else [found]) for row in _osv(e)]
    except (ValueError, RecursionError, TypeError, AttributeError, KeyError):
        yield None
    else:
        yield from rows


def _osv(entry: Mapping[str, Any]) -> Iterator[_Row]:
    if not isinstance(entry.get("id"), str):
        raise ValueError("no advisory")
    if entry.get("withdrawn"):
        return
    severities = [
        *(each.get("score") for each in entry.get("severity") or ()),
        (entry.get("database_specific") or {}).get("severity"),
    ]
    words = [each for each in severities if isinstance(each, str) and each]
    # A word says more to a reader than a vector.
    severity = min(words, key=lambda each: each.startswith("CVSS"), default="")
    pages = {e.get("type"): e.get("url") for e in reversed(entry.get("references") or ())}
    common = {
        "id": entry["id"],
        "aliases": [each for each in entry.get("aliases") or () if isinstance(each, str)],
        "summary": _line(entry.get("summary") or entry.get("details") or ""),
        "severity": severity,
        "published": str(entry.get("published") or "")[:10],
        "url": pages.get("ADVISORY") or next(iter(pages.values()), "") or "",
    }
    for affected in entry.get("affected") or ():
        package = affected.get("package") or {}
        language = ECOSYSTEMS.get(str(package.get("ecosystem", "")).partition(":")[0])
        if language is None or not isinstance(package.get("name"), str):
            continue
        kind = (affected.get("database_specific") or {}).get("informational")
        yield _row(
            language,
            package["name"],
            common
            | {
                "kind": kind or "",
                "versions": list(affected.get("versions") or ()),
                "ranges": [
                    [next(iter(each.items())) for each in one.get("events") or () if each]
                    for one in affected.get("ranges") or ()
                    if one.get("type") in ("SEMVER", "ECOSYSTEM")
                ],
            },
        )


def _read_rustsec(text: str) -> Iterator[_Row]:
    """Yield the row of an advisory of RustSec; nothing for other Markdown and what is withdrawn."""
    head, mark, rest = text.lstrip().partition("```toml")
    if head or not mark:
        return
    fields, _, body = rest.partition("\n```")
    found = toml.loads(fields)
    advisory = found["advisory"]
    if advisory.get("withdrawn"):
        return
    title = next((line for line in body.splitlines() if line.startswith("# ")), "# ")
    versions = found.get("versions") or {}
    yield _row(
        RUST.name,
        str(advisory["package"]),
        {
            "id": str(advisory["id"]),
            "aliases": [str(each) for each in advisory.get("aliases") or ()],
            "summary": _line(title[2:]),
            "severity": str(advisory.get("cvss") or ""),
            "kind": str(advisory.get("informational") or ""),
            "published": str(advisory.get("date") or ""),
            "url": str(advisory.get("url") or ""),
            "patched": [str(each) for each in versions.get("patched") or ()],
            "unaffected": [str(each) for each in versions.get("unaffected") or ()],
        },
    )


def _row(language: str, name: str, entry: Mapping[str, Any]) -> _Row:
    of = next(each for each in (PYTHON, TYPESCRIPT, RUST) if each.name == language)
    return language, _folded(of, name), json.dumps(entry, ensure_ascii=False)


def _folded(language: Language, name: str) -> str:
    return (
        name.replace("_", "-").lower() if language is RUST else language.spelling.package_key(name)
    )


def _line(text: object) -> str:
    return drop_invisible(" ".join(str(text).split()))[0][:LONGEST_SUMMARY]


# Versions


_PARSERS: Mapping[str, Callable[[str], Any]] = {
    PYTHON.name: python_versions.parse,
    TYPESCRIPT.name: parse_version,
    RUST.name: parse_version,
}


def _concerns(language: Language, entry: Mapping[str, Any], version: str) -> bool:
    """Whether a version is one of those that an advisory is about."""
    parse = _PARSERS[language.name]
    own = parse(version)
    if "patched" in entry:
        return own is None or not any(
            _meets(each, own) for each in (*entry["patched"], *entry["unaffected"])
        )
    if version in entry["versions"]:
        return True
    if own is None:
        return False
    if any(parse(each) == own for each in entry["versions"]):
        return True
    return any(_in_range(events, own, parse) for events in entry["ranges"])


def _meets(requirement: str, version: Version) -> bool:
    """Whether a version is in a range of RustSec's, prereleases by their order alone."""
    try:
        parts = Requirement.parse(requirement).comparators
    except ValueError:
        return False
    return all(each.matches(version) for each in parts)


def _in_range(events: Iterable[list[str]], version: Any, parse: Callable[[str], Any]) -> bool:
    """Evaluate events by the algorithm of OSV's schema, "Evaluation"."""
    ordered: list[tuple[Any, int, str]] = []
    limits = []
    for kind, text in events:
        at = parse(text)
        if kind == "limit":
            if text != "*" and at is not None:
                limits.append(at)
        elif kind == "introduced" and text == "0":
            ordered.append((None, 0, kind))
        elif at is not None:
            ordered.append((at, 1, kind))
    if limits and not any(version < each for each in limits):
        return False
    ordered.sort(key=_Order)
    affected = False
    for at, _, kind in ordered:
        if kind == "introduced" and (at is None or version >= at):
            affected = True
        elif (kind == "fixed" and version >= at) or (kind == "last_affected" and version > at):
            affected = False
    return affected


class _Order:
    """Sorts events by version, ``0`` first, and of one version what ends a range first."""

    __slots__ = ("_event",)

    def __init__(self, event: tuple[Any, int, str]) -> None:
        self._event = event

    def __lt__(self, other: _Order) -> bool:
        (at, rank, kind), (its, its_rank, its_kind) = self._event, other._event
        if rank != its_rank or not rank:
            return rank < its_rank
        if at < its or its < at:
            return bool(at < its)
        return kind != "introduced" and its_kind == "introduced"


def _describe(entry: Mapping[str, Any]) -> Advisory:
    fixed = [text for events in entry.get("ranges", ()) for kind, text in events if kind == "fixed"]
    return Advisory(
        entry["id"],
        tuple(entry["aliases"]),
        entry["summary"],
        entry["severity"],
        entry["kind"],
        entry["published"],
        tuple(dict.fromkeys(fixed or entry.get("patched", ()))),
        entry["url"],
    )
