"""Actors on one store, each of which goes on only when a test lets it: request by request."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import TypeVar

from docstow.store.objects import AlreadyThere, Conflict, Entry, ObjectStore, Stored, Unchanged

_T = TypeVar("_T")


class Memory:
    """A store as S3 is one: a tag is the content's digest, so the same bytes have the same tag.

    Its clock goes on by a second with each request.
    """

    def __init__(self) -> None:
        self.objects: dict[str, tuple[bytes, datetime]] = {}
        self.now = datetime(2026, 11, 21, tzinfo=UTC)

    def get(self, key: str) -> Stored | None:
        self._tick()
        held = self.objects.get(key)
        return held and Stored(held[0], _tag(held[0]))

    def get_changed(self, key: str, etag: str) -> Stored | Unchanged | None:
        stored = self.get(key)
        return Unchanged() if stored is not None and stored.etag == etag else stored

    def get_range(self, key: str, start: int, size: int) -> bytes | None:
        stored = self.get(key)
        return stored.body[start : start + size] if stored is not None else None

    def create(self, key: str, body: bytes) -> str:
        self._tick()
        if key in self.objects:
            raise AlreadyThere(key)
        self.objects[key] = (body, self.now)
        return _tag(body)

    def swap(self, key: str, body: bytes, etag: str) -> str:
        self._tick()
        held = self.objects.get(key)
        if held is None or _tag(held[0]) != etag:
            raise Conflict(key)
        self.objects[key] = (body, self.now)
        return _tag(body)

    def list(self, prefix: str) -> Iterator[Entry]:
        self._tick()
        found = [
            Entry(key, len(body), modified, _tag(body))
            for key, (body, modified) in sorted(self.objects.items())
            if key.startswith(prefix)
        ]
        return iter(found)

    def delete(self, key: str) -> None:
        self._tick()
        self.objects.pop(key, None)

    def _tick(self) -> None:
        self.now += timedelta(seconds=1)


def _tag(body: bytes) -> str:
    return hashlib.md5(body, usedforsecurity=False).hexdigest()


class Killed(BaseException):
    """Ends an actor where it waits, as a machine that is switched off does."""


@dataclass(eq=False)
class Actor:
    """Somebody at work on a store, in a thread that waits before each request.

    Args:
        store: the one that all share.
        work: what the actor does, given the store as it sees it.
    """

    store: ObjectStore
    work: Callable[[ObjectStore], object]
    done: bool = False
    failure: BaseException | None = None
    log: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._turn = threading.Semaphore(0)
        self._back = threading.Semaphore(0)
        self._dying = False
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()
        self._back.acquire()

    def step(self) -> bool:
        """Let one request happen, and the actor go on to its next one; False once it is done."""
        if self.done:
            return False
        self._turn.release()
        self._back.acquire()
        return True

    def kill(self) -> None:
        """Nothing more happens."""
        if not self.done:
            self._dying = True
            self._turn.release()
        self._thread.join()

    def request(self, name: str, make: Callable[[], _T]) -> _T:
        """Wait for the turn, then make a request."""
        if self._dying:
            raise Killed
        self._back.release()
        self._turn.acquire()
        if self._dying:
            raise Killed
        self.log.append(name)
        return make()

    def _run(self) -> None:
        try:
            self.work(_Seen(self))
        except Killed:
            pass
        except BaseException as failure:  # noqa: BLE001 - the test looks at it
            self.failure = failure
        self.done = True
        self._back.release()


class _Seen:
    """The store as an actor sees it."""

    def __init__(self, actor: Actor) -> None:
        self._actor = actor

    def get(self, key: str) -> Stored | None:
        return self._actor.request(f"get {key}", lambda: self._actor.store.get(key))

    def get_changed(self, key: str, etag: str) -> Stored | Unchanged | None:
        store = self._actor.store
        return self._actor.request(f"ask {key}", lambda: store.get_changed(key, etag))

    def get_range(self, key: str, start: int, size: int) -> bytes | None:
        store = self._actor.store
        return self._actor.request(f"get {key}", lambda: store.get_range(key, start, size))

    def create(self, key: str, body: bytes) -> str:
        store = self._actor.store
        return self._actor.request(f"create {key}", lambda: store.create(key, body))

    def swap(self, key: str, body: bytes, etag: str) -> str:
        store = self._actor.store
        return self._actor.request(f"swap {key}", lambda: store.swap(key, body, etag))

    def list(self, prefix: str) -> Iterator[Entry]:
        store = self._actor.store
        return iter(self._actor.request(f"list {prefix}", lambda: list(store.list(prefix))))

    def delete(self, key: str) -> None:
        self._actor.request(f"delete {key}", lambda: self._actor.store.delete(key))
