"""Training texts: documentation out of rustdoc JSON and Python sources, as plain passages.

Knows where documentation is written down. It does not know what is learned from it.
"""

from __future__ import annotations

import ast
import json
import warnings
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any

import zstandard

from docstow.chunk import split


def rustdoc_crates(folder: Path, *, leave_out: Collection[str]) -> list[Path]:
    """One file of each crate, the last by name of ``<crate>/<version>/rustdoc.json.zst``.

    Args:
        folder: holds one folder per crate.
        leave_out: crates that evaluation asks about, which must not be learned from.
    """
    files: list[Path] = []
    for crate in sorted(folder.iterdir()):
        if crate.is_dir() and crate.name not in leave_out:
            files += sorted(crate.glob("*/rustdoc.json.zst"))[-1:]
    return files


def rustdoc_passages(file: Path) -> Iterator[str]:
    """The passages of one crate's own documentation, in the order of their items."""
    crate = json.loads(zstandard.decompress(file.read_bytes(), max_output_size=1 << 30))
    for _, item in sorted(crate["index"].items()):
        if item["crate_id"] == 0 and item["docs"]:
            yield from _passages(item["docs"])


def python_passages(folder: Path) -> Iterator[str]:
    """The passages of all docstrings below a folder; a file that is not Python gives none."""
    for file in sorted(folder.rglob("*.py")):
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                tree = ast.parse(file.read_text("utf-8"))
        except (SyntaxError, UnicodeDecodeError):
            continue
        for node in ast.walk(tree):
            if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
                text = ast.get_docstring(node)
                if text:
                    yield from _passages(_without_doctests(text))


def _without_doctests(text: str) -> str:
    return "\n".join(
        line for line in text.split("\n") if not line.lstrip().startswith((">>>", "..."))
    )


def _passages(text: str) -> Iterator[str]:
    """Passages of up to 60 words, each with its last heading in front of it."""
    for headings, prose in split(text, limit_words=60):
        heading = headings.rpartition(" > ")[2]
        yield f"{heading}: {prose}" if heading else prose


def statistics(passages: list[str]) -> dict[str, Any]:
    """Counts for the record."""
    return {"passages": len(passages), "words": sum(len(each.split()) for each in passages)}
