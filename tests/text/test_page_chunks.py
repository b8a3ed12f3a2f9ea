"""Pages as chunks: borders, whole blocks, overlap, and nothing lost."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from docstow.text.chunking import Chunk, split_chunks
from docstow.text.markdown import pieces


def words(text: str) -> int:
    return len(text.split())


PAGE = """\
# Guide

## Setup

Install it first. Then look around.

```sh
make install
make test
```

## Use

- one
- two

  with a paragraph

| a | b |
| - | - |
| 1 | 2 |
"""


def test_sections_are_chunks_and_a_bare_heading_goes_with_the_next() -> None:
    setup = PAGE[: PAGE.index("## Use")].strip()
    use = PAGE[PAGE.index("## Use") :].strip()
    assert split_chunks(PAGE, words) == [
        Chunk("Guide > Setup", setup, words(setup)),
        Chunk("Guide > Use", use, words(use)),
    ]


def test_a_heading_with_a_text_of_its_own_is_a_chunk() -> None:
    found = split_chunks("# A\n\nintro\n\n## B\n\ntext\n\n# C\n\nend\n", words)
    assert [(each.heading_path, each.text) for each in found] == [
        ("A", "# A\n\nintro"),
        ("A > B", "## B\n\ntext"),
        ("C", "# C\n\nend"),
    ]


def test_headings_without_any_text_are_kept() -> None:
    found = split_chunks("# A\n\n## B\n\n## C\n\nlast\n", words)
    assert [(each.heading_path, each.text) for each in found] == [
        ("A > B", "# A\n\n## B"),
        ("A > C", "## C\n\nlast"),
    ]


def test_chunks_of_a_section_overlap_by_whole_sentences() -> None:
    first = "One two three. Four five six. Seven eight nine."
    second = "Ten eleven twelve. Thirteen."
    found = split_chunks(f"{first}\n\n{second}\n", words, target=10, most=20, overlap=6)
    assert [each.text for each in found] == [
        first,
        f"Four five six. Seven eight nine.\n\n{second}",
    ]


def test_a_section_does_not_begin_with_the_words_of_another() -> None:
    found = split_chunks("# A\n\nOne two. Three.\n\n# B\n\nFour.\n", words, target=9, most=20)
    assert [each.text for each in found] == ["# A\n\nOne two. Three.", "# B\n\nFour."]


def test_a_heading_is_not_parted_from_a_long_text() -> None:
    found = split_chunks("# A\n\nOne two three.\n\nFour five.\n", words, target=3, most=9)
    assert [each.text for each in found] == ["# A\n\nOne two three.", "Four five."]


def test_a_code_block_of_one_endless_line_is_cut_between_words() -> None:
    found = split_chunks("```py " + "word " * 30 + "\n```\n", words, target=5, most=8)
    assert max(each.tokens for each in found) <= 8
    assert sum(each.text.count("word") for each in found) == 30


def test_code_that_is_too_long_keeps_its_fence_on_each_part() -> None:
    lines = [f"line {number}" for number in range(10)]
    text = "Before.\n\n````py\n" + "\n".join(lines) + "\n````\n\nAfter.\n"
    before, *parts, after = split_chunks(text, words, target=5, most=8)
    assert (before.text, after.text) == ("Before.", "After.")
    inner = []
    for part in parts:
        opening, *code, closing = part.text.split("\n")
        assert (opening, closing) == ("````py", "````")
        assert part.tokens <= 8
        inner += code
    assert inner == lines


def test_code_in_a_list_stays_whole_where_the_list_is_cut() -> None:
    code = "  ```sh\n  a b c\n  d e f\n  ```"
    items = "\n".join(f"- item {number}\n\n{code}\n" for number in range(6))
    found = split_chunks(items, words, target=10, most=12)
    assert len(found) == 6
    assert all(each.text.endswith(code) for each in found)


def test_a_table_is_cut_between_rows() -> None:
    table = "| a | b |\n| - | - |\n" + "\n".join(f"| r{row} | x |" for row in range(8))
    found = split_chunks(table, words, target=12, most=14)
    assert "\n".join(each.text for each in found) == table
    assert max(each.tokens for each in found) <= 14


def test_an_open_code_block_ends_with_the_page() -> None:
    found = split_chunks("```py\n" + "x = 1\n" * 6, words, target=5, most=8)
    assert [each.text.split("\n")[0] for each in found] == ["```py"] * len(found)
    assert sum(each.text.count("x = 1") for each in found) == 6


@pytest.mark.parametrize("text", ["", "\n\n", "   "])
def test_nothing_gives_nothing(text: str) -> None:
    assert split_chunks(text, words) == []


def test_an_address_that_only_links_use_is_kept() -> None:
    text = "See [it].\n\n[it]: https://example.org/x\n"
    assert [each.text for each in split_chunks(text, words)] == [text.strip()]
    assert [each.text for each in split_chunks("[it]: /x", words)] == ["[it]: /x"]


CHINESE = "本章介绍如何在服务器上安装程序\uff0c请先阅读许可协议。"


def test_scripts_without_spaces_are_cut_between_sentences() -> None:
    found = split_chunks(f"# 安装\n\n{CHINESE * 60}\n", len, target=400, most=800, overlap=60)
    assert len(found) > 3
    assert all(each.tokens <= 400 for each in found)
    assert all(each.text.endswith("。") for each in found)
    assert all(each.text.startswith(("# 安装", "本章")) for each in found)


def test_a_run_without_spaces_or_ends_is_cut() -> None:
    run = "".join(chr(0x4E00 + number) for number in range(3000))
    found = split_chunks(f"{run}\n", len)
    assert "".join(each.text for each in found) == run
    assert all(each.tokens <= 800 for each in found)


# Blocks that pages are made of, each with a word of its own.
def _block(draw: st.DrawFn, number: int) -> str:
    size = draw(st.integers(1, 30))
    kind = draw(st.sampled_from(["heading", "text", "sentences", "code", "list", "table", "quote"]))
    name = f"w{number}"
    if kind == "heading":
        return "#" * draw(st.integers(1, 4)) + f" {name}"
    if kind == "code":
        return "```py\n" + "\n".join(f"{name}c{line} = 1" for line in range(size)) + "\n```"
    if kind == "list":
        return "\n".join(f"- {name}i{item} and more" for item in range(size))
    if kind == "table":
        return "| a | b |\n|---|---|\n" + "\n".join(f"| {name}r{row} | x |" for row in range(size))
    if kind == "quote":
        return "\n".join(f"> {name}q{line} said" for line in range(size))
    if kind == "sentences":
        return "\n".join(f"The {name}s{number} stands here. It ends." for number in range(size))
    return " ".join(f"{name}t{word}" for word in range(size))


@st.composite
def pages(draw: st.DrawFn) -> list[str]:
    return [_block(draw, number) for number in range(draw(st.integers(0, 8)))]


COUNTS: list[Callable[[str], int]] = [words, len, lambda text: len(text.encode()) // 4 + 1]


@settings(max_examples=200, deadline=None)
@given(pages(), st.sampled_from(COUNTS), st.integers(5, 60), st.integers(0, 30))
def test_no_text_is_lost_and_the_limits_hold(
    blocks: list[str], count: Callable[[str], int], target: int, overlap: int
) -> None:
    most = 2 * target
    text = "\n\n".join(blocks)
    found = split_chunks(text, count, target=target, most=most, overlap=overlap)
    assert set(text.split()) <= {word for each in found for word in each.text.split()}
    for each in found:
        assert each.tokens == count(each.text)
        longest = max(map(count, each.text.split()))
        fences = count("```py\n\n```")
        assert each.tokens <= most or longest + fences > most


@settings(max_examples=200, deadline=None)
@given(pages(), st.integers(5, 60))
def test_blocks_that_fit_are_whole(blocks: list[str], target: int) -> None:
    found = split_chunks("\n\nborder\n\n".join(blocks), words, target=target, most=2 * target)
    for block in blocks:
        if words(block) <= 2 * target:
            assert any(block in each.text for each in found)


@settings(max_examples=200, deadline=None)
@given(st.text(alphabet="ab.\n #`-|>*[]()~\t\r=:1é", max_size=300), st.integers(1, 20))
def test_any_text_is_taken(text: str, target: int) -> None:
    found = split_chunks(text, words, target=target, most=2 * target, overlap=target // 2)
    lost = [word for word in text.split() if not any(word in each.text for each in found)]
    assert lost == []


@settings(max_examples=100, deadline=None)
@given(pages(), st.integers(0, 7), st.integers(20, 60))
def test_sections_before_and_after_a_change_stay_as_they_are(
    blocks: list[str], place: int, target: int
) -> None:
    def page(middle: str) -> list[Chunk]:
        parts = ["# First", "one", "# Middle", middle, "# Last", "three"]
        return split_chunks("\n\n".join(parts), words, target=target, most=2 * target)

    changed = "\n\n".join(each for each in blocks if not each.startswith("#"))
    before, after = page("two"), page(changed + "\n\nchanged")
    assert (before[0], before[-1]) == (after[0], after[-1])


@pytest.mark.parametrize(
    "page",
    [
        PAGE,
        "# A\n\nSee [the guide][g].\n\n## B\n\nand [more][g]\n\n[g]: /guide\n",
        "# A\n\ntext\n\n    code\n\n## B\n\n- item\n\n      code in it\n\n## C\n\n```sh\nopen\n",
        "# A\n\n" + "One sentence of many. " * 60 + "\n\n- a\n- b\n\n" + "- item\n" * 80,
    ],
)
@pytest.mark.parametrize("most", [8, 40, 800])
def test_pieces_are_those_of_the_text(page: str, most: int) -> None:
    for chunk in split_chunks(page, words, target=min(most, 400), most=most, overlap=5):
        assert tuple(chunk.pieces()) == pieces(chunk.text)
