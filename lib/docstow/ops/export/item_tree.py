"""The tree of Markdown files of items: which file each document is in, and under which heading.

File names are taken by every platform.
"""

from __future__ import annotations

import hashlib
import posixpath
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

#: Kinds that are shown in their owner's file; all others have a file of their own.
INSIDE = frozenset(
    (
        *("re-export", "function", "constant", "static"),
        *("macro", "attribute_macro", "derive_macro"),
        *("variant", "field", "assoc_type", "assoc_const", "method"),
    )
)

#: Longest file or folder name made of a title, in characters; paths on Windows end at 260.
LONGEST = 80

_UNSAFE = re.compile(r"[^A-Za-z0-9_.-]|^\.|[.]$")
_DEVICE = re.compile(r"(?i)(con|prn|aux|nul|com\d|lpt\d)(\..*)?")


@dataclass(frozen=True, slots=True)
class Place:
    """Where a document is shown.

    Attributes:
        file: relative to the tree's root, with ``/``.
        anchor: its id in that file; empty for the file's own document.
        level: of its heading, from 1; 1 for the file's own document.
        module: row of the module that it belongs to, a module to itself; -1 for none.
    """

    file: str
    anchor: str
    level: int
    module: int


class ItemTree:
    """The files of a snapshot.

    A name depends on nothing but the document's own path, unless it is unsafe on some platform or
    clashes with a neighbour's where case is ignored: then it ends in a digest of that path.

    Args:
        columns: of the documents table, sorted by path: path, kind, title, parent and url.

    Attributes:
        places: one a row.
        order: all rows, each once: module by module, file by file, an owner before its members.
        owners: row of each row's owner; -1 for none.
    """

    def __init__(self, columns: Mapping[str, Iterable[Any]]) -> None:
        self._paths = [str(path) for path in columns["path"]]
        self._kinds = [str(kind) for kind in columns["kind"]]
        self._titles = [str(title) for title in columns["title"]]
        self.owners = self._find_owners([str(parent) for parent in columns["parent"]])
        self.places = self._place()
        self.order = list(self._walk())
        self._by_url = {str(url): row for row, url in reversed(list(enumerate(columns["url"])))}
        self._by_url.pop("", None)
        self._own: defaultdict[int, list[int]] = defaultdict(list)
        for row in self.order:
            if self.places[row].level == 1 and self.owners[row] >= 0:
                self._own[self.owners[row]].append(row)

    def files_below(self, row: int) -> Sequence[int]:
        """Return the rows of what a document owns that have files of their own."""
        return self._own.get(row, ())

    def link(self, row: int, file: str) -> str:
        """Return how a document is linked to from a file."""
        place = self.places[row]
        if place.file == file:
            return f"#{place.anchor}"
        anchor = f"#{place.anchor}" if place.anchor else ""
        return posixpath.relpath(place.file, posixpath.dirname(file) or ".") + anchor

    def link_url(self, url: str, file: str) -> str:
        """Return the same for a URL: that of a document becomes a relative link, others stay."""
        row = self._by_url.get(url)
        if row is None:
            row = self._by_url.get(url.partition("#")[0])
        return url if row is None else self.link(row, file)

    def _find_owners(self, parents: Sequence[str]) -> list[int]:
        """Return the row of each row's owner; of those that share a path, a module or type."""
        by_path: dict[str, int] = {}
        for row, path in enumerate(self._paths):
            known = by_path.get(path)
            if known is None or self._rank(row) < self._rank(known):
                by_path[path] = row
        # An owner's path is shorter, so that no damaged table leads in a circle.
        return [
            by_path.get(parent, -1) if len(parent) < len(self._paths[row]) else -1
            for row, parent in enumerate(parents)
        ]

    def _rank(self, row: int) -> int:
        kind = self._kinds[row]
        return 0 if kind == "module" else 2 if kind in INSIDE else 1

    def _place(self) -> list[Place]:
        """Return the places; owners come before what they own because their paths are shorter."""
        rows = sorted(range(len(self._paths)), key=lambda row: len(self._paths[row]))
        modules = self._modules(rows)
        names = self._names(modules)
        folders: dict[int, str] = {-1: ""}
        places: dict[int, Place] = {}
        for row in rows:
            above, module = self.owners[row], modules[row]
            if self._kinds[row] == "module":
                outer = modules[above] if above >= 0 else -1
                folders[row] = f"{folders[outer]}{names[row]}/"
                places[row] = Place(f"{folders[row]}index.md", "", 1, row)
            elif row in names:
                places[row] = Place(f"{folders[module]}{names[row]}.md", "", 1, module)
            else:
                owner = places[above]
                anchor = f"{self._kinds[row]}.{self._member_anchor(above, row)}"
                places[row] = Place(owner.file, anchor, owner.level + 1, module)
        return [places[row] for row in range(len(rows))]

    def _modules(self, rows: Sequence[int]) -> dict[int, int]:
        modules: dict[int, int] = {}
        for row in rows:
            above = self.owners[row]
            outer = modules[above] if above >= 0 else -1
            modules[row] = row if self._kinds[row] == "module" else outer
        return modules

    def _names(self, modules: Mapping[int, int]) -> dict[int, str]:
        """Return the names of files and of modules' folders by row, without a clash."""
        wanted: dict[int, tuple[int, str]] = {}
        for row, (kind, above) in enumerate(zip(self._kinds, self.owners, strict=True)):
            if kind == "module":
                wanted[row] = (modules[above] if above >= 0 else -1, self._titles[row])
            elif kind not in INSIDE or above < 0:
                wanted[row] = (modules[row], f"{kind}.{self._titles[row]}")
        safe = {row: (folder, _safe(name)) for row, (folder, name) in wanted.items()}
        counts = Counter((folder, name.lower()) for folder, name in safe.values())
        return {
            row: name
            if name == wanted[row][1] and counts[folder, name.lower()] == 1
            else f"{name}-{self._digest(row)}"
            for row, (folder, name) in safe.items()
        }

    def _digest(self, row: int) -> str:
        text = f"{self._kinds[row]} {self._paths[row]}"
        return hashlib.sha256(text.encode()).hexdigest()[:8]

    def _member_anchor(self, owner: int, row: int) -> str:
        """Return the path of a member without that of the document that the file is of."""
        while self._is_inside(owner):
            owner = self.owners[owner]
        tail = self._paths[row].removeprefix(f"{self._paths[owner]}::")
        return tail.replace("::", ".")

    def _is_inside(self, row: int) -> bool:
        """Return whether a document is shown in the file of its owner."""
        return self._kinds[row] in INSIDE and self.owners[row] >= 0

    def _walk(self) -> Iterator[int]:
        inside: defaultdict[int, list[int]] = defaultdict(list)
        files: list[int] = []
        for row in range(len(self._paths)):
            (inside[self.owners[row]] if self._is_inside(row) else files).append(row)
        files.sort(key=lambda row: (self.places[row].module, self._kinds[row] != "module", row))
        for file in files:
            waiting = [file]
            while waiting:
                row = waiting.pop()
                yield row
                waiting += reversed(inside[row])


def _safe(name: str) -> str:
    """Return a name without what some file system refuses: ``aux``, ``a:b``, a dot at an end."""
    safe = _UNSAFE.sub("_", name[:LONGEST])
    return f"{safe}_" if _DEVICE.fullmatch(safe) or not safe else safe
