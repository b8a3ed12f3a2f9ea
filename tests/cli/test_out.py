"""JSON for machines, tables and colour on a terminal, plain lines in a pipe."""

from __future__ import annotations

import json
import logging
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from docstow.cli import main
from docstow.cli.out import wrap_text


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name, value in {"STORE": "store", "CACHE": "cache", "OFFLINE": "true"}.items():
        monkeypatch.setenv(f"DOCSTOW_{name}", value)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "moor.md").write_text("# Mooring\n\nFour lines hold a boat.\n")
    (tmp_path / "wrong.rs").write_text("use stowage::Hold;\nfn f() { Hold::nothing(); }\n")
    return tmp_path


def test_every_command_prints_json(store: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def told(*words: str, status: int = 0) -> list[Any]:
        assert main([*words, "--json"]) == status, capsys.readouterr().err
        return [json.loads(line) for line in capsys.readouterr().out.splitlines()]

    (synced,) = told("ingest", "folder", "docs", "--title", "Harbour")
    assert (synced["kind"], synced["job"]["counts"]["documents"]) == ("folder", 1)
    ((source,),) = told("sources", "list")
    assert source["source_id"] == synced["source_id"]
    ((job,),) = told("jobs", "list")
    assert (job["id"], job["state"]) == (synced["job"]["id"], "success")
    (found,) = told("search", "boat", "--top-k", "1")
    assert found["results"][0]["title"] == "Mooring"
    (found,) = told("search", "boat", "--source", "Harbour")
    assert "Four lines" in found["results"][0]["snippet"]
    (shown,) = told("show", "stowage::Hold")
    assert "Hold" in json.dumps(shown)
    first, *changes = told("diff", "stowage@0.1.0", "0.1.0")
    assert (first["answered"], changes) == ("0.1.0", [])
    (wrong,) = told("verify", "wrong.rs", status=1)
    assert (wrong["status"], wrong["line"]) == ("unknown", 2)
    ((card, *_),) = told("store", "list")
    assert card["source"]
    assert told("store", "size")[0]["sources"] == 2
    (written,) = told("export", "stowage", "--format", "llms")
    assert Path(written["into"]).is_dir()
    (bundle,) = told("export-bundle", "--all", "all.docstow")
    imported = told("import-bundle", "all.docstow", "--sha256", bundle["sha256"])
    assert {each["failed"] for each in imported} == {False}
    (token,) = told("token", "new", "ci")
    assert token["entry"].startswith("ci:read:")
    (entry,) = told("connect", "cursor")
    assert entry["file"].endswith("mcp.json")
    (deleted,) = told("sources", "delete", "Harbour")
    assert deleted["deleted"] == synced["source_id"]


def test_words_stay_whole_and_code_stays_as_it_is() -> None:
    code = "```rust\nlet a_long_line_of_code = mutex.lock();\n```"
    text = f"- **lock**: takes the lock of a mutex\n{code}"
    assert wrap_text(text, 20).split("\n") == [
        *("- **lock**: takes", "  the lock of a", "  mutex"),
        *("```rust", "let a_long_line_of_code = mutex.lock();", "```"),
    ]
    assert wrap_text("https://docs.example/a-long-address", 20) == (
        "https://docs.example/a-long-address"
    )


def test_a_process_ends_with_all_that_it_has_to_say(store: Path) -> None:
    program = "import atexit, docstow.cli; atexit.register(print, 'done'); docstow.cli.run()"
    ended = subprocess.run(
        [sys.executable, "-c", program, "scan", "nowhere"],
        capture_output=True,
        text=True,
        check=False,
    )
    told = subprocess.run(
        [sys.executable, "-c", program, "search", "hold", "--top-k", "1"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert told.returncode == 0, told.stderr
    assert told.stdout.startswith("1. ")
    assert told.stdout.endswith("done\n")
    assert "leaked" not in told.stderr
    assert (ended.returncode, ended.stdout) == (1, "done\n"), ended


@pytest.mark.parametrize(("level", "told"), [("", ["late"]), ("info", ["begun", "late"])])
def test_a_command_logs_warnings_alone_unless_it_is_told(
    store: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    level: str,
    told: list[str],
) -> None:
    root = logging.getLogger()
    monkeypatch.setattr(root, "handlers", [])
    monkeypatch.setattr(root, "level", root.level)
    if level:
        monkeypatch.setenv("DOCSTOW_LOG_LEVEL", level)
    assert main(["config", "show"]) == 0
    capsys.readouterr()
    logging.getLogger("docstow.ingest").info("begun")
    logging.getLogger("docstow.ingest").warning("late")
    lines = capsys.readouterr().err.splitlines()
    assert [line.rpartition(" ")[2] for line in lines] == told


def _on_terminal(*words: str, **environment: str) -> str:
    import pty

    main_side, side = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "docstow", *words],
        env={**os.environ, "TERM": "xterm-256color", "COLUMNS": "120", **environment},
        stdout=side,
        stderr=subprocess.PIPE,
    )
    os.close(side)
    seen = b""
    with process, os.fdopen(main_side, "rb", buffering=0) as screen:
        try:
            while piece := screen.read(4096):
                seen += piece
        except OSError:
            pass  # nobody holds the terminal any more
    return seen.decode()


@pytest.mark.skipif(os.name == "nt", reason="POSIX terminals")
def test_a_terminal_has_tables_and_colour(store: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert _on_terminal("jobs", "list").strip() == "There are none."
    assert main(["ingest", "folder", "docs"]) == 0
    shown = _on_terminal("jobs", "list")
    assert "begun" in shown
    assert "\x1b[32msuccess" in shown
    plain = _on_terminal("jobs", "list", NO_COLOR="1")
    assert "begun" in plain
    assert "\x1b[3" not in plain
    capsys.readouterr()
    assert main(["jobs", "list"]) == 0
    piped = capsys.readouterr().out
    assert "\x1b" not in piped
    assert "begun" not in piped
    assert len(piped.splitlines()) == 1
