"""The words of packages are stored for the next process, and nothing is found otherwise by it."""

from __future__ import annotations

import os
import sqlite3
import threading
from contextlib import closing
from pathlib import Path

import pytest

from docstow.languages.python import stored_words, words
from docstow.languages.python.files import PythonFiles
from docstow.languages.python.stored_words import StoredWords
from docstow.languages.python.words import Words
from docstow.languages.shared.boundary import Boundary

STANDARD = Path(os.__file__).parent
PACKAGES = ("email", "json", "logging", "unittest", "xml", "http", "asyncio")
ASKED = ("indent", "assertRaises", "getheader", "as_string", "foo", "é", "a" * 90, "create_task")


def words_of(name: str, stored: StoredWords | None, root: Path = STANDARD) -> Words:
    boundary = Boundary(root)
    files = PythonFiles(root, boundary)
    modules = [name, *(f"{name}.{each}" for each in files.children(name))]
    return Words(files, lambda: modules, boundary, stored)


def answers(found: Words) -> list[object]:
    one = (found.has, found.may_give, found.may_take, found.may_set, found.may_compose)
    return [
        *(ask(each) for each in ASKED if each.isidentifier() for ask in one),
        *(found.may_give(each, to_module=True) for each in ASKED),
        *(found.may_pass("__init__", each) for each in ASKED),
        *(found.parameters(each) for each in ("parse", "emit")),
        *(found.imports, found.has_plugins, found.names_by_data),
    ]


def forbid_reading(monkeypatch: pytest.MonkeyPatch) -> None:
    def store(*_: object) -> None:
        raise AssertionError("it is stored")

    monkeypatch.setattr(StoredWords, "store", store)


@pytest.mark.parametrize("name", PACKAGES)
def test_the_same_is_found_as_without_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    expected = answers(words_of(name, None))
    assert answers(words_of(name, StoredWords(tmp_path))) == expected
    forbid_reading(monkeypatch)
    assert answers(words_of(name, StoredWords(tmp_path))) == expected


def test_only_the_files_with_a_word_are_opened(tmp_path: Path) -> None:
    found = words_of("asyncio", StoredWords(tmp_path))
    assert found.has("create_task")
    opened = {path.name for _, path in found.files_with("create_subprocess_shell")}
    having = {
        each.name
        for each in (STANDARD / "asyncio").glob("*.py")
        if b"create_subprocess_shell" in each.read_bytes()
    }
    assert opened == having
    assert found.files_with("no_such_word_in_it") == []


def package(folder: Path, text: str, *, age_s: int) -> None:
    file = folder / "mod.py"
    file.write_text(text)
    moment = file.stat().st_mtime - age_s
    os.utime(file, (moment, moment))


def test_a_file_that_changes_is_read_anew(tmp_path: Path) -> None:
    stored = StoredWords(tmp_path / "cache")
    package(tmp_path, "one = 1\n", age_s=100)
    assert words_of("mod", stored, tmp_path).has("one")
    package(tmp_path, "two = 1\n", age_s=50)
    assert not words_of("mod", stored, tmp_path).has("one")
    assert words_of("mod", stored, tmp_path).has("two")


def test_what_may_still_change_is_not_stored(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    forbid_reading(monkeypatch)
    package(tmp_path, "one = 1\n", age_s=0)
    assert words_of("mod", StoredWords(tmp_path / "cache"), tmp_path).has("one")


def test_a_file_that_cannot_be_read_may_have_any_word(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(words, "LARGEST_FILE", 5)
    stored = StoredWords(tmp_path / "cache")
    package(tmp_path, "one = 1\n", age_s=100)
    for _ in range(2):
        assert words_of("mod", stored, tmp_path).has("anything")


def test_included_files_of_cython_count(tmp_path: Path) -> None:
    stored = StoredWords(tmp_path / "cache")
    (tmp_path / "mod.cpython-311-x86_64-linux-gnu.so").write_bytes(b"\x7fELF")
    (tmp_path / "mod.pyx").write_text('include "one.pxi"\n')
    (tmp_path / "one.pxi").write_text("inner = 1\n")
    for each in tmp_path.iterdir():
        if each.is_file():
            os.utime(each, (1, 1))
    for _ in range(2):
        found = words_of("mod", stored, tmp_path)
        assert found.has("inner")


def test_a_file_that_is_damaged_is_made_anew(tmp_path: Path) -> None:
    expected = answers(words_of("json", StoredWords(tmp_path)))
    file = tmp_path / "python-words.sqlite"
    file.write_bytes(b"no database" * 1000)
    for _ in range(3):
        assert answers(words_of("json", StoredWords(tmp_path))) == expected
    with closing(sqlite3.connect(file)) as stored:
        assert stored.execute("SELECT count(*) FROM words").fetchone()[0] > 100


@pytest.mark.parametrize("change", ["UPDATE words SET files = x'00'", "DELETE FROM packages"])
def test_a_row_that_is_damaged_or_dropped_meanwhile_is_not_believed(
    tmp_path: Path, change: str
) -> None:
    found = words_of("json", StoredWords(tmp_path))
    assert found.has("indent")
    with closing(sqlite3.connect(tmp_path / "python-words.sqlite")) as stored, stored:
        stored.execute(change)
    assert found.has("separators")
    assert not found.has("no_such_word_in_it")


def test_on_a_full_disk_all_files_are_searched(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = answers(words_of("asyncio", None))
    full = f"PRAGMA max_page_count = 8; {stored_words._SCHEMA}"
    monkeypatch.setattr(stored_words, "_SCHEMA", full)
    for _ in range(2):
        assert answers(words_of("asyncio", StoredWords(tmp_path))) == expected
    with closing(sqlite3.connect(tmp_path / "python-words.sqlite")) as stored:
        assert stored.execute("SELECT count(*) FROM packages").fetchone() == (0,)


def test_those_used_longest_ago_are_dropped_where_there_are_too_many(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stored_words, "_MOST_STORED", 300_000)
    for name in (*PACKAGES, "importlib", "concurrent", "multiprocessing"):
        words_of(name, StoredWords(tmp_path)).has("indent")
    with closing(sqlite3.connect(tmp_path / "python-words.sqlite")) as stored:
        stored.execute("PRAGMA foreign_keys = ON")
        packages = stored.execute("SELECT number FROM packages ORDER BY number").fetchall()
        owners = stored.execute("SELECT DISTINCT package FROM words").fetchall()
    assert 0 < len(packages) < len(PACKAGES) + 3
    assert sorted(owners) == packages


def test_many_may_store_and_search_at_once(tmp_path: Path) -> None:
    expected = {name: answers(words_of(name, None)) for name in PACKAGES[:3]}
    failed: list[str] = []

    def search(name: str) -> None:
        if answers(words_of(name, StoredWords(tmp_path))) != expected[name]:
            failed.append(name)

    threads = [threading.Thread(target=search, args=(each,)) for each in [*expected] * 4]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert failed == []
