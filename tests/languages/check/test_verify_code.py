"""The tool: where versions come from, what it shows, and what it says where there are none."""

from __future__ import annotations

import contextlib
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from docstow.core.errors import InvalidParameter
from docstow.core.settings import load
from docstow.core.threads import Background
from docstow.index.loaded import Index
from docstow.languages.projects import Projects
from docstow.languages.python import check as python_code
from docstow.languages.python.resolver import PythonResolver
from docstow.languages.shared import findings
from docstow.runtime import Runtime
from docstow.tools import Toolbox, verify_code
from docstow.tools.check_code import language_of

LOCK = """
[[package]]
name = "tokio"
version = "1.43.1"
source = "registry+x"

[[package]]
name = "app"
version = "0.1.0"
dependencies = ["tokio"]
"""


def call(runtime: Runtime, projects: Projects | None = None, **arguments: Any) -> dict[str, Any]:
    tool = verify_code.tool(runtime.library, runtime.snapshots, projects)
    answer: dict[str, Any] = json.loads(Toolbox([tool]).call("verify_code", arguments).render())
    return answer


def test_only_what_is_wrong_is_listed(rust_runtime: Runtime) -> None:
    code = "use tokio::sync::mpsc;\nuse tokio::spwan;\n"
    answer = call(rust_runtime, code=code, versions={"tokio": "1.43.1"})
    assert answer["counts"] == {"ok": 1, "unknown": 1}
    assert answer["packages"] == {"tokio": "1.43.1"}
    assert answer["features"] == {"tokio": ["sync"]}
    assert [(row["line"], row["suggestions"]) for row in answer["results"]] == [
        (2, ["tokio::spawn"])
    ]
    whole = call(rust_runtime, code=code, versions={"tokio": "1.43.1"}, all=True)
    assert [row["status"] for row in whole["results"]] == ["ok", "unknown"]


def test_what_compares_names_is_made_ready_after_the_first_answer(
    tmp_path: Path,
) -> None:
    begun: list[Callable[[], object]] = []

    class Noted(Background):
        def soon(self, name: str, act: Callable[[], object]) -> None:
            begun.append(act)

    flags = {"store": str(tmp_path), "cache": str(tmp_path / "cache"), "offline": True}
    with contextlib.closing(Runtime(load(flags, {}))) as runtime:
        tool = verify_code.tool(runtime.library, runtime.snapshots, None, background=Noted())
        for _ in range(2):
            Toolbox([tool]).call("verify_code", {"code": "import os", "language": "python"})
    assert begun == [findings.prepare]
    compare = (
        "import sys\nfrom docstow.languages.shared.findings import nearest, prepare\nprepare()\n"
        "known = {*sys.modules}\nsiblings = [f'a.fetch_{each}' for each in range(1000)]\n"
        "nearest('get_all', siblings, summaries={'a.fetch_1': 'Return all rows.'})\n"
        "print({*sys.modules} - known)"
    )
    ran = subprocess.run([sys.executable, "-c", compare], capture_output=True, text=True)
    assert (ran.stdout.strip(), ran.stderr) == ("set()", "")


