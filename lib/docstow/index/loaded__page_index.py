"""One snapshot of pages in memory: documents, chunks, vectors, postings.

This room knows the loaded columns and how to find a row. It does not rank and does not fetch.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from docstow.core.model import Document, Snapshot
from docstow.index.parquet import read_table, unpack_vectors
from docstow.sources.protocol import Known

#: The kind of every document of prose.
PAGE = "page"

_LIGHT = ("id", "path", "title", "url", "attributes")
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
        return read_table(self._file("documents"), _LIGHT)

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
        return _unpacked(self._postings.get(term))

    def example_postings(self, term: str) -> _POSTING | None:
        """The examples that hold a term, with the term's weight in each."""
        return _unpacked(self._example_postings.get(term))

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


def _unpacked(posting: tuple[bytes, bytes] | None) -> _POSTING | None:
    if posting is None:
        return None
    return np.frombuffer(posting[0], np.int32), np.frombuffer(posting[1], np.float32)
