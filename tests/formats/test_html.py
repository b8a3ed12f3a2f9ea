"""Pages of documentation generators become the Markdown that lies beside the fixtures."""

# ruff: noqa: E501 - markup in one piece is easier to read.

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path

import pytest

from docstow.formats import Page, html
from docstow.formats.trees import Trees
from paths import FIXTURES

URL = "https://docs.example/a/b"
SITES = FIXTURES / "sites"
EXPECTED = FIXTURES / "site_pages"
#: One page with everything of each generator: terms, tables, boxes, tabs, footnotes, formulas, code.
STRUCTURES = sorted((FIXTURES / "structure").glob("*.html"))
PAGES = sorted(path.relative_to(EXPECTED).with_suffix("") for path in EXPECTED.rglob("*.md"))


def read_fixture(path: Path) -> Page:
    address = path.as_posix().removesuffix("index.html")
    return html.read((SITES / path).read_bytes(), f"http://docs.example/{address}")


def read(body: str, url: str = URL) -> Page:
    return html.read(body.encode(), url)


def text(inner: str) -> str:
    """The Markdown of a page's main part, without the title that leads it."""
    page = read(f"<title>T</title><main>{inner}</main>")
    assert page.text.startswith("# T\n")
    return page.text.removeprefix("# T\n").strip("\n")


@pytest.mark.parametrize("path", PAGES, ids=str)
def test_a_page_of_a_generator(path: Path) -> None:
    html_path = path.with_suffix(".html")
    expected = (EXPECTED / path).with_suffix(".md").read_text(encoding="utf-8")
    assert read_fixture(html_path).text == expected


def test_every_site_has_expected_pages() -> None:
    folders = {path.name for path in SITES.iterdir() if path.is_dir()}
    assert {path.parts[0] for path in PAGES} == folders


@pytest.mark.parametrize("path", STRUCTURES, ids=lambda path: path.stem)
def test_the_structure_that_a_generator_writes(path: Path) -> None:
    page = html.read(path.read_bytes(), "https://docs.example/flow/page.html")
    assert page.text == path.with_suffix(".md").read_text(encoding="utf-8")


def test_what_a_page_says_of_itself() -> None:
    page = read_fixture(Path("docusaurus/docs/topics/index.html"))
    assert page.title == "Topics"
    assert page.canonical == "http://docs.example/docusaurus/docs/topics"
    assert page.indexable
    assert dict(page.attributes) == {
        "language": "en",
        "description": "Topics, partitions and retention.",
        "anchors": ["", "partitions", "retention"],
    }
    assert page.links == (
        "http://docs.example/docusaurus/docs/topics/",
        "http://docs.example/docusaurus/docs/intro",
        "http://docs.example/docusaurus/",
        "https://forge.example/quillcast",
        "http://docs.example/docusaurus/docs/topics",
        "http://docs.example/docusaurus/docs/clients/javascript",
        "http://docs.example/docusaurus/docs/clients/go",
        "https://forge.example/quillcast/edit/main/docs/topics.md",
    )
    assert not read_fixture(Path("mkdocs/404.html")).indexable


@pytest.mark.parametrize(
    ("head", "body", "title"),
    [
        ("<title>Install | Site</title>", "<h1>Install it <a href='#x'>¶</a></h1>", "Install it"),
        ("<title>Install - the tool - Site</title>", "<p>x</p>", "Install - the tool"),
        ("<meta property='og:title' content='Open'><title>t</title>", "<p>x</p>", "Open"),
        ("", "<p>x</p>", "b"),
    ],
)
def test_titles(head: str, body: str, title: str) -> None:
    page = read(f"<head>{head}</head><main>{body}</main>")
    assert page.title == title
    assert page.text.startswith(f"# {title}\n")


def test_links_are_absolute_without_fragment_and_once() -> None:
    page = read(
        '<base href="/docs/v2/"><nav><a href="x#part">x</a><a href="x">again</a></nav>'
        '<main><a href="//cdn.example/y z">y</a><a href="mailto:a@b">m</a>'
        '<a href="http://[bad">bad</a><a rel="nofollow" href="/no">no</a><a href=" q?a=1&amp;b=2 ">q</a>'
    )
    assert page.links == (
        "https://docs.example/docs/v2/x",
        "https://cdn.example/y%20z",
        "https://docs.example/docs/v2/q?a=1&b=2",
    )
    assert "[q](https://docs.example/docs/v2/q?a=1&b=2)" in page.text
    nofollow = "<meta name=robots content='noindex, nofollow'><a href=/x>x</a>"
    assert html.read(nofollow.encode(), "https://docs.example/").links == ()
    frames = "<frameset><frame src='left.html'></frameset>"
    assert html.read(frames.encode(), "https://docs.example/").links == (
        "https://docs.example/left.html",
    )


