"""What is counted over all sources of pages, and what of them is read: what has changed."""

from __future__ import annotations

from pathlib import Path

import pytest

from docstow.core.model import Registration
from docstow.library.page_totals import TOTALS, PageTotals, Total
from docstow.sources.registry import KEPT, Registry
from docstow.store.kept import MANY
from ops.test_upkeep import Counted, opened, stow


def fill(store: Counted, folder: Path, count: int) -> list[Registration]:
    registry = Registry(store)
    made = [registry.create("collection", f"name-{number}")[0] for number in range(count)]
    for each in made:
        stow(store, folder, each.source)
    return made


def totals(store: Counted, folder: Path) -> PageTotals:
    """As a process has them that has read nothing yet."""
    return PageTotals(store, opened(store, folder), Registry(store))


def asked(store: Counted, what: PageTotals) -> tuple[Total, dict[str, int]]:
    store.counts.clear()
    return what.read(), dict(store.counts)


@pytest.mark.parametrize("count", [10, 300])
def test_the_numbers_read_what_has_changed(tmp_path: Path, count: int) -> None:
    store = Counted()
    made = fill(store, tmp_path, count)
    first = totals(store, tmp_path)
    sums, requests = asked(store, first)
    assert sums == Total(2 * count, 0, count)
    assert (requests["get heads"], requests["get sources"]) == (count, count)
    assert asked(store, first)[1] == {"list": 2}

    stow(store, tmp_path, made[3].source, "two", keep=5)
    sums, requests = asked(store, first)
    assert sums == Total(2 * count, 0, count + 1)
    assert requests == {"list": 2, "get heads": 1}

    # Another process reads what this one has kept, where that is worth it.
    _, requests = asked(store, totals(store, tmp_path))
    if count < MANY:
        assert (requests["get heads"], requests["get sources"]) == (count, count)
    else:
        assert requests == {"list": 2, "get upkeep": 2, "get heads": 1}

    Registry(store).delete(made[0].id)
    assert first.read() == Total(2 * count - 2, 0, count)


@pytest.mark.parametrize("damage", [b"", b"\x1f\x8b", b"{}"])
def test_what_is_kept_may_be_damaged(tmp_path: Path, damage: bytes) -> None:
    store = Counted()
    fill(store, tmp_path, MANY)
    expected = totals(store, tmp_path).read()
    for key in (TOTALS, KEPT):
        store.objects[key] = (damage, store.now)
    assert totals(store, tmp_path).read() == expected
    _, requests = asked(store, totals(store, tmp_path))
    assert requests == {"list": 2, "get upkeep": 2}


def test_headers_of_a_source_are_as_they_were(tmp_path: Path) -> None:
    store = Counted()
    fill(store, tmp_path, MANY)
    made, _ = Registry(store).create("site", "https://a.example/", headers={"X-Key": "secret"})
    assert Registry(store).get(made.id) == made
    listed = [Registry(store).all() for _ in range(2)]
    assert listed[0] == listed[1]
    assert made in listed[1]
    assert next(each for each in listed[1] if each.id == made.id).headers == {"X-Key": "secret"}
