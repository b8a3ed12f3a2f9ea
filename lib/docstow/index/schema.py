"""The tables of a snapshot: their columns, made from documents, relations and an embedder.

This room knows what one row means. It does not know Parquet files, stores or who asks.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urlsplit

import numpy as np
from numpy.typing import NDArray

from docstow.core.language_names import spoken
from docstow.core.model import Document, Example, Passage, Relation, document_id
from docstow.formats.docstrings import guessed
from docstow.index.parquet import pack_vectors
from docstow.index.ranking import twin_word
from docstow.text import bm25 as words
from docstow.text import chunking as chunk
from docstow.text.chunking import PROSE_CHUNKER as CHUNKER
from docstow.text.chunking import chunks
from docstow.text.markdown import pieces

if TYPE_CHECKING:
    from docstow.core.model import Known
    from docstow.embedding import Embedder

__all__ = ["CHUNKER", "PAGE_LAYOUT", "Tables", "tabulate_pages"]


Columns = Mapping[str, Sequence[Any] | NDArray[Any]]


#: The columns below, as a part of the recipe: a search has a snapshot of another layout made anew.
LAYOUT = "layout/1"


#: The keyword fields of a document with their BM25F weight and length normalisation b.
FIELDS = {
    "title": (6.0, 0.3),
    "path": (2.0, 0.3),
    "signature": (1.0, 0.5),
    "summary": (2.5, 0.5),
    "text": (1.0, 0.75),
    "code": (0.5, 0.75),
}


#: The same for examples.
EXAMPLE_FIELDS = {
    "path": (2.0, 0.3),
    "owner": (1.0, 0.5),
    "context": (2.0, 0.5),
    "code": (1.0, 0.75),
}


EXAMPLE_VECTORS = {"path": 0.7, "owner": 0.7, "context": 1.0, "code": 0.5}


#: What each field's vector counts in a passage's vector.
FIELD_VECTORS = {"path": 0.7, "title": 0.3, "signature": 0.3, "summary": 1.0, "text": 0.3}


#: Words of prose in one field.
MOST_WORDS = 120


#: Field vectors that are weighted at once, to bound memory.
_AT_ONCE = 8192


def tabulate(
    documents: Sequence[Document], relations: Sequence[Relation], embedder: Embedder
) -> dict[str, Columns]:
    """Make the columns of every table, by table name.

    Args:
        documents: sorted by path; a document's position is its row number everywhere else.
        relations: the edges between paths.
        embedder: makes one unit vector a passage.
    """
    passages: list[Passage] = []
    examples: list[Example] = []
    summaries: list[str] = []
    # One document at a time: parsed Markdown is remembered only for a while.
    for row, document in enumerate(documents):
        summaries.append(chunk.first_sentence(document.text))
        passages += _passages(row, document)
        examples += [
            Example(row, ordinal, block.language, block.code, block.context)
            for ordinal, block in enumerate(_blocks(document))
        ]
    return {
        "documents": _document_columns(documents, summaries, passages, examples),
        "passages": _passage_columns(documents, summaries, passages, embedder),
        "postings": _posting_columns(documents, summaries, passages, examples),
        "examples": _example_columns(documents, summaries, examples, embedder),
        "example_postings": _example_posting_columns(documents, summaries, examples),
        "relations": {
            "subject": [relation.subject for relation in relations],
            "predicate": [relation.predicate for relation in relations],
            "object": [relation.object for relation in relations],
            "detail": [relation.detail for relation in relations],
        },
    }


def _blocks(document: Document) -> list[chunk.Block]:
    """The code blocks of a document; one that names no language is in the document's own."""
    language = str(document.attributes.get("language", "rust"))
    if language != "python":
        return chunk.examples(document.text, default_language=language)
    # What is indented in a docstring is as often a list as it is code.
    return [
        block if block.language else replace(block, language=guessed(block.code))
        for block in chunk.examples(document.text, default_language="")
    ]


def _passages(row: int, document: Document) -> list[Passage]:
    """Every document has a passage, so that a bare signature can be found too."""
    parts = chunk.split(document.text) or [("", "")]
    return [Passage(row, ordinal, heading, text) for ordinal, (heading, text) in enumerate(parts)]


