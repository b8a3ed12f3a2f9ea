from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from docstow.lease import Lease, Leases
from docstow.objects import DirectoryStore

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


@pytest.mark.parametrize(
    "body", [b"", b"{", b"[]", b"{}", b'{"until": 5}', b'{"until": "soon"}', b'{"until": null}']
)
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
    assert held.body == b'{"owner": "mine", "until": "2026-11-21T00:01:00+00:00"}'
