"""Long Markdown in pages that together are the whole."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from docstow.text.paging import Part, count_lines, part

CODE = "\n".join(f"    call({number})" for number in range(400))
LONG = f"# api.py\n\n400 lines\n\n```python\n{CODE}\n```\n"


def parts_of(text: str, limit: int) -> list[tuple[int, Part]]:
    found = []
    begin: int | None = 0
    while begin is not None:
        found.append((begin, part(text, begin, limit)))
        begin = found[-1][1].following
    return found


def test_a_text_that_fits_is_left_alone() -> None:
    assert part(LONG, 0, len(LONG)) == Part(LONG, None, 1, count_lines(LONG))


def test_a_fence_longer_than_a_page_is_cut_at_a_line_closed_and_opened_again() -> None:
    found = parts_of(LONG, 1000)
    first, second = found[0][1], found[1][1]
    assert first.text.startswith("# api.py\n\n400 lines\n\n```python\n    call(0)\n")
    assert first.text.endswith(")\n```\n")
    assert len(first.text) > 950
    assert second.text.startswith("```python\n    call(")
    assert second.first == first.last + 1
    assert found[-1][1].last == count_lines(LONG)
    shown = "".join(re.sub(r"```\w*\n", "", each.text) for _, each in found)
    assert shown == re.sub(r"```\w*\n", "", LONG)


def test_a_block_that_fits_on_a_page_is_kept_whole() -> None:
    code = "```rust\n" + "let x = 1;\n" * 60 + "```\n"
    text = "Word. " * 30 + "\n\n" + code + "\nMore.\n"
    assert part(text, 0, 700).text == "Word. " * 30 + "\n\n"
    assert part(text, 182, 700).text == code + "\nMore.\n"


def test_a_heading_stays_with_what_follows_it() -> None:
    text = "Word. " * 40 + "\n\n## Next\n\n" + "Word. " * 40 + "\n"
    assert part(text, 0, 400).text == "Word. " * 40 + "\n\n"


def test_a_line_longer_than_a_page_is_cut_anywhere() -> None:
    text = "```js\n" + "x=1;" * 300 + "\n```\n"
    found = parts_of(text, 400)
    assert [(each.first, each.last) for _, each in found] == [(1, 2), (2, 2), (2, 2), (2, 3)]
    assert all(each.text.startswith("```js\n") for _, each in found)
    shown = "".join(each.text.removeprefix("```js\n").split("\n")[0] for _, each in found)
    assert shown == "x=1;" * 300


def test_a_fence_in_a_fence_does_not_end_it() -> None:
    text = "````md\n" + ("```\nx\n```\n" * 60) + "````\n"
    for _, each in parts_of(text, 200):
        assert each.text.startswith("````md\n")
        assert each.text.endswith("````\n")


def test_a_fence_in_a_list_is_opened_again_at_its_indent() -> None:
    text = "- ```sh\n" + "  run it\n" * 60 + "  ```\n"
    assert part(text, 0, 200).text.endswith("  run it\n  ```\n")
    following = part(text, 0, 200).following
    assert following is not None
    assert part(text, following, 200).text.startswith("  ```sh\n  run it\n")


BLOCKS = st.sampled_from(
    [
        "word " * 30,
        "```rust\nlet a = 1;\n\nlet b = 2;\n```",
        "- x\n- y",
        "# Title",
        "~~~text\n" + "```\n" * 70 + "~~~",
        "> ```py\n" + "> call()\n" * 40 + "> ```",
        "`````\n" + "z" * 700 + "\n`````",
        "| a | b |\n" * 50,
        "\n\n\n",
    ]
)


@given(st.lists(BLOCKS, min_size=1, max_size=30), st.integers(100, 800))
def test_parts_are_the_whole_and_fit(blocks: list[str], limit: int) -> None:
    text = "\n\n".join(blocks)
    line = 1
    for begin, each in parts_of(text, limit):
        end = len(text) if each.following is None else each.following
        assert end > begin or not text
        assert text[begin:end] in each.text
        added = each.text.replace(text[begin:end], "", 1)
        assert re.fullmatch(r"(?:[ >]*(?:`{3,5}|~{3})\w*\n|\n)*", added)
        assert len(each.text) <= limit
        assert line - 1 <= each.first <= line
        line = each.last + 1
    assert line == count_lines(text) + 1
