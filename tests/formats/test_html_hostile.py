"""Wrong encodings, broken markup and hostile pages: text, or a clear error, in bounded time."""

# ruff: noqa: E501 - markup in one piece is easier to read.

from __future__ import annotations

import pytest

from docstow.core.errors import UnreadableInput
from docstow.formats import html
from growth import growth

URL = "https://docs.example/x"
PAGE = "<title>T</title><main><p>Caf\u00e9 na\u00efve \u2014 gr\u00fc\u00dfe \u201cquoted\u201d</p></main>"
WANTED = "# T\n\nCaf\u00e9 na\u00efve \u2014 gr\u00fc\u00dfe \u201cquoted\u201d\n"


@pytest.mark.parametrize(
    ("body", "charset"),
    [
        (PAGE.encode(), ""),
        (PAGE.encode(), "iso-8859-1"),
        (PAGE.encode("cp1252"), ""),
        (PAGE.encode("cp1252"), "utf-8"),
        (b"<meta charset=utf-8>" + PAGE.encode("cp1252"), ""),
        (b"<meta charset=iso-8859-1>" + PAGE.encode("cp1252"), ""),
        (PAGE.encode("cp1252"), "iso-8859-1"),
        (b"\xef\xbb\xbf" + PAGE.encode(), "iso-8859-1"),
        (PAGE.encode("utf-16"), ""),
        (PAGE.encode("utf-16-le"), "utf-16"),
        (PAGE.encode(), "no-such-charset"),
        (PAGE.encode(), "hex"),
        (PAGE.replace("<p>", "<p>\0").encode(), ""),
        (b'<?xml version="1.0" encoding="iso-8859-1"?>' + PAGE.encode(), ""),
    ],
)
def test_encodings(body: bytes, charset: str) -> None:
    assert html.read(body, URL, charset).text == WANTED


@pytest.mark.parametrize("charset", ["koi8-r", "shift_jis", "euc-kr", "iso-2022-jp", "gb18030"])
def test_declared_encodings_of_other_scripts(charset: str) -> None:
    words = {"koi8-r": "Настройка сервера", "euc-kr": "설정 방법", "gb18030": "安装说明"}
    wanted = words.get(charset, "サーバーの設定")
    page = f"<meta charset={charset}><title>T</title><main><p>{wanted}</p></main>"
    assert html.read(page.encode(charset), URL).text == f"# T\n\n{wanted}\n"


def test_xhtml() -> None:
    page = (
        '<?xml version="1.0" encoding="UTF-8"?><!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.0 Strict//EN" "x">'
        '<html xmlns="http://www.w3.org/1999/xhtml" xml:lang="de"><head><title>T</title></head>'
        "<body><div class='body'><p>Eins<br/>zwei</p><script>//<![CDATA[\nx\n//]]></script></div></body></html>"
    )
    read = html.read(page.encode(), URL)
    assert (read.text, read.attributes["language"]) == ("# T\n\nEins\\\nzwei\n", "de")


@pytest.mark.parametrize("body", [b"", b"  \n", b"\0\0"])
def test_nothing_is_no_page(body: bytes) -> None:
    with pytest.raises(UnreadableInput):
        html.read(body, URL)


@pytest.mark.parametrize(
    ("unit", "number"),
    [
        ("<div>", 100_000),
        ("<b>a", 50_000),
        ("<blockquote>", 50_000),
        ("<ul><li>a", 20_000),
        ("<table><tr><td>a", 20_000),
        ('<div class="admonition note"><p class="admonition-title">Note', 5_000),
        ("<pre>", 50_000),
        ("<", 500_000),
        ('<a x="', 100_000),
        ("<p><a href=x>a", 20_000),
    ],
)
@pytest.mark.slow
def test_the_cost_of_hostile_nesting_grows_with_its_length(unit: str, number: int) -> None:
    def read(size: int) -> str:
        return html.read((unit * (number // 4 * size) + "<p>found</p>").encode(), URL).title

    assert read(4) == "x"
    assert growth(read) < 2


@pytest.mark.parametrize("unit", ["<a", "<a\"'", "<a x='", '<b ">"', "<meta "])
def test_the_cost_of_tags_that_never_close_grows_with_their_length(unit: str) -> None:
    def read(size: int) -> None:
        html.read(("<p>found</p>" + unit * (5000 * size)).encode(), URL)

    assert growth(read) < 2


def test_deep_text_is_found() -> None:
    assert html.read(b"<main>" + b"<div>" * 100_000 + b"found", URL).text == "# x\n\nfound\n"
