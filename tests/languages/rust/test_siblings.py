"""A primitive type's page is in several crates; its methods come together on one."""

from __future__ import annotations

from docstow.core.model import Document, Relation
from docstow.languages.rust.rustdoc import CrateDocs
from docstow.languages.rust.rustdoc.split_crates import merge_siblings


def crate(lib: str, *items: tuple[str, str, str], **definitions: str) -> CrateDocs:
    documents = [
        Document(f"{lib}{path}", kind, path.rpartition(":")[2], f"{kind} {lib}", text, "", parent)
        for path, kind, text in items
        for parent in [f"{lib}{path}".rpartition("::")[0]]
    ]
    relations = [Relation(f"{lib}::word", "links-to", f"{lib}::word::len")]
    facts = {"lib": lib, "externals": {}}
    ordered = sorted(documents, key=lambda d: (d.path, d.kind))
    return CrateDocs(lib, "1.0.0", 61, "", facts, ordered, relations, definitions)


def whole() -> CrateDocs:
    """``whole`` has the page of ``word`` and one method; ``part`` has a module of that name too."""
    own = crate(
        "whole",
        ("", "module", ""),
        ("::word", "primitive", "Own page."),
        ("::word::to_text", "method", "Own method."),
        ("::word::len", "method", "Own words."),
    )
    part = crate(
        "part",
        ("", "module", ""),
        ("::word", "module", "A module."),
        ("::word", "primitive", "Part's page."),
        ("::word::len", "method", "Part's words."),
        ("::word::first", "method", "First."),
        ("::word::MAX", "assoc_const", "Most."),
        ("::word::Iter", "struct", "Of the module."),
    )
    return merge_siblings(own, {"part": part})


def test_methods_of_a_primitive_are_on_its_page_and_none_twice() -> None:
    found = [(d.path, d.kind, d.text, d.parent) for d in whole().documents]
    assert found == [
        ("whole", "module", "", ""),
        ("whole::word", "primitive", "Own page.", "whole"),
        ("whole::word::MAX", "assoc_const", "Most.", "whole::word"),
        ("whole::word::first", "method", "First.", "whole::word"),
        ("whole::word::len", "method", "Own words.", "whole::word"),
        ("whole::word::to_text", "method", "Own method.", "whole::word"),
    ]


def test_links_of_a_primitive_lead_to_its_page_here() -> None:
    assert whole().relations == [Relation("whole::word", "links-to", "whole::word::len")]


def test_the_siblings_paths_mean_the_items_here() -> None:
    assert whole().definitions == {
        f"part::{path}": f"whole::{path}"
        for path in ("word", "word::MAX", "word::first", "word::len")
    }
