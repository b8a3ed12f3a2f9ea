"""The write path: a fetched file becomes documents, tables and a published snapshot.

This room knows the order of the steps. What each step does is known in its own room.
"""

from __future__ import annotations

import contextlib
import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from docstow.core.errors import UnreadableInput
from docstow.core.model import LOCAL, Document, File, Recipe, Relation, Revision, Snapshot, Source
from docstow.core.relations import pack_definitions
from docstow.index.cards import Card, make
from docstow.index.catalog import Catalog
from docstow.index.parquet import read_table, scratch, unpack_vectors, write_table
from docstow.index.schema import ITEMS, Columns, tabulate
from docstow.languages.rust import rustdoc as rustdoc
from docstow.languages.rust.rustdoc.split_crates import Sibling, gather, graft
from docstow.sources import kind_of
from docstow.store.objects import Conflict
from docstow.store.snapshots import Fenced, Snapshots
from docstow.text.chunking import first_sentence

if TYPE_CHECKING:
    from docstow.embedding import Embedder


def renewed(recipe: Recipe, embedder: Embedder) -> Recipe:
    """The recipe by which a snapshot would be made anew; its reader stays, as it reads files."""
    return ITEMS.recipe(recipe.reader, embedder.id)


#: The columns of the documents table that are a document, in the order of its fields.
_DOCUMENT = ("path", "kind", "title", "signature", "text", "url", "parent", "attributes")


_RELATION = ("subject", "predicate", "object", "detail")


@dataclass(frozen=True, slots=True)
class Ingest:
    """What the write path needs: where snapshots and cards go and what makes vectors."""

    snapshots: Snapshots
    catalog: Catalog
    embedder: Embedder

    @property
    def recipe(self) -> Recipe:
        """The versions of everything that shapes the tables."""
        return ITEMS.recipe(rustdoc.READER, self.embedder.id)

    def crate(
        self,
        revision: Revision,
        file: File,
        release: Mapping[str, Any],
        fetch: Callable[[str, str], File | None],
    ) -> Snapshot:
        """Stow a crate's rustdoc JSON as the revision that it was fetched for.

        Args:
            revision: what the file is.
            file: the rustdoc JSON, decompressed.
            release: what the index says of this version; becomes part of the facts.
            fetch: gives the file of a sibling by package and exact version, or None where there
                is none.
        """

        def read(sibling: Sibling) -> rustdoc.CrateDocs | None:
            part = fetch(sibling.package, sibling.version)
            if part is None:
                return None
            return rustdoc.read(part.body, name=sibling.package, version=sibling.version)

        docs = rustdoc.read(file.body, name=revision.source.name, version=revision.version)
        return self._publish(revision, graft(docs, gather(docs, read)), release)

    def file(self, file: File, *, version: str = "") -> Snapshot:
        """Stow a rustdoc JSON file under the name and version that it says it has.

        Args:
            file: the rustdoc JSON, decompressed.
            version: for files that do not say theirs.

        Raises:
            UnreadableInput: the file does not say its version, and none is given.
        """
        return self.local(read_local(file, version=version), file.url)

    def local(
        self, docs: rustdoc.CrateDocs, url: str, others: Sequence[rustdoc.CrateDocs] = ()
    ) -> Snapshot:
        """Stow a crate that was read from a file.

        Args:
            docs: the crate.
            url: where the file is.
            others: what was given with it; what the crate re-exports of them is its own.
        """
        at_hand = {str(each.facts["lib"]): each for each in others}
        # Of a crate in several versions, the one that has this crate's version is meant.
        at_hand |= {str(e.facts["lib"]): e for e in others if e.version == docs.version}
        parts = gather(docs, lambda sibling: at_hand.get(sibling.lib), at_hand)
        source = Source(LOCAL, docs.name, docs.version)
        revision = Revision(source, docs.version, origin="file", url=url)
        return self._publish(revision, graft(docs, parts), {})

    def package(
        self,
        source: Source,
        reader: str,
        documents: Sequence[Document],
        facts: Mapping[str, Any],
    ) -> Snapshot:
        """Stow a package that was read from where it is installed.

        Args:
            source: what it is stowed as.
            reader: what read it, and its version.
            documents: sorted by path.
            facts: what the package says of itself as a whole.
        """
        revision = Revision(source, source.version, origin="file")
        paths = {each.path for each in documents}
        aliases = {
            str(each.attributes["target"]): each.path
            for each in reversed(documents)
            if each.attributes.get("target")
        }
        relations = [
            Relation(target, "alias", path)
            for target, path in sorted(aliases.items())
            if target not in paths
        ]
        root = next((e for e in documents if e.kind == "module" and not e.parent), documents[0])
        page = next((each for each in documents if each.kind == "page"), root)
        told = {"url": page.url, "summary": first_sentence(root.text), "modules": []}
        recipe = replace(self.recipe, reader=reader)
        now = datetime.now(UTC)
        return self._stow(revision, recipe, documents, relations, {**told, **facts}, now=now)

    def renew(self, snapshot: Snapshot) -> Snapshot:
        """Make a stowed snapshot's tables anew by today's recipe; it then answers for its source.

        Nothing is fetched: documents and relations are those of the old tables. While this is at
        work the old snapshot answers, and it is never changed.

        Args:
            snapshot: what answers for its source now.

        Raises:
            Conflict: the source was stowed anew meanwhile; what was stowed stays.
        """
        head = self.snapshots.head(snapshot.revision.source, fresh=True)
        if head is None or head.snapshot_id != snapshot.id:
            raise Conflict(snapshot.revision.source.key)
        documents, relations = self._stowed(snapshot)
        return self._stow(
            snapshot.revision,
            renewed(snapshot.recipe, self.embedder),
            documents,
            relations,
            snapshot.facts,
            now=head.checked_at,
            expected_generation=head.generation,
        )

    def _stowed(self, snapshot: Snapshot) -> tuple[list[Document], list[Relation]]:
        """What a snapshot was made from, as its tables have it."""
        files = self.snapshots.fetch(snapshot, ["documents", "relations"])
        texts = read_table(files["documents"], _DOCUMENT)
        documents = [
            Document(path, kind, title, signature, text, url, parent, json.loads(attributes))
            for path, kind, title, signature, text, url, parent, attributes in zip(
                *texts.values(), strict=True
            )
        ]
        edges = read_table(files["relations"], _RELATION)
        return documents, [Relation(*fields) for fields in zip(*edges.values(), strict=True)]

    def _listed(self, revision: Revision, card: Card) -> contextlib.AbstractContextManager[None]:
        """Only crates are in the catalogue: a package may have the name of one."""
        if kind_of(revision.source.kind).catalogued:
            return self.catalog.listed(card)
        return contextlib.nullcontext()

    def _publish(
        self, revision: Revision, docs: rustdoc.CrateDocs, release: Mapping[str, Any]
    ) -> Snapshot:
        facts = {**docs.facts, **release, **_outline(docs.documents)}
        now = datetime.now(UTC)
        aliases = (each.subject for each in docs.relations if each.predicate == "alias")
        relations = [*docs.relations, *pack_definitions(docs.definitions, aliases)]
        return self._stow(revision, self.recipe, docs.documents, relations, facts, now=now)

    def _stow(
        self,
        revision: Revision,
        recipe: Recipe,
        documents: Sequence[Document],
        relations: Sequence[Relation],
        facts: Mapping[str, Any],
        *,
        now: datetime,
        expected_generation: int | None = None,
    ) -> Snapshot:
        """Make the tables and publish them.

        Publishing is the last step and swaps one object: a crash before it changes nothing that
        a reader can see. The same documents with the same recipe are the same snapshot, and find
        their tables already there.
        """
        digests = [document.digest() for document in documents]
        identity = self.snapshots.identity(revision, digests, recipe)
        known = self.snapshots.stored(revision.source, identity)
        if known is not None:
            # One that was given up a moment ago is made anew.
            with contextlib.suppress(Fenced), self._listed(revision, self.catalog.card(known)):
                return self.snapshots.republish(known, now, expected_generation=expected_generation)
        tables = tabulate(ITEMS, documents, relations, self.embedder).columns
        counts = {name: len(next(iter(columns.values()))) for name, columns in tables.items()}
        kinds = Counter(document.kind for document in documents)
        with scratch() as folder:
            files = {name: folder / f"{name}.parquet" for name in tables}
            for name, columns in tables.items():
                write_table(columns, files[name])
            card = _card(revision, identity, recipe, facts, tables)
            with self._listed(revision, card):
                snapshot = self.snapshots.publish(
                    revision,
                    recipe,
                    files,
                    digests,
                    counts={**counts, **{f"kind:{kind}": n for kind, n in sorted(kinds.items())}},
                    facts=facts,
                    now=now,
                    expected_generation=expected_generation,
                )
        if snapshot.id != identity and kind_of(revision.source.kind).catalogued:
            self.catalog.add(replace(card, snapshot=snapshot.id))
        return snapshot


