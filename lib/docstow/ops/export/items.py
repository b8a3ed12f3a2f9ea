"""Snapshots of items as text: JSON Lines, a tree of Markdown files, ``llms.txt``.

The texts of a few documents are kept at a time, and file names are taken by every platform.
"""

from __future__ import annotations

import hashlib
import posixpath
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from itertools import groupby, islice
from typing import Any

from docstow.core.model import Document, Relation
from docstow.index.loaded import Index
from docstow.ops.export.pieces import OneFile, Piece, document_line, json_line, section

ITEM_FORMATS = ("jsonl", "markdown", "llms", "llms-full")

#: Relations of a type to the traits that are written or derived for it.
IMPLEMENTS = frozenset({"implements", "derives"})

#: Documents whose texts are read at once: few for the first page, more when all are wanted.
FEWEST_READ, MOST_READ = 64, 2048

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


class ItemWriter:
    """Writes a snapshot of items.

    Args:
        index: the snapshot's tables.
        title: name and version of the package.
    """

    def __init__(self, index: Index, title: str) -> None:
        self._index = index
        self._snapshot = index.snapshot
        self._title = title

    def pieces(self, form: str, begin: int) -> Iterator[Piece]:
        """Yield the pieces of a format in order, without the first ``begin`` ones.

        Piece 0 stands before the documents (and is empty for the tree); after those come the
        relations, in JSON Lines alone.
        """
        order = range(len(self._index)) if form == "jsonl" else self._tree.order
        if not begin:
            yield self._front(form)
        begin = max(begin - 1, 0)
        yield from self._documents(form, order, begin)
        if form == "jsonl":
            yield from self._relations(max(begin - len(order), 0))

    def files(self) -> Iterator[OneFile]:
        """Yield the files of the tree, each once, with the name that its folders make."""
        pieces = filter(lambda piece: piece.text, self.pieces("markdown", 0))
        for path, parts in groupby(pieces, lambda piece: piece.file):
            name = path.replace("/", "--")
            yield OneFile(path, name, "".join(part.text for part in parts))

    def _documents(self, form: str, order: Sequence[int], begin: int) -> Iterator[Piece]:
        if form == "llms":
            for position in range(begin, len(order)):
                yield Piece("llms.txt", self._heading(position) + self._entry(order[position]))
            return
        size = FEWEST_READ
        while begin < len(order):
            rows = order[begin : begin + size]
            for row, document in zip(rows, self._index.documents(rows), strict=True):
                yield self._piece(form, row, document)
            begin += len(rows)
            size = min(2 * size, MOST_READ)

    def _piece(self, form: str, row: int, document: Document) -> Piece:
        if form == "jsonl":
            return Piece("", format_document(document))
        if form == "markdown":
            place = self._tree.places[row]
            return Piece(place.file, self._section(row, document), opens=place.level == 1)
        level = self._tree.places[row].level + (1 if document.kind == "module" else 2)
        line = f"<{document.url}>" if document.url else ""
        implements = self._implements.get(document.path, ())
        shown = section(document, line, level=level, implements=implements)
        return Piece("llms-full.txt", shown)

    def _front(self, form: str) -> Piece:
        if form == "markdown":
            return Piece(self._tree.places[self._tree.order[0]].file, "")
        snapshot = self._snapshot
        if form == "jsonl":
            members = {
                "record": "snapshot",
                **asdict(snapshot.revision.source),
                "origin": snapshot.revision.origin,
                "snapshot": snapshot.id,
                "recipe": asdict(snapshot.recipe),
                "counts": dict(snapshot.counts),
                "facts": dict(snapshot.facts),
            }
            return Piece("", json_line(members))
        facts = snapshot.facts
        about = " ".join(str(facts.get("description") or facts.get("summary") or "").split())
        blocks = [f"# {self._title}", f"> {about}" if about else "", self._provenance]
        file = "llms.txt" if form == "llms" else "llms-full.txt"
        return Piece(file, "\n\n".join(filter(None, blocks)) + "\n\n")

    @property
    def _provenance(self) -> str:
        url = self._snapshot.facts.get("url", "")
        origin = self._snapshot.revision.origin
        parts = [f"Documentation of {self._title}", f"from {origin}", f"<{url}>" if url else ""]
        parts += [f"snapshot {self._snapshot.id[:12]}", "third-party text"]
        return " · ".join(filter(None, parts)) + "."

    def _heading(self, position: int) -> str:
        """Return the heading of a section of ``llms.txt`` where one begins: one a module."""
        order, places = self._tree.order, self._tree.places
        module = places[order[position]].module
        if position and places[order[position - 1]].module == module:
            return ""
        name = self._index.columns["path"][module] if module >= 0 else "Pages"
        return f"{chr(10) if position else ''}## {name}\n\n"

    def _entry(self, row: int) -> str:
        columns = self._index.columns
        kind = str(columns["kind"][row]).replace("_", " ")
        url = str(columns["url"][row]) or "llms-full.txt"
        if any(each in url for each in " ()"):
            url = f"<{url}>"
        summary = " ".join(str(columns["summary"][row]).split())
        return f"- [{columns['path'][row]}]({url}): {kind}{'. ' if summary else ''}{summary}\n"

    def _section(self, row: int, document: Document) -> str:
        tree, place = self._tree, self._tree.places[row]
        if place.level == 1:
            line = self._provenance_line(row, document)
        else:
            line = f"<{document.url}>" if document.url else ""
        text = section(
            document,
            line,
            level=place.level,
            implements=self._implements.get(document.path, ()),
            link=lambda url: tree.link_url(url, place.file),
        )
        anchor = f'<a id="{place.anchor}"></a>\n\n' if place.anchor else ""
        return anchor + text + self._contents(row, place.file)

    def _provenance_line(self, row: int, document: Document) -> str:
        """Return the line below a file's title: the owner's file, and where all this is from."""
        owner = self._tree.owners[row]
        parts = [self._title, f"<{document.url}>" if document.url else "", "third-party text"]
        if owner >= 0:
            link = self._tree.link(owner, self._tree.places[row].file)
            parts.insert(0, f"in [`{self._index.columns['path'][owner]}`]({link or '#'})")
        return " · ".join(filter(None, parts))

    def _contents(self, row: int, file: str) -> str:
        columns = self._index.columns
        lines = [
            f"- [{str(columns['kind'][each]).replace('_', ' ')} `{columns['path'][each]}`]"
            f"({self._tree.link(each, file)})"
            for each in self._tree.files_below(row)
        ]
        return "\n".join(["In files of their own:", "", *lines]) + "\n\n" if lines else ""

    def _relations(self, begin: int) -> Iterator[Piece]:
        columns = self._index.relations
        names = ("subject", "predicate", "object", "detail")
        rows = zip(*(columns[name] for name in names), strict=True)
        for fields in islice(rows, begin, None):
            yield Piece("", format_relation(Relation(*map(str, fields))))

    @cached_property
    def _tree(self) -> ItemTree:
        return ItemTree(self._index.columns)

    @cached_property
    def _implements(self) -> dict[str, list[str]]:
        """The traits of each type, in alphabetical order."""
        table = self._index.relations
        found: defaultdict[str, set[str]] = defaultdict(set)
        edges = zip(table["subject"], table["predicate"], table["object"], strict=True)
        for subject, predicate, trait in edges:
            if predicate in IMPLEMENTS:
                found[subject].add(trait)
        return {subject: sorted(traits) for subject, traits in found.items()}


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


def format_relation(relation: Relation) -> str:
    """Format a relation as a line of JSON with all fields."""
    return json_line({"record": "relation", **relation._asdict()})


def format_document(document: Document) -> str:
    """Format a document as a line of JSON with all fields."""
    names = ("path", "kind", "title", "signature", "text", "url", "parent")
    fields = {name: getattr(document, name) for name in names}
    members = {"record": "document", **fields, "attributes": dict(document.attributes)}
    return document_line(document, members)


def _safe(name: str) -> str:
    """Return a name without what some file system refuses: ``aux``, ``a:b``, a dot at an end."""
    safe = _UNSAFE.sub("_", name[:LONGEST])
    return f"{safe}_" if _DEVICE.fullmatch(safe) or not safe else safe
