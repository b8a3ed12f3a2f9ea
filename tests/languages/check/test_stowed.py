"""Code is checked against stowed packages alone, by versions or a lock file, where no project is.

The verdicts are held against those that the environment itself gives: nothing right is called
wrong, and what is found is printed (``pytest -s tests/verify/test_stowed.py``).
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from check_environment import scanned
from docstow.core.errors import InvalidParameter
from docstow.core.settings import load as settings
from docstow.languages.python import check as python_code
from docstow.languages.python.resolver import PythonResolver
from docstow.languages.shared.findings import Verdict
from docstow.languages.shared.project import Scan
from docstow.languages.typescript import check as javascript_code
from docstow.languages.typescript.resolver import NodeResolver
from docstow.runtime import Runtime
from snippets import load

Check = Callable[..., dict[str, Any]]
Place = tuple[int, str]

PYTHON = ("fastapi", "starlette", "pydantic", "httpx", "click", "requests", "rich")
NODE = ("zod", "axios", "commander", "chalk", "yargs", "fastify", "date-fns")


@contextlib.contextmanager
def runtime_at(folder: Path, *roots: Path) -> Iterator[Runtime]:
    flags = {
        "store": str(folder / "store"),
        "cache": str(folder / "cache"),
        "docs_rs_url": "http://127.0.0.1:1",
        "crates_index_url": "http://127.0.0.1:1",
        "root": ",".join(map(str, roots)),
    }
    with contextlib.closing(Runtime(settings(flags, {}))) as runtime:
        yield runtime


def checker(runtime: Runtime, language: str) -> Check:
    def check(code: str, **arguments: Any) -> dict[str, Any]:
        arguments |= {"code": code, "language": language}
        answer = runtime.toolbox.call("verify_code", arguments).structured
        assert isinstance(answer, dict)
        return answer

    return check


def stowed(folder: Path, root: Path, names: tuple[str, ...]) -> None:
    with runtime_at(folder, root) as runtime:
        for at in runtime.installed.of_project("", names):
            runtime.installed.ingest(at)


def locked(scan: Scan, ecosystem: str) -> dict[str, str]:
    return {each.name: each.version for each in scan.packages if each.ecosystem == ecosystem}


def imported_only(language: str, names: tuple[str, ...]) -> list[Any]:
    """The snippets of the suite that use a package that is stowed."""
    return [each for each in load(language) if any(name in each.code for name in names)]


@pytest.fixture(scope="module")
def python_scan(python_project: Path, tmp_path_factory: pytest.TempPathFactory) -> Scan:
    return scanned(python_project, tmp_path_factory.mktemp("scan"))


@pytest.fixture(scope="module")
def python(python_project: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Check]:
    folder = tmp_path_factory.mktemp("python")
    stowed(folder, python_project, PYTHON)
    with runtime_at(folder) as runtime:
        yield checker(runtime, "python")


@pytest.fixture(scope="module")
def node_scan(npm_root: Path, tmp_path_factory: pytest.TempPathFactory) -> Scan:
    return scanned(npm_root, tmp_path_factory.mktemp("scan"))


@pytest.fixture(scope="module")
def node(npm_root: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Check]:
    folder = tmp_path_factory.mktemp("node")
    stowed(folder, npm_root, NODE)
    with runtime_at(folder) as runtime:
        yield checker(runtime, "typescript")


def alarms(answer: dict[str, Any]) -> set[Place]:
    wrong = ("unknown", "wrong_argument")
    return {(each["line"], each["name"]) for each in answer["results"] if each["status"] in wrong}


def alarms_of(verdict: Verdict) -> set[Place]:
    wrong = ("unknown", "wrong_argument")
    return {(each.line, each.name) for each in verdict.findings if each.status in wrong}


def compared(
    language: str,
    names: tuple[str, ...],
    check: Callable[[str], dict[str, Any]],
    live: Callable[[str], Verdict],
    how: str,
) -> float:
    """The share of what the environment finds that is found without it; no more than that is."""
    found = wanted = 0
    for snippet in imported_only(language, names):
        assert alarms(check(snippet.code)) == set(), snippet.title
        for each in snippet.broken:
            there, here = alarms_of(live(each.code)), alarms(check(each.code))
            assert here <= there, (each.title, each.change, here - there)
            mine = {name for name in there if any(p in name[1] for p in names)}
            wanted += len(mine)
            found += len(mine & here)
    print(f"{language} by {how}: {found} of {wanted} alarms of the environment")
    assert wanted > 20
    return found / wanted


@pytest.mark.parametrize("how", ["versions", "lockfile"])
def test_python_is_checked_as_in_its_environment(
    python: Check, python_scan: Scan, how: str
) -> None:
    versions = locked(python_scan, "python")
    text = "".join(f"{name}=={version}\n" for name, version in versions.items())
    given: dict[str, Any] = {"lockfile": text} if how == "lockfile" else {"versions": versions}
    resolver = PythonResolver(python_scan)
    share = compared(
        "python",
        PYTHON,
        lambda code: python(code, **given),
        lambda code: python_code.verify(code, resolver),
        how,
    )
    assert share >= 0.6


@pytest.mark.parametrize("how", ["versions", "lockfile"])
def test_typescript_is_checked_as_in_its_environment(
    node: Check, node_scan: Scan, npm_root: Path, how: str
) -> None:
    versions = locked(node_scan, "node")
    text = (npm_root / "package-lock.json").read_text("utf-8")
    given: dict[str, Any] = {"lockfile": text} if how == "lockfile" else {"versions": versions}
    resolver = NodeResolver(node_scan)
    share = compared(
        "typescript",
        NODE,
        lambda code: node(code, **given),
        lambda code: javascript_code.verify(code, resolver),
        how,
    )
    assert share >= (0.5 if how == "lockfile" else 0.2)


def test_what_is_not_stowed_is_not_judged_and_the_next_call_is_named(python: Check) -> None:
    code = "import fastapi, nowhere, httpx\nfastapi.FastApi()\nnowhere.x\nhttpx.gte('u')\n"
    answer = python(code, versions={"fastapi": "0.1.0", "nowhere": "1.0"})
    assert alarms(answer) == set()
    assert "fastapi 0.1.0 is not stowed (nearest stowed version:" in answer["notice"]
    assert "docstow ingest project DIR --package nowhere" in answer["notice"]
    assert 'no version of httpx is said; give versions {"httpx":' in answer["notice"]


@pytest.mark.parametrize(
    ("version", "expected"),
    [
        ("3.12", {(2, "json.loadz"), (3, "copy.replace")}),
        ("3.13.1", {(2, "json.loadz")}),
        ("", {(2, "json.loadz")}),
        ("2.7", set()),
    ],
)
def test_python_itself_is_that_of_the_version_that_is_given(
    python: Check, version: str, expected: set[Place]
) -> None:
    code = "import copy, json, pathlib\njson.loadz('')\ncopy.replace(1)\npathlib.Path().exists()\n"
    answer = python(code, versions={"python": version} if version else {})
    assert alarms(answer) == expected
    assert not answer.get("not_installed")


def test_what_another_package_may_have_changed_is_not_judged(
    python: Check, python_scan: Scan
) -> None:
    code = "from fastapi import FastAPI\napp = FastAPI()\napp.add_middlewares()\n"
    versions = locked(python_scan, "python")
    assert alarms(python(code, versions=versions))
    assert not alarms(python(code, versions=versions | {"starlette": "0.1.0"}))
    assert not alarms(python(code, versions={"fastapi": versions["fastapi"]}))


def test_members_are_not_judged_where_an_unseen_package_may_add_some(
    node: Check, node_scan: Scan
) -> None:
    code = 'import { ZodString } from "zod";\nZodString.openapi;\n'
    found = locked(node_scan, "node")
    packages = {f"node_modules/{name}": {"version": each} for name, each in found.items()}
    assert alarms(node(code, lockfile=json.dumps({"packages": packages})))
    packages["node_modules/zod-openapi"] = {"version": "5.0.0"}
    assert not alarms(node(code, lockfile=json.dumps({"packages": packages})))


LOCKS = {
    "uv": '[[package]]\nname = "small"\nversion = "1.0"\nsource = { registry = "x" }\n',
    "poetry": '[[package]]\nname = "small"\nversion = "1.0"\ndescription = "d"\n',
    "pylock": '[[packages]]\nname = "small"\nversion = "1.0"\n',
    "pipenv": '{"default": {"small": {"version": "==1.0"}}}',
    "requirements": "small==1.0  # pinned\n",
}


NODE_LOCKS = {
    "npm": '{"packages": {"node_modules/zod": {"version": "VERSION"}}}',
    "pnpm": "lockfileVersion: '9.0'\n\npackages:\n\n  zod@VERSION:\n    resolution: {}\n",
    "yarn": '# yarn lockfile v1\n\n\nzod@^4:\n  version "VERSION"\n  resolved "x"\n',
}


@pytest.mark.parametrize("form", NODE_LOCKS)
def test_every_form_of_node_lock_file_is_known_by_its_text(
    node: Check, node_scan: Scan, form: str
) -> None:
    version = locked(node_scan, "node")["zod"]
    code = 'import { ZodErorr } from "zod";\n'
    answer = node(code, lockfile=NODE_LOCKS[form].replace("VERSION", version))
    assert [each["name"] for each in answer["results"]] == ["zod.ZodErorr"]


@pytest.mark.parametrize("text", ["nothing of the kind", "{", "[[package", "a: b\n"])
def test_a_text_that_is_no_lock_file_is_refused(python: Check, text: str) -> None:
    with pytest.raises(InvalidParameter, match="send the whole text of"):
        python("import click\n", lockfile=text)


def small(folder: Path, version: str, code: str, name: str = "small") -> Path:
    """A project whose environment has a package of our own, which is imported as ``small``."""
    site = folder / version / ".venv" / "lib" / "python3.12" / "site-packages"
    (site / "small").mkdir(parents=True)
    (site / "small" / "__init__.py").write_text(code, "utf-8")
    info = site / f"{name}-{version}.dist-info"
    info.mkdir()
    told = f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n"
    (info / "METADATA").write_text(told, "utf-8")
    (info / "RECORD").write_text("small/__init__.py,,\n", "utf-8")
    (folder / version / ".venv" / "pyvenv.cfg").write_text("version = 3.12.1\n", "utf-8")
    return folder / version


@pytest.fixture
def both(tmp_path: Path) -> Iterator[Check]:
    """Two versions of a package: one has ``older``, the other ``newer``, both have ``echo``."""
    for version, name in (("1.0", "older"), ("2.0", "newer")):
        text = f"def echo(text):\n    pass\n\n\ndef {name}():\n    pass\n"
        stowed(tmp_path, small(tmp_path, version, text), ("small",))
    with runtime_at(tmp_path) as runtime:
        yield checker(runtime, "python")


@pytest.mark.parametrize("form", LOCKS)
def test_every_form_of_lock_file_is_known_by_its_text(both: Check, form: str) -> None:
    answer = both("import small\nsmall.ehco('x')\n", lockfile=LOCKS[form])
    assert [each["suggestions"][0] for each in answer["results"]] == ["small.echo"]
    assert answer["packages"] == {"small": "1.0"}


def test_a_name_of_another_stowed_version_is_told(both: Check) -> None:
    def said(name: str, version: str) -> str:
        answer = both(f"import small\nsmall.{name}()\n", versions={"small": version})
        return " ".join(each["message"] for each in answer["results"])

    assert "removed in or before 2.0: small 1.0 has it" in said("older", "2.0")
    assert said("newer", "1.0").endswith("; small 2.0 has it.")
    assert "has it" not in said("neither", "1.0")
    assert not said("older", "1.0")


def test_a_package_of_another_language_with_the_name_does_not_hide_what_is_stowed(
    tmp_path: Path,
) -> None:
    stowed(tmp_path, small(tmp_path, "1.0", "def echo(text):\n    pass\n", "boats"), ("boats",))
    root = tmp_path / "project"
    (root / "node_modules" / "boats").mkdir(parents=True)
    told = json.dumps({"name": "boats", "version": "3.0.0"})
    (root / "node_modules" / "boats" / "package.json").write_text(told, "utf-8")
    (root / "package.json").write_text('{"dependencies": {"boats": "3"}}', "utf-8")
    (root / "pyproject.toml").write_text('[project]\ndependencies = ["boats"]\n', "utf-8")
    (root / "uv.lock").write_text(LOCKS["uv"].replace("small", "boats"), "utf-8")
    with runtime_at(tmp_path, root) as runtime:
        answer = checker(runtime, "python")("import small\nsmall.ehco('x')\n", root=str(root))
    assert [each["suggestions"][0] for each in answer["results"]] == ["small.echo"]
