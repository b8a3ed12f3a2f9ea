"""Whatever a package says of its files, or a caller asks, nothing outside a project is read."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from docstow.core.errors import DocstowError
from docstow.core.settings import load
from docstow.runtime import Runtime
from docstow.tools import Toolbox
from languages.projects.test_boundary import REFUSED

SECRET = "hunter2"
#: Files outside, of every kind that some reader would take for one of its own.
OUTSIDE = {
    "secret.txt": f"{SECRET}\n",
    "secret.py": f'{SECRET} = "{SECRET}"\n',
    "secret/__init__.py": f'{SECRET} = "{SECRET}"\n',
    "secret/index.d.ts": f'export declare const {SECRET}: "{SECRET}";\n',
    "secret/package.json": f'{{"name": "{SECRET}", "version": "6"}}',
    "secret.d.ts": f'export declare const {SECRET}: "{SECRET}";\n',
    "secret.js": f'export const {SECRET} = "{SECRET}";\n',
    "secret.json": f'{{"{SECRET}": "{SECRET}"}}',
    "secret-6.dist-info/METADATA": f"Name: {SECRET}\nVersion: 6\n",
}
SITE = ".venv/lib/python3.12/site-packages"
UP_PYTHON = "../" * 6 + "outside"
UP_NODE = "../" * 3 + "outside"


def write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, "utf-8")
    return path


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A project with a package of each language that a test makes evil."""
    for name, text in OUTSIDE.items():
        write(tmp_path / "outside" / name, text)
    made = tmp_path / "project"
    write(made / ".venv" / "pyvenv.cfg", "version = 3.12.4\n")
    write(made / SITE / "evil-1.0.dist-info" / "METADATA", "Name: evil\nVersion: 1.0\n")
    write(made / SITE / "evil-1.0.dist-info" / "RECORD", "evil/__init__.py,,\n")
    write(made / SITE / "evil" / "__init__.py", '"""Says nothing."""\n')
    write(made / "node_modules" / "evil-js" / "package.json", '{"name": "evil-js"}')
    write(made / "node_modules" / "evil-js" / "index.d.ts", "export declare const sound: 1;\n")
    return made


@pytest.fixture
def tools(root: Path, tmp_path: Path) -> Iterator[Toolbox]:
    flags = {"store": str(tmp_path / "store"), "cache": str(tmp_path / "cache")}
    with closing(Runtime(load({**flags, "root": [str(root)]}, {}))) as made:
        yield made.toolbox


def answer(tools: Toolbox, tool: str, **arguments: object) -> str:
    try:
        made = tools.call(tool, arguments)
    except DocstowError as error:
        return str(error.body())
    return f"{made.text} {made.structured}"


def all_answers(tools: Toolbox) -> str:
    """What all tools say of the packages; the secret's name is never asked for here."""
    said = [answer(tools, "scan_packages", details=True)]
    for name in ("evil", "evil-js", "secret", "linked"):
        said += [
            answer(tools, "read_package", package_name=name, max_tokens=50_000, **{key: value})
            for key, value in (
                *(("graph", form) for form in ("json", "mermaid")),
                *(("symbol", each) for each in ("leak", "secret", "sound", "evil.secret", "sub")),
                *(("file_path", each) for each in ("evil", "leak.py", "leak.d.ts", "leak/x.py")),
                ("lines", ""),
            )
        ]
        for language in ("python", "typescript"):
            said.append(answer(tools, "get_module_tree", crate=name, language=language))
    return "\n".join(said)


def found(tools: Toolbox, code: str, language: str) -> list[str]:
    """What a check of code finds to be there."""
    made = tools.call("verify_code", {"code": code, "language": language, "all": True})
    assert made.structured is not None
    return [row["name"] for row in made.structured["results"] if row["status"] == "ok"]


def linked(place: str, target: str) -> Callable[[Path], None]:
    def make(root: Path) -> None:
        path = root / place
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.is_file():
            path.unlink()
        elif path.is_dir():
            path.rename(path.with_name("elsewhere"))
        path.symlink_to(target.replace("OUTSIDE", str(root.parent / "outside")))

    return make


