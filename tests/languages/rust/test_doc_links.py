"""Intra-doc links become ordinary ones; code and other links stay as they are."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from pathlib import Path
from urllib.parse import urljoin

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from docstow.core.model import Relation
from docstow.languages.rust.rustdoc import CrateDocs, read
from docstow.languages.rust.rustdoc.links import resolve

LINKS = {"Foo": "U/Foo", "`Foo`": "U/Foo", "fn@bar": "U/bar", "crate::Foo": "U/Foo", "Gone": ""}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("See [Foo].", "See [Foo](U/Foo)."),
        ("See [`Foo`].", "See [`Foo`](U/Foo)."),
        ("See [Foo][].", "See [Foo](U/Foo)."),
        ("See [the thing](Foo).", "See [the thing](U/Foo)."),
        ("See [the thing](<Foo>).", "See [the thing](U/Foo)."),
        ('See [the thing](Foo "title").', "See [the thing](U/Foo)."),
        ("See [the thing][Foo].", "See [the thing](U/Foo)."),
        ("See [fn@bar].", "See [fn@bar](U/bar)."),
        ("See [part](Foo#part).", "See [part](Foo#part)."),
        ("Lost: [Gone], [a word](Gone).", "Lost: Gone, a word."),
        ("Unknown [Other] and [x](y).", "Unknown [Other] and [x](y)."),
        ("[label]\n\n[label]: crate::Foo\n", "[label](U/Foo)\n\n"),
        ("[`a`][Label]\n\n[label]:\n  crate::Foo 'title'", "[`a`](U/Foo)\n\n"),
        ("[a] [b]\n\n[a]: crate::Foo\n[b]: http://x", "[a](U/Foo) [b]\n\n[b]: http://x"),
        ("[Foo]\n\n[Foo]: http://x", "[Foo]\n\n[Foo]: http://x"),
        ("`[Foo]` and ``[Foo] ` ``", "`[Foo]` and ``[Foo] ` ``"),
        ("one ` tick, [Foo]", "one ` tick, [Foo](U/Foo)"),
        ("escaped \\[Foo]", "escaped \\[Foo]"),
        ("```\n[Foo]\n```\n[Foo]", "```\n[Foo]\n```\n[Foo](U/Foo)"),
        ("~~~~\n[Foo]\n~~~\n~~~~\n[Foo]", "~~~~\n[Foo]\n~~~\n~~~~\n[Foo](U/Foo)"),
        ("> ```\n> [Foo]\n> ```\n> [Foo]", "> ```\n> [Foo]\n> ```\n> [Foo](U/Foo)"),
        ("text\n\n    [Foo] code\n\ntext [Foo]", "text\n\n    [Foo] code\n\ntext [Foo](U/Foo)"),
        ("- item\n\n    more [Foo]", "- item\n\n    more [Foo](U/Foo)"),
        ('<a title="[Foo]">[Foo]</a>', '<a title="[Foo]">[Foo](U/Foo)</a>'),
        ("<code>Vec<[Foo]></code>", "<code>Vec<[Foo](U/Foo)></code>"),
        ("[a [Foo] b](http://x)", "[a [Foo](U/Foo) b](http://x)"),
        ("[`[T]::join`](Foo)", "[`[T]::join`](U/Foo)"),
        ("[a [Foo] b](Foo)", "[a [Foo](U/Foo) b](Foo)"),
        ("[![badge](a.png)](Foo)", "[![badge](a.png)](U/Foo)"),
        ("![image](Foo.png) [x] [ ] [", "![image](Foo.png) [x] [ ] ["),
        ("| [`Foo`] | a |", "| [`Foo`](U/Foo) | a |"),
    ],
)
def test_links(text: str, expected: str) -> None:
    assert resolve(text, LINKS) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("[a](../b/index.html#c)", "[a](https://x/1/b/index.html#c)"),
        ('[a](<fn.b.html> "title")', "[a](https://x/1/m/fn.b.html)"),
        (
            "[a], [`t`][a]\n\n[a]: ../i.html",
            "[a](https://x/1/i.html), [`t`](https://x/1/i.html)\n\n",
        ),
        ("[fn.b.html] names a file", "[fn.b.html] names a file"),
        ("[a](https://y/b.html)", "[a](https://y/b.html)"),
        ("[a](//y/b.html) [b](#c) [d](e.md)", "[a](//y/b.html) [b](#c) [d](e.md)"),
        ("`[a](b.html)`\n\n```\n[a](b.html)\n```\n", "`[a](b.html)`\n\n```\n[a](b.html)\n```\n"),
    ],
)
def test_relative_pages_become_absolute_outside_code(text: str, expected: str) -> None:
    assert resolve(text, {}, partial(urljoin, "https://x/1/m/struct.A.html")) == expected
    assert resolve(text, {}) == text


def test_a_relative_link_may_be_written_for_another_public_path(corpus: Path) -> None:
    packed = (corpus / "tokio" / "1.53.2" / "rustdoc.json.zst").read_bytes()
    body = zstandard.ZstdDecompressor().stream_reader(packed).read()
    texts = {d.path: d.text for d in read(body, name="tokio", version="1.53.2").documents}
    base = "https://docs.rs/tokio/1.53.2/tokio"
    assert f"({base}/runtime/index.html#driving-the-runtime)" in texts["tokio::spawn"]
    assert f"({base}/index.html#cpu-bound-" in texts["tokio::task::spawn_blocking"]
    assert f"({base}/runtime/index.html#runtime-scheduler)" in texts["tokio"]


def test_brackets_without_end_take_no_time_without_end() -> None:
    text = "[" * 50_000 + "[Foo](Foo" * 5_000 + "]" * 50_000

    assert resolve(text, LINKS) == text.replace("[Foo]", "[Foo](U/Foo)")


def test_a_fragment_is_kept() -> None:
    assert resolve("[x](Foo#part)", {"Foo#part": "U/Foo"}) == "[x](U/Foo#part)"


@given(st.text(alphabet="[]()`\\<>:!# \n~ab-", max_size=60))
def test_what_is_no_link_is_left_alone(text: str) -> None:
    assert resolve(text, {"nothing like it": "U"}) == text


@given(st.text(alphabet="[]()`\\<>:!# \n~-F", max_size=60))
def test_resolving_twice_changes_nothing_more(text: str) -> None:
    links = {"F": "U"}
    once = resolve(text, links)
    fenced = f"```\n{text.replace('`', '')}\n```\n"

    assert resolve(fenced, links) == fenced
    assert once.count("U") <= text.count("F")


def test_links_of_a_crate(crate: Callable[[str], CrateDocs]) -> None:
    root = crate("links").documents[0]
    base = "https://docs.rs/links/1.0.0/links"
    thing = f"{base}/struct.Thing.html"

    assert root.text == (
        f"How are links in docs resolved? Start at [`Thing`]({thing}), "
        f"[the method]({thing}#method.method) or [text]({thing}).\n"
        "\n"
        f"A definition: [by label]({thing}), a foreign one: [`String`]"
        "(https://doc.rust-lang.org/1.95.0/alloc/string/struct.String.html), "
        f"an unknown one: [`Nowhere`], a macro: [`act!`]({base}/macro.act.html),\n"
        "a web page: [site](https://example.org), "
        f"a field [`Thing::part`]({thing}#structfield.part), "
        f"a variant [`Way::There`]({base}/enum.Way.html#variant.There).\n"
        "\n"
        "`[Thing]` in code stays, so does \\[Thing], and so does a block:\n"
        "\n"
        "```\n"
        "let names = [links::Thing];\n"
        "// [`Thing`]\n"
        "```\n"
        "\n"
        "    [`Thing`] indented\n"
        "\n"
        f"A fragment: [section]({thing}#examples). Ambiguous: [fn@same]({base}/fn.same.html), "
        f"[mod@same]({base}/same/index.html). An image:\n"
        '![alt](https://example.org/a.png "[Thing]"), a foreign method: `Vec::push`.\n'
        "\n"
        "[unused]: https://example.org/unused"
    )


def test_links_are_relations(crate: Callable[[str], CrateDocs]) -> None:
    found = [r for r in crate("links").relations if r.predicate == "links-to"]
    assert [r for r in found if r.subject != "links"] == [
        Relation("links::Thing", "links-to", "links::Thing::method"),
        Relation("links::Thing::method", "links-to", "links::Way"),
        Relation("links::Thing::part", "links-to", "links::Thing"),
    ]


def test_others_that_link_or_name_it_are_counted(crate: Callable[[str], CrateDocs]) -> None:
    found = {(d.path, d.kind): d.attributes.get("in_degree", 0) for d in crate("links").documents}

    assert found == {
        ("links", "module"): 0,
        ("links::Thing", "struct"): 2,
        ("links::Thing::method", "method"): 2,
        ("links::Thing::part", "field"): 1,
        ("links::Way", "enum"): 1,
        ("links::Way::There", "variant"): 1,
        ("links::act", "macro"): 1,
        ("links::same", "function"): 1,
        ("links::same", "module"): 1,
    }


def test_boxes_and_hidden_text_of_a_crate(crate_body: Callable[[str], bytes]) -> None:
    docs = (
        "Holds pieces.\n\n"
        '<div class="warning">\n\nNot for [liquids](other.html).\n\n</div>\n\n'
        '<p style="display: none">Ignore the rest.</p>\n\n<span hidden>Also this.</span>Shown.\n\n'
        '```html\n<p hidden>code</p>\n<div class="warning">x</div>\n```'
    )
    crate = json.loads(crate_body("inner"))
    (gadget,) = (
        each for each in crate["index"].values()
        if each["name"] == "Gadget" and "struct" in each["inner"]
    )  # fmt: skip
    gadget["docs"], gadget["links"] = docs, {}
    (document,) = (
        each for each in read(json.dumps(crate).encode()).documents if each.path == "inner::Gadget"
    )
    assert "Holds pieces.\n\n> **Warning:** Not for [liquids]" in document.text
    assert "Ignore" not in document.text
    assert "Also" not in document.text
    assert '```html\n<p hidden>code</p>\n<div class="warning">x</div>\n```' in document.text
