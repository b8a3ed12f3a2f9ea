"""The reader as others call it: what it gives, what it refuses, what it costs."""

from __future__ import annotations

import dataclasses
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import zstandard
from hypothesis import given, settings
from hypothesis import strategies as st

from docstow.core.errors import UnreadableInput, UnsupportedFormat
from docstow.languages.rust.rustdoc import CrateDocs, format_version, read
from paths import CRATES

Bodies = Callable[[str], bytes]


def with_version(body: bytes, version: int) -> bytes:
    head, _, _ = body.rpartition(b',"format_version"')
    return head + f',"format_version":{version}}}'.encode()


def test_macros_of_all_sorts(crate: Callable[[str], CrateDocs]) -> None:
    assert [(d.path, d.kind, d.signature, d.text) for d in crate("macros").documents] == [
        ("macros", "module", "crate macros", "Macros that are programs."),
        (
            "macros::Nothing",
            "derive_macro",
            "#[derive(Nothing)] // helper attributes: #[skip], #[rename]",
            "Derives nothing.",
        ),
        ("macros::repeat", "macro", "repeat!(…)", "Repeats."),
        ("macros::unchanged", "attribute_macro", "#[unchanged]", "Changes nothing."),
    ]


def test_facts(crate: Callable[[str], CrateDocs]) -> None:
    docs = crate("reexports")
    std = {"version": "1.95.0", "url": "https://doc.rust-lang.org/1.95.0/"}
    externals = docs.facts["externals"]

    assert (docs.name, docs.version, docs.format_version, docs.target) == (
        "reexports",
        "1.0.0",
        57,
        "x86_64-unknown-linux-gnu",
    )
    assert externals["inner"] == {
        "package": "fixture-inner",
        "version": "2.1.0",
        "url": "https://docs.rs/fixture-inner/2.1.0/",
    }
    assert externals["core"] == {"package": "core", **std}
    assert {key: value for key, value in docs.facts.items() if key != "externals"} == {
        "lib": "reexports",
        "description": (
            "Which paths do items get that are re-exported, renamed, chained or foreign?"
        ),
        "crate_version": "1.0.0",
        "format_version": 57,
        "target": "x86_64-unknown-linux-gnu",
        "counts": {
            "function": 1,
            "method": 1,
            "module": 7,
            "re-export": 8,
            "struct": 4,
            "trait": 1,
        },
    }
    assert json.loads(json.dumps(docs.facts)) == docs.facts


def test_the_caller_names_the_package(crate_body: Bodies) -> None:
    docs = read(
        crate_body("inner"), name="fixture-inner", version="9.9.9", base_url="http://mirror/"
    )

    assert (docs.name, docs.version) == ("fixture-inner", "9.9.9")
    assert docs.documents[0].url == "http://mirror/fixture-inner/9.9.9/inner/index.html"


def test_reading_twice_gives_the_same(crate_body: Bodies) -> None:
    assert read(crate_body("members")) == read(crate_body("members"))


def test_format_version_from_the_tail(crate_body: Bodies) -> None:
    assert format_version(crate_body("inner")) == 57
    assert format_version(crate_body("inner") + b"\n") == 57
    assert format_version(b'{"format_version": 30, "rest": "' + b"x" * 500 + b'"}') == 30


def test_a_newer_format_is_refused_with_the_range(crate_body: Bodies) -> None:
    with pytest.raises(UnsupportedFormat) as caught:
        read(with_version(crate_body("inner"), 62))

    assert caught.value.details == {"format_version": 62, "supported": [15, 61]}
    assert "format 62 cannot be read; formats 15 to 61 can" in caught.value.message


def test_a_newer_format_is_tried_if_the_reader_is_told_to(crate_body: Bodies) -> None:
    docs = read(with_version(crate_body("inner"), 62), try_unknown=True)

    assert docs.facts["format_untested"] is True
    assert docs.documents == read(crate_body("inner")).documents


def test_a_format_beyond_understanding_is_refused_with_both_numbers(crate_body: Bodies) -> None:
    body = with_version(crate_body("inner").replace(b'"paths":', b'"roads":'), 99)

    with pytest.raises(UnsupportedFormat) as caught:
        read(body, try_unknown=True)

    assert caught.value.details == {"format_version": 99, "supported": [15, 61]}
    assert "format 99" in caught.value.message


def test_an_old_format_is_refused(crate_body: Bodies) -> None:
    with pytest.raises(UnsupportedFormat) as caught:
        read(with_version(crate_body("inner"), 14))

    assert caught.value.details == {"format_version": 14, "supported": [15, 61]}


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"[]",
        b"not JSON",
        b"<html>404</html>",
        b'{"format_version": 57}',
        b'{"root":1,"index":{},"paths":{},"format_version":57}',
        b"\xff\xfe",
        b"[" * 100_000,
    ],
)
def test_what_is_not_rustdoc_json_is_unreadable(body: bytes) -> None:
    with pytest.raises(UnreadableInput):
        read(body)


