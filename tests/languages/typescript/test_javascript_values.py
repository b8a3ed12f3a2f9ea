"""What expressions are: by packages' declarations, and however long or deep code is."""

from __future__ import annotations

import pytest

from docstow.languages.shared.findings import Finding
from docstow.languages.typescript import check as javascript_code
from docstow.languages.typescript.resolver import NodeResolver


def wrong(code: str, resolver: NodeResolver, *, typed: bool = True) -> list[Finding]:
    found = javascript_code.verify(code, resolver, typed=typed).findings
    return [each for each in found if each.status in {"unknown", "wrong_argument"}]


def members(code: str, resolver: NodeResolver, *, typed: bool = True) -> list[str]:
    found = wrong(code, resolver, typed=typed)
    return [each.name.rpartition(".")[2] for each in found]


EXPRESS = 'import express from "express";\nconst app = express();\n'
AXIOS = 'import axios from "axios";\n'


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        (EXPRESS + 'app.get("/", (req, res) => { res.sendd(req.bodyy); });', ["sendd", "bodyy"]),
        (EXPRESS + 'app.get("/", (req, res) => { res.send(req.body); });', []),
        (EXPRESS + "function f(res: any) { res.sendd(); }", []),
        (AXIOS + 'const { data, dta } = await axios.get("/x");', ["dta"]),
        (AXIOS + 'const a = await axios.get<string[]>("/x");\na.statuss; a.data.x;', ["statuss"]),
        (AXIOS + 'axios.get("/x", { timeoutt: 1, params: { any: 1 } });', ["timeoutt"]),
        (AXIOS + 'axios.get("/x", { ...{ timeoutt: 1 } });', []),
        ('"x".trimm(); [1].flatt(); JSON.parze("1");', ["trimm", "flatt", "parze"]),
        ('"x".trim().split(",").at(-1)?.padStart(3); Promise.all([]);', []),
        ("const m = new Map<string, number>();\nm.put(1);", ["put"]),
        ("declare const tag: any;\ntag<number>`a`.mapWith(1).b();\n`a`.trimm();", ["trimm"]),
        ('const r = await fetch("x");\nr.jsonn(); if (r.okk) r.text();', ["jsonn", "okk"]),
        ("process.exitt(1); Buffer.fromm('x');", ["exitt", "fromm"]),
        ("if (typeof process.exitt === 'function') {}", []),
        ('import { readFile } from "node:fs/promises";\n(await readFile("x", "utf8")).trimm();',
         ["trimm"]),
        ('import { z } from "zod";\nconst U = z.object({});\ntype U = z.infer<typeof U>;\nU.x(1);',
         ["x"]),
        ('import clone from "lodash/deepClone";\nimport "date-fns/nothing";',
         ["lodash/deepClone", "date-fns/nothing"]),
    ],
)  # fmt: skip
def test_members_of_what_is_certain_are_looked_for(
    node_resolver: NodeResolver, code: str, expected: list[str]
) -> None:
    names = [name.removesuffix(".default") for name in members(code, node_resolver)]
    if any("/" in name for name in expected):
        names = [each.name.removesuffix(".default") for each in wrong(code, node_resolver)]
    assert names == expected


def test_names_are_those_of_their_scope(node_resolver: NodeResolver) -> None:
    code = (
        'import { z } from "zod";\n'
        "export function one() { const value = z.string(); value.emial(); }\n"
        "export function two(value: any) { value.emial(); }\n"
        "export const three = (z: any) => z.strin();\n"
    )
    assert [(each.line, each.name) for each in wrong(code, node_resolver)] == [
        (2, "zod.ZodString.emial")
    ]


def test_what_the_code_itself_adds_is_there(node_resolver: NodeResolver) -> None:
    code = (
        'import express from "express";\n'
        "declare global { namespace Express { interface Request { user?: string } } }\n"
        'express().get("/", (req, res) => { res.send(req.user); });\n'
    )
    assert wrong(code, node_resolver) == []


@pytest.mark.parametrize(
    ("typed", "code", "expected"),
    [
        (False, EXPRESS + 'app.post("/", (req, res) => res.json(req.file, req.user.id));', []),
        (False, EXPRESS + 'app.post("/", (req, res) => { req.flash(""); res.sendd(); });',
         ["sendd"]),
        (False, 'const before = global.before; "x".yellow; "x".trimm();', ["trimm"]),
        (True, 'import "nobody-has-this";\n' + EXPRESS + 'app.get("/", (req) => req.user);', []),
        (True, EXPRESS + 'app.get("/", (req) => req.user);', ["user"]),
        (True, EXPRESS + "// @ts-expect-error not typed\n// yet\napp.wrong();\napp.gett();",
         ["gett"]),
        (True, "// @ts-nocheck\n" + EXPRESS + "app.wrong();", []),
    ],
)  # fmt: skip
def test_what_others_may_have_added_is_not_called_wrong(
    node_resolver: NodeResolver, typed: bool, code: str, expected: list[str]
) -> None:
    assert members(code, node_resolver, typed=typed) == expected


def test_objects_of_javascript_may_have_further_keys(node_resolver: NodeResolver) -> None:
    code = AXIOS + 'axios.get("/x", { timeoutt: 1 });'
    assert members(code, node_resolver) == ["timeoutt"]
    assert members(code, node_resolver, typed=False) == []


@pytest.mark.parametrize(
    "code",
    [
        'import { z } from "zod";\nz.string()' + ".min(1)" * 2000 + ".emial();",
        'import { z } from "zod";\nconst a0 = z.string();\n'
        + "".join(f"const a{at + 1} = a{at}.min(1);\n" for at in range(500))
        + "a500.emial();",
        'import { z } from "zod";\n' + "(() => {" * 150 + "z.string().emial();" + "})()" * 150,
        'import { z } from "zod";\n' + "z.string( => } {;\n" * 200 + "\nz.string().emial();",
    ],
    ids=["chain", "variables", "functions", "errors"],
)
def test_long_and_deep_code_is_read_to_its_end(node_resolver: NodeResolver, code: str) -> None:
    found = members(code, node_resolver)
    # Nobody knows what broken code means.
    assert found == ["emial"] or (found == [] and "=> }" in code)


def test_thousands_of_wrong_names_are_told_and_few_are_looked_for(
    node_resolver: NodeResolver,
) -> None:
    calls = "".join(f"s.wrong{at}();\n" for at in range(1000))
    found = wrong(f'import {{ z }} from "zod";\nconst s = z.string();\n{calls}', node_resolver)
    assert len(found) == 1000
    assert sum(bool(each.suggestions) for each in found) <= 200
