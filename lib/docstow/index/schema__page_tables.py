"""The tables of a snapshot of pages: their columns, made from documents, visits and an embedder.

This room knows what one row means. It does not know Parquet files, stores or who asks.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

import numpy as np
from numpy.typing import NDArray

from docstow.core.model import Document, Example, Relation, document_id
from docstow.index.parquet import pack_vectors
from docstow.index.schema import Columns, weighted
from docstow.text import bm25 as words
from docstow.text import chunking__chunk as chunk
from docstow.text.chunking import CHUNKER, chunks
from docstow.text.markdown import pieces

if TYPE_CHECKING:
    from docstow.embedding._embed import Embedder
    from docstow.sources.protocol import Known

__all__ = ["CHUNKER", "PAGE_LAYOUT", "Tables", "tabulate"]

#: The columns below, as a part of the recipe.
PAGE_LAYOUT = "pages/1"

#: The keyword fields of a chunk with their BM25F weight and length normalisation b. A page's
#: title speaks loudest for the page's first chunk, and a little for all of them.
FIELDS = {
    "title": (3.0, 0.3),
    "page": (1.0, 0.3),
    "heading": (2.5, 0.4),
    "path": (1.0, 0.4),
    "text": (1.0, 0.5),
    "code": (0.6, 0.5),
}
EXAMPLE_FIELDS = {
    "page": (1.0, 0.3),
    "path": (1.0, 0.4),
    "context": (2.0, 0.5),
    "code": (1.0, 0.75),
}

#: What each field's vector counts in a chunk's or an example's vector.
VECTORS = {"title": 0.5, "heading": 0.7, "text": 1.0}
EXAMPLE_VECTORS = {"title": 0.3, "context": 1.0, "code": 0.5}

#: Words of a text that a model of fields is given: more would blur them.
MOST_WORDS = 120

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


def tabulate(
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
        "documents": _document_columns(source_id, documents),
        "chunks": _chunk_columns(documents, parts, vectors),
        "chunk_postings": _postings(_chunk_texts(documents, parts), FIELDS),
        "examples": _example_columns(documents, examples, vectors),
        "example_postings": _postings(_example_texts(documents, examples), EXAMPLE_FIELDS),
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
            short = [{name: _beginning(text) for name, text in row.items()} for row in rows]
            return weighted(short, worth, self._embedder)
        return self._embedder.embed(["\n".join(filter(None, row.values())) for row in rows])


def _beginning(text: str) -> str:
    return " ".join(text.split()[:MOST_WORDS])


def _document_columns(source_id: str, documents: Sequence[Document]) -> Columns:
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


def _example_columns(
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
        EXAMPLE_VECTORS,
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


def _postings(
    rows: Sequence[tuple[str, ...]], fields: Mapping[str, tuple[float, float]]
) -> Columns:
    weights, lengths = zip(*fields.values(), strict=True)
    postings = words.index(rows, weights, lengths, terms_of=words.prose_tokens)
    return {
        "term": postings.terms,
        "rows": [rows.tobytes() for rows in postings.rows],
        "weights": [weights.tobytes() for weights in postings.weights],
    }


def _integers(values: Iterable[int]) -> NDArray[np.int32]:
    return np.fromiter(values, np.int32)
