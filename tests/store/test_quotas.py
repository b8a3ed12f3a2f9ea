"""Quotas: what each caller has added to a store, counted for all processes."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from docstow.core.errors import QuotaExceeded
from docstow.store.objects import DirectoryStore
from docstow.store.quotas import PREFIX, Quotas

ONE, OTHER = "credential one", "credential other"


def _stands(_: str) -> bool:
    return True


def test_one_source_too_many_is_refused_with_what_to_do(tmp_path: Path) -> None:
    quotas = Quotas(DirectoryStore(tmp_path), most_sources=2)
    for identity in ("a", "b", "a"):
        quotas.add_source(ONE, identity, _stands)
    with pytest.raises(QuotaExceeded) as refused:
        quotas.add_source(ONE, "c", _stands)
    told = refused.value.body()
    assert (told["error"], told["limit"]) == ("quota_exceeded", 2)
    for word in ("credential one", "delete_source", "quota_sources"):
        assert word in told["message"]
    quotas.add_source(OTHER, "c", _stands)
    quotas.remove_source(ONE, "a")
    quotas.add_source(ONE, "c", _stands)


def test_what_was_counted_and_never_added_is_forgotten_when_the_account_is_full(
    tmp_path: Path,
) -> None:
    now = [datetime(2026, 11, 1, tzinfo=UTC)]
    quotas = Quotas(DirectoryStore(tmp_path), most_sources=2, clock=lambda: now[0])
    quotas.add_source(ONE, "stands", _stands)
    quotas.add_source(ONE, "lost", _stands)
    with pytest.raises(QuotaExceeded):
        # It may still be on its way.
        quotas.add_source(ONE, "new", "stands".__eq__)
    now[0] += timedelta(hours=2)
    quotas.add_source(ONE, "new", "stands".__eq__)
    with pytest.raises(QuotaExceeded):
        quotas.add_source(ONE, "another", _stands)


def test_the_text_of_all_sources_together_is_limited(tmp_path: Path) -> None:
    quotas = Quotas(DirectoryStore(tmp_path), most_bytes=1000)
    quotas.add_bytes(ONE, "a", 600)
    quotas.set_bytes(ONE, "b", 400)
    quotas.set_bytes(ONE, "b", 400)
    with pytest.raises(QuotaExceeded, match="quota_bytes"):
        quotas.add_bytes(ONE, "b", 1)
    with pytest.raises(QuotaExceeded):
        quotas.set_bytes(ONE, "b", 401)
    quotas.require_room(ONE, "b")
    quotas.add_bytes(ONE, "a", -100)
    quotas.set_bytes(ONE, "b", 500)
    with pytest.raises(QuotaExceeded):
        quotas.set_bytes(ONE, "c", 1)
    with pytest.raises(QuotaExceeded):
        quotas.require_room(ONE, "c")
    quotas.remove_source(ONE, "a")
    quotas.set_bytes(ONE, "c", 500)


def test_without_an_account_or_a_limit_nothing_is_written(tmp_path: Path) -> None:
    store = DirectoryStore(tmp_path)
    for quotas, account in ((Quotas(store, 1, 1), ""), (Quotas(store), ONE)):
        for identity in ("a", "b"):
            quotas.add_source(account, identity, _stands)
            quotas.add_bytes(account, identity, 100)
            quotas.require_room(account, identity)
            quotas.remove_source(account, identity)
    assert not list(store.list(PREFIX))


def test_who_add_at_the_same_time_get_no_more_than_there_is(tmp_path: Path) -> None:
    def add(identity: int) -> bool:
        try:
            Quotas(DirectoryStore(tmp_path), most_sources=5).add_source(ONE, f"{identity}", _stands)
        except QuotaExceeded:
            return False
        return True

    with ThreadPoolExecutor(4) as threads:
        assert sum(threads.map(add, range(16))) == 5


def test_a_damaged_account_begins_anew(tmp_path: Path) -> None:
    store = DirectoryStore(tmp_path)
    quotas = Quotas(store, most_sources=1)
    quotas.add_source(ONE, "a", _stands)
    (entry,) = store.list(PREFIX)
    store.delete(entry.key)
    store.create(entry.key, b"{")
    quotas.add_source(ONE, "b", _stands)
    with pytest.raises(QuotaExceeded):
        quotas.add_source(ONE, "c", _stands)
