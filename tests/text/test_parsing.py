"""The blocks of Markdown, and that hostile text costs no more than its length."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from docstow.text import parsing
from docstow.text.chunking import split_chunks
from docstow.text.markdown import pieces
from docstow.text.parsing import (
    CODE,
    HEADING,
    HTML,
    ITEM,
    LIST,
    PARAGRAPH,
    QUOTE,
    ROW,
    RULE,
    TABLE,
    Block,
    parse,
)

TEXT = """\
# A *title* {#id}

Under
lined
---

* déjà `vu`
  ```rust,no_run
  x
  ```
* > quoted

      indented

***

| a | b |
| - | - |
| 1 |

<div>
x
</div>

~~~
open
"""


def test_blocks_have_their_lines_depths_and_texts() -> None:
    assert parse(TEXT) == (
        Block(HEADING, 0, 1, 0, "A title {#id}", level=1, markup="#"),
        Block(HEADING, 2, 5, 0, "Under lined", level=2),
        Block(LIST, 6, 14, 0),
        Block(ITEM, 6, 10, 1),
        Block(PARAGRAPH, 6, 7, 2, "déjà `vu`"),
        Block(CODE, 7, 10, 2, "x\n", info="rust,no_run", markup="```"),
        Block(ITEM, 10, 14, 1),
        Block(QUOTE, 10, 11, 2),
        Block(PARAGRAPH, 10, 11, 3, "quoted"),
        Block(CODE, 12, 13, 2, "indented\n"),
        Block(RULE, 14, 15, 0),
        Block(TABLE, 16, 19, 0),
        Block(ROW, 16, 17, 1, "a | b"),
        Block(ROW, 18, 19, 1, "1 | "),
        Block(HTML, 20, 23, 0, "<div>\nx\n</div>\n"),
        Block(CODE, 24, 26, 0, "open\n", markup="~~~"),
    )


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a &amp; [b *c*][1]\n\n[1]: File::lock", "a & b c"),
        ("[![badge](u)](v) ![pic `x`](u)", "pic `x`"),
        ("a<br>b<i>c</i> ~~d~~\\\ne", "a bc d e"),
        ("``a`b`` `c`", "``a`b`` `c`"),
        ("lone \ud800 surrogate", "lone ? surrogate"),
    ],
)
def test_text_of_a_line_is_plain(text: str, words: str) -> None:
    assert [each.text for each in parse(text)] == [words]


def test_paragraphs_of_a_list_without_empty_lines_are_tight() -> None:
    tight = [
        (each.text, each.begin, each.tight)
        for each in parse("- *a*\n  b\n  1. c\n\nd")
        if each.text
    ]
    assert tight == [("a b", 0, True), ("c", 2, True), ("d", 4, False)]


def test_a_text_at_which_the_parser_panics_is_one_paragraph(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class PanicException(BaseException):
        pass

    def panic(text: str) -> Iterator[Any]:
        raise PanicException

    monkeypatch.setattr(parsing, "_events", panic)
    assert parse("# never\n\nseen before") == (Block(PARAGRAPH, 0, 3, 0, "# never seen before"),)


def test_ends_of_lines_of_all_systems_give_the_same_blocks() -> None:
    unix = parse(TEXT)
    assert parse(TEXT.replace("\n", "\r\n")) == parse(TEXT.replace("\n", "\r")) == unix


@pytest.mark.parametrize(
    "unit",
    ["[", "](", "![", "*", "_a ", "`", "``a` ", ">", "> - ", "<", "<!--", "|-\n", "\\", "é>"],
)
def test_as_many_blocks_as_a_hostile_text_has_are_read_and_cut(unit: str) -> None:
    text = unit * (50_000 // len(unit))
    found = parse(text)
    assert len(found) <= 2 * len(text)
    counted = 0

    def count(part: str) -> int:
        nonlocal counted
        counted += len(part)
        return len(part)

    chunks = split_chunks(text, count, target=400, most=800, overlap=0)
    assert all(chunk.tokens <= 800 for chunk in chunks)
    # Each level that is entered counts the text once.
    assert counted <= 30 * len(text)


lines = st.lists(
    st.sampled_from(
        [*"ab>*-`~|#<[]() \t\n", "\n", "\n\n", "1. ", "    ", "```", "---", "|-|\n", "[a]: b", "é"]
    ),
    max_size=40,
).map("".join)


plain = st.lists(
    st.sampled_from(
        [
            *(
                "a",
                "é",
                " b c",
                "(d)",
                "1. ",
                ": ",
                "= ",
                "- ",
                "\n",
                "\n",
                "\n\n",
                "`x`",
                "`*y z`",
            ),
            *("*", "*e f*", "[g `h`](u#v)", "[i](https://j.k/l_m_n)", "`", "[", "_", "\t"),
        ]
    ),
    max_size=12,
).map("".join)


def test_plain_paragraphs_are_read_without_the_parser(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parsing, "_events", None)
    assert parse("One [`a`](b)\nis here.\n\n*All of it.*") == (
        Block(PARAGRAPH, 0, 2, 0, "One `a` is here."),
        Block(PARAGRAPH, 3, 4, 0, "All of it."),
    )


@given(plain)
@example("The `a` of b:\nsee [x `c`](https://a.b/c_d_e).\n\n*This needs `F`, `G`.*\n")
def test_plain_paragraphs_are_those_of_the_parser(text: str) -> None:
    quick = parse.__wrapped__(text)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(parsing, "_PLAIN", re.compile(r"(?!)"))
        assert quick == parse.__wrapped__(text)


@given(lines)
def test_blocks_lie_within_the_text_and_in_order(text: str) -> None:
    found = parse(text)
    count = text.count("\n") + 1
    assert all(0 <= each.begin < each.end <= count for each in found)
    assert [each.begin for each in found] == sorted(each.begin for each in found)
    assert all(after.depth <= before.depth + 1 for before, after in pairwise(found))
    assert all(piece.text for piece in pieces(text) if piece.info is None)
