"""Snapshots of items as text: JSON Lines, a tree of Markdown files, ``llms.txt``.

The texts of a few documents are kept at a time.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from functools import cached_property
from itertools import islice

from docstow.core.model import Document, Relation
from docstow.index.loaded import Index
from docstow.ops.export.item_tree import ItemTree
from docstow.ops.export.markdown import section
from docstow.ops.export.pieces import Piece, json_line

ITEM_FORMATS = ("jsonl", "markdown", "llms", "llms-full")

#: Relations of a type to the traits that are written or derived for it.
IMPLEMENTS = frozenset({"implements", "derives"})

#: Documents whose texts are read at once: few for the first page, more when all are wanted.
FEWEST_READ, MOST_READ = 64, 2048


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


def format_relation(relation: Relation) -> str:
    """Format a relation as a line of JSON with all fields."""
    return json_line({"record": "relation", **asdict(relation)})


def format_document(document: Document) -> str:
    """Format a document as a line of JSON with all fields."""
    names = ("path", "kind", "title", "signature", "text", "url", "parent")
    fields = {name: getattr(document, name) for name in names}
    return json_line({"record": "document", **fields, "attributes": dict(document.attributes)})
