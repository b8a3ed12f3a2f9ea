"""The tables of a snapshot: their columns, made from documents, relations and an embedder.

This room knows what one row means. It does not know Parquet files, stores or who asks.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from docstow import chunk, words
from docstow.model import Document, Example, Passage, Relation
from docstow.tables import pack_vectors

if TYPE_CHECKING:
    from docstow.embed import Embedder

Columns = Mapping[str, Sequence[Any] | NDArray[Any]]

TABLES = ("documents", "passages", "postings", "examples", "relations")

#: The keyword fields of a document with their BM25F weight and length normalisation b.
FIELDS = {
    "title": (6.0, 0.3),
    "path": (2.0, 0.3),
    "signature": (1.0, 0.5),
    "summary": (2.5, 0.5),
    "text": (1.0, 0.75),
    "code": (0.5, 0.75),
}


def tabulate(
    documents: Sequence[Document], relations: Sequence[Relation], embedder: Embedder
) -> dict[str, Columns]:
    """Make the columns of every table in :data:`TABLES`.

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
            for ordinal, block in enumerate(chunk.examples(document.text))
        ]
    return {
        "documents": _document_columns(documents, summaries),
        "passages": _passage_columns(documents, passages, embedder),
        "postings": _posting_columns(documents, summaries, passages, examples),
        "examples": {
            "document": np.array([example.document for example in examples], np.int32),
            "ordinal": np.array([example.ordinal for example in examples], np.int32),
            "language": [example.language for example in examples],
            "code": [example.code for example in examples],
            "context": [example.context for example in examples],
        },
        "relations": {
            "subject": [relation.subject for relation in relations],
            "predicate": [relation.predicate for relation in relations],
            "object": [relation.object for relation in relations],
            "detail": [relation.detail for relation in relations],
        },
    }


def _passages(row: int, document: Document) -> list[Passage]:
    """Every document has a passage, so that a bare signature can be found too."""
    parts = chunk.split(document.text) or [("", "")]
    return [Passage(row, ordinal, heading, text) for ordinal, (heading, text) in enumerate(parts)]


def embedding_text(document: Document, passage: Passage) -> str:
    """What stands for a passage in vector space: where it is, its header, its prose; no code."""
    parts = [document.path, document.signature, passage.heading_path, passage.text]
    return "\n".join(part for part in parts if part)


def _document_columns(documents: Sequence[Document], summaries: Sequence[str]) -> Columns:
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
        "attributes": [
            json.dumps(dict(document.attributes), sort_keys=True, separators=(",", ":"))
            for document in documents
        ],
    }


def _passage_columns(
    documents: Sequence[Document], passages: Sequence[Passage], embedder: Embedder
) -> Columns:
    vectors = embedder.embed(
        [embedding_text(documents[passage.document], passage) for passage in passages]
    )
    return {
        "document": np.array([passage.document for passage in passages], np.int32),
        "ordinal": np.array([passage.ordinal for passage in passages], np.int32),
        "heading_path": [passage.heading_path for passage in passages],
        "text": [passage.text for passage in passages],
        "embedding": pack_vectors(vectors),
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
    weights, lengths = zip(*FIELDS.values(), strict=True)
    postings = words.index(rows, weights, lengths)
    return {
        "term": postings.terms,
        "rows": [rows.tobytes() for rows in postings.rows],
        "weights": [weights.tobytes() for weights in postings.weights],
    }
