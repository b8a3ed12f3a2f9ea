"""The one way into the store: what was read of a source becomes tables and a published snapshot.

Snapshots of an older recipe are renewed from their own tables. What answers for a source goes on
answering meanwhile, and no snapshot is ever changed.
"""

from __future__ import annotations

import contextlib
import json
import logging
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING, Any

from docstow.core import auth
from docstow.core.errors import StoreError
from docstow.core.model import (
    NO_ATTRIBUTES,
    Document,
    Known,
    Recipe,
    Relation,
    Revision,
    Snapshot,
    Source,
)
from docstow.index.cards import Card, make_card, stamp_of, tables_of
from docstow.index.catalog import Catalog
from docstow.index.catalog_upkeep import CatalogUpkeep
from docstow.index.loaded import Index
from docstow.index.profiles import ITEMS, profile_of
from docstow.index.tables import (
    Tables,
    read_table,
    scratch,
    tabulate,
    unpack_vectors,
    write_table,
)
from docstow.ingest.jobs import SUCCESS, Job
from docstow.store.objects import Conflict
from docstow.store.snapshots import Fenced, Snapshots
from docstow.text.invisible import INVISIBLE

if TYPE_CHECKING:
    from docstow.embedding import Embedder

log = logging.getLogger(__name__)

#: The columns of the documents table that are a document, in the order of its fields.
_DOCUMENT = ("path", "kind", "title", "signature", "text", "url", "parent", "attributes")
_RELATION = ("subject", "predicate", "object", "detail")


@dataclass(frozen=True, slots=True)
class Reading:
    """What was read of a source, whichever kind it is.

    Attributes:
        revision: what the source resolved to.
        reader: id of what read it, a part of the recipe.
        documents: sorted by path.
        relations: the edges between paths.
        facts: what the source says of itself as a whole; JSON values.
        visits: by path what a sync learned of each file.
    """

    revision: Revision
    reader: str
    documents: Sequence[Document]
    relations: Sequence[Relation]
    facts: Mapping[str, Any]
    visits: Mapping[str, Known] = field(default_factory=lambda: NO_ATTRIBUTES)


@dataclass(frozen=True, slots=True)
class Published:
    """A snapshot that answers for its source now, and how many vectors were made and reused."""

    snapshot: Snapshot
    embedded: int = 0
    reused: int = 0


@dataclass(frozen=True, slots=True)
class Publisher:
    """Makes and publishes snapshots of all kinds of sources.

    Attributes:
        snapshots: the published snapshots.
        catalog: the cards of all sources.
        open_embedder: opens the model that texts are embedded with.
    """

    snapshots: Snapshots
    catalog: Catalog
    open_embedder: Callable[[], Embedder]

    def recipe(self, kind: str, reader: str) -> Recipe:
        """Return the recipe of a snapshot that is made now.

        Args:
            kind: of its source.
            reader: id of what reads the source.
        """
        return profile_of(kind).recipe(reader, self.open_embedder().id)

    @auth.calling(auth.OWNER)
    def publish(
        self,
        reading: Reading,
        *,
        now: datetime | None = None,
        expected_generation: int | None = None,
        keep: int = 1,
        known_vectors: Callable[[], Mapping[str, bytes]] | None = None,
    ) -> Published:
        """Make the tables and publish them.

        Publishing is the last step and swaps one object: a crash before it changes nothing that
        a reader can see. The same documents with the same recipe are the same snapshot, and find
        their tables already there.

        Args:
            reading: what was read of the source.
            now: when the upstream was asked; the present by default.
            expected_generation: see :meth:`Snapshots.republish`.
            keep: see :meth:`Snapshots.republish`.
            known_vectors: returns packed vectors of the same model by digest, which are not made
                again; called only if tables have to be made. By default they are those of another
                version of the source, the newest that is on this machine: for reuse alone
                nothing is asked of the store.

        Raises:
            Conflict: the source was changed by others meanwhile.
            StoreError: the store cannot be used.
        """
        now = now or datetime.now(UTC)
        revision, snapshots = reading.revision, self.snapshots
        recipe = self.recipe(revision.source.kind, reading.reader)
        digests = [document.digest() for document in reading.documents]
        identity, stored = snapshots.find(revision, digests, recipe)
        if stored is not None:
            # Whoever sweeps may have given it up a moment ago: then it is made again.
            with contextlib.suppress(Fenced), self.catalog.listed(self.catalog.card(stored)):
                return Published(
                    snapshots.republish(
                        stored, now, expected_generation=expected_generation, keep=keep
                    )
                )
        made = tabulate(
            profile_of(revision.source.kind),
            reading.documents,
            reading.relations,
            self.open_embedder(),
            source_id=revision.source.name,
            visits=reading.visits,
            known=known_vectors() if known_vectors else self._local_vectors(revision.source),
        )
        card = _card(reading, identity, recipe, made)
        with scratch() as folder:
            files = {name: folder / f"{name}.parquet" for name in made.columns}
            for name, columns in made.columns.items():
                write_table(columns, files[name])
            with self.catalog.listed(card):
                snapshot = snapshots.publish(
                    revision,
                    recipe,
                    files,
                    digests,
                    _counts(reading, made),
                    reading.facts,
                    now,
                    expected_generation=expected_generation,
                    keep=keep,
                )
        if snapshot.id != identity:
            stamped = replace(card.entry, stamp=stamp_of(snapshot.id))
            self.catalog.add(replace(card, entry=stamped))
        with contextlib.suppress(StoreError):  # others do it then, or upkeep
            CatalogUpkeep(self.catalog, snapshots).join_small()
        return Published(snapshot, made.embedded, made.reused)

    def _local_vectors(self, source: Source) -> Mapping[str, bytes]:
        for snapshot in self.snapshots.find_local(source.kind, source.name):
            if vectors := self.vectors_of(snapshot):
                return vectors
        return {}

    def vectors_of(self, snapshot: Snapshot) -> Mapping[str, bytes]:
        """Return the vectors of a stored snapshot of items by digest; none of another model.

        Vectors save time and nothing else, so a snapshot that cannot be read has none.
        """
        recipe = snapshot.recipe
        if (recipe.model, recipe.layout) != (self.open_embedder().id, ITEMS.layout):
            return {}
        try:
            return Index(snapshot, partial(self.snapshots.file, snapshot)).vectors_by_digest()
        except StoreError as error:
            log.warning("%s is embedded again: %s", snapshot.revision.source.key, error.message)
            return {}


