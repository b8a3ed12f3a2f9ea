"""Contents pages stand below what they lead to."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from docstow.embedding import bundled
from docstow.index.contents import find_lists, order_contents, unpack_lists
from docstow.index.search_pages import Mode, search_pages
from prose_store import indexed, page

DECK = "https://deck.test"
LISTED = ("bells", "ropes", "sails")
CONTENTS = "# Ropes, sails and bells\n\n" + "".join(
    f"- [{name.title()}: how they are hauled, hung and handled]({DECK}/{name}#top)\n"
    for name in LISTED
)
PAGES = [
    replace(page(path, text), url=f"{DECK}/{path}")
    for path, text in sorted(
        {
            "bells": "# Bells\n\nThey are hung in the dome. See [ropes](https://deck.test/ropes).",
            "contents": CONTENTS,
            "ropes": "# Ropes\n\nKeep them dry. All are hauled by hand, and hung up with the sun.",
            "sails": "# Sails\n\nOf linen, in the locker.",
        }.items()
    )
]


def test_pages_that_are_mostly_links_list_others() -> None:
    assert unpack_lists(find_lists(PAGES)) == {1: {0, 2, 3}}
    pictures = f"# A\n\n![{'words ' * 30}]({DECK}/ropes)\n"
    assert find_lists([replace(page("a", pictures), url=f"{DECK}/a"), *PAGES])[0] == b""


@pytest.mark.parametrize(
    ("pages", "order"),
    [
        ([1, 2, 3, 4], [0, 1, 2, 3]),
        ([9, 2, 3, 4], [1, 0, 2, 3]),
        ([9, 4, 2, 3], [1, 2, 0, 3]),
        ([9, 1, 1, 1, 1, 1, 1, 1, 1, 1, 2], list(range(11))),  # that is not among the first
        ([9, 9, 4, 2], [2, 3, 0, 1]),
        ([8, 9, 2, 3], [2, 0, 1, 3]),  # 8 lists 9, which lists others, and 2
        ([2, 9, 3], [0, 2, 1]),
        ([], []),
    ],
)
def test_a_contents_page_goes_below_the_first_page_that_it_lists(
    pages: list[int], order: list[int]
) -> None:
    lists = {9: frozenset({2, 3}), 8: frozenset({9, 2})}
    assert order_contents(pages, lists) == order


@pytest.mark.parametrize("mode", ["hybrid", "vector", "keyword"])
def test_a_search_lists_what_is_listed_first(tmp_path: Path, mode: Mode) -> None:
    index = indexed(tmp_path, PAGES)
    query = "how ropes are hauled and handled"
    hits = search_pages([index], bundled(), query, limit=4, mode=mode)
    found = [hit.path for hit in hits]
    index.__dict__["lists"] = {}
    former = search_pages([index], bundled(), query, limit=4, mode=mode)
    assert former[0].path == "contents"
    assert found.index("contents") > found.index("ropes")
    assert sorted(found) == sorted(hit.path for hit in former)
    scores = [hit.score for hit in hits]
    assert scores == sorted(scores, reverse=True)
