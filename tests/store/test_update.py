"""The loop of compare-and-swap that every changing object goes through."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from docstow.core.errors import StoreError
from docstow.store import update as module
from docstow.store.objects import Conflict, DirectoryStore
from docstow.store.update import RAW, Codec, Updated, attempts, update
from schedules import Memory

KEY = "upkeep/counter"
NUMBER: Codec[int] = Codec(
    lambda body, _: int(body) if body.isdigit() else None, lambda number: b"%d" % number
)


def test_an_absent_object_is_made_and_then_changed() -> None:
    store = Memory()
    made = update(store, KEY, NUMBER, lambda number: (number or 0) + 1)
    changed = update(store, KEY, NUMBER, lambda number: (number or 0) + 1)
    stored = store.get(KEY)
    assert stored is not None
    assert (made.before, made.after, made.written) == (None, 1, True)
    assert changed == Updated(1, 2, stored.etag, written=True)


def test_what_would_stay_as_it_is_is_not_written() -> None:
    store = Memory()
    assert update(store, KEY, RAW, lambda body: body) == Updated(None, None, "", written=False)
    store.create(KEY, b"1")
    before = store.objects[KEY]
    assert update(store, KEY, NUMBER, lambda number: number).written is False
    assert update(store, KEY, NUMBER, lambda _: None).after == 1
    assert update(store, KEY, RAW, lambda _: bytes([49])).written is False
    assert store.objects[KEY] is before


def test_a_damaged_object_is_made_anew() -> None:
    store = Memory()
    store.create(KEY, b"damaged")
    assert update(store, KEY, NUMBER, lambda number: 5 if number is None else 0).after == 5
    assert store.objects[KEY][0] == b"5"


def test_a_change_may_raise_and_then_nothing_is_written() -> None:
    store = Memory()

    def refuse(_: bytes | None) -> bytes:
        raise Conflict(KEY)

    with pytest.raises(Conflict):
        update(store, KEY, RAW, refuse)
    assert store.objects == {}


def test_no_increment_of_many_writers_is_lost(tmp_path: Path) -> None:
    store = DirectoryStore(tmp_path)

    def count(_: int) -> None:
        for _ in range(5):
            update(store, KEY, NUMBER, lambda number: (number or 0) + 1)

    with ThreadPoolExecutor(16) as pool:
        list(pool.map(count, range(16)))
    counted = store.get(KEY)
    assert counted is not None
    assert counted.body == b"80"


def test_it_gives_up_in_the_end_and_pauses_ever_longer_up_to_a_bound(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    bounds: list[float] = []

    def uniform(low: float, high: float) -> float:
        bounds.append(high)
        return low

    monkeypatch.setattr("random.uniform", uniform)
    store = Memory()
    store.create(KEY, b"0")

    def interfere(number: int | None) -> int:
        assert number is not None
        store.objects[KEY] = (b"%d" % (number + 1), store.now)
        return number

    with pytest.raises(StoreError, match=r"upkeep/counter was changed by others 40 times"):
        update(store, KEY, NUMBER, lambda number: interfere(number) + 7)
    assert len(bounds) == module.ATTEMPTS - 1
    assert bounds[:3] == [0.005, 0.01, 0.02]
    assert max(bounds) == module.LONGEST_PAUSE_S


def test_attempts_are_numbered() -> None:
    numbers = attempts("It")
    assert [next(numbers), next(numbers)] == [0, 1]
