"""The tables of a snapshot: made from documents, written to and read from Parquet files.

What differs between kinds of snapshots is data of a :class:`docstow.index.profiles.Profile`. DuckDB
writes the files, and reads what is asked for under a condition or is not as it writes it itself; it
is imported when it is first needed.
"""

from __future__ import annotations

import contextlib
import errno
import json
import os
import threading
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache, partial
from operator import attrgetter
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from docstow.core import calls
from docstow.core.errors import StoreError
from docstow.core.model import (
    NO_ATTRIBUTES,
    Document,
    Example,
    Passage,
    Relation,
    document_id,
)
from docstow.core.records import dataclass
from docstow.core.threads import DUCKDB_THREADS
from docstow.index.anchors import ANCHORS, FIELDS, anchor_texts
from docstow.index.contents import find_lists
from docstow.index.parquet import Unusual, read_columns, read_names
from docstow.index.profiles import Content, Embeddable, PlainTexts, Profile, TextTable
from docstow.index.ranking import twin_word
from docstow.text import bm25
from docstow.text.chunking import first_sentence

if TYPE_CHECKING:
    import duckdb

    from docstow.core.model import Known
    from docstow.embedding import Embedder

Columns = Mapping[str, Sequence[Any] | NDArray[Any]]

#: Only so many words of a shortened field are embedded: models are trained on short texts.
EMBEDDED_WORDS = 120

#: Texts that are embedded between two reports: models take as many, or a part of it, together.
_TEXTS_AT_ONCE = 2048

#: Field vectors that are weighted at once: so many stay in the processor's cache.
_VECTORS_AT_ONCE = 512

#: Columns of passages and examples that are numbers.
_NUMBERS = frozenset({"document", "ordinal", "tokens"})

_VECTOR_TYPE = np.dtype("<f2")
_compact_json = json.JSONEncoder(sort_keys=True, separators=(",", ":")).encode
_opening = threading.Lock()


@dataclass(frozen=True, slots=True)
class Tables:
    """A snapshot's tables.

    Attributes:
        columns: by table name.
        summaries: the first sentence of each document.
        embedded: number of vectors that were made.
        reused: number of vectors that were known.
    """

    columns: dict[str, Columns]
    summaries: Sequence[str]
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
    texts: list[PlainTexts] = []
    # Document by document: parsed Markdown is cached only for a while.
    for row, document in enumerate(documents):
        blocks += [
            Example(row, ordinal, block.language, block.code, block.context)
            for ordinal, block in enumerate(profile.code_blocks(document))
        ]
        summaries.append(first_sentence(document.text))
        divided = profile.divide(source_id, row, document, embedder.count)
        passages += divided.passages
        texts += divided.texts
    content = Content(source_id, documents, summaries, passages, blocks, texts)
    vectors = _Vectors(profile, embedder, known, len(passages) + len(blocks))
    # In this order they are stored: what the page of an item is made of lies together.
    columns: dict[str, Columns] = {
        "relations": {
            name: list(map(attrgetter(name), relations))
            for name in ("subject", "predicate", "object", "detail")
        },
        "documents": {name: _DOCUMENT[name](content) for name in profile.document_columns},
        profile.passages.name: _text_columns(content, profile.passages, passages, vectors),
        profile.passages.postings: _keyword_columns(content, profile.passages, profile.terms),
        profile.examples.name: _text_columns(content, profile.examples, blocks, vectors),
        profile.examples.postings: _keyword_columns(content, profile.examples, profile.terms),
    }
    if profile.has_anchors:
        aliases = {
            relation.subject: relation.object
            for relation in relations
            if relation.predicate == "alias"
        }
        said = anchor_texts(documents, blocks, aliases)
        columns[ANCHORS] = _posting_columns(said, FIELDS.values(), profile.terms)
    if profile.has_visits:
        paths = sorted(visits)
        columns["visits"] = {
            "path": paths,
            "url": [visits[path].url for path in paths],
            "validator": [visits[path].validator for path in paths],
            "links": [json.dumps(visits[path].links) for path in paths],
        }
    return Tables(columns, summaries, vectors.embedded, vectors.reused)


