from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from docstow.core.errors import InvalidParameter, SourceNotFound, StoreError
from docstow.core.model import CRATE, Head, Source, source_id
from docstow.sources.registry import REGISTERED, Registry
from docstow.store.heads import decode_head, encode_head, head_key, point_to
from docstow.store.objects import DirectoryStore, ObjectStore, Stored, open_store
from docstow.store.usage import Pins
from schedules import Memory
from servers.s3 import STORES, Bucket

NOW = datetime(2026, 11, 21, 12, tzinfo=UTC)


@pytest.fixture(params=STORES)
def store(request: pytest.FixtureRequest, tmp_path: Path) -> ObjectStore:
    if request.param == "directory":
        return DirectoryStore(tmp_path)
    there: Bucket = request.getfixturevalue("buckets")(request.param)
    return open_store(there.at(tmp_path.name), endpoint=there.endpoint, region="us-east-1")


@pytest.fixture
def registry(tmp_path: Path) -> Registry:
    return Registry(DirectoryStore(tmp_path))


def test_a_source_is_known_by_its_canonical_uri(store: ObjectStore) -> None:
    registry = Registry(store)
    made, new = registry.create(
        "site", "HTTPS://Docs.Example/guide/", title="  The  guide ", keep=3
    )
    assert new
    assert made.id == source_id("site", "https://docs.example/guide")
    assert (made.uri, made.title, made.keep) == ("https://docs.example/guide", "The guide", 3)
    again, new = registry.create("site", "https://docs.example/guide")
    assert (again, new) == (made, False)
    assert Registry(store).all() == [made]


def test_a_second_create_changes_what_it_gives_and_no_more(registry: Registry) -> None:
    headers = {"Authorization": "Bearer hush"}
    first, _ = registry.create(
        "site", "https://docs.example", options={"max_pages": 7}, headers=headers
    )
    second, _ = registry.create(
        "site", "https://docs.example", title="Docs", options={"max_depth": 1}
    )
    assert (second.title, second.headers) == ("Docs", headers)
    assert second.options["max_depth"] == 1
    assert second.options["max_pages"] != first.options["max_pages"]
    assert second.created_at == first.created_at
    assert "hush" not in repr(second)


@pytest.mark.parametrize("same", [True, False])
def test_of_many_creators_none_loses(store: ObjectStore, same: bool) -> None:
    start = threading.Barrier(8)

    def create(number: int) -> tuple[str, bool]:
        registry = Registry(store)
        start.wait()
        made, new = registry.create("collection", "one" if same else f"number {number}")
        return made.id, new

    with ThreadPoolExecutor(8) as pool:
        made = list(pool.map(create, range(8)))
    kept = {each.id for each in Registry(store).all()}
    assert kept == {identity for identity, _ in made}
    assert (len(kept), sum(new for _, new in made)) == ((1, 1) if same else (8, 8))


def test_concurrent_updates_of_different_fields_all_last(
    registry: Registry, tmp_path: Path
) -> None:
    registry.create("site", "https://docs.example")
    changes = [
        {"title": "Docs"},
        {"keep": 9},
        {"headers": {"X-Token": "a"}},
        {"options": {"max_pages": 3}},
    ]
    start = threading.Barrier(len(changes))

    def change(fields: dict[str, object]) -> None:
        other = Registry(DirectoryStore(tmp_path))
        start.wait()
        other.create("site", "https://docs.example", **fields)  # type: ignore[arg-type]

    with ThreadPoolExecutor(len(changes)) as pool:
        list(pool.map(change, changes))
    (made,) = registry.all()
    assert (made.title, made.keep, made.headers) == ("Docs", 9, {"X-Token": "a"})
    assert made.options["max_pages"] == 3


def test_a_source_is_found_by_all_its_names(registry: Registry) -> None:
    made, _ = registry.create("github", "Stowage/Ships@main", title="Ships' papers")
    registry.create("collection", "notes")
    for ref in (
        made.id,
        made.id[:6],
        made.uri,
        "https://github.com/stowage/ships/tree/main",
        "ships' PAPERS",
    ):
        assert registry.get(ref) == made, ref


def test_a_miss_names_what_is_near(registry: Registry) -> None:
    made, _ = registry.create("collection", "harbour notes")
    registry.create("collection", "zebras")
    with pytest.raises(SourceNotFound) as error:
        registry.get("harbor note")
    (near,) = error.value.suggestions
    assert (near["id"], near["title"]) == (made.id, "harbour notes")
    assert 0.4 <= near["score"] < 1
    with pytest.raises(SourceNotFound):
        registry.get(made.id[:5])


def test_of_several_of_one_title_none_is_guessed(registry: Registry) -> None:
    ids = {registry.create("collection", name, title="Notes")[0].id for name in ("a", "b")}
    with pytest.raises(SourceNotFound) as error:
        registry.get("notes")
    assert {each["id"] for each in error.value.suggestions} == ids


