"""``cargo check`` as an engine by choice: what it finds, and what it may not do."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from filelock import FileLock

from docstow.cli import main
from docstow.core.settings import load
from docstow.languages.rust import cargo_check
from docstow.runtime import Runtime
from paths import CRATES, FIXTURES
from servers.docs_rs import DocsRs

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="the stand-in is a script of sh")

#: Cargo itself where it is, and a program that prints what it has printed once.
KINDS = ["recorded", *(["real"] if shutil.which("cargo") and shutil.which("rustc") else [])]
WRONG = """\
use lagoon::Tide;
use members::{Choice, Door, Open, Plainn};

struct Own { size: u8 }

fn main() {
    let plain = members::Plain::new(1);
    println!("é {}", plain.showm);
    let choices = [Choice::Nothing].map(|each| each.is_nothing());
    let made = Choice::Named { nam: String::new(), size: 1 };
    let Own { sise } = Own { size: 1 };
    Tide.rise(1, 2);
    undeclared(Somewhere::else_());
    crate::elsewhere::call(plain.shown + "text");
}
"""
RIGHT = """\
use members::{Door, Open};

fn turn(door: Door<Open>) {
    let levels: Vec<_> = [1, 2].iter().map(|each| lagoon::Tide.rise(*each)).collect();
    door.toggle().toggle();
    println!("{}", levels.len());
}
"""
STATEMENTS = "struct Own;\nlet plain = members::Plain::new(1);\nplain.showm;\nOwn.go();\n"
#: What a script of a build tries: to read, to write, and to stay.
BUILD = """
use std::{fs, process::{Command, Stdio}};
fn main() {
    let told = [
        fs::read(SECRET).is_ok(),
        fs::write("made", "x").is_ok(),
        std::net::TcpStream::connect("127.0.0.1:9").err().map(|e| e.kind())
            == Some(std::io::ErrorKind::ConnectionRefused) && fs::read("/etc/passwd").is_ok(),
    ];
    let place = std::env::var("OUT_DIR").unwrap();
    fs::write(format!("{place}/told"), format!("{told:?} {:?}", std::env::var("SECRET"))).unwrap();
    Command::new("sleep").arg("6011").stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
}
"""


@dataclass(frozen=True)
class Project:
    """A project that has one crate vendored and one of its own, and a server for it."""

    root: Path
    cache: Path
    runtime: Runtime

    def verify(self, code: str, **more: Any) -> dict[str, Any]:
        arguments = {"code": code, "language": "rust", "root": str(self.root), **more}
        answer = self.runtime.toolbox.call("verify_code", arguments).structured
        told: dict[str, Any] = json.loads(json.dumps(answer))
        return told


def _write(root: Path, files: Mapping[str, str]) -> None:
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text, "utf-8")


def _make(root: Path) -> None:
    secret = root.parent / "secret"
    secret.write_text("secret")
    digest = "0" * 64
    _write(
        root,
        {
            "Cargo.toml": '[package]\nname = "app"\nversion = "0.1.0"\nedition = "2021"\n'
            '[dependencies]\nmembers = "1"\nlagoon = { path = "lagoon" }\n',
            "Cargo.lock": 'version = 4\n\n[[package]]\nname = "app"\nversion = "0.1.0"\n'
            'dependencies = [\n "lagoon",\n "members",\n]\n\n'
            '[[package]]\nname = "lagoon"\nversion = "0.1.0"\n\n'
            '[[package]]\nname = "members"\nversion = "1.0.0"\n'
            'source = "registry+https://github.com/rust-lang/crates.io-index"\n'
            f'checksum = "{digest}"\n',
            "src/main.rs": "fn main() {}\n",
            "lagoon/Cargo.toml": '[package]\nname = "lagoon"\nversion = "0.1.0"\n',
            "lagoon/src/lib.rs": "pub struct Tide;\n"
            "impl Tide { pub fn rise(&self, by: u8) -> u8 { by } }\n",
            "lagoon/build.rs": BUILD.replace("SECRET)", f"{json.dumps(str(secret))})", 1),
            ".cargo/config.toml": '[source.crates-io]\nreplace-with = "vendored"\n'
            '[source.vendored]\ndirectory = "vendor"\n[build]\nrustc = "/nowhere/rustc"\n',
            "vendor/members/.cargo-checksum.json": json.dumps({"files": {}, "package": digest}),
        },
    )
    shutil.copy(CRATES / "members" / "Cargo.toml", root / "vendor" / "members")
    shutil.copytree(CRATES / "members" / "src", root / "vendor" / "members" / "src")


def _stand_in(folder: Path, root: Path) -> None:
    """Write programs that print what Cargo has printed, for the code that they are given."""
    metadata = (FIXTURES / "cargo" / "metadata.json").read_text().replace("ROOT", str(root))
    (folder / "bin").mkdir(parents=True)
    (folder / "metadata.json").write_text(metadata)
    for name in ("errors.jsonl", "statements.jsonl"):
        shutil.copy(FIXTURES / "cargo" / name, folder)
    programs = {
        "rustc": f"""case $1 in
