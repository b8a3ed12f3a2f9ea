"""Which files a package.json names for a module."""

from __future__ import annotations

from typing import Any

import pytest

from docstow.languages.typescript.package_json import (
    IMPORT,
    REQUIRE,
    candidates,
    legacy_paths,
    resolve_export,
    resolve_import,
    subpaths,
)

DUAL = {
    ".": {
        "import": {"types": "./index.d.mts", "default": "./index.mjs"},
        "require": {"types": "./index.d.cts", "default": "./index.cjs"},
    },
    "./features/*.js": "./src/features/*.js",
    "./features/private/*": None,
    "./*": {"types": "./types/*.d.ts", "default": "./dist/*.js"},
    "./old/": "./legacy/",
    "./package.json": "./package.json",
}


@pytest.mark.parametrize(
    ("exports", "subpath", "conditions", "files"),
    [
        ("./main.js", ".", IMPORT, ["./main.js"]),
        (["./a.js", "./b.js"], ".", IMPORT, ["./a.js", "./b.js"]),
        ({"types": "./a.d.ts", "default": "./a.js"}, ".", IMPORT, ["./a.d.ts", "./a.js"]),
        ({"browser": "./b.js", "node": "./n.js"}, ".", IMPORT, ["./n.js"]),
        ({"import": "./i.js"}, ".", REQUIRE, []),
        (DUAL, ".", IMPORT, ["./index.d.mts", "./index.mjs"]),
        (DUAL, ".", REQUIRE, ["./index.d.cts", "./index.cjs"]),
        (DUAL, "./features/x.js", IMPORT, ["./src/features/x.js"]),
        (DUAL, "./features/private/x", IMPORT, []),
        (DUAL, "./deep/er", IMPORT, ["./types/deep/er.d.ts", "./dist/deep/er.js"]),
        (DUAL, "./old/thing.js", IMPORT, ["./legacy/thing.js"]),
        ({".": "./a.js"}, "./b", IMPORT, []),
        ({".": {"types@>=99": "./new.d.ts", "types": "./t.d.ts"}}, ".", IMPORT, ["./t.d.ts"]),
        ({".": {"types@>=4.2": "./new.d.ts"}}, ".", IMPORT, ["./new.d.ts"]),
        ({".": None}, ".", IMPORT, []),
    ],
)
def test_exports(exports: Any, subpath: str, conditions: frozenset[str], files: list[str]) -> None:
    assert resolve_export({"exports": exports}, subpath, conditions) == files


def test_a_package_without_exports_shows_every_file() -> None:
    assert resolve_export({"main": "./a.js"}, "./b", IMPORT) is None
    assert subpaths({"main": "./a.js"}) is None
    assert subpaths({"exports": DUAL}) == [
        ".",
        "./features/*.js",
        "./*",
        "./old/",
        "./package.json",
    ]


@pytest.mark.parametrize(
    ("manifest", "subpath", "files"),
    [
        ({}, ".", ["index"]),
        ({"types": "./t.d.ts", "main": "m.js"}, ".", ["t.d.ts", "m.js", "index"]),
        ({"typings": "t", "module": "m.mjs"}, ".", ["t", "m.mjs", "index"]),
        ({}, "./sub", ["sub"]),
        (
            {"types": "i.d.ts", "typesVersions": {"<=4.0": {"*": ["old/*"]}}},
            ".",
            ["i.d.ts", "index"],
        ),
        (
            {"types": "i.d.ts", "typesVersions": {">=3.1": {"*": ["ts/*"]}}},
            ".",
            ["ts/i.d.ts", "i.d.ts", "ts/index", "index"],
        ),
        (
            {
                "types": "i.d.ts",
                "typesVersions": {">=4.1.0": {"*": ["*"]}, "*": {"*": ["unsupported.d.ts"]}},
            },
            ".",
            ["i.d.ts", "i.d.ts", "index", "index"],
        ),
        (
            {"types": "i.d.ts", "typesVersions": {">=6.0.0-0": {"*": ["new/*"]}}},
            ".",
            ["new/i.d.ts", "i.d.ts", "new/index", "index"],
        ),
        (
            {"types": "i.d.ts", "typesVersions": {"3.1 - 4.9.5": {"*": ["old/*"]}}},
            ".",
            ["i.d.ts", "index"],
        ),
        ({"typesVersions": {"*": {"sub": ["./d/sub.d.ts"]}}}, "./sub", ["d/sub.d.ts", "sub"]),
    ],
)
def test_fields_from_before_exports(
    manifest: dict[str, Any], subpath: str, files: list[str]
) -> None:
    assert list(legacy_paths(manifest, subpath)) == files


def test_imports_of_a_package_itself() -> None:
    manifest = {"imports": {"#x": {"types": "./x.d.ts"}, "#lib/*": "./lib/*.js"}}
    assert resolve_import(manifest, "#x", IMPORT) == ["./x.d.ts"]
    assert resolve_import(manifest, "#lib/a", IMPORT) == ["./lib/a.js"]
    assert resolve_import(manifest, "#y", IMPORT) == []


def test_declarations_come_before_javascript() -> None:
    assert list(candidates("a.mjs"))[:3] == ["a.mts", "a.d.mts", "a.mjs"]
    assert list(candidates("a.js"))[:4] == ["a.ts", "a.tsx", "a.d.ts", "a.js"]
    bare = list(candidates("a"))
    assert bare.index("a.d.ts") < bare.index("a/index.d.ts") < bare.index("a.js")
