"""Items of Node packages: what has one, with which documentation."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from docstow.core.model import Document
from docstow.languages.typescript import reading
from docstow.languages.typescript.reading import documents
from docstow.languages.typescript.surface import NodeSurface
from languages.typescript.node.test_node_written import surface, written
from node_environment import SCRIPTS

Npm = Callable[[str], NodeSurface]
#: Packages of which every item is compared with what the compiler sees, and the least share of
#: names that are items, and of documented names that have the same documentation.
FLOORS = {
    "@types/node": (0.99, 0.98),
    "axios": (0.99, 0.99),
    "chalk": (0.99, 0.99),
    "commander": (0.99, 0.99),
    "date-fns": (0.99, 0.99),
    "fastify": (0.99, 0.99),
    "graphql": (0.99, 0.98),
    "knex": (0.99, 0.85),
    "lodash": (0.99, 0.99),
    "react": (0.99, 0.99),
    "rxjs": (0.99, 0.97),
    "svelte": (0.99, 0.97),
}


def items(root: Path, files: dict[str, str]) -> dict[str, Document]:
    """The items of a package written here, by their paths."""
    written(root, files, types="index.d.ts")
    return {each.path: each for each in documents(surface(root))}


@pytest.fixture(scope="module")
def compiled(npm_root: Path) -> dict[str, list[dict[str, Any]]]:
    script = Path(__file__).with_name("compiler_items.mjs")
    command = [str(SCRIPTS / "node"), str(script), str(npm_root), *FLOORS]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=240)
    found: dict[str, list[dict[str, Any]]] = json.loads(done.stdout)
    return found


def words(text: str) -> str:
    """What is said, without marks of Markdown and links of JSDoc."""
    text = re.sub(r"\{@link(?:code|plain)?\s+([^}|\s]+)\s*\|?\s*([^}]*)\}", r"\2 \1", text)
    return " ".join(re.findall(r"\w+", re.sub(r"<[^>\n]*>", "", text)))


def is_said(doc: str, text: str) -> bool:
    """Whether documentation, overloads' together, is in a text; links are worded otherwise."""
    ours = words(text)
    lines = [line for line in doc.splitlines() if "{@" not in line]
    return bool(ours) and all(words(line) in ours for line in lines)


@pytest.mark.parametrize("name", FLOORS)
def test_what_the_compiler_sees_has_items(
    compiled: dict[str, list[dict[str, Any]]], npm: Npm, name: str
) -> None:
    by_path: dict[str, Document] = {}
    by_place: dict[tuple[object, ...], Document] = {}
    for each in documents(npm(name)):
        if each.kind != "page":
            by_path[each.path] = each
            place = (each.attributes.get("file"), each.attributes.get("line"))
            by_place.setdefault((*place, each.path.rpartition(".")[2]), each)
    found = documented = same = 0
    for seen in compiled[name]:
        ours = by_path.get(seen["path"])
        for file, *lines in seen["at"]:
            inside = re.sub(r"^(@[^/]+/)?[^/]+/", "", file)
            for line in lines:
                ours = by_place.get((inside, line, seen["name"]), ours)
        found += ours is not None
        if seen["doc"].strip():
            documented += 1
            same += ours is not None and is_said(seen["doc"], ours.text)
    names, docs = FLOORS[name]
    assert compiled[name]
    assert found >= names * len(compiled[name])
    assert same >= docs * documented


@pytest.mark.parametrize(
    ("name", "paths"),
    [
        ("graphql", ["graphql.graphql", "graphql.GraphQLSchema.getType"]),
        ("graphql", ["graphql.GraphQLArgs.source"]),
        ("@types/node", ["node:fs.readFile", "node:fs/promises.readFile"]),
        ("@types/node", ["node:http.ClientRequestArgs.timeout"]),
        ("@types/node", ["@types/node.setTimeout", "@types/node.NodeJS.ProcessEnv"]),
        ("knex", ["knex.Knex.JoinClause.on", "knex.Knex.JoinClause.andOnVal"]),
    ],
)  # fmt: skip
def test_well_known_names_are_items(npm: Npm, name: str, paths: list[str]) -> None:
    assert set(paths) <= {each.path for each in documents(npm(name))}


