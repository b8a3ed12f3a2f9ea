"""Attributes in the spellings of all formats."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import msgspec
import pytest

from docstow.languages.rust.rustdoc import CrateDocs
from docstow.languages.rust.rustdoc.attributes import item_facts
from docstow.languages.rust.rustdoc.file import RustdocFile
from docstow.languages.rust.rustdoc.schema import Item


@pytest.fixture(scope="module")
def file(crate_body: Callable[[str], bytes]) -> RustdocFile:
    return RustdocFile(crate_body("macros"))


def item(attributes: list[object], **members: object) -> Item:
    raw = json.dumps({"inner": {}, "attrs": attributes, **members}).encode()
    return msgspec.json.decode(raw, type=Item)


@pytest.mark.parametrize(
    ("attribute", "expected"),
    [
        ("#[must_use]", {"must_use": True}),
        ('#[must_use = "because"]', {"must_use": "because"}),
        ('#[attr = MustUse {reason: "because"}]', {"must_use": "because"}),
        ("#[attr = MustUse]", {"must_use": True}),
        ({"must_use": {"reason": None}}, {"must_use": True}),
        ({"must_use": {"reason": "because"}}, {"must_use": "because"}),
        ("#[non_exhaustive]", {"non_exhaustive": True}),
        ("non_exhaustive", {"non_exhaustive": True}),
        (
            '#[stable(feature = "rust1", since = "1.0.0")]',
            {"stability": {"level": "stable", "feature": "rust1", "since": "1.0.0"}},
        ),
        (
            '#[unstable(feature = "wish", issue = "1")]',
            {"stability": {"level": "unstable", "feature": "wish"}},
        ),
        (
            {
                "other": "#[attr = Stability {stability: Stability {level: Stable {since: "
                "Version(RustcVersion { major: 1, minor: 94, patch: 0 })},\n"
                'feature: "avx"}}]'
            },
            {"stability": {"level": "stable", "feature": "avx", "since": "1.94.0"}},
        ),
        (
            {
                "other": "#[attr = Stability {stability: Stability {level: Unstable {reason: "
                'Some("no"),\nissue: 3},\nfeature: "iter"}}]'
            },
            {"stability": {"level": "unstable", "feature": "iter"}},
        ),
        ({"repr": {"kind": "c"}}, {"repr": "C"}),
        (
            {"repr": {"kind": "rust", "align": 128, "packed": None, "int": None}},
            {"repr": "align(128)"},
        ),
        ("#[repr(transparent)]", {"repr": "transparent"}),
        ({"other": "#[doc(must_use_nothing)]"}, {}),
        ("macro_export", {}),
    ],
)
def test_spellings(file: RustdocFile, attribute: object, expected: dict[str, Any]) -> None:
    assert item_facts(file, item([attribute])) == expected


@pytest.mark.parametrize(
    "stability",
    [
        {"feature": "avx", "level": "stable", "since": "1.89.0"},
        {"feature": "avx", "level": {"stable": {"since": "1.89.0"}}},
    ],
)
def test_stability_as_a_member(file: RustdocFile, stability: dict[str, Any]) -> None:
    assert item_facts(file, item([], stability=stability)) == {
        "stability": {"level": "stable", "feature": "avx", "since": "1.89.0"}
    }


def test_what_the_compiler_says_of_items(crate: Callable[[str], CrateDocs]) -> None:
    told = {
        each.title: {key: value for key, value in each.attributes.items() if key != "depth"}
        for each in crate("namespaces").documents
        if each.title in {"old", "Older", "Used", "Growing", "strlen"}
    }

    assert told == {
        "old": {
            "deprecated": {"since": "0.9.0", "note": "use [`same`](fn@same)"},
            "source": "src/lib.rs:19",
        },
        "Older": {"deprecated": {"since": None, "note": None}, "source": "src/lib.rs:23"},
        "Used": {"must_use": True, "source": "src/lib.rs:27"},
        "Growing": {"non_exhaustive": True, "source": "src/lib.rs:31"},
        "strlen": {"unsafe": True, "source": "src/lib.rs:40"},
    }


def test_hidden_items_are_nowhere(crate: Callable[[str], CrateDocs]) -> None:
    assert "namespaces::invisible" not in {each.path for each in crate("namespaces").documents}
