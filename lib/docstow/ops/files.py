"""Output files and folders, put in place whole or not at all."""

from __future__ import annotations

import contextlib
import shutil
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import BinaryIO, TextIO

from docstow.core.errors import InvalidParameter

#: What a folder that may be replaced holds: what an export writes, and nothing else.
_OURS = {".md", ".txt"}


def write_file(path: Path, texts: Iterable[str], *, force: bool) -> None:
    """Write a file; until it is whole, nothing is to be seen at its place.

    Args:
        path: its place; folders above it are made.
        texts: its content in parts.
        force: replace a file that is there.

    Raises:
        InvalidParameter: there is a file and no force, or a folder, or the place cannot be written.
    """
    with open_whole(path, force=force) as file:
        for text in texts:
            file.write(text.encode())


@contextlib.contextmanager
def open_whole(path: Path, *, force: bool) -> Iterator[BinaryIO]:
    """Open a file to write to; until it is closed, nothing is to be seen at its place.

    Args:
        path: its place; folders above it are made.
        force: replace a file that is there.

    Raises:
        InvalidParameter: there is a file and no force, or a folder, or the place cannot be written.
    """
    if path.exists() and (path.is_dir() or not force):
        raise InvalidParameter("into", f"{path} is there already; give another, or --force")
    with _explained(path), _scratch(path) as scratch:
        unfinished = scratch / path.name
        with unfinished.open("wb") as file:
            yield file
        unfinished.replace(path)


def write_folder(path: Path, parts: Iterable[tuple[str, str]], *, force: bool) -> None:
    """Write a folder of files; until it is whole, nothing is to be seen at its place.

    Args:
        path: its place; an empty folder may be there, one that is not only with force, and then
            only one that an export made: anything else in it is not ours to delete.
        parts: file name, relative with ``/``, and a part of its content; a file's parts come
            one after the other.
        force: replace what is there.

    Raises:
        InvalidParameter: something else is there, or the place cannot be written.
    """
    with _explained(path):
        _check_replaceable(path, force=force)
        with _scratch(path) as scratch:
            unfinished = scratch / "new"
            unfinished.mkdir()
            _write_parts(unfinished, parts)
            _swap(unfinished, path, scratch / "old")


def _swap(new: Path, path: Path, old: Path) -> None:
    if not path.exists():
        new.rename(path)
        return
    path.rename(old)
    try:
        new.rename(path)
    except OSError:
        old.rename(path)
        raise


def _check_replaceable(path: Path, *, force: bool) -> None:
    if not path.exists():
        return
    if not path.is_dir():
        raise InvalidParameter("into", f"{path} is a file; this form is a folder")
    if not any(path.iterdir()):
        return
    if not force:
        raise InvalidParameter("into", f"{path} is not empty; give another, or --force")
    files = (each for each in path.rglob("*") if not each.is_dir() or each.is_symlink())
    foreign = next((each for each in files if each.suffix not in _OURS), None)
    if foreign is not None:
        raise InvalidParameter("into", f"{path} holds {foreign.name}, which no export wrote")


def _write_parts(folder: Path, parts: Iterable[tuple[str, str]]) -> None:
    opened = ""
    with contextlib.ExitStack() as stack:
        file: TextIO | None = None
        for name, text in parts:
            if file is None or name != opened:
                stack.close()
                opened = name
                (folder / name).parent.mkdir(parents=True, exist_ok=True)
                file = stack.enter_context(
                    (folder / name).open("a", encoding="utf-8", newline="\n")
                )
            file.write(text)


@contextlib.contextmanager
def _scratch(path: Path) -> Iterator[Path]:
    """Make a folder beside a place, on the same file system, and remove it afterwards."""
    path.parent.mkdir(parents=True, exist_ok=True)
    scratch = Path(tempfile.mkdtemp(prefix=".docstow-", dir=path.parent))
    try:
        yield scratch
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


@contextlib.contextmanager
def _explained(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise InvalidParameter("into", f"{path} cannot be written: {error.strerror}") from error
