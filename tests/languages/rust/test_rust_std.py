"""Rust's standard library, and Rust that is long, deep or broken: all of it is answered."""

from __future__ import annotations

import pytest

from docstow.languages.rust import check as rust_code
from docstow.languages.rust.check.crate_items import standard
from docstow.languages.rust.check.paths import MOST_EXPLAINED
from docstow.languages.shared.findings import Finding, Verdict
from docstow.tools.verify_crates import StowedCrates
from languages.check.test_rates import alarms, measured, wrong
from snippets import load


def find(code: str, crates: StowedCrates) -> list[tuple[str, str, tuple[str, ...]]]:
    found = wrong(rust_code.verify(code, crates))
    return [(each.name, each.status, each.suggestions[:1]) for each in found]


def test_what_is_written_with_the_standard_library(crates: StowedCrates) -> None:
    def check(code: str) -> Verdict:
        return rust_code.verify(code, crates)

    assert alarms(load("rust_std"), check) == []
    found, first = measured("rust_std", check)
    assert found >= 0.95
    assert first >= 0.75


@pytest.mark.parametrize(
    "path",
    [
        *("std::collections::HashMap", "core::time::Duration", "alloc::vec::Vec::push"),
        *("std::f64::consts::PI", "f64::sqrt", "u8::MAX", "str::trim", "std::io::Error::other"),
        *("std::sync::atomic::Ordering::SeqCst", "std::iter::Iterator::map", "core::fmt::Debug"),
    ],
)
def test_paths_of_the_library(path: str) -> None:
    assert standard().find(path)


@pytest.mark.parametrize(
    "signature",
    ["main()", "f(x: Vec<_>)", "f<I: Iterator<Item = char>>(i: I)", "f() -> impl Fn(u8) -> u8"],
)
def test_types_that_need_no_import_leave_no_doubt_of_imports(
    crates: StowedCrates, signature: str
) -> None:
    code = f"fn {signature} {{ let s = String::new(); s.pushh('a'); }}"
    assert [each[0] for each in find(code, crates)] == ["std::string::String::pushh"]


@pytest.mark.parametrize(
    ("call", "first"),
    [
        ("v.dedups()", "std::vec::Vec::dedup"),
        ("v.dedups(|a, b| a == b)", "std::vec::Vec::dedup_by"),
        ("o.unwrap_ors(2)", "std::option::Option::unwrap_or"),
        ("o.unwrap_ors()", "std::option::Option::unwrap"),
        ("Option::unwrap_ors(o, 2)", "std::option::Option::unwrap_or"),
    ],
)
def test_what_takes_that_many_arguments_comes_first(
    crates: StowedCrates, call: str, first: str
) -> None:
    code = f"fn f(v: Vec<i32>, o: Option<i32>) {{ {call}; }}"
    assert [each[2] for each in find(code, crates)] == [(first,)]


@pytest.mark.parametrize(
    ("items", "names"),
    [
        ("static A: String = S; fn f() { A.pushh('a'); }", ["pushh"]),
        ("fn f() { A.pushh('a'); } const A: String = S;", ["pushh"]),
        ("static A: std::sync::LazyLock<String> = S; fn f() { A.pushh('a'); A.len(); }", ["pushh"]),
        ("static A: String = S; mod m { fn f() { A.pushh('a'); } }", []),
        ("mod m { static A: String = S; } fn f() { A.pushh('a'); }", []),
        ("static A: String = S; static A: Vec<u8> = S; fn f() { A.pushh('a'); }", []),
        ("static A: String = S; fn f() { g(|A| A.pushh('a')); }", []),
        ("struct X; impl X { const A: String = S; fn f() { A.pushh('a'); } }", []),
    ],
)
def test_constants_have_the_types_they_declare(
    crates: StowedCrates, items: str, names: list[str]
) -> None:
    assert [each[0].rpartition("::")[2] for each in find(items, crates)] == names


