"""What a browser does not show is no text, in HTML and in the HTML of other formats."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from docstow.formats.hidden import drop_hidden
from prose_texts import page

HIDDEN = {
    "display": '<p style="color: red; display : none">Gone</p>',
    "visibility": "<div style='visibility:hidden'>Gone</div>",
    "attribute": "<section hidden>Gone</section>",
    "from accessibility": '<span aria-hidden="true">Gone</span>',
    "no size": '<span style="font-size:0px">Gone</span>',
    "white on white": '<span style="color:#FFFFFF">Gone</span>',
    "white on its own white": '<b style="color: rgb(255, 255, 255); background: white">Gone</b>',
    "black on black": '<p style="background-color:black;color:black">Gone</p>',
    "font": '<font color="white">Gone</font>',
    "left of the screen": '<p style="position:absolute; left:-9999px">Gone</p>',
    "indented away": '<p style="text-indent:-9999px">Gone</p>',
    "clipped": '<span style="position:absolute;clip:rect(0 0 0 0)">Gone</span>',
    "clip path": '<span style="clip-path: inset(50%)">Gone</span>',
    "no height": '<div style="height:0;overflow:hidden">Gone</div>',
    "nested": '<div style="display:none"><div>Gone</div> Gone</div>',
    "heading": '<h2 style="display:none">Gone</h2>',
    "table": "<table hidden><tr><td>Gone</td></tr></table>",
}
SHOWN = {
    "white on blue": '<p style="background:#00f;color:white">Stays</p>',
    "below blue": '<div style="background:#00f"><b style="color:white">Stays</b></div>',
    "a class of its own": '<b class="badge" style="color:white">Stays</b>',
    "closed white space": '<div style="font-size:0"><b style="font-size:12px">Stays</b></div>',
    "details": "<details><summary>More</summary>Stays</details>",
    "small": '<p style="font-size:0.8em; left:-5px; position:absolute">Stays</p>',
    "not from accessibility": '<p aria-hidden="false">Stays</p>',
}


def in_html(markup: str) -> str:
    return (
        f"<html><body><main><h1>Title</h1><p>Before.</p>{markup}<p>After.</p></main></body></html>"
    )


def in_notebook(markup: str) -> str:
    source = f"# Title\n\nBefore.\n\n{markup}\n\nAfter."
    return json.dumps({"nbformat": 4, "cells": [{"cell_type": "markdown", "source": source}]})


WRITTEN: dict[str, Callable[[str], str]] = {
    "html": in_html,
    "md": lambda markup: f"# Title\n\nBefore.\n\n{markup}\n\nAfter.\n",
    "mdx": lambda markup: f"# Title\n\nBefore.\n\n{markup}\n\nAfter.\n",
    "ipynb": in_notebook,
    "adoc": lambda markup: f"= Title\n\nBefore.\n\n++++\n{markup}\n++++\n\nAfter.\n",
}


@pytest.mark.parametrize("suffix", WRITTEN)
@pytest.mark.parametrize("way", HIDDEN)
def test_what_is_not_shown_is_no_text(suffix: str, way: str) -> None:
    text = page(suffix, WRITTEN[suffix](HIDDEN[way])).text
    assert "Gone" not in text
    assert text.index("Before.") < text.index("After.")


@pytest.mark.parametrize("suffix", WRITTEN)
@pytest.mark.parametrize("way", SHOWN)
def test_what_is_shown_stays(suffix: str, way: str) -> None:
    assert "Stays" in page(suffix, WRITTEN[suffix](SHOWN[way])).text


def test_raw_html_of_restructured_text_is_no_text() -> None:
    source = "Title\n=====\n\nBefore.\n\n.. raw:: html\n\n   <p hidden>Gone</p>\n\nAfter.\n"
    text = page("rst", source).text
    assert "Gone" not in text
    assert "After." in text


def test_inline_html_of_asciidoc_is_looked_at() -> None:
    text = page("adoc", "= Title\n\nA +++<b hidden>Gone</b>+++ b pass:[<u>stays</u>] c.\n").text
    assert text.endswith("A  b stays c.")


@pytest.mark.parametrize(
    ("markdown", "left"),
    [
        ("a <i hidden>b\n\nc</i> d", "a  d"),
        ("a <i hidden>b\n\nc", "a \n\nc"),  # never closed: to the next blank line
        ("<div hidden>\n\n```\n</div>\n```\n\n</div>end", "end"),
        ("`<i hidden>b</i>` c", "`<i hidden>b</i>` c"),
        ("```html\n<i hidden>b</i>\n```", "```html\n<i hidden>b</i>\n```"),
        ("~~~\n<i hidden>b</i>", "~~~\n<i hidden>b</i>"),
        ("a\n\n    <i hidden>b</i>\n", "a\n\n    <i hidden>b</i>\n"),
        ("<p style={{fontSize: 0, color: 'red'}}>b</p>", ""),
        (
            "<p hidden={isOld}>b</p><p :hidden='old'>c</p>",
            "<p hidden={isOld}>b</p><p :hidden='old'>c</p>",
        ),
        ("a <script>b</script> c", "a  c"),
        ("the <script> tag is not closed", "the <script> tag is not closed"),
        ("Vec<T hidden>", "Vec<T hidden>"),
    ],
)
def test_code_and_names_are_no_html(markdown: str, left: str) -> None:
    assert drop_hidden(markdown) == left