--print) echo {folder};;
*) printf 'rustc 1.95.0\\nhost: x86_64-unknown-linux-gnu\\n';;
esac""",
        "cargo": f"""case "$*" in
*--version*) echo 'cargo 1.95.0 (of a test)';;
*metadata*) cat {folder}/metadata.json;;
*check*)
  echo escaped > {root}/escaped
  if ! grep -q 000000 judged/Cargo.lock; then echo 'error: another checksum' >&2; exit 101; fi
  if grep -q Plainn judged/src/lib.rs; then cat {folder}/errors.jsonl; exit 101; fi
  if grep -q showm judged/src/lib.rs; then cat {folder}/statements.jsonl; exit 101; fi;;
esac""",
    }
    for name, text in programs.items():
        (folder / "bin" / name).write_text(f"#!/bin/sh\n{text}\n")
        (folder / "bin" / name).chmod(0o755)


@pytest.fixture(scope="module", params=KINDS)
def project(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Any:
    folder = tmp_path_factory.mktemp(f"cargo-{request.param}")
    (folder / "project").mkdir()
    _make(folder / "project")
    with pytest.MonkeyPatch.context() as patch, _serving(folder) as found:
        patch.setenv("SECRET", "secret")
        if request.param == "recorded":
            _stand_in(folder / "toolchain", found.root)
            patch.setenv("PATH", f"{folder}/toolchain/bin{os.pathsep}/usr/bin{os.pathsep}/bin")
        cargo_check.forget_toolchain()
        yield found
    cargo_check.forget_toolchain()


@contextlib.contextmanager
def _serving(folder: Path, **more: object) -> Iterator[Project]:
    corpus = folder / "corpus" / "members" / "1.0.0"
    corpus.mkdir(parents=True, exist_ok=True)
    shutil.copy(CRATES / "members" / "rustdoc.json.zst", corpus)
    with DocsRs(folder / "corpus") as upstream:
        flags = {
            "store": str(folder / "store"),
            "cache": str(folder / "cache"),
            "docs_rs_url": upstream.url,
            "crates_index_url": upstream.index_url,
            "upstream_interval_s": 0,
            "root": (str(folder / "project"),),
            "cargo_check": True,
            **more,
        }
        with contextlib.closing(Runtime(load(flags, {}))) as runtime:
            runtime.crates.ensure("members")
            yield Project(folder / "project", folder / "cache", runtime)


def _state(root: Path) -> dict[str, bytes]:
    return {str(e.relative_to(root)): e.read_bytes() for e in root.rglob("*") if e.is_file()}


def test_what_the_compiler_finds_is_told_once(project: Project) -> None:
    before = _state(project.root)
    answer = project.verify(WRONG)
    assert answer["engine"].startswith("cargo 1.")
    found = [
        (e["line"], e["column"], e["name"], e["status"], e.get("suggestions", [])[:1], e["engine"])
        for e in answer["results"]
    ]
    assert found == [
        (2, 35, "members::Plainn", "unknown", ["members::Plain"], "cargo"),
        (8, 29, "members::Plain::showm", "unknown", ["members::Plain::shown"], "cargo"),
        (9, 53, "members::Choice::is_nothing", "unknown", [], "cargo"),
        (
            10,
            32,
            "members::Choice::Named::nam",
            "unknown",
            ["members::Choice::Named::name"],
            "cargo",
        ),
        (12, 10, "rise", "wrong_argument", [], "cargo"),
    ]
    # What other files of the crate may bring, to its own types too, and errors of types in
    # general are not told.
    assert _state(project.root) == before


def test_code_that_compiles_has_no_wrong_name(project: Project) -> None:
    answer = project.verify(RIGHT)
    assert answer["results"] == []
    assert answer["not_checked_share"] == 0.0
    assert "lagoon" not in answer.get("notice", "")


def test_what_was_built_of_projects_long_unused_is_removed(project: Project) -> None:
    builds = project.cache.with_name("cache-builds")
    project.verify(RIGHT)
    (current,) = (each for each in builds.iterdir() if not each.name.startswith("p"))
    for number in range(9):
        (builds / f"p{number}" / "target").mkdir(parents=True)
        os.utime(builds / f"p{number}", (number, number))
    with FileLock(builds / "p0" / ".lock"):  # another process is at work there
        os.utime(builds / "p0", (0, 0))
        project.verify(RIGHT)
    left = {each.name for each in builds.iterdir()}
    assert left == {current.name, "p0", *(f"p{number}" for number in range(2, 9))}


def test_statements_are_judged_as_those_of_a_function(project: Project) -> None:
    answer = project.verify(STATEMENTS)
    assert answer["engine"].startswith("cargo 1.")
    assert [(e["line"], e["status"]) for e in answer["results"]] == [
        (3, "unknown"),
        (4, "unknown"),
    ]


def test_it_is_off_unless_the_operator_turns_it_on(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "project").mkdir()
    _make(tmp_path / "project")
    _stand_in(tmp_path / "toolchain", tmp_path / "project")
    with _serving(tmp_path, cargo_check=False) as project:
        answer = project.verify(WRONG)
    assert "engine" not in answer
    assert {e["line"] for e in answer["results"]} == {2, 8, 10}
    assert not list(tmp_path.glob("cache-builds"))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("DOCSTOW_OFFLINE", "true")
    monkeypatch.setenv("DOCSTOW_STORE", str(tmp_path / "store"))
    monkeypatch.setenv("PATH", f"{tmp_path}/toolchain/bin:/usr/bin:/bin")
    cargo_check.forget_toolchain()
    for told, said in (("false", "off: no code"), ("true", "on: cargo 1.95.0 ")):
        monkeypatch.setenv("DOCSTOW_CARGO_CHECK", told)
        main(["doctor"])
        lines = capsys.readouterr().out.splitlines()
        assert any(f"cargo check: {said}" in each for each in lines), lines
    cargo_check.forget_toolchain()


def test_without_what_is_locked_our_reader_judges_alone(project: Project) -> None:
    lock = project.root / "Cargo.lock"
    kept = lock.read_text()
    lock.write_text(kept.replace("0" * 64, "1" * 64))
    try:
        answer = project.verify(WRONG)
    finally:
        lock.write_text(kept)
    assert answer["engine"] == "none"
    assert "cargo check: " in answer["notice"]
    assert {e["line"] for e in answer["results"]} >= {2}
    assert "engine" not in answer["results"][0]


def test_a_version_that_is_asked_for_is_not_the_locked_one(project: Project) -> None:
    answer = project.verify(WRONG, versions={"members": "1.0.0"})
    assert answer["engine"] == "none"


def test_what_takes_too_long_is_ended_with_all_that_it_began(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "project").mkdir()
    _make(tmp_path / "project")
    _stand_in(tmp_path / "toolchain", tmp_path / "project")
    program = tmp_path / "toolchain" / "bin" / "cargo"
    program.write_text(program.read_text().replace("*check*)", "*check*) sleep 6543 & sleep 6543;"))
    monkeypatch.setenv("PATH", f"{tmp_path}/toolchain/bin:/usr/bin:/bin")
    monkeypatch.setattr(cargo_check, "_WAIT_S", 3.0)
    cargo_check.forget_toolchain()
    with _serving(tmp_path) as project:
        answer = project.verify(WRONG)
    cargo_check.forget_toolchain()
    assert answer["engine"] == "none"
    assert "ask again" in answer["notice"]
    if sys.platform == "linux":
        left = subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True, check=True)
        assert "sleep 6543" not in left.stdout


@pytest.mark.skipif(sys.platform != "linux", reason="the limits are those of Linux")
def test_a_build_script_reads_and_writes_nothing_else(project: Project) -> None:
    project.verify(RIGHT)
    told = [each.read_text() for each in Path(f"{project.cache}-builds").rglob("out/told")]
    # The stand-in has no build script; it tries to write itself.
    assert set(told) <= {"[false, false, false] Err(NotPresent)"}
    assert not (project.root / "escaped").exists()
    assert not (project.root / "lagoon" / "made").exists()
    left = subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True, check=True)
    assert "sleep 6011" not in left.stdout.splitlines()