def written(place: str, text: str) -> Callable[[Path], None]:
    def make(root: Path) -> None:
        write(root / place, text.replace("OUTSIDE", str(root.parent / "outside")))

    return make


def declared(**fields: object) -> Callable[[Path], None]:
    manifest = json.dumps({"name": "evil-js", "version": "1.0.0", **fields})
    return written("node_modules/evil-js/package.json", manifest)


TYPES = f"{UP_NODE}/secret.d.ts"
PYTHON = [
    linked(f"{SITE}/evil/__init__.py", "OUTSIDE/secret.py"),
    linked(f"{SITE}/evil/__init__.pyi", "OUTSIDE/secret.py"),
    linked(f"{SITE}/evil", "OUTSIDE/secret"),
    linked(f"{SITE}/evil", f"{UP_PYTHON}/secret"),
    linked(f"{SITE}/evil-stubs", "OUTSIDE/secret"),
    linked(f"{SITE}/evil/leak.py", "OUTSIDE/secret.py"),
    linked(f"{SITE}/evil/leak", "OUTSIDE"),
    linked(f"{SITE}/evil/py.typed", "OUTSIDE/secret.txt"),
    linked(f"{SITE}/evil-1.0.dist-info", "OUTSIDE/secret-6.dist-info"),
    linked(f"{SITE}/evil-1.0.dist-info/METADATA", "OUTSIDE/secret-6.dist-info/METADATA"),
    linked(f"{SITE}/evil-1.0.dist-info/RECORD", "OUTSIDE/secret.txt"),
    linked(f"{SITE}/evil-1.0.dist-info/top_level.txt", "OUTSIDE/secret.txt"),
    linked(f"{SITE}/evil-1.0.dist-info/entry_points.txt", "OUTSIDE/secret.txt"),
    linked(".venv/pyvenv.cfg", "OUTSIDE/secret.txt"),
    linked("pyproject.toml", "OUTSIDE/secret.txt"),
    linked("requirements.txt", "OUTSIDE/secret.txt"),
    linked("uv.lock", "OUTSIDE/secret.txt"),
    written(f"{SITE}/evil-1.0.dist-info/RECORD", f"{UP_PYTHON}/secret.py,,\nOUTSIDE/secret.py,,\n"),
    written(f"{SITE}/evil-1.0.dist-info/RECORD", f"evil/../{UP_PYTHON}/secret/__init__.py,,\n"),
    written(f"{SITE}/secret.egg-link", "OUTSIDE\n.\n"),
    written(f"{SITE}/secret.egg-info/installed-files.txt", f"../{UP_PYTHON}/secret.py\n"),
    written(f"{SITE}/secret-1.0.egg-info", f"Name: {UP_PYTHON}/secret\nVersion: 1\n"),
    written(f"{SITE}/evil/__init__.py", "from .......outside.secret import *\n"),
    written(f"{SITE}/evil/__init__.py", "from .......outside import secret\n"),
    written(f"{SITE}/evil/__init__.py", "from ..... import secret as leak\n"),
    written(f"{SITE}/evil/__init__.py", "__path__ = ['OUTSIDE']\nfrom .secret import *\n"),
    written(f"{SITE}/evil/__init__.py", "from OUTSIDE.secret import *\n"),
    written(f"{SITE}/evil/__init__.py", "__all__ = ['../../outside/secret', 'OUTSIDE/secret']\n"),
    written("requirements.txt", "-r OUTSIDE/secret.txt\n-c ../outside/secret.txt\n"),
]
NODE = [
    *(
        declared(**{field: path})
        for field in ("types", "typings", "main", "module")
        for path in (TYPES, "OUTSIDE/secret.d.ts", f"{UP_NODE}/secret")
    ),
    *(
        declared(exports=exports)
        for exports in (
            TYPES,
            f"./{TYPES}",
            "OUTSIDE/secret.d.ts",
            "file://OUTSIDE/secret.d.ts",
            {".": {"types": TYPES, "default": f"{UP_NODE}/secret.js"}},
            {".": [TYPES, {"import": TYPES}]},
            {"./*": f"{UP_NODE}/*", ".": f"{UP_NODE}/secret.d.ts"},
            {"./": f"./{UP_NODE}/"},
            {".": "./..%2f..%2f..%2foutside/secret.d.ts"},
            {".": "..\\..\\..\\outside\\secret.d.ts"},
            {".": "./node_modules/../../../../outside/secret.d.ts"},
        )
    ),
    declared(types="./index.d.ts", typesVersions={"*": {"*": [f"{UP_NODE}/*"]}}),
    declared(typesVersions={"*": {"index": [TYPES], ".": [TYPES]}}),
    declared(files=[UP_NODE], workspaces=[UP_NODE], bin=TYPES, directories={"lib": UP_NODE}),
    declared(dependencies={"secret": f"file:{UP_NODE}/secret"}),
    linked("node_modules/evil-js/index.d.ts", "OUTSIDE/secret.d.ts"),
    linked("node_modules/evil-js/package.json", "OUTSIDE/secret/package.json"),
    linked("node_modules/evil-js", "OUTSIDE/secret"),
    linked("node_modules/evil-js/leak.d.ts", "OUTSIDE/secret.d.ts"),
    linked("node_modules/evil-js/leak", "OUTSIDE"),
    linked("node_modules/evil-js/README.md", "OUTSIDE/secret.txt"),
    linked("node_modules/evil-js/node_modules", "OUTSIDE"),
    linked("node_modules/linked", "OUTSIDE/secret"),
    linked("node_modules/@scope", "OUTSIDE"),
    linked("node_modules/@types/evil-js", "OUTSIDE/secret"),
    linked("node_modules/.pnpm", "OUTSIDE"),
    linked("node_modules/.pnpm/evil/node_modules", "OUTSIDE"),
    linked("package.json", "OUTSIDE/secret.json"),
    linked("package-lock.json", "OUTSIDE/secret.json"),
    linked("packages/node_modules", "OUTSIDE"),
    *(
        written("node_modules/evil-js/index.d.ts", text)
        for text in (
            f'export * from "{UP_NODE}/secret";\n',
            f'export * from "{UP_NODE}/secret.js";\n',
            f'export * as secret from "{UP_NODE}/secret";\n',
            f'import * as leak from "{UP_NODE}/secret";\nexport {{ leak }};\n',
            f'import leak = require("{UP_NODE}/secret");\nexport = leak;\n',
            'export * from "OUTSIDE/secret";\n',
            'export * from "file://OUTSIDE/secret.d.ts";\n',
            f'/// <reference path="{TYPES}" />\nexport declare const sound: 1;\n',
            f'/// <reference types="{UP_NODE}/secret" />\nexport declare const sound: 1;\n',
            f'export declare const leak: typeof import("{UP_NODE}/secret");\n',
            'export * from "evil-js/../../../outside/secret";\n',
            'export * from "./..%2f..%2f..%2foutside/secret";\n',
            'export * from "..\\\\..\\\\..\\\\outside\\\\secret";\n',
        )
    ),
]


