"""The profiles of snapshots: :data:`ITEMS` of code and :data:`PAGES` of prose.

Names of tables and columns, layouts, weights and digests are stored; a change of any of them needs
another layout.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any, NamedTuple
from urllib.parse import unquote, urlsplit

import numpy as np
from numpy.typing import NDArray

from docstow.core.model import (
    CRATE,
    LOCAL,
    Document,
    Example,
    Passage,
    Recipe,
    document_id,
)
from docstow.core.patterns import lazy_pattern
from docstow.core.records import dataclass
from docstow.core.spelling import as_words, of_name, package_kinds
from docstow.formats.docstrings import guess_language
from docstow.index.copies import ORIGINAL, ChunkText, find_originals, last_heading
from docstow.index.page_fields import page_fields
from docstow.index.shown import COLUMNS as SHOWN
from docstow.index.shown import show_chunk, shown_columns
from docstow.index.translations import find_translations
from docstow.text import bm25
from docstow.text.chunking import (
    CHUNKER,
    PROSE_CHUNKER,
    Block,
    Chunk,
    code_blocks,
    join,
    split_chunks,
    split_passages,
)
from docstow.text.markdown import Piece


@dataclass(frozen=True)
class Content:
    """What a snapshot holds: its documents, and what their texts were divided into.

    Attributes:
        source_id: id of the registration that the documents belong to; empty for items.
        documents: sorted by path; a document's position is its row number everywhere else.
        summaries: the first sentence of each document.
        passages: of all documents, in their order; those of pages are called chunks.
        examples: the code blocks of all documents, in their order.
        texts: each chunk of pages as plain text; none of items.
    """

    source_id: str
    documents: Sequence[Document]
    summaries: Sequence[str]
    passages: Sequence[Passage]
    examples: Sequence[Example]
    texts: Sequence[PlainTexts] = ()

    def owner(self, part: Passage | Example) -> Document:
        """Return the document that a passage or an example stands in."""
        return self.documents[part.document]

    @cached_property
    def page_fields(self) -> tuple[list[str], list[str]]:
        """The terms of what each page is about, and of what each begins with."""
        return page_fields(self.documents, self.summaries, bm25.prose_tokens)

    @cached_property
    def translations(self) -> tuple[NDArray[np.int32], list[str]]:
        """The page that each page translates, and their languages."""
        return find_translations(self.documents)


class PlainTexts(NamedTuple):
    """A chunk as plain text: its prose, its code, and both as they stand."""

    prose: str
    code: str
    plain: str


class Divided(NamedTuple):
    """The passages of one document, and each as plain text where it is a page."""

    passages: list[Passage]
    texts: list[PlainTexts]


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
        derived_columns: that follow from the others and the documents, kept for searches; they
            are stored behind the others, and snapshots of earlier layouts have none.
        derive: gives these.
        postings: name of the table with its inverted index.
        keywords: its keyword fields with their BM25F weight and length normalisation b.
        vectors: what the vector of each field counts in the vector of a row.
        shortened: fields of which only the first :data:`EMBEDDED_WORDS` words are embedded.
        keyword_rows: gives the rows of the inverted index, one text for each of ``keywords``.
        embeddable: gives the texts that the vector of each row is made from.
    """

    name: str
    columns: tuple[str, ...]
    derived_columns: tuple[str, ...]
    derive: Callable[[Content], Mapping[str, Sequence[Any] | NDArray[Any]]]
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


