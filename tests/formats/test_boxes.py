"""Boxes of HTML in Markdown become quotes."""

from __future__ import annotations

import pytest

from docstow.core.model import File
from docstow.formats import read
from docstow.formats.markdown.boxes import quote_boxes


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            'Sum.\n\n<div class="warning">\n\nOnly for finite\nvalues.\n\n</div>\n\nMore.',
            "Sum.\n\n> **Warning:** Only for finite\n> values.\n\nMore.",
        ),
        (
            'Sum.\n<div class="warning">\nOnly for `f64`.\n</div>\nMore.',
            "Sum.\n\n> **Warning:** Only for `f64`.\n\nMore.",
        ),
        (
            '<div class="warning">\n\n**NOTE:** one file\n\n</div>',
            "> **NOTE:** one file",
        ),
        (
            "<div class='warning'>\n\n- a\n\n```rust\nlet x;\n\nrun(x)\n```\n</div>",
            "> **Warning:**\n>\n> - a\n>\n> ```rust\n> let x;\n>\n> run(x)\n> ```",
        ),
        (
            '<div class="note">Outer <div>inner</div> end</div> after',
            "> **Note:** Outer <div>inner</div> end\n after",
        ),
        (
            '```html\n<div class="warning">x</div>\n```',
            '```html\n<div class="warning">x</div>\n```',
        ),
        ('<div class="warning">never closed', '<div class="warning">never closed'),
        ('<div class="color">red</div>', '<div class="color">red</div>'),
    ],
)
def test_boxes(text: str, expected: str) -> None:
    assert quote_boxes(text) == expected


def test_a_box_in_a_file() -> None:
    body = b'# Flow\n\n<div class="warning">\n\nThe valve is *hot*.\n\n</div>\n'
    page = read(File("flow.md", "https://docs.example/flow.md", "text/markdown", body))
    assert page.text == "# Flow\n\n> **Warning:** The valve is *hot*."
