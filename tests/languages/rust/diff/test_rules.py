"""Every rule on the project's own pair of crates; see ``tests/fixtures/crates/api_old``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
import zstandard

from docstow.core.model import Document, Relation
from docstow.languages.rust.diff import CLASSES, RULES, Side, compare
from docstow.languages.rust.rustdoc import read
from paths import CRATES

EXPECTED = [
    ("api::Alias", "struct", "alias-removed"),
    ("api::Bare", "trait", "supertrait-added"),
    ("api::Bounded::asks_more", "method", "bound-tightened"),
    ("api::Child", "trait", "supertrait-removed"),
    ("api::Choice::Named::b", "field", "enum-field-added"),
    ("api::Choice::Tuple", "variant", "variant-changed"),
    ("api::Choice::Two", "variant", "enum-variant-added"),
    ("api::Counted::Number", "variant", "discriminant-changed"),
    ("api::Defaulted", "struct", "type-parameter-default-changed"),
    ("api::Fewer", "struct", "type-parameter-removed"),
    ("api::Field::a", "field", "type-changed"),
    ("api::Field::gone", "field", "item-removed"),
    ("api::Freezing", "enum", "non-exhaustive-added"),
    ("api::Hiding", "struct", "struct-private-field-added"),
    ("api::Implementor", "struct", "impl-removed"),
    ("api::Kind", "struct", "kind-changed"),
    ("api::Open::b", "field", "struct-public-field-added"),
    ("api::Plain", "struct", "type-parameter-added"),
    ("api::RETYPED", "constant", "type-changed"),
    ("api::Receiver::tighter", "method", "receiver-changed"),
    ("api::Renamed", "type_alias", "type-changed"),
    ("api::STATIC", "static", "signature-changed"),
    ("api::Shape", "struct", "struct-shape-changed"),
    ("api::Shape::0", "field", "item-removed"),
    ("api::Shape::a", "field", "struct-public-field-added"),
    ("api::Thread", "struct", "auto-trait-lost"),
    ("api::Thread", "struct", "auto-trait-lost"),
    ("api::Work::new_required", "method", "trait-required-item-added"),
    ("api::Work::retyped", "method", "trait-item-signature-changed"),
    ("api::Work::to_required", "method", "trait-item-now-required"),
    ("api::Wrapper", "struct", "impl-bound-tightened"),
    ("api::abi", "function", "abi-changed"),
    ("api::fewer_arguments", "function", "parameter-count-changed"),
    ("api::here::Moved", "struct", "item-moved"),
    ("api::more_generics", "function", "function-generics-changed"),
    ("api::needs_feature", "function", "feature-required"),
    ("api::opaque_less", "function", "return-bound-removed"),
    ("api::removed", "function", "item-removed"),
    ("api::returns", "function", "return-type-changed"),
    ("api::retyped", "function", "parameter-type-changed"),
    ("api::tightened", "function", "bound-tightened"),
    ("api::to_impl", "function", "generic-as-impl-trait"),
    ("api::was_const", "function", "const-removed"),
    ("api::will_be_async", "function", "async-changed"),
    ("api::will_be_unsafe", "function", "unsafe-added"),
    ("api::Blocks::each", "method", "declaration-added"),
    ("api::Bounded::asks_less", "method", "bound-loosened"),
    ("api::Closed::c", "field", "struct-field-added"),
    ("api::Foreign", "struct", "reexport-changed"),
    ("api::Growing::Two", "variant", "enum-variant-added-open"),
    ("api::Implementor", "struct", "impl-added"),
    ("api::Implementor", "struct", "impl-generalised"),
    ("api::NUMBER", "constant", "value-changed"),
    ("api::Receiver::looser", "method", "receiver-loosened"),
    ("api::Secret", "struct", "struct-shape-hidden"),
    ("api::Shut::added", "method", "sealed-trait-item-added"),
    ("api::Thawing", "enum", "non-exhaustive-removed"),
    ("api::WithDefault", "struct", "type-parameter-added-default"),
    ("api::Work::new_provided", "method", "trait-provided-item-added"),
    ("api::Work::to_provided", "method", "trait-item-now-provided"),
    ("api::Wrapper", "struct", "impl-bound-loosened"),
    ("api::added", "function", "item-added"),
    ("api::aging", "function", "deprecated"),
    ("api::arms", "macro", "macro-changed"),
    ("api::borrowed", "function", "lifetimes-changed"),
    ("api::from_impl", "function", "impl-trait-as-generic"),
    ("api::generalised", "function", "parameter-generalised"),
    ("api::here::Kept", "struct", "alias-kept"),
    ("api::ignored", "function", "must-use-added"),
    ("api::loosened", "function", "bound-loosened"),
    ("api::needed_feature", "function", "feature-no-longer-required"),
    ("api::no_generics", "function", "function-generics-added"),
    ("api::opaque_more", "function", "return-bound-added"),
    ("api::unsized_now", "function", "bound-loosened"),
    ("api::was_async", "function", "async-desugared"),
    ("api::was_unsafe", "function", "unsafe-removed"),
    ("api::will_be_const", "function", "const-added"),
    ("api", "module", "docs-changed"),
    ("api::aged", "function", "deprecation-changed"),
    ("api::documented", "function", "docs-changed"),
]


def side(name: str) -> Side:
    packed = (CRATES / name / "rustdoc.json.zst").read_bytes()
    docs = read(zstandard.ZstdDecompressor().stream_reader(packed).read())
    return Side(docs.version, docs.documents, docs.relations, docs.facts)


def test_each_item_falls_under_its_rule() -> None:
    found = compare(side("api_old"), side("api_new"))
    assert [(each.path, each.kind, each.rule) for each in found.changes] == EXPECTED
    assert (found.bump.declared, found.bump.needed, found.bump.fits) == ("minor", "breaking", False)
    assert found.notices == []


def test_the_same_version_has_no_changes() -> None:
    found = compare(side("api_new"), side("api_new"))
    assert (found.changes, found.bump.needed, found.bump.declared) == ([], "none", "none")


def made(version: str, facts: Mapping[str, Any], *documents: Document) -> Side:
    root = Document("made", "module", "made", "crate made")
    return Side(version, [root, *documents], [], facts)


def test_facts_of_the_crate_have_rules() -> None:
    old = made(
        "1.0.0",
        {
            "features": {"default": ["a", "b"], "a": [], "b": [], "c": []},
            "rust_version": "1.60",
            "dependencies": [{"name": "serde-core"}, {"name": "log"}],
            "externals": {"serde_core": {"version": "0.1.3"}, "log": {"version": "1.2.0"}},
        },
    )
    new = made(
        "1.1.0",
        {
            "features": {"default": ["a"], "a": [], "b": [], "d": []},
            "rust_version": "1.70",
            "dependencies": [{"name": "serde-core"}, {"name": "log"}],
            "externals": {"serde_core": {"version": "0.2.0"}, "log": {"version": "1.9.0"}},
        },
    )
    changes = [(each.rule, each.before, each.after) for each in compare(old, new).changes]
    assert changes == [
        ("default-feature-removed", "b", ""),
        ("feature-removed", "c", ""),
        ("dependency-changed", "serde_core 0.1.3", "serde_core 0.2.0"),
        ("feature-added", "", "d"),
        ("msrv-changed", "1.60", "1.70"),
    ]


def test_what_a_build_left_out_is_not_judged() -> None:
    net = {"features": ["net"]}
    item = Document("made::connect", "function", "connect", "pub fn connect()", "", "", "made", net)
    facts: dict[str, Any] = {"features": {"net": []}}
    found = compare(made("1.0.0", facts, item), made("1.1.0", facts))
    assert [each.rule for each in found.changes] == ["not-judged"]
    assert found.bump.fits
    (notice,) = found.notices
    assert notice.startswith("the docs of 1.1.0 seem to be built without the features net, so")
    gone = compare(made("1.0.0", facts, item), made("1.1.0", {"features": {}}))
    assert [each.rule for each in gone.changes] == ["feature-removed", "item-removed"]


def test_what_a_new_part_of_a_split_crate_may_implement_is_not_judged() -> None:
    trait = Document("made::Shown", "trait", "Shown", "pub trait Shown", "", "", "made")
    root = Document("made", "module", "made", "crate made")
    gone = Relation("core::result::Result", "implements", "made::Shown", "impl<T> Shown for Result")
    core = {"package": "made-core", "version": "1.1.0"}

    def rules(new_facts: Mapping[str, Any], old_facts: Mapping[str, Any]) -> list[str]:
        old = Side("1.0.0", [root, trait], [gone], {"lib": "made", **old_facts})
        new = Side("1.1.0", [root, trait], [], {"lib": "made", **new_facts})
        return [each.rule for each in compare(old, new).changes]

    split = {"externals": {"made_core": core}}
    assert rules(split, {}) == ["not-judged"]
    assert rules({}, {}) == ["impl-removed"]
    assert rules({"externals": {"other": {"package": "other"}}}, {}) == ["impl-removed"]
    # The older one was split in the same way, or the part is held by the docs.
    assert rules(split, split) == ["impl-removed"]
    assert rules({**split, "siblings": {"made-core": "1.1.0"}}, {}) == ["impl-removed"]


def test_a_step_that_is_no_upgrade_is_not_judged() -> None:
    old, new = side("api_old"), side("api_new")
    assert [compare(*pair).bump.fits for pair in ((old, new), (new, old), (new, new))] == [
        False,
        None,
        None,
    ]


def test_every_rule_is_tried_here() -> None:
    facts = {"default-feature-removed", "feature-removed", "feature-added", "msrv-changed"}
    tried = {rule for _, _, rule in EXPECTED} | facts | {"dependency-changed", "not-judged"}
    assert set(RULES) == tried
    assert {rule.verdict for rule in RULES.values()} == set(CLASSES)


@pytest.mark.parametrize(
    ("old", "new", "declared", "allowed"),
    [
        ("1.2.3", "2.0.0", "major", True),
        ("1.2.3", "1.3.0", "minor", False),
        ("1.2.3", "1.2.4", "patch", False),
        ("0.2.3", "0.3.0", "minor", True),
        ("0.2.3", "0.2.4", "patch", False),
        ("0.0.3", "0.0.4", "patch", True),
        ("0.9.0", "1.0.0", "major", True),
        ("1.0.0", "1.0.0", "none", False),
        ("2.0.0-rc.1", "2.0.0", "prerelease", True),
        ("2.0.0", "1.0.0", "downgrade", True),
    ],
)
def test_a_bump_allows_what_cargo_says(old: str, new: str, declared: str, *, allowed: bool) -> None:
    bump = compare(made(old, {}), made(new, {})).bump
    assert (bump.declared, bump.breaking_allowed) == (declared, allowed)
