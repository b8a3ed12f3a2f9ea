"""The catalogue: the cards of everything that is stowed, for searches over all of it.

It is immutable segments and a manifest that names them. A publish appends a card: it joins the
small segment at the end with it, or begins another one. Jobs and upkeep join segments into larger
ones. All of it is derived from heads and snapshots; what is lost or damaged upkeep makes anew.

A segment belongs to an epoch of the manifest. A swap of the manifest names only segments of its
epoch and those that it names already, so that what it does not name of an epoch that is over can
never be named again, and is deleted (as in :mod:`docstow.ops.sweep`). A reader whose manifest names
a segment that is gone reads the manifest again.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import logging
import threading
import time
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime

import numpy as np
from numpy.typing import NDArray

from docstow.core.errors import StoreError, TooLarge, UnreadableInput
from docstow.core.model import CRATE, LOCAL, Head, Snapshot, Source
from docstow.core.threads import in_parallel
from docstow.index.card_set import Buckets, CardSet, Loaded, Ranking
from docstow.index.cards import Card, Entry, card_key, card_of, outranks, read_old_card
from docstow.index.segments import (
    Bucket,
    Damaged,
    Segment,
    encode_head,
    join,
    make_segment,
    read_bucket,
    read_head,
    survivors,
)
from docstow.net.decompress import Limits, decompress
from docstow.store.heads import is_consistent
from docstow.store.objects import ObjectStore, ReadOnlyStore, Unchanged, tolerate_read_only
from docstow.store.snapshots import Snapshots
from docstow.store.update import Codec, update

log = logging.getLogger(__name__)

SCHEMA = 1
MANIFEST = "catalog/manifest.json"
SEGMENTS = "catalog/segments/"
#: The catalogue of earlier releases: sixteen objects of JSON, which are taken over once.
OLD_SHARDS = tuple(f"catalog/{number:02d}.json.gz" for number in range(16))

#: A publish joins its card with the last segment as long as that has fewer cards.
TAIL = 64
#: A job joins small segments once there are so many, and no more cards than this at a time.
MANY, SMALL = 12, 4096
#: After upkeep there are at most so many segments, each so many times as large as those after it.
LEVELS, RATIO = 3, 8
#: So many segments are joined at a time.
MOST_JOINED = 64
#: A segment is read whole if it has at most so many bytes; of a larger one parts are read.
WHOLE_BYTES = 16 << 20
#: So many cards upkeep makes anew in a round.
MOST_MADE = 500


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
        complete: whether every head was seen to have its card.
    """

    segments: tuple[Reference, ...] = ()
    epoch: int = 0
    corrections: int = 0
    complete: bool = False


@dataclass(frozen=True, slots=True)
class Maintained:
    """What a round of upkeep has done to the catalogue.

    Attributes:
        dropped: cards that were taken out.
        made: cards that were made anew.
        joined: segments that were joined into others.
        deleted: objects that were deleted.
    """

    dropped: int = 0
    made: int = 0
    joined: int = 0
    deleted: int = 0


@dataclass(frozen=True, slots=True)
class _Seen:
    """The manifest as this process last saw it; ``asked_at`` in seconds of the clock."""

    manifest: Manifest
    etag: str
    asked_at: float


