"""Projects by name, and the tool scan_packages over them."""

from __future__ import annotations

import contextlib
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from docstow.core.errors import ConfigurationError, DocstowError, Forbidden, InvalidParameter
from docstow.core.settings import load
from docstow.languages.projects import Projects, mentions
from docstow.runtime import Runtime


def distribution(root: Path, name: str, module: str = "", version: str = "1.0") -> None:
    info = root / ".venv/lib/python3.12/site-packages" / f"{name}-{version}.dist-info"
    info.mkdir(parents=True)
    (root / ".venv/pyvenv.cfg").write_text("version = 3.12.4\n")
    (info / "METADATA").write_text(f"Name: {name}\nVersion: {version}\nSummary: Does {name}.\n")
    (info / "RECORD").write_text(f"{module or name}/__init__.py,,\n")


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """Seventy distributions, ten of them asked for, and two packages of Node."""
    root = tmp_path / "shop"
    wanted = [f"lib{number:02}" for number in range(10)]
    for number in range(69):
        distribution(root, f"lib{number:02}")
    distribution(root, "pillow", "PIL", "12.0.0")
    text = f"[project]\nname = 'shop'\ndependencies = {json.dumps([*wanted, 'pillow'])}\n"
    (root / "pyproject.toml").write_text(text)
    for name in ("zod", "@acme/ui"):
        folder = root / "node_modules" / name
        folder.mkdir(parents=True)
        manifest = {"name": name, "version": "3.1.0", "types": "index.d.ts"}
        (folder / "package.json").write_text(json.dumps(manifest))
    (root / "package.json").write_text('{"dependencies": {"zod": "^3"}}')
    return root


@contextlib.contextmanager
def runtime(tmp_path: Path, *roots: Path, **more: Any) -> Iterator[Runtime]:
    flags = {"store": str(tmp_path / "store"), "cache": str(tmp_path / "cache"), **more}
    flags["root"] = [str(each) for each in roots]
    with contextlib.closing(Runtime(load(flags, {}))) as made:
        yield made


@pytest.fixture
def call(tmp_path: Path, project: Path) -> Iterator[Any]:
    with runtime(tmp_path, project) as made:

        def called(**arguments: Any) -> Any:
            return made.toolbox.call("scan_packages", arguments).structured

        yield called


def test_an_answer_is_small_and_its_pages_are_all_of_it(call: Any) -> None:
    first = call()
    assert first["root"] == "shop"
    assert first["counts"] == {"packages": 72, "direct": 12}
    assert [
        (each["ecosystem"], each["location"], each["count"], each["direct"])
        for each in first["environments"]
    ] == [("python", ".venv", 70, 11), ("node", "node_modules", 2, 1)]
    shown = first["environments"][0]["packages"]
    assert shown[0] == {
        "name": "lib00",
        "version": "1.0",
        "import_names": ["lib00"],
        "direct": True,
    }
    assert len(json.dumps(first)) < 6000
    second = call(cursor=first["cursor"])
    assert second["cursor"] is None
    pages = [each for page in (first, second) for each in page["environments"]]
    assert len({row["name"] for each in pages for row in each["packages"]}) == 72


def test_filters_and_details(call: Any) -> None:
    found = call(query="pil", details=True)
    assert found["counts"] == {"packages": 1, "direct": 1}
    (environment,) = found["environments"]
    assert environment["detail"] == "Python 3.12.4"
    assert environment["packages"] == [
        {
            "name": "pillow",
            "version": "12.0.0",
            "import_names": ["PIL"],
            "direct": True,
            "location": ".venv/lib/python3.12/site-packages",
            "language": "python",
            "summary": "Does pillow.",
            "installed": True,
            "editable": False,
        }
    ]
    assert call(ecosystem="node")["counts"] == {"packages": 2, "direct": 1}
    assert call(direct=True)["counts"] == {"packages": 12, "direct": 12}
    assert "no package passes" in call(query="no such thing")["notice"]
    with pytest.raises(InvalidParameter):
        call(query="lib", cursor=call()["cursor"])