def write_table(columns: Mapping[str, NDArray[Any] | Sequence[Any]], path: Path) -> None:
    """Write columns of equal length as one Parquet file (zstd).

    The same columns give the same bytes. Types follow numpy's; sequences and object arrays may
    hold str, bytes, int, float or bool, and None for null, one type per column. A column without
    any value is written as text.

    Raises:
        ValueError: no columns, or their lengths differ.
        StoreError: the file cannot be written.
    """
    import duckdb

    arrays = {name: _as_array(values) for name, values in columns.items()}
    lengths = {name: len(array) for name, array in arrays.items()}
    if len(set(lengths.values())) != 1:
        raise ValueError(f"a table needs columns of one length, not {lengths}")
    selected = ", ".join(
        f"{_quoted(name)}::VARCHAR AS {_quoted(name)}" if _is_void(array) else _quoted(name)
        for name, array in arrays.items()
    )
    with _connection() as connection:
        connection.register("docstow_columns", arrays)
        try:
            connection.execute(
                f"COPY (SELECT {selected} FROM docstow_columns)"  # noqa: S608 - names are quoted
                " TO $path (FORMAT parquet, COMPRESSION zstd)",
                {"path": str(path)},
            )
        except duckdb.IOException as fault:
            raise StoreError(
                f"Cannot write the table {path.name}: {_reason(fault)}. Check the space and the"
                " rights where temporary files are."
            ) from fault
        finally:
            connection.unregister("docstow_columns")


@contextlib.contextmanager
def scratch() -> Iterator[Path]:
    """Provide a folder for tables that are about to be published; delete it after the block.

    Raises:
        StoreError: this machine has no place for it.
    """
    try:
        folder = TemporaryDirectory(prefix="docstow-")
    except OSError as fault:
        raise StoreError(
            f"There is no place for temporary files: {fault.strerror or fault}. Free some space, or"
            " name another folder in TMPDIR."
        ) from fault
    with folder as name:
        yield Path(name)


def read_table(
    path: Path,
    columns: Sequence[str] = (),
    *,
    where: str = "",
    parameters: Sequence[object] = (),
) -> dict[str, NDArray[Any]]:
    """Read columns of a Parquet file, in the order of its rows.

    Args:
        path: the file.
        columns: names to read; none means all.
        where: a condition in SQL with ``?`` for each of ``parameters``; no part of a request may
            be pasted into it.
        parameters: values for the condition.

    Returns:
        Column name to array. Text and blobs are object arrays of str and bytes, with None for
        null; a null number is NaN (integers with nulls become floats).

    Raises:
        StoreError: the file is missing or no readable table, or lacks a column.
    """
    if not where:
        with contextlib.suppress(Unusual):
            return read_columns(path, columns)
    import duckdb

    selected = ", ".join(map(_quoted, columns)) or "*"
    query = f"SELECT {selected} FROM read_parquet(?)"  # noqa: S608 - names are quoted
    if where:
        query += f" WHERE {where}"
    with _connection() as connection:
        try:
            found = connection.execute(query, [str(path), *parameters]).fetchnumpy()
        except (duckdb.IOException, duckdb.InvalidInputException, duckdb.BinderException) as fault:
            raise StoreError(f"Cannot read the table {path.name}: {fault}") from fault
    return {name: _plain(array) for name, array in found.items()}


def column_names(path: Path) -> frozenset[str]:
    """Return the names of a Parquet file's columns.

    Raises:
        StoreError: the file is missing or no readable table.
    """
    with contextlib.suppress(Unusual):
        return read_names(path)
    import duckdb

    with _connection() as connection:
        try:
            found = connection.execute("DESCRIBE SELECT * FROM read_parquet(?)", [str(path)])
            return frozenset(row[0] for row in found.fetchall())
        except (duckdb.IOException, duckdb.InvalidInputException) as fault:
            raise StoreError(f"Cannot read the table {path.name}: {fault}") from fault


def pack_vectors(matrix: NDArray[Any]) -> NDArray[np.object_]:
    """Return each row of an ``(n, d)`` matrix as the bytes of little-endian float16 values."""
    count, dimensions = matrix.shape
    width = dimensions * _VECTOR_TYPE.itemsize
    body = np.ascontiguousarray(matrix, dtype=_VECTOR_TYPE).tobytes()
    packed = np.empty(count, dtype=object)
    packed[:] = [body[row * width : (row + 1) * width] for row in range(count)]
    return packed


