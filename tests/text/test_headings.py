"""Headings of pages, and the fragments that lead to them."""

from __future__ import annotations

from docstow import formats
from docstow.core.model import File
from docstow.formats import html
from docstow.text.chunking import split_chunks
from docstow.text.headings import find_anchor, find_headings, slugs
from docstow.text.sections import find_section

PAGE = """# The *Title*

## Set `up` it {#setup}

Do this.

### What's new?

```md
# no heading
```

> ## neither

## Example

One.

## Example

Two.
"""


def _read(path: str, body: str) -> formats.Page:
    return formats.read(File(path, f"https://docs.example/{path}", "", body.encode()))


def test_only_headings_outside_of_code_and_quotes_count() -> None:
    found = find_headings(_read("a.md", PAGE).text)
    assert [(each.level, each.title) for each in found] == [
        (1, "The Title"),
        (2, "Set `up` it"),
        (3, "What's new?"),
        (2, "Example"),
        (2, "Example"),
    ]


def test_a_slug_is_githubs() -> None:
    titles = ["Was ist neu?", "`a_b` & c", "A - b", "Was ist neu?", "Über uns"]
    assert slugs(titles) == ["was-ist-neu", "a_b--c", "a---b", "was-ist-neu-1", "über-uns"]


def test_markdown_has_slugs_and_ids_that_it_states() -> None:
    page = _read("a.md", PAGE)
    assert page.attributes["anchors"] == ["", "setup", "whats-new", "example", "example-1"]
    assert "{#" not in page.text


def test_each_chunk_leads_to_its_section() -> None:
    page = _read("a.md", PAGE)
    chunks = split_chunks(page.text, lambda text: len(text.split()))
    found = [
        (each.text.split("\n")[0], find_anchor(page.text, page.attributes["anchors"], *_of(each)))
        for each in chunks
    ]
    assert found == [
        ("# The *Title*", "setup"),
        ("### What's new?", "whats-new"),
        ("## Example", "example"),
        ("## Example", "example-1"),
    ]


def _of(chunk: object) -> tuple[str, str]:
    return chunk.heading_path, chunk.text  # type: ignore[attr-defined]


def test_html_keeps_the_ids_of_its_generators() -> None:
    page = _read(
        "a.html",
        """<html><body><main><h1 id="top">Top</h1>
        <h2 id="own_id">Own</h2><p>Text.</p>
        <section id="around"><h2>Sphinx</h2><p>Text.</p></section>
        <div class="sect1" id="DOCBOOK"><div class="titlepage"><div><div>
          <h2 class="title">DocBook</h2></div></div></div><p>Text.</p></div>
        <a name="before"></a><h2>Old</h2><p>Text.</p>
        <h3><a class="anchor" id="inside" href="#inside"></a>Inside</h3><p>Text.</p>
        <h2>None</h2><p>Text.</p>
        </main></body></html>""",
    )
    titles = [each.title for each in find_headings(page.text)]
    assert dict(zip(titles, page.attributes["anchors"], strict=True)) == {
        "Top": "",
        "Own": "own_id",
        "Sphinx": "around",
        "DocBook": "DOCBOOK",
        "Old": "before",
        "Inside": "inside",
        "None": "",
    }


def test_terms_of_lists_lead_to_their_places() -> None:
    page = html.read(
        b"<main><h1>Boats</h1><section id=api><h2>API</h2><p>All of it.</p>"
        b"<dl class='py class'><dt class='sig' id='boats.Boat'>class boats.Boat</dt>"
        b"<dd><p>A boat.</p><dl class='py method'>"
        b"<dt class='sig' id='boats.Boat.row'>row(strokes)</dt><dd><p>Row it.</p></dd>"
        b"<dt class='sig' id='boats.Boat.sink'>sink()</dt><dd><p>Sink it.</p></dd>"
        b"</dl></dd></dl></section><h2 id=more>More</h2><dl><dt><a name=OPT-X></a>-x, --xtra</dt>"
        b"<dd>One more.</dd><dt>plain</dt><dd>Nothing.</dd></dl></main>",
        "https://docs.example/boats",
    )
    anchors, terms = page.attributes["anchors"], page.attributes["terms"]
    assert [name for _, name in terms] == [
        "boats.Boat",
        "boats.Boat.row",
        "boats.Boat.sink",
        "OPT-X",
    ]

    def found(path: str, passage: str) -> str:
        assert passage in page.text
        return find_anchor(page.text, anchors, path, passage, terms)

    assert found("Boats > API", "All of it.") == "api"
    assert found("Boats > API", "`class boats.Boat`\n\nA boat.") == "boats.Boat"
    assert found("Boats > API", "Row it.") == "boats.Boat.row"
    assert found("Boats > More", "One more.") == "OPT-X"
    assert found("Boats > More", "## More") == "more"
    assert find_section(page.text, "OPT-X", anchors, terms) == (
        "**-x, --xtra**\n\nOne more.\n\n**plain**\n\nNothing.\n"
    )
    row = find_section(page.text, "boats.Boat.row", anchors, terms)
    assert row is not None
    assert "Row it." in row
    assert "Sink it." not in row
    boat = find_section(page.text, "boats.Boat", anchors, terms)
    assert boat is not None
    assert boat.endswith("Sink it.\n")