def test_code_in_an_editor_is_answered_with_what_it_names_and_the_next_call(call: Any) -> None:
    text = "import os\nimport lib03 as three, lib04.inner\nfrom PIL import Image\nimport nowhere\n"
    found = call(text=text)
    (environment,) = found["environments"]
    assert [each["name"] for each in environment["packages"]] == ["lib03", "lib04", "pillow"]
    assert found["notice"] == (
        "this project has lib03 1.0, lib04 1.0, pillow 12.0.0; not installed or locked here: "
        "nowhere"
    )
    assert found["missing"] == ["nowhere"]
    assert found["next"][0]["tool"] == "verify_code"
    assert found["next"][0]["arguments"]["language"] == "python"
    typescript = call(text='import { z } from "zod";\nimport x from "./own";\n')
    assert typescript["counts"] == {"packages": 1, "direct": 1}
    assert typescript["notice"] == "this project has zod 3.1.0"
    assert "names no packages" in call(text="Good morning.")["notice"]


def test_an_error_message_leads_to_where_the_name_should_have_been(call: Any) -> None:
    found = call(text="ImportError: cannot import name 'Imag' from 'PIL.inner' (/x/y.py)")
    assert found["next"] == [
        {
            "tool": "read_package",
            "arguments": {"package_name": "pillow", "root": "shop", "symbol": "PIL.inner"},
        }
    ]


@pytest.mark.parametrize(
    ("text", "language", "names"),
    [
        (
            "import a.b, c as d  # e\nfrom f.g import (\n  h)\nfrom . import i\n",
            "python",
            "a.b c f.g",
        ),
        (
            "import a from 'a';\nexport * from \"@s/b/c\";\nconst d = require('d');\nlet e = 'f'",
            "typescript",
            "a @s/b/c d",
        ),
        (
            "import {\n  a,\n  b,\n} from 'many-lines'\nimport 'only'\n",
            "typescript",
            "many-lines only",
        ),
        (
            "use tokio::spawn;\npub use serde;\nuse std::fmt;\nuse crate::x::y;",
            "rust",
            "tokio serde",
        ),
        ('import (\n\t"fmt"\n\tx "github.com/a/b"\n)', "go", "github.com/a/b"),
        ("import requests; requests.get\nimport numpy as ", "python", "requests numpy"),
        ("from django.db \\\n    import models\n", "python", "django.db"),
        (
            "In [1]: import polars as pl\n>>> import attr\n... import click\n",
            "python",
            "polars attr click",
        ),
        (
            '{"cells": [{"cell_type": "code", "source": ["import pandas\\n", "x"]}]}',
            "python",
            "pandas",
        ),
        ('{"cells": [{"cell_type": "code", "source": "import pandas"}]}', "python", "pandas"),
        ('<script setup>\nimport { ref } from "vue";\n</script>', "typescript", "vue"),
        ('import a from "path"; import b from "fs/promises"; import c from "$lib/x"', "", ""),
        ("", "", ""),
    ],
)
def test_imports_of_each_language(text: str, language: str, names: str) -> None:
    found = mentions.read_mentions(text)
    assert (found.language, " ".join(found.names), found.message) == (language, names, False)


@pytest.mark.parametrize(
    ("text", "language", "names"),
    [
        (
            '{"dependencies": {"zod": "^3"}, "devDependencies": {"@acme/ui": "1"}}',
            "typescript",
            "@acme/ui zod",
        ),
        (
            '[project]\nname = "x"\ndependencies = ["pillow>=12", "lib01"]\n',
            "python",
            "lib01 pillow",
        ),
        (
            "# pins\npillow==12.0 \\\n    --hash=sha256:x\nlib01[x]~=1 ; a>'3'\n-r x.txt\n",
            "python",
            "lib01 pillow",
        ),
        (
            '[dependencies]\nserde = "1"\n[dev-dependencies.tokio]\nversion = "1"\n',
            "rust",
            "serde tokio",
        ),
    ],
)
def test_manifests_in_an_editor(text: str, language: str, names: str) -> None:
    found = mentions.read_mentions(text)
    assert (found.language, " ".join(found.names), found.manifest) == (language, names, True)


@pytest.mark.parametrize("text", ['{"dependencies": {', "[project\n", '{"cells": [{}]}', '{"a": ['])
def test_half_a_manifest_names_nothing(text: str) -> None:
    assert not mentions.read_mentions(text).names


