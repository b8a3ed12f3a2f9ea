"""Files are put in place whole or not at all."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from docstow.core.errors import InvalidParameter
from docstow.ops.files import write_file, write_folder


def broken() -> Iterator[tuple[str, str]]:
    yield "a.md", "new"
    raise KeyError


def content(folder: Path) -> dict[str, str]:
    return {
        each.relative_to(folder).as_posix(): each.read_text("utf-8")
        for each in folder.rglob("*")
        if each.is_file()
    }


def test_a_file_is_written_and_replaced_by_force_alone(tmp_path: Path) -> None:
    place = tmp_path / "deep" / "out.jsonl"
    write_file(place, ["ä", "\n"], force=False)
    assert place.read_bytes() == "ä\n".encode()
    with pytest.raises(InvalidParameter, match="--force"):
        write_file(place, ["b"], force=False)
    with pytest.raises(KeyError):
        write_file(place, (text for _, text in broken()), force=True)
    assert content(tmp_path) == {"deep/out.jsonl": "ä\n"}
    write_file(place, ["b"], force=True)
    assert content(tmp_path) == {"deep/out.jsonl": "b"}


def test_a_folder_is_written_and_replaced_by_force_alone(tmp_path: Path) -> None:
    place = tmp_path / "out"
    place.mkdir()
    write_folder(place, [("c/a.md", "1"), ("c/a.md", "2"), ("b.txt", "3")], force=False)
    assert content(place) == {"c/a.md": "12", "b.txt": "3"}
    with pytest.raises(InvalidParameter, match="not empty"):
        write_folder(place, [("d.md", "")], force=False)
    with pytest.raises(KeyError):
        write_folder(place, broken(), force=True)
    assert content(place) == {"c/a.md": "12", "b.txt": "3"}
    write_folder(place, [("d.md", "4")], force=True)
    assert content(tmp_path) == {"out/d.md": "4"}
    assert [each.name for each in tmp_path.iterdir()] == ["out"]


def test_force_deletes_nothing_that_no_export_wrote(tmp_path: Path) -> None:
    (tmp_path / "photo.jpg").write_text("dear")
    with pytest.raises(InvalidParameter, match=r"photo\.jpg"):
        write_folder(tmp_path, [("a.md", "")], force=True)
    assert content(tmp_path) == {"photo.jpg": "dear"}


def test_a_place_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(InvalidParameter, match="cannot be written"):
        write_file(tmp_path / "file" / "below", [""], force=False)
    with pytest.raises(InvalidParameter, match="is a file"):
        write_folder(tmp_path / "file", [], force=True)
