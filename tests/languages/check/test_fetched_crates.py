"""Crates that Rust code imports and nobody has a version of, and what is suggested of them."""

from __future__ import annotations

import contextlib
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from docstow.core.settings import load
from docstow.languages.rust.check.crate_items import CrateNames
from docstow.languages.rust.check.fitting import Call
from docstow.languages.rust.check.scope import parse
from docstow.runtime import SAMPLE, Runtime
from paths import CRATES
from servers.docs_rs import DocsRs

Check = Callable[[str], dict[str, Any]]
HOLD = "use stowage::Hold;\nfn f() {{\n    let hold = Hold::new(1.0, 2.0, 3.0);\n    {}\n}}\n"
#: The crate that ``reexports`` shows, as its docs name it.
SHOWN = ("fixture-inner", "inner", "2.1.0")
EITHER = "if a { Hold::new(1.0, 1.0, 1.0) } else { Hold::new(2.0, 1.0, 1.0) }"


@pytest.fixture
def upstream(tmp_path: Path) -> Iterator[DocsRs]:
    place = tmp_path / "crates" / "stowage" / "0.1.0"
    place.mkdir(parents=True)
    shutil.copy(SAMPLE, place / "rustdoc.json.zst")
    with DocsRs(tmp_path / "crates") as server:
        yield server


@contextlib.contextmanager
def opened(tmp_path: Path, upstream: DocsRs, **flags: str) -> Iterator[Runtime]:
    given = {
        "store": str(tmp_path / "store"),
        "cache": str(tmp_path / "cache"),
        "docs_rs_url": upstream.url,
        "crates_index_url": upstream.index_url,
        "retries": "0",
    }
    with contextlib.closing(Runtime(load(given | flags, {}))) as runtime:
        yield runtime


def answer(runtime: Runtime, code: str) -> dict[str, Any]:
    asked = {"code": code, "language": "rust"}
    return dict(runtime.toolbox.call("verify_code", asked).structured or {})


@pytest.fixture
def check(tmp_path: Path, upstream: DocsRs) -> Iterator[Check]:
    with opened(tmp_path, upstream) as runtime:
        yield lambda code: answer(runtime, code)


def test_a_crate_that_code_imports_is_fetched_and_the_answer_says_so(check: Check) -> None:
    told = check(HOLD.format("hold.capacity();"))
    (found,) = told["results"]
    assert (found["name"], found["package"]) == ("stowage::Hold::capacity", "stowage")
    assert "fetched: stowage 0.1.0" in told["notice"]
    again = check(HOLD.format("hold.capacity();"))
    assert [each["name"] for each in again["results"]] == ["stowage::Hold::capacity"]


def test_no_registry_learns_a_name_where_imports_are_not_fetched(
    tmp_path: Path, upstream: DocsRs
) -> None:
    with opened(tmp_path, upstream, fetch_imports="false") as runtime:
        told = answer(runtime, HOLD.format("hold.capacity();"))
    assert told["results"] == []
    assert upstream.requests == []


def test_modules_of_the_code_are_no_crates(check: Check, upstream: DocsRs) -> None:
    check("mod stowage;\nuse stowage::Hold;\nuse crate::other::X;\nfn f() { self::more::g(); }")
    assert upstream.requests == []


def test_a_crate_of_which_nothing_is_right_is_likely_not_the_one_that_is_meant(
    check: Check,
) -> None:
    told = check("use stowage::{Quay, Pier};\n")
    assert told["results"] == []
    assert "likely not the crate" in told["notice"]


@pytest.mark.parametrize(
    ("code", "name", "first"),
    [
        (HOLD.format("hold.limitt();"), "Hold::limitt", "Hold::limit"),
        ("fn f() { stowage::HEAVIEST_PIECE.absolute(); }", "f64::absolute", "f64::abs"),
        (
            "fn f() { stowage::balance::Balance::LEVEL.is_in(0.1); }",
            "Balance::is_in",
            "Balance::is_within",
        ),
        (
            f"use stowage::Hold;\nfn f(a: bool) {{ let hold = {EITHER}; hold.volum(); }}",
            "Hold::volum",
            "Hold::volume",
        ),
        ("use absent::Loads;\n" + HOLD.format("hold.remainin();"), "Hold::remainin", "remaining"),
    ],
)
def test_what_values_are_is_known_by_constants_branches_and_beside_unknown_traits(
    check: Check, code: str, name: str, first: str
) -> None:
    (found,) = check(code)["results"]
    assert found["name"].endswith(name)
    assert found["suggestions"][0].endswith(first)


def test_a_trait_of_which_nothing_is_known_may_bring_a_method(check: Check) -> None:
    assert check("use absent::Loads;\n" + HOLD.format("hold.load_all();"))["results"] == []


def test_what_takes_the_arguments_and_gives_what_is_wanted_fits_best(
    tmp_path: Path, upstream: DocsRs
) -> None:
    with opened(tmp_path, upstream) as runtime:
        stowed = runtime.library.crate("stowage")
        names = CrateNames.of(runtime.library.index(stowed.snapshot))

        def fits(expression: str, method: str) -> float:
            tree = parse(f"fn f(plan: &mut stowage::Plan) {{ {expression} }}")
            pending = [tree.root_node]
            while pending[0].type != "call_expression":
                pending = [*pending[0].named_children, *pending[1:]]
            arguments = pending[0].child_by_field_name("arguments")
            assert arguments is not None
            (found,) = names.find(f"stowage::Plan::{method}")
            return Call(len(arguments.named_children), node=pending[0]).fits(found)

        assert fits('plan.x("a")?;', "unload") > 0 > fits('plan.x("a")?;', "weight")
        assert fits("plan.x(1)?;", "unload") < 0
        assert fits("if plan.x() {}", "is_empty") > fits("if plan.x() {}", "len")
        assert fits("plan.x(|a| a)?;", "unload") < 0


def test_a_crate_that_another_one_shows_is_fetched_where_it_is_needed(tmp_path: Path) -> None:
    for name, folder, version in (("reexports", "reexports", "1.0.0"), SHOWN):
        place = tmp_path / "crates" / name / version
        place.mkdir(parents=True)
        shutil.copy(CRATES / folder / "rustdoc.json.zst", place / "rustdoc.json.zst")
    with DocsRs(tmp_path / "crates") as server, opened(tmp_path, server) as runtime:
        told = answer(runtime, "use reexports::Gadget;\nfn f() { Gadget::unwound(); }\n")
    assert [each["name"] for each in told["results"]] == ["reexports::Gadget::unwound"]
    assert "fetched: fixture-inner 2.1.0" in told["notice"]
