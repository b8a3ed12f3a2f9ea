"""Values whose types Rust code does not write out: what is wrong with them is found anyway."""

from __future__ import annotations

import pytest

from docstow.languages.rust import check as rust_code
from docstow.tools.verify_crates import StowedCrates
from languages.check.test_rates import wrong

_IMPORTS = """
use std::borrow::Cow;
use std::collections::HashMap;
use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::num::NonZeroUsize;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

type Lines = Vec<String>;
type Outcome<T> = Result<T, io::Error>;
enum Job { Named(String), Timed { label: String, seconds: u32 } }

fn read(path: &str) -> io::Result<String> { std::fs::read_to_string(path) }
fn lines(path: &str) -> Lines { Vec::new() }
fn size(path: &str) -> Outcome<String> { read(path) }
async fn load(path: &str) -> String { String::new() }
"""


@pytest.mark.parametrize(
    ("statements", "right", "mistaken"),
    [
        ("AtomicBool::new(true).load(Ordering::Relaxed);", "load", "read"),
        ("NonZeroUsize::new(4).unwrap();", "unwrap", "unpack"),
        ("text.parse::<u32>().ok();", "ok", "okay"),
        ("let n: u32 = text.parse().unwrap_or(0);", "unwrap_or", "or_value"),
        ('let all: Cow<str> = String::from_utf8_lossy(b"x"); all.trim();', "trim", "strip_all"),
        ("let f = BufReader::new(File::open(text)?); f.lines().count();", "count", "total"),
        ("let mut v = Vec::new(); v.push(text.to_string()); v[0].trim();", "trim", "strip_all"),
        (
            "let mut m = HashMap::new(); m.insert(1u8, text.to_string()); m[&1].trim();",
            *("trim", "strip_all"),
        ),
        ("let mut s = None; s = Some(text.to_string()); s.unwrap().trim();", "trim", "strip_all"),
        (
            "let mut w = vec![]; w.push(thread::spawn(|| 1)); w.pop().unwrap().join();",
            "join",
            "wait_for",
        ),
        ("let out = Command::new(text).output()?; out.stdout.len();", "len", "size_of"),
        ("read(text)?.trim();", "trim", "strip_all"),
        ("if let Err(e) = read(text) { e.kind(); }", "kind", "error_kind"),
        ("lines(text).first();", "first", "head_of"),
        ("size(text)?.trim();", "trim", "strip_all"),
        ("if let Job::Named(name) = job { name.trim(); }", "trim", "strip_all"),
        ("if let Job::Timed { label, .. } = job { label.trim(); }", "trim", "strip_all"),
        ("text.lines().fold(String::new(), |all, l| all.trim().to_string());", "trim", "strip"),
        ("load(text).await.trim();", "await.trim", "trim"),
    ],
)
def test_a_wrong_name_is_found_and_the_right_one_is_not(
    crates: StowedCrates, statements: str, right: str, mistaken: str
) -> None:
    before = f"{_IMPORTS}\nasync fn run(text: &str, job: Job) -> io::Result<()> {{ "
    code = f"{before}{statements} Ok(()) }}"
    assert wrong(rust_code.verify(code, crates)) == []
    at = code.rindex(f".{right}") + 1
    found = wrong(rust_code.verify(f"{code[:at]}{mistaken}{code[at + len(right) :]}", crates))
    assert [each.name.rpartition("::")[2] for each in found] == [mistaken.rpartition(".")[2]]


def test_what_must_be_awaited_is_told(crates: StowedCrates) -> None:
    code = f'{_IMPORTS}\nasync fn run() {{ load("x").trim(); }}'
    (found,) = wrong(rust_code.verify(code, crates))
    assert "await it first" in found.message


_CLI = """
use clap::{CommandFactory, Parser};

#[derive(Parser)]
struct Cli { name: String }
%s
fn main() { let cli = Cli::parse(); cli.name.trim(); Cli::command().get_name(); Cli::%s(); }
"""


def test_what_a_derive_macro_brings_is_there_and_nothing_else(crates: StowedCrates) -> None:
    assert wrong(rust_code.verify(_CLI % ("", "parse"), crates)) == []
    (found,) = wrong(rust_code.verify(_CLI % ("", "into_app"), crates))
    assert (found.name, found.suggestions[0]) == ("Cli::into_app", "clap::CommandFactory::command")


@pytest.mark.parametrize(
    "added",
    [
        "mod further;",
        "impl Cli { fn into_app() {} }",
        "trait Old { fn into_app() {} }\nimpl Old for Cli {}",
        'impl std::ops::Deref for Cli { type Target = str; fn deref(&self) -> &str { "" } }',
        "implement!(Cli);",
    ],
)
def test_nothing_is_said_of_a_type_that_may_have_more(crates: StowedCrates, added: str) -> None:
    assert wrong(rust_code.verify(_CLI % (added, "into_app"), crates)) == []


@pytest.mark.parametrize(
    "statements",
    ["v.iter().fold();", "v.par_iter().fold();", "v.par_iter().reduce();", "v.push(); v = v;"],
)
def test_calls_that_are_half_written_are_answered(crates: StowedCrates, statements: str) -> None:
    code = f"use rayon::prelude::*;\nfn f(mut v: Vec<u8>) {{ {statements} }}"
    assert rust_code.verify(code, crates).findings


def test_aliases_of_aliases_are_read_once_each(crates: StowedCrates) -> None:
    aliases = "".join(f"type A{at} = (A{at + 1}, A{at + 1});\n" for at in range(60))
    code = (
        f"{aliases}type A60 = u8;\ntype R = (R, R);\nfn f(a: A0, r: R) {{ String::new().trimm(); }}"
    )
    assert [each.name for each in wrong(rust_code.verify(code, crates))] == [
        "std::string::String::trimm"
    ]
