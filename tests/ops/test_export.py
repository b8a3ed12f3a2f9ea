"""Exports: every document once in every form, in order, and read back as it was."""

from __future__ import annotations

import contextlib
import json
import posixpath
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from docstow.core.errors import InvalidParameter
from docstow.core.model import Document, Relation, pack_definitions
from docstow.core.settings import load
from docstow.index.loaded import Index
from docstow.languages.rust import rustdoc
from docstow.net.decompress import Limits
from docstow.ops.export import ITEM_FORMATS, Export
from docstow.ops.export.items import ItemTree, format_relation
from docstow.ops.export.pieces import fill_page, fit_markdown
from docstow.runtime import SAMPLE, Runtime
from docstow.sources.crates.origin import read_file


@pytest.fixture(scope="module")
def runtime(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Runtime]:
    folder = tmp_path_factory.mktemp("export")
    flags = {"store": str(folder / "store"), "cache": str(folder / "cache")}
    flags |= {"docs_rs_url": "http://127.0.0.1:1", "crates_index_url": "http://127.0.0.1:1"}
    with contextlib.closing(Runtime(load(flags, {}))) as made:
        made.ingest_sample()
        yield made


@pytest.fixture(scope="module")
def index(runtime: Runtime) -> Index:
    return runtime.library.index(runtime.library.crate("stowage").snapshot)


def files(export: Export, form: str) -> dict[str, str]:
    found: dict[str, str] = {}
    for piece in export.pieces(form):
        found[piece.file] = found.get(piece.file, "") + piece.text
    return found


def document(path: str, kind: str, parent: str = "") -> Document:
    return Document(path, kind, path.rpartition("::")[2], parent=parent)


def tree(*documents: Document) -> ItemTree:
    names = ("path", "kind", "title", "parent", "url")
    return ItemTree({name: [getattr(each, name) for each in documents] for name in names})


def test_json_lines_are_read_back_as_the_reader_gave_them(index: Index) -> None:
    first, *lines = [json.loads(line) for line in Export(index).texts("jsonl")]
    docs = rustdoc.read(read_file(SAMPLE, Limits()).body)
    aliases = {each.subject for each in docs.relations if each.predicate == "alias"}
    relations = [*docs.relations, *pack_definitions(docs.definitions, aliases)]
    written = Counter(line.pop("record") for line in lines)
    assert written == {"document": len(docs.documents), "relation": len(relations)}
    parted = written["document"]
    assert [Document(**line) for line in lines[:parted]] == docs.documents
    assert [Relation(**line) for line in lines[parted:]] == relations
    assert (first["record"], first["name"], first["version"]) == ("snapshot", "stowage", "0.1.0")
    assert first["snapshot"] == index.snapshot.id
    assert str(Path.cwd()) not in json.dumps(first)


def test_every_document_has_one_heading_in_the_tree(index: Index) -> None:
    written = files(Export(index), "markdown")
    headings = Counter(
        found
        for text in written.values()
        for found in re.findall(r"^#{1,6} ([a-z_ -]+) `([^`]+)`$", text, re.MULTILINE)
    )
    columns = index.columns
    kinds = [str(kind).replace("_", " ") for kind in columns["kind"]]
    assert headings == Counter(zip(kinds, columns["path"], strict=True))
    assert set(written) >= {"stowage/index.md", "stowage/struct.Hold.md", "stowage/cargo/index.md"}
    assert "stowage/function.of.md" not in written


def test_links_in_the_tree_lead_to_files_and_anchors_that_are_there(index: Index) -> None:
    written = files(Export(index), "markdown")
    followed = 0
    for name, text in written.items():
        for link in re.findall(r"\]\(([^()\s]+)\)", text):
            if link.startswith("http"):
                assert "docs.rs/stowage" not in link
                continue
            place, _, anchor = link.partition("#")
            target = posixpath.normpath(posixpath.join(posixpath.dirname(name), place))
            target = target if place else name
            assert target in written, f"{name} links to {link}"
            assert not anchor or f'<a id="{anchor}"></a>' in written[target]
            followed += 1
    assert followed > 50


