"""Lines of a manifest that turn features on."""

from __future__ import annotations

import tomllib

import pytest

from docstow.index.item_facts import Package

TOKIO = Package("tokio", "1.53.2", {"default": ["io"], "io": ["bytes"], "bytes": [], "rt": []})


def test_the_line_can_be_pasted() -> None:
    line = TOKIO.enabling(["rt"])
    assert line == '`tokio = { version = "1.53", features = ["rt"] }`'
    assert tomllib.loads(line.strip("`")) == {"tokio": {"version": "1.53", "features": ["rt"]}}


def test_what_is_on_by_default_needs_no_line() -> None:
    assert TOKIO.enabling(["bytes"]) == "on by default"
    assert TOKIO.enabling(["bytes", "rt"]).endswith('features = ["bytes", "rt"] }`')


def test_features_that_the_package_does_not_have_are_left_out() -> None:
    assert TOKIO.enabling(["elsewhere"]) == ""
    assert Package("hyper-util", "0.1.19").enabling(["any"]) == (
        '`hyper-util = { version = "0.1", features = ["any"] }`'
    )


def test_a_crate_from_a_file_is_named_by_its_folder() -> None:
    assert Package("ours", "0.3.0", local=True).enabling(["net"]) == (
        '`ours = { path = "…", features = ["net"] }`'
    )
    assert Package("std", "1.98.1", local=True).enabling(["net"]) == ""


@pytest.mark.parametrize(
    ("version", "requirement"),
    [("0.0.7", "0.0.7"), ("2.0.0-rc.1", "2.0.0-rc.1"), ("0.5.1+native", "0.5"), ("3.0.9", "3.0")],
)
def test_the_requirement_is_the_shortest_that_has_what_is_documented(
    version: str, requirement: str
) -> None:
    assert f'version = "{requirement}"' in Package("x", version).enabling(["f"])