class Catalog:
    """The cards of a store. Safe to share between threads.

    Args:
        store: where the catalogue is, below ``catalog/``.
        snapshots: the published snapshots, which the cards are made from.
        freshness_s: for so long the manifest is answered from memory; after that it is requested
            with its tag.
        clock: monotonic seconds.
    """

    def __init__(
        self,
        store: ObjectStore,
        snapshots: Snapshots,
        *,
        freshness_s: float = 5.0,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._store = store
        self._snapshots = snapshots
        self._freshness_s = freshness_s
        self._clock = clock
        self._reading = threading.Lock()
        self._seen: _Seen | None = None
        self._loaded: dict[str, Loaded] = {}
        self._buckets = Buckets()
        self._card_set: tuple[tuple[str, ...], CardSet] = ((), CardSet((), self._buckets))

    # Reading

    def card_set(self, *, fresh: bool = False) -> CardSet:
        """Return all cards; those left out that are in segments which cannot be read.

        The store is asked for the manifest, and for segments that this process does not have.

        Args:
            fresh: ask for the manifest whatever is remembered.
        """
        with self._reading:
            manifest = self._refresh(fresh=fresh)
            missing = [each for each in manifest.segments if each.id not in self._loaded]
            found = in_parallel(self._load, missing)
            if None in found and not fresh:
                # Joined with others and deleted since the manifest was read, most likely.
                manifest = self._refresh(fresh=True)
                missing = [e for e in manifest.segments if e.id not in self._loaded]
                found = in_parallel(self._load, missing)
            named = {each.id for each in manifest.segments}
            loaded = {key: each for key, each in self._loaded.items() if key in named}
            loaded |= {each.identity: each for each in found if each is not None}
            self._loaded = loaded
            there = tuple(each.id for each in manifest.segments if each.id in loaded)
            if self._card_set[0] != there:
                self._card_set = there, CardSet([loaded[each] for each in there], self._buckets)
            return self._card_set[1]

    def rank(self, query: str, model: str, vector: NDArray[np.float32]) -> Ranking:
        """Return all cards ranked for a query; see :meth:`CardSet.rank`."""
        try:
            return self.card_set().rank(query, model, vector)
        except Damaged:
            # Joined with others and deleted since the manifest was read, most likely.
            return self.card_set(fresh=True).rank(query, model, vector)

    def _refresh(self, *, fresh: bool = False) -> Manifest:
        seen, asked_at = self._seen, self._clock()
        if seen is not None:
            recent = asked_at - seen.asked_at < self._freshness_s
            if recent and not (fresh or is_consistent()):
                return seen.manifest
            changed = self._store.get_changed(MANIFEST, seen.etag) if seen.etag else None
            if isinstance(changed, Unchanged):
                self._seen = replace(seen, asked_at=asked_at)
                return seen.manifest
            stored = changed if seen.etag else self._store.get(MANIFEST)
        else:
            stored = self._store.get(MANIFEST)
        manifest = _decode(stored.body) if stored is not None else None
        if stored is not None and manifest is not None:
            self._seen = _Seen(manifest, stored.etag, asked_at)
            return manifest
        if seen is not None and not seen.etag:
            self._seen = replace(seen, asked_at=asked_at)  # of a store that cannot be written
            return seen.manifest
        with contextlib.suppress(ReadOnlyStore):
            return self._change(lambda current: current)
        taken = self._read_old()
        segments = [self._keep(segment) for segment in taken]
        self._seen = _Seen(Manifest(tuple(segments)), "", asked_at)
        return self._seen.manifest

    def _load(self, reference: Reference) -> Loaded | None:
        """Return a segment of the store; None, and a line in the log, if it cannot be read."""
        try:
            if reference.bytes <= WHOLE_BYTES:
                segment = self._read(reference)
                return Loaded(reference.id, segment.head, segment.bucket, whole=True)
            body = self._store.get_range(reference.key, 0, reference.head)
            head = read_head(_checked(reference, body))
        except Damaged as error:
            log.warning("%s: %s", reference.key, error.message)
            return None
        spans = head.spans()

        def bucket(number: int) -> Bucket:
            begin, end = (int(each) for each in spans[number : number + 2])
            part = self._store.get_range(reference.key, reference.head + begin, end - begin)
            if part is None:
                raise Damaged(f"{reference.key} is missing.")
            return read_bucket(part)

        return Loaded(reference.id, head, bucket, whole=False)

    def _read(self, reference: Reference) -> Segment:
        """Return a whole segment.

        Raises:
            Damaged: it is missing or not what was written.
        """
        stored = self._store.get(reference.key)
        if stored is None or len(stored.body) != reference.bytes:
            raise Damaged(f"{reference.key} is missing or cut.")
        head = read_head(_checked(reference, stored.body[: reference.head]))
        return Segment(head, stored.body[reference.head :])

    # Writing

    def add(self, card: Card) -> int:
        """Let a card represent its source; return the corrections that the manifest had then.

        Three requests, four where there is a small segment to join it with.

        Raises:
            StoreError: others were faster every time, or the store cannot be used.
        """
        cards = self._card_set[1]
        known = cards.find(card.source.name, card.source.target) if len(cards) else None
        if known == card.entry:
            manifest = self._refresh(fresh=True)
            if tuple(each.id for each in manifest.segments) == self._card_set[0]:
                return manifest.corrections
        return self._append([card]).corrections

    @contextlib.contextmanager
    def listed(self, card: Card) -> Iterator[None]:
        """Keep a card in the catalogue while and after its snapshot is published.

        A process killed in between leaves a card that differs from the head, which a reader
        corrects; publishing first could leave a stowed crate without a card for good. If someone
        corrects before the head is there, the card is added again afterwards.
        """
        corrections = self.add(card)
        yield
        if self._refresh(fresh=True).corrections != corrections:
            self._append([card])

    def card(self, snapshot: Snapshot) -> Card:
        """Return the card of a stowed snapshot, made from its tables."""
        return card_of(snapshot, self._snapshots.fetch(snapshot, ("documents", "passages")))

    def correct(self, entry: Entry) -> Entry | None:
        """Correct the card of a name by its heads; return it, or None if nothing is stowed.

        For a card that differs from its head, as its source was evicted or its writer killed.
        """
        heads = [
            head
            for kind in (CRATE, LOCAL)
            for head in self._snapshots.heads(kind, entry.source.name)
            if head.snapshot_id and head.source.target == entry.source.target
        ]
        cards = list(self._make(_best(heads).values()))
        with tolerate_read_only("the catalogue is not corrected"):
            self._append(cards, [entry.source], corrections=1)
        return cards[0].entry if cards else None

    def rebuild(self) -> int:
        """Make every card again from heads and snapshots; return their number.

        What others append meanwhile stays.
        """
        former = {each.id for each in self._refresh(fresh=True).segments}
        heads = [
            head
            for kind in (CRATE, LOCAL)
            for name in self._snapshots.names(kind)
            for head in self._snapshots.heads(kind, name)
            if head.snapshot_id
        ]
        best = list(_best(heads).values())

        def change(manifest: Manifest) -> Manifest:
            segments = _by_model(self._make(best))
            made = tuple(self._write(segment, manifest.epoch) for segment in segments)
            later = tuple(each for each in manifest.segments if each.id not in former)
            corrections = manifest.corrections + 1
            return replace(manifest, segments=made + later, corrections=corrections, complete=True)

        self._change(change)
        return len(self.card_set(fresh=True))

    def _append(
        self, cards: Sequence[Card], gone: Sequence[Source] = (), *, corrections: int = 0
    ) -> Manifest:
        """Append cards of one model, after the sources that are stowed no more."""
        fresh = make_segment(cards, gone)
        written: dict[tuple[int, str], Reference] = {}
        tries = 0

        def change(manifest: Manifest) -> Manifest:
            nonlocal tries
            tries += 1
            tail = manifest.segments[-1:]
            # Who was overtaken appends a segment of its own, which it need not write again.
            joins = tries == 1 and tail and tail[0].cards + len(fresh.head) <= TAIL
            if not joins or len({tail[0].model, fresh.head.model} - {""}) > 1:
                tail = ()
            place = (manifest.epoch, tail[0].id if tail else "")
            if place not in written:
                segment = fresh
                if tail:
                    try:
                        segment = _join([self._read(tail[0]), fresh], drop=False)
                    except Damaged:
                        tail, place = (), (manifest.epoch, "")
                written[place] = self._write(segment, manifest.epoch)
            kept = manifest.segments[: -len(tail)] if tail else manifest.segments
            return replace(
                manifest,
                segments=(*kept, written[place]),
                corrections=manifest.corrections + corrections,
            )

        return self._change(change)

    def _write(self, segment: Segment, epoch: int) -> Reference:
        head = encode_head(segment.head)
        body = head + segment.terms
        reference = Reference(
            id=uuid.uuid4().hex[:16],
            epoch=epoch,
            cards=len(segment.head),
            model=segment.head.model,
            head=len(head),
            bytes=len(body),
            sha256=hashlib.sha256(head).hexdigest(),
        )
        self._store.create(reference.key, body)
        return self._keep(segment, reference)

    def _keep(self, segment: Segment, reference: Reference | None = None) -> Reference:
        """Remember a segment that this process has made, which need not be read then."""
        reference = reference or Reference(uuid.uuid4().hex, 0, len(segment.head), "", 0, 0, "")
        if reference.bytes <= WHOLE_BYTES:
            loaded = Loaded(reference.id, segment.head, segment.bucket, whole=True)
            self._loaded = {**self._loaded, reference.id: loaded}
        return reference

    def _change(self, change: Callable[[Manifest], Manifest]) -> Manifest:
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
                begun = Manifest(
                    tuple(self._write(each, epoch) for each in self._read_old()), epoch
                )
            return change(current or begun or Manifest())

        done = update(self._store, MANIFEST, _CODEC, changed)
        if done.after is None:
            raise AssertionError("a change makes a manifest")
        self._seen = _Seen(done.after, done.etag, self._clock())
        named = {each.id for each in done.after.segments}
        self._loaded = {key: each for key, each in self._loaded.items() if key in named}
        return done.after

    def _read_old(self) -> list[Segment]:
        """Return the cards of an earlier release's catalogue."""
        bodies = [each.body for each in in_parallel(self._store.get, OLD_SHARDS) if each]
        return _by_model(card for body in bodies for card in _read_shard(body))

    def _make(self, heads: Iterable[Head]) -> Iterator[Card]:
        for head in heads:
            snapshot = self._snapshots.load(head)
            if snapshot is not None:
                yield self.card(snapshot)

    # Upkeep

    def join_small(self) -> int:
        """Join small segments if there are many; return how many were joined. For jobs.

        Searches over everything need not wait for upkeep then, however much is stowed at once.
        """
        return self._join(lambda manifest: plan_small(manifest.segments), fresh=False)

    def _join(self, plan: Callable[[Manifest], tuple[int, int]], *, fresh: bool = True) -> int:
        """Join the segments of a plan; 0 if there is none, or others have changed them."""
        manifest = self._refresh(fresh=fresh)
        begin, end = plan(manifest)
        chosen = manifest.segments[begin:end]
        if len(chosen) < 2:
            return 0
        try:
            segment = _join(in_parallel(self._read, list(chosen)), drop=begin == 0)
        except Damaged:
            return 0  # the next upkeep makes anew what it had
        written: dict[int, Reference] = {}
        joined = 0

        def change(current: Manifest) -> Manifest:
            nonlocal joined
            joined = 0
            if current.segments[begin:end] != chosen:
                return current
            if current.epoch not in written:
                written[current.epoch] = self._write(segment, current.epoch)
            joined = len(chosen)
            made = (written[current.epoch],) if len(segment.head) else ()
            kept = (*current.segments[:begin], *made, *current.segments[end:])
            return replace(current, segments=kept)

        self._change(change)
        return joined

    def maintain(self, heads: Mapping[Source, Head], oldest: datetime) -> Maintained:
        """Do what is due. Each step is whole by itself, and the next round does what is left.

        Args:
            heads: of every crate, as a look at the store found them, however old.
            oldest: by the store's clock; what is younger may belong to somebody at work.
        """
        deleted = self._sweep(oldest)
        lost = self._forget_damaged()
        dropped, made, left = self._reconcile(heads)
        complete = not left
        if self._refresh().complete != complete or lost:
            self._change(lambda manifest: replace(manifest, complete=complete))
        joined = 0
        while step := self._join(lambda manifest: plan(manifest.segments)):
            joined += step
        return Maintained(dropped, made, joined, deleted)

    def _sweep(self, oldest: datetime) -> int:
        """Delete segments that cannot be named any more, and the shards of earlier releases."""
        listed = list(self._store.list("catalog/"))
        manifest = self._refresh(fresh=True)
        named = {each.key for each in manifest.segments}
        unnamed = [e for e in listed if e.key.startswith(SEGMENTS) and e.key not in named]
        old = [e.key for e in unnamed if e.modified <= oldest]
        current = f"{SEGMENTS}{manifest.epoch}-"
        dead = [key for key in old if not key.startswith(current)]
        if len(dead) < len(old):
            # From now on no swap can name these, and the next round deletes them.
            self._change(lambda m: replace(m, epoch=max(m.epoch, manifest.epoch + 1)))
        dead += [e.key for e in listed if e.key in OLD_SHARDS and e.modified <= oldest]
        in_parallel(self._store.delete, dead)
        return len(dead)

    def _forget_damaged(self) -> int:
        """Take segments out of the manifest that cannot be read; return how many."""
        self.card_set(fresh=True)
        manifest = self._refresh()
        damaged = {e.id for e in manifest.segments if e.id not in self._loaded}
        if damaged:
            self._change(
                lambda current: replace(
                    current,
                    segments=tuple(e for e in current.segments if e.id not in damaged),
                    complete=False,
                )
            )
        return len(damaged)

    def _reconcile(self, heads: Mapping[Source, Head]) -> tuple[int, int, int]:
        """Make the cards those of the heads; return how many were dropped, made, and are left."""
        answering = [head for head in heads.values() if head.snapshot_id]
        best = _best(answering)
        cards = self.card_set()
        present = {each.key: each for each in cards.entries()}
        gone = [
            each.source
            for each in present.values()
            if each.source not in heads or not heads[each.source].snapshot_id
        ]
        # What the look has not seen may have come since, so that the store is asked once more.
        gone = [source for source in gone if not self._answers(source)]
        kept = {key: each for key, each in present.items() if each.source not in gone}
        wanted = [
            head
            for key, head in best.items()
            if key not in kept
            or (head.source != kept[key].source and outranks(head.source, kept[key].source))
        ]
        if gone:
            for begin in range(0, len(gone), TAIL):
                self._append([], gone[begin : begin + TAIL], corrections=1)
        made = 0
        batch: list[Card] = []
        for head in wanted[:MOST_MADE]:
            with contextlib.suppress(StoreError):  # a damaged snapshot is a matter for verify
                batch += self._make([head])
            made += 1
        for segment in _by_model(batch):
            self._append_segment(segment)
        return len(gone), len(batch), len(wanted) - made

    def _answers(self, source: Source) -> bool:
        head = self._snapshots.head(source, fresh=True)
        return head is not None and bool(head.snapshot_id)

    def _append_segment(self, segment: Segment) -> None:
        written: dict[int, Reference] = {}

        def change(manifest: Manifest) -> Manifest:
            if manifest.epoch not in written:
                written[manifest.epoch] = self._write(segment, manifest.epoch)
            return replace(manifest, segments=(*manifest.segments, written[manifest.epoch]))

        self._change(change)


def _checked(reference: Reference, head: bytes | None) -> bytes:
    """Return the stored form of a segment's head.

    Raises:
        Damaged: it is missing or not what was written.
    """
    if head is None or hashlib.sha256(head).hexdigest() != reference.sha256:
        raise Damaged(f"{reference.key} is missing or damaged.")
    return head


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


def _join(parts: Sequence[Segment], *, drop: bool) -> Segment:
    """Join segments without cards that others of them have replaced.

    Args:
        parts: the oldest first.
        drop: leave out what says that a source is gone: nothing older is left.
    """
    heads = [part.head for part in parts]
    kept = [
        alive | (head.gone.astype(bool) & (not drop))
        for alive, head in zip(survivors(heads), heads, strict=True)
    ]
    return join(parts, kept)


def _best(heads: Iterable[Head]) -> dict[str, Head]:
    """Return for each card's key the head that represents it."""
    best: dict[str, Head] = {}
    for head in heads:
        key = card_key(head.source.name, head.source.target)
        other = best.get(key)
        if outranks(head.source, other.source if other else None):
            best[key] = head
    return best


def _by_model(cards: Iterable[Card]) -> list[Segment]:
    """Return segments of some cards, one for each model."""
    found: dict[str, list[Card]] = {}
    for card in cards:
        found.setdefault(card.model, []).append(card)
    return [make_segment(each) for each in found.values()]


def _read_shard(body: bytes) -> Iterator[Card]:
    """Yield the cards of a shard of an earlier release; none of one that is damaged."""
    try:
        fields = json.loads(decompress([body], Limits(), name="a shard of the catalogue"))
        yield from [read_old_card(each) for each in fields["cards"]]
    except (UnreadableInput, TooLarge, KeyError, TypeError, ValueError) as fault:
        log.warning("a shard of the former catalogue is not taken over: %s", fault)


def _encode(manifest: Manifest) -> bytes:
    fields = {"schema": SCHEMA, **asdict(manifest)}
    return json.dumps(fields, indent=1).encode()


def _decode(body: bytes, _: str = "") -> Manifest | None:
    """Read a manifest; None if it is damaged or of another schema."""
    try:
        fields = json.loads(body)
        if fields.pop("schema") != SCHEMA:
            return None
        segments = tuple(Reference(**each) for each in fields.pop("segments"))
        return Manifest(segments, **fields)
    except (ValueError, KeyError, TypeError, AttributeError):
        return None


_CODEC: Codec[Manifest] = Codec(_decode, _encode)