@pytest.mark.parametrize(
    ("markup", "expected"),
    [
        (
            '<pre><code class="language-py">a\n\n  b &lt; c\n</code></pre>',
            "```python\na\n\n  b < c\n```",
        ),
        ('<pre class="brush: js;">x()</pre>', "```js\nx()\n```"),
        (
            '<div class="sourceCode"><pre class="sourceCode bash"><code>ls</code></pre></div>',
            "```bash\nls\n```",
        ),
        (
            '<div class="highlight highlight-source-rust"><pre>fn a() {}</pre></div>',
            "```rust\nfn a() {}\n```",
        ),
        ("<pre>\n\n  first\n</pre>", "```\n\n  first\n```"),
        ("<pre>a ``` b</pre>", "````\na ``` b\n````"),
        ("<pre><div class=l>a</div><div class=l>b</div></pre>", "```\na\nb\n```"),
        ("<pre>a<button>Copy</button><br>\tb\u00a0c</pre>", "```\na\n\tb\u00a0c\n```"),
        ("<p>before <b>bold</b><pre>x</pre>", "before **bold**\n\n```\nx\n```"),
        ("<a href='/x'><pre>one</pre></a>", "```\none\n```"),
        ("<ul><li><pre>a\n\nb</pre></li></ul>", "- ```\n  a\n\n  b\n  ```"),
        ("<blockquote><pre>a\n\nb</pre></blockquote>", "> ```\n> a\n>\n> b\n> ```"),
        (
            "<table><tr><th>h</th></tr><tr><td><pre>a | b\nc</pre></td></tr></table>",
            "| h |\n| --- |\n| `a \\| b`<br>`c` |",
        ),
    ],
)
def test_code_blocks_are_exact(markup: str, expected: str) -> None:
    found = text(markup)
    if markup.startswith("<a"):
        assert expected in found
    else:
        assert found == expected


@pytest.mark.parametrize(
    ("markup", "expected"),
    [
        (
            "<div class='admonition warning'><p class='admonition-title'>Warning</p><p>Hot.</p></div>",
            "> **Warning:** Hot.",
        ),
        ("<div class='note'><p>Plain.</p></div>", "> **Note:** Plain."),
        ("<div role='alert'>Bare.</div>", "> **Note:** Bare."),
        (
            "<p class='warning'>Do <b>not</b> <code>rm</code>.</p>",
            "> **Warning:** Do **not** `rm`.",
        ),
        ("<blockquote class='important'><p>Read.</p></blockquote>", "> **Important:** Read."),
        (
            "<div class='px-4 hint info rounded-md'><div><svg class='gb-icon'></svg></div><div class='flex-1'><p>Mind.</p></div></div>",
            "> **Info:** Mind.",
        ),
        (
            "<div class='nextra-callout x:flex x:border-yellow-100'><div class='x:select-none'>\u26a0\ufe0f</div><div class='x:w-full'><p>Deep.</p></div></div>",
            "> **Warning:** Deep.",
        ),
        (
            "<div class='nextra-callout x:border-blue-200'><div><svg></svg></div><div><p>Known.</p></div></div>",
            "> **Info:** Known.",
        ),
        (
            "<aside class='starlight-aside starlight-aside--tip'><p class='starlight-aside__title' aria-hidden='true'>Tip</p><div class='starlight-aside__content'><p>Try.</p></div></aside>",
            "> **Tip:** Try.",
        ),
        (
            "<div class='warning custom-block'><p class='custom-block-title'>Mind</p><p>Gap.</p></div>",
            "> **Warning: Mind**\n>\n> Gap.",
        ),
        ("<details><summary>More</summary><p>Inside.</p></details>", "**More**\n\nInside."),
        (
            "<p>H<sub>2</sub>O, 2<sup>10</sup>, <kbd>Esc</kbd><br>next</p>",
            "H_2O, 2^10, `Esc`\\\nnext",
        ),
        ("<p>see <img src=a.png alt='the wheel'> there</p>", "see the wheel there"),
        (
            "<p><span class=katex><math><annotation encoding='application/x-tex'>a^2_i</annotation></math><span class=katex-html aria-hidden=true>a2</span></span></p>",
            "$a^2_i$",
        ),
        ("<p hidden>a</p><p style='display: none'>b</p><p aria-hidden=true>c</p><p>d</p>", "d"),
        ("<ol start=3><li>a<ol><li>b</li></ol></li></ol>", "3. a\n   1. b"),
        ("<dl><dt>t</dt><dd>d</dd></dl>", "**t**\n\nd"),
        (
            "<table><tr><th>a</th><th>b</th></tr><tr><td>x|y</td><td>1<br>2</td></tr></table>",
            "| a | b |\n| --- | --- |\n| x\\|y | 1<br>2 |",
        ),
    ],
)
def test_blocks(markup: str, expected: str) -> None:
    assert text(markup) == expected


