"""The objects of the catalogue as one process reads and writes them: manifest and segments.

A reader whose manifest names a segment that is gone reads the manifest again.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import logging
import time
import uuid
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace

from docstow.core.errors import TooLarge, UnreadableInput
from docstow.core.records import dataclass
from docstow.core.threads import in_parallel
from docstow.index import manifest as manifests
from docstow.index.card_set import Loaded
from docstow.index.cards import Card, read_old_card
from docstow.index.manifest import MANIFEST, Manifest, Reference
from docstow.index.segments import (
    Bucket,
    Damaged,
    Segment,
    encode_head,
    make_segment,
    read_bucket,
    read_head,
)
from docstow.store.heads import is_consistent
from docstow.store.objects import ObjectStore, ReadOnlyStore, Unchanged
from docstow.store.update import update

log = logging.getLogger(__name__)

#: The catalogue of earlier releases: sixteen objects of JSON, which are taken over once.
OLD_SHARDS = tuple(f"catalog/{number:02d}.json.gz" for number in range(16))
#: A segment is read whole if it has at most so many bytes; of a larger one parts are read.
WHOLE_BYTES = 16 << 20


@dataclass(frozen=True, slots=True)
class _Seen:
    """The manifest as this process last saw it; ``asked_at`` in seconds of the clock."""

    manifest: Manifest
    etag: str
    asked_at: float


class CatalogStore:
    """The manifest and the segments. Callers that read see to it that only one thread does.

    Args:
        objects: where they are, below ``catalog/``.
        freshness_s: for so long the manifest is answered from memory; after that it is requested
            with its tag.
        clock: monotonic seconds.

    Attributes:
        last_written: the id of the segment that this process wrote last.
    """

    def __init__(
        self,
        objects: ObjectStore,
        *,
        freshness_s: float = 5.0,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.objects = objects
        self._freshness_s = freshness_s
        self._clock = clock
        self._seen: _Seen | None = None
        self.last_written = ""
        self._loaded: dict[str, Loaded] = {}

    def load(self, *, fresh: bool = False) -> list[Loaded]:
        """Return all segments that can be read, the oldest first; new ones are requested.

        Args:
            fresh: ask for the manifest whatever is remembered.
        """
        manifest = self.refresh(fresh=fresh)
        found = self._load_missing(manifest)
        if None in found and not fresh:
            # Joined with others and deleted since the manifest was read, most likely.
            manifest = self.refresh(fresh=True)
            found = self._load_missing(manifest)
        named = {each.id for each in manifest.segments}
        loaded = {key: each for key, each in self._loaded.items() if key in named}
        loaded |= {each.identity: each for each in found if each is not None}
        self._loaded = loaded
        return [loaded[each.id] for each in manifest.segments if each.id in loaded]

    def damaged(self) -> set[str]:
        """Return the ids of segments that the manifest names and that cannot be read."""
        loaded = {each.identity for each in self.load(fresh=True)}
        return {each.id for each in self.refresh().segments} - loaded

    def _load_missing(self, manifest: Manifest) -> list[Loaded | None]:
        missing = [each for each in manifest.segments if each.id not in self._loaded]
        return in_parallel(self._load, missing)

    def refresh(self, *, fresh: bool = False) -> Manifest:
        """Return the manifest, asked for if it is not fresh any more."""
        seen, asked_at = self._seen, self._clock()
        if seen is not None:
            recent = asked_at - seen.asked_at < self._freshness_s
            if recent and not (fresh or is_consistent()):
                return seen.manifest
            changed = self.objects.get_changed(MANIFEST, seen.etag) if seen.etag else None
            if isinstance(changed, Unchanged):
                self._seen = replace(seen, asked_at=asked_at)
                return seen.manifest
            stored = changed if seen.etag else self.objects.get(MANIFEST)
        else:
            stored = self.objects.get(MANIFEST)
        manifest = manifests.decode(stored.body) if stored is not None else None
        if stored is not None and manifest is not None:
            self._seen = _Seen(manifest, stored.etag, asked_at)
            return manifest
        if seen is not None and not seen.etag:
            self._seen = replace(seen, asked_at=asked_at)  # of a store that cannot be written
            return seen.manifest
        with contextlib.suppress(ReadOnlyStore):
            return self.change(lambda current: current)
        taken = self._read_old()
        segments = [self._keep(segment) for segment in taken]
        self._seen = _Seen(Manifest(tuple(segments)), "", asked_at)
        return self._seen.manifest

    def _load(self, reference: Reference) -> Loaded | None:
        """Return a segment of the store; None, and a line in the log, if it cannot be read."""
        try:
            if reference.bytes <= WHOLE_BYTES:
                segment = self.read(reference)
                return Loaded(reference.id, segment.head, segment.bucket, whole=True)
            body = self.objects.get_range(reference.key, 0, reference.head)
            head = read_head(_check_head(reference, body))
        except Damaged as error:
            log.warning("%s: %s", reference.key, error.message)
            return None
        spans = head.spans()

        def bucket(number: int) -> Bucket:
            begin, end = (int(each) for each in spans[number : number + 2])
            part = self.objects.get_range(reference.key, reference.head + begin, end - begin)
            if part is None:
                raise Damaged(f"{reference.key} is missing.")
            return read_bucket(part)

        return Loaded(reference.id, head, bucket, whole=False)

    def read(self, reference: Reference) -> Segment:
        """Return a whole segment.

        Raises:
            Damaged: it is missing or not what was written.
        """
        stored = self.objects.get(reference.key)
        if stored is None:
            raise Damaged(f"{reference.key} is missing.")
        return unpack(reference, stored.body)

    def write(self, segment: Segment, epoch: int) -> Reference:
        """Store a segment under an epoch, and remember it."""
        reference, body = pack(segment, epoch, uuid.uuid4().hex[:16])
        self.objects.create(reference.key, body)
        self.last_written = reference.id
        return self._keep(segment, reference)

    def _keep(self, segment: Segment, reference: Reference | None = None) -> Reference:
        """Remember a segment that this process has made, which need not be read then."""
        reference = reference or Reference(uuid.uuid4().hex, 0, len(segment.head), "", 0, 0, "")
        if reference.bytes <= WHOLE_BYTES:
            loaded = Loaded(reference.id, segment.head, segment.bucket, whole=True)
            self._loaded = {**self._loaded, reference.id: loaded}
        return reference

    def change(self, change: Callable[[Manifest], Manifest]) -> Manifest:
        """Change the manifest; one that is missing or damaged is begun anew.

        Raises:
            StoreError: others were faster every time, or the store cannot be used.
        """
        begun: Manifest | None = None

        def changed(current: Manifest | None) -> Manifest:
            nonlocal begun
            if current is None and begun is None:
                # Whatever is there of an earlier manifest is of another epoch.
                epoch = uuid.uuid4().int % 10**9
                begun = Manifest(tuple(self.write(each, epoch) for each in self._read_old()), epoch)
            return change(current or begun or Manifest())

        done = update(self.objects, MANIFEST, manifests.CODEC, changed)
        if done.after is None:
            raise AssertionError("a change makes a manifest")
        self._seen = _Seen(done.after, done.etag, self._clock())
        named = {each.id for each in done.after.segments}
        self._loaded = {key: each for key, each in self._loaded.items() if key in named}
        return done.after

    def _read_old(self) -> list[Segment]:
        """Return the cards of an earlier release's catalogue."""
        bodies = [each.body for each in in_parallel(self.objects.get, OLD_SHARDS) if each]
        return by_model(card for body in bodies for card in _read_shard(body))