@pytest.mark.parametrize("make", [*PYTHON, *NODE])
def test_nothing_that_a_package_says_leads_out(
    root: Path, tools: Toolbox, make: Callable[[Path], None]
) -> None:
    make(root)
    assert SECRET not in all_answers(tools)
    assert SECRET not in "".join(found(tools, f"from evil import {SECRET}", "python"))
    for module in ("evil-js", "evil-js/secret", "evil-js/leak", "linked", "@scope/secret"):
        code = f'import {{ {SECRET} }} from "{module}";'
        assert SECRET not in "".join(found(tools, code, "typescript"))


def test_of_imports_by_a_private_name_none_leads_out(root: Path, tools: Toolbox) -> None:
    declared(imports={"#x": TYPES, "#y/*": f"{UP_NODE}/*"}, types="index.d.ts")(root)
    text = 'export * from "#x";\nexport * from "#y/secret";\n'
    write(root / "node_modules" / "evil-js" / "index.d.ts", text)
    assert SECRET not in all_answers(tools)


NAMES = [each for each in REFUSED if len(each) <= 214] + [
    "evil/../../outside/secret",
    "evil-js/../../../outside/secret",
    "@scope/../../outside",
    "@types/../../outside",
    "evil@../../outside",
    "evil-js\u200b/../..",
]


