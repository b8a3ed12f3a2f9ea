"""What people ask at a terminal: items and pages, differences, what is wrong with their code."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from docstow.cli import main
from docstow.runtime import SAMPLE
from servers.docs_rs import DocsRs

WRONG = "use stowage::Hold;\n\nfn main() {\n    let hold = Hold::nw(3.0, 2.0, 1.0);\n}\n"
RIGHT = "use stowage::Hold;\n\nfn main() {\n    let hold = Hold::new(3.0, 2.0, 1.0);\n}\n"


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """An empty folder to work in, with a store and cache of its own, and a docs.rs."""
    monkeypatch.setenv("DOCSTOW_STORE", str(tmp_path / "store"))
    monkeypatch.setenv("DOCSTOW_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("DOCSTOW_UPSTREAM_INTERVAL_S", "0")
    crate = tmp_path / "crates" / "stowage" / "0.1.0"
    crate.mkdir(parents=True)
    shutil.copy(SAMPLE, crate / "rustdoc.json.zst")
    work = tmp_path / "work"
    work.mkdir()
    monkeypatch.chdir(work)
    with DocsRs(tmp_path / "crates") as upstream:
        monkeypatch.setenv("DOCSTOW_DOCS_RS_URL", upstream.url)
        monkeypatch.setenv("DOCSTOW_CRATES_INDEX_URL", upstream.index_url)
        yield work


def test_a_search_finds_items_and_pages(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (place / "guide.md").write_text(
        "# Loading\n\nPut every piece into the hold by hand.\n", "utf-8"
    )
    assert main(["ingest", "folder", ".", "--title", "Harbour"]) == 0
    capsys.readouterr()
    assert main(["search", "put all pieces into the hold", "--top-k", "8"]) == 0
    out = capsys.readouterr().out
    assert "stowage::Hold::stow (stowage (rust) 0.1.0)" in out
    assert "2. Loading (Harbour" in out
    assert "every piece into the hold" in out


def test_an_item_and_a_page_are_shown_whole(
    place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["show", "stowage::Hold::stow@0.1.0"]) == 0
    assert "pub fn stow<T, S>(&mut self, cargo: &[T]" in capsys.readouterr().out
    assert main(["show", "stowage::Hold::stew"]) == 1
    assert "stowage::Hold::stow" in capsys.readouterr().err
    (place / "guide.md").write_text("# Loading\n\nBy hand.\n", "utf-8")
    assert main(["ingest", "folder", ".", "--title", "Harbour"]) == 0
    assert main(["show", (place / "guide.md").as_uri()]) == 0
    assert "# Loading\n\nBy hand.\n" in capsys.readouterr().out


def test_a_difference_has_its_verdict_first(
    place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["diff", "stowage@0.1.0", "0.1.0"]) == 0
    first, verdict, *_ = capsys.readouterr().out.splitlines()
    assert first == "stowage 0.1.0 → 0.1.0"
    assert "same version" in verdict


def test_wrong_code_fails_at_its_place(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (place / "wrong.rs").write_text(WRONG, "utf-8")
    (place / "right.rs").write_text(RIGHT, "utf-8")
    assert main(["verify", "right.rs"]) == 0
    assert capsys.readouterr().out == ""
    assert main(["verify", "right.rs", "wrong.rs"]) == 1
    out, err = capsys.readouterr()
    assert out.startswith("wrong.rs:4:16: unknown: ")
    assert out.rstrip().endswith("did you mean stowage::Hold::new?")
    assert "wrong.rs: 2 of 2 names judged;" in err
    (place / "open.rs").write_text("use nowhere_at_all::Thing;\n" + RIGHT, "utf-8")
    assert main(["verify", "open.rs"]) == 0
    told = "2 of 3 names judged; of the others no version of its package is at hand (1);"
    assert told in capsys.readouterr().err


def test_findings_for_machines(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (place / "wrong.rs").write_text(WRONG, "utf-8")
    assert main(["verify", "wrong.rs", "--format", "json"]) == 1
    told = json.loads(capsys.readouterr().out)
    assert (told["file"], told["line"], told["name"]) == ("wrong.rs", 4, "stowage::Hold::nw")
    assert main(["verify", "wrong.rs", "--format", "sarif"]) == 1
    (run,) = json.loads(capsys.readouterr().out)["runs"]
    (result,) = run["results"]
    assert result["level"] == "error"
    location = result["locations"][0]["physicalLocation"]
    assert location["artifactLocation"]["uri"] == "wrong.rs"
    assert location["region"] == {"startLine": 4, "startColumn": 16}


def test_a_misspelt_name_has_its_line_as_it_should_be(
    place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code = RIGHT.replace("}\n", "    hold.stow_in_batches_of();\n    hold.remainng();\n}\n")
    (place / "wrong.rs").write_text(code, "utf-8")
    assert main(["verify", "wrong.rs", "--format", "json"]) == 1
    told = [json.loads(each) for each in capsys.readouterr().out.splitlines()]
    assert [each.get("patch") for each in told] == [None, "    hold.remaining();"]
    assert main(["verify", "wrong.rs"]) == 1
    assert capsys.readouterr().out.endswith("?\n    hold.remaining();\n")
    assert main(["verify", "wrong.rs", "--format", "sarif"]) == 1
    (run,) = json.loads(capsys.readouterr().out)["runs"]
    (fix,) = [fix for each in run["results"] for fix in each.get("fixes", ())]
    (change,) = fix["artifactChanges"][0]["replacements"]
    assert change["deletedRegion"] == {
        "startLine": 6,
        "startColumn": 1,
        "endLine": 6,
        "endColumn": len("    hold.remainng();") + 1,
    }
    assert change["insertedContent"] == {"text": "    hold.remaining();"}


@pytest.mark.parametrize("name", ["notes.txt", "absent.py"])
def test_what_cannot_be_checked_is_said(
    place: Path, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (place / "notes.txt").write_text("x", "utf-8")
    assert main(["verify", name]) == 1
    assert name in capsys.readouterr().err
