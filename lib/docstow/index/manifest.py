"""The manifest of the catalogue: which segments it consists of, and which of them to join.

A segment belongs to an epoch of the manifest. A swap of the manifest names only segments of its
epoch and those that it names already, so that what it does not name of an epoch that is over can
never be named again, and is deleted (as in :mod:`docstow.ops.sweep`).
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict

from docstow.core.records import dataclass
from docstow.store.update import Codec

SCHEMA = 2
MANIFEST = "catalog/manifest.json"
SEGMENTS = "catalog/segments/"

#: A job joins small segments once there are so many, and no more cards than this at a time.
MANY, SMALL = 12, 4096
#: After upkeep there are at most so many segments, each so many times as large as those after it.
LEVELS, RATIO = 3, 8
#: So many segments are joined at a time.
MOST_JOINED = 64


@dataclass(frozen=True, slots=True)
class Reference:
    """A segment as the manifest names it.

    Attributes:
        id: in its key.
        epoch: of the manifest when it was written.
        cards: how many it has, those included that others have replaced.
        model: of its vectors; empty where it has none.
        head: bytes of its head, which come first.
        bytes: all of it.
        sha256: of its head; each bucket of terms has a checksum of its own.
    """

    id: str
    epoch: int
    cards: int
    model: str
    head: int
    bytes: int
    sha256: str

    @property
    def key(self) -> str:
        """Where the segment is."""
        return f"{SEGMENTS}{self.epoch}-{self.id}"


@dataclass(frozen=True, slots=True)
class Manifest:
    """What the catalogue consists of.

    Attributes:
        segments: the oldest first.
        epoch: rises when what is not named is given up; see the module.
        corrections: rises when cards are taken out, so that a writer adds its own once more.
        covered: kinds of sources of which every head was seen to have its card.
        taken: keys of what waited and is in the segments now, but may not be deleted yet; see
            :mod:`docstow.index.waiting`.
    """

    segments: tuple[Reference, ...] = ()
    epoch: int = 0
    corrections: int = 0
    covered: tuple[str, ...] = ()
    taken: tuple[str, ...] = ()


def plan(segments: Sequence[Reference]) -> tuple[int, int]:
    """Return the first and the last but one of the segments to join; equal for none.

    Each is to be :data:`RATIO` times as large as all after it, and there are to be no more than
    :data:`LEVELS` of them, so that a card is written again a few times only.
    """
    cards = [each.cards for each in segments]
    begin = len(cards)
    for place, count in enumerate(cards):
        if count < RATIO * sum(cards[place + 1 :]):
            begin = place
            break
    if len(cards) > LEVELS:
        begin = min(begin, LEVELS - 1)
    if len(cards) - begin > MOST_JOINED:
        begin = len(cards) - MOST_JOINED
    return _of_one_model(segments, begin, len(segments))


def plan_small(segments: Sequence[Reference]) -> tuple[int, int]:
    """Return the small segments at the end, if there are many."""
    begin, total = len(segments), 0
    while begin and total + segments[begin - 1].cards <= SMALL:
        begin -= 1
        total += segments[begin].cards
    begin = max(begin, len(segments) - MOST_JOINED)
    if len(segments) - begin < MANY:
        return 0, 0
    return _of_one_model(segments, begin, len(segments))


def _of_one_model(segments: Sequence[Reference], begin: int, end: int) -> tuple[int, int]:
    """Return the last run of segments within these that have the same model."""
    first = end
    models: set[str] = set()
    while first > begin and len(models | ({segments[first - 1].model} - {""})) < 2:
        first -= 1
        models |= {segments[first].model} - {""}
    return first, end


def encode(manifest: Manifest) -> bytes:
    """Return the stored form of a manifest."""
    fields = {"schema": SCHEMA, **asdict(manifest)}
    return json.dumps(fields, indent=1).encode()


def decode(body: bytes, _: str = "") -> Manifest | None:
    """Read a manifest; None if it is damaged or of another schema."""
    try:
        fields = json.loads(body)
        if fields.pop("schema") != SCHEMA:
            return None
        segments = tuple(Reference(**each) for each in fields.pop("segments"))
        covered = tuple(map(str, fields.pop("covered")))
        taken = tuple(map(str, fields.pop("taken", ())))
        return Manifest(segments, covered=covered, taken=taken, **fields)
    except (ValueError, KeyError, TypeError, AttributeError):
        return None


CODEC: Codec[Manifest] = Codec(decode, encode)
