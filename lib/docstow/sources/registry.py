"""The registry of sources: which sources users have added, and how each is synced."""

from __future__ import annotations

import json
import logging
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import asdict, replace
from datetime import UTC, datetime
from typing import Any

from docstow import sources
from docstow.core import auth
from docstow.core.errors import DocstowError, InvalidParameter, SourceNotFound, StoreError
from docstow.core.model import Head, Registration, Source, source_id
from docstow.core.patterns import lazy_pattern
from docstow.core.records import dataclass
from docstow.core.similar import similar_names
from docstow.sources import SourceKind, collection
from docstow.store.heads import Heads, is_consistent, point_to
from docstow.store.kept import Kept
from docstow.store.objects import ObjectStore, Stored, Unchanged
from docstow.store.quotas import Quotas
from docstow.store.update import Codec, update
from docstow.store.usage import Pins

log = logging.getLogger(__name__)

SCHEMA = 1
PREFIX = "sources/"
#: What was read of the records, for processes that come later; with their headers, as these are.
KEPT = "upkeep/sources.json.gz"
#: So many records are remembered that were asked for one by one.
SINGLE_KEPT = 1024
KEEP = 5
MOST_KEPT = 100
#: The longest interval of refreshes, in hours: a year.
SELDOM_H = 8760
LONGEST_TITLE = 200
SHORTEST_ID = 6
#: The reason of the pin of a registered crate.
REGISTERED = "registered"
_HEX = lazy_pattern(r"[0-9a-f]+")
_HEADER_NAME = lazy_pattern(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")


@dataclass(frozen=True, slots=True)
class Record:
    """The stored record of a registration; a deleted one stays as a tombstone.

    Attributes:
        registration: as last changed.
        deleted_at: when it was deleted, else None. Its snapshots may be removed a grace time
            later.
        account: whose quotas it counts for; empty where nobody's.
    """

    registration: Registration
    deleted_at: datetime | None = None
    account: str = ""


class Registry:
    """The registered sources of a store, ``sources/<id>.json``. Safe to share between threads.

    A list of all asks only for the records that have changed since the last one, by their ETags.
    To a caller that is bound to sources no others are there, and it can register no others.

    Args:
        store: holds the records.
        freshness_s: how long the list of all is cached; changes by this process show at once.
        clock: monotonic seconds.
        forget: takes what is deleted out of what is searched.
        quotas: of the callers that add sources; None where there are none.

    Attributes:
        quotas: as given.
    """

    def __init__(
        self,
        store: ObjectStore,
        *,
        freshness_s: float = 0.0,
        clock: Callable[[], float] = time.monotonic,
        forget: Callable[[Source], None] = lambda _: None,
        quotas: Quotas | None = None,
    ) -> None:
        self.quotas = quotas or Quotas(store)
        self._store = store
        self._freshness_s = freshness_s
        self._clock = clock
        self._forget = forget
        self._guard = threading.Lock()
        self._listed: tuple[float, list[Record]] | None = None
        self._kept = Kept(store, KEPT, _fields, lambda fields: _record(dict(fields)))
        #: Those that were asked for one by one: when, with its ETag; bounded.
        self._single: OrderedDict[str, tuple[float, str, Record]] = OrderedDict()
        self._changes = 0
        #: Kind and name of sources by id.
        self._names: dict[str, tuple[str, str]] = {}

    def create(
        self,
        kind: str,
        uri: str,
        *,
        title: str = "",
        options: Mapping[str, Any] | None = None,
        headers: Mapping[str, str] | None = None,
        keep: int | None = None,
        refresh_hours: int | None = None,
    ) -> tuple[Registration, bool]:
        """Register a source, or change how a registered one is synced.

        Args:
            kind: one of ``sources.registrable()``.
            uri: in any spelling of its kind.
            title: for people; by default the canonical URI.
            options: of its kind; replace those of an earlier call.
            headers: sent with every request to its hosts; replace those of an earlier call.
            keep: how many of its snapshots are kept; by default 5.
            refresh_hours: the age of its last sync at which upkeep syncs it again; 0, the
                default: never.

        Returns:
            The registration, and whether it is new (or was deleted before). What is not given
            stays as before.

        Raises:
            InvalidParameter: an argument is invalid.
            Forbidden: the caller is not bound to such a source.
            QuotaExceeded: the caller has added as many as it may.
            StoreError: the store cannot be used.
        """
        of_kind = sources.find(kind)
        canonical = of_kind.canonical_uri(uri)
        auth.require_sight(*_named(kind, canonical))
        given = _given(title, keep, headers)
        if refresh_hours is not None:
            given["refresh_hours"] = _refresh(of_kind, refresh_hours)
        if options is not None:
            given["options"] = of_kind.checked_options(options, uri)
        fresh = Registration(
            source_id(kind, canonical),
            kind,
            canonical,
            canonical,
            of_kind.checked_options({}, uri),
            datetime.now(UTC),
            keep=KEEP,
        )

        account = auth.caller().account
        if account and self.account_of(fresh.id) is None:
            self.quotas.add_source(account, fresh.id, lambda each: self.account_of(each) == account)

        def register(current: Record | None) -> Record:
            if current is not None and current.deleted_at is None:
                return replace(current, registration=replace(current.registration, **given))
            return Record(replace(fresh, **given), account=account)

        before, after = self._change(fresh.id, register)
        if before is not None and before.deleted_at is None and before.account != account:
            self.quotas.remove_source(account, fresh.id)  # another was faster
        if of_kind.shared:
            Pins(self._store).pin(of_kind.source(after.registration), REGISTERED)
        return after.registration, before is None or before.deleted_at is not None

    def get(self, ref: str) -> Registration:
        """Return the source with an id, a unique prefix of an id (6 digits or more), URI or title.

        Raises:
            SourceNotFound: there is none, or several; with suggestions.
        """
        if len(ref) == 64 and _HEX.fullmatch(ref):
            record = self._read(ref)
            found = [record.registration] if record and record.deleted_at is None else []
        else:
            found = _matching(ref, self.all()) or _matching(ref, self._alive(fresh=True))
        if len(found) == 1:
            return found[0]
        if found:
            raise SourceNotFound(
                f"Several sources are called {ref[:200]!r}; give the id of one.",
                suggestions=[_suggestion(each, 1.0) for each in found[:5]],
            )
        raise SourceNotFound(
            f"No source is called {ref[:200]!r}; list_sources shows what there is, and"
            " create_source adds one.",
            suggestions=_similar(ref, self.all()),
        )

    def account_of(self, identity: str) -> str | None:
        """Return whose quotas a registered source counts for; None where there is no such source.

        Whether the caller sees it does not matter.
        """
        state = self._read_state(identity)
        return state[1].account if state is not None and state[1].deleted_at is None else None

    def find(self, identity: str) -> Registration | None:
        """Return the source of a whole id; None if there is none.

        Only its record is asked for, and that if it was not within ``freshness_s``.
        """
        asked_at, changes = self._clock(), self._changes
        seen = self._single.get(identity)
        if seen is not None and self.is_at_hand(identity):
            return _alive(seen[2])
        state: tuple[str, Record] | None
        if seen is None:
            state = self._read_state(identity)
        else:
            changed = self._store.get_changed(_key(identity), seen[1])
            if isinstance(changed, Unchanged):
                state = seen[1], seen[2]
            else:
                state = _state(changed, identity)
        with self._guard:
            self._single.pop(identity, None)
            if state is not None and changes == self._changes:
                self._single[identity] = asked_at, *state
            if len(self._single) > SINGLE_KEPT:
                self._single.popitem(last=False)
        return _alive(state[1]) if state is not None else None

    def is_at_hand(self, identity: str) -> bool:
        """Return whether :meth:`find` answers for an id without asking the store."""
        seen = self._single.get(identity)
        young = seen is not None and self._clock() - seen[0] < self._freshness_s
        return young and not is_consistent()

    def all(self) -> list[Registration]:
        """Return every registered source, ordered by kind and title."""
        return self._alive()

    def deleted(self) -> list[Record]:
        """Return the records of deleted sources, whose snapshots may still exist."""
        return [record for record in self._records(fresh=True) if record.deleted_at is not None]

    def delete(self, ref: str) -> Registration:
        """Delete a source, so that it no longer answers.

        Its snapshots stay until upkeep removes them; pushed texts are deleted at once, so that a
        new collection of the same name starts empty. A deleted source can be registered again.

        Raises:
            SourceNotFound: as :meth:`get` does.
        """
        registration = self.get(ref)
        kind = sources.kind_of(registration.kind)
        if kind.pushed:
            # Before the record: once that is deleted, the source may be made anew, with new texts.
            for entry in self._store.list(collection.prefix(registration.id)):
                self._store.delete(entry.key)

        def bury(current: Record | None) -> Record:
            if current is None or current.deleted_at is not None:
                raise SourceNotFound(f"{registration.title} was deleted by another.")
            return replace(current, deleted_at=datetime.now(UTC))

        buried, _ = self._change(registration.id, bury)
        self.quotas.remove_source(buried.account if buried else "", registration.id)
        if kind.shared:
            Pins(self._store).unpin(kind.source(registration))
            return registration  # the snapshot stays: others may have asked for it

        def empty(head: Head | None) -> Head:
            # Where there is no head, a new one fences off a running sync.
            head = head or Head(registration.source, "", 0, datetime.now(UTC))
            return point_to(head, "", registration.keep + 1)

        Heads(self._store, freshness_s=0, clock=self._clock).change(registration.source, empty)
        try:
            self._forget(registration.source)
        except StoreError as error:  # upkeep does it, too
            log.warning("the card of %s stays for now: %s", registration.title, error.message)
        return registration

    def shows(self, identity: str) -> bool:
        """Return whether the caller sees the source of an id, deleted or not."""
        if auth.caller().bound is None:
            return True
        known = self._names.get(identity)
        if known is None:
            state = self._read_state(identity)
            if state is None:
                return False
            # An id stands for one kind and URI for good.
            known = self._names[identity] = _named_by(state[1])
        return auth.sees(*known)

    def _alive(self, *, fresh: bool = False) -> list[Registration]:
        records = self._records(fresh=fresh)
        alive = (record.registration for record in records if record.deleted_at is None)
        return sorted(alive, key=lambda each: (each.kind, each.title.casefold(), each.id))

    def _records(self, *, fresh: bool = False) -> list[Record]:
        listed, asked_at, changes = self._listed, self._clock(), self._changes
        fresh = fresh or is_consistent()
        if listed is not None and not fresh and asked_at - listed[0] < self._freshness_s:
            return _seen(listed[1])
        tags = {entry.key: entry.etag for entry in self._store.list(PREFIX)}
        found = [*self._kept.read(tags, self._read_key).values()]
        with self._guard:
            if changes == self._changes:
                self._listed = asked_at, found
        return _seen(found)

    def _read(self, identity: str) -> Record | None:
        state = self._read_state(identity)
        return next(iter(_seen([state[1]])), None) if state is not None else None

    def _read_key(self, key: str) -> tuple[str, Record] | None:
        stored = self._store.get(key)
        return (stored.etag, _decode(stored.body, key)) if stored else None

    def _read_state(self, identity: str) -> tuple[str, Record] | None:
        return _state(self._store.get(_key(identity)), identity)

    def _change(
        self, identity: str, change: Callable[[Record | None], Record]
    ) -> tuple[Record | None, Record]:
        """Change a record; return what was there and what is."""
        done = update(self._store, _key(identity), _RECORD, change)
        with self._guard:
            self._changes += 1
            self._listed = None
            self._single.pop(identity, None)
        if done.after is None:
            raise AssertionError("a change makes a record")
        return done.before, done.after


def _alive(record: Record) -> Registration | None:
    """Return what is registered and seen by the current caller."""
    seen = record.deleted_at is None and auth.sees(*_named_by(record))
    return record.registration if seen else None


def _state(stored: Stored | None, identity: str) -> tuple[str, Record] | None:
    return (stored.etag, _decode(stored.body, _key(identity))) if stored else None


def _named(kind: str, uri: str) -> tuple[str, str]:
    """Return the kind and the name of a source, as callers are bound to it."""
    # What is shared with those that name the package has the package's name.
    return kind, uri.partition("@")[0] if sources.kind_of(kind).shared else uri


def _named_by(record: Record) -> tuple[str, str]:
    return _named(record.registration.kind, record.registration.uri)


def _seen(records: list[Record]) -> list[Record]:
    """Return those records whose sources the current caller sees."""
    if auth.caller().bound is None:
        return records
    return [each for each in records if auth.sees(*_named_by(each))]


def _given(title: str, keep: int | None, headers: Mapping[str, str] | None) -> dict[str, Any]:
    """Return the given fields, checked."""
    given: dict[str, Any] = {}
    if title := " ".join(title.split()):
        if len(title) > LONGEST_TITLE:
            raise InvalidParameter("title", f"must have at most {LONGEST_TITLE} characters")
        given["title"] = title
    if keep is not None:
        if not 1 <= keep <= MOST_KEPT:
            raise InvalidParameter("keep", f"must be from 1 to {MOST_KEPT}, not {keep}")
        given["keep"] = keep
    if headers is not None:
        for name, value in headers.items():
            # The value is secret and must not be in the message.
            if not _HEADER_NAME.fullmatch(name) or not (value.isascii() and value.isprintable()):
                raise InvalidParameter("headers", f"{name[:80]!r} is no header that can be sent")
        given["headers"] = dict(headers)
    return given


def _refresh(kind: SourceKind, hours: int) -> int:
    if not 0 <= hours <= SELDOM_H:
        raise InvalidParameter("refresh_hours", f"must be from 0 to {SELDOM_H}, not {hours}")
    if hours and not kind.refreshable:
        raise InvalidParameter(
            "refresh_hours", f"a {kind.name} changes only when somebody changes it; leave it out"
        )
    return hours


def _matching(ref: str, registered: list[Registration]) -> list[Registration]:
    """Return the sources that a reference names, by the first of URI, title and id that matches."""
    wanted = ref.strip()
    spellings = {
        kind: sources.spelling(kind, wanted) for kind in {each.kind for each in registered}
    }
    tests: list[Callable[[Registration], bool]] = [
        lambda each: each.uri in (wanted, spellings[each.kind]),
        lambda each: each.title.casefold() == wanted.casefold(),
        lambda each: (
            len(wanted) >= SHORTEST_ID
            and _HEX.fullmatch(wanted) is not None
            and each.id.startswith(wanted)
        ),
    ]
    for test in tests:
        if found := [each for each in registered if test(each)]:
            return found
    return []


def _similar(ref: str, registered: list[Registration]) -> list[dict[str, Any]]:
    by_name: dict[str, Registration] = {}
    for each in registered:
        by_name.setdefault(each.title, each)
        by_name.setdefault(each.uri, each)
    found = similar_names(ref, by_name, most=10, least=0.4)
    best = {by_name[name].id: (by_name[name], score) for name, score in reversed(found)}
    nearest = sorted(best.values(), key=lambda pair: -pair[1])[:5]
    return [_suggestion(each, round(score, 2)) for each, score in nearest]


def _suggestion(registration: Registration, score: float) -> dict[str, Any]:
    return {
        "id": registration.id,
        "kind": registration.kind,
        "uri": registration.uri,
        "title": registration.title,
        "score": score,
    }


def _key(identity: str) -> str:
    return f"{PREFIX}{identity}.json"


def _fields(record: Record) -> dict[str, Any]:
    fields = {
        "schema": SCHEMA,
        **asdict(replace(record.registration, headers=dict(record.registration.headers))),
        "created_at": record.registration.created_at.isoformat(),
        "deleted_at": record.deleted_at and record.deleted_at.isoformat(),
    }
    if not fields["refresh_hours"]:
        del fields["refresh_hours"]  # readable for older releases
    if record.account:
        fields["account"] = record.account
    return fields


def _record(fields: dict[str, Any]) -> Record:
    if fields.pop("schema") != SCHEMA:
        raise ValueError("of another release")
    deleted_at, account = fields.pop("deleted_at"), str(fields.pop("account", ""))
    fields["created_at"] = datetime.fromisoformat(fields["created_at"])
    gone = deleted_at and datetime.fromisoformat(str(deleted_at))
    return Record(Registration(**fields), gone, account)


def _encode(record: Record) -> bytes:
    return json.dumps(_fields(record), indent=1, ensure_ascii=False, allow_nan=False).encode()


def _decode(body: bytes, key: str) -> Record:
    try:
        fields = json.loads(body)
        if fields["schema"] != SCHEMA:
            raise StoreError(f"{key} was written by another release; use that one.")
        return _record(fields)
    except DocstowError:
        raise
    except (ValueError, KeyError, TypeError, AttributeError) as fault:
        raise StoreError(f"{key} in the store is damaged; delete it and add it again.") from fault


_RECORD: Codec[Record] = Codec(_decode, _encode)
