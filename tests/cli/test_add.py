"""What ``docstow add`` takes a word for, and that it says so."""

from __future__ import annotations

from pathlib import Path

import pytest

from docstow.cli import main
from docstow.runtime import SAMPLE
from servers.docs_rs import DocsRs


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    with_store = {"STORE": "store", "CACHE": "cache", "UPSTREAM_INTERVAL_S": "0"}
    for name, value in with_store.items():
        monkeypatch.setenv(f"DOCSTOW_{name}", value)
    # Nothing outside is asked; what a word is taken for is said before.
    monkeypatch.setenv("DOCSTOW_OFFLINE", "true")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "a.md").write_text("# A page\n\nIts text.\n")
    return tmp_path


@pytest.mark.parametrize(
    ("word", "taken"),
    [
        ("tokio", "a crate: docstow ingest crate tokio"),
        ("serde@1.0.219", "a crate: docstow ingest crate serde@1.0.219"),
        ("https://docs.rs/axum/0.8.4/axum/", "a crate: docstow ingest crate axum@0.8.4"),
        ("https://crates.io/crates/axum", "a crate: docstow ingest crate axum"),
        ("requests@2", "a package of Python: docstow ingest package python:requests@2"),
        ("@types/node", "a package of Node: docstow ingest package npm:@types/node"),
        ("npm:left-pad@1", "a package of Node: docstow ingest package npm:left-pad@1"),
        ("rust:rand", "a crate: docstow ingest crate rand"),
        ("kubernetes", "docstow ingest "),
        ("owner/repo@v1", "a repository of GitHub: docstow ingest github owner/repo@v1"),
        ("https://gitlab.com/a/b", "a repository: docstow ingest github https://gitlab.com/a/b"),
        ("https://docs.djangoproject.com/en/5.2/", "a website, known as Django: "),
        ("docs", "a folder of documentation: docstow ingest folder docs"),
    ],
)
def test_it_says_what_a_word_is_taken_for(
    store: Path, capsys: pytest.CaptureFixture[str], word: str, taken: str
) -> None:
    status = main(["add", word])
    told = capsys.readouterr().err
    assert told.startswith(f"docstow: {word} is taken for ")
    assert taken in told
    assert status == (0 if word == "docs" else 1)


def test_a_folder_is_stowed(store: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["add", "./docs"]) == 0
    assert ": 1 documents," in capsys.readouterr().out
    (store / "docs" / ".venv").mkdir()
    assert main(["add", "docs"]) == 0
    assert "or did you mean: docstow ingest project docs\n" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("word", "said"), [("./nowhere", "./nowhere is not there"), ("docs/a.md", "give its folder")]
)
def test_a_path_of_nothing_is_refused(
    store: Path, capsys: pytest.CaptureFixture[str], word: str, said: str
) -> None:
    assert main(["add", word]) == 1
    assert said in capsys.readouterr().err


def test_a_mistyped_crate_gets_the_nearest(
    store: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DOCSTOW_OFFLINE", "false")
    with DocsRs(store) as docs_rs:
        monkeypatch.setenv("DOCSTOW_DOCS_RS_URL", docs_rs.url)
        monkeypatch.setenv("DOCSTOW_CRATES_INDEX_URL", docs_rs.index_url)
        assert main(["ingest", "crate", "tokoi"]) == 1
    assert "did you mean: tokio" in capsys.readouterr().err


def test_a_mistyped_word_gets_the_nearest_where_nobody_can_be_asked(
    store: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for each in ("PYTHON_INDEX_URL", "NPM_REGISTRY_URL"):
        monkeypatch.setenv(f"DOCSTOW_{each}", "https://registry.example")
    assert main(["ingest", "rustdoc", str(SAMPLE)]) == 0
    capsys.readouterr()
    assert main(["add", "tokoi", "stowagee", "nothing-like-that-anywhere"]) == 1
    lines = capsys.readouterr().err.splitlines()
    assert [each for each in lines if "did you mean" in each] == [
        "docstow: did you mean: tokio",
        "docstow: did you mean: stowage, storage3, unstorage",
    ]
    assert sum("upstream_error: " in each for each in lines) == 3
