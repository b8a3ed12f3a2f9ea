"""Which items the guides of a package tell of."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from docstow.core.model import Document, Source
from docstow.embedding import bundled
from docstow.index.guide_mentions import find_guide_mentions
from docstow.index.loaded import Index
from docstow.index.profiles import ITEMS
from docstow.index.search import ItemFilters, find_candidates
from docstow.index.tables import tabulate
from growth import growth
from prose_store import indexed, written

LANGUAGE = {"language": "python"}
GUIDE = """# Using it

## GZipMiddleware

Squeezes what goes over the wire, for slow lines.

## Later work

Work that may wait until the answer is out is a `BackgroundTask` of an `Answer`.
"""


def item(path: str, kind: str = "class") -> Document:
    parent, _, title = path.rpartition(".")
    return Document(path, kind, title, parent=parent, attributes=LANGUAGE)


def page(path: str, text: str, **attributes: str) -> Document:
    return Document(path, "page", path, text=text, attributes=LANGUAGE | attributes)


def package(folder: Path, *documents: Document) -> Index:
    found = sorted(documents, key=lambda each: each.path)
    files = written(tabulate(ITEMS, found, [], bundled()).columns, folder)
    (folder / "other").mkdir()
    snapshot = indexed(folder / "other", []).snapshot
    revision = replace(snapshot.revision, source=Source("python", "web", "1.0"))
    return Index(replace(snapshot, revision=revision), files.__getitem__)


def mentioned(index: Index, query: str) -> dict[str, float]:
    similarity = index.matrix @ bundled().embed_query(query)
    paths = index.columns["path"]
    return {str(paths[row]): near for row, near in find_guide_mentions(index, similarity).items()}


def test_an_item_is_found_by_the_part_of_a_guide_that_names_it(tmp_path: Path) -> None:
    items = [item("web.GZipMiddleware"), item("web.BackgroundTask"), item("web.Answer")]
    index = package(tmp_path, *items, page("web/guide", GUIDE))
    squeezed = mentioned(index, "squeeze what goes over slow lines")
    later = mentioned(index, "work that waits until the answer is out")
    assert max(squeezed, key=squeezed.__getitem__) == "web.GZipMiddleware"
    assert later["web.BackgroundTask"] > later.get("web.GZipMiddleware", 0)
    assert later["web.BackgroundTask"] == later["web.Answer"]
    query = "squeeze what goes over slow lines"
    found = find_candidates(index, bundled(), query, ItemFilters())
    row = index.row("web.GZipMiddleware", "class")
    assert found.lists["guide_mention"].tolist()[0] == row
    assert found.features["guide_mention"][found.rows.tolist().index(row)] == pytest.approx(
        squeezed["web.GZipMiddleware"]
    )


def test_changelogs_tell_of_nothing_and_without_vectors_nothing_is_near(tmp_path: Path) -> None:
    changes = page("web/changes", GUIDE, role="changelog")
    index = package(tmp_path, item("web.GZipMiddleware"), changes)
    assert mentioned(index, "squeeze what goes over slow lines") == {}
    assert find_guide_mentions(index, np.zeros(len(index.passages["document"]), np.float32)) == {}


def test_a_dotted_name_means_the_item_of_that_owner_and_a_shared_one_none(tmp_path: Path) -> None:
    owners = [f"web.Crate{letter}" for letter in "abcde"]
    items = [each for owner in owners for each in (item(owner), item(f"{owner}.stow", "method"))]
    text = "Cargo goes below with `Crateb.stow()`."
    index = package(tmp_path, *items, page("web/guide", text), page("web/more", "Use `stow`."))
    assert set(mentioned(index, "cargo goes below")) == {"web.Crateb.stow"}


@pytest.mark.parametrize(
    "unit", ["`a", "[a", "[a](", "a.", "a ", "a", "```", "```a(\n", "@a.", "# a"]
)
def test_the_cost_of_hostile_guides_grows_with_their_length(tmp_path: Path, unit: str) -> None:
    guides = {}
    for size in (1, 4):
        folder = tmp_path / str(size)
        folder.mkdir()
        text = "```\n" + unit * (7500 * size)
        guides[size] = package(folder, item("web.a"), page("web/guide", text))

    def find(size: int) -> None:
        index = guides[size]
        find_guide_mentions(index, np.ones(len(index.passages["document"]), np.float32))

    assert growth(find) < 2