def test_a_page_of_the_tree_is_what_it_looks_like(index: Index) -> None:
    assert files(Export(index), "markdown")["stowage/balance/struct.Balance.md"].startswith(
        "# struct `stowage::balance::Balance`\n"
        "\n"
        "in [`stowage::balance`](index.md) · stowage 0.1.0 · "
        "<https://docs.rs/stowage/0.1.0/stowage/balance/struct.Balance.html> · third-party text\n"
    )


def test_llms_txt_has_the_format_of_llmstxt_org(index: Index) -> None:
    text = files(Export(index), "llms")["llms.txt"]
    head, *sections = re.split(r"^## (.+)\n\n", text, flags=re.MULTILINE)
    assert re.fullmatch(r"# stowage 0\.1\.0\n\n> [^\n]+\n\n[^\n#]+\n\n", head)
    names, bodies = sections[::2], sections[1::2]
    assert names == index.columns["path"][index.columns["kind"] == "module"].tolist()
    linked: list[tuple[str, str]] = []
    for body in bodies:
        for line in body.strip().splitlines():
            entry = re.fullmatch(r"- \[([^\]]+)\]\((\S+)\): ([a-z_ -]+)(?:\. .+)?", line)
            assert entry, line
            linked.append((entry[1], entry[2]))
    assert Counter(linked) == Counter(
        zip(index.columns["path"].tolist(), index.columns["url"].tolist(), strict=True)
    )


def test_llms_full_has_every_document_in_the_order_of_llms(index: Index) -> None:
    export = Export(index)
    full = files(export, "llms-full")["llms-full.txt"]
    found = re.findall(r"^#{2,6} [a-z_ -]+ `(stowage[^`]*)`$", full, re.MULTILINE)
    listed = re.findall(r"^- \[([^\]]+)\]", files(export, "llms")["llms.txt"], re.MULTILINE)
    assert found == listed
    assert Counter(found) == Counter(index.columns["path"].tolist())


@pytest.mark.parametrize("form", ITEM_FORMATS)
@pytest.mark.parametrize("tokens", [100, 700, 25000])
def test_the_pages_of_the_tool_are_the_export(
    runtime: Runtime, index: Index, form: str, tokens: int
) -> None:
    cursor, pages = "", []
    for _ in range(1000):
        arguments = {"crate": "stowage", "format": form, "max_tokens": tokens, "cursor": cursor}
        first, _, body = runtime.toolbox.call("export_snapshot", arguments).text.partition("\n")
        assert 0 < len(body) <= 4 * tokens
        assert index.snapshot.id[:12] in first
        pages.append(body)
        found = re.search(r'(?:cursor: `|"cursor": ")([^"`]+)', first)
        if found is None:
            break
        cursor = found[1]
    assert "".join(pages) == "".join(Export(index).texts(form))


def test_a_cursor_of_another_export_is_refused(runtime: Runtime) -> None:
    arguments: dict[str, Any] = {"crate": "stowage", "max_tokens": 100, "format": "llms"}
    first = runtime.toolbox.call("export_snapshot", arguments).text
    found = re.search(r"cursor: `(.+?)`", first)
    assert found
    for cursor in (found[1], "eA==", "none"):
        with pytest.raises(InvalidParameter) as caught:
            runtime.toolbox.call("export_snapshot", {"crate": "stowage", "cursor": cursor})
        assert caught.value.details["field"] == "cursor"


@given(st.lists(st.text(max_size=30), max_size=12), st.integers(1, 40))
def test_pages_leave_nothing_out(texts: list[str], limit: int) -> None:
    place: tuple[int, int] | None = (0, 0)
    pages = []
    while place is not None:
        page = fill_page(texts[place[0] :], place, limit)
        pages.append(page.text)
        place = page.following
    assert "".join(pages) == "".join(texts)
    assert all(len(page) <= limit for page in pages)


