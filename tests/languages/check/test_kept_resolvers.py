"""A resolver is kept with the scan, and knows what changed since."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from check_environment import scanned
from docstow.languages.python import check as python_code
from docstow.languages.python.resolver import CHECKING as PYTHON
from docstow.languages.python.resolver import PythonResolver
from docstow.languages.shared.boundary import Boundary
from docstow.languages.shared.project import Scan
from docstow.languages.typescript import check as javascript_code
from docstow.languages.typescript.resolver import CHECKING as NODE
from docstow.languages.typescript.resolver import NodeResolver
from settled import settle

CODE = 'import { Thing } from "thing";\nThing.stop();\n'
PYTHON_CODE = "import thing\n\nthing.Thing().stop()\n"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project of both languages; each has the package in an environment of its own."""
    root = tmp_path / "project"
    folder = root / "node_modules" / "thing"
    folder.mkdir(parents=True)
    (root / "package.json").write_text(json.dumps({"dependencies": {"thing": "1.0.0"}}))
    manifest = {"name": "thing", "version": "1.0.0", "types": "index.d.ts"}
    (folder / "package.json").write_text(json.dumps(manifest))
    (folder / "index.d.ts").write_text("export declare class Thing { start(): void; }\n")
    site = python_site(root)
    described = site / "thing-1.0.0.dist-info"
    described.mkdir(parents=True)
    (root / ".venv" / "pyvenv.cfg").write_text("version = 3.12.1\n")
    (described / "METADATA").write_text("Metadata-Version: 2.1\nName: thing\nVersion: 1.0.0\n")
    (described / "RECORD").write_text("thing/__init__.py,,\nthing/parts.py,,\n")
    (site / "thing").mkdir()
    (site / "thing" / "__init__.py").write_text("from thing.parts import Thing\n")
    (site / "thing" / "parts.py").write_text("class Thing:\n    def start(self): ...\n")
    settle(root)
    return root


def python_site(root: Path) -> Path:
    return root / ".venv" / "lib" / "python3.12" / "site-packages"


def wrong(scan: Scan, code: str = CODE) -> list[str]:
    with NODE.resolver(scan) as resolver:
        found = javascript_code.verify(code, resolver).findings
    return [each.name for each in found if each.status == "unknown"]


def wrong_python(scan: Scan, code: str = PYTHON_CODE) -> list[str]:
    with PYTHON.resolver(scan) as resolver:
        found = python_code.verify(code, resolver).findings
    return [each.name for each in found if each.status == "unknown"]


def test_one_of_each_language_is_used_again_while_nothing_changed(
    project: Path, tmp_path: Path
) -> None:
    scan = scanned(project, tmp_path / "index")
    assert wrong(scan) == ["thing.Thing.stop"]
    assert wrong_python(scan) == ["thing.Thing.stop"]
    kept = dict(scan.idle)
    assert set(kept) == {NodeResolver, PythonResolver}
    assert wrong(scan) == ["thing.Thing.stop"]
    assert wrong_python(scan) == ["thing.Thing.stop"]
    assert scan.idle == kept


