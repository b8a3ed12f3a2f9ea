"""Which sources of pages are looked into: by their cards, and nothing is listed."""

from __future__ import annotations

from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from docstow.core.errors import DocumentNotFound, SnapshotNotFound
from docstow.core.model import Document, Registration, Revision, Snapshot, Source
from docstow.index.cards import Card, make_entry
from docstow.ingest.publish import Reading
from docstow.library.page_sources import MOST_SOURCES
from docstow.runtime import Runtime
from docstow.store.heads import consistently
from library.test_package_cards import asked_of, keep_up, opened


def stow(runtime: Runtime, uri: str, text: str) -> tuple[Registration, Snapshot]:
    """Stow a site of one page."""
    registration, _ = runtime.registry.create("site", uri)
    page = Document(f"{uri}guide", "page", "Guide", text=f"# Guide\n\n{text}\n", url=f"{uri}guide")
    revision = Revision(registration.source, "", origin="site", url=uri)
    reading = Reading(revision, "test/1", [page], (), {"description": text})
    return registration, runtime.publisher.publish(reading).snapshot


def fill(runtime: Runtime, count: int) -> None:
    """Add cards of sites of which there is nothing else."""
    nothing = np.zeros((0, 4), np.float32)
    for begin in range(0, count, 64):
        entries = (
            make_entry(Source("site", f"{n:064x}"), "ab", {}, (), f"https://filler{n}.example/")
            for n in range(begin, min(begin + 64, count))
        )
        runtime.catalog.append(
            [Card(each, "", {}, np.zeros(0, np.float32), nothing) for each in entries]
        )


BOATS = "https://boats.example/docs/"
MILLS = "https://mills.example/docs/"


def stowed(folder: Path, fillers: int) -> dict[str, tuple[Registration, Snapshot]]:
    with opened(folder) as writer:
        made = {
            BOATS: stow(writer, BOATS, "A skiff rows over a lake at night."),
            MILLS: stow(writer, MILLS, "A miller grinds rye into flour."),
        }
        assert keep_up(writer).failed == {}
        fill(writer, fillers)
    return made


def test_a_search_in_what_is_remembered_takes_no_thread(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stowed(tmp_path, 0)
    submitted: list[object] = []
    submit = ThreadPoolExecutor.submit

    def note(pool: ThreadPoolExecutor, *work: Any) -> Any:
        submitted.append(work)
        return submit(pool, *work)

    with opened(tmp_path, freshness_s=3600) as reader:
        monkeypatch.setattr(ThreadPoolExecutor, "submit", note)
        first = reader.prose.search("who grinds rye into flour")
        assert submitted
        submitted.clear()
        assert reader.prose.search("who grinds rye into flour") == first
        assert not submitted
        with consistently():
            assert reader.prose.search("who grinds rye into flour") == first
        assert submitted


@pytest.mark.parametrize("fillers", [10, 300])
def test_a_search_over_everything_lists_nothing(
    tmp_path: Path, fillers: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = stowed(tmp_path, fillers)
    with opened(tmp_path) as reader:
        asked = asked_of(reader, monkeypatch)
        hits, _ = reader.prose.search("who grinds rye into flour")
        assert hits[0].source_id == made[MILLS][0].id
        assert "list" not in asked
        # A registration and a head of each that is looked into, the manifest, segments, tables.
        assert sum(asked.values()) <= 2 * MOST_SOURCES + 25
        asked.clear()
        hits, _ = reader.prose.search("rows over a lake", mode="keyword")
        assert hits[0].source_id == made[BOATS][0].id
        opened_page = reader.prose.document(f"{BOATS}guide")
        assert opened_page.registration == made[BOATS][0]
        page = opened_page.chunks[0]
        assert reader.prose.document(hits[0].document_id).registration == made[BOATS][0]
        assert reader.prose.chunk(hits[0].chunk_id).chunk == page
        _, found = reader.prose.search("rye", snapshot_id=made[MILLS][1].id)
        assert [snapshot for _, snapshot in found] == [made[MILLS][1]]
        with pytest.raises(SnapshotNotFound):
            reader.prose.search("rye", snapshot_id="0" * 64)
        with pytest.raises(DocumentNotFound):
            reader.prose.document("https://nowhere.example/guide")
        assert "list" not in asked


def requests(folder: Path, fillers: int, monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    stowed(folder, fillers)
    with opened(folder) as reader, monkeypatch.context() as patch:
        reader.prose.search("who grinds rye into flour")
        asked = asked_of(reader, patch)
        reader.prose.search("who rows over a lake")
        return asked


def test_a_later_search_asks_for_as_much_however_many_sources_there_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    many = requests(tmp_path / "many", 300, monkeypatch)
    more = requests(tmp_path / "more", 900, monkeypatch)
    assert sum(many.values()) == sum(more.values())
    assert "list" not in many + more


def test_what_is_deleted_or_left_out_does_not_answer(tmp_path: Path) -> None:
    made = stowed(tmp_path, 10)
    with opened(tmp_path) as reader:
        boats, mills = made[BOATS][0], made[MILLS][0]
        _, answered = reader.prose.search("lake", without={boats.id})
        assert [each for each, _ in answered] == [mills]
        with opened(tmp_path) as other:
            other.registry.delete(BOATS)
            left = {each.source.name for each in other.catalog.card_set(fresh=True).entries()}
            assert boats.id not in left
            assert mills.id in left
        _, answered = reader.prose.search("lake")
        assert [each for each, _ in answered] == [mills]


def test_a_store_without_cards_of_all_is_searched_as_a_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with opened(tmp_path) as runtime:
        for number in range(MOST_SOURCES + 2):
            stow(runtime, f"https://place{number}.example/", f"Of the place number {number}.")
        assert runtime.catalog.covering({"site"}) is None
        assert len(runtime.prose.search("place")[1]) == MOST_SOURCES + 2
        keep_up(runtime)
        found: list[Any] = runtime.prose.search("the place number 7")[0]
        assert len(runtime.prose.search("place")[1]) == MOST_SOURCES
        assert "number 7" in found[0].snippet