def _survey(pages: Iterable[bytes], trees: Trees | None = None) -> html.Shared:
    return html.survey(((page, "") for page in pages), trees)


def _unmarked_page(name: str) -> bytes:
    menu = "".join(f"<li><a href='/p{n}'>Page {n}</a></li>" for n in range(30))
    return (
        f"<title>{name}</title><body><div class='leftcol'><ul>{menu}</ul></div><div class='txt'>"
        f"<h2>Turning</h2><p>The {name} turns when the load is low.</p>"
        f"<pre class='language-sh'>turn --slowly {name}\n\n  now</pre>"
        f"<p>See also:</p><ul><li><a href='/{name}/more'>More of the {name}</a></li></ul></div>"
        f"<div class='steps'><a href='/{name}/a'>Previous: {name}</a> <a href='/{name}/b'>More</a></div>"
        f"<div class='bottom'>© A company</div></body>"
    ).encode()


def test_what_pages_of_a_site_share_is_no_text() -> None:
    pages = {name: _unmarked_page(name) for name in ("wheel", "axle", "hub", "rim")}
    shared = _survey(pages.values())
    page = html.read(pages["wheel"], URL, shared=shared)
    assert page.text == (
        "# wheel\n\n## Turning\n\nThe wheel turns when the load is low.\n\n"
        "```sh\nturn --slowly wheel\n\n  now\n```\n\n"
        "See also:\n\n- [More of the wheel](https://docs.example/wheel/more)\n"
    )
    assert len(page.links) == 33
    assert page.words == page.kept > 0
    stored = html.Shared.from_json(json.loads(json.dumps(shared.to_json())))
    assert html.read(pages["rim"], URL, shared=stored) == html.read(
        pages["rim"], URL, shared=shared
    )


def test_links_of_one_page_alone_stay_where_they_are_much_of_it() -> None:
    def page(name: str, words: int) -> bytes:
        text = " ".join(f"{name}{n}" for n in range(words))
        return (
            f"<body><div class=path><a href=/>Top</a> <a href=/{name}>{name}s</a></div>"
            f"<div class=txt><h1>{name}</h1><p>{text}</p></div></body>"
        ).encode()

    shared = _survey([page(name, 40) for name in ("wheel", "axle", "hub", "rim")])
    short = html.read(page("wheel", 40), URL, shared=shared)
    assert "[Top](https://docs.example/) [wheels](https://docs.example/wheel)" in short.text
    assert short.kept == short.words
    long = html.read(page("wheel", 400), URL, shared=shared)
    assert "Top" not in long.text
    assert 0 < long.words - long.kept <= 2


def test_what_is_left_out_of_code_is_seen_to_be_missing() -> None:
    line = "<div class=line><span class=lineno>{n:5}</span>int wheel{n};</div>"
    lines = "".join(line.format(n=n) for n in range(1, 21))
    tip = (
        "<div class=ttc id=aa><div class=ttname>wheel</div><div class=ttdoc>Turns well.</div></div>"
    )
    page = text_and_counts(f"<div class=fragment>{lines}{tip}</div>")
    assert "int wheel1;\nint wheel2;\n" in page.text
    assert "Turns" not in page.text
    # Of each line the number is missing, and the three words of the tooltip.
    assert (page.words, page.kept) == (64, 41)


def text_and_counts(inner: str) -> Page:
    return read(f"<main><h1>T</h1>{inner}</main>")


def test_brackets_in_code_are_no_links() -> None:
    page = text_and_counts(
        "<p>See <code>calls[](one)</code>, <a href=/two>C</a>two.</p><pre>grid[0](four)</pre>"
    )
    assert "`calls[](one)`" in page.text
    assert page.kept == page.words == 8


def test_versions_of_a_page_are_no_shared_text() -> None:
    def page(name: str, version: int) -> bytes:
        words = "".join(f"<p>What {name} does, part {n}.</p>" for n in range(9))
        return (
            f"<body><div class=top>Docs</div><div class=t><h1>{name} {version}</h1>{words}</div>"
        ).encode()

    pages = [page(name, version) for name in "abcde" for version in range(4)]
    shared = _survey(pages)
    text = html.read(pages[0], URL, shared=shared).text
    assert "Docs" not in text
    assert text.count("What a does") == 9


