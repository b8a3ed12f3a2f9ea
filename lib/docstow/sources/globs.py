"""Which files of a tree are documentation: globs, suffixes and caps, for folders and repositories.

A glob is matched as in ``.gitignore``, but for what an include needs: ``*`` and ``?`` stay within
one name, ``**`` matches any number of directories, ``[…]`` a set. A glob without a slash is matched
with the name alone, in any directory; one with a slash from the root. If its last name has no
wildcard, it also matches everything below a directory of that name: ``docs``,
``packages/core/docs``.
"""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import fields
from functools import lru_cache
from typing import Any, NamedTuple

from docstow import formats
from docstow.core.errors import InvalidParameter
from docstow.core.patterns import lazy_pattern
from docstow.core.records import dataclass
from docstow.formats import openapi
from docstow.sources import MORE_BYTES, MORE_FILES

_MIB = 1024 * 1024
#: Suffixes of documentation in repositories; files such as README need none.
TEXT_SUFFIXES = frozenset(
    {".md", ".mdx", ".markdown", ".rst", ".txt", ".adoc", ".asciidoc", ".ipynb"}
)
#: Larger limits for files that hold images beside their text.
_BULKY = {".ipynb": 10 * _MIB, ".pdf": 50 * _MIB}
_BULKY |= dict.fromkeys(openapi.SUFFIXES, 10 * _MIB)
#: Directories of tools and dependencies, which are never read.
IGNORED_DIRECTORIES = frozenset(
    {"node_modules", "bower_components", "site-packages", "__pycache__", "venv", "target"}
)
#: Left out unless ``include`` is given.
NOT_DOCS = (
    "vendor",
    "third_party",
    "test",
    "tests",
    "testdata",
    "__tests__",
    "fixtures",
    "CHANGELOG*",
    "LICENSE*",
    "CODE_OF_CONDUCT*",
    "CMakeLists.txt",
    "*requirements*.txt",
    "robots.txt",
)
_MEDIA_TYPES = {
    ".md": "text/markdown",
    ".markdown": "text/markdown",
    ".mdx": "text/mdx",
    ".rst": "text/x-rst",
    ".adoc": "text/asciidoc",
    ".asciidoc": "text/asciidoc",
    ".ipynb": "application/x-ipynb+json",
    ".html": "text/html",
    ".htm": "text/html",
    ".pdf": "application/pdf",
}
_MOST_GLOBS = 100
_LONGEST_GLOB = 200
_WILDCARD = lazy_pattern(r"[*?\[]")


@dataclass(frozen=True, slots=True)
class Selection:
    """Which files of a tree are read.

    Attributes:
        include: globs of which a file must match one; empty: all texts but :data:`NOT_DOCS`.
        exclude: globs of which it must match none.
        max_files: files beyond these are left out.
        max_file_bytes: files larger than this are left out; notebooks and PDFs may be larger.
        max_bytes: files that would bring the sum above this are left out.
        fetch_assets: whether descriptions of APIs are read, and images and downloads listed.
    """

    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    max_files: int = 2000
    max_file_bytes: int = _MIB
    max_bytes: int = 100 * _MIB
    fetch_assets: bool = False

    @classmethod
    def from_options(cls, options: Mapping[str, Any]) -> Selection:
        """Return the selection of a registration's checked options."""
        given = dict(options)
        globs = {name: tuple(given.pop(name, ())) for name in ("include", "exclude")}
        return cls(globs["include"], globs["exclude"], **given)

    def includes(self, path: str, suffixes: Collection[str]) -> bool:
        """Return whether a file is read, by its path; ``suffixes`` are those of readable files."""
        suffix = _suffix(path)
        known = (not suffix or suffix in suffixes) and formats.readable(path, "")
        if not known and not self.may_describe(path):
            return False
        names = path.split("/")
        if path.startswith(".") or "/." in path:
            return False
        if not IGNORED_DIRECTORIES.isdisjoint(names[:-1]):
            return False
        if _match_any(names, self.exclude):
            return False
        if self.include:
            return _match_any(names, self.include)
        return not _match_any(names, NOT_DOCS)

    def may_describe(self, path: str) -> bool:
        """Return whether a file is read if it describes an API, which its content tells."""
        return self.fetch_assets and _suffix(path) in openapi.SUFFIXES

    def max_size(self, path: str) -> int:
        """Return the limit of a file's size in bytes."""
        return max(self.max_file_bytes, _BULKY.get(_suffix(path), 0))


class Budget:
    """Counts files and bytes against the caps of a selection."""

    def __init__(self, selection: Selection) -> None:
        self._selection = selection
        self._files = 0
        self._bytes = 0

    def take(self, path: str, size: int) -> str:
        """Count a file; return why it exceeds a cap, empty if it does not."""
        if size > self._selection.max_size(path):
            return "too large"
        if self._files >= self._selection.max_files:
            return MORE_FILES
        if self._bytes + size > self._selection.max_bytes:
            return MORE_BYTES
        self._files += 1
        self._bytes += size
        return ""


