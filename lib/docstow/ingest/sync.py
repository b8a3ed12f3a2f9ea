"""Sync: the files that a source has now are compared with its snapshot, read and published.

Whatever goes wrong, the snapshot that answered before goes on answering.
"""

from __future__ import annotations

import hashlib
import json
import logging
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, closing, nullcontext
from dataclasses import asdict, dataclass
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, Any

from docstow import formats
from docstow.core import calls
from docstow.core.errors import DocstowError, StoreError, UpstreamError
from docstow.core.model import Recipe, Registration, Revision, Snapshot
from docstow.index.loaded import Index
from docstow.ingest.changes import Changes, Former
from docstow.ingest.crates import CrateTask
from docstow.ingest.job_logs import conceal
from docstow.ingest.jobs import (
    COUNTS,
    FULL,
    SUCCESS,
    Coverage,
    Job,
    JobError,
    Jobs,
    Progress,
    success_fields,
    without_secrets,
)
from docstow.ingest.publish import Publisher, Reading
from docstow.sources import Foresees, Found, Preview, by_limits, kind_of
from docstow.store.objects import Conflict
from docstow.text.invisible import INVISIBLE

if TYPE_CHECKING:
    from docstow.ingest.crawls import Crawls
    from docstow.sources import Origin
    from docstow.sources.registry import Registry
    from docstow.store.snapshots import Snapshots

log = logging.getLogger(__name__)

#: A job's progress is written at most once in so many seconds.
REPORT_S = 2.0


@dataclass(frozen=True, slots=True)
class SyncTask:
    """Syncs registered sources, for a worker.

    Attributes:
        registry: the registered sources.
        jobs: where progress is written down.
        snapshots: the published snapshots.
        publisher: makes snapshots.
        open_origin: opens the origin of a source, once for each sync.
        crates: ingests crates that are registered.
        clock: the time, with its zone.
        processes: how many read the files of a large source; 1 for this one alone.
        crawls: has only some run at once; None for any number.
    """

    registry: Registry
    jobs: Jobs
    snapshots: Snapshots
    publisher: Publisher
    open_origin: Callable[[Registration], AbstractContextManager[Origin]]
    crates: CrateTask
    clock: Callable[[], datetime]
    processes: int = 1
    crawls: Crawls | None = None

    def finished(self, job: Job) -> Mapping[str, Any] | None:
        """Return None: what a source has now shows in a sync alone."""
        del job
        return None

    def perform(self, job: Job) -> Mapping[str, Any]:
        """Sync a job's source, whose lease the worker holds; return the job's fields at its end.

        Raises:
            Busy: as many crawls run as may, or one of the same host.
            DocstowError: as the origin or the store says, without secrets.
            Conflict: others changed the source meanwhile, twice.
        """
        secrets: tuple[str, ...] = ()
        try:
            registration = self.registry.get(job.source_id)
            secrets = tuple(registration.headers.values())
            conceal(secrets)
            if not kind_of(registration.kind).has_pages:
                return self._sync_crate(registration, job)
            try:
                return self._sync_pages(registration, job)
            except Conflict:
                log.info("%s was changed by others; it is visited again", registration.source.key)
                return self._sync_pages(self.registry.get(registration.id), job)
        except DocstowError as error:
            error.message = without_secrets(error.message, secrets)
            error.args = (error.message,)
            error.details, error.suggestions = {}, ()
            raise

    def _sync_pages(self, registration: Registration, job: Job) -> dict[str, Any]:
        turn = self.crawls.turn(registration) if self.crawls is not None else nullcontext()
        with turn, self.open_origin(registration) as origin:
            return _PageSync(self, registration, job, origin).run()

    def _sync_crate(self, registration: Registration, job: Job) -> dict[str, Any]:
        source = kind_of(registration.kind).source(registration)
        if job.mode == FULL:
            return success_fields(job, self.crates.ingest(source.name, source.version))
        return success_fields(job, self.crates.ensure(source.name, source.version, patient=False))


@dataclass(frozen=True, slots=True)
class _Previous:
    """The snapshot that answers now, and how it came about.

    Attributes:
        snapshot: its record.
        former: its documents and what is known of each.
        version: what the origin resolved to at the last sync; empty if something failed then, so
            that it is tried again.
        options: digest of the options of that sync.
        left_out: what limits left out at that sync, by reason.
        vectors: returns its vectors by digest.
    """

    snapshot: Snapshot
    former: Former
    version: str
    options: str
    left_out: Mapping[str, int]
    vectors: Callable[[], Mapping[str, bytes]]

    def is_of(self, version: str, recipe: Recipe) -> bool:
        """Whether it is what a sync of that version would make, so that nothing need be fetched."""
        return version != "" and version == self.version and self.snapshot.recipe == recipe

    def is_outdated(self, recipe: Recipe) -> bool:
        """Whether its pages would be read otherwise now, so that none may be taken over.

        How pages are divided, indexed and embedded does not matter: every sync does that again
        from the texts of all pages.
        """
        old = self.snapshot.recipe
        return (old.reader, old.layout) != (recipe.reader, recipe.layout)


