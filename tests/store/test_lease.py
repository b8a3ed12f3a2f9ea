from __future__ import annotations

import json
import os
import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from docstow.core.errors import StoreError
from docstow.store.inventory import store_time
from docstow.store.leases import SKEW_S, Lease, Leases
from docstow.store.objects import DirectoryStore

KEY = "crate/tokio/1.24.2@wasm32"


class Clock:
    """A clock that a test moves, by seconds."""

    def __init__(self) -> None:
        self.now = datetime(2026, 11, 21, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.now

    def pass_s(self, seconds: float) -> None:
        self.now += timedelta(seconds=seconds)


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def store(tmp_path: Path) -> DirectoryStore:
    return DirectoryStore(tmp_path)


@pytest.fixture
def mine(store: DirectoryStore, clock: Clock) -> Leases:
    return Leases(store, "mine", clock=clock)


@pytest.fixture
def theirs(store: DirectoryStore, clock: Clock) -> Leases:
    return Leases(store, "theirs", clock=clock)


def take(leases: Leases, seconds: float = 60) -> Lease:
    lease = leases.acquire(KEY, seconds)
    assert lease is not None
    return lease


def test_a_held_lease_is_refused_to_all(mine: Leases, theirs: Leases, clock: Clock) -> None:
    lease = take(mine)
    assert (lease.key, lease.owner, lease.until) == (KEY, "mine", clock.now + timedelta(seconds=60))
    assert theirs.acquire(KEY, 60) is None
    assert mine.acquire(KEY, 60) is None
    assert theirs.acquire("crate/tokio/1.24.3", 60) is not None


def test_a_released_lease_is_free_at_once(mine: Leases, theirs: Leases) -> None:
    mine.release(take(mine))
    assert take(theirs).owner == "theirs"


def test_an_expired_lease_is_taken_over_when_the_skew_of_clocks_has_passed_too(
    mine: Leases, theirs: Leases, clock: Clock
) -> None:
    lost = take(mine)
    clock.pass_s(64)
    assert theirs.acquire(KEY, 60) is None
    clock.pass_s(1)
    take(theirs)
    assert mine.renew(lost) is None
    mine.release(lost)
    assert mine.acquire(KEY, 60) is None


def test_a_renewed_lease_lasts_as_long_again(mine: Leases, theirs: Leases, clock: Clock) -> None:
    lease = take(mine)
    clock.pass_s(50)
    renewed = mine.renew(lease)
    assert renewed is not None
    assert renewed.until == clock.now + timedelta(seconds=60)
    clock.pass_s(60)
    assert theirs.acquire(KEY, 60) is None
    mine.release(renewed)
    take(theirs)


def test_one_of_eight_takes_an_expired_lease(store: DirectoryStore, clock: Clock) -> None:
    take(Leases(store, "gone", clock=clock), 1)
    clock.pass_s(10)
    start = threading.Barrier(8)

    def acquire(number: int) -> Lease | None:
        leases = Leases(store, str(number), clock=clock)
        start.wait()
        return leases.acquire(KEY, 60)

    with ThreadPoolExecutor(8) as pool:
        taken = [lease for lease in pool.map(acquire, range(8)) if lease is not None]
    assert len(taken) == 1


DAMAGED = [b"", b"{", b"[]", b"{}", b'{"until": 5}', b'{"until": "soon"}', b'{"until": null}']
ENDLESS = [b'{"until": "2926-11-21T00:00:00+00:00"}', b'{"until": "9999-12-31T23:59:59+00:00"}']


@pytest.mark.parametrize("body", [*DAMAGED, *ENDLESS])
def test_a_damaged_lease_stands_in_nobodys_way(
    store: DirectoryStore, mine: Leases, body: bytes
) -> None:
    store.create("leases/crate/tokio/1.24.2%40wasm32.json", body)
    take(mine)


def test_people_can_read_who_holds_a_lease(store: DirectoryStore, mine: Leases) -> None:
    take(mine)
    assert [entry.key for entry in store.list("leases/")] == [
        "leases/crate/tokio/1.24.2%40wasm32.json"
    ]
    held = store.get("leases/crate/tokio/1.24.2%40wasm32.json")
    assert held is not None
    said = {"owner": "mine", "until": "2026-11-21T00:01:00+00:00", "seconds": 60}
    assert json.loads(held.body) == said


class Beats(DirectoryStore):
    """A store that tells of every renewal, and can fail."""

    def __init__(self, root: Path) -> None:
        super().__init__(root)
        self.fails = False
        self.beats = {True: threading.Semaphore(0), False: threading.Semaphore(0)}

    def swap(self, key: str, body: bytes, etag: str) -> str:
        fails = self.fails
        try:
            if fails:
                raise StoreError("The store is away.")
            return super().swap(key, body, etag)
        finally:
            self.beats[fails].release()

    def wait_for_beats(self, count: int, *, failing: bool = False) -> None:
        for _ in range(count):
            assert self.beats[failing].acquire(timeout=30)


def test_a_lease_is_kept_while_the_work_goes_on(tmp_path: Path, clock: Clock) -> None:
    store = Beats(tmp_path)
    mine, theirs = Leases(store, "mine", clock=clock), Leases(store, "theirs", clock=clock)
    with mine.kept(take(mine, 0.1)):
        clock.pass_s(100)
        store.wait_for_beats(2)
        assert theirs.acquire(KEY, 60) is None
    take(theirs)


def test_a_store_that_fails_while_a_lease_is_kept_does_no_harm_to_the_work(
    tmp_path: Path, clock: Clock
) -> None:
    store = Beats(tmp_path)
    mine, theirs = Leases(store, "mine", clock=clock), Leases(store, "theirs", clock=clock)
    with mine.kept(take(mine, 0.1)):
        store.fails = True
        store.wait_for_beats(3, failing=True)
        store.fails = False
        clock.pass_s(100)
        store.wait_for_beats(2)
        assert theirs.acquire(KEY, 60) is None
        store.fails = True
    store.fails = False
    assert theirs.acquire(KEY, 60) is None
    clock.pass_s(100)
    take(theirs)


def test_a_lease_that_was_taken_over_is_not_kept(tmp_path: Path, clock: Clock) -> None:
    store = Beats(tmp_path)
    mine, theirs = Leases(store, "mine", clock=clock), Leases(store, "theirs", clock=clock)
    lease = take(mine, 0.1)
    clock.pass_s(100)
    take(theirs)
    store.wait_for_beats(1)
    with mine.kept(lease):
        store.wait_for_beats(1)
    assert mine.acquire(KEY, 60) is None


def test_a_holder_whose_clock_is_behind_is_not_taken_for_dead(
    store: DirectoryStore, tmp_path: Path
) -> None:
    def behind() -> datetime:
        return datetime.now(UTC) - timedelta(seconds=20)

    late = Leases(store, "late", clock=behind)
    others = Leases(store, "others", store_now=lambda: store_time(store))
    lease = take(late, 15)
    assert not Leases(store, "who asks no store").held(KEY)
    assert others.held(KEY)
    assert others.acquire(KEY, 15) is None
    renewed = late.renew(lease)
    assert renewed is not None
    # It has died, and the store says that it wrote nothing for a while.
    (file,) = (each for each in (tmp_path / "leases").rglob("*") if each.is_file())
    long_ago = file.stat().st_mtime - 15 - SKEW_S
    os.utime(file, (long_ago, long_ago))
    assert not others.held(KEY)
    assert take(others, 15).owner == "others"


def test_a_released_lease_of_a_clock_that_is_behind_is_free(store: DirectoryStore) -> None:
    late = Leases(store, "late", clock=lambda: datetime.now(UTC) - timedelta(seconds=20))
    late.release(take(late, 15))
    assert take(Leases(store, "others", store_now=lambda: store_time(store)), 15).owner == "others"