def test_pages_are_read_from_the_trees_of_the_survey_while_there_is_room() -> None:
    pages = [_unmarked_page(name) for name in ("wheel", "axle", "hub", "rim")]
    trees = Trees()
    large = pages[3] + b" " * (6 << 20)
    shared = _survey([*pages[:3], large], trees)
    assert trees.take(large) is None
    for page in (*pages[:3], pages[0]):  # the last one, which was taken, is parsed again
        kept = html.read(page, URL, shared=shared, trees=trees)
        assert kept == html.read(page, URL, shared=shared)
    assert [trees.take(page) for page in pages] == [None] * 4


def test_a_page_without_a_site_keeps_what_may_be_text() -> None:
    page = html.read(_unmarked_page("wheel"), URL, shared=_survey([_unmarked_page("wheel")]))
    assert "[Page 29]" in page.text
    assert "The wheel turns when the load is low." in page.text


def test_a_marked_part_that_lacks_text_is_not_the_page() -> None:
    def page(name: str) -> bytes:
        words = " ".join(f"{name}{n}" for n in range(80))
        return (
            f"<body><div class=top>Guide</div><main><h1>{name}</h1><p>In the box.</p></main>"
            f"<div class=more><p>{words}</p></div></body>"
        ).encode()

    shared = _survey([page(name) for name in ("a", "b", "c")])
    text = html.read(page("b"), URL, shared=shared).text
    assert "In the box." in text
    assert "b79" in text
    assert "Guide" not in text


@pytest.mark.parametrize(
    ("markup", "kept"),
    [
        ('<div class="toc"><a href="/a">A page</a> <a href="/b">B page</a></div>', True),
        ('<div class="toc"><a href="#a">A part</a> <a href="#b">B part</a></div>', False),
        ('<aside class="sidebar"><p>Words that stand beside the text.</p></aside>', True),
        ('<aside class="sidebar"><a href="/a">A page</a> <a href="/b">B page</a></aside>', False),
        ('<div id="sidebar"><p>A section on sidebars.</p></div>', True),
        ("<blockquote><p>Words.</p><footer>An author</footer></blockquote>", True),
    ],
)
def test_what_is_called_navigation_is_text_unless_it_is_links(markup: str, *, kept: bool) -> None:
    page = html.read(f"<main><h1>T</h1><p>Kept.</p>{markup}</main>".encode(), URL).text
    assert (page != "# T\n\nKept.\n") == kept


@pytest.mark.parametrize(
    "furniture",
    [
        '<div class="nextra-breadcrumb flex">Docs</div>',
        '<a class="td-rss-button" href="/x.xml">RSS</a>',
        '<h2 class="feedback--title">Feedback</h2><p class="feedback--question">Useful?</p>',
        '<div class="td-page-meta__lastmod">Last modified by A</div>',
        "<p>Last updated on May 3, 2026</p>",
        "<div><p>Was this page helpful?</p></div>",
    ],
)
def test_furniture_of_themes_is_no_text(furniture: str) -> None:
    assert text(f"<p>Kept.</p>{furniture}") == "Kept."


@pytest.mark.parametrize(
    "kept", ["Last modified is a header of 3 kinds. It is sent.", "Was this helpful is a question."]
)
def test_sentences_that_look_like_furniture_are_text(kept: str) -> None:
    assert text(f"<p>{kept}</p>") == kept


def test_groups_of_code_have_their_names_and_no_language_as_text() -> None:
    blocks = "".join(
        f'<div class="language-sh"><button></button><span class="lang">sh</span><pre><code>{each}'
        " add auk</code></pre></div>"
        for each in ("npm", "pnpm")
    )
    labels = '<input type="radio"><label>npm</label><input type="radio"><label>pnpm</label>'
    group = f'<div class="tabs">{labels}</div><div class="blocks">{blocks}</div>'
    assert text(f'<div class="vp-code-group vp-adaptive-theme">{group}</div>') == (
        "**npm**\n\n```sh\nnpm add auk\n```\n\n**pnpm**\n\n```sh\npnpm add auk\n```"
    )


def test_tabs_in_a_box_of_their_own_name_their_panels() -> None:
    tabs = '<ul role="tablist"><li><a role="tab">One</a></li><li><a role="tab">Two</a></li></ul>'
    panels = '<div role="tabpanel"><p>First.</p></div><div role="tabpanel" hidden><p>Second.</p>'
    markup = f"<starlight-tabs><div>{tabs}</div>{panels}</div></starlight-tabs>"
    assert text(markup) == "**One**\n\nFirst.\n\n**Two**\n\nSecond."
