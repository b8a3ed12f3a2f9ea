from __future__ import annotations

from pathlib import Path

import pytest

from docstow.languages.shared.boundary import Boundary
from docstow.languages.typescript.undeclared import (
    augment,
    declare_below,
    declare_member,
    define_member,
    exports_undeclared,
    give,
    mention,
    module_exports_undeclared,
)


@pytest.mark.parametrize(
    ("script", "exported"),
    [
        ("exports.one = 1;", True),
        ('exports["one"] = 1;', True),
        ('Object.defineProperty(exports, "one", { get() {} });', True),
        ("const a = 1;\nexport { b, a as one };", True),
        ("export async function one() {}", True),
        ("export {\n  zero,\n  one,\n};", True),
        ("class Own { one() {} }\nexports = module.exports = new Own();", True),
        ("class Own { ones() {} }\nexports = module.exports = new Own();", False),
        ("Own['one'] = 1;\nmodule['exports'] = Own;", True),
        ("Other.one = 1;\nmodule.exports = Own;", False),
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


@pytest.mark.parametrize(
    ("module", "exported"),
    [
        ("export { two as one };", True),
        ("export const one = 1;", True),
        ("export * from './inner.js';", True),
        ("export*from'./inner.js'", True),
        ("export * from 'other';", True),
        ("export * from './absent.js';", True),
        ("import { one } from './inner.js';\nexport { two };", False),
        ("export * as inner from './inner.js';", False),
        ("import './inner.js';\nexport default 1;", False),
    ],
)
def test_a_module_exports_what_it_lists_and_what_modules_export_that_it_exports_whole(
    tmp_path: Path, module: str, exported: bool
) -> None:
    (tmp_path / "index.js").write_text(module)
    (tmp_path / "inner.js").write_text("export * from './index.js';\nexport function one() {}\n")
    entry = [tmp_path / "index.js"]
    assert module_exports_undeclared(Boundary(tmp_path), entry, "one") is exported


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
    # Compiled code has its names as texts.
    (tmp_path / "one" / "hoist.node").write_bytes(b"\0\1\2napi\0weigh\0" * 100)
    assert mention(boundary, folders, "weigh")
    assert not mention(boundary, folders, "length")


@pytest.mark.parametrize(
    ("script", "is_given"),
    [
        ("request.user = 1;", True),
        ("Object.assign(request, { user });", True),
        ("Object.defineProperty(request, 'user', {});", True),
        ("class Own {\n  user() {}\n}", True),
        ("log(request.user, request.user === 1);", False),
        ("request.users = 1;", False),
    ],
)
def test_what_code_may_give_to_values(tmp_path: Path, script: str, is_given: bool) -> None:
    (tmp_path / "index.js").write_text(script)
    (tmp_path / "index.d.ts").write_text("export interface Other {\n  user: string;\n}\n")
    assert give(Boundary(tmp_path), [tmp_path], "user") is is_given


@pytest.mark.parametrize(
    ("member", "is_defined"),
    [("read", True), ("size", True), ("reset", True), ("kept", True), ("made", True), ("of", True),
     ("local", False), ("given", False), ("write", False), ("called", False)],
)  # fmt: skip
def test_members_are_looked_for_in_the_class_that_has_them(
    tmp_path: Path, member: str, is_defined: bool
) -> None:
    (tmp_path / "index.js").write_text(
        "class Pipe extends Base {\n  kept = 0;\n  get size() {\n    return 1;\n  }\n"
        "  async read({\n    given = 1,\n  }) {\n    const a = called(1);\n    local = 1;\n"
        "    this.made = a;\n  }\n  read(a) {\n  }\n}\nPipe.prototype.reset = function () {};\n"
        "class Sink {\n  write() {\n  }\n}\nPipe.of = (sink) => sink;\n"
    )
    assert define_member(Boundary(tmp_path), [tmp_path], f"Pipe.{member}") is is_defined


DECLARED = """
export declare class Knot<T extends Rope = Rope> {
  tie(): this;
}
export declare class Hitch<T extends Rope = Rope> extends Knot<T> {
  readonly isHitch: true;
}
export declare class Clove extends ropes.Hitch {
  static turns?: number;
  slip(end: string): void;
}
interface KnotStatic extends Knot {
  create(): Knot;
}
"""


@pytest.mark.parametrize(
    ("name", "is_below"),
    [("Knot.isHitch", True), ("Knot.slip", True), ("Hitch.turns", True), ("Knot.tie", False),
     ("Clove.isHitch", False), ("Knot.create", False), ("Knot.end", False)],
)  # fmt: skip
def test_members_are_looked_for_in_classes_below(tmp_path: Path, name: str, is_below: bool) -> None:
    (tmp_path / "index.d.ts").write_text(DECLARED)
    assert declare_below(Boundary(tmp_path), [tmp_path], name) is is_below


def test_members_of_any_type_are_looked_for(tmp_path: Path) -> None:
    (tmp_path / "index.d.ts").write_text(DECLARED)
    asked = ("slip", "turns", "create", "end", "Knot", "hitch")
    found = [declare_member(Boundary(tmp_path), [tmp_path], each) for each in asked]
    assert found == [True, True, True, False, False, False]


@pytest.mark.parametrize(
    ("name", "is_added"),
    [("session", True), ("Request", True), ("Kept", True), ("local", False), ("stored", False)],
)
def test_what_is_added_to_modules_and_to_all_code(
    tmp_path: Path, name: str, is_added: bool
) -> None:
    file = tmp_path / "index.d.ts"
    file.write_text(
        "declare module 'express' {\n  interface Request { session: Store; }\n}\n"
        "export interface Options {\n  local: boolean;\n}\n"
        "declare global {\n  namespace Express {\n    class Kept {}\n  }\n}\n"
        "export declare const stored: number;\n"
    )
    assert augment(Boundary(tmp_path), [file], name) is is_added