def unpack_vectors(blobs: Sequence[bytes] | NDArray[np.object_]) -> NDArray[Any]:
    """Return packed vectors as a float32 matrix of shape ``(n, dimensions)``; (0, 0) of none.

    Raises:
        StoreError: the vectors are not of one width.
    """
    dimensions = len(blobs[0]) // _VECTOR_TYPE.itemsize if len(blobs) else 0
    values = np.frombuffer(b"".join(blobs), dtype=_VECTOR_TYPE)
    if values.size != len(blobs) * dimensions:
        raise StoreError(
            f"The table's vectors do not have {dimensions} dimensions; stow the source again."
        )
    return values.reshape(len(blobs), dimensions).astype(np.float32)


class _Vectors:
    """Packed vectors, of which those that are known are not made again.

    Args:
        profile: the kind of snapshot.
        embedder: makes those that are not known.
        known: by digest.
        rows: how many there will be in all, for whoever hears of the progress.
    """

    def __init__(
        self, profile: Profile, embedder: Embedder, known: Mapping[str, bytes], rows: int
    ) -> None:
        self._profile = profile
        self._embedder = embedder
        self._known = known
        self._rows = rows
        self.embedded = self.reused = 0

    def pack(
        self, table: TextTable, rows: Sequence[Embeddable]
    ) -> tuple[Sequence[Any], list[bytes]]:
        """Return the packed vector of each row, and its digest where that is stored."""
        digests: Sequence[Any]
        if self._known or "digest" in table.columns:
            digests = table.digests(self._profile, self._embedder.id, rows)
        else:  # nothing else asks for them, and the texts tell the same rows apart
            digests = [(*row.fields.values(), row.whole) for row in rows]
        missing = {d: row for d, row in zip(digests, rows, strict=True) if d not in self._known}
        self.reused += sum(digest not in missing for digest in digests)
        packed = pack_vectors(self._embed(table, list(missing.values())))
        made = dict(zip(missing, packed, strict=True))
        self.embedded += len(made)
        return digests, [made[d] if d in made else self._known[d] for d in digests]

    def _embed(self, table: TextTable, rows: Sequence[Embeddable]) -> NDArray[np.float32]:
        """Embed rows: shape (rows, dimensions).

        A model that asks for fields gets each field alone, and a row's vector is the weighted sum
        of its fields' unit vectors, brought to unit length: a row that lacks a field is not the
        worse for it. Any other model gets one text a row.
        """
        embed = partial(self._embed_texts, len(rows))
        if self._embedder.fields:
            fields = [row.fields for row in rows]
            return _weighted(table, fields, embed, self._embedder.dimensions)
        return embed([row.whole or "\n".join(filter(None, row.fields.values())) for row in rows])

    def _embed_texts(self, rows: int, texts: Sequence[str]) -> NDArray[np.float32]:
        """Embed the texts of so many rows, and report how far that is, in rows."""
        vectors = np.zeros((len(texts), self._embedder.dimensions), np.float32)
        for first in range(0, len(texts), _TEXTS_AT_ONCE):
            part = texts[first : first + _TEXTS_AT_ONCE]
            vectors[first : first + len(part)] = self._embedder.embed(part)
            done = rows * (first + len(part)) // len(texts)
            calls.report(self.embedded + self.reused + done, self._rows, calls.EMBEDDING)
        return vectors


def _weighted(
    table: TextTable,
    rows: Sequence[Mapping[str, str]],
    embed: Callable[[list[str]], NDArray[np.float32]],
    dimensions: int,
) -> NDArray[np.float32]:
    """Return the weighted sum of each row's field vectors, of unit length; zero without any text.

    A text that recurs is embedded once.
    """
    numbers: dict[str, int] = {}
    uses: dict[str, list[tuple[int, int]]] = {name: [] for name in table.vectors}
    for row, fields in enumerate(rows):
        for name, text in fields.items():
            if name in table.shortened:
                text = " ".join(text.split(None, EMBEDDED_WORDS)[:EMBEDDED_WORDS])
            if text:
                uses[name].append((row, numbers.setdefault(text, len(numbers))))
    embedded = embed(list(numbers))
    result = np.zeros((len(rows), dimensions), np.float32)
    for name, pairs in uses.items():
        for begin in range(0, len(pairs), _VECTORS_AT_ONCE):
            # A row has a field once, so plain addition by index loses nothing.
            to, texts = np.array(pairs[begin : begin + _VECTORS_AT_ONCE]).T
            result[to] += embedded[texts] * np.float32(table.vectors[name])
    lengths = np.linalg.norm(result, axis=1, keepdims=True)
    return np.divide(result, np.where(lengths > 0, lengths, 1), dtype=np.float32)


