"""A resolver is kept with the scan, and knows what changed since."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from check_environment import scanned
from docstow.languages.shared.project import Scan
from docstow.languages.typescript import check as javascript_code
from docstow.languages.typescript.resolver import CHECKING

CODE = 'import { Thing } from "thing";\nnew Thing().stop();\n'


@pytest.fixture
def project(tmp_path: Path) -> Path:
    root = tmp_path / "project"
    folder = root / "node_modules" / "thing"
    folder.mkdir(parents=True)
    (root / "package.json").write_text(json.dumps({"dependencies": {"thing": "1.0.0"}}))
    manifest = {"name": "thing", "version": "1.0.0", "types": "index.d.ts"}
    (folder / "package.json").write_text(json.dumps(manifest))
    (folder / "index.d.ts").write_text("export declare class Thing { start(): void; }\n")
    return root


def wrong(scan: Scan, code: str = CODE) -> list[str]:
    with CHECKING.resolver(scan) as resolver:
        found = javascript_code.verify(code, resolver).findings
    return [each.name for each in found if each.status == "unknown"]


def test_one_is_used_again_while_nothing_changed(project: Path, tmp_path: Path) -> None:
    scan = scanned(project, tmp_path / "index")
    assert wrong(scan) == ["thing.Thing.stop"]
    kept = scan.idle[0]
    assert wrong(scan) == ["thing.Thing.stop"]
    assert scan.idle == [kept]


def test_a_declaration_that_is_written_anew_is_read_anew(project: Path, tmp_path: Path) -> None:
    scan = scanned(project, tmp_path / "index")
    wrong(scan)
    declarations = project / "node_modules" / "thing" / "index.d.ts"
    declarations.write_text("export declare class Thing { start(): void; stop(): void; }\n")
    assert wrong(scan) == []


def test_what_the_project_adds_meanwhile_is_there(project: Path, tmp_path: Path) -> None:
    scan = scanned(project, tmp_path / "index")
    assert wrong(scan) == ["thing.Thing.stop"]
    added = 'import "thing";\ndeclare module "thing" { interface Thing { stop(): void; } }\n'
    (project / "more.ts").write_text(added)
    assert wrong(scan) == []


def test_calls_at_the_same_time_do_not_share_one(project: Path, tmp_path: Path) -> None:
    scan = scanned(project, tmp_path / "index")
    with ThreadPoolExecutor(16) as pool:
        answers = list(pool.map(lambda _: wrong(scan), range(64)))
    assert answers == [["thing.Thing.stop"]] * 64
    assert 1 <= len(scan.idle) <= 16