@dataclass(frozen=True, slots=True, eq=False)
class Profile:
    """How snapshots of one kind are divided, indexed and embedded.

    Attributes:
        layout: id of the tables below, a part of the recipe.
        chunker: id of ``divide``.
        words: id of ``terms``.
        terms: gives the terms of texts for the inverted indexes.
        document_columns: of the documents table, in their stored order.
        passages: the table of passages.
        examples: the table of code blocks.
        query_terms: gives the terms of a query.
        fold_query: gives the text that is embedded of a query.
        lists_dissimilar: whether rows are listed whose vectors have nothing of the query's.
        repeated_share: what each further row of one document keeps of its score.
        most_of_document: so many rows of one document are listed at most.
        has_visits: whether it keeps what the sync learned of each file.
        has_anchors: whether it keeps what other texts say of each document.
        divide: divides one document; gets the source's id, the document's row, the document and
            the model's count of tokens.
        code_blocks: gives the code blocks of one document.
    """

    layout: str
    chunker: str
    words: str
    terms: bm25.Words
    document_columns: tuple[str, ...]
    passages: TextTable
    examples: TextTable
    query_terms: Callable[[str], list[str]]
    fold_query: Callable[[str], str]
    lists_dissimilar: bool
    repeated_share: float
    most_of_document: float
    has_visits: bool
    has_anchors: bool
    divide: Callable[[str, int, Document, Callable[[str], int]], Divided]
    code_blocks: Callable[[Document], list[Block]]

    def recipe(self, reader: str, model: str) -> Recipe:
        """Return the recipe of a snapshot that is made now.

        Args:
            reader: id of what read the documents.
            model: id of the embedding model.
        """
        return Recipe(reader, self.chunker, self.words, model, self.layout)


def digest(*parts: str) -> str:
    """Return the SHA-256, in hex, of several texts."""
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()


def profile_of(source_kind: str) -> Profile:
    """Return the profile of a kind of source: of pages, unless it is a kind that has items."""
    return ITEMS if source_kind in (CRATE, LOCAL, *package_kinds()) else PAGES


def _derive_nothing(content: Content) -> Mapping[str, Sequence[Any] | NDArray[Any]]:
    del content
    return {}


# Items of code


def _divide_item(
    source_id: str, row: int, document: Document, count: Callable[[str], int]
) -> Divided:
    """Divide an item's prose; it has one passage at least, so that a signature can be found."""
    del source_id, count
    parts = split_passages(document.text) or [("", "")]
    passages = [Passage(row, place, heading, text) for place, (heading, text) in enumerate(parts)]
    return Divided(passages, [])


def _item_code(document: Document) -> list[Block]:
    """Return an item's code blocks; one that names no language is in the document's own."""
    language = str(document.attributes.get("language", "rust"))
    spelling = of_name(language)
    if spelling is None or not spelling.guess_code:
        return code_blocks(document.text, default_language=language)
    # What is indented in a docstring is as often a list as it is code.
    return [
        block if block.language else replace(block, language=guess_language(block.code))
        for block in code_blocks(document.text, default_language="")
    ]


def _item_passages(content: Content) -> list[Embeddable]:
    """Return what is embedded of passages; an item's first one has its signature and summary."""
    rows = []
    for passage in content.passages:
        document, summary = content.owner(passage), content.summaries[passage.document]
        first = passage.ordinal == 0
        fields = {
            "path": as_words(document.path),
            "title": document.title,
            "signature": " ".join(document.signature.split()) if first else "",
            "summary": summary if first else passage.heading_path,
            "text": passage.text.removeprefix(summary) if first else passage.text,
        }
        whole = [document.path, document.signature, passage.heading_path, passage.text]
        rows.append(Embeddable(fields, "\n".join(filter(None, whole))))
    return rows


def _item_keywords(content: Content) -> list[tuple[str, ...]]:
    """Return the keywords of items: one row a document, not one a passage."""
    prose: list[list[str]] = [[] for _ in content.documents]
    for passage in content.passages:
        prose[passage.document] += (passage.heading_path, passage.text)
    code: list[list[str]] = [[] for _ in content.documents]
    for example in content.examples:
        code[example.document].append(example.code)
    return [
        (
            document.title,
            document.path,
            document.signature,
            summary,
            "\n".join(prose[row]),
            "\n".join(code[row]),
        )
        for row, (document, summary) in enumerate(
            zip(content.documents, content.summaries, strict=True)
        )
    ]


def _item_examples(content: Content) -> list[Embeddable]:
    return [
        Embeddable(
            {
                "path": as_words(content.owner(example).path),
                "owner": content.summaries[example.document],
                "context": example.context,
                "code": example.code,
            }
        )
        for example in content.examples
    ]


