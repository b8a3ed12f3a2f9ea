"""Snapshots of an older recipe are made anew beside the searches that they still answer.

This room knows when that is due and that it is done once. It does not know how tables are made.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from docstow.embed import Embedder
    from docstow.ingest import Ingest
    from docstow.lease import Leases
    from docstow.model import Recipe, Snapshot
    from docstow.queue import LocalQueue

log = logging.getLogger(__name__)

#: After a failed attempt the next one waits for so many seconds.
RETRY_S = 60.0


def renewed(recipe: Recipe, embedder: Embedder) -> Recipe:
    """The recipe by which a snapshot would be made anew; its reader stays, as it reads files."""
    from docstow.chunk import CHUNKER
    from docstow.layout import LAYOUT
    from docstow.words import WORDS

    return replace(recipe, chunker=CHUNKER, words=WORDS, model=embedder.id, layout=LAYOUT)


class Renewals:
    """Sends the jobs that make old snapshots anew.

    Args:
        ingest: makes the write path when it is first needed.
        queue: runs the jobs beside the caller.
        leases: keep two processes from doing the same.
        lease_s: when the lease of a job that died ends, in seconds.
        clock: monotonic seconds.
    """

    def __init__(
        self,
        ingest: Callable[[], Ingest],
        queue: LocalQueue[Snapshot],
        leases: Leases,
        *,
        lease_s: float,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._ingest = ingest
        self._queue = queue
        self._leases = leases
        self._lease_s = lease_s
        self._clock = clock
        self._failed: dict[str, tuple[float, str]] = {}

    def send(self, snapshot: Snapshot) -> str:
        """Have a snapshot made anew, unless that is under way.

        Returns:
            Why the last attempt failed, while the next one waits; else nothing.
        """
        failed_at, reason = self._failed.get(snapshot.id, (0.0, ""))
        if reason and self._clock() - failed_at < RETRY_S:
            return reason
        self._queue.send(snapshot.revision.source.key, lambda: self._renew(snapshot))
        return ""

    def _renew(self, snapshot: Snapshot) -> Snapshot:
        """The new snapshot; the old one, which goes on answering, if that fails."""
        key = snapshot.revision.source.key
        try:
            lease = self._leases.acquire(key, self._lease_s)
            if lease is None:
                return snapshot  # another process is at it
            with self._leases.kept(lease):
                made = self._ingest().renew(snapshot)
        except Exception as error:  # noqa: BLE001 - nobody else looks at the job's end
            log.warning("%s could not be made anew: %s", key, error)
            self._failed[snapshot.id] = (self._clock(), str(error))
            return snapshot
        log.info("%s was made anew by the model %s", key, made.recipe.model)
        self._failed.pop(snapshot.id, None)
        return made