@pytest.mark.parametrize(
    ("body", "names"),
    [
        ("tokio::select! { _ = wait(Duration::from_ms(5)) => {} }", ["from_ms"]),
        ("other! { a => { std::thread::spwan(f) } }", ["spwan"]),
        ("other! { self.Duration::from_ms, $Duration::from_ms, other::Duration::from_ms }", []),
        ("other! { use mine::Duration; Duration::from_ms(5) }", []),
        ("quote! { Duration::from_ms(5) }", []),
        ("macro_rules! own { () => {} } own! { Duration::from_ms(5) }", []),
    ],
)
def test_paths_among_the_tokens_of_macros(
    crates: StowedCrates, body: str, names: list[str]
) -> None:
    found = find(f"use std::time::Duration;\nfn main() {{ {body} }}", crates)
    assert [each[0].rpartition("::")[2] for each in found] == names


def test_a_type_from_nowhere_leaves_a_doubt(crates: StowedCrates) -> None:
    assert find("fn f(x: Other) { let s = String::new(); s.pushh('a'); }", crates) == []


@pytest.mark.parametrize(
    ("statement", "name"),
    [
        ("let s = String::new(); s.trims();", "std::string::String::trims"),
        ("let s = format!(\"{}\", 1); s.pushh('a');", "std::string::String::pushh"),
        ("let v = vec![1]; v.lenn();", "std::vec::Vec::lenn"),
        ("let v = vec![1]; v.iter().map(|a| a).filterr(|a| true);", "std::iter::Iterator::filterr"),
        ('let t = "a".trim().to_uppercase(); t.is_emptyy();', "std::string::String::is_emptyy"),
        ('let b = b"a"; b.to_vector();', "[T; N]::to_vector"),
        ('let t = std::fs::read_to_string("a").unwrap(); t.liness();', None),
    ],
)
def test_methods_of_values(crates: StowedCrates, statement: str, name: str | None) -> None:
    found = find(f"fn main() {{ {statement} }}", crates)
    assert [each[0] for each in found] == [name or "std::string::String::liness"]


@pytest.mark.parametrize(
    ("given", "body", "name"),
    [
        ("", "let m = Mutex::new(String::new()); m.lock().unwrap().pushh('a');", "pushh"),
        ("m: Arc<Mutex<String>>", "m.lock().unwrap().pushh('a'); m.clone();", "pushh"),
        ("g: MutexGuard<'_, String>", "g.pushh('a'); g.len();", "pushh"),
        ("l: RwLock<HashMap<u8, String>>", "l.read().unwrap().get(&1).unwrap().trims();", "trims"),
        ("c: Rc<RefCell<String>>", "c.borrow_mut().pushh('a'); c.borrow().clone();", "pushh"),
        ("m: HashMap<u8, String>", "m.entry(1).or_insert_with(String::new).pushh('a');", "pushh"),
        ("", "spawn(|| String::new()).join().unwrap().pushh('a');", "pushh"),
        ("r: Result<String, u8>", "let s = match r { Ok(s) => s, Err(_) => return }; s.trims();",
         "trims"),
        ("o: Option<String>", "let s = if let Some(s) = o { s } else { return }; s.trims();",
         "trims"),
        ("m: Mutex<String>", "m.into_inner().unwrap().trims(); m.lock().unwrap().trim();", "trims"),
    ],
)  # fmt: skip
def test_values_are_followed_into_what_holds_them(
    crates: StowedCrates, given: str, body: str, name: str
) -> None:
    uses = "cell::RefCell, collections::HashMap, rc::Rc, sync::*, thread::spawn"
    code = f"use std::{{{uses}}};\nfn f({given}) {{ {body} }}"
    code = code.replace("sync::*", "sync::{Arc, Mutex, MutexGuard, RwLock}")
    assert [each[0].rpartition("::")[2] for each in find(code, crates)] == [name]


