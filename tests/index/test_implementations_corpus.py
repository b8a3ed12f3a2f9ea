"""``find_implementations`` against counts that are taken from the JSON by other means."""

from __future__ import annotations

import contextlib
import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import zstandard

from docstow.core.model import BLANKET, PACKED, SINGLE
from docstow.core.model import unpack_implementations as unpacked
from docstow.core.settings import load
from docstow.languages.rust.rustdoc import read
from docstow.languages.rust.rustdoc.split_crates import merge_siblings
from docstow.runtime import Runtime

#: The compiler's own; no user implements or names them.
INTERNAL = {"Freeze", "StructuralPartialEq", "UnsafeUnpin"}


def body(corpus: Path, crate: str) -> bytes:
    folder, _, name = crate.partition("#")
    packed = (corpus / folder / (name or "rustdoc.json.zst")).read_bytes()
    return zstandard.ZstdDecompressor().stream_reader(packed).read()


def implementations(file: dict[str, Any]) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """The trait's last name, the sort and the JSON of all implementations of traits in a file."""
    for item in file["index"].values():
        inner = item["inner"]
        impl = inner if item.get("kind") == "impl" else "impl" in inner and inner["impl"]
        if not impl or impl["trait"] is None:
            continue
        trait = impl["trait"].get("inner", impl["trait"])
        name = (trait.get("path") or trait["name"]).rpartition("::")[2]
        synthetic = impl.get("is_synthetic", impl.get("synthetic"))
        if name not in INTERNAL:
            yield name, "packed" if synthetic or impl["blanket_impl"] else "single", impl


@pytest.mark.parametrize(
    ("crate", "twins"),
    [
        # Two implementations for raw pointers stand twice in the file, word for word.
        ("core/1.98.1", 1),
        ("std/1.98.1", 0),
        ("serde/1.0.229", 0),
        ("tokio/1.53.2", 0),
        ("rayon/1.12.0", 0),
        ("kitchen/0.1.0#rustdoc.f15-rustc1.63.json.zst", 0),
        ("kitchen/0.1.0#rustdoc.f28-rustc1.78.json.zst", 0),
        ("kitchen/0.1.0#rustdoc.f37-rustc1.85.json.zst", 0),
        ("kitchen/0.1.0#rustdoc.f60-rustc1.98.json.zst", 0),
    ],
)
def test_no_implementation_is_lost(corpus: Path, crate: str, twins: int) -> None:
    content = body(corpus, crate)
    expected = Counter((name, sort) for name, sort, _ in implementations(json.loads(content)))
    found: Counter[tuple[str, str]] = Counter()
    for relation in read(content).relations:
        if relation.predicate in SINGLE:
            found[relation.object.lstrip("!").rpartition("::")[2], "single"] += 1
        elif relation.predicate in PACKED:
            for trait, _ in unpacked(relation.object, relation.detail):
                found[trait.lstrip("!").rpartition("::")[2], "packed"] += 1
    assert found - expected == Counter()
    assert (expected - found).total() == twins


def test_split_crates_implement_their_traits_at_their_own_paths(corpus: Path) -> None:
    part = read(body(corpus, "tracing-core/0.1.36"), name="tracing-core", version="0.1.36")
    whole = merge_siblings(
        read(body(corpus, "tracing/0.1.44"), name="tracing", version="0.1.44"),
        {"tracing_core": part},
    )

    found = [r for r in whole.relations if r.object == "tracing::Subscriber"]
    assert [(r.subject, r.predicate, r.detail) for r in found if r.predicate in SINGLE] == [
        (f"alloc::{path}", "implements", f"impl<S> Subscriber for {name}<S> where {bounds}")
        for path, name in (("boxed::Box", "Box"), ("sync::Arc", "Arc"))
        for bounds in ["S: Subscriber + ?Sized"]
    ] + [("tracing::subscriber::NoSubscriber", "implements", "impl Subscriber for NoSubscriber")]
    (visit,) = [r for r in whole.relations if r.predicate == BLANKET and r.subject == "F"]
    assert visit.object == "tracing::field::Visit"
    (packed,) = [
        r.object
        for r in whole.relations
        if (r.subject, r.predicate) == ("tracing::Span", "blanket-traits")
    ]
    assert "tracing::Instrument" in packed.split(" ")


@pytest.fixture(scope="module")
def runtime(corpus: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Runtime]:
    folder = tmp_path_factory.mktemp("implementations-corpus")
    flags = {"store": str(folder / "store"), "cache": str(folder / "cache")}
    with contextlib.closing(Runtime(load(flags, {}))) as runtime:
        for crate in ("serde/1.0.229", "std/1.98.1", "rayon/1.12.0"):
            file = corpus / crate / "rustdoc.json.zst"
            runtime.rustdoc_files([file]).ingest(file)
        yield runtime


@pytest.mark.parametrize(
    ("crate", "trait", "least"),
    [
        ("serde/1.0.229", "serde::Deserialize", 130),
        ("serde/1.0.229", "serde::ser::Serialize", 100),
        ("std/1.98.1", "std::iter::Iterator", 40),
        ("std/1.98.1", "Error", 20),
        ("rayon/1.12.0", "IntoParallelIterator", 20),
    ],
)
def test_all_pages_together_are_complete(
    runtime: Runtime, corpus: Path, crate: str, trait: str, least: int
) -> None:
    name = trait.rpartition("::")[2]
    file = json.loads(body(corpus, crate))
    expected = [sort for each, sort, _ in implementations(file) if each == name]
    arguments = {"crate": crate.split("/")[0], "trait": trait}
    found: list[tuple[str, str]] = []
    shown = total = 0
    cursor: str | None = ""
    while cursor is not None:
        arguments["cursor"] = cursor
        answer = runtime.toolbox.call("find_implementations", arguments).structured
        assert answer is not None
        assert len(answer["results"]) <= 50
        found += [(each["type"], each["header"]) for each in answer["results"]]
        shown += sum(each.get("grouped", 1) for each in answer["results"])
        cursor, total = answer["cursor"], answer["total"]
    assert len(found) == len(set(found))
    assert shown == total == expected.count("single") >= least


def test_arrays_of_each_length_are_one_result(runtime: Runtime) -> None:
    arguments = {"crate": "serde", "trait": "Deserialize"}
    answer = runtime.toolbox.call("find_implementations", arguments).structured
    assert answer is not None
    (arrays,) = [each for each in answer["results"] if each.get("grouped")]
    assert (arrays["type"], arrays["sizes"]) == ("[T; 0] … [T; 32]", "0-32")


def test_what_a_map_implements(runtime: Runtime) -> None:
    answer = runtime.toolbox.call(
        "find_implementations", {"crate": "std", "type": "HashMap"}
    ).structured
    assert answer is not None
    assert answer["meant"] == ["std::collections::HashMap"]
    headers = {each["header"] for each in answer["results"]}
    assert headers > {
        "impl<K, V, S, A: Allocator> IntoIterator for HashMap<K, V, S, A>",
        "impl<K, V, S, A> Send for HashMap<K, V, S, A> where S: Send, A: Send, K: Send, V: Send",
    }