@pytest.mark.parametrize(
    "part", ["export x ", "import {", "import a as b, ", "from ", '"a', "\n  at "]
)
def test_a_long_text_without_sense_is_read_in_one_go(part: str) -> None:
    """An expression that begins anew at each word would take minutes."""
    assert not mentions.read_mentions(part * (200_000 // len(part)) + "!").names


def test_a_manifest_is_answered_by_the_names_of_packages(call: Any) -> None:
    answer = call(text="pillow==12.0.0\nmissing>=1\n")
    assert answer["missing"] == ["missing"]
    assert [each["arguments"]["package_name"] for each in answer["next"]] == ["pillow"]


@pytest.mark.parametrize(
    "text",
    [
        "Module not found: Error: Can't resolve 'zod' in '/app/src'",
        '[vite] Failed to resolve import "zod" from "src/main.ts". Does the file exist?',
        'X [ERROR] Could not resolve "zod"',
        "Cannot find module 'zod' from 'src/a.test.ts'",
        "a.ts(1,20): error TS7016: Could not find a declaration file for module 'zod'.",
        'a.py:1: error: Skipping library stub for module named "zod"  [import-untyped]',
        '  /app/a.py:1:8 - error: Import "zod" could not be resolved (reportMissingImports)',
    ],
)
def test_messages_of_tools_name_the_package(text: str) -> None:
    found = mentions.read_mentions(text)
    assert (list(found.names), found.message) == (["zod"], True)


def test_projects_have_names_of_their_own(tmp_path: Path) -> None:
    roots = [tmp_path / "a" / "api", tmp_path / "b" / "api", tmp_path / "web"]
    for each in roots:
        each.mkdir(parents=True)
    projects = Projects([*roots, roots[0]], tmp_path, local=True)
    assert projects.names == ("a/api", "b/api", "web")
    assert projects.get("b/api").root == roots[1].resolve()
    assert projects.get(str(roots[2].resolve())).name == "web"
    assert projects.get().name == "a/api"
    with pytest.raises(InvalidParameter, match="there are a/api, b/api, web"):
        projects.get("wob")
    for other in ("/etc", "../secret", "~", ".."):
        with pytest.raises(Forbidden, match="--root DIR"):
            projects.get(other)


def test_a_server_without_roots_says_how_to_get_one(tmp_path: Path) -> None:
    with runtime(tmp_path) as made, pytest.raises(DocstowError) as caught:
        made.toolbox.call("scan_packages", {})
    assert caught.value.body() == {
        "error": "invalid_parameter",
        "message": "root: no project root: start with --root DIR",
        "field": "root",
        "reason": "no project root: start with --root DIR",
    }


def test_a_server_that_others_reach_looks_into_no_project(tmp_path: Path, project: Path) -> None:
    with (
        runtime(tmp_path, project, host="0.0.0.0") as made,
        pytest.raises(Forbidden, match="docstow serve --stdio"),
    ):
        made.projects.scan()


def test_a_root_that_is_no_directory_is_told_at_the_start(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match=r"root: .* is not a directory"):
        Runtime(load({"store": str(tmp_path), "root": str(tmp_path / "none")}, {}))


@pytest.mark.slow
def test_commands_look_into_the_directory_they_are_called_in(tmp_path: Path, project: Path) -> None:
    def called(*words: str, folder: Path) -> Any:
        command = [sys.executable, "-m", "docstow", "call", f"--store={tmp_path / 's'}"]
        command += [f"--cache={tmp_path / 'c'}", *words]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
        return json.loads(done.stdout)

    there = called("scan_packages", folder=project)
    assert (there["root"], there["counts"]["packages"]) == ("shop", 72)
    other = tmp_path / "other"
    distribution(other, "alone")
    flags = [f"--root={project}", "--root", str(other)]
    named = called(*flags, "scan_packages", '{"root": "other"}', folder=tmp_path)
    assert (named["roots"], named["counts"]["packages"]) == (["shop", "other"], 1)
    nothing = tmp_path / "nothing"
    nothing.mkdir()
    error = called("scan_packages", folder=nothing)
    assert error["error"] == "environment_not_found"
