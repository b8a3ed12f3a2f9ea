"""Third-party Markdown in pages: nothing in it acts, loads or leads where it should not."""

from __future__ import annotations

import pytest

from docstow.server.web.markdown import code, inline, render

HOSTILE = [
    "<script>alert(1)</script>kept",
    "<img src=x onerror=alert(1)>kept",
    "[kept](javascript:alert(1))",
    '<a href="java\nscript:alert(1)">kept</a>',
    '<a href="data:text/html,<script>alert(1)</script>">kept</a>',
    '<p style="position:fixed" onclick="alert(1)">kept</p>',
    "<svg onload=alert(1)><script>alert(1)</script></svg>kept",
    "<iframe src=//evil.example></iframe>kept",
    "<form action=//evil.example><input name=token>kept</form>",
    "<style>@import '//evil.example'</style>kept",
    "<meta http-equiv=refresh content='0;url=//evil.example'>kept",
    "<base href=//evil.example>kept",
    '<div hx-get="/ui/sources" hx-trigger="load" data-events="/x">kept</div>',
    '<h1 id="ui-main">kept</h1>',
    "![kept](https://evil.example/pixel.png)",
    "```<b onmouseover=alert(1)>\nkept\n```",
]


@pytest.mark.parametrize("text", HOSTILE)
def test_nothing_of_a_hostile_text_acts(text: str) -> None:
    shown = str(render(text).html)
    assert "kept" in shown
    lowered = shown.lower()
    for word in ("<script", "<img", "<iframe", "<form", "<input", "<style", "<meta", "<base"):
        assert word not in lowered
    for word in ("onerror=", "onclick=", "onload=", "onmouseover=", "style=", "hx-", "data-"):
        assert word not in lowered
    for word in ('href="javascript', 'href="data', "evil.example/pixel", 'id="ui-'):
        assert word not in lowered


def test_headings_stand_below_the_page_s_own_and_are_named_once_each() -> None:
    found = render("# Errors\n\n## Errors\n\n# `Safe` & sound\n")
    assert [(each.level, each.text, each.anchor) for each in found.headings] == [
        (1, "Errors", "errors"),
        (2, "Errors", "errors-1"),
        (1, "Safe & sound", "safe--sound"),
    ]
    assert '<h2 id="errors">' in found.html
    assert '<h3 id="errors-1">' in found.html


def test_headings_keep_the_fragments_of_where_the_text_comes_from() -> None:
    text = "# Ship\n\n## Load\n\n```md\n## Load\n```\n\n## `Hold`\n\n## Load\n\n## UI main\n"
    found = render(text, anchors=["", "loading", "the.Hold", "", "ui-main"])
    assert [each.anchor for each in found.headings] == [
        *("ship", "loading", "the.Hold", "load", "text-ui-main")
    ]
    assert [each.anchor for each in render("## UI main").headings] == ["text-ui-main"]


def test_links_lead_where_the_caller_says_and_tell_other_sites_nothing() -> None:
    found = str(
        render("[a](guide.md) [b](https://else.example/)", link=lambda url: f"{url}#x").html
    )
    assert '<a href="guide.md#x"' in found
    assert 'href="https://else.example/#x" rel="noopener noreferrer nofollow"' in found


def test_code_is_coloured_by_its_language_and_types_lead_to_their_pages() -> None:
    shown = str(code("pub fn open(path: &Path) -> File", "rust", {"File": "/f"}.get))  # type: ignore[arg-type]
    assert '<span class="k">pub</span>' in shown
    assert 'href="/f">File</a>' in shown
    assert "/f" not in str(code("pub fn open() -> File", "rust"))
    # What has no colour has no element either.
    assert str(code("a.b(c)", "python")) == "a.b(c)"
    assert str(code("a < b", "no such language")) == "a &lt; b"


def test_a_line_has_no_paragraph_around_it() -> None:
    assert str(inline("is `true` & <b>so</b>")) == "is <code>true</code> &amp; <b>so</b>"


def test_wide_code_and_tables_are_reached_by_the_keyboard() -> None:
    shown = str(render("| a |\n| - |\n| b |\n\n```\nx\n```\n").html)
    assert shown.count('tabindex="0"') == 2


def test_what_rustdoc_compiles_and_does_not_show_is_not_shown() -> None:
    block = "```no_run\n# use std::fs;\nlet s = 1;\n#\n#[allow(unused)]\n## kept\n# }\n```"
    shown = render(block, language="python").html
    assert [line.striptags() for line in shown.strip().split("\n")] == [
        *("let s = 1;", "#[allow(unused)]", "# kept")
    ]
    assert "# use" in render("```sh\n# use it\n```").html.striptags()
