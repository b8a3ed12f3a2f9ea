"""Copies among chunks, and what hits show of chunks, as they are stowed and as they are read."""

from __future__ import annotations

from dataclasses import replace

import pytest

from docstow.core.model import Document, Snapshot
from docstow.embedding import bundled
from docstow.index.copies import ChunkText, find_originals
from docstow.index.loaded import Index
from docstow.index.search_pages import search_pages
from prose_store import ProseStore, page

HEMP = (
    "Ropes of hemp are laid from three strands, which are twisted against each other so that"
    " they hold. Keep them dry, and turn the coil with the sun."
)
OTHER = "A bell is struck each half hour of the watch, and eight times when the watch is over."


def chunk(path: str, text: str, *, size: int = 1, heading: str = "ropes") -> ChunkText:
    return ChunkText(path, path, size, heading, len(text.split()), text)


@pytest.mark.parametrize(
    ("chunks", "originals"),
    [
        ([chunk("a", HEMP), chunk("b", OTHER)], [0, 1]),
        ([chunk("all", HEMP, size=9), chunk("ropes", HEMP, size=4)], [1, 1]),
        ([chunk("ropes", HEMP), chunk("b", HEMP.replace("dry", "clean"))], [1, 1]),
        ([chunk("a", HEMP), chunk("b", HEMP, heading="bells")], [0, 1]),
        ([chunk("a", HEMP), chunk("a", HEMP)], [0, 1]),
        ([chunk("a", "Keep dry."), chunk("b", "Keep dry.")], [0, 1]),
        # Of editions the newest is the original though it says more, and one without a number.
        ([chunk("1.9/a", HEMP, size=3), chunk("1.10/a", HEMP, size=4)], [1, 1]),
        ([chunk("v2/a", HEMP), chunk("v10/a", HEMP), chunk("latest/a", HEMP)], [2, 2, 2]),
    ],
)
def test_of_copies_one_is_the_original(chunks: list[ChunkText], originals: list[int]) -> None:
    assert find_originals(chunks).tolist() == originals


def test_chunks_that_share_much_are_no_copies() -> None:
    shared = " ".join(f"word{number}" for number in range(30))
    texts = [f"{shared} {' '.join(f'{name}{n}' for n in range(12))}" for name in "abc"]
    chunks = [chunk(text[-2:], text) for text in texts]
    assert find_originals(chunks).tolist() == [0, 1, 2]


@pytest.fixture(scope="module")
def stowed(tmp_path_factory: pytest.TempPathFactory) -> tuple[Index, Snapshot, ProseStore]:
    text = f"# Ropes\n\n## Hemp\n\n{HEMP}\n\n" + "\n\n".join(
        f"Coil {number} hangs on the hook of its number, and nobody moves it."
        for number in range(9)
    )
    anchors = {"anchors": ["ropes", "of hemp"]}
    anchored = replace(page("ropes", text), url="https://deck.test/ropes", attributes=anchors)
    documents: list[Document] = [anchored, page("bells", f"# Bells\n\n{OTHER}")]
    store = ProseStore(tmp_path_factory.mktemp("shown"))
    _, snapshot = store.stow("deck", documents)
    return store.prose.index(snapshot), snapshot, store


def test_what_is_kept_of_a_chunk_is_what_it_shows(
    stowed: tuple[Index, Snapshot, ProseStore],
) -> None:
    index, snapshot, _ = stowed
    # A snapshot of an earlier layout keeps nothing, and it is worked out at each hit.
    recipe = replace(snapshot.recipe, layout="pages/1")
    earlier = Index(replace(snapshot, recipe=recipe), index._file)
    assert not earlier.shown
    assert index.shown
    assert earlier.originals.tolist() == list(range(len(index.originals)))
    found = [
        search_pages([each], bundled(), "coil on a hook", limit=3) for each in (index, earlier)
    ]
    assert found[0] == found[1]
    (hit, *_) = found[0]
    assert hit.snippet
    assert hit.url == "https://deck.test/ropes#of%20hemp"
    for row in range(len(index.originals)):
        kept, made = index.shown_chunk(row), earlier.shown_chunk(row)
        assert (kept.plain, kept.fragment) == (made.plain, made.fragment)
        assert kept.windows.tolist() == made.windows.tolist()
