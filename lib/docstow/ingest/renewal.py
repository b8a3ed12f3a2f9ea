"""Renewal: snapshots of an older recipe are made again from their own tables.

What answers for a source goes on answering meanwhile, and no snapshot is ever changed.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from docstow.core.model import Document, Relation, Snapshot
from docstow.index.tables import read_table
from docstow.ingest.jobs.model import SUCCESS, Job
from docstow.ingest.publish import Publisher, Reading
from docstow.store.objects import Conflict

if TYPE_CHECKING:
    from docstow.store.snapshots import Snapshots

log = logging.getLogger(__name__)

#: The columns of the documents table that are a document, in the order of its fields.
_DOCUMENT = ("path", "kind", "title", "signature", "text", "url", "parent", "attributes")
_RELATION = ("subject", "predicate", "object", "detail")


class RenewalTask:
    """Makes snapshots of items again by today's recipe.

    Args:
        snapshots: the published snapshots.
        publisher: makes snapshots.
    """

    def __init__(self, snapshots: Snapshots, publisher: Publisher) -> None:
        self._snapshots = snapshots
        self._publisher = publisher

    def finished(self, job: Job) -> Mapping[str, Any] | None:
        """Return the end of a job whose source has nothing any more to be made again."""
        return None if self._answering(job) is not None else {"state": SUCCESS}

    def perform(self, job: Job) -> Mapping[str, Any]:
        """Make again what answers for a job's source; that goes on answering if this fails."""
        snapshot = self._answering(job)
        if snapshot is None:
            return {"state": SUCCESS}
        recipe, revision = snapshot.recipe, snapshot.revision
        if recipe != self._publisher.recipe(revision.source.kind, recipe.reader):
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
        head = self._snapshots.head(snapshot.revision.source, fresh=True)
        if head is None or head.snapshot_id != snapshot.id:
            raise Conflict(snapshot.revision.source.key)
        published = self._publisher.publish(
            self._read(snapshot),
            now=head.checked_at,
            expected_generation=head.generation,
            known_vectors=lambda: self._publisher.vectors_of(snapshot),
        )
        return published.snapshot

    def _read(self, snapshot: Snapshot) -> Reading:
        """Return what a snapshot was made from, as its tables have it."""
        files = self._snapshots.fetch(snapshot, ["documents", "relations"])
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
        return self._snapshots.answering(job.source, fresh=True) if job.source else None
