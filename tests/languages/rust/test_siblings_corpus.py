"""Split crates of the corpus, put together again."""

from __future__ import annotations

from pathlib import Path

import pytest
import zstandard

from docstow.languages.rust.rustdoc import CrateDocs, read
from docstow.languages.rust.rustdoc.split_crates import (
    Sibling,
    find_siblings,
    merge_siblings,
    read_siblings,
)


def load(corpus: Path, package: str, version: str) -> CrateDocs | None:
    file = corpus / package / version / "rustdoc.json.zst"
    if not file.is_file():
        return None
    body = zstandard.ZstdDecompressor().decompress(file.read_bytes())
    return read(body, name=package, version=version)


def whole(corpus: Path, package: str, version: str) -> CrateDocs:
    docs = load(corpus, package, version)
    assert docs is not None
    return merge_siblings(
        docs, read_siblings(docs, lambda sibling: load(corpus, sibling.package, sibling.version))
    )


def test_clap_is_what_its_builder_says(corpus: Path) -> None:
    clap = load(corpus, "clap", "4.6.7")
    assert clap is not None
    assert find_siblings(clap) == [Sibling("clap_builder", "clap_builder", "4.6.7")]
    docs = whole(corpus, "clap", "4.6.7")
    builder = load(corpus, "clap_builder", "4.6.7")
    assert builder is not None
    assert len(docs.documents) == len(builder.documents)
    (command,) = [d for d in docs.documents if d.path == "clap::Command"]
    assert (command.kind, command.parent) == ("struct", "clap")
    assert command.attributes["aliases"] == ["clap::builder::Command"]
    assert command.attributes["documented_in"] == "clap_builder 4.6.7"
    (method,) = [d for d in docs.documents if d.path == "clap::Command::arg"]
    assert (method.parent, method.attributes["depth"]) == ("clap::Command", 3)


@pytest.mark.parametrize(
    ("package", "version", "paths"),
    [
        (
            "futures",
            "0.3.34",
            ["StreamExt", "StreamExt::buffered", "channel::mpsc::Sender::try_send"],
        ),
        ("rand", "0.10.3", ["Rng", "rngs::StdRng"]),
        ("tracing", "0.1.44", ["Subscriber", "field::Field", "instrument"]),
        ("crossbeam", "0.8.4", ["channel::Sender", "deque::Worker", "utils::Backoff"]),
    ],
)
def test_items_stand_where_users_write_them(
    corpus: Path, package: str, version: str, paths: list[str]
) -> None:
    docs = whole(corpus, package, version)
    found = {document.path for document in docs.documents if document.kind != "re-export"}
    lib = package.replace("-", "_")
    assert {f"{lib}::{path}" for path in paths} <= found
    keys = [(document.path, document.kind) for document in docs.documents]
    assert keys == sorted(set(keys))
    aliases = {r.subject: r.object for r in docs.relations if r.predicate == "alias"}
    assert set(aliases.values()) <= {document.path for document in docs.documents}
    parents = {document.parent for document in docs.documents} - {""}
    assert parents <= {document.path for document in docs.documents}


def test_a_crate_without_siblings_stays_as_it_is(corpus: Path) -> None:
    docs = load(corpus, "itertools", "0.14.0")
    assert docs is not None
    assert merge_siblings(docs, read_siblings(docs, lambda _: None)) is docs


@pytest.fixture(scope="module")
def standard(corpus: Path) -> CrateDocs:
    """``std`` with what it shows of ``core`` and ``alloc``."""
    libs = ("std", "core", "alloc")
    docs = {lib: load(corpus, lib, "1.98.1") for lib in libs}
    std = docs["std"]
    assert std is not None
    return merge_siblings(std, read_siblings(std, lambda sibling: docs[sibling.lib], libs))


def test_primitives_have_the_methods_that_core_defines(standard: CrateDocs) -> None:
    keys = [(document.path, document.kind) for document in standard.documents]
    assert keys == sorted(set(keys))
    assert {
        ("std::slice", "primitive"),
        ("std::slice", "module"),
        ("std::slice::first", "method"),
        ("std::slice::binary_search", "method"),
        ("std::slice::from_ref", "function"),
        ("std::pointer::is_null", "method"),
        ("std::str::split_whitespace", "method"),
        ("std::char::is_alphabetic", "method"),
        ("std::char::from_u32", "function"),
        ("std::char::from_u32", "method"),
    } <= set(keys)
    parents = {document.parent for document in standard.documents} - {""}
    assert parents <= {document.path for document in standard.documents}


def test_definition_paths_of_all_three_mean_items_of_std(standard: CrateDocs) -> None:
    definitions = standard.definitions
    assert {path: definitions.get(path) for path in _DEFINED} == _DEFINED
    present = {document.path for document in standard.documents}
    assert set(definitions.values()) <= present
    assert not present & definitions.keys()


_DEFINED = {
    "core::future::future::Future": "std::future::Future",
    "core::ops::index::Index": "std::ops::Index",
    "core::slice::first": "std::slice::first",
    "alloc::vec::peek_mut::PeekMut": "std::vec::PeekMut",
    # Defined in std until 1.97, in core since.
    "std::io::cursor::Cursor": "std::io::Cursor",
}