class _PageSync:
    """One sync of one source of pages.

    Args:
        task: what the sync works with.
        registration: the source.
        job: the job that is being done.
        origin: of the source.
    """

    def __init__(
        self, task: SyncTask, registration: Registration, job: Job, origin: Origin
    ) -> None:
        self._task = task
        self._snapshots = task.snapshots
        self._registration = registration
        self._kind = kind_of(registration.kind)
        self._job = job
        self._origin = origin
        self._reported_at = task.clock()
        self._recipe = task.publisher.recipe(registration.kind, formats.PROSE_READER)

    def run(self) -> dict[str, Any]:
        """Publish what the source has now; return the fields of the job that succeeded.

        Raises:
            Conflict: others published or deleted the source meanwhile.
            QuotaExceeded: whoever added the source has no room for it.
            DocstowError: the source cannot be read, or has nothing.
        """
        now = self._task.clock()
        source = self._registration.source
        head = self._snapshots.head(source, fresh=True)
        snapshot = self._snapshots.load(head) if head else None
        previous = self._read(snapshot) if snapshot else None
        options = _digest(self._registration.options)
        revision = self._origin.resolve()
        version = revision.validator
        fields = {"state": SUCCESS, "version": version, "options": options}
        full = (
            self._job.mode == FULL
            or previous is None
            or previous.options != options
            or previous.is_outdated(self._recipe)
        )
        if previous is not None and not full and previous.is_of(version, self._recipe):
            self._snapshots.touch(source, now)
            return fields | _unchanged(previous)
        generation = head.generation if head else 0
        account = self._task.registry.account_of(self._registration.id) or ""
        quotas = self._task.registry.quotas
        quotas.require_room(account, self._registration.id)

        def show(preview: Preview) -> None:
            nonlocal generation
            if previous is None and self._show(preview, revision, options, now, generation):
                generation += 1

        changes = self._collect(previous.former if previous else Former(), show, full=full)
        fields |= self._errors(changes)
        if not changes.documents:
            return fields | self._empty(changes, now)

        size = sum(len(each.text.encode()) for each in changes.documents.values())
        quotas.set_bytes(account, self._registration.id, size)
        coverage = changes.coverage()
        with calls.heard_by(calls.Listener(progress=self._report_embedding)):
            published = self._task.publisher.publish(
                self._reading(revision, changes, coverage, options),
                now=now,
                expected_generation=generation,
                keep=self._registration.keep,
                known_vectors=partial(self._known_vectors, previous),
            )
        counts = {
            **dict.fromkeys(COUNTS, 0),
            **changes.counts(),
            "chunks": published.snapshot.counts.get("chunks", 0),
            "embedded": published.embedded,
            "reused": published.reused,
            INVISIBLE: published.snapshot.counts.get(INVISIBLE, 0),
        }
        progress = Progress(len(changes.documents), len(changes.documents))
        return fields | {
            "counts": counts,
            "snapshot_id": published.snapshot.id,
            "progress": progress,
            "coverage": coverage,
        }

    def _show(
        self, preview: Preview, revision: Revision, options: str, now: datetime, generation: int
    ) -> bool:
        """Publish what answers until the sync has ended; return whether there is anything."""
        changes = Changes(Former(), paths_are_urls=self._kind.paths_are_urls, full=True)
        with closing(changes):
            for file in preview.files:
                changes.add(Found(file))
            for _ in changes.read():
                pass
        if not changes.documents:
            return False
        self._task.publisher.publish(
            self._reading(revision, changes, changes.coverage(), options),
            now=now,
            expected_generation=generation,
            keep=self._registration.keep,
        )
        return True

    def _reading(
        self, revision: Revision, changes: Changes, coverage: Coverage, options: str
    ) -> Reading:
        facts = {
            "title": self._registration.title,
            "uri": self._registration.uri,
            "options": options,
            "failed": changes.failed,
            "left_out": by_limits(changes.skipped),
            "coverage": asdict(coverage),
            **({"shared": changes.shared} if changes.shared else {}),
        }
        return Reading(
            revision,
            self._recipe.reader,
            [changes.documents[path] for path in sorted(changes.documents)],
            changes.relations(),
            facts,
            changes.visits,
        )

    def _known_vectors(self, previous: _Previous | None) -> Mapping[str, bytes]:
        """Return the vectors to reuse; called when embedding begins, which the job then says."""
        self._task.jobs.change(self._job, progress=Progress(0, None, calls.EMBEDDING))
        self._reported_at = self._task.clock()
        if previous is None or previous.snapshot.recipe.model != self._recipe.model:
            return {}
        return previous.vectors()

    def _read(self, snapshot: Snapshot) -> _Previous | None:
        """Return what answers now; None if it cannot be read any more."""
        try:
            self._snapshots.fetch(snapshot)  # all at once; one by one they would queue up
            index = Index(snapshot, partial(self._snapshots.file, snapshot))
            documents = {document.path: document for document in index.documents()}
            former = Former(documents, index.visits(), snapshot.facts.get("shared", {}))
        except StoreError as error:
            log.warning("%s is stowed anew: %s", self._registration.source.key, error.message)
            return None
        past = (job for job in self._task.jobs.of(snapshot.revision.source.name) if not job.active)
        last = next((job for job in past if job.state == SUCCESS), None)
        if last is not None and last.snapshot_id == snapshot.id:
            version, options = last.version, last.options
            failed, skipped = last.counts["failed"], last.skipped
        else:
            facts = snapshot.facts
            version, options = snapshot.revision.validator, str(facts.get("options", ""))
            failed, skipped = facts.get("failed", 0), facts.get("left_out", {})
        version = "" if failed else version
        left_out = by_limits(skipped)
        return _Previous(snapshot, former, version, options, left_out, index.vectors_by_digest)

    def _collect(self, former: Former, show: Callable[[Preview], None], *, full: bool) -> Changes:
        changes = Changes(
            former,
            paths_are_urls=self._kind.paths_are_urls,
            full=full,
            fetch_assets=bool(self._registration.options.get("fetch_assets")),
            processes=self._task.processes,
        )
        foresees = self._origin if isinstance(self._origin, Foresees) else None
        with closing(changes):
            for number, event in enumerate(self._origin.files({} if full else former.visits), 1):
                if isinstance(event, Preview):
                    show(event)
                    continue
                changes.add(event)
                left = foresees.left if foresees else 0
                total = number + left if left else None
                self._report(changes, Progress(number, total, changes.current))
            for number in changes.read():
                self._report(changes, Progress(number, changes.pending, changes.current))
        return changes

    def _report_embedding(self, done: float, total: float | None, what: str) -> None:
        if not self._is_due():
            return
        progress = Progress(int(done), None if total is None else int(total), what)
        self._task.jobs.change(self._job, progress=progress)
        self._reported_at = self._task.clock()

    def _is_due(self) -> bool:
        return (self._task.clock() - self._reported_at).total_seconds() >= REPORT_S

    def _report(self, changes: Changes, progress: Progress) -> None:
        if not self._is_due():
            return
        counts = {**dict.fromkeys(COUNTS, 0), **changes.progress()}
        self._task.jobs.change(self._job, progress=progress, counts=counts, **self._errors(changes))
        self._reported_at = self._task.clock()

    def _errors(self, changes: Changes) -> dict[str, Any]:
        secrets = tuple(self._registration.headers.values())
        errors = (
            JobError(e.kind, without_secrets(e.ref, secrets), without_secrets(e.message, secrets))
            for e in changes.errors
        )
        return {
            "errors": tuple(errors),
            "error_count": changes.failed,
            "skipped": dict(sorted(changes.skipped.items())),
        }

    def _empty(self, changes: Changes, now: datetime) -> dict[str, Any]:
        """A collection may be empty, and then nothing answers for it; any other source may not."""
        registration = self._registration
        if not self._kind.pushed or changes.failed:
            first = f" The first error: {changes.errors[0].message}" if changes.errors else ""
            raise UpstreamError(
                f"{registration.uri} gave no page that can be read; check its address and options."
                f" What was stowed before goes on answering.{first}"
            )
        self._snapshots.withdraw(registration.source, now, keep=registration.keep)
        return {"counts": {**dict.fromkeys(COUNTS, 0), **changes.counts()}}


def _unchanged(previous: _Previous) -> dict[str, Any]:
    """Return the fields of a job for which the upstream had nothing new."""
    snapshot = previous.snapshot
    documents = snapshot.counts.get("documents", 0)
    counts = {
        "unchanged": documents,
        "documents": documents,
        "chunks": snapshot.counts.get("chunks", 0),
        INVISIBLE: snapshot.counts.get(INVISIBLE, 0),
    }
    return {
        "counts": {**dict.fromkeys(COUNTS, 0), **counts},
        "skipped": previous.left_out,
        "snapshot_id": snapshot.id,
    }


def _digest(options: Mapping[str, Any]) -> str:
    return hashlib.sha256(json.dumps(dict(options), sort_keys=True).encode()).hexdigest()
