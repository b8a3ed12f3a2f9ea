"""doctor, config show, scan and completion, as they are asked from a shell."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from docstow.cli import main
from docstow.core.settings import FIELDS
from docstow.server.http import listen


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name, value in {"STORE": "store", "CACHE": "cache", "OFFLINE": "true", "PORT": "0"}.items():
        monkeypatch.setenv(f"DOCSTOW_{name}", value)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def told(capsys: pytest.CaptureFixture[str], *words: str, status: int = 0) -> Any:
    capsys.readouterr()
    assert main([*words, "--json"]) == status, capsys.readouterr().err
    return json.loads(capsys.readouterr().out)


def test_the_doctor_finds_nothing_wrong(store: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = {each["check"]: each for each in told(capsys, "doctor")}
    assert found["store"]["found"] == "store keeps the conditions of writes"
    assert {found[each]["state"] for each in ("store", "clock", "model", "port")} == {"ok"}
    assert found["engines"]["state"] == "warning"
    assert "engines install" in found["engines"]["advice"]
    assert all(each["advice"] for each in found.values() if each["state"] == "fault")
    assert not list((store / "store" / "probes").glob("*"))


def test_the_doctor_says_what_is_wrong_and_what_to_do(
    store: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DOCSTOW_MODEL", "./absent")
    with listen("127.0.0.1", 0) as taken:
        monkeypatch.setenv("DOCSTOW_PORT", str(taken.getsockname()[1]))
        found = {each["check"]: each for each in told(capsys, "doctor", status=1)}
    assert found["model"]["state"] == "fault"
    assert found["model"]["advice"]
    assert (found["port"]["state"], "--port" in found["port"]["advice"]) == ("warning", True)


def test_config_tells_values_and_origins_and_no_secret(
    store: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DOCSTOW_GITHUB_TOKEN", "not-for-anyone")
    (store / "docstow.toml").write_text("rate = 5\nworkers = 3\n")
    words = ("config", "show", "--config", "docstow.toml", "--workers", "4")
    shown = {each["name"]: each for each in told(capsys, *words)}
    assert list(shown) == list(FIELDS)
    assert (shown["workers"]["value"], shown["workers"]["from"]) == (4, "--workers")
    assert (shown["rate"]["value"], shown["rate"]["from"]) == (5, "docstow.toml")
    assert shown["github_token"] == {
        "name": "github_token",
        "value": "***",
        "from": "DOCSTOW_GITHUB_TOKEN",
    }
    assert shown["s3_region"]["from"] == "default"
    assert main([*words]) == 0
    assert "not-for-anyone" not in capsys.readouterr().out


def test_scan_lists_the_packages_of_a_project(
    store: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (store / "Cargo.toml").write_text(
        '[package]\nname = "shop"\nversion = "0.1.0"\n\n[dependencies]\nserde = "1"\n'
    )
    (store / "Cargo.lock").write_text(
        'version = 4\n\n[[package]]\nname = "itoa"\nversion = "1.0.1"\nsource = "registry+r"\n\n'
        '[[package]]\nname = "serde"\nversion = "1.0.219"\nsource = "registry+r"\n\n'
        '[[package]]\nname = "shop"\nversion = "0.1.0"\ndependencies = ["serde"]\n'
    )
    found = told(capsys, "scan", ".", "serde", "--all")
    row = {"name": "serde", "version": "1.0.219", "language": "rust", "state": "locked"}
    assert found == [row]


@pytest.mark.parametrize(
    ("words", "there", "missing"),
    [
        (["ser"], ["serve"], ["search", "complete"]),
        (["comp"], ["completion"], ["complete"]),
        (["store", ""], ["sweep", "list"], ["serve"]),
        (["ingest", "crate", "tok"], ["tokio"], ["serde"]),
        (["ingest", "package", "python:reque"], ["python:requests"], []),
        (["call", "search_"], ["search_items", "search_docs"], []),
        (["sources", "show", "Har"], ["Harbour"], []),
        (["search", "x", "--source", ""], ["Harbour"], []),
        (["export", "stowage", "--format", ""], ["jsonl", "llms"], []),
        (["connect", "cl"], ["claude-code", "claude-desktop"], []),
        (["show", "--lang"], ["--language"], []),
        (["completion", ""], ["bash", "fish", "zsh"], []),
    ],
)
def test_words_are_completed(
    stowed: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    words: list[str],
    there: list[str],
    missing: list[str],
) -> None:
    monkeypatch.chdir(stowed)
    monkeypatch.setenv("DOCSTOW_STORE", "store")
    monkeypatch.setenv("DOCSTOW_CACHE", "cache")
    capsys.readouterr()
    assert main(["complete", "--", *words]) == 0
    found = capsys.readouterr().out.splitlines()
    assert set(there) <= set(found)
    assert not set(missing) & set(found)


@pytest.fixture(scope="module")
def stowed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("stowed")
    (place / "docs").mkdir()
    (place / "docs" / "a.md").write_text("# A page\n\nIts text.\n")
    environment = {**os.environ, "DOCSTOW_STORE": "store", "DOCSTOW_CACHE": "cache"}
    words = ("ingest", "folder", "docs", "--title", "Harbour")
    program = [sys.executable, "-m", "docstow"]
    subprocess.run([*program, *words], cwd=place, env=environment, check=True, timeout=120)
    return place


#: How each shell is begun without anybody's files, and asked what may stand after a line's words.
SHELLS = {
    "bash": (
        ["--norc", "-c"],
        (
            'docstow() {{ {python} -m docstow "$@"; }}\n{script}\n'
            "COMP_WORDS=(docstow sources show Har) COMP_CWORD=3; _docstow; echo ${{COMPREPLY[@]}}"
        ),
    ),
    # What zsh has in completion alone is given by hand.
    "zsh": (
        ["-f", "-c"],
        (
            'docstow() {{ {python} -m docstow "$@"; }}\n'
            'compdef() {{ }}\ncompadd() {{ shift; print -l -- "$@" }}\n_files() {{ print files }}\n'
            "{script}\nwords=(docstow sources show Har) CURRENT=4; _docstow"
        ),
    ),
    "fish": (
        ["--no-config", "-c"],
        (
            "function docstow; {python} -m docstow $argv; end\n{script}\n"
            "complete -C 'docstow sources show Har'"
        ),
    ),
}


@pytest.mark.parametrize("shell", SHELLS)
def test_shells_complete_by_their_script(
    stowed: Path, capsys: pytest.CaptureFixture[str], shell: str
) -> None:
    if not (program := shutil.which(shell)):
        pytest.skip(f"{shell} is not on this machine")
    assert main(["completion", shell]) == 0
    script = capsys.readouterr().out
    begin, asked = SHELLS[shell]
    subprocess.run([program, "-n"], input=script, text=True, check=True)
    done = subprocess.run(
        [program, *begin, asked.format(python=sys.executable, script=script)],
        cwd=stowed,
        env={**os.environ, "DOCSTOW_STORE": "store", "DOCSTOW_CACHE": "cache"},
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    assert done.stdout == "Harbour\n", done.stderr
