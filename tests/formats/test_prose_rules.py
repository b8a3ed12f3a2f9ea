"""What holds for every format: what must survive, what may be raised, how long it may take."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from docstow.core.errors import UnreadableInput
from prose_texts import (
    fence,
    in_adoc,
    in_markdown,
    in_mdx,
    in_notebook,
    in_rst,
    page,
    pdf,
)

WORD = st.from_regex(r"[A-Z][a-z]{2,8}", fullmatch=True)
HEADINGS = st.lists(WORD, min_size=1, max_size=4).map(" ".join)
LINE = st.text(st.characters(min_codepoint=33, max_codepoint=126, exclude_characters="`~"))
CODE = st.lists(LINE | LINE.map(lambda line: f"    {line}"), min_size=1, max_size=5).map(
    lambda lines: "\n".join(["start()", *(line.rstrip() for line in lines), "end()"])
)
SECTIONS = st.lists(
    st.tuples(HEADINGS, st.sampled_from(["python", "c++", "rust", "js"]), CODE), max_size=4
)
FORMATS = ["md", "mdx", "rst", "adoc", "ipynb", "txt"]


@pytest.mark.parametrize(
    ("suffix", "write"),
    [
        ("md", in_markdown),
        ("mdx", in_mdx),
        ("rst", in_rst),
        ("adoc", in_adoc),
        ("ipynb", in_notebook),
    ],
)
@given(title=HEADINGS, sections=SECTIONS)
@settings(max_examples=100, deadline=None)
def test_title_headings_and_code_survive(
    suffix: str,
    write: Callable[[str, list[tuple[str, str, str]]], str],
    title: str,
    sections: list[tuple[str, str, str]],
) -> None:
    read = page(suffix, write(title, sections))
    assert read.title == title
    assert read.text.startswith(f"# {title}")
    place = 0
    for heading, language, code in sections:
        named = "python" if suffix == "ipynb" else language
        place = read.text.index(f"\n## {heading}\n", place)
        place = read.text.index(fence(named, code), place)


@pytest.mark.parametrize("suffix", [*FORMATS, "pdf"])
@given(body=st.binary(max_size=300) | st.text(max_size=300).map(str.encode))
@settings(max_examples=100, deadline=None)
def test_any_bytes_are_read_or_unreadable(suffix: str, body: bytes) -> None:
    try:
        read = page(suffix, body)
    except UnreadableInput:
        return
    assert read.title


@pytest.mark.parametrize("suffix", FORMATS)
@given(text=st.text("[]()<>{}`*_#:=!|-.~>\n\t\\ a1\"'/", max_size=200))
@settings(max_examples=100, deadline=None)
def test_any_markup_is_read(suffix: str, text: str) -> None:
    try:
        assert page(suffix, text).title
    except UnreadableInput:
        assert suffix == "ipynb"


BAITS = {
    "brackets": "[" * 100_000,
    "links": "[[a](b)" * 20_000,
    "tags": "<A{" * 30_000,
    "attributes": '<a b="' * 20_000,
    "quotes": ("> " * 200 + "\n") * 300,
    "nested admonitions": "".join("    " * n + "!!! note\n" for n in range(300)),
    "containers": ":::note\n" * 10_000 + ":::",
    "admonition's end": "!!! note" + " " * 50_000 + 'x"',
    "heading's end": "= a" + " " * 50_000 + "x",
    "imports": "import {\n" * 10_000,
    "emphasis": "*a " * 30_000,
    "items": "* " * 50_000,
    "nested items": "".join("  " * n + "- a\n" for n in range(300)),
    "references": f"[a]: http://x/{'y' * 1900}\n\n" + "[a] " * 30_000,
    "roles": ":a:`b` " * 15_000,
    "directives": "".join(f".. d{n}::\n\n" for n in range(3000)),
    "comments": "<!--\n" * 20_000,
    "tables": "<table>\n" * 10_000,
    "hidden tags": '<b style="font-size:0">' * 15_000,
    "tags never closed": "<i title=hidden>" * 20_000,
    "joiners": "a\u200d\ufe0f" * 50_000,
    "json": '{"a":' * 30_000,
    "substitutions": "".join(f".. |s{n}| replace:: |s{n + 1}| |s{n + 1}|\n" for n in range(60))
    + ".. |s60| replace:: x\n\n|s0|",
}


@pytest.mark.parametrize("bait", BAITS)
def test_time_and_size_stay_bounded(bait: str) -> None:
    for suffix in FORMATS:
        began = time.process_time()
        try:
            size = len(page(suffix, BAITS[bait]).text)
        except UnreadableInput:
            size = 0
        assert time.process_time() - began < 4, suffix
        assert size < 3 * 1024 * 1024


def test_pages_of_pdf_have_headings() -> None:
    read = page("pdf", pdf(["Hello there", "Good bye"], "A Manual"))
    assert read.title == "A Manual"
    assert read.text == "## Page 1\n\nHello there\n\n## Page 2\n\nGood bye"


def test_a_broken_pdf_is_unreadable() -> None:
    with pytest.raises(UnreadableInput, match="damaged"):
        page("pdf", pdf(["Hello"])[:200])