def vectors(
    documents: Sequence[Document],
    summaries: Sequence[str],
    passages: Sequence[Passage],
    embedder: Embedder,
) -> NDArray[np.float32]:
    """One vector a passage: shape (passages, dimensions).

    A model that asks for fields gets each field alone, and the passage's vector is the weighted
    sum of the fields' unit vectors, brought to unit length: a passage that lacks a field is not
    the worse for it. Any other model gets header and prose as one text.
    """
    if not embedder.fields:
        return embedder.embed([_whole_text(documents[p.document], p) for p in passages])
    fields = [
        _fields(documents[passage.document], summaries[passage.document], passage)
        for passage in passages
    ]
    return weighted(fields, FIELD_VECTORS, embedder)


def weighted(
    rows_of_fields: Sequence[Mapping[str, str]], worth: Mapping[str, float], embedder: Embedder
) -> NDArray[np.float32]:
    """The weighted sum of each row's field vectors, of unit length (or zero, of no text at all).

    A text that recurs is embedded once.
    """
    texts: dict[str, int] = {}
    places: dict[str, list[tuple[int, int]]] = {name: [] for name in worth}
    for row, by_name in enumerate(rows_of_fields):
        for name, text in by_name.items():
            if text:
                places[name].append((row, texts.setdefault(text, len(texts))))
    embedded = embedder.embed(list(texts))
    result = np.zeros((len(rows_of_fields), embedder.dimensions), np.float32)
    for name, pairs in places.items():
        for begin in range(0, len(pairs), _AT_ONCE):
            # A row has a field once, so plain addition by index loses nothing.
            rows, fields = np.array(pairs[begin : begin + _AT_ONCE]).T
            result[rows] += embedded[fields] * np.float32(worth[name])
    lengths = np.linalg.norm(result, axis=1, keepdims=True)
    return np.divide(result, np.where(lengths > 0, lengths, 1), dtype=np.float32)


def _fields(document: Document, summary: str, passage: Passage) -> dict[str, str]:
    """The fields of a passage; only the first passage of a document speaks for its summary."""
    first = passage.ordinal == 0
    return {
        "path": spoken(document.path),
        "title": document.title,
        "signature": " ".join(document.signature.split()) if first else "",
        "summary": summary if first else passage.heading_path,
        "text": _beginning(passage.text.removeprefix(summary) if first else passage.text),
    }


def _beginning(text: str) -> str:
    """The words that the model was trained to sum up; more would blur them."""
    return " ".join(text.split()[:MOST_WORDS])


def _whole_text(document: Document, passage: Passage) -> str:
    parts = [document.path, document.signature, passage.heading_path, passage.text]
    return "\n".join(part for part in parts if part)


def _document_columns(
    documents: Sequence[Document],
    summaries: Sequence[str],
    passages: Sequence[Passage],
    examples: Sequence[Example],
) -> Columns:
    names: defaultdict[str, set[str]] = defaultdict(set)
    for document in documents:
        names[document.parent].add(document.title)
    lengths = Counter[int]()
    for passage in passages:
        lengths[passage.document] += len(passage.text)
    members = Counter(document.parent for document in documents)
    shown = Counter(example.document for example in examples)
    return {
        "row": np.arange(len(documents), dtype=np.int32),
        "path": [document.path for document in documents],
        "kind": [document.kind for document in documents],
        "title": [document.title for document in documents],
        "signature": [document.signature for document in documents],
        "summary": summaries,
        "text": [document.text for document in documents],
        "url": [document.url for document in documents],
        "parent": [document.parent for document in documents],
        # What ranking wants to know of every candidate, so that attributes need not be parsed.
        "in_degree": _integers(document.attributes.get("in_degree", 0) for document in documents),
        "members": _integers(members[document.path] for document in documents),
        "length": _integers(lengths[row] for row in range(len(documents))),
        "examples": _integers(shown[row] for row in range(len(documents))),
        "deprecated": [document.attributes.get("deprecated") is not None for document in documents],
        "twin": [twin_word(document.title, names[document.parent]) for document in documents],
        "of_trait": ["trait" in document.attributes for document in documents],
        "attributes": [
            json.dumps(dict(document.attributes), sort_keys=True, separators=(",", ":"))
            for document in documents
        ],
    }


