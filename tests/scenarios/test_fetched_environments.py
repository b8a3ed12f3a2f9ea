"""Code is checked against packages that are installed nowhere, as one environment."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from docstow.core.settings import load
from docstow.runtime import Runtime
from servers.npm import NpmServer
from servers.python_index import PythonIndexServer, sdist

BOAT = "from oars import Oar\n\n\nclass Boat:\n    def oar(self, side: str) -> Oar: ...\n"
OAR = "class Oar:\n    def {pull}(self) -> int: ...\n"
TYPES = 'import { Oar } from "oars";\nexport declare class Boat { oar(side: string): Oar; }\n'
CODE = "from boats import Boat\nBoat().oar('left').{name}()\n"
Check = Callable[..., dict[str, Any]]


@pytest.fixture
def python() -> Iterator[PythonIndexServer]:
    with PythonIndexServer() as server:
        server.add_wheel("boats", "1.0", {"boats/__init__.py": BOAT}, needs=["oars"])
        server.add_wheel("boats", "2.0", {"boats/__init__.py": BOAT}, needs=["oars"])
        for version, pull in (("1.0", "pull"), ("2.0", "draw")):
            server.add_wheel("oars", version, {"oars/__init__.py": OAR.format(pull=pull)})
        yield server


@pytest.fixture
def npm() -> Iterator[NpmServer]:
    with NpmServer() as server:
        server.publish("boats", "1.0.0", {"index.d.ts": TYPES}, dependencies={"oars": "*"})
        for version, pull in (("1.0.0", "pull"), ("2.0.0", "draw")):
            text = f"export declare class Oar {{ {pull}(): number; }}\n"
            server.publish("oars", version, {"index.d.ts": text})
        yield server


@contextlib.contextmanager
def opened(
    tmp_path: Path, python: PythonIndexServer, npm: NpmServer, **flags: str
) -> Iterator[Check]:
    nowhere = "http://127.0.0.1:1"
    given = {
        "store": str(tmp_path / "store"),
        "cache": str(tmp_path / "cache"),
        "docs_rs_url": nowhere,
        "crates_index_url": nowhere,
        "python_index_url": python.url,
        "npm_registry_url": npm.url,
        "retries": "0",
    }
    with contextlib.closing(Runtime(load(given | flags, {}))) as runtime:

        def check(code: str, language: str = "python", **arguments: Any) -> dict[str, Any]:
            arguments |= {"code": code, "language": language}
            answer = runtime.toolbox.call("verify_code", arguments).structured
            assert answer is not None
            return dict(answer)

        yield check


@pytest.fixture
def check(tmp_path: Path, python: PythonIndexServer, npm: NpmServer) -> Iterator[Check]:
    with opened(tmp_path, python, npm) as made:
        yield made


def wrong(answer: dict[str, Any]) -> list[str]:
    return [each["name"] for each in answer["results"]]


def test_what_a_call_returns_is_followed_into_another_package(check: Check) -> None:
    versions = {"boats": "1.0", "oars": "1.0"}
    assert wrong(check(CODE.format(name="pull"), versions=versions)) == []
    assert wrong(check(CODE.format(name="draw"), versions=versions)) == ["boats.Oar.draw"]


def test_a_lock_file_chooses_what_lies_beside(check: Check) -> None:
    for version, right in (("1.0", "pull"), ("2.0", "draw")):
        lock = f"boats==1.0\noars=={version}\n"
        assert wrong(check(CODE.format(name=right), lockfile=lock)) == []
        assert wrong(check(CODE.format(name="row"), lockfile=lock)) == ["boats.Oar.row"]


@pytest.fixture
def compiled(
    tmp_path: Path, python: PythonIndexServer, npm: NpmServer, engines_folder: Path
) -> Iterator[Check]:
    """Checks with TypeScript's compiler."""
    with opened(tmp_path, python, npm, engines=str(engines_folder)) as made:
        yield made