def test_names_are_safe_where_case_is_ignored_and_devices_have_names() -> None:
    made = tree(
        document("c", "module"),
        document("c::Stat", "struct", "c"),
        document("c::aux", "module", "c"),
        document("c::aux::Öl", "struct", "c::aux"),
        document("c::stat", "function", "c"),
        document("c::stat", "struct", "c"),
        document("c::x" + "y" * 200, "trait", "c"),
    )
    names = [place.file for place in made.places]
    assert names[0] == "c/index.md"
    assert re.fullmatch(r"c/struct\.Stat-[0-9a-f]{8}\.md", names[1])
    assert re.fullmatch(r"c/aux_-[0-9a-f]{8}/index\.md", names[2])
    assert re.fullmatch(r"c/aux_-[0-9a-f]{8}/struct\._l-[0-9a-f]{8}\.md", names[3])
    assert names[4] == "c/index.md"
    assert re.fullmatch(r"c/struct\.stat-[0-9a-f]{8}\.md", names[5])
    assert max(len(part) for part in names[6].split("/")) < 100
    own = [name for row, name in enumerate(names) if row != 4]
    assert len({name.lower() for name in own}) == len(own)


def test_owners_come_before_their_members_and_files_stay_together() -> None:
    made = tree(
        document("c", "module"),
        document("c::E", "enum", "c"),
        document("c::E2", "enum", "c"),
        document("c::E::V", "variant", "c::E"),
        document("c::E::V::x", "field", "c::E::V"),
        document("c::E::new", "method", "c::E"),
        document("c::m", "function", "c"),
        document("c::m", "module", "c"),
        document("c::m::f", "function", "c::m"),
        document("c::z", "function", "c"),
        document("lost::f", "function", "lost"),
    )
    assert made.order == [10, 0, 6, 9, 1, 3, 4, 5, 2, 7, 8]
    assert [made.places[row].level for row in (1, 3, 4)] == [1, 2, 3]
    assert made.places[4].anchor == "field.V.x"
    assert made.places[8].file == "c/m/index.md"
    assert made.link(4, "c/m/index.md") == "../enum.E.md#field.V.x"


@pytest.mark.parametrize("crate", ["kitchen", "libc", "std", "tokio"])
def test_real_crates_have_a_place_for_every_document(corpus: Path, crate: str) -> None:
    file = max((corpus / crate).glob("*/rustdoc.json.zst"))
    docs = rustdoc.read(read_file(file, Limits()).body, name=crate).documents
    made = tree(*docs)
    assert sorted(made.order) == list(range(len(docs)))
    assert len({(place.file, place.anchor) for place in made.places}) == len(docs)
    shown = [made.places[row].file for row in made.order]
    begun = [file for file, before in zip(shown, ["", *shown], strict=False) if file != before]
    own = [place.file for place in made.places if place.level == 1]
    assert sorted(begun) == sorted(own)
    assert len({file.lower() for file in own}) == len(own)
    assert not any(re.search(r"[^\w./-]|/\.", file, re.ASCII) for file in own)


def test_headings_and_links_fit_their_place_and_code_stays() -> None:
    text = (
        "Title\n=====\n\nSee [a](http://x/a) and [b].\n\n# One\n\n> ## Two\n\n"
        "```rust\n# [allow(x)] // ](http://x/a)\n```\n\n[b]: http://x/b 'c'\n"
    )
    assert fit_markdown(text, by=2, link=lambda url: url.removeprefix("http://x/")) == (
        "### Title\n\n\nSee [a](a) and [b].\n\n### One\n\n> #### Two\n\n"
        "```rust\n# [allow(x)] // ](http://x/a)\n```\n\n[b]: b 'c'\n"
    )


@pytest.mark.parametrize("text", ["```", "a\n\n```rust\nlet a;", "~~~~\n~~~\n# no", "```\n"])
def test_a_fence_that_is_never_closed_ends_with_its_text(text: str) -> None:
    closed = fit_markdown(text, by=1)
    markup = "~~~~" if text.startswith("~") else "```"
    assert closed == f"{text}\n{markup}"
    assert fit_markdown(closed, by=1) == closed


def test_a_line_of_json_has_every_field() -> None:
    relation = Relation("a", "alias", "b", "Ü")
    assert json.loads(format_relation(relation)) == {
        "record": "relation",
        "subject": "a",
        "predicate": "alias",
        "object": "b",
        "detail": "Ü",
    }