@pytest.mark.parametrize("name", NAMES, ids=ascii)
def test_no_name_of_a_package_is_a_path(tools: Toolbox, name: str) -> None:
    assert SECRET not in answer(tools, "read_package", package_name=name)
    for language in ("python", "typescript"):
        assert SECRET not in answer(tools, "get_module_tree", crate=name, language=language)


@pytest.mark.parametrize("symbol", [each for each in NAMES if len(each) <= 500], ids=ascii)
def test_no_symbol_is_a_path(tools: Toolbox, symbol: str) -> None:
    for package in ("evil", "evil-js"):
        said = answer(tools, "read_package", package_name=package, symbol=symbol)
        assert SECRET not in said


@pytest.mark.parametrize(
    "folder",
    [
        *("OUTSIDE", "ROOT/..", "ROOT/../outside", "..", ".", "~", "/", "/etc", "project/.."),
        *("C:\\x", "project\0", "%2e%2e", "project/../outside", "ROOT/.", "ROOT//", "ROOT/.venv"),
        *("\\\\server\\share", "\\\\?\\C:\\x", "file:///etc", "OUTSIDE/../project/.."),
    ],
)
def test_no_root_is_read_but_those_of_the_server(root: Path, tools: Toolbox, folder: str) -> None:
    given = folder.replace("ROOT", str(root)).replace("OUTSIDE", str(root.parent / "outside"))
    said = [
        answer(tools, "scan_packages", root=given),
        answer(tools, "read_package", root=given, package_name="secret"),
        answer(tools, "verify_code", root=given, code="import secret", language="python"),
    ]
    assert SECRET not in str(said)
    if folder != "ROOT//":
        assert all("forbidden" in each or "invalid_parameter" in each for each in said)


@pytest.mark.parametrize("specifier", [e for e in NAMES if "\ud800" not in e], ids=ascii)
def test_no_import_is_a_path(tools: Toolbox, specifier: str) -> None:
    line = json.dumps(specifier)
    code = f'import {{ {SECRET} }} from {line};\nimport a from "evil-js/{specifier}";\n'
    assert SECRET not in "".join(found(tools, code, "typescript"))
    dotted = specifier.replace("/", ".")
    assert SECRET not in "".join(found(tools, f"from {dotted} import {SECRET}\n", "python"))


@pytest.mark.parametrize(
    "text",
    [
        '{"lockfileVersion": 3, "packages": {"node_modules/evil-js": {"version": "../../x"}}}',
        '{"lockfileVersion": 3, "packages": {"node_modules/../../x": {"version": "1.0.0"}}}',
        "lockfileVersion: 9\npackages:\n  evil-js@file:../outside/secret:\n    a: b\n",
        '# yarn lockfile v1\n"evil-js@file:../outside/secret":\n  version "../../x"\n',
        "# yarn lockfile v1\n../../../etc/passwd@1:\n  version ../../x\n",
        '[[package]]\nname = "../../x"\nversion = "../y"\nsource = { directory = "../outside" }\n',
        '[[packages]]\nname = "/etc"\nversion = "/etc"\n',
        "-r ../outside/secret.txt\nevil==1.0\nevil @ file:///etc/passwd\n",
    ],
)
def test_the_text_of_a_lock_file_opens_nothing(tools: Toolbox, text: str) -> None:
    for language, code in (
        ("python", f"from evil import {SECRET}"),
        ("typescript", f'import {{ {SECRET} }} from "evil-js";'),
    ):
        said = answer(tools, "verify_code", lockfile=text, code=code, language=language, all=True)
        assert "internal" not in said
        assert '"ok"' not in said


def test_a_hard_link_is_a_file_of_its_own(root: Path, tools: Toolbox) -> None:
    """Installers link files from their caches so: only whoever may read a file can make one."""
    os.link(root.parent / "outside" / "secret.py", root / SITE / "evil" / "cached.py")
    said = answer(tools, "read_package", package_name="evil", file_path="evil/cached.py")
    assert SECRET in said
