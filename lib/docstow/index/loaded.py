"""One snapshot's tables in memory: rows by path, vectors, postings.

This room knows the loaded columns and how to find a row. It does not rank and does not fetch.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from docstow.core.language_names import Spelling, of_kind
from docstow.core.model import Document, Example, Known, Passage, Snapshot
from docstow.core.relations import DEFINES, DEREFS_TO, DERIVED, PACKED, WRITTEN
from docstow.core.relations import unpack_definitions as unpacked
from docstow.index.parquet import read_table, unpack_vectors
from docstow.index.ranking import Item
from docstow.index.render import Member, Traits
from docstow.index.schema import ITEMS, Content
from docstow.index.signatures.catalogue import Row, Shapes

# One snapshot of pages in memory


#: The kind of every document of prose.
PAGE = "page"


_LIGHT_OF_PAGES = ("id", "path", "title", "url", "attributes")


_POSTING = tuple[NDArray[np.int32], NDArray[np.float32]]


@dataclass(frozen=True, slots=True)
class PageChunk:
    """A chunk of a page.

    Attributes:
        id: the document's id, a dot and 12 hex digits of what it says.
        ordinal: position among the chunks of its document, from 0.
        heading_path: the headings above it and its own, outermost first, joined by `` > ``.
        text: Markdown as it stands in the page, code included.
        tokens: of the text, by the model's tokenizer.
    """

    id: str
    ordinal: int
    heading_path: str
    text: str
    tokens: int


class PageIndex:
    """The tables of one snapshot, each column read when it is first needed.

    Args:
        snapshot: what the tables belong to.
        file: gives the local Parquet file of a table, fetched again if it has gone.
    """

    def __init__(self, snapshot: Snapshot, file: Callable[[str], Path]) -> None:
        self.snapshot = snapshot
        self._file = file

    def __len__(self) -> int:
        return len(self.columns["id"])

    @cached_property
    def columns(self) -> Mapping[str, NDArray[Any]]:
        """The documents' columns except their texts; one entry a document, sorted by path."""
        return read_table(self._file("documents"), _LIGHT_OF_PAGES)

    @cached_property
    def attributes(self) -> Sequence[Mapping[str, Any]]:
        """What is known of each document beside its text."""
        return [json.loads(text) for text in self.columns["attributes"]]

    @cached_property
    def chunks(self) -> Mapping[str, NDArray[Any]]:
        """The columns document, ordinal, id, heading_path and text; sorted by document."""
        names = ("document", "ordinal", "id", "heading_path", "text", "tokens")
        return read_table(self._file("chunks"), names)

    @cached_property
    def matrix(self) -> NDArray[np.float32]:
        """The chunks' vectors: (chunks, dimensions)."""
        return self._vectors("chunks")

    @cached_property
    def examples(self) -> Mapping[str, NDArray[Any]]:
        """The columns document, ordinal, language, code and context of whole code blocks."""
        names = ("document", "ordinal", "language", "code", "context")
        return read_table(self._file("examples"), names)

    @cached_property
    def example_matrix(self) -> NDArray[np.float32]:
        """The examples' vectors: (examples, dimensions)."""
        return self._vectors("examples")

    def _vectors(self, table: str) -> NDArray[np.float32]:
        blobs = read_table(self._file(table), ("embedding",))["embedding"]
        return unpack_vectors(blobs, len(blobs[0]) // 2 if len(blobs) else 0)

    def postings(self, term: str) -> _POSTING | None:
        """The chunks that hold a term, with the term's weight in each."""
        return _unpacked_pages(self._postings.get(term))

    def example_postings(self, term: str) -> _POSTING | None:
        """The examples that hold a term, with the term's weight in each."""
        return _unpacked_pages(self._example_postings.get(term))

    @cached_property
    def _postings(self) -> Mapping[str, tuple[bytes, bytes]]:
        return self._read_postings("chunk_postings")

    @cached_property
    def _example_postings(self) -> Mapping[str, tuple[bytes, bytes]]:
        return self._read_postings("example_postings")

    def _read_postings(self, name: str) -> Mapping[str, tuple[bytes, bytes]]:
        table = read_table(self._file(name))
        pairs = zip(table["rows"], table["weights"], strict=True)
        return dict(zip(table["term"], pairs, strict=True))

    def row_of(self, ref: str) -> int | None:
        """The row of the document of that id, path or URL; None if there is none."""
        return self._rows.get(ref)

    @cached_property
    def _rows(self) -> Mapping[str, int]:
        rows: dict[str, int] = {}
        for name in ("id", "path", "url"):  # an id is never taken for another's path
            for row, ref in enumerate(self.columns[name]):
                rows.setdefault(ref, row)
        rows.pop("", None)
        return rows

    def chunk_row_of(self, identity: str) -> int | None:
        """The row of the chunk of that id; None if there is none."""
        return self._chunk_rows.get(identity)

    @cached_property
    def _chunk_rows(self) -> Mapping[str, int]:
        return {identity: row for row, identity in enumerate(self.chunks["id"])}

    def chunk_rows(self, document_row: int) -> range:
        """Rows of the chunks of a document, in their order."""
        first, last = np.searchsorted(self.chunks["document"], [document_row, document_row + 1])
        return range(int(first), int(last))

    def chunk(self, row: int) -> PageChunk:
        """One chunk."""
        return PageChunk(
            id=str(self.chunks["id"][row]),
            ordinal=int(self.chunks["ordinal"][row]),
            heading_path=str(self.chunks["heading_path"][row]),
            text=str(self.chunks["text"][row]),
            tokens=int(self.chunks["tokens"][row]),
        )

    def document(self, row: int) -> Document:
        """A whole document, its text read from the table."""
        return self._documents("row = ?", [int(row)])[0]

    def documents(self) -> list[Document]:
        """All documents, sorted by path."""
        return self._documents("", [])

    def _documents(self, where: str, parameters: Sequence[object]) -> list[Document]:
        names = ("path", "title", "text", "url", "attributes")
        table = read_table(self._file("documents"), names, where=where, parameters=parameters)
        return [
            Document(
                path=path,
                kind=PAGE,
                title=title,
                text=text,
                url=url,
                attributes=json.loads(attributes),
            )
            for path, title, text, url, attributes in zip(*table.values(), strict=True)
        ]

    def headings(self, row: int) -> list[str]:
        """The heading paths of a document, in their order, each once."""
        rows = self.chunk_rows(row)
        found: dict[str, None] = {}
        for path in self.chunks["heading_path"][rows.start : rows.stop]:
            parts = path.split(" > ")
            # A heading without a text of its own is in the first chunk below it.
            found |= dict.fromkeys(" > ".join(parts[: end + 1]) for end in range(len(parts)))
        return [path for path in found if path]

    def visits(self) -> dict[str, Known]:
        """By path what the sync that made the snapshot learnt of each file."""
        table = read_table(self._file("visits"), ("path", "url", "validator", "links"))
        return {
            path: Known(path, url, validator, tuple(json.loads(links)))
            for path, url, validator, links in zip(*table.values(), strict=True)
        }

    def vectors_by_digest(self) -> dict[str, bytes]:
        """The vectors of chunks and examples by the digest of all that shaped them."""
        vectors: dict[str, bytes] = {}
        for name in ("chunks", "examples"):
            table = read_table(self._file(name), ("digest", "embedding"))
            vectors.update(zip(table["digest"], table["embedding"], strict=True))
        return vectors

    def nbytes(self) -> int:
        """Memory that the index takes once loaded, in bytes; an estimate from its file sizes.

        Text unpacks to about six times its compressed size, and Python strings weigh as much
        again as their indexes; vectors (float16 in the file, float32 here) merely double.
        """
        return 6 * sum(self.snapshot.sizes.values())


def _unpacked_pages(posting: tuple[bytes, bytes] | None) -> _POSTING | None:
    if posting is None:
        return None
    return np.frombuffer(posting[0], np.int32), np.frombuffer(posting[1], np.float32)


_LIGHT = (
    *("path", "kind", "title", "signature", "summary", "url", "parent", "attributes"),
    *("in_degree", "members", "length", "examples", "deprecated", "twin", "of_trait"),
)


#: Kinds that stand inside a type or trait, never directly in a module.
MEMBER_KINDS = frozenset({"method", "field", "variant", "assoc_const", "assoc_type"})


class Index:
    """The tables of one snapshot, each column read when it is first needed.

    Args:
        snapshot: what the tables belong to.
        file: gives the local Parquet file of a table, fetched again if it has gone.
    """

    def __init__(self, snapshot: Snapshot, file: Callable[[str], Path]) -> None:
        self.snapshot = snapshot
        self._file = file

    @property
    def language(self) -> Spelling:
        """How its paths are written."""
        return of_kind(self.snapshot.revision.source.kind)

    @cached_property
    def columns(self) -> Mapping[str, NDArray[Any]]:
        """The documents' columns except their texts; one entry a document, sorted by path."""
        return read_table(self._file("documents"), _LIGHT)

    @cached_property
    def rows_by_path(self) -> Mapping[str, tuple[int, ...]]:
        """Rows of each path; a name may exist once in each of Rust's namespaces."""
        rows: dict[str, tuple[int, ...]] = {}
        for row, path in enumerate(self.columns["path"]):
            rows[path] = (*rows.get(path, ()), row)
        return rows

    @cached_property
    def rows_by_parent(self) -> Mapping[str, list[int]]:
        """Rows of the direct members of each path."""
        rows: dict[str, list[int]] = {}
        for row, parent in enumerate(self.columns["parent"]):
            rows.setdefault(parent, []).append(row)
        return rows

    @cached_property
    def shapes(self) -> Shapes:
        """The functions by the shape of their signatures; made in a second for the largest."""
        names = ("path", "kind", "title", "signature", "parent")
        columns = (self.columns[name].tolist() for name in names)
        rows = [Row(*each) for each in zip(*columns, strict=True)]
        for number, text in enumerate(self.columns["attributes"]):
            if '"impl":' in text:
                block = json.loads(text)["impl"]
                signature = f"{block} {{\n{rows[number].signature}\n}}"
                rows[number] = replace(rows[number], signature=signature)
        table = self.relations
        futures = table["subject"][
            np.isin(table["predicate"], (WRITTEN, DERIVED))
            & np.array([str(each).endswith("::Future") for each in table["object"]], bool)
        ]
        return Shapes(rows, frozenset(futures.tolist()))

    @cached_property
    def relations(self) -> Mapping[str, NDArray[Any]]:
        """The columns subject, predicate, object and detail."""
        return read_table(self._file("relations"))

    @cached_property
    def aliases(self) -> Mapping[str, str]:
        """Each further public path with the canonical path of its item."""
        table = self.relations
        chosen = table["predicate"] == "alias"
        return dict(zip(table["subject"][chosen], table["object"][chosen], strict=True))

    @cached_property
    def definitions(self) -> Mapping[str, str]:
        """Paths that only the crate itself can write, as other crates' files do name its items."""
        table = self.relations
        chosen = table["predicate"] == DEFINES
        columns = (table[name][chosen] for name in ("subject", "object", "detail"))
        found: dict[str, str] = {}
        for module, parent, names in zip(*columns, strict=True):
            found |= unpacked(module, parent, names)
        return found

    @cached_property
    def passages(self) -> Mapping[str, NDArray[Any]]:
        """The columns document, heading_path and text; sorted by document."""
        return read_table(self._file("passages"), ("document", "heading_path", "text"))

    @cached_property
    def matrix(self) -> NDArray[np.float32]:
        """The passages' unit vectors: (passages, dimensions)."""
        return self._vectors("passages")

    @cached_property
    def first_passage(self) -> NDArray[np.int64]:
        """Where each document's passages begin; every document has one at least."""
        return np.searchsorted(self.passages["document"], np.arange(len(self))).astype(np.int64)

    @cached_property
    def examples(self) -> Mapping[str, NDArray[Any]]:
        """The columns document, ordinal, language, code and context of whole code blocks."""
        return read_table(
            self._file("examples"), ("document", "ordinal", "language", "code", "context")
        )

    @cached_property
    def example_matrix(self) -> NDArray[np.float32]:
        """The examples' vectors: (examples, dimensions)."""
        return self._vectors("examples")

    def _vectors(self, table: str) -> NDArray[np.float32]:
        blobs = read_table(self._file(table), ("embedding",))["embedding"]
        return unpack_vectors(blobs, len(blobs[0]) // 2 if len(blobs) else 0)

    @cached_property
    def _postings(self) -> Mapping[str, tuple[bytes, bytes]]:
        return self._read_postings("postings")

    @cached_property
    def _example_postings(self) -> Mapping[str, tuple[bytes, bytes]]:
        return self._read_postings("example_postings")

    def _read_postings(self, name: str) -> Mapping[str, tuple[bytes, bytes]]:
        table = read_table(self._file(name))
        pairs = zip(table["rows"], table["weights"], strict=True)
        return dict(zip(table["term"], pairs, strict=True))

    def __len__(self) -> int:
        return len(self.columns["path"])

    def row(self, path: str, kind: str) -> int:
        """The row of the document of that path and kind."""
        return next(row for row in self.rows_by_path[path] if self.columns["kind"][row] == kind)

    def item(self, row: int) -> Item:
        """What the ranking knows of a document."""
        columns, rust = self.columns, not self.language.packaged
        return Item(
            kind=str(columns["kind"][row]),
            path=str(columns["path"][row]),
            title=str(columns["title"][row]),
            # Names often say all there is to say, and say it without documentation.
            summary=str(columns["summary"][row] or columns["title"][row] * (not rust)),
            in_degree=int(columns["in_degree"][row]),
            members=int(columns["members"][row]),
            length=int(columns["length"][row]),
            deprecated=bool(columns["deprecated"][row]),
            twin=str(columns["twin"][row]),
            of_trait=bool(columns["of_trait"][row]),
        )

    def members(self, row: int) -> list[int]:
        """Rows of what a document owns.

        A module and a primitive may share a path (``std::str``), and then their members do: a
        module owns items, and anything else owns methods, fields and the like.
        """
        kinds = self.columns["kind"]
        of_module = kinds[row] == "module"
        children = self.rows_by_parent.get(str(self.columns["path"][row]), [])
        if self.language.packaged:
            inherited = () if of_module else filter(None, self._others(row).values())
            found = [each for path in inherited for each in self.rows_by_path.get(path, ())]
            return sorted({*children, *found}, key=lambda each: str(self.columns["title"][each]))
        return [child for child in children if (kinds[child] not in MEMBER_KINDS) == of_module]

    def member(self, row: int) -> Member:
        """A document as one line of its owner's page."""
        columns = self.columns
        return Member(
            path=str(columns["path"][row]),
            kind=str(columns["kind"][row]),
            signature=str(columns["signature"][row]),
            summary=str(columns["summary"][row]),
        )

    def links(self, path: str) -> list[str]:
        """Paths and addresses that the docs of an item link to, in alphabetical order."""
        table = self.relations
        chosen = (table["subject"] == path) & (table["predicate"] == "links-to")
        return sorted(set(table["object"][chosen].tolist()))

    def traits(self, path: str) -> Traits:
        """What a type implements and dereferences to, as its page shows it."""
        table = self.relations
        chosen = table["subject"] == path
        objects, predicates = table["object"][chosen], table["predicate"][chosen]
        own = {str(each) for each in objects[np.isin(predicates, (WRITTEN, DERIVED))]}
        packed = objects[np.isin(predicates, list(PACKED))]
        return Traits(
            own=tuple(sorted(own)),
            further=sum(each.count(" ") + 1 for each in packed),
            derefs=tuple(sorted({str(each) for each in objects[predicates == DEREFS_TO]})),
        )

    @cached_property
    def _rows_by_title(self) -> Mapping[str, list[int]]:
        rows: dict[str, list[int]] = {}
        for row, title in enumerate(self.columns["title"]):
            rows.setdefault(_squeezed(title), []).append(row)
        return rows

    def rows_by_title(self, title: str) -> tuple[list[int], list[int]]:
        """Rows of that title, and those whose titles begin with it.

        Case, ``_`` and spaces make no difference.
        """
        wanted = _squeezed(title)
        if not wanted:
            return [], []
        table = self._rows_by_title
        longer = (name for name in table if name != wanted and name.startswith(wanted))
        return table.get(wanted, []), [row for name in longer for row in table[name]]

    def nearest_name(self, word: str, least: float) -> str:
        """The name or word of the documents most like a misspelt one; empty if none is.

        Args:
            word: in lower case.
            least: the least similarity, from 0 to 100 (rapidfuzz's Damerau-Levenshtein ratio).
        """
        from rapidfuzz import process
        from rapidfuzz.distance import DamerauLevenshtein

        for vocabulary in (self._rows_by_title, self._postings):
            found = process.extractOne(
                word,
                vocabulary.keys(),
                scorer=DamerauLevenshtein.normalized_similarity,
                score_cutoff=least / 100,
            )
            if found is not None:
                return str(found[0])
        return ""

    def frequency(self, term: str) -> int:
        """In how many documents a term occurs."""
        found = self._postings.get(term)
        return len(found[0]) // 4 if found is not None else 0

    def postings(self, term: str) -> tuple[NDArray[np.int32], NDArray[np.float32]] | None:
        """The documents that hold a term, with the term's weight in each."""
        return _unpacked(self._postings.get(term))

    def example_postings(self, term: str) -> tuple[NDArray[np.int32], NDArray[np.float32]] | None:
        """The examples that hold a term, with the term's weight in each."""
        return _unpacked(self._example_postings.get(term))

    def attributes(self, row: int) -> dict[str, Any]:
        """The attributes of a document."""
        attributes: dict[str, Any] = json.loads(self.columns["attributes"][row])
        return attributes

    def features(self, row: int) -> list[str]:
        """The features that a document requires."""
        # Most have none, and a look at the text is cheaper than parsing it.
        if '"features"' not in self.columns["attributes"][row]:
            return []
        required: list[str] = self.attributes(row).get("features", [])
        return required

    def document(self, row: int) -> Document:
        """A whole document, its text read from the table."""
        return self.documents([row])[0]

    def documents(self, rows: Sequence[int]) -> list[Document]:
        """Whole documents, their texts read from the table at once."""
        found = read_table(
            self._file("documents"),
            ("row", "text"),
            where="row IN (SELECT unnest(?))",
            parameters=([int(row) for row in rows],),
        )
        texts = dict(zip(found["row"].tolist(), found["text"], strict=True))
        names = ("path", "kind", "title", "signature", "url", "parent")
        return [
            Document(
                **{name: str(self.columns[name][row]) for name in names},
                text=texts[row],
                attributes=self.attributes(row),
            )
            for row in rows
        ]

    def find(self, path: str) -> tuple[int, ...]:
        """Rows of a path, of any alias of it, or of a definition path; members included."""
        found = self.rows_by_path.get(path)
        if found:
            return found
        found = self._find_as(path, self.aliases) or self._find_as(path, self.definitions)
        return found if found or not self.language.packaged else self._find_other(path)

    def _find_as(self, path: str, others: Mapping[str, str]) -> tuple[int, ...]:
        """Rows of what a path means by its longest beginning that is another's name."""
        head, tail = path, ""
        while head:
            canonical = others.get(head)
            if canonical is not None and canonical + tail in self.rows_by_path:
                return self.rows_by_path[canonical + tail]
            head, joint, last = head.rpartition(self.language.separator)
            tail = f"{joint}{last}{tail}"
        return ()

    def _find_other(self, path: str) -> tuple[int, ...]:
        """Rows of what a class inherits, or a module has, that stands under another one's path."""
        owner, _, name = path.rpartition(self.language.separator)
        for row in self.find(owner) if owner else ():
            if there := self._others(row).get(name):
                return self.rows_by_path.get(there, ())
        return ()

    def _others(self, row: int) -> Mapping[str, str]:
        """Names of a class or module of a package, with the paths of their documents."""
        if '"others"' not in self.columns["attributes"][row]:
            return {}
        others: dict[str, str] = self.attributes(row)["others"]
        return others

    def find_below(self, tail: str) -> tuple[int, ...]:
        """Rows of the paths that end in a tail of several segments: ``Mutex::lock``."""
        joint = self.language.separator
        if joint not in tail:
            return ()
        ending = f"{joint}{tail}".lower()
        return tuple(
            row
            for path, rows in self.rows_by_path.items()
            if path.lower().endswith(ending)
            for row in rows
        )

    def vectors_by_digest(self) -> dict[str, bytes]:
        """Return the packed vectors of passages and examples by the digest of what shaped them."""
        content = self._content()
        vectors: dict[str, bytes] = {}
        for table in (ITEMS.parts, ITEMS.examples):
            packed = read_table(self._file(table.name), ("embedding",))["embedding"]
            digests = table.digests(ITEMS, self.snapshot.recipe.model, table.embeddable(content))
            vectors.update(zip(digests, packed, strict=True))
        return vectors

    def _content(self) -> Content:
        """Return what the snapshot holds, but for the documents' texts."""
        columns = (self.columns[name].tolist() for name in ("path", "kind", "title", "signature"))
        parts = read_table(self._file("passages"), ("document", "ordinal", "heading_path", "text"))
        return Content(
            "",
            [Document(*each) for each in zip(*columns, strict=True)],
            self.columns["summary"].tolist(),
            [Passage(*each) for each in zip(*parts.values(), strict=True)],
            [Example(*each) for each in zip(*self.examples.values(), strict=True)],
        )

    def names(self) -> Iterator[str]:
        """Every path and alias that finds something."""
        yield from self.rows_by_path
        yield from self.aliases

    def nbytes(self) -> int:
        """Memory that the index takes once loaded, in bytes; an estimate from its file sizes.

        Text unpacks to about six times its compressed size, and Python strings weigh as much
        again as their indexes; vectors (float16 in the file, float32 here) merely double.
        """
        return 6 * sum(self.snapshot.sizes.values())


def _unpacked(
    posting: tuple[bytes, bytes] | None,
) -> tuple[NDArray[np.int32], NDArray[np.float32]] | None:
    if posting is None:
        return None
    return np.frombuffer(posting[0], np.int32), np.frombuffer(posting[1], np.float32)


def _squeezed(title: str) -> str:
    return title.lower().replace("_", "").replace(" ", "")
