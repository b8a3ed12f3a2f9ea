"""Leases: a note in the store that someone is at work, so that others do not start the same.

Nothing relies on them for correctness: two holders at once cost work and do no harm, because
publishing is conditional by itself.
"""

from __future__ import annotations

import contextlib
import json
import threading
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta

from docstow.core.errors import StoreError
from docstow.core.records import dataclass
from docstow.store.objects import AlreadyThere, Conflict, ObjectStore, escape

#: Another's lease counts as held for so many seconds longer than it says, because the clocks of two
#: machines differ.
SKEW_S = 5.0
LONGEST = timedelta(days=1)
_RELEASED = datetime.min.replace(tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Lease:
    """A held lease: ``key``, who holds it ``until`` when, for how long, and its state's tag."""

    key: str
    owner: str
    until: datetime
    seconds: float
    etag: str


class Leases:
    """The leases of one owner.

    Args:
        store: where they are kept, below ``leases/``.
        owner: a name for people to find the holder by; it gives no rights.
        clock: the time, with its zone.
        store_now: tells the time by the store's clock, which says whether a lease that seems to
            have lapsed was renewed lately by a holder whose clock is behind; None to go by clocks
            alone.
    """

    def __init__(
        self,
        store: ObjectStore,
        owner: str,
        *,
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
        store_now: Callable[[], datetime] | None = None,
    ) -> None:
        self._store = store
        self._owner = owner
        self._clock = clock
        self._store_now = store_now
        self._kept: dict[str, Callable[[], None]] = {}

    def held(self, key: str) -> bool:
        """Return whether someone, this owner included, holds the lease."""
        current = self._store.get(_key(key))
        return current is not None and self._holds(key, current.body)

    def left(self, key: str) -> float:
        """Return for how many seconds the lease is held yet, by its holder's clock; 0 for none."""
        current = self._store.get(_key(key))
        if current is None:
            return 0.0
        left = (_decode(current.body)[0] - self._clock()).total_seconds()
        return left if 0 < left < LONGEST.total_seconds() else 0.0

    def acquire(self, key: str, seconds: float) -> Lease | None:
        """Take the lease for so many seconds; return None while anyone, this owner too, holds it.

        Raises:
            StoreError: the store cannot be used.
        """
        current = self._store.get(_key(key))
        if current is not None and self._holds(key, current.body):
            return None
        return self._write(key, seconds, current.etag if current else "")

    def renew(self, lease: Lease) -> Lease | None:
        """Extend a lease for as long again from now; None when another has taken it over."""
        return self._write(lease.key, lease.seconds, lease.etag)

    def release(self, lease: Lease) -> None:
        """End a lease at once. One that another has taken over is left alone."""
        ended = _encode(lease.owner, _RELEASED, 0)
        with contextlib.suppress(Conflict):
            self._store.swap(_key(lease.key), ended, lease.etag)

    @contextlib.contextmanager
    def kept(self, lease: Lease) -> Iterator[None]:
        """Renew a lease beside the work that it stands for, and release it afterwards.

        A holder that dies stops renewing, so the lease can be short. A store that fails here
        costs at most the lease, never the work.
        """
        done = threading.Event()
        current = lease

        def beat() -> None:
            nonlocal current
            while not done.wait(lease.seconds / 3):
                with contextlib.suppress(StoreError):  # the next beat may come through
                    renewed = self.renew(current)
                    if renewed is None:
                        return
                    current = renewed

        beater = threading.Thread(target=beat, name=f"lease {lease.key}", daemon=True)

        def end() -> None:
            done.set()
            beater.join()
            with contextlib.suppress(StoreError):  # it will run out by itself
                self.release(current)

        beater.start()
        self._kept[lease.etag] = end
        try:
            yield
        finally:
            if self._kept.pop(lease.etag, None):
                end()

    def release_all(self) -> None:
        """End the leases that are kept, whatever work they stand for: this process ends now."""
        while self._kept:
            with contextlib.suppress(KeyError):  # its work has just come to its end
                self._kept.popitem()[1]()

    def _holds(self, key: str, body: bytes) -> bool:
        # A lease that ends in the far future was written by a broken clock: it would never end.
        now, (end, seconds) = self._clock(), _decode(body)
        if now - timedelta(seconds=SKEW_S) < end < now + LONGEST:
            return True
        return end != _RELEASED and self._was_renewed(key, seconds)

    def _was_renewed(self, key: str, seconds: float) -> bool:
        """Return whether a lease was written within so many seconds by the store's clock."""
        if self._store_now is None:
            return False
        least = timedelta(seconds=seconds + SKEW_S)
        try:
            entry = next((e for e in self._store.list(_key(key)) if e.key == _key(key)), None)
            return entry is not None and self._store_now() - entry.modified < least
        except StoreError:
            return False  # of a store that cannot be written nobody is told the time

    def _write(self, key: str, seconds: float, etag: str) -> Lease | None:
        until = self._clock() + timedelta(seconds=seconds)
        body = _encode(self._owner, until, seconds)
        try:
            if etag:
                etag = self._store.swap(_key(key), body, etag)
            else:
                etag = self._store.create(_key(key), body)
        except (AlreadyThere, Conflict):
            return None
        return Lease(key, self._owner, until, seconds, etag)


def _key(key: str) -> str:
    return "leases/" + "/".join(map(escape, key.split("/"))) + ".json"


def _encode(owner: str, until: datetime, seconds: float) -> bytes:
    fields = {"owner": owner, "until": until.astimezone(UTC).isoformat(), "seconds": seconds}
    return json.dumps(fields).encode()


def _decode(body: bytes) -> tuple[datetime, float]:
    """Return when a lease ends and for how many seconds it was taken.

    One that cannot be read has ended, for leases only save work.
    """
    try:
        fields = json.loads(body)
        end = datetime.fromisoformat(fields["until"]).astimezone(UTC)
        # Those of earlier releases do not say for how long.
        return end, float(fields.get("seconds", 0))
    except (ValueError, KeyError, TypeError, OverflowError):
        return _RELEASED, 0
