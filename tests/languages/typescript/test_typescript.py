"""TypeScript and JavaScript files, read: what they declare, and where."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from docstow.languages.typescript.comments import Comment, parse_comment
from docstow.languages.typescript.source.declarations import Detail, read_declaration
from docstow.languages.typescript.source.grammar import parse, parse_statement, patched
from docstow.languages.typescript.source.model import (
    DEFAULT,
    ObjectType,
    Parameter,
    Reference,
    Scope,
    Source,
)
from docstow.languages.typescript.source.statements import read_file


def read(text: str, path: str = "index.d.ts") -> Source:
    return read_file(path, text.encode())


def described(parameter: Parameter) -> str:
    """A parameter as erased signatures have it: ``a?``, ``...a``."""
    optional = not (parameter.required or parameter.rest) or parameter.omittable
    return "..." * parameter.rest + parameter.name + "?" * optional


def read_all(source: Source) -> list[Detail]:
    """Every declaration of a file, its members with it."""
    found = [
        read_declaration(source, each) for many in source.scope.names.values() for each in many
    ]
    for each in found:
        if isinstance(each.type, ObjectType):
            for member in (one for many in each.type.members.values() for one in many):
                assert member.text.span.start < member.text.span.end
                assert isinstance(member.text.doc + member.text.signature, str)
                assert isinstance(member.hidden, bool)
                assert member.type is not None
    return found


def exports(text: str, path: str = "index.d.ts") -> dict[str, tuple[str, tuple[str, ...]]]:
    found = read(text, path).scope.exports
    return {name: (each.module, each.path) for name, each in found.items()}


def test_every_form_of_export() -> None:
    source = read(
        "export declare const a: 1, b: 2;\n"
        'export * from "./q";\nexport type * from "./w";\nexport * as ns from "./q";\n'
        'export type { A as B, type C, D as default } from "./m";\n'
        "export default _value;\nexport as namespace Lib;\n"
        'import X = require("x");\nimport Y = A.B.C;\nexport import Z = A.B;\n'
        'export import V = require("v");\n'
        'import D, { E as F, type G } from "e";\nimport * as H from "h";\n'
        'export { a as "some name" };\nexport = whole;\n'
    )
    scope = source.scope
    assert {name: (each.module, each.path) for name, each in scope.exports.items()} == {
        "a": ("", ("a",)),
        "b": ("", ("b",)),
        "ns": ("./q", ()),
        "B": ("./m", ("A",)),
        "C": ("./m", ("C",)),
        "default": ("", ("_value",)),
        "Z": ("", ("Z",)),
        "V": ("", ("V",)),
        "some name": ("", ("a",)),
    }
    assert scope.stars == ["./q", "./w"]
    assert scope.equals == [Reference("", ("whole",))]
    assert scope.imports == {
        "X": Reference("x", (), whole=True),
        "Y": Reference("", ("A", "B", "C")),
        "Z": Reference("", ("A", "B")),
        "V": Reference("v", (), whole=True),
        "D": Reference("e", ("default",)),
        "F": Reference("e", ("E",)),
        "G": Reference("e", ("G",)),
        "H": Reference("h"),
    }
    assert (source.module, scope.explicit, scope.dynamic) == (True, True, False)


@pytest.mark.parametrize(
    ("text", "path", "explicit"),
    [
        ("export declare const a: 1;\ndeclare const b: 2;", "x.d.ts", False),
        ("export declare const a: 1;\ndeclare const b: 2;\nexport {};", "x.d.ts", True),
        ("export const a = 1;\nconst b = 2;", "x.ts", True),
    ],
)
def test_declarations_are_exported_unless_something_says_otherwise(
    text: str, path: str, *, explicit: bool
) -> None:
    assert read(text, path).scope.explicit == explicit


@pytest.mark.parametrize(
    "text",
    [
        "export default function (a: string): { b: 1 };",
        "export default function(a: string): { b: 1 };",
        "export default async function (a: string): Promise<void>;",
    ],
)
def test_a_default_function_without_a_name(text: str) -> None:
    source = read(text)
    assert source.scope.exports == {"default": Reference("", (DEFAULT,))}
    (declaration,) = source.scope.names[DEFAULT]
    found = read_declaration(source, declaration).type
    assert isinstance(found, ObjectType)
    (call,) = found.calls
    assert [described(each) for each in call.parameters] == ["a"]


@pytest.mark.parametrize(
    "text",
    [
        'export declare const a: import("./x").Foo<string>;',
        'export declare const a: typeof import("./x");',
        'export type * from "./x";',
        "export interface X<in out T, out U extends string = string, in V> { a: T }",
        "export interface X</** why */ out T extends {} = {}> { a: T }",
        'declare module "x" {\n    global {\n        var y: 1;\n    }\n}',
        'export import a = require("x");',
        "export default function (): void;",
    ],
)
def test_what_the_grammar_does_not_know_is_read_all_the_same(text: str) -> None:
    body = text.encode()
    assert len(patched(body)) == len(body)
    assert not parse(body).has_error


def test_namespaces_modules_and_globals() -> None:
    source = read(
        "declare namespace A.B { const one: 1; }\n"
        "declare namespace A { function two(): void; namespace C { } }\n"
        'declare module "other" { export const three: 3; }\n'
        'declare module "any";\n'
        "declare global { interface Window { four: 4 } }\n"
    )
    (first, second) = source.scope.names["A"]
    assert first.scope is second.scope
    assert first.scope is not None
    assert set(first.scope.names) == {"B", "two", "C"}
    assert set(source.ambient["other"].names) == {"three"}
    assert source.ambient["any"].dynamic
    assert set(source.ambient_globals.names) == {"Window"}
    assert not source.module


def test_a_class_in_full() -> None:
    source = read(
        "export declare abstract class K<T> extends B.C<T> implements I {\n"
        "  /** How many. */\n  static s: number;\n  private p: string;\n  #h: 1;\n"
        "  constructor(public readonly x: number, y?: T, ...rest: T[]);\n"
        "  get g(): 1;\n  set g(v: 1);\n  abstract m(this: K<T>, a: void): void;\n"
        '  "quoted name": 1;\n  [Symbol.iterator](): X;\n}'
    )
    (declaration,) = source.scope.names["K"]
    found = read_declaration(source, declaration)
    assert found.signature == "abstract class K<T> extends B.C<T> implements I"
    assert isinstance(found.type, ObjectType)
    members = [each for many in found.type.members.values() for each in many]
    # Members are read on demand, whether the tree of their statement is still there or not.
    parse_statement.cache_clear()
    assert [(m.name, m.kind, m.static, m.hidden, m.text.span.line) for m in members] == [
        ("s", "property", True, False, 3),
        ("p", "property", False, True, 4),
        ("x", "property", False, False, 6),
        ("g", "property", False, False, 7),
        ("g", "property", False, False, 8),
        ("m", "method", False, False, 9),
        ("quoted name", "property", False, False, 10),
    ]
    assert members[0].text.doc == "/** How many. */"
    assert isinstance(members[5].type, ObjectType)
    assert [described(each) for each in members[5].type.calls[0].parameters] == ["a?"]
    (constructor,) = found.type.constructors
    assert [described(each) for each in constructor.parameters] == ["x", "y?", "...rest"]
    assert not found.type.open


def test_commonjs() -> None:
    text = (
        'const { a } = require("./a");\nconst b = require("./b");\n'
        "module.exports = { a, b, c: 1, d() {} };\nmodule.exports.e = function () {};\n"
    )
    source = read(text, "index.js")
    assert list(source.scope.exports) == ["a", "b", "c", "d", "e"]
    assert not source.scope.dynamic
    assert source.scope.imports["b"] == Reference("./b", (), whole=True)
    assert read(text + "Object.assign(exports, more);\n", "index.js").scope.dynamic
    assert read("export { a as 'module.exports' };", "index.mjs").scope.equals


def test_documentation() -> None:
    doc = parse_comment(
        "/**\n * Adds {@link other|two} numbers.\n *\n * More.\n * @param a - the first\n"
        " *   one\n * @param [b=1] the second\n * @returns their sum\n * @deprecated Use `plus`.\n"
        " * @example <caption>Small</caption>\n * add(1,\n *   2)\n * @internal\n */"
    )
    assert doc == Comment(
        "Adds `two` numbers.\n\nMore.\n\n- `a`: the first one\n- `[b=1]`: the second\n\n"
        "Returns: their sum\n\n**Deprecated** Use `plus`.\n\n"
        "Example: Small\n\n```ts\nadd(1,\n  2)\n```\n\nInternal.",
        "Use `plus`.",
    )
    assert parse_comment("// no documentation") == Comment()
    assert parse_comment("/** @deprecated */").deprecated == "deprecated"


@pytest.mark.parametrize(
    "text",
    [
        "export declare const a: " + "(" * 20_000 + "b" + ")" * 20_000,
        "export default " + "(" * 20_000 + "b" + ")" * 20_000,
        "export default a" + ".b" * 20_000,
        "namespace A {" * 5_000 + "}" * 5_000,
        "export type T = " + "A | " * 20_000 + "B;",
        "export interface I { a: typeof a" + ".b" * 20_000 + "; }",
        "export interface I { a: " + "{ (): " * 5_000 + "1" + "}" * 5_000 + "; }",
    ],
)
@pytest.mark.parametrize("path", ["x.d.ts", "x.js"])
@pytest.mark.slow
def test_the_deepest_nesting_is_no_fault(text: str, path: str) -> None:
    source = read(text, path)
    assert len(read_all(source)) == sum(map(len, source.scope.names.values()))


FRAGMENTS = st.sampled_from(
    ["export ", "declare ", "class X ", "interface Y ", "{", "}", "(", ")", "<T>", ": ", "=> ",
     "import ", 'from "x"', "* ", "= ", ";", "\n", "a", "?", "namespace N ", "module.exports",
     "type Z ", "[k: string]", "/** d */", "// c\n", "extends ", "default ", "function ", "é", "\0",
     'import("x")', "global "]
)  # fmt: skip


@given(st.lists(FRAGMENTS, max_size=40).map("".join), st.sampled_from(["x.d.ts", "x.ts", "x.js"]))
@settings(max_examples=200, deadline=None)
def test_whatever_is_written_is_read(text: str, path: str) -> None:
    body = text.encode()
    assert len(patched(body)) == len(body)
    source = read_file(path, body)
    for declarations in source.scope.names.values():
        for each in declarations:
            assert 0 <= each.span.start < each.span.end <= len(body)
            assert 1 <= each.span.line <= each.span.end_line <= text.count("\n") + 1
    read_all(source)
    assert isinstance(source.scope, Scope)