def _integers(values: Iterable[int]) -> NDArray[np.int32]:
    return np.fromiter(values, np.int32)


def _passage_columns(
    documents: Sequence[Document],
    summaries: Sequence[str],
    passages: Sequence[Passage],
    embedder: Embedder,
) -> Columns:
    return {
        "document": np.array([passage.document for passage in passages], np.int32),
        "ordinal": np.array([passage.ordinal for passage in passages], np.int32),
        "heading_path": [passage.heading_path for passage in passages],
        "text": [passage.text for passage in passages],
        "embedding": pack_vectors(vectors(documents, summaries, passages, embedder)),
    }


def _posting_columns(
    documents: Sequence[Document],
    summaries: Sequence[str],
    passages: Sequence[Passage],
    examples: Sequence[Example],
) -> Columns:
    prose: list[list[str]] = [[] for _ in documents]
    for passage in passages:
        prose[passage.document] += (passage.heading_path, passage.text)
    code: list[list[str]] = [[] for _ in documents]
    for example in examples:
        code[example.document].append(example.code)
    rows = [
        (
            document.title,
            document.path,
            document.signature,
            summary,
            "\n".join(prose[row]),
            "\n".join(code[row]),
        )
        for row, (document, summary) in enumerate(zip(documents, summaries, strict=True))
    ]
    return _postings(rows, FIELDS)


def _example_columns(
    documents: Sequence[Document],
    summaries: Sequence[str],
    examples: Sequence[Example],
    embedder: Embedder,
) -> Columns:
    fields = [
        {
            "path": spoken(documents[example.document].path),
            "owner": summaries[example.document],
            "context": example.context,
            "code": example.code,
        }
        for example in examples
    ]
    if embedder.fields:
        matrix = weighted(fields, EXAMPLE_VECTORS, embedder)
    else:
        matrix = embedder.embed(["\n".join(filter(None, each.values())) for each in fields])
    return {
        "document": _integers(example.document for example in examples),
        "ordinal": _integers(example.ordinal for example in examples),
        "language": [example.language for example in examples],
        "code": [example.code for example in examples],
        "context": [example.context for example in examples],
        "embedding": pack_vectors(matrix),
    }


def _example_posting_columns(
    documents: Sequence[Document], summaries: Sequence[str], examples: Sequence[Example]
) -> Columns:
    rows = [
        (
            documents[example.document].path,
            summaries[example.document],
            example.context,
            example.code,
        )
        for example in examples
    ]
    return _postings(rows, EXAMPLE_FIELDS)


def _postings(
    rows: Sequence[tuple[str, ...]], fields: Mapping[str, tuple[float, float]]
) -> Columns:
    weights, lengths = zip(*fields.values(), strict=True)
    postings = words.index(rows, weights, lengths)
    return {
        "term": postings.terms,
        "rows": [rows.tobytes() for rows in postings.rows],
        "weights": [weights.tobytes() for weights in postings.weights],
    }


# The tables of a snapshot of pages


#: The columns below, as a part of the recipe.
PAGE_LAYOUT = "pages/1"


#: The keyword fields of a chunk with their BM25F weight and length normalisation b. A page's
#: title speaks loudest for the page's first chunk, and a little for all of them.
PAGE_FIELDS = {
    "title": (3.0, 0.3),
    "page": (1.0, 0.3),
    "heading": (2.5, 0.4),
    "path": (1.0, 0.4),
    "text": (1.0, 0.5),
    "code": (0.6, 0.5),
}


PAGE_EXAMPLE_FIELDS = {
    "page": (1.0, 0.3),
    "path": (1.0, 0.4),
    "context": (2.0, 0.5),
    "code": (1.0, 0.75),
}


#: What each field's vector counts in a chunk's or an example's vector.
VECTORS = {"title": 0.5, "heading": 0.7, "text": 1.0}


PAGE_EXAMPLE_VECTORS = {"title": 0.3, "context": 1.0, "code": 0.5}


_ORDINARY = re.compile(r"[^\w]+|_")


@dataclass(frozen=True, slots=True)
class Tables:
    """A snapshot's tables.

    Attributes:
        columns: by table name.
        embedded: vectors that were made.
        reused: vectors that an earlier snapshot had.
    """

    columns: dict[str, Columns]
    embedded: int
    reused: int


