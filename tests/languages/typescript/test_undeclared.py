from __future__ import annotations

from pathlib import Path

import pytest

from docstow.languages.shared.boundary import Boundary
from docstow.languages.typescript.undeclared import define_member, exports_undeclared, mention


@pytest.mark.parametrize(
    ("script", "exported"),
    [
        ("exports.one = 1;", True),
        ('exports["one"] = 1;', True),
        ('Object.defineProperty(exports, "one", { get() {} });', True),
        ("const a = 1;\nexport { b, a as one };", True),
        ("export async function one() {}", True),
        ("export {\n  zero,\n  one,\n};", True),
        ("exports = module.exports = new Own();", True),
        ("function one() {}\nexport { a };\none();", False),
        ("exports.ones = 1; own.one = 2;", False),
    ],
)
def test_what_javascript_exports_is_found_in_any_of_its_files(
    tmp_path: Path, script: str, exported: bool
) -> None:
    (tmp_path / "dist").mkdir()
    (tmp_path / "index.js").write_text("module.exports = require('./dist/own.cjs');\n")
    (tmp_path / "dist" / "own.cjs").write_text(script)
    assert exports_undeclared(Boundary(tmp_path), [tmp_path], "one") is exported


def test_what_cannot_be_read_may_export_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for count in range(3):
        (tmp_path / f"{count}.js").write_text("exports.zero = 1;\n" * 10)
    assert not exports_undeclared(Boundary(tmp_path), [tmp_path], "one")
    for limit, most in (("_MOST_FILES", 2), ("_MOST_BYTES", 400)):
        with monkeypatch.context() as patched:
            patched.setattr(f"docstow.languages.typescript.undeclared.{limit}", most)
            assert exports_undeclared(Boundary(tmp_path), [tmp_path], "one")


def test_a_word_is_looked_for_in_code_and_declarations(tmp_path: Path) -> None:
    for folder, name, text in (
        ("one", "index.js", "exports.hoist = (rope) => rope.lengths;\n"),
        ("two", "index.d.ts", "export declare function lower(weight: number): void;\n"),
    ):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / name).write_text(text)
    boundary, folders = Boundary(tmp_path), [tmp_path / "one", tmp_path / "two"]
    asked = ("hoist", "lengths", "weight", "length", "rope.")
    assert [mention(boundary, folders, each) for each in asked] == [True, True, True, False, False]
    assert not mention(boundary, folders[:1], "weight")
    (tmp_path / "one" / "hoist.node").write_bytes(b"\0\1\2" * 100)
    assert mention(boundary, folders, "length")


@pytest.mark.parametrize(
    ("member", "is_defined"),
    [("read", True), ("size", True), ("reset", True), ("kept", True), ("made", True),
     ("local", False), ("given", False), ("write", False), ("called", False)],
)  # fmt: skip
def test_members_are_looked_for_in_the_class_that_has_them(
    tmp_path: Path, member: str, is_defined: bool
) -> None:
    (tmp_path / "index.js").write_text(
        "class Pipe extends Base {\n  kept = 0;\n  get size() {\n    return 1;\n  }\n"
        "  async read({\n    given = 1,\n  }) {\n    const a = called(1);\n    local = 1;\n"
        "    this.made = a;\n  }\n  read(a) {\n  }\n}\nPipe.prototype.reset = function () {};\n"
        "class Sink {\n  write() {\n  }\n}\n"
    )
    assert define_member(Boundary(tmp_path), [tmp_path], f"Pipe.{member}") is is_defined
