"""The domain's values: frozen, slotted, and free of any I/O.

This room knows what the words mean. It does not know where bytes come from, how they are
stored or who asks for them.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from types import MappingProxyType
from typing import Any

NO_ATTRIBUTES: Mapping[str, Any] = MappingProxyType({})


#: Kind of the crates that come from docs.rs.
CRATE = "crate"
#: Kind of the crates that were stowed from a file: private ones, the standard library, air gaps.
LOCAL = "local"
#: Crates that come with the compiler: neither the index nor docs.rs has them.
STANDARD = frozenset({"std", "core", "alloc", "proc_macro", "test"})


@dataclass(frozen=True, slots=True)
class Source:
    """What was asked for: ``crate/tokio/1.24.2``.

    Attributes:
        kind: the name of its kind, see :mod:`docstow.sources`.
        name: the name in its kind's own spelling; of pages the id of the registration.
        version: an exact version; empty for pages, whose head moves from snapshot to snapshot.
        target: a compilation target; empty for the source's own default.
    """

    kind: str
    name: str
    version: str = ""
    target: str = ""

    @property
    def key(self) -> str:
        """The path of this source in the store: ``kind/name/version`` with ``@target`` if any."""
        tail = f"{self.version}@{self.target}" if self.target else self.version
        return "/".join(part for part in (self.kind, self.name, tail) if part)


@dataclass(frozen=True, slots=True)
class Revision:
    """What a source resolved to.

    Attributes:
        source: the source, with its exact version.
        version: the version that will be fetched.
        validator: a commit, an ETag or a digest that changes when the content does; may be empty.
        origin: where the bytes come from: ``docs.rs``, ``file`` and so on.
        url: the address (or path) to fetch; provenance for people.
    """

    source: Source
    version: str
    validator: str = ""
    origin: str = ""
    url: str = ""


@dataclass(frozen=True, slots=True)
class File:
    """One fetched thing. ``path`` is relative to its revision; ``body`` is decompressed."""

    path: str
    url: str
    media_type: str
    body: bytes


@dataclass(frozen=True, slots=True)
class Document:
    """An item of a crate or a page: the unit a reader opens.

    Attributes:
        path: its public name, unique together with ``kind`` in a snapshot: ``tokio::task::spawn``.
        kind: ``function``, ``struct``, ``module``, ``page`` and so on.
        title: its last name, or a page's title.
        signature: the declaration as a user of the language would write it; empty for prose.
        text: the body as Markdown.
        url: where a person reads it.
        parent: the path of the owner (type, trait, module or section); empty at the root.
        attributes: facts that are neither text nor relation; JSON values only.
    """

    path: str
    kind: str
    title: str
    signature: str = ""
    text: str = ""
    url: str = ""
    parent: str = ""
    attributes: Mapping[str, Any] = field(default_factory=lambda: NO_ATTRIBUTES)

    def digest(self) -> str:
        """SHA-256, in hex, over all fields: equal exactly when the documents are equal."""
        fields = [self.path, self.kind, self.title, self.signature, self.text, self.url]
        fields += [self.parent, json.dumps(dict(self.attributes), sort_keys=True)]
        return hashlib.sha256(json.dumps(fields).encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class Passage:
    """The unit of search: a part of the document numbered ``document`` in its snapshot.

    Attributes:
        document: row of the document in the snapshot's documents table.
        ordinal: position among the passages of that document, from 0.
        heading_path: the headings above it, outermost first, joined by `` > ``.
        text: of an item the prose that is embedded and shown as a snippet, without code blocks; of
            a page the Markdown as it stands there.
        id: of a page's passage: the document's id, a dot and 12 hex digits of what it says.
        tokens: of a page's text, by the model's tokenizer.
    """

    document: int
    ordinal: int
    heading_path: str
    text: str
    id: str = ""
    tokens: int = 0


@dataclass(frozen=True, slots=True)
class Example:
    """A whole code block of a document, never a part of one.

    Attributes:
        document: row of the document in the snapshot's documents table.
        ordinal: position among the examples of that document, from 0.
        language: in lower case; ``rust``, ``toml`` and so on; ``text`` when it is none.
        code: the block as a reader would see it (rustdoc's hidden ``# `` lines are left out).
        context: the heading or sentence that leads to the block.
    """

    document: int
    ordinal: int
    language: str
    code: str
    context: str


@dataclass(frozen=True, slots=True)
class Relation:
    """An edge between paths, such as ``("tokio::task::spawn", "alias", "tokio::spawn")``.

    Predicates in use: ``alias`` (subject is another public path of object), ``re-exports`` (local
    path to a path of another crate), ``links-to`` (document to path or URL), ``depends-on``,
    ``requires-feature``, and those of ``readers/predicates``, such as ``implements`` (type to
    trait).
    """

    subject: str
    predicate: str
    object: str
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Hit:
    """One search result.

    Attributes:
        path: the document's path.
        kind: the document's kind.
        title: the document's title.
        signature: the document's signature.
        heading_path: the headings above the passage.
        snippet: the part of the text that answers; plain text.
        score: fused score; larger is better; comparable within one answer only.
        url: where a person reads it.
        details: ranks and features of the score, filled when an explanation is asked for.
    """

    path: str
    kind: str
    title: str
    signature: str
    heading_path: str
    snippet: str
    score: float
    url: str
    details: Mapping[str, Any] = field(default_factory=lambda: NO_ATTRIBUTES)


@dataclass(frozen=True, slots=True)
class Recipe:
    """The versions that made a snapshot's tables; part of its identity.

    A changed reader, chunker, tokeniser, model or layout of the tables makes a new snapshot,
    never a mixed one.
    """

    reader: str
    chunker: str
    words: str
    model: str
    layout: str = ""


@dataclass(frozen=True, slots=True)
class Snapshot:
    """An immutable set of tables, named by its content.

    Attributes:
        id: hash of revision, documents and recipe (see :func:`snapshot_id`).
        revision: what was fetched.
        recipe: what made the tables.
        tables: table name to the SHA-256 (hex) of its Parquet file.
        sizes: table name to its length in bytes.
        counts: rows by table and documents by kind.
        facts: what the source says of itself as a whole (description, features, format version).
        created_at: when it was made, UTC.
        epoch: of the head's epochs the one in which it was first published.
        content: its id but for the epoch: the same of all snapshots that were made of the same.
        place: what tells its blobs from those of other sources and epochs; empty in records of
            older releases, whose blobs are shared.
    """

    id: str
    revision: Revision
    recipe: Recipe
    tables: Mapping[str, str]
    sizes: Mapping[str, int]
    counts: Mapping[str, int]
    facts: Mapping[str, Any]
    created_at: datetime
    epoch: int = 0
    content: str = ""
    place: str = ""


@dataclass(frozen=True, slots=True)
class Head:
    """The only mutable value of a source: which snapshot answers for it now.

    Attributes:
        source: the source this is the head of.
        snapshot_id: empty after eviction.
        generation: rises by one with every change and never falls.
        checked_at: when the upstream was last asked, UTC.
        origin: the revision's origin: ``file`` heads answer without asking an upstream.
        earlier: ids of the snapshots that answered before and are kept, the newest first.
        epoch: only snapshots of this epoch can come to answer. Raising it makes certain that what
            the head does not name then is never named again, so that it can be deleted.
        records: SHA-256 in hex of the stored record of each snapshot that it names, by id; without
            those that were named by a release that does not write digests.
    """

    source: Source
    snapshot_id: str
    generation: int
    checked_at: datetime
    origin: str = ""
    earlier: tuple[str, ...] = ()
    epoch: int = 0
    records: Mapping[str, str] = field(default_factory=dict, compare=False)

    @property
    def named(self) -> tuple[str, ...]:
        """Ids of all snapshots that it names, the one that answers first."""
        return tuple(filter(None, (self.snapshot_id, *self.earlier)))


@dataclass(frozen=True, slots=True)
class Registration:
    """A source that a user has added: what to sync, and how.

    Attributes:
        id: SHA-256 in hex over kind and canonical URI (see :func:`source_id`).
        kind: the name of its kind.
        uri: the canonical URI: a start URL, ``owner/repo@ref``, a directory, a collection's name,
            ``name@version``.
        title: for people; unique only by accident.
        options: what the kind's origin knows (globs, limits, flags); JSON values, no secrets.
        headers: sent with every request to the source's own hosts; secret, so never shown,
            logged or exported.
        keep: how many of its snapshots are kept, the one that answers included.
        created_at: when it was added, UTC.
        refresh_hours: it is synced again when its last job is so old; 0: only when asked for.
    """

    id: str
    kind: str
    uri: str
    title: str
    options: Mapping[str, Any]
    created_at: datetime
    headers: Mapping[str, str] = field(default_factory=lambda: NO_ATTRIBUTES, repr=False)
    keep: int = 5
    refresh_hours: int = 0

    @property
    def source(self) -> Source:
        """What its snapshots and its head are stored under."""
        return Source(self.kind, self.id)

    def revision(self, validator: str = "") -> Revision:
        """Return what the source resolves to; ``validator`` is its commit, if it has one."""
        return Revision(self.source, "", validator, origin=self.kind, url=self.uri)


def source_id(kind: str, uri: str) -> str:
    """Name a source by what it is: SHA-256 in hex over its kind and canonical URI."""
    return hashlib.sha256(f"{kind}\n{uri}".encode()).hexdigest()


def document_id(source: str, path: str) -> str:
    """Name a page for ever: 12 hex digits of its source's id, a dot, 16 of its path's digest."""
    return f"{source[:12]}.{hashlib.sha256(path.encode()).hexdigest()[:16]}"


def snapshot_id(revision: Revision, digests: list[str], recipe: Recipe) -> str:
    """Name a snapshot by its content: SHA-256 in hex over its inputs, document order included."""
    parts = {
        "source": revision.source.key,
        "version": revision.version,
        "origin": revision.origin,
        "recipe": [recipe.reader, recipe.chunker, recipe.words, recipe.model, recipe.layout],
        "documents": digests,
    }
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


def in_epoch(content: str, epoch: int) -> str:
    """The id of a snapshot of that content in that epoch of its head."""
    return hashlib.sha256(f"{content}\n{epoch}".encode()).hexdigest() if epoch else content


@dataclass(frozen=True, slots=True)
class Known:
    """What the last sync learned of a file, for asking whether it has changed.

    Attributes:
        path: the document's path: a canonical URL, or a path relative to the source.
        url: where it was fetched.
        validator: what the origin gave with it: a digest, or ETag and date, in its own spelling.
        links: addresses that it links to, so that a crawl goes on from a page that is unchanged.
    """

    path: str
    url: str
    validator: str = ""
    links: tuple[str, ...] = ()