@dataclass(frozen=True, slots=True)
class _Chunk:
    """A chunk with what is indexed of it."""

    document: int
    ordinal: int
    id: str
    heading_path: str
    text: str
    tokens: int
    prose: str
    code: str


def tabulate_pages(
    source_id: str,
    documents: Sequence[Document],
    visits: Mapping[str, Known],
    relations: Sequence[Relation],
    embedder: Embedder,
    known: Mapping[str, bytes],
) -> Tables:
    """Make the columns of every table.

    Args:
        source_id: the registration's id.
        documents: sorted by path, each path once; a document's position is its row everywhere else.
        visits: by path what the sync learnt of each file.
        relations: the edges between pages.
        embedder: makes a vector of each chunk and each example, and counts tokens.
        known: vectors of an earlier snapshot by digest: what is unchanged is not embedded again.
    """
    parts: list[_Chunk] = []
    examples: list[Example] = []
    # Page by page, the whole page first: what is parsed is remembered only for a while.
    for row, document in enumerate(documents):
        examples += [
            Example(row, ordinal, block.language, block.code, block.context)
            for ordinal, block in enumerate(chunk.examples(document.text, default_language="text"))
        ]
        parts += _chunks(row, document_id(source_id, document.path), document, embedder)
    vectors = _Vectors(embedder, known)
    columns: dict[str, Columns] = {
        "documents": _page_document_columns(source_id, documents),
        "chunks": _chunk_columns(documents, parts, vectors),
        "chunk_postings": _page_postings(_chunk_texts(documents, parts), PAGE_FIELDS),
        "examples": _page_example_columns(documents, examples, vectors),
        "example_postings": _page_postings(
            _example_texts(documents, examples), PAGE_EXAMPLE_FIELDS
        ),
        "relations": {
            "subject": [relation.subject for relation in relations],
            "predicate": [relation.predicate for relation in relations],
            "object": [relation.object for relation in relations],
            "detail": [relation.detail for relation in relations],
        },
        "visits": {
            "path": [path for path, _ in sorted(visits.items())],
            "url": [visit.url for _, visit in sorted(visits.items())],
            "validator": [visit.validator for _, visit in sorted(visits.items())],
            "links": [json.dumps(visit.links) for _, visit in sorted(visits.items())],
        },
    }
    return Tables(columns, vectors.embedded, vectors.reused)


def _chunks(row: int, identity: str, document: Document, embedder: Embedder) -> Iterable[_Chunk]:
    """Every document has a chunk, so that a bare title can be found too.

    A chunk is named by what it says, so that it keeps its name while others change; a text that
    recurs in a page is numbered.
    """
    seen: dict[str, int] = {}
    parts = [(p.heading_path, p.text, p.tokens) for p in chunks(document.text, embedder.count)]
    for ordinal, (heading, text, tokens) in enumerate(parts or [("", "", 0)]):
        digest = _digest(heading, text)
        seen[digest] = seen.get(digest, 0) + 1
        name = digest if seen[digest] == 1 else _digest(heading, text, str(seen[digest]))
        found = pieces(text)
        yield _Chunk(
            document=row,
            ordinal=ordinal,
            id=f"{identity}.{name[:12]}",
            heading_path=heading,
            text=text,
            tokens=tokens,
            prose="\n\n".join(piece.text for piece in found if piece.info is None),
            code="\n".join(piece.text for piece in found if piece.info is not None),
        )


def _digest(*parts: str) -> str:
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()


class _Vectors:
    """Vectors of rows of fields, of which those that are known already are not made again."""

    def __init__(self, embedder: Embedder, known: Mapping[str, bytes]) -> None:
        self._embedder = embedder
        self._known = known
        self.embedded = self.reused = 0

    def columns(
        self, rows: Sequence[Mapping[str, str]], worth: Mapping[str, float]
    ) -> tuple[list[str], list[bytes]]:
        """The digest of all that shapes each row's vector, and the vector."""
        shape = (PAGE_LAYOUT, self._embedder.id, json.dumps(worth))
        digests = [_digest(*shape, *row.values()) for row in rows]
        wanted = {d: row for d, row in zip(digests, rows, strict=True) if d not in self._known}
        made = dict(
            zip(wanted, pack_vectors(self._embed(list(wanted.values()), worth)), strict=True)
        )
        self.embedded += len(made)
        self.reused += sum(digest not in made for digest in digests)
        return digests, [made[d] if d in made else self._known[d] for d in digests]

    def _embed(
        self, rows: Sequence[Mapping[str, str]], worth: Mapping[str, float]
    ) -> NDArray[np.float32]:
        if self._embedder.fields:
            short = [{name: _page_beginning(text) for name, text in row.items()} for row in rows]
            return weighted(short, worth, self._embedder)
        return self._embedder.embed(["\n".join(filter(None, row.values())) for row in rows])


