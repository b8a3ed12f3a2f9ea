"""Paths, aliases and re-exports of crates that ask one question each."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from docstow.core.model import Document, Relation
from docstow.languages.rust.rustdoc import CrateDocs
from docstow.languages.rust.rustdoc.paths import Place, order

Crates = Callable[[str], CrateDocs]


def paths(docs: CrateDocs) -> list[tuple[str, str]]:
    return [(each.path, each.kind) for each in docs.documents]


def aliases(docs: CrateDocs) -> dict[str, str]:
    return {r.subject: r.object for r in docs.relations if r.predicate == "alias"}


def one(docs: CrateDocs, path: str, kind: str) -> Document:
    (found,) = [each for each in docs.documents if (each.path, each.kind) == (path, kind)]
    return found


def test_every_reexported_item_stands_once_at_its_best_path(crate: Crates) -> None:
    assert paths(crate("reexports")) == [
        ("reexports", "module"),
        ("reexports::After", "struct"),
        ("reexports::Gadget", "re-export"),
        ("reexports::Ground", "re-export"),
        ("reexports::Hidden", "struct"),
        ("reexports::Hidden::new", "method"),
        ("reexports::Map", "re-export"),
        ("reexports::Turn", "re-export"),
        ("reexports::deep", "re-export"),
        ("reexports::first", "module"),
        ("reexports::first::Chained", "struct"),
        ("reexports::more", "module"),
        ("reexports::open", "function"),
        ("reexports::outer", "re-export"),
        ("reexports::prelude", "module"),
        ("reexports::public", "module"),
        ("reexports::public::Speaks", "trait"),
        ("reexports::public::nested", "module"),
        ("reexports::public::nested::Twice", "struct"),
        ("reexports::second", "module"),
        ("reexports::twin", "re-export"),
        ("reexports::wind", "re-export"),
    ]


def test_other_paths_are_aliases(crate: Crates) -> None:
    docs = crate("reexports")

    assert aliases(docs) == {
        "reexports::first::Shown": "reexports::Hidden",
        "reexports::more::twin": "reexports::twin",
        "reexports::prelude::Hidden": "reexports::Hidden",
        "reexports::prelude::Twice": "reexports::public::nested::Twice",
        "reexports::public::open": "reexports::open",
        "reexports::second::Chained": "reexports::first::Chained",
        "reexports::shortcut": "reexports::public::nested",
        "reexports::shortcut::Twice": "reexports::public::nested::Twice",
    }


def test_definition_paths_lead_to_documents(crate: Crates) -> None:
    assert crate("reexports").definitions == {
        "reexports::private::Before": "reexports::After",
        "reexports::private::Hidden": "reexports::Hidden",
        "reexports::public::open": "reexports::open",
        "reexports::speaks::Speaks": "reexports::public::Speaks",
        "reexports::third::Chained": "reexports::first::Chained",
    }


def test_a_reexport_puts_its_own_words_first(crate: Crates) -> None:
    assert one(crate("reexports"), "reexports::Hidden", "struct") == Document(
        path="reexports::Hidden",
        kind="struct",
        title="Hidden",
        signature="pub struct Hidden;",
        text="Words of the re-export.\n\nLives where nobody can look.",
        url="https://docs.rs/reexports/1.0.0/reexports/struct.Hidden.html",
        parent="reexports",
        attributes={
            "source": "src/lib.rs:5",
            "aliases": ["reexports::first::Shown", "reexports::prelude::Hidden"],
            "depth": 2,
        },
    )


def test_pages_are_where_rustdoc_writes_them(crate: Crates) -> None:
    base = "https://docs.rs/reexports/1.0.0/reexports"
    urls = {each.path: each.url for each in crate("reexports").documents}

    assert urls["reexports::open"] == f"{base}/public/fn.open.html"
    assert urls["reexports::first::Chained"] == f"{base}/first/struct.Chained.html"
    assert urls["reexports::public::Speaks"] == f"{base}/public/trait.Speaks.html"
    assert urls["reexports::Turn"] == f"{base}/index.html#reexport.Turn"
    assert urls["reexports::deep"] == f"{base}/deep/index.html"
    assert urls["reexports::wind"] == f"{base}/macro.wind.html"


def test_items_of_other_crates_are_pointers(crate: Crates) -> None:
    assert one(crate("reexports"), "reexports::Ground", "re-export") == Document(
        path="reexports::Ground",
        kind="re-export",
        title="Ground",
        signature="pub use inner::deep::Bottom as Ground;",
        text="",
        url="https://docs.rs/reexports/1.0.0/reexports/struct.Ground.html",
        parent="reexports",
        attributes={
            "source": "src/lib.rs:69",
            "target": "inner::deep::Bottom",
            "target_kind": "struct",
            "target_crate": "fixture-inner",
            "target_version": "2.1.0",
            "target_url": "https://docs.rs/fixture-inner/2.1.0/inner/deep/struct.Bottom.html",
            "depth": 2,
        },
    )
    assert [r for r in crate("reexports").relations if r.predicate == "re-exports"][:4] == [
        Relation("reexports::Gadget", "re-exports", "inner::Gadget", "2.1.0"),
        Relation("reexports::Ground", "re-exports", "inner::deep::Bottom", "2.1.0"),
        Relation("reexports::Map", "re-exports", "std::collections::BTreeMap", "1.95.0"),
        Relation("reexports::Turn", "re-exports", "inner::Turn", "2.1.0"),
    ]
    assert (
        one(crate("reexports"), "reexports::outer", "re-export").signature
        == "pub extern crate inner as outer;"
    )


def test_a_pointer_can_have_a_target_in_each_namespace(crate: Crates) -> None:
    twin = one(crate("reexports"), "reexports::twin", "re-export")
    further = twin.attributes["further_targets"]

    assert twin.signature == "pub use inner::twin;"
    assert {twin.attributes["target_kind"], *(each["target_kind"] for each in further)} == {
        "macro",
        "module",
    }
    assert twin.attributes["aliases"] == ["reexports::more::twin"]
    assert [r for r in crate("reexports").relations if r.subject == twin.path] == [
        Relation("reexports::twin", "re-exports", "inner::twin", "2.1.0")
    ]


def test_globs_show_what_is_public_and_not_shadowed(crate: Crates) -> None:
    docs = crate("globs")

    assert [each for each in paths(docs) if each[0].count("::") == 1] == [
        ("globs::Left", "struct"),
        ("globs::Right", "struct"),
        ("globs::Seen", "struct"),
        ("globs::Shadowed", "function"),
        ("globs::Shadowed", "struct"),
        ("globs::Side", "enum"),
        ("globs::circle", "module"),
        ("globs::far", "function"),
        ("globs::left", "module"),
        ("globs::right", "module"),
        ("globs::sides", "module"),
    ]
    assert one(docs, "globs::Shadowed", "struct").text == "The explicit one."


def test_modules_in_circles_are_entered_once(crate: Crates) -> None:
    assert aliases(crate("globs")) == {
        "globs::circle::again": "globs::circle",
        "globs::left::Left": "globs::Left",
        "globs::left::Right": "globs::Right",
        "globs::right::Left": "globs::Left",
        "globs::right::Right": "globs::Right",
        "globs::sides::Port": "globs::Side::Port",
        "globs::sides::Starboard": "globs::Side::Starboard",
    }


def test_globs_of_other_crates_are_relations(crate: Crates) -> None:
    assert [r for r in crate("globs").relations if r.predicate == "re-exports"] == [
        Relation("globs", "re-exports", "inner::*", "2.1.0")
    ]


def test_one_name_in_three_namespaces(crate: Crates) -> None:
    same = [each for each in crate("namespaces").documents if each.path == "namespaces::same"]

    assert [
        (each.kind, each.signature.splitlines()[0], each.url.partition("1.0.0/")[2])
        for each in same
    ] == [
        ("function", "pub fn same()", "namespaces/fn.same.html"),
        ("macro", "macro_rules! same {", "namespaces/macro.same.html"),
        ("module", "pub mod same", "namespaces/same/index.html"),
    ]


@pytest.mark.parametrize(
    ("better", "worse"),
    [
        (Place("a::b::C", 1), Place("a::prelude::C", 1)),
        (Place("a::C", 1), Place("a::b::C", 1)),
        (Place("a::b::C", 1), Place("a::D", 1, renamed=True)),
        (Place("a::defined::C", 1), Place("a::another::C", 1)),
        (Place("a::d::C", 1), Place("a::c::C", 1, has_page=False)),
        (Place("a::b::C", 1), Place("a::c::C", 1)),
        (Place("a::b::c::D", 1), Place("a::__private::D", 1)),
    ],
)
def test_the_better_place_comes_first(better: Place, worse: Place) -> None:
    assert order(better, "a::defined::C") < order(worse, "a::defined::C")