def test_a_file_that_was_cut_is_unreadable(crate_body: Bodies) -> None:
    for part in (1, 2, 3):
        with pytest.raises(UnreadableInput):
            read(crate_body("inner")[: len(crate_body("inner")) * part // 4])


@given(st.integers(0, 240_000), st.binary(min_size=1, max_size=8))
@settings(max_examples=60, deadline=None)
def test_damage_is_either_harmless_or_an_error_of_ours(at: int, noise: bytes) -> None:
    path = CRATES / "inner/rustdoc.json.zst"
    body = zstandard.ZstdDecompressor().stream_reader(path.read_bytes()).read()
    try:
        docs = read(body[:at] + noise + body[at + len(noise) :])
    except (UnreadableInput, UnsupportedFormat):
        return
    assert docs.documents


def test_formats_28_to_60_read_alike(corpus: Path) -> None:
    """One crate, five compilers: the documents differ in URLs of std alone."""
    seen = {}
    for path in sorted((corpus / "kitchen" / "0.1.0").glob("rustdoc.f*.zst")):
        docs = read(zstandard.ZstdDecompressor().stream_reader(path.read_bytes()).read())
        seen[docs.format_version] = [
            (d.path, d.kind, d.signature.removeprefix("pub ").removeprefix("unsafe "), d.url)
            for d in docs.documents
        ]

    assert sorted(seen) == [15, 28, 37, 57, 60]
    assert seen[28] == seen[37] == seen[57] == seen[60]


def test_format_15_gives_what_it_knew(corpus: Path) -> None:
    (path,) = (corpus / "kitchen" / "0.1.0").glob("rustdoc.f15*.zst")
    old = read(zstandard.ZstdDecompressor().stream_reader(path.read_bytes()).read())
    signatures = {(d.path, d.kind): d.signature for d in old.documents}

    assert signatures["kitchen::Shape", "trait"].startswith(
        "pub trait Shape: Debug + Send where Self: 'static {\n    type Unit: Default + Clone;"
    )
    assert signatures["kitchen::Alias", "type_alias"] == (
        "pub type Alias<T> = Result<T, Box<dyn Error>>;"
    )
    assert signatures["kitchen::simple", "function"] == (
        "pub fn simple(\n    a: u8,\n    b: &mut [u8],\n    (x, y): (i8, i8),\n    _: (),\n"
        ") -> Result<(), Box<dyn Error + Send + Sync + 'static>>"
    )
    assert signatures["kitchen::Kind::Tuple", "variant"] == "Tuple(T, u8)"
    assert signatures["kitchen::BTreeMap", "struct"].startswith("pub struct BTreeMap<K, V")


def test_spawn_is_found_at_the_root_of_tokio(corpus: Path) -> None:
    body = (corpus / "tokio" / "1.53.2" / "rustdoc.json.zst").read_bytes()
    docs = read(zstandard.ZstdDecompressor().stream_reader(body).read(), name="tokio")
    (spawn,) = [d for d in docs.documents if d.path == "tokio::spawn"]

    assert dataclasses.replace(spawn, text="", attributes={}) == dataclasses.replace(
        spawn,
        kind="function",
        title="spawn",
        signature=(
            "pub fn spawn<F>(future: F) -> JoinHandle<F::Output>\n"
            "where\n    F: Future + Send + 'static,\n    F::Output: Send + 'static,"
        ),
        text="",
        url="https://docs.rs/tokio/1.53.2/tokio/fn.spawn.html",
        parent="tokio",
        attributes={},
    )
    assert spawn.attributes["aliases"] == ["tokio::task::spawn"]
    assert spawn.attributes["features"] == ["rt"]
    assert "tokio::spawn(async move {" in spawn.text


_PEAK = """
import resource, sys, zstandard
from docstow.languages.rust.rustdoc import read
body = zstandard.ZstdDecompressor().decompress(open(sys.argv[1], "rb").read(), 10**9)
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
read(body)
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
print(len(body), (peak - before) * 1024)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="ru_maxrss counts kilobytes on Linux only")
def test_reading_takes_less_than_four_times_the_file(corpus: Path) -> None:
    path = corpus / "libc" / "0.2.186" / "rustdoc.json.zst"
    run = subprocess.run(
        [sys.executable, "-c", _PEAK, str(path)], capture_output=True, text=True, check=True
    )
    size, grown = map(int, run.stdout.split())

    assert grown + size < 4 * size
