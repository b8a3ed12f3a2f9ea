"""The action for code hosts: its step runs ``docstow verify`` on a repository and writes SARIF."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from docstow.runtime import SAMPLE
from docstow.server.command_line import parse
from servers.docs_rs import DocsRs

REPOSITORY = Path(__file__).parents[2]
ACTION: dict[str, Any] = yaml.safe_load((REPOSITORY / "action.yml").read_text("utf-8"))
WRONG = "use stowage::Hold;\n\nfn load(hold: &Hold) {\n    hold.remainng();\n}\n"
RIGHT = WRONG.replace("remainng", "remaining")
LOCK = """version = 4

[[package]]
name = "ship"
version = "0.1.0"
dependencies = ["stowage"]

[[package]]
name = "stowage"
version = "0.1.0"
source = "registry+https://github.com/rust-lang/crates.io-index"
"""

pytestmark = pytest.mark.skipif(
    sys.platform == "win32" or not shutil.which("git") or not shutil.which("bash"),
    reason="needs git and bash",
)


def step(name: str) -> dict[str, Any]:
    (found,) = (each for each in ACTION["runs"]["steps"] if each.get("name") == name)
    return dict(found)


def environment(given: Mapping[str, str]) -> dict[str, str]:
    """The variables of the step ``Verify``, as a runner sets them from inputs and defaults."""
    inputs = {name: each["default"] for name, each in ACTION["inputs"].items()} | dict(given)
    made = {}
    for name, value in step("Verify")["env"].items():
        plain = re.fullmatch(r"\$\{\{ inputs\.([\w-]+) \}\}", value)
        made[name] = inputs[plain[1]] if plain else ""
    return made


@pytest.fixture
def work(tmp_path: Path) -> Iterator[tuple[Path, dict[str, str]]]:
    """A repository of one commit with a right file, and what a runner has in its environment."""
    crate = tmp_path / "crates" / "stowage" / "0.1.0"
    crate.mkdir(parents=True)
    shutil.copy(SAMPLE, crate / "rustdoc.json.zst")
    repository = tmp_path / "repository"
    repository.mkdir()
    git(repository, "init", "--quiet")
    commit(repository, "Cargo.lock", LOCK)
    commit(repository, "right.rs", RIGHT)
    programs = Path(sys.executable).parent
    with DocsRs(tmp_path / "crates") as upstream:
        yield (
            repository,
            {
                **os.environ,
                "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}",
                "GITHUB_ACTION_PATH": str(REPOSITORY),
                "DOCSTOW_STORE": str(tmp_path / "store"),
                "DOCSTOW_CACHE": str(tmp_path / "cache"),
                "DOCSTOW_DOCS_RS_URL": upstream.url,
                "DOCSTOW_CRATES_INDEX_URL": upstream.index_url,
                "DOCSTOW_UPSTREAM_INTERVAL_S": "0",
            },
        )


def git(folder: Path, *arguments: str) -> str:
    who = ("-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false")
    told = subprocess.run(
        ["git", *who, *arguments], cwd=folder, check=True, capture_output=True, text=True
    )
    return told.stdout.strip()


def commit(folder: Path, name: str, code: str) -> str:
    (folder / name).write_text(code, "utf-8")
    git(folder, "add", name)
    git(folder, "commit", "--quiet", "-m", name)
    return git(folder, "rev-parse", "HEAD")


def verify(work: tuple[Path, dict[str, str]], base: str = "", **given: str) -> tuple[int, set[str]]:
    """Run the step; return its status, and the files in which something is wrong."""
    folder, runner = work
    command = step("Verify")["run"]
    ended = subprocess.run(
        ["bash", "-e", "-c", command],
        cwd=folder,
        env={**runner, **environment(given), "BASE": base},
        check=False,
    )
    told = json.loads((folder / ACTION["inputs"]["sarif"]["default"]).read_text("utf-8"))
    assert told["version"] == "2.1.0"
    places = (
        place["physicalLocation"]["artifactLocation"]["uri"]
        for run in told["runs"]
        for each in run["results"]
        for place in each["locations"]
    )
    return ended.returncode, set(places)


def test_wrong_code_fails_and_is_told_as_sarif(work: tuple[Path, dict[str, str]]) -> None:
    assert verify(work) == (0, set())
    commit(work[0], "wrong.rs", WRONG)
    assert verify(work) == (1, {"wrong.rs"})
    assert verify(work, fail="false") == (0, {"wrong.rs"})
    assert verify(work, files="*.py\n") == (0, set())


def test_a_pull_request_has_its_own_files_checked(work: tuple[Path, dict[str, str]]) -> None:
    folder, _ = work
    git(folder, "remote", "add", "origin", str(folder))
    base = commit(folder, "wrong.rs", WRONG)
    commit(folder, "more.rs", RIGHT)
    assert verify(work, base) == (0, set())
    commit(folder, "with space.rs", WRONG)
    assert verify(work, base) == (1, {"with space.rs"})


def test_it_says_what_a_runner_needs() -> None:
    assert ACTION["runs"]["using"] == "composite"
    assert all(each["description"] and "default" in each for each in ACTION["inputs"].values())
    for each in ACTION["runs"]["steps"]:
        assert ("uses" in each) != ("run" in each and each["shell"] == "bash")
        # What others choose is passed in variables, never put into a command.
        assert "${{" not in each.get("run", "")
        used = re.findall(r"inputs\.([\w-]+)", json.dumps(each))
        assert set(used) <= set(ACTION["inputs"])


def test_the_hook_runs_a_command_that_there_is() -> None:
    (hook,) = yaml.safe_load((REPOSITORY / ".pre-commit-hooks.yaml").read_text("utf-8"))
    program, *arguments = hook["entry"].split()
    assert program == "docstow"
    asked = parse([*arguments, "a.py", "b.rs"])
    assert (asked.command, [each.name for each in asked.files]) == ("verify", ["a.py", "b.rs"])
