"""A whole snapshot as text: JSON Lines, a tree of Markdown files, ``llms.txt``; piece by piece.

This room knows the forms and their order. It does not know where text goes, and keeps the texts
of a few documents at a time.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from itertools import islice
from typing import Any

from docstow.core.model import Document, Relation
from docstow.index.loaded import Index
from docstow.ops.export.markdown import Tree, section

FORMS = ("jsonl", "markdown", "llms", "llms-full")

#: Relations of a type to the traits that are written or derived for it.
IMPLEMENTS = frozenset({"implements", "derives"})

#: Documents whose texts are read at once: few for the first page, more when all are wanted.
FEWEST, MOST = 64, 2048


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of an export: one document, one relation or what stands before them.

    Attributes:
        file: what it belongs to: a file of the tree, or the one file of the other forms.
        text: all pieces of a file, joined, are the file.
        opens: it is the first of a file of the tree.
    """

    file: str
    text: str
    opens: bool = False


class Export:
    """A snapshot on its way out.

    In every form each document is exactly once, in an order that only the snapshot decides.

    Args:
        index: the snapshot's tables.
    """

    def __init__(self, index: Index) -> None:
        self._index = index
        self._snapshot = index.snapshot

    @property
    def title(self) -> str:
        """Name and version."""
        revision = self._snapshot.revision
        return f"{revision.source.name} {revision.version}"

    def pieces(self, form: str, begin: int = 0) -> Iterator[Piece]:
        """The pieces of a form in order, without the first ``begin`` ones.

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

    def texts(self, form: str, begin: int = 0) -> Iterator[str]:
        """The same as one text: before each file of the tree stands a comment with its name."""
        for piece in self.pieces(form, begin):
            name = f"<!-- file: {piece.file} -->\n\n" if piece.opens else ""
            yield name + piece.text

    def _documents(self, form: str, order: Sequence[int], begin: int) -> Iterator[Piece]:
        if form == "llms":
            for position in range(begin, len(order)):
                yield Piece("llms.txt", self._heading(position) + self._entry(order[position]))
            return
        size = FEWEST
        while begin < len(order):
            rows = order[begin : begin + size]
            for row, document in zip(rows, self._index.documents(rows), strict=True):
                yield self._piece(form, row, document)
            begin += len(rows)
            size = min(2 * size, MOST)

    def _piece(self, form: str, row: int, document: Document) -> Piece:
        if form == "jsonl":
            return Piece("", json_line(document))
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
            return Piece("", _line(members))
        facts = snapshot.facts
        about = " ".join(str(facts.get("description") or facts.get("summary") or "").split())
        blocks = [f"# {self.title}", f"> {about}" if about else "", self._provenance]
        file = "llms.txt" if form == "llms" else "llms-full.txt"
        return Piece(file, "\n\n".join(filter(None, blocks)) + "\n\n")

    @property
    def _provenance(self) -> str:
        url = self._snapshot.facts.get("url", "")
        origin = self._snapshot.revision.origin
        parts = [f"Documentation of {self.title}", f"from {origin}", f"<{url}>" if url else ""]
        parts += [f"snapshot {self._snapshot.id[:12]}", "third-party text"]
        return " · ".join(filter(None, parts)) + "."

    def _heading(self, position: int) -> str:
        """The heading of a section of ``llms.txt`` where one begins: there is one a module."""
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
            line = self._way(row, document)
        else:
            line = f"<{document.url}>" if document.url else ""
        text = section(
            document,
            line,
            level=place.level,
            implements=self._implements.get(document.path, ()),
            link=lambda url: tree.relative(url, place.file),
        )
        anchor = f'<a id="{place.anchor}"></a>\n\n' if place.anchor else ""
        return anchor + text + self._contents(row, place.file)

    def _way(self, row: int, document: Document) -> str:
        """The line below a file's title: the owner's file, and where all this comes from."""
        above = self._tree.above[row]
        parts = [self.title, f"<{document.url}>" if document.url else "", "third-party text"]
        if above >= 0:
            link = self._tree.link(above, self._tree.places[row].file)
            parts.insert(0, f"in [`{self._index.columns['path'][above]}`]({link or '#'})")
        return " · ".join(filter(None, parts))

    def _contents(self, row: int, file: str) -> str:
        columns = self._index.columns
        lines = [
            f"- [{str(columns['kind'][each]).replace('_', ' ')} `{columns['path'][each]}`]"
            f"({self._tree.link(each, file)})"
            for each in self._tree.below(row)
        ]
        return "\n".join(["In files of their own:", "", *lines]) + "\n\n" if lines else ""

    def _relations(self, begin: int) -> Iterator[Piece]:
        columns = self._index.relations
        names = ("subject", "predicate", "object", "detail")
        rows = zip(*(columns[name] for name in names), strict=True)
        for fields in islice(rows, begin, None):
            yield Piece("", json_line(Relation(*map(str, fields))))

    @cached_property
    def _tree(self) -> Tree:
        return Tree(self._index.columns)

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


def json_line(value: Document | Relation) -> str:
    """One line of JSON with all fields, and ``record``: ``document`` or ``relation``."""
    if isinstance(value, Relation):
        return _line({"record": "relation", **asdict(value)})
    names = ("path", "kind", "title", "signature", "text", "url", "parent")
    fields = {name: getattr(value, name) for name in names}
    return _line({"record": "document", **fields, "attributes": dict(value.attributes)})


def _line(members: dict[str, Any]) -> str:
    return json.dumps(members, ensure_ascii=False, separators=(",", ":"), allow_nan=False) + "\n"


@dataclass(frozen=True, slots=True)
class Page:
    """A part of a form's text; ``following`` is where the next begins, None after the last.

    A place is the number of a piece and of a character in it.
    """

    text: str
    following: tuple[int, int] | None


def paged(pieces: Iterable[str], begin: tuple[int, int], limit: int) -> Page:
    """The whole pieces that fit, or the part that fits of a piece that alone is longer.

    Args:
        pieces: from the one of ``begin`` on.
        begin: where the page begins.
        limit: characters of the page.
    """
    number, skipped = begin
    texts: list[str] = []
    size = 0
    for text in pieces:
        rest = text[skipped:]
        if size + len(rest) > limit:
            if size:
                return Page("".join(texts), (number, skipped))
            return Page(rest[:limit], (number, skipped + limit))
        texts.append(rest)
        size += len(rest)
        number, skipped = number + 1, 0
    return Page("".join(texts), None)