def test_what_was_found_out_about_a_crate_is_kept(
    rust_runtime: Runtime, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[int] = []
    attributes = Index.attributes

    def noted(index: Index, row: int) -> dict[str, Any]:
        read.append(row)
        return attributes(index, row)

    stowed = rust_runtime.library.crate("tokio", "1.43.1")
    rust_runtime.library.index(stowed.snapshot).made.clear()
    monkeypatch.setattr(Index, "attributes", noted)
    code = "use tokio::sync::Mutex;\nfn main() { let m = Mutex::new(1); m.lockk(); }\n"
    answers, counts = [], []
    for _ in range(2):
        read.clear()
        answers.append(call(rust_runtime, code=code, versions={"tokio": "1.43.1"}))
        counts.append(len(read))
    assert answers[0] == answers[1]
    assert 4 * counts[1] < counts[0]


def test_a_lock_file_decides_and_its_own_packages_are_nobodys_business(
    rust_runtime: Runtime,
) -> None:
    code = "use app::thing;\nuse tokio::task::consume_budget;\n"
    answer = call(rust_runtime, code=code, lockfile=LOCK)
    assert answer["packages"] == {"tokio": "1.43.1"}
    assert answer["results"] == []
    assert "no local version of app" in answer["notice"]


def test_without_any_version_the_best_stowed_one_answers_and_says_so(
    rust_runtime: Runtime,
) -> None:
    answer = call(rust_runtime, code="use tokio::tasks::JoinSet;\nuse private_thing::X;")
    assert answer["packages"] == {"tokio": "1.53.2"}
    assert answer["results"][0]["suggestions"][0] == "tokio::task::JoinSet"
    assert "nobody said which versions are used" in answer["notice"]
    assert "no local version of private_thing" in answer["notice"]


def test_an_error_message_is_answered_too(rust_runtime: Runtime) -> None:
    answer = call(
        rust_runtime, code="error[E0425]: cannot find function `spawn_task` in crate `tokio`"
    )
    assert answer["language"] == "rust"
    assert [row["name"] for row in answer["results"]] == ["tokio::spawn_task"]
    assert "error message" in answer["notice"]


def test_python_is_checked_against_the_environment_of_a_root(
    rust_runtime: Runtime, python_project: Path, tmp_path: Path
) -> None:
    projects = Projects([python_project], tmp_path, local=True)
    code = "import httpx\nimport torch\nhttpx.get('x', param={})\n"
    answer = call(rust_runtime, projects, code=code)
    assert answer["language"] == "python"
    assert [(row["status"], row["suggestions"]) for row in answer["results"]] == [
        ("wrong_argument", ["params"])
    ]
    assert "no local version of torch" in answer["notice"]


def test_lines_that_are_no_python_are_told(
    rust_runtime: Runtime, python_project: Path, tmp_path: Path
) -> None:
    projects = Projects([python_project], tmp_path, local=True)
    code = "import httpx\n\ndef f(:\n    pass\n\nhttpx.gett('x')\n"
    answer = call(rust_runtime, projects, code=code, language="python")
    assert [row["name"] for row in answer["results"]] == ["httpx.gett"]
    assert "cannot be read, and is not judged: what begins on line 3" in answer["notice"]


@pytest.mark.parametrize(
    ("code", "language"),
    [
        ("const express = require('express');\nconst app = express();\n", "javascript"),
        ("module.exports = { a: 1 };\nconst b = () => 1;\n", "javascript"),
        ("const zod = require('zod');\nfunction f(a: string): void {}\n", "typescript"),
        ("import { z } from 'zod';\nconst a = z.string();\n", "typescript"),
        ("const x: number = require('x');\n", "typescript"),
    ],
)
def test_plain_scripts_are_javascript(code: str, language: str) -> None:
    assert language_of(code) == language


def test_without_an_environment_nothing_is_judged(rust_runtime: Runtime) -> None:
    answer = call(rust_runtime, code="import httpx\nhttpx.nothing()\n", language="python")
    assert answer["results"] == []
    assert "give root" in answer["notice"]


def test_what_cannot_be_is_refused(rust_runtime: Runtime) -> None:
    with pytest.raises(InvalidParameter, match="language"):
        call(rust_runtime, code="12 + 3")
    with pytest.raises(InvalidParameter, match="root"):
        call(rust_runtime, code="import httpx", root="/etc")


def test_variables_made_of_one_another_take_no_time(python_resolver: PythonResolver) -> None:
    """Each is worked out once, though there are 4 ** 40 ways through these."""
    lines = ["import click", "a = click.Group('a')"]
    lines += ["def f(a, b):"]
    for _ in range(40):
        lines += ["    a = a.get(b)", "    b = b.get(a)", "    a = b.put(a)", "    b = a.put(b)"]
    lines += ["a.add_comand(None)"]
    found = python_code.verify("\n".join(lines), python_resolver)
    assert [each.name for each in found.problems()] == ["click.Group.add_comand"]


def test_where_code_is_too_deep_to_follow_is_told(python_resolver: PythonResolver) -> None:
    lines = ["import click", "click.ekko('a')", "class C0(click.Group): ..."]
    lines += [f"class C{number}(C{number - 1}): ..." for number in range(1, 3000)]
    lines += ["x = C2999()", "x.add_comand(None)"]
    found = python_code.verify("\n".join(lines), python_resolver)
    assert [each.name for each in found.problems()] == ["click.ekko"]
    assert found.unread[-1] == len(lines)


def test_a_name_that_nobody_means_is_compared_with_none() -> None:
    assert findings.nearest("Mappiing", ["a.Mapping"]) == ("a.Mapping",)
    assert findings.nearest("Mapp" + "i" * 100_000 + "ng", ["a.Mapping"]) == ()
