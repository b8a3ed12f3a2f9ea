"""One visit to a source: what is there now is compared with what was, and stowed.

This room knows when nothing is to be done, and the order in which a snapshot comes about. It
does not know where files come from, nor who runs the job.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import logging
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from docstow.core.errors import DocstowError, StoreError, UpstreamError
from docstow.core.model import (
    Document,
    Head,
    Recipe,
    Registration,
    Revision,
    Snapshot,
)
from docstow.ingest.jobs.model import (
    COUNTS,
    FULL,
    INCREMENTAL,
    SUCCESS,
    Job,
    JobError,
    Progress,
    without_secrets,
)
from docstow.ingest.jobs.store import Jobs
from docstow.sources import kind_of
from docstow.store.heads import Fenced
from docstow.store.objects import Conflict

if TYPE_CHECKING:
    from docstow.embedding import Embedder
    from docstow.index.schema import Tables
    from docstow.ingest.changes import Former, Harvest
    from docstow.ingest.jobs.enqueue import Enqueuer
    from docstow.sources.protocol import Origin
    from docstow.sources.registry import Registry
    from docstow.store.snapshots import Snapshots


# Sync


#: The longest pause between two looks at a job, in seconds.
POLL_S = 0.5


def _now() -> datetime:
    return datetime.now(UTC)


class Sync:
    """Starts, runs and awaits the jobs that sync registered sources.

    Args:
        registry: the registered sources.
        jobs: where jobs are written down.
        snapshots: published snapshots.
        origins: opens the origin of a source, anew for each visit.
        embedder: the model that texts are embedded with, when it is first needed.
        dispatch: sends jobs to a worker.
        crates: stows a crate by name and version, anew if the third says so.
        clock: the time, with its zone.
        pause: sleeps.
    """

    def __init__(
        self,
        registry: Registry,
        jobs: Jobs,
        snapshots: Snapshots,
        origins: Callable[[Registration], AbstractContextManager[Origin]],
        embedder: Callable[[], Embedder],
        dispatch: Enqueuer,
        *,
        crates: Callable[[str, str, bool], Snapshot],
        clock: Callable[[], datetime] = _now,
        pause: Callable[[float], object] = time.sleep,
    ) -> None:
        self._registry = registry
        self._jobs = jobs
        self._snapshots = snapshots
        self._origins = origins
        self._embedder = embedder
        self._dispatch = dispatch
        self._crates = crates
        self._clock = clock
        self._pause = pause

    def start(self, ref: str, mode: str = INCREMENTAL, *, join_running: bool = True) -> Job:
        """Have a source synced; the job that does it, which may be under way already.

        Args:
            ref: what the registry finds the source by.
            mode: ``incremental``, or ``full``, in which nothing is taken for unchanged.
            join_running: see :meth:`Jobs.start`.

        Raises:
            SourceNotFound: no source is called that.
            InvalidParameter: there is no such mode.
        """
        registration = self._registry.get(ref)
        job, _ = self._dispatch.start(registration.id, mode, join_running=join_running)
        return job

    def wait(self, job_id: str, seconds: float) -> Job:
        """The job when it has ended, or as it is after so many seconds.

        Raises:
            JobNotFound: there is none of that id.
        """
        until, pause = time.monotonic() + seconds, 0.01
        while (job := self._jobs.get(job_id)).active:
            left = until - time.monotonic()
            if left <= 0:
                break
            self._pause(min(pause, left))
            pause = min(pause * 1.5, POLL_S)
        return job

    def finished(self, job: Job) -> Mapping[str, Any] | None:
        """Nobody knows what a source has now without a visit."""
        del job
        return None

    def perform(self, job: Job) -> Mapping[str, Any]:
        """Do a job in this thread; its worker holds the lease. The fields of the job at its end.

        Whatever goes wrong, what answered before goes on answering.

        Raises:
            DocstowError: as the origin or the store says; it tells no secrets.
            Conflict: others changed the source meanwhile, twice.
        """
        secrets: tuple[str, ...] = ()
        try:
            registration = self._registry.get(job.source_id)
            secrets = tuple(registration.headers.values())
            if kind_of(registration.kind).has_pages:
                return self._visited(registration, job)
            return self._crate(registration, job)
        except DocstowError as error:
            error.message = without_secrets(error.message, secrets)
            error.args = (error.message,)
            error.details, error.suggestions = {}, ()
            raise

    def _visited(self, registration: Registration, job: Job) -> dict[str, Any]:
        """Visit the source, and once more if others published or deleted it meanwhile."""

        def visit(registration: Registration) -> dict[str, Any]:
            with self._origins(registration) as origin:
                return Visit(
                    registration,
                    job,
                    origin,
                    self._jobs,
                    self._snapshots,
                    self._embedder(),
                    clock=self._clock,
                ).make()

        try:
            return visit(registration)
        except Conflict:
            log.info("%s was changed by others; it is visited again", registration.source.key)
            return visit(self._registry.get(registration.id))

    def _crate(self, registration: Registration, job: Job) -> dict[str, Any]:
        source = kind_of(registration.kind).source(registration)
        snapshot = self._crates(source.name, source.version, job.mode == FULL)
        counts = {"documents": snapshot.counts.get("documents", 0)}
        return {
            "state": SUCCESS,
            "counts": {**job.counts, **counts},
            "snapshot_id": snapshot.id,
            "version": snapshot.revision.version,
        }


log = logging.getLogger(__name__)


#: A job's progress is written at most once in so many seconds.
REPORT_S = 2.0


@dataclass(frozen=True, slots=True)
class Answering:
    """The snapshot that answers now, and how it came about.

    Attributes:
        snapshot: its record.
        former: its documents and what is known of each.
        version: what the origin resolved to when the source was last synced; empty if something
            failed then, so that it is tried again.
        options: digest of the options of that sync.
        vectors: by digest of a text.
    """

    snapshot: Snapshot
    former: Former
    version: str
    options: str
    vectors: Callable[[], Mapping[str, bytes]]

    def is_of(self, version: str, recipe: Recipe) -> bool:
        """Whether it is what would be made of that version, so that nothing need be fetched."""
        return version != "" and version == self.version and self.snapshot.recipe == recipe

    def outdated(self, recipe: Recipe) -> bool:
        """Whether its pages would be read otherwise now, so that none may be taken over.

        How pages are divided, indexed and embedded is of no matter: every sync does that anew
        from the texts of all pages.
        """
        old = self.snapshot.recipe
        return (old.reader, old.layout) != (recipe.reader, recipe.layout)


class Visit:
    """One visit. Made anew for each.

    Args:
        registration: the source.
        job: the job that is being done.
        origin: of the source.
        jobs: where progress is written down.
        snapshots: published snapshots.
        embedder: the model that texts are embedded with.
        clock: the time, with its zone.
    """

    def __init__(
        self,
        registration: Registration,
        job: Job,
        origin: Origin,
        jobs: Jobs,
        snapshots: Snapshots,
        embedder: Embedder,
        *,
        clock: Callable[[], datetime],
    ) -> None:
        self._registration = registration
        self._kind = kind_of(registration.kind)
        self._job = job
        self._origin = origin
        self._jobs = jobs
        self._snapshots = snapshots
        self._embedder = embedder
        self._clock = clock
        self._reported_at = clock()

    def make(self) -> dict[str, Any]:
        """Visit the source and publish what it has; the fields of the job that succeeded.

        Raises:
            Conflict: others published or deleted the source meanwhile.
            DocstowError: the source cannot be had, or has nothing; what answered goes on answering.
        """
        from docstow.ingest.changes import Former

        now = self._clock()
        source = self._registration.source
        head = self._snapshots.head(source, fresh=True)
        answering = self._answering(head)
        options = _digest(self._registration.options)
        revision = self._origin.resolve()
        version = revision.validator
        done = {"state": SUCCESS, "version": version, "options": options}
        full = (
            self._job.mode == FULL
            or answering is None
            or answering.options != options
            or answering.outdated(self._recipe)
        )
        if answering is not None and not full and answering.is_of(version, self._recipe):
            self._snapshots.touch(source, now)
            return done | _nothing_new(answering.snapshot)
        harvest = self._gather(answering.former if answering else Former(), full=full)
        fields = done | self._errors(harvest)
        if not harvest.documents:
            return fields | self._emptied(harvest, now)
        snapshot, made = self._stow(revision, harvest, head, answering, done, now)
        counts = {**dict.fromkeys(COUNTS, 0), **harvest.counts(), **made}
        progress = Progress(len(harvest.documents), len(harvest.documents))
        return fields | {"counts": counts, "snapshot_id": snapshot.id, "progress": progress}

    @property
    def _recipe(self) -> Recipe:
        from docstow.formats import PROSE_READER
        from docstow.index.schema import PAGES

        return PAGES.recipe(PROSE_READER, self._embedder.id)

    def _answering(self, head: Head | None) -> Answering | None:
        """What answers now; one that cannot be read any more is as good as none."""
        from docstow.index.loaded import PageIndex
        from docstow.ingest.changes import Former

        snapshot = self._snapshots.load(head) if head else None
        if snapshot is None:
            return None
        try:
            self._snapshots.fetch(snapshot)
            index = PageIndex(snapshot, lambda name: self._snapshots.fetch(snapshot, [name])[name])
            documents = {document.path: document for document in index.documents()}
            former = Former(documents, index.visits())
        except StoreError as error:
            log.warning("%s is stowed anew: %s", self._registration.source.key, error.message)
            return None
        past = (job for job in self._jobs.of(snapshot.revision.source.name) if not job.active)
        last = next((job for job in past if job.state == SUCCESS), None)
        if last is not None and last.snapshot_id == snapshot.id:
            version, options = (last.version, last.options)
            failed = last.counts["failed"]
        else:
            facts = snapshot.facts
            version, options = snapshot.revision.validator, str(facts.get("options", ""))
            failed = facts.get("failed", 0)
        return Answering(
            snapshot, former, "" if failed else version, options, index.vectors_by_digest
        )

    def _gather(self, former: Former, *, full: bool) -> Harvest:
        from docstow.ingest.changes import Harvest

        harvest = Harvest(former, paths_are_urls=self._kind.paths_are_urls, full=full)
        for number, event in enumerate(self._origin.files({} if full else former.visits), 1):
            harvest.add(event)
            self._report(harvest, Progress(number, None, harvest.current))
        harvest.close()
        return harvest

    def _report(self, harvest: Harvest, progress: Progress) -> None:
        if (self._clock() - self._reported_at).total_seconds() < REPORT_S:
            return
        counts = {**dict.fromkeys(COUNTS, 0), **harvest.seen()}
        self._jobs.change(self._job, progress=progress, counts=counts, **self._errors(harvest))
        self._reported_at = self._clock()

    def _errors(self, harvest: Harvest) -> dict[str, Any]:
        secrets = tuple(self._registration.headers.values())
        errors = (
            JobError(e.kind, without_secrets(e.ref, secrets), without_secrets(e.message, secrets))
            for e in harvest.errors
        )
        return {
            "errors": tuple(errors),
            "error_count": harvest.failed,
            "skipped": dict(sorted(harvest.skipped.items())),
        }

    def _emptied(self, harvest: Harvest, now: datetime) -> dict[str, Any]:
        """A collection may be empty, and then nothing answers for it; any other source may not."""
        registration = self._registration
        if not self._kind.pushed or harvest.failed:
            first = f" The first error: {harvest.errors[0].message}" if harvest.errors else ""
            raise UpstreamError(
                f"{registration.uri} gave no page that can be read; check its address and options."
                f" What was stowed before goes on answering.{first}"
            )
        self._snapshots.withdraw(registration.source, now, keep=registration.keep)
        return {"counts": {**dict.fromkeys(COUNTS, 0), **harvest.counts()}}

    def _stow(
        self,
        revision: Revision,
        harvest: Harvest,
        head: Head | None,
        answering: Answering | None,
        done: Mapping[str, Any],
        now: datetime,
    ) -> tuple[Snapshot, dict[str, int]]:
        """Publish the documents; the snapshot, and how many chunks and vectors that took."""
        registration, recipe = self._registration, self._recipe
        documents = [harvest.documents[path] for path in sorted(harvest.documents)]
        digests = [document.digest() for document in documents]
        fence = {"expected_generation": head.generation if head else 0, "keep": registration.keep}
        identity = self._snapshots.identity(revision, digests, recipe)
        known = self._snapshots.stored(revision.source, identity)
        if known is not None:
            # One that was given up a moment ago is made anew.
            with contextlib.suppress(Fenced):
                self._snapshots.republish(known, now, **fence)
                return known, {"chunks": known.counts.get("chunks", 0)}
        made = self._tables(documents, harvest, answering)
        facts = {
            "title": registration.title,
            "uri": registration.uri,
            "options": done["options"],
            "failed": harvest.failed,
        }
        counts = {name: len(next(iter(table.values()))) for name, table in made.columns.items()}
        from docstow.index.parquet import scratch, write_table

        with scratch() as folder:
            files = {name: folder / f"{name}.parquet" for name in made.columns}
            for name, table in made.columns.items():
                write_table(table, files[name])
            snapshot = self._snapshots.publish(
                revision, recipe, files, digests, counts, facts, now, **fence
            )
        return snapshot, {
            "chunks": counts["chunks"],
            "embedded": made.embedded,
            "reused": made.reused,
        }

    def _tables(
        self, documents: Sequence[Document], harvest: Harvest, answering: Answering | None
    ) -> Tables:
        """The tables of the documents; vectors that the same model made before are reused."""
        from docstow.index.schema import PAGES, tabulate

        self._jobs.change(self._job, progress=Progress(0, len(documents), "embedding"))
        vectors: Mapping[str, bytes] = {}
        if answering is not None and answering.snapshot.recipe.model == self._embedder.id:
            vectors = answering.vectors()
        return tabulate(
            PAGES,
            documents,
            harvest.relations(),
            self._embedder,
            source_id=self._registration.id,
            visits=harvest.visits,
            known=vectors,
        )


def _nothing_new(snapshot: Snapshot) -> dict[str, Any]:
    """The fields of a job for which the upstream had nothing new."""
    documents = snapshot.counts.get("documents", 0)
    counts = {
        "unchanged": documents,
        "documents": documents,
        "chunks": snapshot.counts.get("chunks", 0),
    }
    return {"counts": {**dict.fromkeys(COUNTS, 0), **counts}, "snapshot_id": snapshot.id}


def _digest(options: Mapping[str, Any]) -> str:
    return hashlib.sha256(json.dumps(dict(options), sort_keys=True).encode()).hexdigest()
