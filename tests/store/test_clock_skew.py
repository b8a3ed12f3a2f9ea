"""A machine whose clock is wrong: what it writes is whole, or it is told to set its clock."""

from __future__ import annotations

import hashlib
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from botocore import auth

from docstow.core.errors import StoreError
from docstow.core.model import Recipe, Revision, Source
from docstow.ops.audit import verify
from docstow.store.leases import Leases
from docstow.store.objects import ReadOnlyStore, S3Store, connect
from docstow.store.snapshots import BlobCache, Snapshots
from servers import s3

SOURCE = Source("crate", "tokio", "1.24.2")
RECIPE = Recipe("r", "c", "w", "m")


def set_clock(monkeypatch: pytest.MonkeyPatch, minutes: int) -> None:
    """Have requests signed as by a machine whose clock is so far off."""
    right = auth.get_current_datetime  # type: ignore[attr-defined]

    def wrong(*arguments: Any, **options: Any) -> datetime:
        now: datetime = right(*arguments, **options)
        return now + timedelta(minutes=minutes)

    monkeypatch.setattr(auth, "get_current_datetime", wrong)


def opened(bucket: s3.Bucket, folder: Path) -> S3Store:
    return S3Store(connect(endpoint=bucket.endpoint), bucket.name, folder.name)


@pytest.mark.parametrize("minutes", [-10, 10])
def test_a_clock_that_is_ten_minutes_off_costs_work_and_loses_nothing(
    bucket: s3.Bucket, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, minutes: int
) -> None:
    def publish(off: timedelta, name: str, text: str) -> None:
        file = tmp_path / name
        file.write_bytes(text.encode() * 100)
        snapshots = Snapshots(store, BlobCache(tmp_path / f"cache-{name}", 10**6), freshness_s=0)
        made = snapshots.publish(
            Revision(SOURCE, SOURCE.version),
            RECIPE,
            {"documents": file},
            [hashlib.sha256(text.encode()).hexdigest()],
            {},
            {"title": text},
            datetime.now(UTC) + off,
        )
        assert snapshots.answering(SOURCE) == made

    store = opened(bucket, tmp_path)
    publish(timedelta(0), "right", "one")
    set_clock(monkeypatch, minutes)
    off = timedelta(minutes=minutes)
    wrong = Leases(store, "wrong", clock=lambda: datetime.now(UTC) + off)
    held = wrong.acquire(SOURCE.key, 60)
    assert held is not None
    # Others see the lease of a clock that is behind as lapsed, and that of one ahead as held.
    taken = Leases(store, "right").acquire(SOURCE.key, 60)
    assert (taken is not None) == (minutes < 0)
    assert (wrong.renew(held) is None) == (minutes < 0)
    publish(off, "wrong", "two")
    publish(timedelta(0), "again", "three")
    publish(off, "late", "four")
    assert verify(store).faults == ()


@pytest.mark.skipif("seaweedfs" not in s3.SERVERS, reason="moto looks at no clock")
@pytest.mark.parametrize("minutes", [-20, 20])
def test_a_clock_that_is_too_far_off_is_named(
    bucket: s3.Bucket, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, minutes: int
) -> None:
    store = opened(bucket, tmp_path)
    etag = store.create("a", b"one")
    with monkeypatch.context() as skewed:
        set_clock(skewed, minutes)
        for use in (
            lambda: store.get("a"),
            lambda: store.create("b", b""),
            lambda: store.swap("a", b"two", etag),
            lambda: list(store.list("")),
            lambda: store.delete("a"),
        ):
            with pytest.raises(StoreError, match="Set this machine's clock") as caught:
                use()
            assert not isinstance(caught.value, ReadOnlyStore)
    assert [entry.key for entry in store.list("")] == ["a"]