@dataclass(frozen=True, slots=True)
class RenewalTask:
    """Makes snapshots of items again by today's recipe, for a worker.

    Attributes:
        snapshots: the published snapshots.
        publisher: makes snapshots.
    """

    snapshots: Snapshots
    publisher: Publisher

    def finished(self, job: Job) -> Mapping[str, Any] | None:
        """Return the end of a job whose source has nothing any more to be made again."""
        return None if self._answering(job) is not None else {"state": SUCCESS}

    def perform(self, job: Job) -> Mapping[str, Any]:
        """Make again what answers for a job's source; that goes on answering if this fails."""
        snapshot = self._answering(job)
        if snapshot is None:
            return {"state": SUCCESS}
        recipe, revision = snapshot.recipe, snapshot.revision
        if recipe != self.publisher.recipe(revision.source.kind, recipe.reader):
            try:
                snapshot = self.renew(snapshot)
            except Conflict:
                log.info("%s was stowed anew meanwhile", job.lease)  # and by the recipe of today
                return {"state": SUCCESS}
            log.info("%s was made anew by the model %s", job.lease, snapshot.recipe.model)
        return {"state": SUCCESS, "snapshot_id": snapshot.id, "version": revision.version}

    def renew(self, snapshot: Snapshot) -> Snapshot:
        """Make a stored snapshot's tables again by today's recipe, and let it answer.

        Nothing is fetched: documents and relations are those of the old tables, and so are the
        vectors if the model is the same.

        Args:
            snapshot: what answers for its source now.

        Raises:
            Conflict: the source was ingested again meanwhile; that snapshot stays.
        """
        head = self.snapshots.head(snapshot.revision.source, fresh=True)
        if head is None or head.snapshot_id != snapshot.id:
            raise Conflict(snapshot.revision.source.key)
        published = self.publisher.publish(
            self._read(snapshot),
            now=head.checked_at,
            expected_generation=head.generation,
            known_vectors=lambda: self.publisher.vectors_of(snapshot),
        )
        return published.snapshot

    def _read(self, snapshot: Snapshot) -> Reading:
        """Return what a snapshot was made from, as its tables have it."""
        files = self.snapshots.fetch(snapshot, ["documents", "relations"])
        texts = read_table(files["documents"], _DOCUMENT)
        documents = [
            Document(path, kind, title, signature, text, url, parent, json.loads(attributes))
            for path, kind, title, signature, text, url, parent, attributes in zip(
                *texts.values(), strict=True
            )
        ]
        edges = read_table(files["relations"], _RELATION)
        relations = [Relation(*fields) for fields in zip(*edges.values(), strict=True)]
        revision, reader = snapshot.revision, snapshot.recipe.reader
        return Reading(revision, reader, documents, relations, snapshot.facts)

    def _answering(self, job: Job) -> Snapshot | None:
        return self.snapshots.answering(job.source, fresh=True) if job.source else None


def _counts(reading: Reading, tables: Tables) -> dict[str, int]:
    """Return the rows of each table, characters dropped and, of items, how many of each kind."""
    counts = {name: len(next(iter(columns.values()))) for name, columns in tables.columns.items()}
    if invisible := sum(each.attributes.get(INVISIBLE, 0) for each in reading.documents):
        counts[INVISIBLE] = invisible
    if profile_of(reading.revision.source.kind) is ITEMS:
        kinds = Counter(document.kind for document in reading.documents)
        counts |= {f"kind:{kind}": number for kind, number in sorted(kinds.items())}
    return counts


def _card(reading: Reading, identity: str, recipe: Recipe, tables: Tables) -> Card:
    """Return the card of what is about to be published."""
    texts, parts = tables_of(reading.revision.source.kind)
    passages = tables.columns[parts]
    blobs = [
        blob
        for ordinal, blob in zip(passages["ordinal"], passages["embedding"], strict=True)
        if ordinal == 0
    ]
    return make_card(
        reading.revision.source,
        identity,
        recipe.model,
        reading.facts,
        {**tables.columns[texts], "summary": tables.summaries},
        unpack_vectors(blobs),
        reading.revision.url,
    )