def test_a_deleted_source_is_gone_until_it_is_added_again(store: ObjectStore) -> None:
    registry = Registry(store)
    made, _ = registry.create("collection", "notes", title="Mine")
    store.create(head_key(made.source), encode_head(Head(made.source, "5" * 64, 4, NOW)))
    assert registry.delete("mine") == made
    assert registry.all() == []
    for ref in ("notes", made.id):
        with pytest.raises(SourceNotFound):
            registry.get(ref)
    (tombstone,) = registry.deleted()
    assert tombstone.registration == made
    stored = store.get(head_key(made.source))
    assert stored is not None
    head = decode_head(stored.body, head_key(made.source))
    assert (head.snapshot_id, head.generation, head.earlier) == ("", 5, ("5" * 64,))
    again, new = registry.create("collection", "notes")
    assert (again.id, again.title, new) == (made.id, "notes", True)
    assert registry.all() == [again]


def test_deleting_what_was_never_synced_fences_off_a_sync_under_way(
    registry: Registry, tmp_path: Path
) -> None:
    made, _ = registry.create("collection", "notes")
    registry.delete("notes")
    stored = DirectoryStore(tmp_path).get(head_key(made.source))
    assert stored is not None
    assert decode_head(stored.body, head_key(made.source)).generation == 1


def test_a_registered_crate_is_pinned_and_a_deleted_one_no_more(
    registry: Registry, tmp_path: Path
) -> None:
    pins = Pins(DirectoryStore(tmp_path))
    made, _ = registry.create(CRATE, "serde@1.0.200")
    assert pins.pinned() == {Source(CRATE, "serde", "1.0.200"): REGISTERED}
    registry.delete(made.uri)
    assert pins.pinned() == {}


def test_a_list_in_memory_shows_own_changes_at_once(tmp_path: Path) -> None:
    now = [0.0]
    store = DirectoryStore(tmp_path)
    mine = Registry(store, freshness_s=5, clock=lambda: now[0])
    theirs = Registry(store)
    mine.create("collection", "a")
    assert [each.title for each in mine.all()] == ["a"]
    theirs.create("collection", "b")
    assert [each.title for each in mine.all()] == ["a"]
    assert mine.get("b").title == "b"
    now[0] = 5
    assert [each.title for each in mine.all()] == ["a", "b"]
    mine.delete("a")
    assert [each.title for each in mine.all()] == ["b"]


@pytest.mark.parametrize(
    ("kind", "uri", "fields"),
    [
        ("wiki", "x", {}),
        ("collection", "  ", {}),
        ("collection", "a\nb", {}),
        ("collection", "a", {"options": {"max_pages": 1}}),
        ("collection", "a", {"keep": 0}),
        ("collection", "a", {"title": "t" * 201}),
        ("site", "https://docs.example", {"headers": {"A B": "c"}}),
        ("site", "https://docs.example", {"headers": {"A": "hush\r\nB: c"}}),
        ("site", "https://docs.example", {"headers": {"A": "h\u00fcsh"}}),
        ("site", "ftp://docs.example", {}),
        (CRATE, "serde", {}),
        (CRATE, "serde@latest", {}),
        (CRATE, "../x@1.0.0", {}),
    ],
)
def test_bad_input_is_refused_and_leaves_nothing(
    registry: Registry, kind: str, uri: str, fields: dict[str, object]
) -> None:
    with pytest.raises(InvalidParameter) as error:
        registry.create(kind, uri, **fields)  # type: ignore[arg-type]
    assert "hush" not in str(error.value)
    assert registry.all() == []


def test_a_damaged_record_says_which(registry: Registry, tmp_path: Path) -> None:
    made, _ = registry.create("collection", "a")
    (tmp_path / "sources" / f"{made.id}.json").write_text("{")
    with pytest.raises(StoreError, match=made.id):
        registry.all()


IDS = st.sampled_from(["", "a", "b", "c", "d"])


@given(st.lists(st.tuples(IDS, st.integers(1, 4)), max_size=12))
@hypothesis_settings(max_examples=200)
def test_a_head_names_the_last_that_answered_each_once(moves: list[tuple[str, int]]) -> None:
    source = Source("collection", "x")
    head = Head(source, "", 0, NOW)
    for number, (identity, keep) in enumerate(moves, 1):
        before = [each for each in (head.snapshot_id, *head.earlier) if each]
        head = point_to(head, identity, keep)
        assert (head.snapshot_id, head.generation) == (identity, number)
        assert list(head.earlier) == [each for each in before if each != identity][: keep - 1]
        assert decode_head(encode_head(head), head_key(head.source)) == head


class Counted(Memory):
    """A store that counts what is read."""

    def __init__(self) -> None:
        super().__init__()
        self.read: list[str] = []

    def get(self, key: str) -> Stored | None:
        self.read.append(key)
        return super().get(key)


@pytest.mark.parametrize("many", [10, 300])
def test_a_list_reads_the_records_that_have_changed(many: int) -> None:
    store = Counted()
    ours, theirs = Registry(store), Registry(store)
    made = [theirs.create("collection", f"notes-{n:03}")[0] for n in range(many)]

    def listed() -> tuple[list[str], int]:
        store.read.clear()
        titles = [each.title for each in ours.all()]
        return titles, len([key for key in store.read if key.startswith("sources/")])

    names = [f"notes-{n:03}" for n in range(many)]
    assert listed() == (names, many)
    assert listed() == (names, 0)
    theirs.create("collection", "notes-003", title="zebra")
    theirs.create("collection", "more")
    theirs.delete(made[5].id)
    expected = sorted({*names, "zebra", "more"} - {"notes-003", "notes-005"})
    assert listed() == (expected, 3)
    assert listed() == (expected, 0)
    assert [record.registration.id for record in ours.deleted()] == [made[5].id]
