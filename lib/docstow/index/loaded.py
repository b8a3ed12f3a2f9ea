"""One snapshot's tables in memory: columns, vectors, postings, and the rows that paths name.

Every column is read from its Parquet file when it is first needed. Nothing is ranked here.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

import numpy as np
from numpy.typing import NDArray

from docstow.core.model import (
    DEFINES,
    Document,
    Example,
    Known,
    Passage,
    Snapshot,
    unpack_definitions,
)
from docstow.core.patterns import lazy_pattern
from docstow.core.records import dataclass
from docstow.core.spelling import MEMBERLESS, Spelling, kind_rank, of_kind
from docstow.embedding import word_vectors
from docstow.index.anchors import ANCHORS
from docstow.index.contents import COLUMN as LISTS
from docstow.index.contents import unpack_lists
from docstow.index.copies import ORIGINAL
from docstow.index.mapped import map_vectors
from docstow.index.near_rows import NearRows
from docstow.index.near_words import NearWords
from docstow.index.page_fields import COLUMNS as PAGE_FIELDS
from docstow.index.page_fields import PageWords
from docstow.index.profiles import Content, TextTable, profile_of
from docstow.index.related import RelatedScores
from docstow.index.shown import COLUMNS as SHOWN
from docstow.index.shown import ShownChunk, read_shown, show_chunk
from docstow.index.tables import column_names, read_table, unpack_vectors
from docstow.index.translations import COLUMNS as TRANSLATIONS
from docstow.index.translations import Translations
from docstow.text.chunking import plain

if TYPE_CHECKING:
    from docstow.index.signatures.crate_signatures import CrateSignatures
    from docstow.store.blobs import BlobCache

#: Columns of the documents table that are read alone and only when they are needed.
_LARGE = {"row", "text", "digest", *PAGE_FIELDS, *TRANSLATIONS, LISTS}

#: Kinds that stand inside a type or trait, never directly in a module.
_MEMBER_KINDS = frozenset({"method", "field", "variant", "assoc_const", "assoc_type"})

_SCHEME = lazy_pattern(r"^https?://", re.IGNORECASE)
# What a page's name may end in: a suffix of its format, and the name of a folder's own page.
_PAGE_END = lazy_pattern(
    r"(?:(?:/|^)index)?(?:\.(?:x?html?|mdx?|markdown|rst|txt|adoc|asciidoc|ipynb|php|aspx?))?/*$",
    re.IGNORECASE,
)

#: The rows that hold a term, and the term's weight in each.
Posting = tuple[NDArray[np.int32], NDArray[np.float32]]


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """Words among which a misspelt one is looked for.

    Attributes:
        words: themselves.
        lengths: their numbers of characters.
        letters: which letters each has, a bit for each; others than those of English share bits.
    """

    words: NDArray[np.object_]
    lengths: NDArray[np.int64]
    letters: NDArray[np.uint64]

    @classmethod
    def of(cls, words: Collection[str]) -> Vocabulary:
        """Return the vocabulary of some words."""
        return cls(
            np.array(list(words), object),
            np.array(list(map(len, words)), np.int64),
            _letters(words),
        )

    def near(self, word: str, least: float) -> list[str]:
        """Return the words that may be so similar to one: few others, in their order.

        An edit changes two letters of a set of them at most, so that words with few letters in
        common need no comparison.

        Args:
            word: to compare with.
            least: similarity that is wanted: one less the share of characters to edit.
        """
        longer = np.maximum(self.lengths, len(word))
        edits = longer * (1 - least) + _ROUNDING
        unlike = np.bitwise_count(self.letters ^ _letters([word]))
        near = (longer - np.minimum(self.lengths, len(word)) <= edits) & (unlike <= 2 * edits)
        found: list[str] = self.words[near].tolist()
        return found


#: What a product of numbers may differ by from what it stands for.
_ROUNDING = 1e-6


def _letters(words: Collection[str]) -> NDArray[np.uint64]:
    """Return a bit for each letter of each word, and one that all words have."""
    if not words:
        return np.zeros(0, np.uint64)
    # The end of a line closes a word, so that none is empty.
    joined = "".join([f"{word}\n" for word in words])
    codes = np.frombuffer(joined.encode("utf-32-le", "surrogatepass"), "<u4").astype(np.uint64)
    ends = np.cumsum([len(word) + 1 for word in words])
    found: NDArray[np.uint64] = np.bitwise_or.reduceat(
        np.uint64(1) << (codes & np.uint64(63)), ends - np.diff(ends, prepend=0)
    )
    return found


class Index:
    """The tables of one snapshot, of items or of pages.

    Rows are numbers of documents unless a name says otherwise.

    Args:
        snapshot: what the tables belong to.
        file: gives the local Parquet file of a table, fetched again if it has gone.
        cache: where vectors lie as they are compared; without one they are read into memory.
    """

    def __init__(
        self, snapshot: Snapshot, file: Callable[[str], Path], cache: BlobCache | None = None
    ) -> None:
        self.snapshot = snapshot
        self.profile = profile_of(snapshot.revision.source.kind)
        self._file = file
        self._cache = cache
        self._unpacked: dict[tuple[str, str], Posting] = {}
        self._facts: dict[int, tuple[list[str], bool]] = {}
        #: What others have made of it and use again, by what made it; it goes with the index.
        self.made: dict[object, Any] = {}

    def __len__(self) -> int:
        return len(self.columns["path"])

    @cached_property
    def language(self) -> Spelling:
        """How its paths are written."""
        return of_kind(self.snapshot.revision.source.kind)

    def nbytes(self) -> int:
        """Return the memory that the index takes once loaded, estimated from its file sizes.

        Text unpacks to about six times its compressed size, and Python strings weigh as much
        again as their indexes; vectors (float16 in the file, float32 here) merely double, and are
        pages of a file where they are mapped.
        """
        return 6 * sum(self.snapshot.sizes.values())

    # Tables

    @cached_property
    def columns(self) -> Mapping[str, NDArray[Any]]:
        """The documents' columns except their texts; one entry a document, sorted by path."""
        names = [name for name in self.profile.document_columns if name not in _LARGE]
        return read_table(self._file("documents"), names)

    @cached_property
    def _texts(self) -> NDArray[Any]:
        # To read one alone takes half as long as to read all.
        return read_table(self._file("documents"), ("text",))["text"]

    @cached_property
    def passages(self) -> Mapping[str, NDArray[Any]]:
        """The passages' columns except vectors and digests; sorted by document."""
        return self._read_text_table(self.profile.passages)

    @cached_property
    def examples(self) -> Mapping[str, NDArray[Any]]:
        """The columns document, ordinal, language, code and context of whole code blocks."""
        return self._read_text_table(self.profile.examples)

    @cached_property
    def originals(self) -> NDArray[np.int32]:
        """The row of each passage's original, which is its own if it is no copy."""
        table = self.profile.passages
        if ORIGINAL not in self._derived:
            return np.arange(len(self.passages["document"]), dtype=np.int32)
        return read_table(self._file(table.name), (ORIGINAL,))[ORIGINAL]

    @cached_property
    def shown(self) -> Mapping[str, NDArray[Any]]:
        """What hits show of chunks; nothing in snapshots of earlier layouts."""
        names = [name for name in SHOWN if name in self._derived]
        return read_table(self._file(self.profile.passages.name), names) if names else {}

    @cached_property
    def page_words(self) -> PageWords | None:
        """What pages are about and begin with; nothing in snapshots that were made without."""
        fields = self._read_if_kept(PAGE_FIELDS)
        return PageWords(word_vectors(), fields) if fields else None

    @cached_property
    def translations(self) -> Translations | None:
        """The pages that translate each other, if there are any."""
        columns = self._read_if_kept(TRANSLATIONS)
        return (columns and Translations(*(columns[name] for name in TRANSLATIONS))) or None

    @cached_property
    def lists(self) -> Mapping[int, frozenset[int]]:
        """The pages that each contents page lists."""
        columns = self._read_if_kept((LISTS,))
        return unpack_lists(columns[LISTS].tolist()) if columns else {}

    def _read_if_kept(self, names: Sequence[str]) -> Mapping[str, NDArray[Any]]:
        """Return columns of documents that snapshots of before lack; then there are none."""
        kept = set(names) <= {*self.profile.document_columns}
        if not kept or not self._document_columns.issuperset(names):
            return {}
        return read_table(self._file("documents"), names)

    @cached_property
    def _document_columns(self) -> frozenset[str]:
        return column_names(self._file("documents"))

    @property
    def _derived(self) -> Collection[str]:
        """The derived columns of passages that the snapshot has: those of its layout."""
        current = self.snapshot.recipe.layout == self.profile.layout
        return self.profile.passages.derived_columns if current else ()

    @cached_property
    def matrix(self) -> NDArray[np.float32]:
        """The passages' vectors: (passages, dimensions)."""
        return self._read_vectors(self.profile.passages)

    @cached_property
    def vector_lengths(self) -> NDArray[np.float32]:
        """The length of each passage's vector; 1 where it is 0: shape ``(passages,)``."""
        lengths = np.linalg.norm(self.matrix, axis=1)
        return np.where(lengths > 0, lengths, np.float32(1.0))

    @cached_property
    def page_vectors(self) -> NDArray[np.float32]:
        """The mean direction of each document's passages: (documents, dimensions)."""
        sums = np.add.reduceat(self.matrix, self.first_passage)
        lengths = np.linalg.norm(sums, axis=1, keepdims=True)
        return np.divide(sums, np.where(lengths > 0, lengths, 1), dtype=np.float32)

    @cached_property
    def example_matrix(self) -> NDArray[np.float32]:
        """The examples' vectors: (examples, dimensions)."""
        return self._read_vectors(self.profile.examples)

    @cached_property
    def relations(self) -> Mapping[str, NDArray[Any]]:
        """The columns subject, predicate, object and detail."""
        return read_table(self._file("relations"))

    @cached_property
    def relation_rows(self) -> Mapping[str, Sequence[int]]:
        """The rows of :attr:`relations` of each subject."""
        rows: dict[str, list[int]] = {}
        for row, subject in enumerate(self.relations["subject"]):
            rows.setdefault(subject, []).append(row)
        return rows

    @cached_property
    def _postings(self) -> Mapping[str, tuple[bytes, bytes]]:
        return self._read_postings(self.profile.passages.postings)

    @cached_property
    def _anchor_postings(self) -> Mapping[str, tuple[bytes, bytes]]:
        # Snapshots of older releases have none.
        if ANCHORS not in self.snapshot.tables:
            return {}
        return self._read_postings(ANCHORS)

    @cached_property
    def _example_postings(self) -> Mapping[str, tuple[bytes, bytes]]:
        return self._read_postings(self.profile.examples.postings)

    def _read_text_table(self, table: TextTable) -> Mapping[str, NDArray[Any]]:
        names = [name for name in table.columns if name not in ("digest", "embedding")]
        return read_table(self._file(table.name), names)

    def _read_vectors(self, table: TextTable) -> NDArray[np.float32]:
        def read() -> NDArray[np.float32]:
            return unpack_vectors(read_table(self._file(table.name), ("embedding",))["embedding"])

        if self._cache is None:
            return read()
        return map_vectors(self._cache, self.snapshot.tables[table.name], read)

    def _read_postings(self, table: str) -> Mapping[str, tuple[bytes, bytes]]:
        columns = read_table(self._file(table))
        packed = zip(columns["rows"], columns["weights"], strict=True)
        return dict(zip(columns["term"], packed, strict=True))

    def visits(self) -> dict[str, Known]:
        """Return by path what the sync that made the snapshot learned of each file."""
        table = read_table(self._file("visits"), ("path", "url", "validator", "links"))
        return {
            path: Known(path, url, validator, tuple(json.loads(links)))
            for path, url, validator, links in zip(*table.values(), strict=True)
        }

    def vectors_by_digest(self) -> dict[str, bytes]:
        """Return the packed vectors of passages and examples by the digest of what shaped them."""
        vectors: dict[str, bytes] = {}
        for table in (self.profile.passages, self.profile.examples):
            if "digest" in table.columns:
                stored = read_table(self._file(table.name), ("digest", "embedding"))
                digests, packed = stored["digest"].tolist(), stored["embedding"]
            else:
                packed = read_table(self._file(table.name), ("embedding",))["embedding"]
                rows = table.embeddable(self._content)
                digests = table.digests(self.profile, self.snapshot.recipe.model, rows)
            vectors.update(zip(digests, packed, strict=True))
        return vectors

    @property
    def _content(self) -> Content:
        """What the snapshot holds, but for the documents' texts."""
        columns = (self.columns[name].tolist() for name in ("path", "kind", "title", "signature"))
        names = ("document", "ordinal", "heading_path", "text")
        passages = zip(*(self.passages[name].tolist() for name in names), strict=True)
        return Content(
            "",
            [Document(*each) for each in zip(*columns, strict=True)],
            self.columns["summary"].tolist(),
            [Passage(*each) for each in passages],
            [Example(*each) for each in zip(*self.examples.values(), strict=True)],
        )

    # Words

    def postings(self, term: str) -> Posting | None:
        """Return the items or the chunks of pages that hold a term, with its weight in each."""
        return self._unpack(self.profile.passages.postings, term, self._postings)

    def anchor_postings(self, term: str) -> Posting | None:
        """Return the items of which other texts say a term, with its weight for each."""
        return self._unpack(ANCHORS, term, self._anchor_postings)

    def example_postings(self, term: str) -> Posting | None:
        """Return the examples that hold a term, with the term's weight in each."""
        return self._unpack(self.profile.examples.postings, term, self._example_postings)

    def _unpack(
        self, table: str, term: str, postings: Mapping[str, tuple[bytes, bytes]]
    ) -> Posting | None:
        """Return a posting as arrays, which are kept: they are views of what is loaded."""
        found = self._unpacked.get((table, term))
        if found is None and (packed := postings.get(term)) is not None:
            rows, weights = packed
            found = np.frombuffer(rows, np.int32), np.frombuffer(weights, np.float32)
            self._unpacked[table, term] = found
        return found

    @property
    def terms(self) -> Collection[str]:
        """Every term that :meth:`postings` knows."""
        return self._postings.keys()

    @cached_property
    def vocabularies(self) -> Sequence[Vocabulary]:
        """Titles as :func:`fold_title` spells them, then the terms."""
        return [Vocabulary.of(each) for each in (self.rows_by_title, self.terms)]

    @cached_property
    def near_words(self) -> NearWords:
        """What finds items by words of like meaning."""
        return NearWords(word_vectors(), self.terms, self.postings, len(self))

    @cached_property
    def near_items(self) -> NearRows:
        """What compares the names and the summaries of items with words."""
        near, columns = self.near_words, (self.columns["title"], self.columns["summary"])
        return NearRows(
            near,
            lambda rows: [*map(near.read_text, chain(*(each[rows].tolist() for each in columns)))],
            fields=len(columns),
            count=len(self),
        )

    @cached_property
    def related_scores(self) -> RelatedScores:
        """What finds items by words that are used for one another."""
        return RelatedScores(self.postings, len(self))

    # Passages

    @cached_property
    def first_passage(self) -> NDArray[np.int64]:
        """The row of each document's first passage; every document has one at least."""
        return np.searchsorted(self.passages["document"], np.arange(len(self))).astype(np.int64)

    def passage_rows(self, row: int) -> range:
        """Return the rows of a document's passages, in their order."""
        first = self.first_passage
        end = int(first[row + 1]) if row + 1 < len(first) else len(self.passages["document"])
        return range(int(first[row]), end)

    def passage(self, passage_row: int) -> Passage:
        """Return one chunk of a page."""
        table = self.passages
        return Passage(
            document=int(table["document"][passage_row]),
            ordinal=int(table["ordinal"][passage_row]),
            heading_path=str(table["heading_path"][passage_row]),
            text=str(table["text"][passage_row]),
            id=str(table["id"][passage_row]),
            tokens=int(table["tokens"][passage_row]),
        )

    def shown_chunk(self, passage_row: int) -> ShownChunk:
        """Return what a hit shows of a chunk of a page."""
        if self.shown:
            return read_shown(self.shown, passage_row)
        chunk = self.passage(passage_row)
        return show_chunk(self.document(chunk.document), chunk, plain(chunk.text, code=True))

    def find_passage(self, identity: str) -> int | None:
        """Return the row of the chunk of that id; None if there is none."""
        return self._passage_rows_by_id.get(identity)

    @cached_property
    def _passage_rows_by_id(self) -> Mapping[str, int]:
        return {identity: row for row, identity in enumerate(self.passages["id"])}

    # Documents

    def document(self, row: int) -> Document:
        """Return a whole document."""
        return self.documents([row])[0]

    def documents(self, rows: Sequence[int] | None = None) -> list[Document]:
        """Return whole documents, all if no rows are given."""
        rows = range(len(self)) if rows is None else rows
        names = ("path", "kind", "title", "signature", "url", "parent")
        present = [name for name in names if name in self.columns]
        return [
            Document(
                **{"kind": "page"} | {name: str(self.columns[name][row]) for name in present},
                text=self._texts[row],
                attributes=self.attributes(row),
            )
            for row in rows
        ]

    def text(self, row: int) -> str:
        """Return the text of a document."""
        return str(self._texts[row])

    def attributes(self, row: int) -> dict[str, Any]:
        """Return the attributes of a document."""
        attributes: dict[str, Any] = json.loads(self.columns["attributes"][row])
        return attributes

    @cached_property
    def all_attributes(self) -> Sequence[Mapping[str, Any]]:
        """The attributes of all documents, kept for filters."""
        return [self.attributes(row) for row in range(len(self))]

    def features(self, row: int) -> list[str]:
        """Return the features that an item requires."""
        return self._read_facts(row)[0]

    def is_deprecated(self, row: int) -> bool:
        """Return whether an item says that it is deprecated."""
        return self._read_facts(row)[1]

    def _read_facts(self, row: int) -> tuple[list[str], bool]:
        """Return the features of an item and whether it is deprecated, which is kept."""
        found = self._facts.get(row)
        if found is None:
            text = self.columns["attributes"][row]
            # Most have neither, and a look at the text is cheaper than parsing it.
            said = '"features"' in text or '"deprecated"' in text
            attributes = self.attributes(row) if said else {}
            found = attributes.get("features", []), attributes.get("deprecated") is not None
            self._facts[row] = found
        return found

    # Rows by name

    def page_row(self, ref: str) -> int | None:
        """Return the row of the page of that id, path or URL; None if there is none."""
        return self._rows_by_ref.get(ref)

    @cached_property
    def _rows_by_ref(self) -> Mapping[str, int]:
        rows: dict[str, int] = {}
        for name in ("id", "path", "url"):  # an id is never taken for another's path
            for row, ref in enumerate(self.columns[name]):
                rows.setdefault(ref, row)
        rows.pop("", None)
        return rows

    @cached_property
    def rows_by_page_key(self) -> Mapping[str, set[int]]:
        """Rows of pages by :func:`page_key` of paths, URLs and canonical addresses.

        Each key is there as it is and in lower case.
        """
        rows: dict[str, set[int]] = {}
        canonical = [str(each.get("canonical", "")) for each in self.all_attributes]
        for refs in (self.columns["path"].tolist(), self.columns["url"].tolist(), canonical):
            for row, ref in enumerate(refs):
                for key in {page_key(ref), page_key(ref).casefold()} if ref else ():
                    rows.setdefault(key, set()).add(row)
        return rows

    @cached_property
    def rows_by_path(self) -> Mapping[str, tuple[int, ...]]:
        """Rows of each path, types and traits first; Rust has a name once in each namespace."""
        rows: dict[str, tuple[int, ...]] = {}
        for row, path in enumerate(self.columns["path"]):
            rows[path] = self._ranked((*rows[path], row)) if path in rows else (row,)
        return rows

    def _ranked(self, rows: Iterable[int]) -> tuple[int, ...]:
        kinds = self.columns["kind"]
        return tuple(sorted(rows, key=lambda row: (kind_rank(str(kinds[row])), row)))

    @cached_property
    def rows_by_parent(self) -> Mapping[str, list[int]]:
        """Rows of the direct members of each path."""
        rows: dict[str, list[int]] = {}
        for row, parent in enumerate(self.columns["parent"]):
            rows.setdefault(parent, []).append(row)
        return rows

    @cached_property
    def rows_by_title(self) -> Mapping[str, list[int]]:
        """Rows of each title, as :func:`fold_title` spells it."""
        rows: dict[str, list[int]] = {}
        for row, title in enumerate(self.columns["title"]):
            rows.setdefault(fold_title(title), []).append(row)
        return rows

    @cached_property
    def changelogs(self) -> list[int]:
        """The rows of pages that are changelogs of their package."""
        pages = np.flatnonzero(self.columns["kind"].astype(str) == "page").tolist()
        return [row for row in pages if self.attributes(row).get("role") == "changelog"]

    @cached_property
    def guide_passages(self) -> NDArray[np.int64]:
        """The rows of passages that pages have, but for changelogs."""
        guides = self.columns["kind"].astype(str) == "page"
        guides[self.changelogs] = False
        found: NDArray[np.int64] = np.flatnonzero(
            guides[self.passages["document"].astype(np.int64)]
        )
        return found

    def row(self, path: str, kind: str) -> int:
        """Return the row of the document of that path and kind."""
        rows = self.rows_by_path[path]
        if len(rows) == 1:
            return rows[0]
        return next(row for row in rows if self.columns["kind"][row] == kind)

    @cached_property
    def aliases(self) -> Mapping[str, Sequence[tuple[str, str]]]:
        """Each further public path with the canonical paths and the kinds of its items.

        The kind is empty, for any, in tables that were written before it was kept.
        """
        table = self.relations
        chosen = table["predicate"] == "alias"
        found: dict[str, list[tuple[str, str]]] = {}
        columns = (table[name][chosen] for name in ("subject", "object", "detail"))
        for alias, path, kind in zip(*columns, strict=True):
            found.setdefault(alias, []).append((path, kind))
        return found

    @cached_property
    def aliases_by_parent(self) -> Mapping[str, list[str]]:
        """The aliases directly below each path."""
        found: dict[str, list[str]] = {}
        for alias in self.aliases:
            found.setdefault(alias.rpartition(self.language.separator)[0], []).append(alias)
        return found

    @cached_property
    def definitions(self) -> Mapping[str, str]:
        """Paths that only the crate itself can write, as other crates' files do name its items."""
        table = self.relations
        chosen = table["predicate"] == DEFINES
        columns = (table[name][chosen] for name in ("subject", "object", "detail"))
        found: dict[str, str] = {}
        for module, parent, names in zip(*columns, strict=True):
            found |= unpack_definitions(module, parent, names)
        return found

    def names(self) -> Iterator[str]:
        """Yield every path and alias that finds an item."""
        yield from self.rows_by_path
        yield from self.aliases

    def find(self, path: str) -> tuple[int, ...]:
        """Return the rows of a path, of any alias of it, or of a definition path.

        Members of an item are found by its aliases too.
        """
        found = self.rows_by_path.get(path, ())
        if path in self.aliases:
            return self._ranked({*found, *self._find_aliased(path, kinds_only=bool(found))})
        if not found:
            found = self._find_below(path, lambda head: [p for p, _ in self.aliases.get(head, ())])
        if not found:
            found = self._find_below(path, lambda head: filter(None, [self.definitions.get(head)]))
        return found if found or not self.language.packaged else self._find_inherited(path)

    def _find_aliased(self, alias: str, *, kinds_only: bool) -> Iterator[int]:
        """Yield the rows that an alias means; ``kinds_only``: where it says of which kind."""
        kinds = self.columns["kind"]
        for path, kind in self.aliases[alias]:
            for row in self.rows_by_path.get(path, ()):
                if kinds[row] == kind or not (kind or kinds_only):
                    yield row

    def _find_below(self, path: str, canonical: Callable[[str], Iterable[str]]) -> tuple[int, ...]:
        """Return the rows of a path whose longest possible beginning has a canonical path."""
        head, tail = path, ""
        while head:
            for owner in canonical(head):
                if owner + tail in self.rows_by_path:
                    return self.rows_by_path[owner + tail]
            head, joint, last = head.rpartition(self.language.separator)
            tail = f"{joint}{last}{tail}"
        return ()

    def _find_inherited(self, path: str) -> tuple[int, ...]:
        """Return the rows of what a class inherits or a module re-exports, by its name there."""
        owner, _, name = path.rpartition(self.language.separator)
        for row in self.find(owner) if owner else ():
            if elsewhere := self._inherited(row).get(name):
                return self.rows_by_path.get(elsewhere, ())
        return ()

    def _inherited(self, row: int) -> Mapping[str, str]:
        """Return the names of a package's class or module that are documented elsewhere."""
        if '"others"' not in self.columns["attributes"][row]:
            return {}
        others: dict[str, str] = self.attributes(row)["others"]
        return others

    def members(self, row: int) -> list[int]:
        """Return the rows of what a document owns.

        What shares a path shares its children too: a module owns items, a type or trait methods,
        fields and the like, a function or macro nothing.
        """
        kinds = self.columns["kind"]
        is_module = kinds[row] == "module"
        children = self.rows_by_parent.get(str(self.columns["path"][row]), [])
        if not self.language.packaged:
            if kinds[row] in MEMBERLESS:
                return []
            return [c for c in children if (kinds[c] not in _MEMBER_KINDS) == is_module]
        inherited = () if is_module else filter(None, self._inherited(row).values())
        found = [each for path in inherited for each in self.rows_by_path.get(path, ())]
        return sorted({*children, *found}, key=lambda each: str(self.columns["title"][each]))

    @cached_property
    def signatures(self) -> CrateSignatures:
        """The signatures of a crate's functions; parsed within a second for the largest crate."""
        from docstow.index.signatures.crate_signatures import CrateSignatures

        return CrateSignatures.from_tables(self.columns, self.relations)


def page_key(ref: str) -> str:
    """Return what spellings of a page's path or URL share: no scheme, suffix, index or slash."""
    bare = _SCHEME.sub("", unquote(ref.partition("#")[0]))
    return _PAGE_END.sub("", bare.removeprefix("./").strip("/"))


def fold_title(title: str) -> str:
    """Return a title without differences of case, ``_`` and spaces."""
    return title.lower().replace("_", "").replace(" ", "")
