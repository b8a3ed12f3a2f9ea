"""The tables of a snapshot: their columns, made from documents, relations and an embedder.

What differs between kinds of snapshots is data of a :class:`Profile`; see
:mod:`docstow.index.profiles`.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from docstow.core.model import (
    NO_ATTRIBUTES,
    Document,
    Example,
    Passage,
    Recipe,
    Relation,
    document_id,
)
from docstow.index.parquet import pack_vectors
from docstow.index.ranking import twin_word
from docstow.text import bm25
from docstow.text.chunking import Block, first_sentence
from docstow.text.markdown import pieces

if TYPE_CHECKING:
    from docstow.core.model import Known
    from docstow.embedding import Embedder

Columns = Mapping[str, Sequence[Any] | NDArray[Any]]

#: Only so many words of a shortened field are embedded: models are trained on short texts.
EMBEDDED_WORDS = 120

#: Field vectors that are weighted at once, to bound memory.
_VECTORS_AT_ONCE = 8192


@dataclass(frozen=True)
class Content:
    """What a snapshot holds: its documents, and what their texts were divided into.

    Attributes:
        source_id: id of the registration that the documents belong to; empty for items.
        documents: sorted by path; a document's position is its row number everywhere else.
        summaries: the first sentence of each document.
        passages: of all documents, in their order; those of pages are called chunks.
        examples: the code blocks of all documents, in their order.
    """

    source_id: str
    documents: Sequence[Document]
    summaries: Sequence[str]
    passages: Sequence[Passage]
    examples: Sequence[Example]

    def owner(self, part: Passage | Example) -> Document:
        """Return the document that a passage or an example stands in."""
        return self.documents[part.document]

    @cached_property
    def prose_and_code(self) -> list[tuple[str, str]]:
        """The prose of each passage as plain text, and its code."""
        divided = (pieces(passage.text) for passage in self.passages)
        return [
            (
                "\n\n".join(piece.text for piece in found if piece.info is None),
                "\n".join(piece.text for piece in found if piece.info is not None),
            )
            for found in divided
        ]


@dataclass(frozen=True, slots=True)
class Embeddable:
    """The texts that the vector of a passage or an example is made from.

    Attributes:
        fields: by name, for a model that embeds each field alone.
        whole: for any other model; if empty, that model gets the fields, one a line.
    """

    fields: Mapping[str, str]
    whole: str = ""


@dataclass(frozen=True, slots=True)
class TextTable:
    """A table that is searched by words and by vectors.

    Attributes:
        name: of the table.
        columns: of the table, in their stored order.
        postings: name of the table with its inverted index.
        keywords: its keyword fields with their BM25F weight and length normalisation b.
        vectors: what the vector of each field counts in the vector of a row.
        shortened: fields of which only the first :data:`EMBEDDED_WORDS` words are embedded.
        keyword_rows: gives the rows of the inverted index, one text for each of ``keywords``.
        embeddable: gives the texts that the vector of each row is made from.
    """

    name: str
    columns: tuple[str, ...]
    postings: str
    keywords: Mapping[str, tuple[float, float]]
    vectors: Mapping[str, float]
    shortened: frozenset[str]
    keyword_rows: Callable[[Content], Sequence[tuple[str, ...]]]
    embeddable: Callable[[Content], list[Embeddable]]

    def digests(self, profile: Profile, model: str, rows: Iterable[Embeddable]) -> list[str]:
        """Return for each row the digest of everything that shapes its vector."""
        shape = (profile.layout, model, json.dumps(self.vectors))
        return [
            digest(*shape, *row.fields.values(), *([row.whole] if row.whole else []))
            for row in rows
        ]


@dataclass(frozen=True, slots=True)
class Fusion:
    """How rows of words and rows of vectors are fused into one list.

    Attributes:
        query_terms: gives the terms of a query.
        fold_query: gives the text that is embedded of a query.
        lists_dissimilar: whether rows are listed whose vectors have nothing of the query's.
        repeated: what each further row of one document keeps of its score.
        most_of_document: so many rows of one document are listed at most.
    """

    query_terms: Callable[[str], list[str]]
    fold_query: Callable[[str], str]
    lists_dissimilar: bool
    repeated: float
    most_of_document: float


@dataclass(frozen=True, slots=True, eq=False)
class Profile:
    """How snapshots of one kind are divided, indexed and embedded.

    Attributes:
        layout: id of the tables below, a part of the recipe.
        chunker: id of ``divide``.
        words: id of ``terms``.
        terms: gives the terms of a text for the inverted indexes.
        document_columns: of the documents table, in their stored order.
        passages: the table of passages.
        examples: the table of code blocks.
        fusion: how passages of pages, and examples, are ranked.
        has_visits: whether it keeps what the sync learned of each file.
        divide: divides one document; gets the source's id, the document's row, the document and
            the model's count of tokens.
        code_blocks: gives the code blocks of one document.
    """

    layout: str
    chunker: str
    words: str
    terms: Callable[[str], list[str]]
    document_columns: tuple[str, ...]
    passages: TextTable
    examples: TextTable
    fusion: Fusion
    has_visits: bool
    divide: Callable[[str, int, Document, Callable[[str], int]], list[Passage]]
    code_blocks: Callable[[Document], list[Block]]

    def recipe(self, reader: str, model: str) -> Recipe:
        """Return the recipe of a snapshot that is made now.

        Args:
            reader: id of what read the documents.
            model: id of the embedding model.
        """
        return Recipe(reader, self.chunker, self.words, model, self.layout)


@dataclass(frozen=True, slots=True)
class Tables:
    """A snapshot's tables.

    Attributes:
        columns: by table name.
        embedded: number of vectors that were made.
        reused: number of vectors that were known.
    """

    columns: dict[str, Columns]
    embedded: int
    reused: int


def tabulate(
    profile: Profile,
    documents: Sequence[Document],
    relations: Sequence[Relation],
    embedder: Embedder,
    *,
    source_id: str = "",
    visits: Mapping[str, Known] = NO_ATTRIBUTES,
    known: Mapping[str, bytes] = NO_ATTRIBUTES,
) -> Tables:
    """Make the columns of every table.

    Args:
        profile: the kind of snapshot.
        documents: sorted by path; a document's position is its row number everywhere else.
        relations: the edges between paths.
        embedder: makes a unit vector of each passage and each example, and counts tokens.
        source_id: id of the registration that pages belong to.
        visits: by path what the sync learned of each file.
        known: packed vectors of an earlier snapshot by digest, which are not made again; see
            :meth:`docstow.index.loaded.Index.vectors_by_digest`.
    """
    summaries: list[str] = []
    passages: list[Passage] = []
    blocks: list[Example] = []
    # Document by document: parsed Markdown is cached only for a while.
    for row, document in enumerate(documents):
        blocks += [
            Example(row, ordinal, block.language, block.code, block.context)
            for ordinal, block in enumerate(profile.code_blocks(document))
        ]
        summaries.append(first_sentence(document.text))
        passages += profile.divide(source_id, row, document, embedder.count)
    content = Content(source_id, documents, summaries, passages, blocks)
    vectors = _Vectors(profile, embedder, known)
    columns: dict[str, Columns] = {
        "documents": {name: _DOCUMENT[name](content) for name in profile.document_columns},
        profile.passages.name: _passage_columns(content, profile.passages, vectors),
        profile.passages.postings: _posting_columns(content, profile.passages, profile.terms),
        profile.examples.name: _example_columns(content, profile.examples, vectors),
        profile.examples.postings: _posting_columns(content, profile.examples, profile.terms),
        "relations": {
            "subject": [relation.subject for relation in relations],
            "predicate": [relation.predicate for relation in relations],
            "object": [relation.object for relation in relations],
            "detail": [relation.detail for relation in relations],
        },
    }
    if profile.has_visits:
        paths = sorted(visits)
        columns["visits"] = {
            "path": paths,
            "url": [visits[path].url for path in paths],
            "validator": [visits[path].validator for path in paths],
            "links": [json.dumps(visits[path].links) for path in paths],
        }
    return Tables(columns, vectors.embedded, vectors.reused)


class _Vectors:
    """Packed vectors, of which those that are known are not made again."""

    def __init__(self, profile: Profile, embedder: Embedder, known: Mapping[str, bytes]) -> None:
        self._profile = profile
        self._embedder = embedder
        self._known = known
        self.embedded = self.reused = 0

    def pack(self, table: TextTable, rows: Sequence[Embeddable]) -> tuple[list[str], list[bytes]]:
        """Return the digest and the packed vector of each row."""
        digests = table.digests(self._profile, self._embedder.id, rows)
        missing = {d: row for d, row in zip(digests, rows, strict=True) if d not in self._known}
        packed = pack_vectors(self._embed(table, list(missing.values())))
        made = dict(zip(missing, packed, strict=True))
        self.embedded += len(made)
        self.reused += sum(digest not in made for digest in digests)
        return digests, [made[d] if d in made else self._known[d] for d in digests]

    def _embed(self, table: TextTable, rows: Sequence[Embeddable]) -> NDArray[np.float32]:
        """Embed rows: shape (rows, dimensions).

        A model that asks for fields gets each field alone, and a row's vector is the weighted sum
        of its fields' unit vectors, brought to unit length: a row that lacks a field is not the
        worse for it. Any other model gets one text a row.
        """
        if self._embedder.fields:
            return _weighted(table, [row.fields for row in rows], self._embedder)
        return self._embedder.embed(
            [row.whole or "\n".join(filter(None, row.fields.values())) for row in rows]
        )


def _weighted(
    table: TextTable, rows: Sequence[Mapping[str, str]], embedder: Embedder
) -> NDArray[np.float32]:
    """Return the weighted sum of each row's field vectors, of unit length; zero without any text.

    A text that recurs is embedded once.
    """
    numbers: dict[str, int] = {}
    uses: dict[str, list[tuple[int, int]]] = {name: [] for name in table.vectors}
    for row, fields in enumerate(rows):
        for name, text in fields.items():
            if name in table.shortened:
                text = " ".join(text.split()[:EMBEDDED_WORDS])
            if text:
                uses[name].append((row, numbers.setdefault(text, len(numbers))))
    embedded = embedder.embed(list(numbers))
    result = np.zeros((len(rows), embedder.dimensions), np.float32)
    for name, pairs in uses.items():
        for begin in range(0, len(pairs), _VECTORS_AT_ONCE):
            # A row has a field once, so plain addition by index loses nothing.
            to, texts = np.array(pairs[begin : begin + _VECTORS_AT_ONCE]).T
            result[to] += embedded[texts] * np.float32(table.vectors[name])
    lengths = np.linalg.norm(result, axis=1, keepdims=True)
    return np.divide(result, np.where(lengths > 0, lengths, 1), dtype=np.float32)


def _passage_columns(content: Content, table: TextTable, vectors: _Vectors) -> Columns:
    digests, embeddings = vectors.pack(table, table.embeddable(content))
    passages = content.passages
    columns: Columns = {
        "document": _integers(passage.document for passage in passages),
        "ordinal": _integers(passage.ordinal for passage in passages),
        "id": [passage.id for passage in passages],
        "heading_path": [passage.heading_path for passage in passages],
        "text": [passage.text for passage in passages],
        "tokens": _integers(passage.tokens for passage in passages),
        "digest": digests,
        "embedding": embeddings,
    }
    return {name: columns[name] for name in table.columns}


def _example_columns(content: Content, table: TextTable, vectors: _Vectors) -> Columns:
    digests, embeddings = vectors.pack(table, table.embeddable(content))
    blocks = content.examples
    columns: Columns = {
        "document": _integers(block.document for block in blocks),
        "ordinal": _integers(block.ordinal for block in blocks),
        "language": [block.language for block in blocks],
        "code": [block.code for block in blocks],
        "context": [block.context for block in blocks],
        "digest": digests,
        "embedding": embeddings,
    }
    return {name: columns[name] for name in table.columns}


def _posting_columns(
    content: Content, table: TextTable, terms: Callable[[str], list[str]]
) -> Columns:
    weights, lengths = zip(*table.keywords.values(), strict=True)
    postings = bm25.build_postings(table.keyword_rows(content), weights, lengths, terms_of=terms)
    return {
        "term": postings.terms,
        "rows": [rows.tobytes() for rows in postings.rows],
        "weights": [weights.tobytes() for weights in postings.weights],
    }


def _integers(values: Iterable[int]) -> NDArray[np.int32]:
    return np.fromiter(values, np.int32)


def digest(*parts: str) -> str:
    """Return the SHA-256, in hex, of several texts."""
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()


def _twins(content: Content) -> list[str]:
    siblings: defaultdict[str, set[str]] = defaultdict(set)
    for document in content.documents:
        siblings[document.parent].add(document.title)
    return [twin_word(each.title, siblings[each.parent]) for each in content.documents]


def _members(content: Content) -> NDArray[np.int32]:
    counts = Counter(document.parent for document in content.documents)
    return _integers(counts[document.path] for document in content.documents)


def _lengths(content: Content) -> NDArray[np.int32]:
    counts = Counter[int]()
    for passage in content.passages:
        counts[passage.document] += len(passage.text)
    return _integers(counts[row] for row in range(len(content.documents)))


def _example_counts(content: Content) -> NDArray[np.int32]:
    counts = Counter(example.document for example in content.examples)
    return _integers(counts[row] for row in range(len(content.documents)))


def _of_each(value: Callable[[Document], Any]) -> Callable[[Content], list[Any]]:
    return lambda content: [value(document) for document in content.documents]


#: What makes each column of the documents table.
_DOCUMENT: Mapping[str, Callable[[Content], Sequence[Any] | NDArray[Any]]] = {
    "row": lambda content: np.arange(len(content.documents), dtype=np.int32),
    "id": lambda content: [document_id(content.source_id, e.path) for e in content.documents],
    "path": _of_each(lambda document: document.path),
    "kind": _of_each(lambda document: document.kind),
    "title": _of_each(lambda document: document.title),
    "signature": _of_each(lambda document: document.signature),
    "summary": lambda content: content.summaries,
    "text": _of_each(lambda document: document.text),
    "url": _of_each(lambda document: document.url),
    "parent": _of_each(lambda document: document.parent),
    "digest": _of_each(lambda document: document.digest()),
    # What ranking needs of every candidate, so that attributes need not be parsed.
    "in_degree": lambda content: _integers(
        document.attributes.get("in_degree", 0) for document in content.documents
    ),
    "members": _members,
    "length": _lengths,
    "examples": _example_counts,
    "deprecated": _of_each(lambda document: document.attributes.get("deprecated") is not None),
    "twin": _twins,
    "of_trait": _of_each(lambda document: "trait" in document.attributes),
    "attributes": _of_each(
        lambda document: json.dumps(
            dict(document.attributes), sort_keys=True, separators=(",", ":")
        )
    ),
}
