"""What other texts say of an item."""

from __future__ import annotations

from pathlib import Path

import pytest

from docstow.core.model import Document, Example
from docstow.index.anchors import FIELDS, anchor_texts
from docstow.index.search import ItemFilters, find_candidates
from docstow.text.chunking import code_blocks
from evaluation.crates import Crates
from growth import growth

SITE = "https://docs.rs/rope/1.0.0/rope"


def said(*documents: Document, aliases: dict[str, str] | None = None) -> dict[str, list[list[str]]]:
    """The texts about each path that has any, one list for each field."""
    examples = [
        Example(row, ordinal, block.language, block.code, block.context)
        for row, document in enumerate(documents)
        for ordinal, block in enumerate(code_blocks(document.text))
    ]
    made = anchor_texts(documents, examples, aliases or {})
    return {
        document.path: [text.split("\n") if text else [] for text in texts]
        for document, texts in zip(documents, made, strict=True)
        if any(texts)
    }


def item(path: str, text: str = "", kind: str = "function") -> Document:
    *owner, title = path.split("::")
    url = f"{SITE}/{kind}.{title}.html"
    return Document(path, kind, title, text=text, url=url, parent="::".join(owner))


def test_a_sentence_describes_what_it_links_to() -> None:
    text = f"Ropes. To join two\nends use [`splice`]({SITE}/function.splice.html). Good luck."
    texts = said(item("rope", text, "module"), item("rope::splice"))
    assert texts == {"rope::splice": [["To join two ends use splice."], [], []]}


def test_the_item_s_own_docs_and_those_of_its_members_say_nothing_of_it() -> None:
    splice = item("rope::Line", f"A line; see [`Line`]({SITE}/struct.Line.html).", "struct")
    member = item("rope::Line::coil", f"Coils this [`Line`]({SITE}/struct.Line.html).", "method")
    assert said(splice, member) == {}


def test_a_sentence_about_more_items_counts_less_and_about_many_nothing() -> None:
    names = [f"knot{chr(97 + number)}_tie" for number in range(9)]
    knots = [item(f"rope::{name}") for name in names]
    few = "Either " + " or ".join(f"`{name}`" for name in names[:3]) + " holds."
    more = "Choose " + ", ".join(f"`{name}`" for name in names[:8]) + " at will."
    many = "There are " + ", ".join(f"`{name}`" for name in names) + "."
    texts = said(item("rope", f"{few}\n\n{more}\n\n{many}", "module"), *knots)
    assert set(texts) == {f"rope::{name}" for name in names[:8]}
    assert [len(each) for each in texts["rope::knota_tie"]] == [0, 1, 1]
    assert [len(each) for each in texts["rope::knoth_tie"]] == [0, 0, 1]
    weights = [weight for weight, _ in FIELDS.values()]
    assert weights == sorted(weights, reverse=True)


@pytest.mark.parametrize(
    ("quoted", "path"),
    [
        ("`Line::coil`", "rope::Line::coil"),
        ("`rope::Line::coil()`", "rope::Line::coil"),
        ("`.uncoil()`", "rope::Line::uncoil"),
        ("`Line::<T>::coil(turns)`", "rope::Line::coil"),
        ("`cord::splice_ends`", "rope::splice_ends"),
        ("`splice_ends`", "rope::splice_ends"),
        ("`coil()`", ""),  # two have that name
        ("`length`", ""),  # a word
        ("`splice_ends + 1`", ""),
        ("`mooring::Line`", ""),
    ],
)
def test_a_quoted_name_means_the_only_item_that_it_can_mean(quoted: str, path: str) -> None:
    page = Document("README", "page", "README", text=f"Neat work is done by {quoted} alone.")
    texts = said(
        page,
        item("rope::Line", kind="struct"),
        item("rope::Line::coil", kind="method"),
        item("rope::Line::length", kind="method"),
        item("rope::Line::uncoil", kind="method"),
        item("rope::Hawser::coil", kind="method"),
        item("rope::splice_ends"),
        aliases={"rope::cord::splice_ends": "rope::splice_ends"},
    )
    assert list(texts) == ([path] if path else [])


def test_a_name_that_several_have_means_the_one_near_by() -> None:
    line = item("rope::Line::slack", "Undone by `coil()`.", "method")
    others = [item("rope::Line::coil", kind="method"), item("rope::Hawser::coil", kind="method")]
    assert list(said(line, *others)) == ["rope::Line::coil"]


def test_a_comment_describes_the_call_below_or_beside_it() -> None:
    text = """Use it like this:

```
let mut line = Line::new(30);
// Lay it in loops
// on the deck.
line.coil();
line.whip_end(); // keeps it from fraying

// Nothing is called here.
let length = 3;
```
"""
    texts = said(
        item("rope", text, "module"),
        item("rope::Line::new", kind="method"),
        item("rope::Line::coil", kind="method"),
        item("rope::Line::whip_end", kind="method"),
    )
    before = "Use it like this:"
    assert texts == {
        "rope::Line::new": [[], [before], []],
        "rope::Line::coil": [["Lay it in loops on the deck."], [before], []],
        "rope::Line::whip_end": [["keeps it from fraying"], [before], []],
    }


def test_what_is_in_a_block_of_code_is_no_prose() -> None:
    text = "A module.\n\n```text\nuse `splice_ends` here\n```\n\n    or `splice_ends` there\n"
    assert said(item("rope", text, "module"), item("rope::splice_ends")) == {}


@pytest.mark.parametrize(
    "unit",
    ["[", "[a", "[a](b", "![a](b", "`", "` `` ", "`a<", "`b` ", "> ", "\n- `b`", "a.", "a<", ").a"],
)
def test_the_cost_of_hostile_texts_grows_with_their_length(unit: str) -> None:
    def read(size: int) -> None:
        text = unit * (25_000 // len(unit) * size) + "](x) `b`"
        document = Document("a", "module", "a", text=text)
        anchor_texts([document], [Example(0, 0, "rust", text, "")], {})

    assert growth(read) < 2


def test_words_of_others_bring_an_item_up(corpus: Path, tmp_path: Path) -> None:
    crates = Crates([corpus], tmp_path)
    index = crates["tokio"]
    found = find_candidates(index, None, "schedule something regularly", ItemFilters())
    row = index.row("tokio::time::interval", "function")
    said = {term: index.anchor_postings(term) for term in ("schedul", "regularli", "regularly")}
    assert any(each is not None and row in each[0] for each in said.values())
    assert row in found.lists["anchor"].tolist()
    assert found.features["anchor"][found.rows.tolist().index(row)] > 0