def test_options_and_their_properties(tmp_path: Path) -> None:
    found = items(
        tmp_path,
        {
            "index.d.ts": (
                "/** How to ask. */\nexport interface Options {\n"
                "  /** Milliseconds.\n   * @default 1000\n   */\n  timeout?: number;\n"
                "  /** Again.\n   * @defaultValue `true`\n   */\n  retry?: boolean;\n"
                "  pool?: { /** How many. */ size: number; limits?: { low: number } };\n}\n"
                "export type More = { a: 1 } & { /** Two. */ b: 2 };\n"
                "export declare function ask(\n  url: string,\n"
                "  options?: Options & { /** Who asks. */ agent?: string },\n): void;\n"
                "export declare class Client {\n"
                "  constructor(config: { /** Where. */ base: string });\n"
                "  send(body: string, how: { fast: boolean } | null): void;\n}\n"
            )
        },
    )
    assert found["lib.Options.timeout"].text == "Milliseconds.\n\nDefault: `1000`"
    assert found["lib.Options.retry"].text == "Again.\n\nDefault: `true`"
    inner = {path: each.text for path, each in found.items() if each.kind == "property"}
    assert inner == {
        "lib.Options.timeout": "Milliseconds.\n\nDefault: `1000`",
        "lib.Options.retry": "Again.\n\nDefault: `true`",
        "lib.Options.pool": "",
        "lib.Options.pool.size": "How many.",
        "lib.Options.pool.limits": "",
        "lib.Options.pool.limits.low": "",
        "lib.More.a": "",
        "lib.More.b": "Two.",
        "lib.ask.options.agent": "Who asks.",
        "lib.Client.config.base": "Where.",
        "lib.Client.send.how.fast": "",
    }
    size = found["lib.Options.pool.size"]
    assert (size.parent, size.title, size.signature) == ("lib.Options.pool", "size", "size: number")
    agent = found["lib.ask.options.agent"]
    assert (agent.parent, agent.title) == ("lib.ask", "options.agent")


def test_members_of_namespaces(tmp_path: Path) -> None:
    found = items(
        tmp_path,
        {
            "index.d.ts": (
                "export declare function go(): void;\n"
                "export declare namespace go {\n"
                "  interface Builder { where(a: string): this; }\n"
                "  namespace deep { class Inner { run(): void } }\n"
                "  const flag: unique symbol;\n}\n"
            )
        },
    )
    assert {
        "lib.go.Builder.where": "method",
        "lib.go.deep.Inner.run": "method",
        "lib.go.flag": "constant",
    }.items() <= {path: each.kind for path, each in found.items()}.items()


def test_a_class_hides_the_namespace_of_its_base(tmp_path: Path) -> None:
    found = items(
        tmp_path,
        {
            "index.d.ts": (
                "export declare class Base { a: 1 }\n"
                "export declare namespace Base { interface Options { old: 1 } type Kept = 1 }\n"
                "export declare class Heir extends Base { b: 1 }\n"
                "export declare namespace Heir { interface Options { fresh: 1 } }\n"
            )
        },
    )
    assert {"lib.Base.Options.old", "lib.Heir.Options.fresh"} <= set(found)
    assert "lib.Heir.Options.old" not in found
    assert surface(tmp_path).symbol("lib.Heir.Kept") is not None


def test_modules_that_are_declared_by_name(tmp_path: Path) -> None:
    found = items(
        tmp_path,
        {
            "index.d.ts": (
                '/// <reference path="./more/globals.d.ts" />\n'
                "/// <reference path='files.d.ts' />\n"
            ),
            "more/globals.d.ts": (
                '/// <reference path="../wide.d.ts" />\ndeclare var shared: Wide;\n'
            ),
            "wide.d.ts": "interface Wide { width: number }\n",
            "files.d.ts": (
                'declare module "sys:files" {\n'
                "  /** Reads. */\n  export function read(path: string): Wide;\n}\n"
                'declare module "files" { export * from "sys:files"; }\n'
                'declare module "*.svg" { const path: string; export default path; }\n'
            ),
            "unused.d.ts": 'declare module "sys:unused" { export const no: 1; }\n',
        },
    )
    kinds = {path: each.kind for path, each in found.items()}
    assert kinds == {
        "lib": "module",
        "lib.shared": "constant",
        "lib.Wide": "interface",
        "lib.Wide.width": "property",
        "sys:files": "module",
        "sys:files.read": "function",
    }
    assert found["sys:files.read"].text == "Reads."


