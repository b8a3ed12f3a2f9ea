"""Python's standard library in code: for the project's version, and never in doubt."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from docstow.languages.python import check as python_code
from docstow.languages.python.resolver import (
    NEWEST,
    OLDEST,
    PythonResolver,
    StandardLibrary,
    standard_surface,
    stub_folder,
)
from docstow.languages.shared.boundary import Boundary
from docstow.languages.shared.findings import Finding
from docstow.languages.shared.project import Environment, Scan
from languages.check.test_rates import alarms, measured
from snippets import load


def problems(code: str, version: str = "3.11.7") -> list[Finding]:
    return list(python_code.verify(code, StandardLibrary(version)).problems())


def project(root: Path, version: str) -> PythonResolver:
    """A project with an empty environment of that version."""
    environment = Environment("python", "venv", ".venv", f"Python {version}", ())
    return PythonResolver(Scan((environment,), (), Boundary(root), 0.0, 0))


@pytest.mark.slow
def test_right_code_raises_no_alarm_and_invented_names_are_found() -> None:
    def verify(code: str) -> object:
        return python_code.verify(code, StandardLibrary("3.11.7"))

    assert alarms(load("python_standard"), verify) == []  # type: ignore[arg-type]
    found, first = measured("python_standard", verify)  # type: ignore[arg-type]
    assert found >= 0.9
    assert first >= 0.7


@pytest.mark.parametrize(
    ("version", "code", "said"),
    [
        ("3.10.2", "from datetime import UTC\n", "(added in 3.11)"),
        ("3.11.2", "from datetime import UTC\n", ""),
        ("3.10.2", "import tomllib\n", "python 3.10.2 has no module tomllib (added in 3.11)"),
        ("3.13.0", "import cgi\n", "(removed in 3.13)"),
        ("3.12.0", "import cgi\n", ""),
        ("3.11.0", "from itertools import batched\n", "(added in 3.12)"),
        ("3.11.0", "import asyncio\nasyncio.TaskGroup()\n", ""),
        ("3.10.0", "import asyncio\nasyncio.TaskGroup()\n", "(added in 3.11)"),
        ("3.11.0", "from pathlib import Path\nPath('a').walk()\n", "(added in 3.12)"),
        ("", "from datetime import UTC\nimport cgi, tomllib\n", ""),
        ("", "import json\njson.loadz('')\n", "module json of python 3 has no loadz"),
        ("2.7.18", "import json\njson.loadz('')\n", ""),
        ("3.99.0", "import json\njson.loadz('')\n", ""),
    ],
)
def test_the_version_decides(version: str, code: str, said: str) -> None:
    found = problems(code, version)
    assert [bool(said)] * len(found) == [True] * bool(said)
    assert all(said in each.message for each in found)


@pytest.mark.parametrize(
    "code",
    [
        "import os\nos.sys.exit(1)\n",
        "import logging\nlogging.threading.current_thread()\n",
        "import tty\ntty.ECHO\n",
        "import json\njson._private\n",
        "import os\nos.startfile('x'); os.fork()\n",
        "import sys\nif sys.version_info >= (3, 99):\n    import nothing.json\n",
        "try:\n    from collections import Mapping\nexcept ImportError:\n    pass\n",
        "from numpy_like import *\nsum(1, axis=0)\n",
        "def f(model):\n    return model(input.to(device), id.hex)\n",
        "import enum\nColor = enum.Enum('Color', 'red green')\n",
        "import sys\ndef f():\n    if not hasattr(sys, 'x'):\n        return\n    sys.x()\n",
        (
            "import socketserver as s\nclass H(s.BaseRequestHandler):\n"
            "    def handle(self):\n        self.server.get_app()\n"
        ),
        (
            "import socket\nclass S(socket.socket):\n    @classmethod\n    def make(cls):\n"
            "        self = cls.__new__(cls)\n        self.shake()\n    def shake(self): ...\n"
        ),
        (
            "class S(str):\n    def __new__(cls, v):\n        self = str.__new__(cls, v)\n"
            "        self.begin(v)\n        return self\n    def begin(self, v): ...\n"
        ),
        "import unittest\nunittest.main(exit=False).result.wasSuccessful()\n",
        (
            "import copy, pytest\n@pytest.mark.skipif(OLD, reason='')\ndef test_it():\n"
            "    copy.replace(1)\n"
        ),
    ],
)
def test_what_is_there_or_may_be_is_no_alarm(code: str) -> None:
    assert problems(code) == []


@pytest.mark.parametrize(
    ("code", "suggested"),
    [
        ("with open('x') as f:\n    f.read_lines()\n", "readlines"),
        ("import json\njson.loadz('')\n", "loads"),
        (
            (
                "import socketserver as s\nclass H(s.BaseRequestHandler):\n"
                "    def handle(self):\n        self.server.shut_down()\n"
            ),
            "shutdown",
        ),
    ],
)
def test_values_of_python_itself_are_judged(code: str, suggested: str) -> None:
    (found,) = problems(code)
    assert found.suggestions[0].rpartition(".")[2] == suggested


def test_what_a_stub_imports_for_itself_is_not_there() -> None:
    (found,) = problems("from collections import Mapping\n")
    assert found.suggestions[0] == "collections.abc.Mapping"


def test_modules_of_the_project_hide_those_of_python(tmp_path: Path) -> None:
    code = "import secrets\nimport json\nsecrets.KEY_OF_MINE\njson.loadz('')\n"
    assert len(python_code.verify(code, project(tmp_path, "3.11.7")).problems()) == 2
    (tmp_path / "board").mkdir()
    (tmp_path / "board" / "secrets.py").write_text("KEY_OF_MINE = ''\n", "utf-8")
    (found,) = python_code.verify(code, project(tmp_path, "3.11.7")).problems()
    assert found.name == "json.loadz"


def test_stubs_speak_of_the_versions_that_are_told_apart() -> None:
    """A newer library of stubs may speak of others: then the constants are to be changed."""
    folder = stub_folder()
    assert folder is not None
    text = "\n".join(each.read_text("utf-8") for each in folder.rglob("*.pyi"))
    told = {
        int(part.split(")")[0].split(",")[0]) for part in text.split("version_info >= (3, ")[1:]
    }
    assert min(told) == OLDEST[1] + 1
    assert max(told) == NEWEST[1]


def test_every_module_of_this_python_is_known() -> None:
    surface = standard_surface(".".join(map(str, sys.version_info[:3])))
    assert surface is not None
    absent = {name for name in sys.stdlib_module_names if not surface.has_module(name)}
    shown = {name for name in absent if not name.startswith("_")}
    assert shown <= {"idlelib", "turtledemo", "nt", "antigravity", "this", "pydoc_data"}


@pytest.mark.parametrize(
    ("call", "first"),
    [
        ("heapq.heap([], 2)", "heapq.heappush"),
        ("heapq.heap([])", "heapq.heappop"),
        ("time.get_clock('a')", "time.get_clock_info"),
        ("time.get_clock()", "time.monotonic"),
    ],
)
def test_what_can_be_called_so_comes_first(call: str, first: str) -> None:
    (found,) = problems(f"import heapq, time\n{call}\n")
    assert found.suggestions[0] == first
    assert first in found.message


@pytest.mark.parametrize("count", [50, 400])
def test_many_wrong_names_get_few_suggestions(count: int) -> None:
    """Each is found; what is suggested has its price, and whoever asks for more gets none."""
    code = "import json\n" + "".join(f"json.load{number}x()\n" for number in range(count))
    found = problems(code)
    assert len(found) == count
    assert sum(bool(each.suggestions) for each in found) == min(count, 100)


@pytest.mark.parametrize(
    "deep",
    [
        "if a: pass\n" + "elif b: pass\n" * 2000,
        "x = " + "1 if a else " * 2000 + "2",
        "".join(f"{' ' * level}if a:\n" for level in range(90)) + " " * 90 + "pass",
        "".join(f"class A{each}(A{each - 1}): pass\n" for each in range(1, 3000)) + "A2999().b()",
        "x = " + "{1: " * 80 + "1" + "}" * 80,
        "x = " + "[a for a in " * 80 + "b" + "]" * 80,
        "\x0c\n\tprint 'Python 2'\n",
    ],
)
def test_what_is_deeper_than_anybody_writes_is_left_out(deep: str) -> None:
    found = problems(f"import json\njson.loadz()\n{deep}\n")
    assert "json.loadz" in {each.name for each in found}


@pytest.mark.parametrize(
    "hopeless", ["x = " + "[" * 500, "x = '" + "\ud800" * 100 + "'", "\x00" * 100]
)
def test_of_what_is_no_python_the_imports_are_judged(hopeless: str) -> None:
    found = problems(f"from json import loadz\n{hopeless}\n")
    assert [each.name for each in found] == ["json.loadz"]