def test_what_is_known_of_python_packages_is_not_read_again(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scan = scanned(project, tmp_path / "index")
    paths: list[str] = []
    reads = Boundary.read

    def noted(self: Boundary, path: str | Path, *rest: Any, **named: Any) -> bytes:
        paths.append(str(path))
        return reads(self, path, *rest, **named)

    monkeypatch.setattr(Boundary, "read", noted)
    wrong_python(scan)
    assert any(each.endswith("parts.py") for each in paths)
    paths.clear()
    assert wrong_python(scan) == ["thing.Thing.stop"]
    assert paths == []


def test_a_declaration_that_is_written_anew_is_read_anew(project: Path, tmp_path: Path) -> None:
    scan = scanned(project, tmp_path / "index")
    wrong(scan)
    declarations = project / "node_modules" / "thing" / "index.d.ts"
    declarations.write_text("export declare class Thing { start(): void; stop(): void; }\n")
    assert wrong(scan) == []


def test_a_python_file_that_is_written_anew_is_read_anew(project: Path, tmp_path: Path) -> None:
    scan = scanned(project, tmp_path / "index")
    wrong_python(scan)
    (python_site(project) / "thing" / "parts.py").write_text("class Thing:\n    stop = start = 1\n")
    assert wrong_python(scan) == []


def test_a_python_module_that_is_added_is_there(project: Path, tmp_path: Path) -> None:
    scan = scanned(project, tmp_path / "index")
    code = "from thing import more\n"
    assert wrong_python(scan, code) == ["thing.more"]
    (python_site(project) / "thing" / "more.py").write_text("")
    assert wrong_python(scan, code) == []


def test_a_subclass_that_is_written_may_be_what_a_value_is(project: Path, tmp_path: Path) -> None:
    """Code that is given a value of a class may have one of a class below it."""
    place = python_site(project) / "thing" / "below.py"
    place.write_text("")
    settle(project)
    scan = scanned(project, tmp_path / "index")
    code = "import thing\n\ndef use(one: thing.Thing):\n    one.stop()\n"
    before = wrong_python(scan, code)
    place.write_text("from thing.parts import Thing\n\nclass Inner(Thing):\n    stop = 1\n")
    assert (before, wrong_python(scan, code)) == (["thing.Thing.stop"], [])


def test_what_has_changed_just_before_is_not_relied_on(project: Path, tmp_path: Path) -> None:
    """A file may change twice within one tick of its clock, and have the same size."""
    place = python_site(project) / "thing" / "parts.py"
    place.write_text("class Thing:\n    start = 1\n")
    scan = scanned(project, tmp_path / "index")
    wrong_python(scan)
    (kept,) = scan.idle.values()
    wrong_python(scan)
    assert scan.idle[PythonResolver] is not kept


def test_what_the_project_adds_meanwhile_is_there(project: Path, tmp_path: Path) -> None:
    scan = scanned(project, tmp_path / "index")
    assert wrong(scan) == ["thing.Thing.stop"]
    added = 'import "thing";\ndeclare module "thing" { interface Thing { stop(): void; } }\n'
    (project / "more.ts").write_text(added)
    assert wrong(scan) == []


def test_a_module_of_the_project_hides_one_of_python(project: Path, tmp_path: Path) -> None:
    scan = scanned(project, tmp_path / "index")
    code = "import queue\nqueue.Quue()\n"
    assert wrong_python(scan, code) == ["queue.Quue"]
    (project / "queue.py").write_text("class Quue: ...\n")
    assert wrong_python(scan, code) == []


@pytest.mark.parametrize(
    ("limits", "is_kept"),
    [
        ({"_MOST_BYTES": 10, "_MOST_NEEDED": 10}, False),
        ({"_MOST_BYTES": 10}, True),
        ({"_MOST_BYTES": 10, "_MOST_UNNEEDED": 10}, False),
        ({}, True),
    ],
)
def test_a_resolver_is_kept_that_has_read_little_or_what_is_needed(
    project: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    limits: dict[str, int],
    *,
    is_kept: bool,
) -> None:
    """The last code but one may have needed more than the last."""
    for name, most in limits.items():
        monkeypatch.setattr(f"docstow.languages.python.resolver.{name}", most)
    scan = scanned(project, tmp_path / "index")
    wrong_python(scan)
    (kept,) = scan.idle.values()
    wrong_python(scan, "x = 1\n")
    wrong_python(scan)
    assert (scan.idle[PythonResolver] is kept) == is_kept


@pytest.mark.parametrize("check", [wrong, wrong_python])
def test_calls_at_the_same_time_do_not_share_one(project: Path, tmp_path: Path, check: Any) -> None:
    scan = scanned(project, tmp_path / "index")
    with ThreadPoolExecutor(16) as pool:
        answers = list(pool.map(lambda _: check(scan), range(64)))
    assert answers == [["thing.Thing.stop"]] * 64
    assert len(scan.idle) == 1
