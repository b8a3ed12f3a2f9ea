"""TypeScript's compiler as the engine: what of its findings is told, and what it cannot do."""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from docstow.cli import main
from docstow.core.errors import UnreadableInput
from docstow.core.settings import load
from docstow.languages.shared.engines import this_platform
from docstow.languages.shared.findings import PROBLEMS, Verdict
from docstow.languages.typescript import compiler, compiler_release
from docstow.languages.typescript.compiler_release import ENGINE
from docstow.languages.typescript.unresolved import lacks_base
from docstow.runtime import Runtime
from docstow.sources.packages.programs import fetcher_of, unpack_program
from servers.npm import NpmServer

Verify = Callable[..., dict[str, Any]]


SINK = "let sink = [];\nfunction fill(sub) { sink.push(1); sub.next(); }\n"
TO_ENTRY = "function toEntry(line) { return { date: line }; }\n"
#: A type that takes the very keys of another one, as esbuild's is.
SHAPES = """
export interface Options { entryPoints?: string[]; bundle?: boolean }
type Same<Out, In extends Out> = In & { [Key in Exclude<keyof In, keyof Out>]: never };
export declare function build<T extends Options>(options: Same<Options, T>): T;
"""


@pytest.fixture(scope="module")
def project(npm_root: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project whose own configuration would have nothing checked."""
    root = tmp_path_factory.mktemp("project")
    for name in ("package.json", "package-lock.json"):
        shutil.copyfile(npm_root / name, root / name)
    (root / "node_modules").mkdir()
    for name in ("axios", "date-fns", "rxjs", "zod"):
        folder = npm_root / "node_modules" / name
        shutil.copytree(folder, root / "node_modules" / name, copy_function=os.link)
    shapes = root / "node_modules" / "shapes"
    shapes.mkdir()
    described = {"name": "shapes", "version": "1.0.0", "types": "index.d.ts"}
    (shapes / "package.json").write_text(json.dumps(described))
    (shapes / "index.d.ts").write_text(SHAPES)
    config = {"compilerOptions": {"noCheck": True, "plugins": [{"name": "./evil.js"}]}}
    (root / "tsconfig.json").write_text(json.dumps(config))
    return root


@pytest.fixture(scope="module")
def opened(
    project: Path, engines_folder: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Runtime]:
    base = tmp_path_factory.mktemp("runtime")
    flags = {
        "store": str(base / "store"),
        "cache": str(base / "cache"),
        "engines": str(engines_folder),
        "root": (str(project),),
        "offline": True,
    }
    with contextlib.closing(Runtime(load(flags, {}))) as runtime:
        yield runtime


@pytest.fixture(scope="module")
def verify(opened: Runtime) -> Verify:
    def ask(code: str, language: str = "typescript", **arguments: Any) -> dict[str, Any]:
        given = {"code": code, "language": language, **arguments}
        answer = opened.toolbox.call("verify_code", given).structured
        assert answer is not None
        return dict(answer)

    return ask


def names(answer: dict[str, Any]) -> list[str]:
    return [each["name"] for each in answer["results"] if each["status"] != "ok"]


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ('import axios from "axios";\nconst r = await axios.get("/");\nr.statuz;', "statuz"),
        ('import { z } from "zod";\nz.string().emial();', "emial"),
        ('import { of, mapp } from "rxjs";\nof(1);', "mapp"),
        ('import axios from "axios";\naxios.get("/", { timeoutt: 1 });', "timeoutt"),
        ('import { addDays } from "date-fns";\naddDays(new Date());', "addDays()"),
        ("class Own { a = 1; }\nnew Own().bb;", "Own.bb"),
    ],
)
def test_what_is_wrong_is_found_with_its_place(verify: Verify, code: str, expected: str) -> None:
    answer = verify(code)
    assert answer["engine"] == f"typescript {compiler_release.ENGINE.version}"
    (found,) = answer["results"]
    assert found["name"].endswith(expected), found
    line = code.split("\n")[found["line"] - 1]
    assert line[found["column"] - 1 :].startswith(expected.removesuffix("()").split(".")[-1])


EXPRESS = 'import express from "express";\nconst app = express();\n'
SOURCE = 'const s = new EventSource("/");\n'
AXIOS = 'import axios from "axios";\n'
OWN = (
    "class Queue { constructor() { Object.defineProperty(this, 'queue', {}); } enqueueAll() {} }\n"
)
PANEL = "class Panel extends HTMLElement { close() {} }\n"
ZOD = 'import { z } from "zod";\n'


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        (EXPRESS + 'app.get("/", (req, res) => { res.sendd(req.bodyy); });', ["sendd", "bodyy"]),
        (EXPRESS + 'app.get("/", (req, res) => { res.send(req.body); });', []),
        (EXPRESS + "function f(res: any) { res.sendd(); }", []),
        (EXPRESS + 'app.get("/", (req) => req.user);', ["user"]),
        (EXPRESS + "declare global { namespace Express { interface Request { user: 1 } } }\n"
         'app.get("/", (req) => req.user);\nexport {};', []),
        (AXIOS + 'const { data, dta } = await axios.get("/x");', ["dta"]),
        (AXIOS + 'const a = await axios.get<string[]>("/x");\na.statuss; a.data.x;',
         ["statuss", "x"]),
        (AXIOS + 'axios.get("/x", { timeoutt: 1, params: { any: 1 } });', ["timeoutt"]),
        (AXIOS + 'axios.get("/x", { ...{ timeoutt: 1 } });', []),
        ('"x".trimm(); [1].flatt(); JSON.parze("1");', ["trimm", "flatt", "parze"]),
        ('"x".trim().split(",").at(-1)?.padStart(3); Promise.all([]);', []),
        ("const m = new Map<string, number>();\nm.put(1);", ["put"]),
        ("declare const tag: any;\ntag<number>`a`.mapWith(1).b();\n`a`.trimm();", ["trimm"]),
        ('const r = await fetch("x");\nr.jsonn(); if (r.okk) r.text();\nexport {};',
         ["jsonn", "okk"]),
        ("process.exitt(1); Buffer.fromm('x');", ["exitt", "fromm"]),
        ('import { readFile } from "node:fs/promises";\n(await readFile("x", "utf8")).trimm();',
         ["trimm"]),
        ("if (typeof process.exitt === 'function') {}", []),
        (ZOD + "const U = z.object({});\ntype U = z.infer<typeof U>;\nU.x(1);", ["x"]),
        (ZOD + "z.string()" + ".min(1)" * 200 + ".emial();", ["emial"]),
        ("// @ts-nocheck\n" + EXPRESS + "app.wrong();", []),
    ],
)  # fmt: skip
def test_members_of_values_are_looked_for(
    node_judge: Callable[..., Verdict], code: str, expected: list[str]
) -> None:
    found = [each for each in node_judge(code).findings if each.status == "unknown"]
    assert [each.name.rpartition(".")[2] for each in found] == expected


RECORD = "declare function f(o: Record<string, unknown> & { issue: number }): void;\n"


@pytest.mark.parametrize(
    ("code", "expected", "meant"),
    [
        (AXIOS + 'axios.get("/x", { responseType: "jsn" });', '"jsn"', "json"),
        (AXIOS + 'const r = await axios.get("/x");\nr.status();', "status()", None),
        ('declare function f(m: "onBlur" | "onChange"): void;\nf("blur");', '"blur"', "onBlur"),
        (RECORD + "f({ number: 1 });", "f.issue", "issue"),
    ],
)
def test_texts_of_a_set_and_what_a_call_needs_are_looked_for(
    node_judge: Callable[..., Verdict], code: str, expected: str, meant: str | None
) -> None:
    (found,) = [each for each in node_judge(code).findings if each.status == "wrong_argument"]
    assert found.name == expected
    assert meant is None or found.suggestions[0] == meant
    if expected == '"jsn"':
        assert (found.package, bool(found.version)) == ("axios", True)


@pytest.mark.parametrize(
    "code",
    [
        AXIOS + 'axios.get("/x", { responseType: "json" });',
        AXIOS + "declare const kind: string;\naxios.get(kind, { responseType: kind });",
        RECORD + "declare const more: object;\nf({ number: 1, ...more });",
        'declare function f(n: number): void;\nf("one");',
        "declare const own: { a: number };\nown.a();",
        # Another program has other globals.
        'declare function g(name: keyof typeof globalThis): void;\ng("TypedArray");',
    ],
)
def test_errors_of_types_in_general_are_not_told(
    node_judge: Callable[..., Verdict], code: str
) -> None:
    found = [each.status for each in node_judge(code).findings]
    assert set(found) <= {"ok", "not_checked"}


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        (EXPRESS + 'app.post("/", (req, res) => res.json(req.file, req.user.id));', []),
        (EXPRESS + 'app.post("/", ({ user, bodyy }, res) => { const { x } = res.y; });', []),
        (EXPRESS + 'app.post("/", (req, res) => { const r = res; r.sendd(); r.any(); });',
         ["sendd", "any"]),
        (EXPRESS + 'app.post("/", (req, res) => { const r = res; r.sendd(); r.any; });', ["sendd"]),
        (EXPRESS + 'import "./own.js";\napp.post("/", (q, res) => { res.sendd(); res.any(); });',
         ["sendd"]),
        (EXPRESS + 'app.post("/", (q, res) => { res.any(); });\nexport default app;', []),
        (AXIOS + "axios.surely(1); if (axios.later) axios.later();", ["surely"]),
        ('const before = global.before; "x".trimm();', ["trimm"]),
        (AXIOS + "axios.more = 1;\naxios.more.x; axios._own; axios.less;", ["less"]),
        ('import { Z_NONE } from "node:zlib";\nimport { mapp } from "rxjs";', ["Z_NONE", "mapp"]),
        ('const { Z_NONE } = require("node:zlib");', []),
        (AXIOS + 'axios.get("/x", { timeoutt: 1 });', ["timeoutt"]),
        (AXIOS + 'axios.get([""].find((e) => e), { timeoutt: 1 });', ["timeoutt"]),
        (AXIOS + 'const r = await axios.get("/");\nif (r.statusCode === 200) r.data;',
         ["statusCode"]),
        (AXIOS + 'const r = await axios.get("/");\nif (typeof r.statusCode === "number") r.data;',
         []),
        (AXIOS + 'const r = await axios.get("/");\nif ("statusCode" in r) r.statusCode;', []),
        (AXIOS + 'axios.get("/", { __proto__: null });', []),
        ('import { interval } from "rxjs";\nconst s = interval(1);\nif (s.next) s.next();\ns.nex;',
         ["nex"]),
        (SOURCE + "s.onmessage = (event) => JSON.parse(event.body);\nconst body = 1;", ["body"]),
        (SOURCE + "s.onmessage = (event) => event.target.body;", []),
        ('let axios = require("axios");\nif (!axios.get) axios = { more: 1 };\naxios.more;', []),
        ('const fs = require("fs");\nfs.notInTheTypes;', ["notInTheTypes"]),
        ('const util = require("util");\nutil.isArray([]); process.browser;', []),
        ("process.type; process.types;", ["types"]),
        ('const url = require("url");\nurl.Url; process.domain;', []),
        ("document.body.style.WebkitAppearance;\ndocument.body.style.appearence;", ["appearence"]),
        (AXIOS + "axios.get('/').then((response) => response.dta.x);", ["dta"]),
        (AXIOS + "axios.create().create();\naxios.create().all();", ["all"]),
        ("Buffer.prototype.equal;\nBuffer.from('a').equal(Buffer.from('b'));", []),
        (OWN + "new Queue().queue;", []),
        (OWN + "new Queue().enqueueAl();", ["enqueueAl"]),
        # Another file may give it to the class, though the compiler takes it for another name.
        (OWN + "new Queue().enqueueMore();", []),
        ('const b = Buffer.from("a");\nb.utf8Slice(0);\nb.hexSlices(0);', ["hexSlices"]),
        (PANEL + "document.querySelectorAll('a').forEach((e) => e.close());", []),
        (PANEL + "document.querySelectorAll('a').forEach((e) => e.querySelectr());",
         ["querySelectr"]),
        ('import { Command } from "commander";\nconst c = new Command();\nc.rawArgs; c.rawArgz;',
         ["rawArgz"]),
        (AXIOS + "axios.get('/').then((res) => res.session);", []),
        (AXIOS + "axios.get('/').then((res) => res.hawser);", ["hawser"]),
        (AXIOS + "axios.get('/').then((res) => { if (!res.hawser) console.log(); });",
         ["hawser"]),
        (AXIOS + "axios.get('/').then((res) => res.hawser);\nconst f = (a) => { a.hawser = 1; };",
         []),
        (AXIOS + "axios.get('/').then((res) => res.hawser);\nexport const a = 1;", []),
        (AXIOS + "if (axios.hawser) console.log();", []),
        (AXIOS + "axios.get('/').then((a) => a.status !== axios.HAWSER);", ["HAWSER"]),
        (AXIOS + "async function f() { const { dta } = await axios.get('/'); return dta; }",
         ["dta"]),
        (AXIOS + "let made;\nfunction f() { made = axios.create(); }\n"
         "function g() { f(); return made.gett; }", []),
        (AXIOS + "try { f(); } catch (e) { if (e instanceof axios.AxiosErr) g(); }",
         ["AxiosErr"]),
        ('/** @type {import("axios").AxiosRequestConfig} */\nconst c = { timeoutt: 1 };',
         ["timeoutt"]),
        ("/** @typedef {{ a: number }} Own */\n/** @type {Own} */\nconst c = { a: 1, b: 1 };", []),
        ("const f = (a) => { const b = structuredClone.call(0, a); b.any; };", []),
        ("const f = () => more() && !process.defaultApp;\nprocess.defaultApps;", ["defaultApps"]),
        ('const http = require("http");\nhttp.Agent.defaultMaxSockets;', []),
        ('require("./own.js");\nBuffer.filled();', []),
        ("Buffer.filled();", ["filled"]),
        ('/** @typedef {import("axios").NoSuch} A */\n' + AXIOS + "axios.less;", ["less"]),
        (AXIOS + "const f = (a) => a.later();", []),
        ('/** @param {import("axios").AxiosInstance} a */\nconst f = (a) => a.later();', ["later"]),
    ],
)  # fmt: skip
def test_objects_of_javascript_may_have_more(
    node_judge: Callable[..., Verdict], code: str, expected: list[str]
) -> None:
    found = node_judge(code, "javascript").findings
    names = [each.name.rpartition(".")[2] for each in found if each.status == "unknown"]
    assert names == expected


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ('import { addDays } from "date-fns";\naddDays(new Date());',
         ("date-fns", "Expected 2-3 arguments, but got 1; addDays takes (date, amount, options).")),
        (AXIOS + "axios.get();",
         ("axios", "Expected 1-2 arguments, but got 0; axios.get takes (url, config).")),
        ("new Map(1, 2, 3);",
         ("", "Expected 0-1 arguments, but got 3; Map takes () or 3 other forms.")),
    ],
)  # fmt: skip
def test_a_wrong_number_of_arguments_is_told_with_what_is_taken(
    node_judge: Callable[..., Verdict], code: str, said: tuple[str, str]
) -> None:
    (found,) = [each for each in node_judge(code).findings if each.status == "wrong_argument"]
    assert (found.package, found.message) == said
    assert bool(found.version) == bool(found.package)


def test_a_key_that_no_overload_takes_is_found(node_judge: Callable[..., Verdict]) -> None:
    code = (
        "declare function made(port: number): void;\n"
        "declare function made(options: { host: string; retriesLeft?: number }): void;\n"
        "declare function made(path: string): void;\n"
        'made({ host: "a", retries: 3 });\nmade({ host: 1 });\n'
    )
    (found,) = [each for each in node_judge(code).findings if each.status == "unknown"]
    assert (found.line, found.name, found.suggestions[0]) == (4, "made.retries", "retriesLeft")
    assert code.split("\n")[3][found.column - 1 :].startswith("retries")


@pytest.mark.parametrize(
    ("options", "call", "found"),
    [
        # One that is needed is called otherwise, at the outermost or below a key.
        ("{ size: number; refCount: boolean }", "{ size: 1, resetOnRefCount: true }",
         ["made.resetOnRefCount refCount"]),
        ("{ redact: string[] | { paths: string[]; censor?: string } }",
         '{ redact: { keys: ["a"], censor: "b" } }', ["made.keys paths"]),
        ("{ size: number; refCount: boolean }", "{ size: 1, resetOnRefCount }",
         ["made.resetOnRefCount refCount"]),
        # A value of another kind than is needed, and a key that is missing only.
        ("{ size: number; refCount: boolean }", '{ size: 1, refCount: "x" }', []),
        ("{ size: number; refCount: boolean }", "{ size: 1 }", []),
    ],
)  # fmt: skip
def test_a_key_in_the_place_of_one_that_is_needed_is_found(
    node_judge: Callable[..., Verdict], options: str, call: str, found: list[str]
) -> None:
    code = (
        "declare const resetOnRefCount: boolean;\ndeclare function made(port: number): void;\n"
        f"declare function made(options: {options}): void;\n"
        f"declare function made(path: string): void;\nmade({call});\n"
    )
    said = [each for each in node_judge(code).findings if each.status == "unknown"]
    assert [f"{each.name} {each.suggestions[0]}" for each in said] == found


@pytest.mark.parametrize(
    ("own", "code", "first"),
    [
        # What is passed, what is done with the result, what a key is given, and what is missing.
        ("{ addPage(o?: object): void; switchToPage(n: number): void }",
         "own.setPage(2);", "switchToPage"),
        ("{ nextPage(): void; getCanNextPage(): boolean }",
         "if (own.hasNextPage()) console.log(1);", "getCanNextPage"),
        ("{ matches: string[]; score: number; item: { title: string } }",
         "own.document.title;", "item"),
        ("(o: { size?: number; colour: string; kind?: number }) => void",
         'own({ zzz: "red" });', "colour"),
    ],
)  # fmt: skip
def test_what_fits_the_place_of_a_name_is_suggested_first(
    node_judge: Callable[..., Verdict], own: str, code: str, first: str
) -> None:
    findings = node_judge(f"declare const own: {own};\n{code}").findings
    (found,) = [each for each in findings if each.status == "unknown"]
    assert found.suggestions[0] == first


@pytest.mark.parametrize(
    ("own", "code", "first"),
    [
        # How it is called, what its result is given to, what a key may be, a name of a module.
        ("{ once(name: string, f: () => void): void; transact(f: () => void): void }",
         "own.ones(() => {});", "transact"),
        ("{ startDay(): string; startDate(): Date }",
         "const day: Date = own.startDaye();", "startDate"),
        ("(o: { sizes?: string[]; sized?: boolean }) => void",
         "const size = true;\nown({ size });", "sized"),
        # Where none fits, what is most alike.
        ("{ startDay(): string; startDate(): string }",
         "const day: number = own.startDatee();", "startDate"),
    ],
)  # fmt: skip
def test_what_the_compiler_takes_is_suggested_before_what_it_refuses(
    node_judge: Callable[..., Verdict], own: str, code: str, first: str
) -> None:
    findings = node_judge(f"declare const own: {own};\n{code}").findings
    (found,) = [each for each in findings if each.status == "unknown"]
    assert found.suggestions[0] == first
    assert re.search(rf"; (did you mean {first}\?|it has {first}, \w+\.)$", found.message)


def test_names_of_modules_are_tried_where_they_are_imported(
    node_judge: Callable[..., Verdict],
) -> None:
    code = 'import { isSameDate } from "date-fns";\nisSameDate(new Date(), new Date());'
    (found,) = [each for each in node_judge(code).findings if each.status == "unknown"]
    assert found.suggestions[0] == "date-fns.isSameDay"


BASE = 'import { Base, isOwn, Other, given } from "./own";\n'


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        (BASE + "class A extends Base { f() { this.one; } }\nnew A().two;", []),
        (BASE + "class A extends Base {}\nnew A(1);", []),
        (BASE + "declare function f<E extends { a: 1 }>(one: (e: E) => void, b: (e: E) => void): 1;"
         "\nf(given, (e) => e.b);", []),
        ("declare function f(one: (e: { a: 1 }) => void): 1;\nf((e) => e.b);", ["b"]),
        ('self.addEventListener("fetch", (e) => e.respondWith(e.request));', []),
        ('self.skipWaiting();\nself.addEventListener("click", (e) => e.any);', ["any"]),
        ("/**\n```\nimport { x } from 'rxjs';\n```\n*/\nexport const a = 1;", []),
        (BASE + "class A extends Base {}\nclass B extends A { f() { this.one; } }", []),
        (BASE + "const M = Base(class {});\nclass A extends M { f() { this.one; } }", []),
        (BASE + "interface A extends Base { b: 1 }\ndeclare const a: A;\na.c;", []),
        (BASE + "interface A extends Base { b: 1 }\nconst a: A = { b: 1, c: 2 };", []),
        (BASE + "declare const a: Node;\nif (isOwn(a)) a.one;", []),
        (BASE + "declare const a: Node;\nif (isOwn(a.lastChild!)) a.lastChild.one;", []),
        (BASE + "declare const a: Node | Date;\nif (a instanceof Other) a.one; else a.day;", []),
        (BASE + 'import fs from "node:fs";\nfs.readFileSync("a", given).split("b");', []),
        (BASE + 'import fs from "node:fs";\nconst a = fs.readFileSync("a", given);\na.split("b");',
         []),
        ('declare module "axios" { interface Own { traced: 1 } }\n' + AXIOS
         + 'const r = await axios.get("/");\nr.traced;', []),
        (BASE + "class A { f() { this.one; } }\nnew A().two;", ["one", "two"]),
        (BASE + "declare const a: Node;\nif (isOwn(given)) a.one;", ["one"]),
        (BASE + "given(1);\nclass A extends Map<string, Base> { f() { this.one; } }", []),
        (BASE + 'import axios from "axios";\nconst r = await axios.get(given);\nr.dta;', ["dta"]),
    ],
)  # fmt: skip
def test_what_rests_on_names_that_are_not_found_is_left_alone(
    node_judge: Callable[..., Verdict], code: str, expected: list[str]
) -> None:
    found = [each for each in node_judge(code).findings if each.status in PROBLEMS]
    assert [each.name.rpartition(".")[2] for each in found] == expected


def test_a_type_of_a_package_whose_base_is_not_installed_may_have_any_member() -> None:
    text = (
        'import { EventEmitter } from "events";\nimport type { Own } from "./own";\n'
        "export declare class Client extends EventEmitter implements Own {\n}\n"
        "export declare class Plain extends Own {}\n"
    )
    assert lacks_base(text, 2, lambda specifier: specifier != "events")
    assert not lacks_base(text, 2, lambda _: True)
    assert not lacks_base(text, 4, lambda _: False)
    example = (
        "/**\n * import { Base } from 'absent';\n */\nexport declare class A extends Base {}\n"
    )
    assert not lacks_base(example, 3, lambda _: False)


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        # A type that is several together has the members of each, and no others.
        ("one.blit(corner);\none.bitblt(corner);\none.gamma;", ["PictureWithAbout.blit"]),
        # What is set is read by someone: the package, the program or others that get it.
        ("one.shade = 3;", ["PictureWithAbout.shade"]),
        ("one.shade = 3;\nconsole.log(one.shade);", []),
        ("one.shade += 3;", []),
        ('one.shade = 3;\nconsole.log(one["shade"]);', []),
        ("one.onlyWritten = 3;", []),
        ("one.shade = 3;\nmodule.exports = one;", []),
        (
            'const draw = () => { read("b").shade = 3; };\nmodule.exports = draw;',
            ["PictureWithAbout.shade"],
        ),
        (
            "const draw = () => { const two = read('b'); two.shade = 3; };\nmodule.exports = draw;",
            ["PictureWithAbout.shade"],
        ),
        ("one.about = { gama: 1 };", ["About.gama"]),
        ("one.shade = 3;\nrequire('./own')(one);", []),
        # A type without members is for others to fill.
        ("one.guest.name;\none.gest;", ["PictureWithAbout.gest"]),
    ],
)
def test_what_is_given_to_a_packages_values_in_vain(
    verify: Verify, project: Path, code: str, expected: list[str]
) -> None:
    folder = project / "node_modules" / "drawn"
    folder.mkdir(exist_ok=True)
    (folder / "package.json").write_text('{"name": "drawn", "version": "1.0.0"}')
    (folder / "index.js").write_text("exports.read = (at) => ({ at, onlyWritten: 1 });\n")
    (folder / "index.d.ts").write_text(
        "export interface Picture { bitblt(from: Picture): void; width: number; about: About }\n"
        "export interface Guest {}\nexport interface About { gamma: number; guest: Guest }\n"
        "export type PictureWithAbout = Picture & About;\n"
        "export declare function read(place: string): PictureWithAbout;\n"
    )
    opened = 'const { read } = require("drawn");\nconst one = read("a"), corner = read("b");\n'
    assert names(verify(opened + code, "javascript")) == expected


TIED = """
export declare class Knot<T = any> {
  tie(): Knot<any>;
}
export declare class Hitch<T = any> extends Knot<T> {
  slip(): void;
}
export declare function bend(rope: string): Knot<any>;
declare const knots: { last: Knot<any>; on(name: "tied", call: (knot: Knot<any>) => void): void };
export default knots;
"""
LAID = "/** @type {import('laid').Rope} */\nexport const a = JSON.parse(0);\na.weight;"


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        # What a constructor makes is of no lower class, and what a package gives of no narrower.
        ("const k = new Knot();\nexport const f = () => k.slip();", ["Knot.slip"]),
        ("export const f = () => bend('a').slip();", []),
        ("const k = bend('a');\nexport const f = () => k.turn();", ["Knot.turn"]),
        ("/** @param {Knot} k */\nexport const f = (k) => k.turn();", ["Knot.turn"]),
        # Nothing of another package is in the code but in its comments: nor is the value.
        ("import './own.js';\n" + LAID, []),
        (LAID, ["Rope.weight"]),
        # Of texts and numbers of arguments a package's own code may take more.
        ("export const f = () => knots.on('tide', () => {});", ['"tide"']),
        ("export const f = () => knots.on('loosed', () => {});", []),
        ("export const f = () => bend('a', 'b');", ["bend()"]),
        ("import './own.js';\nexport const f = () => bend('a', 'b');", []),
        ("import { untied } from 'tied';\nuntied();", ["tied.untied"]),
        ("import { loose } from 'tied';\nloose();", []),
    ],
)  # fmt: skip
def test_what_values_of_a_package_may_have_more(
    verify: Verify, project: Path, code: str, expected: list[str]
) -> None:
    for name, types, script in (
        ("tied", TIED, "export * from './loose.js';\nexport class Knot { tie() {} }\n"),
        ("laid", "export interface Rope { lay: number }\n", "export const rope = 1;\n"),
    ):
        folder = project / "node_modules" / name
        folder.mkdir(exist_ok=True)
        about = {"name": name, "version": "1.0.0", "type": "module", "main": "index.js"}
        (folder / "package.json").write_text(json.dumps(about))
        (folder / "index.js").write_text(script)
        (folder / "loose.js").write_text("export function loose() { emit('loosed'); }\n")
        (folder / "unused.js").write_text("export function untied() {}\n")
        (folder / "index.d.ts").write_text(types)
    opened = "import knots, { Knot, Hitch, bend } from 'tied';\n"
    found = verify(opened + code, "javascript")["results"]
    assert [each["name"] for each in found if each["status"] in PROBLEMS] == expected


def test_packages_are_not_read_for_names_that_might_be_imported(
    opened: Runtime, project: Path
) -> None:
    scan = opened.projects.scan("")[1]
    folder = project / "node_modules"
    place = compiler.workplace([scan], [folder])
    with opened.engines.at_work((ENGINE, place)) as (server,):
        for code in ("", "\n"):
            server.judge("code.ts", "typescript", code)
        names = server.members(0, 0)
    assert "globalThis" in names
    assert "addDays" not in names


def test_forms_of_one_generic_type_have_the_same_members(
    node_judge: Callable[..., Verdict],
) -> None:
    code = (
        "class Box<T> { one!: T; }\n"
        "declare const same: Box<string> | Box<number>;\nsame.two;\n"
        "declare const other: Box<string> | Map<string, string>;\nother.two;\n"
    )
    found = {each.line: each.status for each in node_judge(code).findings if "two" in each.name}
    assert found == {3: "unknown", 5: "not_checked"}


def test_a_name_that_is_taken_out_under_another_one(node_judge: Callable[..., Verdict]) -> None:
    code = "const { code } = { code: 1 };\nconsole.log(exitCode, undeclared);\nexport {};\n"
    (found,) = [each for each in node_judge(code).findings if each.status == "unknown"]
    assert (found.name, found.suggestions) == ("exitCode", ("code",))


def test_what_the_projects_own_files_declare_is_not_called_wrong(
    verify: Verify, project: Path
) -> None:
    code = 'import axios from "axios";\nconst r = await axios.get("/");\nr.traced; r.statuz;'
    assert names(verify(code)) == ["AxiosResponse.traced", "AxiosResponse.statuz"]
    own = project / "types.d.ts"
    own.write_text('import "axios";\ndeclare module "axios" { interface X { traced: 1 } }\n')
    try:
        assert names(verify(code)) == ["AxiosResponse.statuz"]
    finally:
        own.unlink()


def test_what_other_installed_packages_add_is_not_called_wrong(
    verify: Verify, project: Path
) -> None:
    code = 'import axios from "axios";\nconst r = await axios.get("/");\nr.traced; r.retries;'
    folder = project / "node_modules" / "axios-traced"
    folder.mkdir()
    manifest = {"name": "axios-traced", "version": "1.0.0", "types": "index.d.ts"}
    (folder / "package.json").write_text(
        json.dumps({**manifest, "peerDependencies": {"axios": "*"}})
    )
    (folder / "index.d.ts").write_text(
        "export declare const retries: number;\n"
        'declare module "axios" {\n  interface AxiosResponse {\n    traced: 1;\n  }\n}\n'
    )
    try:
        assert names(verify(code)) == ["AxiosResponse.retries"]
    finally:
        shutil.rmtree(folder)


def test_values_that_may_be_missing_hide_nothing(verify: Verify) -> None:
    code = (
        'import axios from "axios";\ndeclare const url: string | undefined;\n'
        "axios.get(url, { timeoutt: 1 });\n"
    )
    assert names(verify(code)) == ["AxiosRequestConfig.timeoutt"]


@pytest.mark.parametrize(
    ("code", "language"),
    [
        ('import { own } from "./own";\nown.thing();', "typescript"),
        ('import own from "@/own";\nown.thing();', "typescript"),
        ("declare const x: string | number;\nx.toFixed();", "typescript"),
        ("function f(x) { return x.any.thing; }\nundeclared.x;", "typescript"),
        ("const x = {};\nx.added = 1;\nx.added.more;", "javascript"),
        ('document.querySelector("a").href;', "javascript"),
        ('// @ts-expect-error\n"x".trimm();', "typescript"),
        ("const x: string = 3;", "typescript"),
        ('import { compareAsc } from "date-fns";\ncompareAsc.default(1, 2);', "typescript"),
    ],
)
def test_what_is_not_certain_is_no_finding(verify: Verify, code: str, language: str) -> None:
    answer = verify(code, language)
    assert answer["engine"] != "none"
    assert answer["results"] == []


def test_what_could_not_be_judged_has_its_share(verify: Verify) -> None:
    answer = verify('import { own } from "./own";\nown.thing();\n"a".trim();', all=True)
    assert answer["not_checked_share"] == 0.5
    assert answer["counts"] == {"ok": 1, "not_checked": 1}
    assert answer["not_checked"] == {"the type of its value is not known": 1}
    answer = verify(AXIOS + "if (axios.hawser) axios.sheet; axios.al;\nexport {};", "javascript")
    assert answer["not_checked"] == {"the code asks whether it is there": 1}
    answer = verify(AXIOS + "axios.get('/').then((r) => r.more);", "javascript", all=True)
    assert "not_checked" not in answer


def test_only_one_server_works_for_a_project_and_another_when_it_is_gone(
    verify: Verify, opened: Runtime
) -> None:
    verify('"a".trim();')
    # Those of other projects may end meanwhile, where there is little memory.
    first = opened.engines.pids()[-1]
    verify('"a".trimm();')
    assert opened.engines.pids()[-1] == first
    os.kill(first, signal.SIGKILL)
    (name,) = names(verify('"a".trimm();'))
    assert name.lower().endswith("string.trimm")
    assert first not in opened.engines.pids()


def test_files_outside_are_not_read(verify: Verify, tmp_path: Path) -> None:
    (tmp_path / "secret.ts").write_text("export const secret = 1;")
    answer = verify(f'import {{ x }} from "{tmp_path}/secret";\nx.y;', all=True)
    assert "secret" not in json.dumps(answer["results"])
    assert names(verify(f'import type {{ x }} from "{tmp_path}/secret";')) == []


def test_a_key_is_told_that_a_type_refuses(verify: Verify) -> None:
    opened = 'import { build } from "shapes";\nbuild({ bundle: true, '
    assert names(verify(f"{opened}entryPoints: ['a'] }});")) == []
    (found,) = verify(f"{opened}entryPoint: ['a'] }});")["results"]
    assert (found["name"], found["suggestions"][0]) == ("build.entryPoint", "entryPoints")


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("function fill(sub) {\n  sub.push(1);\n}\nnew Observable(fill);", [(3, 7, "push")]),
        ("const fill = (sub) => sub.push(1);\nnew Observable(fill);", [(2, 27, "push")]),
        ("const fill = (sub) => sub.next(1);\nnew Observable(fill);", []),
        (
            "function fill(sub) { sub.push(1); }\nnew Observable(fill);\nnew Observable(fill);",
            [(2, 26, "push")],
        ),
        (
            f"{TO_ENTRY}function show(entry) {{ entry.datum; }}\n['a'].map(toEntry).forEach(show);",
            [(3, 30, "datum")],
        ),
        # Elsewhere it gets something else, or what it names is something else.
        ("function fill(sub) { sub.push(1); }\nnew Observable(fill);\nfill([]);", []),
        ("function fill(sub) { sub.push(1); }\nnew Observable(fill);\nother(fill);", []),
        ("function fill(sub) { sub.push(1); }\nnew Observable(fill);\nconst f = fill;", []),
        (
            f"{SINK}function make(sink) {{ return new Observable(fill); }}",
            [],
        ),
        ("function fill(/** @type {any} */ sub) { sub.push(1); }\nnew Observable(fill);", []),
    ],
)
def test_a_function_that_is_given_by_name_gets_what_it_is_given_for(
    verify: Verify, code: str, expected: list[tuple[int, int, str]]
) -> None:
    head = 'import { Observable } from "rxjs";\n'
    found = verify(f"{head}{code}\n", "javascript")["results"]
    told = [each for each in found if each["status"] == "unknown"]
    places = [(e["line"], e["column"], e["name"].rpartition(".")[2]) for e in told]
    assert places == expected


def test_without_an_engine_the_answer_says_so(project: Path, tmp_path: Path) -> None:
    flags = {"store": str(tmp_path / "s"), "cache": str(tmp_path / "c"), "engines": "none"}
    with contextlib.closing(Runtime(load({**flags, "root": (str(project),)}, {}))) as runtime:
        asked = {"code": 'import { mapp } from "rxjs";', "language": "typescript"}
        answer = runtime.toolbox.call("verify_code", asked).structured or {}
    assert answer["engine"] == "none"
    assert names(dict(answer)) == ["rxjs.mapp"]


def test_an_engine_of_another_digest_is_refused(tmp_path: Path) -> None:
    engine = compiler_release.ENGINE
    name = engine.package.format(platform="linux-x64")
    with NpmServer() as server:
        server.publish(name, engine.version, {"lib/tsc": "#!/bin/sh\necho evil"})
        flags = {"store": str(tmp_path / "s"), "npm_registry_url": server.url}
        with contextlib.closing(Runtime(load(flags, {}))) as runtime:
            fetch = fetcher_of(engine.registry, runtime.upstreams)
            into = tmp_path / "engine"
            with pytest.raises(UnreadableInput, match="sha512"):
                unpack_program(
                    fetch,
                    name,
                    engine.version,
                    engine.digests["linux-x64"],
                    engine.programs,
                    into,
                )
            assert not into.exists()
    assert not list(tmp_path.glob(".unpacking*"))


def test_the_command_lists_what_there_is(
    engines_folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert this_platform() in compiler_release.ENGINE.digests
    assert main(["engines", "list", "--engines", str(engines_folder)]) == 0
    assert str(engines_folder) in capsys.readouterr().out
    assert main(["engines", "install", "nothing", "--engines", str(engines_folder)]) == 1
