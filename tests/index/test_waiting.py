"""Cards that wait to be named together: overtaken writers, killed ones, failed deletions."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest

from docstow.core.errors import StoreError
from docstow.index.catalog import Catalog
from docstow.index.catalog_upkeep import CatalogUpkeep
from docstow.index.manifest import MANIFEST
from docstow.index.segments import make_segment
from docstow.index.waiting import PATIENCE, WAITING, Waiting
from docstow.runtime import Runtime
from docstow.store.objects import Conflict, ObjectStore
from index.test_catalog import bare, open_runtime, shown, stored

__all__ = ["open_runtime"]


def waiting(store: ObjectStore) -> list[str]:
    return [entry.key for entry in store.list(WAITING)]


def leave(runtime: Runtime, name: str, version: str = "1.0.0") -> str:
    """What a writer leaves that is killed while it waits."""
    return runtime.catalog.waiting.leave(make_segment([bare(name, version)]))


def overtake(patch: pytest.MonkeyPatch, store: ObjectStore, times: int) -> list[str]:
    """Refuse so many swaps of the manifest as if another had been faster; return those tried."""
    swap, tried = store.swap, list[str]()

    def refused(key: str, body: bytes, etag: str) -> str:
        if key == MANIFEST:
            tried.append(key)
            if len(tried) <= times:
                raise Conflict(key)
        return swap(key, body, etag)

    patch.setattr(store, "swap", refused)
    return tried


def test_who_is_overtaken_names_all_that_wait_with_one_swap(
    open_runtime: Callable[[], Runtime], monkeypatch: pytest.MonkeyPatch
) -> None:
    runtime = open_runtime()
    runtime.catalog.add(bare("oak"))
    for number in range(5):
        leave(open_runtime(), f"crate{number}")
    monkeypatch.setattr(runtime.catalog, "waiting", Waiting(runtime.catalog.objects, pause=no_time))
    tried = overtake(monkeypatch, runtime.store, 1)
    runtime.catalog.add(bare("elm"))
    assert len(tried) == 2
    expected = ["crate0", "crate1", "crate2", "crate3", "crate4", "elm", "oak"]
    assert sorted(shown(open_runtime().catalog)) == expected
    assert waiting(runtime.store) == []


def no_time(_: float) -> None:
    """Wait no time."""


def test_writers_at_the_same_time_swap_less_often_than_there_are(
    open_runtime: Callable[[], Runtime], monkeypatch: pytest.MonkeyPatch
) -> None:
    open_runtime().catalog.add(bare("oak"))
    writers = [open_runtime() for _ in range(8)]
    together, lock, named = threading.Barrier(8), threading.Lock(), list[str]()

    def meet(store: ObjectStore) -> Callable[[str, bytes, str], str]:
        swap, met = store.swap, list[str]()

        def held(key: str, body: bytes, etag: str) -> str:
            if key == MANIFEST and not met:
                met.append(key)
                together.wait(60)  # all of them have read the manifest before any swaps it
            done = swap(key, body, etag)
            if key == MANIFEST:
                with lock:
                    named.append(key)
            return done

        return held

    for writer in writers:
        monkeypatch.setattr(writer.store, "swap", meet(writer.store))
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda n: writers[n].catalog.add(bare(f"crate{n}")), range(8)))
    assert len(shown(open_runtime().catalog)) == 9
    assert waiting(writers[0].store) == []
    assert len(named) < 8


def test_what_was_named_is_not_named_again_though_it_is_still_there(
    open_runtime: Callable[[], Runtime], monkeypatch: pytest.MonkeyPatch
) -> None:
    runtime = open_runtime()
    key = leave(runtime, "oak", "2.0.0")
    with pytest.MonkeyPatch.context() as patch:

        def fail(key: str) -> None:
            raise StoreError(f"{key} cannot be deleted")

        patch.setattr(runtime.store, "delete", fail)
        runtime.catalog.waiting.name_all()
    assert waiting(runtime.store) == [key]
    assert shown(runtime.catalog)["oak"][0] == "2.0.0"
    runtime.catalog.append([], [bare("oak", "2.0.0").source], corrections=1)
    overtake(monkeypatch, runtime.store, 1)
    runtime.catalog.add(bare("elm"))
    assert list(shown(open_runtime().catalog)) == ["elm"]
    assert waiting(runtime.store) == []


def test_the_others_do_the_work_of_the_first_in_line_when_it_is_dead(
    open_runtime: Callable[[], Runtime],
) -> None:
    runtime = open_runtime()
    leave(runtime, "oak")
    pauses = list[float]()
    Waiting(runtime.catalog.objects, pause=pauses.append).append(make_segment([bare("elm")]))
    assert len(pauses) == PATIENCE
    assert sorted(shown(open_runtime().catalog)) == ["elm", "oak"]


@pytest.mark.parametrize("body", [b"", b"{}\n", b'{"id": "a"}\nb', None])
def test_what_is_damaged_holds_nobody_up(
    open_runtime: Callable[[], Runtime], body: bytes | None
) -> None:
    runtime = open_runtime()
    key = leave(runtime, "oak")
    whole = stored(runtime.store, key)
    runtime.store.swap(key, whole.body[:-9] if body is None else body, whole.etag)
    Waiting(runtime.catalog.objects, pause=no_time).append(make_segment([bare("elm")]))
    assert list(shown(open_runtime().catalog)) == ["elm"]
    assert waiting(runtime.store) == []


def test_upkeep_names_what_killed_writers_left(open_runtime: Callable[[], Runtime]) -> None:
    runtime = open_runtime()
    for name in ("oak", "elm"):
        leave(runtime, name)
    catalog = Catalog(runtime.store, runtime.snapshots)
    assert catalog.waiting.name_all() == 2
    assert sorted(shown(catalog)) == ["elm", "oak"]


def test_who_did_not_write_the_last_segment_joins_none(
    open_runtime: Callable[[], Runtime],
) -> None:
    writer, other = open_runtime(), open_runtime()
    for number in range(13):
        CatalogUpkeep(writer.catalog, writer.snapshots)._append_segment(
            make_segment([bare(f"crate{number}")])
        )
    assert CatalogUpkeep(other.catalog, other.snapshots).join_small() == 0
    assert CatalogUpkeep(writer.catalog, writer.snapshots).join_small() == 12
    assert len(shown(open_runtime().catalog)) == 13
