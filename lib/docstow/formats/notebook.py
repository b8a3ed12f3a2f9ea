"""Jupyter notebooks (nbformat 3 and 4): Markdown, code and text output."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from docstow.core.errors import UnreadableInput
from docstow.core.model import File
from docstow.formats import Page, markdown
from docstow.formats.markdown.blocks import fence

_LONGEST_OUTPUT = 4000
_MOST_OUTPUTS = 20
_ANSI = re.compile(r"\x1b\[[0-9;]{0,20}[A-Za-z]")
_IMAGE = re.compile(r"!\[[^\[\]]{0,300}\]\(attachment:[^()]{0,300}\)")


def read(text: str, file: File) -> Page:
    """Read a notebook.

    Raises:
        UnreadableInput: the file is not a notebook.
    """
    try:
        notebook = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise UnreadableInput(f"{file.path} is no notebook: it is not JSON.") from error
    cells = list(_cells(notebook))
    if not cells and not (isinstance(notebook, dict) and "nbformat" in notebook):
        raise UnreadableInput(f"{file.path} is no notebook: it has no cells.")
    metadata = _mapping(notebook.get("metadata"))
    language = _language(metadata)
    blocks = [block for cell in cells for block in _blocks(cell, language)]
    page = markdown.read("\n\n".join(blocks), file)
    attributes = {**markdown.known_fields(metadata), **page.attributes}
    title = attributes.pop("title", "")
    if title and not page.text.startswith("# "):
        return Page(str(title), page.text, links=page.links, attributes=attributes)
    return Page(page.title, page.text, links=page.links, attributes=attributes)


def _cells(notebook: Any) -> Iterator[dict[str, Any]]:
    """Yield the cells; format 3 has them in worksheets."""
    top = _mapping(notebook)
    for holder in (top, *map(_mapping, _list(top.get("worksheets")))):
        yield from map(_mapping, _list(holder.get("cells")))


def _blocks(cell: dict[str, Any], language: str) -> Iterator[str]:
    kind = cell.get("cell_type")
    source = _text(cell.get("source", cell.get("input"))).strip("\n")
    if kind == "heading":
        level = cell.get("level", 1)
        yield "#" * min(6, max(1, level if isinstance(level, int) else 1)) + " " + source
    elif kind == "markdown":
        yield _close_fences(_IMAGE.sub("", source))
    elif kind == "code":
        if source.strip():
            yield fence(source, str(cell.get("language") or language))
        for output in _list(cell.get("outputs"))[:_MOST_OUTPUTS]:
            yield from _output(_mapping(output))


def _output(output: dict[str, Any]) -> Iterator[str]:
    """Yield the text of an output."""
    data = _mapping(output.get("data"))
    if "text/markdown" in data:
        yield _close_fences(_text(data["text/markdown"])[:_LONGEST_OUTPUT])
        return
    text = _text(data.get("text/plain", output.get("text", "")))
    if output.get("output_type") in {"error", "pyerr"}:
        text = f"{_text(output.get('ename'))}: {_text(output.get('evalue'))}"
    text = _ANSI.sub("", text).strip("\n")
    if len(text) > _LONGEST_OUTPUT:
        text = text[:_LONGEST_OUTPUT] + "\n…"
    if text.strip():
        yield fence(text, "text")


def _close_fences(text: str) -> str:
    """Close an open fence, so that it does not extend over the following cells."""
    marks = ""
    for line in text.split("\n"):
        match = re.match(r"\s*(`{3,}|~{3,})(.*)$", line)
        if match is None:
            continue
        if not marks:
            marks = match[1]
        elif match[1].startswith(marks) and not match[2].strip():
            marks = ""
    return f"{text}\n{marks}" if marks else text


def _language(metadata: dict[str, Any]) -> str:
    named = _mapping(metadata.get("language_info")).get("name")
    named = named or _mapping(metadata.get("kernelspec")).get("language") or "python"
    return re.sub(r"[^\w+#.-]", "", str(named))[:40] or "python"


def _text(value: Any) -> str:
    """Return a multi-line string, which may be stored as a list of lines."""
    if isinstance(value, list):
        return "".join(part for part in value if isinstance(part, str))
    return value if isinstance(value, str) else ""


def _mapping(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []
