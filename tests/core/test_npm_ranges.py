"""npm's ranges by what node-semver answers for them, and npm's choice among versions."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from docstow.core.errors import InvalidParameter
from docstow.core.npm_ranges import Range, choose, parse_version, split_alias
from paths import FIXTURES

#: Answers of node-semver 7.8.5 with ``loose``, as npm uses it; null for what is no range.
TABLE = json.loads((FIXTURES / "npm_ranges.json").read_text(encoding="utf-8"))
VERSIONS = TABLE["versions"].split()
WORDS = st.sampled_from(
    [*"0123.-+xX*vV=^~<> |", "||", " - ", ">=", "1.2.3", "alpha", "99999999999999999999", "\t"]
)


@pytest.mark.parametrize(("text", "matching"), TABLE["matching"].items())
def test_a_range_matches_what_node_semver_matches(text: str, matching: str | None) -> None:
    if matching is None:
        with pytest.raises(ValueError, match=r"range|number"):
            Range.parse(text)
        return
    wanted = Range.parse(text)
    parsed = {each: parse_version(each) for each in VERSIONS}
    assert [v for v, each in parsed.items() if each and wanted.matches(each)] == matching.split()


@given(st.lists(WORDS, max_size=30).map("".join))
def test_any_text_is_a_range_or_none(text: str) -> None:
    try:
        wanted = Range.parse(text)
    except ValueError:
        return
    assert len(wanted.sets) <= text.count("||") + 1


@pytest.mark.parametrize("text", ["1" * 5000, "||".join(["1"] * 300)])
def test_a_range_is_bounded(text: str) -> None:
    with pytest.raises(ValueError, match="at most"):
        Range.parse(text)


TAGS = {"latest": "2.1.0", "next": "3.0.0-beta.1", "legacy": "1.9.0"}
RELEASES = ["1.0.0", "1.9.0", "1.9.1", "2.0.0", "2.1.0", "2.2.0", "3.0.0-beta.1", "3.0.0-beta.2"]


@pytest.mark.parametrize(
    ("asked", "tagged", "untagged"),
    [
        ("", "2.1.0", "2.2.0"),
        ("*", "2.1.0", "2.2.0"),
        ("latest", "2.1.0", "2.2.0"),
        ("next", "3.0.0-beta.1", None),
        ("legacy", "1.9.0", None),
        ("nightly", None, None),
        # Within a range, what is tagged latest goes before what is higher.
        ("^2", "2.1.0", "2.2.0"),
        (">=1", "2.1.0", "2.2.0"),
        (">2.1", "2.2.0", "2.2.0"),
        ("~2.2", "2.2.0", "2.2.0"),
        ("1", "1.9.1", "1.9.1"),
        ("1.9", "1.9.1", "1.9.1"),
        ("1.9.0", "1.9.0", "1.9.0"),
        ("v1.9.0", "1.9.0", "1.9.0"),
        ("==1.9.0", "1.9.0", "1.9.0"),
        ("1.8.0", None, None),
        ("^3.0.0-0", "3.0.0-beta.2", "3.0.0-beta.2"),
        ("^3", None, None),
        ("npm:other@^1", "1.9.1", "1.9.1"),
        ("npm:@scope/other", "2.1.0", "2.2.0"),
    ],
)
def test_the_version_that_npm_takes(asked: str, tagged: str | None, untagged: str | None) -> None:
    assert choose(asked, RELEASES, TAGS) == tagged
    assert choose(asked, RELEASES) == untagged


def test_deprecated_versions_come_behind() -> None:
    assert choose("^2", RELEASES, TAGS, avoided={"2.1.0": 1}) == "2.2.0"
    assert choose("^2", RELEASES, TAGS, avoided={"2.1.0": 1, "2.2.0": 2}) == "2.0.0"
    everything = {"2.0.0": 3, "2.1.0": 1, "2.2.0": 2}
    assert choose("^2", RELEASES, TAGS, avoided=everything) == "2.1.0"
    assert choose("2.2.0", RELEASES, TAGS, avoided={"2.2.0": 3}) == "2.2.0"
    assert choose("~2.2", RELEASES, TAGS, avoided={"2.2.0": 3}) == "2.2.0"


def test_what_is_installed_with_another_spelling_can_be_asked_for() -> None:
    assert choose("0.0", ["0.0", "1.0.0"]) == "0.0"
    assert choose("", ["1.0.0-rc.1"]) == "1.0.0-rc.1"
    assert choose("", ["something"]) == "something"
    assert choose("", []) is None


@pytest.mark.parametrize(
    "asked",
    [
        *("file:../x", "./x", "/x", "~/x", "link:../x", "workspace:^", "catalog:"),
        *(
            "git+ssh://git@host/x.git",
            "git@host:x/y.git",
            "github:x/y",
            "x/y",
            "https://host/x.tgz",
        ),
        *("npm:npm:react@18", "npm:", "npm:@1"),
    ],
)
def test_what_comes_from_elsewhere_is_refused(asked: str) -> None:
    with pytest.raises(InvalidParameter, match=r"registry|names no package"):
        split_alias("react", asked)


@pytest.mark.parametrize(
    ("asked", "meant"),
    [
        ("^18", ("react", "^18")),
        ("npm:preact@^10", ("preact", "^10")),
        ("npm:@preact/compat@^10", ("@preact/compat", "^10")),
        ("npm:preact", ("preact", "")),
        ("npm:@preact/compat", ("@preact/compat", "")),
    ],
)
def test_an_alias_names_another_package(asked: str, meant: tuple[str, str]) -> None:
    assert split_alias("react", asked) == meant