def pack(segment: Segment, epoch: int, name: str) -> tuple[Reference, bytes]:
    """Return how a segment is referred to under an id of an epoch, and its stored form."""
    head = encode_head(segment.head)
    body = head + segment.terms
    digest = hashlib.sha256(head).hexdigest()
    model, cards = segment.head.model, len(segment.head)
    return Reference(name, epoch, cards, model, len(head), len(body), digest), body


def unpack(reference: Reference, body: bytes) -> Segment:
    """Return a segment of its stored form.

    Raises:
        Damaged: it is not what was written.
    """
    if len(body) != reference.bytes:
        raise Damaged(f"{reference.key} is cut.")
    head = read_head(_check_head(reference, body[: reference.head]))
    return Segment(head, body[reference.head :])


def _check_head(reference: Reference, head: bytes | None) -> bytes:
    """Return the stored form of a segment's head.

    Raises:
        Damaged: it is missing or not what was written.
    """
    if head is None or hashlib.sha256(head).hexdigest() != reference.sha256:
        raise Damaged(f"{reference.key} is missing or damaged.")
    return head


def by_model(cards: Iterable[Card]) -> list[Segment]:
    """Return segments of some cards, one for each model."""
    found: dict[str, list[Card]] = {}
    for card in cards:
        found.setdefault(card.model, []).append(card)
    return [make_segment(each) for each in found.values()]


def _read_shard(body: bytes) -> Iterator[Card]:
    """Yield the cards of a shard of an earlier release; none of one that is damaged."""
    from docstow.net.decompress import Limits, decompress

    try:
        fields = json.loads(decompress([body], Limits(), name="a shard of the catalogue"))
        yield from [read_old_card(each) for each in fields["cards"]]
    except (UnreadableInput, TooLarge, KeyError, TypeError, ValueError) as fault:
        log.warning("a shard of the former catalogue is not taken over: %s", fault)