def _item_example_keywords(content: Content) -> list[tuple[str, ...]]:
    return [
        (
            content.owner(example).path,
            content.summaries[example.document],
            example.context,
            example.code,
        )
        for example in content.examples
    ]


ITEMS = Profile(
    layout="layout/2",
    chunker=CHUNKER,
    words=bm25.WORDS_ID,
    terms=bm25.ITEM_WORDS,
    document_columns=(
        *("row", "path", "kind", "title", "signature", "summary", "text", "url", "parent"),
        *("in_degree", "members", "length", "examples", "deprecated", "twin", "of_trait"),
        "attributes",
    ),
    passages=TextTable(
        name="passages",
        columns=("document", "ordinal", "heading_path", "text", "embedding"),
        derived_columns=(),
        derive=_derive_nothing,
        postings="postings",
        keywords={
            "title": (6.0, 0.3),
            "path": (2.0, 0.3),
            "signature": (1.0, 0.5),
            "summary": (2.5, 0.5),
            "text": (1.0, 0.75),
            "code": (0.5, 0.75),
        },
        vectors={"path": 0.7, "title": 0.3, "signature": 0.3, "summary": 1.0, "text": 0.3},
        shortened=frozenset({"text"}),
        keyword_rows=_item_keywords,
        embeddable=_item_passages,
    ),
    examples=TextTable(
        name="examples",
        columns=("document", "ordinal", "language", "code", "context", "embedding"),
        derived_columns=(),
        derive=_derive_nothing,
        postings="example_postings",
        keywords={
            "path": (2.0, 0.3),
            "owner": (1.0, 0.5),
            "context": (2.0, 0.5),
            "code": (1.0, 0.75),
        },
        vectors={"path": 0.7, "owner": 0.7, "context": 1.0, "code": 0.5},
        shortened=frozenset(),
        keyword_rows=_item_example_keywords,
        embeddable=_item_examples,
    ),
    query_terms=bm25.tokens,
    fold_query=str,
    lists_dissimilar=True,
    repeated_share=1.0,
    most_of_document=2,
    has_visits=False,
    has_anchors=True,
    divide=_divide_item,
    code_blocks=_item_code,
)

# Pages of prose

_NO_WORD = lazy_pattern(r"[^\w]+|_")


def _divide_page(
    source_id: str, row: int, document: Document, count: Callable[[str], int]
) -> Divided:
    """Divide a page into chunks; it has one at least, so that a bare title can be found.

    A chunk is named by what it says, so that it keeps its name while others change; a text that
    recurs in a page is numbered.
    """
    identity = document_id(source_id, document.path)
    seen = Counter[str]()
    count(document.text)  # all words together, which cost less than block by block
    chunks = split_chunks(document.text, count) or [Chunk("", "", 0)]
    found = []
    for ordinal, chunk in enumerate(chunks):
        heading, text = chunk.heading_path, chunk.text
        name = digest(heading, text)
        seen[name] += 1
        if seen[name] > 1:
            name = digest(heading, text, str(seen[name]))
        found.append(Passage(row, ordinal, heading, text, f"{identity}.{name[:12]}", chunk.tokens))
    return Divided(found, [_plain_texts(chunk.pieces()) for chunk in chunks])


def _plain_texts(pieces: Sequence[Piece]) -> PlainTexts:
    return PlainTexts(
        "\n\n".join([piece.text for piece in pieces if piece.info is None]),
        "\n".join([piece.text for piece in pieces if piece.info is not None]),
        join(pieces),
    )


def _page_code(document: Document) -> list[Block]:
    return code_blocks(document.text, default_language="text")


def _page_chunks(content: Content) -> list[Embeddable]:
    rows = []
    for chunk, (prose, code, _) in zip(content.passages, content.texts, strict=True):
        title = content.owner(chunk).title
        heading = _below(chunk.heading_path, title)
        rows.append(Embeddable({"title": title, "heading": heading, "text": prose or code}))
    return rows