def media_type(path: str) -> str:
    """Return the media type of a file's suffix; plain text for unknown ones."""
    return _MEDIA_TYPES.get(_suffix(path), "text/plain")


def is_binary(path: str, body: bytes) -> bool:
    """Return whether a file that should be text is not: only text in UTF-16 has NUL bytes."""
    if _suffix(path) == ".pdf":
        return False
    return b"\0" in body and not body.startswith((b"\xff\xfe", b"\xfe\xff"))


def _suffix(path: str) -> str:
    """Return the suffix of a path in lower case, as pathlib has it, which takes far longer."""
    name = path[path.rfind("/") + 1 :]
    place = name.rfind(".")
    return name[place:].lower() if 0 < place < len(name) - 1 else ""


def matches(path: str, glob: str) -> bool:
    """Return whether a glob matches a path; both are relative and use ``/``."""
    return _match_any(path.split("/"), (glob,))


def _match_any(names: Sequence[str], globs: tuple[str, ...]) -> bool:
    """Return whether one of some globs matches the path of these names."""
    wanted = _sorted(globs)
    if not wanted.names.isdisjoint(names):
        return True
    if wanted.last is not None and wanted.last.match(names[-1]):
        return True
    return any(_match_names(names, each) for each in wanted.others)


class _Sorted(NamedTuple):
    """Globs by how they are matched.

    Attributes:
        names: those without slash and wildcard: the name of the file or of a directory.
        last: those without slash: the name of the file.
        others: all others, as :func:`_compiled` has them.
    """

    names: frozenset[str]
    last: re.Pattern[str] | None
    others: tuple[tuple[re.Pattern[str] | None, ...], ...]


@lru_cache(maxsize=64)
def _sorted(globs: tuple[str, ...]) -> _Sorted:
    bare = [each.rstrip("/") for each in globs if "/" not in each.rstrip("/")]
    names = [each for each in bare if not _WILDCARD.search(each)]
    patterns = [each for each in bare if _WILDCARD.search(each) and each != "**"]
    last = "|".join(f"(?:{fnmatch.translate(each)})" for each in patterns)
    return _Sorted(
        frozenset(names),
        re.compile(last) if last else None,
        tuple(
            _compiled(each) for each in globs if "/" in each.rstrip("/") or each.rstrip("/") == "**"
        ),
    )


@lru_cache(maxsize=1024)
def _compiled(glob: str) -> tuple[re.Pattern[str] | None, ...]:
    """Return a regular expression for each name of the glob; None for ``**``."""
    anchored = "/" in glob.rstrip("/")
    parts = [part for part in glob.strip("/").split("/") if part]
    if not anchored:
        parts.insert(0, "**")
    if not _WILDCARD.search(parts[-1]) or parts[-1] == "**":
        parts.append("**")
    return tuple(
        None if part == "**" else re.compile(fnmatch.translate(part))
        for part, after in zip(parts, [*parts[1:], ""], strict=True)
        if (part, after) != ("**", "**")
    )


def _match_names(names: Sequence[str], wanted: Sequence[re.Pattern[str] | None]) -> bool:
    """Match all names; on a mismatch let the last ``**`` match one name more."""
    place = at = 0
    back: tuple[int, int] | None = None
    while at < len(names):
        if place < len(wanted) and (each := wanted[place]) is None:
            place += 1
            back = (place, at)
        elif place < len(wanted) and each is not None and each.match(names[at]):
            place, at = place + 1, at + 1
        elif back is not None:
            back = (back[0], back[1] + 1)
            place, at = back
        else:
            return False
    return all(each is None for each in wanted[place:])


def options(raw: Mapping[str, Any]) -> dict[str, Any]:
    """Check the options of a tree; omitted ones stay omitted, which means the default.

    Raises:
        InvalidParameter: an option is unknown, of the wrong type or out of range.
    """
    checked: dict[str, Any] = {}
    known = [field.name for field in fields(Selection)]
    for name, value in raw.items():
        if name not in known:
            raise InvalidParameter(name, f"is not known; there are {', '.join(known)}")
        if name == "fetch_assets":
            if not isinstance(value, bool):
                raise InvalidParameter(name, "must be true or false")
            checked[name] = value
        else:
            checked[name] = (_globs if name in {"include", "exclude"} else _cap)(name, value)
    return checked


def _globs(name: str, value: object) -> list[str]:
    if isinstance(value, str):
        value = [value]
    if not isinstance(value, list | tuple) or len(value) > _MOST_GLOBS:
        raise InvalidParameter(name, f"must be a list of at most {_MOST_GLOBS} globs")
    for glob in value:
        if not isinstance(glob, str) or not glob.strip("/") or len(glob) > _LONGEST_GLOB:
            raise InvalidParameter(
                name, f"must be globs such as docs/**/*.md of at most {_LONGEST_GLOB} characters"
            )
        if "\\" in glob or "\0" in glob or {".", ".."} & set(glob.split("/")):
            raise InvalidParameter(
                name, f"{glob!r} must be relative to the root, with / and without . or .. in it"
            )
    return list(value)


def _cap(name: str, value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise InvalidParameter(name, f"must be a whole number from 1 up, not {value!r}")
    return value
