"""Rust as coding agents write it: right code raises no alarm, their usual mistakes are found.

The mistakes of ``rust_agents.txt`` are names of earlier versions, of sibling crates, of other
modules, and names that merely sound right.
"""

from __future__ import annotations

import pytest

from docstow.languages.rust import check as rust_code
from docstow.languages.shared.findings import Finding, Verdict
from docstow.runtime import Runtime
from docstow.tools.verify_crates import StowedCrates
from languages.check.test_rates import alarms, measured, no_alarm, wrong
from snippets import load

#: Crates whose examples are current; hyper's still has one of a client that it gave up.
CURRENT = (
    *("anyhow", "bytes", "clap", "crossbeam", "csv", "flate2", "futures", "http", "itertools"),
    *("parking_lot", "rand", "rayon", "regex", "reqwest", "semver", "serde", "syn", "tempfile"),
    *("thiserror", "time", "tokio", "tokio_util", "tracing", "tracing_subscriber", "uuid"),
)
LONGEST = 40


@pytest.fixture(scope="module")
def check(crates: StowedCrates) -> Check:
    return Check(crates)


class Check:
    def __init__(self, crates: StowedCrates) -> None:
        self._crates = crates

    def __call__(self, code: str) -> Verdict:
        return rust_code.verify(code, self._crates)

    def one(self, code: str, name: str) -> Finding:
        (found,) = [each for each in self(code).findings if each.name == name]
        return found


def test_the_suite_is_as_large_as_it_says() -> None:
    snippets = load("rust_agents")
    assert len(snippets) >= 55
    assert sum(len(each.broken) for each in snippets) >= 55


def test_what_agents_write(check: Check) -> None:
    assert alarms(load("rust_agents"), check) == []
    found, first = measured("rust_agents", check)
    assert found >= 0.9
    assert first >= 0.8


def test_examples_of_many_crates(rust_runtime: Runtime, check: Check) -> None:
    codes = []
    for name in CURRENT:
        stowed = rust_runtime.crates.ensure(name.replace("_", "-"))
        examples = rust_runtime.library.index(stowed).examples
        pairs = zip(examples["language"], examples["code"], strict=True)
        own = {str(code) for language, code in pairs if language == "rust"}
        codes += [
            (name, code) for code in sorted(own, key=lambda code: (-len(code), code))[:LONGEST]
        ]
    no_alarm("rust", codes, check)


def test_a_feature_that_must_be_turned_on_is_told(check: Check) -> None:
    found = check.one("use tokio::sync::mpsc;", "tokio::sync::mpsc")
    assert (found.status, found.message) == ("ok", "needs feature sync")


def test_what_docs_link_to_but_were_made_without_is_not_judged(check: Check) -> None:
    assert check.one("use clap::crate_version;", "clap::crate_version").status == "not_checked"


def test_a_macro_that_bears_its_crates_name_hides_no_path(check: Check) -> None:
    code = "use uuid::{Uuid, uuid};\nfn f() { let u = Uuid::generate_v4(); }"
    assert [each.name for each in wrong(check(code))] == ["uuid::Uuid::generate_v4"]


def test_a_function_that_bears_its_crates_name_is_called(check: Check) -> None:
    code = "use tempfile::tempfile;\nfn f() { let file = tempfile().unwrap(); file.synch_all(); }"
    assert [each.name for each in wrong(check(code))] == ["std::fs::File::synch_all"]


def test_a_method_that_bears_a_crates_name_hides_no_path(check: Check) -> None:
    code = "struct X; impl X { fn semver(&self) {} }\nfn f() { semver::Versionn::new(1, 2, 3); }"
    assert [each.name for each in wrong(check(code))] == ["semver::Versionn::new"]


def test_fields_in_patterns_are_looked_for(check: Check) -> None:
    code = """
use semver::Version;
fn f(version: Version) {
    let Version { major, minors, .. } = version;
    match version { Version { patch: 0, pres, .. } => {}, Version { build, .. } => {} }
}
"""
    assert [each.name for each in wrong(check(code))] == [
        "semver::Version::minors",
        "semver::Version::pres",
    ]


def test_a_lock_of_another_crate_leads_to_what_it_holds(check: Check) -> None:
    code = """
use semver::Version;
use tokio::sync::Mutex;
async fn f(held: &Mutex<Version>) {
    held.lock().await.bump();
    let own = Mutex::new(Version::new(1, 2, 3));
    own.lock().await.bump();
    own.lock().await.cmp_precedence(&Version::new(1, 2, 3));
}
"""
    assert [each.line for each in wrong(check(code))] == [5, 7]


def test_below_a_re_export_the_other_crate_answers(check: Check) -> None:
    found = check.one("use hyper::header::ACCEPTS;", "hyper::header::ACCEPTS")
    assert (found.status, found.suggestions[0]) == ("unknown", "hyper::header::ACCEPT")


def test_methods_are_seen_through_a_shared_pointer(check: Check) -> None:
    code = """
use std::sync::Arc;
use tokio::sync::Semaphore;
async fn f(other: Arc<Semaphore>) {
    let permits = Arc::new(Semaphore::new(3));
    permits.acquires_owned().await;
    other.close();
    other.shut();
    println!("{}", Arc::strong_count(&other));
}
"""
    assert [each.line for each in wrong(check(code))] == [6, 8]


def test_an_alias_with_arguments_leads_to_the_crate_that_is_shown_as_a_whole(check: Check) -> None:
    code = """
use parking_lot::{Mutex, RwLock};
fn f(held: &Mutex<u8>) {
    let lock = RwLock::new(1);
    lock.write_lock();
    *lock.write() += 1;
    held.locked();
    held.try_lock();
}
"""
    assert [each.line for each in wrong(check(code))] == [5, 7]


def test_what_macros_give_has_members(check: Check) -> None:
    code = """
use serde_json::json;
use tracing::{Level, info_span};
fn f() {
    let value = json!({"a": 1});
    value.as_string();
    value.as_str();
    let span = info_span!("a");
    span.entry();
    span.enter();
    Level::Info;
}
"""
    assert [each.line for each in wrong(check(code))] == [6, 9, 11]


def test_an_unstable_type_of_the_library_is_not_meant(check: Check) -> None:
    code = """
use tokio_util::sync::CancellationToken;
fn f(token: CancellationToken) {
    let guard = token.drop_guard();
    guard.disarms();
    guard.disarm();
}
"""
    assert [each.line for each in wrong(check(code))] == [5]


def test_what_operators_and_adaptors_give_has_members(check: Check) -> None:
    code = """
use itertools::Itertools;
use rayon::prelude::*;
fn f(found: &regex::Captures, row: &csv::StringRecord, v: Vec<u32>) {
    let now = chrono::Utc::now();
    (now - now).num_second();
    (now - chrono::Duration::days(1)).to_rfc2822();
    found["a"].trims();
    row[0].trims();
    v.iter().sorted().dedups();
    v.iter().dedup().tuple_windows().collects();
    v.par_iter().map(|x| x + 1).filters(|x| true);
    v.par_iter().position_firsts(|x| true);
    v.par_iter().map(|x| x + 1).sum::<u32>();
}
"""
    assert [each.line for each in wrong(check(code))] == [6, 8, 9, 10, 11, 12, 13]


def test_a_module_has_what_was_a_part_of_a_name(check: Check) -> None:
    found = check.one("fn f() { tokio::fs_read(1); }", "tokio::fs_read")
    assert found.suggestions[0] == "tokio::fs::read"
