"""Lock files of all versions, and which of several locked versions is meant."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from docstow.core.errors import InvalidParameter
from docstow.languages.rust.cargo_lock import parse
from docstow.languages.shared.project import LockedVersion

REGISTRY = "registry+https://github.com/rust-lang/crates.io-index"

V1 = f"""
[root]
name = "old"
version = "0.1.0"
dependencies = ["rand 0.3.1 ({REGISTRY})"]

[[package]]
name = "rand"
version = "0.3.1"
source = "{REGISTRY}"

[[package]]
name = "rand"
version = "0.4.0"
source = "{REGISTRY}"

[metadata]
"checksum rand 0.3.1 ({REGISTRY})" = "00"
"""

WORKSPACE = f"""
version = 4

[[package]]
name = "app"
version = "0.2.0"
dependencies = ["log", "rand 0.8.5"]

[[package]]
name = "lib-of-app"
version = "0.2.0"
dependencies = ["rand 0.8.5", "serde_json"]

[[package]]
name = "log"
version = "0.4.27"
source = "{REGISTRY}"
dependencies = ["rand 0.9.1"]

[[package]]
name = "rand"
version = "0.9.1"
source = "{REGISTRY}"

[[package]]
name = "rand"
version = "0.8.5"
source = "{REGISTRY}"

[[package]]
name = "rand"
version = "0.7.3"
source = "{REGISTRY}"

[[package]]
name = "serde_json"
version = "1.0.140"
source = "{REGISTRY}"

[[package]]
name = "forked"
version = "1.0.0"
source = "git+https://example.org/forked?rev=abc#abc"
"""


def test_the_version_that_the_project_depends_on_directly_answers() -> None:
    chosen = parse(WORKSPACE).locked("rand")
    assert chosen == LockedVersion("0.8.5", ("0.9.1", "0.7.3"), ("app", "lib-of-app"))
    assert chosen.notice("rand") == (
        "the lock file has rand 0.9.1, 0.7.3 too; 0.8.5 is what app, lib-of-app depends on"
    )


def test_without_a_direct_user_the_highest_answers() -> None:
    text = WORKSPACE.replace('"rand 0.8.5"', '"log"')
    chosen = parse(text).locked("rand")
    assert chosen == LockedVersion("0.9.1", ("0.8.5", "0.7.3"))
    assert chosen.notice("rand").endswith("0.9.1 is the highest")


def test_the_oldest_form_has_its_root_apart() -> None:
    assert parse(V1).locked("rand") == LockedVersion("0.3.1", ("0.4.0",), ("old",))


@pytest.mark.parametrize("number", [2, 3, 4])
def test_newer_forms_differ_in_their_number_alone(number: int) -> None:
    assert parse(WORKSPACE.replace("version = 4", f"version = {number}")).locked("log").version == (
        "0.4.27"
    )


def test_hyphens_and_underscores_are_one() -> None:
    assert parse(WORKSPACE).locked("serde-json").version == "1.0.140"
    assert parse(WORKSPACE).locked("serde_json").notice("serde_json") == ""


def test_dependencies_are_followed_by_version() -> None:
    lock = parse(WORKSPACE)
    (log,) = lock.named("log")
    assert [(each.name, each.version) for each in lock.needs(log)] == [("rand", "0.9.1")]


def test_what_is_not_locked_is_refused_with_near_names() -> None:
    with pytest.raises(InvalidParameter, match=r"has no package serde_jsn \(it has serde_json\)"):
        parse(WORKSPACE).locked("serde_jsn")


@pytest.mark.parametrize(
    "text",
    [
        "not a lock",
        "package = 1",
        "package = [1]",
        "root = 1",
        '[[package]]\nname = "x"',
        '[[package]]\nname = "x"\nversion = "1"',
        '[[package]]\nname = "x"\nversion = "1.0.0"\ndependencies = 3',
    ],
)
def test_what_is_no_lock_file_is_refused(text: str) -> None:
    with pytest.raises(InvalidParameter, match=r"must be the text of a Cargo\.lock"):
        parse(text)


@given(st.text() | st.text("[]package\"= \n.root1dni'{}versou-"))
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        parse(text)
    except InvalidParameter as error:
        assert error.details["field"] == "lockfile"


NAMES = st.sampled_from(["a", "b", "c-d", "e_f"])
PACKAGES = st.lists(st.tuples(NAMES, st.integers(0, 3), st.booleans()), min_size=1, unique=True)


@given(PACKAGES, st.data())
def test_a_locked_version_is_one_of_the_file(
    packages: list[tuple[str, int, bool]], data: st.DataObject
) -> None:
    words = [f"{name} {number}.0.0" for name, number, _ in packages]
    text = "version = 4\n"
    for name, number, own in packages:
        needs = data.draw(st.lists(st.sampled_from(words), max_size=3))
        source = "" if own else f'source = "{REGISTRY}"\n'
        text += f'[[package]]\nname = "{name}"\nversion = "{number}.0.0"\n{source}'
        text += f"dependencies = {needs}\n"
    lock = parse(text)
    name = data.draw(st.sampled_from(packages))[0]
    chosen = lock.locked(name)
    versions = {f"{number}.0.0" for each, number, _ in packages if each == name}
    assert {chosen.version, *chosen.others} == versions
    assert chosen.version not in chosen.others
    assert chosen.direct or chosen.version == max(versions)
