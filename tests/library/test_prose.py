"""Prose: what answers for which source and snapshot, whole pages and chunks, and misses."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from docstow.core.errors import DocumentNotFound, SnapshotNotFound, SourceNotFound
from docstow.core.model import CRATE
from docstow.library.prose import Prose
from fictional_docs import PAGES
from prose_store import ProseStore, page

FIRST = page("guide", "# Guide\n\nCast off.\n\n## Ropes\n\nOf hemp.\n\n## Sails\n\nOf linen.\n")
SECOND = page("guide", "# Guide\n\nCast off.\n\n## Ropes\n\nOf nylon.\n\n## Sails\n\nOf linen.\n")
WEB = page("https://x.example/docs/knots", "# Knots\n\nBowline and hitch.\n")


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> ProseStore:
    made = ProseStore(tmp_path_factory.mktemp("prose"))
    made.stow("sailing", [FIRST])
    made.stow("sailing", [SECOND, page("notes/tides", "# Tides\n\nTwice a day.\n")])
    made.stow("https://x.example/docs", [WEB], kind="site")
    made.stow("quayside", [page(path, text) for path, text in PAGES.items()])
    made.registry.create(CRATE, "tokio@1.0.0")
    return made


@pytest.fixture(scope="module")
def prose(store: ProseStore) -> Prose:
    return store.prose


def test_all_sources_answer_or_those_that_are_named(prose: Prose) -> None:
    hits, answered = prose.search("bowline")
    assert hits[0].path == WEB.path
    assert {each.uri for each, _ in answered} == {"sailing", "https://x.example/docs", "quayside"}
    hits, answered = prose.search("bowline", source_ids=["sailing", "sailing"])
    assert [each.uri for each, _ in answered] == ["sailing"]
    assert {hit.source_id for hit in hits} == {answered[0][0].id}


def test_a_kept_snapshot_answers_where_it_is_asked_for(prose: Prose) -> None:
    newest, earlier = prose.snapshots("sailing")
    hits, answered = prose.search("what are ropes made of", snapshot_id=earlier.id)
    assert [snapshot.id for _, snapshot in answered] == [earlier.id]
    assert "Of hemp." in hits[0].snippet
    hits, _ = prose.search("what are ropes made of", source_ids=["sailing"])
    assert "Of nylon." in hits[0].snippet
    assert prose.document("guide", snapshot_id=earlier.id).document == FIRST
    assert prose.document("guide", snapshot_id=newest.id).document == SECOND


@pytest.mark.parametrize("identity", ["", "0", "f" * 64])
def test_a_snapshot_that_is_not_kept_is_said_to_be_none(prose: Prose, identity: str) -> None:
    identity = identity or prose.snapshots("quayside")[0].id
    with pytest.raises(SnapshotNotFound):
        prose.search("rope", source_ids=["sailing"], snapshot_id=identity)


def test_unknown_sources_and_those_without_a_snapshot_are_said(
    store: ProseStore, tmp_path: Path
) -> None:
    with pytest.raises(SourceNotFound):
        store.prose.search("rope", source_ids=["sialing"])
    other = ProseStore(tmp_path)
    assert other.prose.search("rope") == ([], [])
    other.registry.create("collection", "empty")
    assert other.prose.search("rope") == ([], [])
    assert other.prose.search("rope", source_ids=["empty"]) == ([], [])
    other.registry.create("github", "acme/unsynced")
    with pytest.raises(SnapshotNotFound, match="start_sync"):
        other.prose.search("rope", source_ids=["acme/unsynced"])


def test_examples_of_all_sources_are_found(prose: Prose) -> None:
    hits, answered = prose.search_examples("drain a worker", languages=["sh"])
    assert hits[0].code == "quay worker drain worker-7 --timeout 30m"
    assert len(answered) == 3


@pytest.mark.parametrize(
    ("ref", "path"),
    [
        ("https://x.example/docs/knots", WEB.path),
        ("https://X.example:443/docs/knots/#bowline", WEB.path),
        ("notes/tides", "notes/tides"),
        ("./notes/tides", "notes/tides"),
        ("/notes/tides/", "notes/tides"),
    ],
)
def test_pages_are_opened_by_any_spelling_of_their_place(prose: Prose, ref: str, path: str) -> None:
    assert prose.document(ref).document.path == path


def test_a_page_is_opened_with_its_chunks(prose: Prose) -> None:
    hits, _ = prose.search("nylon ropes", limit=1)
    opened = prose.document(hits[0].document_id)
    assert opened.document == SECOND
    assert [each.heading_path for each in opened.chunks] == [
        "Guide",
        "Guide > Ropes",
        "Guide > Sails",
    ]
    assert opened.registration.uri == "sailing"
    assert opened.snapshot == prose.snapshots("sailing")[0]


def test_a_path_of_several_sources_is_none_of_them(tmp_path: Path) -> None:
    store = ProseStore(tmp_path)
    for name in ("one", "two"):
        store.stow(name, [page("README.md", f"# Readme of {name}\n")])
    with pytest.raises(DocumentNotFound, match="Several") as caught:
        store.prose.document("README.md")
    ids = [each["document_id"] for each in caught.value.suggestions]
    assert {store.prose.document(each).registration.uri for each in ids} == {"one", "two"}
    assert store.prose.document("README.md", source="two").document.title == "Readme of two"


@pytest.mark.parametrize("ref", ["notes/tide", "Tide", "tidess", "note/tides"])
def test_near_misses_are_suggested(prose: Prose, ref: str) -> None:
    with pytest.raises(DocumentNotFound) as caught:
        prose.document(ref)
    suggestions = caught.value.suggestions
    assert suggestions[0]["path"] == "notes/tides"
    assert 1 <= len(suggestions) <= 5
    scores = [each["score"] for each in suggestions]
    assert scores == sorted(scores, reverse=True)
    assert all(0.5 <= score <= 1 for score in scores)


def test_a_chunk_has_its_neighbours(prose: Prose) -> None:
    chunks = prose.document("guide").chunks
    found = prose.chunk(chunks[1].id, neighbours=1)
    assert (found.before, found.chunk, found.after) == (chunks[:1], chunks[1], chunks[2:])
    assert found.notice == ""
    first = prose.chunk(chunks[0].id, neighbours=9)
    assert (first.before, first.after) == ([], chunks[1:])
    assert prose.chunk(chunks[0].id).after == []


def test_a_chunk_that_has_gone_is_shown_as_it_stood_and_so_it_is_said(prose: Prose) -> None:
    newest, earlier = prose.snapshots("sailing")
    old = prose.document("guide", snapshot_id=earlier.id).chunks[1]
    found = prose.chunk(old.id)
    assert found.chunk == old
    assert found.snapshot == earlier
    assert "2026-11-21" in found.notice
    with pytest.raises(DocumentNotFound, match="no longer") as caught:
        prose.chunk(old.id, snapshot_id=newest.id)
    assert caught.value.suggestions[0]["path"] == "guide"


def test_every_hit_can_be_opened(prose: Prose) -> None:
    hits, _ = prose.search("job", limit=50)
    assert len(hits) > 20
    for hit in hits:
        found = prose.chunk(hit.chunk_id)
        assert found.chunk.heading_path == hit.heading_path
        assert found.chunk.text in found.document.text
        assert prose.document(hit.document_id).document == found.document


IDS = st.one_of(
    st.text(max_size=40),
    st.from_regex(r"[0-9a-f]{12}\.[0-9a-f]{16}(\.[0-9a-f]{12})?", fullmatch=True),
    st.from_regex(r"https?://[a-z\[\]:.]{1,12}/?[a-z%#]{0,6}", fullmatch=True),
)


@settings(max_examples=100, deadline=None)
@given(ref=IDS)
def test_an_unknown_page_or_chunk_is_said_to_be_none(store: ProseStore, ref: str) -> None:
    with pytest.raises(DocumentNotFound):
        store.prose.document(ref)
    with pytest.raises(DocumentNotFound):
        store.prose.chunk(ref)


@pytest.fixture(scope="module")
def manual(tmp_path_factory: pytest.TempPathFactory) -> Prose:
    """Pages as a site, a folder and a repository of guides have them."""
    made = ProseStore(tmp_path_factory.mktemp("manual"))
    made.stow(
        "https://db.example/docs",
        [page(f"https://db.example/docs/17/sql-{name}.html", f"# {name}\n") for name in COMMANDS],
        kind="site",
    )
    published = "https://www.old.example/manual/"
    made.stow(
        "folder",
        [
            page("html/sql-vacuum.html", "# VACUUM\n", canonical=f"{published}sql-vacuum.html"),
            page("html/index.html", "# Manual\n", canonical=published),
            page("nats-concepts/jetstream/consumers.md", "# Consumers\n"),
            page("nats-concepts/core/consumers.md", "# Core consumers\n"),
            page("Guide/Install/index.md", "# Install\n"),
        ],
    )
    return made.prose


COMMANDS = ("select", "insert", "select-into")


@pytest.mark.parametrize(
    ("ref", "path"),
    [
        ("sql-select", "https://db.example/docs/17/sql-select.html"),
        ("sql-select.html", "https://db.example/docs/17/sql-select.html"),
        ("17/sql-select-into", "https://db.example/docs/17/sql-select-into.html"),
        ("https://db.example/docs/17/sql-insert", "https://db.example/docs/17/sql-insert.html"),
        ("db.example/docs/17/sql-insert/", "https://db.example/docs/17/sql-insert.html"),
        ("http://DB.example/docs/17/sql-insert.html#values", COMMANDS[1]),
        ("https://www.old.example/manual/sql-vacuum.html", "html/sql-vacuum.html"),
        ("www.old.example/manual/sql-vacuum", "html/sql-vacuum.html"),
        ("https://www.old.example/manual/index.html", "html/index.html"),
        ("https://www.old.example/manual", "html/index.html"),
        ("nats-concepts/jetstream/consumers", "nats-concepts/jetstream/consumers.md"),
        ("jetstream/consumers", "nats-concepts/jetstream/consumers.md"),
        (
            "https://docs.nats.example/nats-concepts/jetstream/consumers",
            "nats-concepts/jetstream/consumers.md",
        ),
        ("guide/install", "Guide/Install/index.md"),
        ("/Guide/Install/", "Guide/Install/index.md"),
        ("install", "Guide/Install/index.md"),
        ("Guide/Install.md", "Guide/Install/index.md"),
    ],
)
def test_a_page_is_found_by_every_spelling_of_it(manual: Prose, ref: str, path: str) -> None:
    assert manual.document(ref).document.path.endswith(path if "/" in path else f"{path}.html")


def test_a_tail_of_several_pages_lists_them(manual: Prose) -> None:
    with pytest.raises(DocumentNotFound, match="Several pages") as caught:
        manual.document("consumers")
    paths = {each["path"] for each in caught.value.suggestions}
    assert paths == {f"nats-concepts/{each}/consumers.md" for each in ("core", "jetstream")}


@pytest.mark.parametrize("ref", ["select", "sql", "umers", "ql-select", "https://db.example/17"])
def test_a_part_of_a_name_is_no_tail(manual: Prose, ref: str) -> None:
    with pytest.raises(DocumentNotFound, match="There is no page"):
        manual.document(ref)
