"""The facts of modules are stored for the next process, and nothing stored can do harm."""

from __future__ import annotations

import ast
import os
import pickle
import sqlite3
import threading
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
import zstandard

from docstow.core.errors import UnreadableInput
from docstow.languages.python import source, stored_facts
from docstow.languages.python.cython_sources import python_of
from docstow.languages.python.source import read_module
from docstow.languages.python.stored_facts import StoredFacts

MODULES = {each.stem: each.read_bytes() for each in Path(os.__file__).parent.glob("*.py")}
BODY = MODULES["dataclasses"]


def forbid(monkeypatch: pytest.MonkeyPatch) -> None:
    def read(*_: object, **__: object) -> None:
        raise AssertionError("it is stored")

    monkeypatch.setattr(stored_facts, "read_module", read)


def test_facts_are_the_same_when_they_are_loaded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    some = ("dataclasses", "typing", "enum", "asyncore", "logging", "argparse", "socket")
    names = [each for each in some if each in MODULES]
    made = {each: read_module(MODULES[each], each, package=False) for each in names}
    for each in names:
        assert StoredFacts(tmp_path).read(MODULES[each], each, package=False) == made[each]
    forbid(monkeypatch)
    for each in names:
        assert StoredFacts(tmp_path).read(MODULES[each], each, package=False) == made[each]


def test_facts_are_of_the_file_and_of_how_it_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    body = b"import sys\nfrom . import a\nif sys.version_info >= (3, 12):\n    new = 1\n"
    ways = [
        (body, "x.y", False, None),
        (body, "x.y", True, None),
        (body, "x.z", False, None),
        (body, "x.y", False, (3, 11)),
        (body, "x.y", False, (3, 12)),
        (body + b"more = 1\n", "x.y", False, None),
    ]

    def read(body: bytes, name: str, package: bool, version: tuple[int, int] | None) -> object:
        return StoredFacts(tmp_path).read(body, name, package=package, version=version)

    for each in (*ways, *ways):
        assert read(*each) == read_module(each[0], each[1], package=each[2], version=each[3])
    monkeypatch.setattr(stored_facts, "_reader", lambda: "the next release")
    forbid(monkeypatch)
    with pytest.raises(AssertionError):
        read(*ways[0])


def test_what_is_stored_is_of_all_the_code_that_reads() -> None:
    """An import that is not covered would leave facts as they were after a release."""
    folder = Path(source.__file__).parent
    imported = {
        each.module
        for file in folder.glob("*.py")
        for each in ast.walk(ast.parse(file.read_text("utf-8")))
        if isinstance(each, ast.ImportFrom) and each.module and each.module.startswith("docstow")
    }
    covered = {"docstow.languages.shared.surface", "docstow.text.python_ast"}
    own = {each for each in imported if each.startswith(source.__name__)}
    assert imported - own - covered == {"docstow.core.errors", "docstow.core.patterns"}


def test_exports_are_those_of_the_facts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stored = StoredFacts(tmp_path)
    bodies = {**MODULES, "none": b"a = 1\n", "empty": b"__all__ = []\n"}
    names = ("dataclasses", "typing", "none", "empty")
    expected = {each: read_module(bodies[each], each, package=False).exports for each in names}
    assert expected["empty"] == () != expected["none"] is None
    first = {each: stored.exports(bodies[each], each, package=False) for each in names}
    forbid(monkeypatch)
    monkeypatch.setattr(StoredFacts, "_load", lambda *_: None)
    again = {each: stored.exports(bodies[each], each, package=False) for each in names}
    assert expected == first == again


