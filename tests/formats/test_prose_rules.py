"""What holds for every format: what must survive, what may be raised, how long it may take."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from docutils.parsers.rst import Parser
from hypothesis import given, settings
from hypothesis import strategies as st

from docstow.core.errors import UnreadableInput
from growth import growth
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


#: Of a size that is given: hostile texts, the same at four times the length.
BAITS: dict[str, Callable[[int], str]] = {
    "brackets": lambda size: "[" * (25_000 * size),
    "links": lambda size: "[[a](b)" * (5000 * size),
    "tags": lambda size: "<A{" * (7500 * size),
    "attributes": lambda size: '<a b="' * (5000 * size),
    "quotes": lambda size: ("> " * 200 + "\n") * (75 * size),
    "nested admonitions": lambda size: "".join(
        "    " * (n % 300) + "!!! note\n" for n in range(300 * size)
    ),
    "containers": lambda size: ":::note\n" * (2500 * size) + ":::",
    "admonition's end": lambda size: "!!! note" + " " * (12_500 * size) + 'x"',
    "heading's end": lambda size: "= a" + " " * (12_500 * size) + "x",
    "imports": lambda size: "import {\n" * (2500 * size),
    "emphasis": lambda size: "*a " * (7500 * size),
    "items": lambda size: "* " * (12_500 * size),
    "nested items": lambda size: "".join("  " * (n % 300) + "- a\n" for n in range(300 * size)),
    "references": lambda size: f"[a]: http://x/{'y' * 1900}\n\n" + "[a] " * (7500 * size),
    "roles": lambda size: ":a:`b` " * (3750 * size),
    "directives": lambda size: "".join(f".. d{n}::\n\n" for n in range(750 * size)),
    "comments": lambda size: "<!--\n" * (5000 * size),
    "tables": lambda size: "<table>\n" * (2500 * size),
    "hidden tags": lambda size: '<b style="font-size:0">' * (3750 * size),
    "tags never closed": lambda size: "<i title=hidden>" * (5000 * size),
    "joiners": lambda size: "a\u200d\ufe0f" * (12_500 * size),
    "json": lambda size: '{"a":' * (7500 * size),
    "substitutions": lambda size: (
        "".join(f".. |s{n}| replace:: |s{n + 1}| |s{n + 1}|\n" for n in range(15 * size))
        + f".. |s{15 * size}| replace:: x\n\n|s0|"
    ),
}


@pytest.mark.parametrize("bait", BAITS)
@pytest.mark.parametrize("suffix", FORMATS)
def test_cost_and_size_grow_with_the_length(bait: str, suffix: str) -> None:
    def read(size: int) -> int:
        try:
            return len(page(suffix, BAITS[bait](size)).text)
        except UnreadableInput:
            return 0

    assert read(4) < 3 * 1024 * 1024
    assert growth(read) < 2


def test_pages_of_pdf_have_headings() -> None:
    read = page("pdf", pdf(["Hello there", "Good bye"], "A Manual"))
    assert read.title == "A Manual"
    assert read.text == "## Page 1\n\nHello there\n\n## Page 2\n\nGood bye"


def test_a_broken_pdf_is_unreadable() -> None:
    with pytest.raises(UnreadableInput, match="damaged"):
        page("pdf", pdf(["Hello"])[:200])


DEAR = {
    "lists": "='warning'>\n\n- a\n\n```",
    "fields": ":a: b\n\nc\n\n",
    "targets": ".. _a: b\n\n",
    "nested items": "- a\n\n  - b\n\n",
    "tables": "= =\na b\n= =\n\n",
}


@pytest.mark.parametrize("unit", DEAR.values(), ids=DEAR)
def test_structure_that_its_length_does_not_pay_for_is_read_as_plain_text(
    unit: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    parsed: list[str] = []
    monkeypatch.setattr(Parser, "parse", lambda _self, text, _document: parsed.append(text))
    read = page("rst", unit * 3000)
    assert not parsed
    assert read.text.count(unit.split()[0]) >= 3000
    page("rst", unit)
    assert parsed == [unit]


def test_long_rules_of_a_table_are_no_nesting() -> None:
    rule = "-" * 40
    table = f"+{rule}+{rule}+\n|{'Name':40}|{'Meaning':40}|\n+{rule}+{rule}+\n\n{rule * 2}\n\nNow"
    assert "| Name | Meaning |" in page("rst", table).text