def test_node_packages_lie_together_too(compiled: Check) -> None:
    code = 'import {{ Boat }} from "boats";\nnew Boat().oar("left").{name}();\n'
    for version, right, other in (("1.0.0", "pull", "draw"), ("2.0.0", "draw", "pull")):
        lock = json.dumps(
            {
                "packages": {
                    "": {"dependencies": {"boats": "1"}},
                    "node_modules/boats": {"version": "1.0.0"},
                    "node_modules/oars": {"version": version},
                }
            }
        )
        assert wrong(compiled(code.format(name=right), "typescript", lockfile=lock)) == []
        (found,) = compiled(code.format(name=other), "typescript", lockfile=lock)["results"]
        told = found["name"], found["package"], found["version"]
        assert told == (f"Oar.{other}", "oars", version)


def test_an_alias_of_a_lock_file_is_the_package_that_it_stands_for(compiled: Check) -> None:
    lock = json.dumps(
        {
            "packages": {
                "": {"dependencies": {"ships": "npm:boats@1"}},
                "node_modules/ships": {"name": "boats", "version": "1.0.0"},
            }
        }
    )
    code = 'import { Boats, Boat } from "ships";\nnew Boat().rows();\nnew Boat().oar("left");\n'
    answer = compiled(code, "typescript", lockfile=lock)
    assert answer["packages"] == {"boats": "1.0.0"}
    assert wrong(answer) == ["ships.Boats", "Boat.rows"]
    assert answer["results"][0]["suggestions"][0] == "ships.Boat"
    assert answer["results"][1]["package"] == "boats"


def test_an_upgrade_of_a_node_project_is_tried_before_it_is_made(
    tmp_path: Path, python: PythonIndexServer, npm: NpmServer, engines_folder: Path
) -> None:
    root = tmp_path / "project"
    files = {
        "package.json": '{"dependencies": {"boats": "1", "oars": "1"}}',
        "node_modules/boats/package.json": '{"name": "boats", "version": "1.0.0"}',
        "node_modules/boats/index.d.ts": TYPES,
        "node_modules/oars/package.json": '{"name": "oars", "version": "1.0.0"}',
        "node_modules/oars/index.d.ts": "export declare class Oar { pull(): number; }\n",
    }
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    code = (
        'import { Oar } from "oars";\nimport { Boat } from "boats";\n'
        "new Oar().pull();\nnew Oar().draw();\n"
        'new Boat().oar("left").pull();\nnew Boat().oar("left").draw();\n'
    )
    flags = {"root": str(root), "engines": str(engines_folder)}
    with opened(tmp_path, python, npm, **flags) as check:
        now = check(code, "typescript", root=str(root))
        later = check(code, "typescript", root=str(root), versions={"oars": "2.0.0"})
        again = check(code, "typescript", root=str(root))
    assert now == again
    assert [(each["line"], each["name"]) for each in now["results"]] == [
        (4, "Oar.draw"),
        (6, "Oar.draw"),
    ]
    # What the project's own packages give is still of the version that they see.
    (found,) = later["results"]
    told = found["line"], found["name"], found["package"], found["version"]
    assert told == (3, "Oar.pull", "oars", "2.0.0")
    assert later["counts"]["not_checked"] == 1
    assert later["packages"] == {"oars": "2.0.0", "boats": "1.0.0"}


def test_what_is_only_imported_is_fetched_and_said(check: Check, python: PythonIndexServer) -> None:
    answer = check(CODE.format(name="row"))
    assert wrong(answer) == ["boats.Oar.row"]
    assert "the newest were fetched: boats 2.0" in answer["notice"]
    assert python.asked("boats-2.0")
    answer = check("import nowhere\nnowhere.x\n")
    assert "no Python package named nowhere" in answer["notice"]


def test_registries_are_asked_for_imports_only_where_they_may_be(
    tmp_path: Path, python: PythonIndexServer, npm: NpmServer
) -> None:
    with opened(tmp_path, python, npm, fetch_imports="false") as check:
        answer = check(CODE.format(name="row"))
        assert wrong(answer) == []
        assert 'give versions {"boats": "latest"}' in answer["notice"]
    assert not python.index.requests
    with opened(tmp_path, python, npm, offline="true") as check:
        answer = check(CODE.format(name="row"))
        assert wrong(answer) == []
        assert "the setting offline is on" in answer["notice"]
    assert not python.index.requests


