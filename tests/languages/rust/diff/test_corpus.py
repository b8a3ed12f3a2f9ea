"""Real pairs of versions against tables made by hand; see ``tests/fixtures/diffs``.

Each table names changes with the rule they fall under and the reason, and items of which nothing
(but their docs) may be said. ``"breaking": "all"`` says that it names every breaking change.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import zstandard

from docstow.languages.rust.diff import RULES, Side, compare
from docstow.languages.rust.rustdoc import CrateDocs, read
from docstow.languages.rust.rustdoc.split_crates import merge_siblings, read_siblings
from paths import FIXTURES

TABLES = sorted((FIXTURES / "diffs").glob("*.json"))


def load(corpus: Path, package: str, version: str, mark: str = "") -> CrateDocs | None:
    files = sorted((corpus / package / version).glob("rustdoc*.json.zst"))
    chosen = [file for file in files if mark in file.name]
    if not chosen:
        return None
    whole = [file for file in chosen if file.name == "rustdoc.json.zst"] or chosen
    body = zstandard.ZstdDecompressor().stream_reader(whole[-1].read_bytes()).read()
    return read(body, name=package, version=version)


@cache
def side(corpus: Path, package: str, version: str, mark: str = "") -> Side:
    docs = load(corpus, package, version, mark)
    assert docs is not None
    parts = read_siblings(docs, lambda sibling: load(corpus, sibling.package, sibling.version))
    docs = merge_siblings(docs, parts)
    return Side(version, docs.documents, docs.relations, dict(docs.facts))


@pytest.mark.parametrize("table", TABLES, ids=lambda table: table.stem)
def test_a_real_pair_agrees_with_its_table(corpus: Path, table: Path) -> None:
    expected: dict[str, Any] = json.loads(table.read_text("utf-8"))
    old, new = (side(corpus, expected["crate"], expected[name]) for name in ("old", "new"))
    found = compare(old, new)
    said = {(each.path, each.kind, each.rule) for each in found.changes}
    wanted = {(each["path"], each["kind"], each["rule"]) for each in expected["changes"]}
    assert wanted - said == set()
    assert (found.bump.needed, found.bump.fits) == (expected["needed"], expected["fits"])
    silent = {path for path, _ in expected["absent"]}
    rules = {each.rule for each in found.changes if each.path in silent}
    assert not {rule for rule in rules if RULES[rule].verdict == "breaking"}
    if expected.get("breaking") == "all":
        breaking = {each for each in said if RULES[each[2]].verdict == "breaking"}
        assert breaking == {each for each in wanted if RULES[each[2]].verdict == "breaking"}


@pytest.mark.parametrize(
    ("package", "version"),
    [
        ("anyhow", "1.0.69"),
        ("either", "1.6.1"),
        ("hashbrown", "0.12.3"),
        ("http", "0.2.7"),
    ],
)
def test_the_same_version_in_two_formats_differs_in_docs_at_most(
    corpus: Path, package: str, version: str
) -> None:
    found = compare(*(side(corpus, package, version, mark) for mark in ("f15", "f28")))
    assert [each for each in found.changes if each.verdict != "docs-only"] == []


def test_a_split_crate_is_no_mass_removal(corpus: Path) -> None:
    found = compare(side(corpus, "clap", "4.0.32"), side(corpus, "clap", "4.5.23"))
    rules = [each.rule for each in found.changes]
    assert rules.count("item-removed") == 0
    assert 20 <= rules.count("item-added") <= 60


def test_what_a_part_that_the_docs_only_name_implements_is_not_judged(corpus: Path) -> None:
    """From 1.0.220 on ``serde`` is split; its docs hold all but what features of the part add."""
    found = compare(side(corpus, "serde", "1.0.217"), side(corpus, "serde", "1.0.229"))
    assert {(each.path, each.rule) for each in found.changes if each.verdict != "docs-only"} == {
        ("serde::Deserialize", "not-judged"),
        ("serde::Serialize", "not-judged"),
        ("serde::de::DeserializeSeed", "not-judged"),
    }
    assert found.bump.fits


def test_another_build_is_told_by_its_features(corpus: Path) -> None:
    """The older file holds the default features alone, which are none."""
    old, new = side(corpus, "tokio", "1.24.2"), side(corpus, "tokio", "1.43.1")
    needed = {name for each in new.documents for name in each.attributes.get("features", ())}
    facts: dict[str, Any] = {"features": {name: [] for name in needed}}
    bare = Side(old.version, old.documents, old.relations, {**old.facts, **facts})
    rich = Side(new.version, new.documents, new.relations, {**new.facts, **facts})
    forth, back = compare(bare, rich), compare(rich, bare)
    assert "1.24.2 seem to be built without the features fs, io-std" in "; ".join(forth.notices)
    assert "1.24.2 seem to be built without the features fs, io-std" in "; ".join(back.notices)
    rules = [each.rule for each in back.changes]
    assert rules.count("not-judged") > 90
    assert rules.count("item-removed") < 10
