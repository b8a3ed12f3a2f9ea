"""The domain types, frozen values without I/O: their ids, and the predicates of relations."""

from __future__ import annotations

import hashlib
import json
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import field
from datetime import datetime
from types import MappingProxyType
from typing import Any, NamedTuple

from docstow.core.records import dataclass

NO_ATTRIBUTES: Mapping[str, Any] = MappingProxyType({})
# Made once, as a document's digest needs them: what json.dumps gives.
_sorted_json = json.JSONEncoder(sort_keys=True).encode
_quoted = json.encoder.encode_basestring_ascii
#: The kind of crates from docs.rs.
CRATE = "crate"
#: The kind of crates that were ingested from a file.
LOCAL = "local"
#: The origin of what was read where a project has it installed.
INSTALLED = "file"
#: Crates of the Rust toolchain, which neither the index nor docs.rs has.
STANDARD = frozenset({"std", "core", "alloc", "proc_macro", "test"})

# Predicates of relations between Rust items.
#: Written by hand; derived; and for a bare type parameter (``impl<T: Display> Loud for T``).
WRITTEN, DERIVED, BLANKET = "implements", "derives", "implements-blanket"
#: One relation for each type: its auto traits, and its blanket implementations.
AUTO_TRAITS, BLANKET_TRAITS = "auto-traits", "blanket-traits"
#: From a type to the target of its ``Deref``.
DEREFS_TO = "derefs-to"
#: From a type to what it gives one after another, or once it is awaited: types with whole paths.
YIELDS = "yields"
#: From a type to what its operators give, by the trait and the value after it: ``Sub Date = Span``,
#: with whole paths and without references.
OPERATES = "operates"
#: From a function or field to the paths that its declaration means, of names that other crates or
#: modules have too.
MENTIONS = "mentions"
#: From a type to a trait, where not each crate has the implementation: the condition in words, and
#: the header of the block on the next line.
AVAILABLE = "available"
#: From a private module to the path at which its items are documented.
DEFINES = "defines"

SINGLE = frozenset({WRITTEN, DERIVED, BLANKET})
PACKED = frozenset({AUTO_TRAITS, BLANKET_TRAITS})