@pytest.mark.parametrize(
    ("given", "body", "name"),
    [
        ("b: &[u8]", "String::from_utf8_lossy(b).into_owned().pushh('a');", "pushh"),
        ("b: &[u8]", "String::from_utf8_lossy(b).trims();", "trims"),
        ("s: &str", "(!s.is_empty()).then_somes(1);", "then_somes"),
        ("s: &str", "if let Some((a, b)) = s.split_once('=') { a.trims(); b.trim(); }", "trims"),
        ("", "let n = u16::try_from(3).unwrap(); n.pows(2);", "pows"),
        ("s: &str", "match s.parse::<u16>() { Ok(n) => {}, Err(e) => e.kinds() }", "kinds"),
        ("s: &str", "s[1..].trims(); s[1..].trim();", "trims"),
        ("v: Vec<String>", "v[1..].lenn(); v.join(\",\").pushh('a');", "lenn pushh"),
        ("s: &str", "let w: Vec<_> = s.split(',').collect(); for x in &w { x.trims(); }", "trims"),
        ("a: Instant, b: Instant", "(a - b).as_second(); (a - b).as_secs();", "as_second"),
        ("d: Duration", "(d * 2).as_second(); (-3i32).abss();", "as_second abss"),
        ("s: &str", "other(Box::neww(s));", "neww"),
        ("r: Result<String, u8>", "match r { Ok(s) if s.is_emptyy() => {}, _ => {} }", "is_emptyy"),
        ("n: &str, r: Option<u8>", "match r { _ if n.is_emptyy() => {}, _ => {} }", "is_emptyy"),
        ("o: Output", "o.status.successs(); o.stdout.lenn();", "successs lenn"),
        ("b: [u8; 4]", "u32::from_be_bytes(b).pows(2);", "pows"),
        ("v: Vec<String>", "v.drain(..).map(|s| s.trims()); drain();", "trims"),
    ],
)
def test_what_the_library_tells_of_types(
    crates: StowedCrates, given: str, body: str, name: str
) -> None:
    uses = "process::Output, time::{Duration, Instant}"
    code = f"use std::{{{uses}}};\nfn drain() {{}}\nfn f({given}) {{ {body} }}"
    assert " ".join(each[0].rpartition("::")[2] for each in find(code, crates)) == name


def test_an_implementation_has_what_its_trait_has(crates: StowedCrates) -> None:
    code = """
use std::{fmt, io::{self, Read}};
struct A;
impl fmt::Display for A { fn format(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result { Ok(()) } }
impl fmt::Debug for A { fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result { Ok(()) } }
impl Iterator for A { type Item = u8; fn next(&mut self) -> Option<u8> { None } type Items = u8; }
impl Read for A { fn read(&mut self, b: &mut [u8]) -> io::Result<usize> { Ok(self.own()) } }
impl A { fn own(&self) -> usize { 0 } }
"""
    assert [each[0] for each in find(code, crates)] == [
        "std::fmt::Display::format",
        "std::iter::Iterator::Items",
    ]


@pytest.mark.parametrize(
    "code",
    [
        # A trait that nobody sees may bring a method to any type.
        "use super::*; fn f(s: String) { s.shout(); }",
        "use crate::Shout; fn f(s: String) { s.shout(); }",
        "trait Shout { fn shout(&self); } fn f(s: String) { s.shout(); }",
        # Imports are left out: a type comes from nowhere.
        'fn f(s: &mut Input) -> Parsed { "a".parse_next(s) }',
        # A pointer has methods of its own, and may lead anywhere.
        "use std::sync::Arc; fn f(a: Arc<String>) { a.clone(); a.as_ref(); a.len(); }",
        "use std::cell::RefCell; fn f(a: RefCell<Mine>) { a.borrow().anything(); } struct Mine;",
        # Shadowed names, and a module that bears a primitive's name.
        "struct String; impl String { fn shout(&self) {} } fn f(s: String) { s.shout(); }",
        "use std::f64; fn f() -> f64 { f64::consts::PI + f64::MAX + f64::max(1.0, 2.0) }",
        "fn f(v: Vec<Vec<u8>>) -> Vec<u8> { v.concat() }",
        "use std::os::windows::fs::MetadataExt; fn f(m: std::fs::Metadata) { m.file_size(); }",
    ],
)
def test_what_is_not_certain_is_not_wrong(crates: StowedCrates, code: str) -> None:
    assert find(code, crates) == []


