"""Imports and exported names in code, without a compiler: however it is written, long or deep."""

from __future__ import annotations

import pytest

from docstow.languages.shared.findings import Finding
from docstow.languages.typescript import check as javascript_code
from docstow.languages.typescript.resolver import NodeResolver


def wrong(code: str, resolver: NodeResolver, *, typed: bool = True) -> list[Finding]:
    found = javascript_code.verify(code, resolver, typed=typed).findings
    return [each for each in found if each.status in {"unknown", "wrong_argument"}]


def names(code: str, resolver: NodeResolver, *, typed: bool = True) -> list[str]:
    return [each.name for each in wrong(code, resolver, typed=typed)]


ZOD = 'import { z } from "zod";\n'


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        (ZOD + "z.strin(); z.string();", ["zod.z.strin"]),
        (ZOD + "type A = z.ZodStrin; let a: z.ZodString;", ["zod.z.ZodStrin"]),
        ('import * as zod from "zod";\nzod.z.strin();', ["zod.z.strin"]),
        ('const { z: s, strin } = require("zod");\ns.strin();', ["zod.strin", "zod.z.strin"]),
        ('const { z } = await import("zod");\nz.strin();', ["zod.z.strin"]),
        ('import axios from "axios";\naxios.gett("/"); axios.get("/");', ["axios.default.gett"]),
        ('import "lodash/deepClone";\nimport "date-fns/nothing"; import "lodash/fp";',
         ["lodash/deepClone", "date-fns/nothing"]),
        (ZOD + "if (typeof z.strin === 'function') z.strin();", []),
        (ZOD + "z.strin ?? 1; z.strin && z.strin();", []),
        (ZOD + "z.strin = () => 1; z.strin();", []),
        (ZOD + "z.toString(); z._any; z.name;", []),
        (ZOD + "// @ts-expect-error not there\n// yet\nz.strin();\nz.numbr();", ["zod.z.numbr"]),
        ("// @ts-nocheck\n" + ZOD + "z.strin();", []),
        (ZOD + 'declare module "zod" { const strin: 1; }\nz.strin();', []),
        ('import own from "./own";\nimport { any } from "@/own";\nown.thing(any.thing);', []),
    ],
)  # fmt: skip
def test_what_a_module_does_not_export_is_found(
    node_resolver: NodeResolver, code: str, expected: list[str]
) -> None:
    assert names(code, node_resolver) == expected


def test_names_are_those_of_their_scope(node_resolver: NodeResolver) -> None:
    code = (
        ZOD + "export function one() { z.strin(); }\n"
        "export function two(z: any) { z.strin(); }\n"
        "export const three = ({ z }: any) => z.strin();\n"
        "export function four() { for (const z of []) z.strin(); var [z] = [1]; z.strin(); }\n"
        "export function five() { try { z.strin(); } catch (z) { z.strin(); } }\n"
        "export function six() { class z {} z.strin(); function z() {} }\n"
    )
    assert [(each.line, each.name) for each in wrong(code, node_resolver)] == [
        (2, "zod.z.strin"),
        (6, "zod.z.strin"),
    ]


def test_of_javascript_node_has_the_last_word(node_resolver: NodeResolver) -> None:
    code = 'import { readFil } from "node:fs";\nimport { strin } from "zod";\n'
    assert names(code, node_resolver) == ["node:fs.readFil", "zod.strin"]
    assert names(code, node_resolver, typed=False) == ["zod.strin"]


@pytest.mark.parametrize(
    "code",
    [
        ZOD + "z" + ".string" * 2000 + ";\nz.strin();",
        ZOD + "z.string()" + ".min(1)" * 2000 + ";\nz.strin();",
        ZOD + "(() => {" * 150 + "z.strin();" + "})()" * 150,
        ZOD + "z.string( => } {;\n" * 200 + "\nz.strin();",
    ],
    ids=["names", "calls", "functions", "errors"],
)
def test_long_and_deep_code_is_read_to_its_end(node_resolver: NodeResolver, code: str) -> None:
    found = [each for each in names(code, node_resolver) if each == "zod.z.strin"]
    # Nobody knows what broken code means.
    assert found == ["zod.z.strin"] or (found == [] and "=> }" in code)


def test_thousands_of_wrong_names_are_told_and_few_are_looked_for(
    node_resolver: NodeResolver,
) -> None:
    calls = "".join(f"z.wrong{at}();\n" for at in range(1000))
    found = wrong(ZOD + calls, node_resolver)
    assert len(found) == 1000
    assert sum(bool(each.suggestions) for each in found) <= 200