@dataclass(frozen=True, slots=True)
class Source:
    """What is ingested under one head: ``crate/tokio/1.24.2``.

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
        """The path of the source in the store: ``kind/name/version`` with ``@target`` if any."""
        tail = f"{self.version}@{self.target}" if self.target else self.version
        return "/".join(part for part in (self.kind, self.name, tail) if part)


@dataclass(frozen=True, slots=True)
class Revision:
    """What a source resolves to.

    Attributes:
        source: the source, with its exact version.
        version: the version that will be fetched.
        validator: a commit, ETag or digest that changes with the content; may be empty.
        origin: where the bytes come from: ``docs.rs``, ``file`` and so on.
        url: the address or path that is fetched.
    """

    source: Source
    version: str
    validator: str = ""
    origin: str = ""
    url: str = ""


@dataclass(frozen=True, slots=True)
class File:
    """A fetched file. ``path`` is relative to its revision; ``body`` is decompressed."""

    path: str
    url: str
    media_type: str
    body: bytes


@dataclass(frozen=True, slots=True)
class Document:
    """An item of a package, or a page: the unit that is opened.

    Attributes:
        path: its public name, unique together with ``kind`` in a snapshot: ``tokio::task::spawn``.
        kind: ``function``, ``struct``, ``module``, ``page`` and so on.
        title: its last name, or a page's title.
        signature: the declaration in the language's syntax; empty for pages.
        text: the body as Markdown.
        url: where a person reads it.
        parent: the path of the owner (type, trait, module or section); empty at the root.
        attributes: further facts; JSON values only.
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
        """Return the SHA-256 in hex over all fields."""
        fields = [self.path, self.kind, self.title, self.signature, self.text, self.url]
        fields += [self.parent, _sorted_json(dict(self.attributes))]
        return hashlib.sha256(f"[{', '.join(map(_quoted, fields))}]".encode()).hexdigest()


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
        language: in lower case: ``rust``, ``toml`` and so on; ``text`` if it has none.
        code: the block as rendered (without rustdoc's hidden ``# `` lines).
        context: the heading or sentence before the block.
    """

    document: int
    ordinal: int
    language: str
    code: str
    context: str


class Relation(NamedTuple):
    """An edge between paths, such as ``("tokio::task::spawn", "alias", "tokio::spawn")``.

    Predicates in use: ``alias`` (subject is another public path of object), ``re-exports`` (local
    path to a path of another crate), ``links-to`` (document to path or URL), ``depends-on``,
    ``requires-feature``, and between Rust items those above, such as :data:`WRITTEN` (type to
    trait). A large crate has tens of thousands of definition paths and implementations, so many of
    one subject share a relation: see :func:`pack_definitions` and :func:`unpack_implementations`.
    It is a tuple: an ingest makes, hashes and sorts as many as a crate has items and links.
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
        snippet: the part of the text that matches; plain text.
        score: from 0 to 1; comparable within one answer only.
        url: where a person reads it.
        details: ranks and features of the score, if an explanation was requested.
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
    """The versions of the code and model that make a snapshot's tables; part of its identity.

    A changed reader, chunker, tokeniser, model or layout makes a new snapshot, never a mixed one.
    """

    reader: str
    chunker: str
    words: str
    model: str
    layout: str = ""


@dataclass(frozen=True, slots=True)
class Snapshot:
    """An immutable set of tables, identified by its content.

    Attributes:
        id: hash of revision, documents and recipe (see :func:`snapshot_id`).
        revision: what was fetched.
        recipe: what made the tables.
        tables: table name to the SHA-256 (hex) of its Parquet file.
        sizes: table name to its length in bytes.
        counts: rows by table and documents by kind.
        facts: about the source as a whole (description, features, format version).
        created_at: when it was made, UTC.
        epoch: the head's epoch in which it was first published.
        content: its id without the epoch: equal for equal content.
        place: distinguishes its blobs from those of other sources and epochs; empty in records of
            older releases, whose blobs are shared.
        pack: SHA-256 (hex) of the blob that holds all tables, one after another in their order
            here; empty where each table is a blob.
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
    pack: str = ""


@dataclass(frozen=True, slots=True)
class Head:
    """Which snapshot answers for a source now; the only mutable value of a source.

    Attributes:
        source: the source this is the head of.
        snapshot_id: empty after eviction.
        generation: rises by one with every change and never falls.
        checked_at: when the upstream was last checked, UTC.
        origin: the revision's origin: ``file`` heads answer without an upstream.
        earlier: ids of the former snapshots that are kept, the newest first.
        epoch: only snapshots of this epoch can be published. Raising it ensures that a snapshot
            that the head does not name is never named again, so that it can be deleted.
        records: SHA-256 in hex of the stored record of each snapshot that it names, by id; without
            those that were named by a release that does not write digests.
        record: the stored record of what answers, so that readers need not ask for it; empty where
            it is long, or not known. It counts only where it has the digest in ``records``.
    """

    source: Source
    snapshot_id: str
    generation: int
    checked_at: datetime
    origin: str = ""
    earlier: tuple[str, ...] = ()
    epoch: int = 0
    records: Mapping[str, str] = field(default_factory=dict, compare=False)
    record: str = field(default="", compare=False)

    @property
    def named(self) -> tuple[str, ...]:
        """The ids of all snapshots that the head names, the current one first."""
        return tuple(filter(None, (self.snapshot_id, *self.earlier)))


@dataclass(frozen=True, slots=True)
class Registration:
    """A source that a user has registered: what to sync, and how.

    Attributes:
        id: SHA-256 in hex over kind and canonical URI (see :func:`source_id`).
        kind: the name of its kind.
        uri: the canonical URI: a start URL, ``owner/repo@ref``, a directory, a collection's name,
            ``name@version``.
        title: for people; need not be unique.
        options: of the kind (globs, limits, flags); JSON values, no secrets.
        headers: sent with every request to the source's own hosts; secret, so never shown,
            logged or exported.
        keep: how many of its snapshots are kept, the current one included.
        created_at: when it was registered, UTC.
        refresh_hours: the age of its last job at which upkeep syncs it again; 0: never.
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
    """Return the id of a source: SHA-256 in hex over its kind and canonical URI."""
    return hashlib.sha256(f"{kind}\n{uri}".encode()).hexdigest()


def document_id(source: str, path: str) -> str:
    """Return the stable id of a page: 12 hex digits of its source's id, a dot, 16 of its path's."""
    return f"{source[:12]}.{hashlib.sha256(path.encode()).hexdigest()[:16]}"


def snapshot_id(revision: Revision, digests: list[str], recipe: Recipe) -> str:
    """Return the id of a snapshot: SHA-256 in hex over its inputs, document order included."""
    parts = {
        "source": revision.source.key,
        "version": revision.version,
        "origin": revision.origin,
        "recipe": [recipe.reader, recipe.chunker, recipe.words, recipe.model, recipe.layout],
        "documents": digests,
    }
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


def in_epoch(content: str, epoch: int) -> str:
    """Return the id of a snapshot of some content in an epoch of its head."""
    return hashlib.sha256(f"{content}\n{epoch}".encode()).hexdigest() if epoch else content


@dataclass(frozen=True, slots=True)
class Known:
    """What the last sync learned of a file, to ask whether it has changed.

    Attributes:
        path: the document's path: a canonical URL, or a path relative to the source.
        url: where it was fetched.
        validator: of the origin: a digest, or ETag and date.
        links: addresses that it links to, so that a crawl continues from an unchanged page.
    """

    path: str
    url: str
    validator: str = ""
    links: tuple[str, ...] = ()


def unpack_implementations(traits: str, headers: str) -> list[tuple[str, str]]:
    """Return trait and header of each part of a :data:`PACKED` relation; ``!`` marks negative."""
    return list(zip(traits.split(" "), headers.split("\n"), strict=True))


def pack_definitions(definitions: Mapping[str, str], aliases: Iterable[str]) -> list[Relation]:
    """Return one relation for the items of a module that are documented at one path.

    Its detail has their names, separated by spaces; ``new=old`` where a re-export renames.

    Args:
        definitions: definition paths to the paths of documents.
        aliases: paths that need no relation, as they have one already.
    """
    names: defaultdict[tuple[str, str], list[str]] = defaultdict(list)
    for path in sorted(definitions.keys() - set(aliases)):
        module, _, name = path.rpartition("::")
        parent, _, shown = definitions[path].rpartition("::")
        if name == shown and definitions.get(module) == parent:
            continue  # found as a member of its module
        names[module, parent].append(name if name == shown else f"{shown}={name}")
    return [
        Relation(module, DEFINES, parent, " ".join(each))
        for (module, parent), each in sorted(names.items())
    ]


def unpack_definitions(module: str, parent: str, names: str) -> dict[str, str]:
    """Return document paths by definition path, from a relation of :func:`pack_definitions`."""
    found: dict[str, str] = {}
    for each in names.split(" "):
        shown, _, name = each.partition("=")
        path = f"{module}::{name or shown}"
        found[path.removeprefix("::")] = f"{parent}::{shown}".removeprefix("::")
    return found