def test_what_was_fetched_answers_offline(
    tmp_path: Path, python: PythonIndexServer, npm: NpmServer
) -> None:
    versions = {"boats": "1.0"}
    with opened(tmp_path, python, npm) as check:
        assert wrong(check(CODE.format(name="row"), versions=versions)) == ["boats.Oar.row"]
    with opened(tmp_path, python, npm, offline="true") as check:
        assert wrong(check(CODE.format(name="row"), versions=versions)) == ["boats.Oar.row"]


@pytest.fixture
def project(tmp_path: Path) -> str:
    """A project that has a package oars 1.0 of its own kind installed."""
    site = tmp_path / "project" / ".venv" / "lib" / "python3.12" / "site-packages"
    (site / "oars-1.0.dist-info").mkdir(parents=True)
    (site / "oars.py").write_text("def own(): ...\n", "utf-8")
    told = "Metadata-Version: 2.1\nName: oars\nVersion: 1.0\n"
    (site / "oars-1.0.dist-info" / "METADATA").write_text(told, "utf-8")
    (site / "oars-1.0.dist-info" / "RECORD").write_text("oars.py,,\n", "utf-8")
    (tmp_path / "project" / ".venv" / "pyvenv.cfg").write_text("version = 3.12.1\n", "utf-8")
    (tmp_path / "project" / "helpers.py").write_text("", "utf-8")
    return str(tmp_path / "project")


def test_a_project_is_checked_against_the_version_that_one_wants_to_upgrade_to(
    tmp_path: Path, python: PythonIndexServer, npm: NpmServer, project: str
) -> None:
    code = "import oars\noars.own()\noars.Oar().draw()\noars.Oar().pull()\n"
    with opened(tmp_path, python, npm, root=project) as check:
        assert wrong(check(code, root=project)) == ["oars.Oar", "oars.Oar"]
        there = check(code, root=project, versions={"oars": "1.0"})
        assert (wrong(there), there["packages"]) == (["oars.Oar", "oars.Oar"], {"oars": "1.0"})
        assert not python.asked("oars-1.0")
        later = check(code, root=project, versions={"oars": "2.0"})
        assert (wrong(later), later["packages"]) == (
            ["oars.own", "oars.Oar.pull"],
            {"oars": "2.0"},
        )
        absent = check(code, root=project, versions={"oars": "9.0"})
        assert wrong(absent) == []
        assert "oars 9.0 is not judged" in absent["notice"]


def test_a_project_is_asked_first(
    tmp_path: Path, python: PythonIndexServer, npm: NpmServer, project: str
) -> None:
    code = f"import helpers, oars\nhelpers.x()\noars.Oar()\n{CODE.format(name='row')}"
    with opened(tmp_path, python, npm, root=project) as check:
        answer = check(code)
    assert wrong(answer) == ["oars.Oar", "boats.Oar.row"]
    assert "not installed in the project; the newest were fetched: boats 2.0" in answer["notice"]
    assert not [each.path for each in python.index.requests if "helpers" in each.path]


def test_a_package_of_which_nothing_is_known_is_likely_another(check: Check) -> None:
    answer = check("import boats\nboats.Ship()\nboats.Crew()\n")
    assert wrong(answer) == []
    assert "likely not the package that is meant" in answer["notice"]


CHANGES = """# Changelog

## 3.0

- Removed the `speed` argument of `hoist`. Use `knots` instead.
- `lower` is gone; import it from `winches` instead.
"""


def test_what_maintainers_say_of_a_keyword_and_an_import_comes_first(
    check: Check, python: PythonIndexServer
) -> None:
    code = "def hoist(sped, knots): ...\n"
    python.add_wheel("sails", "3.0", {"sails/__init__.py": code})
    files = {"CHANGELOG.md": CHANGES, "sails/__init__.py": code}
    python.add("sails", "sails-3.0.tar.gz", sdist("sails", "3.0", files))
    called = "import sails\nsails.hoist(1, speed=2)\nfrom sails import lower\n"
    answer = check(called, versions={"sails": "3.0"})
    first = {each["name"]: each["suggestions"][0] for each in answer["results"]}
    assert first == {"sails.hoist(speed=)": "knots", "sails.lower": "winches.lower"}
    assert "use knots, as the changelog of 3.0 says" in answer["results"][0]["message"]
