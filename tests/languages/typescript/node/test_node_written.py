"""Packages written here, one for each way in which a declaration can lead to another."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from docstow.languages.shared.boundary import Boundary
from docstow.languages.typescript.surface import NodeProject, NodeSurface
from node_environment import package, surfaces


def written(root: Path, files: dict[str, str], name: str = "lib", **manifest: object) -> None:
    folder = root / "node_modules" / name
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "package.json").write_text(json.dumps({"name": name, **manifest}))
    for path, text in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)


def surface(root: Path, name: str = "lib") -> NodeSurface:
    found = surfaces(root)(name)
    assert found is not None
    return found


def kinds(found: NodeSurface, *paths: str) -> dict[str, str]:
    """Kinds by path; of what is not there whether that is certain."""
    told = {}
    for path in paths:
        symbol = found.symbol(path)
        sure = "absent" if found.certain(path.rpartition(".")[0]) else "unknown"
        told[path.partition(".")[2]] = symbol.kind if symbol else sure
    return told


def test_ways_to_export(tmp_path: Path) -> None:
    written(
        tmp_path,
        {
            "index.d.ts": (
                'import Def, { a as b } from "./one.js";\n'
                'import * as ns from "./one.js";\n'
                'export * from "./star.js";\n'
                'export * as all from "./one.js";\n'
                'export { a, a as renamed, type T } from "./one.js";\n'
                'export type * from "./types.js";\n'
                "export { b as through, ns, Def };\n"
                "export default function (x: string): void;\n"
                "declare const inner: number;\n"
            ),
            "one.d.ts": (
                "export declare const a: { deep: { er(): void } };\n"
                "export type T = { x: 1 };\n"
                "declare class Def { m(): void }\nexport default Def;\n"
            ),
            "star.d.ts": 'export * from "./index.js";\nexport declare let starred: string;\n',
            "types.d.ts": "export interface Only { p: string }\n",
        },
    )
    names = ("a", "renamed", "T.x", "Only.p", "through.deep.er", "ns.a", "all.T", "Def.m")
    more = ("default", "starred", "inner", "a.deep.other", "all.other", "other")
    assert kinds(surface(tmp_path), *(f"lib.{name}" for name in (*names, *more))) == {
        "a": "constant",
        "renamed": "constant",
        "T.x": "property",
        "Only.p": "property",
        "through.deep.er": "method",
        "ns.a": "constant",
        "all.T": "type",
        "Def.m": "method",
        "default": "function",
        "starred": "constant",
        "inner": "absent",
        "a.deep.other": "absent",
        "all.other": "absent",
        "other": "absent",
    }


def test_a_module_that_is_a_function_with_a_namespace(tmp_path: Path) -> None:
    written(
        tmp_path,
        {
            "index.d.ts": (
                "export = lib;\n"
                "declare function lib(a: string, b?: number): lib.Result;\n"
                "declare namespace lib {\n"
                "  interface Result { ok: boolean }\n"
                "  namespace deep { const x: 1; }\n"
                "}\n"
                "declare namespace lib { function more(): void }\n"
                "export as namespace Lib;\n"
            ),
        },
    )
    found = surface(tmp_path)
    names = ("Result.ok", "deep.x", "more", "default", "default.more", "other", "call")
    assert kinds(found, *(f"lib.{name}" for name in names)) == {
        "Result.ok": "property",
        "deep.x": "constant",
        "more": "function",
        "default": "function",
        "default.more": "function",
        "other": "absent",
        "call": "property",
    }
    whole = found.symbol("lib")
    assert whole is not None
    assert whole.parameters is not None
    assert [(each.name, each.required) for each in whole.parameters] == [("a", True), ("b", False)]


@pytest.mark.parametrize(
    "text",
    [
        "export interface X { [key: string]: any }",
        "export declare const X: any;",
        "export declare const X: unknown;",
        "export type X = { [K in keyof Missing]: string };",
        "export type X = { [K in 'a' | 'b' as `on${K}`]: string };",
        "export type X = { a: 1 } extends infer U ? U : never;",
        "export interface X extends Missing { a: 1 }",
        "export declare class X extends mixin(Base) { a: 1 }",
        'import { Y } from "not-installed";\nexport declare class X extends Y { a: 1 }',
        "export type X<T> = T & { a: 1 };",
        "export declare const X: Omit<Y, 'b'>;",
        "export declare const X: { a: 1 } & Record<string, number>;",
        "export interface X { a: ; b: 1 }",
        "export interface X { a: 1 }\ntype ? = <;\nexport declare const X: { b: 1 };",
        "declare const k: unique symbol;\nexport interface X { [k]: 1 }",
        "export class X { a: 1; [computed]: 2; constructor(",
    ],
)
def test_what_cannot_be_known_is_not_called_absent(tmp_path: Path, text: str) -> None:
    written(tmp_path, {"index.d.ts": text})
    found = surface(tmp_path)
    assert (found.symbol("lib.X.other"), found.certain("lib.X")) == (None, False)


def test_classes_inherit_across_packages_and_merge_with_interfaces(tmp_path: Path) -> None:
    written(
        tmp_path, {"index.d.ts": "export class Base<T> { constructor(a: T, b: 1); m(): T }"}, "base"
    )
    written(
        tmp_path,
        {
            "index.d.ts": (
                'import { Base } from "base";\n'
                "export declare class Child extends Base<string> {\n"
                "  static make(): Child; protected own: 1; private hidden: 2; #secret: 3;\n}\n"
                "export interface Child { added(): void }\n"
                "export type Alias = Child & { more: 1 };\n"
            )
        },
    )
    found = surface(tmp_path)
    names = ("Child.m", "Child.make", "Child.own", "Child.added", "Child.none", "Alias.more")
    assert kinds(found, *(f"lib.{name}" for name in (*names, "Alias.m", "Alias.none"))) == {
        "Child.m": "method",
        "Child.make": "method",
        "Child.own": "property",
        "Child.added": "method",
        "Child.none": "absent",
        "Alias.more": "property",
        "Alias.m": "method",
        "Alias.none": "absent",
    }
    child = found.symbol("lib.Child")
    assert child is not None
    assert child.parameters is not None
    assert [(each.name, each.required) for each in child.parameters] == [("a", True), ("b", True)]
    assert set(found.members("lib.Child") or ()) == {"m", "make", "own", "added"}


def test_additions_of_other_files_and_packages_are_seen(tmp_path: Path) -> None:
    written(
        tmp_path,
        {
            "index.d.ts": "export interface Api { a: 1 }\nexport declare const x: 1;",
            "plugin.d.ts": (
                'import "./index";\ndeclare module "./index" {\n'
                "  interface Api { plugged(): void }\n  export function added(): void;\n}"
            ),
        },
    )
    text = 'import "lib";\ndeclare module "lib" { interface Api { foreign: 1 } }'
    written(tmp_path, {"index.d.ts": text}, "other", peerDependencies={"lib": "*"})
    boundary = Boundary(tmp_path)
    mine, other = (
        package(name, tmp_path / "node_modules" / name, tmp_path) for name in ("lib", "other")
    )
    found = NodeSurface(mine, NodeProject(boundary, installed=lambda: [mine, other]))
    names = ("Api.plugged", "Api.foreign", "added", "Api.none", "none")
    assert kinds(found, *(f"lib.{name}" for name in names)) == {
        "Api.plugged": "method",
        "Api.foreign": "property",
        "added": "function",
        "Api.none": "absent",
        "none": "absent",
    }


def test_a_module_declared_in_parts(tmp_path: Path) -> None:
    written(
        tmp_path,
        {
            "index.d.ts": '/// <reference path="./more.d.ts" />\n'
            'declare module "lib" { class A {} }',
            "more.d.ts": 'declare module "lib" { class B { ["quoted-name"](): void } }',
        },
        types="index.d.ts",
    )
    found = surface(tmp_path)
    assert kinds(found, "lib.A", "lib.B", "lib.B.quoted-name", "lib.B.none", "lib.C") == {
        "A": "class",
        "B": "class",
        "B.quoted-name": "method",
        "B.none": "absent",
        "C": "absent",
    }


@pytest.mark.parametrize(
    ("files", "seen", "absent"),
    [
        ({"index.js": "exports.a = function () {};\nexports.b = 1;"}, ["a", "b"], True),
        ({"index.js": "module.exports = { a, b: 1, c() {} };"}, ["a", "b", "c"], True),
        ({"index.js": "module.exports = { a: 1, ...rest };"}, ["a"], False),
        ({"index.js": "module.exports = make();"}, [], False),
        ({"index.js": "for (const k of ks) exports[k] = 1;\nexports.a = 2;"}, ["a"], False),
        (
            {
                "index.js": (
                    'Object.defineProperty(exports, "__esModule", { value: true });\n'
                    "exports.b = exports.a = void 0;\nexports.a = 1;\nexports.b = 2;\n"
                    '__exportStar(require("./more"), exports);\n'
                    'Object.defineProperty(exports, "c", { get: function () { return 1; } });'
                ),
                "more.js": "exports.d = 4;",
            },
            ["a", "b", "c", "d"],
            True,
        ),
        (
            {
                "index.js": 'if (x) { module.exports = require("./p"); }'
                ' else { module.exports = require("./d"); }',
                "p.js": "exports.a = 1;",
                "d.js": "exports.a = 1;\nexports.b = 1;",
            },
            ["a", "b"],
            True,
        ),
        (
            {"index.js": "(function (root, f) { f(exports); })(this, function (e) { e.a = 1; });"},
            [],
            False,
        ),
        (
            {"index.mjs": "export const a = 1;\nexport { b } from './b.mjs';\nexport default 1;",
             "b.mjs": "export function b() {}"},
            ["a", "b", "default"],
            True,
        ),
    ],
)  # fmt: skip
def test_javascript_without_types(
    tmp_path: Path, files: dict[str, str], seen: list[str], *, absent: bool
) -> None:
    written(tmp_path, files, main=next(iter(files)))
    found = surface(tmp_path)
    assert [name for name in seen if found.symbol(f"lib.{name}") is None] == []
    assert (found.symbol("lib.other"), found.certain("lib")) == (None, absent)


def test_types_from_elsewhere_with_a_scope(tmp_path: Path) -> None:
    written(tmp_path, {"index.js": "module.exports = make();"}, "@scope/lib")
    text = "export declare function typed(a: string): void;"
    written(tmp_path, {"index.d.ts": text}, "@types/scope__lib")
    found = surface(tmp_path, "@scope/lib")
    symbol = found.symbol("@scope/lib.typed")
    assert symbol is not None
    assert (symbol.kind, symbol.target) == ("function", "@types/scope__lib.typed")
    assert (found.symbol("@scope/lib.other"), found.certain("@scope/lib")) == (None, True)


def test_a_module_that_only_speaks_of_itself(tmp_path: Path) -> None:
    written(
        tmp_path,
        {
            "index.d.ts": 'export * from "./index";\nexport { a } from "./b";\nexport type L = L;',
            "b.d.ts": 'export { a } from "./index";\nexport type X = typeof x;\nexport const x: X;',
        },
    )
    found = surface(tmp_path)
    assert kinds(found, "lib.a", "lib.none", "lib.L.none") == {
        "a": "re-export",
        "none": "absent",
        "L.none": "unknown",
    }


def test_nothing_outside_is_read(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret.d.ts").write_text("export declare const secret: 1;")
    root = tmp_path / "project"
    written(
        root,
        {
            "index.d.ts": (
                'export * from "../../../outside/secret";\nexport * from "./linked";\n'
                'export * from "/etc/passwd";\nexport declare const mine: 1;'
            )
        },
    )
    (root / "node_modules/lib/linked.d.ts").symlink_to(outside / "secret.d.ts")
    (root / "node_modules/away").symlink_to(outside)
    found = surface(root)
    assert found.symbol("lib.mine") is not None
    assert (found.symbol("lib.secret"), found.certain("lib")) == (None, False)
    assert found.members("lib") is not None
    assert set(found.members("lib") or ()) == {"mine"}
    assert (
        NodeSurface(
            package("away", root / "node_modules/away", root), NodeProject(Boundary(root))
        ).modules()
        == ()
    )


@pytest.mark.parametrize("manifest", ["", "[]", "{", '{"exports": 5}', '{"main": 7, "types": []}'])
def test_a_broken_manifest_is_no_fault(tmp_path: Path, manifest: str) -> None:
    written(tmp_path, {"index.d.ts": "export declare const a: 1;"})
    (tmp_path / "node_modules/lib/package.json").write_text(manifest)
    assert surface(tmp_path).symbol("lib.a") is not None