def test_a_derive_macro_that_is_misspelt(crates: StowedCrates) -> None:
    code = "use serde::{{Deserialize, Serialize}};\n#[derive(Debug, {})]\nstruct A;\n"
    assert find(code.format("Serialize, Deserialize, Mine, PartialEq"), crates) == []
    found = find(code.format("Serialise, Clonee"), crates)
    assert [(name, suggestions) for name, _, suggestions in found] == [
        ("Clonee", ("Clone",)),
        ("Serialise", ("serde::Serialize",)),
    ]


def test_arguments_of_the_library(crates: StowedCrates) -> None:
    found = find("fn f(a: &mut u8) { std::mem::swap(a); }", crates)
    assert [each[:2] for each in found] == [("std::mem::swap", "wrong_argument")]


def test_a_name_that_others_replace_is_not_suggested() -> None:
    assert standard().find("str::trim_left")[0].recommended is False
    assert standard().find("str::trim_start")[0].recommended is True


MANY = 3000


@pytest.mark.parametrize(
    ("code", "count"),
    [
        (f"fn f() {{ {'tokio::spwan();' * MANY} }}", MANY),
        (f"fn f() {{ {''.join(f'tokio::spwan{n}();' for n in range(MANY))} }}", MANY),
        ("".join(f"use tokio::sync::Mutx{n};\n" for n in range(MANY)), MANY),
        (f'fn f() {{ println!("{{}}", {"tokio::spwan()," * MANY}); }}', MANY),
        (
            f"""use regex::Regex; fn f() {{ let r = Regex::new("a").unwrap();
            {"".join(f"r.is_mach{n}();" for n in range(MANY))} }}""",
            MANY,
        ),
    ],
)
def test_many_wrong_names_are_found_and_some_explained(
    crates: StowedCrates, code: str, count: int
) -> None:
    found: list[Finding] = wrong(rust_code.verify(code, crates))
    assert len(found) == count
    names = {each.name for each in found if each.suggestions}
    assert 1 <= len(names) <= MOST_EXPLAINED


@pytest.mark.parametrize(
    "code",
    [
        f"fn f() {'{' * MANY}{'}' * MANY}",
        f"fn f() {{ let x = {'(' * MANY}1{')' * MANY}; }}",
        f"fn f(x: {'Box<' * MANY}u8{'>' * MANY}) {{}}",
        f"fn f() {{ let x: {'std::vec::Vec<' * MANY}u8{'>' * MANY}; }}",
        f"use {'a::{' * MANY}b{'}' * MANY};",
        f"use tokio{'::a' * MANY};",
        f"use clap::Command; fn f() {{ Command::new(1){'.about(1)' * MANY}; }}",
        f"fn f() {{ {'println!(' * MANY}1{')' * MANY}; }}",
        f"fn f() {{ let {'Some(' * MANY}x{')' * MANY} = y; }}",
        f'fn f() {{ let x = r{"#" * MANY}"a',
        f'fn f() {{ let x = "{"a" * MANY}',
        f"{'fn f(' * MANY}",
        f"{'use tokio::sync::*;' * MANY} fn f() {{ X::new(); }}",
        'fn f() { let x = "\ud800"; }',
        "\0" * MANY,
    ],
)
def test_deep_long_and_broken_code_is_answered(crates: StowedCrates, code: str) -> None:
    found = wrong(rust_code.verify(code, crates))
    assert len(found) <= 1
