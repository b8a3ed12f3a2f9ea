"""Segments that wait to be named by the manifest, where many append to the catalogue at once.

Each swap of the manifest lets one writer win. So whoever is overtaken leaves its cards in an
object of its own and waits; the first in line names all that wait with one swap. What is left by
a writer that was killed is named with the others. The manifest keeps the ids of what it has taken
until their objects are deleted, so that nothing is named twice.
"""

from __future__ import annotations

import contextlib
import json
import logging
import random
import time
import uuid
from collections.abc import Callable, Sequence
from dataclasses import asdict, replace

from docstow.core.errors import StoreError
from docstow.core.records import dataclass
from docstow.core.threads import in_parallel
from docstow.index.catalog_store import CatalogStore, pack, unpack
from docstow.index.manifest import MANIFEST, Manifest, Reference
from docstow.index.segments import Damaged, Segment, join_current

log = logging.getLogger(__name__)

WAITING = "catalog/waiting/"
#: So many are named at a time.
MOST_TAKEN = 64
#: Bounds of the pause before each look, in seconds, and how often a writer looks.
POLL_S = (0.25, 0.75)
POLLS = 200
#: Who has been first in line for so many looks is dead or slow, and others do its work.
PATIENCE = 8


@dataclass(frozen=True, slots=True)
class _Left:
    """A segment that waits, with its key; None where it is gone or damaged."""

    key: str
    segment: Segment | None


class Waiting:
    """The segments of a catalogue that wait. Safe to share between threads.

    Args:
        objects: the catalogue's.
        pause: waits for so many seconds.
    """

    def __init__(
        self, objects: CatalogStore, *, pause: Callable[[float], object] = time.sleep
    ) -> None:
        self._objects = objects
        self._pause = pause

    def append(self, segment: Segment) -> None:
        """Leave a segment, and return once the manifest names what it has.

        Raises:
            StoreError: the store cannot be used, or nobody gets on.
        """
        mine = self.leave(segment)
        first, looks = "", 0
        for _ in range(POLLS):
            line = self._line()
            if mine not in line:
                return
            looks = looks + 1 if line[0] == first else 0
            first = line[0]
            if mine == first or looks >= PATIENCE:
                self._name(mine)
                return
            self._pause(random.uniform(*POLL_S))  # noqa: S311 - no secret
        raise StoreError(f"{MANIFEST} was changed by others all the time; try again later.")

    def leave(self, segment: Segment) -> str:
        """Store a segment among those that wait; return its key."""
        # The line is in the order of time; a clock that is wrong costs its writer pauses alone.
        name = f"{time.time_ns() // 1_000_000:013d}-{uuid.uuid4().hex[:16]}"
        reference, body = pack(segment, 0, name)
        line = json.dumps(asdict(reference)).encode()
        self._objects.objects.create(WAITING + name, line + b"\n" + body)
        return WAITING + name

    def name_all(self) -> int:
        """Name whatever waits; return how much that was. For upkeep."""
        found = self._line()
        for key in found:
            if key in self._line():
                self._name(key)
        return len(found)

    def _line(self) -> list[str]:
        return sorted(entry.key for entry in self._objects.objects.list(WAITING))

    def _name(self, mine: str) -> None:
        """Let the manifest name a segment that waits, and others of its model with it."""
        read: dict[str, _Left] = {}
        written: dict[tuple[int, tuple[str, ...]], Reference] = {}
        done: list[str] = []

        def change(manifest: Manifest) -> Manifest:
            nonlocal done
            # Listed after the manifest was read: had another taken something that is not listed
            # any more, the swap would find another manifest.
            line = self._line()
            done = [key for key in line if key in manifest.taken]
            others = [key for key in line if key not in manifest.taken]
            if mine not in others:
                return manifest
            chosen = sorted({mine, *others[:MOST_TAKEN]})
            missing = [key for key in chosen if key not in read]
            read.update((each.key, each) for each in in_parallel(self._read, missing))
            named = _of_one_model(read[mine], [read[key] for key in chosen])
            parts = [each.segment for each in named if each.segment is not None]
            place = manifest.epoch, tuple(each.key for each in named)
            if parts and place not in written:
                joined = join_current(parts, drop=False)
                written[place] = self._objects.write(joined, manifest.epoch)
            done += place[1]
            added = (written[place],) if parts else ()
            segments = (*manifest.segments, *added)
            return replace(manifest, segments=segments, taken=tuple(done))

        self._objects.change(change)
        with contextlib.suppress(StoreError):  # whoever comes next deletes them
            in_parallel(self._objects.objects.delete, done)

    def _read(self, key: str) -> _Left:
        stored = self._objects.objects.get(key)
        if stored is None:
            return _Left(key, None)  # another has named it
        try:
            line, _, body = stored.body.partition(b"\n")
            return _Left(key, unpack(Reference(**json.loads(line)), body))
        except (Damaged, ValueError, TypeError) as error:
            log.warning("%s is passed over: %s", key, error)
            return _Left(key, None)


def _of_one_model(own: _Left, left: Sequence[_Left]) -> list[_Left]:
    """Return those that one segment can have: none that is damaged has a model of its own."""
    model = own.segment.head.model if own.segment else ""
    return [each for each in left if each.segment is None or each.segment.head.model in {model, ""}]
