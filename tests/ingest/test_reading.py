"""Files are read alike in this process and in others, and one that ends its process is an error."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from itertools import islice

import pytest

from docstow.core.model import File
from docstow.core.processes import Budget
from docstow.core.threads import cores
from docstow.formats import Page, survey
from docstow.ingest.changes import Changes, Former
from docstow.ingest.reading import is_worth, read_apart, read_here
from docstow.sources import Found

BUDGET = Budget(cpu_s=60, wall_s=120, memory_bytes=2 << 30)


def page(number: int) -> File:
    words = " ".join(f"word{number}x{each}" for each in range(40))
    body = (
        f"<title>Page {number} | Site</title><body><ul class=menu><li><a href=/>Home</a></ul>"
        f"<main><h1 id=top>Page {number}</h1><p>{words} <a href=p{number + 1}.html>on</a></p>"
        f"<dl><dt id=t{number}>term</dt><dd>what it is</dd></dl>"
        f"<img src=a.png alt='A wheel, {number}'></main></body>"
    )
    url = f"https://docs.example/p{number}.html"
    return File(url, url, "text/html; charset=utf-8", body.encode())


FILES = [
    *map(page, range(70)),
    File(
        "notes.md", "file:///notes.md", "text/markdown", "---\ntags: [a, b]\n---\n# É\n\nñ".encode()
    ),
    File("plain.txt", "file:///plain.txt", "text/plain", b"Nothing is said of it.\n"),
    File("broken.ipynb", "file:///broken.ipynb", "", b"{no notebook"),
    File("what.bin", "file:///what.bin", "application/x-what", b"\0\1"),
]


def test_outcomes_are_alike_and_in_order_wherever_files_are_read() -> None:
    shared = survey(FILES)
    apart = list(read_apart(FILES, shared, 2, BUDGET))
    assert apart == list(read_here(FILES, shared))
    assert [each.title for each in apart[:3] if isinstance(each, Page)] == [
        "Page 0",
        "Page 1",
        "Page 2",
    ]
    assert [each[0] for each in apart if isinstance(each, tuple)] == ["unreadable_input"] * 2


def test_a_file_that_ends_its_process_is_an_error_of_its_own() -> None:
    hungry = replace(page(1), body=b"<p>" + b"<b>word</b> " * 1_000_000)
    files = [*map(page, range(3)), hungry, *map(page, range(4, 6))]
    tight = replace(BUDGET, cpu_s=2)
    found = list(read_apart(files, {}, 1, tight))
    assert [isinstance(each, Page) for each in found] == [True, True, True, False, True, True]
    assert isinstance(found[3], tuple)
    assert found[3][0] == "too_large"
    assert hungry.path in found[3][1]


def test_files_are_taken_as_they_are_read_and_no_further_once_reading_stops() -> None:
    taken = 0

    def many() -> Iterator[File]:
        nonlocal taken
        for number in range(3200):
            taken += 1
            yield page(number)

    with closing(read_apart(many(), {}, 1, BUDGET)) as outcomes:
        assert len(list(islice(outcomes, 10))) == 10
    assert taken <= 32 * 4


def test_a_sync_has_the_same_documents_from_several_processes() -> None:
    filler = b"<!--" + b" " * (8 << 20) + b"-->"
    large = [replace(FILES[0], body=FILES[0].body + filler), *FILES[1:]]
    empty = File("empty.md", "file:///empty.md", "text/markdown", b" \n")
    read = []
    for processes in (1, 2):
        assert is_worth(processes, 8 << 20) == (processes > 1)
        changes = Changes(Former(), paths_are_urls=False, full=True, processes=processes)
        with closing(changes):
            for file in [*large[:5], empty, *large[5:]]:
                changes.add(Found(file, "v"))
            assert list(changes.read()) == list(range(1, len(large) + 2))
        read.append((changes.documents, changes.visits, changes.skipped, changes.failed))
        assert changes.failed == 2
        assert changes.skipped["empty"] == 1
    assert {path: each.digest() for path, each in read[0][0].items()} == {
        path: each.digest() for path, each in read[1][0].items()
    }
    assert read[0][1:] == read[1][1:]


def test_cores_of_a_function_are_those_its_memory_gives(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("AWS_LAMBDA_FUNCTION_MEMORY_SIZE", raising=False)
    machine = cores()
    monkeypatch.setenv("AWS_LAMBDA_FUNCTION_MEMORY_SIZE", "1024")
    assert cores() == 1
    monkeypatch.setenv("AWS_LAMBDA_FUNCTION_MEMORY_SIZE", "1769000")
    assert cores() == machine
