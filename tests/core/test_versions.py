"""Versions by the specification's own examples, requirements by the Cargo book's tables."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from docstow.core.errors import InvalidParameter
from docstow.core.versions import Requirement, Version, choose, exact

NUMBERS = st.integers(min_value=0, max_value=4)
IDENTIFIERS = st.one_of(
    st.integers(min_value=0, max_value=30).map(str),
    st.sampled_from(["alpha", "beta", "rc", "rc1", "-", "0a"]),
)
PRERELEASES = st.lists(IDENTIFIERS, max_size=3).map(".".join)
VERSIONS = st.builds(Version, NUMBERS, NUMBERS, NUMBERS, PRERELEASES)
STABLE = st.builds(Version, NUMBERS, NUMBERS, NUMBERS)


def matching(requirement: str, *versions: str) -> list[str]:
    parsed = Requirement.parse(requirement)
    return [version for version in versions if parsed.matches(Version.parse(version))]


def test_precedence_is_that_of_the_specification() -> None:
    ascending = [
        "1.0.0-alpha",
        "1.0.0-alpha.1",
        "1.0.0-alpha.beta",
        "1.0.0-beta",
        "1.0.0-beta.2",
        "1.0.0-beta.11",
        "1.0.0-rc.1",
        "1.0.0",
        "1.9.0",
        "1.10.0",
        "1.11.0",
        "2.0.0",
        "2.1.0",
        "2.1.1",
    ]
    assert [str(v) for v in sorted(Version.parse(text) for text in reversed(ascending))] == (
        ascending
    )


@given(VERSIONS, VERSIONS, VERSIONS)
def test_the_order_is_total(a: Version, b: Version, c: Version) -> None:
    assert (a < b) + (a == b) + (a > b) == 1
    if a <= b and b <= c:
        assert a <= c


@given(VERSIONS)
def test_text_and_version_are_one_to_one(version: Version) -> None:
    assert Version.parse(str(version)) == version


def test_build_metadata_is_kept_but_does_not_count() -> None:
    linux, windows = Version.parse("1.2.3-rc.1+linux"), Version.parse("1.2.3-rc.1+windows.7")
    assert (linux == windows, hash(linux) == hash(windows), linux < windows) == (True, True, False)
    assert [str(linux), str(windows)] == ["1.2.3-rc.1+linux", "1.2.3-rc.1+windows.7"]


def test_a_number_beyond_what_int_likes_to_read_still_compares() -> None:
    assert Version.parse(f"1.0.0-{'9' * 5000}") < Version.parse(f"1.0.0-1{'0' * 5000}")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "1",
        "1.2",
        "1.2.3.4",
        "01.2.3",
        "1.2.3-",
        "1.2.3-01",
        "1.2.3-a..b",
        "1.2.3+",
        "v1.2.3",
        " 1.2.3",
        "1.2.3\n",
        "1.2.x",
        "-1.2.3",
        "\u0661.2.3",
        "18446744073709551616.0.0",
        "9" * 5000 + ".0.0",
    ],
)
def test_what_is_no_version_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"version|leading zero"):
        Version.parse(text)


EDGES = [
    "0.0.0",
    "0.0.2",
    "0.0.3",
    "0.1.9",
    "0.2.0",
    "0.2.3",
    "0.2.9",
    "0.3.0",
    "1.0.0",
    "1.1.9",
    "1.2.0",
    "1.2.3",
    "1.2.9",
    "1.3.0",
    "1.9.9",
    "2.0.0",
    "2.2.3",
]


@pytest.mark.parametrize(
    ("requirement", "low", "high"),
    [
        # The Cargo book: caret, tilde, wildcard and comparison requirements, as half-open ranges.
        ("1.2.3", "1.2.3", "2.0.0"),
        ("^1.2.3", "1.2.3", "2.0.0"),
        ("1.2", "1.2.0", "2.0.0"),
        ("1", "1.0.0", "2.0.0"),
        ("0.2.3", "0.2.3", "0.3.0"),
        ("0.2", "0.2.0", "0.3.0"),
        ("0.0.3", "0.0.3", "0.0.4"),
        ("0.0", "0.0.0", "0.1.0"),
        ("0", "0.0.0", "1.0.0"),
        ("~1.2.3", "1.2.3", "1.3.0"),
        ("~1.2", "1.2.0", "1.3.0"),
        ("~1", "1.0.0", "2.0.0"),
        ("~0.2.3", "0.2.3", "0.3.0"),
        ("*", "0.0.0", "99.0.0"),
        ("x", "0.0.0", "99.0.0"),
        ("1.*", "1.0.0", "2.0.0"),
        ("1.2.*", "1.2.0", "1.3.0"),
        ("1.*.*", "1.0.0", "2.0.0"),
        ("1.2.X", "1.2.0", "1.3.0"),
        ("=1.2.3", "1.2.3", "1.2.4"),
        ("=1.2", "1.2.0", "1.3.0"),
        ("=1", "1.0.0", "2.0.0"),
        (">1.2.3", "1.2.4", "99.0.0"),
        (">1.2", "1.3.0", "99.0.0"),
        (">1", "2.0.0", "99.0.0"),
        (">=1.2", "1.2.0", "99.0.0"),
        (">=1.*", "1.0.0", "99.0.0"),
        ("<1.2", "0.0.0", "1.2.0"),
        ("<=1.2", "0.0.0", "1.3.0"),
        ("<=1.2.3", "0.0.0", "1.2.4"),
        (">=1, <2", "1.0.0", "2.0.0"),
        (">= 1.2 , < 1.2.9", "1.2.0", "1.2.9"),
        ("^0.2,>=0.2.3", "0.2.3", "0.3.0"),
        ("1.2.3+build", "1.2.3", "2.0.0"),
    ],
)
def test_a_requirement_is_this_interval(requirement: str, low: str, high: str) -> None:
    bounds = Version.parse(low), Version.parse(high)
    expected = [text for text in EDGES if bounds[0] <= Version.parse(text) < bounds[1]]
    assert matching(requirement, *EDGES) == expected


@pytest.mark.parametrize(
    ("requirement", "admitted"),
    [
        ("*", []),
        ("1", []),
        (">=1.0.0", []),
        ("1.0.0-rc.1", ["1.0.0-rc.1", "1.0.0-rc.2"]),
        ("=1.0.0-rc.1", ["1.0.0-rc.1"]),
        (">1.0.0-rc.1, <2", ["1.0.0-rc.2"]),
        (">=1.0.0-alpha, <1.0.0", ["1.0.0-alpha.1", "1.0.0-rc.1", "1.0.0-rc.2"]),
        ("~1.1.0-beta", ["1.1.0-beta.1"]),
        # A partial tilde bars prereleases, a partial caret does not: so it is in Cargo.
        ("~1.1, >=1.1.0-beta", []),
        ("^1.1, >=1.1.0-beta", ["1.1.0-beta.1"]),
        ("<1.1, >=1.1.0-beta", []),
        ("<=1.1, >=1.1.0-beta", []),
    ],
)
def test_prereleases_are_admitted_as_cargo_admits_them(
    requirement: str, admitted: list[str]
) -> None:
    prereleases = ["1.0.0-alpha.1", "1.0.0-rc.1", "1.0.0-rc.2", "1.1.0-beta.1", "2.0.0-rc.1"]
    assert matching(requirement, *prereleases) == admitted


@given(STABLE, STABLE)
def test_a_bare_version_is_a_caret(floor: Version, other: Version) -> None:
    assert Requirement.parse(str(floor)) == Requirement.parse(f"^{floor}")
    limit = (
        Version(floor.major + 1, 0, 0)
        if floor.major
        else Version(0, floor.minor + 1, 0)
        if floor.minor
        else Version(0, 0, floor.patch + 1)
    )
    assert Requirement.parse(f"^{floor}").matches(other) == (floor <= other < limit)


@given(STABLE, STABLE)
def test_a_tilde_fixes_major_and_minor(floor: Version, other: Version) -> None:
    interval = Requirement.parse(f">={floor}, <{floor.major}.{floor.minor + 1}")
    assert Requirement.parse(f"~{floor}").matches(other) == interval.matches(other)
    partial = f"{floor.major}.{floor.minor}"
    assert Requirement.parse(f"~{partial}").matches(other) == (
        Requirement.parse(f"{partial}.*").matches(other)
    )


@given(VERSIONS, VERSIONS)
def test_comparisons_agree_with_the_order(bound: Version, other: Version) -> None:
    admitted = not other.prerelease or (
        bool(bound.prerelease)
        and (bound.major, bound.minor, bound.patch) == (other.major, other.minor, other.patch)
    )
    for operator, holds in [
        ("=", other == bound),
        (">", other > bound),
        (">=", other >= bound),
        ("<", other < bound),
        ("<=", other <= bound),
    ]:
        assert Requirement.parse(f"{operator}{bound}").matches(other) == (holds and admitted)


@pytest.mark.parametrize(
    ("text", "exact"),
    [
        ("=1.2.3", Version(1, 2, 3)),
        ("= 1.2.3-rc.1", Version(1, 2, 3, "rc.1")),
        ("=1.2", None),
        ("=1.2.*", None),
        ("1.2.3", None),
        ("=1.2.3, <2", None),
        ("*", None),
    ],
)
def test_only_an_equals_with_three_numbers_is_exact(text: str, exact: Version | None) -> None:
    assert Requirement.parse(text).exact == exact


@pytest.mark.parametrize(
    "text",
    [
        "",
        " ",
        ",",
        "1,",
        ">=1 <2",
        "*, 1",
        ">=*",
        "*.1",
        "1.*.3",
        "1.2-rc",
        "1.2.3-01",
        "latest",
        "=>1",
        "==1",
        "!=1",
        "1.2.3.4",
        "01",
        "1 || 2",
        "1.2.3 - 2",
        "1.99999999999999999999",
        ",".join(["1"] * 33),
    ],
)
def test_what_is_no_requirement_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"version|wildcard|prerelease|parts|leading zero"):
        Requirement.parse(text)


OFFERED = ["0.9.0", "1.0.0", "1.2.3", "1.10.0+native", "2.0.0-rc.1", "nonsense"]


@pytest.mark.parametrize(
    ("asked", "chosen"),
    [
        ("", "1.10.0+native"),
        (" latest ", "1.10.0+native"),
        ("newest", "1.10.0+native"),
        ("*", "1.10.0+native"),
        ("1.2.3", "1.2.3"),
        ("1.2.3+any", "1.2.3"),
        ("1.10.0", "1.10.0+native"),
        ("1.2.2", None),
        ("=1.2.3", "1.2.3"),
        ("^1.2.2", "1.10.0+native"),
        ("1", "1.10.0+native"),
        ("~1.2", "1.2.3"),
        ("0", "0.9.0"),
        (">=1, <1.2", "1.0.0"),
        (">1", None),
        ("2", None),
        ("2.0.0-rc.1", "2.0.0-rc.1"),
        ("2.0.0-alpha", None),
        ("^2.0.0-alpha", "2.0.0-rc.1"),
    ],
)
def test_the_best_version_is_chosen(asked: str, chosen: str | None) -> None:
    assert choose(asked, OFFERED) == chosen
    assert choose(asked, reversed(OFFERED)) == chosen


def test_prereleases_answer_where_there_is_nothing_else() -> None:
    assert choose("", ["1.0.0-alpha", "1.0.0-beta.2", "1.0.0-beta.11"]) == "1.0.0-beta.11"
    assert choose("", []) is None


@pytest.mark.parametrize(
    ("asked", "named"),
    [
        ("1.2.3", Version(1, 2, 3)),
        ("=1.2.3", Version(1, 2, 3)),
        ("1.2", None),
        ("^1.2.3", None),
        ("", None),
        ("latest", None),
    ],
)
def test_a_full_version_is_asked_for_by_number(asked: str, named: Version | None) -> None:
    assert exact(asked) == named


@pytest.mark.parametrize("asked", ["1.2.3.4", "v1.2.3", "the newest", "1 || 2"])
def test_what_cannot_be_read_as_a_version_says_what_could(asked: str) -> None:
    for read in (exact, lambda text: choose(text, OFFERED)):
        with pytest.raises(InvalidParameter) as caught:
            read(asked)
        assert caught.value.details["field"] == "version"
        assert "give an exact version such as 1.2.3" in caught.value.details["reason"]