def test_the_python_of_cython_is_stored_while_nothing_changes_that_it_includes(
    tmp_path: Path,
) -> None:
    texts = {"waves.pxi": "def surf(height): ...\n"}
    source = 'include "waves.pxi"\ninclude "gone.pxi"\ndef swim(): ...\n'
    made: list[str] = []

    def translate(included: Callable[[str], str]) -> str:
        made.append(python_of(source, included))
        return made[-1]

    def translated(text: str = source) -> str:
        stored = StoredFacts(tmp_path)
        return stored.translated(text, "sea", lambda name: texts.get(name, ""), translate)

    first = translated()
    assert "def surf(height)" in first
    assert (translated(), len(made)) == (first, 1)
    texts["waves.pxi"] = "def surf(board): ...\n"
    assert "def surf(board)" in translated()
    texts["gone.pxi"] = "def dive(): ...\n"
    assert "def dive()" in translated()
    assert (translated(), len(made)) == (made[2], 3)
    translated(f"{source}\n")
    assert len(made) == 4


def test_on_a_full_disk_files_are_read_each_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        stored_facts, "_SCHEMA", f"PRAGMA max_page_count = 3; {stored_facts._SCHEMA}"
    )
    expected = read_module(BODY, "dataclasses", package=False)
    for _ in range(2):
        assert StoredFacts(tmp_path).read(BODY, "dataclasses", package=False) == expected
    with closing(sqlite3.connect(tmp_path / "python-facts.sqlite")) as stored:
        assert stored.execute("SELECT count(*) FROM facts").fetchone() == (0,)


def test_what_cannot_be_parsed_is_told_each_time(tmp_path: Path) -> None:
    for _ in range(2):
        with pytest.raises(UnreadableInput, match="x cannot be parsed in line 1"):
            StoredFacts(tmp_path).read(b"def (:\n", "x", package=False)


def test_a_file_that_is_damaged_is_made_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = StoredFacts(tmp_path).read(BODY, "x", package=False)
    (stored,) = tmp_path.iterdir()
    assert stored.stat().st_mode & 0o077 == 0
    stored.write_bytes(b"no table of SQLite" * 1000)
    for _ in range(2):
        assert StoredFacts(tmp_path).read(BODY, "x", package=False) == made
    forbid(monkeypatch)
    assert StoredFacts(tmp_path).read(BODY, "x", package=False) == made


def test_without_a_folder_files_are_read_each_time(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    read = StoredFacts(tmp_path / "file" / "folder").read
    assert read(BODY, "x", package=False) == read_module(BODY, "x", package=False)


class _Harmful:
    def __reduce__(self) -> tuple[object, ...]:
        return os.mkdir, (os.environ["DOCSTOW_HARM"],)


@pytest.mark.parametrize(
    "pickled", [_Harmful(), Path(), {"names": {}}, b"", None], ids=lambda each: type(each).__name__
)
def test_of_what_is_stored_nothing_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, pickled: object
) -> None:
    monkeypatch.setenv("DOCSTOW_HARM", str(tmp_path / "harm"))
    made = StoredFacts(tmp_path).read(BODY, "x", package=False)
    body = zstandard.compress(pickle.dumps(pickled)) if pickled is not None else b"no pickle"
    (stored,) = tmp_path.iterdir()
    with closing(sqlite3.connect(stored)) as table, table:
        assert table.execute("UPDATE facts SET facts = ?", [body]).rowcount == 1
    assert StoredFacts(tmp_path).read(BODY, "x", package=False) == made
    assert not (tmp_path / "harm").exists()


def test_the_oldest_are_dropped_where_there_are_too_many(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stored_facts, "_MOST_STORED", 200_000)
    kept = StoredFacts(tmp_path)
    for count in range(60):
        kept.read(BODY, f"x{count}", package=False)
        assert next(tmp_path.iterdir()).stat().st_size <= 300_000
    forbid(monkeypatch)
    kept.read(BODY, "x59", package=False)
    with pytest.raises(AssertionError):
        kept.read(BODY, "x0", package=False)


def test_many_may_read_and_store_at_once(tmp_path: Path) -> None:
    names = ["dataclasses", "enum", "typing"] * 4
    found: list[bool] = []

    def read(name: str) -> None:
        made = StoredFacts(tmp_path).read(MODULES[name], name, package=False)
        found.append(made == read_module(MODULES[name], name, package=False))

    threads = [threading.Thread(target=read, args=(each,)) for each in names]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert found == [True] * len(names)