def _text_columns(
    content: Content,
    table: TextTable,
    rows: Sequence[Passage] | Sequence[Example],
    vectors: _Vectors,
) -> Columns:
    digests, embeddings = vectors.pack(table, table.embeddable(content))
    columns: dict[str, Any] = {"digest": digests, "embedding": embeddings}
    for name in table.columns:
        if name not in columns:
            values = list(map(attrgetter(name), rows))
            columns[name] = _integers(values) if name in _NUMBERS else values
    return {**{name: columns[name] for name in table.columns}, **table.derive(content)}


def _keyword_columns(content: Content, table: TextTable, words: bm25.Words) -> Columns:
    return _posting_columns(table.keyword_rows(content), table.keywords.values(), words)


def _posting_columns(
    rows: Sequence[Sequence[str]],
    fields: Iterable[tuple[float, float]],
    words: bm25.Words,
) -> Columns:
    weights, lengths = zip(*fields, strict=True)
    postings = bm25.build_postings(rows, weights, lengths, words=words)
    return {
        "term": postings.terms,
        "rows": [rows.tobytes() for rows in postings.rows],
        "weights": [weights.tobytes() for weights in postings.weights],
    }


def _integers(values: Iterable[int]) -> NDArray[np.int32]:
    return np.fromiter(values, np.int32)


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
    **{
        name: _of_each(attrgetter(name))
        for name in ("path", "kind", "title", "signature", "text", "url", "parent")
    },
    "row": lambda content: np.arange(len(content.documents), dtype=np.int32),
    "id": lambda content: [document_id(content.source_id, e.path) for e in content.documents],
    "summary": lambda content: content.summaries,
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
    "about": lambda content: content.page_fields[0],
    "lead": lambda content: content.page_fields[1],
    "translates": lambda content: content.translations[0],
    "language": lambda content: content.translations[1],
    "lists": lambda content: find_lists(content.documents),
    "attributes": _of_each(lambda document: _compact_json(dict(document.attributes))),
}


@lru_cache(maxsize=1)
def _database() -> duckdb.DuckDBPyConnection:
    """Return the process's one in-memory database; it holds no data, only settings and threads."""
    import duckdb

    return duckdb.connect(
        ":memory:",
        config={
            "threads": DUCKDB_THREADS,
            "autoinstall_known_extensions": "false",
            "autoload_known_extensions": "false",
            "allow_community_extensions": "false",
            "temp_directory": "",
        },
    )


def _connection() -> duckdb.DuckDBPyConnection:
    """Return a connection of the caller's own, so that threads do not wait for each other."""
    with _opening:
        return _database().cursor()


def _as_array(values: NDArray[Any] | Sequence[Any]) -> NDArray[Any]:
    """Return a one-dimensional array of a type that DuckDB reads without a copy or a guess."""
    if isinstance(values, np.ndarray) and values.dtype.kind != "U":
        return values
    first = next((value for value in values if value is not None), None)
    if isinstance(first, (int, float)) and None not in values:
        return np.asarray(values)
    array = np.empty(len(values), dtype=object)
    array[:] = [str(value) for value in values] if isinstance(values, np.ndarray) else values
    return array


def _is_void(array: NDArray[Any]) -> bool:
    return array.dtype == object and all(value is None for value in array)


def _reason(fault: Exception) -> str:
    """Return the operating system's reason without the addresses that DuckDB adds."""
    text = str(fault)
    reasons = (reason for reason in map(os.strerror, errno.errorcode) if reason in text)
    return max(reasons, key=len, default="the disk refuses it")


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _plain(array: NDArray[Any]) -> NDArray[Any]:
    """Undo what DuckDB adds: masks, and bytearrays where bytes went in."""
    if isinstance(array, np.ma.MaskedArray):
        values = array.data.astype(np.float64 if array.dtype.kind in "iub" else array.dtype)
        values[np.ma.getmaskarray(array)] = None if values.dtype == object else np.nan
        return _plain(values)
    if array.dtype == object:
        array[:] = [bytes(each) if isinstance(each, bytearray) else each for each in array]
    return array