def _page_keywords(content: Content) -> list[tuple[str, ...]]:
    """Return the keywords of chunks; a page's title counts most for the page's first chunk."""
    rows: list[tuple[str, ...]] = []
    for chunk, (prose, code, _) in zip(content.passages, content.texts, strict=True):
        page = content.owner(chunk)
        rows.append(
            (
                page.title if chunk.ordinal == 0 else "",
                page.title,
                _below(chunk.heading_path, page.title),
                _path_words(page.path),
                prose,
                code,
            )
        )
    return rows


def _derive_of_chunks(content: Content) -> Mapping[str, Sequence[Any] | NDArray[Any]]:
    """Return what hits show of chunks, and the original of each copy."""
    pages = [content.owner(chunk) for chunk in content.passages]
    shown = [
        show_chunk(page, chunk, text.plain)
        for page, chunk, text in zip(pages, content.passages, content.texts, strict=True)
    ]
    sizes = Counter(chunk.document for chunk in content.passages)
    compared = [
        ChunkText(
            chunk.document,
            page.path,
            sizes[chunk.document],
            last_heading(chunk.heading_path),
            chunk.tokens,
            chunk.text,
        )
        for page, chunk in zip(pages, content.passages, strict=True)
    ]
    return {**shown_columns(shown), ORIGINAL: find_originals(compared)}


def _page_examples(content: Content) -> list[Embeddable]:
    return [
        Embeddable(
            {
                "title": content.owner(example).title,
                "context": example.context,
                "code": example.code,
            }
        )
        for example in content.examples
    ]


def _page_example_keywords(content: Content) -> list[tuple[str, ...]]:
    rows: list[tuple[str, ...]] = []
    for example in content.examples:
        page = content.owner(example)
        rows.append((page.title, _path_words(page.path), example.context, example.code))
    return rows


def _below(heading_path: str, title: str) -> str:
    """Return a heading path without the page's title, which often is its first heading."""
    first, _, rest = heading_path.partition(" > ")
    return rest if first == title else heading_path


def _path_words(path: str) -> str:
    """Return a path as words; a URL's host is left out, as all pages of a site share it."""
    parts = urlsplit(path)
    return _NO_WORD.sub(" ", unquote(parts.path if parts.scheme in ("http", "https") else path))


PAGES = Profile(
    layout="pages/2",
    chunker=PROSE_CHUNKER,
    words=bm25.PROSE_WORDS_ID,
    terms=bm25.PROSE_WORDS,
    document_columns=(
        *("row", "id", "path", "title", "text", "url", "digest", "about", "lead"),
        *("translates", "language", "lists", "attributes"),
    ),
    passages=TextTable(
        name="chunks",
        columns=(
            *("document", "ordinal", "id", "heading_path", "text", "tokens", "digest"),
            "embedding",
        ),
        derived_columns=(*SHOWN, ORIGINAL),
        derive=_derive_of_chunks,
        postings="chunk_postings",
        keywords={
            "title": (3.0, 0.3),
            "page": (1.0, 0.3),
            "heading": (2.5, 0.4),
            "path": (1.0, 0.4),
            "text": (1.0, 0.5),
            "code": (0.6, 0.5),
        },
        vectors={"title": 0.5, "heading": 0.7, "text": 1.0},
        shortened=frozenset({"title", "heading", "text"}),
        keyword_rows=_page_keywords,
        embeddable=_page_chunks,
    ),
    examples=TextTable(
        name="examples",
        columns=("document", "ordinal", "language", "code", "context", "digest", "embedding"),
        derived_columns=(),
        derive=_derive_nothing,
        postings="example_postings",
        keywords={
            "page": (1.0, 0.3),
            "path": (1.0, 0.4),
            "context": (2.0, 0.5),
            "code": (1.0, 0.75),
        },
        vectors={"title": 0.3, "context": 1.0, "code": 0.5},
        shortened=frozenset({"title", "context", "code"}),
        keyword_rows=_page_example_keywords,
        embeddable=_page_examples,
    ),
    query_terms=bm25.query_tokens,
    fold_query=str.casefold,
    lists_dissimilar=False,
    repeated_share=0.85,
    most_of_document=math.inf,
    has_visits=True,
    has_anchors=False,
    divide=_divide_page,
    code_blocks=_page_code,
)
