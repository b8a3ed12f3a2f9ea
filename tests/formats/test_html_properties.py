"""What holds for every page: titles, headings and code are kept; links are of the web."""

from __future__ import annotations

from html import escape

from hypothesis import given, settings
from hypothesis import strategies as st

from docstow.core.errors import UnreadableInput
from docstow.formats import html
from docstow.text.parsing import CODE, HEADING, parse
from paths import FIXTURES

SITES = FIXTURES / "sites"
PAGES = [path.read_bytes() for path in sorted(SITES.rglob("*.html"))]
URL = "https://docs.example/guide/page"

_letters = st.characters(min_codepoint=32, max_codepoint=0x2FFF, exclude_categories=("C", "Z"))
words = (
    st.lists(
        st.text("abcdefghijklmnopqrstuvwxyz0123456789", min_size=1, max_size=9),
        min_size=1,
        max_size=5,
    )
    .map(" ".join)
    .map(lambda text: f"w{text}")
)
lines = st.text(st.one_of(_letters, st.sampled_from(" \t`<>&|*_#~")), max_size=30)
code = st.lists(lines, min_size=1, max_size=8).map("\n".join).filter(str.strip)
language = st.sampled_from(["", "rust", "js", "c++", "objective-c", "yaml"])


def block(language: str, code: str) -> str:
    marked = f' class="language-{language}"' if language else ""
    return f"<pre><code{marked}>{escape(code)}\n</code></pre>"


wrapped = st.sampled_from(
    [
        "{}",
        "<ul><li>{}</li></ul>",
        "<blockquote>{}</blockquote>",
        "<div class='admonition note'>{}</div>",
        "<ol start='7'><li><p>x</p>{}</li></ol>",
        "<details><summary>s</summary>{}</details>",
        "<dl><dt>t</dt><dd>{}</dd></dl>",
    ]
)


@settings(max_examples=200, deadline=None)
@given(words, st.lists(st.tuples(words, language, code, wrapped), max_size=4))
def test_titles_headings_and_code_are_kept(
    title: str, parts: list[tuple[str, str, str, str]]
) -> None:
    # A heading that repeats the title or the one before it is left out.
    parts = [(f"{n} {part[0]}", *part[1:]) for n, part in enumerate(parts, 1)]
    inner = "".join(
        f"<h2>{heading}<a href='#x'>¶</a></h2>" + wrap.replace("{}", block(name, text))
        for heading, name, text, wrap in parts
    )
    page = html.read(f"<nav>menu</nav><main><h1>{title}</h1>{inner}</main>".encode(), URL)
    blocks = parse(page.text)
    headings = [each.text for each in blocks if each.kind == HEADING]
    fences = [(each.info, each.text) for each in blocks if each.kind == CODE]
    assert page.title == title
    assert headings == [title, *(heading for heading, *_ in parts)]
    assert fences == [(name, f"{text}\n") for _, name, text, _ in parts]


@st.composite
def mutated(draw: st.DrawFn) -> bytes:
    body = draw(st.sampled_from(PAGES))
    for _ in range(draw(st.integers(1, 6))):
        start = draw(st.integers(0, len(body)))
        end = min(len(body), start + draw(st.integers(0, 400)))
        body = body[:start] + draw(st.binary(max_size=12)) * draw(st.integers(0, 3)) + body[end:]
    return body


@settings(max_examples=200, deadline=None)
@given(
    st.one_of(st.binary(max_size=300), mutated()),
    st.sampled_from(["", "utf-8", "latin-1", "x", "utf-16"]),
)
def test_any_bytes_are_a_page_or_unreadable(body: bytes, charset: str) -> None:
    try:
        page = html.read(body, URL, charset)
    except UnreadableInput:
        return
    assert page.title
    assert page.text.startswith("# ")


@settings(max_examples=200, deadline=None)
@given(
    st.lists(
        st.one_of(
            st.text(max_size=20), st.from_regex(r"(https?:|ftp:|//|\.\./|/)[a-z0-9/.#?=]{0,15}")
        ),
        max_size=5,
    ),
    st.one_of(st.none(), st.text(max_size=12)),
)
def test_links_are_absolute_addresses_of_the_web(hrefs: list[str], base: str | None) -> None:
    head = f'<base href="{escape(base)}">' if base is not None else ""
    body = head + "".join(f'<a href="{escape(href)}">x</a>' for href in hrefs) + "<p>x"
    found = html.read(body.encode("utf-8", "ignore"), URL).links
    assert all(each.lower().startswith(("http://", "https://")) for each in found)
    assert all("#" not in each for each in found)
    assert len(set(found)) == len(found)
