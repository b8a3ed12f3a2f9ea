"""URLs as rustdoc and docs.rs write them."""

from __future__ import annotations

import pytest

from docstow.languages.rust.rustdoc.links import (
    External,
    external_url,
    member_fragment,
    page_url,
    read_external,
    root_url,
)
from docstow.languages.rust.rustdoc.schema import ExternalCrate, Summary


@pytest.mark.parametrize(
    ("path", "kind", "expected"),
    [
        ("a", "module", "a/index.html"),
        ("a::b", "module", "a/b/index.html"),
        ("a::b::C", "struct", "a/b/struct.C.html"),
        ("a::C", "enum", "a/enum.C.html"),
        ("a::C", "union", "a/union.C.html"),
        ("a::C", "trait", "a/trait.C.html"),
        ("a::C", "trait_alias", "a/traitalias.C.html"),
        ("a::c", "function", "a/fn.c.html"),
        ("a::C", "type_alias", "a/type.C.html"),
        ("a::C", "constant", "a/constant.C.html"),
        ("a::C", "static", "a/static.C.html"),
        ("a::c", "macro", "a/macro.c.html"),
        ("a::c", "attribute_macro", "a/attr.c.html"),
        ("a::C", "derive_macro", "a/derive.C.html"),
        ("a::c", "primitive", "a/primitive.c.html"),
        ("a::C", "extern_type", "a/foreigntype.C.html"),
        ("a::E::V", "variant", "a/enum.E.html#variant.V"),
    ],
)
def test_pages(path: str, kind: str, expected: str) -> None:
    assert page_url("R/", path, kind) == f"R/{expected}"


def test_anchors() -> None:
    assert member_fragment("method", "go") == "#method.go"
    assert member_fragment("method", "go", required=True) == "#tymethod.go"
    assert member_fragment("assoc_type", "T", required=True) == "#associatedtype.T"
    assert member_fragment("assoc_const", "N") == "#associatedconstant.N"
    assert member_fragment("field", "f") == "#structfield.f"
    assert member_fragment("variant", "V") == "#variant.V"


@pytest.mark.parametrize(
    ("package", "version", "lib", "expected"),
    [
        ("tokio-util", "0.7.3", "tokio_util", "https://docs.rs/tokio-util/0.7.3/"),
        ("x", "", "x", "https://docs.rs/x/latest/"),
        ("std", "1.97.1", "std", "https://doc.rust-lang.org/1.97.1/"),
        ("core", "", "core", "https://doc.rust-lang.org/stable/"),
    ],
)
def test_roots(package: str, version: str, lib: str, expected: str) -> None:
    assert root_url("https://docs.rs", package, version, lib) == expected


@pytest.mark.parametrize(
    ("name", "url", "expected"),
    [
        (
            "serde_core",
            "https://docs.rs/serde_core/1.0.229/x86_64-unknown-linux-gnu/",
            External("serde_core", "serde_core", "1.0.229", "https://docs.rs/serde_core/1.0.229/"),
        ),
        (
            "tokio_macros",
            "https://docs.rs/tokio-macros/2.5.0",
            External(
                "tokio_macros", "tokio-macros", "2.5.0", "https://docs.rs/tokio-macros/2.5.0/"
            ),
        ),
        (
            "std",
            "https://doc.rust-lang.org/nightly/",
            External("std", "std", "nightly", "https://doc.rust-lang.org/nightly/"),
        ),
        ("core", None, External("core", "core", "stable", "https://doc.rust-lang.org/stable/")),
        ("hashbrown", "https://doc.rust-lang.org/nightly/", External("hashbrown", "", "", "")),
        ("log", "https://docs.rs/log/*/log", External("log", "", "", "https://docs.rs/log/*/log/")),
        ("own", "https://example.org/own/", External("own", "", "", "https://example.org/own/")),
        ("private", None, External("private", "", "", "")),
    ],
)
def test_other_crates(name: str, url: str | None, expected: External) -> None:
    assert read_external(ExternalCrate(name, url)) == expected


def test_pages_of_other_crates() -> None:
    crates = {
        1: External("inner", "fixture-inner", "2.1.0", "https://docs.rs/fixture-inner/2.1.0/"),
        2: External("private", "", "", ""),
    }

    assert (
        external_url(Summary(1, ["inner", "Derive"], "proc_derive"), crates)
        == "https://docs.rs/fixture-inner/2.1.0/inner/derive.Derive.html"
    )
    assert (
        external_url(Summary(1, ["inner", "Way", "There"], "variant"), crates)
        == "https://docs.rs/fixture-inner/2.1.0/inner/enum.Way.html#variant.There"
    )
    assert external_url(Summary(2, ["private", "X"], "struct"), crates) == ""
    assert external_url(Summary(3, ["nobody", "X"], "struct"), crates) == ""
