"""Packs: the tables of a snapshot one after another in one blob, of which readers take ranges.

A request costs more than some bytes, and one answer cannot be of any length: so ranges that lie
near each other are read as one, and long ones in several requests at once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from docstow.core.model import Snapshot
from docstow.core.records import dataclass
from docstow.core.threads import in_parallel
from docstow.store.heads import blob_key, pack_key

#: So many bytes between two tables are read along with them.
GAP = 256 * 1024
#: The most bytes of one request.
STEP = 8 * 1024 * 1024

#: Returns ``size`` bytes of the object at a key, from ``start`` on.
ReadRange = Callable[[str, int, int], bytes]


@dataclass(frozen=True, slots=True)
class Place:
    """Where the bytes of a table are: in the object at ``key``, from ``start`` to ``end``."""

    key: str
    start: int
    end: int


def find_places(snapshot: Snapshot) -> Mapping[str, Place]:
    """Return where each table of a snapshot is, by its digest."""
    places, start = {}, 0
    for name, digest in snapshot.tables.items():
        size = snapshot.sizes[name]
        if not snapshot.pack:
            places[digest] = Place(blob_key(digest, snapshot.place), 0, size)
            continue
        places[digest] = Place(pack_key(snapshot.pack, snapshot.place), start, start + size)
        start += size
    return places


def read_places(places: Sequence[Place], read: ReadRange) -> list[memoryview]:
    """Return the bytes at some places, read by as few requests as may be, all of them at once.

    Fewer bytes are returned where an object ends before.

    Args:
        places: in any order.
        read: is called from several threads.
    """
    runs = _join(places)
    steps = [step for run in runs for step in _divide(run)]
    found = iter(in_parallel(lambda step: read(step.key, step.start, step.end - step.start), steps))
    bodies = {run: memoryview(b"".join([next(found) for _ in _divide(run)])) for run in runs}
    cut = []
    for place in places:
        run = next(each for each in runs if _holds(each, place))
        cut.append(bodies[run][place.start - run.start : place.end - run.start])
    return cut


def _join(places: Iterable[Place]) -> list[Place]:
    """Return ranges that hold all places, of which no two of an object lie near each other."""
    runs: list[Place] = []
    for place in sorted(places, key=lambda each: (each.key, each.start, each.end)):
        last = runs[-1] if runs else None
        if last is not None and last.key == place.key and place.start - last.end <= GAP:
            runs[-1] = Place(last.key, last.start, max(last.end, place.end))
        else:
            runs.append(place)
    return runs


def _divide(run: Place) -> list[Place]:
    return [
        Place(run.key, start, min(start + STEP, run.end))
        for start in range(run.start, run.end, STEP)
    ]


def _holds(run: Place, place: Place) -> bool:
    return run.key == place.key and run.start <= place.start and place.end <= run.end