def _page_beginning(text: str) -> str:
    return " ".join(text.split()[:MOST_WORDS])


def _page_document_columns(source_id: str, documents: Sequence[Document]) -> Columns:
    return {
        "row": np.arange(len(documents), dtype=np.int32),
        "id": [document_id(source_id, document.path) for document in documents],
        "path": [document.path for document in documents],
        "title": [document.title for document in documents],
        "text": [document.text for document in documents],
        "url": [document.url for document in documents],
        "digest": [document.digest() for document in documents],
        "attributes": [
            json.dumps(dict(document.attributes), sort_keys=True, separators=(",", ":"))
            for document in documents
        ],
    }


def _chunk_columns(
    documents: Sequence[Document], parts: Sequence[_Chunk], vectors: _Vectors
) -> Columns:
    digests, embeddings = vectors.columns(
        [
            {
                "title": documents[part.document].title,
                "heading": _below(part.heading_path, documents[part.document].title),
                "text": part.prose or part.code,
            }
            for part in parts
        ],
        VECTORS,
    )
    return {
        "document": _integers(part.document for part in parts),
        "ordinal": _integers(part.ordinal for part in parts),
        "id": [part.id for part in parts],
        "heading_path": [part.heading_path for part in parts],
        "text": [part.text for part in parts],
        "tokens": _integers(part.tokens for part in parts),
        "digest": digests,
        "embedding": embeddings,
    }


def _chunk_texts(documents: Sequence[Document], parts: Sequence[_Chunk]) -> list[tuple[str, ...]]:
    return [
        (
            documents[part.document].title if part.ordinal == 0 else "",
            documents[part.document].title,
            _below(part.heading_path, documents[part.document].title),
            _path_words(documents[part.document]),
            part.prose,
            part.code,
        )
        for part in parts
    ]


def _below(heading_path: str, title: str) -> str:
    """A heading path without the page's title, which often is its first heading."""
    first, _, rest = heading_path.partition(" > ")
    return rest if first == title else heading_path


def _path_words(document: Document) -> str:
    """A path as words; what all pages of a site share says nothing of one."""
    parts = urlsplit(document.path)
    path = parts.path if parts.scheme in ("http", "https") else document.path
    return _ORDINARY.sub(" ", unquote(path))


def _page_example_columns(
    documents: Sequence[Document], examples: Sequence[Example], vectors: _Vectors
) -> Columns:
    digests, embeddings = vectors.columns(
        [
            {
                "title": documents[example.document].title,
                "context": example.context,
                "code": example.code,
            }
            for example in examples
        ],
        PAGE_EXAMPLE_VECTORS,
    )
    return {
        "document": _integers(example.document for example in examples),
        "ordinal": _integers(example.ordinal for example in examples),
        "language": [example.language for example in examples],
        "code": [example.code for example in examples],
        "context": [example.context for example in examples],
        "digest": digests,
        "embedding": embeddings,
    }


def _example_texts(
    documents: Sequence[Document], examples: Sequence[Example]
) -> list[tuple[str, ...]]:
    return [
        (
            documents[example.document].title,
            _path_words(documents[example.document]),
            example.context,
            example.code,
        )
        for example in examples
    ]


def _page_postings(
    rows: Sequence[tuple[str, ...]], fields: Mapping[str, tuple[float, float]]
) -> Columns:
    weights, lengths = zip(*fields.values(), strict=True)
    postings = words.index(rows, weights, lengths, terms_of=words.prose_tokens)
    return {
        "term": postings.terms,
        "rows": [rows.tobytes() for rows in postings.rows],
        "weights": [weights.tobytes() for weights in postings.weights],
    }