def read_local(file: File, *, version: str = "") -> rustdoc.CrateDocs:
    """Read a rustdoc JSON file as the crate and version that it says it is.

    Raises:
        UnreadableInput: the file does not say its version, and none is given.
    """
    docs = rustdoc.read(file.body, version=version)
    if not docs.version:
        raise UnreadableInput(f"{file.path} does not say its crate's version; give --version.")
    return docs


def _card(
    revision: Revision,
    identity: str,
    recipe: Recipe,
    facts: Mapping[str, Any],
    tables: Mapping[str, Columns],
) -> Card:
    """The card of what is about to be published."""
    passages = tables["passages"]
    blobs = [
        blob
        for ordinal, blob in zip(passages["ordinal"], passages["embedding"], strict=True)
        if ordinal == 0
    ]
    vectors = unpack_vectors(blobs, len(blobs[0]) // 2 if blobs else 0)
    return make(revision.source, identity, recipe.model, facts, tables["documents"], vectors)


def _outline(documents: Sequence[Document]) -> dict[str, Any]:
    """Address and first level of the crate, so that a summary need not read a table."""
    roots = [document for document in documents if not document.parent]
    root = next((document for document in roots if document.kind == "module"), None)
    if root is None:
        return {"modules": []}
    sizes = Counter(
        "::".join(document.path.split("::")[:2]) for document in documents if document is not root
    )
    modules = [
        {
            "path": document.path,
            "summary": first_sentence(document.text),
            "items": sizes[document.path] - 1,
        }
        for document in documents
        if document.kind == "module" and document.parent == root.path
    ]
    return {"url": root.url, "summary": first_sentence(root.text), "modules": modules}