def test_a_member_inherits_its_documentation(tmp_path: Path) -> None:
    found = items(
        tmp_path,
        {
            "index.d.ts": (
                "interface Top { /** From the top. */ top(): void; /** Twice. */ twice(): void }\n"
                "interface Shape extends Top { /** Its area. */ area(): number; twice(): void }\n"
                "export declare class Square implements Shape {\n"
                "  area(): number;\n  top(): void;\n"
                "  /** {@inheritDoc Shape.twice} And once more. */\n  twice(): void;\n}\n"
                "export declare class Unit extends Square {\n"
                "  /** One. */ area(): number;\n  /** @returns nothing */\n  top(): void;\n}\n"
                "export {};\n"
            )
        },
    )
    assert {path.removeprefix("lib."): each.text for path, each in found.items()} == {
        "lib": "",
        "Square": "",
        "Square.area": "Its area.",
        "Square.top": "From the top.",
        "Square.twice": "Twice. And once more.",
        "Unit": "",
        "Unit.area": "One.",
        "Unit.top": "From the top.\n\nReturns: nothing",
    }


def test_documentation_of_overloads_and_of_declarators(tmp_path: Path) -> None:
    found = items(
        tmp_path,
        {
            "index.d.ts": (
                "/** By name. */\nexport declare function find(name: string): void;\n"
                "/** By number. */\nexport declare function find(id: number): void;\n"
                "/** @deprecated Old. */\nexport declare function find(): void;\n"
                "export declare const /** Starts. */ start: () => void,\n"
                "/** Stops. */ stop: () => void;\n"
            )
        },
    )
    assert found["lib.find"].text == (
        "By name.\n\n`function find(id: number): void`: By number.\n\n"
        "`function find(): void`: **Deprecated** Old."
    )
    assert (found["lib.start"].text, found["lib.stop"].text) == ("Starts.", "Stops.")


def test_members_that_are_selected(tmp_path: Path) -> None:
    found = items(
        tmp_path,
        {
            "index.d.ts": (
                "interface Hidden { a: 1; b: 2; c: 3; d: 4 }\n"
                'type Keys = "a" | "b";\n'
                "export interface Some extends Pick<Hidden, Keys> { own: 1 }\n"
                'export type Rest = Omit<Hidden, "a" | "d">;\n'
                "export type Unclear = Omit<Hidden, keyof Rest>;\nexport {};\n"
            )
        },
    )
    inner = {path for path in found if path.count(".") > 1}
    # What is documented under one type is not under the next: ``Unclear.a`` is ``Some.a``.
    assert inner == {"lib.Rest.b", "lib.Rest.c", "lib.Some.a", "lib.Some.own", "lib.Unclear.d"}
    members = surface(tmp_path).members("lib.Some")
    assert members is not None
    assert set(members) == {"own", "a", "b"}
    assert set(surface(tmp_path).members("lib.Unclear") or ()) == {"a", "d"}


def test_what_is_the_default_alone_has_no_other_name(tmp_path: Path) -> None:
    found = items(
        tmp_path,
        {
            "index.d.ts": (
                "export interface Options { abstract?: boolean; other: 1 }\n"
                "export default function ask(options: Options): void;\n"
            )
        },
    )
    assert {"lib.default", "lib.Options.abstract", "lib.Options.other"} <= set(found)
    assert "lib.ask" not in found
    assert surface(tmp_path).symbol("lib.ask") is None


def test_what_a_default_class_inherits_from_elsewhere_is_no_item(tmp_path: Path) -> None:
    written(
        tmp_path,
        {
            "index.d.ts": (
                "declare class Stream { pipe(): void }\n"
                "declare namespace Stream { interface Odd { x: 1 } }\nexport = Stream;\n"
            )
        },
        name="streams",
        types="index.d.ts",
    )
    found = items(
        tmp_path,
        {
            "index.d.ts": (
                'import Stream = require("streams");\nexport = Form;\n'
                "declare class Form extends Stream { append(): void }\n"
                "declare namespace Form { interface Options { y: 1 } }\n"
            )
        },
    )
    assert set(found) == {"lib", "lib.append", "lib.Options", "lib.Options.y"}


def test_a_type_with_too_many_members_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reading, "_MAX_OF_TYPE", 3)
    members = "".join(f"  m{each}: number;\n" for each in range(5))
    text = f"/** Wide. */\nexport interface Wide {{\n{members}}}\n"
    found = items(tmp_path, {"index.d.ts": text})
    assert found["lib.Wide"].text == "Wide.\n\nOf 5 members, 3 are described one by one."
    assert [path for path in found if path.startswith("lib.Wide.")] == [
        *("lib.Wide.m0", "lib.Wide.m1", "lib.Wide.m2"),
    ]


def test_a_package_with_too_many_members_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reading, "_MAX_MEMBERS", 4)
    text = "export interface A { a: 1; b: 2; c: 3 }\n"
    found = items(tmp_path, {"index.d.ts": text})
    assert found["lib"].text.startswith("1 members of the package's types are beyond")
    assert "lib.A.c" not in found
